//! The script send-message, and the one that ends in `.py`: a message into a root, and where it lies.

use channel_root::{Draft, Root};

use super::{mirror, post};
use crate::cli::channel::SendMessageArgs;
use crate::failure::{Answer, Failure};
use crate::output::Output;

/// Who is a recipient by standing in front of what is said.
const NAMES: [&str; 3] = ["all", "human", "supervisor"];
/// Whose names have a number behind them.
const ROLES: [&str; 8] = ["claude", "codex", "gemini", "ha-mgr", "bags", "qc", "docs", "triage"];

pub(super) fn run(root: &Root, args: &SendMessageArgs) -> Result<Answer, Failure> {
    let text = args.text.clone().unwrap_or_else(|| args.words.join(" "));
    let to = args.to.clone().or_else(|| named_first(&text)).unwrap_or_else(|| "all".to_owned());
    let draft = Draft {
        kind: args.kind.clone(),
        code: args.code.clone(),
        in_reply_to: args.in_reply_to.clone(),
        ..Draft::new(args.agent.as_str(), to, text)
    };
    let posted = post::write(root, &args.channel, &draft)?;
    let ack = mirror::publish(root, &args.channel, &posted, &args.nats)?;
    let mut output = Output::new();
    output.line(post::shown(&posted, ack.as_ref()))?;
    output.flush()?;
    Ok(Answer::Yes)
}

/// Returns the recipient that the first word names; it stays in the text.
fn named_first(text: &str) -> Option<String> {
    let word = text.split_whitespace().next()?;
    let is_numbered = |role: &&str| {
        let rest = word.strip_prefix(*role).and_then(|rest| rest.strip_prefix('-'));
        rest.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
    };
    (NAMES.contains(&word) || ROLES.iter().any(is_numbered)).then(|| word.to_owned())
}

#[cfg(test)]
mod tests {
    use super::named_first;

    #[test]
    fn the_first_word_may_name_the_recipient() {
        let cases = [
            ("all hands on deck", Some("all")),
            ("codex-1 please look", Some("codex-1")),
            ("ha-mgr-12", Some("ha-mgr-12")),
            ("codex please look", None),
            ("qc-x", None),
            ("please codex-1", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(named_first(text).as_deref(), expected, "{text}");
        }
    }
}
