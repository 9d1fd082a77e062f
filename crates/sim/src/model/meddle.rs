//! Second thoughts: taking back, amending, resuming, dead letters; and what the bus tells those concerned.

use std::rc::Rc;

use broker::{AgentKey, EntryKey, Refusal, Time};
use message::{Kind, MessageId, Priority, Stage};

use super::route::Way;
use super::state::{Is, Letter, Part, Place, State};
use super::{Outcome, text};
use crate::driver::{Answer, Notice};
use crate::request::Sent;
use crate::violation::{Promise, Violation, broken, ensure};

impl State {
    pub(super) fn retracted(
        &mut self,
        message: MessageId,
        by: AgentKey,
        answer: &Answer,
    ) -> Result<(), Violation> {
        if !self.is_own(message, by, &answer.outcome)? {
            return Ok(());
        }
        self.take_back(message, by, answer.now);
        Ok(())
    }

    /// Takes a message back as its sender wishes.
    pub(super) fn take_back(&mut self, message: MessageId, by: AgentKey, now: Time) {
        // Whoever takes back what it asked for wants it no longer.
        let cancelled = self.asked_by(message).and_then(|task| self.cancelled(task, by).ok());
        self.withdraw(message);
        self.notify_holders(message, now);
        if let Some(cancelled) = cancelled {
            self.happen(cancelled, now);
        }
    }

    /// Takes a message back from whoever does not have it in hand.
    pub(super) fn withdraw(&mut self, message: MessageId) {
        for index in 0..self.parts.len() {
            let part = &self.parts[index];
            let ends = part.is_queued() || matches!(part.is, Is::Held | Is::Posted | Is::Dead);
            if part.message == message && ends && !part.unclaimed {
                self.parts[index].is = Is::Ended(Stage::Withdrawn);
                self.drop_copies(index);
            }
        }
        if let Some(letter) = self.messages.get_mut(&message) {
            letter.withdrawn = true;
        }
    }

    pub(super) fn amended(
        &mut self,
        message: MessageId,
        by: AgentKey,
        body: &Rc<[u8]>,
        answer: &Answer,
    ) -> Result<(), Violation> {
        let is_large = body.len() as u64 > self.settings.limits.body_bytes_max;
        if is_large && matches!(answer.outcome, Err(Refusal::TooLarge { .. })) {
            return Ok(());
        }
        if !self.is_own(message, by, &answer.outcome)? {
            return Ok(());
        }
        ensure(!is_large, Promise::Limits, format_args!("amended with {} bytes", body.len()))?;
        self.change_body(message, body, answer.now);
        Ok(())
    }

    /// Puts another body in the place of a message's own.
    pub(super) fn change_body(&mut self, message: MessageId, body: &Rc<[u8]>, now: Time) {
        if let Some(letter) = self.messages.get_mut(&message) {
            letter.body = Rc::clone(body);
        }
        self.notify_holders(message, now);
    }

    /// A human lets a message go: that is a yes to its gate, if there is one.
    pub(super) fn resumed(&mut self, message: MessageId, answer: &Answer) -> Result<(), Violation> {
        let is_parked = self.parts_of(message).any(|(_, part)| part.is == Is::Parked);
        let outcome = &answer.outcome;
        let what = format_args!("{message} is resumed: {outcome:?}");
        if is_parked && self.is_gated(message) {
            ensure(outcome.is_ok(), Promise::Gates, what)?;
            return self.gate_judged(message, AgentKey::HUMAN, true, answer);
        }
        if is_parked && self.waits_for_tasks(message) {
            return ensure(matches!(outcome, Err(Refusal::Guarded { .. })), Promise::Gates, what);
        }
        ensure(is_parked == outcome.is_ok(), Promise::Answers, what)?;
        self.let_go_on(message);
        Ok(())
    }

    /// The whole conversation goes on, whichever of its messages was named.
    pub(super) fn let_go_on(&mut self, message: MessageId) {
        if !self.parts_of(message).any(|(_, part)| part.is == Is::Parked) {
            return;
        }
        let name = self.messages[&message].conversation.clone();
        if let Some(turn) = name.as_ref().and_then(|name| self.turns.get_mut(name)) {
            turn.count = 0;
        }
        for index in 0..self.parts.len() {
            let part = &self.parts[index];
            if part.is == Is::Parked && self.letter(part).conversation == name {
                self.wait(index);
            }
        }
    }

    pub(super) fn dead_retried(&mut self, answer: &Answer) -> Result<(), Violation> {
        let Some(index) = self.dead_letter(answer)? else { return Ok(()) };
        let place = self.parts[index].place.clone();
        let can = match &place {
            Place::Agent(agent) => self.is_there(*agent),
            Place::Name(name) => self.agent(name).is_some(),
            Place::Session(_) | Place::Role(_) | Place::Post(_) => true,
        };
        let what = format_args!("a dead letter for {place:?} is retried: {:?}", answer.outcome);
        ensure(answer.outcome.is_ok() == can, Promise::Answers, what)?;
        if !can {
            return Ok(());
        }
        let order = self.next_order();
        let message = self.parts[index].message;
        if let Some(letter) = self.messages.get_mut(&message) {
            (letter.expires, letter.timeout_ms) = (Time::NEVER, None);
            // Who has had it is not given it again through a topic.
            letter.ways = letter.ways.max(2);
        }
        if let Place::Name(name) = &place
            && let Some(agent) = self.agent(name)
        {
            self.parts[index].place = Place::Agent(agent);
        }
        let part = &mut self.parts[index];
        (part.attempts, part.losses, part.order, part.why) = (0, 0, order, None);
        self.wait(index);
        if let Place::Post(group) = place {
            self.parts[index].is = Is::Posted;
            self.post_copies(index, &group);
        }
        Ok(())
    }

    pub(super) fn dead_dropped(&mut self, answer: &Answer) -> Result<(), Violation> {
        if let Some(index) = self.dead_letter(answer)? {
            let what = format_args!("a dead letter is not dropped: {:?}", answer.outcome);
            ensure(answer.outcome.is_ok(), Promise::Answers, what)?;
            self.parts[index].is = Is::Ended(self.parts[index].why.unwrap_or(Stage::Dead));
        }
        Ok(())
    }

    /// Gives each member its own of a post.
    pub(super) fn post_copies(&mut self, post: usize, group: &str) {
        let (id, order, offered) =
            (self.parts[post].message, self.parts[post].order, self.parts[post].offered);
        let from = self.messages[&id].sent.from;
        let members = match self.groups.get_mut(group) {
            Some(group) => {
                group.posts.push(order);
                group.members.clone()
            }
            None => Vec::new(),
        };
        for member in members.into_iter().filter(|member| *member != from) {
            let mut part = Part::new(id, Place::Agent(member), order, offered);
            part.unclaimed = true;
            part.post = Some(post);
            self.add(part);
        }
        self.close_post(post);
    }

    /// Finds the dead letter that was meant; whatever else was meant must have been refused.
    fn dead_letter(&mut self, answer: &Answer) -> Result<Option<usize>, Violation> {
        let Some(meant) = &answer.dead else {
            let is_refused = matches!(answer.outcome, Err(Refusal::NotDead));
            ensure(is_refused, Promise::Answers, format_args!("no dead letter, and {:?}", answer.outcome))?;
            return Ok(None);
        };
        let dead: Vec<usize> = (0..self.parts.len())
            .filter(|index| {
                let part = &self.parts[*index];
                part.is == Is::Dead && part.message == meant.message && self.address(part) == meant.recipient
            })
            .collect();
        let is_known = |entry: EntryKey| dead.iter().any(|index| self.parts[*index].entry == Some(entry));
        let mut unknown: Vec<usize> =
            dead.iter().copied().filter(|index| self.parts[*index].entry.is_none()).collect();
        // Of the parts of one message that die together, the newest dies first.
        unknown.sort_by_key(|index| (self.parts[*index].died, std::cmp::Reverse(self.parts[*index].born)));
        let older = meant.older.iter().filter(|entry| !is_known(**entry)).count();
        let known = dead.iter().copied().find(|index| self.parts[*index].entry == Some(meant.entry));
        let Some(index) = known.or(unknown.get(older).copied()) else {
            return broken(Promise::Receipts, format_args!("{meant:?} is no dead letter"));
        };
        self.parts[index].entry = Some(meant.entry);
        Ok(Some(index))
    }

    /// Returns where a part goes, as an operator reads it.
    pub(super) fn address(&self, part: &Part) -> String {
        match &part.place {
            Place::Agent(agent) => self.name(*agent).to_string(),
            Place::Session(session) => match self.sessions.get(session) {
                Some(session) => format!("{}#{}", self.name(session.agent), session.number),
                None => String::new(),
            },
            Place::Role(group) | Place::Post(group) => group.to_string(),
            Place::Name(name) => name.to_string(),
        }
    }

    fn is_own(&self, message: MessageId, by: AgentKey, outcome: &Outcome) -> Result<bool, Violation> {
        let Some(letter) = self.messages.get(&message) else {
            let is_refused = matches!(outcome, Err(Refusal::UnknownMessage));
            ensure(is_refused, Promise::Answers, format_args!("{message} is unknown: {outcome:?}"))?;
            return Ok(false);
        };
        let is_sender = letter.sent.from == by || by == AgentKey::HUMAN;
        let is_settled = self.is_taken_back(message);
        let what = format_args!("{message} of {by:?}: {outcome:?}");
        match outcome {
            Ok(_) => ensure(is_sender && !is_settled, Promise::Answers, what).map(|()| true),
            Err(Refusal::NotYours) => ensure(!is_sender, Promise::Answers, what).map(|()| false),
            Err(Refusal::Settled) => ensure(is_settled, Promise::Answers, what).map(|()| false),
            Err(_) => broken(Promise::Answers, what),
        }
    }

    /// Tells whether a message is withdrawn from all its recipients.
    pub(super) fn is_taken_back(&self, message: MessageId) -> bool {
        let mut entries = self.parts_of(message).filter(|(_, part)| part.is_entry()).peekable();
        entries.peek().is_some() && entries.all(|(_, part)| part.is == Is::Ended(Stage::Withdrawn))
    }

    /// Tells a sender that its message ended without reaching somebody, where the bus had promised to try.
    pub(super) fn notify_sender(&mut self, message: MessageId, now: Time) {
        let letter = &self.messages[&message];
        let from = letter.sent.from;
        if letter.is_once || from == AgentKey::SYSTEM || !self.is_there(from) {
            return;
        }
        self.notice(Kind::ErrorReport, Priority::High, &[Way::To(Place::Agent(from), from)], now);
    }

    /// Tells those who have had a message that its sender changed its mind.
    fn notify_holders(&mut self, message: MessageId, now: Time) {
        let mut agents: Vec<AgentKey> = Vec::new();
        for (_, part) in self.parts_of(message) {
            let has_had = part.is_out()
                || matches!(part.is, Is::Ended(Stage::Acknowledged | Stage::Unconfirmed))
                    && !matches!(part.place, Place::Post(_));
            agents.extend(self.holder(part).filter(|agent| has_had && self.is_there(*agent)));
        }
        agents.sort_unstable();
        agents.dedup();
        if !agents.is_empty() {
            let ways: Vec<Way> =
                agents.into_iter().map(|agent| Way::To(Place::Agent(agent), agent)).collect();
            self.notice(Kind::Note, Priority::High, &ways, now);
        }
    }

    /// Adds a message from the bus itself; its id is learnt with everything else that happened.
    pub(super) fn notice(&mut self, kind: Kind, priority: Priority, ways: &[Way], now: Time) {
        self.births += 1;
        self.forget_known(now);
        let mut bytes = [0; 16];
        bytes[8..].copy_from_slice(&self.births.to_be_bytes());
        let id = MessageId::from_bytes(bytes);
        let letter = Letter {
            sent: Rc::new(Sent::notice(kind, priority)),
            body: Rc::from(&b""[..]),
            timeout_ms: None,
            is_once: false,
            expires: Time::NEVER,
            retries: self.settings.retries.retries,
            hops: 0,
            ways: ways.len(),
            conversation: None,
            fallback: Vec::new(),
            wait_until: None,
            wait_failed: false,
            answer: None,
            withdrawn: false,
            bound: false,
            number: self.births,
        };
        self.messages.insert(id, letter);
        for way in ways {
            self.go(id, way, now);
        }
    }

    /// Compares what the bus has written with what it had to write, and learns the ids.
    pub(super) fn learn_notices(&mut self, written: &[Notice]) -> Result<(), Violation> {
        let unbound = self.messages.iter().filter(|(_, letter)| !letter.bound).map(|(id, _)| *id);
        let mut expected: Vec<MessageId> = unbound.collect();
        for notice in written {
            let found = expected.iter().position(|id| self.is_notice(*id, notice));
            let Some(place) = found else {
                let Notice { kind, priority, agents, groups, body, .. } = notice;
                let what = format_args!("{kind:?} ({priority:?}) to {agents:?} {groups:?}: {}", text(body));
                return broken(Promise::Notices, what);
            };
            let before = expected.remove(place);
            if let Some(mut letter) = self.messages.remove(&before) {
                (letter.bound, letter.body) = (true, Rc::from(notice.body.as_slice()));
                self.messages.insert(notice.id, letter);
            }
            for part in self.parts.iter_mut().filter(|part| part.message == before) {
                part.message = notice.id;
            }
        }
        match expected.first() {
            None => Ok(()),
            Some(id) => {
                let (kind, to) = (self.messages[id].sent.kind, self.goes_to(*id));
                broken(Promise::Notices, format_args!("nobody was told {kind:?}: {to:?}"))
            }
        }
    }

    fn is_notice(&self, id: MessageId, notice: &Notice) -> bool {
        let sent = &self.messages[&id].sent;
        let mut to: Vec<String> = notice.agents.iter().map(|agent| self.name(*agent).to_string()).collect();
        to.extend(notice.groups.iter().cloned());
        to.sort();
        sent.kind == notice.kind && sent.priority == notice.priority && self.goes_to(id) == to
    }

    fn goes_to(&self, id: MessageId) -> Vec<String> {
        let parts = self.parts_of(id).filter(|(_, part)| part.post.is_none());
        let mut to: Vec<String> = parts.map(|(_, part)| self.address(part)).collect();
        to.sort();
        to
    }

    /// Tells whether a handing-out can be that of a part.
    pub(super) fn fits(&self, part: &Part, delivery: &broker::Delivery) -> bool {
        // Somebody may get a message in two ways; its number tells which it is.
        let is_it = part.entry.is_none_or(|entry| entry == delivery.entry);
        part.message == delivery.id && is_it
    }
}
