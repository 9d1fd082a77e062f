//! Facts as bytes of the log, and back.

use std::borrow::Cow;

use message::{Priority, TaskStatus};

use super::{
    Allotted, Anew, Asked, Breaker, Fact, GateRaised, Hold, Judged, Moved, OfTask, Outcome, Resource,
    TaskRequest,
};
use crate::codec::{DecodeError, Reader, Writer};
use crate::work::money::Micros;
use crate::work::policy::Ask;
use crate::work::word::{Blocker, HandoffReason, Step};
use crate::{AgentKey, GroupKey, MessageKey, TaskKey};

impl Fact<'_> {
    /// The code of each fact; a code is never given to another one.
    fn code(&self) -> u8 {
        match self {
            Fact::Asked(_) => 1,
            Fact::Moved(_) => 2,
            Fact::Offered { .. } => 3,
            Fact::Voted { .. } => 4,
            Fact::Described { .. } => 5,
            Fact::GateRaised(_) => 6,
            Fact::GateJudged { .. } => 7,
            Fact::GateRenewed { .. } => 8,
            Fact::HelpAsked { .. } => 9,
            Fact::HelpOver { .. } => 10,
            Fact::PolicySet { .. } => 11,
            Fact::Allotted(_) => 12,
            Fact::AllotmentGone { .. } => 13,
            Fact::Consumed { .. } => 14,
            Fact::AgentDescribed { .. } => 15,
            Fact::BreakerSet { .. } => 16,
            Fact::Equipped { .. } => 17,
            Fact::Fitness { .. } => 18,
            Fact::Judged(_) => 19,
        }
    }

    pub(crate) fn write(&self, writer: &mut Writer<'_>) {
        writer.byte(self.code());
        match self {
            Fact::Asked(asked) => asked.write(writer),
            Fact::Moved(moved) => moved.write(writer),
            Fact::Offered { of, by, to, message, until, reason } => {
                of.write(writer);
                writer.number(by.0.into());
                writer.number(to.0.into());
                writer.message_id(*message);
                writer.time(*until);
                writer.word(HandoffReason::ALL, *reason);
            }
            Fact::Voted { of, by, approves, outcome } => {
                of.write(writer);
                writer.number(by.0.into());
                writer.flag(*approves);
                writer.flag(outcome.is_some());
                if let Some(outcome) = outcome {
                    writer.flag(*outcome);
                }
            }
            Fact::Described { of, by, overlay } => {
                of.write(writer);
                writer.number(by.0.into());
                writer.bytes(overlay);
            }
            Fact::GateRaised(_)
            | Fact::GateJudged { .. }
            | Fact::GateRenewed { .. }
            | Fact::HelpAsked { .. }
            | Fact::HelpOver { .. } => self.write_asked_for(writer),
            Fact::PolicySet { version, by, document } => {
                writer.number((*version).into());
                writer.number(by.0.into());
                writer.bytes(document);
            }
            Fact::Allotted(allotted) => allotted.write(writer),
            Fact::AllotmentGone { id, version } => {
                writer.text(id);
                writer.number((*version).into());
            }
            Fact::Consumed { id, consumed } => {
                writer.text(id);
                writer.number(*consumed);
            }
            Fact::AgentDescribed { agent, version, overlay } => {
                writer.number(agent.0.into());
                writer.number((*version).into());
                writer.bytes(overlay);
            }
            Fact::BreakerSet { agent, breaker } => {
                writer.number(agent.0.into());
                breaker.write(writer);
            }
            Fact::Equipped { agent, capabilities } => {
                writer.number(agent.0.into());
                writer.count(capabilities.len());
                capabilities.iter().for_each(|capability| writer.text(capability));
            }
            Fact::Fitness { agent, quality, from } => {
                writer.number(agent.0.into());
                writer.maybe_number(quality.map(u64::from));
                writer.time(*from);
            }
            Fact::Judged(judged) => judged.write(writer),
        }
    }
}

impl Fact<'_> {
    /// Writes what is asked of humans and helpers, and what comes of it.
    fn write_asked_for(&self, writer: &mut Writer<'_>) {
        if let Fact::GateRaised(raised) = self {
            raised.write(writer);
        }
        if let Fact::GateJudged { gate, by, approved, reason } = self {
            writer.message_id(*gate);
            writer.number(by.0.into());
            writer.flag(*approved);
            writer.text(reason);
        }
        if let Fact::GateRenewed { gate, until } = self {
            writer.message_id(*gate);
            writer.time(*until);
        }
        if let Fact::HelpAsked { help, asker, until } = self {
            writer.message_id(*help);
            writer.number(asker.0.into());
            writer.time(*until);
        }
        if let Fact::HelpOver { help, by, escalated } = self {
            writer.message_id(*help);
            writer.number(by.0.into());
            writer.flag(*escalated);
        }
    }
}

impl<'a> Fact<'a> {
    pub(crate) fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(match reader.byte()? {
            1 => Fact::Asked(Box::new(Asked::read(reader)?)),
            2 => Fact::Moved(Box::new(Moved::read(reader)?)),
            3 => Fact::Offered {
                of: OfTask::read(reader)?,
                by: agent(reader)?,
                to: agent(reader)?,
                message: reader.message_id()?,
                until: reader.time()?,
                reason: reader.word("reason of a handoff", HandoffReason::ALL)?,
            },
            4 => Fact::Voted {
                of: OfTask::read(reader)?,
                by: agent(reader)?,
                approves: reader.flag()?,
                outcome: if reader.flag()? { Some(reader.flag()?) } else { None },
            },
            5 => Fact::Described {
                of: OfTask::read(reader)?,
                by: agent(reader)?,
                overlay: reader.bytes()?.into(),
            },
            6 => Fact::GateRaised(Box::new(GateRaised::read(reader)?)),
            7 => Fact::GateJudged {
                gate: reader.message_id()?,
                by: agent(reader)?,
                approved: reader.flag()?,
                reason: reader.text()?,
            },
            8 => Fact::GateRenewed { gate: reader.message_id()?, until: reader.time()? },
            9 => Fact::HelpAsked { help: reader.message_id()?, asker: agent(reader)?, until: reader.time()? },
            10 => {
                Fact::HelpOver { help: reader.message_id()?, by: agent(reader)?, escalated: reader.flag()? }
            }
            11 => Fact::PolicySet {
                version: reader.short()?,
                by: agent(reader)?,
                document: reader.bytes()?.into(),
            },
            12 => Fact::Allotted(Box::new(Allotted::read(reader)?)),
            13 => Fact::AllotmentGone { id: reader.text()?, version: reader.short()? },
            14 => Fact::Consumed { id: reader.text()?.into(), consumed: reader.number()? },
            15 => Fact::AgentDescribed {
                agent: agent(reader)?,
                version: reader.short()?,
                overlay: reader.bytes()?.into(),
            },
            16 => Fact::BreakerSet { agent: agent(reader)?, breaker: Breaker::read(reader)? },
            17 => Fact::Equipped { agent: agent(reader)?, capabilities: texts(reader)? },
            18 => {
                Fact::Fitness { agent: agent(reader)?, quality: reader.maybe_short()?, from: reader.time()? }
            }
            19 => Fact::Judged(Box::new(Judged::read(reader)?)),
            code => return Err(DecodeError::Unknown { what: "fact", code: code.into() }),
        })
    }
}

fn agent(reader: &mut Reader<'_>) -> Result<AgentKey, DecodeError> {
    reader.short().map(AgentKey)
}

fn maybe_agent(reader: &mut Reader<'_>) -> Result<Option<AgentKey>, DecodeError> {
    reader.maybe_short().map(|agent| agent.map(AgentKey))
}

fn texts<'a>(reader: &mut Reader<'a>) -> Result<Vec<&'a str>, DecodeError> {
    let count = reader.count()?;
    (0..count).map(|_| reader.text()).collect()
}

fn write_texts(writer: &mut Writer<'_>, texts: &[&str]) {
    writer.count(texts.len());
    texts.iter().for_each(|text| writer.text(text));
}

fn agents(reader: &mut Reader<'_>) -> Result<Vec<AgentKey>, DecodeError> {
    let count = reader.count()?;
    (0..count).map(|_| agent(reader)).collect()
}

fn write_agents(writer: &mut Writer<'_>, agents: &[AgentKey]) {
    writer.count(agents.len());
    agents.iter().for_each(|agent| writer.number(agent.0.into()));
}

pub(crate) fn request(reader: &mut Reader<'_>) -> Result<Option<TaskRequest>, DecodeError> {
    if !reader.flag()? {
        return Ok(None);
    }
    Ok(Some(TaskRequest {
        message: MessageKey(reader.short()?),
        id: reader.message_id()?,
        body: reader.seq()?,
        bytes: reader.short()?,
    }))
}

pub(crate) fn write_request(writer: &mut Writer<'_>, request: Option<TaskRequest>) {
    writer.flag(request.is_some());
    if let Some(TaskRequest { message, id, body, bytes }) = request {
        writer.number(message.0.into());
        writer.message_id(id);
        writer.seq(body);
        writer.number(bytes.into());
    }
}

fn anew(reader: &mut Reader<'_>) -> Result<Anew, DecodeError> {
    Ok(Anew { asked: agents(reader)?, group: reader.maybe_short()?.map(GroupKey), request: request(reader)? })
}

impl OfTask {
    pub(crate) fn write(self, writer: &mut Writer<'_>) {
        writer.number(self.task.0.into());
        writer.seq(self.born);
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(OfTask { task: TaskKey(reader.short()?), born: reader.seq()? })
    }
}

impl<'a> Asked<'a> {
    fn write(&self, writer: &mut Writer<'_>) {
        writer.number(self.task.0.into());
        writer.text(&self.id);
        writer.count(self.aliases.len());
        self.aliases.iter().for_each(|alias| writer.text(alias));
        writer.text(self.title);
        writer.number(self.requester.0.into());
        write_request(writer, self.request);
        write_agents(writer, &self.asked);
        writer.maybe_number(self.group.map(|group| group.0.into()));
        writer.word(Priority::ALL, self.priority);
        writer.word(Hold::ALL, self.hold);
        write_texts(writer, &self.dependencies);
        write_texts(writer, &self.capabilities);
        writer.time(self.deadline);
        writer.maybe_number(self.budget.map(|budget| budget.0));
        writer.maybe_number(self.tokens_max);
        writer.maybe_number(self.quality.map(u64::from));
        writer.maybe_text(self.chain.as_deref());
        writer.number(self.reserved.0);
        writer.bytes(&self.overlay);
    }

    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let task = TaskKey(reader.short()?);
        let (id, aliases, title) = (reader.text()?.into(), texts(reader)?, reader.text()?);
        let aliases = aliases.into_iter().map(Cow::Borrowed).collect();
        let requester = agent(reader)?;
        let (request, asked) = (request(reader)?, agents(reader)?);
        Ok(Asked {
            task,
            id,
            aliases,
            title,
            requester,
            request,
            asked,
            group: reader.maybe_short()?.map(GroupKey),
            priority: reader.word("priority", Priority::ALL)?,
            hold: reader.word("hold", Hold::ALL)?,
            dependencies: texts(reader)?,
            capabilities: texts(reader)?,
            deadline: reader.time()?,
            budget: reader.maybe_number()?.map(Micros),
            tokens_max: reader.maybe_number()?,
            quality: reader.maybe_short()?,
            chain: reader.maybe_text()?.map(Cow::Borrowed),
            reserved: Micros(reader.number()?),
            overlay: reader.bytes()?.into(),
        })
    }
}

impl<'a> Moved<'a> {
    fn write(&self, writer: &mut Writer<'_>) {
        self.of.write(writer);
        writer.word(Step::ALL, self.step);
        writer.number(self.by.0.into());
        writer.word(TaskStatus::ALL, self.status);
        writer.maybe_number(self.holder.map(|holder| holder.0.into()));
        writer.flag(self.is_claimed);
        writer.time(self.lease_until);
        writer.word(Hold::ALL, self.hold);
        writer.flag(self.blocker.is_some());
        if let Some(blocker) = self.blocker {
            writer.word(Blocker::ALL, blocker);
        }
        writer.number(self.reserved.0);
        writer.number(self.cost.0);
        writer.number(self.tokens);
        writer.seq(self.said);
        writer.flag(self.anew.is_some());
        if let Some(anew) = &self.anew {
            write_agents(writer, &anew.asked);
            writer.maybe_number(anew.group.map(|group| group.0.into()));
            write_request(writer, anew.request);
        }
        write_texts(writer, &self.waits_for);
        writer.text(self.reason);
    }

    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Moved {
            of: OfTask::read(reader)?,
            step: reader.word("step", Step::ALL)?,
            by: agent(reader)?,
            status: reader.word("status", TaskStatus::ALL)?,
            holder: maybe_agent(reader)?,
            is_claimed: reader.flag()?,
            lease_until: reader.time()?,
            hold: reader.word("hold", Hold::ALL)?,
            blocker: if reader.flag()? { Some(reader.word("blocker", Blocker::ALL)?) } else { None },
            reserved: Micros(reader.number()?),
            cost: Micros(reader.number()?),
            tokens: reader.number()?,
            said: reader.seq()?,
            anew: if reader.flag()? { Some(anew(reader)?) } else { None },
            waits_for: texts(reader)?,
            reason: reader.text()?,
        })
    }
}

impl<'a> GateRaised<'a> {
    fn write(&self, writer: &mut Writer<'_>) {
        writer.message_id(self.gate);
        writer.number(self.asker.0.into());
        writer.maybe_number(self.guards.map(|message| message.0.into()));
        writer.maybe_number(self.task.map(|task| task.0.into()));
        writer.time(self.until);
        writer.text(&self.why);
    }

    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(GateRaised {
            gate: reader.message_id()?,
            asker: agent(reader)?,
            guards: reader.maybe_short()?.map(MessageKey),
            task: reader.maybe_short()?.map(TaskKey),
            until: reader.time()?,
            why: reader.text()?.into(),
        })
    }
}

impl<'a> Allotted<'a> {
    fn write(&self, writer: &mut Writer<'_>) {
        writer.text(self.id);
        writer.number(self.version.into());
        writer.number(self.agent.0.into());
        writer.word(Resource::ALL, self.resource);
        writer.number(self.allocated);
        writer.number(self.consumed);
        writer.number(self.limit);
        writer.time(self.expires);
        writer.bytes(&self.overlay);
    }

    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Allotted {
            id: reader.text()?,
            version: reader.short()?,
            agent: agent(reader)?,
            resource: reader.word("resource", Resource::ALL)?,
            allocated: reader.number()?,
            consumed: reader.number()?,
            limit: reader.number()?,
            expires: reader.time()?,
            overlay: reader.bytes()?.into(),
        })
    }
}

impl Breaker {
    pub(crate) fn write(self, writer: &mut Writer<'_>) {
        match self {
            Breaker::Closed => writer.byte(0),
            Breaker::Counting(errors) => {
                writer.byte(1);
                writer.number(errors.into());
            }
            Breaker::Open { until } => {
                writer.byte(2);
                writer.time(until);
            }
            Breaker::HalfOpen => writer.byte(3),
            Breaker::Probing { until } => {
                writer.byte(4);
                writer.time(until);
            }
        }
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(match reader.byte()? {
            0 => Breaker::Closed,
            1 => Breaker::Counting(reader.short()?),
            2 => Breaker::Open { until: reader.time()? },
            3 => Breaker::HalfOpen,
            4 => Breaker::Probing { until: reader.time()? },
            code => return Err(DecodeError::Unknown { what: "breaker", code: code.into() }),
        })
    }
}

impl<'a> Judged<'a> {
    pub(crate) fn write(&self, writer: &mut Writer<'_>) {
        writer.text(&self.task);
        writer.maybe_number(self.agent.map(|agent| agent.0.into()));
        self.ask.write(writer);
        writer.word(Outcome::ALL, self.outcome);
    }

    pub(crate) fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Judged {
            task: reader.text()?.into(),
            agent: maybe_agent(reader)?,
            ask: Ask::read(reader)?,
            outcome: reader.word("outcome", Outcome::ALL)?,
        })
    }
}

impl Ask {
    pub(crate) fn write(&self, writer: &mut Writer<'_>) {
        writer.maybe_number(self.amount.map(|amount| amount.0));
        writer.maybe_number(self.risk.map(u64::from));
        writer.number(self.of_agent.0);
        writer.number(self.of_all.0);
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Ask {
            amount: reader.maybe_number()?.map(Micros),
            risk: reader.maybe_short()?,
            of_agent: Micros(reader.number()?),
            of_all: Micros(reader.number()?),
        })
    }
}
