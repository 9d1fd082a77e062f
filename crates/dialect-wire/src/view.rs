//! A view of a wire: what it says, borrowed from its tree. Checking, reading and routing all look through it, so they agree.

use dialect::Recipients;
use json::{Object, Value};
use message::limits::RECIPIENTS_MAX;
use message::{Address, AgentRef, Guarantee, Kind, Priority, Reference, TaskId, TaskStatus};

use crate::extensions as x;
use crate::form::Form;
use crate::prose::goal;
use crate::stand_in::{recipient, slug, stands_for};
use crate::syntax::role_name;

/// The role to which a request goes that names none.
pub(crate) const ANY_ROLE: &str = "any";

/// A wire whose form is known.
#[derive(Clone, Copy)]
pub(crate) struct View<'v> {
    pub(crate) form: Form,
    document: &'v Object<'v>,
    payload: &'v Object<'v>,
}

/// To whom a wire goes: what stands before each name, and the names.
pub(crate) struct Destination<'v> {
    pub(crate) prefix: &'static str,
    pub(crate) recipients: Recipients<'v>,
    /// The field that says so.
    pub(crate) told_by: Option<&'static str>,
}

impl<'v> View<'v> {
    /// Looks at a document; `None` if its type or its payload cannot be told.
    pub(crate) fn of(document: &'v Object<'v>) -> Option<Self> {
        let form = Form::of(document)?;
        let payload = match form {
            Form::Pointer => document,
            Form::Brief | Form::Inbox(_) | Form::Complete | Form::Blocked | Form::Claim | Form::Available => {
                document.get("payload")?.as_object()?
            }
        };
        Some(View { form, document, payload })
    }

    /// Returns what it means: what its extension says if that is written in this form, else what the form means.
    pub(crate) fn kind(&self) -> Kind {
        let stated = self.extension(x::KIND).and_then(Kind::from_name);
        stated.filter(|kind| self.form.fits(*kind)).unwrap_or_else(|| self.native_kind())
    }

    /// Returns what it means without its extension.
    pub(crate) fn native_kind(&self) -> Kind {
        self.form.kind(self.native_task().is_some())
    }

    /// Returns who sends it. The extension counts only if the sender is its slug: nobody shows one name and uses another.
    pub(crate) fn from(&self) -> Option<(&'v str, &'static str)> {
        let sender = self.head("sender")?;
        let stated = self.extension(x::FROM);
        let exact = stated.filter(|from| slug(from) == sender && from.parse::<AgentRef>().is_ok());
        Some(exact.map_or((sender, "/sender"), |from| (from, "/payload/x_from")))
    }

    /// Returns to whom it goes.
    pub(crate) fn to(&self) -> Destination<'v> {
        if let Some(addresses) = self.stated_recipients() {
            let (prefix, recipients) = ("", Recipients::Each(addresses));
            return Destination { prefix, recipients, told_by: Some("/payload/x_to") };
        }
        let (prefix, native, told_by) = match self.form {
            Form::Inbox(_) => ("", self.text("to_agent"), "/payload/to_agent"),
            Form::Claim | Form::Available => ("roles.", self.text("role").map(role_name), "/payload/role"),
            Form::Complete | Form::Blocked => ("#", self.native_task(), "/payload/task_id"),
            Form::Brief | Form::Pointer => ("", None, ""),
        };
        match native {
            Some(name) => Destination { prefix, recipients: Recipients::One(name), told_by: Some(told_by) },
            None => Destination { prefix: "", recipients: Recipients::Anyone, told_by: None },
        }
    }

    /// Returns the task of which it speaks, and the field that says so.
    pub(crate) fn task(&self) -> Option<(&'v str, &'static str)> {
        let native = self.native_task();
        let stated = self.extension(x::TASK).filter(|task| task.parse::<TaskId>().is_ok());
        let exact = stated.filter(|task| native.is_none_or(|id| stands_for(id, task)));
        match exact {
            Some(task) => Some((task, "/payload/x_task")),
            None => native.map(|task| (task, self.task_field())),
        }
    }

    /// Returns how urgent it is, and the field that says so.
    pub(crate) fn priority(&self) -> Option<(Priority, &'static str)> {
        let stated = self.extension(x::PRIORITY).and_then(Priority::from_name);
        let Form::Inbox(message_type) = self.form else {
            return stated.map(|priority| (priority, "/payload/x_priority"));
        };
        let number = self.payload.get("priority").and_then(Value::as_integer);
        let number = number.unwrap_or(message_type.priority());
        match stated.filter(|priority| priority_number(*priority) == number) {
            Some(priority) => Some((priority, "/payload/x_priority")),
            None => Some((priority_of(number), "/payload/priority")),
        }
    }

    /// Returns how far the task is, as the kind says or an extension beside it.
    pub(crate) fn status(&self) -> Option<(TaskStatus, &'static str)> {
        let stated = self.extension(x::STATUS).and_then(TaskStatus::from_name);
        let stated = stated.map(|status| (status, "/payload/x_status"));
        stated.or_else(|| self.kind().task_status().map(|status| (status, "/type")))
    }

    /// Returns the title, and the field that says so.
    pub(crate) fn title(&self) -> Option<(&'v str, &'static str)> {
        let stated = self.extension(x::TITLE).map(|title| (title, "/payload/x_title"));
        match self.form {
            Form::Brief => {
                let visible = self.text("goal")?;
                let exact = stated.filter(|(title, _)| goal(title).as_deref() == Some(visible));
                exact.or(Some((visible, "/payload/goal")))
            }
            Form::Inbox(_) => filled(self.text("subject")).map(|subject| (subject, "/payload/subject")),
            Form::Complete | Form::Blocked | Form::Claim | Form::Available | Form::Pointer => stated,
        }
    }

    /// Returns the text, and the field that says so.
    pub(crate) fn says(&self) -> Option<(&'v str, &'static str)> {
        let stated = filled(self.extension(x::TEXT));
        let Some((visible, field)) = self.speech() else {
            return stated.map(|text| (text, "/payload/x_text"));
        };
        match stated.filter(|text| visible.contains(text)) {
            Some(text) => Some((text, "/payload/x_text")),
            None => Some((visible, field)),
        }
    }

    /// Returns an extension that must stand, word for word, in what is visible.
    pub(crate) fn quoted(&self, extension: &str) -> Option<&'v str> {
        let (visible, _) = self.speech()?;
        filled(self.extension(extension)).filter(|text| visible.contains(text))
    }

    /// Returns the field that holds prose, if the form has one.
    pub(crate) fn speech(&self) -> Option<(&'v str, &'static str)> {
        let (key, field) = match self.form {
            Form::Brief => ("context", "/payload/context"),
            Form::Inbox(_) => ("body", "/payload/body"),
            Form::Complete => ("summary", "/payload/summary"),
            Form::Blocked => ("reason", "/payload/reason"),
            Form::Claim | Form::Available | Form::Pointer => return None,
        };
        filled(self.text(key)).map(|text| (text, field))
    }

    /// Returns the message that it answers.
    pub(crate) fn reply_to(&self) -> Option<&'v str> {
        self.extension(x::REPLY_TO).filter(|id| id.parse::<Reference>().is_ok())
    }

    /// Returns how hard the bus must try: heartbeats and presence are worth nothing later.
    pub(crate) fn guarantee(&self) -> Guarantee {
        match self.kind() {
            Kind::AgentHeartbeat | Kind::AgentStatus => Guarantee::AtMostOnce,
            Kind::Note
            | Kind::Announce
            | Kind::TaskRequest
            | Kind::TaskClaim
            | Kind::TaskProgress
            | Kind::TaskDone
            | Kind::TaskFailed
            | Kind::TaskRejected
            | Kind::TaskBlocked
            | Kind::HelpAsk
            | Kind::HelpReply
            | Kind::HandoffOffer
            | Kind::HandoffReply
            | Kind::ErrorReport
            | Kind::ReviewVerdict
            | Kind::Gate
            | Kind::Question
            | Kind::StateSync
            | Kind::Report => Guarantee::AtLeastOnce,
        }
    }

    /// Returns a field of the envelope that is a text; a bare pointer has no envelope.
    pub(crate) fn head(&self, key: &str) -> Option<&'v str> {
        if self.form == Form::Pointer { None } else { self.document.get(key).and_then(Value::as_str) }
    }

    /// Returns a field of the payload that is a text.
    pub(crate) fn text(&self, key: &str) -> Option<&'v str> {
        self.payload.get(key).and_then(Value::as_str)
    }

    /// Returns an extension that is a text; a bare pointer has none.
    pub(crate) fn extension(&self, key: &str) -> Option<&'v str> {
        if self.form == Form::Pointer { None } else { self.text(key) }
    }

    /// Returns the task that the fields of the specification name.
    fn native_task(&self) -> Option<&'v str> {
        match self.form {
            Form::Brief => self.payload.get("env")?.get("task_id")?.as_str(),
            Form::Inbox(_) => self.text("ref_task_id"),
            Form::Complete | Form::Blocked | Form::Claim | Form::Available | Form::Pointer => {
                self.text("task_id")
            }
        }
    }

    fn task_field(&self) -> &'static str {
        match self.form {
            Form::Brief => "/payload/env/task_id",
            Form::Inbox(_) => "/payload/ref_task_id",
            Form::Complete | Form::Blocked | Form::Claim | Form::Available => "/payload/task_id",
            Form::Pointer => "/task_id",
        }
    }

    /// Returns the exact recipients, if all are addresses and the first is the one that is visible.
    fn stated_recipients(&self) -> Option<&'v [Value<'v>]> {
        if self.form == Form::Pointer {
            return None;
        }
        let addresses = self.payload.get(x::TO)?.as_array()?;
        let are_addresses = addresses.len() <= RECIPIENTS_MAX
            && addresses
                .iter()
                .all(|address| address.as_str().is_some_and(|text| text.parse::<Address>().is_ok()));
        let first = addresses.first()?.as_str()?;
        let agrees = match self.form {
            Form::Inbox(_) => self.text("to_agent").is_some_and(|to| to == recipient(first)),
            Form::Claim | Form::Available => self.text("role").map(role_name) == Some(role_of(first)),
            Form::Brief | Form::Complete | Form::Blocked | Form::Pointer => true,
        };
        (are_addresses && agrees).then_some(addresses)
    }
}

/// Returns the role of an address; what is addressed to nobody's role is for any.
pub(crate) fn role_of(address: &str) -> &str {
    address.strip_prefix("roles.").unwrap_or(ANY_ROLE)
}

/// Returns the number of a priority in an inbox message.
pub(crate) fn priority_number(priority: Priority) -> i64 {
    match priority {
        Priority::Critical => 1,
        Priority::High => 2,
        Priority::Normal | Priority::Low => 3,
    }
}

/// Takes an empty text for none.
fn filled(text: Option<&str>) -> Option<&str> {
    text.filter(|text| !text.is_empty())
}

fn priority_of(number: i64) -> Priority {
    match number {
        1 => Priority::Critical,
        2 => Priority::High,
        _ => Priority::Normal,
    }
}
