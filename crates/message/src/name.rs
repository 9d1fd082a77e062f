//! Names of agents, roles, topics and channels: `[a-z0-9][a-z0-9._-]{0,63}`.

use crate::codes;
use crate::limits::NAME_BYTES_MAX;
use crate::read::Coded;

/// Names that only the operator and the bus itself speak for.
const RESERVED: [&str; 3] = ["human", "system", "runner"];

checked_text! {
    /// The name of an agent, such as `codex`; neither `all` nor the name of a role.
    AgentName, AddressError, check_agent_name
}

checked_text! {
    /// The name of a role without its prefix: `developer` of `roles.developer`.
    RoleName, AddressError, check_name
}

checked_text! {
    /// The name of a topic without its prefix: `deploys` of `#deploys`.
    TopicName, AddressError, check_name
}

checked_text! {
    /// The name of a channel without its prefix: `team-a` of `channel:team-a`.
    ChannelName, AddressError, check_name
}

/// What is wrong with a name, alias or address, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// There is no name.
    #[error("the name is empty: write one such as `ann`")]
    Empty,
    /// The name or alias is too long.
    #[error("it has {bytes} bytes, at most {bytes_max} are allowed")]
    TooLong {
        /// How many bytes there are.
        bytes: usize,
        /// How many there may be.
        bytes_max: usize,
    },
    /// Only the case is wrong.
    #[error("write it in lower case: `{lower}`")]
    UpperCase {
        /// The name in lower case.
        lower: String,
    },
    /// The name starts with punctuation.
    #[error("a name starts with a letter or a digit, not with {found:?}")]
    FirstCharacter {
        /// The character.
        found: char,
    },
    /// The name holds a character that names do not have.
    #[error("a name holds only `a` to `z`, `0` to `9`, `.`, `_` and `-`, not {found:?}")]
    Character {
        /// The character.
        found: char,
    },
    /// An agent cannot be called `all`.
    #[error("`all` addresses every agent and is the name of none")]
    All,
    /// An agent's name cannot look like a role.
    #[error("`roles.` starts the address of a role: give the agent another name")]
    RolePrefix,
    /// The session of an agent is not a number.
    #[error("a session is a number without sign or leading zero: write it like `claude#2`")]
    Session,
    /// The alias is neither a DID nor a URI.
    #[error("an alias is a DID such as `did:plc:abc` or a URI such as `codex://ann`, without spaces")]
    Alias,
    /// Where an agent is wanted, something else is addressed.
    #[error("this must be one agent: a name such as `ann` or an alias such as `did:plc:abc`")]
    NotAnAgent,
}

impl AgentName {
    /// Tells whether the name belongs to the operator or the bus, so that no agent can be registered under it.
    pub fn is_reserved(&self) -> bool {
        RESERVED.contains(&self.as_str())
    }
}

impl Coded for AddressError {
    fn code(&self) -> &'static str {
        match self {
            AddressError::TooLong { .. } => codes::TOO_LONG,
            AddressError::Empty
            | AddressError::UpperCase { .. }
            | AddressError::FirstCharacter { .. }
            | AddressError::Character { .. }
            | AddressError::All
            | AddressError::RolePrefix
            | AddressError::Session
            | AddressError::Alias
            | AddressError::NotAnAgent => codes::FORMAT,
        }
    }
}

fn check_agent_name(text: &str) -> Result<(), AddressError> {
    check_name(text)?;
    if text == "all" {
        return Err(AddressError::All);
    }
    if text.starts_with("roles.") {
        return Err(AddressError::RolePrefix);
    }
    Ok(())
}

fn check_name(text: &str) -> Result<(), AddressError> {
    let Some(first) = text.chars().next() else {
        return Err(AddressError::Empty);
    };
    if text.len() > NAME_BYTES_MAX {
        return Err(AddressError::TooLong { bytes: text.len(), bytes_max: NAME_BYTES_MAX });
    }
    if let Some(found) = text.chars().find(|character| !is_name_character(*character)) {
        let lower = text.to_ascii_lowercase();
        let only_case = lower.chars().all(is_name_character) && starts_well(&lower);
        return Err(if only_case {
            AddressError::UpperCase { lower }
        } else {
            AddressError::Character { found }
        });
    }
    if starts_well(text) { Ok(()) } else { Err(AddressError::FirstCharacter { found: first }) }
}

fn starts_well(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_lowercase() || first.is_ascii_digit())
}

fn is_name_character(character: char) -> bool {
    matches!(character, 'a'..='z' | '0'..='9' | '.' | '_' | '-')
}
