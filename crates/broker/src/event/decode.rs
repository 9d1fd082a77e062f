//! Events from bytes of the log. What is not an event is refused; nothing is guessed.

use std::borrow::Cow;

use message::{Backoff, Dialect, Guarantee, Kind, PresenceState, Priority, Seq};

use super::{Accepted, Event, Failed, Marks, Next, Of, Park, RecordSet, Target};
use crate::codec::{DecodeError, Reader};
use crate::session::Door;
use crate::work::{Fact, OfTask};
use crate::{AgentKey, Digest, EntryKey, Fingerprint, GroupKey, MessageKey, Retention, SessionKey, Time};

impl<'a> Event<'a> {
    /// Reads an event and its time; texts and bodies are borrowed from the bytes.
    pub fn decode(bytes: &'a [u8]) -> Result<(Time, Event<'a>), DecodeError> {
        let mut reader = Reader::new(bytes);
        let code = reader.byte()?;
        let at = reader.time()?;
        let event = match code {
            1..=10 | 28 => registry_event(code, &mut reader)?,
            11 => Event::Accepted(Box::new(accepted(&mut reader)?)),
            12..=19 | 24 | 25 => delivery_event(code, &mut reader)?,
            20..=23 | 26 | 27 => message_event(code, &mut reader)?,
            40..=42 => record_event(code, &mut reader)?,
            50 => Event::Work(Fact::read(&mut reader)?),
            51 => Event::TaskCarried { of: OfTask::read(&mut reader)?, body: reader.bytes()? },
            _ => return Err(unknown(code)),
        };
        reader.end()?;
        Ok((at, event))
    }
}

impl Event<'_> {
    /// Tells whether bytes of the log are an event by which a record is written or removed, without reading them.
    pub fn is_of_record(bytes: &[u8]) -> bool {
        matches!(bytes.first(), Some(40 | 41))
    }
}

impl Retention {
    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Retention {
            known_per_sender_max: reader.number()?,
            known_max: reader.number()?,
            known_ms: reader.number()?,
            content_ms: reader.number()?,
            settled_max: reader.number()?,
            dead_max: reader.number()?,
        })
    }
}

impl Of {
    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Of { entry: EntryKey(reader.short()?), seq: reader.seq()? })
    }
}

fn registry_event<'a>(code: u8, reader: &mut Reader<'a>) -> Result<Event<'a>, DecodeError> {
    Ok(match code {
        1 => {
            let agent = AgentKey(reader.short()?);
            let name = reader.text()?;
            let count = reader.count()?;
            let aliases = (0..count).map(|_| reader.text()).collect::<Result<_, _>>()?;
            let dialect = reader.word("dialect", Dialect::ALL)?;
            Event::AgentSet { agent, name, aliases, dialect, profile: reader.bytes()? }
        }
        2 => Event::AgentRemoved { agent: AgentKey(reader.short()?) },
        3 => Event::GroupMade { group: GroupKey(reader.short()?), address: Cow::Borrowed(reader.text()?) },
        4 => Event::Joined { agent: AgentKey(reader.short()?), group: GroupKey(reader.short()?) },
        5 => Event::Left { agent: AgentKey(reader.short()?), group: GroupKey(reader.short()?) },
        6 => Event::PresenceSet {
            agent: AgentKey(reader.short()?),
            state: reader.word("presence", PresenceState::ALL)?,
            detail: Cow::Borrowed(reader.bytes()?),
        },
        7 => Event::SessionOpened {
            session: SessionKey(reader.short()?),
            agent: AgentKey(reader.short()?),
            number: reader.short()?,
            door: reader.word("door", &Door::ALL)?,
        },
        8 => Event::SessionClosed { session: SessionKey(reader.short()?) },
        9 => Event::Restarted,
        10 => Event::Graced { until: reader.time()? },
        28 => Event::Tuned(Retention::read(reader)?),
        _ => return Err(unknown(code)),
    })
}

fn delivery_event<'a>(code: u8, reader: &mut Reader<'a>) -> Result<Event<'a>, DecodeError> {
    if code == 12 {
        let agent = AgentKey(reader.short()?);
        let group = GroupKey(reader.short()?);
        let upto = reader.number()?;
        let count = reader.count()?;
        let entries = (0..count).map(|_| Of::read(reader)).collect::<Result<_, _>>()?;
        return Ok(Event::Absorbed { agent, group, upto, entries });
    }
    let of = Of::read(reader)?;
    Ok(match code {
        13 => Event::Dispatched {
            of,
            agent: AgentKey(reader.short()?),
            session: session(reader)?,
            delivery: reader.delivery_id()?,
            lease_until: reader.time()?,
            by: reader.text()?,
        },
        14 => Event::Returned { of },
        15 => Event::Surfaced { of, by: reader.text()? },
        16 => Event::Acknowledged { of, agent: AgentKey(reader.short()?), by: reader.text()? },
        17 => Event::Failed(Failed { of, reason: reader.text()?, next: next(reader)? }),
        18 => Event::Extended { of, until: reader.time()? },
        19 => Event::Released { of },
        24 => Event::DeadRetried { of },
        25 => Event::DeadDropped { of },
        _ => return Err(unknown(code)),
    })
}

fn message_event<'a>(code: u8, reader: &mut Reader<'a>) -> Result<Event<'a>, DecodeError> {
    let message = MessageKey(reader.short()?);
    let seq = reader.seq()?;
    Ok(match code {
        20 => Event::Expired { message, seq },
        21 => Event::Withdrawn { message, seq },
        22 => Event::Amended { message, seq, body: reader.bytes()? },
        23 => Event::Resumed { message, seq },
        26 => Event::WaitEnded { message, seq },
        27 => Event::Carried { message, seq, body: reader.bytes()? },
        _ => return Err(unknown(code)),
    })
}

fn record_event<'a>(code: u8, reader: &mut Reader<'a>) -> Result<Event<'a>, DecodeError> {
    let repo = AgentKey(reader.short()?);
    let (collection, key) = (reader.text()?, reader.text()?);
    Ok(match code {
        40 => {
            let cid = reader.digest()?;
            let (tick, rev) = ticks(reader)?;
            Event::RecordSet(Box::new(RecordSet {
                repo,
                collection,
                key,
                cid,
                tick,
                rev,
                commit: reader.digest()?,
                is_new: reader.flag()?,
                message: if reader.flag()? { Some(reader.message_id()?) } else { None },
                blobs: blobs(reader)?,
                place: reader.maybe_number()?.map(Seq),
                bytes: reader.short()?,
                body: reader.bytes()?,
            }))
        }
        41 => {
            let (tick, rev) = ticks(reader)?;
            let commit = reader.digest()?;
            Event::RecordRemoved { repo, collection, key, tick, rev, commit, body: reader.seq()? }
        }
        42 => Event::RecordCarried { repo, collection, key, tick: reader.number()?, body: reader.bytes()? },
        _ => return Err(unknown(code)),
    })
}

/// Reads the tick of a write and that of the last one of its commit.
fn ticks(reader: &mut Reader<'_>) -> Result<(u64, u64), DecodeError> {
    let tick = reader.number()?;
    let rev = tick.checked_add(reader.number()?).ok_or(DecodeError::Number)?;
    Ok((tick, rev))
}

pub(crate) fn blobs(reader: &mut Reader<'_>) -> Result<Vec<Digest>, DecodeError> {
    let count = reader.count()?;
    (0..count).map(|_| reader.digest()).collect()
}

fn accepted<'a>(reader: &mut Reader<'a>) -> Result<Accepted<'a>, DecodeError> {
    let mut accepted = Accepted {
        message: MessageKey(reader.short()?),
        id: reader.message_id()?,
        from: AgentKey(reader.short()?),
        kind: reader.word("kind", Kind::ALL)?,
        priority: reader.word("priority", Priority::ALL)?,
        guarantee: reader.word("guarantee", Guarantee::ALL)?,
        native_id: reader.maybe_text()?,
        marks: Marks { key: Fingerprint::default(), task: 0 },
        fingerprint: reader.fingerprint()?,
        task: reader.maybe_text()?,
        thread: reader.maybe_text()?,
        reply_to: reader.maybe_text()?,
        expires: reader.time()?,
        timeout_ms: reader.maybe_number()?,
        retries: reader.short()?,
        backoff: reader.word("backoff", Backoff::ALL)?,
        fallback: fallback(reader)?,
        wait_until: reader.maybe_number()?.map(Time),
        live_only: reader.flag()?,
        parked: reader.word("park", Park::ALL)?,
        filed: reader.flag()?,
        hops: reader.byte()?,
        answers: if reader.flag()? { Some(Of::read(reader)?) } else { None },
        targets: targets(reader)?,
        body: Cow::Borrowed(reader.bytes()?),
    };
    accepted.marks = Marks::of(accepted.from, accepted.native_id, accepted.fingerprint, accepted.task);
    Ok(accepted)
}

fn fallback(reader: &mut Reader<'_>) -> Result<Vec<AgentKey>, DecodeError> {
    let count = reader.count()?;
    (0..count).map(|_| reader.short().map(AgentKey)).collect()
}

fn targets<'a>(reader: &mut Reader<'a>) -> Result<Vec<Target<'a>>, DecodeError> {
    let count = reader.count()?;
    (0..count).map(|_| target(reader)).collect()
}

fn target<'a>(reader: &mut Reader<'a>) -> Result<Target<'a>, DecodeError> {
    let code = reader.byte()?;
    let entry = EntryKey(reader.short()?);
    Ok(match code {
        0 => Target::Agent { entry, agent: AgentKey(reader.short()?), session: session(reader)? },
        1 => Target::Group { entry, group: GroupKey(reader.short()?) },
        2 => Target::Held { entry, name: reader.text()? },
        3 => Target::Instead { entry, agent: AgentKey(reader.short()?), name: reader.text()? },
        4 => Target::Waiter {
            entry,
            agent: AgentKey(reader.short()?),
            delivery: reader.delivery_id()?,
            until: reader.time()?,
        },
        _ => return Err(DecodeError::Unknown { what: "target", code: code.into() }),
    })
}

fn session(reader: &mut Reader<'_>) -> Result<Option<SessionKey>, DecodeError> {
    Ok(if reader.flag()? { Some(SessionKey(reader.short()?)) } else { None })
}

fn next(reader: &mut Reader<'_>) -> Result<Next, DecodeError> {
    Ok(match reader.byte()? {
        0 => Next::Again,
        1 => Next::Retry { at: reader.time()? },
        2 => Next::Fallback { entry: EntryKey(reader.short()?), agent: AgentKey(reader.short()?) },
        3 => Next::Dead,
        4 => Next::Expired,
        5 => Next::Unconfirmed,
        6 => Next::Withdrawn,
        code => return Err(DecodeError::Unknown { what: "consequence", code: code.into() }),
    })
}

fn unknown(code: u8) -> DecodeError {
    DecodeError::Unknown { what: "event", code: code.into() }
}
