//! The whole shared state, as a `SharedState`.

use std::collections::BTreeMap;

use broker::query::agents::AgentPage;
use broker::query::tasks::{FindTasks, TaskMark, TaskMarks};
use broker::query::work::{Allotments, PolicyInForce};
use broker::{Time, is_over};
use message::Seq;
use smol_str::SmolStr;

use super::{agent_status, allocation, policy_state, task_state};
use crate::letters::BYTES_MAX;
use crate::tasks::outcome;
use crate::{AGENTS_MAX, Answer, Hub, Principal, Problem};

/// Tasks or allotments that are looked at in one query.
const LOOK_MAX: usize = 1_000;
/// Tasks that are copied out in one query.
const PIECE_MAX: usize = 16;
/// Tasks that are shown: what is not over first, then what ended last.
const SHOWN_MAX: usize = 10_000;
/// Of what is over, the newest that are shown.
const ENDED_MAX: usize = 1_000;

/// Tasks as they are gathered.
#[derive(Default)]
struct Gathered {
    open: Vec<Entry>,
    /// By when it changed last and its number.
    ended: BTreeMap<(Time, u32), Entry>,
    left_out: u64,
}

struct Entry {
    id: SmolStr,
    /// Where the message lies by which it ended, for those who may read it.
    outcome: Option<Seq>,
}

/// Writes the whole state, as somebody may see it. It is gathered piece by piece, so that nobody waits for it: what
/// changes meanwhile is told to those who follow from `seq` on.
pub async fn shared_state(hub: &Hub, principal: &Principal) -> Result<String, Problem> {
    let seq = hub.node().durable();
    let mut gathered = Gathered::default();
    let mut from = Some(0);
    while let Some(next) = from {
        let page = TaskMarks { from: next, max: LOOK_MAX, readers: principal.agents() };
        let (marks, behind) = hub.query(page).await?;
        marks.into_iter().for_each(|mark| gathered.add(mark, principal));
        from = behind;
    }
    // What ended last comes first of what is over.
    let ended = gathered.ended.into_values().rev();
    let entries: Vec<Entry> = gathered.open.into_iter().chain(ended).collect();
    let (mut tasks, mut versions) = (Answer::new(), Answer::new());
    let (mut bytes_left, mut left_out) = (BYTES_MAX, gathered.left_out);
    for piece in entries.chunks(PIECE_MAX) {
        if bytes_left == 0 {
            left_out += piece.len() as u64;
            continue;
        }
        let ids = piece.iter().map(|entry| entry.id.clone()).collect();
        let mut entries = piece.iter();
        for task in hub.query(FindTasks { ids }).await? {
            // Tasks that were forgotten meanwhile are missing; the others are in the same order.
            let entry = entries.find(|entry| entry.id == task.id);
            let outcome = match entry.and_then(|entry| entry.outcome) {
                Some(place) => outcome(hub, place).await,
                None => None,
            };
            let state = task_state(&task, outcome.as_ref());
            bytes_left = bytes_left.saturating_sub(state.len() as u64);
            tasks = tasks.raw(&task.id, &state);
            versions = versions.number(&task.id, task.version.into());
        }
    }
    let (tasks, versions) = (tasks.end(), versions.end());
    let (agents, agent_versions) = agents(hub).await?;
    let (resources, resource_versions) = resources(hub).await?;
    let policy = hub.query(PolicyInForce).await?;
    let versions = Answer::new()
        .raw("TASK", &versions)
        .raw("AGENT", &agent_versions)
        .raw("RESOURCE", &resource_versions)
        .raw("POLICY", &Answer::new().number("policy", policy.version.into()).end());
    let whole = Answer::with_capacity(tasks.len() + 4_096)
        .raw("task_registry", &tasks)
        .raw("agent_registry", &agents)
        .raw("resource_allocations", &resources)
        .raw("policy_state", &policy_state(&policy))
        .text("last_updated", &policy.work_updated.timestamp().to_string())
        .raw("versions", &versions.end())
        .number("seq", seq.0)
        .number("left_out", left_out);
    Ok(whole.end())
}

/// Writes the agents, and their versions.
async fn agents(hub: &Hub) -> Result<(String, String), Problem> {
    let (mut agents, mut versions) = (Answer::new(), Answer::new());
    let mut after = None;
    loop {
        let (page, next) = hub.query(AgentPage { after, max: AGENTS_MAX }).await?;
        for agent in page.iter().filter(|agent| !agent.agent.is_machinery()) {
            agents = agents.raw(&agent.name, &agent_status(agent));
            versions = versions.number(&agent.name, agent.work.version.into());
        }
        after = next;
        if after.is_none() {
            return Ok((agents.end(), versions.end()));
        }
    }
}

/// Writes what agents may use, and the versions of that.
async fn resources(hub: &Hub) -> Result<(String, String), Problem> {
    let (mut resources, mut versions) = (Answer::new(), Answer::new());
    let mut after = None;
    loop {
        let page = hub.query(Allotments { after, max: LOOK_MAX }).await?;
        for allotment in &page {
            resources = resources.raw(&allotment.id, &allocation(allotment));
            versions = versions.number(&allotment.id, allotment.version.into());
        }
        after = page.last().map(|last| last.id.clone());
        if page.len() < LOOK_MAX {
            return Ok((resources.end(), versions.end()));
        }
    }
}

impl Gathered {
    fn add(&mut self, task: TaskMark, principal: &Principal) {
        let may_read = task.is_member || task.parties.iter().any(|agent| principal.acts_as(*agent));
        let entry = Entry { id: task.id, outcome: task.outcome.filter(|_| may_read) };
        if is_over(task.status) {
            self.ended.insert((task.updated, task.key.0), entry);
            if self.ended.len() > ENDED_MAX {
                self.ended.pop_first();
                self.left_out += 1;
            }
        } else if self.open.len() < SHOWN_MAX {
            self.open.push(entry);
        } else {
            self.left_out += 1;
        }
    }
}
