//! What a message says about work, whatever its dialect: read once, before its content is let go.

use broker::{Blocker, HandoffReason, HelpAnswer, Micros, TaskIntent, share};
use json::{Number, Value};
use message::{GateDecision, Kind, Message, TaskStatus};

use crate::intake::time;

/// Bytes of a title or a reason that the broker is told.
const TEXT_BYTES_MAX: usize = 1_000;

/// Reads what a message wants of a task, if it can say anything about intent.
pub(crate) fn intent_of(message: &Message) -> Option<Box<TaskIntent>> {
    if !speaks_of_work(message.kind) {
        return None;
    }
    let mut intent = TaskIntent {
        title: message.title.as_deref().or(message.text.as_deref()).map(first_line),
        deadline: message.deadline.as_ref().map(|deadline| time(deadline.at())),
        status: message.status,
        urgency: message.severity,
        ..TaskIntent::default()
    };
    read_brief(&mut intent, message);
    if let Some(metrics) = &message.metrics {
        intent.cost = metrics.cost_usd.as_ref().and_then(|cost| Micros::parse(cost.lexeme()));
        intent.tokens = metrics.tokens.as_ref().and_then(whole);
    }
    if let Some(error) = &message.error {
        intent.reason = error.message.as_deref().map(short);
        intent.blocker = error.code.as_deref().and_then(blocker);
    }
    if let Some(gate) = &message.gate {
        intent.accepts = gate.decision.map(|decision| decision == GateDecision::Approved);
        intent.reason = gate.reason.as_deref().map(short).or(intent.reason);
    }
    if let Some(handoff) = &message.handoff {
        intent.handoff = handoff.reason.as_deref().and_then(HandoffReason::find);
    }
    if message.kind == Kind::HandoffReply {
        intent.accepts = Some(message.status != Some(TaskStatus::Rejected));
    }
    if message.kind == Kind::ReviewVerdict {
        intent.accepts = intent.accepts.or_else(|| verdict(message));
    }
    let asked = message.data.as_ref().and_then(|data| data.get("lease_ms"));
    intent.lease_ms = asked.and_then(Value::as_number).and_then(whole);
    intent.risk = risk(message);
    if intent.reason.is_none() && message.kind != Kind::TaskRequest {
        intent.reason = message.text.as_deref().map(short);
    }
    Some(Box::new(intent))
}

/// Reads what is to be done, and what limits it: figures are lines such as `budget_usd: 2.5`.
fn read_brief(intent: &mut TaskIntent, message: &Message) {
    let Some(brief) = message.brief.as_deref() else { return };
    intent.dependencies = brief.dependencies.iter().map(|task| task.as_str().into()).collect();
    for line in &brief.constraints {
        match line.split_once(": ") {
            Some(("required_capability", capability)) => intent.capabilities.push(capability.into()),
            Some(("budget_usd", figure)) => intent.budget = Micros::parse(figure),
            Some(("max_tokens", figure)) => intent.tokens_max = figure.parse().ok(),
            Some(("quality_threshold", figure)) => intent.quality = share_of(figure),
            Some(("risk", figure)) => intent.risk = share_of(figure),
            Some(_) | None => {}
        }
    }
    if message.kind == Kind::HelpReply {
        intent.answer = brief.task_type.as_deref().and_then(HelpAnswer::find);
    }
}

/// Tells whether a message of this kind says something about work.
pub(crate) fn speaks_of_work(kind: Kind) -> bool {
    match kind {
        Kind::TaskRequest
        | Kind::TaskClaim
        | Kind::TaskProgress
        | Kind::TaskDone
        | Kind::TaskFailed
        | Kind::TaskRejected
        | Kind::TaskBlocked
        | Kind::HelpAsk
        | Kind::HelpReply
        | Kind::HandoffOffer
        | Kind::HandoffReply
        | Kind::ReviewVerdict
        | Kind::Gate => true,
        Kind::Note
        | Kind::Announce
        | Kind::AgentStatus
        | Kind::AgentHeartbeat
        | Kind::ErrorReport
        | Kind::Question
        | Kind::StateSync
        | Kind::Report => false,
    }
}

/// Finds how risky a request says that it is: in its data, its brief, or the metadata of its context.
fn risk(message: &Message) -> Option<u32> {
    let brief = message.brief.as_deref();
    let places = [
        message.data.as_ref().and_then(|data| data.get("risk")),
        brief.and_then(|brief| brief.extra.get("risk")),
        brief.and_then(|brief| brief.context.as_ref()?.get("risk")),
        brief.and_then(|brief| brief.context.as_ref()?.pointer("/metadata/risk_score")),
        brief.and_then(|brief| brief.context.as_ref()?.get("risk_score")),
    ];
    let stated = places.into_iter().flatten().find_map(|value| value.as_number().and_then(share));
    stated.or_else(|| {
        let lines = brief.into_iter().flat_map(|brief| &brief.constraints);
        lines.filter_map(|line| line.strip_prefix("risk: ")).find_map(share_of)
    })
}

/// Finds whether a verdict is a yes or a no: in its status, else in the word with which it begins.
fn verdict(message: &Message) -> Option<bool> {
    match message.status {
        Some(TaskStatus::Done) => return Some(true),
        Some(TaskStatus::Rejected | TaskStatus::Failed) => return Some(false),
        Some(_) | None => {}
    }
    let stated = ["verdict", "decision", "status", "recommendation"].iter().find_map(|key| {
        message.data.as_ref().or(message.result.as_ref()).and_then(|data| data.get(key)?.as_str())
    });
    let text = stated.or(message.text.as_deref())?.trim_start_matches(['@', ' ', '*', '#']);
    let word: String =
        text.chars().take_while(|char| char.is_alphabetic() || "+-1".contains(*char)).collect();
    match word.to_ascii_lowercase().as_str() {
        "approve" | "approved" | "accept" | "accepted" | "pass" | "passed" | "lgtm" | "yes" | "+1" => {
            Some(true)
        }
        "reject" | "rejected" | "fail" | "failed" | "deny" | "denied" | "no" | "-1" => Some(false),
        _ => None,
    }
}

/// Finds the blocker that a code of an error means.
fn blocker(code: &str) -> Option<Blocker> {
    Blocker::find(code).or(match code {
        "TIMEOUT"
        | "NETWORK_ERROR"
        | "EXTERNAL_SERVICE_ERROR"
        | "INTERNAL_ERROR"
        | "AUTHENTICATION_ERROR" => Some(Blocker::ToolFailure),
        "VALIDATION_ERROR" => Some(Blocker::SpecGap),
        "RATE_LIMIT" | "RESOURCE_EXHAUSTED" => Some(Blocker::Resource),
        _ => None,
    })
}

fn share_of(text: &str) -> Option<u32> {
    let value = Micros::parse(text)?.0;
    u32::try_from(value).ok().filter(|share| *share <= 1_000_000)
}

fn whole(number: &Number<'_>) -> Option<u64> {
    number.lexeme().parse().ok()
}

fn first_line(text: &str) -> Box<str> {
    short(text.lines().next().unwrap_or_default())
}

fn short(text: &str) -> Box<str> {
    text[..text.floor_char_boundary(TEXT_BYTES_MAX)].into()
}
