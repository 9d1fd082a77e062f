//! Whether a watcher answers a message. Pure.

use std::time::Duration;

use dialect_channel::addressing::{is_for_us_exact, is_for_us_strict, is_from_us, is_from_us_strict};

use crate::Post;

/// How many watchers may have answered each other before a message that is answered.
pub const HOPS_MAX: u64 = 8;
/// How soon an answer to our own word is too soon to be from somebody who thought about it.
pub const ECHO_WITHIN: Duration = Duration::from_secs(30);

/// How "is it for us" is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// A mention stands alone, and only the first line can start with the name.
    Strict,
    /// As the specification's own shell functions do.
    Exact,
}

/// What a watcher does with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// It answers it.
    Answer,
    /// It sent it itself.
    FromUs,
    /// It is meant for others.
    NotForUs,
    /// Too many watchers have answered each other.
    TooManyHops,
    /// It is a watcher's quick answer to our own word.
    Echo,
}

impl Judgement {
    /// Says why a message is passed over.
    pub fn reason(self) -> &'static str {
        match self {
            Judgement::Answer => "it is answered",
            Judgement::FromUs => "this agent sent it",
            Judgement::NotForUs => "it is not for this agent",
            Judgement::TooManyHops => "watchers have answered each other often enough",
            Judgement::Echo => "it answers this agent's own word at once, and no person wrote it",
        }
    }
}

/// Judges a message. `own_age` is how long ago the message that it answers was sent, if this agent sent that.
pub fn judge(post: &Post, agent: &str, reading: Reading, own_age: Option<Duration>) -> Judgement {
    let (to, text) = (post.to.as_deref(), post.text.as_deref());
    let (is_from, is_for) = match reading {
        Reading::Strict => {
            (is_from_us_strict(agent, Some(&post.from)), post.is_direct || is_for_us_strict(agent, to, text))
        }
        Reading::Exact => {
            (is_from_us(agent, Some(&post.from)), post.is_direct || is_for_us_exact(agent, to, text))
        }
    };
    if is_from {
        return Judgement::FromUs;
    }
    if !is_for {
        return Judgement::NotForUs;
    }
    if post.hops >= HOPS_MAX {
        return Judgement::TooManyHops;
    }
    let is_machine = post.mode.as_deref().map_or(post.hops > 0, |mode| mode != "chat");
    if is_machine && own_age.is_some_and(|age| age < ECHO_WITHIN) {
        return Judgement::Echo;
    }
    Judgement::Answer
}
