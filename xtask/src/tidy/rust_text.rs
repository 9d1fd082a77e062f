//! Rust source split into code and comments, line by line, without parsing it.
//!
//! Strings are emptied, so that a rule written in a string does not break itself.

use std::iter;

/// One source file in two layers; blanks stand for what belongs to the other layer.
///
/// Both keep every line break, so line numbers are those of the file.
pub(crate) struct RustText {
    pub(crate) code: String,
    pub(crate) comments: String,
}

impl RustText {
    pub(crate) fn split(source: &str) -> Self {
        let mut splitter = Splitter {
            characters: source.chars().collect(),
            next: 0,
            layers: Self { code: String::new(), comments: String::new() },
        };
        while splitter.peek(0).is_some() {
            splitter.step();
        }
        splitter.layers
    }

    /// The code without the items that only tests compile.
    pub(crate) fn code_without_tests(&self) -> String {
        if self.code.contains("#![cfg(test)]") {
            return blanked(&self.code);
        }
        let mut rest = self.code.as_str();
        let mut kept = String::new();
        while let Some(start) = rest.find("#[cfg(") {
            let (before, from) = rest.split_at(start);
            kept.push_str(before);
            let attribute_bytes = from.find(']').map_or(from.len(), |end| end + 1);
            let (attribute, after) = from.split_at(attribute_bytes);
            if is_test_only(attribute) {
                let (item, after) = after.split_at(item_bytes(after));
                kept.push_str(&blanked(attribute));
                kept.push_str(&blanked(item));
                rest = after;
            } else {
                kept.push_str(attribute);
                rest = after;
            }
        }
        kept.push_str(rest);
        kept
    }
}

/// Whether a character can be part of a Rust identifier.
pub(crate) fn is_identifier(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// The places where `word` stands alone, not inside a longer identifier.
pub(crate) fn find_word(text: &str, word: &str) -> impl Iterator<Item = usize> {
    text.match_indices(word).map(|(start, _)| start).filter(move |&start| {
        let before = text[..start].chars().next_back();
        let after = text[start + word.len()..].chars().next();
        !before.is_some_and(is_identifier) && !after.is_some_and(is_identifier)
    })
}

struct Splitter {
    characters: Vec<char>,
    next: usize,
    layers: RustText,
}

impl Splitter {
    fn step(&mut self) {
        match (self.peek(0), self.peek(1)) {
            (Some('/'), Some('/')) => self.line_comment(),
            (Some('/'), Some('*')) => self.block_comment(),
            (Some('"'), _) => self.string(),
            (Some('r'), Some('"' | '#')) if self.raw_string_hashes().is_some() => self.raw_string(),
            (Some('\''), _) => self.quote(),
            _ => self.take_code(),
        }
    }

    fn line_comment(&mut self) {
        while self.peek(0).is_some_and(|character| character != '\n') {
            self.take_comment();
        }
    }

    fn block_comment(&mut self) {
        let mut depth = 0_usize;
        while self.peek(0).is_some() {
            match (self.peek(0), self.peek(1)) {
                (Some('/'), Some('*')) => {
                    depth += 1;
                    self.take_comment();
                }
                (Some('*'), Some('/')) => {
                    depth -= 1;
                    self.take_comment();
                }
                _ => {}
            }
            self.take_comment();
            if depth == 0 {
                return;
            }
        }
    }

    fn string(&mut self) {
        self.take_code();
        while let Some(character) = self.peek(0) {
            match character {
                '"' => return self.take_code(),
                '\\' => {
                    self.drop_one();
                    self.drop_one();
                }
                _ => self.drop_one(),
            }
        }
    }

    /// How many `#` open the raw string that starts here, if one does.
    fn raw_string_hashes(&self) -> Option<usize> {
        let previous = self.next.checked_sub(1).map(|index| self.characters[index]);
        // `br"…"` and `cr"…"` are raw strings, while the `r` of `for` is not the start of one.
        if previous.is_some_and(|character| is_identifier(character) && !"bc".contains(character)) {
            return None;
        }
        let hashes =
            self.characters[self.next + 1..].iter().take_while(|&&character| character == '#').count();
        (self.peek(1 + hashes) == Some('"')).then_some(hashes)
    }

    fn raw_string(&mut self) {
        let hashes = self.raw_string_hashes().unwrap_or(0);
        let end: Vec<char> = iter::once('"').chain(iter::repeat_n('#', hashes)).collect();
        for _ in 0..hashes + 2 {
            self.take_code();
        }
        while self.peek(0).is_some() {
            if self.characters[self.next..].starts_with(&end) {
                for _ in &end {
                    self.take_code();
                }
                return;
            }
            self.drop_one();
        }
    }

    /// A character literal or the start of a lifetime.
    fn quote(&mut self) {
        self.take_code();
        if self.peek(0) == Some('\\') {
            self.drop_one();
            self.drop_one();
            while self.peek(0).is_some_and(|character| character != '\'' && character != '\n') {
                self.drop_one();
            }
            self.take_code();
        } else if self.peek(1) == Some('\'') {
            self.drop_one();
            self.take_code();
        }
    }

    fn peek(&self, ahead: usize) -> Option<char> {
        self.characters.get(self.next + ahead).copied()
    }

    fn take_code(&mut self) {
        if let Some(character) = self.advance() {
            self.layers.code.push(character);
            self.layers.comments.push(blank(character));
        }
    }

    fn take_comment(&mut self) {
        if let Some(character) = self.advance() {
            self.layers.code.push(blank(character));
            self.layers.comments.push(character);
        }
    }

    fn drop_one(&mut self) {
        if let Some(character) = self.advance() {
            self.layers.code.push(blank(character));
            self.layers.comments.push(blank(character));
        }
    }

    fn advance(&mut self) -> Option<char> {
        let character = self.peek(0)?;
        self.next += 1;
        Some(character)
    }
}

fn is_test_only(attribute: &str) -> bool {
    find_word(attribute, "test").next().is_some() && find_word(attribute, "not").next().is_none()
}

/// How long the item at the start of `code` is: to its semicolon, its comma or the end of its body.
fn item_bytes(code: &str) -> usize {
    let mut depth = 0_usize;
    // Angle brackets count only outside of bodies, where `<` cannot mean "less".
    let mut angles = 0_usize;
    let mut previous = ' ';
    for (index, character) in code.char_indices() {
        match character {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' if depth == 0 => return index,
            '}' if depth == 1 => return index + 1,
            ')' | ']' | '}' => depth -= 1,
            '<' if depth == 0 => angles += 1,
            // The arrows `->` and `=>` close nothing.
            '>' if depth == 0 && !matches!(previous, '-' | '=') => angles = angles.saturating_sub(1),
            ';' | ',' if depth == 0 && angles == 0 => return index + 1,
            _ => {}
        }
        previous = character;
    }
    code.len()
}

fn blanked(text: &str) -> String {
    text.chars().map(blank).collect()
}

fn blank(character: char) -> char {
    if character == '\n' { '\n' } else { ' ' }
}
