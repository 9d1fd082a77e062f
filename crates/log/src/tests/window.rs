//! The window on a file shows what the file has, however far it reads ahead.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;

use crate::disk::DiskFile;
use crate::window::Window;

/// A file that counts what is read of it.
struct Counted {
    bytes: Vec<u8>,
    read: AtomicUsize,
}

impl Counted {
    fn of(length: usize) -> Self {
        let bytes = (0..length).map(|at| u8::try_from(at % 251).unwrap()).collect();
        Counted { bytes, read: AtomicUsize::new(0) }
    }
}

impl DiskFile for Counted {
    fn size(&self) -> io::Result<u64> {
        Ok(self.bytes.len() as u64)
    }

    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
        let rest = self.bytes.get(usize::try_from(offset).unwrap()..).unwrap_or_default();
        let count = bytes.len().min(rest.len());
        bytes[..count].copy_from_slice(&rest[..count]);
        self.read.fetch_add(count, Ordering::Relaxed);
        Ok(count)
    }

    fn write_at(&self, _bytes: &[u8], _offset: u64) -> io::Result<usize> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn who_wants_little_reads_little_and_who_goes_on_reads_more_at_once() {
    let file = Counted::of(4_096);
    let mut window = Window::growing(16, 256);
    let mut pieces = Vec::new();
    let mut before = 0;
    for at in (0..1_024).step_by(8) {
        window.slice(&file, at, 8, 4_096).unwrap();
        let read = file.read.load(Ordering::Relaxed);
        if read > before {
            pieces.push(read - before);
            before = read;
        }
    }
    assert_eq!(pieces, [16, 64, 256, 256, 256, 256]);
}

proptest! {
    #[test]
    fn every_slice_is_what_the_file_has(
        slices in prop::collection::vec((0_usize..1_200, 0_usize..300), 1..40),
        (piece, piece_max, end) in (1_usize..64, 1_usize..512, 0_usize..1_200),
    ) {
        let file = Counted::of(1_000);
        let mut window = Window::growing(piece, piece_max.max(piece));
        for (from, length) in slices {
            let held = window.slice(&file, from as u64, length, end as u64).unwrap();
            let until = (from + length).min(end).min(1_000);
            prop_assert_eq!(held, file.bytes.get(from..until).unwrap_or_default());
        }
    }
}
