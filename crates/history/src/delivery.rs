//! What became of a message with one recipient: the same ladder that the broker keeps while it remembers it.

use broker::{AgentKey, EntryKey, GroupKey, SessionKey, Time};
use message::Stage;

/// A message on its way to one recipient.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Delivery {
    pub(crate) entry: EntryKey,
    /// Its place among the deliveries of its message.
    pub(crate) place: i64,
    pub(crate) mailbox: Mailbox,
    pub(crate) state: State,
    /// Who was handed it last, or settled it.
    pub(crate) holder: Option<AgentKey>,
    pub(crate) attempts: u32,
    /// The number of a post in its topic or channel.
    pub(crate) number: u64,
    /// The place among the dead letters, while it is one.
    pub(crate) died: Option<i64>,
    pub(crate) ladder: Ladder,
    /// Whether it differs from what the tables have.
    pub(crate) is_dirty: bool,
    /// The stage as the tables count it.
    pub(crate) counted: Option<Stage>,
}

/// Where a delivery waits or waited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Mailbox {
    Agent(AgentKey),
    Session(AgentKey, SessionKey),
    Group(GroupKey),
    /// For a name that nobody had.
    Name(Box<str>),
}

/// Where a delivery is on its way. Whether it pauses or waits for a human is of no interest afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Waiting,
    Held,
    /// It stands in a topic or channel; a post that every member has passed stays so here.
    Post,
    Out,
    /// A dead letter.
    Dead(End),
    Done(End),
}

/// How a delivery ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Acknowledged,
    Dead,
    Expired,
    Withdrawn,
    Unconfirmed,
    /// Somebody else has it.
    Moved,
}

/// When each stage was reached, and by whose hand or why.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ladder {
    pub(crate) dispatched: Option<Step>,
    pub(crate) surfaced: Option<Step>,
    pub(crate) ended: Option<Step>,
    pub(crate) answered: Option<Step>,
}

/// When something happened, and by whose hand or why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) at: Time,
    pub(crate) by: Box<str>,
}

impl Delivery {
    pub(crate) fn new(entry: EntryKey, place: i64, mailbox: Mailbox, state: State) -> Self {
        Delivery {
            entry,
            place,
            mailbox,
            state,
            holder: None,
            attempts: 0,
            number: 0,
            died: None,
            ladder: Ladder::default(),
            is_dirty: true,
            counted: None,
        }
    }

    /// Returns the agent that has it, or for which it waits.
    pub(crate) fn recipient(&self) -> Option<AgentKey> {
        self.holder.or(match self.mailbox {
            Mailbox::Agent(agent) | Mailbox::Session(agent, _) => Some(agent),
            Mailbox::Group(_) | Mailbox::Name(_) => None,
        })
    }

    /// Returns how far it has come.
    pub(crate) fn stage(&self) -> Stage {
        match self.state {
            State::Dead(end) | State::Done(end) => match end {
                End::Acknowledged if self.ladder.answered.is_some() => Stage::Answered,
                End::Acknowledged => Stage::Acknowledged,
                End::Dead | End::Moved => Stage::Dead,
                End::Expired => Stage::Expired,
                End::Withdrawn => Stage::Withdrawn,
                End::Unconfirmed => Stage::Unconfirmed,
            },
            State::Out if self.ladder.surfaced.is_some() => Stage::Surfaced,
            State::Out => Stage::Dispatched,
            State::Waiting | State::Held | State::Post => Stage::Stored,
        }
    }

    /// Returns the stage if receipts show this delivery: others speak for a post and for what has moved.
    pub(crate) fn shown_stage(&self) -> Option<Stage> {
        match self.state {
            State::Post | State::Done(End::Moved) => None,
            State::Waiting | State::Held | State::Out | State::Dead(_) | State::Done(_) => Some(self.stage()),
        }
    }

    /// Ends it, for a reason or by somebody.
    pub(crate) fn end(&mut self, end: End, by: &str, at: Time) {
        self.ladder.ended = Some(Step::new(at, by));
        self.state = State::Done(end);
    }
}

impl Step {
    pub(crate) fn new(at: Time, by: &str) -> Self {
        Step { at, by: by.into() }
    }
}

impl State {
    /// Tells whether it has not been handed out and may still be.
    pub(crate) fn may_still_leave(self) -> bool {
        matches!(self, State::Waiting | State::Held | State::Post)
    }

    /// Tells whether it has brought the message or still may.
    pub(crate) fn is_a_way(self) -> bool {
        match self {
            State::Waiting | State::Out => true,
            State::Done(end) => matches!(end, End::Acknowledged | End::Unconfirmed),
            State::Held | State::Post | State::Dead(_) => false,
        }
    }

    /// Returns the number that stands for it in the table.
    pub(crate) fn code(self) -> i64 {
        match self {
            State::Waiting => 0,
            State::Held => 1,
            State::Post => 2,
            State::Out => 3,
            State::Dead(end) => 10 + end.code(),
            State::Done(end) => 20 + end.code(),
        }
    }

    /// Finds what a number stands for.
    pub(crate) fn from_code(code: i64) -> Option<Self> {
        Some(match code {
            0 => State::Waiting,
            1 => State::Held,
            2 => State::Post,
            3 => State::Out,
            10..=19 => State::Dead(End::from_code(code - 10)?),
            20..=29 => State::Done(End::from_code(code - 20)?),
            _ => return None,
        })
    }
}

impl End {
    const ALL: [End; 6] =
        [End::Acknowledged, End::Dead, End::Expired, End::Withdrawn, End::Unconfirmed, End::Moved];

    fn code(self) -> i64 {
        self as i64
    }

    fn from_code(code: i64) -> Option<Self> {
        usize::try_from(code).ok().and_then(|code| End::ALL.get(code)).copied()
    }
}

impl Ladder {
    /// Returns the steps as bytes; nothing if there are none.
    pub(crate) fn encode(&self) -> Option<Vec<u8>> {
        let steps = [&self.dispatched, &self.surfaced, &self.ended, &self.answered];
        let mut bytes = Vec::new();
        for (tag, step) in (0_u8..).zip(steps) {
            let Some(step) = step else { continue };
            bytes.push(tag);
            put_number(&mut bytes, step.at.0);
            put_number(&mut bytes, step.by.len() as u64);
            bytes.extend_from_slice(step.by.as_bytes());
        }
        (!bytes.is_empty()).then_some(bytes)
    }

    /// Reads the steps; nothing if they are not what was written.
    pub(crate) fn decode(mut bytes: &[u8]) -> Option<Self> {
        let mut ladder = Ladder::default();
        while let [tag, rest @ ..] = bytes {
            bytes = rest;
            let at = Time(take_number(&mut bytes)?);
            let length = usize::try_from(take_number(&mut bytes)?).ok()?;
            let (by, rest) = bytes.split_at_checked(length)?;
            bytes = rest;
            let step = Some(Step::new(at, std::str::from_utf8(by).ok()?));
            match tag {
                0 => ladder.dispatched = step,
                1 => ladder.surfaced = step,
                2 => ladder.ended = step,
                3 => ladder.answered = step,
                _ => return None,
            }
        }
        Some(ladder)
    }
}

/// Writes seven bits a byte, the lowest first.
fn put_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn take_number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}
