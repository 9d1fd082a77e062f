//! What time brings: leases and pauses end, offers and messages run out, and what was lost is noticed.

use broker::{Effect, Time};
use message::{MessageId, Stage};

use super::settle::Trouble;
use super::state::{EXPIRED, Is, Part, Place, State};
use super::work::WorkDue;
use crate::violation::{Promise, Violation, broken, ensure};

impl State {
    /// Does what is due now. What becomes due by that is due the next time.
    pub(super) fn elapse(&mut self, now: Time, wall: Time) {
        self.orders += 1;
        self.sweep = Some(self.orders);
        for due in self.due(now, wall) {
            self.do_due(due, now, wall);
        }
        let open: Vec<MessageId> = self.open_messages();
        for message in open {
            if let Some(letter) = self.messages.get_mut(&message).filter(|letter| letter.expires <= wall) {
                letter.expires = EXPIRED;
            }
        }
        for part in &mut self.parts {
            if let Is::Pausing { from, to } = part.is
                && from <= now
            {
                part.is = Is::Maybe { to };
            }
        }
        self.sweep = None;
    }

    /// Checks that nothing is due any more.
    pub(super) fn check_due(&mut self, now: Time, wall: Time) -> Result<(), Violation> {
        // Where chance decides, the pause may have ended before.
        for index in 0..self.parts.len() {
            let Some((from, to)) = self.parts[index].chance() else { continue };
            if to <= now {
                self.wait(index);
            } else if from <= now {
                self.parts[index].is = Is::Maybe { to };
            }
        }
        match self.due(now, wall).first() {
            None => Ok(()),
            Some(due) => broken(Promise::AtLeastOnce, format_args!("{} was not done", self.words(due))),
        }
    }

    /// Takes note of who waited for a reply in vain, and checks that nobody waits too long.
    pub(super) fn unanswered(&mut self, effects: &[Effect], now: Time) -> Result<(), Violation> {
        for effect in effects {
            let Effect::Unanswered { message, .. } = effect else { continue };
            let Some(letter) = self.messages.get(message) else {
                return broken(Promise::Replies, format_args!("nobody waits for {message}"));
            };
            let is_time = letter.wait_until.is_some_and(|until| until <= now);
            let is_hopeless = letter.wait_until.is_some() && self.is_hopeless(*message);
            let what = format_args!("the wait for {message} until {:?} ends too early", letter.wait_until);
            ensure(is_time || is_hopeless, Promise::Replies, what)?;
            self.end_wait(*message);
        }
        Ok(())
    }

    /// Checks that no wait is longer than was asked for.
    pub(super) fn check_waits(&self, now: Time) -> Result<(), Violation> {
        let late = self.messages.iter().find(|(_, it)| it.wait_until.is_some_and(|until| until <= now));
        match late {
            None => Ok(()),
            Some((id, _)) => broken(Promise::Replies, format_args!("the wait for {id} should have ended")),
        }
    }

    pub(super) fn end_wait(&mut self, message: MessageId) {
        if let Some(letter) = self.messages.get_mut(&message) {
            letter.wait_until = None;
            letter.wait_failed = true;
        }
    }

    /// Tells whether nobody can answer any more: nobody has it or will get it.
    fn is_hopeless(&self, message: MessageId) -> bool {
        self.parts_of(message).all(|(_, part)| {
            let was_delivered =
                part.is == Is::Ended(Stage::Acknowledged) && !matches!(part.place, Place::Post(_));
            matches!(part.is, Is::Dead | Is::Gone | Is::Ended(_)) && !was_delivered
        })
    }

    fn due(&self, now: Time, wall: Time) -> Vec<Due> {
        let mut due = self.find(|_, part| part.is == Is::Stray, Due::Stray);
        due.extend(self.find(State::is_orphan, Due::Orphan));
        let mut messages: Vec<MessageId> = Vec::new();
        for part in self.parts.iter().filter(|part| self.is_expired(part, wall)) {
            if !messages.contains(&part.message) {
                messages.push(part.message);
            }
        }
        due.extend(messages.into_iter().map(Due::Expiry));
        due.extend(self.find(|_, part| is_lease_over(part, now), Due::Lease));
        due.extend(self.find(|_, part| is_pause_over(part, now), Due::Pause));
        due.extend(self.find(|_, part| is_offer_over(part, now), Due::Offer));
        due.extend(self.groups.keys().filter_map(|group| self.crowding(group)).map(Due::Crowded));
        due.extend(self.work_due(now, wall).into_iter().map(Due::Work));
        due
    }

    fn do_due(&mut self, due: Due, now: Time, wall: Time) {
        match due {
            Due::Stray(index) => self.fail(index, Trouble::ConnectionLost, now, wall),
            Due::Orphan(index) => self.pass_on(index, Stage::Dead, now),
            Due::Expiry(message) => self.expire(message, now, wall),
            Due::Lease(index) if is_lease_over(&self.parts[index], now) => {
                self.fail(index, Trouble::LeaseOver, now, wall);
            }
            Due::Pause(index) if is_pause_over(&self.parts[index], now) => self.wait(index),
            Due::Offer(index) if is_offer_over(&self.parts[index], now) => {
                self.pass_on(index, Stage::Expired, now);
            }
            Due::Crowded(index) if self.parts[index].is == Is::Posted => self.die(index, Stage::Dead, now),
            Due::Work(due) => self.do_work_due(due, now, wall),
            Due::Lease(_) | Due::Pause(_) | Due::Offer(_) | Due::Crowded(_) => {}
        }
    }

    fn expire(&mut self, message: MessageId, now: Time, wall: Time) {
        let mut any = false;
        for index in 0..self.parts.len() {
            if self.parts[index].message == message && self.is_expired(&self.parts[index], wall) {
                self.give_up(index, Stage::Expired);
                any = true;
            }
        }
        if any {
            self.notify_sender(message, now);
        }
    }

    /// Tells whether a part waits for an agent that is gone.
    fn is_orphan(&self, part: &Part) -> bool {
        let is_gone = matches!(part.place, Place::Agent(agent) if !self.is_there(agent));
        is_gone && part.is_queued() && !part.unclaimed
    }

    fn is_expired(&self, part: &Part, wall: Time) -> bool {
        let waits = part.is_queued() || matches!(part.is, Is::Held | Is::Posted);
        waits && !part.unclaimed && self.letter(part).expires <= wall
    }

    /// In a topic or channel with too many posts the oldest makes room.
    fn crowding(&self, group: &str) -> Option<usize> {
        let is_here = |part: &Part| matches!(&part.place, Place::Post(of) if &**of == group);
        let living = |order: u64| {
            self.parts.iter().position(|part| part.is == Is::Posted && part.order == order && is_here(part))
        };
        let posts = &self.groups.get(group)?.posts;
        let (before, oldest) =
            posts.iter().enumerate().find_map(|(before, order)| Some((before, living(*order)?)))?;
        let is_crowded = (posts.len() - before) as u64 > self.settings.limits.queue_max;
        is_crowded.then_some(oldest)
    }

    fn find(&self, wanted: impl Fn(&State, &Part) -> bool, due: impl Fn(usize) -> Due) -> Vec<Due> {
        (0..self.parts.len()).filter(|index| wanted(self, &self.parts[*index])).map(due).collect()
    }

    fn words(&self, due: &Due) -> String {
        match due {
            Due::Expiry(message) => format!("the expiry of {message}"),
            Due::Work(due) => format!("{due:?}"),
            Due::Stray(index)
            | Due::Orphan(index)
            | Due::Lease(index)
            | Due::Pause(index)
            | Due::Offer(index)
            | Due::Crowded(index) => {
                let part = &self.parts[*index];
                format!("{due:?} of {} ({:?}, {:?})", part.message, part.place, part.is)
            }
        }
    }
}

/// Something whose time has come.
#[derive(Clone, Copy, Debug)]
enum Due {
    Stray(usize),
    Orphan(usize),
    Expiry(MessageId),
    Lease(usize),
    Pause(usize),
    Offer(usize),
    Crowded(usize),
    Work(WorkDue),
}

fn is_lease_over(part: &Part, now: Time) -> bool {
    matches!(part.is, Is::Out { until, .. } if until <= now)
}

fn is_pause_over(part: &Part, now: Time) -> bool {
    matches!(part.is, Is::Pausing { to, .. } | Is::Maybe { to } if to <= now)
}

fn is_offer_over(part: &Part, now: Time) -> bool {
    part.is == Is::Waiting && !part.unclaimed && part.offer_end <= now
}
