//! The bus itself, asked as its clients ask it.

use std::fs;
use std::time::Duration;

use client::{Client, ClientError, ClientOptions, Me, Token};
use json::Value;
use message::Timestamp;

use super::Patient;
use super::finding::Finding;
use crate::commands::up::OPERATOR_TOKEN;
use crate::failure::chain;

/// How long the bus may take to answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
/// By how much clocks may differ before lifetimes count from acceptance.
const SKEW_MAX: Duration = Duration::from_secs(5);
/// How many records the history may be behind before somebody should know.
const LAG_MAX: i64 = 100_000;

pub(super) async fn check(patient: &Patient) -> Vec<Finding> {
    let url = match (&patient.url, &patient.running) {
        (Some(url), _) => url.clone(),
        (None, Some(running)) if patient.is_running() => running.url.clone(),
        (None, _) => return Vec::new(),
    };
    let token = fs::read_to_string(patient.data.join(OPERATOR_TOKEN)).ok();
    let mut options = ClientOptions::new(url.clone());
    options.token = token.map(|token| Token::new(token.trim()));
    options.ca_file.clone_from(&patient.ca);
    options.answer_timeout = ANSWER_TIMEOUT;
    let client = match Client::with(options) {
        Ok(client) => client,
        Err(error) => return vec![unreachable(&url, &error)],
    };
    match client.ready().await {
        Ok(readiness) if readiness.ready => {}
        Ok(readiness) => {
            let detail = readiness.detail.unwrap_or_default();
            return vec![
                Finding::odd("server", format!("{url} is {}: {detail}", readiness.state))
                    .mend("wait, or make room if it is full"),
            ];
        }
        Err(error) => return vec![unreachable(&url, &error)],
    }
    match client.me().await {
        Ok(me) => {
            let mut findings =
                vec![Finding::good("server", format!("{url} answers, and takes the operator's token"))];
            findings.extend(version(&me));
            findings.extend(skew(&me, patient.now));
            findings.extend(counts(&client).await);
            findings
        }
        Err(error) if error.problem().is_some_and(|problem| problem.status == 401) => {
            let what = format!("{url} answers, and refuses the operator's token of this folder");
            vec![Finding::bad("server", what).mend("the bus was started before the token was made anew, or is another's: stop it and start it here")]
        }
        Err(error) => vec![unreachable(&url, &error)],
    }
}

fn unreachable(url: &str, error: &ClientError) -> Finding {
    Finding::bad("server", format!("{url} does not answer: {}", chain(error)))
        .mend("look at its log; a certificate of your own is trusted with --ca FILE")
}

fn version(me: &Me) -> Option<Finding> {
    let (theirs, ours) = (me.version.as_deref()?, env!("CARGO_PKG_VERSION"));
    let what = format!("the bus has version {theirs}, and this program {ours}");
    (theirs != ours).then(|| Finding::odd("server", what).mend("restart the bus to run the new version"))
}

fn skew(me: &Me, now: Timestamp) -> Option<Finding> {
    let theirs: Timestamp = me.time.as_deref()?.parse().ok()?;
    let apart = now.duration_since(theirs).or_else(|| theirs.duration_since(now))?;
    Some(if apart > SKEW_MAX {
        Finding::odd("clock", format!("of the bus differs by {} s from this machine's", apart.as_secs()))
            .mend("set both by NTP; until then lifetimes count from acceptance")
    } else {
        Finding::good("clock", "of the bus is this machine's")
    })
}

async fn counts(client: &Client) -> Vec<Finding> {
    // What a bus does not tell is not judged.
    let Ok(counts) = client.bus().await else { return Vec::new() };
    let mut findings = Vec::new();
    if counts.json.pointer("/disk/full").and_then(Value::as_bool) == Some(true) {
        let finding = Finding::bad("disk", "the bus takes nothing new: its disk is full");
        findings.push(finding.mend("make room; the bus goes on by itself when there is some"));
    }
    if let Some(trouble) = counts.json.pointer("/history/trouble").and_then(Value::as_str) {
        findings.push(
            Finding::bad("history", format!("does not go on: {trouble}"))
                .mend("look at the disk; `convoke doctor` on the stopped bus says more"),
        );
    }
    let first = counts.json.pointer("/log/first").and_then(Value::as_integer).unwrap_or(1);
    if first > 1 {
        let what =
            format!("begins at {first}: what was before, only the history still knows; back it up too");
        findings.push(Finding::good("log", what));
    }
    let lag = counts.json.pointer("/history/lag").and_then(Value::as_integer).unwrap_or_default();
    if lag > LAG_MAX {
        let finding = Finding::odd("history", format!("is {lag} records behind the log"));
        findings.push(finding.mend("nothing: it catches up; searches miss the newest until then"));
    }
    findings
}
