//! The handshake: the one thing in it that must be computed.

use data_encoding::BASE64;
use sha1::{Digest, Sha1};

/// What is hashed behind a client's key, [RFC 6455, section 1.3](https://www.rfc-editor.org/rfc/rfc6455#section-1.3).
const GUID: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// Returns what `Sec-WebSocket-Accept` must say to a client's `Sec-WebSocket-Key`.
pub fn accept_key(key: &[u8]) -> String {
    BASE64.encode(&Sha1::new().chain_update(key).chain_update(GUID).finalize())
}
