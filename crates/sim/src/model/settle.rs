//! What becomes of deliveries, and what comes after a failure.

use std::rc::Rc;

use broker::{AgentKey, Refusal, Reply, Retries, Time};
use message::{Backoff, DeliveryId, MessageId, Stage};

use super::Outcome;
use super::state::{Is, Part, Place, State};
use crate::driver::Answer;
use crate::step::NackDelay;
use crate::violation::{Promise, Violation, broken, ensure};

/// How often a lost connection is not the message's fault.
const LOSSES_MAX: u32 = 20;

/// What went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    Refused(NackDelay),
    LeaseOver,
    ConnectionLost,
}

impl State {
    /// A late acknowledgement counts until somebody was handed the message again.
    pub(super) fn acked(
        &mut self,
        agent: AgentKey,
        delivery: DeliveryId,
        outcome: &Outcome,
    ) -> Result<(), Violation> {
        let found = self.part_of(delivery);
        let is = found.map(|index| self.parts[index].is);
        let what = format_args!("an acknowledgement of what is {is:?} gets {outcome:?}");
        if found.is_some_and(|index| self.parts[index].holder != Some(agent)) {
            // Another member of the role has settled it since.
            return ensure(outcome.is_err(), Promise::AtLeastOnce, what);
        }
        let is_good = match (is, outcome) {
            (Some(Is::Ended(Stage::Acknowledged)), Ok(Reply::Stage(stage))) => {
                matches!(stage, Stage::Acknowledged | Stage::Answered)
            }
            (
                Some(Is::Ended(Stage::Unconfirmed) | Is::Out { .. } | Is::Stray | Is::Dead),
                Ok(Reply::Stage(stage)),
            ) => *stage == Stage::Acknowledged,
            (
                Some(Is::Waiting | Is::Maybe { .. } | Is::Pausing { .. } | Is::Parked),
                Ok(Reply::Stage(stage)),
            ) => *stage == Stage::Acknowledged,
            (Some(Is::Ended(Stage::Unconfirmed)), Err(_)) => false,
            (Some(Is::Held | Is::Posted | Is::Ended(_) | Is::Gone) | None, Err(refusal)) => {
                *refusal == Refusal::LeaseLost
            }
            _ => false,
        };
        ensure(is_good, Promise::AtLeastOnce, what)?;
        if let Some(index) = found.filter(|_| outcome.is_ok()) {
            self.parts[index].is = Is::Ended(Stage::Acknowledged);
            self.parts[index].holder = Some(agent);
        }
        Ok(())
    }

    pub(super) fn processed(
        &mut self,
        agent: AgentKey,
        message: MessageId,
        outcome: &Outcome,
    ) -> Result<(), Violation> {
        if self.is_posted_to(message, agent) {
            self.claim(agent);
        }
        let mut mine: Vec<(usize, &Part)> = self
            .parts_of(message)
            .filter(|(_, part)| {
                let in_role = matches!(&part.place, Place::Role(role) if self.is_member(agent, role));
                self.has(part, agent) || (in_role && part.is_queued())
            })
            .collect();
        mine.sort_by_key(|(_, part)| std::cmp::Reverse(part.born));
        let first = mine.first().map(|(index, part)| (*index, part.is));
        let what = format_args!("{message} is {first:?} and processed: {outcome:?}");
        match (first, outcome) {
            (None, Err(Refusal::UnknownMessage)) => Ok(()),
            (Some((index, is)), Ok(Reply::Stage(_))) => {
                let settles = matches!(
                    is,
                    Is::Out { .. } | Is::Stray | Is::Waiting | Is::Maybe { .. } | Is::Pausing { .. }
                );
                if settles {
                    self.parts[index].is = Is::Ended(Stage::Acknowledged);
                    self.parts[index].holder = Some(agent);
                }
                Ok(())
            }
            _ => broken(Promise::Answers, what),
        }
    }

    pub(super) fn surfaced(&mut self, delivery: DeliveryId, outcome: &Outcome) -> Result<(), Violation> {
        if let Some(index) = self.in_hand(delivery, outcome)? {
            self.parts[index].surfaced = true;
        }
        Ok(())
    }

    pub(super) fn extended(
        &mut self,
        delivery: DeliveryId,
        lease_ms: u64,
        answer: &Answer,
    ) -> Result<(), Violation> {
        let limits = &self.settings.limits;
        if !(limits.lease_ms_min..=limits.lease_ms_max).contains(&lease_ms) {
            let is_refused = matches!(answer.outcome, Err(Refusal::LeaseLength { .. }));
            return ensure(
                is_refused,
                Promise::Limits,
                format_args!("a lease of {lease_ms} ms: {:?}", answer.outcome),
            );
        }
        let Some(index) = self.in_hand(delivery, &answer.outcome)? else { return Ok(()) };
        let wanted = answer.now.plus_ms(lease_ms);
        let is_right = answer.outcome == Ok(Reply::Lease(wanted));
        ensure(is_right, Promise::Answers, format_args!("until {wanted}: {:?}", answer.outcome))?;
        if let Is::Out { until, .. } = &mut self.parts[index].is {
            *until = wanted;
        }
        Ok(())
    }

    pub(super) fn nacked(
        &mut self,
        delivery: DeliveryId,
        delay: NackDelay,
        answer: &Answer,
    ) -> Result<(), Violation> {
        if let Some(index) = self.in_hand(delivery, &answer.outcome)? {
            self.fail(index, Trouble::Refused(delay), answer.now, answer.wall);
        }
        Ok(())
    }

    /// Puts back what was never written; returns its message.
    pub(super) fn returned(
        &mut self,
        delivery: DeliveryId,
        answer: &Answer,
    ) -> Result<Option<MessageId>, Violation> {
        let outcome = &answer.outcome;
        let found = self.part_of(delivery).filter(|index| self.parts[*index].is_out());
        let what = format_args!("what was not written is returned: {outcome:?}");
        ensure(found.is_some() == outcome.is_ok(), Promise::AtMostOnce, what)?;
        let Some(index) = found else { return Ok(None) };
        let message = self.parts[index].message;
        self.enter_lane(index);
        self.wait(index);
        let part = &mut self.parts[index];
        part.attempts = part.attempts.saturating_sub(1);
        (part.delivery, part.holder) = (None, None);
        if self.messages[&message].withdrawn {
            self.parts[index].is = Is::Ended(Stage::Withdrawn);
        } else if self.is_over(&self.parts[index], answer.wall) {
            self.die(index, Stage::Expired, answer.now);
        }
        Ok(Some(message))
    }

    /// A reply that went straight to who waited for it, and did not arrive, keeps order with others from now on.
    fn enter_lane(&mut self, index: usize) {
        if !self.parts[index].in_lane && self.letter(&self.parts[index]).sent.task.is_some() {
            self.parts[index].order = self.next_order();
        }
        self.parts[index].in_lane = true;
    }

    /// Finds what an agent has in hand; anything else must have been refused.
    fn in_hand(&self, delivery: DeliveryId, outcome: &Outcome) -> Result<Option<usize>, Violation> {
        let found = self.part_of(delivery).filter(|index| matches!(self.parts[*index].is, Is::Out { .. }));
        let is = found.map(|index| self.parts[index].is);
        let what = format_args!("{is:?} gets {outcome:?}");
        ensure(found.is_some() == outcome.is_ok(), Promise::AtLeastOnce, what)?;
        Ok(found)
    }

    /// Decides what comes after a failure.
    pub(super) fn fail(&mut self, index: usize, trouble: Trouble, now: Time, wall: Time) {
        let part = &self.parts[index];
        let letter = self.letter(part);
        let (tries, retries) = (part.attempts.saturating_sub(part.losses), letter.retries);
        let is_over = self.is_over(part, wall);
        match trouble {
            Trouble::Refused(_) if letter.withdrawn => {
                self.parts[index].is = Is::Ended(Stage::Withdrawn);
                return;
            }
            Trouble::Refused(_) if letter.is_once => return self.die(index, Stage::Dead, now),
            Trouble::Refused(NackDelay::Never) => return self.die(index, Stage::Dead, now),
            Trouble::LeaseOver | Trouble::ConnectionLost if letter.is_once => {
                self.parts[index].is = Is::Ended(Stage::Unconfirmed);
                return;
            }
            Trouble::ConnectionLost if is_over => return self.die(index, Stage::Expired, now),
            Trouble::ConnectionLost if !letter.withdrawn && part.losses < LOSSES_MAX => {
                self.parts[index].losses += 1;
                self.enter_lane(index);
                return self.wait(index);
            }
            Trouble::Refused(_) | Trouble::LeaseOver | Trouble::ConnectionLost => {}
        }
        if letter.withdrawn {
            self.parts[index].is = Is::Ended(Stage::Withdrawn);
            return;
        }
        if is_over {
            return self.die(index, Stage::Expired, now);
        }
        if tries > retries {
            return self.pass_on(index, Stage::Dead, now);
        }
        let (from_ms, to_ms) = match trouble {
            Trouble::Refused(NackDelay::Ms(ms)) => {
                let ms = ms.min(self.settings.limits.lease_ms_max);
                (ms, ms)
            }
            Trouble::Refused(NackDelay::Backoff | NackDelay::Never)
            | Trouble::LeaseOver
            | Trouble::ConnectionLost => {
                let backoff = letter.sent.backoff.unwrap_or(Backoff::Exponential);
                pause_ms(&self.settings.retries, backoff, tries.max(1))
            }
        };
        self.parts[index].is = Is::Pausing { from: now.plus_ms(from_ms), to: now.plus_ms(to_ms) };
        self.enter_lane(index);
    }

    /// Gives a part to the next fallback, or gives it up.
    pub(super) fn pass_on(&mut self, index: usize, otherwise: Stage, now: Time) {
        let part = &self.parts[index];
        let (id, attempts) = (part.message, part.attempts);
        let letter = self.letter(part);
        let next = letter.fallback.iter().position(|agent| self.is_there(*agent) && !self.has_it(id, *agent));
        let Some(place) = next.filter(|_| letter.hops < self.settings.limits.hops_max) else {
            return self.die(index, otherwise, now);
        };
        let tried: Rc<str> = match self.holder(part) {
            Some(agent) => self.name(agent),
            None => self.address(part).into(),
        };
        let mut trail = part.tried.clone();
        trail.push((tried, attempts));
        let letter = self.messages.get_mut(&id).expect("a part is of a message");
        let agent = letter.fallback[place];
        letter.fallback.drain(..=place);
        letter.hops += 1;
        self.parts[index].is = Is::Gone;
        let order = self.next_order();
        let mut part = Part::new(id, Place::Agent(agent), order, now);
        part.tried = trail;
        self.add(part);
    }

    /// Tells whether an agent has a message or gets it another way.
    fn has_it(&self, message: MessageId, agent: AgentKey) -> bool {
        self.parts_of(message).any(|(_, part)| part.is_way() && self.has(part, agent))
    }

    /// Gives a part up, and tells its sender.
    pub(super) fn die(&mut self, index: usize, stage: Stage, now: Time) {
        self.give_up(index, stage);
        self.notify_sender(self.parts[index].message, now);
    }

    /// Gives a part up; if the bus had promised to try, it becomes a dead letter.
    pub(super) fn give_up(&mut self, index: usize, stage: Stage) {
        let is_once = self.is_once(index);
        self.parts[index].is = if is_once { Is::Ended(stage) } else { Is::Dead };
        self.parts[index].why = Some(stage);
        self.parts[index].died = self.next_order();
        self.drop_copies(index);
    }

    /// What members have not taken of a post goes with it.
    pub(super) fn drop_copies(&mut self, post: usize) {
        for part in &mut self.parts {
            if part.post == Some(post) && part.unclaimed && part.is == Is::Waiting {
                part.is = Is::Gone;
            }
        }
    }
}

/// Returns between which times after a failure the next try starts.
fn pause_ms(retries: &Retries, backoff: Backoff, attempt: u32) -> (u64, u64) {
    let grown = match backoff {
        Backoff::Linear => retries.base_ms * u64::from(attempt),
        Backoff::Exponential => {
            let mut pause = retries.base_ms as f64;
            for _ in 1..attempt {
                pause *= retries.multiplier;
            }
            pause as u64
        }
    };
    let pause = grown.min(retries.pause_ms_max);
    (if retries.jitter { 0 } else { pause }, pause)
}
