//! Files that go with a message: a small one travels inside, of a large one only where it is.

use std::fs;
use std::io;
use std::path::Path;

use message::{Attachment, Sha256, Uri};

use crate::failure::Failure;

/// A file of at most this size travels inside the message.
const INSIDE_BYTES_MAX: u64 = 256 << 10;
/// A file that is only named is still read for its digest.
const FILE_BYTES_MAX: u64 = 1 << 30;

/// Media types by what a file's name ends with; text is guessed from the bytes.
const TYPES: [(&str, &str); 24] = [
    ("c", "text/x-c"),
    ("css", "text/css"),
    ("csv", "text/csv"),
    ("diff", "text/x-diff"),
    ("gif", "image/gif"),
    ("gz", "application/gzip"),
    ("html", "text/html"),
    ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"),
    ("js", "text/javascript"),
    ("json", "application/json"),
    ("jsonl", "application/jsonl"),
    ("md", "text/markdown"),
    ("patch", "text/x-diff"),
    ("pdf", "application/pdf"),
    ("png", "image/png"),
    ("py", "text/x-python"),
    ("rs", "text/x-rust"),
    ("svg", "image/svg+xml"),
    ("toml", "application/toml"),
    ("ts", "text/typescript"),
    ("txt", "text/plain"),
    ("xml", "application/xml"),
    ("zip", "application/zip"),
];

/// Reads a file to be attached.
pub(crate) fn read(file: &str) -> Result<Attachment, Failure> {
    let path = Path::new(file);
    let unreadable = |error: io::Error| Failure::unreadable(file, &error).hint("attach a file that exists");
    let size = fs::metadata(path).map_err(unreadable)?.len();
    if size > FILE_BYTES_MAX {
        return Err(Failure::wrong_use(format!("{file} has more than {FILE_BYTES_MAX} bytes"))
            .hint("say in the text where it is"));
    }
    let bytes = fs::read(path).map_err(unreadable)?;
    let mime = mime(path, &bytes);
    let inside = (size <= INSIDE_BYTES_MAX).then(|| format!("data:{mime};base64,{}", base64(&bytes)));
    // A message may have a limit of its own on how long a URI is.
    let uri: Uri = match inside.and_then(|uri| uri.parse().ok()) {
        Some(uri) => uri,
        None => {
            let place = fs::canonicalize(path).map_err(unreadable)?.display().to_string();
            let uri = format!("file://{}", encoded(&place));
            uri.parse().map_err(|error| Failure::wrong_use(format!("{file}: {error}")))?
        }
    };
    let mut attachment = Attachment::new(uri);
    attachment.name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    attachment.mime = Some(mime.to_owned());
    attachment.size = Some(bytes.len() as u64);
    attachment.sha256 = Some(Sha256::of(&bytes));
    Ok(attachment)
}

fn mime(path: &Path, bytes: &[u8]) -> &'static str {
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase());
    let known = extension.and_then(|extension| TYPES.iter().find(|(end, _)| *end == extension));
    match known {
        Some((_, mime)) => mime,
        None if std::str::from_utf8(bytes).is_ok_and(|text| !text.contains('\0')) => "text/plain",
        None => "application/octet-stream",
    }
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |nth: usize| u32::from(chunk.get(nth).copied().unwrap_or(0));
        let group = byte(0) << 16 | byte(1) << 8 | byte(2);
        for nth in 0..4 {
            let letter = LETTERS[(group >> (18 - 6 * nth)) as usize & 63];
            text.push(if nth <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

/// A path may hold what a URI may not.
fn encoded(path: &str) -> String {
    let keep = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte);
    path.bytes()
        .map(|byte| if keep(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}
