//! A translated copy that somebody edited counts as it is, and nothing else is lost.

use dialect::Name;
use json::Value;

use super::{origin_of, parse, plain, report};

const BUS: &str = r#"{"message_id":"msg_1","timestamp":"2025-02-01T10:00:00Z","sender":{"agent_id":"codex://ann","framework":"codex","session_id":"s-1"},"recipient":{"agent_id":"opencode://bob","framework":"opencode"},"message_type":"task_request","priority":"high","payload":{"task_type":"code_review","description":"Look at the parser","files":["src/a.rs"],"odd":1.50},"routing":{"timeout":"300s","retry_policy":{"max_retries":2,"backoff":"linear"},"delivery_mode":"async"},"metadata":{"task_id":"task_1","mine":null}}"#;

/// Translates to a dialect, edits one field there, and translates back.
fn edited(to: Name, pointer: &str, now: &str) -> (Value<'static>, Vec<String>, String) {
    let mut copy = parse(&plain(BUS, Name::Bus, to).text).into_owned();
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    let holder = parent
        .split('/')
        .skip(1)
        .fold(&mut copy, |at, step| at.as_object_mut().unwrap().get_mut(step).unwrap());
    holder.as_object_mut().unwrap().insert(name.to_owned(), parse(now).into_owned());
    let text = copy.to_string();
    let back = plain(&text, to, Name::Bus);
    (parse(&back.text).into_owned(), report(back.clone()).edited, text)
}

#[test]
fn an_edit_wins_and_the_rest_stays_as_it_was() {
    let (back, told, _) = edited(Name::Coord, "/metadata/priority", "\"critical\"");
    assert_eq!(told, ["/metadata/priority"]);
    let mut expected = parse(BUS).into_owned();
    expected.as_object_mut().unwrap().insert("priority", "critical");
    assert_eq!(without_origin(back), expected);
}

#[test]
fn an_edited_copy_becomes_the_origin() {
    for (to, pointer) in [(Name::Coord, "/metadata/priority"), (Name::Convoke, "/priority")] {
        let (back, _, copy) = edited(to, pointer, "\"low\"");
        let origin = origin_of(Name::Bus, &back.to_string()).unwrap();
        assert_eq!(origin.dialect, to);
        let again = plain(&back.to_string(), Name::Bus, to);
        assert_eq!(parse(&again.text), without_origin_at(parse(&copy).into_owned(), to));
    }
}

#[test]
fn unknown_fields_of_a_copy_are_kept_in_its_origin() {
    let (back, told, _) = edited(Name::Channel, "/zzz", "[1.50,null]");
    assert_eq!(told, ["/zzz"]);
    let onward = plain(&back.to_string(), Name::Bus, Name::Channel);
    assert_eq!(parse(&onward.text).get("zzz").map(Value::to_string).as_deref(), Some("[1.50,null]"));
    assert_eq!(without_origin(back), parse(BUS));
}

fn without_origin(value: Value<'static>) -> Value<'static> {
    without_origin_at(value, Name::Bus)
}

fn without_origin_at(mut value: Value<'static>, name: Name) -> Value<'static> {
    let place = crate::dialect(name).origin_place();
    let (parent, name) = place.rsplit_once('/').unwrap();
    let holder = parent
        .split('/')
        .skip(1)
        .fold(&mut value, |at, step| at.as_object_mut().unwrap().get_mut(step).unwrap());
    holder.as_object_mut().unwrap().remove(name);
    value
}
