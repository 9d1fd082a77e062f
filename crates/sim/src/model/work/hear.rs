//! Which task a message speaks of, what its sender may do with it, and what follows.

use broker::{AgentKey, Breaker, HelpAnswer, Hold, Step};
use message::{Kind, MessageId, Priority, TaskStatus};

use super::{Change, Heard, Help, No, Tell, Whom, is_over};
use crate::model::accept::is_answer;
use crate::model::route::{Route, Way};
use crate::model::state::{Is, Part, Place, State};
use crate::request::Sent;
use crate::said::Said;
use broker::Time;

/// A message that is about to be taken in.
pub(in crate::model) struct Spoken<'s> {
    pub(in crate::model) sent: &'s Sent,
    pub(in crate::model) id: MessageId,
    pub(in crate::model) route: &'s Route,
    /// What it answers, and the part through which its sender has that.
    pub(in crate::model) asked: Option<(MessageId, usize)>,
    /// Whether it goes straight to somebody who waits for it.
    pub(in crate::model) is_awaited: bool,
    pub(in crate::model) now: Time,
    pub(in crate::model) wall: Time,
}

/// What somebody may do with a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Right {
    Holder,
    Asked,
    Member,
    Offered,
    AlsoAsked,
    Operator,
    Stranger,
}

static NOTHING: Said = Said {
    dependencies: Vec::new(),
    capabilities: Vec::new(),
    deadline: None,
    budget: None,
    tokens_max: None,
    quality: None,
    risk: None,
    cost: None,
    tokens: None,
    status: None,
    lease_ms: None,
    blocker: None,
    routes: Vec::new(),
    accepts: None,
    urgency: None,
    answer: None,
};

impl Spoken<'_> {
    pub(super) fn said(&self) -> &Said {
        self.sent.said.as_deref().unwrap_or(&NOTHING)
    }

    /// The agents and the group that it goes to.
    pub(super) fn asks(&self) -> (Vec<AgentKey>, Option<std::rc::Rc<str>>) {
        let agents = self.route.ways.iter().filter_map(Way::recipient).collect();
        let group = self.route.ways.iter().rev().find_map(|way| match way {
            Way::Role(group) | Way::Shared(group) => Some(std::rc::Rc::clone(group)),
            Way::To(..) | Way::Instead(..) | Way::Held(_) => None,
        });
        (agents, group)
    }
}

impl Heard {
    pub(super) fn only(warning: &'static str) -> Self {
        Heard { warning: Some(warning), ..Heard::default() }
    }
}

impl State {
    pub(in crate::model) fn hear(&self, spoken: &Spoken<'_>) -> Result<Heard, No> {
        let status = spoken.said().status;
        match spoken.sent.kind {
            Kind::TaskRequest => self.hear_request(spoken),
            Kind::TaskClaim => self.hear_claim(spoken),
            Kind::TaskProgress => match status {
                Some(TaskStatus::Cancelled) => self.hear_cancel(spoken),
                Some(TaskStatus::Claimed) => self.hear_claim(spoken),
                Some(TaskStatus::Blocked) => self.hear_step(spoken, Step::Blocked),
                Some(TaskStatus::Failed) => self.hear_step(spoken, Step::Failed),
                Some(TaskStatus::Done) => self.hear_step(spoken, Step::Done),
                Some(TaskStatus::Pending | TaskStatus::Running | TaskStatus::Rejected) | None => {
                    self.hear_step(spoken, Step::Started)
                }
            },
            Kind::TaskDone => self.hear_step(spoken, Step::Done),
            Kind::TaskFailed => self.hear_step(spoken, Step::Failed),
            Kind::TaskRejected => self.hear_step(spoken, Step::Rejected),
            Kind::TaskBlocked => self.hear_step(spoken, Step::Blocked),
            Kind::HandoffOffer => self.hear_offer(spoken),
            Kind::HandoffReply => self.hear_offer_answered(spoken),
            Kind::HelpAsk => Ok(self.hear_help(spoken)),
            Kind::HelpReply => Ok(self.hear_help_answered(spoken)),
            Kind::ReviewVerdict => Ok(self.hear_verdict(spoken)),
            Kind::Gate => self.hear_gate(spoken),
            Kind::ErrorReport => {
                Ok(Heard { changes: self.after_error(spoken.sent.from, spoken.now), ..Heard::default() })
            }
            _ => Ok(Heard::default()),
        }
    }

    /// The task that a message names, else the one whose request or offer it refers to.
    pub(super) fn subject(&self, spoken: &Spoken<'_>) -> Option<usize> {
        let answered = || spoken.asked.map(|(asked, _)| asked.to_string());
        self.named(spoken.sent).or_else(|| self.work.find(&answered()?))
    }

    pub(super) fn named(&self, sent: &Sent) -> Option<usize> {
        let by_name = sent.task.as_deref().and_then(|name| self.work.find(name));
        by_name.or_else(|| sent.reply_to.as_deref().and_then(|name| self.work.find(name)))
    }

    pub(super) fn right(&self, index: usize, by: AgentKey, spoken: Option<&Spoken<'_>>) -> Right {
        let task = &self.work.tasks[index];
        let has_request = spoken.is_some_and(|spoken| self.answers_request(index, spoken));
        let is_asked = task.asked.contains(&by) || (has_request && task.lapses == 0);
        let is_member = task.group.as_ref().is_some_and(|group| self.is_member(by, group));
        if by == AgentKey::HUMAN {
            return Right::Operator;
        }
        match task.holder {
            Some(holder) if holder == by => Right::Holder,
            Some(_) if task.offer.as_ref().is_some_and(|offer| offer.to == by) => Right::Offered,
            Some(_) if (is_asked || is_member) && !task.is_claimed => Right::AlsoAsked,
            Some(_) => Right::Stranger,
            None if is_asked => Right::Asked,
            None if is_member => Right::Member,
            None => Right::Stranger,
        }
    }

    /// Tells whether a message answers what asked for a task.
    fn answers_request(&self, index: usize, spoken: &Spoken<'_>) -> bool {
        let task = &self.work.tasks[index];
        spoken.asked.is_some_and(|(asked, _)| {
            let sent = &self.messages[&asked].sent;
            let is_within = sent.kind == Kind::TaskRequest && sent.task.as_deref() == Some(&*task.names[0]);
            task.request == Some(asked) || is_within
        })
    }

    pub(super) fn check_held(&self, index: usize) -> Result<(), No> {
        if self.work.tasks[index].hold == Hold::Nothing { Ok(()) } else { Err(No::Held) }
    }

    /// Who has the task, or ended it, has no use for its request any more; nor has anybody else in its role.
    pub(super) fn settle_request(&self, index: usize, by: AgentKey, spoken: &Spoken<'_>) -> Vec<Change> {
        let Some(request) = self.work.tasks[index].request else { return Vec::new() };
        let ends = is_answer(spoken.sent.kind);
        let by_answer = |index: usize, part: &Part| {
            ends && spoken.asked.is_some_and(|(_, asked)| asked == index)
                && (part.is_out() || part.attempts > 0)
        };
        let mut settled = Vec::new();
        for (index, part) in self.parts_of(request) {
            let concerns = match &part.place {
                Place::Role(_) => true,
                Place::Agent(agent) => ends && *agent == by,
                Place::Session(_) | Place::Name(_) | Place::Post(_) => false,
            };
            let is_open = (part.is_queued() && part.is != Is::Parked) || part.is_out();
            if concerns && is_open && !part.unclaimed && !by_answer(index, part) {
                settled.push(Change::Settle { part: index, by });
            }
        }
        settled
    }

    fn hear_help(&self, spoken: &Spoken<'_>) -> Heard {
        let said = spoken.said();
        let usual = spoken.now.plus_ms(self.help_ms(said.urgency));
        let until = said
            .deadline
            .map_or(usual, |deadline| usual.min(spoken.now.plus_ms(deadline.ms_since(spoken.wall))));
        Heard { changes: vec![Change::Help(spoken.id, Help { until })], ..Heard::default() }
    }

    fn help_ms(&self, urgency: Option<message::Severity>) -> u64 {
        // By urgency where the operator has said nothing: a day, an hour, ten minutes, two.
        let usual = [24 * 3_600_000, 3_600_000, 600_000, 120_000];
        let level = urgency.unwrap_or(message::Severity::Medium) as usize;
        match self.work.rules.help_ms {
            0 => usual[level],
            ms => ms,
        }
    }

    pub(super) fn hear_help_answered(&self, spoken: &Spoken<'_>) -> Heard {
        let mut heard = Heard::default();
        let Some(help) = self.referred(spoken).filter(|id| self.work.helps.contains_key(id)) else {
            return heard;
        };
        heard.changes.push(Change::HelpOver(help));
        let answer = spoken.said().answer;
        if matches!(answer, Some(HelpAnswer::Escalation | HelpAnswer::UnableToHelp)) {
            heard.tells.push(tell_help());
        }
        heard
    }

    /// The message that another answers or refers to.
    pub(super) fn referred(&self, spoken: &Spoken<'_>) -> Option<MessageId> {
        let named = || spoken.sent.reply_to.as_ref().and_then(|id| id.parse().ok());
        spoken.asked.map(|(asked, _)| asked).or_else(named)
    }

    fn hear_verdict(&self, spoken: &Spoken<'_>) -> Heard {
        let Some(index) = self.subject(spoken) else { return Heard::default() };
        let (task, by) = (&self.work.tasks[index], spoken.sent.from);
        let Some(approves) = spoken.said().accepts else { return Heard::only("no_verdict") };
        if task.holder == Some(by) {
            return Heard::only("own_work");
        }
        let same = task.votes.iter().filter(|(voter, vote)| *voter != by && *vote == approves).count() + 1;
        let is_enough = task.reviewed.is_none() && same >= self.work.rules.quorum as usize;
        let outcome = is_enough.then_some(approves);
        let mut heard = Heard::default();
        heard.changes.push(Change::Vote { task: index, by, approves, outcome });
        if is_enough {
            let to = [Some(task.requester), task.holder].into_iter().flatten().map(Whom::Agent).collect();
            heard.tells.push(Tell { kind: Kind::ReviewVerdict, priority: Priority::High, to });
        }
        heard
    }

    /// What an error does to an agent's breaker.
    pub(super) fn after_error(&self, agent: AgentKey, now: Time) -> Vec<Change> {
        let Some(rule) = self.work.rules.breaker.filter(|_| agent > AgentKey::RUNNER) else {
            return Vec::new();
        };
        let open = Breaker::Open { until: now.plus_ms(rule.reset_ms) };
        let errors = match self.work.breaker(agent) {
            Breaker::Open { .. } => return Vec::new(),
            Breaker::HalfOpen | Breaker::Probing { .. } => rule.errors,
            Breaker::Closed => 1,
            Breaker::Counting(errors) => errors + 1,
        };
        let breaker = if errors >= rule.errors { open } else { Breaker::Counting(errors) };
        vec![Change::Breaker(agent, breaker)]
    }

    /// What work that went well does to it.
    pub(super) fn after_success(&self, agent: AgentKey) -> Option<Change> {
        let counts = !matches!(self.work.breaker(agent), Breaker::Closed | Breaker::Open { .. });
        counts.then_some(Change::Breaker(agent, Breaker::Closed))
    }

    /// An agent that is tried again has its one piece of work.
    pub(in crate::model) fn after_probe(&self, agent: AgentKey, now: Time) -> Option<Change> {
        let ms = self.work.rules.breaker.map_or(u64::MAX, |rule| rule.timeout_ms);
        let is_tried = self.work.breaker(agent) == Breaker::HalfOpen;
        is_tried.then(|| Change::Breaker(agent, Breaker::Probing { until: now.plus_ms(ms) }))
    }

    pub(super) fn is_ended(&self, index: usize) -> bool {
        is_over(self.work.tasks[index].status)
    }
}

pub(super) fn tell_help() -> Tell {
    Tell { kind: Kind::HelpAsk, priority: Priority::Critical, to: vec![Whom::Agent(AgentKey::HUMAN)] }
}
