//! Counting the instructions of what is done for every document, without a server and without a network.

use std::hint::black_box;

use anyhow::{Context, ensure};
use dialect::{Name, Names};
use gateway::{Reading, SealKey};
use json::Limits;

use super::AREA;
use super::document::{Documents, Language, Recipients, Worth};
use super::socket::Sender;
use super::speech::Publish;
use crate::area::{Options, Outcome};
use crate::findings::{Finding, Sheet};
use crate::progress::progress;
use crate::valgrind;

/// What is counted, by its name on the command line.
const COUNTED: [(&str, &str); 2] =
    [(RECEIVE, "a document is read as the door reads it"), (SEND, "our client writes a frame")];
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
    let heading = "callgrind; the servers are other processes, whose instructions are not counted";
    let mut sheet = Sheet::new(vec![heading.to_owned()]);
    sheet.add("for every document", findings);
    print!("{}", sheet.render(&AREA, options));
    progress(format_args!("the profiles are in {}; see callgrind_annotate", folder.display()));
    Ok(Outcome::Agreed)
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
