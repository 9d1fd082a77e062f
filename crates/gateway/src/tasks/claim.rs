//! Claims by a call: a task of one's own choice, or the next one that there is.

use broker::{AgentKey, ClaimOutcome, Refusal};
use message::{Address, MessageId};
use node::CallError;

use super::{TaskShown, acting, shown, unknown};
use crate::{Code, Fields, Hub, Principal, Problem};

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
    pub async fn carry_out(&self, hub: &Hub) -> Result<Claimed, Problem> {
        let claim = broker::Claim {
            by: self.by,
            task: self.task.as_deref().map(Box::from),
            role: self.role.clone(),
            lease_ms: self.lease_ms,
            key: self.key.clone().unwrap_or_else(crate::uuid).into(),
        };
        match hub.node().execute(claim).await {
            Ok(ClaimOutcome::Claimed { task, .. }) => {
                let task = shown(hub, &self.principal, &task, None).await?;
                Ok(task.map_or(Claimed::NoTasks, |task| Claimed::Claimed(Box::new(task))))
            }
            Ok(ClaimOutcome::Repeated { message, is_forgotten: true, .. }) => Ok(Claimed::Past(message)),
            Ok(ClaimOutcome::Repeated { task, .. }) => self.answer_past(hub, task.as_deref()).await,
            Ok(ClaimOutcome::NoTasks) => Ok(Claimed::NoTasks),
            Ok(ClaimOutcome::NotInRole) => {
                let role = self.role.as_ref().map(Address::to_string).unwrap_or_default();
                Ok(Claimed::Rejected { code: Code::NotAsked, detail: format!("you are not in `{role}`") })
            }
            Ok(ClaimOutcome::UnknownTask) => Err(unknown(self.task.as_deref().unwrap_or_default())),
            Err(error) => refused(error),
        }
    }

    /// Answers a claim that was made before, of a task that is known: from the task, as long as the claimer has it.
    pub async fn answer_past(&self, hub: &Hub, task: Option<&str>) -> Result<Claimed, Problem> {
        let Some(task) = task else { return Ok(no_longer()) };
        let task = shown(hub, &self.principal, task, Some(self.by)).await?;
        Ok(task.map_or_else(no_longer, |task| Claimed::Claimed(Box::new(task))))
    }
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
