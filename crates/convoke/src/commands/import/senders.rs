//! Those who send again what they sent: a client for each, and the tokens that must not stay.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use client::{Client, ClientError, Registered};

use crate::cli::remote::RemoteArgs;
use crate::failure::Failure;
use crate::remote::{self, Remote};

/// An import that takes longer makes a new token; one that dies leaves none that is good for long.
const TOKEN_LIFETIME: Duration = Duration::from_secs(24 * 60 * 60);

/// A client for each sender.
pub(super) struct Senders<'s> {
    remote: &'s Remote,
    args: &'s RemoteArgs,
    clients: HashMap<String, Client>,
    /// Who was there before, once somebody has asked.
    known: Option<HashSet<String>>,
    /// The names and labels of tokens that were made for this.
    borrowed: Vec<(String, String)>,
}

impl<'s> Senders<'s> {
    pub(super) fn new(remote: &'s Remote, args: &'s RemoteArgs) -> Self {
        Senders { remote, args, clients: HashMap::new(), known: None, borrowed: Vec::new() }
    }

    /// Tells whether an agent was there before the import.
    pub(super) async fn is_known(&mut self, name: &str) -> Result<bool, Failure> {
        if self.known.is_none() {
            let agents = self.remote.client.agents().await.map_err(|error| self.remote.failure(&error))?;
            self.known = Some(agents.into_iter().map(|agent| agent.agent).collect());
        }
        Ok(self.known.as_ref().is_some_and(|known| known.contains(name)))
    }

    /// Remembers an agent that was just made.
    pub(super) fn add(&mut self, made: &Registered) -> Result<(), Failure> {
        let client = self.speak_as(made).map_err(|error| self.remote.failure(&error))?;
        self.clients.insert(made.agent.clone(), client);
        Ok(())
    }

    /// Returns the client of a sender; one that was there before lends a token.
    pub(super) async fn client(&mut self, name: &str) -> Result<Client, ClientError> {
        if remote::is_operator(name) {
            return Ok(self.remote.client.clone());
        }
        if let Some(client) = self.clients.get(name) {
            return Ok(client.clone());
        }
        let made = self.remote.client.add_token(name, Some(TOKEN_LIFETIME)).await?;
        if let Some(label) = &made.label {
            self.borrowed.push((made.agent.clone(), label.clone()));
        }
        let client = self.speak_as(&made)?;
        self.clients.insert(name.to_owned(), client.clone());
        Ok(client)
    }

    /// Gives back what was borrowed.
    pub(super) async fn revoke(&mut self) -> Result<(), Failure> {
        for (name, label) in std::mem::take(&mut self.borrowed) {
            let revoked = self.remote.client.revoke_token(&name, &label).await;
            revoked.map_err(|error| self.remote.failure(&error))?;
        }
        Ok(())
    }

    fn speak_as(&self, made: &Registered) -> Result<Client, ClientError> {
        remote::client_with(self.args, &self.remote.client.url(), made.token.clone())
    }
}
