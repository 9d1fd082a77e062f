//! Events as bytes of the log: a code, the time, the fields in their order.

use message::{Backoff, Dialect, Guarantee, Kind, PresenceState, Priority};

use super::{Accepted, Event, Failed, Next, Of, Park, RecordSet, Target};
use crate::codec::Writer;
use crate::session::Door;
use crate::{Retention, Time};

impl Event<'_> {
    /// Appends the event and its time to a buffer.
    pub fn encode(&self, at: Time, out: &mut Vec<u8>) {
        let mut writer = Writer { out };
        writer.byte(self.code());
        writer.time(at);
        self.fields(&mut writer);
    }

    /// The code of each event; a code is never given to another one.
    fn code(&self) -> u8 {
        match self {
            Event::AgentSet { .. } => 1,
            Event::AgentRemoved { .. } => 2,
            Event::GroupMade { .. } => 3,
            Event::Joined { .. } => 4,
            Event::Left { .. } => 5,
            Event::PresenceSet { .. } => 6,
            Event::SessionOpened { .. } => 7,
            Event::SessionClosed { .. } => 8,
            Event::Restarted => 9,
            Event::Graced { .. } => 10,
            Event::Accepted(_) => 11,
            Event::Absorbed { .. } => 12,
            Event::Dispatched { .. } => 13,
            Event::Returned { .. } => 14,
            Event::Surfaced { .. } => 15,
            Event::Acknowledged { .. } => 16,
            Event::Failed(_) => 17,
            Event::Extended { .. } => 18,
            Event::Released { .. } => 19,
            Event::Expired { .. } => 20,
            Event::Withdrawn { .. } => 21,
            Event::Amended { .. } => 22,
            Event::Resumed { .. } => 23,
            Event::DeadRetried { .. } => 24,
            Event::DeadDropped { .. } => 25,
            Event::WaitEnded { .. } => 26,
            Event::Carried { .. } => 27,
            Event::Tuned(_) => 28,
            Event::RecordSet(_) => 40,
            Event::RecordRemoved { .. } => 41,
            Event::RecordCarried { .. } => 42,
            Event::Work(_) => 50,
            Event::TaskCarried { .. } => 51,
        }
    }

    fn fields(&self, writer: &mut Writer<'_>) {
        match self {
            Event::Restarted => {}
            Event::AgentSet { agent, name, aliases, dialect, profile } => {
                writer.number(agent.0.into());
                writer.text(name);
                writer.count(aliases.len());
                aliases.iter().for_each(|alias| writer.text(alias));
                writer.word(Dialect::ALL, *dialect);
                writer.bytes(profile);
            }
            Event::AgentRemoved { agent } => writer.number(agent.0.into()),
            Event::GroupMade { group, address } => {
                writer.number(group.0.into());
                writer.text(address);
            }
            Event::Joined { agent, group } | Event::Left { agent, group } => {
                writer.number(agent.0.into());
                writer.number(group.0.into());
            }
            Event::PresenceSet { agent, state, detail } => {
                writer.number(agent.0.into());
                writer.word(PresenceState::ALL, *state);
                writer.bytes(detail);
            }
            Event::SessionOpened { session, agent, number, door } => {
                writer.number(session.0.into());
                writer.number(agent.0.into());
                writer.number((*number).into());
                writer.word(&Door::ALL, *door);
            }
            Event::SessionClosed { session } => writer.number(session.0.into()),
            Event::Graced { until } => writer.time(*until),
            Event::Tuned(retention) => retention.write(writer),
            Event::Accepted(accepted) => accepted.write(writer),
            Event::Work(fact) => fact.write(writer),
            Event::TaskCarried { of, body } => {
                of.write(writer);
                writer.bytes(body);
            }
            Event::RecordSet(_) | Event::RecordRemoved { .. } | Event::RecordCarried { .. } => {
                self.record_fields(writer);
            }
            Event::Expired { .. }
            | Event::Withdrawn { .. }
            | Event::Amended { .. }
            | Event::Resumed { .. }
            | Event::WaitEnded { .. }
            | Event::Carried { .. } => self.message_fields(writer),
            Event::Absorbed { .. }
            | Event::Dispatched { .. }
            | Event::Returned { .. }
            | Event::Surfaced { .. }
            | Event::Acknowledged { .. }
            | Event::Failed(_)
            | Event::Extended { .. }
            | Event::Released { .. }
            | Event::DeadRetried { .. }
            | Event::DeadDropped { .. } => self.delivery_fields(writer),
        }
    }

    fn record_fields(&self, writer: &mut Writer<'_>) {
        if let Event::RecordSet(set) = self {
            set.write(writer);
        }
        let (Event::RecordRemoved { repo, collection, key, tick, .. }
        | Event::RecordCarried { repo, collection, key, tick, .. }) = self
        else {
            return;
        };
        writer.number(repo.0.into());
        writer.text(collection);
        writer.text(key);
        writer.number(*tick);
        if let Event::RecordRemoved { tick, rev, commit, body, .. } = self {
            writer.number(rev.saturating_sub(*tick));
            writer.digest(*commit);
            writer.seq(*body);
        }
        if let Event::RecordCarried { body, .. } = self {
            writer.bytes(body);
        }
    }

    fn message_fields(&self, writer: &mut Writer<'_>) {
        let (Event::Expired { message, seq }
        | Event::Withdrawn { message, seq }
        | Event::Amended { message, seq, .. }
        | Event::Resumed { message, seq }
        | Event::WaitEnded { message, seq }
        | Event::Carried { message, seq, .. }) = self
        else {
            return;
        };
        writer.number(message.0.into());
        writer.seq(*seq);
        if let Event::Amended { body, .. } | Event::Carried { body, .. } = self {
            writer.bytes(body);
        }
    }

    fn delivery_fields(&self, writer: &mut Writer<'_>) {
        if let Event::Absorbed { agent, group, upto, entries } = self {
            writer.number(agent.0.into());
            writer.number(group.0.into());
            writer.number(*upto);
            writer.count(entries.len());
            entries.iter().for_each(|of| of.write(writer));
        }
        if let Event::Failed(failed) = self {
            failed.write(writer);
        }
        if let Event::Returned { of }
        | Event::Released { of }
        | Event::DeadRetried { of }
        | Event::DeadDropped { of }
        | Event::Dispatched { of, .. }
        | Event::Surfaced { of, .. }
        | Event::Acknowledged { of, .. }
        | Event::Extended { of, .. } = self
        {
            of.write(writer);
        }
        if let Event::Dispatched { agent, session, delivery, lease_until, by, .. } = self {
            writer.number(agent.0.into());
            writer.maybe_number(session.map(|session| session.0.into()));
            writer.delivery_id(*delivery);
            writer.time(*lease_until);
            writer.text(by);
        }
        if let Event::Acknowledged { agent, by, .. } = self {
            writer.number(agent.0.into());
            writer.text(by);
        }
        if let Event::Surfaced { by, .. } = self {
            writer.text(by);
        }
        if let Event::Extended { until, .. } = self {
            writer.time(*until);
        }
    }
}

impl Of {
    pub(crate) fn write(self, writer: &mut Writer<'_>) {
        writer.number(self.entry.0.into());
        writer.seq(self.seq);
    }
}

impl Accepted<'_> {
    fn write(&self, writer: &mut Writer<'_>) {
        writer.number(self.message.0.into());
        writer.message_id(self.id);
        writer.number(self.from.0.into());
        writer.word(Kind::ALL, self.kind);
        writer.word(Priority::ALL, self.priority);
        writer.word(Guarantee::ALL, self.guarantee);
        writer.maybe_text(self.native_id);
        writer.fingerprint(self.fingerprint);
        writer.maybe_text(self.task);
        writer.maybe_text(self.thread);
        writer.maybe_text(self.reply_to);
        writer.time(self.expires);
        writer.maybe_number(self.timeout_ms);
        writer.number(self.retries.into());
        writer.word(Backoff::ALL, self.backoff);
        writer.count(self.fallback.len());
        self.fallback.iter().for_each(|agent| writer.number(agent.0.into()));
        writer.maybe_number(self.wait_until.map(|until| until.0));
        writer.flag(self.live_only);
        writer.word(Park::ALL, self.parked);
        writer.flag(self.filed);
        writer.byte(self.hops);
        writer.flag(self.answers.is_some());
        if let Some(of) = self.answers {
            of.write(writer);
        }
        writer.count(self.targets.len());
        self.targets.iter().for_each(|target| target.write(writer));
        writer.bytes(&self.body);
    }
}

impl RecordSet<'_> {
    fn write(&self, writer: &mut Writer<'_>) {
        writer.number(self.repo.0.into());
        writer.text(self.collection);
        writer.text(self.key);
        writer.digest(self.cid);
        writer.number(self.tick);
        writer.number(self.rev.saturating_sub(self.tick));
        writer.digest(self.commit);
        writer.flag(self.is_new);
        writer.flag(self.message.is_some());
        if let Some(message) = self.message {
            writer.message_id(message);
        }
        writer.count(self.blobs.len());
        self.blobs.iter().for_each(|blob| writer.digest(*blob));
        writer.maybe_number(self.place.map(|place| place.0));
        writer.number(self.bytes.into());
        writer.bytes(self.body);
    }
}

impl Target<'_> {
    fn write(&self, writer: &mut Writer<'_>) {
        match self {
            Target::Agent { entry, agent, session } => {
                writer.byte(0);
                writer.number(entry.0.into());
                writer.number(agent.0.into());
                writer.maybe_number(session.map(|session| session.0.into()));
            }
            Target::Group { entry, group } => {
                writer.byte(1);
                writer.number(entry.0.into());
                writer.number(group.0.into());
            }
            Target::Held { entry, name } => {
                writer.byte(2);
                writer.number(entry.0.into());
                writer.text(name);
            }
            Target::Instead { entry, agent, name } => {
                writer.byte(3);
                writer.number(entry.0.into());
                writer.number(agent.0.into());
                writer.text(name);
            }
            Target::Waiter { entry, agent, delivery, until } => {
                writer.byte(4);
                writer.number(entry.0.into());
                writer.number(agent.0.into());
                writer.delivery_id(*delivery);
                writer.time(*until);
            }
        }
    }
}

impl Failed<'_> {
    fn write(&self, writer: &mut Writer<'_>) {
        self.of.write(writer);
        writer.text(self.reason);
        match self.next {
            Next::Again => writer.byte(0),
            Next::Retry { at } => {
                writer.byte(1);
                writer.time(at);
            }
            Next::Fallback { entry, agent } => {
                writer.byte(2);
                writer.number(entry.0.into());
                writer.number(agent.0.into());
            }
            Next::Dead => writer.byte(3),
            Next::Expired => writer.byte(4),
            Next::Unconfirmed => writer.byte(5),
            Next::Withdrawn => writer.byte(6),
        }
    }
}

impl Retention {
    pub(crate) fn write(&self, writer: &mut Writer<'_>) {
        let Retention { known_per_sender_max, known_max, known_ms, content_ms, settled_max, dead_max } =
            *self;
        for value in [known_per_sender_max, known_max, known_ms, content_ms, settled_max, dead_max] {
            writer.number(value);
        }
    }
}
