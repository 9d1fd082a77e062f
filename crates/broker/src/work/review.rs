//! Reviews: what others think of a task, and whether enough think so.

use super::hear::{Heard, Spoken};
use super::{Fact, TaskIntent};
use crate::broker::Broker;
use crate::{Accept, Refusal};

impl Broker {
    pub(super) fn hear_verdict<'a>(
        &self,
        accept: &'a Accept,
        intent: &'a TaskIntent,
        spoken: &Spoken<'_, 'a>,
    ) -> Result<Heard<'a>, Refusal> {
        let Some((key, task)) = self.subject(accept, Some(spoken)) else { return Ok(Heard::default()) };
        let Some(approves) = intent.accepts else {
            return Ok(Heard::nothing_but(
                "no_verdict",
                "it does not say whether the work is good: nothing is counted",
            ));
        };
        if task.holder == Some(accept.from) {
            return Ok(Heard::nothing_but("own_work", "a verdict on one's own work is not counted"));
        }
        let quorum = self.work.policy().quorum as usize;
        let others = task.rest.votes.iter().filter(|(voter, _)| *voter != accept.from);
        let count = others.filter(|(_, vote)| *vote == approves).count() + 1;
        let is_new = task.rest.reviewed.is_none() && count >= quorum;
        let outcome = is_new.then_some(approves);
        let fact = Fact::Voted { of: task.of(key), by: accept.from, approves, outcome };
        let mut heard = Heard { facts: vec![fact], ..Heard::default() };
        if let Some(outcome) = outcome {
            heard.tells.extend(self.tell_reviewed(task, outcome, count));
        }
        Ok(heard)
    }
}
