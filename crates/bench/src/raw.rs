//! The floor: bytes written to a preallocated file, each batch closed by one sync, and nothing else.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;

use anyhow::Context;

use crate::ring::Scale;

/// About as large as the segments that our log has in use.
const BYTES: u64 = 512 << 20;
const BYTES_TINY: u64 = 4 << 20;

/// A zeroed file that is written over and over, from its beginning to its end.
pub(crate) struct Raw {
    file: File,
    bytes: u64,
    offset: u64,
}

impl Raw {
    pub(crate) fn make(folder: &Path, scale: Scale) -> anyhow::Result<Self> {
        let bytes = match scale {
            Scale::Full => BYTES,
            Scale::Tiny => BYTES_TINY,
        };
        let path = folder.join("raw");
        let mut options = OpenOptions::new();
        let file = options.create_new(true).read(true).write(true).open(&path);
        let file = file.with_context(|| format!("making {}", path.display()))?;
        let zeros = vec![0; 1 << 20];
        let mut offset = 0;
        while offset < bytes {
            file.write_all_at(&zeros, offset)?;
            offset += zeros.len() as u64;
        }
        file.sync_all()?;
        Ok(Raw { file, bytes: offset, offset: 0 })
    }

    /// Writes a batch and makes it durable.
    pub(crate) fn write(&mut self, batch: &[u8]) -> anyhow::Result<()> {
        let length = batch.len() as u64;
        if self.offset + length > self.bytes {
            self.offset = 0;
        }
        self.file.write_all_at(batch, self.offset)?;
        self.file.sync_data()?;
        self.offset += length;
        Ok(())
    }
}
