//! The threads of a node in many orders: the shell is compiled once more, with the locks, condition variables and
//! threads of a checker (`shuttle`), which runs one thread at a time and decides at every lock, wait and wake-up which
//! is next. A thread that waits for ever is found as a deadlock, whatever the order in which it happens.
//!
//! A second set of modules instead of a cargo feature: features are unified across a workspace, so one that replaces
//! locks would reach the server and the node's ordinary tests, which must run on real threads. The files of the shell
//! name their locks by `super::sync`; that is `crate::sync` there and `sync` below here.
//!
//! The log is the embedded one on a disk in memory. Its own locks are no part of this: whatever it does is one step.

mod bus;
mod failing_log;
mod scenarios;
mod sync;

#[path = "commit_queue.rs"]
#[expect(
    clippy::duplicate_mod,
    dead_code,
    reason = "the same file with other locks; the handle is not used here"
)]
mod commit_queue;
#[path = "maintenance_signal.rs"]
#[expect(
    clippy::duplicate_mod,
    dead_code,
    reason = "the same file with other locks; the handle is not used here"
)]
mod maintenance_signal;
#[path = "queue.rs"]
#[expect(
    clippy::duplicate_mod,
    dead_code,
    reason = "the same file with other locks; the handle is not used here"
)]
mod queue;
#[path = "threads.rs"]
#[expect(clippy::duplicate_mod, reason = "the same file with other locks")]
mod threads;

use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use shuttle::{Config, MaxSteps, Runner};

/// Schedules of each scenario in the gate: a second or two. They are the same every time.
const SCHEDULES: usize = 600;
/// Seed of the schedules in the gate. `SCHEDULES` in the environment asks for so many others, new ones every time.
const SEED: u64 = 1;
/// How often a thread of higher priority is interrupted, in the schedules that go by priority.
const DEPTH: usize = 4;
/// Stack of a thread: deciding takes more than the checker gives by itself.
const STACK_BYTES: usize = 512 << 10;
/// Steps after which a scenario counts as one that never ends.
const STEPS_MAX: usize = 200_000;

/// Runs a scenario in many schedules: half of them drawn at random, half with random priorities, which finds what takes
/// a thread that is left behind for long.
fn check(scenario: impl Fn() + Copy + Send + Sync + 'static) {
    match std::env::var("SCHEDULES").ok().and_then(|count| count.parse::<usize>().ok()) {
        Some(count) => {
            run(RandomScheduler::new(count.div_ceil(2)), scenario);
            run(PctScheduler::new(DEPTH, count.div_ceil(2)), scenario);
        }
        None => {
            run(RandomScheduler::new_from_seed(SEED, SCHEDULES / 2), scenario);
            run(PctScheduler::new_from_seed(SEED, DEPTH, SCHEDULES / 2), scenario);
        }
    }
}

fn run(scheduler: impl Scheduler + 'static, scenario: impl Fn() + Send + Sync + 'static) {
    let mut config = Config::new();
    config.stack_size = STACK_BYTES;
    config.max_steps = MaxSteps::FailAfter(STEPS_MAX);
    // The only atomic of the shell is a hint that is read again under the lock.
    config.silence_warnings = true;
    Runner::new(scheduler, config).run(scenario);
}
