//! Writing what happens to work: that there is some, that it is taken, done or stuck.

use dialect::Sheet;
use json::Value;
use message::{Kind, Message};

use super::{addresses, agent_slug, extend, write_task};
use crate::blockers::blocker_of_error;
use crate::extensions as x;
use crate::lenses;
use crate::rules::SUMMARY_WORDS_MAX;
use crate::speech::{common_parts, result_part, speech};
use crate::syntax::is_slug;
use crate::view::role_of;

pub(super) fn available(sheet: &mut Sheet<'_>) {
    write_task(sheet, "/payload/task_id");
    write_role(sheet);
}

pub(super) fn claim(sheet: &mut Sheet<'_>) {
    write_task(sheet, "/payload/task_id");
    let sender = agent_slug(sheet.names(), sheet.message().from.as_str());
    sheet.set("/payload/agent", "/from", sender);
    write_role(sheet);
    write_title(sheet);
    if let Some(text) = sheet.message().text.clone() {
        extend(sheet, x::TEXT, "/text", text);
    }
}

pub(super) fn complete(sheet: &mut Sheet<'_>) {
    let message = sheet.message();
    write_task(sheet, "/payload/task_id");
    write_agent(sheet);
    sheet.write(lenses::COMPLETE);
    let missing = [
        ("/payload/output_ref", Value::Null),
        ("/payload/cost_usd", Value::integer(0)),
        ("/payload/duration_seconds", Value::integer(0)),
    ];
    for (native, value) in missing {
        if !sheet.has(native) {
            sheet.invent(native, value);
        }
    }
    let mut parts: Vec<String> = result_part(message).into_iter().collect();
    parts.extend(common_parts(message, 1));
    write_speech(sheet, "/payload/summary", message.text.as_deref(), &parts, Some(SUMMARY_WORDS_MAX));
    write_title(sheet);
}

pub(super) fn blocked(sheet: &mut Sheet<'_>) {
    let message = sheet.message();
    write_task(sheet, "/payload/task_id");
    write_agent(sheet);
    let error = message.error.as_deref();
    let reason = error.and_then(|error| error.message.as_deref()).filter(|text| !text.is_empty());
    let text = message.text.as_deref().filter(|text| !text.is_empty());
    let mut parts: Vec<String> = text.filter(|_| reason.is_some()).map(str::to_owned).into_iter().collect();
    parts.extend(result_part(message));
    parts.extend(common_parts(message, 0));
    let fallback = || message.title.as_deref().filter(|title| !title.is_empty());
    let said = reason.or(text).or_else(fallback);
    let speech = speech(said, &parts, None);
    if speech.visible.is_empty() {
        sheet.invent("/payload/reason", "No reason is given.");
    } else {
        write_reason(sheet, speech.visible);
    }
    write_blocker(sheet);
    sheet.write(lenses::BLOCKED);
    if !sheet.has("/payload/suggested_resolution") {
        sheet.invent("/payload/suggested_resolution", Value::Null);
    }
    sheet.invent("/payload/attempts", Value::integer(1));
    write_title(sheet);
}

/// Writes the reason, and apart from it the text and the error's message where it holds more than each of them.
fn write_reason(sheet: &mut Sheet<'_>, visible: String) {
    let message = sheet.message();
    let error = message.error.as_deref().and_then(|error| error.message.as_deref());
    let exact = [(x::TEXT, "/text", message.text.as_deref()), (x::ERROR_MESSAGE, "/error/message", error)];
    for (extension, canonical, text) in exact {
        if let Some(text) = text.filter(|text| !text.is_empty() && *text != visible) {
            extend(sheet, extension, canonical, text.to_owned());
        }
    }
    sheet.set("/payload/reason", "/error/message", visible);
    sheet.link("/payload/reason", "/text");
}

/// Writes what stands in the way: by the code of the error, else by the kind.
fn write_blocker(sheet: &mut Sheet<'_>) {
    let message = sheet.message();
    let code = message.error.as_deref().and_then(|error| error.code.as_deref());
    match code.and_then(blocker_of_error) {
        Some(blocker) => sheet.set("/payload/blocker_type", "/error/code", blocker),
        None => sheet.invent("/payload/blocker_type", blocker_of_kind(message)),
    }
    if let Some(code) = code.filter(|code| blocker_of_error(code) != Some(code)) {
        extend(sheet, x::ERROR_CODE, "/error/code", code.to_owned());
    }
}

fn blocker_of_kind(message: &Message) -> &'static str {
    if matches!(message.kind, Kind::TaskFailed | Kind::ErrorReport) { "tool_failure" } else { "ambiguity" }
}

fn write_role(sheet: &mut Sheet<'_>) {
    let to = addresses(sheet.message(), sheet.names());
    match to.first().filter(|to| to.starts_with("roles.")) {
        Some(role) => sheet.set("/payload/role", "/to", role_of(role).to_owned()),
        None => sheet.invent("/payload/role", crate::view::ANY_ROLE),
    }
}

/// Writes whose work it is: the agent that the result names, else the sender.
fn write_agent(sheet: &mut Sheet<'_>) {
    let named = sheet.text("/result/agent").filter(|agent| is_slug(agent)).map(str::to_owned);
    match named {
        Some(agent) => sheet.set("/payload/agent", "/result/agent", agent),
        None => {
            let sender = agent_slug(sheet.names(), sheet.message().from.as_str());
            sheet.set("/payload/agent", "/from", sender);
        }
    }
}

fn write_speech(
    sheet: &mut Sheet<'_>,
    native: &str,
    text: Option<&str>,
    parts: &[String],
    words_max: Option<usize>,
) {
    let speech = speech(text, parts, words_max);
    let is_more_than_text = speech.is_more_than_text;
    sheet.set(native, "/text", speech.visible);
    if is_more_than_text && let Some(text) = text {
        extend(sheet, x::TEXT, "/text", text.to_owned());
    }
}

fn write_title(sheet: &mut Sheet<'_>) {
    if let Some(title) = sheet.message().title.clone() {
        extend(sheet, x::TITLE, "/title", title);
    }
}
