//! `setup`: starts the reference PDS, or writes down what it answers.

#![allow(clippy::print_stdout, reason = "a command-line tool answers on stdout")]

use std::io::Read;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;
use setup::pds::{Client, Pds};
use setup::{SetupError, tools_folder};

const HELP: &str = "\
usage: setup pds [NAME…]     starts the reference PDS with an account for each name, says where it is in one line
                             of JSON, and ends when the standard input does
       setup record          makes the calls of tests/pds/client/sequence.json to the PDS and writes what came back
                             to tests/pds/answers.json, with which tests compare

What is missing is installed first, which takes some minutes: Node.js by pip, packages by npm.
";

/// Whose repos the sequence is about.
const NAMES: [&str; 2] = ["ann", "bob"];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let done = match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["pds", names @ ..] => serve(names),
        ["record"] => record(),
        _ => {
            eprint!("{HELP}");
            return ExitCode::from(2);
        }
    };
    let Err(error) = done else { return ExitCode::SUCCESS };
    eprintln!("error: {error:#}");
    if let Some(setup) = error.downcast_ref::<SetupError>() {
        eprintln!("hint: {}", setup.hint);
    }
    ExitCode::from(1)
}

fn serve(names: &[&str]) -> anyhow::Result<()> {
    let pds = Pds::start(&tools_folder(), &std::env::temp_dir(), names)?;
    print!("{}", pds.ready);
    std::io::stdin().read_to_end(&mut Vec::new()).context("reading the standard input")?;
    Ok(())
}

fn record() -> anyhow::Result<()> {
    let tools = tools_folder();
    let client = Client::install(&tools)?;
    let pds = Pds::start(&tools, &std::env::temp_dir(), &NAMES)?;
    let answers = client.drive(&pds.ready)?;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/pds/answers.json");
    std::fs::write(&path, answers).with_context(|| format!("writing {}", path.display()))?;
    println!("the answers of @atproto/pds {} are in tests/pds/answers.json", pds.version);
    Ok(())
}
