//! Segment files: their names and headers.

use message::Seq;

use crate::frame::{Binding, Chain, read_u32, read_u64};

/// The size of the header block; frames begin behind it.
pub(crate) const HEADER_BYTES: usize = 4096;
/// The version of the format that this code writes, and the only one that it reads.
pub(crate) const VERSION: u32 = 1;

const MAGIC: [u8; 8] = *b"CVKSEGMT";
const CHECKSUM_AT: usize = 12;
const SEGMENT: &str = ".segment";
const SPARE: &str = ".spare";

/// What the header of a segment says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SegmentHeader {
    pub(crate) generation: u32,
    /// The number that the first record of the segment has or will have.
    pub(crate) first: Seq,
    /// The size of the file.
    pub(crate) bytes: u64,
    /// The chain before the first batch.
    pub(crate) chain: Chain,
}

/// Why a header cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HeaderFlaw {
    Damaged(&'static str),
    /// It is whole, but of another version of the format.
    Version(u32),
}

impl SegmentHeader {
    /// Encodes the header block.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut block = Vec::with_capacity(HEADER_BYTES);
        block.extend_from_slice(&MAGIC);
        block.extend_from_slice(&VERSION.to_le_bytes());
        block.extend_from_slice(&[0; 4]);
        block.extend_from_slice(&self.generation.to_le_bytes());
        block.extend_from_slice(&[0; 4]);
        block.extend_from_slice(&self.first.0.to_le_bytes());
        block.extend_from_slice(&self.bytes.to_le_bytes());
        block.extend_from_slice(&self.chain);
        block.resize(HEADER_BYTES, 0);
        let checksum = crc32c::crc32c(&block);
        block[CHECKSUM_AT..CHECKSUM_AT + 4].copy_from_slice(&checksum.to_le_bytes());
        block
    }

    /// Decodes a header block, or says what is wrong with it.
    pub(crate) fn decode(block: &[u8]) -> Result<Self, HeaderFlaw> {
        let Some(block) = block.first_chunk::<HEADER_BYTES>() else {
            return Err(HeaderFlaw::Damaged("the file is too short for a segment header"));
        };
        if block[..8] != MAGIC {
            return Err(HeaderFlaw::Damaged("this is not a segment header"));
        }
        let mut unsigned = *block;
        unsigned[CHECKSUM_AT..CHECKSUM_AT + 4].fill(0);
        if crc32c::crc32c(&unsigned) != read_u32(block, CHECKSUM_AT) {
            return Err(HeaderFlaw::Damaged("the checksum of the segment header is wrong"));
        }
        let version = read_u32(block, 8);
        if version != VERSION {
            return Err(HeaderFlaw::Version(version));
        }
        let mut chain = [0; 32];
        chain.copy_from_slice(&block[40..72]);
        Ok(Self {
            generation: read_u32(block, 16),
            first: Seq(read_u64(block, 24)),
            bytes: read_u64(block, 32),
            chain,
        })
    }

    /// Returns what binds frames to this segment.
    pub(crate) fn binding(&self) -> Binding {
        Binding { tag: self.generation ^ read_u32(&self.chain, 4), salt: read_u32(&self.chain, 0) }
    }
}

/// Returns the chain before the first record of a new log.
pub(crate) fn first_chain(seed: u64) -> Chain {
    *blake3::Hasher::new_derive_key("convoke log 1 first chain value")
        .update(&seed.to_le_bytes())
        .finalize()
        .as_bytes()
}

pub(crate) fn segment_name(generation: u32) -> String {
    format!("{generation:010}{SEGMENT}")
}

pub(crate) fn spare_name(number: u32) -> String {
    format!("{number:010}{SPARE}")
}

pub(crate) fn parse_segment_name(name: &str) -> Option<u32> {
    parse_name(name, SEGMENT)
}

pub(crate) fn parse_spare_name(name: &str) -> Option<u32> {
    parse_name(name, SPARE)
}

fn parse_name(name: &str, ending: &str) -> Option<u32> {
    let digits = name.strip_suffix(ending)?;
    let plain = digits.len() == 10 && digits.bytes().all(|byte| byte.is_ascii_digit());
    if plain { digits.parse().ok() } else { None }
}
