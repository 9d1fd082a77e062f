//! One message of each kind, in the language of whoever sends it.

use dialect::{Name, Names};
use json::{Limits, Value};
use message::{Kind, Message};

/// What a message of a kind says besides who says it to whom.
fn says(kind: Kind) -> &'static str {
    match kind {
        Kind::Note => r#""text":"The parser is slow.""#,
        Kind::Announce => r#""title":"Freeze","text":"No merges today.","severity":"high""#,
        Kind::TaskRequest => {
            r#""task":"task-9","title":"The parser is reviewed.","text":"It reads wires.","deadline":"2030-01-01T00:00:00Z","brief":{"task_type":"code_review","criteria":["Tests pass"],"constraints":["No new dependencies"]}"#
        }
        Kind::TaskClaim => r#""task":"task-9","status":"claimed""#,
        Kind::TaskProgress => r#""task":"task-9","status":"running","text":"Half of it is read.""#,
        Kind::TaskDone => {
            r#""task":"task-9","status":"done","text":"It is reviewed.","result":{"issues":2},"metrics":{"duration_ms":1200,"tokens":300}"#
        }
        Kind::TaskFailed => {
            r#""task":"task-9","status":"failed","error":{"code":"TIMEOUT","message":"It took too long.","retryable":true}"#
        }
        Kind::TaskRejected => {
            r#""task":"task-9","status":"rejected","text":"Not mine.","error":{"code":"VALIDATION_ERROR","message":"Not mine."}"#
        }
        Kind::TaskBlocked => {
            r#""task":"task-9","status":"blocked","error":{"code":"spec_gap","message":"Which parser?","actions":["Ask Mindy"]}"#
        }
        Kind::HelpAsk => r#""task":"task-9","text":"Can somebody look at this?""#,
        Kind::HelpReply => r#""task":"task-9","text":"Try the other one.""#,
        Kind::HandoffOffer => {
            r#""task":"task-9","title":"The parser is handed over.","text":"I am out of time.","handoff":{"reason":"CAPACITY","state":{"line":12}}"#
        }
        Kind::HandoffReply => r#""task":"task-9","text":"I take it.","result":{"accepted":true}"#,
        Kind::AgentStatus | Kind::AgentHeartbeat => r#""presence":{"state":"busy","tasks":["task-9"]}"#,
        Kind::ErrorReport => {
            r#""severity":"high","text":"The disk is full.","error":{"code":"RESOURCE_EXHAUSTED","message":"The disk is full."}"#
        }
        Kind::ReviewVerdict => r#""task":"task-9","text":"Two issues.","result":{"verdict":"changes"}"#,
        Kind::Gate => {
            r#""task":"task-9","title":"Deploy?","text":"Ready to go.","gate":{"action_required":true}"#
        }
        Kind::Question => r#""text":"Which branch?""#,
        Kind::StateSync => r#""task":"task-9","data":{"entity":"task-9","changes":[]}"#,
        Kind::Report => r#""title":"Week 46","text":"All is well.","data":{"done":7}"#,
    }
}

/// Makes the message.
pub(crate) fn message(kind: Kind, id: &str, from: &str, to: &str) -> Message {
    let text = format!(
        r#"{{"convoke":1,"native_id":"{id}","kind":"{}","from":"{from}","to":["{to}"],"priority":"high","created":"2026-11-15T10:00:00Z",{}}}"#,
        kind.name(),
        // Each speaks of a task of its own: who has one is another story.
        says(kind).replace("task-9", &format!("task-{id}"))
    );
    message::from_value(parse(&text)).unwrap_or_else(|errors| panic!("{text}: {errors:?}")).message
}

/// Writes it in a language; nothing if that cannot say it.
pub(crate) fn written(message: &Message, dialect: Name, names: &Names) -> Option<String> {
    let document = Value::Object(translate::dialect(dialect).encode(message, names).document);
    let read = translate::dialect(dialect).decode(&document, names).ok()?;
    (read.message.kind == message.kind).then(|| document.to_json())
}

/// Returns by which word a document says what it is.
pub(crate) fn word(dialect: Name, document: &Value<'_>) -> String {
    let text = |key: &str| document.get(key).and_then(Value::as_str).unwrap_or("?").to_owned();
    match dialect {
        Name::Convoke => text("kind"),
        Name::Coord | Name::Channel => text("type"),
        Name::Bus => text("message_type"),
        Name::Comms => text("$type").rsplit('.').next().unwrap_or("?").to_owned(),
        Name::Wire => {
            let inner = document.get("payload").and_then(|payload| payload.get("message_type")?.as_str());
            inner.map_or_else(|| text("type"), str::to_owned)
        }
    }
}

pub(crate) fn parse(text: &str) -> Value<'static> {
    json::parse_str(text, Limits::DOCUMENT).unwrap_or_else(|error| panic!("{error}: {text}")).into_owned()
}
