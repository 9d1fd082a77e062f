//! What somebody searches for: words that must all be there, `"phrases"`, `begin*`, `-not`.
//!
//! Anything that is typed means something: what is not an operator is a word or a blank. A word that is made of several,
//! such as `next-week`, is a phrase. What is given to the index are words in quotes, in which nothing is an operator.

use crate::words;

/// A search that was understood.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Search {
    wanted: Vec<Term>,
    unwanted: Vec<Term>,
}

/// Words that stand side by side.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Term {
    words: Vec<String>,
    /// Whether the last word may go on.
    is_begin: bool,
}

/// What the index can tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// What finds everything that may match; nothing if only words are named that must not be there.
    pub(crate) find: Option<String>,
    /// What finds messages that do not match, where nothing finds those that do.
    pub(crate) exclude: Option<String>,
    /// Whether what is found has to be read to be sure.
    pub(crate) must_verify: bool,
}

impl Search {
    /// Understands what was typed.
    pub(crate) fn parse(typed: &str) -> Self {
        let mut search = Search::default();
        let mut rest = typed.trim_start();
        while !rest.is_empty() {
            let is_unwanted = rest.starts_with('-');
            rest = rest.strip_prefix('-').unwrap_or(rest);
            let (text, is_quoted, after) = next_piece(rest);
            rest = after.trim_start();
            let is_begin = !is_quoted && text.ends_with('*');
            let words = words::of(text);
            if words.is_empty() {
                continue;
            }
            let term = Term { words, is_begin };
            if is_unwanted { search.unwanted.push(term) } else { search.wanted.push(term) }
        }
        search
    }

    /// Tells whether nothing is searched for.
    pub(crate) fn is_empty(&self) -> bool {
        self.wanted.is_empty() && self.unwanted.is_empty()
    }

    /// Returns what to ask the index.
    pub(crate) fn plan(&self) -> Plan {
        let find: Vec<String> = self.wanted.iter().flat_map(Term::parts).collect();
        let exclude: Vec<String> =
            self.unwanted.iter().filter(|term| term.words.len() == 1).flat_map(Term::parts).collect();
        let is_phrase = |term: &Term| term.words.len() > 1;
        let must_verify = self.wanted.iter().chain(&self.unwanted).any(is_phrase);
        let (find, exclude) = (find.join(" AND "), exclude.join(" OR "));
        match (find.is_empty(), exclude.is_empty()) {
            (true, true) => Plan { find: None, exclude: None, must_verify },
            (true, false) => Plan { find: None, exclude: Some(exclude), must_verify },
            (false, true) => Plan { find: Some(find), exclude: None, must_verify },
            (false, false) => {
                Plan { find: Some(format!("({find}) NOT ({exclude})")), exclude: None, must_verify }
            }
        }
    }

    /// Tells whether a text matches, given the words of each of its strings.
    pub(crate) fn matches(&self, lines: &[Vec<String>]) -> bool {
        let is_there = |term: &Term| lines.iter().any(|words| term.is_in(words));
        self.wanted.iter().all(is_there) && !self.unwanted.iter().any(is_there)
    }

    /// Returns how many words the longest wanted term has.
    pub(crate) fn words_max(&self) -> usize {
        self.wanted.iter().map(|term| term.words.len()).max().unwrap_or(0)
    }

    /// Returns how many words from a place on match one of the wanted terms.
    pub(crate) fn match_at(&self, words: &[String]) -> Option<usize> {
        let found = self.wanted.iter().filter(|term| term.starts(words));
        found.map(|term| term.words.len()).max()
    }
}

impl Term {
    fn parts(&self) -> impl Iterator<Item = String> + '_ {
        let last = self.words.len() - 1;
        self.words.iter().enumerate().map(move |(nth, word)| {
            // A word has letters and digits only, so nothing in it ends the quotes.
            let star = if self.is_begin && nth == last { "*" } else { "" };
            format!("\"{word}\"{star}")
        })
    }

    fn is_in(&self, words: &[String]) -> bool {
        (0..words.len()).any(|from| self.starts(&words[from..]))
    }

    fn starts(&self, words: &[String]) -> bool {
        let Some((last, before)) = self.words.split_last() else { return false };
        let Some(found) = words.get(before.len()) else { return false };
        words.starts_with(before) && if self.is_begin { found.starts_with(last) } else { found == last }
    }
}

/// Cuts off a quoted piece or one up to the next blank; a quote that does not end goes to the end.
fn next_piece(text: &str) -> (&str, bool, &str) {
    if let Some(quoted) = text.strip_prefix('"') {
        let (inside, after) = quoted.split_once('"').unwrap_or((quoted, ""));
        return (inside, true, after);
    }
    let end =
        text.find(|character: char| character.is_whitespace() || character == '"').unwrap_or(text.len());
    (&text[..end], false, &text[end..])
}
