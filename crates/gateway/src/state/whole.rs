//! The whole shared state, as a `SharedState`.

use std::collections::BTreeMap;

use broker::{TaskView, Time, is_over};
use message::{Message, Seq};
use node::Turn;

use super::{agent_status, allocation, policy_state, task_state};
use crate::letters::BYTES_MAX;
use crate::tasks::{may_read, outcome};
use crate::{Answer, Hub, Principal, Problem};

/// Tasks that are looked at in one turn.
const LOOK_MAX: usize = 1_000;
/// Tasks that are written in one turn.
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
    id: String,
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
        let principal = principal.clone();
        let gathering = std::mem::take(&mut gathered);
        (gathered, from) = hub.call(move |turn| Ok(gather(turn, &principal, gathering, next))).await?;
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
        let asked: Vec<(String, Option<Message>)> = piece
            .iter()
            .map(|entry| (entry.id.clone(), entry.outcome.and_then(|place| outcome(hub, place))))
            .collect();
        let written = hub.call(move |turn| {
            let broker = turn.broker();
            let state = |(id, outcome): &(String, Option<Message>)| {
                let view = broker.look_at_task(id)?;
                Some((id.clone(), view.version, task_state(broker, &view, outcome.as_ref())))
            };
            Ok(asked.iter().filter_map(state).collect::<Vec<_>>())
        });
        for (id, version, state) in written.await? {
            bytes_left = bytes_left.saturating_sub(state.len() as u64);
            tasks = tasks.raw(&id, &state);
            versions = versions.number(&id, version.into());
        }
    }
    let (tasks, versions) = (tasks.end(), versions.end());
    hub.call(move |turn| Ok(rest(turn, seq, &tasks, &versions, left_out))).await
}

/// Gathers some tasks, and says from where on the next are.
fn gather(
    turn: &Turn<'_>,
    principal: &Principal,
    mut gathered: Gathered,
    from: u32,
) -> (Gathered, Option<u32>) {
    let broker = turn.broker();
    for (count, task) in broker.tasks(from).enumerate() {
        if count == LOOK_MAX {
            return (gathered, Some(task.key.0));
        }
        let outcome = task.outcome.filter(|_| may_read(broker, &task, principal));
        gathered.add(&task, outcome);
    }
    (gathered, None)
}

impl Gathered {
    fn add(&mut self, task: &TaskView<'_>, outcome: Option<Seq>) {
        let entry = Entry { id: task.id.to_owned(), outcome };
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

/// Writes the rest of the state around the tasks.
fn rest(turn: &Turn<'_>, seq: Seq, tasks: &str, task_versions: &str, left_out: u64) -> String {
    let broker = turn.broker();
    let (mut agents, mut agent_versions) = (Answer::new(), Answer::new());
    for view in broker.agents().filter(|view| !view.agent.is_machinery()) {
        if let Some(status) = agent_status(turn, view.agent) {
            agents = agents.raw(view.name, &status);
            agent_versions = agent_versions.number(view.name, broker.agent_work(view.agent).version.into());
        }
    }
    let (mut resources, mut resource_versions) = (Answer::new(), Answer::new());
    for allotment in broker.allotments() {
        resources = resources.raw(allotment.id, &allocation(broker, &allotment));
        resource_versions = resource_versions.number(allotment.id, allotment.version.into());
    }
    let policy = Answer::new().number("policy", broker.policy().version.into());
    let versions = Answer::new()
        .raw("TASK", task_versions)
        .raw("AGENT", &agent_versions.end())
        .raw("RESOURCE", &resource_versions.end())
        .raw("POLICY", &policy.end());
    Answer::with_capacity(tasks.len() + 4_096)
        .raw("task_registry", tasks)
        .raw("agent_registry", &agents.end())
        .raw("resource_allocations", &resources.end())
        .raw("policy_state", &policy_state(broker))
        .text("last_updated", &broker.work_updated().timestamp().to_string())
        .raw("versions", &versions.end())
        .number("seq", seq.0)
        .number("left_out", left_out)
        .end()
}
