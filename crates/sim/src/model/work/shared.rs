//! The shared state: changes that name the version which they make; and agents as those who work.

use std::rc::Rc;

use broker::{AgentKey, Entity, Hold, Operation, Reply, Sign, Step, Time};
use message::{Kind, TaskStatus};

use super::hear::Right;
use super::request::Verdict;
use super::{Allotment, Change, Heard, Move, No, Tell, Whom, is_over};
use crate::driver::Answer;
use crate::model::Outcome;
use crate::model::state::State;
use crate::rules::Rules;
use crate::said::{Changed, Changing, Said};
use crate::violation::{Promise, Violation, ensure};

impl State {
    pub(in crate::model) fn state_changed(
        &mut self,
        changed: &Changed,
        answer: &Answer,
    ) -> Result<(), Violation> {
        if !self.is_there(changed.by) {
            return self
                .is_as_expected(Err(No::UnknownAgent), &answer.outcome, Promise::Versions)
                .map(|_| ());
        }
        let current = self.version_of(changed);
        if changed.version == Some(current) && current > 0 {
            return self.check_version(answer, current, true);
        }
        match self.change_state(changed, current, answer) {
            Err(no) => self.is_as_expected(Err(no), &answer.outcome, Promise::Versions).map(|_| ()),
            Ok(heard) => {
                self.check_version(answer, current + 1, false)?;
                self.happen(heard, answer.now);
                self.set_entity(changed, current + 1);
                Ok(())
            }
        }
    }

    fn check_version(&self, answer: &Answer, version: u32, is_duplicate: bool) -> Result<(), Violation> {
        let is_right = matches!(&answer.outcome, Ok(Reply::Changed(change))
            if change.version == version && change.is_duplicate == is_duplicate);
        let what = format_args!("version {version}, repeated {is_duplicate}: {:?}", answer.outcome);
        ensure(is_right, Promise::Versions, what)
    }

    /// The version of what is changed; 0 if it is not there.
    fn version_of(&self, changed: &Changed) -> u32 {
        match changed.entity {
            Entity::Policy => self.work.rules_version,
            Entity::Resource => self.work.allotments.get(&changed.id).map_or(0, |it| it.version),
            Entity::Task => self.work.find(&changed.id).map_or(0, |index| self.work.tasks[index].version),
            Entity::Agent => {
                let agent = self.agent(&changed.id);
                let version = |agent| self.work.workers.get(&agent).map_or(1, |worker| worker.version.max(1));
                agent.map_or(0, version)
            }
        }
    }

    fn change_state(&self, changed: &Changed, current: u32, answer: &Answer) -> Result<Heard, No> {
        match changed.version {
            Some(version) if version <= current => return Err(No::Stale(current)),
            Some(version) if version > current + 1 => return Err(No::Gap(current)),
            Some(_) | None => {}
        }
        let is_new = changed.operation == Operation::Create;
        match (changed.entity, current > 0) {
            (Entity::Policy, _) => {}
            (_, true) if is_new => return Err(No::Stale(current)),
            (_, false) if !is_new => return Err(No::UnknownEntity),
            _ => {}
        }
        let is_operator = changed.by == AgentKey::HUMAN;
        match changed.entity {
            Entity::Policy | Entity::Resource if !is_operator => Err(No::NotYours),
            Entity::Agent if !is_operator && self.agent(&changed.id) != Some(changed.by) => Err(No::NotYours),
            Entity::Agent if self.agent(&changed.id).is_none() => Err(No::UnknownAgent),
            Entity::Resource if changed.operation != Operation::Delete => match &changed.what {
                Changing::Allotment { agent, .. } if self.agent(agent).is_none() => Err(No::BadEntity),
                _ => Ok(Heard::default()),
            },
            Entity::Policy | Entity::Resource | Entity::Agent => Ok(Heard::default()),
            Entity::Task => self.change_task(changed, answer),
        }
    }

    /// Notes what the bus itself does not decide on: rules, allotments, how an agent is.
    fn set_entity(&mut self, changed: &Changed, version: u32) {
        match (&changed.what, changed.entity) {
            (Changing::Rules(rules), Entity::Policy) => {
                let is_gone = changed.operation == Operation::Delete;
                (self.work.rules, self.work.rules_version) =
                    (if is_gone { Rules::USUAL } else { *rules }, version);
            }
            (_, Entity::Resource) if changed.operation == Operation::Delete => {
                self.work.allotments.remove(&changed.id);
            }
            (Changing::Allotment { agent, is_money, limit }, Entity::Resource) => {
                let Some(agent) = self.agent(agent) else { return };
                let consumed = self.work.allotments.get(&changed.id).map_or(0, |known| known.consumed);
                let (is_money, limit) = (*is_money, *limit);
                let allotment = Allotment { version, agent, is_money, limit, consumed };
                self.work.allotments.insert(changed.id.clone(), allotment);
            }
            (what, Entity::Agent) => {
                let Some(agent) = self.agent(&changed.id) else { return };
                self.work.workers.entry(agent).or_default().version = version;
                if let Changing::Presence(state) = what {
                    self.set_presence(agent, *state);
                }
            }
            _ => {}
        }
    }

    fn change_task(&self, changed: &Changed, answer: &Answer) -> Result<Heard, No> {
        if changed.operation == Operation::Create {
            return self.create_task(changed);
        }
        let index = self.work.find(&changed.id).ok_or(No::UnknownTask)?;
        let (task, by) = (&self.work.tasks[index], changed.by);
        let right = self.right(index, by, None);
        let is_theirs = task.requester == by;
        if !is_theirs && !matches!(right, Right::Holder | Right::Asked | Right::Operator) {
            return Err(No::NotHolder);
        }
        if changed.operation == Operation::Delete {
            return self.cancelled(index, by);
        }
        let mut heard = Heard::default();
        let mut moved = self.unmoved(index, Step::Described, by);
        match &changed.what {
            Changing::Assign(name) => {
                let may = is_theirs || right == Right::Operator;
                let agent = self.assign(index, changed, name, may, answer.wall)?;
                moved.step = if task.holder.is_some() { Step::Overridden } else { Step::Reassigned };
                (moved.status, moved.holder, moved.is_claimed) = (TaskStatus::Pending, None, false);
                (moved.lease_until, moved.blocker) = (Time::NEVER, None);
                moved.asked = Some((vec![agent], None));
                let to = vec![Whom::Agent(agent)];
                heard.tells.push(Tell { kind: Kind::TaskRequest, priority: task.priority, to });
            }
            Changing::Status(word) => {
                let right = if is_theirs && right == Right::Stranger { Right::AlsoAsked } else { right };
                if *word == "cancelled" && task.status != TaskStatus::Cancelled {
                    self.check_status(index, Step::Cancelled, right)?;
                    if !is_over(task.status) {
                        return self.cancelled(index, by);
                    }
                }
                self.put_status(index, &mut moved, word, right, answer.now)?;
            }
            _ => {}
        }
        heard.changes.push(Change::Move(Box::new(moved)));
        Ok(heard)
    }

    fn create_task(&self, changed: &Changed) -> Result<Heard, No> {
        let Changing::Task { dependencies, budget, assigned } = &changed.what else {
            return Ok(Heard::default());
        };
        let asked = match assigned {
            Some(name) => vec![self.agent(name).ok_or(No::UnknownAgent)?],
            None => Vec::new(),
        };
        let said = Said { dependencies: dependencies.clone(), budget: *budget, ..Said::default() };
        let mut task = self.new_task(vec![Rc::from(changed.id.as_str())], changed.by, &said)?;
        if self.judge(asked.first().copied(), &said) != Verdict::Go {
            return Err(No::OverPolicy);
        }
        if let Some(agent) = asked.first() {
            self.check_allotments(*agent, None, task.reserved)?;
        }
        if dependencies.iter().any(|name| !self.work.is_done(name)) {
            task.hold = Hold::Dependencies;
        }
        task.asked = asked;
        Ok(Heard { changes: vec![Change::Asked(Box::new(task))], ..Heard::default() })
    }

    fn assign(
        &self,
        index: usize,
        changed: &Changed,
        name: &str,
        may: bool,
        wall: Time,
    ) -> Result<AgentKey, No> {
        let task = &self.work.tasks[index];
        if !may {
            return Err(No::NotRequester);
        }
        let agent = self.agent(name).ok_or(No::UnknownAgent)?;
        if is_over(task.status) {
            return Err(No::Misplaced);
        }
        self.check_fit(index, agent, wall)?;
        if task.holder.is_some() && changed.by != AgentKey::HUMAN {
            return Err(No::Misplaced);
        }
        Ok(agent)
    }

    /// Tells whether somebody may put a task somewhere.
    fn check_status(&self, index: usize, step: Step, right: Right) -> Result<(), No> {
        let may = match step {
            Step::Cancelled | Step::Reopened => matches!(right, Right::AlsoAsked | Right::Operator),
            _ => matches!(right, Right::Holder | Right::Asked | Right::Operator),
        };
        match may {
            false => Err(No::NotHolder),
            true if right == Right::Operator => Ok(()),
            true => self.check_held(index),
        }
    }

    fn put_status(
        &self,
        index: usize,
        moved: &mut Move,
        word: &str,
        right: Right,
        now: Time,
    ) -> Result<(), No> {
        let task = &self.work.tasks[index];
        let (step, wanted) = match word {
            "pending" => (Step::Reopened, TaskStatus::Pending),
            "in_progress" => (Step::Started, TaskStatus::Running),
            "completed" => (Step::Done, TaskStatus::Done),
            "failed" => (Step::Failed, TaskStatus::Failed),
            _ => (Step::Cancelled, TaskStatus::Cancelled),
        };
        if task.status == wanted {
            return Ok(());
        }
        self.check_status(index, step, right)?;
        let is_possible = (step == Step::Reopened) == is_over(task.status);
        if !is_possible && right != Right::Operator {
            return Err(No::Misplaced);
        }
        (moved.step, moved.status) = (if is_possible { step } else { Step::Overridden }, wanted);
        match wanted {
            TaskStatus::Running if moved.holder.is_none() => {
                let asked = task.asked.first().copied();
                moved.holder = if right == Right::Operator { asked } else { Some(moved.by) };
                if moved.holder.is_some() {
                    moved.lease_until = now.plus_ms(self.work.rules.claim_ms);
                }
            }
            TaskStatus::Pending => {
                (moved.holder, moved.is_claimed, moved.lease_until) = (None, false, Time::NEVER);
            }
            _ if is_over(wanted) => (moved.reserved, moved.hold) = (0, Hold::Nothing),
            _ => {}
        }
        Ok(())
    }

    pub(in crate::model) fn equipped(
        &mut self,
        agent: AgentKey,
        capabilities: &[&'static str],
        answer: &Answer,
    ) -> Result<(), Violation> {
        if !self.refused_unknown(agent, &answer.outcome)? {
            self.equip(agent, capabilities);
        }
        Ok(())
    }

    pub(in crate::model) fn signed(
        &mut self,
        agent: AgentKey,
        sign: &Sign,
        outcome: &Outcome,
    ) -> Result<(), Violation> {
        if !self.refused_unknown(agent, outcome)? {
            self.note_sign(agent, sign);
        }
        Ok(())
    }

    /// Notes what an agent says of itself; what it does not say stays as it was.
    pub(in crate::model) fn note_sign(&mut self, agent: AgentKey, sign: &Sign) {
        self.set_presence(agent, sign.state);
        let worker = self.work.workers.entry(agent).or_default();
        worker.quality = sign.quality.or(worker.quality);
        worker.from = sign.from.unwrap_or(worker.from);
    }

    /// Finds what comes of the change that a message carries: nothing if it was made before.
    pub(in crate::model) fn carried(&self, changed: &Changed, answer: &Answer) -> Result<Option<Heard>, No> {
        let current = self.version_of(changed);
        if changed.version == Some(current) && current > 0 {
            return Ok(None);
        }
        self.change_state(changed, current, answer).map(Some)
    }

    /// Makes the change that a message carries.
    pub(in crate::model) fn carry(&mut self, changed: &Changed, heard: Heard, now: Time) {
        let version = self.version_of(changed) + 1;
        self.happen(heard, now);
        self.set_entity(changed, version);
    }
}
