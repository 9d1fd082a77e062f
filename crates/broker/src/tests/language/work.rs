//! Words of the scenarios about work.

use message::{PresenceState, Severity, TaskStatus};

use super::{Stage, number};
use crate::tests::show;
use crate::{
    AgentKey, Blocker, Claim, Command, Entity, HandoffReason, HelpAnswer, Micros, Operation, Sign,
    StateChange, TaskIntent, Time,
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
        "claim" => {
            let mut claim = Claim {
                by: stage.agent(words[0]),
                task: None,
                role: None,
                lease_ms: None,
                key: words[1].into(),
            };
            for (name, value) in words[2..].iter().map(|word| super::option(word)) {
                match name {
                    "task" => claim.task = Some(value.into()),
                    "role" => claim.role = Some(super::address(value)),
                    "lease" => claim.lease_ms = Some(number(value)),
                    _ => panic!("`claim` has no option `{name}`"),
                }
            }
            stage.run(&Command::Claim(Box::new(claim)))
        }
        "sign" => {
            let sign = Box::new(sign(&words[1..], stage.world.wall));
            stage.run(&Command::Sign { agent: stage.agent(words[0]), sign })
        }
        _ => {
            let change = change(stage.agent(words[0]), &words[1..5], &words[5..].join(" "));
            stage.run(&Command::ChangeState(Box::new(change)))
        }
    }
}

/// Reads what an agent says of itself: `STATE [detail=TEXT] [quality=SHARE] [from=MS]`.
pub(super) fn sign(words: &[&str], wall: u64) -> Sign {
    let mut sign = Sign::of(PresenceState::from_name(words[0]).expect("a presence"));
    for (name, value) in words[1..].iter().map(|word| super::option(word)) {
        match name {
            "detail" => sign.detail = Some(value.as_bytes().to_vec()),
            "quality" => {
                sign.quality = value.parse::<f64>().ok().map(|share| (share * 1e6) as u32);
            }
            "from" => sign.from = Some(Time(wall + number(value))),
            _ => panic!("`sign` has no option `{name}`"),
        }
    }
    sign
}

/// Reads a change of the shared state: operation, entity, id and version, and the fields.
pub(super) fn change(by: AgentKey, words: &[&str], fields: &str) -> StateChange {
    let fields = if fields.is_empty() { "{}" } else { fields };
    let value = json::parse(fields.as_bytes(), json::Limits::DOCUMENT).expect("changes are JSON");
    StateChange {
        by,
        operation: Operation::find(words[0]).expect("an operation"),
        entity: Entity::find(words[1]).expect("an entity"),
        id: words[2].into(),
        changes: value.into_owned().as_object().expect("changes are an object").clone(),
        version: words[3].parse().ok(),
    }
}

pub(super) fn look(stage: &Stage, verb: &str, words: &[&str]) -> Vec<String> {
    match verb {
        "task" => show::work::task(stage, words[0]),
        "tasks" => show::work::tasks(stage),
        "gates" => show::work::gates(stage),
        "work" => show::work::agent(stage, words[0]),
        "next" => show::work::next(stage, words[0]),
        "number" => show::work::number(stage, words[0]),
        _ => show::work::policy(stage),
    }
}
