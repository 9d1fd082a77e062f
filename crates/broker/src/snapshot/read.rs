//! Reading the state, and making again what follows from it.

use message::{Backoff, Dialect, Guarantee, Kind, PresenceState, Priority};

use super::{VERSION, WITHOUT_WORK};
use crate::broker::Broker;
use crate::codec::{DecodeError, Reader};
use crate::context::message_of;
use crate::entry::{End, Entry, Extra, Ladder, Life, Message, NONE, State, Step};
use crate::event::blobs;
use crate::group::Post;
use crate::known::Known;
use crate::mailbox::Mailbox;
use crate::records::{Record, Records, Repo};
use crate::registry::{Agent, Agents, PresenceNote};
use crate::ring::Ring;
use crate::session::{Door, Session};
use crate::timers::Timed;
use crate::turns::Turns;
use crate::work::Works;
use crate::work::recent::Recent;
use crate::{AgentKey, EntryKey, GroupKey, MessageKey, Retention, SessionKey, Settings, Time, Tried};

/// The order of an entry that is not over, the entry, and whether it was in a lane.
type Linked = (u64, EntryKey, bool);

impl Broker {
    /// Makes the state that was written.
    pub fn restore(settings: Settings, bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(bytes);
        let version = reader.number()?;
        if version != VERSION && version != WITHOUT_WORK {
            return Err(DecodeError::Unknown { what: "version of a snapshot", code: version });
        }
        let mut broker = Broker::new(settings);
        broker.last = reader.seq()?;
        broker.time = reader.time()?;
        broker.orders = reader.number()?;
        broker.retention = Retention::read(&mut reader)?;
        broker.agents = agents(&mut reader)?;
        broker.read_groups(&mut reader)?;
        for _ in 0..reader.count()? {
            let key = reader.short()?;
            let session =
                Session::new(AgentKey(reader.short()?), reader.short()?, reader.word("door", &Door::ALL)?);
            broker
                .sessions
                .put(key, session)
                .map_err(|_| DecodeError::Contradiction { what: "a connection" })?;
        }
        let entries = broker.read_messages(&mut reader)?;
        broker.known = Known::read(&mut reader)?;
        broker.turns = Turns::read(&mut reader)?;
        for _ in 0..reader.count()? {
            broker.settled.push_back(MessageKey(reader.short()?));
        }
        for _ in 0..reader.count()? {
            let name = reader.text()?.into();
            let count = reader.count()?;
            let entries = (0..count).map(|_| reader.short().map(EntryKey)).collect::<Result<_, _>>()?;
            broker.held.insert(name, entries);
        }
        broker.records = records(&mut reader)?;
        if version != WITHOUT_WORK {
            broker.work = Works::read(&mut reader)?;
        }
        broker.work.recent = Recent::since(broker.last);
        reader.end()?;
        broker.rebuild(entries);
        Ok(broker)
    }

    fn read_groups(&mut self, reader: &mut Reader<'_>) -> Result<(), DecodeError> {
        for place in 0..reader.count()? {
            let address = reader.text()?;
            // Everyone is there from the start.
            let key = if place == 0 { GroupKey::ALL } else { self.groups.add(address) };
            let Some(group) = self.groups.get_mut(key) else { continue };
            for _ in 0..reader.count()? {
                group.members.insert(AgentKey(reader.short()?), reader.number()?);
            }
            group.posts = Ring::starting_at(reader.number()?);
            for _ in 0..reader.count()? {
                let entry = if reader.flag()? { Some(EntryKey(reader.short()?)) } else { None };
                group.posts.push(Post { entry, order: reader.number()?, pending: reader.short()? });
            }
            if group.posts.len() > self.settings.limits.queue_max {
                self.crowded.insert(key);
            }
        }
        Ok(())
    }

    fn read_messages(&mut self, reader: &mut Reader<'_>) -> Result<Vec<Linked>, DecodeError> {
        let mut entries = Vec::new();
        let mut expiries = Vec::new();
        let count = reader.count()?;
        for _ in 0..count {
            let key = MessageKey(reader.short()?);
            let mut message = message(reader)?;
            for _ in 0..reader.count()? {
                let entry_key = EntryKey(reader.short()?);
                let (mut entry, is_linked) = entry(reader, key)?;
                entry.sibling = std::mem::replace(&mut message.first, entry_key.0);
                if entry.state.is_open() {
                    message.open += 1;
                    entries.push((entry.order, entry_key, is_linked));
                }
                let put = self.entries.put(entry_key.0, entry);
                put.map_err(|_| DecodeError::Contradiction { what: "an entry" })?;
            }
            let expires = message.expires;
            if self.restore_message(key, message)? {
                expiries.push((expires, key));
            }
        }
        self.timers.restore_expiries(expiries);
        Ok(entries)
    }

    /// Puts a message back; tells whether it is open.
    fn restore_message(&mut self, key: MessageKey, mut message: Message) -> Result<bool, DecodeError> {
        if message_of(message.id) != key {
            return Err(DecodeError::Contradiction { what: "an id" });
        }
        let waits =
            message.extra.as_ref().and_then(|extra| extra.wait_until).map(|until| (message.from, until));
        if let Some((from, until)) = waits {
            message.open += 1;
            self.waits.insert((from, key));
            self.timers.set(until, Timed::Wait(key));
        }
        let is_open = message.open > 0;
        if is_open {
            self.open_messages += 1;
            self.open_bytes += u64::from(message.bytes);
        }
        self.messages.put(key.0, message).map_err(|_| DecodeError::Contradiction { what: "a message" })?;
        Ok(is_open)
    }

    /// Makes again what follows from the entries.
    fn rebuild(&mut self, mut entries: Vec<Linked>) {
        // They come nearly in order, which this sort makes use of.
        entries.sort();
        let mut effects = Vec::new();
        for (_, key, is_linked) in entries {
            let Some(entry) = self.entries.get_mut(key.0) else { continue };
            let (state, until) = (entry.state, entry.until);
            let session = entry.ladder.as_ref().and_then(|ladder| ladder.session);
            self.timers.set(until, Timed::Entry(key));
            if let Some(session) = session.and_then(|session| self.sessions.get_mut(session.0)) {
                session.out.insert(key);
            }
            if state == State::Stray {
                self.strays.insert(key);
            }
            self.put_back(key, state, is_linked, &mut effects);
            effects.clear();
        }
    }
}

fn records(reader: &mut Reader<'_>) -> Result<Records, DecodeError> {
    let mut all = Records { tick: reader.number()?, ..Records::default() };
    for _ in 0..reader.count()? {
        let agent = AgentKey(reader.short()?);
        let mut repo = Repo { rev: reader.number()?, commit: reader.digest()?, ..Repo::default() };
        for _ in 0..reader.count()? {
            let collection = reader.text()?;
            for _ in 0..reader.count()? {
                let key = reader.text()?;
                repo.put(collection, key, record(reader)?);
            }
        }
        all.count += repo.collections.values().map(|records| records.len() as u64).sum::<u64>();
        all.repos.insert(agent, repo);
    }
    Ok(all)
}

fn record(reader: &mut Reader<'_>) -> Result<Record, DecodeError> {
    Ok(Record {
        cid: reader.digest()?,
        tick: reader.number()?,
        body: reader.seq()?,
        bytes: reader.short()?,
        message: if reader.flag()? { Some(reader.message_id()?) } else { None },
        blobs: blobs(reader)?.into(),
    })
}

fn agents(reader: &mut Reader<'_>) -> Result<Agents, DecodeError> {
    let mut agents = Agents::default();
    for _ in 0..reader.count()? {
        let mut agent = Agent::new(reader.text()?);
        for _ in 0..reader.count()? {
            agent.aliases.push(reader.text()?.into());
        }
        agent.dialect = reader.word("dialect", Dialect::ALL)?;
        agent.profile = reader.bytes()?.into();
        agent.is_gone = reader.flag()?;
        if reader.flag()? {
            let state = reader.word("presence", PresenceState::ALL)?;
            let at = reader.time()?;
            agent.presence = Some(Box::new(PresenceNote { state, at, detail: reader.bytes()?.into() }));
        }
        for _ in 0..reader.count()? {
            agent.groups.push(GroupKey(reader.short()?));
        }
        for _ in 0..reader.count()? {
            agent.sessions.push(SessionKey(reader.short()?));
        }
        agent.picked = reader.short()?;
        agents.add(agent);
    }
    Ok(agents)
}

fn message(reader: &mut Reader<'_>) -> Result<Message, DecodeError> {
    Ok(Message {
        id: reader.message_id()?,
        seq: reader.seq()?,
        body: reader.seq()?,
        expires: reader.time()?,
        task: reader.number()?,
        from: AgentKey(reader.short()?),
        bytes: reader.short()?,
        first: NONE,
        open: 0,
        kind: reader.word("kind", Kind::ALL)?,
        priority: reader.word("priority", Priority::ALL)?,
        guarantee: reader.word("guarantee", Guarantee::ALL)?,
        backoff: reader.word("backoff", Backoff::ALL)?,
        retries: reader.byte()?,
        hops: reader.byte()?,
        life: reader.word("life", &Life::ALL)?,
        several: reader.flag()?,
        extra: if reader.flag()? { Some(Box::new(extra(reader)?)) } else { None },
    })
}

fn extra(reader: &mut Reader<'_>) -> Result<Extra, DecodeError> {
    let count = reader.count()?;
    let fallback = (0..count).map(|_| reader.short().map(AgentKey)).collect::<Result<_, _>>()?;
    let mut tried = Vec::new();
    for _ in 0..reader.count()? {
        let entry = EntryKey(reader.short()?);
        let agent = reader.text()?.into();
        tried.push((entry, Tried { agent, attempts: reader.short()?, reason: reader.text()?.into() }));
    }
    let timeout_ms = reader.number()?;
    let offered = reader.time()?;
    let wait_until = reader.maybe_number()?.map(Time);
    let wait_failed = reader.flag()?;
    let answer = if reader.flag()? { Some(reader.message_id()?) } else { None };
    let mut awaited = Vec::new();
    for _ in 0..reader.count()? {
        awaited.push((EntryKey(reader.short()?), reader.text()?.into()));
    }
    let conversation = reader.number()?;
    Ok(Extra { fallback, tried, timeout_ms, offered, wait_until, wait_failed, answer, awaited, conversation })
}

fn entry(reader: &mut Reader<'_>, message: MessageKey) -> Result<(Entry, bool), DecodeError> {
    let mailbox = match reader.byte()? {
        0 => Mailbox::Agent(AgentKey(reader.short()?)),
        1 => Mailbox::Session(SessionKey(reader.short()?)),
        2 => Mailbox::Group(GroupKey(reader.short()?)),
        3 => Mailbox::Nobody,
        code => return Err(DecodeError::Unknown { what: "mailbox", code: code.into() }),
    };
    let order = reader.number()?;
    let until = reader.time()?;
    let attempts = reader.byte()?;
    let losses = reader.byte()?;
    let state = state(reader.byte()?)?;
    let is_linked = reader.flag()?;
    let ladder = if reader.flag()? { Some(Box::new(ladder(reader)?)) } else { None };
    let entry = Entry { order, until, attempts, losses, ladder, ..Entry::new(message, mailbox, state) };
    Ok((entry, is_linked))
}

fn ladder(reader: &mut Reader<'_>) -> Result<Ladder, DecodeError> {
    Ok(Ladder {
        delivery: if reader.flag()? { Some(reader.delivery_id()?) } else { None },
        agent: if reader.flag()? { Some(AgentKey(reader.short()?)) } else { None },
        session: if reader.flag()? { Some(SessionKey(reader.short()?)) } else { None },
        dispatched: step(reader)?,
        surfaced: step(reader)?,
        ended: step(reader)?,
        answered: step(reader)?,
    })
}

fn step(reader: &mut Reader<'_>) -> Result<Option<Step>, DecodeError> {
    Ok(if reader.flag()? { Some(Step { at: reader.time()?, by: reader.text()?.into() }) } else { None })
}

fn state(code: u8) -> Result<State, DecodeError> {
    Ok(match code {
        0 => State::Waiting,
        1 => State::Pausing,
        2 => State::Flight,
        3 => State::Stray,
        4 => State::Held,
        5 => State::Parked,
        6 => State::Post,
        16..=31 => State::Dead(end(code - 16)?),
        32..=47 => State::Done(end(code - 32)?),
        _ => return Err(DecodeError::Unknown { what: "state", code: code.into() }),
    })
}

fn end(code: u8) -> Result<End, DecodeError> {
    Ok(match code {
        0 => End::Acknowledged,
        1 => End::Dead,
        2 => End::Expired,
        3 => End::Withdrawn,
        4 => End::Unconfirmed,
        5 => End::Moved,
        6 => End::Shared,
        _ => return Err(DecodeError::Unknown { what: "end", code: code.into() }),
    })
}
