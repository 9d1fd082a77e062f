//! What the history should say, worked out from the log by brute force, without any of its code.

use std::collections::{BTreeMap, BTreeSet};

use broker::{Accepted, AgentKey, Broker, EntryKey, Event, GroupKey, Next, Target};
use json::Value;
use message::{Envelope, Kind, MessageId, Seq};

use super::world::World;
use crate::{Query, Scope};

/// Words as they are written in tests, and as they are searched for.
const NORMAL: [(&str, &str); 4] =
    [("Café", "cafe"), ("cafe\u{301}", "cafe"), ("東京都", "東 京 都"), ("naïve", "naive")];

/// What was held for which name.
type Held = BTreeMap<(Seq, EntryKey), (MessageId, String)>;

/// A message by brute force.
pub(super) struct Known {
    pub(super) seq: Seq,
    agents: BTreeSet<AgentKey>,
    groups: BTreeSet<String>,
    is_public: bool,
    thread: Option<String>,
    task: Option<String>,
    kind: Kind,
    /// The words of each string, with a blank before and behind each.
    lines: Vec<String>,
}

/// A part of a search: words side by side.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) is_unwanted: bool,
    pub(super) is_begin: bool,
    pub(super) written: Vec<String>,
}

pub(super) fn known(world: &World) -> Vec<Known> {
    let mut groups: BTreeMap<GroupKey, String> = BTreeMap::from([(GroupKey::ALL, "all".to_owned())]);
    let mut messages: BTreeMap<Seq, Known> = BTreeMap::new();
    // Whether something is still held for a name only the broker tells.
    let mut broker = broker::Broker::new(world.settings.clone());
    let mut held = Held::new();
    world.events(|seq, at, event| {
        for (message, agent) in released(&broker, &mut held, event) {
            messages.get_mut(&message).unwrap().agents.insert(agent);
        }
        broker.apply(seq, at, event, &mut broker::Effects::new()).unwrap();
        note(&mut messages, &mut groups, &mut held, seq, event);
    });
    messages.into_values().collect()
}

/// Returns the messages that were held for a name and go to whoever has it because of an event.
fn released(broker: &Broker, held: &mut Held, event: &Event<'_>) -> Vec<(Seq, AgentKey)> {
    let mut released = Vec::new();
    held.retain(|(seq, entry), (id, name)| {
        let is_held = || {
            let parts = broker.receipt(*id).unwrap_or_default();
            parts.iter().any(|part| part.agent.to_string() == *name && !part.stage.is_end())
        };
        let agent = if let Event::AgentSet { agent, name: own, aliases, .. } = event {
            let is_named = name == own || aliases.contains(&name.as_str());
            Some(*agent).filter(|_| is_named && is_held())
        } else if let Event::DeadRetried { of } = event {
            broker.agent(name).filter(|_| (of.seq, of.entry) == (*seq, *entry))
        } else {
            None
        };
        released.extend(agent.map(|agent| (*seq, agent)));
        agent.is_none()
    });
    released
}

fn note(
    messages: &mut BTreeMap<Seq, Known>,
    groups: &mut BTreeMap<GroupKey, String>,
    held: &mut Held,
    seq: Seq,
    event: &Event<'_>,
) {
    match event {
        Event::GroupMade { group, address } => drop(groups.insert(*group, address.to_string())),
        Event::Accepted(accepted) => {
            let mut known = Known::of(seq, accepted);
            for target in &accepted.targets {
                match target {
                    Target::Agent { agent, .. }
                    | Target::Instead { agent, .. }
                    | Target::Waiter { agent, .. } => {
                        known.agents.insert(*agent);
                    }
                    Target::Group { group, .. } => {
                        let address = groups[group].clone();
                        known.is_public |= !address.starts_with("roles.");
                        known.groups.insert(address);
                    }
                    Target::Held { entry, name } => {
                        held.insert((seq, *entry), (accepted.id, (*name).to_owned()));
                    }
                }
            }
            messages.insert(seq, known);
        }
        Event::Absorbed { agent, entries, .. } => {
            for of in entries {
                messages.get_mut(&of.seq).unwrap().agents.insert(*agent);
            }
        }
        Event::Dispatched { of, agent, .. } | Event::Acknowledged { of, agent, .. } => {
            messages.get_mut(&of.seq).unwrap().agents.insert(*agent);
        }
        Event::Failed(failed) => {
            if let Next::Fallback { agent, .. } = failed.next {
                messages.get_mut(&failed.of.seq).unwrap().agents.insert(agent);
            }
        }
        Event::Amended { seq, body, .. } => messages.get_mut(seq).unwrap().lines = lines(body),
        Event::AgentSet { .. }
        | Event::AgentRemoved { .. }
        | Event::Joined { .. }
        | Event::Left { .. }
        | Event::PresenceSet { .. }
        | Event::SessionOpened { .. }
        | Event::SessionClosed { .. }
        | Event::Restarted
        | Event::Graced { .. }
        | Event::Returned { .. }
        | Event::Surfaced { .. }
        | Event::Extended { .. }
        | Event::Released { .. }
        | Event::Expired { .. }
        | Event::Withdrawn { .. }
        | Event::Resumed { .. }
        | Event::DeadRetried { .. }
        | Event::DeadDropped { .. }
        | Event::WaitEnded { .. }
        | Event::Work(_)
        | Event::TaskCarried { .. }
        | Event::Carried { .. }
        | Event::Tuned(_)
        | Event::RecordSet(_)
        | Event::RecordRemoved { .. }
        | Event::RecordCarried { .. } => {}
    }
}

impl Known {
    fn of(seq: Seq, accepted: &Accepted<'_>) -> Self {
        Known {
            seq,
            agents: BTreeSet::from([accepted.from]),
            groups: BTreeSet::new(),
            is_public: false,
            thread: accepted.thread.map(str::to_owned),
            task: accepted.task.map(str::to_owned),
            kind: accepted.kind,
            lines: lines(&accepted.body),
        }
    }

    /// Tells whether a message is wanted and may be seen; the text is asked for in parts.
    pub(super) fn fits(&self, query: &Query, parts: &[Part]) -> bool {
        let is_visible = match query.scope {
            Scope::Everything => true,
            Scope::Agent(agent) => self.is_public || self.agents.contains(&agent),
        };
        is_visible
            && query.agent.is_none_or(|agent| self.agents.contains(&agent))
            && query.channel.as_ref().is_none_or(|address| self.groups.contains(address))
            && (query.thread.is_none() || query.thread == self.thread)
            && (query.task.is_none() || query.task == self.task)
            && query.kind.is_none_or(|kind| kind == self.kind)
            && query.after.is_none_or(|after| self.seq > after)
            && query.before.is_none_or(|before| self.seq < before)
            && parts.iter().all(|part| self.has(part) != part.is_unwanted)
    }

    fn has(&self, part: &Part) -> bool {
        let words = normal(&part.written.join(" "));
        let wanted = format!(" {}{}", words.trim(), if part.is_begin { "" } else { " " });
        self.lines.iter().any(|line| line.contains(&wanted))
    }
}

/// Writes parts as somebody would type them.
pub(super) fn typed(parts: &[Part]) -> String {
    let typed: Vec<String> = parts
        .iter()
        .map(|part| {
            let not = if part.is_unwanted { "-" } else { "" };
            let star = if part.is_begin { "*" } else { "" };
            match part.written.as_slice() {
                [word] => format!("{not}{word}{star}"),
                words => format!("{not}\"{}\"", words.join(" ")),
            }
        })
        .collect();
    typed.join(" ")
}

fn lines(body: &[u8]) -> Vec<String> {
    let document = Envelope::open(body).unwrap().document;
    let mut lines = Vec::new();
    match json::parse(document, json::Limits::DOCUMENT) {
        Ok(value) => collect(&value, &mut lines),
        Err(_) => lines.push(String::from_utf8(document.to_vec()).unwrap()),
    }
    lines.iter().map(|line| normal(line)).collect()
}

fn collect(value: &Value<'_>, lines: &mut Vec<String>) {
    if let Some(text) = value.as_str() {
        lines.push(text.to_owned());
    }
    value.as_array().into_iter().flatten().for_each(|item| collect(item, lines));
    for (key, member) in value.as_object().into_iter().flat_map(json::Object::iter) {
        let is_origin = key == "x_origin" || key == "document";
        if !is_origin {
            collect(member, lines);
        }
    }
}

fn normal(text: &str) -> String {
    let mut text = text.to_owned();
    for (written, normal) in NORMAL {
        text = text.replace(written, normal);
    }
    let words = text.to_lowercase();
    let words: Vec<&str> =
        words.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    format!(" {} ", words.join(" "))
}
