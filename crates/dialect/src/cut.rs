//! Texts that are longer than a dialect allows: the head and a mark with the digest of the whole.
//!
//! The whole text travels in the origin; nothing is cut in silence.

use std::borrow::Cow;

use message::Sha256;

const MARK: &str = "… [cut, sha256 ";

/// Returns the text if it has at most so many bytes, else its head with a mark.
pub fn cut_to_bytes(text: &str, bytes_max: usize) -> Cow<'_, str> {
    if text.len() <= bytes_max {
        return Cow::Borrowed(text);
    }
    let mark = mark(text);
    let mut end = bytes_max.saturating_sub(mark.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    Cow::Owned(format!("{}{mark}", &text[..end]))
}

/// Returns the text if it has at most so many words, else its head with a mark.
pub fn cut_to_words(text: &str, words_max: usize) -> Cow<'_, str> {
    if words(text) <= words_max {
        return Cow::Borrowed(text);
    }
    let mark = mark(text);
    let head = text.split_whitespace().take(words_max.saturating_sub(words(&mark))).collect::<Vec<_>>();
    Cow::Owned(format!("{}{mark}", head.join(" ")))
}

/// Tells whether a text ends in the mark of a cut.
pub fn is_cut(text: &str) -> bool {
    text.rfind(MARK).is_some_and(|at| {
        let digest = text[at + MARK.len()..].strip_suffix(']');
        digest.is_some_and(|digest| digest.parse::<Sha256>().is_ok())
    })
}

/// Counts words: what white space separates.
pub fn words(text: &str) -> usize {
    text.split_whitespace().count()
}

fn mark(text: &str) -> String {
    format!("{MARK}{}]", Sha256::of(text.as_bytes()))
}
