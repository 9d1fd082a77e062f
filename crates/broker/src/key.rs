//! Short numbers for what the state holds, and the fingerprints of what it does not hold.
//!
//! Events name things by these numbers. A number is given again when what had it is gone; an event therefore also
//! carries what it takes to see that it means the thing that is there.

use std::fmt;

macro_rules! key {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// Returns the number as an index.
            #[allow(dead_code, reason = "not every kind of key is an index")]
            pub(crate) fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

key! {
    /// An agent.
    AgentKey
}
key! {
    /// A role, topic or channel, or everyone.
    GroupKey
}
key! {
    /// One connection of an agent.
    SessionKey
}
key! {
    /// A message.
    MessageKey
}
key! {
    /// A message on its way to one recipient.
    EntryKey
}
key! {
    /// A task.
    TaskKey
}

impl AgentKey {
    /// The operator's own mailbox.
    pub const HUMAN: AgentKey = AgentKey(0);
    /// The bus itself, which sends notices.
    pub const SYSTEM: AgentKey = AgentKey(1);
    /// The runner of agents.
    pub const RUNNER: AgentKey = AgentKey(2);

    /// Tells whether this is the bus itself or its runner, who are members of nothing.
    pub fn is_machinery(self) -> bool {
        matches!(self, AgentKey::SYSTEM | AgentKey::RUNNER)
    }
}

impl GroupKey {
    /// Every registered agent.
    pub const ALL: GroupKey = GroupKey(0);
}

/// A SHA-256 by which a record, a commit or a blob is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub [u8; 32]);

/// 128 bits that stand for a document, a native id or a task.
///
/// Those of texts come from a cryptographic hash, so nobody can make two of them look alike on purpose; those of ids and
/// documents from a fast one, as their sender would deceive only itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(pub [u8; 16]);

/// Bytes up to which parts are put together before they are hashed.
const SHORT: usize = 128;

impl Fingerprint {
    /// Takes the fingerprint of parts; where one part ends counts.
    pub fn of(parts: &[&[u8]]) -> Self {
        let len: usize = parts.iter().map(|part| part.len() + size_of::<u64>()).sum();
        let mut short = [0; SHORT];
        let digest = if len <= SHORT {
            // Most are ids of some dozen bytes: one block, hashed at once.
            let mut end = 0;
            for part in parts {
                for piece in [&(part.len() as u64).to_le_bytes(), *part] {
                    short[end..end + piece.len()].copy_from_slice(piece);
                    end += piece.len();
                }
            }
            blake3::hash(&short[..end])
        } else {
            let mut hasher = blake3::Hasher::new();
            for part in parts {
                hasher.update(&(part.len() as u64).to_le_bytes());
                hasher.update(part);
            }
            hasher.finalize()
        };
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&digest.as_bytes()[..16]);
        Fingerprint(bytes)
    }

    /// Returns half of it, which is as evenly spread as the whole.
    pub(crate) fn hash(self) -> u64 {
        let mut half = [0; 8];
        half.copy_from_slice(&self.0[..8]);
        u64::from_le_bytes(half)
    }
}
