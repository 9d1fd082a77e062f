//! Blobs: bytes to which records refer.

use axum::body::Body;
use axum::extract::{RawQuery, Request};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use broker::AgentKey;
use broker::query::records::ReferringRecords;
use futures_util::StreamExt;
use gateway::{Answer, Principal, Query};
use message::Seq;

use crate::refused::Refused;
use crate::repo::{digest, param};
use crate::store::{BLOB_BYTES_MAX, Stored};
use crate::visitor::{Caller, Repo, Visitor};

const OCTETS: &str = "application/octet-stream";
/// Records that are looked at together in search of one that may be read.
const RECORDS_MAX: usize = 256;
/// Bytes of a media type.
const MIME_BYTES_MAX: usize = 255;

/// Stores bytes, to which a record of the same agent may refer within the next hour.
pub(crate) async fn upload(caller: Caller, request: Request) -> Result<Response, Refused> {
    let agent = caller.principal.speaker();
    let name = caller.hub.name_of(agent).ok_or_else(|| Refused::unknown_caller("nobody has this token"))?;
    if matches!(caller.principal, Principal::Anybody) && agent == AgentKey::HUMAN {
        let message = "open a session first: a blob is somebody's";
        return Err(Refused::unknown_caller(message));
    }
    let mime_type = mime_type(request.headers())?;
    let said =
        request.headers().get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
    if said.is_some_and(|bytes: u64| bytes > BLOB_BYTES_MAX) {
        return Err(too_large());
    }
    let mut upload = caller.door.blobs.receive(name, mime_type)?;
    let mut pieces = request.into_body().into_data_stream();
    while let Some(piece) = pieces.next().await {
        let piece = piece.map_err(|_| Refused::invalid("the blob ended before all of it had come"))?;
        if !upload.add(piece).await {
            return Err(too_large());
        }
    }
    let stored = upload.finish().await?;
    let blob = Answer::new()
        .text("$type", "blob")
        .raw("ref", &Answer::new().text("$link", stored.cid.as_str()).end())
        .text("mimeType", &stored.mime_type)
        .number("size", stored.size)
        .end();
    Ok(Answer::new().raw("blob", &blob).respond(StatusCode::OK))
}

/// Returns the bytes of a blob, to whoever may read a record that refers to it.
pub(crate) async fn get(visitor: Visitor, RawQuery(query): RawQuery) -> Result<Response, Refused> {
    let query = Query(query.as_deref());
    let (did, cid) = (param(query, "did")?, param(query, "cid")?);
    let missing = || Refused::invalid(format!("Blob not found: {cid}"));
    let digest = digest("cid", &cid)?;
    let repo = visitor
        .repo(&did)
        .map_err(|_| Refused::named("RepoNotFound", format!("Could not find repo: {did}")))?;
    if !may_read(&visitor, &repo, digest).await? {
        return Err(missing());
    }
    let stored = visitor.door.blobs.open(&repo.name, &cid).await.ok_or_else(missing)?;
    Ok(respond(stored))
}

/// Tells whether a blob is its visitor's own, or a record that may be read refers to it.
async fn may_read(visitor: &Visitor, repo: &Repo, blob: broker::Digest) -> Result<bool, Refused> {
    if visitor.principal.as_ref().is_some_and(|principal| principal.acts_as(repo.key)) {
        return Ok(true);
    }
    let mut after = None;
    loop {
        let page = ReferringRecords { repo: repo.key, blob, after, max: RECORDS_MAX };
        let records = visitor.hub.query(page).await?;
        let places: Vec<Seq> = records.iter().map(|record| record.body).collect();
        let mut bodies = visitor.hub.node().body_reader(places);
        for record in &records {
            let Some(body) = bodies.next().await else { break };
            if body.is_ok_and(|body| visitor.may_read(repo.key, &record.collection, &body)) {
                return Ok(true);
            }
        }
        if records.len() < RECORDS_MAX {
            return Ok(false);
        }
        after = records.last().map(|last| (last.collection.clone(), last.key.clone()));
    }
}

/// Answers with the bytes, in a way in which no browser takes them for a page of ours.
fn respond(stored: Stored) -> Response {
    let text = |text: &str| HeaderValue::from_str(text).unwrap_or(HeaderValue::from_static(OCTETS));
    let headers = [
        (header::CONTENT_TYPE, text(&stored.mime_type)),
        (header::CONTENT_LENGTH, HeaderValue::from(stored.size)),
        (header::CONTENT_DISPOSITION, text(&format!("attachment; filename=\"{}\"", stored.cid))),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'; sandbox")),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (header::CACHE_CONTROL, HeaderValue::from_static("private")),
    ];
    (headers, Body::from_stream(stored.pieces())).into_response()
}

/// Returns what the bytes are said to be; nobody looks whether they are.
fn mime_type(headers: &HeaderMap) -> Result<String, Refused> {
    let missing = || Refused::invalid("Request encoding (Content-Type) required but not provided");
    let value = headers.get(header::CONTENT_TYPE).ok_or_else(missing)?;
    let text = value.to_str().unwrap_or_default().split(';').next().unwrap_or_default();
    let text = text.trim().to_ascii_lowercase();
    let is_mime = text.split_once('/').is_some_and(|(kind, rest)| !kind.is_empty() && !rest.is_empty());
    let is_plain = text.bytes().all(|byte| byte.is_ascii_graphic()) && text.len() <= MIME_BYTES_MAX;
    match is_mime && is_plain {
        true => Ok(text),
        false => Err(Refused::invalid("the Content-Type is not a media type, such as image/png")),
    }
}

fn too_large() -> Refused {
    let message = format!("a blob has at most {BLOB_BYTES_MAX} bytes");
    Refused::Named(StatusCode::PAYLOAD_TOO_LARGE, "PayloadTooLarge", message)
}
