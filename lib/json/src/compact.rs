//! Texts without the blanks between their tokens, for whoever compares what two texts say.

use std::borrow::Cow;

use crate::parse::special_from;

/// Returns a text that is JSON without the blanks between its tokens. What is written differently in other ways, such
/// as an escape that need not be one, stays different.
pub fn compact(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let mut written: Option<String> = None;
    let (mut at, mut kept) = (0, 0);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => at = after_string(bytes, at),
            b' ' | b'\t' | b'\n' | b'\r' => {
                let written = written.get_or_insert_with(|| String::with_capacity(text.len()));
                written.push_str(&text[kept..at]);
                at += 1;
                kept = at;
            }
            _ => at += 1,
        }
    }
    match written {
        None => Cow::Borrowed(text),
        Some(mut written) => {
            written.push_str(&text[kept..]);
            Cow::Owned(written)
        }
    }
}

/// Returns where the string ends that begins at a quotation mark.
fn after_string(bytes: &[u8], begin: usize) -> usize {
    let mut at = begin + 1;
    loop {
        at = special_from(bytes, at.min(bytes.len()));
        match bytes.get(at) {
            None => return bytes.len(),
            Some(b'"') => return at + 1,
            Some(b'\\') => at += 2,
            Some(_) => at += 1,
        }
    }
}
