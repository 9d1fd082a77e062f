//! Spare segments: files that are zeroed or recycled and wait for their use.

use std::io::{self, ErrorKind};

use super::shared::{Shared, hold};
use crate::api::Class;
use crate::disk::{Disk, DiskFile, sync_file};
use crate::options::Options;
use crate::segment::spare_name;

const NEW: &str = "spare.tmp";

/// The spare segments of a log, all of the standard size.
#[derive(Debug)]
pub(crate) struct Pool {
    pub(crate) spares: Vec<u32>,
    /// The number that the next spare gets.
    pub(crate) number_next: u32,
    /// What all segment files take together, spares included.
    pub(crate) bytes: u64,
    /// Whether the disk had no room when it was last asked.
    pub(crate) full: bool,
}

impl Pool {
    /// Takes a spare for a class, if there is one that this class may use.
    pub(crate) fn take(&mut self, class: Class, options: &Options) -> Option<u32> {
        if self.available(class, options) > 0 { self.spares.pop() } else { None }
    }

    /// Returns how many spares a class may use.
    pub(crate) fn available(&self, class: Class, options: &Options) -> usize {
        match class {
            Class::Normal => self.spares.len().saturating_sub(options.reserve_segments as usize),
            Class::Reserve => self.spares.len(),
        }
    }

    /// Returns how many spares there should be.
    pub(crate) fn wanted(options: &Options) -> usize {
        options.reserve_segments as usize + options.spare_segments as usize
    }

    pub(crate) fn number(&mut self) -> u32 {
        self.number_next += 1;
        self.number_next - 1
    }
}

/// Whether there was room for another segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Made {
    Segment,
    NoRoom,
}

impl<D: Disk> Shared<D> {
    /// Makes spares until a class has one or there is no more room.
    pub(crate) fn make_for(&self, class: Class) -> io::Result<()> {
        self.make_while(|pool, options| pool.available(class, options) == 0)
    }

    /// Makes spares until there are as many as there should be or there is no more room.
    pub(crate) fn make_all(&self) -> io::Result<()> {
        self.make_while(|pool, options| pool.spares.len() < Pool::wanted(options))
    }

    fn make_while(&self, wanted: impl Fn(&Pool, &Options) -> bool) -> io::Result<()> {
        let _making = hold(&self.making);
        loop {
            let number = {
                let mut pool = hold(&self.pool);
                if pool.full || !wanted(&pool, &self.options) {
                    return Ok(());
                }
                pool.number()
            };
            let made = self.make(number)?;
            let mut pool = hold(&self.pool);
            match made {
                Made::Segment => {
                    pool.spares.push(number);
                    pool.bytes += self.options.segment_bytes;
                }
                Made::NoRoom => pool.full = true,
            }
        }
    }

    fn make(&self, number: u32) -> io::Result<Made> {
        let bytes = self.options.segment_bytes;
        let in_all = hold(&self.pool).bytes.saturating_add(bytes);
        if self.options.bytes_max.is_some_and(|bytes_max| in_all > bytes_max) {
            return Ok(Made::NoRoom);
        }
        make_zeroed(&self.disk, &spare_name(number), bytes)
    }
}

/// Makes a file of zeros; the file system has then given it all its room.
pub(crate) fn make_zeroed<D: Disk>(disk: &D, name: &str, bytes: u64) -> io::Result<Made> {
    match try_make(disk, name, bytes) {
        Ok(()) => Ok(Made::Segment),
        Err(error) if is_full(&error) => {
            // What could be written of it is given back: snapshots need room too. If even that fails, the
            // next opening removes it.
            if disk.exists(NEW)? {
                disk.remove(NEW)?;
            }
            Ok(Made::NoRoom)
        }
        Err(error) => Err(error),
    }
}

/// Says whether the disk (or the user's share of it) is full.
pub(crate) fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
}

fn try_make<D: Disk>(disk: &D, name: &str, bytes: u64) -> io::Result<()> {
    if disk.exists(NEW)? {
        disk.remove(NEW)?;
    }
    let file = disk.create(NEW)?;
    file.fill(bytes)?;
    sync_file(&file)?;
    debug_assert_eq!(file.size()?, bytes);
    disk.rename(NEW, name)
}
