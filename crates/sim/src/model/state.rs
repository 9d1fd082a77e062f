//! What the model holds: plain lists and maps, gone through from end to end.

use std::collections::BTreeMap;
use std::rc::Rc;

use broker::{AgentKey, EntryKey, Retention, SessionKey, Settings, Time};
use message::{DeliveryId, MessageId, PresenceState, Priority, Seq, Stage};

use super::records::Repos;
use super::work::Work;
use crate::request::Sent;

/// The bus as the outside would tell it.
#[derive(Clone)]
pub(crate) struct State {
    pub(crate) settings: Rc<Settings>,
    pub(crate) retention: Retention,
    pub(crate) agents: BTreeMap<AgentKey, Agent>,
    pub(crate) sessions: BTreeMap<SessionKey, Session>,
    /// Roles, topics and channels by their addresses, and `all`.
    pub(crate) groups: BTreeMap<Rc<str>, Group>,
    pub(crate) messages: BTreeMap<MessageId, Letter>,
    /// What agents keep.
    pub(crate) repos: Repos,
    pub(crate) work: Work,
    pub(crate) parts: Vec<Part>,
    /// Ids that are known again, oldest first.
    pub(crate) known: Vec<Known>,
    pub(crate) turns: BTreeMap<String, Turn>,
    /// Entries so far; each has its number.
    pub(crate) orders: u64,
    pub(crate) births: u64,
    /// The place and the largest time of what happened.
    pub(crate) last: Seq,
    pub(crate) time: Time,
    /// The place of everything that moves while what is due is done: in which order, nobody outside can know.
    pub(crate) sweep: Option<u64>,
}

#[derive(Clone)]
pub(crate) struct Agent {
    pub(crate) name: Rc<str>,
    pub(crate) aliases: Vec<Rc<str>>,
    pub(crate) profile: Vec<u8>,
    pub(crate) is_gone: bool,
    /// How it says that it is.
    pub(crate) presence: Option<PresenceState>,
    /// How many messages it was handed.
    pub(crate) handed: u64,
}

#[derive(Clone, Copy)]
pub(crate) struct Session {
    pub(crate) agent: AgentKey,
    pub(crate) number: u32,
}

#[derive(Clone, Default)]
pub(crate) struct Group {
    pub(crate) members: Vec<AgentKey>,
    /// The orders of all posts, those that are over included.
    pub(crate) posts: Vec<u64>,
}

/// A message that was taken in.
#[derive(Clone)]
pub(crate) struct Letter {
    pub(crate) sent: Rc<Sent>,
    pub(crate) body: Rc<[u8]>,
    /// How long each recipient has to take it.
    pub(crate) timeout_ms: Option<u64>,
    /// Whether it is handed out at most once.
    pub(crate) is_once: bool,
    pub(crate) expires: Time,
    pub(crate) retries: u32,
    /// How often it was forwarded.
    pub(crate) hops: u8,
    /// The conversation in which it is parked.
    pub(crate) conversation: Option<String>,
    /// How many ways it went at first.
    pub(crate) ways: usize,
    /// Who is next when a recipient does not take it.
    pub(crate) fallback: Vec<AgentKey>,
    /// Until when its sender waits for a reply.
    pub(crate) wait_until: Option<Time>,
    /// Whether it waited in vain.
    pub(crate) wait_failed: bool,
    pub(crate) answer: Option<MessageId>,
    /// Whether its sender took it back; who has it in hand may keep it, nobody else gets it.
    pub(crate) withdrawn: bool,
    /// Whether its id is known; that of a notice is learnt when all is seen that happened with it.
    pub(crate) bound: bool,
    /// Its place among all messages.
    pub(crate) number: u64,
}

/// The end of a message whose time was over once: it does not come back, whatever the wall clock does.
pub(crate) const EXPIRED: Time = Time(0);

/// A message on its way to one recipient.
#[derive(Clone)]
pub(crate) struct Part {
    pub(crate) message: MessageId,
    pub(crate) place: Place,
    pub(crate) order: u64,
    pub(crate) is: Is,
    /// When it became its recipient's own; of several the last counts.
    pub(crate) born: u64,
    /// How often it was handed to the recipient that has it now.
    pub(crate) attempts: u32,
    /// How often that came to nothing because a connection was lost.
    pub(crate) losses: u32,
    /// Who was tried before.
    pub(crate) tried: Vec<(Rc<str>, u32)>,
    /// When it was offered to the recipient that has it now.
    pub(crate) offered: Time,
    /// Until when it has to take it, once it waits.
    pub(crate) offer_end: Time,
    /// Whether it is out as a reply to whoever waits for it.
    pub(crate) to_waiter: bool,
    /// The last handing-out.
    pub(crate) delivery: Option<DeliveryId>,
    /// The number by which the bus knows it, seen when it was handed out.
    pub(crate) entry: Option<EntryKey>,
    /// To whom.
    pub(crate) holder: Option<AgentKey>,
    /// The post of which it is a member's copy.
    pub(crate) post: Option<usize>,
    /// Whether the member has not come to take since: it can still lose it by leaving.
    pub(crate) unclaimed: bool,
    pub(crate) surfaced: bool,
    pub(crate) answered: bool,
    /// Whether it came into its lane, behind what waited there, while it was handed out.
    pub(crate) came_out: bool,
    /// Why it is a dead letter.
    pub(crate) why: Option<Stage>,
    /// Its place among dead letters.
    pub(crate) died: u64,
    /// Whether it keeps order with others; a reply that went straight to who waits for it does not.
    pub(crate) in_lane: bool,
}

/// Where a part waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Agent(AgentKey),
    Session(SessionKey),
    Role(Rc<str>),
    /// For a name that nobody has.
    Name(Rc<str>),
    /// In a topic or channel, from which each member takes its own.
    Post(Rc<str>),
}

/// How a part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Is {
    Waiting,
    /// It waits again from some time between these on.
    Pausing {
        from: Time,
        to: Time,
    },
    /// It may wait already, and surely does from this time on.
    Maybe {
        to: Time,
    },
    Parked,
    Held,
    /// It stands in a topic or channel until each member has its own.
    Posted,
    /// Handed out until then, perhaps over a connection.
    Out {
        until: Time,
        session: Option<SessionKey>,
    },
    /// Handed out over a connection that is gone.
    Stray,
    Dead,
    Ended(Stage),
    /// It moved on to somebody else, or was never its recipient's.
    Gone,
}

/// An id that is known again.
#[derive(Clone)]
pub(crate) struct Known {
    pub(crate) sender: AgentKey,
    /// The sender's own id; what it says, where there is none.
    pub(crate) native_id: Option<String>,
    pub(crate) document: Rc<[u8]>,
    pub(crate) message: MessageId,
    pub(crate) at: Time,
}

/// A conversation.
#[derive(Clone)]
pub(crate) struct Turn {
    pub(crate) last: AgentKey,
    pub(crate) task: Option<Rc<str>>,
    pub(crate) count: u32,
}

impl State {
    pub(crate) fn new(settings: Settings) -> Self {
        let reserved =
            [(AgentKey::HUMAN, "human"), (AgentKey::SYSTEM, "system"), (AgentKey::RUNNER, "runner")];
        let agents = reserved.into_iter().map(|(key, name)| (key, Agent::new(name))).collect();
        State {
            settings: Rc::new(settings),
            retention: Retention::USUAL,
            agents,
            sessions: BTreeMap::new(),
            groups: BTreeMap::from([(Rc::from("all"), Group::default())]),
            messages: BTreeMap::new(),
            repos: Repos::default(),
            work: Work::new(),
            parts: Vec::new(),
            known: Vec::new(),
            turns: BTreeMap::new(),
            orders: 0,
            births: 0,
            last: Seq(0),
            time: Time(0),
            sweep: None,
        }
    }

    pub(crate) fn next_order(&mut self) -> u64 {
        if let Some(order) = self.sweep {
            return order;
        }
        self.orders += 1;
        self.orders
    }

    /// Numbers what becomes somebody's own.
    pub(crate) fn next_birth(&mut self) -> u64 {
        self.births += 1;
        self.births
    }

    /// Adds a part, and returns its number.
    pub(crate) fn add(&mut self, mut part: Part) -> usize {
        part.born = self.next_birth();
        part.offer_end = self.offer_end(&part);
        self.parts.push(part);
        self.parts.len() - 1
    }

    /// Lets a part wait for its recipient, for as long as that has to take it.
    pub(crate) fn wait(&mut self, index: usize) {
        let offer_end = self.offer_end(&self.parts[index]);
        let part = &mut self.parts[index];
        (part.is, part.offer_end) = (Is::Waiting, offer_end);
    }

    fn offer_end(&self, part: &Part) -> Time {
        self.letter(part).timeout_ms.map_or(Time::NEVER, |ms| part.offered.plus_ms(ms))
    }

    /// Finds an agent that is there, by name or alias.
    pub(crate) fn agent(&self, name: &str) -> Option<AgentKey> {
        let mut agents = self.agents.iter().filter(|(_, agent)| !agent.is_gone);
        agents.find(|(_, agent)| agent.goes_by(name)).map(|(key, _)| *key)
    }

    pub(crate) fn is_there(&self, agent: AgentKey) -> bool {
        self.agents.get(&agent).is_some_and(|agent| !agent.is_gone)
    }

    pub(crate) fn presence(&self, agent: AgentKey) -> Option<PresenceState> {
        self.agents.get(&agent)?.presence
    }

    pub(crate) fn set_presence(&mut self, agent: AgentKey, state: PresenceState) {
        if let Some(agent) = self.agents.get_mut(&agent) {
            agent.presence = Some(state);
        }
    }

    pub(crate) fn name(&self, agent: AgentKey) -> Rc<str> {
        self.agents.get(&agent).map_or_else(|| Rc::from("?"), |agent| Rc::clone(&agent.name))
    }

    pub(crate) fn is_member(&self, agent: AgentKey, group: &str) -> bool {
        self.groups.get(group).is_some_and(|group| group.members.contains(&agent))
    }

    pub(crate) fn letter(&self, part: &Part) -> &Letter {
        &self.messages[&part.message]
    }

    pub(crate) fn priority(&self, part: &Part) -> Priority {
        self.letter(part).sent.priority
    }

    /// Finds the part that a delivery handed out, also when it was handed out again since.
    pub(crate) fn part_of(&self, delivery: DeliveryId) -> Option<usize> {
        self.parts.iter().position(|part| part.delivery == Some(delivery))
    }

    pub(crate) fn parts_of(&self, message: MessageId) -> impl Iterator<Item = (usize, &Part)> {
        self.parts.iter().enumerate().filter(move |(_, part)| part.message == message)
    }
}

impl Agent {
    pub(crate) fn new(name: &str) -> Self {
        Agent {
            name: name.into(),
            aliases: Vec::new(),
            profile: Vec::new(),
            is_gone: false,
            presence: None,
            handed: 0,
        }
    }

    pub(crate) fn goes_by(&self, name: &str) -> bool {
        &*self.name == name || self.aliases.iter().any(|alias| &**alias == name)
    }
}

impl Part {
    pub(crate) fn new(message: MessageId, place: Place, order: u64, offered: Time) -> Self {
        Part {
            message,
            place,
            order,
            is: Is::Waiting,
            born: 0,
            attempts: 0,
            losses: 0,
            tried: Vec::new(),
            offered,
            offer_end: Time::NEVER,
            delivery: None,
            entry: None,
            holder: None,
            post: None,
            unclaimed: false,
            surfaced: false,
            to_waiter: false,
            answered: false,
            came_out: false,
            why: None,
            died: 0,
            in_lane: true,
        }
    }

    /// Returns between which times a pause ends, where chance decides.
    pub(crate) fn chance(&self) -> Option<(Time, Time)> {
        if let Is::Pausing { from, to } = self.is
            && from < to
        {
            return Some((from, to));
        }
        if let Is::Maybe { to } = self.is { Some((Time(0), to)) } else { None }
    }

    pub(crate) fn is_out(&self) -> bool {
        matches!(self.is, Is::Out { .. } | Is::Stray)
    }

    /// Tells whether it stands in its recipient's queue.
    pub(crate) fn is_queued(&self) -> bool {
        matches!(self.is, Is::Waiting | Is::Pausing { .. } | Is::Maybe { .. } | Is::Parked)
    }

    /// Tells whether it brought the message to its recipient, or still may.
    pub(crate) fn is_way(&self) -> bool {
        let has_come = matches!(self.is, Is::Ended(Stage::Acknowledged | Stage::Unconfirmed));
        self.is_queued() || self.is_out() || has_come
    }

    /// Tells whether the bus has an entry of its own for it.
    pub(crate) fn is_entry(&self) -> bool {
        !self.unclaimed
    }

    /// Tells whether anything can still become of it; what is not claimed counts by its post.
    pub(crate) fn is_open(&self) -> bool {
        !self.unclaimed && !matches!(self.is, Is::Ended(_) | Is::Gone)
    }
}
