//! Routes: the few fields that a bus needs to accept and order a document, borrowed from its tree.
//!
//! A dialect fills one in without allocating; the rest of the document stays untouched.

use json::Value;
use message::{Guarantee, Kind, Priority};

/// What a bus needs to know of a document.
#[derive(Clone, Debug, PartialEq)]
pub struct Route<'v> {
    /// What it means.
    pub kind: Kind,
    /// The id that its sender gave it.
    pub native_id: Option<&'v str>,
    /// Who sends it, as the document says.
    pub from: Option<&'v str>,
    /// To whom it goes, as the document says.
    pub to: Recipients<'v>,
    /// What must stand before the name of [`Recipients::One`] to make it an address, such as `roles.` or `#`.
    pub to_prefix: &'static str,
    /// How urgent it is.
    pub priority: Priority,
    /// How hard the bus must try.
    pub guarantee: Guarantee,
    /// The task whose order it keeps.
    pub task: Option<&'v str>,
    /// The conversation.
    pub thread: Option<&'v str>,
    /// What it answers.
    pub reply_to: Option<&'v str>,
    /// When it was made.
    pub created: Option<&'v str>,
    /// When it is no longer wanted.
    pub expires: Option<&'v str>,
    /// How long it is wanted from its creation on, in milliseconds.
    pub lifetime_ms: Option<u64>,
    /// How long each recipient has, such as `300s`.
    pub timeout: Option<&'v str>,
    /// How often to try again.
    pub retries: Option<u32>,
    /// Whether the sender waits for the answer.
    pub is_sync: bool,
    /// Whether it is only for those who listen now.
    pub is_live_only: bool,
}

/// To whom a document says that it goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Recipients<'v> {
    /// To one, by whatever name.
    One(&'v str),
    /// To each of a list of strings.
    Each(&'v [Value<'v>]),
    /// To everyone.
    Everyone,
    /// To whoever takes it.
    Anyone,
}

impl<'v> Route<'v> {
    /// Makes a route of which only the kind, the recipients, the priority and the guarantee are known.
    pub fn new(kind: Kind, to: Recipients<'v>, priority: Priority, guarantee: Guarantee) -> Self {
        Route {
            kind,
            native_id: None,
            from: None,
            to,
            to_prefix: "",
            priority,
            guarantee,
            task: None,
            thread: None,
            reply_to: None,
            created: None,
            expires: None,
            lifetime_ms: None,
            timeout: None,
            retries: None,
            is_sync: false,
            is_live_only: false,
        }
    }
}
