//! Writing: a canonical message as the wire that says it best.
//!
//! Work that is asked for is a brief, or a pointer if nothing is said of it. What happens to work is a claim, a
//! completion or a block, and everything else is a message to somebody's inbox. A completion is written only of
//! work that was verified; that work is done by its own account is a status update.

mod brief;
mod inbox;
mod outcome;

use dialect::{Encoded, Names, Sheet};
use json::{Findings, Path, Value};
use message::{Address, Kind, Message, Priority};

use crate::extensions as x;
use crate::form::{Form, MessageType};
use crate::interfaces::VERIFICATION;
use crate::lenses;
use crate::rules::fits_role_topic;
use crate::stand_in::{recipient, slug, task_id};
use crate::syntax::is_task_id;
use crate::view::{ANY_ROLE, role_of};

const VERSION: &str = "1.0";
/// The version that has ids, streams and correlation.
const VERSION_WITH_IDS: &str = "1.1";
/// When a message was made that does not say it.
const NO_TIME: &str = "1970-01-01T00:00:00Z";

pub(crate) fn encode(message: &Message, names: &Names) -> Encoded {
    let form = form_of(message);
    if form == Form::Available {
        let encoded = write(message, names, form);
        if fits_role_topic(encoded.document.to_string().as_bytes()) {
            return encoded;
        }
        return write(message, names, Form::Brief);
    }
    write(message, names, form)
}

fn write(message: &Message, names: &Names, form: Form) -> Encoded {
    let mut sheet = Sheet::new(message, names);
    envelope(&mut sheet, form);
    match form {
        Form::Brief => brief::brief(&mut sheet),
        Form::Available | Form::Pointer => outcome::available(&mut sheet),
        Form::Claim => outcome::claim(&mut sheet),
        Form::Complete => outcome::complete(&mut sheet),
        Form::Blocked => outcome::blocked(&mut sheet),
        Form::Inbox(message_type) => inbox::inbox(&mut sheet, message_type),
    }
    extensions(&mut sheet, form);
    sheet.finish()
}

fn form_of(message: &Message) -> Form {
    let has_task = message.task.is_some();
    match message.kind {
        Kind::TaskRequest if is_pointer(message) => Form::Available,
        Kind::TaskRequest | Kind::HandoffOffer => Form::Brief,
        Kind::TaskClaim => Form::Claim,
        Kind::TaskDone if has_task && is_verified(message) => Form::Complete,
        Kind::TaskFailed | Kind::TaskRejected | Kind::TaskBlocked | Kind::ErrorReport if has_task => {
            Form::Blocked
        }
        Kind::TaskDone
        | Kind::TaskFailed
        | Kind::TaskRejected
        | Kind::TaskBlocked
        | Kind::ErrorReport
        | Kind::Note
        | Kind::Announce
        | Kind::TaskProgress
        | Kind::HelpAsk
        | Kind::HelpReply
        | Kind::HandoffReply
        | Kind::AgentStatus
        | Kind::AgentHeartbeat
        | Kind::ReviewVerdict
        | Kind::Gate
        | Kind::Question
        | Kind::StateSync
        | Kind::Report => Form::Inbox(MessageType::of(message.kind)),
    }
}

/// Tells whether a request says nothing but where the work is and for which role.
fn is_pointer(message: &Message) -> bool {
    let says_nothing = message.title.is_none()
        && message.text.is_none()
        && message.code.is_none()
        && message.data.is_none()
        && message.brief.is_none()
        && message.deadline.is_none()
        && message.attachments.is_empty()
        && message.refs.is_empty();
    let is_for_a_role = matches!(message.to[..], [Address::Role(_)]);
    says_nothing && is_for_a_role && message.task.as_ref().is_some_and(|task| is_task_id(task.as_str()))
}

/// Tells whether the result holds a verification as wires have it, and nothing failed.
fn is_verified(message: &Message) -> bool {
    let verification = message.result.as_ref().and_then(|result| result.get("verification")?.as_object());
    verification.is_some_and(|verification| {
        let mut errors = Findings::new(1);
        let mut warnings = Findings::new(1);
        let strictness = dialect::Strictness::Strict;
        VERIFICATION.check(verification, &Path::ROOT, strictness, &mut errors, &mut warnings);
        let failed = |key: &str| verification.get(key).and_then(Value::as_str) == Some("fail");
        errors.is_empty() && !failed("mechanical") && !failed("semantic")
    })
}

fn envelope(sheet: &mut Sheet<'_>, form: Form) {
    let message = sheet.message();
    let has_ids = message.native_id.is_some() || message.thread.is_some() || message.correlation.is_some();
    sheet.invent("/wire", if has_ids { VERSION_WITH_IDS } else { VERSION });
    sheet.set("/type", "/kind", form.name());
    let sender = agent_slug(sheet.names(), message.from.as_str());
    sheet.set("/sender", "/from", sender);
    if message.created.is_none() {
        sheet.invent("/ts", NO_TIME);
    }
    sheet.write(lenses::ENVELOPE);
}

/// Writes what the fields of the specification do not say exactly.
fn extensions(sheet: &mut Sheet<'_>, form: Form) {
    let message = sheet.message();
    let names = sheet.names();
    if form.kind(message.task.is_some()) != message.kind {
        extend(sheet, x::KIND, "/kind", message.kind.name());
    }
    let sender = agent_slug(names, message.from.as_str());
    if names.agent(&sender) != names.agent(message.from.as_str()) {
        extend(sheet, x::FROM, "/from", names.agent(message.from.as_str()).to_string());
    }
    recipients(sheet, form);
    if let Some(task) = message.task.as_ref().filter(|task| !is_task_id(task.as_str())) {
        extend(sheet, x::TASK, "/task", task.to_string());
    }
    let reads_back = |priority: Priority| match form {
        Form::Inbox(_) => priority != Priority::Low,
        Form::Brief | Form::Complete | Form::Blocked | Form::Claim | Form::Available | Form::Pointer => false,
    };
    if let Some(priority) = message.priority.filter(|priority| !reads_back(*priority)) {
        extend(sheet, x::PRIORITY, "/priority", priority.name());
    }
    if let Some(status) = message.status.filter(|status| message.kind.task_status() != Some(*status)) {
        extend(sheet, x::STATUS, "/status", status.name());
    }
    for (extension, canonical) in [
        (x::REPLY_TO, "/reply_to"),
        (x::SEVERITY, "/severity"),
        (x::DEADLINE, "/deadline"),
        (x::EXPIRES, "/expires"),
    ] {
        if let Some(text) = sheet.text(canonical).map(str::to_owned) {
            extend(sheet, extension, canonical, text);
        }
    }
}

/// Writes all recipients where the fields name fewer, or others.
fn recipients(sheet: &mut Sheet<'_>, form: Form) {
    let (message, names) = (sheet.message(), sheet.names());
    let told = addresses(message, names);
    let visible = match form {
        Form::Inbox(_) => told.first().map(|to| names.address(&recipient(to)).to_string()),
        Form::Claim | Form::Available | Form::Pointer => {
            told.first().map(|to| format!("roles.{}", role_of(to)))
        }
        Form::Complete | Form::Blocked => {
            message.task.as_ref().map(|task| format!("#{}", task_id(task.as_str())))
        }
        Form::Brief => Some(format!("roles.{ANY_ROLE}")),
    };
    if told.len() != 1 || told.first() != visible.as_ref() {
        let told: Vec<Value<'static>> = told.into_iter().map(Value::from).collect();
        extend(sheet, x::TO, "/to", Value::Array(told));
    }
}

/// Returns the recipients by the names that the registry gives them.
fn addresses(message: &Message, names: &Names) -> Vec<String> {
    message.to.iter().map(|to| names.address(&to.to_string()).to_string()).collect()
}

fn extend(sheet: &mut Sheet<'_>, extension: &str, canonical: &str, value: impl Into<Value<'static>>) {
    sheet.set(&format!("/payload/{extension}"), canonical, value);
}

/// Returns the slug of an agent: its registered name, or one made of what it is called.
fn agent_slug(names: &Names, agent: &str) -> String {
    match names.find(agent) {
        Some(identity) => slug(identity.slug.as_str()),
        None => slug(agent),
    }
}

/// Writes the id of the task, which stands in where the message has another sort of id or none.
fn write_task(sheet: &mut Sheet<'_>, native: &str) {
    let message = sheet.message();
    if let Some(task) = &message.task {
        sheet.set(native, "/task", task_id(task.as_str()));
        if !is_task_id(task.as_str()) {
            sheet.invent(native, task_id(task.as_str()));
        }
        return;
    }
    let pointers = [
        message.reply_to.as_ref().map(|id| id.as_str()).filter(|_| message.kind == Kind::TaskClaim),
        message.native_id.as_ref().map(|id| id.as_str()),
    ];
    let id = pointers.into_iter().flatten().next().map(str::to_owned);
    sheet.invent(native, task_id(&id.unwrap_or_else(|| message.encode())));
}
