//! What the clocks, lost connections and full topics make due.
//!
//! Each finding is decided like a command; one that came to nothing in the meantime leads to nothing.

use crate::broker::{Applied, Broker, Decided, Decision};
use crate::effect::Effects;
use crate::entry::{End, Life, State};
use crate::timers::Timed;
use crate::{Context, Due, EntryKey, Event, GroupKey, MessageKey, Next, Time};

/// What stands in the place of its time when a message has expired, so that a clock that goes back changes nothing.
pub(crate) const EXPIRED: Time = Time(0);

impl Broker {
    pub(crate) fn find_due(&self, now: Time, wall: Time) -> impl Iterator<Item = Due> + '_ {
        let strays = self.strays.iter().map(|entry| Due::Stray(*entry));
        let orphans = self.orphans.iter().map(|entry| Due::Orphan(*entry));
        let expired = self.timers.expired(wall).map(Due::Expiry);
        let timed = self.timers.due(now).filter_map(|timed| match timed {
            Timed::Wait(message) => Some(Due::Wait(message)),
            Timed::Entry(entry) => self.timed_out(entry),
        });
        let crowded = self.crowded.iter().map(|group| Due::Overflow(*group));
        let work = self.find_work_due(now, wall).map(Due::Work);
        strays.chain(orphans).chain(expired).chain(timed).chain(crowded).chain(work)
    }

    fn timed_out(&self, entry: EntryKey) -> Option<Due> {
        match self.entry(entry)?.state {
            State::Flight => Some(Due::Lease(entry)),
            State::Pausing => Some(Due::Retry(entry)),
            State::Waiting => Some(Due::Offer(entry)),
            State::Stray | State::Held | State::Parked | State::Post | State::Dead(_) | State::Done(_) => {
                None
            }
        }
    }

    pub(crate) fn decide_due<'a>(&self, cx: &mut Context<'_>, due: Due) -> Decided<'a> {
        let state = |entry: EntryKey| self.entry(entry).map(|entry| entry.state);
        let is_time = |entry: EntryKey| self.entry(entry).is_some_and(|entry| entry.until <= cx.now);
        let events = match due {
            Due::Lease(key) if state(key) == Some(State::Flight) && is_time(key) => {
                let next = self.after_lease(cx, key);
                self.fail(cx, key, "its lease ran out", next)
            }
            Due::Retry(key) if state(key) == Some(State::Pausing) && is_time(key) => {
                self.of(key).map(|of| Event::Released { of }).into_iter().collect()
            }
            Due::Offer(key) if state(key) == Some(State::Waiting) && is_time(key) => {
                let next = self.entry(key).map(|entry| self.fallback_or(entry.message, Next::Expired));
                self.fail(cx, key, "not taken in time", next.unwrap_or(Next::Expired))
            }
            Due::Stray(key) if state(key) == Some(State::Stray) => {
                let next = self.after_loss(cx, key);
                self.fail(cx, key, "its connection was lost", next)
            }
            Due::Orphan(key) if self.orphans.contains(&key) => {
                let next = self.entry(key).map(|entry| self.fallback_or(entry.message, Next::Dead));
                self.fail(cx, key, "the recipient was removed", next.unwrap_or(Next::Dead))
            }
            Due::Expiry(key) => self.expire(cx, key),
            Due::Wait(key) => self.wait_over(key).into_iter().collect(),
            Due::Overflow(group) => self.overflow(cx, group),
            Due::Work(due) => self.decide_work_due(cx, due),
            Due::Lease(_) | Due::Retry(_) | Due::Offer(_) | Due::Stray(_) | Due::Orphan(_) => Vec::new(),
        };
        Ok(Decision::done(events))
    }

    fn expire<'a>(&self, cx: &mut Context<'_>, key: MessageKey) -> Vec<Event<'a>> {
        let Some(message) = self.message(key).filter(|message| message.expires <= cx.wall) else {
            return Vec::new();
        };
        let mut events = vec![Event::Expired { message: key, seq: message.seq }];
        let waiting: Vec<EntryKey> = self
            .entries_of(key)
            .filter(|(_, entry)| entry.state.may_still_leave())
            .map(|(key, _)| key)
            .collect();
        let reason = reason_of(message.life);
        if !waiting.is_empty() {
            events.extend(self.notice_of_death(cx, key, &waiting, reason, Next::Expired));
        }
        if !self.may_be_answered(key, |_, entry| entry.state.may_still_leave()) {
            events.extend(self.wait_over(key));
        }
        events
    }

    fn overflow<'a>(&self, cx: &mut Context<'_>, group: GroupKey) -> Vec<Event<'a>> {
        let oldest = self.groups.get(group).filter(|_| self.crowded.contains(&group));
        let oldest = oldest.and_then(|group| group.posts.iter().find_map(|(_, post)| post.entry));
        match oldest {
            Some(entry) => self.fail(cx, entry, "too many newer posts", Next::Dead),
            None => Vec::new(),
        }
    }

    pub(crate) fn expired(&mut self, key: MessageKey, at: Time, effects: &mut Effects) -> Applied {
        if let Some(message) = self.message(key) {
            let (expires, life) = (message.expires, message.life);
            self.timers.clear_expiry(expires, key);
            if let Some(message) = self.messages.get_mut(key.0) {
                message.expires = EXPIRED;
            }
            let reason = reason_of(life);
            self.end_waiting(key, at, effects, |broker, entry, at, effects| {
                broker.give_up(entry, End::Expired, reason, at, effects);
            });
        }
        Ok(())
    }
}

/// Says why a message expired.
fn reason_of(life: Life) -> &'static str {
    match life {
        Life::Instant => "nobody was connected",
        Life::Usual | Life::Withdrawn => "its time ran out",
    }
}
