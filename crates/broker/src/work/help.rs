//! Help: somebody asks, somebody answers, and what nobody answers goes to a human.

use message::Severity;

use super::hear::{Heard, Spoken};
use super::{Fact, HelpAnswer, TaskIntent};
use crate::broker::Broker;
use crate::{Accept, AgentKey, Context, Event, Refusal};
use message::MessageId;

impl Broker {
    pub(super) fn hear_help<'a>(
        &self,
        cx: &mut Context<'_>,
        accept: &'a Accept,
        intent: &'a TaskIntent,
        spoken: &Spoken<'_, 'a>,
    ) -> Result<Heard<'a>, Refusal> {
        let urgency = intent.urgency.unwrap_or(Severity::Medium);
        let usual = cx.now.plus_ms(self.work.policy().help_ms(urgency));
        let by_deadline = intent.deadline.map(|deadline| cx.now.plus_ms(deadline.ms_since(cx.wall)));
        let until = by_deadline.map_or(usual, |deadline| deadline.min(usual));
        let fact = Fact::HelpAsked { help: spoken.id, asker: accept.from, until };
        Ok(Heard { facts: vec![fact], ..Heard::default() })
    }

    pub(super) fn hear_help_answered<'a>(
        &self,
        accept: &'a Accept,
        intent: &'a TaskIntent,
        spoken: &Spoken<'_, 'a>,
    ) -> Result<Heard<'a>, Refusal> {
        let answered = spoken.answers.and_then(|of| self.message_of(of.entry)).map(|message| message.id);
        let named = || accept.reply_to.as_deref().and_then(|reply_to| reply_to.parse::<MessageId>().ok());
        let open = answered.or_else(named).filter(|help| self.work.helps.contains_key(help));
        let Some(help) = open else { return Ok(Heard::default()) };
        let answer = intent.answer.unwrap_or(HelpAnswer::DirectAnswer);
        let escalated = match answer {
            HelpAnswer::DirectAnswer | HelpAnswer::ResourceProvision | HelpAnswer::CollaborativeSession => {
                false
            }
            HelpAnswer::Escalation | HelpAnswer::UnableToHelp => true,
        };
        let mut heard =
            Heard { facts: vec![Fact::HelpOver { help, by: accept.from, escalated }], ..Heard::default() };
        if escalated && let Some(open) = self.work.helps.get(&help) {
            let who = self.name_of(accept.from);
            let why = format!("{who} answered {}", answer.name());
            heard.tells.push(self.tell_help(help, open.asker, &why));
        }
        Ok(heard)
    }

    /// Passes a call for help on that nobody answered.
    pub(super) fn help_over<'a>(&self, cx: &mut Context<'_>, help: MessageId) -> Vec<Event<'a>> {
        let Some(open) = self.work.helps.get(&help).filter(|open| open.until <= cx.now) else {
            return Vec::new();
        };
        let tell = self.tell_help(help, open.asker, "nobody answered in time");
        let fact = Fact::HelpOver { help, by: AgentKey::SYSTEM, escalated: true };
        self.with_tells(cx, vec![Event::Work(fact)], vec![tell])
    }
}
