//! Channel folders: files come and go in two roots while the server is killed; in the end each is accounted for.
//!
//! The writers are not ours: they write a file under another name and rename it, as a script would. Their messages are
//! dated long ago, so that nothing here is saved by what a bus remembers of the last day.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use json::Value;

use super::scene::Scene;
use super::{Saw, Stage};
use crate::clock;
use crate::random::Dice;
use crate::run::verify;
use crate::server::tells_of_panic;

const CHANNEL: &str = "team-a";
/// How long the server lives at most.
const LIFE_MS: (u64, u64) = (10, 400);
/// How long everything may take to arrive in the end.
const PATIENCE: Duration = Duration::from_secs(120);
/// Who writes files, and into which root.
const WRITERS: [(&str, usize); 3] = [("wanda", 0), ("will", 0), ("xena", 1)];

/// The two roots, and what was put into them by others than the bus.
struct Roots {
    paths: [PathBuf; 2],
}

/// What was written and sent.
#[derive(Default)]
struct Said {
    /// Posts of files: the id, with the root and the text.
    posts: BTreeMap<String, (usize, String)>,
    /// Files to one agent of the bus alone.
    direct: BTreeMap<String, usize>,
    /// Texts that the bus accepted for the channel, and for an agent that lives in the first root.
    accepted: BTreeSet<String>,
    accepted_direct: BTreeSet<String>,
}

pub(super) fn run(stage: &Stage) -> anyhow::Result<Saw> {
    let outer = tempfile::tempdir().context("making a folder")?;
    let roots = Roots { paths: ["left", "right"].map(|name| outer.path().join(name)) };
    for path in &roots.paths {
        fs::create_dir_all(path.join("channels").join(CHANNEL)).context("making a root")?;
    }
    let list = roots.paths.each_ref().map(|path| path.display().to_string()).join(",");
    let mut scene = Scene::with(stage, &["ann"], |launch| {
        // Who is killed this often is on its way with the same letter many times; that does not make it poison.
        launch.set("CHANNELS_ROOTS", &list).set("CHANNELS_POLL", "20ms").set("DELIVERY_RETRIES", "100")
    })?;
    let files_max = stage.size.pick(100, 3_000);
    let is_over = AtomicBool::new(false);
    let said = thread::scope(|scope| {
        let writers: Vec<_> = WRITERS
            .iter()
            .enumerate()
            .map(|(number, (agent, root))| {
                let (roots, is_over) = (&roots, &is_over);
                let dice = Dice::new(stage.seed, 100 + number as u64);
                scope.spawn(move || write_files(roots, *root, agent, files_max, dice, is_over))
            })
            .collect();
        let mut said = Said::default();
        let sent = send_and_kill(stage, &mut scene, &mut said);
        is_over.store(true, Ordering::Release);
        for writer in writers {
            let wrote = writer.join().map_err(|_| anyhow::anyhow!("a writer panicked"))??;
            said.posts.extend(wrote.posts);
            said.direct.extend(wrote.direct);
        }
        sent.map(|()| said)
    })?;
    account(&mut scene, &roots, &said)?;
    // Once more: what is settled stays so.
    scene.kill_and_start(|| {})?;
    account(&mut scene, &roots, &said)?;
    let log = scene.server.log_text();
    ensure!(!tells_of_panic(&log), "the server panicked: {log}");
    scene.server.kill()?;
    verify(&scene.launch)?;
    Ok(Saw::This(format!(
        "{} kills; {} files became messages, {} messages files, each once",
        kills(stage),
        said.posts.len() + said.direct.len(),
        said.accepted.len() + said.accepted_direct.len()
    )))
}

fn kills(stage: &Stage) -> usize {
    stage.size.pick(4, 60)
}

/// Sends over HTTP to the channel and to one who lives in a folder, and kills the server again and again.
fn send_and_kill(stage: &Stage, scene: &mut Scene, said: &mut Said) -> anyhow::Result<()> {
    let mut dice = Dice::new(stage.seed, 1);
    let mut number = 0;
    for _ in 0..kills(stage) {
        let (begun, life) = (clock::now(), Duration::from_millis(dice.range(LIFE_MS.0, LIFE_MS.1)));
        while begun.elapsed() < life {
            number += 1;
            let text = format!("bus-{number}-end");
            let is_direct =
                dice.percent(30) && scene.call("human", "GET", "/v1/agents/wanda", "")?.status == 200;
            let to = if is_direct { "wanda" } else { "channel:team-a" };
            let sent = scene.send("ann", to, &text, r#","thread":"team-a""#)?;
            ensure!(sent.status == 201, "sending to {to}: {sent}");
            if is_direct {
                said.accepted_direct.insert(text)
            } else {
                said.accepted.insert(text)
            };
        }
        scene.kill_and_start(|| {})?;
    }
    Ok(())
}

/// Writes files as a script does, until it is over.
fn write_files(
    roots: &Roots,
    root: usize,
    agent: &str,
    files_max: usize,
    mut dice: Dice,
    is_over: &AtomicBool,
) -> anyhow::Result<Said> {
    let mut said = Said::default();
    let folder = roots.channel(root);
    for number in 0..files_max {
        if is_over.load(Ordering::Acquire) {
            break;
        }
        let (minute, second) = (number / 60 % 60, number % 60);
        let id = format!("msg-20250101-10{minute:02}{second:02}-{agent}-{number:04x}");
        let text = format!("file-{agent}-{number}-end");
        let is_direct = dice.percent(20);
        let to = if is_direct { "ann" } else { "all" };
        let document = format!(
            r#"{{"id":"{id}","timestamp":"2025-01-01T10:{minute:02}:{second:02}.000Z","session_id":"{CHANNEL}","from":"{agent}","to":"{to}","type":"chat","content":{{"text":"{text}"}}}}"#
        );
        let unfinished = folder.join(format!(".{id}.tmp"));
        fs::write(&unfinished, document).context("writing a file")?;
        fs::rename(&unfinished, folder.join(format!("{id}.json"))).context("naming a file")?;
        if is_direct {
            said.direct.insert(id, root);
        } else {
            said.posts.insert(id, (root, text));
        }
        // How often somebody writes is part of the plan; nothing is waited for.
        thread::sleep(Duration::from_millis(dice.range(1, 20)));
    }
    Ok(said)
}

/// Waits until everything has arrived, and checks that nothing came twice and nothing is there that nobody wrote.
fn account(scene: &mut Scene, roots: &Roots, said: &Said) -> anyhow::Result<()> {
    let begun = clock::now();
    loop {
        match accounted(scene, roots, said)? {
            None => return Ok(()),
            Some(missing) if begun.elapsed() > PATIENCE => {
                bail!("after {} s: {missing}", PATIENCE.as_secs());
            }
            // Nothing is taken; this passes the time.
            Some(_) => drop(scene.take("human", r#""wait":"50ms""#)?),
        }
    }
}

/// Returns what has not arrived yet; fails for what is wrong whatever comes.
fn accounted(scene: &mut Scene, roots: &Roots, said: &Said) -> anyhow::Result<Option<String>> {
    // What the bus wrote itself must not look like somebody's forgery to it.
    let problems = scene.call("human", "GET", "/v1/channels/problems", "")?;
    ensure!(problems.number("/total") == Some(0), "files were refused: {problems}");
    let messages = messages(scene)?;
    for id in said.posts.keys().chain(said.direct.keys()) {
        match messages.get(id) {
            None => return Ok(Some(format!("{id} is not on the bus"))),
            Some(1) => {}
            Some(times) => bail!("{id} is {times} times on the bus"),
        }
    }
    let on_bus: usize = messages.values().sum();
    let sent = said.accepted.len() + said.accepted_direct.len();
    let expected = said.posts.len() + said.direct.len() + sent;
    ensure!(on_bus == expected, "{on_bus} messages are on the bus, and {expected} were sent");
    for root in 0..roots.paths.len() {
        let texts = roots.texts(root)?;
        let posts = said.posts.values().map(|(_, text)| text);
        let direct = said.accepted_direct.iter().filter(|_| root == 0);
        for text in posts.chain(&said.accepted).chain(direct) {
            match texts.get(text) {
                None => return Ok(Some(format!("{text} is no file in {}", roots.paths[root].display()))),
                Some(1) => {}
                Some(times) => bail!("{text} is in {times} files"),
            }
        }
        let own = said.direct.values().filter(|of| **of == root).count();
        let direct = if root == 0 { said.accepted_direct.len() } else { 0 };
        let expected = said.posts.len() + said.accepted.len() + own + direct;
        let count: usize = texts.values().sum();
        ensure!(count == expected, "{count} files where {expected} belong");
    }
    for (id, (root, _)) in &said.posts {
        let [here, there] = [*root, 1 - *root].map(|root| roots.channel(root).join(format!("{id}.json")));
        ensure!(fs::read(here)? == fs::read(there)?, "{id} differs between the roots");
    }
    Ok(None)
}

/// Counts messages by the ids of their senders; those without one have their own.
fn messages(scene: &mut Scene) -> anyhow::Result<BTreeMap<String, usize>> {
    let (mut messages, mut after) = (BTreeMap::new(), 0);
    loop {
        let page = scene.call("human", "GET", &format!("/v1/messages?limit=500&after={after}"), "")?;
        ensure!(page.status == 200, "looking back: {page}");
        let value = page.json().context("no JSON")?;
        for row in value.get("messages").and_then(Value::as_array).unwrap_or_default() {
            let text = |key: &str| row.get(key).and_then(Value::as_str);
            ensure!(text("from") != Some("system"), "the bus gave something up: {}", row.to_json());
            let id = text("native_id").or_else(|| text("id")).unwrap_or_default().to_owned();
            *messages.entry(id).or_insert(0) += 1;
        }
        match value.get("next").and_then(Value::as_integer) {
            Some(next) => after = next,
            None => return Ok(messages),
        }
    }
}

impl Roots {
    fn channel(&self, root: usize) -> PathBuf {
        let path: &Path = &self.paths[root];
        path.join("channels").join(CHANNEL)
    }

    /// Counts the messages of a root by what they say; each must be whole.
    fn texts(&self, root: usize) -> anyhow::Result<BTreeMap<String, usize>> {
        let mut texts = BTreeMap::new();
        for entry in fs::read_dir(self.channel(root)).context("listing a channel")? {
            let entry = entry.context("listing a channel")?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if !name.starts_with("msg-") {
                continue;
            }
            let text = fs::read_to_string(entry.path()).context("reading a file")?;
            let Ok(document) = json::parse_str(&text, json::Limits::DOCUMENT) else {
                bail!("{name} is not whole: {text}");
            };
            let said = document.pointer("/content/text").and_then(Value::as_str).unwrap_or_default();
            *texts.entry(said.to_owned()).or_insert(0) += 1;
        }
        Ok(texts)
    }
}
