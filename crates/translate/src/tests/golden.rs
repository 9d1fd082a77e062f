//! Golden files: the specifications' own examples in every other dialect, to be read by eye.
//!
//! [`EXAMPLES`] names files in `vectors/NAME/good`; `vectors/translated/NAME/EXAMPLE.OTHER.json` is what they
//! become, without the origin, with the report. `UPDATE_VECTORS=1` rewrites them: read the diff.

use std::fs;
use std::path::Path;

use dialect::Name;
use json::{Object, Value};

use super::{parse, plain, report};

/// The examples: one of each type that a specification shows.
const EXAMPLES: &[(Name, &[&str])] = &[
    (Name::Comms, &["message-full", "broadcast-full", "request-full", "response-full", "handoff-full"]),
    (
        Name::Coord,
        &[
            "task-assignment",
            "handoff-request",
            "handoff-accepted",
            "handoff-declined",
            "task-update",
            "task-complete",
            "task-failed",
            "help-request",
            "help-response",
            "status-update",
            "heartbeat",
            "error-report",
            "state-update",
        ],
    ),
    (Name::Bus, &["task-request", "task-response", "status-update", "error", "heartbeat"]),
    (Name::Channel, &["message", "direct", "broadcast", "mentions", "heartbeat"]),
    (Name::Wire, &["brief", "inbox-question", "inbox-exec-gate", "complete", "blocked-spec-gap", "claim"]),
];

#[test]
fn examples_of_the_specifications_in_every_dialect() {
    let vectors = testkit::root().join("vectors");
    let mut wrong = Vec::new();
    for (from, examples) in EXAMPLES {
        for stem in *examples {
            let text = testkit::read(&vectors.join(from.name()).join("good").join(format!("{stem}.json")));
            for to in Name::ALL.iter().filter(|to| *to != from) {
                let golden = vectors.join("translated").join(from.name()).join(format!("{stem}.{to}.json"));
                if !matches(&golden, &shown(&text, *from, *to)) {
                    wrong.push(golden.display().to_string());
                }
            }
        }
    }
    assert!(wrong.is_empty(), "these translations changed; UPDATE_VECTORS=1 rewrites them: {wrong:#?}");
}

fn shown(text: &str, from: Name, to: Name) -> String {
    let translation = plain(text, from, to);
    let mut document = parse(&translation.text).into_owned();
    let place = crate::dialect(to).origin_place();
    if let Some((parent, name)) = place.rsplit_once('/') {
        let holder =
            parent.split('/').skip(1).try_fold(&mut document, |at, step| at.as_object_mut()?.get_mut(step));
        holder.and_then(Value::as_object_mut).map(|holder| holder.remove(name));
    }
    let mut members = Object::new();
    members.insert("document", document);
    members.insert("report", report(translation.clone()).to_value().into_owned());
    testkit::pretty(&Value::Object(members))
}

fn matches(golden: &Path, shown: &str) -> bool {
    if std::env::var_os("UPDATE_VECTORS").is_some() {
        fs::create_dir_all(golden.parent().unwrap()).unwrap();
        fs::write(golden, shown).unwrap();
        return true;
    }
    fs::read_to_string(golden).is_ok_and(|before| before == shown)
}
