//! Real time, which is what is measured here, and the quiet gate.

use std::time::{Duration, Instant};

/// The machine counts as quiet when its processors were busy for this part of a moment at most.
const BUSY_MAX: f64 = 0.10;
const MOMENT: Duration = Duration::from_millis(200);
/// How often we look until we measure anyway.
const LOOKS_MAX: usize = 40;

/// How quiet it was before the measures.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quiet {
    looks_max: usize,
    measures: usize,
    noisy: usize,
}

impl Quiet {
    /// A gate that waits.
    pub(crate) fn gate() -> Self {
        Quiet { looks_max: LOOKS_MAX, measures: 0, noisy: 0 }
    }

    /// A gate that lets everybody through, for runs whose figures mean nothing.
    pub(crate) fn open() -> Self {
        Quiet { looks_max: 0, ..Quiet::gate() }
    }

    /// Waits until what others wrote is on the disk and nothing else works on this machine, for a few seconds at most.
    /// Otherwise whoever syncs would wait for what those left behind who do not.
    pub(crate) fn wait(&mut self) {
        self.measures += 1;
        if self.looks_max > 0 {
            // Where there is no such program, it is measured as it is.
            let _written = std::process::Command::new("sync").status();
        }
        let is_quiet = (0..self.looks_max).any(|_| busy_share().is_none_or(|share| share <= BUSY_MAX));
        if !is_quiet {
            self.noisy += 1;
        }
    }

    pub(crate) fn sentence(self) -> String {
        let Quiet { measures, noisy, .. } = self;
        match noisy {
            0 => format!("quiet: nothing else worked before any of the {measures} measures"),
            _ => {
                format!("NOISY: other programs worked before {noisy} of {measures} measures; repeat the run")
            }
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "real time is what is measured here")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Lets real time pass.
pub(crate) fn pause(duration: Duration) {
    std::thread::sleep(duration);
}

/// The part of a moment in which the processors were busy, where the system tells.
fn busy_share() -> Option<f64> {
    let look = || std::fs::read_to_string("/proc/stat").ok().as_deref().and_then(busy_and_all);
    let (busy_before, all_before) = look()?;
    pause(MOMENT);
    let (busy, all) = look()?;
    Some((busy - busy_before) as f64 / all.checked_sub(all_before).filter(|all| *all > 0)? as f64)
}

/// Busy time and all time of the processors in the first line of `/proc/stat`.
pub(crate) fn busy_and_all(stat: &str) -> Option<(u64, u64)> {
    let words = stat.lines().next()?.strip_prefix("cpu ")?.split_whitespace();
    let times: Vec<u64> = words.take(8).map_while(|word| word.parse().ok()).collect();
    // The fourth and the fifth are idling and waiting for a disk.
    let idle = times.get(3)? + times.get(4)?;
    let all: u64 = times.iter().sum();
    Some((all - idle, all))
}
