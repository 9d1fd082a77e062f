//! Notices: what the bus itself tells a sender or a recipient. They are messages like any other, from `system`.

use std::borrow::Cow;

use json::{Object, Value};
use message::{
    Address, AgentName, AgentRef, Backoff, Dialect, Envelope, Failure, Guarantee, Kind, Message as Document,
    Priority, Reference,
};

use crate::accept;
use crate::broker::Broker;
use crate::entry::{End, Entry, State};
use crate::mailbox::Mailbox;
use crate::{
    Accepted, AgentKey, Context, EntryKey, Event, Failed, Fingerprint, Marks, MessageKey, Next, Park, Target,
    Time, Tried,
};

impl Broker {
    /// Tells a sender that its message ended without reaching somebody, where the bus had promised to try.
    pub(crate) fn notice_of_death<'a>(
        &self,
        cx: &mut Context<'_>,
        message: MessageKey,
        entries: &[EntryKey],
        reason: &str,
        next: Next,
    ) -> Option<Event<'a>> {
        #[cfg(feature = "plants")]
        if self.has_plant(crate::plant::Plant::NoNotice) {
            return None;
        }
        let dead = self.message(message).filter(|message| !message.is_wanted_once())?;
        self.agent_at(dead.from).ok().filter(|_| dead.from != AgentKey::SYSTEM)?;
        let recipients: Vec<String> =
            entries.iter().filter_map(|key| self.entry(*key)).map(|entry| self.address_of(entry)).collect();
        let recipients = recipients.join(", ");
        let code = if next == Next::Expired { "EXPIRED" } else { "UNDELIVERABLE" };
        let mut document = self.document(Kind::ErrorReport, dead.from);
        let tried: Vec<&Tried> = entries.iter().flat_map(|entry| dead.tried(*entry)).collect();
        let trail: String =
            tried.iter().map(|tried| format!("{} ({}), ", tried.agent, tried.reason)).collect();
        let whom = if trail.is_empty() {
            format!("{recipients}: {reason}")
        } else {
            format!("{trail}{recipients} ({reason})")
        };
        document.text = Some(format!("your message {} did not reach {whom}", dead.id));
        document.reply_to = reference(dead.id);
        let mut failure = Failure::default();
        failure.code = Some(code.to_owned());
        failure.message = Some(format!("{recipients}: {reason}"));
        failure.retryable = Some(next == Next::Expired);
        document.error = Some(Box::new(failure));
        let data: Object<'static> = [
            ("tried", Value::Array(tried.into_iter().map(tried_value).collect())),
            ("message", Value::from(dead.id.to_string())),
            ("recipients", Value::from(recipients)),
            ("reason", Value::from(reason.to_owned())),
        ]
        .into_iter()
        .collect();
        document.data = Some(Value::Object(data));
        // A fallback may be put into a place at the same time; the notice takes the next ones.
        let mut places = self.entries.vacant().map(EntryKey);
        let entry = places.next()?;
        let target = Target::Agent { entry, agent: dead.from, session: None };
        Some(self.notice(cx, &document, vec![target]))
    }

    /// Tells those who have had a message that its sender changed its mind.
    pub(crate) fn notice_of_change<'a>(
        &self,
        cx: &mut Context<'_>,
        message: MessageKey,
        change: &'static str,
    ) -> Option<Event<'a>> {
        let changed = self.message(message)?;
        let has_had = |entry: &Entry| match entry.state {
            State::Flight | State::Stray | State::Done(End::Acknowledged | End::Unconfirmed) => true,
            State::Waiting
            | State::Pausing
            | State::Held
            | State::Parked
            | State::Post
            | State::Dead(_)
            | State::Done(_) => false,
        };
        let mut agents: Vec<AgentKey> = self
            .entries_of(message)
            .filter(|(_, entry)| has_had(entry))
            .filter_map(|(_, entry)| self.holder_of(entry))
            .filter(|agent| self.agent_at(*agent).is_ok())
            .collect();
        agents.sort_unstable();
        agents.dedup();
        let first = *agents.first()?;
        let mut document = self.document(Kind::Note, first);
        document.to = agents.iter().filter_map(|agent| self.name_of(*agent).parse().ok()).collect();
        let sender = self.name_of(changed.from);
        document.text = Some(format!("{sender} has {change} message {}", changed.id));
        document.reply_to = reference(changed.id);
        let data: Object<'static> = [(change, Value::from(changed.id.to_string()))].into_iter().collect();
        document.data = Some(Value::Object(data));
        let places = self.entries.vacant().map(EntryKey);
        let targets = agents.iter().zip(places).map(|(agent, entry)| Target::Agent {
            entry,
            agent: *agent,
            session: None,
        });
        Some(self.notice(cx, &document, targets.collect()))
    }

    pub(crate) fn document(&self, kind: Kind, to: AgentKey) -> Document {
        let system: AgentName = "system".parse().expect("`system` is a name");
        let to: Option<Address> = self.name_of(to).parse().ok();
        Document::new(kind, AgentRef::Name(system), to.into_iter().collect())
    }

    fn notice<'a>(&self, cx: &mut Context<'_>, document: &Document, targets: Vec<Target<'a>>) -> Event<'a> {
        self.notice_after(cx, document, targets, &[], Priority::High)
    }

    /// Returns places for entries that no event before takes.
    pub(crate) fn entries_after(&self, before: &[Event<'_>]) -> impl Iterator<Item = EntryKey> + '_ {
        let mut taken: Vec<EntryKey> = Vec::new();
        for event in before {
            if let Event::Accepted(accepted) = event {
                taken.extend(accepted.targets.iter().map(accept::entry_of));
            }
            if let Event::Failed(Failed { next: Next::Fallback { entry, .. }, .. }) = event {
                taken.push(*entry);
            }
        }
        self.entries.vacant().map(EntryKey).filter(move |entry| !taken.contains(entry))
    }

    /// Makes a notice that comes after other events.
    pub(crate) fn notice_after<'a>(
        &self,
        cx: &mut Context<'_>,
        document: &Document,
        targets: Vec<Target<'a>>,
        before: &[Event<'_>],
        priority: Priority,
    ) -> Event<'a> {
        let taken = before.iter().filter(|event| matches!(event, Event::Accepted(_))).count();
        let message = MessageKey(self.messages.vacant().nth(taken).unwrap_or(u32::MAX));
        let id = cx.message_id(message);
        let body = Envelope::seal(Dialect::Convoke, None, document.encode().as_bytes());
        // A notice is nobody's repeat, whatever it says.
        let fingerprint = Fingerprint(id.to_bytes());
        Event::Accepted(Box::new(Accepted {
            message,
            id,
            from: AgentKey::SYSTEM,
            kind: document.kind,
            priority,
            guarantee: Guarantee::AtLeastOnce,
            native_id: None,
            marks: Marks::of(AgentKey::SYSTEM, None, fingerprint, None),
            fingerprint,
            task: None,
            thread: None,
            reply_to: None,
            expires: Time::NEVER,
            timeout_ms: None,
            retries: self.settings.retries.retries.min(accept::RETRIES_MAX),
            backoff: Backoff::Exponential,
            fallback: Vec::new(),
            wait_until: None,
            live_only: false,
            parked: Park::Nothing,
            filed: false,
            hops: 0,
            answers: None,
            targets,
            body: Cow::Owned(body),
        }))
    }

    /// Returns the name for which an entry is or was held.
    pub(crate) fn awaited_name(&self, entry: &Entry) -> Option<&str> {
        let extra = self.message(entry.message)?.extra.as_deref()?;
        let is_it = |key: &EntryKey| self.entry(*key).is_some_and(|other| other.order == entry.order);
        extra.awaited.iter().find(|(key, _)| is_it(key)).map(|(_, name)| &**name)
    }

    /// Returns the address to which an entry goes.
    pub(crate) fn address_of(&self, entry: &Entry) -> String {
        match entry.mailbox {
            Mailbox::Agent(agent) => self.name_of(agent).to_owned(),
            Mailbox::Session(session) => self
                .sessions
                .get(session.0)
                .map(|session| format!("{}#{}", self.name_of(session.agent), session.number))
                .unwrap_or_default(),
            Mailbox::Group(group) => {
                self.groups.get(group).map(|group| group.address.to_string()).unwrap_or_default()
            }
            Mailbox::Nobody => self.awaited_name(entry).unwrap_or("?").to_owned(),
        }
    }
}

fn tried_value(tried: &Tried) -> Value<'static> {
    let members: Object<'static> = [
        ("agent", Value::from(tried.agent.to_string())),
        ("attempts", Value::from(u64::from(tried.attempts))),
        ("reason", Value::from(tried.reason.to_string())),
    ]
    .into_iter()
    .collect();
    Value::Object(members)
}

fn reference(id: message::MessageId) -> Option<Reference> {
    id.to_string().parse().ok()
}
