//! A task as it is shown: what the state says of it, and what the log still has of what was said.

use broker::query::tasks::{NoteDetails, OfferDetails, TaskDetails};
use broker::{Event, Time};
use dialect::Name;
use json::{Limits, Value};
use message::{Envelope, Message, MessageId, Seq};
use smol_str::SmolStr;

use crate::{Answer, Hub, Principal, Problem, letters};

/// A task as it is shown.
pub struct TaskShown {
    /// What it is called.
    pub id: String,
    head: Answer,
    history: Vec<NoteDetails>,
    request: Option<(MessageId, Seq)>,
    outcome: Option<Seq>,
    may_read: bool,
}

/// Tells whether somebody may read what was said about a task: who asked, has, was asked or is offered it, and those
/// in the role that was asked.
pub fn may_read(task: &TaskDetails, principal: &Principal) -> bool {
    task.is_member || task.parties().any(|agent| principal.acts_as(agent))
}

impl TaskShown {
    /// Shows a task to somebody.
    pub fn new(task: TaskDetails, principal: &Principal) -> Self {
        TaskShown {
            id: task.id.to_string(),
            head: head(&task),
            request: task.request.zip(task.body),
            outcome: task.outcome,
            may_read: may_read(&task, principal),
            history: task.notes,
        }
    }

    /// Writes what the state says of it.
    pub fn brief(self) -> String {
        self.head.end()
    }

    /// Writes all of it: also its history, what asked for it in a language, and what came of it, where whoever asks
    /// may read that and the log still has it.
    pub async fn whole(self, hub: &Hub, dialect: Option<Name>) -> Result<String, Problem> {
        let said = self.history.iter().filter_map(|noted| noted.said).collect();
        let mut said = hub.node().records(said).await.into_iter();
        let history = self.history.iter().map(|noted| {
            let record = noted.said.and_then(|_| said.next()?.ok());
            event(noted, record.as_deref())
        });
        let mut answer = self.head.list("history", history.collect::<Vec<_>>());
        if !self.may_read {
            return Ok(answer.end());
        }
        answer = match self.request {
            Some((id, place)) => match hub.node().body(place).await {
                read if letters::is_gone(&read) => {
                    answer.value("document", &Value::Null).flag("document_gone", true)
                }
                read => {
                    let body = read.map_err(letters::unreadable)?;
                    let outgoing = letters::view(hub, (id, place), &body, dialect).await?;
                    answer.text("dialect", outgoing.dialect.name()).raw("document", &outgoing.text)
                }
            },
            None => answer.value("document", &Value::Null),
        };
        if let Some(place) = self.outcome
            && let Some(message) = outcome(hub, place).await
        {
            answer = ended(answer, &message);
        }
        Ok(answer.end())
    }
}

/// Reads the message by which a task ended, where the log still has it.
pub async fn outcome(hub: &Hub, place: Seq) -> Option<Message> {
    let body = hub.node().body(place).await.ok()?;
    let envelope = Envelope::open(&body)?;
    let value = json::parse(envelope.document, Limits::DOCUMENT).ok()?;
    let language = translate::dialect(envelope.dialect);
    hub.reading(|reading| language.decode(&value, reading.names)).ok().map(|decoded| decoded.message)
}

/// Adds what came of a task.
fn ended(mut answer: Answer, message: &Message) -> Answer {
    let value = message.to_value();
    let result = value.get("result").or_else(|| value.get("text"));
    let parts = [("result", result), ("error", value.get("error")), ("artifacts", value.get("attachments"))];
    for (key, part) in parts {
        if let Some(part) = part {
            answer = answer.value(key, part);
        }
    }
    answer
}

/// Writes a step, with the message that said so where the log still has it.
fn event(noted: &NoteDetails, record: Option<&[u8]>) -> String {
    let message = record.and_then(|record| match Event::decode(record) {
        Ok((_, Event::Accepted(accepted))) => Some(accepted.id.to_string()),
        Ok(_) | Err(_) => None,
    });
    let details = Answer::new().maybe("message", message.as_deref()).end();
    Answer::with_capacity(192)
        .text("timestamp", &noted.at.timestamp().to_string())
        .text("event_type", noted.step.name())
        .text("agent_id", &noted.by)
        .raw("details", &details)
        .end()
}

/// Writes what the state says of a task.
fn head(task: &TaskDetails) -> Answer {
    let holder = task.holder.as_ref().map_or(Value::Null, |holder| Value::from(holder.name.to_string()));
    let owned = |texts: &[SmolStr]| texts.iter().map(SmolStr::to_string).collect::<Vec<_>>();
    let answer = Answer::with_capacity(1_024)
        .text("id", &task.id)
        .text("title", &task.title)
        .text("status", task.status.name())
        .texts("waits_for", owned(&task.waits_for))
        .maybe("gate", task.gate.map(|gate| gate.to_string()).as_deref())
        .text("priority", task.priority.name())
        .text("requester", &task.requester.name)
        .value("holder", &holder)
        .texts("asked", task.asked.iter().map(|asked| asked.name.to_string()))
        .maybe("role", task.role.as_deref());
    let answer = times(answer, task)
        .number("version", task.version.into())
        .maybe("blocker", task.blocker.map(broker::Blocker::name))
        .maybe("reason", Some(&*task.reason).filter(|reason| !reason.is_empty()))
        .texts("dependencies", owned(&task.dependencies))
        .texts("capabilities", owned(&task.capabilities));
    let answer = costs(answer, task)
        .maybe("chain", task.chain.as_deref())
        .number("lapses", task.lapses.into())
        .maybe("request", task.request.map(|id| id.to_string()).as_deref());
    judged(answer, task)
}

fn times(answer: Answer, task: &TaskDetails) -> Answer {
    let written = |time: Option<Time>| time.map(|time| time.timestamp().to_string());
    answer
        .maybe("lease_until", written(task.lease_until).as_deref())
        .maybe("deadline", written(task.deadline).as_deref())
        .flag("late", task.is_late)
        .text("created", &task.created.timestamp().to_string())
        .text("updated", &task.updated.timestamp().to_string())
}

fn costs(mut answer: Answer, task: &TaskDetails) -> Answer {
    if let Some(budget) = task.budget {
        answer = answer.raw("budget_usd", &budget.to_string());
    }
    if let Some(tokens_max) = task.tokens_max {
        answer = answer.number("max_tokens", tokens_max);
    }
    answer
        .raw("reserved_usd", &task.reserved.to_string())
        .raw("cost_usd", &task.spent.to_string())
        .number("tokens", task.tokens)
}

/// Adds what others were offered, think and know of it.
fn judged(mut answer: Answer, task: &TaskDetails) -> Answer {
    if let Some(OfferDetails { to, until, reason, message }) = &task.offer {
        let offer = Answer::new()
            .text("to", &to.name)
            .text("until", &until.timestamp().to_string())
            .text("reason", reason.name())
            .text("message", &message.to_string());
        answer = answer.raw("offer", &offer.end());
    }
    let votes = task
        .votes
        .iter()
        .map(|(agent, approves)| Answer::new().text("agent", agent).flag("approve", *approves).end());
    answer = answer.list("votes", votes);
    if let Some(reviewed) = task.reviewed {
        answer = answer.flag("reviewed", reviewed);
    }
    // What was stored is JSON: it was read before.
    match std::str::from_utf8(&task.overlay) {
        Ok(overlay) if !overlay.is_empty() => answer.raw("metadata", overlay),
        Ok(_) | Err(_) => answer,
    }
}
