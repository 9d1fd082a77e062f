//! The messages that records are: sent with them, amended when they change, taken back when they go.

use message::{Address, Kind, MessageId, Seq};

use super::commit::{Plan, Planned};
use crate::broker::{Broker, Decided, Decision};
use crate::effect::Effects;
use crate::event::task_mark;
use crate::{Accept, AgentKey, Context, Event, Identity, RecordChange, Refusal, Reply, Time};

/// What a write does to a message.
pub(super) enum Act {
    Nothing,
    Send(Box<Accept>),
    Amend(MessageId, Box<Accept>),
    Retract(MessageId),
}

/// The message that a record is after a commit.
#[derive(Clone, Copy)]
pub(super) struct Sent {
    pub(super) message: MessageId,
    /// Whether its body is the one that the commit brought; a repeat has that of the message before.
    pub(super) is_its_body: bool,
}

impl Broker {
    /// Returns what a write does to the message that its record is, or was.
    pub(super) fn act_of(&self, cx: &Context<'_>, plan: &Plan<'_>, planned: &Planned<'_>) -> Act {
        let submit = match &planned.write.change {
            RecordChange::Set { submit, .. } => submit.as_ref(),
            RecordChange::Remove => None,
        };
        match (submit, planned.before) {
            (Some(accept), None) => Act::Send(self.named(cx, accept.clone(), plan, planned)),
            (Some(accept), Some(message)) => Act::Amend(message, accept.clone()),
            (None, Some(message)) => Act::Retract(message),
            (None, None) => Act::Nothing,
        }
    }

    /// Lets repeats of a message be known by the name of its record, unless the sender gave an id. The name of a record
    /// that was gone and comes again is taken; the new message gets one with a tick.
    fn named(
        &self,
        cx: &Context<'_>,
        mut accept: Box<Accept>,
        plan: &Plan<'_>,
        planned: &Planned<'_>,
    ) -> Box<Accept> {
        if accept.identity != Identity::Content {
            return accept;
        }
        let uri = format!("at://{}/{}/{}", plan.commit.did, planned.write.collection, planned.key);
        accept.identity = Identity::Native(uri.as_str().into());
        // Each turn passes an id that is known, of which there is an end.
        let mut tick = plan.tick;
        while self.is_known(cx, &accept) {
            accept.identity = Identity::Native(format!("{uri}#{tick}").into());
            tick += 1;
        }
        accept
    }

    /// Refuses what would be refused, before anything is done.
    pub(super) fn check_act(&self, cx: &mut Context<'_>, repo: AgentKey, act: &Act) -> Result<(), Refusal> {
        match act {
            Act::Nothing => Ok(()),
            Act::Send(accept) => {
                check_sender(repo, accept)?;
                self.check_accept(cx, accept)
            }
            Act::Amend(message, accept) => {
                check_sender(repo, accept)?;
                self.check_recipients(*message, &accept.to)?;
                unless_over(self.amend(cx, *message, repo, &accept.body)).map(drop)
            }
            Act::Retract(message) => unless_over(self.retract(cx, *message, repo)).map(drop),
        }
    }

    /// Sends, amends and takes back messages. Sending comes first: what was sent can be taken back if a later one is
    /// refused, an amended message cannot get its body of before. Only a request that another one replaces goes before
    /// that is sent, or the task would end with it.
    pub(super) fn act(
        &mut self,
        cx: &mut Context<'_>,
        repo: AgentKey,
        acts: &[Act],
        effects: &mut Effects,
        write: &mut dyn FnMut(Seq, Time, &Event<'_>),
    ) -> Result<Vec<Option<Sent>>, Refusal> {
        let is_early: Vec<bool> =
            (1..).zip(acts).map(|(next, act)| self.is_replaced(act, &acts[next..])).collect();
        for (act, _) in acts.iter().zip(&is_early).filter(|(_, is_early)| **is_early) {
            self.change(cx, repo, act, effects, write);
        }
        let mut messages = self.send_all(cx, repo, acts, effects, write)?;
        for ((act, message), _) in
            acts.iter().zip(&mut messages).zip(&is_early).filter(|(_, is_early)| !**is_early)
        {
            *message = message.or(self.change(cx, repo, act, effects, write));
        }
        Ok(messages)
    }

    /// Tells whether a message is taken back whose task a later one of the commit asks for again.
    fn is_replaced(&self, act: &Act, later: &[Act]) -> bool {
        let Act::Retract(id) = act else { return false };
        let task = self.find(*id).and_then(|key| self.message(key)).map_or(0, |message| message.task);
        later.iter().any(|act| match act {
            Act::Send(accept) if accept.kind == Kind::TaskRequest => {
                accept.task.as_deref().is_some_and(|name| task_mark(name) == task)
            }
            Act::Nothing | Act::Send(_) | Act::Amend(..) | Act::Retract(_) => false,
        })
    }

    /// Amends a message or takes it back, unless it is over; returns the one that the record is then.
    fn change(
        &mut self,
        cx: &mut Context<'_>,
        repo: AgentKey,
        act: &Act,
        effects: &mut Effects,
        write: &mut dyn FnMut(Seq, Time, &Event<'_>),
    ) -> Option<Sent> {
        let (decided, after) = match act {
            Act::Nothing | Act::Send(_) => return None,
            Act::Amend(message, accept) => {
                let after = Sent { message: *message, is_its_body: true };
                (self.amend(cx, *message, repo, &accept.body), Some(after))
            }
            #[cfg(feature = "plants")]
            Act::Retract(_) if self.has_plant(crate::plant::Plant::CommitKeepsMessage) => return None,
            Act::Retract(message) => (self.retract(cx, *message, repo), None),
        };
        // It was checked before, and what is sent makes nobody else its sender.
        let decision = unless_over(decided).ok()??;
        self.commit_all(cx.now, &decision.events, effects, write);
        after
    }

    /// Sends the messages of new records; if one is refused, takes those before it back.
    fn send_all(
        &mut self,
        cx: &mut Context<'_>,
        repo: AgentKey,
        acts: &[Act],
        effects: &mut Effects,
        write: &mut dyn FnMut(Seq, Time, &Event<'_>),
    ) -> Result<Vec<Option<Sent>>, Refusal> {
        let mut messages: Vec<Option<Sent>> = Vec::with_capacity(acts.len());
        for act in acts {
            let Act::Send(accept) = act else {
                messages.push(None);
                continue;
            };
            match self.accept_with_carried(cx, accept, effects, write) {
                Ok(Reply::Accepted(receipted)) => {
                    messages.push(Some(Sent { message: receipted.id, is_its_body: !receipted.duplicate }));
                }
                Ok(_) => messages.push(None),
                Err(refusal) => {
                    self.take_back(cx, repo, &messages, effects, write);
                    return Err(refusal);
                }
            }
        }
        Ok(messages)
    }

    /// Takes back what this commit has sent, which nobody has been handed yet.
    fn take_back(
        &mut self,
        cx: &mut Context<'_>,
        repo: AgentKey,
        messages: &[Option<Sent>],
        effects: &mut Effects,
        write: &mut dyn FnMut(Seq, Time, &Event<'_>),
    ) {
        #[cfg(feature = "plants")]
        if self.has_plant(crate::plant::Plant::CommitHalfRefused) {
            return;
        }
        for sent in messages.iter().flatten().filter(|sent| sent.is_its_body) {
            if let Ok(decision) = self.retract(cx, sent.message, repo) {
                self.commit_all(cx.now, &decision.events, effects, write);
            }
        }
    }

    /// Refuses that a message gets other recipients than it was sent to.
    fn check_recipients(&self, message: MessageId, to: &[Address]) -> Result<(), Refusal> {
        let Some(view) = self.look_into(message) else { return Ok(()) };
        let named = to.iter().filter_map(|to| match to {
            Address::Agent(agent) => Some(agent.as_str()),
            Address::Session { agent, .. } => Some(agent.as_str()),
            Address::Role(_) | Address::Topic(_) | Address::Channel(_) | Address::All => None,
        });
        let is_new = |name: &&str| self.agent(name).is_some_and(|agent| !view.agents.contains(&agent));
        match named.into_iter().find(is_new) {
            Some(name) => Err(Refusal::OtherRecipient { name: name.to_owned() }),
            None => Ok(()),
        }
    }
}

/// A record is sent by whoever keeps it.
fn check_sender(repo: AgentKey, accept: &Accept) -> Result<(), Refusal> {
    if accept.from == repo { Ok(()) } else { Err(Refusal::NotYours) }
}

/// Nothing is wrong with a message that is over, or that the state has forgotten: only the record changes.
fn unless_over(decided: Decided<'_>) -> Result<Option<Decision<'_>>, Refusal> {
    match decided {
        Ok(decision) => Ok(Some(decision)),
        Err(Refusal::UnknownMessage | Refusal::Settled) => Ok(None),
        Err(refusal) => Err(refusal),
    }
}
