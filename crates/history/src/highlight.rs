//! Snippets: the place of a text where a search found something, with the finds marked.

use std::ops::{ControlFlow, Range};

use crate::search::Search;
use crate::words;

/// Stands where text was left out.
const LEFT_OUT: &str = "…";

/// Words that are looked at together: of a long text no more are in memory.
const WORDS: usize = 1_024;

/// Returns a piece of the text around the first match, about so many characters long, every match between « and ».
/// Nothing if no match is in the text.
pub fn highlight(text: &str, query: &str, width: usize) -> Option<String> {
    marked(text, &Search::parse(query), width, WORDS)
}

fn marked(text: &str, search: &Search, width: usize, together: usize) -> Option<String> {
    let (mut piece, mut found) = (None, Vec::new());
    find(text, search, together, |place| {
        let piece: &Range<usize> = piece.get_or_insert_with(|| around(text, &place, width));
        let is_within = place.end <= piece.end;
        found.extend(is_within.then_some(place));
        if is_within { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    let piece = piece?;
    let mut out = String::new();
    if piece.start > 0 {
        out.push_str(LEFT_OUT);
    }
    let mut at = piece.start;
    for found in found {
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

/// Visits the matches of wanted terms in their order, none over another, until the visitor breaks.
fn find(
    text: &str,
    search: &Search,
    together: usize,
    mut visit: impl FnMut(Range<usize>) -> ControlFlow<()>,
) {
    let words_max = search.words_max();
    if words_max == 0 {
        return;
    }
    let (mut words, mut places): (Vec<String>, Vec<Range<usize>>) = (Vec::new(), Vec::new());
    // Looks at all words behind which there are enough for any term, or at all if no more come.
    let mut look = |words: &mut Vec<String>, places: &mut Vec<Range<usize>>, behind: usize| {
        let mut nth = 0;
        while nth + behind < words.len() {
            let length = search.match_at(&words[nth..]);
            if let Some(length) = length
                && visit(places[nth].start..places[nth + length - 1].end).is_break()
            {
                return ControlFlow::Break(());
            }
            nth += length.unwrap_or(1);
        }
        words.drain(..nth);
        places.drain(..nth);
        ControlFlow::Continue(())
    };
    let mut flow = ControlFlow::Continue(());
    words::each_until(text, |word, place| {
        words.push(word.to_owned());
        places.push(place);
        if words.len() >= together.saturating_add(words_max) {
            flow = look(&mut words, &mut places, words_max - 1);
        }
        flow
    });
    if flow.is_continue() {
        let _ended = look(&mut words, &mut places, 0);
    }
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn however_many_words_are_looked_at_together_the_same_is_marked(
            text in "([abc]{1,2}[ .«]|日本|Ä ){0,40}",
            query in "[ab]{1,2}\\*?|\"[ab] [abc]( [ab])?\"|([ab] ){1,3}",
            width in 0_usize..60,
            together in 0_usize..5,
        ) {
            let search = Search::parse(&query);
            let at_once = marked(&text, &search, width, usize::MAX);
            prop_assert_eq!(marked(&text, &search, width, together), at_once);
        }
    }
}
