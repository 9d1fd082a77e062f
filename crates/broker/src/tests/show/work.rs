//! Work in words.

use crate::tests::language::Stage;
use crate::{Breaker, Context, Fact, Hold, Moved, TaskView, Time};

use super::{label, labelled, since_start};

pub(super) fn fact(stage: &Stage, fact: &Fact<'_>) -> Option<String> {
    let broker = &stage.world.broker;
    let name = |agent| broker.name_of(agent);
    match fact {
        Fact::Asked(asked) => {
            let hold = if asked.hold == Hold::Nothing {
                String::new()
            } else {
                format!(", held by {}", asked.hold.name())
            };
            let chain = asked.chain.as_ref().map(|chain| format!(", chain {chain}")).unwrap_or_default();
            Some(format!(
                "task {} is asked for{hold}{chain}, {} set aside",
                labelled(stage, &asked.id),
                asked.reserved
            ))
        }
        Fact::Moved(moved) => {
            let Moved { of, step, by, status, .. } = &**moved;
            let id = broker.task_at(of.task).map_or("?", |task| task.id);
            Some(format!("task {} {} by {}: {status}", labelled(stage, id), step.name(), name(*by)))
        }
        Fact::Offered { to, until, reason, .. } => {
            Some(format!("offered to {} until {}, {}", name(*to), since_start(*until), reason.name()))
        }
        Fact::Voted { by, approves, outcome, .. } => {
            let outcome = outcome.map(|outcome| format!(", reviewed: {outcome}")).unwrap_or_default();
            Some(format!("{} votes {approves}{outcome}", name(*by)))
        }
        Fact::GateRaised(raised) => Some(format!("gate {}: {}", label(stage, raised.gate), raised.why)),
        Fact::GateJudged { gate, approved, .. } => {
            Some(format!("gate {} judged: {approved}", label(stage, *gate)))
        }
        Fact::GateRenewed { gate, until } => {
            Some(format!("gate {} waits until {}", label(stage, *gate), since_start(*until)))
        }
        Fact::HelpAsked { until, .. } => Some(format!("help is wanted until {}", since_start(*until))),
        Fact::HelpOver { by, escalated, .. } => {
            Some(format!("help is over by {}{}", name(*by), if *escalated { ", escalated" } else { "" }))
        }
        Fact::BreakerSet { agent, breaker } => {
            Some(format!("breaker of {}: {}", name(*agent), breaker_word(*breaker)))
        }
        Fact::Consumed { id, consumed } => Some(format!("{consumed} of {id} are used")),
        Fact::Judged(judged) => Some(format!("the policy says {}", judged.outcome.name())),
        Fact::Described { .. }
        | Fact::PolicySet { .. }
        | Fact::Allotted(_)
        | Fact::AllotmentGone { .. }
        | Fact::AgentDescribed { .. }
        | Fact::Equipped { .. }
        | Fact::Fitness { .. } => None,
    }
}

fn breaker_word(breaker: Breaker) -> String {
    match breaker {
        Breaker::Closed => "closed".to_owned(),
        Breaker::Counting(errors) => format!("closed, {errors} errors"),
        Breaker::Open { until } => format!("open until {}", since_start(until)),
        Breaker::HalfOpen => "half open".to_owned(),
        Breaker::Probing { until } => format!("tried until {}", since_start(until)),
    }
}

pub(crate) fn task(stage: &Stage, id: &str) -> Vec<String> {
    let known = stage.labels.get(id).map(|id| id.to_string());
    match stage.world.broker.look_at_task(known.as_deref().unwrap_or(id)) {
        Some(view) => lines(stage, &view),
        None => vec!["unknown".to_owned()],
    }
}

fn lines(stage: &Stage, view: &TaskView<'_>) -> Vec<String> {
    let broker = &stage.world.broker;
    let holder = view.holder.map_or("nobody", |holder| broker.name_of(holder));
    let lease = view.lease_until.map(|until| format!(" until {}", since_start(until))).unwrap_or_default();
    let hold =
        if view.hold == Hold::Nothing { String::new() } else { format!(", held by {}", view.hold.name()) };
    let blocker = view.blocker.map(|blocker| format!(", {}", blocker.name())).unwrap_or_default();
    let first = format!(
        "{} {}{hold}{blocker}, version {}, {holder} has it{lease}, {} set aside, {} spent",
        labelled(stage, view.id),
        view.status,
        view.version,
        view.reserved,
        view.spent
    );
    let notes = view.notes.iter().map(|note| format!("{} {}", note.step.name(), broker.name_of(note.by)));
    vec![first, notes.collect::<Vec<_>>().join(", ")]
}

pub(crate) fn tasks(stage: &Stage) -> Vec<String> {
    let tasks =
        stage.world.broker.tasks(0).map(|view| format!("{} {}", labelled(stage, view.id), view.status));
    tasks.collect()
}

pub(crate) fn gates(stage: &Stage) -> Vec<String> {
    let broker = &stage.world.broker;
    let gates = broker.gates(true).into_iter().map(|gate| {
        let judged = gate
            .judged
            .map_or("open".to_owned(), |judged| format!("{} ({})", judged.approved, judged.reason));
        format!("{} of {}: {}; {judged}", label(stage, gate.gate), broker.name_of(gate.asker), gate.why)
    });
    gates.collect()
}

pub(crate) fn agent(stage: &Stage, name: &str) -> Vec<String> {
    let work = stage.world.broker.agent_work(stage.agent(name));
    let holds: Vec<String> = work.holds.iter().map(|id| labelled(stage, id)).collect();
    let mut line = format!(
        "{name} has [{}], {} set aside, {} spent, {} tokens, breaker {}",
        holds.join(" "),
        work.reserved,
        work.spent,
        work.tokens,
        breaker_word(work.breaker)
    );
    if let Some(quality) = work.quality {
        line += &format!(", quality {quality}");
    }
    if work.from != Time(0) {
        line += &format!(", from {}", since_start(work.from));
    }
    vec![line]
}

pub(crate) fn number(stage: &Stage, id: &str) -> Vec<String> {
    let number = message::task_number(id);
    let view = stage.world.broker.task_by_number(number);
    vec![view.map_or("unknown".to_owned(), |view| view.id.to_owned())]
}

pub(crate) fn policy(stage: &Stage) -> Vec<String> {
    let policy = stage.world.broker.policy();
    vec![format!("version {}, {} spent, {} set aside", policy.version, policy.spent, policy.reserved)]
}

pub(crate) fn next(stage: &Stage, name: &str) -> Vec<String> {
    struct Never;
    impl crate::Random for Never {
        fn next(&mut self) -> u64 {
            0
        }
    }
    let cx = Context { now: Time(stage.world.now), wall: Time(stage.world.wall), random: &mut Never };
    let broker = &stage.world.broker;
    let next = broker.next_task(&cx, stage.agent(name), None).and_then(|key| broker.task_at(key));
    vec![next.map_or("none".to_owned(), |task| labelled(stage, task.id))]
}
