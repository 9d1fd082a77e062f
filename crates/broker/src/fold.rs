//! Folding a log into a state, also one from which a damaged part was set aside.
//!
//! What the lost events did is not known. What is to be handed out once and was waiting may have been: it ends
//! unconfirmed. Everything else stays as it was before them, so what was settled in the lost part may be handed out
//! again. Events behind them that fit nothing any more are passed over, as if they were lost too.

use message::Seq;

use crate::accept::entry_of;
use crate::broker::Broker;
use crate::codec::DecodeError;
use crate::due::EXPIRED;
use crate::effect::Effects;
use crate::entry::{End, Message};
use crate::{EntryKey, Event, Failed, MessageKey, Misfit, Of, Time};

/// By what an entry ended of which nobody knows what became.
const LOST: &str = "lost events";
/// Bytes of events that are kept at most, to be folded again.
const KEPT_BYTES_MAX: usize = 8 << 20;

/// A state into which a log is folded.
pub struct Fold {
    broker: Broker,
    effects: Effects,
    /// What it takes to go back before an event that does not fit, once events were lost.
    way_back: Option<WayBack>,
    /// Messages that had expired while something of them was handed out, among others.
    expired: Vec<MessageKey>,
    passed_over: u64,
}

/// The state at some event that was good, and the events since.
#[derive(Default)]
struct WayBack {
    state: Vec<u8>,
    expired: Vec<MessageKey>,
    since: Vec<(Seq, Box<[u8]>)>,
    bytes: usize,
}

/// What an event is about.
#[derive(Clone, Copy)]
enum Subject {
    Entry(Of),
    Message(MessageKey, Seq),
    Other,
}

/// Why a log cannot be folded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FoldError {
    /// An event cannot be read.
    #[error(transparent)]
    Record(#[from] DecodeError),
    /// An event does not fit, and nothing was lost before it.
    #[error(transparent)]
    Misfit(#[from] Misfit),
}

impl Fold {
    /// Folds on from a state.
    pub fn new(broker: Broker) -> Self {
        Fold { broker, effects: Effects::new(), way_back: None, expired: Vec::new(), passed_over: 0 }
    }

    /// Goes on behind lost events, of which this is the last.
    pub fn pass(&mut self, lost: Seq) {
        self.broker.pass_lost(lost);
        let (at, broker) = (self.broker.time, &mut self.broker);
        self.expired = broker.expired_and_open();
        self.expired.retain(|message| broker.end_expired(*message, at, &mut self.effects));
        self.keep();
    }

    /// Folds an event, given as a record of the log.
    pub fn apply(&mut self, seq: Seq, record: &[u8]) -> Result<(), FoldError> {
        self.effects.clear();
        let Some(way_back) = &mut self.way_back else {
            let (at, event) = Event::decode(record)?;
            return Ok(self.broker.apply(seq, at, &event, &mut self.effects)?);
        };
        match step(&mut self.broker, seq, record, &mut self.expired, &mut self.effects) {
            Ok(is_about_something) => {
                self.passed_over += u64::from(!is_about_something);
                way_back.bytes += record.len();
                way_back.since.push((seq, record.into()));
                if way_back.bytes > KEPT_BYTES_MAX {
                    self.keep();
                }
                Ok(())
            }
            Err(FoldError::Misfit(_)) => self.pass_over(seq, record),
            Err(error) => Err(error),
        }
    }

    /// Takes the state before an event that does not fit, which may have left traces in this one.
    fn pass_over(&mut self, seq: Seq, record: &[u8]) -> Result<(), FoldError> {
        let WayBack { state, expired, since, .. } = self.way_back.take().unwrap_or_default();
        self.expired = expired;
        let mut broker = Broker::restore(self.broker.settings.clone(), &state)?;
        #[cfg(feature = "plants")]
        broker.plant(self.broker.plant);
        for (seq, record) in &since {
            self.effects.clear();
            step(&mut broker, *seq, record, &mut self.expired, &mut self.effects)?;
        }
        let (_, event) = Event::decode(record)?;
        // No others tell that something was handed out, or is about to be.
        if matches!(subject(&event), Subject::Entry(_)) || matches!(event, Event::Absorbed { .. }) {
            broker.pass_lost(seq);
        }
        broker.last = seq;
        self.broker = broker;
        self.passed_over += 1;
        self.keep();
        Ok(())
    }

    fn keep(&mut self) {
        let way_back = self.way_back.get_or_insert_default();
        way_back.state.clear();
        way_back.expired.clone_from(&self.expired);
        way_back.since.clear();
        way_back.bytes = 0;
        self.broker.snapshot(&mut way_back.state);
    }

    /// Returns the state.
    pub fn broker(&self) -> &Broker {
        &self.broker
    }

    /// Returns how many events were passed over.
    pub fn passed_over(&self) -> u64 {
        self.passed_over
    }

    /// Returns the state, to go on with.
    pub fn into_broker(self) -> Broker {
        self.broker
    }
}

/// Folds an event if it is about something that is here; tells whether it is.
fn step(
    broker: &mut Broker,
    seq: Seq,
    record: &[u8],
    expired: &mut Vec<MessageKey>,
    effects: &mut Effects,
) -> Result<bool, FoldError> {
    let (at, event) = Event::decode(record)?;
    if !broker.knows(subject(&event)) {
        (broker.last, broker.time) = (seq, broker.time.max(at));
        return Ok(false);
    }
    broker.make_room(&event, at, effects);
    broker.apply(seq, at, &event, effects)?;
    if let Event::Expired { message, .. } = event {
        expired.push(message);
    }
    expired.retain(|message| broker.end_expired(*message, at, effects));
    Ok(true)
}

impl Broker {
    /// Goes on behind lost events.
    fn pass_lost(&mut self, lost: Seq) {
        self.last = self.last.max(lost);
        let (at, mut effects) = (self.time, Effects::new());
        let messages = self.messages.iter().map(|(key, _)| MessageKey(key));
        let once: Vec<MessageKey> = messages.filter(|key| self.is_wanted_once(*key)).collect();
        for message in once {
            self.end_waiting(message, at, &mut effects, |broker, entry, at, effects| {
                broker.end_lost(entry, End::Unconfirmed, at, effects);
            });
        }
    }

    /// Ends an entry, wherever it stands.
    fn end_lost(&mut self, key: EntryKey, end: End, at: Time, effects: &mut Effects) {
        self.take_down(key);
        self.end(key, end, LOST, at, effects);
    }

    /// Tells whether what an event is about is here.
    fn knows(&self, subject: Subject) -> bool {
        match subject {
            Subject::Entry(of) => self.check(of).is_ok(),
            Subject::Message(message, seq) => self.check_message(message, seq).is_ok(),
            Subject::Other => true,
        }
    }

    /// Makes room for what an event brings: where a place is given again, what had it was over.
    fn make_room(&mut self, event: &Event<'_>, at: Time, effects: &mut Effects) {
        if let Event::Accepted(accepted) = event {
            self.evict(accepted.message, at, effects);
            for target in &accepted.targets {
                self.evict_entry(entry_of(target), at, effects);
            }
        } else if let Event::Absorbed { entries, .. } = event {
            for of in entries {
                self.evict_entry(of.entry, at, effects);
            }
        } else if let Event::SessionOpened { session, .. } = event {
            // One that is not there need not be closed.
            let _closed = self.session_closed(*session, effects);
        }
    }

    fn expired_and_open(&self) -> Vec<MessageKey> {
        let expired = self.messages.iter().filter(|(_, message)| message.is_expired_and_open());
        expired.map(|(key, _)| MessageKey(key)).collect()
    }

    /// Ends what came back after its message had expired: in the lost part it had come back before. Tells whether more
    /// of the message may come back.
    fn end_expired(&mut self, key: MessageKey, at: Time, effects: &mut Effects) -> bool {
        let is_it = |broker: &Self| broker.message(key).is_some_and(Message::is_expired_and_open);
        if is_it(self) {
            self.end_waiting(key, at, effects, |broker, entry, at, effects| {
                broker.end_lost(entry, End::Expired, at, effects);
            });
        }
        is_it(self)
    }

    fn evict_entry(&mut self, key: EntryKey, at: Time, effects: &mut Effects) {
        if let Some(entry) = self.entry(key) {
            self.evict(entry.message, at, effects);
        }
    }

    /// Forgets a message, over or not.
    fn evict(&mut self, key: MessageKey, at: Time, effects: &mut Effects) {
        if self.message(key).is_none() {
            return;
        }
        // One for which nobody waits has no wait to end.
        let _ended = self.wait_ended(key, effects);
        let entries = self.entries_of(key).filter(|(_, entry)| entry.state.is_open());
        let open: Vec<EntryKey> = entries.map(|(key, _)| key).collect();
        for entry in open {
            self.end_lost(entry, End::Unconfirmed, at, effects);
        }
        self.settled.retain(|settled| *settled != key);
        self.purge(key);
    }
}

/// Returns what an event is about that must be there before it.
fn subject(event: &Event<'_>) -> Subject {
    match event {
        Event::Dispatched { of, .. }
        | Event::Returned { of }
        | Event::Surfaced { of, .. }
        | Event::Acknowledged { of, .. }
        | Event::Failed(Failed { of, .. })
        | Event::Extended { of, .. }
        | Event::Released { of }
        | Event::DeadRetried { of }
        | Event::DeadDropped { of } => Subject::Entry(*of),
        Event::Expired { message, seq }
        | Event::Withdrawn { message, seq }
        | Event::Amended { message, seq, .. }
        | Event::Resumed { message, seq }
        | Event::WaitEnded { message, seq }
        | Event::Carried { message, seq, .. } => Subject::Message(*message, *seq),
        Event::AgentSet { .. }
        | Event::AgentRemoved { .. }
        | Event::GroupMade { .. }
        | Event::Joined { .. }
        | Event::Left { .. }
        | Event::PresenceSet { .. }
        | Event::SessionOpened { .. }
        | Event::SessionClosed { .. }
        | Event::Restarted
        | Event::Graced { .. }
        | Event::Accepted(_)
        | Event::Absorbed { .. }
        | Event::Tuned(_)
        | Event::RecordSet(_)
        | Event::RecordRemoved { .. }
        | Event::RecordCarried { .. }
        | Event::Work(_)
        | Event::TaskCarried { .. } => Subject::Other,
    }
}

impl Message {
    fn is_expired_and_open(&self) -> bool {
        self.expires == EXPIRED && self.open > 0
    }
}
