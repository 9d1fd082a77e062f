//! Reading records: one, many, and what there is.

use atproto_syntax::{Cid, Nsid, RecordKey, cid};
use axum::extract::RawQuery;
use axum::http::StatusCode;
use axum::response::Response;
use broker::Digest;
use broker::query::records::{Collections, FindRecord, RecordPage, RecordPlace};
use gateway::letters::{self, BYTES_MAX};
use gateway::{Answer, Query};
use message::Seq;

use crate::refused::Refused;
use crate::repo::{digest, identifier, param, text, well_formed};
use crate::visitor::{Repo, Visitor};

/// Records in one answer, if nothing is said, and at most.
const LIMIT: u64 = 50;
const LIMIT_MAX: u64 = 100;
/// Records that are looked at for one answer, where most are not for whoever asks.
const LOOKED_MAX: usize = 5_000;

/// Which records of a collection are wanted.
struct Page {
    collection: String,
    limit: usize,
    cursor: Option<String>,
    /// Whether the oldest come first.
    ascending: bool,
}

/// Returns one record.
pub(crate) async fn get(visitor: Visitor, RawQuery(query): RawQuery) -> Result<Response, Refused> {
    let query = Query(query.as_deref());
    let (collection, key) = (param(query, "collection")?.into_owned(), param(query, "rkey")?.into_owned());
    well_formed::<Nsid>("collection", &collection)?;
    well_formed::<RecordKey>("rkey", &key)?;
    let wanted = query.get("cid")?.map(|cid| digest("cid", &cid)).transpose()?;
    let named = param(query, "repo")?;
    let repo = visitor.repo(&named)?;
    let uri = format!("at://{}/{collection}/{key}", repo.did);
    let missing = || Refused::named("RecordNotFound", format!("Could not locate record: {uri}"));
    let record = FindRecord { repo: repo.key, collection: collection.clone(), key };
    let found = visitor.hub.query(record).await?.ok_or_else(missing)?;
    if wanted.is_some_and(|wanted| wanted != found.cid) {
        return Err(missing());
    }
    let body = letters::body(&visitor.hub, found.body).await?;
    if !visitor.may_read(repo.key, &collection, &body) {
        return Err(missing());
    }
    let value = text(&visitor, &body).ok_or_else(missing)?;
    Ok(entry(&uri, &cid_of(found.cid), &value).respond(StatusCode::OK))
}

/// Lists the records of a collection, the newest keys first; fewer than were asked for if they are large.
pub(crate) async fn list(visitor: Visitor, RawQuery(query): RawQuery) -> Result<Response, Refused> {
    let query = Query(query.as_deref());
    let repo = visitor.repo(&param(query, "repo")?)?;
    let limit = query.number("limit")?.unwrap_or(LIMIT);
    if !(1..=LIMIT_MAX).contains(&limit) {
        return Err(Refused::invalid(format!("Error: limit must be from 1 to {LIMIT_MAX}")));
    }
    let mut page = Page {
        collection: param(query, "collection")?.into_owned(),
        limit: usize::try_from(limit).unwrap_or(usize::MAX),
        cursor: query.get("cursor")?.map(|cursor| cursor.into_owned()),
        ascending: query.flag("reverse")?,
    };
    let (mut records, mut bytes, mut looked) = (Vec::new(), 0, 0);
    let mut last = None;
    while records.len() < page.limit && looked < LOOKED_MAX {
        let found = page.fetch(&visitor, &repo).await?;
        let is_last = found.len() < page.limit;
        let places: Vec<Seq> = found.iter().map(|record| record.body).collect();
        let mut bodies = visitor.hub.node().body_reader(places);
        for record in &found {
            if records.len() == page.limit || bytes >= BYTES_MAX {
                break;
            }
            let Some(body) = bodies.next().await else { break };
            let body = body.map_err(letters::unreadable)?;
            looked += 1;
            last = Some(record.key.to_string());
            if visitor.may_read(repo.key, &page.collection, &body)
                && let Some(value) = text(&visitor, &body)
            {
                let uri = format!("at://{}/{}/{}", repo.did, page.collection, record.key);
                bytes += value.len() as u64;
                records.push(entry(&uri, &cid_of(record.cid), &value).end());
            }
        }
        if is_last || bytes >= BYTES_MAX {
            break;
        }
        page.cursor.clone_from(&last);
    }
    let answer = Answer::new().list("records", records);
    Ok(answer.maybe("cursor", last.as_deref()).respond(StatusCode::OK))
}

/// Describes a repository.
pub(crate) async fn describe(visitor: Visitor, RawQuery(query): RawQuery) -> Result<Response, Refused> {
    let named = param(Query(query.as_deref()), "repo")?;
    identifier("repo", &named)?;
    let nobody = |_| Refused::named("RepoNotFound", format!("Could not find user: {named}"));
    let repo = visitor.repo(&named).map_err(nobody)?;
    let mut collections = visitor.hub.query(Collections { repo: repo.key }).await?;
    collections.retain(|collection| visitor.principal.is_some() || visitor.door.is_public(collection));
    let known_as = format!("at://{}", repo.handle);
    let did_doc = Answer::new()
        .texts("@context", ["https://www.w3.org/ns/did/v1".to_owned()])
        .text("id", &repo.did)
        .texts("alsoKnownAs", [known_as])
        .end();
    let answer = Answer::new().text("handle", &repo.handle).text("did", &repo.did).raw("didDoc", &did_doc);
    Ok(answer.texts("collections", collections).flag("handleIsCorrect", true).respond(StatusCode::OK))
}

impl Page {
    /// Fetches the next records behind the cursor.
    async fn fetch(&self, visitor: &Visitor, repo: &Repo) -> Result<Vec<RecordPlace>, Refused> {
        let page = RecordPage {
            repo: repo.key,
            collection: self.collection.clone(),
            cursor: self.cursor.clone(),
            ascending: self.ascending,
            max: self.limit,
        };
        Ok(visitor.hub.query(page).await?)
    }
}

fn entry(uri: &str, cid: &Cid, value: &str) -> Answer {
    Answer::with_capacity(value.len() + 256).text("uri", uri).text("cid", cid.as_str()).raw("value", value)
}

/// Returns the CID of a record.
pub(crate) fn cid_of(digest: Digest) -> Cid {
    Cid::new(cid::CODEC_DAG_CBOR, digest.0)
}
