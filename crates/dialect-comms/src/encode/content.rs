//! The content of a message or a broadcast.

use dialect::{Sheet, cut_to_bytes};
use json::Value;
use message::{Kind, Message};

use super::fields::{Shows, is_presence};
use crate::lenses::{self, TEXT_BYTES_MAX};

/// Writes what is said: text where there is any, else what stands for it.
pub(super) fn write_content(sheet: &mut Sheet<'_>) -> Shows {
    let message = sheet.message();
    let error = message.error.as_deref().and_then(|error| error.message.as_deref());
    let said = |text: &'_ Option<String>| text.as_deref().is_some_and(|text| !text.is_empty());
    let (canonical, text, shows) = match &message.text {
        Some(text) => ("/text", Some(text.as_str()), None),
        None if said(&message.title) => ("/title", message.title.as_deref(), Some("title")),
        None if error.is_some_and(|error| !error.is_empty()) => ("/error/message", error, Some("error")),
        None => ("/text", None, None),
    };
    let blob = blob_of(message);
    let is_event = is_presence(message) || matches!(message.kind, Kind::StateSync | Kind::ErrorReport);
    let kind = match (text, &blob) {
        _ if is_event => "event",
        _ if message.kind == Kind::Report => "json",
        (Some(_), _) => "text",
        (None, Some(_)) => "binary",
        (None, None) => "json",
    };
    sheet.set("/content/kind", "/kind", kind);
    if let Some(text) = text {
        sheet.set("/content/text", canonical, cut_to_bytes(text, TEXT_BYTES_MAX).into_owned());
    }
    sheet.write(lenses::MIME);
    if let Some((at, blob)) = blob {
        sheet.set("/content/blob", "/blob", blob);
        sheet.link("/content/blob", &format!("/attachments/{at}"));
    }
    shows
}

/// Returns the blob that an attachment is, and which one, if all is known of it that a record must say.
fn blob_of(message: &Message) -> Option<(usize, Value<'static>)> {
    const SIZE_MAX: u64 = 10_485_760;
    let uri = message.blob.as_ref()?;
    let cid = uri.as_str().strip_prefix("blob:").filter(|cid| atproto_syntax::cid::check(cid).is_ok())?;
    let (at, file) = message.attachments.iter().enumerate().find(|(_, file)| file.uri == *uri)?;
    let mime = file.mime.as_deref().filter(|mime| !mime.is_empty())?;
    let size = file.size.filter(|size| (1..=SIZE_MAX).contains(size))?;
    let link = [("$link", Value::from(cid.to_owned()))];
    let blob = [
        ("$type", Value::from("blob")),
        ("ref", Value::Object(link.into_iter().collect())),
        ("mimeType", Value::from(mime.to_owned())),
        ("size", Value::from(size)),
    ];
    Some((at, Value::Object(blob.into_iter().collect())))
}
