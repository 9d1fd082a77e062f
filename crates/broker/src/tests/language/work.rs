//! Words of the scenarios about work.

use message::{Severity, TaskStatus};

use super::{Stage, number};
use crate::tests::show;
use crate::{
    AgentKey, Blocker, Command, Entity, HandoffReason, HelpAnswer, Micros, Operation, Saying, StateChange,
    Time,
};

/// Adds what an option of `send` says about work.
pub(super) fn option<'a>(saying: &mut Saying<'a>, name: &str, value: &'a str, wall: u64) {
    let share = || (value.parse::<f64>().expect("a share") * 1e6) as u32;
    match name {
        "title" => saying.title = Some(value),
        "deps" => saying.dependencies = value.split(',').collect(),
        "caps" => saying.capabilities = value.split(',').collect(),
        "deadline" => saying.deadline = Some(Time(wall + number(value))),
        "budget" => saying.budget = Micros::parse(value),
        "tokensmax" => saying.tokens_max = Some(number(value)),
        "quality" => saying.quality = Some(share()),
        "risk" => saying.risk = Some(share()),
        "cost" => saying.cost = Micros::parse(value),
        "tokens" => saying.tokens = Some(number(value)),
        "status" => saying.status = TaskStatus::from_name(value),
        "claim" => saying.lease_ms = Some(number(value)),
        "blocker" => saying.blocker = Blocker::find(value),
        "reason" => saying.reason = Some(value),
        "routes" => saying.routes = value.split(',').map(super::address).collect(),
        "accepts" => saying.accepts = Some(value == "yes"),
        "handoff" => saying.handoff = HandoffReason::find(value),
        "urgency" => saying.urgency = Severity::from_name(value),
        "answer" => saying.answer = HelpAnswer::find(value),
        _ => panic!("`send` has no option `{name}`"),
    }
}

pub(super) fn command(stage: &mut Stage, verb: &str, words: &[&str]) -> Vec<String> {
    match verb {
        "judge" => {
            let (gate, approved) = (stage.message(words[0]), words[1] == "yes");
            let reason = words[2..].join(" ");
            stage.run(&Command::JudgeGate { gate, by: AgentKey::HUMAN, approved, reason: &reason })
        }
        "equip" => stage.run(&Command::Equip { agent: stage.agent(words[0]), capabilities: &words[1..] }),
        "fit" => {
            let quality = words[1].parse::<f64>().ok().map(|share| (share * 1e6) as u32);
            let from = Time(stage.world.wall + number(words[2]));
            stage.run(&Command::Fit { agent: stage.agent(words[0]), quality, from })
        }
        _ => {
            let text = words[5..].join(" ");
            let text = if text.is_empty() { "{}" } else { &text };
            let value = json::parse(text.as_bytes(), json::Limits::DOCUMENT).expect("changes are JSON");
            let change = StateChange {
                by: stage.agent(words[0]),
                operation: Operation::find(words[1]).expect("an operation"),
                entity: Entity::find(words[2]).expect("an entity"),
                id: words[3],
                changes: value.as_object().expect("changes are an object"),
                version: words[4].parse().ok(),
            };
            stage.run(&Command::ChangeState(change))
        }
    }
}

pub(super) fn look(stage: &Stage, verb: &str, words: &[&str]) -> Vec<String> {
    match verb {
        "task" => show::work::task(stage, words[0]),
        "tasks" => show::work::tasks(stage),
        "gates" => show::work::gates(stage),
        "work" => show::work::agent(stage, words[0]),
        "next" => show::work::next(stage, words[0]),
        _ => show::work::policy(stage),
    }
}
