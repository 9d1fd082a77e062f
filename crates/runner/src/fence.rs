//! What others wrote, in a prompt: fenced so that nothing in it can close the fence or pass for a line of ours.
//!
//! Each line of it starts with a sign of ours, and the word of the fence is taken from the digest of all that it
//! holds: whoever writes a message cannot know it, and a word that occurs is never used.

use message::Sha256;

/// Letters of the word of a fence.
const WORD_LETTERS: usize = 16;

/// The fence of one prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fence {
    word: String,
}

impl Fence {
    /// Finds a word that occurs in none of the texts.
    pub fn around(texts: &[&str]) -> Self {
        let mut digest = Sha256::of(texts.join("\n").as_bytes()).to_string();
        loop {
            let word = digest.get(..WORD_LETTERS).unwrap_or(&digest).to_owned();
            if !texts.iter().any(|text| text.contains(&word)) {
                return Fence { word };
            }
            digest = Sha256::of(digest.as_bytes()).to_string();
        }
    }

    /// Returns the line that opens it.
    pub fn open(&self) -> String {
        format!("<untrusted-{}>", self.word)
    }

    /// Returns the line that closes it.
    pub fn close(&self) -> String {
        format!("</untrusted-{}>", self.word)
    }

    /// Writes a text within the fence.
    pub fn enclose(&self, text: &str, lines: &mut Vec<String>) {
        lines.push(self.open());
        lines.extend(text.split(is_line_break).map(|line| format!("> {line}").trim_end().to_owned()));
        lines.push(self.close());
    }
}

/// Everything that any reader takes for the end of a line.
fn is_line_break(letter: char) -> bool {
    matches!(letter, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}
