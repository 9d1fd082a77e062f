//! Handing out: what an agent is given must be what it had to be given next.

use std::rc::Rc;

use broker::{Delivery, Refusal, Reply, Time};

use super::queue::{Candidate, Leave, OLDEST_EVERY};
use super::state::{Is, Place, State};
use super::work::is_work;
use crate::driver::Answer;
use crate::request::TakeWish;
use crate::violation::{Promise, Violation, broken, ensure};

impl State {
    pub(super) fn taken(&mut self, wish: &TakeWish, answer: &Answer) -> Result<Vec<Rc<[u8]>>, Violation> {
        let outcome = &answer.outcome;
        if self.refused_unknown(wish.agent, outcome)? {
            return Ok(Vec::new());
        }
        let limits = &self.settings.limits;
        let is_length = (limits.lease_ms_min..=limits.lease_ms_max).contains(&wish.lease_ms);
        let is_session = wish.session.is_none_or(|session| {
            self.sessions.get(&session).is_some_and(|session| session.agent == wish.agent)
        });
        let what = format_args!("{wish:?} gets {outcome:?}");
        match outcome {
            Ok(Reply::Taken(deliveries)) => {
                ensure(is_length && is_session, Promise::Limits, what)?;
                self.claim(wish.agent);
                self.handed(wish, deliveries, answer)
            }
            Err(Refusal::LeaseLength { .. }) if !is_length => Ok(Vec::new()),
            Err(Refusal::UnknownSession) if !is_session => Ok(Vec::new()),
            Ok(_) | Err(_) => broken(Promise::Answers, what),
        }
    }

    /// Checks that nobody who waits with credit was passed over.
    pub(super) fn starved(
        &self,
        agent: broker::AgentKey,
        session: broker::SessionKey,
        wall: Time,
    ) -> Result<(), Violation> {
        // Keys of sessions are used again; one that is gone gives nobody anything.
        let is_its_own = self.sessions.get(&session).is_some_and(|session| session.agent == agent);
        if !self.is_there(agent) || !is_its_own {
            return Ok(());
        }
        let left = self.candidates(agent, Some(session), wall);
        // Nobody is woken because an agent takes work from now on.
        let is_later = |candidate: &&Candidate| {
            let part = &self.parts[candidate.part];
            let is_role = matches!(part.place, Place::Role(_));
            is_role && is_work(self.letter(part).sent.kind) && self.takes_work_later(agent)
        };
        let mut sure = left.iter().filter(|candidate| candidate.leave == Leave::Yes && !is_later(candidate));
        match sure.next() {
            None => Ok(()),
            Some(candidate) => {
                let id = self.parts[candidate.part].message;
                let name = self.name(agent);
                broken(
                    Promise::AtLeastOnce,
                    format_args!("{name} waits, and {id} waits for it, and nothing happens"),
                )
            }
        }
    }

    fn handed(
        &mut self,
        wish: &TakeWish,
        deliveries: &[Delivery],
        answer: &Answer,
    ) -> Result<Vec<Rc<[u8]>>, Violation> {
        let count_max = wish.max.min(self.settings.limits.take_max) as usize;
        let what = format_args!("{} messages for {wish:?}", deliveries.len());
        ensure(deliveries.len() <= count_max, Promise::Limits, what)?;
        let mut bodies = Vec::new();
        for delivery in deliveries {
            let candidates = self.candidates(wish.agent, wish.session, answer.wall);
            let chosen = self.chosen(wish, delivery, &candidates, answer.wall)?;
            self.check_turn(wish, &chosen, &candidates)?;
            self.check_delivery(wish, chosen.part, delivery, answer.now)?;
            let letter = self.letter(&self.parts[chosen.part]);
            let is_work = is_work(letter.sent.kind);
            bodies.push(Rc::clone(&letter.body));
            self.hand_out(wish, chosen.part, delivery);
            // An agent that is tried again is given one piece of work.
            if let Some(probe) = self.after_probe(wish.agent, answer.now).filter(|_| is_work) {
                self.change(probe, answer.now);
            }
        }
        if deliveries.len() < count_max {
            self.check_rest(wish, &bodies, answer.wall)?;
        }
        Ok(bodies)
    }

    /// Finds the part that was handed out among those that could be.
    fn chosen(
        &self,
        wish: &TakeWish,
        delivery: &Delivery,
        candidates: &[Candidate],
        wall: Time,
    ) -> Result<Candidate, Violation> {
        let is_oldest = self.is_oldest_turn(wish);
        let mut fitting: Vec<Candidate> = candidates
            .iter()
            .copied()
            .filter(|candidate| self.fits(&self.parts[candidate.part], delivery))
            .collect();
        fitting.sort_by(|one, other| {
            if one.precedes(other, is_oldest) {
                std::cmp::Ordering::Less
            } else {
                std::cmp::Ordering::Greater
            }
        });
        // Somebody may be given a message in two ways; how often it was tried tells which it is.
        let is_counted = |candidate: &&Candidate| self.parts[candidate.part].attempts + 1 == delivery.attempt;
        let counted = fitting.iter().find(is_counted).or(fitting.first()).copied();
        let Some(chosen) = counted else {
            return self.explain(wish, delivery, wall);
        };
        Ok(chosen)
    }

    /// Says what is wrong with a message that could not be handed out.
    fn explain(&self, wish: &TakeWish, delivery: &Delivery, wall: Time) -> Result<Candidate, Violation> {
        let name = self.name(wish.agent);
        let mine = |place: &Place| match place {
            Place::Agent(agent) => *agent == wish.agent,
            Place::Session(session) => Some(*session) == wish.session,
            Place::Role(role) => self.is_member(wish.agent, role),
            Place::Name(_) | Place::Post(_) => false,
        };
        let parts = self.parts_of(delivery.id).filter(|(_, part)| mine(&part.place));
        let Some((index, part)) = parts.max_by_key(|(_, part)| part.born) else {
            return broken(
                Promise::Answers,
                format_args!("{name} is handed what is not its own: {delivery:?}"),
            );
        };
        let promise = match part.is {
            _ if self.is_over(part, wall) => Promise::NeverLate,
            _ if self.is_once(index) => Promise::AtMostOnce,
            Is::Pausing { .. } => Promise::Retries,
            Is::Waiting | Is::Maybe { .. } => Promise::Ordered,
            Is::Parked | Is::Held | Is::Posted => Promise::Held,
            Is::Out { .. } | Is::Stray | Is::Dead | Is::Ended(_) | Is::Gone => Promise::AtLeastOnce,
        };
        broken(promise, format_args!("{name} is handed {}, which is {:?}", delivery.id, part.is))
    }

    fn is_oldest_turn(&self, wish: &TakeWish) -> bool {
        self.agents.get(&wish.agent).is_some_and(|agent| (agent.handed + 1).is_multiple_of(OLDEST_EVERY))
    }

    /// Checks that nothing else had to be handed out before.
    fn check_turn(
        &self,
        wish: &TakeWish,
        chosen: &Candidate,
        candidates: &[Candidate],
    ) -> Result<(), Violation> {
        let is_oldest = self.is_oldest_turn(wish);
        let mut sure =
            candidates.iter().filter(|other| other.leave == Leave::Yes && other.part != chosen.part);
        match sure.find(|other| other.precedes(chosen, is_oldest)) {
            None => Ok(()),
            Some(other) => {
                let (one, two) = (&self.parts[chosen.part], &self.parts[other.part]);
                let turn = if is_oldest { "the oldest is due" } else { "the most urgent is due" };
                broken(
                    Promise::Priority,
                    format_args!(
                        "{} ({:?}, place {}) is handed out before {} ({:?}, place {}), though {turn}",
                        one.message, chosen.level, one.order, two.message, other.level, two.order
                    ),
                )
            }
        }
    }

    fn check_delivery(
        &self,
        wish: &TakeWish,
        index: usize,
        delivery: &Delivery,
        now: Time,
    ) -> Result<(), Violation> {
        let part = &self.parts[index];
        let letter = self.letter(part);
        let same = delivery.from == letter.sent.from
            && delivery.kind == letter.sent.kind
            && delivery.priority == letter.sent.priority;
        ensure(same, Promise::Answers, format_args!("{delivery:?} is not {:?}", letter.sent))?;
        let what =
            format_args!("attempt {} of {} is counted {}", part.attempts + 1, part.message, delivery.attempt);
        ensure(delivery.attempt == part.attempts + 1, Promise::Retries, what)?;
        let until = now.plus_ms(wish.lease_ms);
        let what = format_args!("a lease until {}, not {until}", delivery.lease_until);
        ensure(delivery.lease_until == until, Promise::Answers, what)?;
        // Other recipients of the same message may have been tried too; its own trail must be there, in order.
        let mut told = delivery.tried.iter();
        let all = part
            .tried
            .iter()
            .all(|(name, attempts)| told.any(|tried| *tried.agent == **name && tried.attempts == *attempts));
        ensure(all, Promise::Fallbacks, format_args!("tried {:?}, told {:?}", part.tried, delivery.tried))
    }

    fn hand_out(&mut self, wish: &TakeWish, index: usize, delivery: &Delivery) {
        let part = &mut self.parts[index];
        part.is = Is::Out { until: delivery.lease_until, session: wish.session };
        part.to_waiter = false;
        part.attempts += 1;
        part.delivery = Some(delivery.delivery);
        part.entry = Some(delivery.entry);
        part.holder = Some(wish.agent);
        (part.surfaced, part.came_out) = (false, false);
        part.in_lane = true;
        if let Some(agent) = self.agents.get_mut(&wish.agent) {
            agent.handed += 1;
        }
    }

    /// Checks that nothing was kept back for which there was room.
    fn check_rest(&self, wish: &TakeWish, bodies: &[Rc<[u8]>], wall: Time) -> Result<(), Violation> {
        let rest = self.candidates(wish.agent, wish.session, wall);
        let is_oldest = self.is_oldest_turn(wish);
        let bytes: u64 = bodies.iter().map(|body| body.len() as u64).sum();
        let next = rest.iter().filter(|candidate| candidate.leave == Leave::Yes).min_by(|one, other| {
            if one.precedes(other, is_oldest) {
                std::cmp::Ordering::Less
            } else {
                std::cmp::Ordering::Greater
            }
        });
        let Some(next) = next else { return Ok(()) };
        let part = &self.parts[next.part];
        // What only may leave could have been next, and too large; so could what came at the same time.
        let unsure = rest.iter().any(|candidate| {
            let is_behind = candidate.part == next.part || next.precedes(candidate, is_oldest);
            candidate.leave == Leave::Perhaps || !is_behind
        });
        let fits = bodies.is_empty() || bytes + self.letter(part).body.len() as u64 <= wish.bytes_max;
        let what = format_args!("{} was not handed to {}", part.message, self.name(wish.agent));
        ensure(!fits || (unsure && wish.bytes_max != u64::MAX), Promise::AtLeastOnce, what)
    }
}
