//! The broker as a whole: its tables, and the one place where commands and events find what handles them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use message::Seq;

use crate::effect::Effects;
use crate::entry::{Entry, Message};
use crate::group::Groups;
use crate::known::Known;
use crate::lane::Lanes;
use crate::records::Records;
use crate::registry::Agents;
use crate::session::Session;
use crate::slab::Slab;
use crate::timers::Timers;
use crate::turns::Turns;
use crate::word::Words;
use crate::work::Works;
use crate::{
    AgentKey, Command, Context, Due, EntryKey, Event, GroupKey, MessageKey, Misfit, Refusal, Reply,
    Retention, Settings, Time,
};

/// The state of the bus, and what may be done with it.
pub struct Broker {
    pub(crate) settings: Settings,
    /// The last event that was applied.
    pub(crate) last: Seq,
    /// The latest time of an event.
    pub(crate) time: Time,
    /// The last place that was given to an entry.
    pub(crate) orders: u64,
    pub(crate) retention: Retention,
    pub(crate) agents: Agents,
    pub(crate) groups: Groups,
    pub(crate) sessions: Slab<Session>,
    pub(crate) messages: Slab<Message>,
    pub(crate) entries: Slab<Entry>,
    pub(crate) lanes: Lanes,
    pub(crate) known: Known,
    pub(crate) turns: Turns,
    pub(crate) timers: Timers,
    /// Who waits for the reply to what.
    pub(crate) waits: BTreeSet<(AgentKey, MessageKey)>,
    /// What waits for names that nobody has.
    pub(crate) held: BTreeMap<Box<str>, Vec<EntryKey>>,
    /// Dead letters, the oldest first.
    pub(crate) dead: BTreeMap<u64, EntryKey>,
    /// Messages that are over and remembered, the oldest first.
    pub(crate) settled: VecDeque<MessageKey>,
    /// What was on its way over connections that are gone.
    pub(crate) strays: BTreeSet<EntryKey>,
    /// What waits for agents that are gone.
    pub(crate) orphans: BTreeSet<EntryKey>,
    /// What waits for a human.
    pub(crate) parked: BTreeSet<EntryKey>,
    /// Topics and channels with too many posts.
    pub(crate) crowded: BTreeSet<GroupKey>,
    pub(crate) records: Records,
    pub(crate) work: Works,
    pub(crate) open_messages: u64,
    pub(crate) open_bytes: u64,
    /// Entries that are handed out.
    pub(crate) handed_out: u64,
    pub(crate) words: Words,
    #[cfg(feature = "plants")]
    pub(crate) plant: Option<crate::plant::Plant>,
}

/// What a command leads to: events to be applied in order, and what it gives back.
#[derive(Debug)]
pub struct Decision<'a> {
    /// What happens.
    pub events: Vec<Event<'a>>,
    /// What is given back.
    pub reply: Reply,
}

pub(crate) type Decided<'a> = Result<Decision<'a>, Refusal>;
pub(crate) type Applied = Result<(), Misfit>;

impl<'a> Decision<'a> {
    pub(crate) fn done(events: Vec<Event<'a>>) -> Self {
        Decision { events, reply: Reply::Done }
    }
}

impl Broker {
    /// Makes the state before anything happened.
    pub fn new(settings: Settings) -> Self {
        Broker {
            settings,
            last: Seq(0),
            time: Time(0),
            orders: 0,
            retention: Retention::USUAL,
            agents: Agents::reserved(),
            groups: Groups::with_everyone(),
            sessions: Slab::default(),
            messages: Slab::default(),
            entries: Slab::default(),
            lanes: Lanes::default(),
            known: Known::default(),
            turns: Turns::default(),
            timers: Timers::default(),
            waits: BTreeSet::new(),
            held: BTreeMap::new(),
            dead: BTreeMap::new(),
            settled: VecDeque::new(),
            strays: BTreeSet::new(),
            orphans: BTreeSet::new(),
            parked: BTreeSet::new(),
            crowded: BTreeSet::new(),
            records: Records::default(),
            work: Works::default(),
            open_messages: 0,
            open_bytes: 0,
            handed_out: 0,
            words: Words::default(),
            #[cfg(feature = "plants")]
            plant: None,
        }
    }

    /// Returns the sequence of the last event that was applied.
    pub fn last(&self) -> Seq {
        self.last
    }

    /// Returns the latest time of an event; the bus's time never goes behind it.
    pub fn time(&self) -> Time {
        self.time
    }

    /// Carries a command out: decides it and applies what it leads to. Each event is given to `write` with its
    /// sequence and time, to be appended to the log in this order.
    pub fn execute(
        &mut self,
        cx: &mut Context<'_>,
        command: &Command,
        effects: &mut Effects,
        write: &mut dyn FnMut(Seq, Time, &Event<'_>),
    ) -> Result<Reply, Refusal> {
        cx.now = cx.now.max(self.time);
        // What a member of a topic takes is decided among its own entries.
        if let Command::Take(take) = command {
            self.check_take(take)?;
            self.absorb_all(take.agent, cx.now, effects, write);
        }
        if let Command::Process { agent, message, .. } = command
            && self.is_posted_to(*agent, *message)
        {
            self.absorb_all(*agent, cx.now, effects, write);
        }
        if let Command::Accept(accept) = command {
            return self.accept_with_carried(cx, accept, effects, write);
        }
        if let Command::Register(register) = command {
            return self.register_with_carried(cx, register, effects, write);
        }
        if let Command::Claim(claim) = command {
            return self.claim(cx, claim, effects, write);
        }
        if let Command::Equip { agent, capabilities } = command {
            return self.equip_in_roles(cx, (*agent, capabilities), effects, write);
        }
        if let Command::Commit(commit) = command {
            return self.commit_with_messages(cx, commit, effects, write);
        }
        let decision = self.decide(cx, command)?;
        self.commit_all(cx.now, &decision.events, effects, write);
        Ok(decision.reply)
    }

    /// Decides a command: reads the state and proposes events, or refuses. Changes nothing. Of a command that is decided
    /// in steps it decides the first; [`Broker::execute`] decides all of them.
    pub fn decide<'a>(&self, cx: &mut Context<'_>, command: &'a Command) -> Result<Decision<'a>, Refusal> {
        match command {
            Command::Register(register) => self.register(register),
            Command::Remove { agent } => self.remove(*agent),
            Command::Join { agent, address } => self.join(*agent, address),
            Command::Leave { agent, address } => self.leave(*agent, address),
            Command::SetPresence { agent, state, detail } => self.set_presence(*agent, *state, detail),
            Command::OpenSession { agent, door } => self.open_session(*agent, *door),
            Command::CloseSession { session } => self.close_session(*session),
            Command::Restart => self.restart(cx),
            Command::Wake => self.wake(cx),
            Command::Accept(accept) => self.accept(cx, accept),
            Command::Retract { message, by } => self.retract(cx, *message, *by),
            Command::Amend { message, by, body } => self.amend(cx, *message, *by, body),
            Command::Resume { message } => self.resume(cx, *message),
            Command::Take(take) => self.take(cx, take),
            Command::Surface { agent, delivery, by } => self.surface(*agent, *delivery, by),
            Command::Ack { agent, delivery, by } => self.ack(*agent, *delivery, by),
            Command::Process { agent, message, by } => self.process(*agent, *message, by),
            Command::Nack(nack) => self.nack(cx, nack),
            Command::Extend { agent, delivery, lease_ms } => self.extend(cx, *agent, *delivery, *lease_ms),
            Command::Return { agent, delivery } => self.give_back(cx, *agent, *delivery),
            Command::RetryDead { message, entry } => self.retry_dead(*message, *entry),
            Command::DropDead { message, entry } => self.drop_dead(*message, *entry),
            Command::EndWait { message } => self.end_wait(*message),
            Command::Due(due) => self.decide_due(cx, *due),
            Command::Carry { of, place, body } => self.carry(of, *place, body),
            Command::Tune(retention) => Ok(Decision::done(vec![Event::Tuned(*retention)])),
            Command::Commit(commit) => self.check_commit(cx, commit),
            Command::ChangeState(change) => self.change_state(cx, change),
            Command::JudgeGate { gate, by, approved, reason } => {
                self.judge_gate(cx, *gate, *by, *approved, reason)
            }
            Command::Equip { agent, capabilities } => self.equip(*agent, capabilities),
            // The message that claims is made when the task is chosen, in steps.
            Command::Claim(_) => Ok(Decision::done(Vec::new())),
            Command::Sign { agent, sign } => self.sign(*agent, sign),
        }
    }

    /// Folds one event into the state. The effects are to be let out when the event is durable.
    ///
    /// An event that does not fit leaves a state that must not be used any more.
    pub fn apply(
        &mut self,
        seq: Seq,
        at: Time,
        event: &Event<'_>,
        effects: &mut Effects,
    ) -> Result<(), Misfit> {
        if seq.0 != self.last.0 + 1 {
            return Err(Misfit::Sequence { last: self.last, found: seq });
        }
        self.last = seq;
        self.time = self.time.max(at);
        match event {
            Event::AgentSet { agent, name, aliases, dialect, profile } => {
                self.agent_set(*agent, name, aliases, *dialect, profile, effects)
            }
            Event::AgentRemoved { agent } => self.agent_removed(*agent, effects),
            Event::GroupMade { group, address } => self.group_made(*group, address),
            Event::Joined { agent, group } => self.joined(*agent, *group, effects),
            Event::Left { agent, group } => self.left(*agent, *group, effects),
            Event::PresenceSet { agent, state, detail } => {
                self.presence_set(*agent, *state, detail, at, effects)
            }
            Event::SessionOpened { session, agent, number, door } => {
                self.session_opened(*session, *agent, *number, *door, effects)
            }
            Event::SessionClosed { session } => self.session_closed(*session, effects),
            Event::Restarted => self.restarted(effects),
            Event::Graced { until } => self.graced(*until),
            Event::Accepted(accepted) => self.accepted(accepted, at, effects),
            Event::Absorbed { agent, group, upto, entries } => {
                self.absorbed(*agent, *group, *upto, entries, effects)
            }
            Event::Dispatched { of, agent, session, delivery, lease_until, by } => {
                self.dispatched(*of, (*agent, *session), *delivery, (at, *lease_until), by, effects)
            }
            Event::Returned { of } => self.returned(*of, effects),
            Event::Surfaced { of, by } => self.surfaced(*of, by, at),
            Event::Acknowledged { of, agent, by } => self.acknowledged(*of, *agent, by, at, effects),
            Event::Failed(failed) => self.failed(failed, at, effects),
            Event::Extended { of, until } => self.extended(*of, *until),
            Event::Released { of } => self.released(*of, effects),
            Event::Expired { message, seq } => self.expired(self.check_message(*message, *seq)?, at, effects),
            Event::Withdrawn { message, seq } => {
                self.withdrawn(self.check_message(*message, *seq)?, at, effects)
            }
            Event::Amended { message, seq, body } => self.amended(self.check_message(*message, *seq)?, body),
            Event::Resumed { message, seq } => self.resumed(self.check_message(*message, *seq)?, effects),
            Event::DeadRetried { of } => self.dead_retried(*of, effects),
            Event::DeadDropped { of } => self.dead_dropped(*of, effects),
            Event::WaitEnded { message, seq } => {
                self.wait_ended(self.check_message(*message, *seq)?, effects)
            }
            Event::Carried { message, seq, body } => self.carried(self.check_message(*message, *seq)?, body),
            Event::Tuned(retention) => self.tuned(*retention, effects),
            Event::RecordSet(set) => self.record_set(set),
            Event::RecordRemoved { repo, collection, key, tick, rev, commit, body } => {
                self.record_removed(*repo, (collection, key), (*tick, *rev), *commit, *body)
            }
            Event::RecordCarried { repo, collection, key, tick, body } => {
                self.record_carried(*repo, (collection, key), *tick, body)
            }
            Event::Work(fact) => self.worked(fact, at, effects),
            Event::TaskCarried { of, body } => self.task_carried(*of, body),
        }
    }

    /// Returns what the clocks have made due, at most so many; each is to be executed as a command.
    pub fn due(&self, now: Time, wall: Time, limit: usize) -> Vec<Due> {
        self.find_due(now, wall).take(limit).collect()
    }

    /// Returns when something is due next: in the bus's time, and by the wall clock.
    pub fn next_due(&self) -> (Option<Time>, Option<Time>) {
        let (bus, wall) = self.timers.next();
        let (work_bus, work_wall) = self.next_work_due();
        let earlier = |one: Option<Time>, other: Option<Time>| one.into_iter().chain(other).min();
        (earlier(bus, work_bus), earlier(wall, work_wall))
    }

    /// Makes posts of an agent's topics and channels entries of its own.
    fn absorb_all(
        &mut self,
        agent: AgentKey,
        at: Time,
        effects: &mut Effects,
        write: &mut dyn FnMut(Seq, Time, &Event<'_>),
    ) {
        let groups = self.agents.get(agent).map_or(0, |agent| agent.groups.len());
        for place in 0..groups {
            if let Some(event) = self.absorb(agent, place) {
                self.commit(at, &event, effects, write);
            }
        }
    }

    pub(crate) fn commit_all(
        &mut self,
        at: Time,
        events: &[Event<'_>],
        effects: &mut Effects,
        write: &mut dyn FnMut(Seq, Time, &Event<'_>),
    ) {
        for event in events {
            self.commit(at, event, effects, write);
        }
    }

    fn commit(
        &mut self,
        at: Time,
        event: &Event<'_>,
        effects: &mut Effects,
        write: &mut dyn FnMut(Seq, Time, &Event<'_>),
    ) {
        let seq = Seq(self.last.0 + 1);
        self.apply(seq, at, event, effects).expect("what was decided on a state fits that state");
        write(seq, at, event);
    }

    #[cfg(feature = "plants")]
    pub(crate) fn has_plant(&self, plant: crate::plant::Plant) -> bool {
        self.plant == Some(plant)
    }
}
