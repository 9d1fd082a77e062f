//! One write: a record that was checked and hashed, or the wish that one be gone.

use atproto_syntax::{Cid, nsid, record_key};
use broker::{AgentKey, Digest, Swap};
use bytes::Bytes;
use dialect::Name;
use json::{Finding, Value};
use lexicon::{Catalog, Prepared, Purpose, RecordKeyKind, Target, Validation, ValidationStatus};
use message::Envelope;

use crate::intake::receive_parsed;
use crate::{Code, Hub, Problem, Reading, Submission, lexicons};

/// The key with which a record is checked that will get its key when it is written.
const ANY_TID: &str = "2222222222222";
/// What the running network calls a request.
const DRIFTED_REQUEST: &str = "agent.comms.task";

/// A record that is to be stored.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// Its collection.
    pub collection: &'a str,
    /// Its key, if it is not to be made.
    pub key: Option<&'a str>,
    /// What it says.
    pub record: &'a Value<'a>,
    /// How much of it is checked.
    pub validation: Validation,
    /// What must be there before.
    pub swap: Swap,
    /// The trace to which it belongs.
    pub trace: Option<&'a str>,
}

/// A change of one record, ready to be carried out.
#[derive(Debug)]
pub struct Write {
    pub(super) collection: String,
    pub(super) key: Option<String>,
    pub(super) swap: Swap,
    pub(super) change: Change,
}

/// What becomes of a record.
#[derive(Debug)]
pub(super) enum Change {
    Set(Box<Draft>),
    Remove,
}

/// A record that was checked.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) cid: Cid,
    pub(super) digest: Digest,
    pub(super) status: Option<ValidationStatus>,
    /// The record as the log keeps it.
    pub(super) envelope: Bytes,
    /// The message that it is.
    pub(super) submission: Option<Submission>,
    pub(super) blobs: Vec<Blob>,
    /// The hashes of the blobs.
    pub(super) digests: Vec<Digest>,
}

/// A blob to which a record refers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blob {
    /// The hash of its bytes.
    pub digest: Digest,
    /// Its CID.
    pub cid: Cid,
    /// What it is said to be.
    pub mime_type: String,
    /// How many bytes it is said to have.
    pub size: u64,
}

impl Write {
    /// Checks a record that is to be stored in somebody's repository.
    pub fn set(hub: &Hub, repo: AgentKey, wanted: Wanted<'_>) -> Result<Self, Problem> {
        check_collection(wanted.collection)?;
        if wanted.record.as_object().is_none() {
            return Err(Problem::bad_request("a record is a JSON object"));
        }
        let catalog = hub.lexicons();
        let key = wanted.key.map(str::to_owned).or_else(|| only_key(&catalog, wanted.collection));
        let prepared = lexicon::prepare_write(
            &catalog,
            lexicon::Write {
                collection: wanted.collection,
                record_key: key.as_deref().unwrap_or(ANY_TID),
                record: wanted.record,
                validation: wanted.validation,
            },
        );
        let prepared = prepared.map_err(|refusal| refused(&refusal))?;
        if repo == AgentKey::HUMAN && wanted.collection == lexicons::COLLECTION {
            let document = lexicons::check(&prepared.record, key.as_deref())?;
            if wanted.validation != Validation::Skip {
                lexicons::check_change(&catalog, &document)?;
            }
        }
        let draft = Draft::new(hub, repo, &catalog, wanted, prepared)?;
        let (collection, change) = (wanted.collection.to_owned(), Change::Set(Box::new(draft)));
        Ok(Write { collection, key, swap: wanted.swap, change })
    }

    /// Wishes a record gone.
    pub fn remove(collection: &str, key: &str, swap: Swap) -> Result<Self, Problem> {
        check_collection(collection)?;
        record_key::check(key).map_err(|error| Problem::bad_request(format!("{error}")))?;
        let (collection, key) = (collection.to_owned(), Some(key.to_owned()));
        Ok(Write { collection, key, swap, change: Change::Remove })
    }

    /// Returns the blobs to which the record refers; they must be there when it is written.
    pub fn blobs(&self) -> &[Blob] {
        match &self.change {
            Change::Set(draft) => &draft.blobs,
            Change::Remove => &[],
        }
    }

    /// Returns the collection that it changes.
    pub fn collection(&self) -> &str {
        &self.collection
    }
}

impl Draft {
    fn new(
        hub: &Hub,
        repo: AgentKey,
        catalog: &Catalog,
        wanted: Wanted<'_>,
        prepared: Prepared<'_>,
    ) -> Result<Self, Problem> {
        let Prepared { record, cid, status, .. } = prepared;
        let blobs: Vec<Blob> = lexicon::blobs(&record).iter().map(blob).collect::<Result<_, _>>()?;
        let digests = blobs.iter().map(|blob| blob.digest).collect();
        let text = record.to_json();
        let envelope = Envelope::seal(Name::Comms, wanted.trace, text.as_bytes()).into();
        let digest = digest_of(&cid).ok_or_else(|| Problem::new(Code::Internal, "a CID without a hash"))?;
        let is_message = is_message(catalog, wanted, &record);
        let submission = if is_message { submission(hub, repo, wanted, &text, record)? } else { None };
        Ok(Draft { cid, digest, status, envelope, submission, blobs, digests })
    }
}

/// Returns the hash that a CID holds.
fn digest_of(cid: &Cid) -> Option<Digest> {
    cid.decode().ok()?.digest.try_into().ok().map(Digest)
}

/// Tells whether writing a record sends it: it is of a message collection, and nothing is wrong with it.
fn is_message(catalog: &Catalog, wanted: Wanted<'_>, record: &Value<'_>) -> bool {
    let collection = wanted.collection;
    if dialect_comms::Record::from_name(collection).is_none() {
        return collection == DRIFTED_REQUEST;
    }
    match wanted.validation {
        Validation::Required | Validation::Optimistic => true,
        Validation::Skip => catalog.validate(Target::Record(collection), record, Purpose::Write).is_valid(),
    }
}

/// Reads the message that a record is. What nobody asked to be checked may be none.
fn submission(
    hub: &Hub,
    repo: AgentKey,
    wanted: Wanted<'_>,
    text: &str,
    record: Value<'_>,
) -> Result<Option<Submission>, Problem> {
    let read = hub.reading(|reading| {
        let reading = Reading { trace: wanted.trace, ..reading };
        receive_parsed(text.as_bytes(), record, Name::Comms, reading)
    });
    let mut submission = match (read, wanted.validation) {
        (Ok(submission), _) => submission,
        (Err(_), Validation::Skip) => return Ok(None),
        (Err(error), Validation::Required | Validation::Optimistic) => return Err(error.into()),
    };
    let from = submission.sender.as_str();
    if hub.resolve(from).map(|(_, agent)| agent) != Some(repo) {
        let detail = format!("the record says that `{from}` sent it, and this is another's repository");
        return Err(Problem::new(Code::NotYours, detail));
    }
    submission.set_sender(hub, repo);
    Ok(Some(submission))
}

fn check_collection(collection: &str) -> Result<(), Problem> {
    nsid::check(collection).map_err(|error| Problem::bad_request(format!("`collection`: {error}")))
}

/// Returns the key that all records of a collection have, if they have one.
fn only_key(catalog: &Catalog, collection: &str) -> Option<String> {
    match catalog.record_key_kind(collection)? {
        RecordKeyKind::Literal(key) => Some(key.clone()),
        RecordKeyKind::Tid | RecordKeyKind::Nsid | RecordKeyKind::Any => None,
    }
}

fn blob(link: &lexicon::BlobLink<'_>) -> Result<Blob, Problem> {
    let unreadable = || Problem::bad_request(format!("a blob has no CID of ours: {:?}", link.cid));
    let cid: Cid = link.cid.parse().map_err(|_| unreadable())?;
    let digest = digest_of(&cid).ok_or_else(unreadable)?;
    let size = u64::try_from(link.size).map_err(|_| unreadable())?;
    Ok(Blob { digest, cid, mime_type: link.mime_type.to_owned(), size })
}

fn refused(refusal: &lexicon::Refusal) -> Problem {
    let problem = Problem::new(Code::Invalid, refusal.to_string());
    let errors: Vec<_> = refusal.findings().iter().map(Finding::to_value).map(Value::into_owned).collect();
    if errors.is_empty() { problem } else { problem.with("errors", Value::Array(errors)) }
}
