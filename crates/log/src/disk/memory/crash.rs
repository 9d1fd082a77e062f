//! What a power loss can leave of the unsynced.
//!
//! A unit of the disk (512 bytes or 4 KiB) is written whole or not at all, and holds what the last write
//! before it was put down had made of it. So each unit ends in one of the versions between the durable one and
//! the newest, whatever happened to the others.

use std::collections::{BTreeMap, BTreeSet};

use super::state::{FolderOperation, Inode, State, Write, apply};

pub(super) fn crash(state: &State, seed: u64) -> State {
    let mut random = Random(seed);
    let unit = if random.next().is_multiple_of(2) { 512 } else { 4096 };
    let mode = Mode::choose(&mut random);
    let mut crashed = survivors(state);
    for (id, inode) in &mut crashed.inodes {
        let writes = &state.inodes[id].writes;
        lose(inode, writes, unit, mode, &mut random);
    }
    let folder_mode = Mode::choose(&mut random);
    for operation in &state.folder {
        if folder_mode.keeps(&mut random) {
            operation.apply(&mut crashed.names);
        }
    }
    settle(crashed)
}

pub(super) fn crash_keeping(state: &State, keep: &mut dyn FnMut(usize) -> bool) -> State {
    let mut crashed = survivors(state);
    let mut index = 0;
    let mut next = || {
        index += 1;
        keep(index - 1)
    };
    for (id, inode) in &mut crashed.inodes {
        for write in &state.inodes[id].writes {
            if next() {
                apply(&mut inode.durable, write);
            }
        }
    }
    let kept: Vec<&FolderOperation> = state.folder.iter().filter(|_| next()).collect();
    for operation in kept {
        operation.apply(&mut crashed.names);
    }
    settle(crashed)
}

/// How much of the unsynced is kept.
#[derive(Clone, Copy)]
enum Mode {
    Nothing,
    Everything,
    /// One in so many is lost.
    LoseOneIn(u64),
    /// One in so many is kept.
    KeepOneIn(u64),
}

impl Mode {
    fn choose(random: &mut Random) -> Self {
        match random.next() % 8 {
            0 => Self::Nothing,
            1 => Self::Everything,
            2 | 3 => Self::LoseOneIn(2),
            4 => Self::LoseOneIn(4),
            5 => Self::LoseOneIn(16),
            _ => Self::KeepOneIn(4),
        }
    }

    fn keeps(self, random: &mut Random) -> bool {
        match self {
            Self::Nothing => false,
            Self::Everything => true,
            Self::LoseOneIn(count) => !random.next().is_multiple_of(count),
            Self::KeepOneIn(count) => random.next().is_multiple_of(count),
        }
    }
}

/// Starts from what is durable.
fn survivors(state: &State) -> State {
    let mut crashed = state.copy();
    crashed.names = state.durable_names.clone();
    crashed.folder.clear();
    crashed
}

/// Loses some units of the unsynced writes of one file.
fn lose(inode: &mut Inode, writes: &[Write], unit: usize, mode: Mode, random: &mut Random) {
    let mut touched: BTreeMap<usize, Vec<&Write>> = BTreeMap::new();
    for write in writes {
        let units = write.offset / unit..(write.offset + write.bytes.len()).div_ceil(unit);
        for index in units {
            touched.entry(index).or_default().push(write);
        }
    }
    for (index, writes) in touched {
        // A kept write of a unit brings with it those that came before it in that unit.
        let kept = writes.iter().rposition(|_| mode.keeps(random)).map_or(0, |at| at + 1);
        for write in &writes[..kept] {
            apply(&mut inode.durable, &clip(write, index * unit, (index + 1) * unit));
        }
    }
}

fn clip(write: &Write, from: usize, to: usize) -> Write {
    let start = write.offset.max(from);
    let end = (write.offset + write.bytes.len()).min(to);
    Write { offset: start, bytes: write.bytes[start - write.offset..end - write.offset].to_vec() }
}

/// After the loss, what is left is what everybody sees, and all of it is durable.
fn settle(mut crashed: State) -> State {
    crashed.durable_names = crashed.names.clone();
    let named: BTreeSet<u64> = crashed.names.values().copied().collect();
    crashed.inodes.retain(|id, _| named.contains(id));
    for inode in crashed.inodes.values_mut() {
        inode.writes.clear();
        inode.now = inode.durable.clone();
    }
    crashed
}

/// The generator of the disk (splitmix64): small, and the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
}
