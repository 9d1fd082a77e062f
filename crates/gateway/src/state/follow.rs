//! Following the shared state: one `StateUpdate` for each change, in order, as it becomes durable.

use std::time::Duration;

use broker::query::work::{StateChanged, StateChanges};
use message::Seq;
use tokio::sync::watch;
use tokio::time::timeout;

use super::entity;
use crate::{Answer, Hub, OpenConnection, Principal, Problem, Token};

/// Changes that are told at a time.
const CHANGES_MAX: usize = 256;
/// How long nothing happens before that is said.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Somebody who follows.
pub struct Follower {
    hub: Hub,
    principal: Principal,
    token: Option<Token>,
    after: Seq,
    /// Tells up to which event the shared state may have changed.
    state: watch::Receiver<Seq>,
    changes: watch::Receiver<u64>,
    stopping: watch::Receiver<bool>,
    _connection: OpenConnection,
}

/// What a follower is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told {
    /// Something changed: the place of the event, and the `StateUpdate`.
    Update(Seq, String),
    /// Changes are missing before this place: the whole state has to be read again.
    Resync(Seq),
    /// Nothing happened for a while.
    Nothing,
}

impl Follower {
    /// Follows from a place on, or from now on.
    pub fn new(
        hub: Hub,
        principal: Principal,
        token: Option<Token>,
        after: Option<Seq>,
        connection: OpenConnection,
    ) -> Self {
        Follower {
            after: after.unwrap_or(hub.node().durable()),
            state: hub.state_changes(),
            changes: hub.registry_changes(),
            stopping: hub.stopping(),
            hub,
            principal,
            token,
            _connection: connection,
        }
    }

    /// Waits for what is told next; nothing when it ends: the bus stops, or the token opens nothing any more.
    pub async fn next(&mut self) -> Option<Vec<Told>> {
        loop {
            self.state.mark_unchanged();
            let (told, upto) = look(&self.hub, self.after).await.ok()?;
            self.after = upto;
            if !told.is_empty() {
                return Some(told);
            }
            tokio::select! {
                moved = timeout(KEEP_ALIVE, self.state.changed()) => match moved {
                    Ok(Ok(())) => {}
                    Ok(Err(_)) => return None,
                    Err(_) => return Some(vec![Told::Nothing]),
                },
                _ = self.stopping.changed() => return None,
                _ = self.changes.changed() => {
                    if !self.hub.principal(self.token.as_ref()).is_ok_and(|now| now == self.principal) {
                        return None;
                    }
                }
            }
        }
    }
}

/// Returns what changed behind a place, and up to where that is told.
async fn look(hub: &Hub, after: Seq) -> Result<(Vec<Told>, Seq), Problem> {
    let found = hub.query(StateChanges { after, max: CHANGES_MAX }).await?;
    let told = match &found.changes {
        Some(changes) => {
            changes.iter().map(|change| Told::Update(change.changed.seq, update(change))).collect()
        }
        None => vec![Told::Resync(found.upto)],
    };
    Ok((told, found.upto))
}

/// Writes the `StateUpdate` of a change, with the entity as it is now.
fn update(change: &StateChanged) -> String {
    let changed = &change.changed;
    let now = change.now.as_ref().map(entity);
    Answer::with_capacity(512)
        .text("operation", changed.operation.name())
        .text("entity_type", changed.entity.name())
        .text("entity_id", &changed.id)
        .raw("changes", now.as_deref().unwrap_or("{}"))
        .number("version", changed.version.into())
        .text("timestamp", &changed.at.timestamp().to_string())
        .end()
}
