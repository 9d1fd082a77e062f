//! Who asks and waits: no reply, a late one, two of them, the same id by two, and one that goes away.

use std::thread;

use anyhow::{Context, ensure};
use json::Value;

use super::scene::Scene;
use super::{Saw, Stage};
use crate::http::{Answer, Line};

pub(super) fn run(stage: &Stage) -> anyhow::Result<Saw> {
    let mut scene = Scene::new(stage, &["ann", "ben", "bob"])?;
    late(&mut scene)?;
    same_id(&mut scene)?;
    gone(&mut scene)?;
    let held = scene.call("human", "GET", "/v1/bus", "")?;
    ensure!(held.number("/waits") == Some(0), "somebody still waits: {held}");
    scene.well()?;
    Ok(Saw::This("each who waited had its own outcome; nobody waits any more".to_owned()))
}

fn question(from: &str) -> String {
    format!(
        r#"{{"convoke":1,"native_id":"q-1","kind":"question","from":"{from}","to":["bob"],"thread":"t","text":"by {from}"}}"#
    )
}

fn reply(scene: &mut Scene, to: &str, id: &str, text: &str) -> anyhow::Result<Answer> {
    let document = format!(
        r#"{{"convoke":1,"kind":"help.reply","from":"bob","to":["{to}"],"reply_to":"{id}","text":"{text}"}}"#
    );
    scene.call("bob", "POST", "/v1/messages", &document)
}

/// Nobody answers in time; the reply that comes then is not lost, and not the answer of another question.
fn late(scene: &mut Scene) -> anyhow::Result<()> {
    let document =
        r#"{"convoke":1,"native_id":"q-0","kind":"question","from":"ann","to":["bob"],"text":"?"}"#;
    let answer = scene.call("ann", "POST", "/v1/messages?wait=50ms", document)?;
    ensure!(answer.status == 504 && answer.code() == "no_reply", "no reply: {answer}");
    let value = answer.json().context("no JSON")?;
    let id = value.pointer("/receipt/id").and_then(Value::as_str).context("no receipt")?.to_owned();
    for text in ["late", "late again"] {
        let sent = reply(scene, "ann", &id, text)?;
        ensure!(sent.status == 201, "a late reply: {sent}");
    }
    for delivery in scene.take("bob", r#""max":10,"lease":"60s""#)? {
        scene.settle("bob", &delivery.delivery, "ack", "")?;
    }
    Ok(())
}

/// Two ask with the same id at once; each gets its own answer, and a repeat gets the same one.
fn same_id(scene: &mut Scene) -> anyhow::Result<()> {
    let address = scene.server.address().to_owned();
    let (ann, ben) = (scene.token("ann").to_owned(), scene.token("ben").to_owned());
    let ask = |from: &'static str, token: String| {
        let address = address.clone();
        thread::spawn(move || {
            Line::connect(&address)?.call("POST", "/v1/messages?wait=30s", &token, &question(from))
        })
    };
    let asking = [("ann", ask("ann", ann)), ("ben", ask("ben", ben))];
    for _ in 0..2 {
        let came = scene.one("bob", "60s")?;
        let from = came.text.strip_prefix("by ").unwrap_or_default().to_owned();
        let sent = reply(scene, &from, &came.id, &format!("for {from}"))?;
        ensure!(sent.status == 201, "replying: {sent}");
        reply(scene, &from, &came.id, &format!("twice for {from}"))?;
    }
    for (from, asked) in asking {
        let answer = asked.join().map_err(|_| anyhow::anyhow!("who asked panicked"))?.context("asking")?;
        ensure!(answer.status == 200, "{from}: {answer}");
        ensure!(answer.body_text().contains(&format!("\"for {from}\"")), "{from} got {answer}");
        let again = scene.call(from, "POST", "/v1/messages?wait=30s", &question(from))?;
        ensure!(again.body_text().contains(&format!("\"for {from}\"")), "{from} asked again and got {again}");
    }
    Ok(())
}

/// Who asked is gone when the answer comes: it is in the inbox then.
fn gone(scene: &mut Scene) -> anyhow::Result<()> {
    let mut line = Line::connect(scene.server.address())?;
    let document =
        r#"{"convoke":1,"native_id":"q-9","kind":"question","from":"ann","to":["bob"],"text":"gone"}"#;
    let (address, token, length) = (scene.server.address(), scene.token("ann"), document.len());
    let request = format!(
        "POST /v1/messages?wait=20s HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\
         Content-Length: {length}\r\n\r\n{document}"
    );
    line.write(request.as_bytes())?;
    let came = scene.one("bob", "60s")?;
    ensure!(came.text == "gone", "something else came: {}", came.json);
    drop(line);
    let sent = reply(scene, "ann", &came.id, "are you there")?;
    ensure!(sent.status == 201, "replying: {sent}");
    let id = sent.text("id").context("no id")?;
    // Replies to earlier questions may lie before it.
    loop {
        let came = scene.one("ann", "60s").context("the reply is lost")?;
        if came.id == id {
            break;
        }
        scene.settle("ann", &came.delivery, "ack", "")?;
    }
    Ok(())
}
