//! Names of channels: folders in a channel root, addresses on the bus.

use message::limits::NAME_BYTES_MAX;
use message::{ChannelName, Sha256};

/// Bytes of the name of a file or folder.
pub(crate) const FILE_NAME_BYTES_MAX: usize = 255;

/// Tells whether a folder can have this name, wherever its root is.
pub fn is_channel_name(text: &str) -> bool {
    !matches!(text, "" | "." | "..")
        && text.len() <= FILE_NAME_BYTES_MAX
        && !text.contains(|letter: char| letter == '/' || letter.is_control())
}

/// Returns the channel on the bus that stands for a folder, whatever that is called.
pub fn channel_of(session_id: &str) -> ChannelName {
    slug(session_id).unwrap_or_else(|| {
        let digest = Sha256::of(session_id.as_bytes()).to_string();
        let name = format!("channel-{}", &digest[..8]);
        name.parse().expect("letters, a hyphen and digits are a name")
    })
}

/// Tells whether a name is safe as it is: no other letters than everybody's file system keeps.
pub(crate) fn is_plain(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    text.len() <= NAME_BYTES_MAX
        && text.starts_with(|first: char| first.is_ascii_alphanumeric())
        && text.bytes().all(allowed)
}

/// Makes a name of any text that has at least one letter or digit of ASCII.
pub(crate) fn slug(text: &str) -> Option<ChannelName> {
    let kept = |letter: char| match letter.to_ascii_lowercase() {
        letter @ ('a'..='z' | '0'..='9' | '.' | '_' | '-') => letter,
        _ => '-',
    };
    let start = text.find(|letter: char| letter.is_ascii_alphanumeric())?;
    let changed = text.bytes().any(|byte| !matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'-'));
    let name: String = text[start..].chars().map(kept).take(NAME_BYTES_MAX).collect();
    let name = if changed { name.trim_end_matches('-') } else { name.as_str() };
    name.parse().ok()
}
