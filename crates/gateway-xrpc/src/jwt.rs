//! The tokens of sessions: JSON Web Tokens, signed with a key that only this bus has.

use broker::Time;
use json::{Limits, Object, Value};
use message::{AgentName, Sha256};

/// Bytes of a block of SHA-256.
const BLOCK_BYTES: usize = 64;
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
/// Characters of a token at most.
const TOKEN_BYTES_MAX: usize = 4 << 10;

/// What a token says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Claims {
    /// What it is good for.
    pub(crate) scope: Scope,
    /// The DID of whom it speaks for.
    pub(crate) did: String,
    /// The agent.
    pub(crate) agent: AgentName,
    /// The session to which it belongs.
    pub(crate) session: String,
    /// How often the session had been renewed when it was made.
    pub(crate) renewals: u64,
    /// When it was made.
    pub(crate) issued: Time,
    /// When it is over.
    pub(crate) expires: Time,
}

/// What a token is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Calling.
    Access,
    /// Renewing the session, or ending it.
    Refresh,
}

impl Scope {
    fn name(self) -> &'static str {
        match self {
            Scope::Access => "com.atproto.access",
            Scope::Refresh => "com.atproto.refresh",
        }
    }

    fn head(self) -> &'static str {
        match self {
            Scope::Access => r#"{"typ":"at+jwt","alg":"HS256"}"#,
            Scope::Refresh => r#"{"typ":"refresh+jwt","alg":"HS256"}"#,
        }
    }
}

/// Writes a token.
pub(crate) fn write(key: &[u8; 32], claims: &Claims, audience: &str) -> String {
    let members: Object<'_> = [
        ("scope", Value::from(claims.scope.name())),
        ("sub", Value::from(claims.did.as_str())),
        ("aud", Value::from(audience)),
        ("iat", Value::from(claims.issued.0 / 1_000)),
        ("exp", Value::from(claims.expires.0 / 1_000)),
        ("jti", Value::from(format!("{}.{}", claims.session, claims.renewals))),
        ("agent", Value::from(claims.agent.as_str())),
    ]
    .into_iter()
    .collect();
    let mut text = encode(claims.scope.head().as_bytes());
    text.push('.');
    text.push_str(&encode(Value::Object(members).to_json().as_bytes()));
    let signature = sign(key, text.as_bytes());
    format!("{text}.{}", encode(&signature))
}

/// Reads a token; nothing if this key did not sign it.
pub(crate) fn read(key: &[u8; 32], token: &str) -> Option<Claims> {
    if token.len() > TOKEN_BYTES_MAX {
        return None;
    }
    let (signed, signature) = token.rsplit_once('.')?;
    if !is_same(&decode(signature)?, &sign(key, signed.as_bytes())) {
        return None;
    }
    // What we signed ourselves has the head that we gave it.
    let (_, payload) = signed.split_once('.')?;
    let payload = decode(payload)?;
    let value = json::parse(&payload, Limits::DOCUMENT).ok()?;
    let text = |name: &str| value.get(name).and_then(Value::as_str);
    let time = |name: &str| {
        let seconds = value.get(name).and_then(Value::as_integer)?;
        u64::try_from(seconds).ok()?.checked_mul(1_000).map(Time)
    };
    let (session, renewals) = text("jti")?.split_once('.')?;
    let scopes = [Scope::Access, Scope::Refresh];
    Some(Claims {
        scope: scopes.into_iter().find(|scope| text("scope") == Some(scope.name()))?,
        did: text("sub")?.to_owned(),
        agent: text("agent")?.parse().ok()?,
        session: session.to_owned(),
        renewals: renewals.parse().ok()?,
        issued: time("iat")?,
        expires: time("exp")?,
    })
}

/// HMAC with SHA-256: <https://www.rfc-editor.org/rfc/rfc2104>.
fn sign(key: &[u8; 32], text: &[u8]) -> [u8; 32] {
    let padded = |mask: u8| {
        let mut block = [mask; BLOCK_BYTES];
        block.iter_mut().zip(key).for_each(|(byte, key)| *byte ^= key);
        block
    };
    let inner = Sha256::of(&[&padded(0x36), text].concat());
    Sha256::of(&[&padded(0x5c)[..], &inner.to_bytes()].concat()).to_bytes()
}

/// Compares in a time that does not tell where they differ.
fn is_same(one: &[u8], other: &[u8]) -> bool {
    let differing = one.iter().zip(other).fold(0, |seen, (one, other)| seen | (one ^ other));
    one.len() == other.len() && differing == 0
}

/// Writes bytes in base64 for URLs, without padding.
fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let bits =
            chunk.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for place in 0..=chunk.len() {
            let digit = (bits >> (18 - 6 * place)) & 0x3f;
            text.push(char::from(ALPHABET[digit as usize]));
        }
    }
    text
}

/// Reads base64 for URLs; there is one way to write each.
fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 2);
    let (mut bits, mut count) = (0_u32, 0_u32);
    for letter in text.bytes() {
        let digit = ALPHABET.iter().position(|known| *known == letter)?;
        bits = bits << 6 | u32::try_from(digit).ok()?;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count & 0xff) as u8);
        }
    }
    // Bits that are left over are none, and no letter stands for nothing.
    let is_whole = count < 6 && bits & ((1 << count) - 1) == 0;
    is_whole.then_some(bytes)
}
