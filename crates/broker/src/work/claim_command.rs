//! A claim by a call: the broker chooses the task and writes the message that claims it.
//!
//! The message must name the task, and which task is next is known only when the claim is decided.

use message::{Dialect, Envelope, Kind, Message, MessageId, Seq, TaskStatus};

use crate::broker::Broker;
use crate::effect::Effects;
use crate::query::task_steps::TaskHead;
use crate::{
    Accept, AgentKey, Claim, ClaimOutcome, Context, Event, Fingerprint, Identity, Refusal, Reply, Request,
    TaskIntent, TaskKey, Time,
};

impl Broker {
    /// Claims a task for an agent, this one or the next that it may have.
    pub(crate) fn claim(
        &mut self,
        cx: &mut Context<'_>,
        claim: &Claim,
        effects: &mut Effects,
        write: &mut dyn FnMut(Seq, Time, &Event<'_>),
    ) -> Result<Reply, Refusal> {
        self.agent_at(claim.by)?;
        if let Some(message) = self.sent_as(claim.by, &claim.key) {
            return Ok(Reply::Claimed(Box::new(self.claimed_before(claim.by, message))));
        }
        let task = match self.choose_task(cx, claim) {
            Ok(task) => task,
            Err(outcome) => return Ok(Reply::Claimed(outcome)),
        };
        let Some(view) = self.task_at(task) else {
            return Ok(Reply::Claimed(Box::new(ClaimOutcome::NoTasks)));
        };
        let head = self.task_head(&view, claim.by);
        let accept = claim_message(&head, claim)?;
        let reply = self.accept_with_carried(cx, &accept, effects, write)?;
        let Some(receipted) = Box::<Accept>::answer(reply) else { return Ok(Reply::Done) };
        Ok(Reply::Claimed(Box::new(ClaimOutcome::Claimed { task: head.id, receipted })))
    }

    /// Returns the task that is to be claimed, or why there is none.
    fn choose_task(&self, cx: &Context<'_>, claim: &Claim) -> Result<TaskKey, Box<ClaimOutcome>> {
        if let Some(task) = &claim.task {
            return self.work.find(task).ok_or_else(|| Box::new(ClaimOutcome::UnknownTask));
        }
        let role = match &claim.role {
            None => None,
            Some(role) => match self.group(&role.to_string()) {
                None => return Err(Box::new(ClaimOutcome::NoTasks)),
                Some(group) if !self.is_member(claim.by, group) => {
                    return Err(Box::new(ClaimOutcome::NotInRole));
                }
                Some(group) => Some(group),
            },
        };
        self.next_task(cx, claim.by, role).ok_or_else(|| Box::new(ClaimOutcome::NoTasks))
    }

    /// Finds the task that an earlier claim has won, as long as the claimer has it.
    fn claimed_before(&self, by: AgentKey, message: MessageId) -> ClaimOutcome {
        let Some(claim) = self.look_into(message) else {
            return ClaimOutcome::Repeated { message, task: None, is_forgotten: true };
        };
        let task = self.held_by_claim(by, claim.accepted).map(Box::from);
        ClaimOutcome::Repeated { message, task, is_forgotten: false }
    }
}

/// Writes the message by which a task is claimed: to whoever asked for it, as urgent as the task.
fn claim_message(task: &TaskHead, claim: &Claim) -> Result<Accept, Refusal> {
    let from = task.by.parse().map_err(|_| Refusal::UnknownAgent)?;
    let mut message = Message::new(Kind::TaskClaim, from, vec![task.requester.clone()]);
    message.task = task.id.parse().ok();
    message.status = Some(TaskStatus::Claimed);
    message.priority = Some(task.priority);
    let text = message.encode();
    let body = Envelope::seal(Dialect::Convoke, None, text.as_bytes()).into();
    let identity = Identity::Native(claim.key.clone());
    let intent =
        TaskIntent { status: Some(TaskStatus::Claimed), lease_ms: claim.lease_ms, ..TaskIntent::default() };
    Ok(Accept {
        priority: task.priority,
        task: Some(task.id.as_ref().into()),
        fingerprint: Fingerprint::of(&[text.as_bytes()]),
        intent: Some(Box::new(intent)),
        ..Accept::new(claim.by, message.to, Kind::TaskClaim, identity, body)
    })
}
