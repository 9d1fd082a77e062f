//! Documents coming in: bytes of any dialect to what the broker needs to accept them.

use std::sync::Arc;
use std::time::Duration;

use broker::{Accept, AgentKey, Fingerprint, Identity, Time, WithRecipients};
use dialect::{Name, Names, Routing};
use json::{Finding, Limits, Object, ParseError, Value, Written};
use message::{
    Address, AgentRef, Envelope, Guarantee, Kind, Message, Mode, Origin, Reference, Skimmed, TaskId,
    ThreadId, Timestamp, Warning,
};
use translate::{Carry, Options, Reports, Source};

use crate::source_cache::Decoded;
use crate::work::{intent_of, speaks_of_work};
use crate::{SealKey, Submission, fingerprint, lexicons, state, vitals};

/// How often a message that does not say is tried is the broker's to say; how long each recipient has by default,
/// when its sender waits.
const WAIT_DEFAULT: Duration = Duration::from_secs(300);
/// The queue of whoever takes work that names nobody.
const ANYONE: &str = "roles.any";

/// Why a document is not taken in.
#[derive(Debug, thiserror::Error)]
pub enum IntakeError {
    /// It is not JSON, or too large or deep.
    #[error("not a JSON document: {0}")]
    Json(ParseError),
    /// It is not an object.
    #[error("a message is a JSON object")]
    NotAnObject,
    /// Nobody can tell what language it is.
    #[error("it looks like no dialect: say which one it is")]
    UnknownDialect,
    /// Something is wrong with it.
    #[error("it is not a valid {dialect} document")]
    Invalid {
        /// The dialect that it was taken for.
        dialect: Name,
        /// Everything that is wrong.
        errors: Vec<Finding>,
    },
}

/// What documents are read with.
#[derive(Clone, Copy)]
pub struct Reading<'r> {
    /// What agents are called.
    pub names: &'r Names,
    /// By which origins that the bus wrote itself are known.
    pub seal: &'r SealKey,
    /// What documents may have at most.
    pub limits: Limits,
    /// The trace to which what is read belongs.
    pub trace: Option<&'r str>,
    /// By which the content of messages is checked that names a schema.
    pub lexicons: &'r lexicon::Catalog,
}

/// What a sender asks for beside its document.
#[derive(Clone, Copy, Debug, Default)]
pub struct Asking<'a> {
    /// What a repeat is known by, for documents without an id of their own.
    pub key: Option<&'a str>,
    /// How long the sender waits for a reply, in milliseconds.
    pub wait_ms: Option<u64>,
    /// Whether it may wait for a recipient that is not registered yet.
    pub hold: bool,
    /// The trace to which it belongs, as a W3C `traceparent`.
    pub trace: Option<&'a str>,
}

/// Reads a document in a dialect, or in whichever it looks like. One that the bus itself had translated is restored
/// to what its sender wrote, with what was edited since.
pub fn receive(bytes: &[u8], dialect: Option<Name>, reading: Reading<'_>) -> Result<Submission, IntakeError> {
    if dialect == Some(Name::Convoke)
        && let Some(submission) = skim(bytes, reading)
    {
        return Ok(submission);
    }
    receive_unusual(bytes, dialect, reading)
}

/// Reads a document in a dialect, or in whichever it looks like, however it is written.
pub(crate) fn receive_unusual(
    bytes: &[u8],
    dialect: Option<Name>,
    reading: Reading<'_>,
) -> Result<Submission, IntakeError> {
    let value = json::parse(bytes, reading.limits).map_err(IntakeError::Json)?;
    let name = dialect.or_else(|| translate::detect(&value)).ok_or(IntakeError::UnknownDialect)?;
    receive_parsed(bytes, value, name, reading)
}

/// Reads a document in a dialect that was parsed already; the bytes are those of the value.
pub(crate) fn receive_parsed(
    bytes: &[u8],
    value: Value<'_>,
    name: Name,
    reading: Reading<'_>,
) -> Result<Submission, IntakeError> {
    let object = value.as_object().ok_or(IntakeError::NotAnObject)?;
    if let Some((text, name)) = restored(bytes, &value, object, name, reading) {
        let value = json::parse_str(&text, reading.limits).map_err(IntakeError::Json)?;
        return read(text.as_bytes(), value, name, reading);
    }
    read(bytes, value, name, reading)
}

fn read(bytes: &[u8], value: Value<'_>, name: Name, reading: Reading<'_>) -> Result<Submission, IntakeError> {
    let language = translate::dialect(name);
    let fingerprint = fingerprint::of_document(name, &value, bytes);
    let figures = vitals::figures(name, &value);
    let version = value.as_object().and_then(|document| language.version(document));
    let decoded = language
        .decode_owned(value, reading.names)
        .map_err(|errors| IntakeError::Invalid { dialect: name, errors: errors.into_kept() })?;
    let message = decoded.message;
    let errors = lexicons::check_content(reading.lexicons, &message);
    if !errors.is_empty() {
        return Err(IntakeError::Invalid { dialect: name, errors });
    }
    let (intent, sign) = (intent_of(&message), vitals::sign(name, &message, figures));
    let is_update = name == Name::Coord && message.kind == Kind::StateSync;
    let update = message.data.as_ref().filter(|_| is_update).and_then(state::change_of).map(Box::new);
    let routed = message.routed();
    let mut submission = submission(name, routed, decoded.routing, fingerprint, (bytes, reading.trace));
    let source = Source { message, version };
    submission.decoded = Some(Arc::new(Decoded { source, names: reading.names.revision() }));
    submission.warnings = decoded.warnings.into_kept().into_iter().map(Warning::from).collect();
    let accept = &mut submission.accept;
    (accept.intent, accept.sign, accept.update) = (intent, sign, update);
    Ok(submission)
}

/// Reads an ordinary document of our own dialect in one pass. Nothing if it is another: whatever is wrong or odd about
/// it, or whatever it was made of, is found by reading it.
fn skim(bytes: &[u8], reading: Reading<'_>) -> Option<Submission> {
    let text = std::str::from_utf8(bytes).ok()?;
    let skimmed = message::skim(text, reading.limits)?;
    self::skimmed(skimmed, (bytes, reading.trace), |schema| reading.lexicons.document(schema).is_some())
}

/// Returns what a document was made of, if the bus itself made it: the origin, with what was edited since.
fn restored(
    bytes: &[u8],
    value: &Value<'_>,
    object: &Object<'_>,
    name: Name,
    reading: Reading<'_>,
) -> Option<(String, Name)> {
    let found = dialect::get(object, translate::dialect(name).origin_place())?;
    let origin = Origin::from_value(found)?;
    if origin.dialect == name || !reading.seal.is_on(&origin) {
        return None;
    }
    let options = Options {
        names: reading.names,
        limits: reading.limits,
        carry: Carry::Nothing,
        reports: Reports::Unwanted,
        trusts: &|origin| reading.seal.is_on(origin),
        seals: None,
        came: None,
        to: None,
    };
    let text = std::str::from_utf8(bytes).ok()?;
    let translated = translate::translate_parsed(text, value, name, origin.dialect, &options).ok()?;
    Some((translated.text, origin.dialect))
}

/// Takes a message that was skimmed, and its document with the trace to which it belongs. Nothing if it must be read
/// after all.
pub(crate) fn skimmed(
    skimmed: Skimmed<'_>,
    document: (&[u8], Option<&str>),
    is_schema: impl FnOnce(&str) -> bool,
) -> Option<Submission> {
    // A heartbeat implies another guarantee than the usual one.
    let kind = skimmed.message.kind;
    let is_sign = matches!(kind, Kind::AgentHeartbeat | Kind::AgentStatus);
    let tells_more = is_sign || speaks_of_work(kind);
    if skimmed.schema.is_some_and(is_schema) || tells_more {
        return None;
    }
    let Written { text, is_compact } = skimmed.written;
    let fingerprint =
        if is_compact { fingerprint::of_bytes(text.as_bytes()) } else { fingerprint::of_text(text) };
    let routing = Routing::of(&skimmed.message, Guarantee::AtLeastOnce);
    Some(submission(Name::Convoke, *skimmed.message, routing, fingerprint, document))
}

/// Takes a message of our own dialect that was not read but made; what it says about work and about its sender counts
/// as if it had been read.
pub(crate) fn written(message: Message) -> Submission {
    let text = message.encode();
    let (intent, sign) = (intent_of(&message), vitals::sign(Name::Convoke, &message, Object::new()));
    let routing = Routing::of(&message, Guarantee::AtLeastOnce);
    let fingerprint = fingerprint::of_text(&text);
    let mut submission = submission(Name::Convoke, message, routing, fingerprint, (text.as_bytes(), None));
    (submission.accept.intent, submission.accept.sign) = (intent, sign);
    submission
}

/// Takes a message that was read without a warning, and the document with the trace to which it belongs. What the
/// message is routed by moves into the command; its content is in the document alone.
fn submission(
    dialect: Name,
    message: Message,
    routing: Routing,
    fingerprint: Fingerprint,
    (document, trace): (&[u8], Option<&str>),
) -> Submission {
    let (to, joins) = (addresses(dialect, &message), joined(dialect, &message));
    let Message {
        native_id,
        kind,
        from: sender,
        to: named,
        thread,
        reply_to,
        task,
        created,
        expires,
        delivery,
        ..
    } = message;
    let identity = match &native_id {
        Some(id) => Identity::Native(id.clone().into_text()),
        None => Identity::Content,
    };
    let wishes = delivery.map(|wishes| *wishes).unwrap_or_default();
    let timeout = wishes.timeout.as_ref().map(|timeout| timeout.duration());
    // A `bus` document that asks for nothing is answered by nobody, whatever its delivery mode.
    let waits = wishes.mode == Some(Mode::Sync) && (dialect != Name::Bus || asks(kind));
    // Each recipient has its time, one after the other.
    let offers = u32::try_from(wishes.fallback.len() + 1).unwrap_or(u32::MAX);
    let wait = waits.then(|| timeout.unwrap_or(WAIT_DEFAULT).saturating_mul(offers));
    let accept = Accept {
        // Who sends it is known by the credential, and set by whoever knows that.
        from: AgentKey::SYSTEM,
        to: to.unwrap_or(named),
        kind,
        priority: routing.priority,
        guarantee: routing.guarantee,
        identity,
        fingerprint,
        task: task.map(TaskId::into_text),
        thread: thread.map(ThreadId::into_text),
        reply_to: reply_to.map(Reference::into_text),
        created: created.as_ref().map(|created| time(created.at())),
        expires: expires.as_ref().map(|expires| time(expires.at())),
        lifetime_ms: routing.lifetime_ms,
        timeout_ms: timeout.map(ms),
        retries: wishes.retries,
        backoff: wishes.backoff,
        fallback: wishes.fallback,
        wait_ms: wait.map(ms),
        live_only: routing.live_only,
        hold: wishes.hold,
        hops: 0,
        body: Envelope::seal(dialect, trace, document).into(),
        intent: None,
        joins,
        sign: None,
        update: None,
        with_recipients: WithRecipients::Never,
    };
    let accept = Box::new(accept);
    Submission { accept, dialect, sender, native_id, warnings: Vec::new(), decoded: None }
}

/// Returns to whom a message goes on the bus, where that is not to whom it says.
fn addresses(dialect: Name, message: &Message) -> Option<Vec<Address>> {
    let is_open = dialect == Name::Bus && is_for_the_bus(&message.to) && asks(message.kind);
    if message.to.is_empty() || is_open {
        return Some(ANYONE.parse().into_iter().collect());
    }
    // A channel document for all reaches the members of its channel.
    let thread = message.thread.as_ref().filter(|_| dialect == Name::Channel)?;
    let members = || Address::Channel(dialect_channel::channel_of(thread.as_str()));
    let to = message.to.iter().map(|to| if *to == Address::All { members() } else { to.clone() });
    Some(to.collect())
}

/// Tells whether a message names nobody but the bus itself.
pub(crate) fn is_for_the_bus(to: &[Address]) -> bool {
    let is_bus =
        |to: &Address| matches!(to, Address::Agent(AgentRef::Name(name)) if name.as_str() == "system");
    !to.is_empty() && to.iter().all(is_bus)
}

/// Tells whether a message wants something of somebody; one that names only the bus is an open request.
fn asks(kind: Kind) -> bool {
    matches!(kind, Kind::TaskRequest | Kind::HelpAsk | Kind::HandoffOffer | Kind::Question | Kind::Gate)
}

/// Returns of what a sender says that it is a member, in the words of its dialect: a wire that claims work does so in a
/// role. Posting in a channel is joining it whatever the dialect, which is the broker's to see to; the other dialects
/// have no words for it.
fn joined(dialect: Name, message: &Message) -> Option<Address> {
    let is_claim = dialect == Name::Wire && message.kind == Kind::TaskClaim;
    message.to.iter().find(|to| is_claim && matches!(to, Address::Role(_))).cloned()
}

pub(crate) fn time(at: Timestamp) -> Time {
    Time(u64::try_from(at.unix_micros() / 1_000).unwrap_or(0))
}

fn ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
