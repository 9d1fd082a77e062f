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
/// A function of the thread that writes the history.
const HISTORY: &str = "history::worker";
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
    let count = server_instructions().context("counting the instructions of the server")?;
    findings.push(Finding::single(
        "the server takes a message of T4, history left out",
        "instructions/message",
        count,
    ));
    let heading = "callgrind; of the server every thread but the history's, of which one runs at a time";
    let mut sheet = Sheet::new(vec![heading.to_owned()]);
    sheet.add("for every document", findings);
    print!("{}", sheet.render(&AREA, options));
    progress(format_args!("the profiles are in {}; see callgrind_annotate", folder.display()));
    Ok(Outcome::Agreed)
}

/// Counts what our server does for a message under the load of T4: what a long run takes more than a short one.
fn server_instructions() -> anyhow::Result<f64> {
    let [few, many] = SERVER_PASSES;
    let short = server_total(few)?;
    let long = server_total(many)?;
    Ok(long.saturating_sub(short) as f64 / ((many - few) * CONNECTIONS as u64) as f64)
}

/// Publishes so many documents on each connection of a fresh server, and returns how many instructions its threads took
/// but for the history's, which follows behind.
fn server_total(passes: u64) -> anyhow::Result<u64> {
    let scratch = Scratch::make()?;
    let tools = Tools::find()?;
    let mut server = Server::start(Kind::OursCounted, &tools, scratch.folder("server")?)?;
    server.prepare()?;
    let lines = Lines::new()?;
    let data = (Worth::AtLeastOnce, Recipients::All);
    let mut opened = Side::Ours.open(&lines, &server, CONNECTIONS, 1, data)?;
    lines.publish(&mut opened, WINDOW, Pace::Passes(passes))?;
    drop(opened);
    let profiles = server.end_counted()?;
    let of_workers = profiles.iter().filter(|profile| !profile.contains(HISTORY));
    Ok(of_workers.filter_map(|profile| valgrind::total(profile)).sum())
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
