//! What a fact changes in the state.

use std::cmp::Reverse;

use message::{Seq, TaskStatus};

use super::{
    Allotment, Allotted, Asked, Breaker, Dependencies, ENDED_MAX, Fact, Gate, Help, Hold, JUDGED_GATES_MAX,
    JUDGED_MAX, Judged, JudgedHeld, Judgement, LIMITS, Moved, NOTES_MAX, Note, OfTask, Offer, Policy,
    PolicyHeld, Rest, Step, Task, Timer, Worker, fingerprint, head, is_over,
};
use crate::broker::{Applied, Broker};
use crate::effect::{Effect, Effects};
use crate::mailbox::Mailbox;
use crate::{AgentKey, Misfit, TaskKey, Time};

impl Broker {
    pub(crate) fn worked(&mut self, fact: &Fact<'_>, at: Time, effects: &mut Effects) -> Applied {
        let seq = self.last;
        self.work.updated = at;
        match fact {
            Fact::Asked(asked) => self.asked(asked, at),
            Fact::Moved(moved) => self.moved(moved, at),
            Fact::Offered { of, by, to, message, until, reason } => {
                let key = self.check_task(*of)?;
                let offer = Offer { to: *to, message: *message, until: *until, reason: *reason };
                self.work.end_offer(key);
                self.work.timers.insert((*until, Timer::Offer(key)));
                // Whoever answers the offer speaks of the task.
                self.work.names.insert(fingerprint(&message.to_string()), key);
                let task = self.work.tasks.get_mut(key.0).ok_or(Misfit::Missing { seq, what: "a task" })?;
                task.rest.offer = Some(offer);
                task.note(Note { at, step: Step::Offered, by: *by, said: Seq(0) });
                Ok(())
            }
            Fact::Voted { of, by, approves, outcome } => {
                let key = self.check_task(*of)?;
                let task = self.work.tasks.get_mut(key.0).ok_or(Misfit::Missing { seq, what: "a task" })?;
                task.rest.votes.retain(|(voter, _)| voter != by);
                task.rest.votes.push((*by, *approves));
                task.note(Note { at, step: Step::Voted, by: *by, said: Seq(0) });
                if outcome.is_some() {
                    task.rest.reviewed = *outcome;
                    task.note(Note { at, step: Step::Reviewed, by: *by, said: Seq(0) });
                }
                Ok(())
            }
            Fact::Described { of, overlay, .. } => {
                let key = self.check_task(*of)?;
                let task = self.work.tasks.get_mut(key.0).ok_or(Misfit::Missing { seq, what: "a task" })?;
                task.rest.overlay = overlay.as_ref().into();
                Ok(())
            }
            Fact::GateRaised(raised) => {
                let gate = Gate {
                    asker: raised.asker,
                    guards: raised.guards,
                    task: raised.task,
                    since: at,
                    until: raised.until,
                    why: head(&raised.why).into(),
                };
                self.work.timers.insert((raised.until, Timer::Gate(raised.gate)));
                match self.work.gates.insert(raised.gate, gate) {
                    None => Ok(()),
                    Some(_) => Err(Misfit::Taken { seq, what: "a gate" }),
                }
            }
            Fact::GateJudged { gate, by, approved, reason } => {
                let held = self.work.gates.remove(gate).ok_or(Misfit::Missing { seq, what: "a gate" })?;
                self.work.timers.remove(&(held.until, Timer::Gate(*gate)));
                let judgement = Judgement { by: *by, approved: *approved, at, reason: head(reason).into() };
                self.work.judged_gates.push_back((*gate, held, judgement));
                while self.work.judged_gates.len() > JUDGED_GATES_MAX {
                    self.work.judged_gates.pop_front();
                }
                Ok(())
            }
            Fact::GateRenewed { gate, until } => {
                let held = self.work.gates.get_mut(gate).ok_or(Misfit::Missing { seq, what: "a gate" })?;
                let before = std::mem::replace(&mut held.until, *until);
                self.work.timers.remove(&(before, Timer::Gate(*gate)));
                self.work.timers.insert((*until, Timer::Gate(*gate)));
                Ok(())
            }
            Fact::HelpAsked { help, asker, until } => {
                self.work.timers.insert((*until, Timer::Help(*help)));
                self.work.helps.insert(*help, Help { asker: *asker, until: *until });
                Ok(())
            }
            Fact::HelpOver { help, .. } => {
                let held =
                    self.work.helps.remove(help).ok_or(Misfit::Missing { seq, what: "a call for help" })?;
                self.work.timers.remove(&(held.until, Timer::Help(*help)));
                Ok(())
            }
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

    /// Folds what is known of rules and allotments.
    fn ruled(&mut self, fact: &Fact<'_>) -> Applied {
        let seq = self.last;
        match fact {
            Fact::PolicySet { version, by, document } => {
                let rules = read_policy(document).ok_or(Misfit::State { seq, what: "a policy" })?;
                let (by, document) = (Some(*by), document.as_ref().into());
                self.work.policy = PolicyHeld { rules, version: *version, by, document };
                Ok(())
            }
            Fact::Allotted(allotted) => {
                self.check_agent(allotted.agent)?;
                let Allotted { id, version, agent, resource, allocated, consumed, limit, expires, overlay } =
                    &**allotted;
                let allotment = Allotment {
                    version: *version,
                    agent: *agent,
                    resource: *resource,
                    allocated: *allocated,
                    consumed: *consumed,
                    limit: *limit,
                    expires: *expires,
                    overlay: overlay.as_ref().into(),
                };
                self.work.allotments.insert((*id).into(), allotment);
                Ok(())
            }
            Fact::AllotmentGone { id, .. } => {
                let gone = self.work.allotments.remove(*id);
                gone.map(|_| ()).ok_or(Misfit::Missing { seq, what: "an allotment" })
            }
            Fact::Consumed { id, consumed } => match self.work.allotments.get_mut(&**id) {
                Some(allotment) => {
                    allotment.consumed = *consumed;
                    Ok(())
                }
                None => Err(Misfit::Missing { seq, what: "an allotment" }),
            },
            _ => Ok(()),
        }
    }

    /// Folds what is known of an agent as somebody who works.
    fn agent_known(&mut self, fact: &Fact<'_>, effects: &mut Effects) -> Applied {
        match fact {
            Fact::AgentDescribed { agent, version, overlay } => {
                let worker = self.worker_mut(*agent)?;
                (worker.version, worker.overlay) = (*version, overlay.as_ref().into());
            }
            Fact::BreakerSet { agent, breaker } => {
                let worker = self.worker_mut(*agent)?;
                let before = std::mem::replace(&mut worker.breaker, *breaker);
                if let Breaker::Open { until } | Breaker::Probing { until } = before {
                    self.work.timers.remove(&(until, Timer::Breaker(*agent)));
                }
                match breaker {
                    Breaker::Open { until } | Breaker::Probing { until } => {
                        self.work.timers.insert((*until, Timer::Breaker(*agent)));
                    }
                    // What waited for it may leave now, one piece or all.
                    Breaker::HalfOpen | Breaker::Closed => self.rouse(*agent, effects),
                    Breaker::Counting(_) => {}
                }
            }
            Fact::Equipped { agent, capabilities } => {
                let worker = self.worker_mut(*agent)?;
                worker.capabilities = capabilities.iter().map(|text| Box::from(*text)).collect();
            }
            Fact::Fitness { agent, quality, from } => {
                let worker = self.worker_mut(*agent)?;
                (worker.quality, worker.from) = (*quality, *from);
                self.rouse(*agent, effects);
            }
            _ => {}
        }
        Ok(())
    }

    /// Says that an agent may be given what it was not given before.
    pub(crate) fn rouse(&self, agent: AgentKey, effects: &mut Effects) {
        let groups = self.agents.get(agent).map(|agent| agent.groups.as_slice()).unwrap_or_default();
        effects.push(Effect::Ready(Mailbox::Agent(agent)));
        effects.extend(groups.iter().map(|group| Effect::Ready(Mailbox::Group(*group))));
    }

    fn check_agent(&self, agent: AgentKey) -> Applied {
        let known = self.agents.get(agent).map(|_| ());
        known.ok_or(Misfit::Missing { seq: self.last, what: "an agent" })
    }

    fn worker_mut(&mut self, agent: AgentKey) -> Result<&mut Worker, Misfit> {
        self.check_agent(agent)?;
        Ok(self.work.workers.entry(agent).or_default())
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
        let said = moved.said;
        let timeout_ms = self.work.policy().breaker.map(|rule| rule.timeout_ms);
        self.work.unindex(key);
        let Some(task) = self.work.tasks.get_mut(key.0) else {
            return Err(Misfit::Missing { seq, what: "a task" });
        };
        let was_over = is_over(task.status);
        let has_new_holder = task.holder != moved.holder;
        (task.status, task.holder, task.is_claimed) = (moved.status, moved.holder, moved.is_claimed);
        (task.lease_until, task.hold, task.blocker) = (moved.lease_until, moved.hold, moved.blocker);
        task.spent = task.spent.plus(moved.cost);
        task.tokens = task.tokens.saturating_add(moved.tokens);
        task.reserved = moved.reserved;
        task.is_late |= moved.step == Step::Late;
        for name in &moved.waits_for {
            if !task.rest.dependencies.iter().any(|known| **known == **name) {
                task.rest.dependencies.push((*name).into());
            }
        }
        if let Some(anew) = &moved.anew {
            (task.rest.asked, task.group) = (anew.asked.clone(), anew.group);
            task.request = anew.request.or(task.request);
        }
        let renamed = moved.anew.as_ref().and_then(|anew| anew.request).map(|request| request.id);
        if moved.step == Step::Lapsed {
            task.lapses = task.lapses.saturating_add(1);
        }
        if has_new_holder {
            task.slow_at = match (moved.holder, timeout_ms) {
                (Some(_), Some(ms)) => at.plus_ms(ms),
                (None, _) | (_, None) => Time::NEVER,
            };
        }
        if moved.step == Step::Slow {
            task.slow_at = Time::NEVER;
        }
        if !moved.reason.is_empty() {
            task.rest.reason = head(moved.reason).into();
        }
        let is_over_now = is_over(moved.status);
        if is_over_now {
            (task.lease_until, task.slow_at) = (Time::NEVER, Time::NEVER);
            task.rest.outcome = (said != Seq(0)).then_some(said);
        } else if was_over {
            // What asked for it may have been trimmed while it was over.
            task.request = moved.anew.as_ref().and_then(|anew| anew.request);
            (task.rest.outcome, task.rest.reviewed) = (None, None);
            task.rest.votes.clear();
        }
        task.version = task.version.saturating_add(1);
        task.updated = at;
        task.note(Note { at, step: moved.step, by: moved.by, said });
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
        self.tasks.put(key.0, task).map_err(|_| ())?;
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
