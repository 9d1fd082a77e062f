//! What holds whatever the doors: order within a task, repeats, priority, fallback, replies, expiry.
//!
//! A language that cannot say what is asked for has nothing to keep; the tables say where that is so.

use std::fmt::Write as _;

use dialect::{Decoded, Name};
use json::{Limits, Value};
use message::{Kind, Message};

use super::doors::{DOORS, Door, Sent};
use super::stage::{LOOKS_MAX, Stage, text};
use super::{messages, receiver, sender, start};

/// Makes a message with some more members.
fn message(kind: Kind, id: &str, from: &str, to: &str, more: &[(&'static str, &str)]) -> Message {
    let mut value = messages::message(kind, id, from, to).to_value().into_owned();
    let members = value.as_object_mut().unwrap();
    for (key, json) in more {
        members.insert(*key, json::parse_str(json, Limits::DOCUMENT).unwrap().into_owned());
    }
    message::from_value(value).unwrap_or_else(|errors| panic!("{more:?}: {errors:?}")).message
}

fn decode(stage: &Stage, dialect: Name, document: &str) -> Decoded {
    let value = messages::parse(document);
    let decoded = translate::dialect(dialect).decode(&value, &stage.names);
    decoded.unwrap_or_else(|errors| panic!("{document}: {errors:?}"))
}

fn read(stage: &Stage, dialect: Name, document: &str) -> Message {
    decode(stage, dialect, document).message
}

fn sent(stage: &Stage, door: &Door, document: &str) -> (String, bool) {
    match (door.send)(stage, &sender(door), document) {
        Sent::Accepted { id, duplicate } => (id, duplicate),
        other @ (Sent::Noted | Sent::Refused(_)) => panic!("{}: {document}: {other:?}", door.name),
    }
}

/// Goes through all pairs of doors and writes down what came of each.
fn table(stage: &Stage, mut each: impl FnMut(&Stage, &Door, &Door) -> &'static str) -> String {
    let mut table = String::new();
    for from in DOORS {
        write!(table, "{} to", from.name).unwrap();
        for to in DOORS {
            write!(table, " {}: {};", to.name, each(stage, from, to)).unwrap();
        }
        table.push('\n');
    }
    table
}

#[test]
fn messages_of_a_task_arrive_in_order() {
    let stage = start();
    let table = table(&stage, |stage, from, to| {
        let texts = ["Step one.", "Step two.", "Step three."];
        for (nth, said) in texts.iter().enumerate() {
            let id = format!("order-{}-{}-{nth}", from.name, to.name);
            let quoted = format!("{said:?}");
            let step = message(Kind::TaskProgress, &id, &sender(from), &receiver(to), &[("text", &quoted)]);
            let Some(document) = messages::written(&step, from.dialect, &stage.names) else { return "-" };
            sent(stage, from, &document);
        }
        for said in texts {
            let arrived = (to.receive)(stage, &receiver(to));
            assert!(arrived.contains(said), "{} to {}: {said} and not {arrived}", from.name, to.name);
        }
        "in order"
    });
    insta::assert_snapshot!(table);
}

#[test]
fn a_repeat_arrives_once() {
    let stage = start();
    let table = table(&stage, |stage, from, to| {
        let id = format!("again-{}-{}", from.name, to.name);
        let note = messages::message(Kind::Question, &id, &sender(from), &receiver(to));
        let Some(document) = messages::written(&note, from.dialect, &stage.names) else { return "-" };
        let (first, duplicate) = sent(stage, from, &document);
        assert!(!duplicate, "{document}");
        let (again, duplicate) = sent(stage, from, &document);
        if from.dialect == Name::Comms {
            // Each record has a key of its own: the same words again are another record.
            assert_ne!(again, first, "{document}");
            (to.receive)(stage, &receiver(to));
            (to.receive)(stage, &receiver(to));
            return "another";
        }
        assert!(duplicate, "{}: {document}", from.name);
        assert!(again == first || again.is_empty(), "{}: {again} is not {first}", from.name);
        (to.receive)(stage, &receiver(to));
        stage.has_nothing(&receiver(to));
        "once"
    });
    insta::assert_snapshot!(table);
}

#[test]
fn the_urgent_one_arrives_first() {
    let stage = start();
    let table = table(&stage, |stage, from, to| {
        let mut documents = Vec::new();
        for (priority, said) in [("low", "It can wait."), ("critical", "It burns.")] {
            let id = format!("{priority}-{}-{}", from.name, to.name);
            let more = [("text", &*format!("{said:?}")), ("priority", &*format!("{priority:?}"))];
            let note = message(Kind::Question, &id, &sender(from), &receiver(to), &more);
            let Some(document) = messages::written(&note, from.dialect, &stage.names) else { return "-" };
            if read(stage, from.dialect, &document).priority != note.priority {
                return "-";
            }
            documents.push(document);
        }
        // Who is connected gets what is there.
        stage.hang_up(&receiver(to));
        documents.iter().for_each(|document| drop(sent(stage, from, document)));
        for said in ["It burns.", "It can wait."] {
            let arrived = (to.receive)(stage, &receiver(to));
            assert!(arrived.contains(said), "{} to {}: {said} and not {arrived}", from.name, to.name);
        }
        "first"
    });
    insta::assert_snapshot!(table);
}

#[test]
fn a_fallback_gets_what_nobody_else_can() {
    let stage = start();
    let table = table(&stage, |stage, from, to| {
        let id = format!("instead-{}-{}", from.name, to.name);
        let delivery = format!(r#"{{"fallback":["{}"]}}"#, receiver(to));
        let request = message(Kind::TaskRequest, &id, &sender(from), "nobody", &[("delivery", &delivery)]);
        let Some(document) = messages::written(&request, from.dialect, &stage.names) else { return "-" };
        let says_so = |message: &Message| message.delivery.as_ref().is_some_and(|it| !it.fallback.is_empty());
        if !says_so(&read(stage, from.dialect, &document)) {
            return "-";
        }
        let (id, _) = sent(stage, from, &document);
        let arrived = (to.receive)(stage, &receiver(to));
        assert_eq!(read(stage, to.dialect, &arrived).kind, Kind::TaskRequest, "{arrived}");
        let receipt = stage.receipt(&id);
        let got = receipt.get("recipients").and_then(Value::as_array).unwrap_or_default();
        let got = got.iter().any(|part| text(part, "/agent") == receiver(to));
        assert!(got, "{receipt}");
        "instead"
    });
    insta::assert_snapshot!(table);
}

#[test]
fn who_waits_gets_the_reply() {
    let stage = start();
    let table = table(&stage, |stage, from, to| {
        let Some(ask) = from.ask else { return "-" };
        let task = format!("{:?}", format!("task-{}-{}", from.name, to.name));
        let about = [("task", task.as_str()), ("delivery", r#"{"mode":"sync","timeout":"60s"}"#)];
        let id = format!("ask-{}-{}", from.name, to.name);
        let request = message(Kind::TaskRequest, &id, &sender(from), &receiver(to), &about);
        let Some(document) = messages::written(&request, from.dialect, &stage.names) else { return "-" };
        let done = message(Kind::TaskDone, &format!("{id}-done"), &receiver(to), &sender(from), &about[..1]);
        let answer = messages::written(&done, to.dialect, &stage.names).unwrap();
        let reply = std::thread::scope(|scope| {
            let asked = scope.spawn(|| ask(stage, &sender(from), &document));
            (to.receive)(stage, &receiver(to));
            match (to.send)(stage, &receiver(to), &answer) {
                Sent::Accepted { .. } => {}
                other @ (Sent::Noted | Sent::Refused(_)) => panic!("{answer}: {other:?}"),
            }
            asked.join().unwrap()
        });
        let reply = read(stage, from.dialect, &reply);
        assert_eq!((reply.kind, reply.from.as_str()), (Kind::TaskDone, receiver(to).as_str()));
        stage.has_nothing(&sender(from));
        "answered"
    });
    insta::assert_snapshot!(table);
}

#[test]
fn nothing_arrives_when_its_time_is_over() {
    let stage = start();
    let mut accepted = Vec::new();
    let table = table(&stage, |stage, from, to| {
        let id = format!("late-{}-{}", from.name, to.name);
        let (_, me) = stage.call("GET", "/v1/me", "", "");
        let now: message::Timestamp = text(&me, "/time").parse().unwrap();
        let soon = message::Timestamp::from_unix_micros(now.unix_micros() + 1_000_000).unwrap();
        let more = [("created", &*format!("\"{now}\"")), ("expires", &*format!("\"{soon}\""))];
        let note = message(Kind::Question, &id, &sender(from), &receiver(to), &more);
        let Some(document) = messages::written(&note, from.dialect, &stage.names) else { return "-" };
        let decoded = decode(stage, from.dialect, &document);
        if decoded.message.expires.is_none() && decoded.routing.lifetime_ms.is_none() {
            return "-";
        }
        match (from.send)(stage, &sender(from), &document) {
            Sent::Accepted { id, .. } => accepted.push(id),
            // It may be over before it was sent.
            Sent::Refused(code) => assert_eq!(code, "expired", "{document}"),
            Sent::Noted => panic!("{document} is no sign of life"),
        }
        "expires"
    });
    for id in accepted {
        let mut receipts = std::iter::repeat_with(|| stage.receipt(&id)).take(LOOKS_MAX);
        assert!(receipts.any(|receipt| text(&receipt, "/stage") == "expired"), "{id} never ends");
    }
    DOORS.iter().for_each(|to| stage.has_nothing(&receiver(to)));
    insta::assert_snapshot!(table);
}
