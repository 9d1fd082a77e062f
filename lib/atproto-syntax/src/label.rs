//! Domain labels: the rules that handles and NSIDs share.

use crate::class;

const LABEL_BYTES_MAX: usize = 63;

/// What a walk over dotted labels found.
pub(crate) struct Labels {
    pub(crate) count: usize,
    /// Where the last label begins.
    pub(crate) last_start: usize,
}

/// Why a label is none; each format words it in its own terms.
pub(crate) enum LabelFault {
    Byte,
    Empty,
    TooLong,
    EdgeHyphen,
}

/// Walks over labels separated by dots and checks each.
pub(crate) fn scan(bytes: &[u8]) -> Result<Labels, LabelFault> {
    let mut count = 1;
    let mut start = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        if byte == b'.' {
            check_ends(&bytes[start..at])?;
            start = at + 1;
            count += 1;
        } else if !class::is(byte, class::LABEL) {
            return Err(LabelFault::Byte);
        }
    }
    check_ends(&bytes[start..])?;
    Ok(Labels { count, last_start: start })
}

fn check_ends(label: &[u8]) -> Result<(), LabelFault> {
    match label {
        [] => Err(LabelFault::Empty),
        [b'-', ..] | [.., b'-'] => Err(LabelFault::EdgeHyphen),
        _ if label.len() > LABEL_BYTES_MAX => Err(LabelFault::TooLong),
        _ => Ok(()),
    }
}
