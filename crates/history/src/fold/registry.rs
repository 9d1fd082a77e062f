//! Agents and connections that come and go, and what that means for what waits for them.

use broker::{AgentKey, GroupKey, SessionKey};
use message::Dialect;

use super::Fold;
use crate::delivery::{End, Mailbox, State};
use crate::error::HistoryError;
use crate::store::Store;

impl Fold {
    pub(super) fn agent_set(
        &mut self,
        store: &Store,
        agent: AgentKey,
        name: &str,
        aliases: &[&str],
        dialect: Dialect,
    ) -> Result<(), HistoryError> {
        if self.registry.set_agent(agent, name, aliases, dialect) {
            self.registry.join(agent, GroupKey::ALL);
        }
        let at = self.at;
        for name in std::iter::once(&name).chain(aliases) {
            for place in self.held.remove(*name).unwrap_or_default() {
                let has_another_way = self.has_another_way(store, place, agent)?;
                self.change(store, place, |delivery| {
                    if has_another_way {
                        delivery.end(End::Moved, "it comes another way", at);
                    } else {
                        (delivery.mailbox, delivery.state) = (Mailbox::Agent(agent), State::Waiting);
                    }
                })?;
            }
        }
        Ok(())
    }

    pub(super) fn agent_removed(&mut self, store: &Store, agent: AgentKey) -> Result<(), HistoryError> {
        for session in self.registry.sessions_of(agent) {
            self.session_closed(store, session)?;
        }
        self.registry.leave_all(agent);
        self.registry.remove_agent(agent);
        Ok(())
    }

    pub(super) fn restarted(&mut self, store: &Store) -> Result<(), HistoryError> {
        let sessions: Vec<SessionKey> = self.registry.sessions.keys().copied().collect();
        sessions.into_iter().try_for_each(|session| self.session_closed(store, session))
    }

    /// What waited for a connection alone waits for its agent from then on.
    pub(super) fn session_closed(&mut self, store: &Store, session: SessionKey) -> Result<(), HistoryError> {
        let (seq, at) = (self.seq, self.at);
        let Some(closed) = self.registry.close(session, seq) else { return Ok(()) };
        for place in self.addressed.remove(&session).unwrap_or_default() {
            let Some(state) = self.state(store, place)? else { continue };
            let has_another_way = self.has_another_way(store, place, closed.agent)?;
            match state {
                State::Waiting if has_another_way => {
                    self.change(store, place, |delivery| {
                        delivery.end(End::Moved, "its connection was lost", at);
                    })?;
                }
                State::Dead(_) => self.rehome_dead(store, place, closed.agent)?,
                State::Waiting | State::Held | State::Post | State::Out => {
                    self.change(store, place, |delivery| delivery.mailbox = Mailbox::Agent(closed.agent))?;
                }
                State::Done(_) => {}
            }
        }
        Ok(())
    }

    /// A dead letter that moves becomes the newest of them.
    fn rehome_dead(
        &mut self,
        store: &Store,
        place: crate::store::Place,
        agent: AgentKey,
    ) -> Result<(), HistoryError> {
        self.dead.retain(|_, other| *other != place);
        self.change(store, place, |delivery| {
            delivery.mailbox = Mailbox::Agent(agent);
            delivery.died = None;
        })
    }
}
