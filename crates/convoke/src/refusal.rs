//! What the bus or the way to it refused, as words for people with a hint of what to do next.

use client::{ClientError, Problem};
use json::Value;

use crate::failure::Failure;
use crate::screen;

/// Findings of a bad document that are shown; the rest is counted.
const FINDINGS_MAX: usize = 10;

/// Turns an error of the client into a failure.
pub(crate) fn failure(error: &ClientError) -> Failure {
    match error {
        ClientError::Problem(problem) => refused(problem),
        ClientError::Unreachable { .. } => {
            Failure::wrong_use(chain(error)).hint("is the bus up? start it with `convoke up`")
        }
        ClientError::Broken { .. } => Failure::wrong_use(chain(error))
            .hint("whether it was done is not known; a repeat with the same id is safe"),
        ClientError::TimedOut { .. } => {
            Failure::wrong_use(chain(error)).hint("is the bus busy? `convoke doctor` looks")
        }
        ClientError::Url { .. } => {
            Failure::wrong_use(chain(error)).hint("write it like http://127.0.0.1:7700")
        }
        ClientError::Token => {
            Failure::wrong_use(chain(error)).hint("give the token as `convoke agent add` printed it")
        }
        ClientError::Tls { .. } => {
            Failure::wrong_use(chain(error)).hint("name a file of certificates with --ca")
        }
        ClientError::Answer { .. } => Failure::wrong_use(chain(error))
            .hint("is that a bus, and of this version? `convoke doctor` looks"),
        other => Failure::wrong_use(chain(other)),
    }
}

fn refused(problem: &Problem) -> Failure {
    let message = format!("{} [{}]", screen::line(&problem.detail), screen::line(&problem.code));
    let message = with_findings(message, problem);
    let failure = if problem.status == 400 || problem.status >= 500 && problem.status != 504 {
        Failure::wrong_use(message)
    } else {
        Failure::refused(message)
    };
    match hint(problem) {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

fn with_findings(mut message: String, problem: &Problem) -> String {
    let errors = problem.extra.get("errors").and_then(Value::as_array).unwrap_or_default();
    for error in errors.iter().take(FINDINGS_MAX) {
        let text = |key: &str| screen::line(error.get(key).and_then(Value::as_str).unwrap_or_default());
        let path = match text("path") {
            path if path.is_empty() => "(document)".to_owned(),
            path => path,
        };
        message.push_str(&format!("\n  {path}: {} [{}]", text("message"), text("code")));
    }
    if errors.len() > FINDINGS_MAX {
        message.push_str(&format!("\n  and {} more", errors.len() - FINDINGS_MAX));
    }
    message
}

fn hint(problem: &Problem) -> Option<String> {
    let hint = match problem.code.as_str() {
        "unknown_agent" => "`convoke who` lists who is there".to_owned(),
        "unknown_recipient" => {
            let names: Vec<String> = problem.texts("suggestions").into_iter().map(screen::line).collect();
            // The bus may have said so itself.
            if names.is_empty() || problem.detail.contains("did you mean") {
                "`convoke who` lists who is there; --hold keeps a message for those to come".to_owned()
            } else {
                format!("did you mean {}?", names.join(" or "))
            }
        }
        "no_token" => "set CONVOKE_AGENT, or give the token with --token or CONVOKE_TOKEN".to_owned(),
        "not_yours" => "speak as the agent it belongs to: --from NAME or CONVOKE_AGENT".to_owned(),
        "lease_lost" => "its lease was over and it was handed out again; take it anew".to_owned(),
        "unknown_delivery" => {
            "deliveries are those that `convoke inbox --take` printed, not ids of messages".to_owned()
        }
        "no_reply" | "undeliverable" => {
            let id = problem.extra.get("receipt").and_then(|receipt| receipt.get("id"));
            match id.and_then(Value::as_str) {
                Some(id) => format!("`convoke receipt {}` tells what became of it", screen::line(id)),
                None => "`convoke receipt ID` tells what became of it".to_owned(),
            }
        }
        "invalid" | "unknown_dialect" => "check it with `convoke validate --dialect D FILE`".to_owned(),
        "queue_full" | "bus_full" | "too_many" => match problem.retry_after {
            Some(after) => format!("try again in {} s", after.as_secs()),
            None => "try again later".to_owned(),
        },
        // For the rest the bus knows best.
        _ => return problem.extra.get("hint").and_then(Value::as_str).map(screen::line),
    };
    Some(hint)
}

/// The whole chain of causes in one line.
fn chain(error: &dyn std::error::Error) -> String {
    let mut message = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        message.push_str(&format!(": {cause}"));
        source = cause.source();
    }
    // The number that the operating system gives a reason helps nobody.
    screen::line(message.split(" (os error").next().unwrap_or(&message))
}
