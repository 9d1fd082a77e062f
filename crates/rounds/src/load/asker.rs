//! Who asks and waits for the answer; a question that broke off is asked again.

use std::io;

use json::Value;

use super::{ANSWERER, World, text_of};
use crate::history::{Event, Guarantee, Letter};
use crate::http::{Answer, Line};
use crate::random::Dice;

pub(super) fn run(world: &World, agent: &str, mut dice: Dice) {
    let mut count = 0;
    let mut unanswered: Option<String> = None;
    world.with_each_server(|opening| {
        let mut line = Line::connect(&opening.address)?;
        loop {
            let name = unanswered.take().unwrap_or_else(|| {
                count += 1;
                question(world, agent, count)
            });
            let wait = dice.range(1, 3);
            let document = format!(
                r#"{{"convoke":1,"native_id":"{name}","kind":"question","from":"{agent}","to":["{ANSWERER}"],"text":"{}"}}"#,
                text_of(&name)
            );
            world.history.note(Event::Sending { name: name.clone() });
            let path = format!("/v1/messages?wait={wait}s");
            match line.call("POST", &path, world.token(agent), &document) {
                Ok(answer) if answer.status == 503 => {
                    unanswered = Some(name);
                    return io::Result::Ok(());
                }
                Ok(answer) => heard(world, name, &answer),
                Err(error) => {
                    unanswered = Some(name);
                    return Err(error);
                }
            }
        }
    });
}

fn question(world: &World, agent: &str, number: u64) -> String {
    let name = format!("{agent}-{number}");
    world.history.letter(Letter {
        name: name.clone(),
        from: agent.to_owned(),
        to: ANSWERER.to_owned(),
        fallback: None,
        task: None,
        guarantee: Guarantee::AtLeastOnce,
        // Whoever waits for a reply does not want one for ever.
        may_expire: true,
        is_awaited: false,
        is_record: false,
    });
    name
}

fn heard(world: &World, name: String, answer: &Answer) {
    let value = answer.json();
    let text = |pointer: &str| {
        let found = value.as_ref().and_then(|value| value.pointer(pointer));
        found.and_then(Value::as_str).map(str::to_owned)
    };
    match text("/receipt/id") {
        Some(id) => world.history.note(Event::Accepted { name: name.clone(), id }),
        None => {
            let code = answer.to_string();
            world.history.note(Event::Refused { name: name.clone(), code });
        }
    }
    if let Some(answer) = text("/reply/text") {
        world.history.note(Event::Answered { question: name, answer });
    }
}
