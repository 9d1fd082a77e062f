//! Clients that others wrote: `curl`, Python's `httpx` and `websockets`, and `schemathesis`, which makes requests up.
//!
//! Where they cannot be had the tests pass and say what they skipped.

use std::collections::HashMap;
use std::process::Command;

use crate::bus::Bus;
use crate::rounds::run;

#[test]
fn a_session_in_python() {
    run("python");
}

#[test]
fn requests_made_up_from_the_openapi_document() {
    run("openapi");
}

/// The first page that anybody reads tells how to talk to the bus: each call must do what it says.
#[test]
fn curl_as_the_readme_has_it() {
    if Command::new("curl").arg("--version").output().is_err() {
        println!("skipped: curl is not installed");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let bus = Bus::start(&folder.path().join("data"));
    let token = std::fs::read_to_string(folder.path().join("data/operator.token")).unwrap();
    let mut tokens =
        HashMap::from([("OPERATOR".to_owned(), format!("Authorization: Bearer {}", token.trim()))]);
    let calls = calls(&testkit::read(&testkit::root().join("README.md")));
    assert!(calls.len() >= 4, "the README has four calls: {calls:?}");
    for call in calls {
        let script = call.replace("localhost:7700", &bus.address);
        let output = Command::new("sh").args(["-c", &script]).envs(&tokens).output().unwrap();
        let answer = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && answer.starts_with('{'), "{call}: {answer}");
        assert!(!answer.contains("\"status\":"), "{call} is refused: {answer}");
        // Who follows the page keeps the tokens that it is shown.
        let value = json::parse_str(&answer, json::Limits::DOCUMENT).unwrap();
        let text = |key| value.get(key).and_then(json::Value::as_str);
        if let (Some(agent), Some(token)) = (text("agent"), text("token")) {
            tokens.insert(agent.to_uppercase(), token.to_owned());
        }
        if call.contains("/take") {
            assert!(answer.contains("\"delivery\""), "nothing was taken: {answer}");
        }
    }
}

/// Finds the commands of a page that begin with `curl`; a backslash at the end goes on in the next line.
fn calls(page: &str) -> Vec<String> {
    let joined = page.replace("\\\n", " ");
    joined.lines().filter(|line| line.starts_with("curl ")).map(str::to_owned).collect()
}
