//! Shrinking: from a run that fails to a short one that fails in the same way.

use crate::plan::Plan;
use crate::plant::Plant;
use crate::run::{Failure, run};
use crate::trace::Trace;

/// How many runs may be spent on it.
const RUNS_MAX: u32 = 3_000;

/// A short run that fails.
pub(crate) struct Shrunk {
    /// What is left of the plan.
    pub(crate) plan: Plan,
    /// How many steps of the plan it takes to fail, before any was left out.
    pub(crate) prefix: usize,
    /// How it fails.
    pub(crate) failure: Failure,
    /// What happens in it.
    pub(crate) lines: Vec<String>,
}

/// Makes a failing plan short: first the prefix, then without the steps that do not matter.
pub(crate) fn shrink(plan: &Plan, failure: &Failure, plant: Option<Plant>) -> Shrunk {
    let mut shrinker = Shrinker { plant, failure: failure.clone(), runs_left: RUNS_MAX };
    let mut plan = plan.clone();
    plan.steps.truncate(failure.step + 1);
    shrinker.shorten(&mut plan);
    let prefix = plan.steps.len();
    shrinker.drop_steps(&mut plan);
    let outcome = run(&plan, plant, Trace::kept());
    let failure = outcome.failure.unwrap_or(shrinker.failure);
    Shrunk { plan, prefix, failure, lines: outcome.lines }
}

struct Shrinker {
    plant: Option<Plant>,
    failure: Failure,
    runs_left: u32,
}

impl Shrinker {
    /// Looks for an earlier end that fails already: what is checked at the end may have gone wrong long before.
    fn shorten(&mut self, plan: &mut Plan) {
        let mut low = 1;
        while low < plan.steps.len() {
            let middle = low + (plan.steps.len() - low) / 2;
            let mut shorter = plan.clone();
            shorter.steps.truncate(middle);
            if self.fails(&shorter) {
                *plan = shorter;
            } else {
                low = middle + 1;
            }
        }
    }

    fn drop_steps(&mut self, plan: &mut Plan) {
        let mut size = plan.steps.len() / 2;
        while size > 0 {
            let mut start = 0;
            let mut dropped = false;
            while start < plan.steps.len() {
                let end = (start + size).min(plan.steps.len());
                let mut shorter = plan.clone();
                shorter.steps.drain(start..end);
                if self.fails(&shorter) {
                    *plan = shorter;
                    dropped = true;
                } else {
                    start = end;
                }
            }
            if !(dropped && size == 1) {
                size /= 2;
            }
        }
    }

    fn fails(&mut self, plan: &Plan) -> bool {
        if self.runs_left == 0 {
            return false;
        }
        self.runs_left -= 1;
        let outcome = run(plan, self.plant, Trace::hashed());
        outcome.failure.is_some_and(|failure| failure.violation.promise == self.failure.violation.promise)
    }
}
