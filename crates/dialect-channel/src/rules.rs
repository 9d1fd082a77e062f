//! What the specification and its users demand beyond the shape of fields.

use dialect::Strictness;
use json::{Findings, Object, Path, Value};

use crate::file_name::FileName;
use crate::form::Form;
use crate::{addressing, codes, extension, interfaces, is_channel_name, types};

/// Checks a document; a tolerant reader is only warned.
pub(crate) fn check(
    form: Form,
    object: &Object<'_>,
    strictness: Strictness,
    errors: &mut Findings,
    warnings: &mut Findings,
) {
    let mut rules = Rules { object, strictness, errors, warnings };
    match form {
        Form::Message => rules.message(),
        Form::Heartbeat => {
            rules.utc("timestamp");
            rules.channel("channel");
            rules.substate();
            rules.current("agent_id");
            extension::check(object, extension::OF_HEARTBEATS, rules.warnings);
        }
        Form::Poller | Form::Typing => {
            rules.utc("timestamp");
            rules.channel("session");
            rules.current("agent");
        }
        Form::Registration => {
            rules.utc("registered");
            rules.utc("last_seen");
            rules.current("id");
        }
    }
}

struct Rules<'d, 'f> {
    object: &'d Object<'d>,
    strictness: Strictness,
    errors: &'f mut Findings,
    warnings: &'f mut Findings,
}

impl<'d> Rules<'d, '_> {
    fn message(&mut self) {
        self.id();
        self.utc("timestamp");
        self.channel("session_id");
        self.current("from");
        self.current("to");
        self.sender();
        self.artifacts();
        extension::check(self.object, extension::OF_MESSAGES, self.warnings);
    }

    /// The id is the stem of the file's name, and both state the same second.
    fn id(&mut self) {
        let Some(id) = self.text("id").filter(|id| !id.is_empty()) else { return };
        let Some(name) = FileName::parse_stem(id).filter(FileName::has_hex4) else {
            return self.broken("id", codes::ID_FORM, || {
                "write it as the file is called, without `.json`: msg-YYYYMMDD-HHMMSS-agent-hex4".to_owned()
            });
        };
        if let Some(timestamp) = self.text("timestamp")
            && name.states_second_of(timestamp) == Some(false)
        {
            self.broken("id", codes::ID_TIME, || {
                format!("it states {}-{}, which is not the second of `timestamp`", name.date, name.time)
            });
        }
    }

    fn utc(&mut self, key: &'static str) {
        let Some(text) = self.text(key) else { return };
        if text.ends_with('Z') || text.parse::<message::Timestamp>().is_err() {
            return;
        }
        let message = || "write it in UTC, ending in `Z`".to_owned();
        if text.ends_with("+00:00") || text.ends_with("-00:00") || text.ends_with('z') {
            self.odd(key, codes::TIMESTAMP_UTC, message);
        } else {
            self.broken(key, codes::TIMESTAMP_UTC, message);
        }
    }

    fn channel(&mut self, key: &'static str) {
        let name = self.text(key).filter(|name| !name.is_empty());
        if name.is_some_and(|name| !is_channel_name(name)) {
            self.broken(key, codes::CHANNEL_NAME, || {
                "a channel is a folder: no `/`, no control characters, at most 255 bytes, not `.` or `..`"
                    .to_owned()
            });
        }
    }

    fn current(&mut self, key: &'static str) {
        let Some(agent) = self.text(key) else { return };
        let base = addressing::base_id(agent);
        if base != agent {
            self.odd(key, codes::DEPRECATED_ID, || format!("{agent:?} is no longer used: write {base:?}"));
        }
    }

    fn sender(&mut self) {
        let Some(name) = self.text("type").filter(|name| !name.is_empty()) else { return };
        let Some(known) = types::find(name) else {
            return self.odd("type", codes::UNKNOWN_TYPE, || {
                "this type is not known; it is read as chat".to_owned()
            });
        };
        if self.text("from").is_some_and(|from| !known.sender.may_be(from)) {
            self.odd("type", codes::SENDER_ROLE, || {
                format!("{:?} ({}) usually comes from another agent", known.name, known.purpose)
            });
        }
    }

    fn artifacts(&mut self) {
        let artifacts = self.object.get("content").and_then(|content| content.get("artifacts"));
        for (index, artifact) in artifacts.and_then(Value::as_array).unwrap_or_default().iter().enumerate() {
            if artifact.as_str().is_none() && artifact.as_object().is_none() {
                let (content, findings) = (Path::ROOT.key("content"), self.of_strictness());
                let list = content.key("artifacts");
                findings.rule(&list.index(index), codes::ARTIFACT_FORM, || {
                    format!(
                        "an artifact is a path, or an object with `path`, but this is {}",
                        artifact.type_name()
                    )
                });
            }
        }
    }

    fn substate(&mut self) {
        match self.text("substate") {
            None if self.text("state") == Some("AWAKE") && !self.has("substate") => {
                self.broken("substate", codes::SUBSTATE_MISSING, || {
                    "an agent that is AWAKE says what it does: IDLE, WORKING, …".to_owned()
                });
            }
            Some(substate) if !substate.is_empty() && !interfaces::SUBSTATES.contains(&substate) => {
                self.odd("substate", codes::UNKNOWN_SUBSTATE, || {
                    "this substate is not known; it is read as busy".to_owned()
                });
            }
            None | Some(_) => {}
        }
    }

    fn text(&self, key: &str) -> Option<&'d str> {
        self.object.get(key).and_then(Value::as_str)
    }

    fn has(&self, key: &str) -> bool {
        self.object.get(key).is_some_and(|value| !value.is_null())
    }

    /// Reports what the specification forbids.
    fn broken(&mut self, key: &str, code: &'static str, message: impl FnOnce() -> String) {
        self.of_strictness().rule(&Path::ROOT.key(key), code, message);
    }

    /// Reports what is allowed but should be known.
    fn odd(&mut self, key: &str, code: &'static str, message: impl FnOnce() -> String) {
        self.warnings.rule(&Path::ROOT.key(key), code, message);
    }

    fn of_strictness(&mut self) -> &mut Findings {
        match self.strictness {
            Strictness::Strict => self.errors,
            Strictness::Tolerant => self.warnings,
        }
    }
}
