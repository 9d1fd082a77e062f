//! What a message means for work: which task it speaks of, and whether whoever says it may.

use message::{Kind, Seq, TaskStatus};

use super::notices::Tell;
use super::{Fact, Hold, Step, Task, TaskIntent, TaskRequest};
use crate::broker::Broker;
use crate::{Accept, AgentKey, Caution, Context, Event, MessageKey, Of, Refusal, Target, TaskKey};

/// A message that is about to be accepted.
pub(crate) struct Spoken<'s, 'a> {
    pub(crate) message: MessageKey,
    pub(crate) id: message::MessageId,
    /// Where it will be accepted.
    pub(crate) seq: Seq,
    pub(crate) targets: &'s [Target<'a>],
    /// What it answers, if whoever sends it has that.
    pub(crate) answers: Option<Of>,
}

impl Spoken<'_, '_> {
    /// Returns it as what asks for a task.
    pub(super) fn request(&self, accept: &Accept) -> TaskRequest {
        let bytes = u32::try_from(accept.body.len()).unwrap_or(u32::MAX);
        TaskRequest { message: self.message, id: self.id, body: self.seq, bytes }
    }
}

/// What comes of a message for work.
#[derive(Default)]
pub(crate) struct Heard<'a> {
    /// What must be there before the message is accepted.
    pub(crate) facts: Vec<Fact<'a>>,
    /// What else follows: deliveries that are settled, messages that may go.
    pub(crate) events: Vec<Event<'a>>,
    /// What is told to whom.
    pub(crate) tells: Vec<Tell>,
    /// Whether the message waits for something else.
    pub(crate) parks: bool,
    /// Whether it is kept and handed to nobody.
    pub(crate) files: bool,
    pub(crate) cautions: Vec<Caution>,
}

/// What somebody may do with a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Right {
    /// It has the task, or acts for whoever has it.
    Holder,
    /// It was asked, and nobody has the task.
    Asked,
    /// It is one of those of whom any may claim the task, and nobody has.
    Member,
    /// It is offered the task.
    Offered,
    /// It was asked as well, and another has answered first.
    AlsoAsked,
    /// It is the operator.
    Operator,
    /// None of these.
    Stranger,
}

impl Broker {
    /// Hears a message that is new.
    pub(crate) fn hear<'a>(
        &self,
        cx: &mut Context<'_>,
        accept: &'a Accept,
        spoken: &Spoken<'_, 'a>,
    ) -> Result<Heard<'a>, Refusal> {
        let intent = accept.intent.as_deref().unwrap_or(TaskIntent::NOTHING);
        match accept.kind {
            Kind::TaskRequest => self.hear_request(cx, accept, intent, spoken),
            Kind::TaskClaim => self.hear_claim(cx, accept, intent, spoken),
            Kind::TaskProgress => match intent.status {
                Some(TaskStatus::Cancelled) => self.hear_cancel(accept, intent, spoken),
                Some(TaskStatus::Blocked) => self.hear_step(cx, accept, intent, spoken, Step::Blocked),
                Some(TaskStatus::Failed) => self.hear_step(cx, accept, intent, spoken, Step::Failed),
                Some(TaskStatus::Done) => self.hear_step(cx, accept, intent, spoken, Step::Done),
                Some(TaskStatus::Claimed) => self.hear_claim(cx, accept, intent, spoken),
                Some(TaskStatus::Pending | TaskStatus::Running | TaskStatus::Rejected) | None => {
                    self.hear_step(cx, accept, intent, spoken, Step::Started)
                }
            },
            Kind::TaskDone => self.hear_step(cx, accept, intent, spoken, Step::Done),
            Kind::TaskFailed => self.hear_step(cx, accept, intent, spoken, Step::Failed),
            Kind::TaskRejected => self.hear_step(cx, accept, intent, spoken, Step::Rejected),
            Kind::TaskBlocked => self.hear_step(cx, accept, intent, spoken, Step::Blocked),
            Kind::HandoffOffer => self.hear_offer(cx, accept, intent, spoken),
            Kind::HandoffReply => self.hear_offer_answered(cx, accept, intent, spoken),
            Kind::HelpAsk => self.hear_help(cx, accept, intent, spoken),
            Kind::HelpReply => self.hear_help_answered(accept, intent, spoken),
            Kind::ReviewVerdict => self.hear_verdict(accept, intent, spoken),
            Kind::Gate => self.hear_gate(cx, accept, intent, spoken),
            Kind::ErrorReport => Ok(Heard { facts: self.error_of(cx, accept.from), ..Heard::default() }),
            Kind::Note
            | Kind::Announce
            | Kind::AgentStatus
            | Kind::AgentHeartbeat
            | Kind::Question
            | Kind::StateSync
            | Kind::Report => Ok(Heard::default()),
        }
    }

    /// Finds the task of which a message speaks: by its name, by what it answers.
    pub(super) fn subject(
        &self,
        accept: &Accept,
        spoken: Option<&Spoken<'_, '_>>,
    ) -> Option<(TaskKey, &Task)> {
        let by_name = accept.task.as_deref().and_then(|task| self.work.find(task));
        let by_reply = || accept.reply_to.as_deref().and_then(|reply_to| self.work.find(reply_to));
        let by_answer = || {
            let answered = spoken?.answers.and_then(|of| self.message_of(of.entry))?;
            self.work.find(&answered.id.to_string())
        };
        let key = by_name.or_else(by_reply).or_else(by_answer)?;
        self.work.task(key).map(|task| (key, task))
    }

    /// Tells what somebody may do with a task.
    pub(super) fn right(&self, task: &Task, by: AgentKey, has_request: bool) -> Right {
        // Who let a claim lapse has to claim again, whatever it was handed before.
        let is_asked = task.was_asked(by) || (has_request && task.lapses == 0);
        let is_member = task.group.is_some_and(|group| self.is_member(by, group));
        match task.holder {
            _ if by == AgentKey::HUMAN => Right::Operator,
            // The runner speaks for whoever it runs.
            Some(_) if by == AgentKey::RUNNER => Right::Holder,
            Some(holder) if holder == by => Right::Holder,
            Some(_) if task.rest.offer.as_ref().is_some_and(|offer| offer.to == by) => Right::Offered,
            None if is_asked => Right::Asked,
            None if is_member => Right::Member,
            Some(_) if (is_asked || is_member) && !task.is_claimed => Right::AlsoAsked,
            Some(_) | None => Right::Stranger,
        }
    }

    /// Tells whether a message answers one that asks for a task.
    pub(super) fn answers_request(&self, task: &Task, spoken: &Spoken<'_, '_>) -> bool {
        let answered = spoken.answers.and_then(|of| self.message_of(of.entry));
        answered.is_some_and(|message| {
            let is_request = task.request.is_some_and(|request| request.id == message.id);
            let is_within =
                message.kind == Kind::TaskRequest && message.task == crate::event::task_mark(&task.id);
            is_request || is_within
        })
    }

    /// Tells why a task cannot be worked on now, if it cannot.
    pub(super) fn held(&self, task: &Task) -> Result<(), Refusal> {
        match task.hold {
            Hold::Nothing => Ok(()),
            Hold::Dependencies => {
                let open: Vec<&str> = task
                    .rest
                    .dependencies
                    .iter()
                    .map(|name| &**name)
                    .filter(|name| !self.is_done(name))
                    .collect();
                let why = format!("it waits for {}", open.join(", "));
                Err(Refusal::TaskHeld { task: task.id.to_string(), why })
            }
            Hold::Gate => {
                let why = "it waits for a human: see `convoke gate list`".to_owned();
                Err(Refusal::TaskHeld { task: task.id.to_string(), why })
            }
        }
    }

    pub(super) fn is_done(&self, name: &str) -> bool {
        let task = self.work.find(name).and_then(|key| self.work.task(key));
        task.is_some_and(|task| task.status == TaskStatus::Done)
    }

    /// Says that a word does not fit the state of a task.
    pub(super) fn misplaced(&self, task: &Task, step: Step) -> Refusal {
        Refusal::TaskState { task: task.id.to_string(), status: task.status.name(), step: step.name() }
    }

    pub(super) fn not_holder(&self, task: &Task) -> Refusal {
        let holder = task.holder.map(|holder| self.name_of(holder).to_owned());
        Refusal::NotHolder { task: task.id.to_string(), holder }
    }

    /// Returns the agents and the group that a message asks.
    pub(super) fn asked_by(targets: &[Target<'_>]) -> (Vec<AgentKey>, Option<crate::GroupKey>) {
        let mut agents = Vec::new();
        let mut group = None;
        for target in targets {
            match target {
                Target::Agent { agent, .. }
                | Target::Instead { agent, .. }
                | Target::Waiter { agent, .. } => {
                    agents.push(*agent);
                }
                Target::Group { group: asked, .. } => group = Some(*asked),
                Target::Held { .. } => {}
            }
        }
        (agents, group)
    }
}

impl<'a> Heard<'a> {
    /// Returns that nothing comes of a message, and that its sender should know why.
    pub(super) fn nothing_but(code: &'static str, text: &'static str) -> Self {
        Heard { cautions: vec![Caution::new(code, text)], ..Heard::default() }
    }

    /// Returns everything that happens, in order, around the event of the message itself.
    pub(crate) fn into_events(self) -> (Vec<Event<'a>>, Vec<Tell>) {
        let facts = self.facts.into_iter().map(Event::Work);
        (facts.chain(self.events).collect(), self.tells)
    }
}

/// No place in the log.
pub(super) const NOWHERE: Seq = Seq(0);
