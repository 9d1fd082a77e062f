//! Commands that answer, fail, hang, flood, die and tell secrets.

use std::time::Duration;

use rustix::process::{Pid, test_kill_process};

use super::script;
use crate::{Environment, Invocation, InvocationError, PromptBy};

async fn run(invocation: &Invocation, prompt: &str) -> Result<String, InvocationError> {
    invocation.run(prompt, async {}).await
}

#[tokio::test]
async fn a_prompt_is_given_in_three_ways_and_never_by_a_shell() {
    let odd = "it's $(touch evil) `id` \"quoted\" ; echo no\n-n --help\n";
    let by = |prompt_by, text: &str| Invocation { prompt_by, ..script(text) };
    for invocation in [by(PromptBy::Stdin, "cat"), by(PromptBy::File, "cat \"$0\"")] {
        assert_eq!(run(&invocation, odd).await.unwrap(), odd.trim());
    }
    let by_argument = by(PromptBy::Argument, "printf %s \"$0\"");
    assert_eq!(run(&by_argument, odd).await.unwrap(), odd.trim());
    let placed = Invocation {
        argv: ["printf", "%s", "<", "{prompt}", ">", "x{prompt}"].map(str::to_owned).to_vec(),
        ..by(PromptBy::Argument, "")
    };
    assert_eq!(run(&placed, "p q").await.unwrap(), "<p q>x{prompt}");
    let long = "x".repeat(200 << 10);
    assert_eq!(run(&by_argument, &long).await.unwrap_err().code(), "prompt_too_long");
}

#[tokio::test]
async fn the_file_of_a_prompt_is_private_and_goes_with_the_command() {
    let invocation = Invocation { prompt_by: PromptBy::File, ..script("stat -c %a \"$0\"; echo \"$0\"") };
    let answer = run(&invocation, "p").await.unwrap();
    let (mode, path) = answer.split_once('\n').unwrap();
    assert_eq!(mode, "600");
    assert!(!std::path::Path::new(path).exists());
}

#[tokio::test]
async fn a_command_that_fails_says_why() {
    let failed = run(&script("echo half; echo 'no key' >&2; exit 3"), "").await.unwrap_err();
    assert_eq!(failed.code(), "failed");
    assert_eq!(failed.detail(), "it ended with exit status: 3; it said: no key");
    let dead = run(&script("kill -9 $$"), "").await.unwrap_err();
    assert_eq!((dead.code(), dead.detail().as_str()), ("failed", "it ended with signal: 9 (SIGKILL)"));
    let missing = Invocation { argv: vec!["/no/such/program".to_owned()], ..script("") };
    assert_eq!(run(&missing, "").await.unwrap_err().code(), "cannot_start");
    assert_eq!(run(&script("true"), "").await.unwrap_err().code(), "no_answer");
    let nothing = Invocation { argv: Vec::new(), ..script("") };
    assert_eq!(run(&nothing, "").await.unwrap_err().code(), "cannot_start");
}

#[tokio::test]
async fn a_command_that_hangs_is_ended_with_all_that_it_started() {
    let text = "trap '' TERM; sleep 1000 & echo $! >&2; echo $$ >&2; cat >/dev/null; sleep 1000";
    let hanging = Invocation { timeout: Duration::from_millis(300), ..script(text) };
    let error = run(&hanging, &"x".repeat(1 << 20)).await.unwrap_err();
    assert_eq!(error.code(), "timed_out");
    let InvocationError::TimedOut { said, .. } = &error else { panic!("{error}") };
    let pids: Vec<i32> = said.lines().filter_map(|line| line.parse().ok()).collect();
    assert_eq!(pids.len(), 2, "{said}");
    for pid in pids {
        assert!(is_gone(pid).await, "{pid} still runs");
    }
}

#[tokio::test]
async fn what_a_command_leaves_running_ends_with_it() {
    let answer = run(&script("sleep 1000 & echo $!"), "").await.unwrap();
    assert!(is_gone(answer.parse().unwrap()).await);
}

#[tokio::test]
async fn whoever_lets_go_of_a_command_ends_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pid");
    let invocation = script(&format!("echo $$ > {}; sleep 1000", path.display()));
    let task = tokio::spawn(async move { run(&invocation, "").await });
    let pid = loop {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        if let Ok(pid) = text.trim().parse() {
            break pid;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    };
    task.abort();
    drop(task.await);
    assert!(is_gone(pid).await);
}

#[tokio::test]
async fn a_flood_is_cut_off() {
    let error = run(&script("yes"), "").await.unwrap_err();
    assert_eq!(error.code(), "flooded");
    let quiet = Invocation { output_bytes_max: 4, ..script("printf 1234") };
    assert_eq!(run(&quiet, "").await.unwrap(), "1234");
    let loud = Invocation { output_bytes_max: 4, ..script("printf 12345") };
    assert_eq!(run(&loud, "").await.unwrap_err().code(), "flooded");
    let errors = run(&script("yes oops | head -c 10000000 >&2; exit 1"), "").await.unwrap_err();
    assert!(errors.detail().len() < 20 << 10);
}

#[tokio::test]
async fn secrets_are_hidden_and_only_named_variables_are_given() {
    let variables =
        [("MY_API_KEY", "sk-0123456789"), ("OTHER_TOKEN", "tok-987654321"), ("PATH", "/usr/bin:/bin")];
    let variables = variables.map(|(name, value)| (name.into(), value.into()));
    let environment = Environment::choose(&["MY_API_KEY"], variables.into_iter());
    let invocation = Invocation {
        secrets: environment.secrets(),
        environment,
        ..script("env; echo $MY_API_KEY >&2; exit $CODE")
    };
    let mut good = invocation.clone();
    good.environment.set("CODE", "0");
    let answer = run(&good, "").await.unwrap();
    assert!(answer.contains("MY_API_KEY=[hidden]"), "{answer}");
    assert!(!answer.contains("sk-0123456789") && !answer.contains("OTHER_TOKEN"), "{answer}");
    let mut bad = invocation;
    bad.environment.set("CODE", "1");
    let error = run(&bad, "").await.unwrap_err();
    assert_eq!(error.detail(), "it ended with exit status: 1; it said: [hidden]");
    assert!(!format!("{:?}", bad.secrets).contains("sk-"));
}

#[tokio::test]
async fn the_prompt_counts_as_handed_over_when_it_was_read() {
    let (sender, receiver) = tokio::sync::oneshot::channel();
    let invocation = script("cat > /dev/null; cat; echo done");
    let answer = invocation.run("p", async move { sender.send(()).unwrap() }).await;
    assert_eq!(answer.unwrap(), "done");
    receiver.await.unwrap();
}

/// Waits until a process has ended: one that was killed may take a moment.
async fn is_gone(pid: i32) -> bool {
    for _ in 0..2_000 {
        let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let is_zombie = state.rsplit(") ").next().is_some_and(|rest| rest.starts_with('Z'));
        if is_zombie || test_kill_process(Pid::from_raw(pid).unwrap()).is_err() {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    false
}
