//! Properties of work: whatever is said in whatever order, a task moves as its words say; money is exact; more money
//! or risk never makes the policy more lenient.

use message::TaskStatus;
use proptest::prelude::*;

use crate::tests::language::Stage;
use crate::tests::settings::cases;
use crate::{Ask, Micros, Policy, Step, Verdict, after};

/// Everything that can be said of a task, by its requester, by who was asked, by others, and by the human.
const WORDS: [&str; 16] = [
    "kind=task.request",
    "kind=task.claim",
    "kind=task.progress",
    "kind=task.progress status=claimed",
    "kind=task.progress status=cancelled",
    "kind=task.progress status=blocked",
    "kind=task.done",
    "kind=task.failed",
    "kind=task.rejected",
    "kind=task.blocked blocker=ambiguity",
    "kind=handoff.offer",
    "kind=handoff.reply accepts=yes",
    "kind=handoff.reply accepts=no",
    "kind=gate",
    "kind=review.verdict accepts=yes",
    "kind=help.ask",
];
const WHO: [&str; 4] = ["ann", "bob", "cid", "human"];

/// Where the only task is: its status, its version and the steps that it has taken.
fn place(stage: &Stage) -> Option<(TaskStatus, u32, Vec<Step>)> {
    let task = stage.world.broker.look_at_task("t")?;
    Some((task.status, task.version, task.notes.iter().map(|note| note.step).collect()))
}

/// Tells how lenient a verdict is.
fn rank(verdict: &Verdict) -> u8 {
    match verdict {
        Verdict::Go { .. } => 0,
        Verdict::Gate { .. } => 1,
        Verdict::Refuse { .. } => 2,
    }
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn a_task_moves_as_its_words_say(
        said in proptest::collection::vec((0..WHO.len(), 0..WHO.len(), 0..WORDS.len()), 1..40),
    ) {
        let mut stage = Stage::new();
        for line in ["agent ann", "agent bob", "agent cid", "send ann bob ask kind=task.request task=t"] {
            stage.line(line);
        }
        for (number, (from, to, word)) in said.into_iter().enumerate() {
            let before = place(&stage).expect("the task is there");
            let line = format!("send {} {} w{number} {} task=t", WHO[from], WHO[to], WORDS[word]);
            let told = stage.line(&line);
            let found = place(&stage).expect("the task is there");
            if told.first().is_some_and(|told| told.starts_with("refused")) {
                prop_assert_eq!(found, before, "what is refused changes nothing: {}", line);
                continue;
            }
            let (status, version, steps) = found;
            let (mut expected, mut moves) = (before.0, 0);
            prop_assert!(steps.starts_with(&before.2) || steps.len() == 64, "the history only grows: {}", line);
            for step in steps.iter().skip(before.2.len()) {
                let next = after(expected, *step);
                prop_assert!(next.is_some(), "{:?} from {:?}: {}", step, expected, line);
                expected = next.unwrap_or(expected);
                moves += u32::from(!matches!(step, Step::Offered | Step::Voted | Step::Reviewed));
            }
            prop_assert_eq!(status, expected, "{}", line);
            prop_assert_eq!(version, before.1 + moves, "a version for each step: {}", line);
        }
    }

    #[test]
    fn money_is_read_as_it_is_written(micros in any::<u64>()) {
        let text = Micros(micros).to_string();
        prop_assert_eq!(Micros::parse(&text), Some(Micros(micros)), "{}", text);
        let places = text.split_once('.').map_or(0, |(_, part)| part.len());
        prop_assert!((2..=6).contains(&places), "{}", text);
    }

    /// The point and the exponent say the same; what is less than a millionth counts as one.
    #[test]
    fn money_is_the_number_that_it_says(whole in 0..1_000_000_u64, part in 0..1_000_000_000_u64, shift in 0..6_i32) {
        let plain = Micros::parse(&format!("{whole}.{part:09}"));
        let expected = whole * 1_000_000 + part.div_ceil(1_000);
        prop_assert_eq!(plain, Some(Micros(expected)));
        let digits = format!("{whole}{part:09}e-{}", 9 + shift);
        let shifted = (u128::from(whole) * 1_000_000_000 + u128::from(part)).div_ceil(1_000 * 10_u128.pow(shift as u32));
        prop_assert_eq!(Micros::parse(&digits), u64::try_from(shifted).ok().map(Micros));
    }

    #[test]
    fn no_text_breaks_money(text in "[-+0-9.eE ]{0,24}") {
        if let Some(micros) = Micros::parse(&text) {
            prop_assert!(!text.starts_with('-'), "{} is {}", text, micros);
        }
    }

    #[test]
    fn more_money_or_risk_is_never_judged_more_leniently(
        limits in (1..50_u64, 1..50_u64, 1..50_u64),
        amounts in (0..60_u64, 0..60_u64),
        so_far in (0..40_u64, 0..40_u64),
        risks in (proptest::option::of(0..=10_u32), 0..=10_u32),
        rules in (any::<bool>(), any::<bool>(), 0..8_usize),
    ) {
        let dollars = |count: u64| Micros(count * 1_000_000);
        let over = if rules.0 { "gate" } else { "refuse" };
        let chains = [("A", 1), ("B", 2), ("C", 4)].map(|(name, bit)| (name, rules.2 & bit != 0));
        let chains: Vec<String> =
            chains.iter().filter(|(_, is_on)| *is_on).map(|(name, _)| format!("\"{name}\"")).collect();
        let document = format!(
            r#"{{"enabled_chains":[{}],"budget_limits":{{"per_task":{},"per_agent":{},"total":{}}},"x_convoke":{{"over_budget":"{over}","gate_at_high":{}}}}}"#,
            chains.join(","), limits.0, limits.1, limits.2, rules.1,
        );
        let value = json::parse(document.as_bytes(), json::Limits::DOCUMENT).expect("it is JSON");
        let policy = Policy::read(&value).expect("it is a policy");
        let ask = |amount: u64, risk: Option<u32>| Ask {
            amount: Some(dollars(amount)),
            risk: risk.map(|tenths| tenths * 100_000),
            of_agent: dollars(so_far.0),
            of_all: dollars(so_far.1),
        };
        let (less, more) = (amounts.0.min(amounts.1), amounts.0.max(amounts.1));
        let riskier = risks.0.map_or(risks.1, |risk| risk.max(risks.1));
        let (before, dearer) = (policy.judge(&ask(less, risks.0)), policy.judge(&ask(more, risks.0)));
        prop_assert!(rank(&before) <= rank(&dearer), "{:?} then {:?}", before, dearer);
        let worse = policy.judge(&ask(less, Some(riskier)));
        prop_assert!(rank(&before) <= rank(&worse), "{:?} then {:?}: {}", before, worse, document);
    }
}
