//! Prose: counting sentences and telling a statement from an order, as far as that goes without a grammar.

use dialect::cut_to_words;

/// Words at which a full stop ends nothing.
#[rustfmt::skip]
const ABBREVIATIONS: &[&str] = &[
    "e.g.", "i.e.", "cf.", "vs.", "etc.", "approx.", "resp.", "incl.", "mr.", "mrs.", "ms.", "dr.", "st.",
];
/// Verbs with which an order starts.
#[rustfmt::skip]
const ORDERS: &[&str] = &[
    "add", "adjust", "analyse", "analyze", "answer", "apply", "ask", "audit", "automate", "build", "bump", "change",
    "check", "clean", "collect", "commit", "compare", "configure", "connect", "convert", "create", "debug",
    "define", "delete", "deploy", "describe", "design", "determine", "develop", "disable", "do", "document", "draft",
    "drop", "enable", "ensure", "evaluate", "explain", "export", "extend", "extract", "find", "finish", "fix",
    "generate", "get", "give", "handle", "help", "identify", "implement", "import", "improve", "increase", "install",
    "integrate", "introduce", "investigate", "keep", "launch", "let", "list", "look", "make", "merge", "migrate",
    "modify", "move", "open", "optimise", "optimize", "perform", "plan", "please", "port", "prepare", "produce",
    "propose", "provide", "publish", "push", "put", "reduce", "refactor", "release", "remove", "rename", "replace",
    "report", "research", "resolve", "restore", "return", "review", "revert", "rewrite", "run", "scan", "schedule",
    "send", "set", "setup", "ship", "show", "simplify", "solve", "split", "start", "stop", "summarise", "summarize",
    "support", "sync", "tell", "test", "translate", "try", "tune", "update", "upgrade", "upload", "use", "validate",
    "verify", "write", "you",
];
/// Those of them that are nouns as well.
#[rustfmt::skip]
const NOUNS: &[&str] = &[
    "answer", "audit", "build", "change", "check", "commit", "debug", "design", "document", "draft", "export", "fix",
    "help", "import", "increase", "launch", "list", "look", "move", "plan", "port", "push", "release", "report",
    "research", "return", "review", "rewrite", "run", "scan", "schedule", "set", "setup", "show", "split", "start",
    "stop", "support", "sync", "test", "update", "upgrade", "upload", "use",
];
/// Words that tell what is.
const STATES: &[&str] = &["is", "are", "was", "were", "has", "have", "exists", "exist", "passes", "works"];
/// Words of a text that a goal quotes at most.
const QUOTED_WORDS_MAX: usize = 60;

/// What a text looks like as prose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Prose {
    /// How many sentences it has; a rest without an end counts as one.
    pub(crate) sentences: usize,
    /// Whether its last sentence has an end.
    pub(crate) is_ended: bool,
}

/// Counts the sentences of a text.
pub(crate) fn prose(text: &str) -> Prose {
    let mut prose = Prose { sentences: 0, is_ended: true };
    let mut words = text.split_whitespace().peekable();
    while let Some(word) = words.next() {
        prose.is_ended = ends_sentence(word, words.peek().is_none());
        prose.sentences += usize::from(prose.is_ended);
    }
    prose.sentences += usize::from(!prose.is_ended);
    prose
}

/// Tells whether a text is exactly one sentence with its end.
pub(crate) fn is_one_sentence(text: &str) -> bool {
    prose(text) == Prose { sentences: 1, is_ended: true }
}

/// Tells whether a text starts like an order.
pub(crate) fn is_order(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default();
    let first = first.trim_end_matches([',', ':', ';', '.', '!', '?']);
    let is_one_of = |words: &[&str], word: &str| words.iter().any(|known| known.eq_ignore_ascii_case(word));
    let is_noun = || is_one_of(NOUNS, first) && text.split_whitespace().any(|word| is_one_of(STATES, word));
    is_one_of(ORDERS, first) && !is_noun()
}

/// Makes a goal of a text: one sentence that says what is true in the end.
pub(crate) fn goal(text: &str) -> Option<String> {
    if !text.contains(char::is_alphanumeric) {
        return None;
    }
    if is_one_sentence(text) && !is_order(text) && !text.contains(char::is_control) {
        return Some(text.to_owned());
    }
    let mut statement = String::new();
    for word in text.split_whitespace() {
        if !statement.is_empty() {
            let previous = statement.rsplit(' ').next().unwrap_or_default();
            if ends_sentence(previous, false) {
                statement.truncate(without_end(&statement).len());
                statement.push(';');
            }
            statement.push(' ');
        }
        statement.push_str(word);
    }
    let statement = cut_to_words(&statement, QUOTED_WORDS_MAX);
    let statement = without_end(&statement);
    Some(match is_order(statement) {
        true => format!("\"{}\" is done.", statement.replace('"', "'")),
        false => format!("{statement}."),
    })
}

/// Returns the first sentence of a text, or its head.
pub(crate) fn first_sentence(text: &str) -> String {
    let mut words = text.split_whitespace().take(QUOTED_WORDS_MAX).peekable();
    let mut sentence = String::new();
    while let Some(word) = words.next() {
        if !sentence.is_empty() {
            sentence.push(' ');
        }
        sentence.push_str(word);
        if ends_sentence(word, words.peek().is_none()) {
            break;
        }
    }
    sentence
}

fn ends_sentence(word: &str, is_last: bool) -> bool {
    let word = word.trim_end_matches(is_closing);
    let is_abbreviation = || {
        let bare = word.trim_start_matches(['(', '[', '"', '\'']);
        ABBREVIATIONS.iter().any(|abbreviation| abbreviation.eq_ignore_ascii_case(bare))
    };
    word.ends_with(is_end) && (is_last || !is_abbreviation())
}

/// Takes the end of the last sentence off, with what closes after it.
fn without_end(text: &str) -> &str {
    let bare = text.trim_end_matches(is_closing);
    if bare.ends_with(is_end) { without_end(bare.trim_end_matches(is_end)) } else { text }
}

fn is_end(character: char) -> bool {
    matches!(character, '.' | '!' | '?' | '。' | '！' | '？')
}

fn is_closing(character: char) -> bool {
    matches!(character, '"' | '\'' | ')' | ']' | '”' | '’' | '»' | '`' | '*' | '_')
}
