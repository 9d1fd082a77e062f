//! Counting the instructions of what is done for every document, without a server and without a network.

use std::hint::black_box;

use anyhow::{Context, ensure};
use dialect::{Name, Names};
use gateway::{Reading, SealKey};
use json::Limits;

use super::AREA;
use super::document::{Documents, Language, Recipients, Worth};
use super::drive::Lines;
use super::server::{Kind, Server};
use super::side::Side;
use super::socket::Sender;
use super::speech::Publish;
use super::tools::Tools;
use crate::area::{Options, Outcome};
use crate::figures::Pace;
use crate::findings::{Finding, Sheet};
use crate::progress::progress;
use crate::scratch::Scratch;
use crate::valgrind;

/// What is counted, by its name on the command line.
const COUNTED: [(&str, &str); 2] =
    [(RECEIVE, "a document is read as the door reads it"), (SEND, "our client writes a frame")];
/// The load of T4: connections, and unanswered documents on each.
const CONNECTIONS: usize = 4;
const WINDOW: u64 = 64;
/// Documents on each connection of the short and the long run of a server.
const SERVER_PASSES: [u64; 2] = [250, 2_250];
/// Threads that follow behind: the history, and maintenance, which takes a snapshot when the server stops.
const LEFT_OUT: [&str; 2] = ["history::worker", "Maintenance<"];
/// Threads that are counted, each with a name that only its profile has; the first that fits counts.
const THREADS: [(&str, &str); 3] = [
    ("the writer decides a message of T4", "Decider::transact"),
    ("workers read it and write its receipt", "gateway_http::socket"),
    ("the log's thread appends it", "Shared<L>::append"),
];
const RECEIVE: &str = "receive";
const SEND: &str = "send";

/// Counts instructions a document.
pub(super) fn count(options: &Options) -> anyhow::Result<Outcome> {
    if !valgrind::is_installed() {
        progress("skipped: valgrind is not installed, so no instructions are counted");
        return Ok(Outcome::Agreed);
    }
    let folder = setup::tools_folder().join("callgrind");
    let mut findings = Vec::new();
    for (name, title) in COUNTED {
        progress(format_args!("counting the instructions of {name}"));
        let count = valgrind::instructions_per_pass(AREA.name, name, &folder)?;
        findings.push(Finding::single(title, "instructions/message", count));
    }
    progress("counting the instructions of the server under the load of T4");
    for (title, count) in server_instructions().context("counting the instructions of the server")? {
        findings.push(Finding::single(title, "instructions/message", count));
    }
    let heading = "callgrind; the server's threads take turns, history and maintenance are left out";
    let mut sheet = Sheet::new(vec![heading.to_owned()]);
    sheet.add("for every document", findings);
    print!("{}", sheet.render(&AREA, options));
    progress(format_args!("the profiles are in {}; see callgrind_annotate", folder.display()));
    Ok(Outcome::Agreed)
}

/// Counts what the threads of our server do for a message under the load of T4: what a long run takes more than a short
/// one.
fn server_instructions() -> anyhow::Result<Vec<(&'static str, f64)>> {
    let [few, many] = SERVER_PASSES;
    let (short, long) = (server_totals(few)?, server_totals(many)?);
    let messages = ((many - few) * CONNECTIONS as u64) as f64;
    let more = short.into_iter().zip(long).map(|(short, long)| long.saturating_sub(short) as f64 / messages);
    Ok(THREADS.iter().map(|(title, _)| *title).zip(more).collect())
}

/// Publishes so many documents on each connection of a fresh server, and returns how many instructions its threads took.
fn server_totals(passes: u64) -> anyhow::Result<[u64; THREADS.len()]> {
    let scratch = Scratch::make()?;
    let tools = Tools::find()?;
    let mut server = Server::start(Kind::OursCounted, &tools, scratch.folder("server")?)?;
    server.prepare()?;
    let lines = Lines::new()?;
    let data = (Worth::AtLeastOnce, Recipients::All);
    let mut opened = Side::Ours.open(&lines, &server, CONNECTIONS, 1, data)?;
    lines.publish(&mut opened, WINDOW, Pace::Passes(passes))?;
    drop(opened);
    let mut totals = [0; THREADS.len()];
    for profile in server.end_counted()? {
        let is_left_out = LEFT_OUT.iter().any(|function| profile.contains(function));
        let thread = THREADS.iter().position(|(_, function)| profile.contains(function));
        if let (Some(thread), Some(total), false) = (thread, valgrind::total(&profile), is_left_out) {
            totals[thread] += total;
        }
    }
    Ok(totals)
}

/// Does one of them so often; false if there is none of that name.
pub(super) fn work(what: &str, passes: u64) -> anyhow::Result<bool> {
    let mut documents = Documents::new(0, 0, Language::Native(Worth::AtLeastOnce), Recipients::All);
    match what {
        RECEIVE => receive(&mut documents, passes)?,
        SEND => send(&mut documents, passes),
        _ => return Ok(false),
    }
    Ok(true)
}

fn receive(documents: &mut Documents, passes: u64) -> anyhow::Result<()> {
    let (names, seal) = (Names::default(), SealKey::new().context("making a key")?);
    let lexicons = dialect_comms::catalog();
    let reading = Reading { names: &names, seal: &seal, limits: Limits::DOCUMENT, trace: None, lexicons };
    for _ in 0..passes {
        let received = gateway::receive(black_box(documents.next()), Some(Name::Convoke), reading);
        ensure!(black_box(received).is_ok(), "our own document was refused");
    }
    Ok(())
}

fn send(documents: &mut Documents, passes: u64) {
    let (mut sender, mut out) = (Sender::new(), Vec::new());
    for _ in 0..passes {
        out.clear();
        sender.publish(documents.next(), &mut out);
        black_box(&out);
    }
}
