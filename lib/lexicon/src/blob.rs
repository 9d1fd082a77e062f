//! Blob references: the form `{"$type": "blob", ref, mimeType, size}`, and the old `{cid, mimeType}`.

use json::{Object, Path, Value};

use crate::{Report, codes, data};

/// A reference to a blob that stands in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlobLink<'v> {
    /// The CID of its bytes.
    pub cid: &'v str,
    /// What it is said to be.
    pub mime_type: &'v str,
    /// How many bytes it is said to have.
    pub size: i64,
}

/// Finds every reference to a blob in a record, in the order in which they stand there.
///
/// What is not well-formed is left out; checking the record reports it.
pub fn blobs<'v>(record: &'v Value<'_>) -> Vec<BlobLink<'v>> {
    let mut found = Vec::new();
    collect(record, &mut found);
    found
}

fn collect<'v>(value: &'v Value<'_>, found: &mut Vec<BlobLink<'v>>) {
    match value {
        Value::Object(object) if object.get("$type").and_then(Value::as_str) == Some("blob") => {
            found.extend(link(object));
        }
        Value::Object(object) => object.iter().for_each(|(_, value)| collect(value, found)),
        Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn link<'v>(object: &'v Object<'_>) -> Option<BlobLink<'v>> {
    Some(BlobLink {
        cid: object.get("ref")?.get("$link")?.as_str()?,
        mime_type: object.get("mimeType")?.as_str()?,
        size: object.get("size")?.as_integer()?,
    })
}

/// What a well-formed blob reference says.
pub(crate) struct BlobRef<'v> {
    pub(crate) mime_type: &'v str,
    /// Unknown for the old form.
    pub(crate) size: Option<i64>,
}

/// Checks the four fields of a blob reference; all that is wrong is reported.
pub(crate) fn check<'v>(object: &'v Object<'_>, path: &Path<'_>, report: &mut Report) -> Option<BlobRef<'v>> {
    check_ref(object, path, report);
    let mime_type = check_mime_type(object, path, report);
    let size = check_size(object, path, report);
    for (key, _) in object.iter().filter(|(key, _)| !matches!(*key, "$type" | "ref" | "mimeType" | "size")) {
        report.error(&path.key(key), codes::BLOB, || format!("a blob has no field {key:?}"));
    }
    Some(BlobRef { mime_type: mime_type?, size: Some(size?) })
}

/// Reads the old form, which has exactly the strings `cid` and `mimeType`.
pub(crate) fn legacy<'v>(object: &'v Object<'_>) -> Option<(&'v str, BlobRef<'v>)> {
    let cid = object.get("cid").and_then(Value::as_str)?;
    let mime_type = object.get("mimeType").and_then(Value::as_str).filter(|mime| !mime.is_empty())?;
    let legacy = object.len() == 2 && atproto_syntax::cid::check(cid).is_ok();
    legacy.then_some((cid, BlobRef { mime_type, size: None }))
}

fn check_ref(object: &Object<'_>, path: &Path<'_>, report: &mut Report) {
    match object.get("ref") {
        Some(Value::Object(link)) => {
            data::check_link(link, &path.key("ref"), report);
        }
        Some(_) => {
            report.error(&path.key("ref"), codes::BLOB, || "ref must be a link to the content".to_owned());
        }
        None => {
            report.error(&path.key("ref"), codes::BLOB, || {
                "a blob needs ref, a link to its content".to_owned()
            });
        }
    }
}

fn check_mime_type<'v>(object: &'v Object<'_>, path: &Path<'_>, report: &mut Report) -> Option<&'v str> {
    let mime_type = object.get("mimeType").and_then(Value::as_str).filter(|mime| !mime.is_empty());
    if mime_type.is_none() {
        report.error(&path.key("mimeType"), codes::BLOB, || {
            "a blob needs mimeType, a non-empty string".to_owned()
        });
    }
    mime_type
}

fn check_size(object: &Object<'_>, path: &Path<'_>, report: &mut Report) -> Option<i64> {
    let size = object.get("size").and_then(Value::as_integer).filter(|size| *size > 0);
    if size.is_none() {
        report.error(&path.key("size"), codes::BLOB, || {
            "a blob needs size, a positive number of bytes".to_owned()
        });
    }
    size
}
