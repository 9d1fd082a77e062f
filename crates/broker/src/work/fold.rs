//! What a fact changes in the state.

mod known;

use std::cmp::Reverse;

use message::{Seq, TaskStatus, task_number};

use super::{
    Asked, Dependencies, ENDED_MAX, Fact, Hold, JUDGED_MAX, Judged, JudgedHeld, LIMITS, Moved, NOTES_MAX,
    Note, OfTask, Offer, Policy, Rest, Step, Task, Timer, fingerprint, head, is_over,
};
use crate::broker::{Applied, Broker};
use crate::effect::Effects;
use crate::{Misfit, TaskKey, Time};

impl Broker {
    pub(crate) fn worked(&mut self, fact: &Fact<'_>, at: Time, effects: &mut Effects) -> Applied {
        self.work.updated = at;
        self.note_change(fact, at);
        match fact {
            Fact::Asked(asked) => self.asked(asked, at),
            Fact::Moved(moved) => self.moved(moved, at),
            Fact::Offered { .. } | Fact::Voted { .. } | Fact::Described { .. } => self.task_known(fact, at),
            Fact::GateRaised(_)
            | Fact::GateJudged { .. }
            | Fact::GateRenewed { .. }
            | Fact::HelpAsked { .. }
            | Fact::HelpOver { .. } => self.work.asked_for(fact, self.last, at),
            Fact::PolicySet { .. }
            | Fact::Allotted(_)
            | Fact::AllotmentGone { .. }
            | Fact::Consumed { .. } => self.ruled(fact),
            Fact::AgentDescribed { .. }
            | Fact::BreakerSet { .. }
            | Fact::Equipped { .. }
            | Fact::Fitness { .. } => self.agent_known(fact, effects),
            Fact::Judged(judged) => {
                self.work.note_judged(judged, at);
                Ok(())
            }
        }
    }

    /// Folds what is known of a task beside where it is.
    fn task_known(&mut self, fact: &Fact<'_>, at: Time) -> Applied {
        let seq = self.last;
        let (Fact::Offered { of, by, .. } | Fact::Voted { of, by, .. } | Fact::Described { of, by, .. }) =
            fact
        else {
            return Ok(());
        };
        let key = self.check_task(*of)?;
        if let Fact::Offered { message, until, .. } = fact {
            self.work.end_offer(key);
            self.work.timers.insert((*until, Timer::Offer(key)));
            // Whoever answers the offer speaks of the task.
            self.work.names.insert(fingerprint(&message.to_string()), key);
        }
        let task = self.work.tasks.get_mut(key.0).ok_or(Misfit::Missing { seq, what: "a task" })?;
        if let Fact::Offered { to, message, until, reason, .. } = fact {
            task.rest.offer = Some(Offer { to: *to, message: *message, until: *until, reason: *reason });
            task.note(Note { at, step: Step::Offered, by: *by, said: Seq(0) });
        }
        if let Fact::Voted { approves, outcome, .. } = fact {
            task.rest.votes.retain(|(voter, _)| voter != by);
            task.rest.votes.push((*by, *approves));
            task.note(Note { at, step: Step::Voted, by: *by, said: Seq(0) });
            if outcome.is_some() {
                task.rest.reviewed = *outcome;
                task.note(Note { at, step: Step::Reviewed, by: *by, said: Seq(0) });
            }
        }
        if let Fact::Described { overlay, .. } = fact {
            task.rest.overlay = overlay.as_ref().into();
        }
        Ok(())
    }

    fn check_task(&self, of: OfTask) -> Result<TaskKey, Misfit> {
        let is_it = self.work.task(of.task).is_some_and(|task| task.born == of.born);
        if is_it { Ok(of.task) } else { Err(Misfit::Missing { seq: self.last, what: "a task" }) }
    }

    fn asked(&mut self, asked: &Asked<'_>, at: Time) -> Applied {
        let seq = self.last;
        let key = asked.task;
        let names: Vec<_> =
            std::iter::once(&asked.id).chain(&asked.aliases).map(|id| fingerprint(id)).collect();
        if names.iter().any(|name| self.work.names.contains_key(name)) {
            return Err(Misfit::Taken { seq, what: "the name of a task" });
        }
        self.check_agent(asked.requester)?;
        let task = Task {
            id: (*asked.id).into(),
            title: head(asked.title).into(),
            born: seq,
            request: asked.request,
            requester: asked.requester,
            group: asked.group,
            holder: None,
            is_claimed: false,
            status: TaskStatus::Pending,
            hold: asked.hold,
            priority: asked.priority,
            blocker: None,
            version: 1,
            lapses: 0,
            created: at,
            updated: at,
            lease_until: Time::NEVER,
            slow_at: Time::NEVER,
            deadline: asked.deadline,
            is_late: false,
            ended: Seq(0),
            reserved: asked.reserved,
            spent: super::Micros(0),
            tokens: 0,
            rest: Box::new(rest_of(asked, names)),
        };
        self.work.put(key, task).map_err(|()| Misfit::Taken { seq, what: "a task" })?;
        // What it depends on may be lost before it is asked for.
        if self.work.task(key).is_some_and(|task| self.work.dependencies(task) == Dependencies::Lost) {
            self.work.stirred.insert(key);
        }
        let said = asked.request.map_or(Seq(0), |request| request.body);
        if let Some(task) = self.work.tasks.get_mut(key.0) {
            task.note(Note { at, step: Step::Requested, by: asked.requester, said });
        }
        Ok(())
    }

    fn moved(&mut self, moved: &Moved<'_>, at: Time) -> Applied {
        let seq = self.last;
        let key = self.check_task(moved.of)?;
        if let Some(holder) = moved.holder {
            self.check_agent(holder)?;
        }
        self.work.unindex(key);
        let Some(task) = self.work.task(key) else {
            return Err(Misfit::Missing { seq, what: "a task" });
        };
        let was_over = is_over(task.status);
        let has_new_holder = task.holder != moved.holder;
        let timeout_ms = self.work.policy.rules.breaker.map(|rule| rule.timeout_ms);
        let Some(task) = self.work.tasks.get_mut(key.0) else {
            return Err(Misfit::Missing { seq, what: "a task" });
        };
        task.take_step(moved, at, timeout_ms);
        let renamed = moved.anew.as_ref().and_then(|anew| anew.request).map(|request| request.id);
        let payer = task.payer();
        if let Some(payer) = payer
            && (moved.cost.0 > 0 || moved.tokens > 0)
        {
            let worker = self.work.workers.entry(payer).or_default();
            worker.spent = worker.spent.plus(moved.cost);
            worker.tokens = worker.tokens.saturating_add(moved.tokens);
        }
        self.work.spent = self.work.spent.plus(moved.cost);
        if let Some(request) = renamed {
            self.work.rename(key, request);
        }
        let is_over_now = is_over(moved.status);
        self.work.index(key);
        let ends_offer = matches!(moved.step, Step::HandedOver | Step::Declined | Step::OfferLapsed);
        if ends_offer || is_over_now || has_new_holder {
            self.work.end_offer(key);
        }
        if !moved.waits_for.is_empty() && !is_over_now {
            self.work.depend(key);
        }
        match (was_over, is_over_now) {
            (false, true) => self.work.over(key, seq),
            (true, false) => self.work.reopened(key),
            (true, true) | (false, false) => {}
        }
        if moved.step == Step::Freed || moved.step == Step::DependencyLost {
            self.work.stirred.remove(&key);
        }
        Ok(())
    }

    /// Lets no claim end before a time.
    pub(crate) fn grace_claims(&mut self, until: Time) {
        #[cfg(feature = "plants")]
        if self.has_plant(crate::plant::Plant::NoGraceForClaims) {
            return;
        }
        let early: Vec<(Time, Timer)> =
            self.work.timers.range(..(until, Timer::Lease(TaskKey(0)))).copied().collect();
        for (at, timer) in early {
            let (Timer::Lease(key) | Timer::Offer(key) | Timer::Slow(key)) = timer else { continue };
            let Some(task) = self.work.tasks.get_mut(key.0) else { continue };
            match timer {
                Timer::Lease(_) => task.lease_until = until,
                Timer::Slow(_) => task.slow_at = until,
                Timer::Offer(_) | Timer::Gate(_) | Timer::Help(_) | Timer::Breaker(_) => {
                    if let Some(offer) = task.rest.offer.as_mut() {
                        offer.until = until;
                    }
                }
            }
            self.work.timers.remove(&(at, timer));
            self.work.timers.insert((until, timer));
        }
    }
}

fn rest_of(asked: &Asked<'_>, names: Vec<crate::Fingerprint>) -> Rest {
    let boxed = |texts: &[&str]| texts.iter().map(|text| Box::from(*text)).collect();
    Rest {
        aliases: names,
        asked: asked.asked.clone(),
        dependencies: boxed(&asked.dependencies),
        capabilities: boxed(&asked.capabilities),
        budget: asked.budget,
        tokens_max: asked.tokens_max,
        quality: asked.quality,
        chain: asked.chain.as_deref().map(Box::from),
        overlay: asked.overlay.as_ref().into(),
        ..Rest::default()
    }
}

/// Reads the rules of a policy document; the empty one has none.
pub(super) fn read_policy(document: &[u8]) -> Option<Policy> {
    if document.is_empty() {
        return Some(Policy::default());
    }
    let value = json::parse(document, LIMITS).ok()?;
    Policy::read(&value).ok()
}

impl Task {
    /// Takes a step.
    fn take_step(&mut self, moved: &Moved<'_>, at: Time, timeout_ms: Option<u64>) {
        let was_over = is_over(self.status);
        let has_new_holder = self.holder != moved.holder;
        (self.status, self.holder, self.is_claimed) = (moved.status, moved.holder, moved.is_claimed);
        (self.lease_until, self.hold, self.blocker) = (moved.lease_until, moved.hold, moved.blocker);
        self.spent = self.spent.plus(moved.cost);
        self.tokens = self.tokens.saturating_add(moved.tokens);
        self.reserved = moved.reserved;
        self.is_late |= moved.step == Step::Late;
        for name in &moved.waits_for {
            if !self.rest.dependencies.iter().any(|known| **known == **name) {
                self.rest.dependencies.push((*name).into());
            }
        }
        if let Some(anew) = &moved.anew {
            (self.rest.asked, self.group) = (anew.asked.clone(), anew.group);
            self.request = anew.request.or(self.request);
        }
        if moved.step == Step::Lapsed {
            self.lapses = self.lapses.saturating_add(1);
        }
        if has_new_holder {
            let until = timeout_ms.map(|ms| at.plus_ms(ms));
            self.slow_at = moved.holder.and(until).unwrap_or(Time::NEVER);
        }
        if moved.step == Step::Slow {
            self.slow_at = Time::NEVER;
        }
        if !moved.reason.is_empty() {
            self.rest.reason = head(moved.reason).into();
        }
        if is_over(moved.status) {
            (self.lease_until, self.slow_at) = (Time::NEVER, Time::NEVER);
            self.rest.outcome = (moved.said != Seq(0)).then_some(moved.said);
        } else if was_over {
            // What asked for it may have been trimmed while it was over.
            self.request = moved.anew.as_ref().and_then(|anew| anew.request);
            (self.rest.outcome, self.rest.reviewed) = (None, None);
            self.rest.votes.clear();
        }
        self.version = self.version.saturating_add(1);
        self.note(Note { at, step: moved.step, by: moved.by, said: moved.said });
    }

    /// Remembers a step.
    fn note(&mut self, note: Note) {
        let rest = &mut self.rest;
        if rest.notes.len() >= NOTES_MAX {
            rest.notes.remove(1);
            rest.notes_lost = rest.notes_lost.saturating_add(1);
        }
        rest.notes.push(note);
        self.updated = note.at;
    }
}

impl super::Works {
    /// Puts a task into its place and into the indexes.
    pub(super) fn put(&mut self, key: TaskKey, task: Task) -> Result<(), ()> {
        for name in &task.rest.aliases {
            self.names.insert(*name, key);
        }
        let is_open = !is_over(task.status);
        if !is_open {
            self.ended.insert((task.ended, key));
        }
        let number = task_number(&task.id);
        self.tasks.put(key.0, task).map_err(|_| ())?;
        // Where two names have one number, the first task keeps it.
        self.numbers.entry(number).or_insert(key);
        if is_open {
            self.depend(key);
        }
        self.index(key);
        Ok(())
    }

    /// Enters a task where it is found by what it waits for, and counts what is set aside for it.
    pub(super) fn index(&mut self, key: TaskKey) {
        let Some(task) = self.tasks.get(key.0) else { return };
        let entry = (Reverse(task.priority), task.born, key);
        if task.is_available() {
            for place in task.places() {
                self.available.entry(place).or_default().insert(entry);
            }
        }
        if let Some(count) = self.counts.get_mut(task.status as usize) {
            *count += 1;
        }
        self.reserved = self.reserved.plus(task.reserved);
        if let Some(payer) = task.payer().filter(|_| task.reserved.0 > 0) {
            let worker = self.workers.entry(payer).or_default();
            worker.reserved = worker.reserved.plus(task.reserved);
        }
        if let Some(holder) = task.holder.filter(|_| !is_over(task.status)) {
            self.workers.entry(holder).or_default().holds.insert(key);
        }
        for (at, timer) in [(task.lease_until, Timer::Lease(key)), (task.slow_at, Timer::Slow(key))] {
            if at != Time::NEVER {
                self.timers.insert((at, timer));
            }
        }
        if task.deadline != Time::NEVER && !task.is_late && !is_over(task.status) {
            self.deadlines.insert((task.deadline, key));
        }
    }

    /// Takes a task out of where `index` entered it.
    pub(super) fn unindex(&mut self, key: TaskKey) {
        let Some(task) = self.tasks.get(key.0) else { return };
        let entry = (Reverse(task.priority), task.born, key);
        for place in task.places() {
            if let Some(waiting) = self.available.get_mut(&place) {
                waiting.remove(&entry);
                if waiting.is_empty() {
                    self.available.remove(&place);
                }
            }
        }
        if let Some(count) = self.counts.get_mut(task.status as usize) {
            *count = count.saturating_sub(1);
        }
        self.reserved = self.reserved.minus(task.reserved);
        if let Some(payer) = task.payer().filter(|_| task.reserved.0 > 0)
            && let Some(worker) = self.workers.get_mut(&payer)
        {
            worker.reserved = worker.reserved.minus(task.reserved);
        }
        if let Some(worker) = task.holder.and_then(|holder| self.workers.get_mut(&holder)) {
            worker.holds.remove(&key);
        }
        self.timers.remove(&(task.lease_until, Timer::Lease(key)));
        self.timers.remove(&(task.slow_at, Timer::Slow(key)));
        self.deadlines.remove(&(task.deadline, key));
    }

    /// Calls a task by its id and by the message that asks for it now.
    fn rename(&mut self, key: TaskKey, request: message::MessageId) {
        let Some(task) = self.tasks.get_mut(key.0) else { return };
        for name in task.rest.aliases.drain(1.min(task.rest.aliases.len())..) {
            self.names.remove(&name);
        }
        let name = fingerprint(&request.to_string());
        task.rest.aliases.push(name);
        self.names.insert(name, key);
    }

    /// Ends the offer of a task, if there is one.
    pub(super) fn end_offer(&mut self, key: TaskKey) {
        let offer = self.tasks.get_mut(key.0).and_then(|task| task.rest.offer.take());
        if let Some(offer) = offer {
            self.timers.remove(&(offer.until, Timer::Offer(key)));
            self.names.remove(&fingerprint(&offer.message.to_string()));
        }
    }

    /// Notes that a task is over: who depends on it is looked at, and the oldest that are over are forgotten.
    fn over(&mut self, key: TaskKey, seq: Seq) {
        let Some(task) = self.tasks.get_mut(key.0) else { return };
        task.ended = seq;
        let Some(task) = self.tasks.get(key.0) else { return };
        // Dependents name it by any of its names.
        let waiting = task.rest.aliases.iter().filter_map(|name| self.dependents.get(name)).flatten();
        let is_free = |key: &&TaskKey| {
            self.task(**key).is_some_and(|task| self.dependencies(task) != Dependencies::Open)
        };
        let free: Vec<TaskKey> = waiting.filter(is_free).copied().collect();
        self.stirred.extend(free);
        let Some(task) = self.tasks.get(key.0) else { return };
        for name in &task.rest.dependencies {
            let name = fingerprint(name);
            if let Some(waiting) = self.dependents.get_mut(&name) {
                waiting.remove(&key);
                if waiting.is_empty() {
                    self.dependents.remove(&name);
                }
            }
        }
        self.stirred.remove(&key);
        self.ended.insert((seq, key));
        while self.ended.len() > ENDED_MAX {
            let Some((_, oldest)) = self.ended.pop_first() else { break };
            self.forget(oldest);
        }
    }

    /// Notes that a task is wanted again.
    fn reopened(&mut self, key: TaskKey) {
        let Some(task) = self.tasks.get_mut(key.0) else { return };
        let ended = std::mem::replace(&mut task.ended, Seq(0));
        self.ended.remove(&(ended, key));
        self.depend(key);
    }

    /// Enters what a task depends on.
    fn depend(&mut self, key: TaskKey) {
        let Some(task) = self.tasks.get(key.0) else { return };
        for name in &task.rest.dependencies {
            self.dependents.entry(fingerprint(name)).or_default().insert(key);
        }
    }

    /// Notes that the document that asks for a task is another one, elsewhere.
    pub(crate) fn request_amended(&mut self, id: message::MessageId, body: Seq, bytes: u32) {
        let Some(key) = self.find(&id.to_string()) else { return };
        let task = self.tasks.get_mut(key.0);
        if let Some(request) = task.and_then(|task| task.request.as_mut()).filter(|request| request.id == id)
        {
            (request.body, request.bytes) = (body, bytes);
        }
    }

    fn forget(&mut self, key: TaskKey) {
        self.unindex(key);
        self.stirred.remove(&key);
        if let Some(task) = self.tasks.remove(key.0) {
            for name in &task.rest.aliases {
                self.names.remove(name);
            }
            let number = task_number(&task.id);
            if self.numbers.get(&number) == Some(&key) {
                self.numbers.remove(&number);
            }
        }
    }

    /// Returns tasks for which something that they depend on is over, and for which that changes something.
    pub(super) fn stirred(&self) -> impl Iterator<Item = TaskKey> + '_ {
        self.stirred.iter().copied().filter(|key| {
            self.task(*key).is_some_and(|task| {
                let waits = task.hold == Hold::Dependencies
                    || (task.status == TaskStatus::Blocked
                        && task.blocker == Some(super::Blocker::Dependency));
                waits && self.dependencies(task) != Dependencies::Open
            })
        })
    }

    fn note_judged(&mut self, judged: &Judged<'_>, at: Time) {
        let Judged { task, agent, ask, outcome } = judged;
        self.judged.push_back(JudgedHeld {
            at,
            task: head(task).into(),
            agent: *agent,
            ask: *ask,
            outcome: *outcome,
        });
        while self.judged.len() > JUDGED_MAX {
            self.judged.pop_front();
        }
    }
}
