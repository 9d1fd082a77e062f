//! The state of the disk in memory: what is seen now, what is durable, and what lies between.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, ErrorKind};

use super::Fault;

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) inodes: BTreeMap<u64, Inode>,
    pub(super) names: BTreeMap<String, u64>,
    pub(super) durable_names: BTreeMap<String, u64>,
    /// Folder operations since the last sync of the folder, in order.
    pub(super) folder: Vec<FolderOperation>,
    pub(super) inode_last: u64,
    pub(super) operations: u64,
    pub(super) syncs: u64,
    pub(super) faults: Vec<(u64, Fault)>,
    pub(super) power_off: bool,
    pub(super) capacity: Option<u64>,
    pub(super) read_only: bool,
    pub(super) transfer_max: Option<usize>,
    pub(super) locked: bool,
    pub(super) sync_us: u64,
    pub(super) clock_us: u64,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Inode {
    pub(super) now: Vec<u8>,
    pub(super) durable: Vec<u8>,
    pub(super) writes: Vec<Write>,
}

#[derive(Clone, Debug)]
pub(super) struct Write {
    pub(super) offset: usize,
    pub(super) bytes: Vec<u8>,
}

#[derive(Clone, Debug)]
pub(super) enum FolderOperation {
    Create { name: String, id: u64 },
    Rename { from: String, to: String, id: u64 },
    Remove { name: String, id: u64 },
}

impl State {
    pub(super) fn check_power(&self) -> io::Result<()> {
        if self.power_off { Err(io::Error::other("the power is off")) } else { Ok(()) }
    }

    pub(super) fn check_writable(&self) -> io::Result<()> {
        self.check_power()?;
        if self.read_only { Err(ErrorKind::ReadOnlyFilesystem.into()) } else { Ok(()) }
    }

    pub(super) fn find(&self, name: &str) -> io::Result<u64> {
        self.names.get(name).copied().ok_or_else(|| ErrorKind::NotFound.into())
    }

    pub(super) fn unsynced(&self) -> usize {
        self.folder.len() + self.inodes.values().map(|inode| inode.writes.len()).sum::<usize>()
    }

    pub(super) fn read(&self, id: u64, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
        self.check_power()?;
        let now = &self.inodes.get(&id).ok_or(ErrorKind::NotFound)?.now;
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(now.len());
        let count = bytes.len().min(now.len() - start).min(self.transfer_max.unwrap_or(usize::MAX));
        bytes[..count].copy_from_slice(&now[start..start + count]);
        Ok(count)
    }

    pub(super) fn write(&mut self, id: u64, bytes: &[u8], offset: u64) -> io::Result<usize> {
        let fault = self.begin()?;
        let mut count = bytes.len().min(self.transfer_max.unwrap_or(usize::MAX));
        if matches!(fault, Some(Fault::Short | Fault::Io)) {
            count = count.div_ceil(2);
        }
        let offset = usize::try_from(offset).map_err(|_| ErrorKind::FileTooLarge)?;
        let size = self.inodes.get(&id).ok_or(ErrorKind::NotFound)?.now.len();
        if let Some(room) = self.room() {
            let grown = (offset + count).saturating_sub(size) as u64;
            count -= usize::try_from(grown.saturating_sub(room)).unwrap_or(count).min(count);
        }
        let full = matches!(fault, Some(Fault::Full)) || (count == 0 && !bytes.is_empty());
        if full {
            return Err(ErrorKind::StorageFull.into());
        }
        let inode = self.inodes.get_mut(&id).ok_or(ErrorKind::NotFound)?;
        let write = Write { offset, bytes: bytes[..count].to_vec() };
        apply(&mut inode.now, &write);
        inode.writes.push(write);
        if fault == Some(Fault::Io) { Err(io_fault()) } else { Ok(count) }
    }

    pub(super) fn sync(&mut self, id: u64) -> io::Result<()> {
        let fault = self.begin()?;
        self.syncs += 1;
        self.clock_us += self.sync_us;
        let inode = self.inodes.get_mut(&id).ok_or(ErrorKind::NotFound)?;
        // After a failed sync the pages count as clean: a second sync would answer well and write nothing.
        let writes = std::mem::take(&mut inode.writes);
        if let Some(fault) = fault.and_then(Fault::error) {
            return Err(fault);
        }
        for write in &writes {
            apply(&mut inode.durable, write);
        }
        Ok(())
    }

    pub(super) fn create(&mut self, name: &str) -> io::Result<u64> {
        self.begin_folder()?;
        if self.names.contains_key(name) {
            return Err(ErrorKind::AlreadyExists.into());
        }
        self.inode_last += 1;
        let id = self.inode_last;
        self.inodes.insert(id, Inode::default());
        self.change(FolderOperation::Create { name: name.to_owned(), id });
        Ok(id)
    }

    pub(super) fn rename(&mut self, from: &str, to: &str) -> io::Result<()> {
        self.begin_folder()?;
        let id = self.find(from)?;
        self.change(FolderOperation::Rename { from: from.to_owned(), to: to.to_owned(), id });
        Ok(())
    }

    pub(super) fn remove(&mut self, name: &str) -> io::Result<()> {
        self.begin_folder()?;
        let id = self.find(name)?;
        self.change(FolderOperation::Remove { name: name.to_owned(), id });
        self.forget_unnamed();
        Ok(())
    }

    pub(super) fn sync_folder(&mut self) -> io::Result<()> {
        self.begin_folder()?;
        self.clock_us += self.sync_us;
        self.folder.clear();
        self.durable_names = self.names.clone();
        self.forget_unnamed();
        Ok(())
    }

    pub(super) fn put(&mut self, name: &str, contents: Vec<u8>) {
        self.inode_last += 1;
        let inode = Inode { now: contents.clone(), durable: contents, writes: Vec::new() };
        self.inodes.insert(self.inode_last, inode);
        self.names.insert(name.to_owned(), self.inode_last);
        self.durable_names.insert(name.to_owned(), self.inode_last);
    }

    pub(super) fn erase(&mut self, name: &str) {
        self.names.remove(name);
        self.durable_names.remove(name);
        self.forget_unnamed();
    }

    pub(super) fn flip(&mut self, name: &str, offset: u64, mask: u8) -> bool {
        let Some(inode) = self.names.get(name).and_then(|id| self.inodes.get_mut(id)) else { return false };
        let Ok(offset) = usize::try_from(offset) else { return false };
        for contents in [&mut inode.now, &mut inode.durable] {
            if let Some(byte) = contents.get_mut(offset) {
                *byte ^= mask;
            }
        }
        offset < inode.now.len()
    }

    pub(super) fn copy(&self) -> Self {
        Self {
            inodes: self.inodes.clone(),
            names: self.names.clone(),
            durable_names: self.durable_names.clone(),
            folder: self.folder.clone(),
            inode_last: self.inode_last,
            capacity: self.capacity,
            transfer_max: self.transfer_max,
            sync_us: self.sync_us,
            ..Self::default()
        }
    }

    fn room(&self) -> Option<u64> {
        let capacity = self.capacity?;
        let used: usize = self.names.values().map(|id| self.inodes[id].now.len()).sum();
        Some(capacity.saturating_sub(used as u64))
    }

    /// Counts an operation and says what goes wrong with it, if the disk still answers at all.
    fn begin(&mut self) -> io::Result<Option<Fault>> {
        self.check_writable()?;
        let operation = self.operations;
        self.operations += 1;
        let fault = self.faults.iter().find(|(at, _)| *at == operation).map(|(_, fault)| *fault);
        match fault {
            Some(Fault::PowerOff) => {
                self.power_off = true;
                self.check_power()?;
                Ok(None)
            }
            Some(Fault::Interrupted) => Err(ErrorKind::Interrupted.into()),
            Some(Fault::Io | Fault::Full | Fault::Short) | None => Ok(fault),
        }
    }

    /// Counts a folder operation, which either happens or does not.
    fn begin_folder(&mut self) -> io::Result<()> {
        match self.begin()?.and_then(Fault::error) {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    fn change(&mut self, operation: FolderOperation) {
        operation.apply(&mut self.names);
        self.folder.push(operation);
    }

    /// Frees what no folder names: neither the one of now, nor the durable one, nor one that a power loss may leave,
    /// which keeps any of the unsynced operations. Open handles keep nothing alive here because the log never uses a
    /// file that it removed.
    fn forget_unnamed(&mut self) {
        let mut named: BTreeSet<u64> =
            self.names.values().chain(self.durable_names.values()).copied().collect();
        named.extend(self.folder.iter().map(FolderOperation::id));
        self.inodes.retain(|id, _| named.contains(id));
    }
}

impl FolderOperation {
    fn id(&self) -> u64 {
        match self {
            Self::Create { id, .. } | Self::Rename { id, .. } | Self::Remove { id, .. } => *id,
        }
    }

    /// Applies the operation, unless what it needs was lost: a name still means the file that it meant.
    pub(super) fn apply(&self, names: &mut BTreeMap<String, u64>) {
        match self {
            Self::Create { name, id } => {
                names.insert(name.clone(), *id);
            }
            Self::Rename { from, to, id } => {
                if names.get(from) == Some(id) {
                    names.remove(from);
                    names.insert(to.clone(), *id);
                }
            }
            Self::Remove { name, id } => {
                if names.get(name) == Some(id) {
                    names.remove(name);
                }
            }
        }
    }
}

impl Fault {
    fn error(self) -> Option<io::Error> {
        match self {
            Self::Io => Some(io_fault()),
            Self::Full => Some(ErrorKind::StorageFull.into()),
            Self::Interrupted => Some(ErrorKind::Interrupted.into()),
            Self::Short | Self::PowerOff => None,
        }
    }
}

pub(super) fn apply(contents: &mut Vec<u8>, write: &Write) {
    let end = write.offset + write.bytes.len();
    if contents.len() < end {
        contents.resize(end, 0);
    }
    contents[write.offset..end].copy_from_slice(&write.bytes);
}

fn io_fault() -> io::Error {
    io::Error::other("input/output error (injected)")
}
