//! Words: how texts are cut into what can be searched, the same for what is stored and for what is asked.
//!
//! A word is a run of letters and digits, in lower case and without the marks of Latin letters, so that `Café` is found
//! by `cafe`. In scripts that are written without blanks every character is a word. What comes out consists of letters
//! and digits only, so the index, which splits at blanks, splits exactly here.

use std::ops::{ControlFlow, Range};

/// Longer words are cut here: they are keys and encoded data rather than words.
const WORD_CHARS_MAX: usize = 64;

/// Latin letters with marks, from U+00C0 on, and what they are without.
const BARE: &str = "aaaaaa\u{e6}ceeeeiiii\u{f0}nooooo\u{d7}ouuuuy\u{fe}\u{df}aaaaaa\u{e6}ceeeeiiii\u{f0}nooooo\u{f7}ouuuuy\u{fe}y\
    aaaaaaccccccccddddeeeeeeeeeegggggggghhhhiiiiiiiiii\u{133}\u{133}jjkk\u{138}lllllll\
    lllnnnnnnn\u{14b}\u{14b}oooooo\u{153}\u{153}rrrrrrssssssssttttttuuuuuuuuuuuuwwyyyzzzzzzs";

/// Visits the words of a text with their places.
pub(crate) fn each(text: &str, mut visit: impl FnMut(&str, Range<usize>)) {
    each_until(text, |word, place| {
        visit(word, place);
        ControlFlow::Continue(())
    });
}

/// Visits the words of a text until the visitor breaks; soon after that no more come.
pub(crate) fn each_until(text: &str, mut visit: impl FnMut(&str, Range<usize>) -> ControlFlow<()>) {
    let mut word = String::new();
    let (mut start, mut flow) = (0, ControlFlow::Continue(()));
    while start < text.len() && flow.is_continue() {
        let run = Run::of(&text.as_bytes()[start..]);
        let end = start + run.bytes;
        // Most words are read where they stand.
        if run.is_word {
            flow = visit(&text[start..end], start..end);
        } else if run.bytes > 0 {
            spell(&text[start..end], &mut word, |word, places| {
                if flow.is_continue() {
                    flow = visit(word, start + places.start..start + places.end);
                }
            });
        }
        start = end + 1;
    }
}

/// What stands before the next ASCII character that is in no word, which ends every word.
struct Run {
    bytes: usize,
    /// Whether it is one word as it stands.
    is_word: bool,
}

impl Run {
    fn of(text: &[u8]) -> Self {
        let mut is_plain = true;
        let mut bytes = 0;
        for byte in text {
            match byte {
                b'a'..=b'z' | b'0'..=b'9' => {}
                b'A'..=b'Z' | 0x80.. => is_plain = false,
                _ => break,
            }
            bytes += 1;
        }
        Run { bytes, is_word: is_plain && (1..=WORD_CHARS_MAX).contains(&bytes) }
    }
}

/// Visits the words of a text character by character.
pub(crate) fn spell(text: &str, word: &mut String, mut visit: impl FnMut(&str, Range<usize>)) {
    let bare = Bare::new();
    let (mut start, mut count) = (0, 0);
    let mut end = |word: &mut String, start: usize, end: usize| {
        if !word.is_empty() {
            visit(word, start..end);
            word.clear();
        }
    };
    let mut last = 0;
    for (at, character) in text.char_indices() {
        let next = at + character.len_utf8();
        if is_mark(character) && !word.is_empty() {
            last = next;
            continue;
        }
        if !character.is_alphanumeric() {
            end(word, start, last);
            continue;
        }
        if stands_alone(character) {
            end(word, start, last);
            word.push(character);
            end(word, at, next);
            continue;
        }
        if word.is_empty() {
            (start, count) = (at, 0);
        }
        if count < WORD_CHARS_MAX {
            bare.push(word, character);
            count += 1;
        }
        last = next;
    }
    end(word, start, last);
}

/// Returns the words of a text.
pub(crate) fn of(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    each(text, |word, _| words.push(word.to_owned()));
    words
}

/// The table of bare letters, ready to be looked up.
struct Bare {
    letters: &'static [char; 192],
}

impl Bare {
    fn new() -> Self {
        static LETTERS: std::sync::LazyLock<[char; 192]> = std::sync::LazyLock::new(|| {
            let mut letters = ['\0'; 192];
            for (place, letter) in letters.iter_mut().zip(BARE.chars()) {
                *place = letter;
            }
            letters
        });
        Bare { letters: &LETTERS }
    }

    /// Appends a character in lower case and without its mark.
    fn push(&self, word: &mut String, character: char) {
        if character.is_ascii() {
            word.push(character.to_ascii_lowercase());
            return;
        }
        if let Some(letter) = self.letter(character) {
            word.push(letter);
            return;
        }
        // Some letters get a mark of their own in lower case; it would not be a letter. The sign of a unit may become
        // a letter of the table.
        let lower = character.to_lowercase().filter(|character| character.is_alphanumeric());
        word.extend(lower.map(|character| self.letter(character).unwrap_or(character)));
    }

    fn letter(&self, character: char) -> Option<char> {
        self.letters.get((character as usize).wrapping_sub(0xc0)).copied()
    }
}

/// Tells whether a character only marks the one before it.
fn is_mark(character: char) -> bool {
    matches!(character, '\u{300}'..='\u{36f}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}')
}

/// Tells whether a character belongs to a script that is written without blanks.
fn stands_alone(character: char) -> bool {
    matches!(
        character,
        '\u{0e00}'..='\u{0eff}'
            | '\u{1000}'..='\u{109f}'
            | '\u{1780}'..='\u{17ff}'
            | '\u{2e80}'..='\u{31ff}'
            | '\u{3400}'..='\u{9fff}'
            | '\u{f900}'..='\u{faff}'
            | '\u{20000}'..='\u{3ffff}'
    )
}
