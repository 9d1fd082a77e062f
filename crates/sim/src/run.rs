//! One run: the steps of a plan, one after the other, with the model looking on.

use std::panic::{AssertUnwindSafe, catch_unwind};

use broker::{Effect, Reply};

use crate::client::{Asker, Client};
use crate::driver::{Answer, Driver, Seen};
use crate::model::Model;
use crate::plan::Plan;
use crate::plant::Plant;
use crate::request::Request;
use crate::step::Step;
use crate::trace::Trace;
use crate::violation::{Promise, Violation};

/// After so many steps the bus is asked about everything.
const CHECK_EVERY: usize = 16;

/// What came of a run.
pub(crate) struct Outcome {
    pub(crate) stats: Stats,
    pub(crate) hash: u64,
    pub(crate) failure: Option<Failure>,
    pub(crate) lines: Vec<String>,
}

/// A promise that was broken, and at which step.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub(crate) step: usize,
    pub(crate) violation: Violation,
}

/// How much happened.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stats {
    pub(crate) steps: u64,
    pub(crate) messages: u64,
    pub(crate) deliveries: u64,
    pub(crate) crashes: u64,
}

impl Stats {
    pub(crate) fn add(&mut self, other: &Stats) {
        self.steps += other.steps;
        self.messages += other.messages;
        self.deliveries += other.deliveries;
        self.crashes += other.crashes;
    }
}

/// Runs a plan until its end or the first promise that is broken.
pub(crate) fn run(plan: &Plan, plant: Option<Plant>, trace: Trace) -> Outcome {
    let mut run = Run {
        plan,
        client: Client::new(&plan.world),
        model: Model::new(plan.world.settings.clone()),
        trace,
        stats: Stats::default(),
        step: 0,
    };
    // A bus that panics breaks every promise at once; the run is over, and what it left is not looked at again.
    let done = catch_unwind(AssertUnwindSafe(|| run.go(plant)));
    let violation = match done {
        Ok(Ok(())) => None,
        Ok(Err(violation)) => Some(violation),
        Err(panic) => Some(Violation { promise: Promise::Panics, what: words_of(panic.as_ref()) }),
    };
    let failure = violation.map(|violation| Failure { step: run.step, violation });
    Outcome { stats: run.stats, hash: run.trace.hash(), failure, lines: run.trace.into_lines() }
}

struct Run<'p> {
    plan: &'p Plan,
    client: Client,
    model: Model,
    trace: Trace,
    stats: Stats,
    step: usize,
}

impl Run<'_> {
    fn go(&mut self, plant: Option<Plant>) -> Result<(), Violation> {
        let mut driver = Driver::new(&self.plan.world, plant)?;
        self.look(&mut driver)?;
        for (index, step) in self.plan.steps.iter().enumerate() {
            self.step = index;
            self.stats.steps += 1;
            self.trace.note(format_args!("{index}: {step:?}"));
            let taken = self.take(&mut driver, step);
            // What was seen before the driver gave up tells more than that it did.
            self.look(&mut driver)?;
            taken?;
            if let Some(broker) = driver.broker() {
                self.model.check_work(broker)?;
            }
            if index % CHECK_EVERY == CHECK_EVERY - 1 {
                self.check(&driver)?;
            }
        }
        let settled = driver.settle();
        self.look(&mut driver)?;
        settled?;
        self.check(&driver)
    }

    fn take(&mut self, driver: &mut Driver, step: &Step) -> Result<(), Violation> {
        match step {
            Step::Ask(ask) => {
                let asked =
                    self.client.ask(&self.plan.world, ask, driver.wall(), (&driver.dead(), driver.broker()));
                if let Some((asker, asked)) = asked {
                    driver.ask(asker, asked);
                }
                Ok(())
            }
            Step::Turn => driver.turn(),
            Step::Sync => driver.sync(),
            Step::Pass { ms } => {
                driver.pass(*ms);
                Ok(())
            }
            Step::Jump { ms } => {
                driver.jump(*ms);
                Ok(())
            }
            Step::Sleep { ms } => {
                driver.sleep(*ms);
                Ok(())
            }
            Step::Snapshot => driver.snapshot(),
            Step::Trim => driver.trim(),
            Step::Crash(crash) => driver.crash(crash),
            Step::DiskFull { bytes } => {
                driver.fill_disk(*bytes);
                Ok(())
            }
            Step::DiskFreed => driver.free_disk(),
            Step::SyncFault { after, fault } => {
                driver.fail_sync(*after, *fault);
                Ok(())
            }
            Step::WriteFault { after, fault } => {
                driver.fail_write(*after, *fault);
                Ok(())
            }
            Step::Refuse => {
                driver.refuse();
                Ok(())
            }
            Step::Rot { pick } => driver.rot(*pick),
        }
    }

    /// Shows the model, and those outside, what was seen.
    fn look(&mut self, driver: &mut Driver) -> Result<(), Violation> {
        for seen in driver.take_seen() {
            self.note(&seen);
            self.model.see(&seen)?;
            match &seen {
                Seen::Released(answer) => self.hear(answer),
                Seen::Crashed => {
                    self.stats.crashes += 1;
                    self.client.cut_off();
                }
                Seen::Told(effects) => self.hear_replies(effects),
                Seen::Handed { .. } => self.stats.deliveries += 1,
                Seen::Answered(_)
                | Seen::NoRoom(_)
                | Seen::Elapsed { .. }
                | Seen::TurnOver { .. }
                | Seen::Kept { .. }
                | Seen::Started { .. } => {}
            }
        }
        Ok(())
    }

    /// Tells those outside what they were answered.
    fn hear(&mut self, answer: &Answer) {
        match (&answer.request, &answer.outcome, answer.asker) {
            (_, Ok(Reply::Agent(key)), Asker::Agent(agent)) => self.client.registered(agent, *key),
            (_, Ok(Reply::Session { session, .. }), Asker::Agent(agent)) => {
                self.client.connected(agent, *session);
            }
            (Request::Accept(sent), Ok(Reply::Accepted(receipted)), _) => {
                self.stats.messages += u64::from(!receipted.duplicate);
                self.client.receipted(receipted.id, sent.from);
            }
            (Request::Commit(recorded), Ok(Reply::Committed(committed)), _) => {
                self.stats.messages += answer.sent.len() as u64;
                for message in &answer.sent {
                    self.client.receipted(*message, recorded.repo);
                }
                self.client.committed(recorded, committed);
            }
            (_, Ok(Reply::Taken(deliveries)), Asker::Agent(agent)) => {
                for delivery in deliveries {
                    self.client.given(agent, delivery.delivery, delivery.id, Some(delivery.from));
                }
            }
            _ => {}
        }
    }

    /// Gives replies to those who waited for them.
    fn hear_replies(&mut self, effects: &[Effect]) {
        for effect in effects {
            if let Effect::Answered { message, reply, delivery } = effect
                && let Some(agent) = self.client.sender_of(*message)
            {
                self.client.given(agent, *delivery, *reply, None);
            }
        }
    }

    fn check(&mut self, driver: &Driver) -> Result<(), Violation> {
        match driver.broker() {
            Some(broker) => self.model.check(broker),
            None => Ok(()),
        }
    }

    fn note(&mut self, seen: &Seen) {
        let trace = &mut self.trace;
        match seen {
            Seen::Answered(answer) => trace.note(format_args!(
                "  {:?} asks {:?} at {} (wall {}): {:?} [{}] {:?}",
                answer.asker,
                answer.request,
                answer.now,
                answer.wall,
                answer.outcome,
                answer.last,
                answer.effects
            )),
            Seen::Released(answer) => trace.note(format_args!("  leaves: answer [{}]", answer.last)),
            Seen::Handed { delivery, body } => {
                trace.note(format_args!("  leaves: {} with {} bytes", delivery.id, body.len()));
            }
            Seen::NoRoom(request) => trace.note(format_args!("  no room for {request:?}")),
            Seen::Elapsed { .. }
            | Seen::TurnOver { .. }
            | Seen::Told(_)
            | Seen::Kept { .. }
            | Seen::Crashed
            | Seen::Started { .. } => trace.note(format_args!("  {seen:?}")),
        }
    }
}

fn words_of(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default()
}
