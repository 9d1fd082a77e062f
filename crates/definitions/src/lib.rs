//! The schemas that Convoke ships, as data: what stands in `definitions/`, embedded.
//!
//! Only text and names. Whoever needs a schema parses it with the crate of its language; nothing here knows
//! what a schema means.
#![deny(missing_docs)]

/// One schema that the binary carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Definition {
    /// The name by which users ask for it.
    pub name: &'static str,
    /// The language that it is written in.
    pub language: Language,
    /// What it describes, in a few words.
    pub summary: &'static str,
    /// The schema itself.
    pub text: &'static str,
}

/// The languages of our schemas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// AT Protocol Lexicon, version 1.
    Lexicon,
}

impl Language {
    /// Returns the word used in listings.
    pub fn name(self) -> &'static str {
        match self {
            Language::Lexicon => "lexicon",
        }
    }
}

/// Every schema, in the order of its name.
pub const ALL: &[Definition] = &[
    Definition {
        name: "agent.comms.broadcast",
        language: Language::Lexicon,
        summary: "an announcement to many agents",
        text: include_str!("../../../definitions/lexicons/agent/comms/broadcast.json"),
    },
    Definition {
        name: "agent.comms.handoff",
        language: Language::Lexicon,
        summary: "work passed on from one agent to another",
        text: include_str!("../../../definitions/lexicons/agent/comms/handoff.json"),
    },
    Definition {
        name: "agent.comms.message",
        language: Language::Lexicon,
        summary: "a message from one agent to another",
        text: include_str!("../../../definitions/lexicons/agent/comms/message.json"),
    },
    Definition {
        name: "agent.comms.request",
        language: Language::Lexicon,
        summary: "a request to do something",
        text: include_str!("../../../definitions/lexicons/agent/comms/request.json"),
    },
    Definition {
        name: "agent.comms.response",
        language: Language::Lexicon,
        summary: "the answer to a request",
        text: include_str!("../../../definitions/lexicons/agent/comms/response.json"),
    },
];

/// Returns the schema of that name.
pub fn find(name: &str) -> Option<&'static Definition> {
    ALL.iter().find(|definition| definition.name == name)
}
