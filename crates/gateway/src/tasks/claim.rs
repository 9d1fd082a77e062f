//! Claims by a call: a task of one's own choice, or the next one that there is.

use broker::query::task_steps::{ClaimLook, ClaimLooked, TaskHead};
use broker::{AgentKey, Refusal};
use message::{Address, Kind, Message, MessageId, TaskStatus};
use node::CallError;

use super::{TaskShown, acting, shown, unknown};
use crate::{Code, Fields, Hub, Principal, Problem, Submission};

/// What stands before the key of a claim, so that it is none of another message.
const KEY: &str = "claim:";
/// How often the next task is asked for when others are faster.
const TRIES_MAX: u32 = 8;

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

    /// Carries it out. Which task it is, is asked first, so that the message can name it; if somebody else was faster,
    /// the next one is asked for.
    pub async fn carry_out(&self, hub: &Hub) -> Result<Claimed, Problem> {
        let look = ClaimLook {
            by: self.by,
            task: self.task.as_deref().map(Box::from),
            role: self.role.clone(),
            key: self.key.as_deref().map(Into::into),
        };
        let mut tries_left = TRIES_MAX;
        loop {
            let head = match hub.query(look.clone()).await? {
                ClaimLooked::Task(head) => head,
                ClaimLooked::Repeated { message, is_forgotten: true, .. } => {
                    return Ok(Claimed::Past(message));
                }
                ClaimLooked::Repeated { task, .. } => return self.answer_past(hub, task.as_deref()).await,
                ClaimLooked::NoTasks => return Ok(Claimed::NoTasks),
                ClaimLooked::NotInRole => {
                    let role = self.role.as_ref().map(Address::to_string).unwrap_or_default();
                    let detail = format!("you are not in `{role}`");
                    return Ok(Claimed::Rejected { code: Code::NotAsked, detail });
                }
                ClaimLooked::UnknownTask => return Err(unknown(self.task.as_deref().unwrap_or_default())),
            };
            let key = self.key.clone().unwrap_or_else(crate::uuid);
            let mut submission = Submission::written(hub, message(&head)?, self.by, &key);
            if let Some(work) = &mut submission.accept.intent {
                work.lease_ms = self.lease_ms;
            }
            let Err(error) = hub.node().execute(submission.accept).await else {
                let task = shown(hub, &self.principal, &head.id, None).await?;
                return Ok(task.map_or(Claimed::NoTasks, |task| Claimed::Claimed(Box::new(task))));
            };
            tries_left -= 1;
            if tries_left == 0 || !self.may_try_again(&error) {
                return refused(error);
            }
        }
    }

    /// Tells whether a refusal may come of what happened since the task was looked for: somebody else has it, or a
    /// claim under the same key was made.
    fn may_try_again(&self, error: &CallError) -> bool {
        match error {
            CallError::Refused(Refusal::Conflict { .. }) => self.key.is_some(),
            CallError::Refused(refusal) => {
                let code = Problem::from(refusal.clone()).code;
                self.task.is_none() && (code == Code::Missed || loses_claim(code))
            }
            CallError::NoRoom | CallError::Stopped | CallError::Unexpected => false,
        }
    }

    /// Answers a claim that was made before, of a task that is known: from the task, as long as the claimer has it.
    pub async fn answer_past(&self, hub: &Hub, task: Option<&str>) -> Result<Claimed, Problem> {
        let Some(task) = task else { return Ok(no_longer()) };
        let task = shown(hub, &self.principal, task, Some(self.by)).await?;
        Ok(task.map_or_else(no_longer, |task| Claimed::Claimed(Box::new(task))))
    }
}

/// Writes the message by which a task is claimed.
fn message(task: &TaskHead) -> Result<Message, Problem> {
    let from = task.by.parse().map_err(|_| Problem::new(Code::UnknownAgent, "who claims is not there"))?;
    let mut message = Message::new(Kind::TaskClaim, from, vec![task.requester.clone()]);
    message.task = task.id.parse().ok();
    message.status = Some(TaskStatus::Claimed);
    message.priority = Some(task.priority);
    Ok(message)
}

fn no_longer() -> Claimed {
    let detail = "what this key claimed is yours no more: claim with another key".to_owned();
    Claimed::Missed { holder: None, detail }
}

/// Says why a claim did not win; what is wrong with the request itself is a problem.
fn refused(error: CallError) -> Result<Claimed, Problem> {
    let holder = match &error {
        CallError::Refused(Refusal::Missed { holder, .. }) => Some(holder.clone()),
        CallError::Refused(_) | CallError::NoRoom | CallError::Stopped | CallError::Unexpected => None,
    };
    let problem = Problem::from(error);
    if problem.code == Code::Missed {
        return Ok(Claimed::Missed { holder, detail: problem.detail });
    }
    if loses_claim(problem.code) {
        return Ok(Claimed::Rejected { code: problem.code, detail: problem.detail });
    }
    Err(problem)
}

/// Tells whether somebody may not have a task for this reason, though the request is as it should be.
pub fn loses_claim(code: Code) -> bool {
    matches!(code, Code::NotAsked | Code::Unfit | Code::TaskWaits | Code::TaskState | Code::OverPolicy)
}
