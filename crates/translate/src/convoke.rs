//! The canonical message as a dialect like the others.

use dialect::{Decoded, Dialect, Encoded, FINDINGS_MAX, Link, Name, Names, Routing, Verdict};
use json::{Findings, Object, Value};
use message::{Guarantee, Kind, Message};

/// The dialect `convoke`.
#[derive(Clone, Copy, Debug)]
pub struct Convoke;

impl Dialect for Convoke {
    fn name(&self) -> Name {
        Name::Convoke
    }

    fn recognizes(&self, document: &Object<'_>) -> bool {
        document.contains_key("convoke") || document.contains_key("kind")
    }

    fn validate(&self, document: &Value<'_>) -> Verdict {
        let kind = document.get("kind").and_then(Value::as_str).and_then(Kind::from_name);
        let mut verdict = Verdict { kind, ..Verdict::new() };
        match message::from_value(document.clone()) {
            Ok(decoded) => decoded.warnings.into_iter().for_each(|warning| verdict.warnings.add(warning)),
            Err(errors) => errors.into_iter().for_each(|error| verdict.errors.add(error)),
        }
        verdict
    }

    fn decode(&self, document: &Value<'_>, names: &Names) -> Result<Decoded, Findings> {
        self.decode_owned(document.clone(), names)
    }

    fn decode_owned(&self, document: Value<'_>, _: &Names) -> Result<Decoded, Findings> {
        let collect = |list: Vec<json::Finding>| {
            let mut findings = Findings::new(FINDINGS_MAX);
            list.into_iter().for_each(|finding| findings.add(finding));
            findings
        };
        match message::from_value(document) {
            Ok(decoded) => {
                let mut message = decoded.message;
                message.origin = None;
                let routing = Routing::of(&message, implied_guarantee(message.kind));
                Ok(Decoded { message, warnings: collect(decoded.warnings), links: vec![whole()], routing })
            }
            Err(errors) => Err(collect(errors)),
        }
    }

    fn encode(&self, message: &Message, _: &Names) -> Encoded {
        let document = match message.to_value().into_owned() {
            Value::Object(object) => object,
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                Object::new()
            }
        };
        Encoded { document, links: vec![whole()], invented: vec!["/convoke".to_owned()] }
    }

    fn origin_place(&self) -> &'static str {
        "/origin"
    }

    fn version(&self, _: &Object<'_>) -> Option<String> {
        Some("1".to_owned())
    }
}

/// Returns the guarantee of a message that states none: a heartbeat is worth nothing later.
fn implied_guarantee(kind: Kind) -> Guarantee {
    if kind == Kind::AgentHeartbeat { Guarantee::AtMostOnce } else { Guarantee::AtLeastOnce }
}

/// Every field is itself.
fn whole() -> Link {
    Link { native: "".into(), canonical: "".into() }
}
