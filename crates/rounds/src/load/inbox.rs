//! Who looks into its wire inbox again and again, and says what it has processed.

use std::io;
use std::thread;
use std::time::Duration;

use json::Value;

use super::{World, name_in, text_of};
use crate::history::{Event, Handing, Sighting};
use crate::http::Line;
use crate::random::Dice;

/// How long it waits before it looks again when there was nothing: nobody tells it when something comes.
const PAUSE: Duration = Duration::from_millis(20);

pub(super) fn run(world: &World, agent: &str, mut dice: Dice) {
    let mut count = 0;
    world.with_each_server(|opening| {
        let mut line = Line::connect(&opening.address)?;
        while !world.gate.is_over(opening) {
            if look(world, agent, &mut line, &mut count, &mut dice)? == 0 {
                thread::sleep(PAUSE);
            }
        }
        Ok(())
    });
}

/// Looks once, and settles most of what it saw; returns how much that was.
fn look(world: &World, agent: &str, line: &mut Line, count: &mut u64, dice: &mut Dice) -> io::Result<usize> {
    let asked = world.history.now();
    let limit = dice.range(1, 20);
    let path = format!("/wire/inbox/{agent}?limit={limit}");
    let looked = line.call("GET", &path, world.token(agent), "")?;
    if looked.status != 200 {
        return Err(io::Error::other(looked.to_string()));
    }
    let value = looked.json();
    let list = |key: &str| value.as_ref().and_then(|value| value.get(key)?.as_array()).unwrap_or_default();
    let mut seen: Vec<(String, String)> = Vec::new();
    for (id, wire) in list("ids").iter().zip(list("messages")) {
        let (id, wire) = (id.as_str().unwrap_or_default(), wire.to_json());
        *count += 1;
        let delivery = format!("{agent}-look-{count}");
        let name = name_in(&wire).unwrap_or("no letter");
        world.history.note(Event::Delivered(Sighting {
            delivery: delivery.clone(),
            id: id.to_owned(),
            name: name.to_owned(),
            agent: agent.to_owned(),
            handing: Handing::Shown,
            asked,
            is_whole: wire.contains(&text_of(name)),
        }));
        if dice.percent(90) {
            seen.push((id.to_owned(), delivery));
        }
    }
    if !seen.is_empty() {
        processed(world, agent, &seen, line)?;
    }
    Ok(list("ids").len())
}

fn processed(world: &World, agent: &str, seen: &[(String, String)], line: &mut Line) -> io::Result<()> {
    for (_, delivery) in seen {
        world.history.note(Event::Acking { delivery: delivery.clone() });
    }
    let ids: Vec<String> = seen.iter().map(|(id, _)| format!("\"{id}\"")).collect();
    let body = format!(r#"{{"ids":[{}]}}"#, ids.join(","));
    let settled = line.call("POST", &format!("/wire/inbox/{agent}/processed"), world.token(agent), &body)?;
    let value = settled.json();
    let results = value.as_ref().and_then(|value| value.get("results")?.as_array()).unwrap_or_default();
    for ((_, delivery), result) in seen.iter().zip(results) {
        if result.get("outcome").and_then(Value::as_str) == Some("processed") {
            world.history.note(Event::Acked { delivery: delivery.clone() });
        }
    }
    Ok(())
}
