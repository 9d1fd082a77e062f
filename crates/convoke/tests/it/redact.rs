//! What differs from run to run, replaced in what a session printed: ids by numbers, times, tokens, places.

use std::collections::HashMap;

/// Replaces what differs, the same id always by the same number.
#[derive(Default)]
pub(crate) struct Redactor {
    ids: HashMap<String, usize>,
}

impl Redactor {
    pub(crate) fn redact(&mut self, text: &str) -> String {
        let mut shown = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(next) = rest.chars().next() {
            if let Some((replacement, length)) = self.differing(rest, shown.chars().last()) {
                shown.push_str(&replacement);
                rest = &rest[length..];
            } else {
                shown.push(next);
                rest = &rest[next.len_utf8()..];
            }
        }
        shown
    }

    fn differing(&mut self, text: &str, before: Option<char>) -> Option<(String, usize)> {
        if before.is_some_and(|before| before.is_ascii_alphanumeric()) {
            return None;
        }
        if let Some(token) = matching(text, &"x".repeat(64)).filter(|_| text[64..].starts_with('~')) {
            return Some(("[token]".to_owned(), token));
        }
        if let Some(length) = matching(text, "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx") {
            let count = self.ids.len() + 1;
            let number = *self.ids.entry(text[..length].to_owned()).or_insert(count);
            return Some((format!("[id {number}]"), length));
        }
        if let Some(length) = matching(text, "dddd-dd-ddTdd:dd:dd") {
            let fraction = text[length..].find('Z').filter(|length| *length <= 10)?;
            return Some(("[time]".to_owned(), length + fraction + 1));
        }
        if let Some(length) = matching(text, "dd:dd:dd ") {
            return Some(("[time] ".to_owned(), length));
        }
        let digits = text.len() - text.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
        if digits > 0 && text[digits..].starts_with(" ms off") {
            return Some(("[count]".to_owned(), digits));
        }
        let label = matching(text, "xxxxxxxx").filter(|length| !text[*length..].starts_with(is_word));
        label.map(|length| ("[label]".to_owned(), length))
    }
}

/// Returns the length of the text that has a form: `x` is a hexadecimal digit, `d` a decimal one.
fn matching(text: &str, form: &str) -> Option<usize> {
    let fits = |(letter, form): (u8, u8)| match form {
        b'x' => letter.is_ascii_digit() || (b'a'..=b'f').contains(&letter),
        b'd' => letter.is_ascii_digit(),
        other => letter == other,
    };
    let fits_all = text.len() >= form.len() && text.bytes().zip(form.bytes()).all(fits);
    fits_all.then_some(form.len())
}

fn is_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '-'
}
