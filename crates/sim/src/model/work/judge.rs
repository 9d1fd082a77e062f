//! Gates: what waits until a human has said yes or no.

use broker::{AgentKey, Hold, Step};
use message::{Kind, MessageId, Priority, TaskStatus};

use super::hear::Spoken;
use super::request::tell_gate;
use super::{Before, Change, Gate, Heard, Move, No, Tell, Whom, is_over};
use crate::driver::Answer;
use crate::model::Outcome;
use crate::model::route::Way;
use crate::model::state::{Is, State};
use crate::violation::{Promise, Violation, ensure};

impl State {
    pub(super) fn hear_gate(&self, spoken: &Spoken<'_>) -> Result<Heard, No> {
        let (sent, said) = (spoken.sent, spoken.said());
        if let Some(approved) = said.accepts {
            let open = self.referred(spoken).filter(|gate| self.work.gates.contains_key(gate));
            let Some(gate) = open else { return Ok(Heard::only("unknown_gate")) };
            if sent.from != AgentKey::HUMAN {
                return Err(No::NotYours);
            }
            return Ok(Heard { tells: Vec::new(), ..self.judged(gate, sent.from, approved) });
        }
        let may_wait = |index: &usize| {
            let task = &self.work.tasks[*index];
            task.holder == Some(sent.from) && task.hold == Hold::Nothing && !is_over(task.status)
        };
        let task = self.subject(spoken).filter(may_wait);
        let until = spoken.now.plus_ms(self.work.rules.gate_ms);
        let mut heard = Heard::default();
        heard.changes.push(Change::Raise(spoken.id, Gate { asker: sent.from, guards: None, task, until }));
        if let Some(index) = task {
            let moved = Move { hold: Hold::Gate, ..self.unmoved(index, Step::Gated, sent.from) };
            heard.changes.push(Change::Move(Box::new(moved)));
        }
        let to_human = |way: &Way| matches!(way, Way::To(_, AgentKey::HUMAN)) && !spoken.is_awaited;
        if !spoken.route.ways.iter().any(to_human) {
            heard.tells.push(tell_gate());
        }
        Ok(heard)
    }

    /// A conversation that goes round in circles is kept until a human has seen it: one gate for all of it.
    pub(in crate::model) fn park_loop(&self, heard: &mut Heard, spoken: &Spoken<'_>, conversation: &str) {
        let is_asked = self.parts.iter().any(|part| {
            part.is == Is::Parked && self.letter(part).conversation.as_deref() == Some(conversation)
        });
        let asks = heard.changes.iter().any(|change| matches!(change, Change::Raise(..)));
        if is_asked || heard.parks || asks {
            return;
        }
        let (asker, guards) = (spoken.sent.from, Some(spoken.id));
        let until = spoken.now.plus_ms(self.work.rules.gate_ms);
        heard.changes.push(Change::Raise(spoken.id, Gate { asker, guards, task: None, until }));
        heard.tells.push(tell_gate());
    }

    /// Tells whether a message waits for a gate.
    pub(in crate::model) fn is_gated(&self, message: MessageId) -> bool {
        self.work.gates.get(&message).is_some_and(|gate| gate.guards == Some(message))
    }

    /// What follows from a decision on a gate.
    pub(super) fn judged(&self, id: MessageId, by: AgentKey, approved: bool) -> Heard {
        let gate = &self.work.gates[&id];
        let mut heard = Heard { changes: vec![Change::Judge(id)], ..Heard::default() };
        let mut waits = false;
        if let Some(index) = gate.task.filter(|index| self.work.tasks[*index].hold == Hold::Gate) {
            let task = &self.work.tasks[index];
            let is_request = gate.guards.is_some() && !is_over(task.status);
            // A yes to the work is no yes to doing it before what must be done before.
            waits = approved && is_request && self.work.before(task) != Before::Done;
            let hold = if waits { Hold::Dependencies } else { Hold::Nothing };
            let step = if approved { Step::Passed } else { Step::Barred };
            let mut moved = Move { hold, ..self.unmoved(index, step, by) };
            if !approved && is_request {
                (moved.status, moved.reserved) = (TaskStatus::Rejected, 0);
            }
            heard.changes.push(Change::Move(Box::new(moved)));
        }
        match gate.guards {
            Some(message) if !approved => heard.changes.push(Change::TurnAway(message)),
            Some(message) if !waits => heard.changes.push(Change::Resume(message)),
            Some(_) | None => {}
        }
        let to = vec![Whom::Agent(gate.asker)];
        heard.tells.push(Tell { kind: Kind::Gate, priority: Priority::High, to });
        heard
    }

    pub(in crate::model) fn gate_judged(
        &mut self,
        gate: MessageId,
        by: AgentKey,
        approved: bool,
        answer: &Answer,
    ) -> Result<(), Violation> {
        let expected = match self.work.gates.contains_key(&gate) {
            _ if by != AgentKey::HUMAN => Err(No::NotYours),
            true => Ok(()),
            false => Err(No::UnknownGate),
        };
        if self.is_as_expected(expected, &answer.outcome, Promise::Gates)? {
            let heard = self.judged(gate, by, approved);
            self.happen(heard, answer.now);
        }
        Ok(())
    }

    /// Checks that something was refused as it had to be, or not; says whether it happened.
    pub(super) fn is_as_expected(
        &self,
        expected: Result<(), No>,
        outcome: &Outcome,
        promise: Promise,
    ) -> Result<bool, Violation> {
        let is_right = match (expected, outcome) {
            (Ok(()), Ok(_)) => true,
            (Err(no), Err(refusal)) => no.fits(refusal),
            (Ok(()), Err(_)) | (Err(_), Ok(_)) => false,
        };
        ensure(is_right, promise, format_args!("expected {expected:?}, got {outcome:?}"))?;
        Ok(expected.is_ok())
    }
}
