//! What a fact changes beside tasks: rules, allotments, agents, gates and calls for help.

use message::Seq;

use super::read_policy;
use crate::broker::{Applied, Broker};
use crate::effect::{Effect, Effects};
use crate::mailbox::Mailbox;
use crate::work::{
    Allotment, Allotted, Breaker, Fact, Gate, GateRaised, Help, JUDGED_GATES_MAX, Judgement, PolicyHeld,
    Timer, Worker, Works, head,
};
use crate::{AgentKey, Misfit, Time};

impl Broker {
    /// Folds what is known of rules and allotments.
    pub(super) fn ruled(&mut self, fact: &Fact<'_>) -> Applied {
        let seq = self.last;
        if let Fact::PolicySet { version, by, document } = fact {
            let rules = read_policy(document).ok_or(Misfit::State { seq, what: "a policy" })?;
            let (by, document) = (Some(*by), document.as_ref().into());
            self.work.policy = PolicyHeld { rules, version: *version, by, document };
        }
        if let Fact::Allotted(allotted) = fact {
            self.check_agent(allotted.agent)?;
            self.work.allotments.insert(allotted.id.into(), Allotment::of(allotted));
        }
        let missing = Misfit::Missing { seq, what: "an allotment" };
        if let Fact::AllotmentGone { id, .. } = fact {
            self.work.allotments.remove(*id).ok_or(missing)?;
        }
        if let Fact::Consumed { id, consumed } = fact {
            self.work.allotments.get_mut(&**id).ok_or(missing)?.consumed = *consumed;
        }
        Ok(())
    }

    /// Folds what is known of an agent as somebody who works.
    pub(super) fn agent_known(&mut self, fact: &Fact<'_>, effects: &mut Effects) -> Applied {
        if let Fact::AgentDescribed { agent, version, overlay } = fact {
            let worker = self.worker_mut(*agent)?;
            (worker.version, worker.overlay) = (*version, overlay.as_ref().into());
        }
        if let Fact::BreakerSet { agent, breaker } = fact {
            self.breaker_set(*agent, *breaker, effects)?;
        }
        if let Fact::Equipped { agent, capabilities } = fact {
            let worker = self.worker_mut(*agent)?;
            worker.capabilities = capabilities.iter().map(|text| Box::from(*text)).collect();
        }
        if let Fact::Fitness { agent, quality, from } = fact {
            let worker = self.worker_mut(*agent)?;
            (worker.quality, worker.from) = (*quality, *from);
            self.rouse(*agent, effects);
        }
        Ok(())
    }

    fn breaker_set(&mut self, agent: AgentKey, breaker: Breaker, effects: &mut Effects) -> Applied {
        let before = std::mem::replace(&mut self.worker_mut(agent)?.breaker, breaker);
        if let Breaker::Open { until } | Breaker::Probing { until } = before {
            self.work.timers.remove(&(until, Timer::Breaker(agent)));
        }
        match breaker {
            Breaker::Open { until } | Breaker::Probing { until } => {
                self.work.timers.insert((until, Timer::Breaker(agent)));
            }
            // What waited for it may leave now, one piece or all.
            Breaker::HalfOpen | Breaker::Closed => self.rouse(agent, effects),
            Breaker::Counting(_) => {}
        }
        self.work.note_breaker(agent, breaker);
        Ok(())
    }

    /// Says that an agent may be given what it was not given before.
    pub(crate) fn rouse(&self, agent: AgentKey, effects: &mut Effects) {
        let groups = self.agents.get(agent).map(|agent| agent.groups.as_slice()).unwrap_or_default();
        effects.push(Effect::Ready(Mailbox::Agent(agent)));
        effects.extend(groups.iter().map(|group| Effect::Ready(Mailbox::Group(*group))));
    }

    pub(super) fn check_agent(&self, agent: AgentKey) -> Applied {
        let known = self.agents.get(agent).map(|_| ());
        known.ok_or(Misfit::Missing { seq: self.last, what: "an agent" })
    }

    fn worker_mut(&mut self, agent: AgentKey) -> Result<&mut Worker, Misfit> {
        self.check_agent(agent)?;
        Ok(self.work.workers.entry(agent).or_default())
    }
}

impl Allotment {
    fn of(allotted: &Allotted<'_>) -> Self {
        Allotment {
            version: allotted.version,
            agent: allotted.agent,
            resource: allotted.resource,
            allocated: allotted.allocated,
            consumed: allotted.consumed,
            limit: allotted.limit,
            expires: allotted.expires,
            overlay: allotted.overlay.as_ref().into(),
        }
    }
}

impl Works {
    /// Folds what is asked of humans and helpers, and what comes of it.
    pub(super) fn asked_for(&mut self, fact: &Fact<'_>, seq: Seq, at: Time) -> Applied {
        if let Fact::GateRaised(raised) = fact {
            self.gate_raised(raised, seq, at)?;
        }
        if let Fact::GateJudged { gate, by, approved, reason } = fact {
            let held = self.gates.remove(gate).ok_or(Misfit::Missing { seq, what: "a gate" })?;
            self.timers.remove(&(held.until, Timer::Gate(*gate)));
            if let Some(task) = held.task {
                self.gates_of_tasks.remove(&(task, *gate));
            }
            let judgement = Judgement { by: *by, approved: *approved, at, reason: head(reason).into() };
            self.judged_gates.push_back((*gate, held, judgement));
            while self.judged_gates.len() > JUDGED_GATES_MAX {
                self.judged_gates.pop_front();
            }
        }
        if let Fact::GateRenewed { gate, until } = fact {
            let held = self.gates.get_mut(gate).ok_or(Misfit::Missing { seq, what: "a gate" })?;
            let before = std::mem::replace(&mut held.until, *until);
            self.timers.remove(&(before, Timer::Gate(*gate)));
            self.timers.insert((*until, Timer::Gate(*gate)));
        }
        if let Fact::HelpAsked { help, asker, until } = fact {
            self.timers.insert((*until, Timer::Help(*help)));
            self.helps.insert(*help, Help { asker: *asker, until: *until });
        }
        if let Fact::HelpOver { help, .. } = fact {
            let held = self.helps.remove(help).ok_or(Misfit::Missing { seq, what: "a call for help" })?;
            self.timers.remove(&(held.until, Timer::Help(*help)));
        }
        Ok(())
    }

    /// Keeps the set of agents that are given no work.
    pub(in crate::work) fn note_breaker(&mut self, agent: AgentKey, breaker: Breaker) {
        match breaker {
            Breaker::Open { .. } | Breaker::Probing { .. } => drop(self.open_breakers.insert(agent)),
            Breaker::HalfOpen | Breaker::Closed | Breaker::Counting(_) => {
                self.open_breakers.remove(&agent);
            }
        }
    }

    fn gate_raised(&mut self, raised: &GateRaised<'_>, seq: Seq, at: Time) -> Applied {
        let gate = Gate {
            asker: raised.asker,
            guards: raised.guards,
            task: raised.task,
            since: at,
            until: raised.until,
            why: head(&raised.why).into(),
        };
        self.timers.insert((raised.until, Timer::Gate(raised.gate)));
        self.gates_of_tasks.extend(raised.task.map(|task| (task, raised.gate)));
        match self.gates.insert(raised.gate, gate) {
            None => Ok(()),
            Some(_) => Err(Misfit::Taken { seq, what: "a gate" }),
        }
    }
}
