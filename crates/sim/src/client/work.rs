//! What those outside want of work: changes of the shared state, judgements, what agents can do.

use std::rc::Rc;

use broker::{AgentKey, Broker, Entity, TaskView};
use message::{Kind, MessageId};

use super::{Asked, Asker, Client, pick, pick_ref};
use crate::request::{Request, Sent};
use crate::said::{Changed, Changing};
use crate::step::{ChangePlan, Wanted};
use crate::world::{TASKS, World};

/// What is allotted.
const ALLOTMENTS: [&str; 2] = ["r1", "r2"];

impl Client {
    pub(super) fn change(
        &self,
        world: &World,
        plan: &ChangePlan,
        broker: Option<&Broker>,
    ) -> Option<(Asker, Asked)> {
        let changed = self.changed(world, plan, broker)?;
        Some((Asker::Operator, Asked::Request(Request::ChangeState(changed))))
    }

    pub(super) fn changed(
        &self,
        world: &World,
        plan: &ChangePlan,
        broker: Option<&Broker>,
    ) -> Option<Box<Changed>> {
        let by = self.agents[usize::from(plan.by)].key?;
        let name = |agent: u8| world.names[usize::from(agent)].to_string();
        let nth = (plan.which >> 8) as usize;
        let (entity, id, what) = match &plan.what {
            Wanted::Note => (Entity::Task, self.task(plan.which), Changing::Note),
            Wanted::Status(word) => (Entity::Task, self.task(plan.which), Changing::Status(word)),
            Wanted::Assign(agent) => (Entity::Task, self.task(plan.which), Changing::Assign(name(*agent))),
            Wanted::Task { dependencies, budget, assigned } => {
                let (dependencies, assigned) = (dependencies.clone(), assigned.map(name));
                let id = TASKS[nth % TASKS.len()].to_owned();
                (Entity::Task, id, Changing::Task { dependencies, budget: *budget, assigned })
            }
            Wanted::Presence(state) => {
                let own = (by > AgentKey::RUNNER).then(|| name(plan.by));
                let id = own.unwrap_or_else(|| name((nth % world.names.len()) as u8));
                (Entity::Agent, id, Changing::Presence(*state))
            }
            Wanted::Rules(rules) => (Entity::Policy, "policy".to_owned(), Changing::Rules(*rules)),
            Wanted::Allotment { agent, is_money, limit } => {
                let id = ALLOTMENTS[nth % ALLOTMENTS.len()].to_owned();
                let what = Changing::Allotment { agent: name(*agent), is_money: *is_money, limit: *limit };
                (Entity::Resource, id, what)
            }
        };
        let current = broker.map_or(0, |broker| broker.version_of(entity, &id));
        let version = plan.version.map(|offset| current.saturating_add_signed(offset.into()));
        let operation = plan.operation;
        Some(Box::new(Changed { by, operation, entity, id, what, version }))
    }

    /// Chooses a task: by a name of this world, or by the message that may have asked for it.
    fn task(&self, which: u32) -> String {
        let message = pick(&self.messages, which >> 4).filter(|_| which.is_multiple_of(5));
        message.map_or(TASKS[(which >> 8) as usize % TASKS.len()].to_owned(), |(id, _)| id.to_string())
    }

    /// Lets somebody speak of a task who may: who has it, is offered it, or was asked.
    #[expect(clippy::wildcard_enum_match_arm, reason = "of everything else its holder speaks")]
    pub(super) fn speak_of_task(&self, sent: &mut Sent, nth: u32, broker: Option<&Broker>) {
        let Some(broker) = broker else { return };
        let open = broker.tasks(0).filter(|task| !broker::is_over(task.status));
        let tasks: Vec<TaskView<'_>> = open.collect();
        let Some(task) = pick_ref(&tasks, nth) else { return };
        sent.task = TASKS.into_iter().find(|name| *name == task.id).map(Rc::from);
        if sent.task.is_none() {
            sent.reply_to = Some(task.id.to_owned());
        }
        let keys = self.agents.iter().filter_map(|agent| agent.key);
        let members = keys.filter(|key| task.group.is_some_and(|group| broker.is_member(*key, group)));
        let mut may: Vec<AgentKey> = task.asked.iter().copied().chain(members).collect();
        let role = task.group.and_then(|group| broker.address_of_group(group)?.parse().ok());
        match sent.kind {
            // Who joins first need not have been asked.
            Kind::TaskClaim if sent.joins.is_some() && role.is_some() => {
                sent.joins = role;
                return;
            }
            Kind::TaskClaim => {}
            Kind::HandoffReply => may = task.offer.iter().map(|offer| offer.to).collect(),
            _ => may = task.holder.map_or(may, |holder| vec![holder]),
        }
        sent.from = pick(&may, nth >> 8).unwrap_or(sent.from);
    }

    pub(super) fn judge(
        &self,
        nth: u32,
        approved: bool,
        honest: bool,
        broker: Option<&Broker>,
    ) -> Option<(Asker, Asked)> {
        let gates: Vec<MessageId> = broker?.gates(false).iter().map(|gate| gate.gate).collect();
        let gate = pick(&gates, nth).or_else(|| pick(&self.messages, nth).map(|(id, _)| id))?;
        let other = self.agents.iter().find_map(|agent| agent.key);
        let by = if honest { AgentKey::HUMAN } else { other? };
        Some((Asker::Operator, Asked::Request(Request::JudgeGate { gate, by, approved })))
    }
}
