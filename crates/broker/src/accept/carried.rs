//! What a message carries beside itself: how its sender is, the group that it is in, a change of the shared state.

use message::Seq;

use crate::broker::Broker;
use crate::effect::Effects;
use crate::{Accept, Caution, Context, Event, Refusal, Reply, Time, WithRecipients};

impl Broker {
    /// Takes a message in with what it carries, in steps: each is decided on the state that the one before left.
    ///
    /// What it says of its sender comes first and holds though the message is refused. The change that it makes is
    /// checked before the message is accepted, so both are refused together; nothing that a message with a change does
    /// is in the way of the change.
    pub(crate) fn accept_with_carried(
        &mut self,
        cx: &mut Context<'_>,
        accept: &Accept,
        effects: &mut Effects,
        write: &mut dyn FnMut(Seq, Time, &Event<'_>),
    ) -> Result<Reply, Refusal> {
        self.agent_at(accept.from)?;
        if let Some(sign) = &accept.sign {
            let signed = self.sign(accept.from, sign)?;
            self.commit_all(cx.now, &signed.events, effects, write);
        }
        let kept_out = self.join_sender(cx.now, accept, effects, write);
        if let Some(update) = &accept.update {
            self.change_state(cx, update)?;
        }
        let accepted = self.accept(cx, accept)?;
        self.commit_all(cx.now, &accepted.events, effects, write);
        let mut reply = accepted.reply;
        if let Reply::Accepted(receipted) = &mut reply {
            if !receipted.duplicate {
                receipted.cautions.extend(kept_out);
                self.update_with(cx, accept, effects, write);
            }
            let has_recipients = match accept.with_recipients {
                WithRecipients::Never => false,
                WithRecipients::IfRepeated => receipted.duplicate,
                WithRecipients::Always => true,
            };
            if has_recipients {
                receipted.recipients = self.receipt(receipted.id).unwrap_or_default();
            }
        }
        Ok(reply)
    }

    /// Tells why a message, or the change that it carries, would be refused, if it would.
    pub(crate) fn check_accept(&self, cx: &mut Context<'_>, accept: &Accept) -> Result<(), Refusal> {
        if let Some(update) = &accept.update {
            self.change_state(cx, update)?;
        }
        self.accept(cx, accept).map(drop)
    }

    /// Makes the sender a member of the group that it says it is in. A message is not refused for that: if the group
    /// does not take the sender, it is told so.
    fn join_sender(
        &mut self,
        at: Time,
        accept: &Accept,
        effects: &mut Effects,
        write: &mut dyn FnMut(Seq, Time, &Event<'_>),
    ) -> Option<Caution> {
        let address = accept.joins.as_ref().filter(|_| !accept.from.is_machinery())?;
        #[cfg(feature = "plants")]
        if self.has_plant(crate::plant::Plant::ClaimWithoutJoin) {
            return None;
        }
        match self.join(accept.from, address) {
            Ok(joined) => {
                self.commit_all(at, &joined.events, effects, write);
                None
            }
            Err(refusal) => {
                Some(Caution::now("not_joined", format!("you are not in `{address}`: {refusal}")))
            }
        }
    }

    fn update_with(
        &mut self,
        cx: &mut Context<'_>,
        accept: &Accept,
        effects: &mut Effects,
        write: &mut dyn FnMut(Seq, Time, &Event<'_>),
    ) {
        #[cfg(feature = "plants")]
        if self.has_plant(crate::plant::Plant::UpdateNotApplied) {
            return;
        }
        let Some(update) = &accept.update else { return };
        // It was checked before the message was accepted, and the message changed nothing that it depends on.
        if let Ok(changed) = self.change_state(cx, update) {
            self.commit_all(cx.now, &changed.events, effects, write);
        }
    }
}
