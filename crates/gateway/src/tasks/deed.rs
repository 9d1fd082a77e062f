//! Deeds: what somebody does with a task by a call, and the message that says so.

use broker::query::task_steps::{StepLook, StepLooked, TaskParties};
use broker::{AgentKey, Blocker, HandoffReason, Refusal};
use json::{Number, Value};
use message::{
    Address, Attachment, Brief, Failure, Gate, GateDecision, Handoff, Kind, Message, MessageId, Metrics,
    Receipt, TaskStatus, Uri,
};

use super::{acting, unknown};
use crate::{Code, Fields, Hub, Principal, Problem, Submission};

/// Artifacts of one deed.
const ARTIFACTS_MAX: usize = 100;
/// Words that a deed is named by.
const WORDS: [(&str, What); 11] = [
    ("progress", What::Progress),
    ("done", What::Done),
    ("fail", What::Fail),
    ("reject", What::Reject),
    ("block", What::Block),
    ("cancel", What::Cancel),
    ("handoff", What::Handoff),
    ("accept", What::Accept),
    ("decline", What::Decline),
    ("review", What::Review),
    ("renew", What::Renew),
];

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Progress,
    Done,
    Fail,
    Reject,
    Block,
    Cancel,
    Handoff,
    Accept,
    Decline,
    Review,
    Renew,
}

/// What somebody does with a task.
pub struct Deed {
    what: What,
    by: AgentKey,
    key: Option<String>,
    text: Option<String>,
    reason: Option<String>,
    data: Option<Value<'static>>,
    cost: Option<Number<'static>>,
    tokens: Option<u64>,
    blocker: Option<Blocker>,
    handoff: Option<HandoffReason>,
    waits_for: Vec<String>,
    to: Option<Address>,
    approve: Option<bool>,
    lease_ms: Option<u64>,
    artifacts: Vec<Uri>,
}

/// What came of a deed.
pub enum Done {
    /// It was said just now.
    Now(Box<Receipt>),
    /// It had been said before under the same key.
    Before(MessageId),
}

impl Deed {
    /// Reads what a call says that is done.
    pub fn read(
        hub: &Hub,
        principal: &Principal,
        word: &str,
        fields: &Fields<'_>,
        key: Option<&str>,
    ) -> Result<Self, Problem> {
        let what = WORDS.iter().find(|(name, _)| *name == word).map(|(_, what)| *what);
        let what = what.ok_or_else(|| {
            let names: Vec<&str> = WORDS.iter().map(|(name, _)| *name).collect();
            Problem::not_found(format!("a task is moved by {}", names.join(", ")))
        })?;
        let text = |name: &str| fields.text(name).map(|text| text.map(str::to_owned));
        let texts = |name: &str| -> Result<Vec<String>, Problem> {
            Ok(fields.texts(name)?.unwrap_or_default().into_iter().map(str::to_owned).collect())
        };
        let to = fields.text("to")?.map(|to| to.parse::<Address>());
        let to = to.transpose().map_err(|error| Problem::bad_request(format!("`to`: {error}")))?;
        let deed = Deed {
            what,
            by: acting(hub, principal, fields.text("agent")?)?,
            key: key.map(str::to_owned),
            text: text("text")?,
            reason: text("reason")?,
            data: fields
                .value()
                .get("data")
                .filter(|data| !data.is_null())
                .map(|data| data.clone().into_owned()),
            cost: figure(fields, "cost_usd")?,
            tokens: fields.number("tokens")?,
            blocker: word_of(fields, "blocker", Blocker::ALL, Blocker::name)?,
            handoff: None,
            waits_for: texts("waits_for")?,
            to,
            approve: fields.flag("approve")?,
            lease_ms: fields.duration_ms("lease")?,
            artifacts: artifacts(fields)?,
        };
        deed.checked()
    }

    /// Refuses a deed of which something is missing.
    fn checked(mut self) -> Result<Self, Problem> {
        if self.what == What::Handoff && self.to.is_none() {
            return Err(Problem::bad_request("`to` names the agent that is offered the task"));
        }
        if self.what == What::Review && self.approve.is_none() {
            return Err(Problem::bad_request("`approve` is true or false"));
        }
        if self.what == What::Handoff {
            let reason = self.reason.as_deref().and_then(HandoffReason::find);
            self.handoff = Some(reason.unwrap_or(HandoffReason::LoadBalancing));
        }
        if self.what == What::Block && self.blocker.is_none() && !self.waits_for.is_empty() {
            self.blocker = Some(Blocker::Dependency);
        }
        Ok(self)
    }

    /// Carries it out: looks whom it concerns, and has the message accepted that says so.
    pub async fn carry_out(&self, hub: &Hub, task: &str) -> Result<Done, Problem> {
        let key = self.key.as_deref().map(Into::into);
        let parties = match hub.query(StepLook { by: self.by, task: task.into(), key }).await? {
            StepLooked::Task(parties) => parties,
            StepLooked::Repeated { message, kind } => return self.before(message, kind),
            StepLooked::UnknownTask => return Err(unknown(task)),
        };
        if self.what == What::Renew && parties.holder != Some(self.by) {
            // A claim of what somebody else has, or nobody, is another thing.
            let holder = parties.holder_name.map(String::from);
            return Err(Refusal::NotHolder { task: parties.head.id.into(), holder }.into());
        }
        let key = self.key.clone().unwrap_or_else(crate::uuid);
        let mut submission = Submission::written(hub, self.message(&parties)?, self.by, &key);
        if let Some(work) = &mut submission.accept.intent {
            work.lease_ms = self.lease_ms;
        }
        let (accept, head) = submission.into_parts();
        Ok(Done::Now(Box::new(head.receipt(hub.execute(accept).await?))))
    }

    /// Returns what was said before under the same key; something else is a conflict.
    fn before(&self, id: MessageId, kind: Option<Kind>) -> Result<Done, Problem> {
        if kind.is_some_and(|kind| kind != self.kind()) {
            let detail = "this key was used for something else";
            return Err(Problem::new(Code::Conflict, detail).with("id", Value::from(id.to_string())));
        }
        Ok(Done::Before(id))
    }

    fn kind(&self) -> Kind {
        match self.what {
            What::Progress | What::Cancel => Kind::TaskProgress,
            What::Done => Kind::TaskDone,
            What::Fail => Kind::TaskFailed,
            What::Reject => Kind::TaskRejected,
            What::Block => Kind::TaskBlocked,
            What::Handoff => Kind::HandoffOffer,
            What::Accept | What::Decline => Kind::HandoffReply,
            What::Review => Kind::ReviewVerdict,
            What::Renew => Kind::TaskClaim,
        }
    }

    /// Writes the message by which it is said, to whom it concerns.
    fn message(&self, task: &TaskParties) -> Result<Message, Problem> {
        let from = task.head.by.parse();
        let from = from.map_err(|_| Problem::new(Code::UnknownAgent, "who does it is not there"))?;
        let mut message = Message::new(self.kind(), from, self.recipients(task)?);
        message.task = task.head.id.parse().ok();
        let answers = match self.what {
            What::Accept | What::Decline => task.offer.map(|offer| offer.message),
            What::Done | What::Fail | What::Reject => task.request,
            What::Progress | What::Block | What::Cancel | What::Handoff | What::Review | What::Renew => None,
        };
        message.reply_to = answers.and_then(|id| id.to_string().parse().ok());
        message.text = self.text.clone().or_else(|| self.reason.clone());
        message.priority = Some(task.head.priority);
        let said = if self.what == What::Done { &mut message.result } else { &mut message.data };
        said.clone_from(&self.data);
        message.attachments = self.artifacts.iter().cloned().map(Attachment::new).collect();
        message.status = self.status();
        self.add_parts(&mut message);
        Ok(message)
    }

    fn status(&self) -> Option<TaskStatus> {
        match self.what {
            What::Progress => Some(TaskStatus::Running),
            What::Done => Some(TaskStatus::Done),
            What::Fail => Some(TaskStatus::Failed),
            What::Reject | What::Decline => Some(TaskStatus::Rejected),
            What::Block => Some(TaskStatus::Blocked),
            What::Cancel => Some(TaskStatus::Cancelled),
            What::Accept | What::Renew => Some(TaskStatus::Claimed),
            What::Handoff | What::Review => None,
        }
    }

    /// Adds what only some deeds say: what went wrong, what it cost, what is thought of it.
    fn add_parts(&self, message: &mut Message) {
        if matches!(self.what, What::Fail | What::Reject | What::Block | What::Decline) {
            let mut failure = Failure::default();
            failure.code = self.blocker.map(|blocker| blocker.name().to_owned());
            failure.message = self.reason.clone().or_else(|| self.text.clone());
            message.error = (failure != Failure::default()).then(|| Box::new(failure));
        }
        if self.what == What::Block && !self.waits_for.is_empty() {
            let mut brief = Brief::default();
            brief.dependencies = self.waits_for.iter().filter_map(|task| task.parse().ok()).collect();
            message.brief = Some(Box::new(brief));
        }
        if let Some(reason) = self.handoff {
            let mut handoff = Handoff::default();
            handoff.reason = Some(reason.name().to_owned());
            message.handoff = Some(Box::new(handoff));
        }
        if let (What::Review, Some(approve)) = (self.what, self.approve) {
            let mut gate = Gate::new(false);
            gate.decision = Some(if approve { GateDecision::Approved } else { GateDecision::Rejected });
            gate.reason.clone_from(&self.reason);
            message.gate = Some(Box::new(gate));
        }
        if self.cost.is_some() || self.tokens.is_some() {
            let mut metrics = Metrics::default();
            metrics.cost_usd.clone_from(&self.cost);
            metrics.tokens = self.tokens.map(Number::from);
            message.metrics = Some(Box::new(metrics));
        }
    }

    /// Returns whom it concerns.
    fn recipients(&self, task: &TaskParties) -> Result<Vec<Address>, Problem> {
        let requester = || task.head.requester.clone();
        let holder = || task.holder_address.clone();
        let mut to = match self.what {
            What::Handoff => self.to.clone().into_iter().collect(),
            What::Accept | What::Decline => {
                let is_offered = task.offer.is_some_and(|offer| offer.to == self.by);
                if !is_offered {
                    return Err(Refusal::NoOffer { task: task.head.id.to_string() }.into());
                }
                vec![holder().unwrap_or_else(requester)]
            }
            What::Cancel => match holder() {
                Some(holder) => vec![holder],
                None => task.asked.clone(),
            },
            What::Review => std::iter::once(requester()).chain(holder()).collect(),
            What::Progress | What::Done | What::Fail | What::Reject | What::Block | What::Renew => {
                vec![requester()]
            }
        };
        to.dedup();
        if to.len() > 1 {
            to.retain(|address| *address != task.own);
        }
        Ok(if to.is_empty() { vec![requester()] } else { to })
    }
}

/// Reads a number that is not negative, as it was written.
fn figure(fields: &Fields<'_>, key: &str) -> Result<Option<Number<'static>>, Problem> {
    let Some(value) = fields.value().get(key) else { return Ok(None) };
    let number = value.as_number().filter(|number| broker::Micros::parse(number.lexeme()).is_some());
    let number = number.ok_or_else(|| Problem::bad_request(format!("`{key}` is a number, 0 or more")))?;
    Ok(Some(number.clone().into_owned()))
}

/// Reads one of some words.
fn word_of<T: Copy>(
    fields: &Fields<'_>,
    key: &str,
    all: &[T],
    name: fn(T) -> &'static str,
) -> Result<Option<T>, Problem> {
    let Some(word) = fields.text(key)? else { return Ok(None) };
    let found = all.iter().copied().find(|one| name(*one) == word);
    let names = || all.iter().map(|one| name(*one)).collect::<Vec<_>>().join(", ");
    found.map(Some).ok_or_else(|| Problem::bad_request(format!("`{key}` is one of {}", names())))
}

fn artifacts(fields: &Fields<'_>) -> Result<Vec<Uri>, Problem> {
    let texts = fields.texts("artifacts")?.unwrap_or_default();
    if texts.len() > ARTIFACTS_MAX {
        return Err(Problem::new(Code::TooLarge, format!("at most {ARTIFACTS_MAX} artifacts at once")));
    }
    let parse =
        |text: &str| text.parse().map_err(|error| Problem::bad_request(format!("`artifacts`: {error}")));
    texts.into_iter().map(parse).collect()
}
