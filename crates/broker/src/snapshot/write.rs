//! Writing the state.

use message::{Backoff, Dialect, Guarantee, Kind, PresenceState, Priority};

use super::VERSION;
use crate::broker::Broker;
use crate::codec::Writer;
use crate::entry::{End, Entry, Extra, Ladder, Life, Message, State, Step};
use crate::group::Group;
use crate::mailbox::Mailbox;
use crate::records::{Record, Records};
use crate::registry::Agent;
use crate::session::Door;
use crate::work::Works;

impl Broker {
    /// Appends the state to a buffer.
    pub fn snapshot(&self, out: &mut Vec<u8>) {
        let mut writer = Writer { out };
        writer.number(VERSION);
        writer.seq(self.last);
        writer.time(self.time);
        writer.number(self.orders);
        self.retention.write(&mut writer);
        writer.count(self.agents.len());
        self.agents.iter().for_each(|(_, agent)| agent.write(&mut writer));
        writer.count(self.groups.len());
        self.groups.iter().for_each(|(_, group)| group.write(&mut writer));
        writer.count(self.sessions.len());
        for (key, session) in self.sessions.iter() {
            writer.number(key.into());
            writer.number(session.agent.0.into());
            writer.number(session.number.into());
            writer.word(&Door::ALL, session.door);
        }
        writer.count(self.messages.len());
        for (key, message) in self.messages.iter() {
            writer.number(key.into());
            message.write(&mut writer);
            let entries: Vec<_> = self.entries_of(crate::MessageKey(key)).collect();
            writer.count(entries.len());
            // The oldest first, so that linking them again gives the same chain.
            for (key, entry) in entries.into_iter().rev() {
                writer.number(key.0.into());
                entry.write(&mut writer);
            }
        }
        self.known.write(&mut writer);
        self.turns.write(&mut writer);
        writer.count(self.settled.len());
        self.settled.iter().for_each(|message| writer.number(message.0.into()));
        writer.count(self.held.len());
        for (name, entries) in &self.held {
            writer.text(name);
            writer.count(entries.len());
            entries.iter().for_each(|entry| writer.number(entry.0.into()));
        }
        self.records.write(&mut writer);
        self.work_held().write(&mut writer);
    }

    fn work_held(&self) -> &Works {
        #[cfg(feature = "plants")]
        if self.has_plant(crate::plant::Plant::ForgetWork) {
            static NOTHING: std::sync::LazyLock<Works> = std::sync::LazyLock::new(Works::default);
            return &NOTHING;
        }
        &self.work
    }
}

impl Records {
    fn write(&self, writer: &mut Writer<'_>) {
        writer.number(self.tick);
        writer.count(self.repos.len());
        for (agent, repo) in &self.repos {
            writer.number(agent.0.into());
            writer.number(repo.rev);
            writer.digest(repo.commit);
            writer.count(repo.collections.len());
            for (collection, records) in &repo.collections {
                writer.text(collection);
                writer.count(records.len());
                for (key, record) in records {
                    writer.text(key);
                    record.write(writer);
                }
            }
        }
    }
}

impl Record {
    fn write(&self, writer: &mut Writer<'_>) {
        writer.digest(self.cid);
        writer.number(self.tick);
        writer.seq(self.body);
        writer.number(self.bytes.into());
        writer.flag(self.message.is_some());
        if let Some(message) = self.message {
            writer.message_id(message);
        }
        writer.count(self.blobs.len());
        self.blobs.iter().for_each(|blob| writer.digest(*blob));
    }
}

impl Agent {
    fn write(&self, writer: &mut Writer<'_>) {
        writer.text(&self.name);
        writer.count(self.aliases.len());
        self.aliases.iter().for_each(|alias| writer.text(alias));
        writer.word(Dialect::ALL, self.dialect);
        writer.bytes(&self.profile);
        writer.flag(self.is_gone);
        writer.flag(self.presence.is_some());
        if let Some(presence) = &self.presence {
            writer.word(PresenceState::ALL, presence.state);
            writer.time(presence.at);
            writer.bytes(&presence.detail);
        }
        writer.count(self.groups.len());
        self.groups.iter().for_each(|group| writer.number(group.0.into()));
        writer.count(self.sessions.len());
        self.sessions.iter().for_each(|session| writer.number(session.0.into()));
        writer.number(self.picked.into());
    }
}

impl Group {
    fn write(&self, writer: &mut Writer<'_>) {
        writer.text(&self.address);
        writer.count(self.members.len());
        for (agent, cursor) in &self.members {
            writer.number(agent.0.into());
            writer.number(*cursor);
        }
        writer.number(self.posts.start());
        writer.number(self.posts.len());
        for (_, post) in self.posts.iter() {
            writer.maybe_number(post.entry.map(|entry| entry.0.into()));
            writer.number(post.order);
            writer.number(post.pending.into());
        }
    }
}

impl Message {
    fn write(&self, writer: &mut Writer<'_>) {
        writer.message_id(self.id);
        writer.seq(self.seq);
        writer.seq(self.body);
        writer.time(self.expires);
        writer.number(self.task);
        writer.number(self.from.0.into());
        writer.number(self.bytes.into());
        writer.word(Kind::ALL, self.kind);
        writer.word(Priority::ALL, self.priority);
        writer.word(Guarantee::ALL, self.guarantee);
        writer.word(Backoff::ALL, self.backoff);
        writer.byte(self.retries);
        writer.byte(self.hops);
        writer.word(&Life::ALL, self.life);
        writer.flag(self.several);
        writer.flag(self.extra.is_some());
        if let Some(extra) = &self.extra {
            extra.write(writer);
        }
    }
}

impl Extra {
    fn write(&self, writer: &mut Writer<'_>) {
        writer.count(self.fallback.len());
        self.fallback.iter().for_each(|agent| writer.number(agent.0.into()));
        writer.count(self.tried.len());
        for (entry, tried) in &self.tried {
            writer.number(entry.0.into());
            writer.text(&tried.agent);
            writer.number(tried.attempts.into());
            writer.text(&tried.reason);
        }
        writer.number(self.timeout_ms);
        writer.time(self.offered);
        writer.maybe_number(self.wait_until.map(|until| until.0));
        writer.flag(self.wait_failed);
        writer.flag(self.answer.is_some());
        if let Some(answer) = self.answer {
            writer.message_id(answer);
        }
        writer.count(self.awaited.len());
        for (entry, name) in &self.awaited {
            writer.number(entry.0.into());
            writer.text(name);
        }
        writer.number(self.conversation);
    }
}

impl Entry {
    fn write(&self, writer: &mut Writer<'_>) {
        match self.mailbox {
            Mailbox::Agent(agent) => {
                writer.byte(0);
                writer.number(agent.0.into());
            }
            Mailbox::Session(session) => {
                writer.byte(1);
                writer.number(session.0.into());
            }
            Mailbox::Group(group) => {
                writer.byte(2);
                writer.number(group.0.into());
            }
            Mailbox::Nobody => writer.byte(3),
        }
        writer.number(self.order);
        writer.time(self.until);
        writer.byte(self.attempts);
        writer.byte(self.losses);
        writer.byte(self.state.code());
        // Whether it is in a lane; one that was written straight to its waiter is not.
        writer.flag(self.lane != crate::entry::NONE);
        writer.flag(self.ladder.is_some());
        if let Some(ladder) = &self.ladder {
            ladder.write(writer);
        }
    }
}

impl Ladder {
    fn write(&self, writer: &mut Writer<'_>) {
        writer.flag(self.delivery.is_some());
        if let Some(delivery) = self.delivery {
            writer.delivery_id(delivery);
        }
        writer.maybe_number(self.agent.map(|agent| agent.0.into()));
        writer.maybe_number(self.session.map(|session| session.0.into()));
        for step in [&self.dispatched, &self.surfaced, &self.ended, &self.answered] {
            writer.flag(step.is_some());
            if let Some(Step { at, by }) = step {
                writer.time(*at);
                writer.text(by);
            }
        }
    }
}

impl State {
    fn code(self) -> u8 {
        match self {
            State::Waiting => 0,
            State::Pausing => 1,
            State::Flight => 2,
            State::Stray => 3,
            State::Held => 4,
            State::Parked => 5,
            State::Post => 6,
            State::Dead(end) => 16 + end.code(),
            State::Done(end) => 32 + end.code(),
        }
    }
}

impl End {
    fn code(self) -> u8 {
        match self {
            End::Acknowledged => 0,
            End::Dead => 1,
            End::Expired => 2,
            End::Withdrawn => 3,
            End::Unconfirmed => 4,
            End::Moved => 5,
            End::Shared => 6,
        }
    }
}
