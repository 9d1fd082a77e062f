//! Writing the payload: first who and what it is about, then what needs thought, at last what is demanded.

use dialect::{Codec, FINDINGS_MAX, Sheet, Strictness};
use json::{Findings, Number, Object, Path, Value};
use message::{Kind, Priority, Severity, TaskStatus};

use super::{Facts, accepts, demand};
use crate::envelope::{Payload, event_of_kind};
use crate::ids::as_uuid;
use crate::interfaces::help::HELP_CONTEXT;
use crate::lenses::NO_DEADLINE;
use crate::message_type::implied_priority;
use crate::{constraints, nearest, states};

/// Writes the agents and the task that a payload is about.
pub(super) fn subject(sheet: &mut Sheet<'_>, facts: &Facts) {
    let (from, to) = (facts.from.clone(), facts.to.clone());
    match facts.sort {
        Payload::Assignment => task(sheet, facts, "/payload/task/task_id"),
        Payload::HandoffRequest => {
            task(sheet, facts, "/payload/task_id");
            sheet.set("/payload/from_agent", "/from", from);
            sheet.set("/payload/to_agent", "/to/0", to);
            task(sheet, facts, "/payload/context/task_id");
        }
        Payload::HandoffResponse => {
            let message = sheet.message();
            let accepted = accepts(message.status, message.error.is_some());
            let source = if message.status.is_some() { "/status" } else { "/kind" };
            sheet.set("/payload/accepted", source, accepted);
            sheet.set("/payload/agent_id", "/from", from);
            sheet.write_one("/payload/task_id", "/task", Codec::Text);
        }
        Payload::Update | Payload::Complete => task(sheet, facts, "/payload/task_id"),
        Payload::Failed => {
            task(sheet, facts, "/payload/task_id");
            sheet.set("/payload/error/agent_id", "/from", from);
            task(sheet, facts, "/payload/error/task_id");
        }
        Payload::HelpRequest => {
            sheet.set("/payload/requester_id", "/from", from);
            task(sheet, facts, "/payload/task_id");
        }
        Payload::HelpResponse => {
            sheet.set("/payload/responder_id", "/from", from);
            sheet.write_one("/payload/task_id", "/task", Codec::Text);
        }
        Payload::Status | Payload::Heartbeat | Payload::Error => {
            sheet.set("/payload/agent_id", "/from", from);
            sheet.write_one("/payload/task_id", "/task", Codec::Text);
        }
        Payload::StateUpdate => sheet.write_one("/payload/task_id", "/task", Codec::Text),
    }
}

/// Writes what no lens can, and returns the fields of the message that are said by it.
pub(super) fn special(sheet: &mut Sheet<'_>, facts: &Facts) -> Vec<&'static str> {
    match facts.sort {
        Payload::Assignment | Payload::HandoffRequest | Payload::HandoffResponse => {
            limits(sheet, facts);
            let plain = if facts.sort == Payload::HandoffResponse { plain_answer(sheet) } else { None };
            ["/brief/constraints"].into_iter().chain(plain).collect()
        }
        Payload::Update => {
            update(sheet, facts);
            vec!["/status"]
        }
        Payload::Complete if sheet.get("/result").is_none() && sheet.get("/text").is_some() => {
            sheet.write_one("/payload/result", "/text", Codec::Text);
            vec!["/text"]
        }
        Payload::HelpRequest => help_context(sheet),
        Payload::HelpResponse => {
            sheet.write_one("/payload/follow_up_required", "/gate/action_required", Codec::Same);
            Vec::new()
        }
        Payload::Failed | Payload::Error => error_text(sheet),
        Payload::Status | Payload::Heartbeat => vec!["/presence"],
        Payload::Complete | Payload::StateUpdate => Vec::new(),
    }
}

/// Makes up what the specification demands and nothing has said.
pub(super) fn demanded(sheet: &mut Sheet<'_>, facts: &Facts) {
    match facts.sort {
        Payload::Assignment => task_context(sheet, facts, "/payload/task"),
        Payload::HandoffRequest => {
            let reason = sheet.text("/handoff/reason").map_or("ESCALATION", nearest::reason);
            demand(sheet, "/payload/reason", reason);
            demand(sheet, "/payload/deadline", NO_DEADLINE);
            task_context(sheet, facts, "/payload/context");
        }
        Payload::HandoffResponse => handoff_response(sheet),
        Payload::Update => demand(sheet, "/payload/event/details", Object::new()),
        Payload::Complete => {
            if !sheet.has("/payload/result") {
                sheet.invent("/payload/result", Value::Null);
            }
        }
        Payload::Failed => error_report(sheet, facts, "/payload/error"),
        Payload::Error => error_report(sheet, facts, "/payload"),
        Payload::HelpRequest => help_request(sheet),
        Payload::HelpResponse => help_response(sheet),
        Payload::Status => status(sheet, facts),
        Payload::Heartbeat => {
            demand(sheet, "/payload/state", "IDLE");
            time(sheet, facts, "/payload/timestamp");
        }
        Payload::StateUpdate => {}
    }
}

/// Writes the id of the task; a message without one borrows another id, so that what belongs together stays so.
fn task(sheet: &mut Sheet<'_>, facts: &Facts, native: &str) {
    let message = sheet.message();
    if let Some(task) = &message.task {
        return sheet.set(native, "/task", task.as_str().to_owned());
    }
    let borrowed = message
        .correlation
        .as_ref()
        .map(|id| id.as_str())
        .or(message.thread.as_ref().map(|id| id.as_str()))
        .or(message.reply_to.as_ref().map(|id| id.as_str()));
    sheet.invent(native, borrowed.unwrap_or(&facts.id).to_owned());
}

fn time(sheet: &mut Sheet<'_>, facts: &Facts, native: &str) {
    if sheet.message().created.is_some() {
        sheet.set(native, "/created", facts.time.clone());
    } else {
        sheet.invent(native, facts.time.clone());
    }
}

fn limits(sheet: &mut Sheet<'_>, facts: &Facts) {
    let lines = sheet.message().brief.as_deref().map_or(&[][..], |brief| &brief.constraints);
    let (native, rest) = constraints::from_lines(lines.iter().map(String::as_str));
    let message = sheet.message();
    let declines =
        facts.sort == Payload::HandoffResponse && !accepts(message.status, message.error.is_some());
    if lines.len() > rest.len() {
        sheet.set("/payload/constraints", "/brief/constraints", native);
    } else if !declines {
        sheet.invent("/payload/constraints", native);
    }
    if !rest.is_empty() {
        let place = format!("{}/brief/constraints", facts.sort.bag_place());
        sheet.set(&place, "/brief/constraints", rest);
    }
}

/// The status that an answer to a handoff implies need not be said beside it.
fn plain_answer(sheet: &Sheet<'_>) -> Option<&'static str> {
    let status = sheet.message().status?;
    matches!(status, TaskStatus::Claimed | TaskStatus::Rejected).then_some("/status")
}

fn update(sheet: &mut Sheet<'_>, facts: &Facts) {
    let message = sheet.message();
    match message.status {
        Some(status) => sheet.set("/payload/status", "/status", states::native(status)),
        None => sheet.invent("/payload/status", states::usual(message.kind)),
    }
    let done = ["/data/progress", "/data/percent_complete"].into_iter().find_map(|place| {
        let figure = sheet.get(place)?.as_number().map(Number::as_f64)?;
        (0.0..=100.0).contains(&figure).then_some(place)
    });
    if let Some(place) = done {
        sheet.write_one("/payload/progress", place, Codec::Same);
    }
    time(sheet, facts, "/payload/event/timestamp");
    sheet.set("/payload/event/event_type", "/kind", event_of_kind(message.kind).unwrap_or("progress"));
    sheet.set("/payload/event/agent_id", "/from", facts.from.clone());
}

/// A context that has the members of the specification is written as such; any other data goes into the bag.
fn help_context(sheet: &mut Sheet<'_>) -> Vec<&'static str> {
    let is_context = match sheet.get("/data") {
        Some(Value::Object(data)) => {
            let (mut errors, mut warnings) = (Findings::new(FINDINGS_MAX), Findings::new(FINDINGS_MAX));
            HELP_CONTEXT.check(data, &Path::ROOT, Strictness::Strict, &mut errors, &mut warnings);
            errors.is_empty()
        }
        Some(_) | None => false,
    };
    if is_context {
        sheet.write_one("/payload/context", "/data", Codec::Same);
        return vec!["/data"];
    }
    sheet.write_one("/payload/context/error_details", "/error/message", Codec::Text);
    vec!["/error/message"]
}

/// What the report says need not be said again as the text.
fn error_text(sheet: &Sheet<'_>) -> Vec<&'static str> {
    let message = sheet.message();
    let told = message.error.as_ref().and_then(|error| error.message.as_ref());
    if told.is_some() && told == message.text.as_ref() { vec!["/text"] } else { Vec::new() }
}

fn task_context(sheet: &mut Sheet<'_>, facts: &Facts, place: &str) {
    let at = |key: &str| format!("{place}/{key}");
    demand(sheet, &at("task_type"), "task");
    match sheet.message().priority {
        Some(priority) => sheet.set(&at("priority"), "/priority", priority.name()),
        None => sheet.invent(&at("priority"), implied_priority(facts.sort.message_type()).name()),
    }
    demand(sheet, &at("metadata"), Object::new());
    demand(sheet, &at("dependencies"), Vec::new());
    demand(sheet, &at("history"), Vec::new());
}

fn handoff_response(sheet: &mut Sheet<'_>) {
    let message = sheet.message();
    if accepts(message.status, message.error.is_some()) {
        demand(sheet, "/payload/estimated_completion", NO_DEADLINE);
        demand(sheet, "/payload/requirements", Vec::new());
        return;
    }
    if !sheet.has("/payload/error") && sheet.get("/text").is_some() {
        return sheet.write_one("/payload/error", "/text", Codec::Text);
    }
    demand(sheet, "/payload/error", "declined");
}

fn error_report(sheet: &mut Sheet<'_>, facts: &Facts, place: &str) {
    let at = |key: &str| format!("{place}/{key}");
    sheet.invent(&at("error_id"), as_uuid(&format!("{}/error", facts.id)));
    if !sheet.has(&at("error_type")) {
        match sheet.text("/error/code").map(nearest::error_type) {
            Some(nearest) => sheet.set(&at("error_type"), "/error/code", nearest),
            None => sheet.invent(&at("error_type"), "INTERNAL_ERROR"),
        }
    }
    level(sheet, &at("severity"));
    if !sheet.has(&at("message")) {
        match ["/text", "/title"].into_iter().find_map(|place| Some((place, sheet.text(place)?.to_owned()))) {
            Some((source, text)) => sheet.set(&at("message"), source, text),
            None => sheet.invent(&at("message"), "failed"),
        }
    }
    demand(sheet, &at("context"), Object::new());
    demand(sheet, &at("recovery_attempts"), Vec::new());
    demand(sheet, &at("suggested_actions"), Vec::new());
}

fn help_request(sheet: &mut Sheet<'_>) {
    let help_type = sheet.text("/brief/task_type").map_or("TECHNICAL_GUIDANCE", nearest::help_type);
    demand(sheet, "/payload/help_type", help_type);
    for source in ["/title", "/gate/reason", "/brief/task_type"] {
        if !sheet.has("/payload/description")
            && let Some(text) = sheet.text(source).map(str::to_owned)
        {
            sheet.set("/payload/description", source, text);
        }
    }
    demand(sheet, "/payload/description", "");
    demand(sheet, "/payload/context/current_state", "");
    demand(sheet, "/payload/context/attempted_solutions", Vec::new());
    level(sheet, "/payload/urgency");
}

fn help_response(sheet: &mut Sheet<'_>) {
    let message = sheet.message();
    let unable = message.status == Some(TaskStatus::Rejected) || message.error.is_some();
    let usual = if unable && message.kind == Kind::HelpReply { "UNABLE_TO_HELP" } else { "DIRECT_ANSWER" };
    let response_type = sheet.text("/brief/task_type").map_or(usual, nearest::response_type);
    demand(sheet, "/payload/response_type", response_type);
    for source in ["/title", "/error/message", "/gate/reason", "/gate/decision"] {
        if !sheet.has("/payload/content")
            && let Some(text) = sheet.text(source).map(str::to_owned)
        {
            sheet.set("/payload/content", source, text);
        }
    }
    demand(sheet, "/payload/content", "");
    demand(sheet, "/payload/follow_up_required", false);
    demand(sheet, "/payload/estimated_effort", 0_i64);
}

fn status(sheet: &mut Sheet<'_>, facts: &Facts) {
    demand(sheet, "/payload/status/state", "IDLE");
    demand(sheet, "/payload/status/capability_level", 100_i64);
    demand(sheet, "/payload/status/error_rate", 0_i64);
    demand(sheet, "/payload/status/avg_response_time_ms", 0_i64);
    time(sheet, facts, "/payload/status/last_heartbeat");
    demand(sheet, "/payload/current_tasks", Vec::new());
    for key in ["tokens_used", "tokens_remaining", "cost_usd", "cpu_usage", "memory_usage"] {
        demand(sheet, &format!("/payload/resource_usage/{key}"), 0_i64);
    }
    for (key, usual) in
        [("uptime_seconds", 0_i64), ("success_rate", 1), ("avg_latency_ms", 0), ("error_count", 0)]
    {
        demand(sheet, &format!("/payload/health_metrics/{key}"), usual);
    }
}

/// Writes how urgent or bad something is: as it is said, else as urgent as the message is.
fn level(sheet: &mut Sheet<'_>, native: &str) {
    if sheet.has(native) {
        return;
    }
    match sheet.message().priority {
        Some(priority) => sheet.set(native, "/priority", level_of(priority).name()),
        None => sheet.invent(native, Severity::Medium.name()),
    }
}

fn level_of(priority: Priority) -> Severity {
    match priority {
        Priority::Low => Severity::Low,
        Priority::Normal => Severity::Medium,
        Priority::High => Severity::High,
        Priority::Critical => Severity::Critical,
    }
}
