//! What every call of the door has at hand.

use std::sync::{Arc, PoisonError, RwLock};

use dialect::Names;
use gateway::{Authority, Principal, Profile, Token};
use node::{CallError, Node, Turn};

use crate::problem::Problem;

/// The door's own. Copies are the same door.
#[derive(Clone)]
pub struct Door {
    pub(crate) node: Node,
    pub(crate) authority: Arc<Authority>,
    /// By which names the server may be called, ports left out.
    pub(crate) hosts: Arc<[String]>,
    names: Arc<RwLock<Arc<Names>>>,
}

impl Door {
    /// Makes a door of a node. Requests that call the server by another name than these are turned away.
    pub async fn new(node: Node, authority: Authority, hosts: Vec<String>) -> Result<Self, CallError> {
        let names = Arc::new(RwLock::new(Arc::new(Names::default())));
        let door = Door { node, authority: Arc::new(authority), hosts: hosts.into(), names };
        door.learn_names().await?;
        Ok(door)
    }

    /// Does something with the state for whoever has the token.
    pub(crate) async fn call<R: Send + 'static>(
        &self,
        token: Option<Token>,
        work: impl FnOnce(&mut Turn<'_>, Principal) -> Result<R, Problem> + Send + 'static,
    ) -> Result<R, Problem> {
        let authority = Arc::clone(&self.authority);
        let called = self.node.call(move |turn| {
            let principal = authority.principal(token.as_ref(), turn.broker())?;
            work(turn, principal)
        });
        called.await.map_err(Problem::from)?
    }

    /// Returns what agents are called.
    pub(crate) fn names(&self) -> Arc<Names> {
        Arc::clone(&self.names.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Looks up again what agents are called.
    pub(crate) async fn learn_names(&self) -> Result<(), CallError> {
        let names = self.node.call(|turn| {
            let mut names = Names::default();
            for agent in turn.broker().agents() {
                if let Ok(name) = agent.name.parse() {
                    // Aliases are nobody else's: the registry sees to that.
                    drop(names.add(Profile::read(agent.profile).identity(name)));
                }
            }
            names
        });
        let names = Arc::new(names.await?);
        *self.names.write().unwrap_or_else(PoisonError::into_inner) = names;
        Ok(())
    }
}
