//! What happens to work, one thing after the other; and what the bus tells about it.

use broker::{AgentKey, Step, Time};
use message::{MessageId, Stage};

use super::{Before, Change, Heard, Move, Tell, Whom, is_over};
use crate::model::route::Way;
use crate::model::state::{Is, Place, State};

impl State {
    /// Lets everything happen that comes of something.
    pub(in crate::model) fn happen(&mut self, heard: Heard, now: Time) {
        for change in heard.changes {
            self.change(change, now);
        }
        for tell in heard.tells {
            self.tell(tell, now);
        }
    }

    pub(in crate::model) fn change(&mut self, change: Change, now: Time) {
        match change {
            Change::Asked(mut task) => {
                task.stirred = self.work.before(&task) == Before::Lost;
                self.work.tasks.push(*task);
            }
            Change::Move(moved) => self.moved(*moved, now),
            Change::Offer { task, by, offer } => {
                let task = &mut self.work.tasks[task];
                task.offer = Some(offer);
                task.history.push((Step::Offered, by));
            }
            Change::Vote { task, by, approves, outcome } => {
                let task = &mut self.work.tasks[task];
                task.votes.retain(|(voter, _)| *voter != by);
                task.votes.push((by, approves));
                task.history.push((Step::Voted, by));
                if outcome.is_some() {
                    task.reviewed = outcome;
                    task.history.push((Step::Reviewed, by));
                }
            }
            Change::Raise(id, gate) => drop(self.work.gates.insert(id, gate)),
            Change::Judge(id) => drop(self.work.gates.remove(&id)),
            Change::Help(id, help) => drop(self.work.helps.insert(id, help)),
            Change::HelpOver(id) => drop(self.work.helps.remove(&id)),
            Change::Breaker(agent, breaker) => {
                self.work.workers.entry(agent).or_default().breaker = breaker;
            }
            Change::Consume(id, consumed) => {
                if let Some(allotment) = self.work.allotments.get_mut(&id) {
                    allotment.consumed = consumed;
                }
            }
            Change::Settle { part, by } => {
                self.parts[part].is = Is::Ended(Stage::Acknowledged);
                self.parts[part].holder = Some(by);
            }
            Change::Withdraw(message) => self.withdraw(message),
            Change::Resume(message) => self.let_go_on(message),
            Change::TurnAway(message) => self.turn_away(message),
        }
    }

    fn moved(&mut self, moved: Move, now: Time) {
        let timeout_ms = self.work.rules.breaker.map(|rule| rule.timeout_ms);
        let task = &mut self.work.tasks[moved.task];
        let (was_over, is_new) = (is_over(task.status), task.holder != moved.holder);
        (task.status, task.holder, task.is_claimed) = (moved.status, moved.holder, moved.is_claimed);
        (task.lease_until, task.hold, task.blocker) = (moved.lease_until, moved.hold, moved.blocker);
        task.reserved = moved.reserved;
        task.spent += moved.cost;
        task.version += 1;
        task.is_late |= moved.step == Step::Late;
        task.lapses += u32::from(moved.step == Step::Lapsed);
        task.history.push((moved.step, moved.by));
        for name in moved.waits_for {
            if !task.dependencies.contains(&name) {
                task.dependencies.push(name);
            }
        }
        if let Some((asked, group)) = moved.asked {
            (task.asked, task.group) = (asked, group);
        }
        if let Some(request) = moved.request {
            // A task is called by its id and by the message that asks for it now.
            task.names.truncate(1);
            task.names.push(request.to_string().into());
            task.request = Some(request);
        }
        if is_new {
            let ms = timeout_ms.filter(|_| moved.holder.is_some());
            task.slow_at = ms.map_or(Time::NEVER, |ms| now.plus_ms(ms));
        }
        if matches!(moved.step, Step::HandedOver | Step::Declined | Step::OfferLapsed) || is_new {
            task.offer = None;
        }
        if moved.step == Step::Slow {
            task.slow_at = Time::NEVER;
        }
        if matches!(moved.step, Step::Freed | Step::DependencyLost) {
            task.stirred = false;
        }
        let is_over_now = is_over(moved.status);
        if is_over_now {
            (task.lease_until, task.slow_at, task.offer) = (Time::NEVER, Time::NEVER, None);
            task.stirred = false;
        } else if was_over {
            // What asked for it may have been trimmed while it was over.
            task.request = moved.request;
            task.votes.clear();
            task.reviewed = None;
        }
        let payer = task.payer();
        if let Some(payer) = payer.filter(|_| moved.cost > 0) {
            self.work.workers.entry(payer).or_default().spent += moved.cost;
        }
        self.work.spent += moved.cost;
        if is_over_now && !was_over {
            self.stir(moved.task);
        }
    }

    /// Those who wait for a task that is over are looked at again.
    fn stir(&mut self, ended: usize) {
        let names = self.work.tasks[ended].names.clone();
        for index in 0..self.work.tasks.len() {
            let task = &self.work.tasks[index];
            let waits = task.dependencies.iter().any(|name| names.contains(name));
            if waits && !is_over(task.status) && self.work.before(task) != Before::Open {
                self.work.tasks[index].stirred = true;
            }
        }
    }

    /// Tells those who are there, each once.
    pub(super) fn tell(&mut self, tell: Tell, now: Time) {
        let mut ways: Vec<Way> = Vec::new();
        for whom in tell.to {
            let way = match whom {
                Whom::Agent(AgentKey::SYSTEM | AgentKey::RUNNER) => continue,
                Whom::Agent(agent) if !self.is_there(agent) => continue,
                Whom::Agent(agent) => Way::To(Place::Agent(agent), agent),
                Whom::Group(group) if !self.groups.contains_key(&group) => continue,
                Whom::Group(group) if group.starts_with("roles.") => Way::Role(group),
                Whom::Group(group) => Way::Shared(group),
            };
            if !ways.contains(&way) {
                ways.push(way);
            }
        }
        if !ways.is_empty() {
            self.notice(tell.kind, tell.priority, &ways, now);
        }
    }

    /// Ends what is parked with a message, for good.
    fn turn_away(&mut self, message: MessageId) {
        let name = self.messages[&message].conversation.clone();
        for index in 0..self.parts.len() {
            let part = &self.parts[index];
            let is_it = part.message == message || (name.is_some() && self.letter(part).conversation == name);
            if part.is == Is::Parked && is_it {
                self.give_up(index, Stage::Dead);
            }
        }
    }

    /// Claims, offers and slow work get a grace after a sleep.
    pub(in crate::model) fn grace_work(&mut self, until: Time) {
        for task in &mut self.work.tasks {
            let offer = task.offer.as_mut().map(|offer| &mut offer.until);
            for time in [Some(&mut task.lease_until), Some(&mut task.slow_at), offer].into_iter().flatten() {
                *time = (*time).max(until);
            }
        }
    }
}
