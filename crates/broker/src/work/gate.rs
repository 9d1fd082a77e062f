//! Gates: what waits until a human has said yes or no.

use message::MessageId;

use super::hear::{Heard, Spoken};
use super::notices::Tell;
use super::{
    Dependencies, Fact, Gate, GateRaised, Hold, Micros, Moved, Step, TaskIntent, TaskStatus, Unjudged,
    is_over,
};
use crate::broker::{Broker, Decided, Decision};
use crate::{Accept, AgentKey, Context, EntryKey, Event, MessageKey, Refusal, turns};

impl Broker {
    /// Hears somebody ask for a yes, or the human answer.
    pub(super) fn hear_gate<'a>(
        &self,
        cx: &mut Context<'_>,
        accept: &'a Accept,
        intent: &'a TaskIntent,
        spoken: &Spoken<'_, 'a>,
    ) -> Result<Heard<'a>, Refusal> {
        if let Some(approved) = intent.accepts {
            return self.hear_judgement(accept, intent, spoken, approved);
        }
        let subject = self.subject(accept, Some(spoken)).filter(|(_, task)| {
            let may_wait = task.holder == Some(accept.from) && task.hold == Hold::Nothing;
            may_wait && !is_over(task.status)
        });
        let until = cx.now.plus_ms(self.work.policy().gate_ms);
        let why = intent.reason.as_deref().or(intent.title.as_deref()).unwrap_or("approval is asked for");
        let mut heard = Heard::default();
        heard.facts.push(Fact::GateRaised(Box::new(GateRaised {
            gate: spoken.id,
            asker: accept.from,
            guards: None,
            task: subject.map(|(key, _)| key),
            until,
            why: super::head(why).into(),
        })));
        if let Some((key, task)) = subject {
            let moved =
                Moved { hold: Hold::Gate, ..self.moved_by(key, task, Step::Gated, accept.from, spoken) };
            heard.facts.push(Fact::Moved(Box::new(moved)));
        }
        let reaches_human = spoken
            .targets
            .iter()
            .any(|target| matches!(target, crate::Target::Agent { agent, .. } if *agent == AgentKey::HUMAN));
        if !reaches_human {
            heard.tells.push(self.tell_gate(spoken.id, accept.from, accept.task.as_deref(), why));
        }
        Ok(heard)
    }

    /// Hears a human's word on a gate, said as a message.
    fn hear_judgement<'a>(
        &self,
        accept: &'a Accept,
        intent: &'a TaskIntent,
        spoken: &Spoken<'_, 'a>,
        approved: bool,
    ) -> Result<Heard<'a>, Refusal> {
        let answered = spoken.answers.and_then(|of| self.message_of(of.entry)).map(|message| message.id);
        let named = || accept.reply_to.as_deref().and_then(|reply_to| reply_to.parse().ok());
        let Some(gate) = answered.or_else(named).filter(|gate| self.work.gates.contains_key(gate)) else {
            return Ok(Heard::nothing_but("unknown_gate", "no gate waits for this answer"));
        };
        if accept.from != AgentKey::HUMAN {
            return Err(Refusal::NotYours);
        }
        let (events, _) =
            self.judged(gate, accept.from, approved, intent.reason.as_deref().unwrap_or_default())?;
        Ok(Heard { events, ..Heard::default() })
    }

    /// Keeps a conversation that goes round in circles until a human has seen it.
    pub(crate) fn park_loop<'a>(
        &self,
        cx: &mut Context<'_>,
        heard: &mut Heard<'a>,
        accept: &'a Accept,
        spoken: &Spoken<'_, 'a>,
    ) {
        let (agents, _) = Self::asked_by(spoken.targets);
        let is_asked = agents.first().is_some_and(|to| {
            let conversation = turns::conversation(accept.thread.as_deref(), accept.from, *to);
            self.parked.iter().any(|entry| self.conversation_of(*entry) == Some(conversation))
        });
        // One gate holds the whole conversation; and what asks a human itself needs no other.
        let asks = heard.facts.iter().any(|fact| matches!(fact, Fact::GateRaised(_)));
        if is_asked || heard.parks || asks {
            return;
        }
        let to = agents.first().map_or("somebody", |agent| self.name_of(*agent));
        let thread =
            accept.thread.as_deref().map(|thread| format!(" in thread {thread}")).unwrap_or_default();
        let from = self.name_of(accept.from);
        let why =
            format!("{from} and {to} write to each other{thread} without end; this is the last message");
        let until = cx.now.plus_ms(self.work.policy().gate_ms);
        let (guards, task) = (Some(spoken.message), None);
        let raised =
            GateRaised { gate: spoken.id, asker: accept.from, guards, task, until, why: why.clone().into() };
        heard.facts.push(Fact::GateRaised(Box::new(raised)));
        heard.tells.push(self.tell_gate(spoken.id, accept.from, accept.task.as_deref(), &why));
    }

    /// Returns the conversation in which an entry is parked.
    pub(super) fn conversation_of(&self, entry: EntryKey) -> Option<u64> {
        let extra = self.message_of(entry).and_then(|message| message.extra.as_deref());
        extra.map(|extra| extra.conversation).filter(|conversation| *conversation != 0)
    }

    /// Decides a gate.
    pub(crate) fn judge_gate<'a>(
        &self,
        cx: &mut Context<'_>,
        gate: MessageId,
        by: AgentKey,
        approved: bool,
        reason: &'a str,
    ) -> Decided<'a> {
        self.check_text("reason", reason)?;
        if by != AgentKey::HUMAN {
            return Err(Refusal::NotYours);
        }
        let (events, tells) = self.judged(gate, by, approved, reason)?;
        Ok(Decision::done(self.with_tells(cx, events, tells)))
    }

    /// Returns what follows from a decision on a gate.
    fn judged<'a>(
        &self,
        id: MessageId,
        by: AgentKey,
        approved: bool,
        reason: &'a str,
    ) -> Result<(Vec<Event<'a>>, Vec<Tell>), Refusal> {
        let gate = self.work.gates.get(&id).ok_or(Refusal::UnknownGate)?;
        let mut events = vec![Event::Work(Fact::GateJudged { gate: id, by, approved, reason })];
        let mut waits = false;
        if let Some((key, task)) = gate.task.and_then(|key| self.work.task(key).map(|task| (key, task)))
            && task.hold == Hold::Gate
        {
            let guards_request = gate.guards.is_some() && !is_over(task.status);
            // A yes to the work is no yes to doing it before what must be done before.
            waits = approved && guards_request && self.work.dependencies(task) != Dependencies::Done;
            let hold = if waits { Hold::Dependencies } else { Hold::Nothing };
            let step = if approved { Step::Passed } else { Step::Barred };
            let mut moved = Moved { hold, reason, ..self.unmoved(key, task, step, by) };
            if !approved && guards_request {
                (moved.status, moved.reserved) = (TaskStatus::Rejected, Micros(0));
            }
            events.push(Event::Work(Fact::Moved(Box::new(moved))));
        }
        if let Some(message) = gate.guards.filter(|_| !waits) {
            events.extend(self.let_go(message, approved, reason));
        }
        let tells = vec![self.tell_judged(id, gate, approved, reason)];
        Ok((events, tells))
    }

    /// Lets a message go that a gate kept, or ends it.
    fn let_go<'a>(&self, message: MessageKey, approved: bool, reason: &'a str) -> Vec<Event<'a>> {
        if !approved {
            let reason = if reason.is_empty() { "a human said no" } else { reason };
            return self.turn_away(message, reason);
        }
        let is_parked = self.entries_of(message).any(|(_, entry)| entry.state == crate::entry::State::Parked);
        let seq = self.message(message).filter(|_| is_parked).map(|message| message.seq);
        seq.map(|seq| Event::Resumed { message, seq }).into_iter().collect()
    }

    /// Ends a gate that nobody has judged in time, by the rule.
    pub(super) fn gate_over<'a>(&self, cx: &mut Context<'_>, id: MessageId) -> Vec<Event<'a>> {
        let Some(gate) = self.work.gates.get(&id).filter(|gate| gate.until <= cx.now) else {
            return Vec::new();
        };
        let approved = match self.work.policy().gate_unjudged {
            Unjudged::Reject => false,
            Unjudged::Approve => true,
            Unjudged::Wait => return self.ask_again(cx, id, gate),
        };
        let reason = "nobody decided in time";
        match self.judged(id, AgentKey::SYSTEM, approved, reason) {
            Ok((events, tells)) => self.with_tells(cx, events, tells),
            Err(_) => Vec::new(),
        }
    }

    fn ask_again<'a>(&self, cx: &mut Context<'_>, id: MessageId, gate: &Gate) -> Vec<Event<'a>> {
        let until = cx.now.plus_ms(self.work.policy().gate_ms);
        let task = gate.task.and_then(|key| self.work.task(key)).map(|task| task.id.clone());
        let tell = self.tell_gate(id, gate.asker, task.as_deref(), &gate.why);
        self.with_tells(cx, vec![Event::Work(Fact::GateRenewed { gate: id, until })], vec![tell])
    }
}
