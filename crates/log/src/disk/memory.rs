//! A disk in memory that fails on demand, and always in the same way for the same seed.
//!
//! Handles share one state, so the disk outlives the log on it, as a real one does. Every operation that
//! changes something is counted, so that a test can fail or cut the power at each of them in turn.

mod crash;
mod state;

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Disk, DiskFile};
use state::State;

/// What goes wrong at a chosen operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The operation fails; a failed sync also forgets that the data was never written, as kernels do.
    Io,
    /// The disk is full.
    Full,
    /// A signal came first: nothing was done, and the call may be made again.
    Interrupted,
    /// A write stops half-way, without an error.
    Short,
    /// The power goes: this and every later operation fails. [`MemDisk::crash`] gives what is left.
    PowerOff,
}

/// The disk in memory; clones share its state.
#[derive(Clone, Debug, Default)]
pub struct MemDisk {
    state: Arc<Mutex<State>>,
}

/// An open file of a [`MemDisk`].
#[derive(Debug)]
pub struct MemFile {
    state: Arc<Mutex<State>>,
    id: u64,
}

/// Holds the folder of a [`MemDisk`].
#[derive(Debug)]
pub struct MemLock {
    state: Arc<Mutex<State>>,
}

impl MemDisk {
    /// Makes an empty disk.
    pub fn new() -> Self {
        Self::default()
    }

    /// Limits the disk: what would take it beyond `bytes` in all fails as full. `None` lifts the limit.
    pub fn set_capacity(&self, bytes: Option<u64>) {
        self.state().capacity = bytes;
    }

    /// Makes every change fail, as on a file system mounted for reading only.
    pub fn set_read_only(&self, read_only: bool) {
        self.state().read_only = read_only;
    }

    /// Makes every read and write stop early, at most after `bytes`; `None` lifts it.
    pub fn set_transfer_max(&self, bytes: Option<usize>) {
        self.state().transfer_max = bytes;
    }

    /// Sets how long a sync takes on the disk's own clock.
    pub fn set_sync_us(&self, us: u64) {
        self.state().sync_us = us;
    }

    /// Returns the time that all syncs took so far.
    pub fn clock_us(&self) -> u64 {
        self.state().clock_us
    }

    /// Returns how many operations that change something were made so far.
    pub fn operations(&self) -> u64 {
        self.state().operations
    }

    /// Returns how many of them were syncs of a file.
    pub fn syncs(&self) -> u64 {
        self.state().syncs
    }

    /// Lets a fault happen when `operations` reaches this number.
    pub fn fault_at(&self, operation: u64, fault: Fault) {
        self.state().faults.push((operation, fault));
    }

    /// Forgets all faults that have not happened, and switches the power on again without losing anything.
    pub fn clear_faults(&self) {
        let mut state = self.state();
        state.faults.clear();
        state.power_off = false;
    }

    /// Returns how many writes and folder operations are not durable yet.
    pub fn unsynced(&self) -> usize {
        self.state().unsynced()
    }

    /// Lists all files and their sizes, those in `damaged/` too.
    pub fn files(&self) -> Vec<(String, u64)> {
        let state = self.state();
        state.names.iter().map(|(name, id)| (name.clone(), state.inodes[id].now.len() as u64)).collect()
    }

    /// Returns the contents of a file, as a reader sees them now.
    pub fn contents(&self, name: &str) -> Option<Vec<u8>> {
        let state = self.state();
        state.names.get(name).map(|id| state.inodes[id].now.clone())
    }

    /// Replaces the contents of a file, or makes it; durable at once.
    pub fn put(&self, name: &str, contents: Vec<u8>) {
        self.state().put(name, contents);
    }

    /// Removes a file; durable at once.
    pub fn erase(&self, name: &str) {
        self.state().erase(name);
    }

    /// Flips bits of one byte of a file; durable at once. Says whether the byte exists.
    pub fn flip(&self, name: &str, offset: u64, mask: u8) -> bool {
        self.state().flip(name, offset, mask)
    }

    /// Returns an independent copy of the disk as it is, its faults left behind.
    pub fn copy(&self) -> Self {
        Self { state: Arc::new(Mutex::new(self.state().copy())) }
    }

    /// Returns the disk as a power loss could leave it; the seed decides what of the unsynced is kept.
    ///
    /// Unsynced writes are lost, kept, kept out of order or torn in units of 512 bytes or 4 KiB; unsynced
    /// folder operations are lost in any combination. What was synced is whole.
    pub fn crash(&self, seed: u64) -> Self {
        let crashed = crash::crash(&self.state(), seed);
        Self { state: Arc::new(Mutex::new(crashed)) }
    }

    /// Returns the disk after a power loss that kept exactly those unsynced writes for which `keep` says so.
    ///
    /// `keep` is asked once for each unsynced write, in the order of writing per file, then once for each
    /// unsynced folder operation.
    pub fn crash_keeping(&self, mut keep: impl FnMut(usize) -> bool) -> Self {
        let crashed = crash::crash_keeping(&self.state(), &mut keep);
        Self { state: Arc::new(Mutex::new(crashed)) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

impl Disk for MemDisk {
    type File = MemFile;
    type Lock = MemLock;

    fn lock(&self) -> io::Result<Option<MemLock>> {
        let mut state = self.state();
        state.check_writable()?;
        if state.locked {
            return Ok(None);
        }
        state.locked = true;
        Ok(Some(MemLock { state: Arc::clone(&self.state) }))
    }

    fn list(&self) -> io::Result<Vec<String>> {
        let state = self.state();
        state.check_power()?;
        Ok(state.names.keys().filter(|name| !name.contains('/')).cloned().collect())
    }

    fn open(&self, name: &str) -> io::Result<MemFile> {
        let state = self.state();
        state.check_power()?;
        let id = state.find(name)?;
        Ok(MemFile { state: Arc::clone(&self.state), id })
    }

    fn create(&self, name: &str) -> io::Result<MemFile> {
        let id = self.state().create(name)?;
        Ok(MemFile { state: Arc::clone(&self.state), id })
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.state().rename(from, to)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.state().remove(name)
    }

    fn exists(&self, name: &str) -> io::Result<bool> {
        Ok(self.state().names.contains_key(name))
    }

    fn sync_folder(&self) -> io::Result<()> {
        self.state().sync_folder()
    }
}

impl DiskFile for MemFile {
    fn size(&self) -> io::Result<u64> {
        let state = lock(&self.state);
        state.check_power()?;
        Ok(state.inodes.get(&self.id).ok_or(io::ErrorKind::NotFound)?.now.len() as u64)
    }

    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
        lock(&self.state).read(self.id, bytes, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        lock(&self.state).write(self.id, bytes, offset)
    }

    fn sync(&self) -> io::Result<()> {
        lock(&self.state).sync(self.id)
    }
}

impl Drop for MemLock {
    fn drop(&mut self) {
        lock(&self.state).locked = false;
    }
}

/// A test that panicked while it held the state must not hide its own message behind a second panic.
fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
