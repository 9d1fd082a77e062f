//! Who takes over HTTP: acknowledges most, refuses some, forgets some; the one who is asked answers.

use std::io;

use json::Value;

use super::{ANSWERER, ASKER, Deed, LEASE, World, deed, text_of};
use crate::history::{Event, Guarantee, Letter};
use crate::http::Line;
use crate::random::Dice;

pub(super) fn run(world: &World, agent: &str, mut dice: Dice) {
    world.with_each_server(|opening| {
        let mut line = Line::connect(&opening.address)?;
        loop {
            take(world, agent, &mut line, &mut dice)?;
        }
    });
}

/// Takes a few and does with each what chance wants.
fn take(world: &World, agent: &str, line: &mut Line, dice: &mut Dice) -> io::Result<()> {
    let asked = world.history.now();
    let max = dice.range(1, 6);
    let body = format!(r#"{{"max":{max},"wait":"5s","lease":"{LEASE}","dialect":"convoke"}}"#);
    let path = format!("/v1/agents/{agent}/inbox/take");
    let taken = line.call("POST", &path, world.token(agent), &body)?;
    if taken.status != 200 {
        return Err(io::Error::other(taken.to_string()));
    }
    let value = taken.json();
    let deliveries = value.as_ref().and_then(|value| value.get("deliveries")?.as_array()).unwrap_or_default();
    // All of them have come before anything is done with the first.
    let names: Vec<_> = deliveries.iter().map(|delivery| world.sight(agent, delivery, asked)).collect();
    for (delivery, name) in deliveries.iter().zip(names) {
        let text = |key: &str| delivery.get(key).and_then(Value::as_str).unwrap_or_default();
        if let Some(name) = name.filter(|_| agent == ANSWERER) {
            answer(world, &name, text("id"), line)?;
        }
        settle(world, agent, text("delivery"), line, dice)?;
    }
    Ok(())
}

fn settle(world: &World, agent: &str, delivery: &str, line: &mut Line, dice: &mut Dice) -> io::Result<()> {
    let (word, body) = match deed(dice) {
        Deed::Ack => ("ack", ""),
        Deed::Nack => ("nack", r#"{"delay":"10ms","reason":"not now"}"#),
        Deed::NackForever => ("nack", r#"{"retryable":false,"reason":"not ever"}"#),
        Deed::Forget => return Ok(()),
    };
    let named = delivery.to_owned();
    let is_ack = word == "ack";
    world.history.note(if is_ack {
        Event::Acking { delivery: named }
    } else {
        Event::Nacking { delivery: named }
    });
    let path = format!("/v1/deliveries/{delivery}/{word}");
    let settled = line.call("POST", &path, world.token(agent), body)?;
    if is_ack && settled.status == 200 && settled.body_text().contains("\"acknowledged\"") {
        world.history.note(Event::Acked { delivery: delivery.to_owned() });
    }
    Ok(())
}

/// Answers a question; a question that comes again gets the same answer, under the same name.
fn answer(world: &World, question: &str, id: &str, line: &mut Line) -> io::Result<()> {
    let letter = Letter {
        name: format!("re-{question}"),
        from: ANSWERER.to_owned(),
        to: ASKER.to_owned(),
        fallback: None,
        task: None,
        guarantee: Guarantee::AtLeastOnce,
        // An answer that comes too late is filed.
        may_expire: true,
        is_awaited: true,
        is_record: false,
    };
    let name = letter.name.clone();
    let document = format!(
        r#"{{"convoke":1,"native_id":"{name}","kind":"help.reply","from":"{ANSWERER}","to":["{ASKER}"],"reply_to":"{id}","text":"{}"}}"#,
        text_of(&name)
    );
    world.history.letter(letter);
    world.history.note(Event::Sending { name: name.clone() });
    let answer = line.call("POST", "/v1/messages", world.token(ANSWERER), &document)?;
    if matches!(answer.status, 200 | 201) {
        world.history.note(Event::Accepted { name, id: answer.text("id").unwrap_or_default() });
    }
    Ok(())
}
