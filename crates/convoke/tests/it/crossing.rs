//! Every door to every other door: what is sent through one arrives at the other, in its language, in order, once.

mod doors;
mod manners;
pub(crate) mod messages;
pub(crate) mod stage;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use dialect::Name;
use json::{Limits, Value};
use message::Kind;
use translate::{Carry, Options, Reports};

use doors::{DOORS, Door, Sent};
use stage::{LOOKS_MAX, Stage, text};

/// Starts a bus with a sender and a receiver at every door.
fn start() -> Stage {
    let agents = DOORS.iter().flat_map(|door| [(sender(door), door.dialect), (receiver(door), door.dialect)]);
    Stage::start(&agents.collect::<Vec<_>>())
}

fn sender(door: &Door) -> String {
    format!("{}-a", door.name)
}

fn receiver(door: &Door) -> String {
    format!("{}-b", door.name)
}

/// What came of a message.
enum Crossed {
    /// It arrived as a document of this type, and this is what its receipt says.
    Arrived { word: String, receipt: String },
    /// It came no further.
    Stayed(String),
}

/// Sends a message of a kind from one door to another.
fn cross(stage: &Stage, kind: Kind, from: &Door, to: &Door) -> Crossed {
    let id = format!("{}-{}-{}", kind.name(), from.name, to.name);
    let said = messages::message(kind, &id, &sender(from), &receiver(to));
    let document = messages::written(&said, from.dialect, &stage.names);
    let Some(document) = document else { return Crossed::Stayed("-".to_owned()) };
    let id = match (from.send)(stage, &sender(from), &document) {
        Sent::Accepted { id, duplicate } => {
            assert!(!duplicate, "{document}");
            id
        }
        Sent::Noted => return Crossed::Stayed("noted".to_owned()),
        Sent::Refused(code) => return Crossed::Stayed(format!("refused: {code}")),
    };
    let arrived = (to.receive)(stage, &receiver(to));
    let value = messages::parse(&arrived);
    let verdict = translate::dialect(to.dialect).validate(&value);
    assert!(verdict.errors.is_empty(), "{id}: {arrived}: {:?}", verdict.errors);
    let expected = expected(stage, &document, from.dialect, to.dialect);
    assert_eq!(bare(to.dialect, &value), bare(to.dialect, &expected), "{document}");
    Crossed::Arrived { word: messages::word(to.dialect, &value), receipt: settled(stage, &id, &receiver(to)) }
}

/// Waits until a message is settled, and says by which steps.
fn settled(stage: &Stage, id: &str, by: &str) -> String {
    for _ in 0..LOOKS_MAX {
        let receipt = stage.receipt(id);
        if text(&receipt, "/stage") != "acknowledged" {
            continue;
        }
        let part = receipt.get("recipients").and_then(|all| all.as_array()?.first()).unwrap();
        assert_eq!(text(part, "/agent"), by, "{receipt}");
        let steps = part.get("stages").and_then(Value::as_array).unwrap_or_default().iter();
        let steps = steps.map(|step| format!("{} {}", text(step, "/stage"), text(step, "/by")));
        let steps: Vec<String> = steps.map(|step| step.replace(by, "itself").trim_end().to_owned()).collect();
        return format!("{}; attempts {}", steps.join(", "), text(part, "/attempts"));
    }
    panic!("{id} is not settled: {}", stage.receipt(id));
}

/// Translates a document as the command line would.
fn expected(stage: &Stage, document: &str, from: Name, to: Name) -> Value<'static> {
    let options = Options {
        names: &stage.names,
        limits: Limits::DOCUMENT,
        carry: Carry::Nothing,
        reports: Reports::Unwanted,
        trusts: &|_| false,
        seals: None,
        came: None,
        to: None,
    };
    messages::parse(&translate::translate(document, from, to, &options).unwrap().text)
}

/// Leaves out the origin, whose seal only the bus can make.
fn bare(dialect: Name, document: &Value<'_>) -> String {
    let mut document = document.clone().into_owned();
    let place = translate::dialect(dialect).origin_place();
    let (holder, key) = place.rsplit_once('/').unwrap();
    let object = document.as_object_mut().unwrap();
    match holder.strip_prefix('/') {
        None => drop(object.remove(key)),
        Some(holder) => {
            let inner = object.get_mut(holder).and_then(Value::as_object_mut);
            let is_empty = inner.is_some_and(|inner| {
                inner.remove(key);
                inner.is_empty()
            });
            if is_empty {
                object.remove(holder);
            }
        }
    }
    document.to_json()
}

#[test]
fn every_kind_crosses_from_every_door_to_every_other() {
    let stage = start();
    let mut table = String::new();
    let mut receipts = BTreeMap::new();
    let heads: Vec<&str> = DOORS.iter().map(|to| to.name).collect();
    for from in DOORS {
        writeln!(table, "## {} sends {}\n\n| kind | {} |", from.name, from.dialect, heads.join(" | "))
            .unwrap();
        writeln!(table, "|---{}|", "|---".repeat(DOORS.len())).unwrap();
        for kind in Kind::ALL {
            write!(table, "| {} |", kind.name()).unwrap();
            for to in DOORS {
                let cell = match cross(&stage, *kind, from, to) {
                    Crossed::Stayed(why) => why,
                    Crossed::Arrived { word, receipt } => {
                        let known = receipts.entry(to.name).or_insert_with(|| receipt.clone());
                        assert_eq!(*known, receipt, "{} from {} to {}", kind.name(), from.name, to.name);
                        word
                    }
                };
                write!(table, " {cell} |").unwrap();
            }
            table.push('\n');
        }
        table.push('\n');
    }
    writeln!(table, "## What receipts say\n\n| received through | steps |\n|---|---|").unwrap();
    for to in DOORS {
        let steps = receipts.get(to.name).map_or("nothing was received", String::as_str);
        writeln!(table, "| {} | {steps} |", to.name).unwrap();
    }
    insta::assert_snapshot!(table);
}
