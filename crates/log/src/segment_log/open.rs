//! Opening: what is found in the folder, checked, cut where a power loss left a torn tail, refused otherwise.

use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::sync::{Arc, PoisonError};

use message::Seq;

use super::pool::{Made, Pool, make_zeroed};
use super::shared::{OpenFile, Segment, Shared, Start};
use super::tail;
use super::writer::{Writer, capacity};
use crate::disk::{Disk, DiskFile, sync_file, write_full};
use crate::error::{Damage, OpenError};
use crate::folder::{Folder, check_link, open_segment};
use crate::frame::{COMMIT_BYTES, Chain, FRAME_HEADER_BYTES};
use crate::options::Options;
#[cfg(any(test, feature = "plants"))]
use crate::plant::Plant;
use crate::segment::{HeaderFlaw, SegmentHeader, VERSION, first_chain, segment_name, spare_name};
use crate::snapshot_file::{self, snapshot_name};
use crate::walk::{Step, Walk};

/// How many files stay open after they were checked.
const FILES_MAX: usize = 64;

/// What opening found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened {
    /// The oldest record held.
    pub first: Seq,
    /// The last record; all of them are durable.
    pub last: Seq,
    /// How many records were checked: those of the segments from the newest whole snapshot on.
    pub records_checked: u64,
    /// The newest whole snapshot.
    pub snapshot: Option<Seq>,
    /// Snapshots that are damaged and were passed over.
    pub snapshots_damaged: Vec<Damage>,
    /// What an interrupted write left and was cut.
    pub cut: Option<Cut>,
}

/// A torn tail that was cut: no record in it was ever acknowledged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The file.
    pub file: String,
    /// Where the tail began.
    pub offset: u64,
    /// How many bytes of it were found and overwritten with zeros.
    pub bytes: u64,
    /// The last record before it.
    pub last: Seq,
}

/// The snapshots of the folder.
struct Known {
    /// The newest whole one and those before it, oldest first.
    kept: Vec<Seq>,
    /// The newest whole one with the chain at its place.
    newest: Option<(Seq, Chain)>,
    damaged: Vec<Damage>,
}

/// Where the walk through the segments ended.
pub(super) struct End {
    pub(super) offset: u64,
    pub(super) chain: Chain,
    pub(super) next: u64,
    pub(super) claimed: u64,
    pub(super) records: u64,
    pub(super) cut: Option<Cut>,
}

pub(super) fn open<D: Disk>(disk: D, options: Options) -> Result<(Writer<D>, Opened), OpenError> {
    check_options(&options)?;
    let lock = disk.lock().map_err(writable)?.ok_or(OpenError::InUse)?;
    let folder = Folder::list(&disk).map_err(OpenError::Storage)?;
    for name in &folder.unfinished {
        disk.remove(name).map_err(writable)?;
    }
    let known = find_snapshots(&disk, &folder)?;
    let mut segments = open_segments(&disk, &folder)?;
    check_start(&segments, &folder, &known)?;
    if segments.is_empty() {
        segments.push(Arc::new(make_first(&disk, &options)?));
    }
    let mut files = VecDeque::new();
    let end = check_segments(&disk, &segments, &known, &options, &mut files)?;
    let pool = find_spares(&disk, &folder, &segments, &options).map_err(OpenError::Storage)?;
    disk.sync_folder().map_err(OpenError::Storage)?;
    let last = Seq(end.next - 1);
    let opened = Opened {
        first: segments[0].header.first,
        last,
        records_checked: end.records,
        snapshot: known.newest.map(|(at, _)| at),
        snapshots_damaged: known.damaged,
        cut: end.cut,
    };
    let segment = Arc::clone(segments.last().expect("one was made if there was none"));
    let open = files.pop_back().expect("the last segment was opened to be checked");
    let start = Start {
        pool,
        snapshots: known.kept,
        snapshot_checked: known.newest.map(|(at, _)| at),
        segments: VecDeque::from(segments),
        writing: Arc::clone(&open),
        last,
    };
    let shared = Shared::new(disk, lock, options, start);
    let (offset, chain, claimed) = (end.offset, end.chain, Seq(end.claimed));
    for file in files {
        shared.keep_open(file);
    }
    let writer =
        Writer { shared: Arc::new(shared), segment, open, offset, chain, claimed, mark_from: offset };
    #[cfg(any(test, feature = "plants"))]
    let (writer, opened) = planted(writer, opened);
    Ok((writer, opened))
}

#[cfg(any(test, feature = "plants"))]
fn planted<D: Disk>(mut writer: Writer<D>, mut opened: Opened) -> (Writer<D>, Opened) {
    if writer.shared.planted(Plant::AcceptRecycledFrame) {
        opened.last = super::recycled::accept(&mut writer);
    }
    (writer, opened)
}

fn check_options(options: &Options) -> Result<(), OpenError> {
    const MUST: &str = "a multiple of 4096 with room for the largest record";
    let wrong = |name, value, must| Err(OpenError::Options { name, value, must });
    let needed = u64::from(options.record_bytes_max) + (2 * FRAME_HEADER_BYTES + COMMIT_BYTES) as u64;
    if !options.segment_bytes.is_multiple_of(4096) || capacity(options.segment_bytes) < needed {
        return wrong("segment_bytes", options.segment_bytes, MUST);
    }
    if !options.first_segment_bytes.is_multiple_of(4096) || options.first_segment_bytes < 4096 {
        return wrong("first_segment_bytes", options.first_segment_bytes, "a multiple of 4096");
    }
    Ok(())
}

/// Tells a folder that cannot be written from other failures.
fn writable(error: io::Error) -> OpenError {
    if matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem) {
        OpenError::ReadOnly(error)
    } else {
        OpenError::Storage(error)
    }
}

fn damaged<T>(file: String, offset: u64, what: impl Into<String>) -> Result<T, OpenError> {
    Err(OpenError::Damaged(Damage { file, offset, what: what.into() }))
}

/// Finds the newest snapshot that is whole. Older ones are taken for whole until they are needed.
fn find_snapshots<D: Disk>(disk: &D, folder: &Folder) -> Result<Known, OpenError> {
    let mut known = Known { kept: folder.snapshots.clone(), newest: None, damaged: Vec::new() };
    while let Some(at) = known.kept.last().copied() {
        match snapshot_file::open(disk, at).map_err(OpenError::Storage)? {
            Ok(file) => {
                known.newest = Some((at, file.chain));
                break;
            }
            Err(what) => {
                known.kept.pop();
                known.damaged.push(Damage { file: snapshot_name(at), offset: 0, what: what.to_owned() });
            }
        }
    }
    Ok(known)
}

fn open_segments<D: Disk>(disk: &D, folder: &Folder) -> Result<Vec<Arc<Segment<D::File>>>, OpenError> {
    let mut segments: Vec<Arc<Segment<D::File>>> = Vec::new();
    for generation in &folder.segments {
        let name = segment_name(*generation);
        let (_, header) = open_segment(disk, *generation).map_err(writable)?;
        let header = match header {
            Ok(header) => header,
            Err(HeaderFlaw::Damaged(what)) => return damaged(name, 0, what),
            Err(HeaderFlaw::Version(version)) => {
                return Err(OpenError::Version { file: name, version, known: VERSION });
            }
        };
        if let Some(damage) = segments.last().and_then(|before| check_link(&before.header, &header)) {
            return Err(OpenError::Damaged(damage));
        }
        segments.push(Arc::new(Segment::new(name, header)));
    }
    Ok(segments)
}

/// Checks that what was trimmed is covered by a snapshot.
fn check_start<F>(segments: &[Arc<Segment<F>>], folder: &Folder, known: &Known) -> Result<(), OpenError> {
    let Some(first) = segments.first() else {
        return match folder.snapshots.last() {
            Some(at) => damaged(snapshot_name(*at), 0, "there is a snapshot, but no segment of the log"),
            None => Ok(()),
        };
    };
    let start = first.header.first;
    let covered = known.newest.map_or(Seq(0), |(at, _)| at);
    if start.0 > covered.0 + 1 {
        let what = format!(
            "the log begins at record {start}, and no whole snapshot holds what came before; \
             records from {start} on can be saved"
        );
        return damaged(first.name.clone(), 0, what);
    }
    Ok(())
}

fn make_first<D: Disk>(disk: &D, options: &Options) -> Result<Segment<D::File>, OpenError> {
    let bytes = options.first_segment_bytes;
    let spare = spare_name(0);
    if disk.exists(&spare).map_err(OpenError::Storage)? {
        disk.remove(&spare).map_err(writable)?;
    }
    match make_zeroed(disk, &spare, bytes).map_err(writable)? {
        Made::Segment => {}
        Made::NoRoom => return Err(OpenError::NoRoom { bytes }),
    }
    let header = SegmentHeader { generation: 1, first: Seq(1), bytes, chain: first_chain(options.seed) };
    let name = segment_name(1);
    let make = || {
        let file = disk.open(&spare)?;
        write_full(&file, &header.encode(), 0)?;
        sync_file(&file)?;
        disk.rename(&spare, &name)?;
        disk.sync_folder()
    };
    make().map_err(OpenError::Storage)?;
    Ok(Segment::new(name, header))
}

/// Walks the segments from the newest snapshot to the end; what was opened for it is added to `files`.
fn check_segments<D: Disk>(
    disk: &D,
    segments: &[Arc<Segment<D::File>>],
    known: &Known,
    options: &Options,
    files: &mut VecDeque<Arc<OpenFile<D::File>>>,
) -> Result<End, OpenError> {
    let at = known.newest.map_or(Seq(0), |(at, _)| at);
    let start = segments.partition_point(|segment| segment.header.first <= at).saturating_sub(1);
    let open = |segment: &Segment<D::File>| match disk.open(&segment.name) {
        Ok(file) => Ok(segment.opened(file, None)),
        Err(error) => Err(OpenError::Storage(error)),
    };
    let first = segments.first().map_or(Seq(1), |segment| segment.header.first);
    let mut snapshot = Check { expected: known.newest, first, met: false };
    let mut records = 0;
    for pair in segments[start..].windows(2) {
        let file = open(&pair[0])?;
        records += check_sealed(&pair[0], &file, &pair[1].header, &mut snapshot)?;
        if files.len() == FILES_MAX {
            files.pop_front();
        }
        files.push_back(file);
    }
    let last = segments.last().expect("one was made if there was none");
    let file = open(last)?;
    let mut end = tail::check_last(last, &file, options, &mut snapshot)?;
    files.push_back(file);
    end.records += records;
    Ok(end)
}

/// Walks one segment that another follows: all of it was durable before the next began.
fn check_sealed<F: DiskFile>(
    segment: &Segment<F>,
    open: &OpenFile<F>,
    after: &SegmentHeader,
    snapshot: &mut Check,
) -> Result<u64, OpenError> {
    let mut walk = Walk::new(&open.file, &segment.header);
    let mut records = 0;
    loop {
        match walk.step().map_err(OpenError::Storage)? {
            Step::Batch { first, last, .. } => {
                records += last + 1 - first;
                snapshot.pass(&segment.name, first, last, &walk.chain)?;
            }
            Step::Gap { first, last } => snapshot.pass_gap(first, last),
            Step::End(flaw) if walk.next != after.first.0 => {
                let what = format!(
                    "{}; record {} and those of its batch cannot be read, but later ones are there",
                    flaw.what, walk.next
                );
                return damaged(segment.name.clone(), flaw.offset, what);
            }
            Step::End(_) => break,
        }
    }
    if walk.chain_known && walk.chain != after.chain {
        let what = "the chain over the batches does not lead to the next segment";
        return damaged(segment.name.clone(), walk.offset, what);
    }
    *open.index.write().unwrap_or_else(PoisonError::into_inner) = Some(walk.index);
    Ok(records)
}

fn find_spares<D: Disk>(
    disk: &D,
    folder: &Folder,
    segments: &[Arc<Segment<D::File>>],
    options: &Options,
) -> io::Result<Pool> {
    let mut pool = Pool {
        spares: Vec::new(),
        number_next: folder.spares.last().map_or(1, |number| number + 1),
        bytes: segments.iter().map(|segment| segment.header.bytes).sum(),
        full: false,
    };
    for number in &folder.spares {
        let name = spare_name(*number);
        // The first segment of a new log was made from a spare.
        if !disk.exists(&name)? {
            continue;
        }
        if disk.open(&name)?.size()? == options.segment_bytes && pool.spares.len() < Pool::wanted(options) {
            pool.spares.push(*number);
            pool.bytes += options.segment_bytes;
        } else {
            disk.remove(&name)?;
        }
    }
    Ok(pool)
}

/// Checks on the way that the snapshot belongs to this very log.
pub(super) struct Check {
    expected: Option<(Seq, Chain)>,
    /// The oldest record held.
    first: Seq,
    met: bool,
}

impl Check {
    pub(super) fn pass(&mut self, file: &str, first: u64, last: u64, chain: &Chain) -> Result<(), OpenError> {
        let Some((at, expected)) = &self.expected else { return Ok(()) };
        if first > at.0 || at.0 > last {
            return Ok(());
        }
        self.met = true;
        if at.0 == last && chain == expected {
            return Ok(());
        }
        damaged(snapshot_name(*at), 0, format!("the snapshot does not belong to the log before it in {file}"))
    }

    pub(super) fn pass_gap(&mut self, first: u64, last: u64) {
        self.met |= self.expected.is_some_and(|(at, _)| first <= at.0 && at.0 <= last);
    }

    /// Checks at the end of the log that the snapshot was met.
    pub(super) fn finish(&self, next: u64) -> Result<(), OpenError> {
        let Some((at, _)) = self.expected else { return Ok(()) };
        // A snapshot right before the first record held cannot be compared with anything.
        if self.met || at.0 + 1 == self.first.0 {
            return Ok(());
        }
        let what = format!(
            "the snapshot holds records up to {at}, but the log ends at {}: acknowledged records are gone",
            next - 1
        );
        damaged(snapshot_name(at), 0, what)
    }
}
