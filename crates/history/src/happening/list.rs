//! Events of the log, resolved against the tables.

use std::collections::HashMap;
use std::ops::ControlFlow;

use broker::{AgentKey, Event, GroupKey, Next, Of, SessionKey, Time};
use log::{Entry, ReadError};
use message::Seq;

use super::{Asked, Happened, Happening, Happenings, Name};
use crate::error::HistoryError;
use crate::find::Check;
use crate::letter::{Letter, Who};
use crate::records::Records;
use crate::registry::Registry;
use crate::row::Row;
use crate::store::{Store, sql};

/// What resolving events takes.
struct Resolver<'q> {
    store: &'q Store,
    asked: &'q Asked<'q>,
    check: Check,
    registry: Registry,
    /// Messages that were looked up; nothing for those that are not to be shown.
    letters: HashMap<Seq, Option<Letter>>,
}

/// What an event is about.
enum About {
    /// A delivery of a message; the event may name the agent itself.
    Delivery(Of, Option<AgentKey>),
    Message(Seq),
    Agent(AgentKey),
    Membership(AgentKey, GroupKey),
    Session(SessionKey),
    Bus,
}

/// Lists what happened, as far as it may be seen.
pub(crate) fn list(
    store: &Store,
    records: &Records,
    examine_max: usize,
    asked: &Asked<'_>,
) -> Result<Happenings, HistoryError> {
    let filter = asked.filter;
    let agent = filter.agent.map(Who::Agent);
    let check = Check::of(asked.scope, agent, None, filter.thread.clone(), filter.task.clone(), None);
    let mut resolver =
        Resolver { store, asked, check, registry: Registry::default(), letters: HashMap::new() };
    let mut found = Happenings { list: Vec::new(), upto: asked.after.min(asked.upto) };
    let to = asked.upto.min(Seq(asked.after.0.saturating_add(examine_max as u64)));
    let mut from = Seq(asked.after.0.saturating_add(1));
    loop {
        let mut outcome = Ok(());
        let scanned = records.scan(from, to, &mut |entry| {
            outcome = resolver.add(entry, to, &mut found);
            let is_full = found.list.len() >= asked.limit.max(1);
            if outcome.is_ok() && !is_full { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        outcome?;
        match scanned {
            Ok(()) => return Ok(found),
            Err(ReadError::Trimmed { first, .. }) if first > from && first <= to => {
                let last = Seq(first.0 - 1);
                found.list.push(Happening::Gap { first: from, last });
                (found.upto, from) = (last, first);
            }
            Err(ReadError::Trimmed { .. }) => {
                found.list.push(Happening::Gap { first: from, last: to });
                found.upto = to;
                return Ok(found);
            }
            Err(error) => return Err(error.into()),
        }
    }
}

impl Resolver<'_> {
    fn add(&mut self, entry: Entry<'_>, to: Seq, found: &mut Happenings) -> Result<(), HistoryError> {
        match entry {
            Entry::Gap { first, last } => {
                found.list.push(Happening::Gap { first: first.max(Seq(self.asked.after.0 + 1)), last });
                found.upto = last.min(to);
            }
            Entry::Record { seq, bytes, .. } => {
                found.upto = seq;
                let Ok((at, event)) = Event::decode(bytes) else { return Ok(()) };
                let happened = self.resolve(seq, at, &event)?;
                found.list.extend(happened.map(|happened| Happening::Happened(Box::new(happened))));
            }
        }
        Ok(())
    }

    fn resolve(&mut self, seq: Seq, at: Time, event: &Event<'_>) -> Result<Option<Happened>, HistoryError> {
        let Some((name, about)) = about(seq, event) else { return Ok(None) };
        let mut happened = Happened {
            seq,
            at: at.timestamp(),
            name,
            row: None,
            agent: None,
            by: None,
            reason: None,
            next: None,
            next_agent: None,
            address: None,
            presence: None,
        };
        if !self.place(&mut happened, about)? {
            return Ok(None);
        }
        self.detail(&mut happened, event)?;
        Ok(Some(happened))
    }

    /// Says whom or what it is about; tells whether it may be shown and is wanted.
    fn place(&mut self, happened: &mut Happened, about: About) -> Result<bool, HistoryError> {
        match about {
            About::Message(message) => {
                let Some(letter) = self.letter(message)? else { return Ok(false) };
                happened.row = Some(self.row(&letter)?);
            }
            About::Delivery(of, agent) => {
                let Some(letter) = self.letter(of.seq)? else { return Ok(false) };
                happened.row = Some(self.row(&letter)?);
                let delivery = letter.deliveries.iter().find(|delivery| delivery.entry == of.entry);
                let agent = agent.or_else(|| delivery.and_then(|delivery| delivery.recipient()));
                happened.agent = agent.map(|agent| self.name(agent)).transpose()?;
            }
            About::Agent(agent) => return self.place_agent(happened, agent),
            About::Membership(agent, group) => {
                self.store.know_group(group, &mut self.registry)?;
                happened.address = Some(self.registry.address(group).to_owned());
                return self.place_agent(happened, agent);
            }
            About::Session(session) => {
                let text = "SELECT agent FROM sessions WHERE session = ?1 AND opened < ?2 \
                            ORDER BY opened DESC LIMIT 1";
                let agent: Option<u32> = self.store.one(text, (session.0, sql(happened.seq.0)))?;
                return agent.map_or(Ok(false), |agent| self.place_agent(happened, AgentKey(agent)));
            }
            About::Bus => return Ok(self.asked.filter == &super::Watch::default()),
        }
        Ok(true)
    }

    fn place_agent(&mut self, happened: &mut Happened, agent: AgentKey) -> Result<bool, HistoryError> {
        happened.agent = Some(self.name(agent)?);
        let filter = self.asked.filter;
        let is_about_messages = filter.thread.is_some() || filter.task.is_some();
        Ok(!is_about_messages && filter.agent.is_none_or(|wanted| wanted == agent))
    }

    /// Adds what the event itself says.
    fn detail(&mut self, happened: &mut Happened, event: &Event<'_>) -> Result<(), HistoryError> {
        if let Event::Dispatched { by, .. } | Event::Surfaced { by, .. } | Event::Acknowledged { by, .. } =
            event
        {
            happened.by = Some((*by).to_owned()).filter(|by| !by.is_empty());
        }
        if let Event::PresenceSet { state, .. } = event {
            happened.presence = Some(*state);
        }
        if let Event::Failed(failed) = event {
            happened.reason = Some(failed.reason.to_owned()).filter(|reason| !reason.is_empty());
            happened.next = Some(next_word(failed.next));
            if let Next::Fallback { agent, .. } = failed.next {
                happened.next_agent = Some(self.name(agent)?);
            }
        }
        Ok(())
    }

    fn letter(&mut self, seq: Seq) -> Result<Option<Letter>, HistoryError> {
        if let Some(known) = self.letters.get(&seq) {
            return Ok(known.clone());
        }
        let mut letter = self.check.fetch(self.store, seq)?;
        if let Some(letter) = &mut letter {
            letter.deliveries = self.store.deliveries(seq)?;
        }
        self.letters.insert(seq, letter.clone());
        Ok(letter)
    }

    fn row(&mut self, letter: &Letter) -> Result<Row, HistoryError> {
        self.store.know_row(letter, &mut self.registry)?;
        Ok(Row::new(letter, &self.registry))
    }

    fn name(&mut self, agent: AgentKey) -> Result<String, HistoryError> {
        self.store.know_agent(agent, &mut self.registry)?;
        Ok(self.registry.name(agent).to_owned())
    }
}

/// Returns what an event is called and what it is about; nothing for what is of no interest outside.
fn about(seq: Seq, event: &Event<'_>) -> Option<(Name, About)> {
    Some(match event {
        Event::AgentSet { agent, .. } => (Name::AgentSet, About::Agent(*agent)),
        Event::AgentRemoved { agent } => (Name::AgentRemoved, About::Agent(*agent)),
        Event::Joined { agent, group } => (Name::Joined, About::Membership(*agent, *group)),
        Event::Left { agent, group } => (Name::Left, About::Membership(*agent, *group)),
        Event::PresenceSet { agent, .. } => (Name::Presence, About::Agent(*agent)),
        Event::SessionOpened { agent, .. } => (Name::SessionOpened, About::Agent(*agent)),
        Event::SessionClosed { session } => (Name::SessionClosed, About::Session(*session)),
        Event::Restarted => (Name::Restarted, About::Bus),
        Event::Accepted(_) => (Name::Accepted, About::Message(seq)),
        Event::Dispatched { of, agent, .. } => (Name::Dispatched, About::Delivery(*of, Some(*agent))),
        Event::Returned { of } => (Name::Returned, About::Delivery(*of, None)),
        Event::Surfaced { of, .. } => (Name::Surfaced, About::Delivery(*of, None)),
        Event::Acknowledged { of, agent, .. } => (Name::Acknowledged, About::Delivery(*of, Some(*agent))),
        Event::Failed(failed) => (Name::Failed, About::Delivery(failed.of, None)),
        Event::Extended { of, .. } => (Name::Extended, About::Delivery(*of, None)),
        Event::Released { of } => (Name::Released, About::Delivery(*of, None)),
        Event::DeadRetried { of } => (Name::Retried, About::Delivery(*of, None)),
        Event::DeadDropped { of } => (Name::Dropped, About::Delivery(*of, None)),
        Event::Expired { seq, .. } => (Name::Expired, About::Message(*seq)),
        Event::Withdrawn { seq, .. } => (Name::Withdrawn, About::Message(*seq)),
        Event::Amended { seq, .. } => (Name::Amended, About::Message(*seq)),
        Event::Resumed { seq, .. } => (Name::Resumed, About::Message(*seq)),
        Event::GroupMade { .. }
        | Event::Graced { .. }
        | Event::Absorbed { .. }
        | Event::WaitEnded { .. }
        | Event::Carried { .. }
        | Event::Tuned(_)
        | Event::RecordSet(_)
        | Event::RecordRemoved { .. }
        | Event::RecordCarried { .. }
        | Event::Work(_)
        | Event::TaskCarried { .. } => return None,
    })
}

fn next_word(next: Next) -> &'static str {
    match next {
        Next::Again => "again",
        Next::Retry { .. } => "retry",
        Next::Fallback { .. } => "fallback",
        Next::Dead => "dead",
        Next::Expired => "expired",
        Next::Unconfirmed => "unconfirmed",
        Next::Withdrawn => "withdrawn",
    }
}
