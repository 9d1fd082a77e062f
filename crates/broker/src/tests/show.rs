//! What came of a command, in words: the reply, what its events tell, and what the world is told.

pub(crate) mod work;

use message::{MessageId, RecipientReceipt, Timestamp};

use crate::tests::language::Stage;
use crate::tests::world::{Outcome, START_MS, living};
use crate::{
    Accepted, AgentKey, Broker, Change, ClaimOutcome, Committed, Delivery, Effect, EntryKey, Event, Failed,
    Holder, MessageKey, Next, Receipted, RecordName, Reply, Time, Tried, WaitingView,
};

pub(crate) fn outcome(stage: &Stage, outcome: &Outcome) -> Vec<String> {
    let mut told = match &outcome.reply {
        Ok(reply) => self::reply(stage, reply),
        Err(refusal) => vec![format!("refused: {}", labelled(stage, &refusal.to_string()))],
    };
    for bytes in &stage.world.log[outcome.from..] {
        let (_, event) = Event::decode(bytes).expect("what was written can be read");
        told.extend(self::event(stage, &event));
    }
    told.extend(outcome.effects.iter().filter_map(|effect| self::effect(stage, effect)));
    told
}

fn reply(stage: &Stage, reply: &Reply) -> Vec<String> {
    match reply {
        Reply::Done => vec!["done".to_owned()],
        Reply::Agent(agent) => vec![format!("agent {}", agent.0)],
        Reply::Session { number, .. } => vec![format!("connection {number}")],
        Reply::Accepted(receipted) => self::receipted(stage, receipted),
        Reply::Taken(deliveries) if deliveries.is_empty() => vec!["nothing".to_owned()],
        Reply::Taken(deliveries) => {
            deliveries.iter().map(|delivery| self::delivery(stage, delivery)).collect()
        }
        Reply::Stage(reached) => vec![reached.to_string()],
        Reply::Lease(until) => vec![format!("until {}", since_start(*until))],
        Reply::Claimed(outcome) => match &**outcome {
            ClaimOutcome::Claimed { task, receipted } => {
                let mut told = vec![format!("has {task}")];
                told.extend(self::receipted(stage, receipted));
                told
            }
            ClaimOutcome::Repeated { task: Some(task), .. } => vec![format!("has {task}, as before")],
            ClaimOutcome::Repeated { task: None, is_forgotten, .. } => {
                vec![if *is_forgotten { "forgotten" } else { "has it no more" }.to_owned()]
            }
            ClaimOutcome::NoTasks => vec!["no task".to_owned()],
            ClaimOutcome::NotInRole => vec!["not in that role".to_owned()],
            ClaimOutcome::UnknownTask => vec!["no such task".to_owned()],
        },
        Reply::Changed(Change { version, is_duplicate }) => {
            vec![format!("version {version}{}", if *is_duplicate { ", as before" } else { "" })]
        }
        Reply::Committed(Committed { head: Some(_), .. }) => vec!["done".to_owned()],
        Reply::Committed(Committed { head: None, keys }) => vec![format!("unchanged: {}", keys.join(" "))],
    }
}

fn receipted(stage: &Stage, receipted: &Receipted) -> Vec<String> {
    let mut line = if receipted.duplicate {
        format!("again {}", label(stage, receipted.id))
    } else {
        "accepted".to_owned()
    };
    if let Some(answer) = receipted.answer {
        line += &format!(", answered by {}", label(stage, answer));
    }
    if let Some(until) = receipted.wait_until {
        line += &format!(", waits until {}", since_start(until));
    }
    let warnings = receipted.warnings();
    let warnings = warnings.map(|warning| format!("warning {}: {}", warning.code, warning.message));
    let recipients = receipted.recipients.iter().map(recipient);
    std::iter::once(line).chain(warnings).chain(recipients).collect()
}

fn delivery(stage: &Stage, delivery: &Delivery) -> String {
    let Delivery { id, from, priority, attempt, lease_until, tried, .. } = delivery;
    let mut line = format!("{} from {}", label(stage, *id), stage.world.broker.name_of(*from));
    line += &format!(", {priority}, attempt {attempt}, until {}", since_start(*lease_until));
    line += &trail(tried);
    line
}

fn trail<'t>(tried: impl IntoIterator<Item = &'t Tried>) -> String {
    let each = |tried: &Tried| format!("; tried {} {} times: {}", tried.agent, tried.attempts, tried.reason);
    tried.into_iter().map(each).collect()
}

fn event(stage: &Stage, event: &Event<'_>) -> Option<String> {
    let broker = &stage.world.broker;
    match event {
        Event::Accepted(accepted) if accepted.from == AgentKey::SYSTEM => Some(notice(stage, accepted)),
        Event::Accepted(accepted) if accepted.parked != crate::Park::Nothing => Some("parked".to_owned()),
        Event::Failed(Failed { of, reason, next }) => {
            let next = match next {
                Next::Again => "again".to_owned(),
                Next::Retry { at } => format!("retry at {}", since_start(*at)),
                Next::Fallback { agent, .. } => format!("to {}", broker.name_of(*agent)),
                Next::Dead => "dead".to_owned(),
                Next::Expired => "expired".to_owned(),
                Next::Unconfirmed => "unconfirmed".to_owned(),
                Next::Withdrawn => "withdrawn".to_owned(),
            };
            Some(format!("{} failed, {reason}: {next}", named(stage, of.entry)))
        }
        Event::Expired { message, .. } => Some(format!("{} expired", of_message(stage, *message))),
        Event::GroupMade { address, .. } => Some(format!("{address} is made")),
        Event::Joined { agent, group } => {
            let group = broker.groups.get(*group).map_or("?", |group| &group.address);
            Some(format!("{} joins {group}", broker.name_of(*agent)))
        }
        Event::Left { agent, group } => {
            let group = broker.groups.get(*group).map_or("?", |group| &group.address);
            Some(format!("{} leaves {group}", broker.name_of(*agent)))
        }
        Event::Graced { until } => Some(format!("leases last until {} at least", since_start(*until))),
        Event::RecordSet(set) => {
            let (repo, word) = (broker.name_of(set.repo), if set.is_new { "is new" } else { "is changed" });
            Some(format!("{repo}/{}/{} {word}, {}", set.collection, set.key, since_tick(set.tick)))
        }
        Event::RecordRemoved { repo, collection, key, tick, .. } => {
            let repo = broker.name_of(*repo);
            Some(format!("{repo}/{collection}/{key} is gone, {}", since_tick(*tick)))
        }
        Event::Work(fact) => work::fact(stage, fact),
        Event::Released { of } => Some(format!("{} waits again", named(stage, of.entry))),
        Event::Accepted(_)
        | Event::AgentSet { .. }
        | Event::AgentRemoved { .. }
        | Event::PresenceSet { .. }
        | Event::SessionOpened { .. }
        | Event::SessionClosed { .. }
        | Event::Restarted
        | Event::Absorbed { .. }
        | Event::Dispatched { .. }
        | Event::Returned { .. }
        | Event::Surfaced { .. }
        | Event::Acknowledged { .. }
        | Event::Extended { .. }
        | Event::Withdrawn { .. }
        | Event::Amended { .. }
        | Event::Resumed { .. }
        | Event::DeadRetried { .. }
        | Event::DeadDropped { .. }
        | Event::WaitEnded { .. }
        | Event::Carried { .. }
        | Event::RecordCarried { .. }
        | Event::TaskCarried { .. }
        | Event::Tuned(_) => None,
    }
}

fn notice(stage: &Stage, accepted: &Accepted<'_>) -> String {
    let envelope = message::Envelope::open(&accepted.body).expect("a notice is in an envelope");
    let document =
        message::decode(envelope.document, json::Limits::DOCUMENT).expect("a notice is a message").message;
    let to: Vec<String> = document.to.iter().map(ToString::to_string).collect();
    let code = document.error.and_then(|error| error.code).map(|code| format!(" {code}")).unwrap_or_default();
    let text = labelled(stage, &document.text.unwrap_or_default());
    format!("notice{code} to {}: {text}", to.join(", "))
}

fn effect(stage: &Stage, effect: &Effect) -> Option<String> {
    match effect {
        Effect::Ready(_) => None,
        Effect::Answered { message, reply, .. } => {
            Some(format!("{} is answered by {}", label(stage, *message), label(stage, *reply)))
        }
        Effect::Unanswered { message, stage: reached } => {
            Some(format!("{} gets no answer, {reached}", label(stage, *message)))
        }
    }
}

pub(crate) fn receipt(stage: &Stage, id: MessageId) -> Vec<String> {
    let Some(recipients) = stage.world.broker.receipt(id) else { return vec!["forgotten".to_owned()] };
    if recipients.is_empty() {
        return vec!["no recipient".to_owned()];
    }
    recipients.iter().map(recipient).collect()
}

fn recipient(recipient: &RecipientReceipt) -> String {
    let steps = recipient.stages.iter().filter(|step| step.at != start() || step.by.is_some());
    let steps = steps.map(|step| {
        let by = step.by.as_ref().map(|by| format!(" by {by}")).unwrap_or_default();
        format!(", {} {}{by}", step.stage, (step.at.unix_micros() / 1_000) - START_MS as i64)
    });
    let mut line = format!("{} {}", recipient.agent, recipient.stage);
    line += &format!(", attempts {}, {}", recipient.attempts, recipient.reachability);
    line.extend(steps);
    line
}

pub(crate) fn inbox(stage: &Stage, agent: AgentKey) -> Vec<String> {
    waiting(stage, stage.world.broker.inbox(agent, Time(stage.world.wall), 5))
}

pub(crate) fn unread(stage: &Stage, agent: AgentKey) -> Vec<String> {
    waiting(stage, stage.world.broker.unread(agent, Time(stage.world.wall), 5))
}

fn waiting(stage: &Stage, (views, more): (Vec<WaitingView>, u64)) -> Vec<String> {
    let mut told: Vec<String> = views
        .iter()
        .map(|view| format!("{}, {}, {}", label(stage, view.id), view.priority, view.stage))
        .collect();
    told.push(format!("{more} more"));
    told
}

pub(crate) fn agent(stage: &Stage, name: &str) -> Vec<String> {
    let broker = &stage.world.broker;
    let Some(view) = broker.agent(name).and_then(|agent| broker.look_at(agent)) else {
        return vec!["unknown".to_owned()];
    };
    let presence = view.presence.map(|(state, _, _)| format!(", {state}")).unwrap_or_default();
    let groups = view.memberships.join(" ");
    vec![format!("{}{presence}, {}, {} waiting, in [{groups}]", view.name, view.reachability, view.waiting)]
}

pub(crate) fn dead(stage: &Stage) -> Vec<String> {
    let letters = stage.world.broker.dead_letters().map(|dead| {
        let at = since_start(dead.at);
        let label = label(stage, dead.id);
        let line = format!("{label} to {}: {} at {at}, {} attempts", dead.to, dead.stage, dead.attempts);
        format!("{line}, {}{}", dead.reason, trail(dead.tried))
    });
    let told: Vec<String> = letters.collect();
    if told.is_empty() { vec!["none".to_owned()] } else { told }
}

pub(crate) fn counts(broker: &Broker) -> Vec<String> {
    let counts = broker.counts();
    let figures =
        format!("{} messages with {} bytes, {} remembered", counts.messages, counts.bytes, counts.remembered);
    let rest = format!(
        "{} ids known, {} dead, {} out, {} waits",
        counts.known, counts.dead, counts.handed_out, counts.waits
    );
    vec![format!("{figures}, {rest}")]
}

/// Shows which bodies would have to be carried before the log could be trimmed.
pub(crate) fn carries(stage: &Stage) -> Vec<String> {
    let broker = &stage.world.broker;
    let bodies = living(broker, message::Seq(broker.last().0 + 1));
    let told: Vec<String> = bodies
        .iter()
        .map(|body| match &body.of {
            Holder::Message(message) => format!("{} at {}", of_message(stage, *message), body.place),
            Holder::Record(RecordName { repo, collection, key }) => {
                let repo = broker.name_of(*repo);
                format!("{repo}'s {collection}/{key} at {}", body.place)
            }
            Holder::Task(key) => {
                let task = broker.task_at(*key).map_or("?", |task| task.id);
                format!("task {} at {}", labelled(stage, task), body.place)
            }
        })
        .collect();
    if told.is_empty() { vec!["none".to_owned()] } else { told }
}

fn named(stage: &Stage, entry: EntryKey) -> String {
    let broker = &stage.world.broker;
    let Some(entry) = broker.entry(entry) else { return "what is forgotten".to_owned() };
    format!("{} for {}", of_message(stage, entry.message), broker.address_of(entry))
}

fn of_message(stage: &Stage, key: MessageKey) -> String {
    stage.world.broker.message(key).map_or("forgotten".to_owned(), |message| label(stage, message.id))
}

fn label(stage: &Stage, id: MessageId) -> String {
    let label = stage.labels.iter().find(|(_, known)| **known == id).map(|(label, _)| label.clone());
    label.unwrap_or_else(|| {
        let key = stage.world.broker.find(id);
        let from = key.and_then(|key| stage.world.broker.message(key)).map(|message| message.from);
        if from == Some(AgentKey::SYSTEM) { "a notice".to_owned() } else { "it".to_owned() }
    })
}

fn labelled(stage: &Stage, text: &str) -> String {
    stage.labels.iter().fold(text.to_owned(), |text, (label, id)| text.replace(&id.to_string(), label))
}

fn since_start(at: Time) -> String {
    if at == Time::NEVER { "never".to_owned() } else { (at.0 - START_MS).to_string() }
}

fn start() -> Timestamp {
    Time(START_MS).timestamp()
}

/// Lists what somebody keeps.
pub(crate) fn records(stage: &Stage, name: &str) -> Vec<String> {
    let (broker, repo) = (&stage.world.broker, stage.agent(name));
    let collections = broker.collections(repo);
    let lines = collections.flat_map(|collection| {
        broker.records(repo, collection, None, None).map(move |record| {
            let message =
                record.message.map(|id| format!(", message {}", label(stage, id))).unwrap_or_default();
            let blobs = if record.blobs.is_empty() { "" } else { ", with a blob" };
            format!("{collection}/{} at {}{message}{blobs}", record.key, record.body)
        })
    });
    lines.collect()
}

/// Says when a write was, in microseconds from the start.
fn since_tick(tick: u64) -> String {
    format!("tick {}", tick - START_MS * 1_000)
}
