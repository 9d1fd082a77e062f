//! Tokens: by which somebody is known. A token is shown once; what is kept is its hash.

use std::fmt;
use std::str::FromStr;

use broker::Fingerprint;
use message::{AgentName, Sha256};

/// Random bytes of a token.
const SECRET_BYTES: usize = 32;
/// What separates the secret from the name of whom it speaks for; no name has it.
const SEPARATOR: char = '~';

/// A secret by which one agent speaks. It names the agent, so that nobody has to be searched for it.
#[derive(Clone, PartialEq, Eq)]
pub struct Token {
    secret: String,
    agent: AgentName,
}

/// What is kept of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenHash(Sha256);

/// Why a text is not a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is not a token: it is written as it was shown, {} letters and digits, `~` and a name", 2 * SECRET_BYTES)]
pub struct TokenError;

impl Token {
    /// Makes a new token for an agent.
    pub fn new(agent: AgentName) -> Result<Self, getrandom::Error> {
        let mut bytes = [0; SECRET_BYTES];
        getrandom::fill(&mut bytes)?;
        let secret = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Token { secret, agent })
    }

    /// Returns the agent for whom it speaks, if its hash is the agent's.
    pub fn agent(&self) -> &AgentName {
        &self.agent
    }

    /// Returns what is kept of it.
    pub fn hash(&self) -> TokenHash {
        TokenHash(Sha256::of(self.reveal().as_bytes()))
    }

    /// Returns the text to be shown once.
    pub fn reveal(&self) -> String {
        format!("{}{SEPARATOR}{}", self.secret, self.agent)
    }
}

impl TokenHash {
    /// Tells whether a token is the one. How long that takes says nothing: hashes are compared, not secrets.
    pub fn is_of(self, token: &Token) -> bool {
        token.hash() == self
    }

    /// Returns a short name for it, by which it can be told from others and revoked.
    pub fn label(self) -> String {
        let digest = Fingerprint::of(&[self.0.to_string().as_bytes()]);
        digest.0[..4].iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl FromStr for Token {
    type Err = TokenError;

    fn from_str(text: &str) -> Result<Self, TokenError> {
        let (secret, agent) = text.split_once(SEPARATOR).ok_or(TokenError)?;
        let is_hex = secret.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
        if secret.len() != 2 * SECRET_BYTES || !is_hex {
            return Err(TokenError);
        }
        Ok(Token { secret: secret.to_owned(), agent: agent.parse().map_err(|_| TokenError)? })
    }
}

/// Shows whose it is, never the secret.
impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Token(for {})", self.agent)
    }
}

impl fmt::Display for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for TokenHash {
    type Err = TokenError;

    fn from_str(text: &str) -> Result<Self, TokenError> {
        text.parse().map(TokenHash).map_err(|_| TokenError)
    }
}
