//! Where input comes from: a file, or standard input for `-`.

use std::fs::File;
use std::io::{self, BufRead, BufReader};

use crate::failure::Failure;

/// Opens a file, or standard input for `-`.
pub(crate) fn open(file: &str) -> Result<Box<dyn BufRead>, Failure> {
    if file == "-" {
        return Ok(Box::new(io::stdin().lock()));
    }
    let opened = File::open(file).map_err(|error| {
        Failure::unreadable(file, &error).hint("give a file that exists, or - for standard input")
    })?;
    Ok(Box::new(BufReader::with_capacity(1 << 16, opened)))
}
