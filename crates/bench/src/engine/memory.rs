//! Memory: what a process holds for messages that wait.

use anyhow::{Context, ensure};
use serde_json::{Value, json};

use super::bus::Bus;
use super::load::{Crowd, Tasks};

/// As many senders as it takes that every id of a million is still known.
const CROWD: Crowd = Crowd { senders: 20, recipients: 100 };

/// What waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    tasks: Tasks,
}

impl Case {
    pub(crate) const ALL: [Case; 3] = [
        Case { name: "memory-plain", title: "no task", tasks: Tasks::None },
        Case { name: "memory-tasks", title: "one of 100 tasks", tasks: Tasks::Of(100) },
        Case { name: "memory-distinct", title: "a task of its own", tasks: Tasks::Distinct },
    ];
}

/// Lets so many messages wait and tells what this process holds for them.
pub(crate) fn look(case: Case, count: u64) -> anyhow::Result<Value> {
    let mut bus = Bus::new(CROWD, case.tasks, &mut |_, _, _| {})?;
    let idle = resident_bytes()?;
    bus.fill(count, &mut |_, _, _| {})?;
    let loaded = resident_bytes()?;
    let counts = bus.broker.counts();
    ensure!(counts.messages == count && counts.known == count, "not everything waits: {counts:?}");
    Ok(json!({ "idle": idle, "loaded": loaded, "count": count }))
}

pub(crate) fn resident_bytes() -> anyhow::Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status").context("reading what this process holds")?;
    resident(&status).context("the system does not tell what this process holds")
}

/// The memory of a process, as the system writes it.
pub(crate) fn resident(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes << 10)
}
