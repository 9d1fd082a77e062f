//! Claims by a call: which task is the next one, and the message that the bus then writes by itself.

use std::cmp::Reverse;
use std::rc::Rc;

use broker::{AgentKey, ClaimOutcome, Reply};
use message::{Address, Dialect, Envelope, Kind, Message, TaskStatus};

use crate::driver::Answer;
use crate::model::state::State;
use crate::request::{Claimed, Sent};
use crate::said::Said;
use crate::violation::{Promise, Violation, broken, ensure};

impl State {
    pub(in crate::model) fn claimed(&mut self, claim: &Claimed, answer: &Answer) -> Result<(), Violation> {
        if !self.is_there(claim.by) {
            return self.refused_unknown(claim.by, &answer.outcome).map(drop);
        }
        let outcome = match &answer.outcome {
            Ok(Reply::Claimed(outcome)) => Some(&**outcome),
            Err(_) => None,
            Ok(other) => return broken(Promise::Answers, format_args!("a claim gets {other:?}")),
        };
        let wanted = |outcome: Option<&ClaimOutcome>| {
            format!("{claim:?} gets {outcome:?} or {:?}", answer.outcome.as_ref().err())
        };
        if let Some(known) = self.known_id(claim.by, &claim.key, answer.now) {
            let is_right =
                matches!(outcome, Some(ClaimOutcome::Repeated { message, .. }) if *message == known);
            return ensure(is_right, Promise::Idempotent, format_args!("{}", wanted(outcome)));
        }
        let role = claim.role.as_ref().map(Address::to_string);
        let chosen = match (&claim.task, &role) {
            (Some(name), _) => match self.work.find(name) {
                Some(index) => index,
                None => {
                    let is_right = matches!(outcome, Some(ClaimOutcome::UnknownTask));
                    return ensure(is_right, Promise::Tasks, format_args!("{}", wanted(outcome)));
                }
            },
            (None, Some(role))
                if self.groups.contains_key(role.as_str()) && !self.is_member(claim.by, role) =>
            {
                let is_right = matches!(outcome, Some(ClaimOutcome::NotInRole));
                return ensure(is_right, Promise::Claims, format_args!("{}", wanted(outcome)));
            }
            (None, role) => match self.next_task(claim.by, role.as_deref(), answer) {
                Some(index) => index,
                None => {
                    let is_right = matches!(outcome, Some(ClaimOutcome::NoTasks));
                    return ensure(is_right, Promise::Claims, format_args!("{}", wanted(outcome)));
                }
            },
        };
        let sent = self.claim_message(chosen, claim);
        let outcome = match outcome {
            None => answer.outcome.clone(),
            Some(ClaimOutcome::Claimed { task, receipted }) => {
                let expected = &self.work.tasks[chosen].names[0];
                let what = format_args!("{claim:?} gets {task}, expected {expected}");
                ensure(**task == **expected, Promise::Claims, what)?;
                Ok(Reply::Accepted(receipted.clone()))
            }
            Some(
                ClaimOutcome::Repeated { .. }
                | ClaimOutcome::NoTasks
                | ClaimOutcome::NotInRole
                | ClaimOutcome::UnknownTask,
            ) => return broken(Promise::Claims, format_args!("{}", wanted(outcome))),
        };
        self.accepted(&Rc::new(sent), &Answer { outcome, ..answer.clone() })
    }

    /// Returns the most urgent of the tasks that an agent may have, and of these the oldest.
    fn next_task(&self, by: AgentKey, role: Option<&str>, answer: &Answer) -> Option<usize> {
        let is_here = |index: &usize| {
            let task = &self.work.tasks[*index];
            let is_own = role.is_none() && task.asked.contains(&by);
            let group = task.group.as_deref();
            is_own || group.is_some_and(|group| role.map_or(self.is_member(by, group), |role| role == group))
        };
        let may_have = |index: &usize| {
            let task = &self.work.tasks[*index];
            let is_available = task.status == TaskStatus::Pending && task.hold == broker::Hold::Nothing;
            is_available && self.may_claim(*index, by, answer.wall).is_ok()
        };
        let tasks = (0..self.work.tasks.len()).filter(is_here).filter(may_have);
        tasks.min_by_key(|index| (Reverse(self.work.tasks[*index].priority), *index))
    }

    /// Writes the message by which the bus says that a task is claimed.
    fn claim_message(&self, index: usize, claim: &Claimed) -> Sent {
        let task = &self.work.tasks[index];
        let is_told = self.is_there(task.requester) && !task.requester.is_machinery();
        let requester = if is_told { task.requester } else { AgentKey::HUMAN };
        let to: Address = self.name(requester).parse().unwrap_or(Address::All);
        let from = self.name(claim.by).parse();
        let from = from.expect("names in the simulation are well formed");
        let mut message = Message::new(Kind::TaskClaim, from, vec![to.clone()]);
        message.task = task.names[0].parse().ok();
        message.status = Some(TaskStatus::Claimed);
        message.priority = Some(task.priority);
        let body = Envelope::seal(Dialect::Convoke, None, message.encode().as_bytes());
        let said = Said { status: Some(TaskStatus::Claimed), lease_ms: claim.lease_ms, ..Said::default() };
        Sent {
            priority: task.priority,
            native_id: Some(claim.key.clone()),
            task: Some(Rc::clone(&task.names[0])),
            said: Some(Box::new(said)),
            ..Sent::new(claim.by, vec![to], Kind::TaskClaim, body.into())
        }
    }
}
