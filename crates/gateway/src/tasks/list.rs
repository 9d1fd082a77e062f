//! Lists of tasks, page by page.

use broker::{AgentKey, Broker, TaskView, is_over};
use message::TaskStatus;
use node::Turn;

use super::TaskShown;
use crate::{Caller, Problem, Query};

const LIMIT_DEFAULT: u64 = 100;
const LIMIT_MAX: u64 = 1_000;
/// Tasks that are looked at in one turn.
const LOOK_MAX: usize = 10_000;

/// Which tasks are wanted.
pub struct List {
    status: Option<TaskStatus>,
    holder: Option<AgentKey>,
    requester: Option<AgentKey>,
    role: Option<String>,
    is_open: bool,
    is_late: bool,
    from: u32,
    limit: usize,
}

/// Tasks of a page, and from where on the next one is, if there is one.
pub struct Page {
    /// The tasks.
    pub tasks: Vec<String>,
    /// What stands in `after` for the next page.
    pub next: Option<u32>,
}

impl List {
    /// Reads what a query wants.
    pub fn read(caller: &Caller, query: Query<'_>) -> Result<Self, Problem> {
        let agent = |key: &str| -> Result<Option<AgentKey>, Problem> {
            query.get(key)?.map(|name| caller.agent(&name)).transpose().map(|named| named.map(|it| it.key))
        };
        let status = query.get("status")?.map(|word| {
            let found = TaskStatus::ALL.iter().copied().find(|status| status.name() == word);
            let names: Vec<&str> = TaskStatus::ALL.iter().map(|status| status.name()).collect();
            found.ok_or_else(|| Problem::bad_request(format!("`status` is one of {}", names.join(", "))))
        });
        let role = query.get("role")?.map(|role| match role.contains(['.', '#', ':']) {
            true => role.into_owned(),
            false => format!("roles.{role}"),
        });
        let after = query.number("after")?.map(|after| u32::try_from(after).unwrap_or(u32::MAX));
        Ok(List {
            status: status.transpose()?,
            holder: agent("holder")?,
            requester: agent("requester")?,
            role,
            is_open: query.flag("open")?,
            is_late: query.flag("late")?,
            from: after.map_or(0, |after| after.saturating_add(1)),
            limit: usize::try_from(query.number("limit")?.unwrap_or(LIMIT_DEFAULT).clamp(1, LIMIT_MAX))
                .unwrap_or(1),
        })
    }

    /// Looks for them.
    pub fn look(&self, turn: &Turn<'_>, caller: &Caller) -> Page {
        let broker = turn.broker();
        let mut page = Page { tasks: Vec::new(), next: None };
        let mut last = None;
        for (count, task) in broker.tasks(self.from).enumerate() {
            if page.tasks.len() == self.limit || count == LOOK_MAX {
                page.next = last;
                break;
            }
            last = Some(task.key.0);
            if self.wants(broker, &task) {
                page.tasks.push(TaskShown::of(broker, &task, &caller.principal).brief());
            }
        }
        page
    }

    fn wants(&self, broker: &Broker, task: &TaskView<'_>) -> bool {
        let role = || task.group.and_then(|group| broker.address_of_group(group));
        self.status.is_none_or(|status| task.status == status)
            && self.holder.is_none_or(|holder| task.holder == Some(holder))
            && self.requester.is_none_or(|requester| task.requester == requester)
            && self.role.as_deref().is_none_or(|wanted| role() == Some(wanted))
            && (!self.is_open || !is_over(task.status))
            && (!self.is_late || task.is_late)
    }
}
