//! The sizes and limits of a segment log.

#[cfg(any(test, feature = "plants"))]
use crate::plant::Plant;

/// How a segment log is laid out. A log may be opened with other options than it was made with.
#[derive(Clone, Debug)]
pub struct Options {
    /// The size of a segment file; also bounds a batch.
    pub segment_bytes: u64,
    /// The size of the very first segment of a new log: small, because it is zeroed before the first append.
    pub first_segment_bytes: u64,
    /// How many segments are held back for [`Class::Reserve`](crate::Class::Reserve).
    pub reserve_segments: u32,
    /// How many further segments are kept ready; more than these are removed when records are given up.
    pub spare_segments: u32,
    /// How much of the end of the log stays in memory, as far as the system likes: whoever follows the log reads that
    /// soon. What is older is let go, so that a busy log does not fill the machine's memory with what is hardly read
    /// again; and memory that was just given back costs less than new memory.
    pub recent_bytes: u64,
    /// The most that all segment files together may take; `None` leaves it to the disk.
    pub bytes_max: Option<u64>,
    /// The largest record.
    pub record_bytes_max: u32,
    /// Unpredictable number for a new log: what an agent writes can then never pass for a frame of ours.
    pub seed: u64,
    /// The wrong behaviour that a simulation must find.
    #[cfg(any(test, feature = "plants"))]
    pub plant: Option<Plant>,
}

impl Options {
    /// Returns the sizes for a real bus: segments of 64 MiB, two in reserve and one ready.
    pub fn standard(seed: u64) -> Self {
        Self {
            segment_bytes: 64 << 20,
            first_segment_bytes: 1 << 20,
            reserve_segments: 2,
            spare_segments: 1,
            recent_bytes: 64 << 20,
            bytes_max: None,
            record_bytes_max: 16 << 20,
            seed,
            #[cfg(any(test, feature = "plants"))]
            plant: None,
        }
    }

    /// Returns sizes for tests and simulations, where segments must turn over fast.
    pub fn small(seed: u64) -> Self {
        Self {
            segment_bytes: 16 << 10,
            first_segment_bytes: 8 << 10,
            record_bytes_max: 8 << 10,
            ..Self::standard(seed)
        }
    }
}
