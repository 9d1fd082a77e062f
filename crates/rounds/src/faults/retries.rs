//! Recipients that die, refuse or are not there: again, then somebody else, then a dead letter.

use anyhow::{Context, ensure};

use super::scene::Scene;
use super::{Saw, Stage};

/// Leases that end: handed out again as often as agreed, then dead, then revived. An ack that comes late counts until
/// somebody else has it.
pub(super) fn leases(stage: &Stage) -> anyhow::Result<Saw> {
    let mut scene = Scene::new(stage, &["ann", "bob"])?;
    let id = scene.sent("ann", "bob", "one", r#","delivery":{"retries":2}"#)?;
    let mut deliveries = Vec::new();
    for attempt in 1..=3 {
        let came = scene.one("bob", "50ms")?;
        ensure!(came.id == id && came.attempt == attempt, "attempt {attempt}: {}", came.json);
        deliveries.push(came.delivery);
    }
    // The last lease ends as well: the sender is told, so the letter is dead by then.
    let notice = scene.one("ann", "60s")?;
    ensure!(notice.json.contains(&id), "no notice of {id}: {}", notice.json);
    ensure!(scene.stage(&id)? == "dead", "not dead: {}", scene.stage(&id)?);
    let late = scene.settle("bob", &deliveries[0], "ack", "")?;
    ensure!(matches!(late.status, 404 | 409), "an ack of somebody else's attempt: {late}");
    let listed = scene.call("ann", "GET", "/v1/dead", "")?;
    ensure!(listed.body_text().contains(&id), "not listed: {listed}");

    scene.kill_and_start(|| {})?;
    let retried = scene.call("ann", "POST", &format!("/v1/dead/{id}/retry"), "")?;
    ensure!(retried.status == 200, "retrying: {retried}");
    let again = scene.one("bob", "60s")?;
    ensure!(again.id == id, "something else came: {}", again.json);
    let acked = scene.settle("bob", &again.delivery, "ack", "")?;
    ensure!(acked.status == 200 && scene.stage(&id)? == "acknowledged", "after the retry: {acked}");

    // Late, but nobody else was given it: it counts.
    let second = scene.sent("ann", "bob", "two", r#","delivery":{"retries":0}"#)?;
    let came = scene.one("bob", "60s")?;
    let first_ack = scene.settle("bob", &came.delivery, "ack", "")?;
    let second_ack = scene.settle("bob", &came.delivery, "ack", "")?;
    ensure!(first_ack.status == 200 && second_ack.status == 200, "acking twice: {first_ack} {second_ack}");
    ensure!(scene.stage(&second)? == "acknowledged", "not acknowledged");
    scene.well()?;
    Ok(Saw::This("three leases ended, then a dead letter with a notice; revived after a kill".to_owned()))
}

/// A message that nobody can stomach ends, and holds up nothing but its own task; what expires is never handed out.
pub(super) fn poison(stage: &Stage) -> anyhow::Result<Saw> {
    let mut scene = Scene::new(stage, &["ann", "bob"])?;
    let stuck = scene.sent("ann", "bob", "stuck", r#","task":"t-1""#)?;
    let behind = scene.sent("ann", "bob", "behind", r#","task":"t-1""#)?;
    let beside = scene.sent("ann", "bob", "beside", r#","task":"t-2""#)?;
    let came = scene.one("bob", "60s")?;
    ensure!(came.id == stuck, "not the first one: {}", came.json);
    scene.settle("bob", &came.delivery, "nack", r#"{"delay":"1h"}"#)?;
    let came = scene.take("bob", r#""max":10,"lease":"60s""#)?;
    ensure!(came.len() == 1 && came[0].id == beside, "a task that waits: {came:?}");
    scene.settle("bob", &came[0].delivery, "ack", "")?;
    let gone = scene.call("ann", "DELETE", &format!("/v1/messages/{stuck}"), "")?;
    ensure!(gone.status == 200, "taking it back: {gone}");
    let came = scene.one("bob", "60s")?;
    ensure!(came.id == behind, "what was behind is not free: {}", came.json);
    scene.settle("bob", &came.delivery, "ack", "")?;

    let poison = scene.sent("ann", "bob", "poison", r#","delivery":{"retries":3}"#)?;
    for attempt in 1..=4 {
        let came = scene.one("bob", "60s")?;
        ensure!(came.id == poison && came.attempt == attempt, "attempt {attempt}: {}", came.json);
        let nacked = scene.settle("bob", &came.delivery, "nack", r#"{"reason":"no"}"#)?;
        ensure!(nacked.status == 200, "giving back: {nacked}");
    }
    ensure!(scene.stage(&poison)? == "dead", "poison lives");

    let waiting = scene.sent("ann", "bob", "expires waiting", r#","delivery":{"timeout":"100ms"}"#)?;
    let down = scene.sent("ann", "bob", "expires while down", r#","delivery":{"timeout":"150ms"}"#)?;
    // Nothing else tells that time has passed while no server runs.
    scene.kill_and_start(|| std::thread::sleep(std::time::Duration::from_millis(300)))?;
    for id in [&waiting, &down] {
        let came = scene.take("bob", r#""max":10,"lease":"60s""#)?;
        ensure!(!came.iter().any(|came| came.id == *id), "{id} came after its time");
        ensure!(scene.stage(id)? == "expired", "{id} is {}", scene.stage(id)?);
    }
    let huge = "x".repeat(9 << 20);
    let refused = scene.send("ann", "bob", &huge, "")?;
    ensure!(refused.status == 413 && refused.code() == "too_large", "oversize: {refused}");
    scene.well()?;
    Ok(Saw::This(
        "poison ended after 4 attempts, nothing but its task waited; expired stayed away".to_owned(),
    ))
}

/// The next in the row, each told who was tried; loops end; one outcome in the end.
pub(super) fn fallbacks(stage: &Stage) -> anyhow::Result<Saw> {
    let mut scene = Scene::new(stage, &["ann", "bob", "cyd", "dan"])?;
    let wishes = r#","delivery":{"retries":0,"fallback":["cyd","bob","cyd","dan"]}"#;
    let id = scene.sent("ann", "bob", "who will", wishes)?;
    let mut trail = Vec::new();
    for agent in ["bob", "cyd", "bob", "cyd", "dan"] {
        // Who was tried before may be left out; then the next one has it already.
        let how = r#""max":1,"wait":"300ms","lease":"60s""#;
        let Some(came) = scene.take(agent, how)?.pop() else { continue };
        ensure!(came.id == id, "something else came: {}", came.json);
        for before in &trail {
            ensure!(
                came.json.contains(&format!("\"agent\":\"{before}\"")),
                "{agent} is not told of {before}"
            );
        }
        trail.push(agent);
        scene.settle(agent, &came.delivery, "nack", r#"{"reason":"not mine"}"#)?;
    }
    ensure!(trail.first() == Some(&"bob") && trail.last() == Some(&"dan"), "the trail is {trail:?}");
    let notice = scene.one("ann", "60s")?;
    ensure!(notice.json.contains(&id), "no notice: {}", notice.json);
    scene.settle("ann", &notice.delivery, "ack", "")?;
    let more = scene.take("ann", r#""max":10"#)?;
    ensure!(more.is_empty(), "more than one notice: {more:?}");
    ensure!(scene.stage(&id)? == "dead", "it is {}", scene.stage(&id)?);
    let listed = scene.call("ann", "GET", "/v1/dead", "")?.body_text();
    ensure!(listed.matches(&id).count() == 1, "not one dead letter: {listed}");

    // The first one does not come to take it: the fallback gets it after the time that it had.
    let slow = scene.sent("ann", "bob", "slow", r#","delivery":{"timeout":"100ms","fallback":["cyd"]}"#)?;
    let came = scene.take("cyd", r#""max":1,"wait":"10s","lease":"60s""#)?.pop();
    let came = came.context("the fallback got nothing")?;
    ensure!(came.id == slow, "something else came: {}", came.json);
    ensure!(scene.take("bob", r#""max":10"#)?.is_empty(), "both have it");
    scene.settle("cyd", &came.delivery, "ack", "")?;
    ensure!(scene.stage(&slow)? == "acknowledged", "it is {}", scene.stage(&slow)?);
    scene.well()?;
    Ok(Saw::This(format!("tried {}, then one dead letter and one notice", trail.join(", "))))
}
