//! Claims by a call: a task of one's own choice, or the next one that there is.

use broker::{AgentKey, TaskView};
use json::Value;
use message::{Address, Kind, Message, MessageId, TaskStatus};
use node::Turn;

use super::{TaskShown, acting, told, unknown};
use crate::{Code, Fields, Hub, Principal, Problem, Sending};

/// What stands before the key of a claim, so that it is none of another message.
const KEY: &str = "claim:";

/// A wish to have a task.
pub struct Claim {
    principal: Principal,
    by: AgentKey,
    role: Option<Address>,
    task: Option<String>,
    lease_ms: Option<u64>,
    key: Option<String>,
}

/// What came of a claim.
pub enum Claimed {
    /// The task is the claimer's, now or since an earlier claim under the same key.
    Claimed(Box<TaskShown>),
    /// There is nothing that the claimer may have.
    NoTasks,
    /// Somebody else has it.
    Missed {
        /// Who, where that is known.
        holder: Option<String>,
        /// Why, for people.
        detail: String,
    },
    /// The claimer may not have it.
    Rejected {
        /// Why, for programs.
        code: Code,
        /// Why, for people.
        detail: String,
    },
    /// The claim was made before, by a message that the state has forgotten: the history knows of which task.
    Past(MessageId),
}

impl Claim {
    /// Reads what a call wants.
    pub fn read(
        hub: &Hub,
        principal: &Principal,
        fields: &Fields<'_>,
        key: Option<&str>,
    ) -> Result<Self, Problem> {
        let role = fields.text("role")?.map(|role| {
            let text = if role.contains(['.', '#', ':']) { role.to_owned() } else { format!("roles.{role}") };
            text.parse::<Address>().map_err(|error| Problem::bad_request(format!("`role`: {error}")))
        });
        Ok(Claim {
            by: acting(hub, principal, fields.text("agent")?)?,
            principal: principal.clone(),
            role: role.transpose()?,
            task: fields.text("task")?.map(str::to_owned),
            lease_ms: fields.duration_ms("lease")?,
            key: key.map(|key| format!("{KEY}{key}")),
        })
    }

    /// Carries it out.
    pub fn carry_out(&self, hub: &Hub, turn: &mut Turn<'_>) -> Result<Claimed, Problem> {
        let known = self.key.as_deref().and_then(|key| turn.broker().sent_as(self.by, key));
        if let Some(id) = known {
            return Ok(self.repeated(turn, id));
        }
        let task = match &self.task {
            Some(task) => task.clone(),
            None => match self.next(turn) {
                Ok(task) => task,
                Err(claimed) => return Ok(claimed),
            },
        };
        let view = turn.broker().look_at_task(&task).ok_or_else(|| unknown(&task))?;
        let message = self.message(turn, &view)?;
        let key = self.key.clone().unwrap_or_else(crate::uuid);
        let mut sending = Sending::written(hub, &message, self.by, key)?;
        if let Some(work) = &mut sending.incoming.intent {
            work.lease_ms = self.lease_ms;
        }
        if let Err(error) = sending.accept(turn) {
            return refused(error);
        }
        Ok(self.shown(turn, &task).map_or(Claimed::NoTasks, |task| Claimed::Claimed(Box::new(task))))
    }

    /// Finds what the claimer would be given, or says that there is nothing.
    fn next(&self, turn: &mut Turn<'_>) -> Result<String, Claimed> {
        let role = match &self.role {
            None => None,
            Some(role) => {
                let Some(group) = turn.broker().group(&role.to_string()) else {
                    return Err(Claimed::NoTasks);
                };
                if !turn.broker().is_member(self.by, group) {
                    let detail = format!("you are not in `{role}`");
                    return Err(Claimed::Rejected { code: Code::NotAsked, detail });
                }
                Some(group)
            }
        };
        let next = turn.next_task(self.by, role).and_then(|key| turn.broker().task_at(key));
        next.map(|task| task.id.to_owned()).ok_or(Claimed::NoTasks)
    }

    fn message(&self, turn: &Turn<'_>, task: &TaskView<'_>) -> Result<Message, Problem> {
        let broker = turn.broker();
        let from = broker.called(self.by).parse();
        let from = from.map_err(|_| Problem::new(Code::UnknownAgent, "who claims is not there"))?;
        let mut message = Message::new(Kind::TaskClaim, from, vec![told(broker, task.requester)]);
        message.task = task.id.parse().ok();
        message.status = Some(TaskStatus::Claimed);
        message.priority = Some(task.priority);
        Ok(message)
    }

    /// Answers a claim that was made before: from the task, as long as the claimer has it.
    fn repeated(&self, turn: &Turn<'_>, id: MessageId) -> Claimed {
        let broker = turn.broker();
        let Some(message) = broker.look_into(id) else { return Claimed::Past(id) };
        let held = broker.agent_work(self.by).holds;
        let is_it = |task: &TaskView<'_>| task.notes.iter().any(|note| note.said == Some(message.accepted));
        let task = held.iter().filter_map(|task| broker.look_at_task(task)).find(is_it);
        match task.map(|task| TaskShown::of(broker, &task, &self.principal)) {
            Some(task) => Claimed::Claimed(Box::new(task)),
            None => no_longer(),
        }
    }

    /// Answers a claim of which the history knows the task.
    pub fn answer_past(&self, turn: &Turn<'_>, task: Option<&str>) -> Claimed {
        let broker = turn.broker();
        let view = task.and_then(|task| broker.look_at_task(task));
        match view.filter(|view| view.holder == Some(self.by)) {
            Some(view) => Claimed::Claimed(Box::new(TaskShown::of(broker, &view, &self.principal))),
            None => no_longer(),
        }
    }

    fn shown(&self, turn: &Turn<'_>, task: &str) -> Option<TaskShown> {
        let view = turn.broker().look_at_task(task)?;
        Some(TaskShown::of(turn.broker(), &view, &self.principal))
    }
}

fn no_longer() -> Claimed {
    let detail = "what this key claimed is yours no more: claim with another key".to_owned();
    Claimed::Missed { holder: None, detail }
}

/// Says why a claim did not win; what is wrong with the request itself is a problem.
fn refused(problem: Problem) -> Result<Claimed, Problem> {
    let code = problem.code;
    if code == Code::Missed {
        let holder = problem.to_value().get("holder").and_then(Value::as_str).map(str::to_owned);
        return Ok(Claimed::Missed { holder, detail: problem.detail });
    }
    if loses_claim(code) {
        return Ok(Claimed::Rejected { code, detail: problem.detail });
    }
    Err(problem)
}

/// Tells whether somebody may not have a task for this reason, though the request is as it should be.
pub fn loses_claim(code: Code) -> bool {
    matches!(code, Code::NotAsked | Code::Unfit | Code::TaskWaits | Code::TaskState | Code::OverPolicy)
}
