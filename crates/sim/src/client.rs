//! The world outside the bus: agents that know only what they were told, and ask accordingly.

mod records;
mod work;

use std::collections::BTreeMap;
use std::rc::Rc;

use broker::{AgentKey, Broker, EntryKey, ProfileSwap, SessionKey, Sign, Time};
use message::{Address, AgentRef, DeliveryId, MessageId};

use crate::client::records::Name;
use crate::request::{Claimed, Recording, Registered, Request, Sent, TakeWish};
use crate::said::Said;
use crate::step::{
    Ask, Being, Change, Handling, Letter, Meddling, ProfileSwapPlan, RegisterPlan, SignPlan, To,
};
use crate::world::{TASKS, THREADS, World, parsed};

/// Deliveries that an agent still thinks about; old ones make late answers.
const MEMORY: usize = 12;

/// What everybody outside knows.
pub(crate) struct Client {
    agents: Vec<Agent>,
    /// Everything that was ever sent, answered or not.
    sends: Vec<Rc<Sent>>,
    /// Messages whose receipts came, with who sent them.
    messages: Vec<(MessageId, AgentKey)>,
    bodies: u32,
    /// Records whose keys the bus has made.
    made: Vec<Name>,
    /// What was written last to each record, kept or not.
    written: BTreeMap<Name, Recording>,
}

/// What the client asks for: something to be carried out, or to be given what comes.
#[derive(Clone, Debug)]
pub(crate) enum Asked {
    Request(Request),
    /// Waits with credit: so many may be handed to it as they come.
    Credit {
        agent: AgentKey,
        session: SessionKey,
        credit: u32,
        lease_ms: u64,
    },
}

#[derive(Default)]
struct Agent {
    key: Option<AgentKey>,
    sessions: Vec<SessionKey>,
    given: Vec<Given>,
}

/// Something that an agent was given.
#[derive(Clone, Copy)]
struct Given {
    delivery: DeliveryId,
    message: MessageId,
    /// Who sent it, if that was told.
    from: Option<AgentKey>,
    touched: bool,
}

/// For whom an answer is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asker {
    /// The agent of this number in the world.
    Agent(usize),
    /// Whoever runs the bus.
    Operator,
}

impl Client {
    pub(crate) fn new(world: &World) -> Self {
        let human = Agent { key: Some(AgentKey::HUMAN), ..Agent::default() };
        Client {
            // The human is there from the beginning, behind all agents.
            agents: world.names.iter().map(|_| Agent::default()).chain([human]).collect(),
            sends: Vec::new(),
            messages: Vec::new(),
            bodies: 0,
            made: Vec::new(),
            written: BTreeMap::new(),
        }
    }

    /// Turns a step into what is asked for; nothing if there is nothing to ask about.
    pub(crate) fn ask(
        &mut self,
        world: &World,
        ask: &Ask,
        wall: Time,
        (dead, broker): (&[(MessageId, EntryKey)], Option<&Broker>),
    ) -> Option<(Asker, Asked)> {
        match ask {
            Ask::Register(plan) => {
                let request = Request::Register(Box::new(register(world, plan, broker)));
                Some((Asker::Agent(usize::from(plan.agent)), Asked::Request(request)))
            }
            Ask::Remove { agent } => {
                let key = self.agents[usize::from(*agent)].key.take()?;
                by_operator(Request::Remove { agent: key })
            }
            Ask::Be { agent, what } => {
                let asked = self.be(world, usize::from(*agent), *what)?;
                Some((Asker::Agent(usize::from(*agent)), asked))
            }
            Ask::Send(letter) => self.send(world, letter, wall, broker),
            Ask::Again { send, change } => self.again(*send, *change),
            Ask::Answer { agent, delivery, kind, native, task, said } => {
                let sent = self.answer(world, usize::from(*agent), *delivery, *native)?;
                let (task, said) = (task.map(|task| TASKS[usize::from(task)].into()), said.clone());
                let sent = Rc::new(Sent { kind: *kind, task, said, ..sent });
                self.sends.push(Rc::clone(&sent));
                Some((Asker::Agent(usize::from(*agent)), Asked::Request(Request::Accept(sent))))
            }
            Ask::Handle { agent, delivery, how } => {
                let request = self.handle(usize::from(*agent), *delivery, *how)?;
                Some((Asker::Agent(usize::from(*agent)), Asked::Request(request)))
            }
            Ask::Meddle { message, how } => by_operator(self.meddle(*message, *how)?),
            Ask::Keep { agent, swap, writes } => {
                self.keep(world, usize::from(*agent), (*swap, writes), (wall, broker))
            }
            Ask::Change(plan) => self.change(world, plan, broker),
            Ask::Judge { nth, approved, honest } => self.judge(*nth, *approved, *honest, broker),
            Ask::Claim { agent, task, group, lease_ms, key } => {
                let by = self.agents[usize::from(*agent)].key?;
                let claimed = Claimed {
                    by,
                    task: task.map(|task| TASKS[usize::from(task)]),
                    role: group.map(|group| world.groups[usize::from(group)].clone()),
                    lease_ms: *lease_ms,
                    key: format!("claim:{key}"),
                };
                let request = Request::Claim(Box::new(claimed));
                Some((Asker::Agent(usize::from(*agent)), Asked::Request(request)))
            }
            Ask::Equip { agent, capabilities } => {
                let agent = self.agents[usize::from(*agent)].key?;
                by_operator(Request::Equip { agent, capabilities: capabilities.clone() })
            }
            Ask::Sign { agent, sign } => {
                let agent = self.agents[usize::from(*agent)].key?;
                by_operator(Request::Sign { agent, sign: sign_of(*sign, wall) })
            }
            Ask::RetryDead { nth } => {
                let (message, entry) = pick(dead, *nth)?;
                by_operator(Request::RetryDead { message, entry })
            }
            Ask::DropDead { nth } => {
                let (message, entry) = pick(dead, *nth)?;
                by_operator(Request::DropDead { message, entry })
            }
        }
    }

    /// Notes that an agent is registered under a number.
    pub(crate) fn registered(&mut self, agent: usize, key: AgentKey) {
        self.agents[agent].key = Some(key);
    }

    /// Notes that an agent is connected.
    pub(crate) fn connected(&mut self, agent: usize, session: SessionKey) {
        self.agents[agent].sessions.push(session);
    }

    /// Notes what became of a message that was sent.
    pub(crate) fn receipted(&mut self, id: MessageId, from: AgentKey) {
        self.messages.push((id, from));
    }

    /// Notes what an agent was given.
    pub(crate) fn given(
        &mut self,
        agent: usize,
        delivery: DeliveryId,
        message: MessageId,
        from: Option<AgentKey>,
    ) {
        let given = &mut self.agents[agent].given;
        given.push(Given { delivery, message, from, touched: false });
        if given.len() > MEMORY {
            given.remove(0);
        }
    }

    /// Finds the agent that sent a message.
    pub(crate) fn sender_of(&self, message: MessageId) -> Option<usize> {
        let (_, from) = self.messages.iter().find(|(id, _)| *id == message)?;
        self.agent_of(*from)
    }

    /// Finds the agent of a number, as far as it is known here.
    pub(crate) fn agent_of(&self, key: AgentKey) -> Option<usize> {
        self.agents.iter().position(|agent| agent.key == Some(key))
    }

    /// Notes that every connection is gone.
    pub(crate) fn cut_off(&mut self) {
        for agent in &mut self.agents {
            agent.sessions.clear();
        }
    }

    fn send(
        &mut self,
        world: &World,
        letter: &Letter,
        wall: Time,
        broker: Option<&Broker>,
    ) -> Option<(Asker, Asked)> {
        let agent = usize::from(letter.from);
        let mut sent = self.message(world, letter, wall)?;
        sent.update = letter.update.as_ref().and_then(|plan| self.changed(world, plan, broker));
        if let Some(nth) = letter.apt {
            self.speak_of_task(&mut sent, nth, broker);
        }
        if let Some(update) = &mut sent.update {
            update.by = sent.from;
        }
        let agent = self.agent_of(sent.from).unwrap_or(agent);
        let sent = Rc::new(sent);
        self.sends.push(Rc::clone(&sent));
        Some((Asker::Agent(agent), Asked::Request(Request::Accept(sent))))
    }

    /// Writes a message; what it changes of the shared state is not in it.
    fn message(&mut self, world: &World, letter: &Letter, wall: Time) -> Option<Sent> {
        let from = self.agents[usize::from(letter.from)].key?;
        let body = self.body(usize::from(letter.body_len));
        let created = letter.created.map(|off| Time(wall.0.saturating_add_signed(off)));
        Some(Sent {
            from,
            to: letter.to.iter().map(|to| address(world, *to)).collect(),
            kind: letter.kind,
            priority: letter.priority,
            guarantee: letter.guarantee,
            native_id: letter.native.map(|number| format!("n{number}")),
            task: letter.task.map(|task| TASKS[usize::from(task)].into()),
            thread: letter.thread.map(|thread| THREADS[usize::from(thread)]),
            reply_to: None,
            created,
            expires: letter.expires_ms.map(|ms| created.unwrap_or(wall).plus_ms(ms)),
            lifetime_ms: letter.lifetime_ms,
            timeout_ms: letter.timeout_ms,
            retries: letter.retries,
            backoff: letter.backoff,
            fallback: letter.fallback.iter().map(|agent| fallback(world, *agent)).collect(),
            wait_ms: letter.wait_ms,
            live_only: letter.live_only,
            hold: letter.hold,
            hops: letter.hops,
            body,
            said: said(world, letter, wall),
            joins: letter.joins.map(|group| world.groups[usize::from(group)].clone()),
            sign: letter.sign.map(|sign| sign_of(sign, wall)),
            update: None,
        })
    }

    fn again(&mut self, send: u32, change: Change) -> Option<(Asker, Asked)> {
        // Mostly what was sent just now: that is what a sender repeats, and what a crash may have taken.
        let recent = self.sends.len().saturating_sub(if send.is_multiple_of(3) { 50 } else { 4 });
        let mut sent = pick_ref(&self.sends[recent..], send)?.clone();
        let agent = self.agent_of(sent.from)?;
        if change == Change::Body {
            let body = self.body(20);
            sent = Rc::new(Sent { body, ..sent.as_ref().clone() });
        }
        Some((Asker::Agent(agent), Asked::Request(Request::Accept(sent))))
    }

    fn answer(&mut self, world: &World, agent: usize, delivery: u32, native: bool) -> Option<Sent> {
        let from = self.agents[agent].key?;
        let given = pick(&self.agents[agent].given, delivery)?;
        let to = match given.from? {
            AgentKey::HUMAN => parsed("human"),
            key => Address::from(world.names[self.agent_of(key)?].clone()),
        };
        let body = self.body(12);
        Some(Sent {
            native_id: native.then(|| format!("r{}", self.bodies)),
            reply_to: Some(given.message.to_string()),
            ..Sent::new(from, vec![to], message::Kind::Note, body)
        })
    }

    fn be(&mut self, world: &World, number: usize, what: Being) -> Option<Asked> {
        let agent = self.agents[number].key?;
        let request = match what {
            Being::Join { group } => {
                Request::Join { agent, address: world.groups[usize::from(group)].clone() }
            }
            Being::Leave { group } => {
                Request::Leave { agent, address: world.groups[usize::from(group)].clone() }
            }
            Being::Presence { state } => Request::Presence { agent, state },
            Being::Connect => Request::Connect { agent },
            Being::Disconnect { session } => {
                let sessions = &mut self.agents[number].sessions;
                let index = usize::from(session) % sessions.len().max(1);
                let session = (index < sessions.len()).then(|| sessions.remove(index))?;
                Request::Disconnect { session }
            }
            Being::Take { session, max, bytes_max, lease_ms } => {
                let session = session.and_then(|nth| self.session(number, nth));
                let (max, bytes_max) = (u32::from(max), u64::from(bytes_max));
                Request::Take(TakeWish { agent, session, max, bytes_max, lease_ms })
            }
            Being::Credit { session, credit, lease_ms } => {
                let session = self.session(number, session)?;
                return Some(Asked::Credit { agent, session, credit: u32::from(credit), lease_ms });
            }
        };
        Some(Asked::Request(request))
    }

    fn handle(&mut self, number: usize, nth: u32, how: Handling) -> Option<Request> {
        let agent = self.agents[number].key?;
        let given = match how {
            Handling::Return => self.untouched(number, nth)?,
            Handling::Surface
            | Handling::Ack
            | Handling::Process
            | Handling::Nack(_)
            | Handling::Extend { .. } => self.touch(number, nth)?,
        };
        let (delivery, message) = (given.delivery, given.message);
        Some(match how {
            Handling::Surface => Request::Surface { agent, delivery },
            Handling::Ack => Request::Ack { agent, delivery },
            Handling::Process => Request::Process { agent, message },
            Handling::Nack(delay) => Request::Nack { agent, delivery, delay },
            Handling::Extend { lease_ms } => Request::Extend { agent, delivery, lease_ms },
            Handling::Return => Request::Return { agent, delivery },
        })
    }

    fn meddle(&mut self, nth: u32, how: Meddling) -> Option<Request> {
        Some(match how {
            Meddling::Retract { honest } => {
                let (message, by) = self.own(nth, honest)?;
                Request::Retract { message, by }
            }
            Meddling::Amend { honest, body_len } => {
                let (message, by) = self.own(nth, honest)?;
                Request::Amend { message, by, body: self.body(usize::from(body_len)) }
            }
            Meddling::Resume => Request::Resume { message: pick(&self.messages, nth)?.0 },
            Meddling::EndWait => Request::EndWait { message: pick(&self.messages, nth)?.0 },
        })
    }

    /// Chooses a message, and its sender or somebody else who has no say in it.
    fn own(&self, message: u32, honest: bool) -> Option<(MessageId, AgentKey)> {
        let recent = self.messages.len().saturating_sub(8);
        let (id, from) = pick(&self.messages[recent..], message)?;
        if honest {
            return Some((id, from));
        }
        let other = self.agents.iter().filter_map(|agent| agent.key).find(|key| *key != from)?;
        Some((id, other))
    }

    /// Chooses a delivery: mostly one that nothing was said about yet.
    fn touch(&mut self, number: usize, nth: u32) -> Option<Given> {
        let given = &mut self.agents[number].given;
        let fresh: Vec<usize> = (0..given.len()).filter(|index| !given[*index].touched).collect();
        let index = match pick(&fresh, nth) {
            Some(index) if !nth.is_multiple_of(5) => index,
            Some(_) | None => nth as usize % given.len().max(1),
        };
        let chosen = given.get_mut(index)?;
        chosen.touched = true;
        Some(*chosen)
    }

    /// Chooses a delivery that nothing was said about; it is as if it had not been given.
    fn untouched(&mut self, number: usize, nth: u32) -> Option<Given> {
        let given = &mut self.agents[number].given;
        let fresh: Vec<usize> = (0..given.len()).filter(|index| !given[*index].touched).collect();
        pick(&fresh, nth).map(|index| given.remove(index))
    }

    fn session(&self, number: usize, nth: u8) -> Option<SessionKey> {
        // The choice is made by the upper bits, as for everything.
        pick(&self.agents[number].sessions, u32::from(nth) << 4)
    }

    /// Makes a body that no other message has.
    fn body(&mut self, len: usize) -> Rc<[u8]> {
        self.bodies += 1;
        let mut body = format!("{}:", self.bodies).into_bytes();
        body.resize(len.max(body.len()), b'.');
        body.into()
    }
}

fn by_operator(request: Request) -> Option<(Asker, Asked)> {
    Some((Asker::Operator, Asked::Request(request)))
}

fn pick<T: Copy>(items: &[T], nth: u32) -> Option<T> {
    pick_ref(items, nth).copied()
}

fn pick_ref<T>(items: &[T], nth: u32) -> Option<&T> {
    // The low bits decide other things at the callers.
    items.get((nth >> 4) as usize % items.len().max(1))
}

/// Makes of a plan what registers an agent. Who rests on what is known looks at the bus as it is now.
fn register(world: &World, plan: &RegisterPlan, broker: Option<&Broker>) -> Registered {
    let name = world.names[usize::from(plan.agent)].clone();
    let known = || {
        let broker = broker?;
        broker.look_at(broker.agent(name.as_str())?).map(|view| view.profile.into())
    };
    let swap = match plan.swap {
        ProfileSwapPlan::Anything => ProfileSwap::Anything,
        ProfileSwapPlan::New => ProfileSwap::New,
        ProfileSwapPlan::Current => known().map_or(ProfileSwap::New, ProfileSwap::Is),
        ProfileSwapPlan::Profile(number) => ProfileSwap::Is([number].into()),
    };
    Registered {
        aliases: if plan.alias { vec![world.alias(usize::from(plan.agent))] } else { Vec::new() },
        profile: vec![plan.profile],
        swap,
        join: plan.join.map(|group| world.groups[usize::from(group)].clone()),
        capabilities: plan.capabilities.clone(),
        name,
    }
}

fn address(world: &World, to: To) -> Address {
    match to {
        To::Agent(agent) => Address::from(world.names[usize::from(agent)].clone()),
        To::Alias(agent) => parsed(&world.alias(usize::from(agent))),
        To::Session(agent, session) => {
            Address::Session { agent: world.names[usize::from(agent)].clone(), session: u32::from(session) }
        }
        To::Group(group) => world.groups[usize::from(group)].clone(),
        To::All => Address::All,
        To::Human => parsed("human"),
    }
}

/// What a message says about work, with the times and names of this world.
fn said(world: &World, letter: &Letter, wall: Time) -> Option<Box<Said>> {
    let mut said = letter.said.clone()?;
    said.deadline = letter.deadline_ms.map(|ms| wall.plus_ms(ms));
    said.routes = letter.routes.iter().map(|to| address(world, *to)).collect();
    Some(said)
}

/// What an agent says of itself, with the times of this world.
fn sign_of(plan: SignPlan, wall: Time) -> Sign {
    let from = plan.from_ms.map(|ms| if ms == 0 { Time(0) } else { wall.plus_ms(ms) });
    Sign { quality: plan.quality, from, ..Sign::of(plan.state) }
}

fn fallback(world: &World, agent: u8) -> AgentRef {
    AgentRef::from(world.names[usize::from(agent)].clone())
}
