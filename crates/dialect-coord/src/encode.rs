//! Writing a message as well as this dialect can say it.
//!
//! What the message says goes where a user of this dialect looks for it; what the specification demands and the
//! message does not say is made from the message, the same every time, and reported as invented.

mod metadata;
mod payload;

use dialect::{Encoded, FINDINGS_MAX, Names, Sheet, Strictness};
use json::{Findings, Path, Value};
use message::{Kind, Message, TaskStatus};

use crate::envelope::Payload;
use crate::ids::as_uuid;
use crate::interfaces::state::STATE_UPDATE;
use crate::rules::{self, Report};
use crate::{bag, lenses};

/// Stands for the time of a message that does not tell it.
const NO_TIME: &str = "1970-01-01T00:00:00Z";

/// What the parts of a document share.
pub(crate) struct Facts {
    sort: Payload,
    /// The sender and the recipient, as they are called here.
    from: String,
    to: String,
    /// The id of the document.
    id: String,
    /// The time of the document.
    time: String,
}

/// Writes a message.
pub(crate) fn encode(message: &Message, names: &Names) -> Encoded {
    let mut sheet = Sheet::new(message, names);
    let facts = facts(message, names);
    head(&mut sheet, &facts);
    payload::subject(&mut sheet, &facts);
    let lenses = lenses::of(facts.sort);
    sheet.write(lenses);
    metadata::write(&mut sheet, &facts);
    let said = payload::special(&mut sheet, &facts);
    metadata::carry_links(&mut sheet, &facts);
    bag::pack(&mut sheet, facts.sort.bag_place(), lenses, &said);
    payload::demanded(&mut sheet, &facts);
    sheet.finish()
}

/// Tells whether the answer to a handoff takes the work.
pub(crate) fn accepts(status: Option<TaskStatus>, has_error: bool) -> bool {
    match status {
        Some(TaskStatus::Rejected | TaskStatus::Failed | TaskStatus::Cancelled) => false,
        Some(
            TaskStatus::Pending
            | TaskStatus::Claimed
            | TaskStatus::Running
            | TaskStatus::Blocked
            | TaskStatus::Done,
        ) => true,
        None => !has_error,
    }
}

fn facts(message: &Message, names: &Names) -> Facts {
    let id = match (&message.native_id, &message.id) {
        (Some(id), _) => as_uuid(id.as_str()),
        (None, Some(id)) => id.to_string(),
        (None, None) => as_uuid(&message.encode()),
    };
    Facts {
        sort: sort(message),
        from: lenses::id_of(message.from.as_str(), names),
        to: message
            .to
            .first()
            .map_or_else(|| crate::envelope::EVERYONE.to_owned(), |to| lenses::id_of(&to.to_string(), names)),
        id,
        time: message.created.as_ref().map_or(NO_TIME, |created| created.text()).to_owned(),
    }
}

fn head(sheet: &mut Sheet<'_>, facts: &Facts) {
    match (&sheet.message().native_id, &sheet.message().id) {
        (Some(_), _) => sheet.set("/id", "/native_id", facts.id.clone()),
        (None, Some(_)) => sheet.set("/id", "/id", facts.id.clone()),
        (None, None) => sheet.invent("/id", facts.id.clone()),
    }
    sheet.write(lenses::HEAD);
    demand(sheet, "/timestamp", NO_TIME);
    demand(sheet, "/to", facts.to.clone());
    sheet.set("/type", "/kind", facts.sort.message_type().name());
}

/// Chooses the payload that says a message best.
fn sort(message: &Message) -> Payload {
    match message.kind {
        Kind::TaskRequest => Payload::Assignment,
        Kind::HandoffOffer => Payload::HandoffRequest,
        Kind::HandoffReply => Payload::HandoffResponse,
        Kind::TaskDone => Payload::Complete,
        Kind::TaskFailed => Payload::Failed,
        Kind::HelpAsk | Kind::Question => Payload::HelpRequest,
        Kind::Gate if message.gate.as_ref().is_some_and(|gate| gate.decision.is_some()) => {
            Payload::HelpResponse
        }
        Kind::Gate => Payload::HelpRequest,
        Kind::HelpReply => Payload::HelpResponse,
        Kind::AgentStatus => Payload::Status,
        Kind::AgentHeartbeat => Payload::Heartbeat,
        Kind::ErrorReport => Payload::Error,
        Kind::StateSync if message.data.as_ref().is_some_and(is_state_update) => Payload::StateUpdate,
        Kind::StateSync
        | Kind::Note
        | Kind::Announce
        | Kind::Report
        | Kind::ReviewVerdict
        | Kind::TaskClaim
        | Kind::TaskProgress
        | Kind::TaskRejected
        | Kind::TaskBlocked => Payload::Update,
    }
}

fn is_state_update(data: &Value<'_>) -> bool {
    let Value::Object(update) = data else { return false };
    let (mut errors, mut warnings) = (Findings::new(FINDINGS_MAX), Findings::new(FINDINGS_MAX));
    STATE_UPDATE.check(update, &Path::ROOT, Strictness::Strict, &mut errors, &mut warnings);
    let mut report = Report { errors: &mut errors, warnings: &mut warnings };
    rules::state_update(update, &Path::ROOT, &mut report);
    errors.is_empty()
}

/// Makes up a field that the specification demands, if nothing has said it.
fn demand(sheet: &mut Sheet<'_>, native: &str, value: impl Into<Value<'static>>) {
    if !sheet.has(native) {
        sheet.invent(native, value);
    }
}
