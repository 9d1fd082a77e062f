//! Lists of tasks, page by page.

use broker::AgentKey;
use broker::query::tasks::{TaskFilter, TaskPage};
use message::TaskStatus;

use super::TaskShown;
use crate::{Caller, Problem, Query};

const LIMIT_DEFAULT: u64 = 100;
const LIMIT_MAX: u64 = 1_000;
/// Tasks that are looked at for one page.
const LOOK_MAX: usize = 10_000;
/// Tasks that are looked at in one query.
const QUERY_MAX: usize = 500;

/// Which tasks are wanted.
pub struct List {
    filter: TaskFilter,
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
        let filter = TaskFilter {
            status: status.transpose()?,
            holder: agent("holder")?,
            requester: agent("requester")?,
            role,
            is_open: query.flag("open")?,
            is_late: query.flag("late")?,
        };
        Ok(List {
            filter,
            from: after.map_or(0, |after| after.saturating_add(1)),
            limit: usize::try_from(query.number("limit")?.unwrap_or(LIMIT_DEFAULT).clamp(1, LIMIT_MAX))
                .unwrap_or(1),
        })
    }

    /// Looks for them.
    pub async fn look(&self, caller: &Caller) -> Result<Page, Problem> {
        let mut page = Page { tasks: Vec::new(), next: None };
        let (mut from, mut looked) = (self.from, 0);
        loop {
            let max = self.limit - page.tasks.len();
            let query = TaskPage { from, look_max: QUERY_MAX, max, filter: self.filter.clone() };
            let (tasks, next) = caller.hub.query(query).await?;
            let shown = tasks.into_iter().map(|task| TaskShown::new(task, &caller.principal).brief());
            page.tasks.extend(shown);
            looked += QUERY_MAX;
            page.next = next;
            match next {
                Some(next) if page.tasks.len() < self.limit && looked < LOOK_MAX => from = next + 1,
                Some(_) | None => return Ok(page),
            }
        }
    }
}
