//! Load: clients of all kinds, each in a thread of its own, that go on when the server comes back.

mod asker;
pub(crate) mod door;
pub(crate) mod follower;
mod inbox;
mod pipeline;
mod plain;
mod reader;
mod sender;
mod taker;

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Scope;

use json::Value;

use crate::history::{Event, Guarantee, Handing, History, Letter, Moment, Sighting};
use crate::random::Dice;
use crate::run::Load;

use door::Door;

/// Who sends: two over HTTP, one over a socket.
const SENDERS: [&str; 2] = ["ann", "ben"];
const PIPELINER: &str = "cyd";
/// Who gets: over HTTP, over a socket, over both.
const RECIPIENTS: [&str; 3] = ["rex", "sue", "tom"];
const FALLBACK: &str = "uma";
/// Who asks and waits, and who answers.
const ASKER: &str = "ask";
const ANSWERER: &str = "ans";

/// Who sends through other doors, in their languages.
const FOREIGN_SENDERS: [(&str, Door); 4] =
    [("dot", Door::Bus), ("eve", Door::Coord), ("fay", Door::Wire), (RECORDER, Door::Xrpc)];
/// Whose letters are records.
pub(crate) const RECORDER: &str = "gus";
/// Who gets through other doors: over their sockets, and by looking into an inbox.
const PLAIN: [(&str, &str); 2] = [("vic", "/bus?agent_id=vic"), ("wes", "/coord/agents/wes")];
const LOOKER: &str = "xan";

/// Who is there at the native door.
const NATIVE: [&str; 9] = [
    SENDERS[0],
    SENDERS[1],
    PIPELINER,
    RECIPIENTS[0],
    RECIPIENTS[1],
    RECIPIENTS[2],
    FALLBACK,
    ASKER,
    ANSWERER,
];

/// What stands before the name of a letter in what it says.
const MARK: &str = "letter:";

/// What the name of a long letter ends with, and how long that is.
const LONG: &str = "-long";
const LONG_BYTES: usize = 300_000;

/// The lease of everything that is taken: short, since those who forget must not hold up the end.
const LEASE: &str = "1s";

/// What all clients share.
pub(crate) struct World {
    pub(crate) load: Load,
    pub(crate) tokens: HashMap<String, String>,
    pub(crate) history: History,
    pub(crate) bookmark: follower::Bookmark,
    pub(crate) gate: Gate,
}

/// Who takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cast {
    /// One client that sends one letter after the other; nobody takes before the end.
    OneSender,
    /// Clients of the native door.
    Native,
    /// Clients of every door.
    Everybody,
}

/// How long letters are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Length {
    /// Most are short.
    Mixed,
    /// Each fills a good part of a segment.
    Long,
}

/// Where the server is: clients whose connection broke wait here for the next one.
#[derive(Default)]
pub(crate) struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    generation: u64,
    address: String,
    /// Senders that have sent all they had for this server, or broke off.
    ready_senders: usize,
    is_over: bool,
}

/// A server that can be reached.
pub(crate) struct Opening {
    generation: u64,
    address: String,
}

/// What a recipient does with what it got.
enum Deed {
    Ack,
    Nack,
    NackForever,
    Forget,
}

/// Starts everybody.
pub(crate) fn spawn<'s>(scope: &'s Scope<'s, '_>, world: &'s World) {
    match world.load.cast {
        Cast::OneSender => spawn_senders(scope, world, &SENDERS[..1]),
        Cast::Native => spawn_native(scope, world),
        Cast::Everybody => {
            spawn_native(scope, world);
            spawn_foreign(scope, world);
        }
    }
}

fn spawn_senders<'s>(scope: &'s Scope<'s, '_>, world: &'s World, agents: &'static [&'static str]) {
    for (stream, agent) in (1..).zip(agents) {
        scope.spawn(move || sender::run(world, agent, Door::Native, world.dice(stream)));
    }
}

/// Starts those who come through the native door.
fn spawn_native<'s>(scope: &'s Scope<'s, '_>, world: &'s World) {
    spawn_senders(scope, world, &SENDERS);
    scope.spawn(|| pipeline::run(world, PIPELINER, world.dice(10)));
    for (stream, agent) in (20..).zip(["rex", "rex", "tom", FALLBACK, ANSWERER]) {
        scope.spawn(move || taker::run(world, agent, world.dice(stream)));
    }
    for (stream, agent) in (30..).zip(["sue", "tom"]) {
        scope.spawn(move || reader::run(world, agent, world.dice(stream)));
    }
    scope.spawn(|| asker::run(world, ASKER, world.dice(40)));
}

/// Starts those who come through other doors.
fn spawn_foreign<'s>(scope: &'s Scope<'s, '_>, world: &'s World) {
    for (stream, (agent, door)) in (50..).zip(FOREIGN_SENDERS) {
        scope.spawn(move || sender::run(world, agent, door, world.dice(stream)));
    }
    for (stream, (agent, path)) in (60..).zip(PLAIN) {
        scope.spawn(move || plain::run(world, agent, path, world.dice(stream)));
    }
    scope.spawn(|| inbox::run(world, LOOKER, world.dice(70)));
    scope.spawn(|| follower::run(world));
}

impl Cast {
    /// Returns everybody with the language that each speaks.
    pub(crate) fn agents(self) -> Vec<(&'static str, &'static str)> {
        let mut agents: Vec<_> = NATIVE.iter().map(|agent| (*agent, "convoke")).collect();
        match self {
            Cast::OneSender | Cast::Native => {}
            Cast::Everybody => {
                agents.extend([("dot", "bus"), ("eve", "coord"), ("fay", "wire"), (RECORDER, "comms")]);
                agents.extend([("vic", "bus"), ("wes", "coord"), (LOOKER, "wire")]);
            }
        }
        agents
    }

    /// Returns how many send a number of letters and are done then.
    fn sender_count(self) -> usize {
        match self {
            Cast::OneSender => 1,
            Cast::Native => SENDERS.len() + 1,
            Cast::Everybody => SENDERS.len() + 1 + FOREIGN_SENDERS.len(),
        }
    }

    /// Returns those to whom letters are sent.
    pub(crate) fn recipients(self) -> &'static [&'static str] {
        match self {
            Cast::OneSender | Cast::Native => &RECIPIENTS,
            Cast::Everybody => &["rex", "sue", "tom", "vic", "wes", LOOKER],
        }
    }
}

impl World {
    fn token(&self, agent: &str) -> &str {
        self.tokens.get(agent).map_or("", String::as_str)
    }

    fn dice(&self, stream: u64) -> Dice {
        Dice::new(self.load.seed, stream)
    }

    /// Tells whether every sender has sent its letters to the present server, or was cut off.
    pub(crate) fn has_sent_all(&self) -> bool {
        self.gate.lock().ready_senders >= self.load.cast.sender_count()
    }

    /// Runs a sender against each server that there is.
    fn send_to_each_server(&self, mut work: impl FnMut(&Opening) -> std::io::Result<()>) {
        self.with_each_server(|opening| {
            let sent = work(opening);
            self.gate.sender_is_ready(opening);
            sent
        });
    }

    /// Runs a client against each server that there is, one after the other; a connection that breaks is no failure.
    fn with_each_server(&self, mut work: impl FnMut(&Opening) -> std::io::Result<()>) {
        let mut seen = 0;
        while let Some(opening) = self.gate.next(seen) {
            seen = opening.generation;
            drop(work(&opening));
        }
    }

    /// Notes what came, and returns the name of the letter.
    pub(crate) fn sight(&self, agent: &str, delivery: &Value<'_>, asked: Moment) -> Option<String> {
        let text = |key: &str| delivery.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let inner = |key: &str| delivery.pointer(key).and_then(Value::as_str).unwrap_or_default();
        if inner("/document/from") == "system" && text("kind") == "error.report" {
            let id = inner("/document/data/message").to_owned();
            self.history.note(Event::Noticed { agent: agent.to_owned(), id });
            return None;
        }
        let document = delivery.get("document").map(Value::to_json).unwrap_or_default();
        let name = name_in(&document).unwrap_or_else(|| inner("/document/native_id")).to_owned();
        let attempt = delivery.get("attempt").and_then(Value::as_integer).unwrap_or(0);
        self.history.note(Event::Delivered(Sighting {
            delivery: text("delivery"),
            id: text("id"),
            agent: agent.to_owned(),
            handing: Handing::Attempt(u64::try_from(attempt).unwrap_or(0)),
            asked,
            is_whole: document.contains(&text_of(&name)),
            name: name.clone(),
        }));
        Some(name)
    }
}

impl Gate {
    /// Lets everybody know where the server is now.
    pub(crate) fn open(&self, address: &str) {
        let mut state = self.lock();
        state.generation += 1;
        state.ready_senders = 0;
        state.address = address.to_owned();
        self.changed.notify_all();
    }

    /// Sends everybody home.
    pub(crate) fn close(&self) {
        self.lock().is_over = true;
        self.changed.notify_all();
    }

    fn sender_is_ready(&self, opening: &Opening) {
        let mut state = self.lock();
        state.ready_senders += usize::from(state.generation == opening.generation);
    }

    /// Tells whether the server that was seen is not the one any more.
    fn is_over(&self, opening: &Opening) -> bool {
        let state = self.lock();
        state.is_over || state.generation != opening.generation
    }

    /// Waits for a server after the one that was seen; nothing when it is over.
    fn next(&self, seen: u64) -> Option<Opening> {
        let waiting = |state: &mut State| !state.is_over && state.generation <= seen;
        let state = self.changed.wait_while(self.lock(), waiting).unwrap_or_else(PoisonError::into_inner);
        let opening = Opening { generation: state.generation, address: state.address.clone() };
        (!state.is_over).then_some(opening)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes the next letter of a sender; `numbers` counts along each of its tasks.
fn write_letter(
    world: &World,
    (from, door): (&str, Door),
    number: u64,
    numbers: &mut HashMap<String, u64>,
    dice: &mut Dice,
) -> Letter {
    let is_native = door == Door::Native;
    let to = (*dice.pick(world.load.cast.recipients())).to_owned();
    let has_fallback = dice.percent(10) && is_native;
    let is_once = dice.percent(35) && !has_fallback && door.knows_at_most_once();
    let guarantee = if is_once { Guarantee::AtMostOnce } else { Guarantee::AtLeastOnce };
    let has_task = dice.percent(60) && !has_fallback && door.knows_tasks();
    let task = has_task.then(|| {
        let task = task_of(from, &to, dice.below(4));
        let next = numbers.entry(task.clone()).or_default();
        *next += 1;
        (task, *next)
    });
    Letter {
        name: match world.load.length {
            Length::Mixed => format!("{from}-{number}"),
            Length::Long => format!("{from}-{number}{LONG}"),
        },
        from: from.to_owned(),
        to,
        fallback: has_fallback.then(|| FALLBACK.to_owned()),
        task,
        guarantee,
        may_expire: dice.percent(4) && is_native,
        is_awaited: false,
        is_record: door == Door::Xrpc,
    }
}

/// Names a task of a sender and a recipient in a way that every dialect takes.
fn task_of(from: &str, to: &str, number: u64) -> String {
    let place = |byte: u8| u64::from(byte.to_ascii_lowercase().wrapping_sub(b'a'));
    let code = from.bytes().chain(to.bytes()).fold(0, |code, byte| code * 26 + place(byte));
    format!("0.0.{}", code * 10 + number)
}

/// Writes a letter as a document.
fn document(letter: &Letter, dice: &mut Dice) -> String {
    let priority = dice.pick(&["critical", "high", "normal", "low"]);
    let task = letter.task.as_ref().map(|(task, _)| format!(r#""task":"{task}","#)).unwrap_or_default();
    let guarantee = match letter.guarantee {
        Guarantee::AtLeastOnce => "at_least_once",
        Guarantee::AtMostOnce => "at_most_once",
    };
    let fallback = letter.fallback.as_ref();
    let fallback =
        fallback.map(|agent| format!(r#","retries":1,"fallback":["{agent}"]"#)).unwrap_or_default();
    let timeout = if letter.may_expire { r#","timeout":"300ms""# } else { "" };
    let Letter { name, from, to, .. } = letter;
    format!(
        r#"{{"convoke":1,"native_id":"{name}","kind":"note","from":"{from}","to":["{to}"],{task}"priority":"{priority}","text":"{}","delivery":{{"guarantee":"{guarantee}"{fallback}{timeout}}}}}"#,
        text_of(name)
    )
}

/// What a letter says: something that can be told from its name, sometimes long; unless it is meant to be long, never
/// longer than every door takes.
pub(crate) fn text_of(name: &str) -> String {
    if let Some(question) = name.strip_prefix("re-") {
        return crate::checker::answer_to(question);
    }
    let sum = name.bytes().fold(7_usize, |sum, byte| sum.wrapping_mul(31).wrapping_add(usize::from(byte)));
    let length = match sum % 10 {
        _ if name.ends_with(LONG) => LONG_BYTES,
        0 => sum % 9_000,
        _ => sum % 200,
    };
    format!("{MARK}{name}; {}", "x".repeat(length))
}

/// Finds the name of a letter in a document of any dialect: what it says travels everywhere.
pub(crate) fn name_in(document: &str) -> Option<&str> {
    document.split_once(MARK)?.1.split_once(';').map(|(name, _)| name)
}

/// Decides what to do with something that came.
fn deed(dice: &mut Dice) -> Deed {
    match dice.below(100) {
        0..86 => Deed::Ack,
        86..92 => Deed::Nack,
        92..95 => Deed::NackForever,
        _ => Deed::Forget,
    }
}
