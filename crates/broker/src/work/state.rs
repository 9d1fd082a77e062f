//! Shared state: changes of tasks, agents, allotments and the policy that name the version which they make.

use std::borrow::Cow;

use json::{Object, Value};
use message::{PresenceState, Priority, TaskStatus, Timestamp};

use super::fold::read_policy;
use super::hear::Right;
use super::request::TaskTexts;
use super::word::words;
use super::{
    Allotted, Anew, Asked, Fact, Hold, LIMITS, Micros, Moved, Policy, Resource, Step, Task, TaskIntent,
    after, is_over,
};
use crate::broker::{Broker, Decided, Decision};
use crate::{AgentKey, Context, Event, Refusal, Reply, Time};

/// Bytes of what may be known of an entity beside its state.
const OVERLAY_BYTES_MAX: usize = 65_536;

words! {
    /// What is done to an entity.
    Operation {
        Create = "CREATE",
        Update = "UPDATE",
        Delete = "DELETE",
    }
}

words! {
    /// What can be changed.
    Entity {
        Task = "TASK",
        Agent = "AGENT",
        Resource = "RESOURCE",
        Policy = "POLICY",
    }
}

/// A change of the shared state.
#[derive(Clone, Debug)]
pub struct StateChange {
    /// Who makes it.
    pub by: AgentKey,
    /// What is done.
    pub operation: Operation,
    /// To what kind of thing.
    pub entity: Entity,
    /// To which.
    pub id: Box<str>,
    /// What changes: all of it, or fields, of which `null` takes one away.
    pub changes: Object<'static>,
    /// The version that it makes; nothing for the next one, whatever it is.
    pub version: Option<u32>,
}

/// How a change was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// The version of the entity now.
    pub version: u32,
    /// Whether it had been made before.
    pub is_duplicate: bool,
}

impl Broker {
    pub(crate) fn change_state<'a>(&self, cx: &mut Context<'_>, change: &'a StateChange) -> Decided<'a> {
        self.agent_at(change.by)?;
        self.check_text("entity", &change.id)?;
        let current = self.version_of(change.entity, &change.id);
        let next = current.saturating_add(1);
        if let Some(version) = change.version {
            let version = self.taken_for(version, current);
            if version == current && current > 0 {
                let reply = Reply::Changed(Change { version: current, is_duplicate: true });
                return Ok(Decision { events: Vec::new(), reply });
            }
            if version <= current {
                return Err(Refusal::Stale { current });
            }
            if version > next {
                return Err(Refusal::Gap { current });
            }
        }
        let exists = current > 0;
        if exists == (change.operation == Operation::Create) && change.entity != Entity::Policy {
            return Err(match exists {
                true => Refusal::Stale { current },
                false => Refusal::UnknownEntity { entity: change.entity.name(), id: change.id.to_string() },
            });
        }
        let events = match change.entity {
            Entity::Policy => vec![self.change_policy(change, next)?],
            Entity::Resource => vec![self.change_allotment(change, next)?],
            Entity::Agent => self.change_agent(change, next)?,
            Entity::Task => self.change_task(cx, change)?,
        };
        let reply = Reply::Changed(Change { version: next, is_duplicate: false });
        Ok(Decision { events, reply })
    }

    fn taken_for(&self, version: u32, current: u32) -> u32 {
        #[cfg(feature = "plants")]
        if self.has_plant(crate::plant::Plant::AnyVersion) {
            return current.saturating_add(1);
        }
        let _ = current;
        version
    }

    /// Returns the version of an entity; 0 if there is none.
    pub fn version_of(&self, entity: Entity, id: &str) -> u32 {
        match entity {
            Entity::Task => {
                self.work.find(id).and_then(|key| self.work.task(key)).map_or(0, |task| task.version)
            }
            Entity::Agent => {
                let agent = self.agent(id);
                agent.map_or(0, |agent| self.work.worker(agent).map_or(1, |worker| worker.version.max(1)))
            }
            Entity::Resource => self.work.allotments.get(id).map_or(0, |allotment| allotment.version),
            Entity::Policy => self.work.policy.version,
        }
    }

    fn change_policy<'a>(&self, change: &'a StateChange, version: u32) -> Result<Event<'a>, Refusal> {
        if change.by != AgentKey::HUMAN {
            return Err(Refusal::NotYours);
        }
        let document: Vec<u8> = match change.operation {
            Operation::Delete => Vec::new(),
            Operation::Create => merged(b"", &change.changes)?,
            Operation::Update => merged(&self.work.policy.document, &change.changes)?,
        };
        if let Ok(value) = json::parse(&document, LIMITS)
            && let Err(findings) = Policy::read(&value)
        {
            return Err(Refusal::BadPolicy { findings });
        }
        if read_policy(&document).is_none() {
            return Err(Refusal::BadPolicy { findings: Vec::new() });
        }
        let document = Cow::Owned(document);
        Ok(Event::Work(Fact::PolicySet { version, by: change.by, document }))
    }

    fn change_allotment<'a>(&self, change: &'a StateChange, version: u32) -> Result<Event<'a>, Refusal> {
        if change.by != AgentKey::HUMAN {
            return Err(Refusal::NotYours);
        }
        if change.operation == Operation::Delete {
            return Ok(Event::Work(Fact::AllotmentGone { id: &change.id, version }));
        }
        let bad = |what: &'static str| Refusal::BadEntity { what };
        let known = self.work.allotments.get(&change.id);
        let overlay = merged(known.map(|known| &*known.overlay).unwrap_or_default(), &change.changes)?;
        let value = json::parse(&overlay, LIMITS).map_err(|_| bad("an allotment is an object"))?;
        let name = value.get("agent_id").and_then(Value::as_str);
        let agent =
            name.and_then(|name| self.agent(name)).ok_or(bad("`agent_id` names an agent that is there"))?;
        let resource = value.get("resource_type").and_then(Value::as_str).and_then(Resource::find);
        let resource = resource.ok_or(bad("`resource_type` is tokens, cpu, memory or budget"))?;
        let figure = |name: &str| {
            let number = value.get(name).and_then(Value::as_number)?;
            let micros = Micros::parse(number.lexeme())?;
            Some(if resource == Resource::Budget { micros.0 } else { micros.0.div_ceil(1_000_000) })
        };
        let expires = match value.get("expires_at").filter(|value| !value.is_null()) {
            Some(expires) => time_of(expires).ok_or(bad("`expires_at` is a time"))?,
            None => Time::NEVER,
        };
        let consumed = match &change.changes.get("consumed") {
            Some(_) => figure("consumed"),
            None => known.map(|known| known.consumed).or(Some(0)),
        };
        Ok(Event::Work(Fact::Allotted(Box::new(Allotted {
            id: &change.id,
            version,
            agent,
            resource,
            allocated: figure("allocated").unwrap_or(0),
            consumed: consumed.ok_or(bad("`consumed` is a number, 0 or more"))?,
            limit: figure("limit").ok_or(bad("`limit` is a number, 0 or more"))?,
            expires,
            overlay: overlay.clone().into(),
        }))))
    }

    fn change_agent<'a>(&self, change: &'a StateChange, version: u32) -> Result<Vec<Event<'a>>, Refusal> {
        let agent = self.agent(&change.id).ok_or(Refusal::UnknownAgent)?;
        if change.by != AgentKey::HUMAN && change.by != agent {
            return Err(Refusal::NotYours);
        }
        let known = self.work.worker(agent).map(|worker| &*worker.overlay).unwrap_or_default();
        let overlay = match change.operation {
            Operation::Delete => Vec::new(),
            Operation::Create | Operation::Update => merged(known, &change.changes)?,
        };
        let mut events =
            vec![Event::Work(Fact::AgentDescribed { agent, version, overlay: Cow::Owned(overlay) })];
        if let Some(state) = change.changes.get("state") {
            let word = state.as_str().map(str::to_ascii_lowercase);
            let state = word.and_then(|word| PresenceState::ALL.iter().find(|state| state.name() == word));
            let what = "`state` is IDLE, BUSY, ERROR, OFFLINE or MAINTENANCE";
            let state = *state.ok_or(Refusal::BadEntity { what })?;
            events.push(Event::PresenceSet { agent, state, detail: Cow::Borrowed(b"") });
        }
        Ok(events)
    }

    fn change_task<'a>(
        &self,
        cx: &mut Context<'_>,
        change: &'a StateChange,
    ) -> Result<Vec<Event<'a>>, Refusal> {
        if change.operation == Operation::Create {
            return self.create_task(cx, change);
        }
        let found = self.work.find(&change.id).and_then(|key| self.work.task(key).map(|task| (key, task)));
        let (key, task) = found.ok_or(Refusal::UnknownTask { task: change.id.to_string() })?;
        let right = self.right(task, change.by, false);
        let is_requester = task.requester == change.by;
        if !is_requester && !matches!(right, Right::Holder | Right::Asked | Right::Operator) {
            return Err(self.not_holder(task));
        }
        if change.operation == Operation::Delete {
            let (moved, events, tells) = self.cancelled(key, task, change.by, None)?;
            let mut all = vec![Event::Work(Fact::Moved(Box::new(moved)))];
            all.extend(events);
            return Ok(self.with_tells(cx, all, tells));
        }
        let mut moved = self.unmoved(key, task, Step::Described, change.by);
        let mut extra = Vec::new();
        let mut tells = Vec::new();
        if let Some(assigned) = change.changes.get("assigned_agent") {
            self.assign(cx, change, task, &mut moved, assigned, is_requester || right == Right::Operator)?;
            let asked = moved.anew.iter().flat_map(|anew| &anew.asked);
            tells.extend(asked.map(|agent| self.tell_assigned(task, *agent)));
        }
        if let Some(status) = change.changes.get("status") {
            let may = if is_requester && right == Right::Stranger { Right::AlsoAsked } else { right };
            self.put_status(cx, task, &mut moved, status, may)?;
        }
        if moved.status == TaskStatus::Cancelled && moved.step == Step::Cancelled {
            let (cancelled, events, told) = self.cancelled(key, task, change.by, None)?;
            moved = cancelled;
            extra = events;
            tells = told;
        }
        let overlay = merged(&task.rest.overlay, &change.changes)?;
        let mut events = vec![
            Event::Work(Fact::Moved(Box::new(moved))),
            Event::Work(Fact::Described { of: task.of(key), by: change.by, overlay: Cow::Owned(overlay) }),
        ];
        events.extend(extra);
        Ok(self.with_tells(cx, events, tells))
    }

    fn create_task<'a>(
        &self,
        cx: &mut Context<'_>,
        change: &'a StateChange,
    ) -> Result<Vec<Event<'a>>, Refusal> {
        let context = change.changes.get("context");
        let field = |name: &str| context.and_then(|context| context.get(name)).or(change.changes.get(name));
        let dependencies = field("dependencies").and_then(Value::as_array).unwrap_or_default();
        let constraints = change.changes.get("constraints");
        let texts = TaskTexts {
            title: field("title").or(field("task_type")).and_then(Value::as_str).unwrap_or_default(),
            dependencies: dependencies.iter().filter_map(Value::as_str).collect(),
            capabilities: Vec::new(),
        };
        let intent = TaskIntent {
            budget: constraints
                .and_then(|constraints| constraints.get("budget_usd"))
                .and_then(Value::as_number)
                .and_then(|number| Micros::parse(number.lexeme())),
            ..TaskIntent::default()
        };
        let assigned = change.changes.get("assigned_agent").and_then(Value::as_str);
        let asked = match assigned {
            Some(name) => vec![self.agent(name).ok_or(Refusal::UnknownAgent)?],
            None => Vec::new(),
        };
        let task = self.new_task((&*change.id).into(), Vec::new(), change.by, texts, &intent)?;
        let (judged, verdict) = self.judge(&change.id, asked.first().copied(), &intent);
        if let super::Verdict::Refuse { why } | super::Verdict::Gate { why, .. } = verdict {
            return Err(Refusal::OverPolicy { why });
        }
        // What is set aside, which is the most that a task may cost where no budget is given.
        let reserved = self.work.policy().amount(intent.budget).unwrap_or_default();
        if let Some(agent) = asked.first() {
            self.check_allotments(cx, *agent, None, reserved)?;
        }
        let is_open = task.dependencies.iter().any(|name| !self.is_done(name));
        let priority = field("priority").and_then(Value::as_str);
        let priority = priority.and_then(|word| Priority::ALL.iter().find(|one| one.name() == word));
        let new = Asked {
            asked,
            priority: priority.copied().unwrap_or(Priority::Normal),
            hold: if is_open { Hold::Dependencies } else { Hold::Nothing },
            reserved,
            overlay: Cow::Owned(merged(b"", &change.changes)?),
            ..task
        };
        Ok(vec![Event::Work(Fact::Asked(Box::new(new))), Event::Work(Fact::Judged(Box::new(judged)))])
    }

    /// Gives a task to somebody.
    fn assign(
        &self,
        cx: &Context<'_>,
        change: &StateChange,
        task: &Task,
        moved: &mut Moved<'_>,
        assigned: &Value<'_>,
        may: bool,
    ) -> Result<(), Refusal> {
        if !may {
            return Err(Refusal::NotRequester { task: task.id.to_string() });
        }
        let Some(name) = assigned.as_str() else {
            return Err(Refusal::BadEntity { what: "`assigned_agent` is the name of an agent" });
        };
        let agent = self.agent(name).ok_or(Refusal::UnknownAgent)?;
        if is_over(task.status) {
            return Err(self.misplaced(task, Step::Reassigned));
        }
        self.check_fit(cx, task, agent)?;
        let is_operator = change.by == AgentKey::HUMAN;
        if task.holder.is_some() && !is_operator {
            return Err(self.misplaced(task, Step::Reassigned));
        }
        moved.step = if task.holder.is_some() { Step::Overridden } else { Step::Reassigned };
        (moved.status, moved.holder, moved.is_claimed) = (TaskStatus::Pending, None, false);
        (moved.lease_until, moved.blocker) = (Time::NEVER, None);
        moved.anew = Some(Anew { asked: vec![agent], group: None, request: None });
        Ok(())
    }

    /// Puts a task where somebody says that it is.
    fn put_status(
        &self,
        cx: &Context<'_>,
        task: &Task,
        moved: &mut Moved<'_>,
        status: &Value<'_>,
        right: Right,
    ) -> Result<(), Refusal> {
        let what = "`status` is pending, in_progress, completed, failed or cancelled";
        let (step, wanted) = match status.as_str() {
            Some("pending") => (Step::Reopened, TaskStatus::Pending),
            Some("in_progress") => (Step::Started, TaskStatus::Running),
            Some("completed") => (Step::Done, TaskStatus::Done),
            Some("failed") => (Step::Failed, TaskStatus::Failed),
            Some("cancelled") => (Step::Cancelled, TaskStatus::Cancelled),
            Some(_) | None => return Err(Refusal::BadEntity { what }),
        };
        if task.status == wanted {
            return Ok(());
        }
        let is_requesters = matches!(step, Step::Cancelled | Step::Reopened);
        let may = match is_requesters {
            true => matches!(right, Right::AlsoAsked | Right::Operator),
            false => matches!(right, Right::Holder | Right::Asked | Right::Operator),
        };
        if !may {
            return Err(self.not_holder(task));
        }
        if right != Right::Operator {
            self.held(task)?;
        }
        match after(task.status, step) {
            Some(status) => (moved.step, moved.status) = (step, status),
            None if right == Right::Operator => (moved.step, moved.status) = (Step::Overridden, wanted),
            None => return Err(self.misplaced(task, step)),
        }
        if wanted == TaskStatus::Running && moved.holder.is_none() {
            let asked = task.rest.asked.first().copied();
            moved.holder = if right == Right::Operator { asked } else { Some(moved.by) };
            // What nobody has cannot lapse.
            if moved.holder.is_some() {
                moved.lease_until = cx.now.plus_ms(self.work.policy().claim_ms);
            }
        }
        if wanted == TaskStatus::Pending {
            (moved.holder, moved.is_claimed, moved.lease_until) = (None, false, Time::NEVER);
        }
        if is_over(wanted) {
            (moved.reserved, moved.hold) = (Micros(0), Hold::Nothing);
        }
        Ok(())
    }
}

/// Puts changes into what is known: a field takes the place of the one before, `null` takes it away.
fn merged(known: &[u8], changes: &Object<'_>) -> Result<Vec<u8>, Refusal> {
    let parsed = json::parse(known, LIMITS).ok();
    let mut object = parsed.as_ref().and_then(Value::as_object).cloned().unwrap_or_default();
    for (name, value) in changes.iter() {
        match value.is_null() {
            true => drop(object.remove(name)),
            false => drop(object.insert(name.to_owned(), value.clone())),
        }
    }
    let text = Value::Object(object).to_json();
    let (bytes, bytes_max) = (text.len() as u64, OVERLAY_BYTES_MAX as u64);
    if bytes > bytes_max { Err(Refusal::TooLarge { bytes, bytes_max }) } else { Ok(text.into_bytes()) }
}

/// Reads a time.
fn time_of(value: &Value<'_>) -> Option<Time> {
    let at: Timestamp = value.as_str()?.parse().ok()?;
    u64::try_from(at.unix_micros() / 1_000).ok().map(Time)
}
