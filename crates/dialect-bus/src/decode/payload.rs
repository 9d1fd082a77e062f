//! Reading payloads: what a family knows goes where it belongs, what is left is the message's data.

use dialect::{Draft, Lens};
use json::{Object, Value};
use message::{Kind, PresenceState};

use crate::kinds::{self, MessageType};
use crate::lenses::{self, payload_field};
use crate::{parts, presence};

/// Groups of a payload that are ours as a whole if every member is known.
const GROUPS: [&str; 4] = ["metrics", "handoff", "gate", "error"];

/// Reads the payload of a message.
pub(super) fn read(draft: &mut Draft<'_>, kind: Kind) {
    let document = draft.document();
    let Some(message_type) = MessageType::of(document) else { return };
    match document.get("payload") {
        None | Some(Value::Null) => {}
        Some(Value::String(text)) => draft.set("/payload", "/text", text.clone().into_owned()),
        Some(Value::Object(payload)) => {
            let mut reader = Reader { draft, payload, taken: Vec::new() };
            reader.read(kind, message_type);
            reader.leave_data();
        }
        Some(other @ (Value::Bool(_) | Value::Number(_) | Value::Array(_))) => {
            draft.set("/payload", "/data", other.clone().into_owned());
        }
    }
}

/// Reads what a health status says beside who and when.
pub(super) fn read_health(draft: &mut Draft<'_>) {
    let document = draft.document();
    let status = parts::text(document, "status").unwrap_or_default();
    if let Some(state) = presence::state(status, parts::count(document, "active_sessions")) {
        draft.set("/status", "/presence/state", state.name());
        if presence::is_finer(status, state) {
            draft.set("/status", "/presence/sub", status.to_owned());
        }
    }
    let taken = ["agent_id", "status", "last_check", "metadata"];
    let data: Object<'static> = document
        .iter()
        .filter(|(key, _)| !taken.contains(key))
        .map(|(key, value)| owned(key, value))
        .collect();
    leave(draft, "", data);
}

struct Reader<'r, 'd> {
    draft: &'r mut Draft<'d>,
    payload: &'d Object<'d>,
    /// Fields whose meaning the message has taken over.
    taken: Vec<&'d str>,
}

impl<'d> Reader<'_, 'd> {
    fn read(&mut self, kind: Kind, message_type: MessageType) {
        if kinds::hinted(self.draft.document()).is_some() {
            self.taken.push("kind");
        }
        self.ids();
        self.lenses(lenses::family(message_type));
        self.lenses(&[lenses::TITLE]);
        self.lenses(lenses::SHARED);
        self.lenses(lenses::family_read(message_type));
        self.task_type(kind, message_type);
        self.gate(kind, message_type);
        if message_type != MessageType::Error {
            self.lenses(lenses::NESTED_ERROR);
        }
        self.result(message_type);
        self.status(kind);
        self.presence(kind);
        self.retryable(kind);
        self.groups();
    }

    /// Reads rows one by one and notes which fields they used up.
    fn lenses(&mut self, lenses: &[Lens]) {
        for lens in lenses {
            let field = payload_field(lens.native);
            // Most rows are about fields that a payload does not have.
            let is_there = field.is_none_or(|(field, _)| self.payload.contains_key(field));
            if !is_there || self.draft.get(lens.canonical).is_some() {
                continue;
            }
            self.draft.read(std::slice::from_ref(lens));
            let Some((field, rest)) = field else { continue };
            if self.draft.get(lens.canonical).is_some() && rest.is_empty() {
                self.take(field);
            }
        }
    }

    fn take(&mut self, field: &str) {
        if let Some((key, _)) = self.payload.iter().find(|(key, _)| *key == field) {
            self.taken.push(key);
        }
    }

    fn text(&self, key: &str) -> Option<&'d str> {
        parts::text(self.payload, key)
    }

    /// The task and the sender stand in the head already.
    fn ids(&mut self) {
        let document = self.draft.document();
        if self.text("task_id").is_some_and(|task| parts::task(document) == Some(task)) {
            self.take("task_id");
        }
        let agent_id = self.text("agent_id");
        if agent_id.is_some() && agent_id == parts::text_in(document, "sender", "agent_id") {
            self.take("agent_id");
            self.draft.link("/payload/agent_id", "/from");
        }
    }

    /// Reads the sort of work, and a title from the best that there is: the description, else the sort.
    fn task_type(&mut self, kind: Kind, message_type: MessageType) {
        let special = kinds::special_task_type(kind).filter(|_| message_type == MessageType::TaskRequest);
        if special.is_some() && special == self.text("task_type") {
            self.take("task_type");
            self.draft.link("/payload/task_type", "/kind");
            self.lenses(&[lenses::SUBTYPE]);
        } else {
            self.lenses(&[lenses::TASK_TYPE]);
        }
        if message_type != MessageType::TaskRequest || self.draft.get("/title").is_some() {
            return;
        }
        let text = self.draft.get("/text").and_then(Value::as_str).map(str::to_owned);
        let task_type = self.text("task_type").filter(|_| special.is_none()).map(str::to_owned);
        match (text, task_type) {
            (Some(text), _) => self.draft.set(self.text_place(), "/title", text),
            (None, Some(task_type)) => self.draft.set("/payload/task_type", "/title", task_type),
            (None, None) => {}
        }
    }

    /// Returns where the text of a request stands.
    fn text_place(&self) -> &'static str {
        if self.text("description").is_some() {
            "/payload/description"
        } else if parts::text_in(self.payload, "payload", "description").is_some() {
            "/payload/payload/description"
        } else {
            "/payload/notes"
        }
    }

    /// Somebody who asks for approval waits for it.
    fn gate(&mut self, kind: Kind, message_type: MessageType) {
        let is_asked = kind == Kind::Gate && message_type == MessageType::TaskRequest;
        if is_asked && self.draft.get("/gate/action_required").is_none() {
            self.draft.set("/message_type", "/gate/action_required", true);
        }
        if self.draft.get("/gate/action_required").is_some() {
            self.lenses(lenses::GATE);
        }
    }

    fn result(&mut self, message_type: MessageType) {
        self.lenses(&[lenses::RESULT]);
        if message_type == MessageType::TaskResponse {
            self.lenses(&[lenses::FINDINGS]);
        }
    }

    /// Reads how far the task is; in messages about the agent the status is the agent's.
    fn status(&mut self, kind: Kind) {
        if kinds::is_of_agent(kind) {
            self.lenses(&[lenses::TASK_STATUS]);
            return;
        }
        self.lenses(&[lenses::STATUS]);
        if self.text("status") == Some("timeout") && self.draft.get("/error/code").is_none() {
            self.draft.set("/payload/status", "/error/code", "TIMEOUT");
        }
    }

    fn presence(&mut self, kind: Kind) {
        let status = self.text("status").filter(|_| kinds::is_of_agent(kind));
        let active_tasks = parts::count(self.payload, "active_tasks");
        let told = status.and_then(|status| presence::state(status, active_tasks));
        self.lenses(&[lenses::STATE]);
        if let (None, Some(told)) = (self.draft.get("/presence/state"), told) {
            self.draft.set("/payload/status", "/presence/state", told.name());
        }
        let state = self.draft.get("/presence/state").and_then(Value::as_str);
        let Some(state) = state.and_then(PresenceState::from_name) else {
            // A status that is none of an agent may be one of a task.
            if status.is_some() {
                self.lenses(&[lenses::STATUS]);
            }
            return;
        };
        self.lenses(&[lenses::SUBSTATE]);
        self.lenses(lenses::PRESENCE);
        let Some((status, told)) = status.zip(told) else { return };
        self.take("status");
        let is_finer = told == state && presence::is_finer(status, state);
        if is_finer && self.draft.get("/presence/sub").is_none() {
            self.draft.set("/payload/status", "/presence/sub", status.to_owned());
        }
        let tasks = self.draft.get("/presence/tasks").and_then(Value::as_array).map_or(0, <[_]>::len);
        let is_said = active_tasks.is_some_and(|count| {
            presence::active_tasks(state, tasks).is_some_and(|said| i64::try_from(said) == Ok(count))
        });
        if is_said {
            self.take("active_tasks");
            self.draft.link("/payload/active_tasks", "/presence/state");
        }
    }

    /// Whether to try again is said of an error, and means nothing without one.
    fn retryable(&mut self, kind: Kind) {
        let is_failure = matches!(kind, Kind::TaskFailed | Kind::ErrorReport);
        if is_failure || self.draft.get("/error").is_some() {
            self.lenses(&[lenses::RETRYABLE]);
        }
    }

    fn groups(&mut self) {
        let tables = [lenses::SHARED, lenses::GATE, lenses::NESTED_ERROR];
        for group in GROUPS {
            let Some(members) = parts::part(self.payload, group) else { continue };
            let is_carried = |key: &str| {
                tables.into_iter().flatten().any(|lens| {
                    payload_field(lens.native) == Some((group, key))
                        && self.draft.get(lens.canonical).is_some()
                })
            };
            if members.iter().all(|(key, _)| is_carried(key)) {
                self.take(group);
            }
        }
    }

    /// Leaves what nothing has taken as the message's data.
    fn leave_data(self) {
        let left =
            self.payload.iter().filter(|(key, value)| !self.taken.contains(key) && !is_nothing(key, value));
        let data: Object<'static> = left.map(|(key, value)| owned(key, value)).collect();
        if let (1, Some(value)) = (data.len(), data.get("data").filter(|value| !value.is_null())) {
            self.draft.set("/payload/data", "/data", value.clone());
        } else {
            leave(self.draft, "/payload", data);
        }
    }
}

/// Tells whether a known field is null or an empty list, which says as much as its absence.
fn is_nothing(key: &str, value: &Value<'_>) -> bool {
    let is_empty = value.is_null() || (key != "data" && value.as_array().is_some_and(<[_]>::is_empty));
    is_empty && lenses::is_spoken_for(key)
}

fn leave(draft: &mut Draft<'_>, place: &str, data: Object<'static>) {
    if data.is_empty() {
        return;
    }
    for (key, _) in data.iter() {
        let key = key.replace('~', "~0").replace('/', "~1");
        draft.link(&format!("{place}/{key}"), &format!("/data/{key}"));
    }
    draft.assume("/data", data);
}

fn owned(key: &str, value: &Value<'_>) -> (String, Value<'static>) {
    (key.to_owned(), value.clone().into_owned())
}
