//! Words of the scenarios about work.

use message::{Severity, TaskStatus};

use super::{Stage, number};
use crate::tests::show;
use crate::{
    AgentKey, Blocker, Command, Entity, HandoffReason, HelpAnswer, Micros, Operation, StateChange,
    TaskIntent, Time,
};

/// Adds what an option of `send` says about work.
pub(super) fn option(intent: &mut TaskIntent, name: &str, value: &str, wall: u64) {
    let share = || (value.parse::<f64>().expect("a share") * 1e6) as u32;
    match name {
        "title" => intent.title = Some(value.into()),
        "deps" => intent.dependencies = value.split(',').map(Box::from).collect(),
        "caps" => intent.capabilities = value.split(',').map(Box::from).collect(),
        "deadline" => intent.deadline = Some(Time(wall + number(value))),
        "budget" => intent.budget = Micros::parse(value),
        "tokensmax" => intent.tokens_max = Some(number(value)),
        "quality" => intent.quality = Some(share()),
        "risk" => intent.risk = Some(share()),
        "cost" => intent.cost = Micros::parse(value),
        "tokens" => intent.tokens = Some(number(value)),
        "status" => intent.status = TaskStatus::from_name(value),
        "claim" => intent.lease_ms = Some(number(value)),
        "blocker" => intent.blocker = Blocker::find(value),
        "reason" => intent.reason = Some(value.into()),
        "routes" => intent.routes = value.split(',').map(super::address).collect(),
        "accepts" => intent.accepts = Some(value == "yes"),
        "handoff" => intent.handoff = HandoffReason::find(value),
        "urgency" => intent.urgency = Severity::from_name(value),
        "answer" => intent.answer = HelpAnswer::find(value),
        _ => panic!("`send` has no option `{name}`"),
    }
}

pub(super) fn command(stage: &mut Stage, verb: &str, words: &[&str]) -> Vec<String> {
    match verb {
        "judge" => {
            let (gate, approved) = (stage.message(words[0]), words[1] == "yes");
            let reason = words[2..].join(" ");
            stage.run(&Command::JudgeGate { gate, by: AgentKey::HUMAN, approved, reason: reason.into() })
        }
        "equip" => {
            let capabilities = words[1..].iter().map(|word| (*word).into()).collect();
            stage.run(&Command::Equip { agent: stage.agent(words[0]), capabilities })
        }
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
                id: words[3].into(),
                changes: value.into_owned().as_object().expect("changes are an object").clone(),
                version: words[4].parse().ok(),
            };
            stage.run(&Command::ChangeState(Box::new(change)))
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
