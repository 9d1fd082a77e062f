//! The reference model: what the outside world may expect of the bus.
//!
//! It is told what was asked, what was answered and what was let out, in order, and checks each against what it holds
//! itself. Of the broker's inside it knows nothing. It keeps a copy of itself for every turn that may be lost; after
//! a crash it goes on from the one that the log still has, which must hold everything that anybody was told.

mod accept;
mod check;
mod clock;
mod commit;
mod meddle;
mod queue;
mod records;
mod registry;
mod route;
mod settle;
mod state;
mod take;
mod work;

use std::collections::BTreeMap;
use std::rc::Rc;

use broker::{Broker, Delivery, Effect, Refusal, Reply, Settings, Time};
use message::{DeliveryId, MessageId, Seq};

use crate::driver::{Answer, Seen};
use crate::request::Request;
use crate::violation::{Promise, Violation, broken, ensure};

use state::State;

/// What came of a request.
type Outcome = Result<Reply, Refusal>;

/// The model.
pub(crate) struct Model {
    state: State,
    /// The model after each turn that may be the last one to survive, by its place in the log.
    turns: BTreeMap<Seq, State>,
    /// The last event on which anything rests that somebody was told.
    told: Seq,
    /// What each handing-out under way must carry.
    bodies: BTreeMap<DeliveryId, Rc<[u8]>>,
    /// How often somebody was handed what may be handed out once; never forgotten, whatever crashes.
    once: BTreeMap<(MessageId, u32), u32>,
}

impl Model {
    pub(crate) fn new(settings: Settings) -> Self {
        let state = State::new(settings);
        Model {
            turns: BTreeMap::from([(Seq(0), state.clone())]),
            state,
            told: Seq(0),
            bodies: BTreeMap::new(),
            once: BTreeMap::new(),
        }
    }

    /// Takes note of what was seen, and checks it.
    pub(crate) fn see(&mut self, seen: &Seen) -> Result<(), Violation> {
        match seen {
            Seen::Answered(answer) => {
                self.answered(answer)?;
                self.state.note(answer.last, answer.now);
                Ok(())
            }
            Seen::NoRoom(_) | Seen::Crashed => Ok(()),
            Seen::Elapsed { now, wall, effects, notices, last } => {
                self.state.elapse(*now, *wall);
                self.state.learn_notices(notices)?;
                self.state.unanswered(effects, *now)?;
                self.state.note(*last, *now);
                Ok(())
            }
            Seen::TurnOver { waiting, last, now, wall } => {
                self.state.note(*last, *now);
                self.state.check_due(*now, *wall)?;
                self.state.check_waits(*now)?;
                for waiting in waiting {
                    self.state.starved(waiting.agent, waiting.session, *wall)?;
                }
                self.turns.insert(*last, self.state.clone());
                Ok(())
            }
            Seen::Released(answer) => self.released(answer),
            Seen::Handed { delivery, body } => self.handed(delivery, body),
            Seen::Kept { records, asked } => {
                self.state.check_kept(records)?;
                self.state.check_asked(asked)
            }
            Seen::Told(_) => Ok(()),
            Seen::Started { last, now } => self.started(*last, *now),
        }
    }

    /// Compares with what the bus says of every message; everything accepted is accounted for.
    pub(crate) fn check(&self, broker: &Broker) -> Result<(), Violation> {
        self.state.check(broker)
    }

    /// Compares with what the bus says of every task, gate, breaker and sum.
    pub(crate) fn check_work(&self, broker: &Broker) -> Result<(), Violation> {
        self.state.check_work(broker)
    }

    fn answered(&mut self, answer: &Answer) -> Result<(), Violation> {
        let (outcome, state) = (&answer.outcome, &mut self.state);
        match &answer.request {
            Request::Register(registered) => state.registered(registered, outcome)?,
            Request::Remove { agent } => state.removed(*agent, outcome)?,
            Request::Join { agent, address } => state.joined(*agent, address, outcome)?,
            Request::Leave { agent, address } => state.left(*agent, address, outcome)?,
            Request::Presence { agent, state: presence } => {
                if !state.refused_unknown(*agent, outcome)? {
                    state.set_presence(*agent, *presence);
                }
            }
            Request::Connect { agent } => state.connected(*agent, outcome)?,
            Request::Disconnect { session } => state.disconnected(*session, outcome)?,
            // That connections are gone follows from the start, whoever says so.
            Request::Restart => {}
            Request::Wake => state.graced(answer.now),
            Request::Accept(sent) => state.accepted(sent, answer)?,
            Request::Take(wish) => {
                let bodies = state.taken(wish, answer)?;
                if let Ok(Reply::Taken(deliveries)) = outcome {
                    self.bodies.extend(deliveries.iter().map(|it| it.delivery).zip(bodies));
                }
            }
            Request::Surface { delivery, .. } => state.surfaced(*delivery, outcome)?,
            Request::Ack { agent, delivery } => state.acked(*agent, *delivery, outcome)?,
            Request::Process { agent, message } => state.processed(*agent, *message, outcome)?,
            Request::Nack { delivery, delay, .. } => state.nacked(*delivery, *delay, answer)?,
            Request::Extend { delivery, lease_ms, .. } => state.extended(*delivery, *lease_ms, answer)?,
            Request::Return { agent, delivery } => {
                if let Some(message) = state.returned(*delivery, answer)?
                    && let Some(count) = self.once.get_mut(&(message, agent.0))
                {
                    *count = count.saturating_sub(1);
                }
            }
            Request::Retract { message, by } => state.retracted(*message, *by, answer)?,
            Request::Amend { message, by, body } => state.amended(*message, *by, body, answer)?,
            Request::Resume { message } => state.resumed(*message, answer)?,
            Request::RetryDead { .. } => state.dead_retried(answer)?,
            Request::DropDead { .. } => state.dead_dropped(answer)?,
            Request::EndWait { message } => state.wait_given_up(*message, outcome)?,
            Request::Tune(retention) => state.retention = *retention,
            Request::Commit(recorded) => state.committed(recorded, answer)?,
            Request::ChangeState(changed) => state.state_changed(changed, answer)?,
            Request::JudgeGate { gate, by, approved } => state.gate_judged(*gate, *by, *approved, answer)?,
            Request::Claim(claimed) => state.claimed(claimed, answer)?,
            Request::Equip { agent, capabilities } => state.equipped(*agent, capabilities, answer)?,
            Request::Sign { agent, sign } => state.signed(*agent, sign, outcome)?,
        }
        self.state.learn_notices(&answer.notices)?;
        self.waits_ended(answer)
    }

    fn waits_ended(&mut self, answer: &Answer) -> Result<(), Violation> {
        if let (Request::Retract { message, .. } | Request::EndWait { message }, Ok(_)) =
            (&answer.request, &answer.outcome)
        {
            let waited = self.state.messages.get(message).is_some_and(|letter| letter.wait_until.is_some());
            let told = answer
                .effects
                .iter()
                .any(|effect| matches!(effect, Effect::Unanswered { message: id, .. } if id == message));
            let what = format_args!("the wait for {message} is given up: {:?}", answer.effects);
            ensure(told == waited, Promise::Replies, what)?;
            if waited {
                self.state.end_wait(*message);
            }
            return Ok(());
        }
        self.state.unanswered(&answer.effects, answer.now)
    }

    fn released(&mut self, answer: &Answer) -> Result<(), Violation> {
        self.told = self.told.max(answer.needs);
        // Whatever is lost now, this turn is not.
        let keep = self.turns.range(..=self.told).next_back().map_or(Seq(0), |(last, _)| *last);
        self.turns.retain(|last, _| *last >= keep);
        Ok(())
    }

    fn handed(&mut self, delivery: &Delivery, body: &[u8]) -> Result<(), Violation> {
        match self.bodies.remove(&delivery.delivery) {
            Some(sent) => {
                let what = format_args!("{} carries {:?}, not {:?}", delivery.id, text(body), text(&sent));
                ensure(*sent == *body, Promise::Bodies, what)?;
            }
            None => return broken(Promise::Answers, format_args!("{delivery:?} comes from nowhere")),
        }
        if let Some((agent, count_max)) = self.state.once_for(delivery) {
            let count = self.once.entry((delivery.id, agent.0)).or_default();
            *count += 1;
            let what = format_args!("{} was handed to {agent:?} {count} times", delivery.id);
            ensure(*count <= count_max, Promise::AtMostOnce, what)?;
        }
        Ok(())
    }

    fn started(&mut self, last: Seq, now: Time) -> Result<(), Violation> {
        let told = self.told;
        let what = format_args!("somebody was told what rests on event {told}, and the log ends at {last}");
        ensure(last >= told, Promise::Durable, what)?;
        let Some(state) = self.turns.get(&last) else {
            let turns: Vec<Seq> = self.turns.keys().copied().collect();
            return broken(
                Promise::Recovery,
                format_args!("the log ends at {last}, within a turn of {turns:?}"),
            );
        };
        self.state = state.clone();
        self.turns.retain(|turn, _| *turn <= last);
        self.bodies.clear();
        if last > Seq(0) {
            self.state.restarted(now);
        }
        Ok(())
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
