//! Work as bytes of a snapshot, and back. What follows from it is made again.

use message::{Priority, TaskStatus};

use super::fact::{Breaker, request, write_request};
use super::fold::read_policy;
use super::policy::Ask;
use super::{
    Allotment, Blocker, Gate, HandoffReason, Help, Hold, JudgedHeld, Judgement, Micros, Note, Offer, Outcome,
    PolicyHeld, Resource, Rest, Step, Task, Timer, Worker, Works, fingerprint,
};
use crate::codec::{DecodeError, Reader, Writer};
use crate::{AgentKey, GroupKey, MessageKey, TaskKey};

impl Works {
    pub(crate) fn write(&self, writer: &mut Writer<'_>) {
        writer.count(self.tasks.len());
        for (key, task) in self.tasks.iter() {
            writer.number(key.into());
            task.write(writer);
        }
        writer.count(self.stirred.len());
        self.stirred.iter().for_each(|key| writer.number(key.0.into()));
        writer.count(self.gates.len());
        for (id, gate) in &self.gates {
            writer.message_id(*id);
            gate.write(writer);
        }
        writer.count(self.judged_gates.len());
        for (id, gate, judgement) in &self.judged_gates {
            writer.message_id(*id);
            gate.write(writer);
            writer.number(judgement.by.0.into());
            writer.flag(judgement.approved);
            writer.time(judgement.at);
            writer.text(&judgement.reason);
        }
        writer.count(self.helps.len());
        for (id, help) in &self.helps {
            writer.message_id(*id);
            writer.number(help.asker.0.into());
            writer.time(help.until);
        }
        writer.count(self.workers.len());
        for (agent, worker) in &self.workers {
            writer.number(agent.0.into());
            worker.write(writer);
        }
        writer.count(self.allotments.len());
        for (id, allotment) in &self.allotments {
            writer.text(id);
            allotment.write(writer);
        }
        writer.number(self.policy.version.into());
        writer.maybe_number(self.policy.by.map(|by| by.0.into()));
        writer.bytes(&self.policy.document);
        writer.number(self.spent.0);
        writer.count(self.judged.len());
        for judged in &self.judged {
            judged.write(writer);
        }
        writer.time(self.updated);
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let mut works = Works::default();
        let mut tasks = Vec::new();
        for _ in 0..reader.count()? {
            tasks.push((TaskKey(reader.short()?), Task::read(reader)?));
        }
        for _ in 0..reader.count()? {
            works.stirred.insert(TaskKey(reader.short()?));
        }
        for _ in 0..reader.count()? {
            let (id, gate) = (reader.message_id()?, Gate::read(reader)?);
            works.timers.insert((gate.until, Timer::Gate(id)));
            works.gates_of_tasks.extend(gate.task.map(|task| (task, id)));
            works.gates.insert(id, gate);
        }
        for _ in 0..reader.count()? {
            let (id, gate) = (reader.message_id()?, Gate::read(reader)?);
            let judgement = Judgement {
                by: AgentKey(reader.short()?),
                approved: reader.flag()?,
                at: reader.time()?,
                reason: reader.text()?.into(),
            };
            works.judged_gates.push_back((id, gate, judgement));
        }
        for _ in 0..reader.count()? {
            let id = reader.message_id()?;
            let help = Help { asker: AgentKey(reader.short()?), until: reader.time()? };
            works.timers.insert((help.until, Timer::Help(id)));
            works.helps.insert(id, help);
        }
        for _ in 0..reader.count()? {
            let agent = AgentKey(reader.short()?);
            let worker = Worker::read(reader)?;
            if let Breaker::Open { until } | Breaker::Probing { until } = worker.breaker {
                works.timers.insert((until, Timer::Breaker(agent)));
            }
            works.note_breaker(agent, worker.breaker);
            works.workers.insert(agent, worker);
        }
        for _ in 0..reader.count()? {
            let id = reader.text()?.into();
            works.allotments.insert(id, Allotment::read(reader)?);
        }
        let version = reader.short()?;
        let by = reader.maybe_short()?.map(AgentKey);
        let document = reader.bytes()?;
        let rules = read_policy(document).ok_or(DecodeError::Contradiction { what: "a policy" })?;
        works.policy = PolicyHeld { rules, version, by, document: document.into() };
        works.spent = Micros(reader.number()?);
        for _ in 0..reader.count()? {
            works.judged.push_back(JudgedHeld::read(reader)?);
        }
        works.updated = reader.time()?;
        for (key, task) in tasks {
            works.restore(key, task)?;
        }
        Ok(works)
    }

    fn restore(&mut self, key: TaskKey, task: Task) -> Result<(), DecodeError> {
        if let Some(offer) = task.rest.offer {
            self.timers.insert((offer.until, Timer::Offer(key)));
            self.names.insert(fingerprint(&offer.message.to_string()), key);
        }
        self.put(key, task).map_err(|()| DecodeError::Contradiction { what: "a task" })
    }
}

fn write_texts(writer: &mut Writer<'_>, texts: &[Box<str>]) {
    writer.count(texts.len());
    texts.iter().for_each(|text| writer.text(text));
}

fn texts(reader: &mut Reader<'_>) -> Result<Vec<Box<str>>, DecodeError> {
    let count = reader.count()?;
    (0..count).map(|_| reader.text().map(Box::from)).collect()
}

impl Task {
    fn write(&self, writer: &mut Writer<'_>) {
        writer.text(&self.id);
        writer.text(&self.title);
        writer.seq(self.born);
        write_request(writer, self.request);
        writer.number(self.requester.0.into());
        writer.maybe_number(self.group.map(|group| group.0.into()));
        writer.maybe_number(self.holder.map(|holder| holder.0.into()));
        writer.flag(self.is_claimed);
        writer.word(TaskStatus::ALL, self.status);
        writer.word(Hold::ALL, self.hold);
        writer.word(Priority::ALL, self.priority);
        writer.flag(self.blocker.is_some());
        if let Some(blocker) = self.blocker {
            writer.word(Blocker::ALL, blocker);
        }
        writer.number(self.version.into());
        writer.byte(self.lapses);
        for time in [self.created, self.updated, self.lease_until, self.slow_at, self.deadline] {
            writer.time(time);
        }
        writer.flag(self.is_late);
        writer.seq(self.ended);
        writer.number(self.reserved.0);
        writer.number(self.spent.0);
        writer.number(self.tokens);
        self.rest.write(writer);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let (id, title, born) = (reader.text()?.into(), reader.text()?.into(), reader.seq()?);
        let request = request(reader)?;
        Ok(Task {
            id,
            title,
            born,
            request,
            requester: AgentKey(reader.short()?),
            group: reader.maybe_short()?.map(GroupKey),
            holder: reader.maybe_short()?.map(AgentKey),
            is_claimed: reader.flag()?,
            status: reader.word("status", TaskStatus::ALL)?,
            hold: reader.word("hold", Hold::ALL)?,
            priority: reader.word("priority", Priority::ALL)?,
            blocker: if reader.flag()? { Some(reader.word("blocker", Blocker::ALL)?) } else { None },
            version: reader.short()?,
            lapses: reader.byte()?,
            created: reader.time()?,
            updated: reader.time()?,
            lease_until: reader.time()?,
            slow_at: reader.time()?,
            deadline: reader.time()?,
            is_late: reader.flag()?,
            ended: reader.seq()?,
            reserved: Micros(reader.number()?),
            spent: Micros(reader.number()?),
            tokens: reader.number()?,
            rest: Box::new(Rest::read(reader)?),
        })
    }
}

impl Rest {
    fn write(&self, writer: &mut Writer<'_>) {
        writer.count(self.aliases.len());
        self.aliases.iter().for_each(|alias| writer.fingerprint(*alias));
        writer.count(self.asked.len());
        self.asked.iter().for_each(|agent| writer.number(agent.0.into()));
        write_texts(writer, &self.dependencies);
        write_texts(writer, &self.capabilities);
        writer.maybe_number(self.budget.map(|budget| budget.0));
        writer.maybe_number(self.tokens_max);
        writer.maybe_number(self.quality.map(u64::from));
        writer.maybe_text(self.chain.as_deref());
        writer.flag(self.offer.is_some());
        if let Some(offer) = &self.offer {
            writer.number(offer.to.0.into());
            writer.message_id(offer.message);
            writer.time(offer.until);
            writer.word(HandoffReason::ALL, offer.reason);
        }
        writer.count(self.votes.len());
        for (voter, approves) in &self.votes {
            writer.number(voter.0.into());
            writer.flag(*approves);
        }
        writer.byte(match self.reviewed {
            None => 0,
            Some(false) => 1,
            Some(true) => 2,
        });
        writer.count(self.notes.len());
        for note in &self.notes {
            writer.time(note.at);
            writer.word(Step::ALL, note.step);
            writer.number(note.by.0.into());
            writer.seq(note.said);
        }
        writer.number(self.notes_lost.into());
        writer.maybe_number(self.outcome.map(|seq| seq.0));
        writer.text(&self.reason);
        writer.bytes(&self.overlay);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let count = reader.count()?;
        let aliases = (0..count).map(|_| reader.fingerprint()).collect::<Result<_, _>>()?;
        let count = reader.count()?;
        let asked = (0..count).map(|_| reader.short().map(AgentKey)).collect::<Result<_, _>>()?;
        let mut rest = Rest {
            aliases,
            asked,
            dependencies: texts(reader)?,
            capabilities: texts(reader)?,
            budget: reader.maybe_number()?.map(Micros),
            tokens_max: reader.maybe_number()?,
            quality: reader.maybe_short()?,
            chain: reader.maybe_text()?.map(Box::from),
            ..Rest::default()
        };
        if reader.flag()? {
            rest.offer = Some(Offer {
                to: AgentKey(reader.short()?),
                message: reader.message_id()?,
                until: reader.time()?,
                reason: reader.word("reason of a handoff", HandoffReason::ALL)?,
            });
        }
        for _ in 0..reader.count()? {
            rest.votes.push((AgentKey(reader.short()?), reader.flag()?));
        }
        rest.reviewed = match reader.byte()? {
            0 => None,
            1 => Some(false),
            2 => Some(true),
            code => return Err(DecodeError::Unknown { what: "review", code: code.into() }),
        };
        for _ in 0..reader.count()? {
            rest.notes.push(Note {
                at: reader.time()?,
                step: reader.word("step", Step::ALL)?,
                by: AgentKey(reader.short()?),
                said: reader.seq()?,
            });
        }
        rest.notes_lost = reader.short()?;
        rest.outcome = reader.maybe_number()?.map(message::Seq);
        (rest.reason, rest.overlay) = (reader.text()?.into(), reader.bytes()?.into());
        Ok(rest)
    }
}

impl Gate {
    fn write(&self, writer: &mut Writer<'_>) {
        writer.number(self.asker.0.into());
        writer.maybe_number(self.guards.map(|message| message.0.into()));
        writer.maybe_number(self.task.map(|task| task.0.into()));
        writer.time(self.since);
        writer.time(self.until);
        writer.text(&self.why);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Gate {
            asker: AgentKey(reader.short()?),
            guards: reader.maybe_short()?.map(MessageKey),
            task: reader.maybe_short()?.map(TaskKey),
            since: reader.time()?,
            until: reader.time()?,
            why: reader.text()?.into(),
        })
    }
}

impl Worker {
    /// What is set aside and what is held follows from the tasks.
    fn write(&self, writer: &mut Writer<'_>) {
        write_texts(writer, &self.capabilities);
        writer.maybe_number(self.quality.map(u64::from));
        writer.time(self.from);
        self.breaker.write(writer);
        writer.number(self.spent.0);
        writer.number(self.tokens);
        writer.number(self.version.into());
        writer.bytes(&self.overlay);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Worker {
            capabilities: texts(reader)?,
            quality: reader.maybe_short()?,
            from: reader.time()?,
            breaker: Breaker::read(reader)?,
            spent: Micros(reader.number()?),
            tokens: reader.number()?,
            version: reader.short()?,
            overlay: reader.bytes()?.into(),
            ..Worker::default()
        })
    }
}

impl Allotment {
    fn write(&self, writer: &mut Writer<'_>) {
        writer.number(self.version.into());
        writer.number(self.agent.0.into());
        writer.word(Resource::ALL, self.resource);
        writer.number(self.allocated);
        writer.number(self.consumed);
        writer.number(self.limit);
        writer.time(self.expires);
        writer.bytes(&self.overlay);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Allotment {
            version: reader.short()?,
            agent: AgentKey(reader.short()?),
            resource: reader.word("resource", Resource::ALL)?,
            allocated: reader.number()?,
            consumed: reader.number()?,
            limit: reader.number()?,
            expires: reader.time()?,
            overlay: reader.bytes()?.into(),
        })
    }
}

impl JudgedHeld {
    fn write(&self, writer: &mut Writer<'_>) {
        writer.time(self.at);
        writer.text(&self.task);
        writer.maybe_number(self.agent.map(|agent| agent.0.into()));
        self.ask.write(writer);
        writer.word(Outcome::ALL, self.outcome);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(JudgedHeld {
            at: reader.time()?,
            task: reader.text()?.into(),
            agent: reader.maybe_short()?.map(AgentKey),
            ask: Ask::read(reader)?,
            outcome: reader.word("outcome", Outcome::ALL)?,
        })
    }
}
