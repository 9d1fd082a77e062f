//! The examples in README.md and `docs/`: each shell block that is followed by a text block is run, and must
//! print that text.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::session::Session;

/// A shell block with what it is said to print.
struct Example {
    script: String,
    printed: String,
}

#[test]
fn examples_print_what_the_docs_say() {
    let mut ran = 0;
    for page in pages() {
        let session = Session::new();
        for Example { script, printed } in examples(&testkit::read(&page)) {
            assert_eq!(run(&session, &script).trim_end(), printed.trim_end(), "{}: {script}", page.display());
            ran += 1;
        }
    }
    assert!(ran >= 2, "the README alone has two examples; found {ran}");
}

fn pages() -> Vec<PathBuf> {
    let root = testkit::root();
    let mut pages = vec![root.join("README.md")];
    for entry in std::fs::read_dir(root.join("docs")).unwrap() {
        pages.push(entry.unwrap().path());
    }
    pages.retain(|page| page.extension().is_some_and(|extension| extension == "md"));
    pages.sort();
    pages
}

fn examples(page: &str) -> Vec<Example> {
    let mut examples = Vec::new();
    let mut script: Option<String> = None;
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let mut block =
            || lines.by_ref().take_while(|line| *line != "```").map(|line| format!("{line}\n")).collect();
        match line {
            "```sh" => script = Some(block()),
            "```text" => {
                let printed = block();
                if let Some(script) = script.take() {
                    examples.push(Example { script, printed });
                }
            }
            "" => {}
            _ => script = None,
        }
    }
    examples
}

fn run(session: &Session, script: &str) -> String {
    let binary = Path::new(env!("CARGO_BIN_EXE_convoke")).parent().unwrap();
    let script = script.replace("cargo run --release --quiet --", "convoke");
    let output = Command::new("bash")
        .args(["-c", &format!("exec 2>&1\n{script}")])
        .current_dir(session.path())
        .env("PATH", format!("{}:{}:{}", binary.display(), nats(), std::env::var("PATH").unwrap()))
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the folder of nats-server, which some examples start.
fn nats() -> String {
    let program = setup::nats::program(&setup::tools_folder()).unwrap();
    program.parent().unwrap().display().to_string()
}
