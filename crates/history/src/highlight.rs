//! Snippets: the place of a text where a search found something, with the finds marked.

use std::ops::Range;

use crate::search::Search;
use crate::words;

/// Stands where text was left out.
const LEFT_OUT: &str = "…";

/// Returns a piece of the text around the first match, about so many characters long, every match between « and ».
/// Nothing if no match is in the text.
pub fn highlight(text: &str, query: &str, width: usize) -> Option<String> {
    let search = Search::parse(query);
    let matches = matches(text, &search);
    let first = matches.first()?.clone();
    let piece = around(text, &first, width);
    let mut out = String::new();
    if piece.start > 0 {
        out.push_str(LEFT_OUT);
    }
    let mut at = piece.start;
    for found in matches.iter().filter(|found| found.start >= piece.start && found.end <= piece.end) {
        push_plain(&mut out, &text[at..found.start]);
        out.push('«');
        push_plain(&mut out, &text[found.clone()]);
        out.push('»');
        at = found.end;
    }
    push_plain(&mut out, &text[at..piece.end]);
    if piece.end < text.len() {
        out.push_str(LEFT_OUT);
    }
    Some(out)
}

/// Finds the matches of wanted terms, none over another.
fn matches(text: &str, search: &Search) -> Vec<Range<usize>> {
    let (mut words, mut places) = (Vec::new(), Vec::new());
    words::each(text, |word, place| {
        words.push(word.to_owned());
        places.push(place);
    });
    let mut found = Vec::new();
    let mut nth = 0;
    while nth < words.len() {
        match search.match_at(&words[nth..]) {
            Some(length) => {
                found.push(places[nth].start..places[nth + length - 1].end);
                nth += length;
            }
            None => nth += 1,
        }
    }
    found
}

/// Returns about `width` characters around a match, a third of the rest before it, at the ends of characters.
fn around(text: &str, found: &Range<usize>, width: usize) -> Range<usize> {
    let length = text[found.clone()].chars().count();
    let rest = width.saturating_sub(length);
    let before = text[..found.start].char_indices().rev().take(rest / 3);
    let start = before.last().map_or(found.start, |(at, _)| at);
    let taken = text[start..found.start].chars().count();
    let after = text[found.end..].char_indices().nth(rest - taken);
    let end = after.map_or(text.len(), |(at, _)| found.end + at);
    start..end
}

/// Appends text on one line, without marks that would pass for ours.
fn push_plain(out: &mut String, text: &str) {
    out.extend(text.chars().map(|character| match character {
        '«' | '»' => '"',
        character if character.is_control() => ' ',
        character => character,
    }));
}
