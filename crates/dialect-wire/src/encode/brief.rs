//! Writing briefs.

use std::borrow::Cow;

use dialect::{Sheet, Strictness};
use json::{Findings, Object, Path, Value};
use message::{Attachment, Brief, Message};

use super::{extend, write_task};
use crate::extensions as x;
use crate::interfaces::OUTPUT_CONTRACT;
use crate::lenses;
use crate::prose::{first_sentence, goal};
use crate::rules::CONTEXT_WORDS_MAX;
use crate::speech::{brief_parts, common_parts, shown, speech, state_parts};

/// Whose work it is if nobody says it.
const CLIENT: &str = "convoke";

pub(super) fn brief(sheet: &mut Sheet<'_>) {
    let goal = write_goal(sheet);
    write_context(sheet);
    sheet.write(lenses::BRIEF);
    if !sheet.has("/payload/acceptance_criteria") {
        sheet.invent("/payload/acceptance_criteria", Value::Array(vec![Value::from(goal)]));
    }
    write_output(sheet);
    sheet.invent("/payload/env/client_id", CLIENT);
    write_task(sheet, "/payload/env/task_id");
}

/// Writes the goal: the title as a statement, else what can be said of the work.
fn write_goal(sheet: &mut Sheet<'_>) -> String {
    let message = sheet.message();
    if let Some(title) = message.title.as_deref()
        && let Some(goal) = goal(title)
    {
        if goal != title {
            extend(sheet, x::TITLE, "/title", title.to_owned());
        }
        sheet.set("/payload/goal", "/title", goal.clone());
        return goal;
    }
    let goal = made_goal(message);
    sheet.invent("/payload/goal", goal.clone());
    goal
}

fn made_goal(message: &Message) -> String {
    if let Some(task_type) = message.brief.as_ref().and_then(|brief| brief.task_type.as_deref())
        && let Some(goal) = goal(&format!("{}{} is complete.", sentence_case(task_type), subject(message)))
    {
        return goal;
    }
    let said = message.text.as_deref().map(first_sentence);
    said.and_then(|said| goal(&said)).unwrap_or_else(|| "The requested work is done.".to_owned())
}

/// Says on what the work is done.
fn subject(message: &Message) -> String {
    let uris: Vec<&str> =
        message.attachments.iter().take(3).map(|attachment: &Attachment| attachment.uri.as_str()).collect();
    if uris.is_empty() { String::new() } else { format!(" of {}", uris.join(", ")) }
}

fn sentence_case(task_type: &str) -> String {
    let spaced = task_type.replace(['_', '-'], " ");
    let mut letters = spaced.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// Writes the context: the text, then what else one must know.
fn write_context(sheet: &mut Sheet<'_>) {
    let message = sheet.message();
    let brief = message.brief.as_deref();
    let background = brief.and_then(|brief| brief.context.as_ref());
    // A text is cut by its words below, and no sooner.
    let background = background.map(|value| value.as_str().map_or_else(|| shown(value), Cow::Borrowed));
    let background = background.unwrap_or_default();
    let text = message.text.as_deref().unwrap_or_default();
    let mut parts = Vec::new();
    // A context that holds the text was read from a wire, and is the whole of it.
    let first = if background.contains(text) { background.as_ref() } else { text };
    if first == text && !background.is_empty() {
        parts.push(background.to_string());
    }
    if let Some(brief) = brief {
        parts.extend(brief_parts(brief, is_output_contract(brief)));
    }
    parts.extend(state_parts(message));
    parts.extend(common_parts(message, 0));
    let speech = speech(Some(first), &parts, Some(CONTEXT_WORDS_MAX));
    if speech.visible.is_empty() {
        return;
    }
    let holds_text = !text.is_empty() && speech.visible != text && speech.visible.contains(text);
    sheet.set("/payload/context", "/brief/context", speech.visible);
    sheet.link("/payload/context", "/text");
    if holds_text {
        extend(sheet, x::TEXT, "/text", text.to_owned());
    }
}

fn write_output(sheet: &mut Sheet<'_>) {
    let brief = sheet.message().brief.as_deref();
    let output = brief.filter(|brief| is_output_contract(brief)).and_then(|brief| brief.output.clone());
    match output {
        Some(output) => sheet.set("/payload/output_contract", "/brief/output", output),
        None => {
            let members: Object<'static> = [
                ("type", Value::from("report")),
                ("schema_ref", Value::Null),
                ("output_ref_required", Value::from(false)),
                ("min_length", Value::integer(0)),
                ("evaluate", Value::Null),
            ]
            .into_iter()
            .collect();
            sheet.invent("/payload/output_contract", members);
        }
    }
}

/// Tells whether the output of a brief is an output contract of wires.
fn is_output_contract(brief: &Brief) -> bool {
    brief.output.as_ref().and_then(Value::as_object).is_some_and(|output| {
        let (mut errors, mut warnings) = (Findings::new(1), Findings::new(1));
        OUTPUT_CONTRACT.check(output, &Path::ROOT, Strictness::Strict, &mut errors, &mut warnings);
        errors.is_empty()
    })
}
