//! The end: everything that waits is taken and acknowledged, and the bus is asked what became of each message.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, ensure};
use json::Value;

use crate::history::{Ending, Event, Recipient};
use crate::http::Line;
use crate::load::{Cast, RECORDER, World, door, follower};
use crate::server::Server;

/// The name of the last record, which is no letter.
const LAST: &str = "last";
/// How often everybody's inbox is emptied before what is left is left; each time waits for about a second when there
/// is nothing.
const TURNS_MAX: usize = 30;
/// How often in a row nothing may come: beyond the longest lease and pause of what anybody took.
const QUIET_MAX: usize = 5;

/// Takes what waits, asks what became of everything, and stops the server.
pub(super) fn collect(world: &World, server: Server) -> anyhow::Result<BTreeMap<String, Ending>> {
    let mut line = Line::connect(server.address()).context("connecting")?;
    let mut quiet = 0;
    for _ in 0..TURNS_MAX {
        let mut came = 0;
        for (agent, _) in world.load.cast.agents() {
            came += empty(world, agent, &mut line)?;
        }
        quiet = if came == 0 { quiet + 1 } else { 0 };
        let held = line.call("GET", "/v1/bus", server.operator(), "")?;
        if held.number("/messages") == Some(0) || quiet == QUIET_MAX {
            break;
        }
    }
    match world.load.cast {
        Cast::OneSender | Cast::Native => {}
        Cast::Everybody => records(world, &server, &mut line)?,
    }
    let dead = dead_letters(&mut line, server.operator())?;
    let waiting = waiting(world, &mut line, server.operator())?;
    let ids: BTreeSet<String> = world.history.ids();
    let mut endings = BTreeMap::new();
    for id in ids {
        let path = format!("/v1/messages/{id}/receipt");
        let receipt = line.call("GET", &path, server.operator(), "")?;
        ensure!(matches!(receipt.status, 200 | 404), "the receipt of {id}: {receipt}");
        let value = receipt.json();
        let recipients = value.as_ref().and_then(|value| value.get("recipients")?.as_array());
        let recipients = recipients.map(|recipients| recipients.iter().map(recipient).collect());
        let ending = Ending { recipients, is_dead_letter: dead.contains(&id), waits: waiting.contains(&id) };
        endings.insert(id, ending);
    }
    let code = server.stop()?;
    ensure!(code == Some(0), "the server stopped with {code:?}");
    Ok(endings)
}

/// Follows records to the last one, and learns which messages they became.
fn records(world: &World, server: &Server, line: &mut Line) -> anyhow::Result<()> {
    let token = world.tokens.get(RECORDER).context("nobody writes records")?;
    let (path, body) = ("/xrpc/com.atproto.repo.createRecord", door::last_record(RECORDER, LAST));
    let written =
        line.call_with("POST", path, token, "Content-Type: application/json\r\n", body.as_bytes())?;
    ensure!(written.status == 200, "the last record: {written}");
    follower::follow(world, server.address(), Some(LAST)).context("following to the last record")?;
    let (mut ids, mut after) = (BTreeMap::new(), 0);
    loop {
        let path = format!("/v1/messages?agent={RECORDER}&limit=1000&after={after}");
        let listed = line.call("GET", &path, server.operator(), "")?;
        ensure!(listed.status == 200, "the messages of {RECORDER}: {listed}");
        let value = listed.json().context("a list that is no JSON")?;
        for message in value.get("messages").and_then(Value::as_array).unwrap_or_default() {
            let text = |key: &str| message.get(key).and_then(Value::as_str).unwrap_or_default();
            // Their texts are shown only when the history has read them too, which comes last.
            if let Some(number) = door::number_in(text("native_id")) {
                ids.insert(format!("{RECORDER}-{number}"), text("id").to_owned());
            }
        }
        match listed.number("/next") {
            Some(next) => after = next,
            None => break,
        }
    }
    world.history.learn(&ids);
    Ok(())
}

/// Takes and acknowledges everything that can be had at once, and tells how much it was.
fn empty(world: &World, agent: &str, line: &mut Line) -> anyhow::Result<usize> {
    let token = world.tokens.get(agent).context("an agent without a token")?;
    let (mut wait, mut count) = ("100ms", 0);
    loop {
        let asked = world.history.now();
        let body = format!(r#"{{"max":500,"wait":"{wait}","lease":"60s","dialect":"convoke"}}"#);
        let taken = line.call("POST", &format!("/v1/agents/{agent}/inbox/take"), token, &body)?;
        ensure!(taken.status == 200, "taking for {agent}: {taken}");
        let value = taken.json().context("an answer that is no JSON")?;
        let deliveries = value.get("deliveries").and_then(Value::as_array).unwrap_or_default();
        if deliveries.is_empty() {
            return Ok(count);
        }
        count += deliveries.len();
        for delivery in deliveries {
            drop(world.sight(agent, delivery, asked));
        }
        for delivery in deliveries {
            let id = delivery.get("delivery").and_then(Value::as_str).unwrap_or_default();
            world.history.note(Event::Acking { delivery: id.to_owned() });
            let acked = line.call("POST", &format!("/v1/deliveries/{id}/ack"), token, "")?;
            ensure!(acked.status == 200, "acknowledging {id} for {agent}: {acked}");
            world.history.note(Event::Acked { delivery: id.to_owned() });
        }
        wait = "0s";
    }
}

fn dead_letters(line: &mut Line, operator: &str) -> anyhow::Result<BTreeSet<String>> {
    let listed = line.call("GET", "/v1/dead", operator, "")?;
    let value = listed.json().context("dead letters that are no JSON")?;
    Ok(ids_of(value.get("dead")))
}

fn waiting(world: &World, line: &mut Line, operator: &str) -> anyhow::Result<BTreeSet<String>> {
    let mut waiting = BTreeSet::new();
    for (agent, _) in world.load.cast.agents() {
        let looked = line.call("GET", &format!("/v1/agents/{agent}/inbox?max=1000"), operator, "")?;
        let value = looked.json().context("an inbox that is no JSON")?;
        waiting.extend(ids_of(value.get("messages")));
    }
    Ok(waiting)
}

fn ids_of(list: Option<&Value<'_>>) -> BTreeSet<String> {
    let items = list.and_then(Value::as_array).unwrap_or_default();
    items.iter().filter_map(|item| Some(item.get("id")?.as_str()?.to_owned())).collect()
}

fn recipient(value: &Value<'_>) -> Recipient {
    let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let attempts = value.get("attempts").and_then(Value::as_integer).unwrap_or(0);
    Recipient {
        agent: text("agent"),
        stage: text("stage"),
        attempts: u64::try_from(attempts).unwrap_or(0),
        stages: value.get("stages").map(Value::to_json).unwrap_or_default(),
    }
}
