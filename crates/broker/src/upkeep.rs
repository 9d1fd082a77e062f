//! Upkeep of the log: carrying living bodies forward, so that what lies before them can be trimmed; and how much is
//! remembered.

use message::Seq;

use crate::broker::{Applied, Broker, Decided, Decision};
use crate::effect::Effects;
use crate::work::is_over;
use crate::{Event, MessageKey, Misfit, OfTask, RecordName, Refusal, Retention, TaskKey, TaskRequest};

/// A body that must not be given up: something that is not over needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Living {
    /// What needs it.
    pub of: Holder,
    /// Where it lies.
    pub place: Seq,
    /// How long it is.
    pub bytes: u64,
}

/// What can need a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Holder {
    /// A message that is not settled.
    Message(MessageKey),
    /// A record, for as long as there is one of that name. One that is a message may lie where the message does; each
    /// of the two needs the body, and each is carried.
    Record(RecordName),
    /// A task that is not over.
    Task(TaskKey),
}

/// Where a look for living bodies goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LookFrom {
    /// At a place of the messages.
    Messages(u32),
    /// Behind a record, or at the first.
    Records(Option<RecordName>),
    /// At a place of the tasks.
    Tasks(u32),
}

impl LookFrom {
    /// Where a look begins. Messages come before records: by the time that records are looked at no open message lies
    /// before the place, and only where an open one lies can a record be put.
    pub const START: LookFrom = LookFrom::Messages(0);
}

/// Looks for living bodies, a part at a time.
#[derive(Clone, Debug)]
pub struct LivingBodies {
    /// Before which place they lie.
    pub before: Seq,
    /// Where to go on.
    pub from: LookFrom,
    /// How many places of the state are looked at.
    pub places_max: u32,
}

impl crate::query::sealed::Sealed for LivingBodies {}

impl crate::Query for LivingBodies {
    /// What was found, and where to go on.
    type Answer = (Vec<Living>, Option<LookFrom>);

    const NAME: &'static str = "living_bodies";

    fn run(self, state: &Broker, _at: crate::At) -> Self::Answer {
        state.bodies_before(self.before, self.from, self.places_max)
    }
}

impl Broker {
    /// Looks for living bodies before a place: everything that whoever trims the log must carry forward first.
    ///
    /// One look passes at most so many places of the state, so that nobody waits for it. It returns where to go on, or
    /// nothing when all has been seen. Bodies only ever move to the end of the log, so whatever happens between two
    /// parts of a look, none before the place is missed.
    pub fn bodies_before(
        &self,
        place: Seq,
        from: LookFrom,
        places_max: u32,
    ) -> (Vec<Living>, Option<LookFrom>) {
        let places_max = places_max.max(1);
        match from {
            LookFrom::Messages(first) => self.messages_before(place, first, places_max),
            LookFrom::Records(after) => self.records_before(place, after.as_ref(), places_max),
            LookFrom::Tasks(first) => self.tasks_before(place, first, places_max),
        }
    }

    fn messages_before(&self, place: Seq, first: u32, places_max: u32) -> (Vec<Living>, Option<LookFrom>) {
        let end = first.saturating_add(places_max);
        let living = self.messages.range(first, end).filter(|(_, message)| {
            // What is settled may go.
            message.open > 0 && message.body < place
        });
        let bodies = living.map(|(key, message)| Living {
            of: Holder::Message(MessageKey(key)),
            place: message.body,
            bytes: message.bytes.into(),
        });
        let next = match end < self.messages.end() {
            true => Some(LookFrom::Messages(end)),
            false if self.records.count > 0 => Some(LookFrom::Records(None)),
            false => Some(LookFrom::Tasks(0)),
        };
        (bodies.collect(), next)
    }

    fn records_before(
        &self,
        place: Seq,
        after: Option<&RecordName>,
        places_max: u32,
    ) -> (Vec<Living>, Option<LookFrom>) {
        let mut bodies = Vec::new();
        let next = self.records.look(after, places_max, |name, record| {
            if record.body < place {
                let (of, bytes) = (Holder::Record(name()), record.bytes.into());
                bodies.push(Living { of, place: record.body, bytes });
            }
        });
        let next = next.map_or(LookFrom::Tasks(0), |name| LookFrom::Records(Some(name)));
        (bodies, Some(next))
    }

    fn tasks_before(&self, place: Seq, first: u32, places_max: u32) -> (Vec<Living>, Option<LookFrom>) {
        let end = first.saturating_add(places_max);
        let bodies = self.work.tasks.range(first, end).filter_map(|(key, task)| {
            let request = task.request.filter(|request| request.body < place && !is_over(task.status))?;
            let of = Holder::Task(TaskKey(key));
            Some(Living { of, place: request.body, bytes: request.bytes.into() })
        });
        (bodies.collect(), (end < self.work.tasks.end()).then_some(LookFrom::Tasks(end)))
    }

    fn carry_task<'a>(&self, key: TaskKey, place: Seq, body: &'a [u8]) -> Decided<'a> {
        let task = self.work.task(key).filter(|task| !is_over(task.status));
        let is_it = |request: &TaskRequest| request.body == place && request.bytes as usize == body.len();
        let found = task.and_then(|task| task.request.filter(is_it).map(|_| task));
        let task = found.ok_or(Refusal::UnknownTask { task: key.to_string() })?;
        let of = OfTask { task: key, born: task.born };
        Ok(Decision::done(vec![Event::TaskCarried { of, body }]))
    }

    pub(crate) fn task_carried(&mut self, of: OfTask, body: &[u8]) -> Applied {
        let seq = self.last;
        let task = self.work.tasks.get_mut(of.task.0).filter(|task| task.born == of.born);
        match task.and_then(|task| task.request.as_mut()) {
            Some(request) if request.bytes as usize == body.len() => {
                request.body = seq;
                Ok(())
            }
            Some(_) | None => Err(Misfit::State { seq, what: "a task" }),
        }
    }

    pub(crate) fn carry<'a>(&self, of: &'a Holder, place: Seq, body: &'a [u8]) -> Decided<'a> {
        match of {
            Holder::Message(message) => self.carry_message(*message, place, body),
            Holder::Record(name) => self.carry_record(name, place, body),
            Holder::Task(key) => self.carry_task(*key, place, body),
        }
    }

    fn carry_message<'a>(&self, message: MessageKey, place: Seq, body: &'a [u8]) -> Decided<'a> {
        let is_it = |known: &&crate::entry::Message| {
            known.open > 0 && known.body == place && known.bytes as usize == body.len()
        };
        let seq = self.message(message).filter(is_it).ok_or(Refusal::UnknownMessage)?.seq;
        Ok(Decision::done(vec![Event::Carried { message, seq, body }]))
    }

    pub(crate) fn carried(&mut self, key: MessageKey, body: &[u8]) -> Applied {
        let seq = self.last;
        match self.messages.get_mut(key.0) {
            Some(message) if message.bytes as usize == body.len() => {
                message.body = seq;
                Ok(())
            }
            Some(_) | None => Err(Misfit::State { seq, what: "a body" }),
        }
    }

    pub(crate) fn tuned(&mut self, retention: Retention, effects: &mut Effects) -> Applied {
        self.retention = retention;
        self.forget_settled();
        self.forget_dead(effects);
        Ok(())
    }
}
