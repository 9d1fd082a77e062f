//! Tasks move: somebody begins, ends, refuses, cannot go on, or takes its wish back.

use std::rc::Rc;

use broker::{AgentKey, Blocker, Hold, Step, Time};
use message::{Address, Kind, Priority, TaskStatus};

use super::hear::{Right, Spoken};
use super::{Change, Heard, Move, No, Task, Tell, Whom, is_over};
use crate::model::state::State;
use crate::said::Said;

impl State {
    pub(super) fn hear_step(&self, spoken: &Spoken<'_>, step: Step) -> Result<Heard, No> {
        let from = spoken.sent.from;
        let asked =
            spoken.asked.and_then(|(asked, _)| self.messages.get(&asked)).map(|letter| letter.sent.kind);
        match asked {
            // An answer to a question is none to the task.
            Some(Kind::HelpAsk) if step != Step::Started => return Ok(self.hear_help_answered(spoken)),
            Some(Kind::HelpAsk | Kind::Question | Kind::Gate | Kind::ReviewVerdict) => {
                return Ok(Heard::default());
            }
            Some(_) | None => {}
        }
        let Some(index) = self.subject(spoken) else {
            let is_named = spoken.sent.task.is_some() && step != Step::Started;
            return Ok(if is_named { Heard::only("unknown_task") } else { Heard::default() });
        };
        let task = &self.work.tasks[index];
        let right = self.right(index, from, Some(spoken));
        match right {
            Right::AlsoAsked => return Ok(Heard::only("task_answered")),
            Right::Stranger | Right::Member
                if step == Step::Started || !spoken.asks().0.contains(&task.requester) =>
            {
                let is_theirs = task.requester == from;
                return Ok(if is_theirs { Heard::default() } else { Heard::only("not_holder") });
            }
            Right::Stranger | Right::Member => return Err(No::NotHolder),
            Right::Holder | Right::Asked | Right::Offered | Right::Operator => {}
        }
        if right != Right::Operator {
            self.check_held(index)?;
        }
        if is_over(task.status) {
            return Err(No::Misplaced);
        }
        // Who carries it out: the operator speaks for whoever has it.
        let by = task.holder.filter(|_| right == Right::Operator).unwrap_or(from);
        let mut moved = self.unmoved(index, step, from);
        moved.status = status_of(step);
        if right != Right::Operator {
            (moved.holder, moved.hold) = (Some(by), Hold::Nothing);
        }
        if step == Step::Rejected && task.group.is_some() && right != Right::Operator {
            return Ok(self.given_back(index, from));
        }
        let said = spoken.said();
        moved.blocker = (step == Step::Blocked).then(|| said.blocker.unwrap_or(Blocker::Ambiguity));
        if moved.blocker == Some(Blocker::Dependency) {
            self.check_cycle(&task.names[0], &said.dependencies)?;
            moved.waits_for = said.dependencies.iter().map(|name| Rc::from(*name)).collect();
        }
        if matches!(step, Step::Started | Step::Blocked) && moved.holder.is_some() {
            moved.lease_until = self.lease_end(spoken);
        }
        let mut heard = Heard::default();
        if right == Right::Offered {
            heard.tells.extend(task.holder.map(super::fit::tell_handoff));
        }
        if step != Step::Started {
            moved.cost = said.cost.unwrap_or(0);
            heard.changes.extend(self.used(by, said));
        }
        if is_over(moved.status) {
            moved.reserved = 0;
        }
        self.follow(&mut heard, task, &moved, by, spoken);
        let is_first = task.holder.is_none() && moved.holder.is_some();
        if is_first || is_over(moved.status) {
            heard.changes.extend(self.settle_request(index, by, spoken));
        }
        heard.changes.insert(0, Change::Move(Box::new(moved)));
        Ok(heard)
    }

    fn follow(&self, heard: &mut Heard, task: &Task, moved: &Move, by: AgentKey, spoken: &Spoken<'_>) {
        match moved.step {
            Step::Done => heard.changes.extend(self.after_success(by)),
            Step::Failed => heard.changes.extend(self.after_error(by, spoken.now)),
            Step::Blocked => {
                heard.tells.push(self.tell_blocked(by, spoken.said()));
                let all = task.dependencies.iter().chain(&moved.waits_for);
                let is_free = all.into_iter().all(|name| self.work.is_done(name));
                if moved.blocker == Some(Blocker::Dependency) && is_free {
                    heard.warning = Some("nothing_open");
                }
            }
            _ => {}
        }
    }

    /// What a step uses of what an agent was allotted.
    fn used(&self, agent: AgentKey, said: &Said) -> Vec<Change> {
        let of_agent = self.work.allotments.iter().filter(|(_, allotment)| allotment.agent == agent);
        let used = of_agent.map(|(id, allotment)| {
            let used = if allotment.is_money { said.cost } else { said.tokens };
            (id, allotment.consumed + used.unwrap_or(0))
        });
        used.map(|(id, consumed)| Change::Consume(id.clone(), consumed)).collect()
    }

    /// Whoever is named for it, or whoever the rules name, and the human; but not who says so.
    fn tell_blocked(&self, by: AgentKey, said: &Said) -> Tell {
        let there = said.routes.iter().find_map(|address| match address {
            Address::Agent(agent) => self.agent(agent.as_str()).map(Whom::Agent),
            Address::Role(_) | Address::Topic(_) | Address::Channel(_) => {
                let name = address.to_string();
                let (name, group) = self.groups.get_key_value(name.as_str())?;
                (!group.members.is_empty()).then(|| Whom::Group(Rc::clone(name)))
            }
            Address::Session { .. } | Address::All => None,
        });
        let mut to: Vec<Whom> = there.into_iter().chain([Whom::Agent(AgentKey::HUMAN)]).collect();
        to.retain(|whom| *whom != Whom::Agent(by));
        Tell { kind: Kind::TaskBlocked, priority: Priority::Critical, to }
    }

    /// What one of a role does not do, others may.
    fn given_back(&self, index: usize, by: AgentKey) -> Heard {
        let moved = Move {
            status: TaskStatus::Pending,
            holder: None,
            is_claimed: false,
            lease_until: Time::NEVER,
            ..self.unmoved(index, Step::Rejected, by)
        };
        let tells = vec![self.tell_available(index)];
        Heard { changes: vec![Change::Move(Box::new(moved))], tells, ..Heard::default() }
    }

    pub(super) fn tell_available(&self, index: usize) -> Tell {
        let task = &self.work.tasks[index];
        let agents = task.asked.iter().map(|agent| Whom::Agent(*agent));
        let to = task.group.iter().cloned().map(Whom::Group).chain(agents).collect();
        Tell { kind: Kind::TaskRequest, priority: task.priority, to }
    }

    pub(super) fn hear_cancel(&self, spoken: &Spoken<'_>) -> Result<Heard, No> {
        let Some(index) = self.subject(spoken) else { return Ok(Heard::only("unknown_task")) };
        let by = spoken.sent.from;
        if self.work.tasks[index].requester != by && by != AgentKey::HUMAN {
            return Err(No::NotRequester);
        }
        self.cancelled(index, by)
    }

    /// Ends a task that is not wanted any more.
    pub(in crate::model) fn cancelled(&self, index: usize, by: AgentKey) -> Result<Heard, No> {
        let task = &self.work.tasks[index];
        if is_over(task.status) {
            return Err(No::Misplaced);
        }
        let moved = Move {
            status: TaskStatus::Cancelled,
            hold: Hold::Nothing,
            reserved: 0,
            ..self.unmoved(index, Step::Cancelled, by)
        };
        let mut heard = Heard { changes: vec![Change::Move(Box::new(moved))], ..Heard::default() };
        let open = self.open_messages();
        let request = task.request.filter(|request| open.contains(request));
        heard.changes.extend(request.map(Change::Withdraw));
        let gates = self.work.gates.iter().filter(|(_, gate)| gate.task == Some(index));
        heard.changes.extend(gates.map(|(id, _)| Change::Judge(*id)));
        if let Some(holder) = task.holder.filter(|holder| *holder != by) {
            let to = vec![Whom::Agent(holder)];
            heard.tells.push(Tell { kind: Kind::TaskProgress, priority: Priority::High, to });
        }
        Ok(heard)
    }

    /// The task for which a message asks, if its sender takes that back.
    pub(in crate::model) fn asked_by(&self, message: message::MessageId) -> Option<usize> {
        let index = self.work.find(&message.to_string())?;
        (self.work.tasks[index].request == Some(message)).then_some(index)
    }
}

fn status_of(step: Step) -> TaskStatus {
    match step {
        Step::Done => TaskStatus::Done,
        Step::Failed => TaskStatus::Failed,
        Step::Rejected => TaskStatus::Rejected,
        Step::Blocked => TaskStatus::Blocked,
        _ => TaskStatus::Running,
    }
}
