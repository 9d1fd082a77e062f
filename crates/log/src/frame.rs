//! Frames: how a record, a commit or a gap lies in a segment. `docs/log.md` has the same as a table.

use blake3::Hasher;

/// The bytes before the payload of a frame.
pub(crate) const FRAME_HEADER_BYTES: usize = 24;
/// The size of a commit frame, which closes a batch.
pub(crate) const COMMIT_BYTES: usize = FRAME_HEADER_BYTES + COMMIT_PAYLOAD_BYTES;
/// The size of a gap frame before the damaged bytes that it covers.
pub(crate) const GAP_BYTES: usize = FRAME_HEADER_BYTES + GAP_PAYLOAD_BYTES;
/// The size of the frame that says that the log goes on in the next segment.
pub(crate) const NEXT_BYTES: usize = FRAME_HEADER_BYTES;
/// Frames begin at multiples of this.
pub(crate) const ALIGNMENT: usize = 8;
/// Set on the last record of a batch.
pub(crate) const FLAG_LAST: u8 = 1;

const COMMIT_PAYLOAD_BYTES: usize = 16 + 32;
const GAP_PAYLOAD_BYTES: usize = 8;

const KIND_RECORD: u8 = 1;
const KIND_COMMIT: u8 = 2;
const KIND_GAP: u8 = 3;
const KIND_NEXT: u8 = 4;

/// A value of the chain over all batches.
pub(crate) type Chain = [u8; 32];

/// What binds the frames of one segment to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Binding {
    /// Made of the generation, which grows with every use of a segment file, and of the chain: old frames in a
    /// recycled file have another one, and no bytes have it by chance.
    pub(crate) tag: u32,
    /// Where the checksum starts: nobody who can only write records can foresee it.
    pub(crate) salt: u32,
}

/// What a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Record,
    Commit,
    Gap,
    /// The log goes on in the next segment.
    Next,
}

/// The header of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FrameHeader {
    pub(crate) checksum: u32,
    pub(crate) length: u32,
    pub(crate) seq: u64,
    pub(crate) tag: u32,
    pub(crate) kind: Kind,
    pub(crate) flags: u8,
}

/// The payload of a commit frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Commit {
    /// The first record of the batch.
    pub(crate) first: u64,
    /// What was known to be durable when the batch was written.
    pub(crate) durable: u64,
    /// The chain after this batch.
    pub(crate) chain: Chain,
}

impl FrameHeader {
    /// Reads a header; `None` if it is none, whatever the checksum says.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.first_chunk::<FRAME_HEADER_BYTES>()?;
        let kind = match bytes[20] {
            KIND_RECORD => Kind::Record,
            KIND_COMMIT => Kind::Commit,
            KIND_GAP => Kind::Gap,
            KIND_NEXT => Kind::Next,
            _ => return None,
        };
        if bytes[22..24] != [0, 0] {
            return None;
        }
        Some(Self {
            checksum: read_u32(bytes, 0),
            length: read_u32(bytes, 4),
            seq: read_u64(bytes, 8),
            tag: read_u32(bytes, 16),
            kind,
            flags: bytes[21],
        })
    }

    /// Returns how many bytes the frame takes with its padding.
    pub(crate) fn frame_bytes(&self) -> usize {
        (FRAME_HEADER_BYTES + self.length as usize).next_multiple_of(ALIGNMENT)
    }

    /// Says whether the frame, which must begin with this header, is the one that was written.
    pub(crate) fn is_whole(&self, frame: &[u8], binding: Binding) -> bool {
        let end = FRAME_HEADER_BYTES + self.length as usize;
        frame.len() >= self.frame_bytes()
            && self.checksum == checksum(&frame[..end], binding)
            && frame[end..self.frame_bytes()].iter().all(|byte| *byte == 0)
    }
}

impl Commit {
    /// Reads the payload of a commit frame.
    pub(crate) fn parse(frame: &[u8]) -> Option<Self> {
        let payload = frame.get(FRAME_HEADER_BYTES..COMMIT_BYTES)?;
        let chain = payload.last_chunk::<32>()?;
        Some(Self { first: read_u64(payload, 0), durable: read_u64(payload, 8), chain: *chain })
    }
}

/// Reads the payload of a gap frame: the first missing record; the frame's own number is the last.
pub(crate) fn parse_gap(frame: &[u8]) -> Option<u64> {
    Some(read_u64(frame.get(FRAME_HEADER_BYTES..GAP_BYTES)?, 0))
}

/// Leaves room for the header of a record frame and returns where it begins.
pub(crate) fn begin_record(buffer: &mut Vec<u8>) -> usize {
    let start = buffer.len();
    buffer.extend_from_slice(&[0; FRAME_HEADER_BYTES]);
    start
}

/// Closes a record frame: pads it and writes the parts of its header that are known.
pub(crate) fn end_record(buffer: &mut Vec<u8>, start: usize) {
    let length = buffer.len() - start - FRAME_HEADER_BYTES;
    buffer.resize(buffer.len().next_multiple_of(ALIGNMENT), 0);
    // A length that does not fit is refused before the frame is sealed.
    let length = u32::try_from(length).unwrap_or(u32::MAX);
    buffer[start + 4..start + 8].copy_from_slice(&length.to_le_bytes());
    buffer[start + 20] = KIND_RECORD;
}

/// Writes what is known only now into the header of a record frame.
pub(crate) fn seal_record(frame: &mut [u8], seq: u64, flags: u8, binding: Binding) {
    frame[21] = flags;
    seal(frame, seq, binding);
}

/// Appends the commit frame of the batch that the buffer holds and returns the chain after it.
pub(crate) fn push_commit(
    buffer: &mut Vec<u8>,
    first: u64,
    last: u64,
    durable: u64,
    chain: &Chain,
    binding: Binding,
) -> Chain {
    let start = buffer.len();
    begin_record(buffer);
    buffer.extend_from_slice(&first.to_le_bytes());
    buffer.extend_from_slice(&durable.to_le_bytes());
    let next = chain_after(chain, &buffer[..start], first, durable);
    buffer.extend_from_slice(&next);
    end_record(buffer, start);
    buffer[start + 20] = KIND_COMMIT;
    seal(&mut buffer[start..], last, binding);
    next
}

/// Makes the gap frame that takes the place of `bytes` damaged bytes.
pub(crate) fn gap_frame(first: u64, last: u64, bytes: usize, binding: Binding) -> Vec<u8> {
    let mut frame = Vec::with_capacity(bytes);
    begin_record(&mut frame);
    frame.extend_from_slice(&first.to_le_bytes());
    frame.resize(bytes.max(GAP_BYTES), 0);
    end_record(&mut frame, 0);
    frame[20] = KIND_GAP;
    seal(&mut frame, last, binding);
    frame
}

/// Makes the frame that says that the log goes on with a record in the next segment.
pub(crate) fn next_frame(seq: u64, binding: Binding) -> Vec<u8> {
    let mut frame = Vec::with_capacity(NEXT_BYTES);
    begin_record(&mut frame);
    end_record(&mut frame, 0);
    frame[20] = KIND_NEXT;
    seal(&mut frame, seq, binding);
    frame
}

/// Computes the chain after a batch from the chain before it.
pub(crate) fn chain_after(chain: &Chain, records: &[u8], first: u64, durable: u64) -> Chain {
    let mut hasher = Hasher::new_keyed(chain);
    hasher.update(records);
    hasher.update(&first.to_le_bytes());
    hasher.update(&durable.to_le_bytes());
    *hasher.finalize().as_bytes()
}

pub(crate) fn read_u32(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

pub(crate) fn read_u64(bytes: &[u8], at: usize) -> u64 {
    u64::from(read_u32(bytes, at)) | u64::from(read_u32(bytes, at + 4)) << 32
}

/// Fills in number, tag and checksum; the length and the kind are there.
fn seal(frame: &mut [u8], seq: u64, binding: Binding) {
    let end = FRAME_HEADER_BYTES + read_u32(frame, 4) as usize;
    frame[8..16].copy_from_slice(&seq.to_le_bytes());
    frame[16..20].copy_from_slice(&binding.tag.to_le_bytes());
    let checksum = checksum(&frame[..end], binding);
    frame[..4].copy_from_slice(&checksum.to_le_bytes());
}

fn checksum(frame: &[u8], binding: Binding) -> u32 {
    crc32c::crc32c_append(binding.salt, &frame[4..])
}
