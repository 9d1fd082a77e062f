//! Snapshot files: header, what was stored, and a checksum over both at the end.

use std::io::{self, Read, Write};

use blake3::Hasher;
use message::Seq;

use crate::disk::{Disk, DiskFile, read_full, sync_file, write_full};
use crate::frame::{Chain, read_u32, read_u64};

/// The file that a snapshot is written to before it gets its name.
pub(crate) const UNFINISHED: &str = "snapshot.tmp";

const ENDING: &str = ".snapshot";
const MAGIC: [u8; 8] = *b"CVKSNAPS";
const VERSION: u32 = 1;
const HEADER_BYTES: usize = 64;
const TRAILER_BYTES: usize = 40;
const PIECE_BYTES: usize = 1 << 20;

/// A whole snapshot file.
pub(crate) struct SnapshotFile<F> {
    file: F,
    version: u32,
    /// The chain after the last record folded into it.
    pub(crate) chain: Chain,
    body_bytes: u64,
}

pub(crate) fn snapshot_name(at: Seq) -> String {
    format!("{:020}{ENDING}", at.0)
}

pub(crate) fn parse_snapshot_name(name: &str) -> Option<Seq> {
    let digits = name.strip_suffix(ENDING)?;
    let plain = digits.len() == 20 && digits.bytes().all(|byte| byte.is_ascii_digit());
    if plain { digits.parse().ok().map(Seq) } else { None }
}

/// Writes and syncs a snapshot under its unfinished name.
pub(crate) fn write<D: Disk>(
    disk: &D,
    at: Seq,
    chain: &Chain,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    if disk.exists(UNFINISHED)? {
        disk.remove(UNFINISHED)?;
    }
    let file = disk.create(UNFINISHED)?;
    let mut writer =
        Writer { file, buffer: Vec::with_capacity(PIECE_BYTES), offset: 0, hasher: Hasher::new() };
    let mut header = Vec::with_capacity(HEADER_BYTES);
    header.extend_from_slice(&MAGIC);
    header.extend_from_slice(&VERSION.to_le_bytes());
    header.extend_from_slice(&[0; 4]);
    header.extend_from_slice(&at.0.to_le_bytes());
    header.extend_from_slice(chain);
    header.resize(HEADER_BYTES, 0);
    writer.write_all(&header)?;
    write(&mut writer)?;
    writer.finish()
}

/// Opens a snapshot and checks all of it; the inner error says what is wrong with the file.
pub(crate) fn open<D: Disk>(disk: &D, at: Seq) -> io::Result<Result<SnapshotFile<D::File>, &'static str>> {
    let file = match open_checked(disk, at)? {
        Ok(file) => file,
        Err(what) => return Ok(Err(what)),
    };
    let digest_at = HEADER_BYTES as u64 + file.body_bytes + 8;
    let mut expected = [0; 32];
    read_full(&file.file, &mut expected, digest_at)?;
    if digest(&file.file, digest_at)? != expected {
        return Ok(Err("the checksum of the snapshot is wrong"));
    }
    if file.version != VERSION {
        return Ok(Err("the snapshot has a format version that this program does not read"));
    }
    Ok(Ok(file))
}

/// Opens a snapshot of which the checksum was found right a moment ago.
pub(crate) fn open_checked<D: Disk>(
    disk: &D,
    at: Seq,
) -> io::Result<Result<SnapshotFile<D::File>, &'static str>> {
    let file = disk.open(&snapshot_name(at))?;
    let size = file.size()?;
    let Some(body_bytes) = size.checked_sub((HEADER_BYTES + TRAILER_BYTES) as u64) else {
        return Ok(Err("the file is too short for a snapshot"));
    };
    let mut header = [0; HEADER_BYTES];
    read_full(&file, &mut header, 0)?;
    if header[..8] != MAGIC {
        return Ok(Err("this is not a snapshot"));
    }
    let mut length = [0; 8];
    read_full(&file, &mut length, HEADER_BYTES as u64 + body_bytes)?;
    if u64::from_le_bytes(length) != body_bytes {
        return Ok(Err("the snapshot does not have the length that it should have"));
    }
    if read_u64(&header, 16) != at.0 {
        return Ok(Err("the snapshot is that of another record"));
    }
    let mut chain = [0; 32];
    chain.copy_from_slice(&header[24..56]);
    Ok(Ok(SnapshotFile { file, version: read_u32(&header, 8), chain, body_bytes }))
}

impl<F: DiskFile> SnapshotFile<F> {
    /// Returns what was stored.
    pub(crate) fn into_reader(self) -> impl Read + Send {
        Body { file: self.file, offset: HEADER_BYTES as u64, end: HEADER_BYTES as u64 + self.body_bytes }
    }
}

fn digest<F: DiskFile>(file: &F, end: u64) -> io::Result<[u8; 32]> {
    let mut hasher = Hasher::new();
    let mut piece = vec![0; PIECE_BYTES];
    let mut offset = 0;
    while offset < end {
        let wanted = usize::try_from(end - offset).unwrap_or(PIECE_BYTES).min(PIECE_BYTES);
        let read = read_full(file, &mut piece[..wanted], offset)?;
        if read == 0 {
            break;
        }
        hasher.update(&piece[..read]);
        offset += read as u64;
    }
    Ok(*hasher.finalize().as_bytes())
}

struct Writer<F> {
    file: F,
    buffer: Vec<u8>,
    offset: u64,
    hasher: Hasher,
}

impl<F: DiskFile> Writer<F> {
    fn finish(mut self) -> io::Result<()> {
        self.flush()?;
        let body_bytes = self.offset - HEADER_BYTES as u64;
        self.write_all(&body_bytes.to_le_bytes())?;
        self.hasher.update(&self.buffer);
        let digest = *self.hasher.finalize().as_bytes();
        self.buffer.extend_from_slice(&digest);
        write_full(&self.file, &self.buffer, self.offset)?;
        sync_file(&self.file)
    }
}

impl<F: DiskFile> Write for Writer<F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= PIECE_BYTES {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.hasher.update(&self.buffer);
        write_full(&self.file, &self.buffer, self.offset)?;
        self.offset += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }
}

struct Body<F> {
    file: F,
    offset: u64,
    end: u64,
}

impl<F: DiskFile> Read for Body<F> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end - self.offset).unwrap_or(usize::MAX);
        let wanted = bytes.len().min(left);
        let read = self.file.read_at(&mut bytes[..wanted], self.offset)?;
        self.offset += read as u64;
        Ok(read)
    }
}
