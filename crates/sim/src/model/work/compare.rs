//! The bus asked about work: every task, gate, breaker and sum must be what it should be.

use broker::{Broker, Micros, Step, TaskView, Time};
use message::MessageId;

use super::{Task, is_over};
use crate::model::state::State;
use crate::violation::{Promise, Violation, ensure};

/// Steps of a task that the bus remembers.
const HISTORY_MAX: usize = 64;

impl State {
    /// Compares all of it.
    pub(in crate::model) fn check_work(&self, broker: &Broker) -> Result<(), Violation> {
        let (count, expected) = (broker.task_count(), self.work.tasks.len());
        ensure(count == expected, Promise::Tasks, format_args!("{count} tasks, expected {expected}"))?;
        for (view, task) in broker.tasks(0).zip(&self.work.tasks) {
            self.check_task(&view, task)?;
            let number = message::task_number(&task.names[0]);
            let found = broker.task_by_number(number).map(|view| view.id);
            let what = format_args!("number {number} stands for {found:?}, expected {}", task.names[0]);
            ensure(found == Some(&*task.names[0]), Promise::Tasks, what)?;
        }
        self.check_gates(broker)?;
        self.check_money(broker)?;
        for (agent, worker) in &self.work.workers {
            let found = broker.agent_work(*agent).breaker;
            let name = self.name(*agent);
            let what = format_args!("the breaker of {name} is {found:?}, expected {:?}", worker.breaker);
            ensure(found == worker.breaker, Promise::Breakers, what)?;
            let view = broker.agent_work(*agent);
            let (found, wanted) = ((view.quality, view.from), (worker.quality, worker.from));
            let what = format_args!("{name} says of itself {found:?}, expected {wanted:?}");
            ensure(found == wanted, Promise::Answers, what)?;
        }
        Ok(())
    }

    fn check_task(&self, view: &TaskView<'_>, task: &Task) -> Result<(), Violation> {
        let id = &task.names[0];
        let found = (view.id, view.status, view.holder, view.is_claimed, view.hold, view.blocker);
        let wanted = (&**id, task.status, task.holder, task.is_claimed, task.hold, task.blocker);
        ensure(found == wanted, Promise::Tasks, format_args!("task {found:?}, expected {wanted:?}"))?;
        let some = |time: Time| (time != Time::NEVER).then_some(time);
        let offer = task.offer.as_ref().map(|offer| (offer.to, offer.until));
        let found = (view.lease_until, view.offer.map(|offer| (offer.to, offer.until)), view.lapses);
        let wanted = (some(task.lease_until), offer, task.lapses);
        ensure(found == wanted, Promise::Claims, format_args!("{id}: {found:?}, expected {wanted:?}"))?;
        let what = format_args!("{id} has version {}, expected {}", view.version, task.version);
        ensure(view.version == task.version, Promise::Versions, what)?;
        let found = (view.reserved, view.spent);
        let wanted = (Micros(task.reserved), Micros(task.spent));
        ensure(found == wanted, Promise::Budgets, format_args!("{id}: {found:?}, expected {wanted:?}"))?;
        let idle = is_over(task.status) && task.reserved > 0;
        ensure(!idle, Promise::Budgets, format_args!("{id} is over and {} is set aside", task.reserved))?;
        let found = (view.asked, view.request, view.reviewed, view.is_late);
        let wanted = (task.asked.as_slice(), task.request, task.reviewed, task.is_late);
        ensure(found == wanted, Promise::Tasks, format_args!("{id}: {found:?}, expected {wanted:?}"))?;
        let found: Vec<(Step, broker::AgentKey)> =
            view.notes.iter().map(|note| (note.step, note.by)).collect();
        let what = format_args!("the history of {id} is {found:?}, expected {:?}", task.history);
        ensure(found == remembered(&task.history), Promise::Tasks, what)
    }

    fn check_gates(&self, broker: &Broker) -> Result<(), Violation> {
        type Line = (MessageId, broker::AgentKey, Option<String>, Option<MessageId>, Time);
        let found: Vec<Line> = broker
            .gates(false)
            .into_iter()
            .map(|gate| (gate.gate, gate.asker, gate.task.map(str::to_owned), gate.guards, gate.until))
            .collect();
        let name = |task: usize| self.work.tasks[task].names[0].to_string();
        let gates = self.work.gates.iter();
        let wanted: Vec<Line> =
            gates.map(|(id, gate)| (*id, gate.asker, gate.task.map(name), gate.guards, gate.until)).collect();
        ensure(found == wanted, Promise::Gates, format_args!("gates {found:?}, expected {wanted:?}"))
    }

    fn check_money(&self, broker: &Broker) -> Result<(), Violation> {
        let policy = broker.policy();
        let found = (policy.version, policy.spent, policy.reserved);
        let wanted = (self.work.rules_version, Micros(self.work.spent), Micros(self.work.reserved()));
        let what = format_args!("policy, spent, set aside: {found:?}, expected {wanted:?}");
        ensure(found == wanted, Promise::Budgets, what)?;
        for agent in self.agents.keys() {
            let view = broker.agent_work(*agent);
            let spent = self.work.workers.get(agent).map_or(0, |worker| worker.spent);
            let (found, wanted) =
                ((view.spent, view.reserved), (Micros(spent), Micros(self.work.reserved_of(*agent))));
            let what = format_args!("the work of {}: {found:?}, expected {wanted:?}", self.name(*agent));
            ensure(found == wanted, Promise::Budgets, what)?;
        }
        let found: Vec<(String, u32, u64)> =
            broker.allotments().map(|it| (it.id.to_owned(), it.version, it.consumed)).collect();
        let allotments = self.work.allotments.iter();
        let wanted: Vec<(String, u32, u64)> =
            allotments.map(|(id, it)| (id.clone(), it.version, it.consumed)).collect();
        ensure(found == wanted, Promise::Budgets, format_args!("allotments {found:?}, expected {wanted:?}"))
    }
}

/// The first step and the newest ones.
fn remembered<T: Copy>(history: &[T]) -> Vec<T> {
    match history.split_first() {
        Some((first, rest)) if history.len() > HISTORY_MAX => {
            let newest = rest.len() - (HISTORY_MAX - 1);
            std::iter::once(*first).chain(rest[newest..].iter().copied()).collect()
        }
        Some(_) | None => history.to_vec(),
    }
}
