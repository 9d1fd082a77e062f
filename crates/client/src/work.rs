//! Work: tasks, the shared state, the policy, gates.

use std::time::Duration;

use hyper::Method;
use hyper::header::{HeaderName, HeaderValue};
use json::{Object, Value};

use crate::http::Call;
use crate::query::Target;
use crate::{Client, ClientError, read};

const TASKS: &str = "/v1/tasks";
const GATES: &str = "/v1/gates";
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// Which tasks are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskQuery {
    /// Only those that are this far: pending, claimed, running, blocked, done, failed, rejected, cancelled.
    pub status: Option<String>,
    /// Only those that this agent has.
    pub holder: Option<String>,
    /// Only those that this agent asked for.
    pub requester: Option<String>,
    /// Only those that this role was asked for.
    pub role: Option<String>,
    /// Only those that are not over.
    pub open: bool,
    /// Only those whose deadline has passed.
    pub late: bool,
    /// At most so many.
    pub limit: Option<u32>,
}

/// A task.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Task {
    /// What it is called.
    pub id: String,
    /// What is to be done, in a line.
    pub title: Option<String>,
    /// How far it is.
    pub status: String,
    /// Who wants it.
    pub requester: Option<String>,
    /// Who has it.
    pub holder: Option<String>,
    /// The whole as the bus sent it.
    pub json: Value<'static>,
}

/// What came of a claim.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Claim {
    /// claimed, no_tasks, missed or rejected.
    pub outcome: String,
    /// The task, where there is one.
    pub task: Option<Task>,
    /// Why not, in words.
    pub detail: Option<String>,
    /// The whole as the bus sent it.
    pub json: Value<'static>,
}

/// What is claimed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClaimOptions {
    /// This task; else the most urgent that may be claimed.
    pub task: Option<String>,
    /// Only of this role.
    pub role: Option<String>,
    /// For how long.
    pub lease: Option<Duration>,
    /// By which a repeat is known.
    pub key: Option<String>,
}

/// What somebody says about a task.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct TaskWord {
    /// In words.
    pub text: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// What goes with it: the result, or figures of the progress.
    pub data: Option<Value<'static>>,
    /// What it has cost, in dollars, as a decimal number.
    pub cost_usd: Option<String>,
    /// How many tokens it has used.
    pub tokens: Option<u64>,
    /// Why it cannot go on.
    pub blocker: Option<String>,
    /// Tasks that must be done before.
    pub waits_for: Vec<String>,
    /// To whom it is handed over.
    pub to: Option<String>,
    /// Whether it is good.
    pub approve: Option<bool>,
    /// For how long it is kept.
    pub lease: Option<Duration>,
    /// Where its outcome lies.
    pub artifacts: Vec<String>,
}

/// Something that waits for a human.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Gate {
    /// By what it is known.
    pub id: String,
    /// Who asks.
    pub asker: Option<String>,
    /// The task that waits.
    pub task: Option<String>,
    /// Why.
    pub why: Option<String>,
    /// Since when.
    pub since: Option<String>,
    /// Until when.
    pub until: Option<String>,
    /// The decision, if there is one.
    pub decision: Option<String>,
    /// The whole as the bus sent it.
    pub json: Value<'static>,
}

impl Client {
    /// Lists tasks.
    pub async fn tasks(&self, query: &TaskQuery) -> Result<Vec<Task>, ClientError> {
        let target = Target::new(TASKS)
            .maybe("status", query.status.as_deref())
            .maybe("holder", query.holder.as_deref())
            .maybe("requester", query.requester.as_deref())
            .maybe("role", query.role.as_deref())
            .maybe("open", query.open.then_some("true"))
            .maybe("late", query.late.then_some("true"))
            .maybe("limit", query.limit);
        self.look_up(target, |value| read::list(&value, "tasks", task)).await
    }

    /// Returns a task, its history and what was asked for.
    pub async fn task(&self, id: &str) -> Result<Task, ClientError> {
        self.look_up(Target::new(TASKS).segment(id), |value| task(&value)).await
    }

    /// Claims a task.
    pub async fn claim(&self, options: &ClaimOptions) -> Result<Claim, ClientError> {
        let mut body: Object<'_> = Object::new();
        put(&mut body, "task", options.task.as_deref());
        put(&mut body, "role", options.role.as_deref());
        put(&mut body, "lease", options.lease.map(milliseconds));
        let mut call = Call::new(Method::POST, format!("{TASKS}/claim")).body(Value::Object(body).to_json());
        if let Some(key) = options.key.as_deref().and_then(|key| HeaderValue::from_str(key).ok()) {
            call.headers.push((IDEMPOTENCY_KEY, key));
        }
        self.ask(call, |value| {
            Ok(Claim {
                outcome: read::text(&value, "outcome")?,
                task: value.get("task").filter(|task| !task.is_null()).map(task).transpose()?,
                detail: read::text_maybe(&value, "detail"),
                json: value.clone().into_owned(),
            })
        })
        .await
    }

    /// Says something about a task: progress, done, fail, reject, block, cancel, handoff, accept, decline, review or
    /// renew.
    pub async fn say_of_task(&self, id: &str, verb: &str, word: &TaskWord) -> Result<Task, ClientError> {
        let target = Target::new(TASKS).segment(id).then("/").then(verb).into_text();
        let call = Call::new(Method::POST, target).body(word.to_value().to_json());
        self.ask(call, |value| task(value.get("task").unwrap_or(&Value::Null))).await
    }

    /// Returns the shared state.
    pub async fn state(&self) -> Result<Value<'static>, ClientError> {
        self.look_up(Target::new("/v1/state"), |value| Ok(value.into_owned())).await
    }

    /// Changes the shared state; returns what the bus says of it.
    pub async fn change_state(&self, update: &str) -> Result<Value<'static>, ClientError> {
        let call = Call::new(Method::POST, "/v1/state".to_owned()).body(update);
        self.ask(call, |value| Ok(value.into_owned())).await
    }

    /// Returns the policy in force.
    pub async fn policy(&self) -> Result<Value<'static>, ClientError> {
        self.look_up(Target::new("/v1/policy"), |value| Ok(value.into_owned())).await
    }

    /// Puts a policy in force.
    pub async fn set_policy(&self, policy: &str) -> Result<Value<'static>, ClientError> {
        let call = Call::new(Method::PUT, "/v1/policy".to_owned()).body(policy);
        self.ask(call, |value| Ok(value.into_owned())).await
    }

    /// Returns which of the last decisions a policy would have made differently.
    pub async fn try_policy(&self, policy: &str, last: Option<u32>) -> Result<Value<'static>, ClientError> {
        let target = Target::new("/v1/policy").maybe("dry_run", Some("true")).maybe("last", last);
        let call = Call::new(Method::PUT, target.into_text()).body(policy);
        self.ask(call, |value| Ok(value.into_owned())).await
    }

    /// Lists what waits for a human; and what was decided, if that is wanted.
    pub async fn gates(&self, with_judged: bool) -> Result<Vec<Gate>, ClientError> {
        let target = Target::new(GATES).maybe("all", with_judged.then_some("true"));
        self.look_up(target, |value| read::list(&value, "gates", gate)).await
    }

    /// Says yes or no to what waits for a human.
    pub async fn judge(&self, id: &str, approve: bool, reason: Option<&str>) -> Result<(), ClientError> {
        let mut body: Object<'_> = Object::new();
        put(&mut body, "reason", reason);
        let verb = if approve { "/approve" } else { "/reject" };
        let target = Target::new(GATES).segment(id).then(verb);
        self.tell(Method::POST, target, Value::Object(body).to_json()).await
    }
}

impl TaskWord {
    fn to_value(&self) -> Value<'_> {
        let mut body: Object<'_> = Object::new();
        put(&mut body, "text", self.text.as_deref());
        put(&mut body, "reason", self.reason.as_deref());
        put(&mut body, "data", self.data.clone());
        let cost =
            self.cost_usd.as_deref().and_then(|cost| json::parse_str(cost, json::Limits::DOCUMENT).ok());
        put(&mut body, "cost_usd", cost);
        put(&mut body, "tokens", self.tokens);
        put(&mut body, "blocker", self.blocker.as_deref());
        put(&mut body, "to", self.to.as_deref());
        put(&mut body, "approve", self.approve);
        put(&mut body, "lease", self.lease.map(milliseconds));
        for (key, list) in [("waits_for", &self.waits_for), ("artifacts", &self.artifacts)] {
            if !list.is_empty() {
                body.insert(key, list.iter().map(|item| Value::from(item.as_str())).collect::<Vec<_>>());
            }
        }
        Value::Object(body)
    }
}

fn put<'a>(body: &mut Object<'a>, key: &'static str, value: Option<impl Into<Value<'a>>>) {
    if let Some(value) = value {
        body.insert(key, value);
    }
}

fn milliseconds(duration: Duration) -> String {
    format!("{}ms", duration.as_millis())
}

fn task(value: &Value<'_>) -> Result<Task, ClientError> {
    Ok(Task {
        id: read::text(value, "id")?,
        title: read::text_maybe(value, "title"),
        status: read::text(value, "status")?,
        requester: read::text_maybe(value, "requester"),
        holder: read::text_maybe(value, "holder"),
        json: value.clone().into_owned(),
    })
}

fn gate(value: &Value<'_>) -> Result<Gate, ClientError> {
    Ok(Gate {
        id: read::text(value, "id")?,
        asker: read::text_maybe(value, "asker"),
        task: read::text_maybe(value, "task"),
        why: read::text_maybe(value, "why"),
        since: read::text_maybe(value, "since"),
        until: read::text_maybe(value, "until"),
        decision: read::text_maybe(value, "decision"),
        json: value.clone().into_owned(),
    })
}
