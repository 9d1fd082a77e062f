//! Tasks move: somebody begins, ends, refuses, cannot go on, or takes its wish back.

use message::{Kind, TaskStatus};

use super::hear::{Heard, NOWHERE, Right, Spoken};
use super::notices::Tell;
use super::{Blocker, Fact, Hold, Micros, Moved, Resource, Step, Task, TaskIntent, after, is_over};
use crate::accept::is_answer;
use crate::broker::Broker;
use crate::entry::{Entry, State};
use crate::group::GroupKind;
use crate::mailbox::Mailbox;
use crate::{Accept, AgentKey, Caution, Context, EntryKey, Event, Next, Refusal, TaskKey, Time};

impl Broker {
    /// Returns a task as it is, with a step by which nothing of it changes yet.
    pub(super) fn unmoved<'a>(&self, key: TaskKey, task: &Task, step: Step, by: AgentKey) -> Moved<'a> {
        Moved {
            of: task.of(key),
            step,
            by,
            status: task.status,
            holder: task.holder,
            is_claimed: task.is_claimed,
            lease_until: task.lease_until,
            hold: task.hold,
            blocker: task.blocker,
            reserved: task.reserved,
            cost: Micros(0),
            tokens: 0,
            said: NOWHERE,
            anew: None,
            waits_for: Vec::new(),
            reason: "",
        }
    }

    pub(super) fn moved_by<'a>(
        &self,
        key: TaskKey,
        task: &Task,
        step: Step,
        by: AgentKey,
        spoken: &Spoken<'_, '_>,
    ) -> Moved<'a> {
        Moved { said: spoken.seq, ..self.unmoved(key, task, step, by) }
    }

    /// Hears of work on a task.
    pub(super) fn hear_step<'a>(
        &self,
        cx: &mut Context<'_>,
        accept: &'a Accept,
        intent: &'a TaskIntent,
        spoken: &Spoken<'_, 'a>,
        step: Step,
    ) -> Result<Heard<'a>, Refusal> {
        if let Some(kind) = self.kind_answered(spoken)
            && !asks_for_work(kind)
        {
            // Some dialects have one word for every answer: this one ends a question, not the task.
            let is_help = kind == Kind::HelpAsk && step != Step::Started;
            return if is_help {
                self.hear_help_answered(accept, intent, spoken)
            } else {
                Ok(Heard::default())
            };
        }
        let Some((key, task)) = self.subject(accept, Some(spoken)) else {
            let is_named = accept.task.as_deref().is_some() && step != Step::Started;
            let text = "no task of this name is known here: nothing but the message itself goes on";
            return Ok(if is_named { Heard::nothing_but("unknown_task", text) } else { Heard::default() });
        };
        let right = self.right(task, accept.from, self.answers_request(task, spoken));
        let right = self.looser(right);
        match right {
            Right::AlsoAsked => {
                let text =
                    "another answered first: this goes to its recipient and changes nothing of the task";
                return Ok(Heard::nothing_but("task_answered", text));
            }
            // How it goes may be told by anybody, and what is told to others than who wants the task ends nothing;
            // whoever has the task says what is so.
            Right::Stranger | Right::Member
                if step == Step::Started || !Self::asked_by(spoken.targets).0.contains(&task.requester) =>
            {
                if task.requester == accept.from {
                    return Ok(Heard::default());
                }
                return Ok(Heard::nothing_but(
                    "not_holder",
                    "you do not have this task: nothing of it changes",
                ));
            }
            Right::Stranger | Right::Member => return Err(self.not_holder(task)),
            Right::Holder | Right::Asked | Right::Offered | Right::Operator => {}
        }
        if right != Right::Operator {
            self.held(task)?;
        }
        let Some(status) = after(task.status, step) else { return Err(self.misplaced(task, step)) };
        let by = match task.holder {
            Some(holder) if accept.from.is_machinery() || right == Right::Operator => holder,
            Some(_) | None => accept.from,
        };
        let mut heard = Heard::default();
        let mut moved = Moved { status, ..self.moved_by(key, task, step, accept.from, spoken) };
        if right == Right::Offered {
            heard.tells.extend(self.tell_taken_over(task, by));
        }
        if right != Right::Operator {
            (moved.holder, moved.hold) = (Some(by), Hold::Nothing);
        }
        moved.reason = intent.reason.as_deref().unwrap_or_default();
        moved.blocker =
            if step == Step::Blocked { intent.blocker.or(Some(Blocker::Ambiguity)) } else { None };
        if moved.blocker == Some(Blocker::Dependency) {
            moved.waits_for = super::request::texts(&intent.dependencies);
            self.check_cycle(&task.id, &moved.waits_for)?;
        }
        // What nobody has cannot lapse.
        if matches!(step, Step::Started | Step::Blocked) && moved.holder.is_some() {
            moved.lease_until = cx.now.plus_ms(self.lease_ms(intent));
        }
        self.bill(&mut heard, &mut moved, intent, step, by, cx.wall);
        self.after_step(cx, &mut heard, task, &moved, by, (accept, intent, spoken));
        heard.facts.insert(0, Fact::Moved(Box::new(moved)));
        if step == Step::Rejected && task.group.is_some() && right != Right::Operator {
            return Ok(self.returned_to_queue(key, task, accept.from, spoken, intent));
        }
        Ok(heard)
    }

    /// Returns the kind of what a message answers, if whoever sends it was given that.
    fn kind_answered(&self, spoken: &Spoken<'_, '_>) -> Option<Kind> {
        spoken.answers.and_then(|of| self.message_of(of.entry)).map(|message| message.kind)
    }

    fn looser(&self, right: Right) -> Right {
        #[cfg(feature = "plants")]
        if self.has_plant(crate::plant::Plant::AnybodyCompletes)
            && matches!(right, Right::Stranger | Right::Member)
        {
            return Right::Holder;
        }
        right
    }

    /// Counts what a step has cost, and lets go what was set aside when the task is over.
    fn bill<'a>(
        &self,
        heard: &mut Heard<'a>,
        moved: &mut Moved<'a>,
        intent: &TaskIntent,
        step: Step,
        by: AgentKey,
        wall: Time,
    ) {
        if !matches!(step, Step::Done | Step::Failed | Step::Rejected | Step::Blocked) {
            return;
        }
        moved.cost = intent.cost.unwrap_or_default();
        moved.tokens = intent.tokens.unwrap_or(0);
        if step != Step::Blocked && !self.leaks_budget() {
            moved.reserved = Micros(0);
        }
        for (id, allotment) in
            self.work.allotments.iter().filter(|(_, one)| one.agent == by && one.expires > wall)
        {
            let used = match allotment.resource {
                Resource::Tokens => moved.tokens,
                Resource::Budget => moved.cost.0,
                Resource::Cpu | Resource::Memory => 0,
            };
            if used > 0 {
                let consumed = allotment.consumed.saturating_add(used);
                heard.facts.push(Fact::Consumed { id: id.to_string().into(), consumed });
            }
        }
    }

    fn leaks_budget(&self) -> bool {
        #[cfg(feature = "plants")]
        return self.has_plant(crate::plant::Plant::KeepReserve);
        #[cfg(not(feature = "plants"))]
        false
    }

    /// Adds what follows from a step: how the agent is seen, who is told.
    fn after_step<'a>(
        &self,
        cx: &mut Context<'_>,
        heard: &mut Heard<'a>,
        task: &Task,
        moved: &Moved<'a>,
        by: AgentKey,
        (accept, intent, spoken): (&Accept, &TaskIntent, &Spoken<'_, '_>),
    ) {
        if moved.step == Step::Done {
            heard.facts.extend(self.success_of(by));
        }
        if moved.step == Step::Failed {
            heard.facts.extend(self.error_of(cx, by));
        }
        if moved.step == Step::Blocked {
            heard.tells.extend(self.tell_blocked(task, by, intent));
            let known = task.rest.dependencies.iter().map(|name| &**name);
            let is_free = known.chain(moved.waits_for.iter().copied()).all(|name| self.is_done(name));
            if moved.blocker == Some(Blocker::Dependency) && is_free {
                let text = "everything that it depends on is done, as far as is known here";
                heard.cautions.push(Caution::new("nothing_open", text));
            }
        }
        let is_first = task.holder.is_none() && moved.holder.is_some();
        if is_first || is_over(moved.status) {
            heard.events.extend(self.settle_request(task, by, accept.kind, spoken));
        }
    }

    /// Returns what settles the request of a task for whoever has it now, so that nobody else is handed it, and that
    /// nobody is handed what it has done.
    pub(super) fn settle_request<'a>(
        &self,
        task: &Task,
        by: AgentKey,
        kind: Kind,
        spoken: &Spoken<'_, '_>,
    ) -> Vec<Event<'a>> {
        let Some((message, _)) = self.request_of(task) else { return Vec::new() };
        let ends = is_answer(kind);
        let answered = spoken.answers.map(|of| of.entry).filter(|_| ends);
        let is_settled = |key: EntryKey, entry: &Entry| {
            answered == Some(key) && (entry.state.is_out() || entry.attempts > 0)
        };
        let concerns = |entry: &Entry| match entry.mailbox {
            Mailbox::Group(group) => {
                self.groups.get(group).is_some_and(|group| group.kind == GroupKind::Role)
            }
            Mailbox::Agent(agent) => ends && agent == by,
            Mailbox::Session(_) | Mailbox::Nobody => false,
        };
        let open = self.entries_of(message).filter(|(key, entry)| {
            let is_open =
                matches!(entry.state, State::Waiting | State::Pausing | State::Flight | State::Stray);
            is_open && concerns(entry) && !is_settled(*key, entry)
        });
        let settled = open.filter_map(|(key, _)| self.of(key));
        settled.map(|of| Event::Acknowledged { of, agent: by, by: "claim" }).collect()
    }

    /// Gives a task that one member of a role does not do to the others.
    fn returned_to_queue<'a>(
        &self,
        key: TaskKey,
        task: &Task,
        by: AgentKey,
        spoken: &Spoken<'_, '_>,
        intent: &'a TaskIntent,
    ) -> Heard<'a> {
        let moved = Moved {
            status: TaskStatus::Pending,
            holder: None,
            is_claimed: false,
            lease_until: Time::NEVER,
            reason: intent.reason.as_deref().unwrap_or_default(),
            ..self.moved_by(key, task, Step::Rejected, by, spoken)
        };
        let tells = self.tell_available(task).into_iter().collect();
        Heard { facts: vec![Fact::Moved(Box::new(moved))], tells, ..Heard::default() }
    }

    /// Hears that a task is not wanted any more.
    pub(super) fn hear_cancel<'a>(
        &self,
        accept: &'a Accept,
        intent: &'a TaskIntent,
        spoken: &Spoken<'_, 'a>,
    ) -> Result<Heard<'a>, Refusal> {
        let Some((key, task)) = self.subject(accept, Some(spoken)) else {
            return Ok(Heard::nothing_but("unknown_task", "no task of this name is known here"));
        };
        if task.requester != accept.from && accept.from != AgentKey::HUMAN {
            return Err(Refusal::NotRequester { task: task.id.to_string() });
        }
        let (moved, events, tells) = self.cancelled(key, task, accept.from, intent.reason.as_deref())?;
        let moved = Moved { said: spoken.seq, ..moved };
        Ok(Heard { facts: vec![Fact::Moved(Box::new(moved))], events, tells, ..Heard::default() })
    }

    /// Ends a task that is not wanted any more: its request is withdrawn, its holder is told.
    pub(super) fn cancelled<'a>(
        &self,
        key: TaskKey,
        task: &Task,
        by: AgentKey,
        reason: Option<&'a str>,
    ) -> Result<(Moved<'a>, Vec<Event<'a>>, Vec<Tell>), Refusal> {
        let Some(status) = after(task.status, Step::Cancelled) else {
            return Err(self.misplaced(task, Step::Cancelled));
        };
        let reason = reason.unwrap_or_default();
        let moved = Moved {
            status,
            hold: Hold::Nothing,
            reserved: Micros(0),
            reason,
            ..self.unmoved(key, task, Step::Cancelled, by)
        };
        let mut events = Vec::new();
        if let Some((message, found)) = self.request_of(task).filter(|(_, found)| found.open > 0) {
            events.push(Event::Withdrawn { message, seq: found.seq });
        }
        let gates = self.work.gates.iter().filter(|(_, gate)| gate.task == Some(key));
        for (gate, _) in gates {
            let (approved, reason) = (false, "the task was cancelled");
            events.push(Event::Work(Fact::GateJudged { gate: *gate, by, approved, reason }));
        }
        let tells = self.tell_cancelled(task, by, reason).into_iter().collect();
        Ok((moved, events, tells))
    }

    /// Adds that the task is cancelled for which a message asked that its sender takes back.
    pub(crate) fn with_cancelled<'a>(
        &self,
        cx: &mut Context<'_>,
        mut events: Vec<Event<'a>>,
        id: message::MessageId,
        by: AgentKey,
    ) -> Vec<Event<'a>> {
        let key = self.work.find(&id.to_string());
        let asked = key.and_then(|key| self.work.task(key).map(|task| (key, task)));
        let asked = asked.filter(|(_, task)| task.request.is_some_and(|request| request.id == id));
        let Some((key, task)) = asked else { return events };
        let Ok((moved, follows, tells)) = self.cancelled(key, task, by, None) else { return events };
        events.push(Event::Work(Fact::Moved(Box::new(moved))));
        // It is withdrawn already.
        events.extend(follows.into_iter().filter(|event| matches!(event, Event::Work(_))));
        self.with_tells(cx, events, tells)
    }

    /// Ends every delivery of a message that was kept from going, with a reason that its sender is told.
    pub(super) fn turn_away<'a>(&self, message: crate::MessageKey, reason: &'a str) -> Vec<Event<'a>> {
        let extra = self.message(message).and_then(|message| message.extra.as_deref());
        let conversation = extra.map(|extra| extra.conversation).filter(|conversation| *conversation != 0);
        // A conversation ends as a whole.
        let parked = self.parked.iter().filter(|entry| {
            self.entry(**entry).is_some_and(|it| it.message == message)
                || (conversation.is_some() && self.conversation_of(**entry) == conversation)
        });
        let failed = parked.filter_map(|entry| self.of(*entry));
        failed.map(|of| Event::Failed(crate::Failed { of, reason, next: Next::Dead })).collect()
    }

    /// Returns the message that asks for a task, while the state remembers it.
    pub(super) fn request_of(&self, task: &Task) -> Option<(crate::MessageKey, &crate::entry::Message)> {
        let request = task.request?;
        let found = self.message(request.message).filter(|message| message.id == request.id)?;
        Some((request.message, found))
    }

    /// Returns for how long a claim lasts.
    pub(super) fn lease_ms(&self, intent: &TaskIntent) -> u64 {
        let limits = &self.settings.limits;
        let ms = intent.lease_ms.unwrap_or(self.work.policy().claim_ms);
        ms.clamp(limits.lease_ms_min, limits.lease_ms_max)
    }
}

/// Tells whether an answer to a message of this kind speaks of the task of the message.
fn asks_for_work(kind: Kind) -> bool {
    !matches!(kind, Kind::HelpAsk | Kind::Question | Kind::Gate | Kind::ReviewVerdict)
}
