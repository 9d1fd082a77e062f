//! Looking at work, without changing it.

use std::ops::Bound;

use message::{MessageId, PresenceState, Priority, Seq, TaskStatus};
use smol_str::SmolStr;

use super::{Blocker, Breaker, HandoffReason, Hold, Micros, Policy, Resource, Step, Task};
use crate::broker::Broker;
use crate::known::Known;
use crate::query::work::PolicyDecision;
use crate::{AgentKey, GroupKey, TaskKey, Time};

/// A task.
#[derive(Clone, Debug)]
pub struct TaskView<'b> {
    pub key: TaskKey,
    pub id: &'b str,
    pub title: &'b str,
    pub status: TaskStatus,
    pub hold: Hold,
    pub priority: Priority,
    pub requester: AgentKey,
    pub holder: Option<AgentKey>,
    /// Agents that were asked.
    pub asked: &'b [AgentKey],
    /// The role, topic or channel that was asked.
    pub group: Option<GroupKey>,
    pub is_claimed: bool,
    pub lease_until: Option<Time>,
    pub deadline: Option<Time>,
    pub is_late: bool,
    pub created: Time,
    pub updated: Time,
    pub version: u32,
    pub blocker: Option<Blocker>,
    /// Why it is where it is, in words.
    pub reason: &'b str,
    pub dependencies: Vec<&'b str>,
    pub capabilities: Vec<&'b str>,
    pub budget: Option<Micros>,
    pub tokens_max: Option<u64>,
    pub quality: Option<u32>,
    pub chain: Option<&'b str>,
    pub reserved: Micros,
    pub spent: Micros,
    pub tokens: u64,
    pub lapses: u32,
    pub offer: Option<OfferView>,
    pub votes: &'b [(AgentKey, bool)],
    pub reviewed: Option<bool>,
    /// The message that asked for it.
    pub request: Option<MessageId>,
    /// Where the document of that message lies in the log.
    pub body: Option<Seq>,
    /// Where the message lies by which it ended.
    pub outcome: Option<Seq>,
    /// What else is known of it: a JSON object, or nothing.
    pub overlay: &'b [u8],
    /// How many steps between the first and the others are no longer remembered.
    pub notes_lost: u32,
    pub notes: Vec<NoteView>,
}

/// A step that a task has taken.
#[derive(Clone, Copy, Debug)]
pub struct NoteView {
    pub at: Time,
    pub step: Step,
    pub by: AgentKey,
    /// Where the message was accepted that said so.
    pub said: Option<Seq>,
}

/// A task that is offered to another.
#[derive(Clone, Copy, Debug)]
pub struct OfferView {
    pub to: AgentKey,
    pub until: Time,
    pub reason: HandoffReason,
    pub message: MessageId,
}

/// Something that waits for a human.
#[derive(Clone, Debug)]
pub struct GateView<'b> {
    pub gate: MessageId,
    pub asker: AgentKey,
    pub task: Option<&'b str>,
    /// Whether a message waits for it.
    pub guards: Option<MessageId>,
    pub since: Time,
    pub until: Time,
    pub why: &'b str,
    /// How it was judged, if it was.
    pub judged: Option<JudgedGate<'b>>,
}

/// How a gate was judged.
#[derive(Clone, Copy, Debug)]
pub struct JudgedGate<'b> {
    pub by: AgentKey,
    pub approved: bool,
    pub at: Time,
    pub reason: &'b str,
}

/// An agent as somebody who works.
#[derive(Clone, Debug)]
pub struct AgentWork<'b> {
    pub agent: AgentKey,
    pub state: Option<PresenceState>,
    pub capabilities: Vec<&'b str>,
    pub quality: Option<u32>,
    pub from: Time,
    pub breaker: Breaker,
    pub spent: Micros,
    pub reserved: Micros,
    pub tokens: u64,
    pub holds: Vec<&'b str>,
    pub version: u32,
    pub overlay: &'b [u8],
}

/// What an agent may use of something.
#[derive(Clone, Debug)]
pub struct AllotmentView<'b> {
    pub id: &'b str,
    pub version: u32,
    pub agent: AgentKey,
    pub resource: Resource,
    pub allocated: u64,
    pub consumed: u64,
    pub limit: u64,
    pub expires: Option<Time>,
}

/// The policy in force.
#[derive(Clone, Debug)]
pub struct PolicyView<'b> {
    pub rules: &'b Policy,
    pub version: u32,
    /// The document, or nothing if there is none.
    pub document: &'b [u8],
    pub spent: Micros,
    pub reserved: Micros,
}

impl Broker {
    /// Returns a task by anything that it is called.
    pub fn look_at_task(&self, id: &str) -> Option<TaskView<'_>> {
        let key = self.work.find(id)?;
        Some(self.task_view(key, self.work.task(key)?))
    }

    /// Returns a task by its number.
    pub fn task_at(&self, key: TaskKey) -> Option<TaskView<'_>> {
        Some(self.task_view(key, self.work.task(key)?))
    }

    /// Returns tasks from a number on, in the order of their numbers.
    pub fn tasks(&self, from: u32) -> impl Iterator<Item = TaskView<'_>> {
        let tasks = self.work.tasks.range(from, self.work.tasks.end());
        tasks.map(|(key, task)| self.task_view(TaskKey(key), task))
    }

    /// Returns the name of an agent, whether it is there or gone.
    pub fn called(&self, agent: AgentKey) -> &str {
        self.name_of(agent)
    }

    /// Returns the address of a role, topic or channel.
    pub fn address_of_group(&self, group: GroupKey) -> Option<&str> {
        self.groups.get(group).map(|group| &*group.address)
    }

    /// Returns those of a task's dependencies that are not done.
    pub fn waits_for<'b>(&self, task: &TaskView<'b>) -> Vec<&'b str> {
        task.dependencies.iter().copied().filter(|name| !self.is_done(name)).collect()
    }

    /// Returns the message that an agent sent under an id of its own, while the id is remembered.
    pub fn sent_as(&self, agent: AgentKey, native_id: &str) -> Option<MessageId> {
        self.known.find(Known::native_key(agent, native_id)).map(|known| known.message)
    }

    /// Returns the task that an agent has by the claim that was accepted at this number of the log.
    pub(crate) fn held_by_claim(&self, agent: AgentKey, claim: Seq) -> Option<&str> {
        let held = self.work.worker(agent).into_iter().flat_map(|worker| &worker.holds);
        let mut tasks = held.filter_map(|key| self.work.task(*key));
        let task = tasks.find(|task| task.rest.notes.iter().any(|note| note.said == claim))?;
        Some(&task.id)
    }

    /// Returns how many tasks there are of each status, in the order of the statuses.
    pub fn task_counts(&self) -> [u64; TaskStatus::ALL.len()] {
        self.work.counts
    }

    /// Returns a task by the number that stands in for its name.
    pub fn task_by_number(&self, number: u64) -> Option<TaskView<'_>> {
        #[cfg(feature = "plants")]
        if self.has_plant(crate::plant::Plant::LoseTaskNumber) {
            return None;
        }
        self.task_at(self.work.numbers.get(&number).copied()?)
    }

    /// Returns the gate that a task waits for; the oldest, should there be several.
    pub(crate) fn gate_of(&self, task: TaskKey) -> Option<MessageId> {
        let first = (task, MessageId::from_bytes([0; 16]));
        let gates = self.work.gates_of_tasks.range(first..);
        gates.copied().next().filter(|(of, _)| *of == task).map(|(_, gate)| gate)
    }

    /// Returns how many agents are there and given no work because of their errors.
    pub(crate) fn open_breakers(&self) -> u64 {
        self.work.open_breakers.iter().filter(|agent| self.agent_at(**agent).is_ok()).count() as u64
    }

    /// Returns how many tasks are known.
    pub fn task_count(&self) -> usize {
        self.work.tasks.len()
    }

    fn task_view<'b>(&'b self, key: TaskKey, task: &'b Task) -> TaskView<'b> {
        let rest = &*task.rest;
        let some = |time: Time| (time != Time::NEVER).then_some(time);
        let texts = |texts: &'b [Box<str>]| texts.iter().map(|text| &**text).collect();
        TaskView {
            key,
            id: &task.id,
            title: &task.title,
            status: task.status,
            hold: task.hold,
            priority: task.priority,
            requester: task.requester,
            holder: task.holder,
            asked: &rest.asked,
            group: task.group,
            is_claimed: task.is_claimed,
            lease_until: some(task.lease_until),
            deadline: some(task.deadline),
            is_late: task.is_late,
            created: task.created,
            updated: task.updated,
            version: task.version,
            blocker: task.blocker,
            reason: &rest.reason,
            dependencies: texts(&rest.dependencies),
            capabilities: texts(&rest.capabilities),
            budget: rest.budget,
            tokens_max: rest.tokens_max,
            quality: rest.quality,
            chain: rest.chain.as_deref(),
            reserved: task.reserved,
            spent: task.spent,
            tokens: task.tokens,
            lapses: task.lapses.into(),
            offer: rest.offer.map(|offer| OfferView {
                to: offer.to,
                until: offer.until,
                reason: offer.reason,
                message: offer.message,
            }),
            votes: &rest.votes,
            reviewed: rest.reviewed,
            request: task.request.map(|request| request.id),
            body: task.request.map(|request| request.body),
            outcome: rest.outcome,
            overlay: &rest.overlay,
            notes_lost: rest.notes_lost,
            notes: rest
                .notes
                .iter()
                .map(|note| NoteView {
                    at: note.at,
                    step: note.step,
                    by: note.by,
                    said: (note.said != Seq(0)).then_some(note.said),
                })
                .collect(),
        }
    }

    /// Returns what waits for a human, the oldest first; and, if asked for, what was judged, the newest first.
    pub fn gates(&self, with_judged: bool) -> Vec<GateView<'_>> {
        self.open_gates(None).chain(self.judged_gates().filter(|_| with_judged)).collect()
    }

    /// Returns what waits for a human behind a gate, the oldest first.
    pub(crate) fn open_gates(&self, after: Option<MessageId>) -> impl Iterator<Item = GateView<'_>> {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let gates = self.work.gates.range((from, Bound::Unbounded));
        gates.map(|(id, gate)| self.gate_view(*id, gate, None))
    }

    /// Returns what was judged and is remembered, the newest first.
    pub(crate) fn judged_gates(&self) -> impl Iterator<Item = GateView<'_>> {
        self.work.judged_gates.iter().rev().map(|(id, gate, judged)| {
            let judged = JudgedGate {
                by: judged.by,
                approved: judged.approved,
                at: judged.at,
                reason: &judged.reason,
            };
            self.gate_view(*id, gate, Some(judged))
        })
    }

    fn gate_view<'b>(
        &'b self,
        gate: MessageId,
        held: &'b super::Gate,
        judged: Option<JudgedGate<'b>>,
    ) -> GateView<'b> {
        GateView {
            gate,
            asker: held.asker,
            task: held.task.and_then(|key| self.work.task(key)).map(|task| &*task.id),
            guards: held.guards.and_then(|message| self.message(message)).map(|message| message.id),
            since: held.since,
            until: held.until,
            why: &held.why,
            judged,
        }
    }

    /// Returns an agent as somebody who works.
    pub fn agent_work(&self, agent: AgentKey) -> AgentWork<'_> {
        let worker = self.work.worker(agent);
        let state = self.presence_of(agent);
        AgentWork {
            agent,
            state,
            capabilities: worker
                .map(|worker| worker.capabilities.iter().map(|text| &**text).collect())
                .unwrap_or_default(),
            quality: worker.and_then(|worker| worker.quality),
            from: worker.map_or(Time(0), |worker| worker.from),
            breaker: worker.map(|worker| worker.breaker).unwrap_or_default(),
            spent: worker.map(|worker| worker.spent).unwrap_or_default(),
            reserved: worker.map(|worker| worker.reserved).unwrap_or_default(),
            tokens: worker.map_or(0, |worker| worker.tokens),
            holds: worker
                .map(|worker| {
                    worker.holds.iter().filter_map(|key| self.work.task(*key)).map(|task| &*task.id).collect()
                })
                .unwrap_or_default(),
            version: worker.map_or(1, |worker| worker.version.max(1)),
            overlay: worker.map(|worker| &*worker.overlay).unwrap_or_default(),
        }
    }

    /// Returns what agents may use.
    pub fn allotments(&self) -> impl Iterator<Item = AllotmentView<'_>> {
        self.allotments_from(Bound::Unbounded)
    }

    /// Returns what agents may use from a name on, in the order of the names.
    pub(crate) fn allotments_from(&self, from: Bound<Box<str>>) -> impl Iterator<Item = AllotmentView<'_>> {
        self.work.allotments.range((from, Bound::Unbounded)).map(|(id, allotment)| AllotmentView {
            id,
            version: allotment.version,
            agent: allotment.agent,
            resource: allotment.resource,
            allocated: allotment.allocated,
            consumed: allotment.consumed,
            limit: allotment.limit,
            expires: (allotment.expires != Time::NEVER).then_some(allotment.expires),
        })
    }

    /// Returns the policy in force, and what was spent under it.
    pub fn policy(&self) -> PolicyView<'_> {
        PolicyView {
            rules: &self.work.policy.rules,
            version: self.work.policy.version,
            document: &self.work.policy.document,
            spent: self.work.spent,
            reserved: self.work.reserved,
        }
    }

    /// Returns when anything about work changed last.
    pub fn work_updated(&self) -> Time {
        self.work.updated
    }

    /// Returns the last decisions of the policy, the newest first.
    pub(crate) fn policy_decisions(&self) -> impl Iterator<Item = PolicyDecision> + '_ {
        self.work.judged.iter().rev().map(|judged| PolicyDecision {
            at: judged.at,
            task: SmolStr::new(&judged.task),
            agent: judged.agent.map(|agent| SmolStr::new(self.called(agent))),
            ask: judged.ask,
            outcome: judged.outcome,
        })
    }
}
