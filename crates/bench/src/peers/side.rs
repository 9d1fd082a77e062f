//! Sides: a server and the way in which it is spoken to.

use std::ops::Range;

use super::document::{AGENTS, Documents, Language, Recipients, Worth};
use super::drive::{Line, Lines};
use super::input::Input;
use super::redis::{Acks, Adder};
use super::server::{Kind, Server};
use super::speech::{Consume, Publish};
use super::{bare, echo, http, nats, redis, socket};

/// Messages of an atomic batch. Larger ones are faster: JetStream syncs several times for each.
const BATCH: u64 = 256;

/// Who publishes how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Nats,
    NatsBatches,
    NatsDefault,
    Redis,
    RedisEverysec,
    /// Our socket.
    Ours,
    /// Our HTTP calls.
    OursHttp,
    /// The same calls with a sender who is somebody else: read, checked and turned away before the log.
    OursRefused,
    /// Our native socket, on which everybody writes to itself.
    OursEcho,
    /// The same through the bus door.
    OursBus,
    /// Records through our door for the AT Protocol.
    OursRecords,
    /// Records to a PDS.
    Pds,
    Bare,
}

/// What a connection is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Publisher(Side),
    Consumer(Taking),
}

/// Who consumes how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taking {
    Nats,
    RedisSingle,
    RedisTogether,
    Ours,
}

impl Side {
    pub(crate) const ALL: [Side; 13] = [
        Side::Nats,
        Side::NatsBatches,
        Side::NatsDefault,
        Side::Redis,
        Side::RedisEverysec,
        Side::Ours,
        Side::OursHttp,
        Side::OursRefused,
        Side::OursEcho,
        Side::OursBus,
        Side::OursRecords,
        Side::Pds,
        Side::Bare,
    ];

    /// The name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Side::Nats => "nats",
            Side::NatsBatches => "nats-batches",
            Side::NatsDefault => "nats-default",
            Side::Redis => "redis",
            Side::RedisEverysec => "redis-everysec",
            Side::Ours => "ours",
            Side::OursHttp => "http",
            Side::OursRefused => "http-refused",
            Side::OursEcho => "echo",
            Side::OursBus => "bus-echo",
            Side::OursRecords => "records",
            Side::Pds => "pds",
            Side::Bare => "bare",
        }
    }

    pub(crate) fn kind(self) -> Kind {
        match self {
            Side::Nats | Side::NatsBatches => Kind::NatsAlways,
            Side::NatsDefault => Kind::NatsDefault,
            Side::Redis => Kind::RedisAlways,
            Side::RedisEverysec => Kind::RedisEverysec,
            Side::Ours
            | Side::OursHttp
            | Side::OursRefused
            | Side::OursEcho
            | Side::OursBus
            | Side::OursRecords => Kind::Ours,
            Side::Pds => Kind::Pds,
            Side::Bare => Kind::Bare,
        }
    }

    pub(crate) fn title(self) -> &'static str {
        match self {
            Side::NatsBatches => "JetStream, synced, atomic batches",
            Side::OursHttp => "ours, HTTP",
            Side::OursRefused => "ours, HTTP, read and refused",
            Side::OursEcho => "ours, the native socket",
            Side::OursBus => "ours, the socket of the bus door",
            Side::OursRecords => "ours, createRecord",
            Side::Nats
            | Side::NatsDefault
            | Side::Redis
            | Side::RedisEverysec
            | Side::Ours
            | Side::Pds
            | Side::Bare => self.kind().title(),
        }
    }

    /// The connections and the documents in flight on each that carry as much at once and suit the side best.
    pub(crate) fn shape(self, connections: usize, window: u64) -> (usize, u64) {
        match self {
            Side::NatsBatches => ((connections as u64 * window).div_ceil(BATCH) as usize, BATCH),
            Side::Nats
            | Side::NatsDefault
            | Side::Redis
            | Side::RedisEverysec
            | Side::Ours
            | Side::OursHttp
            | Side::OursRefused
            | Side::OursEcho
            | Side::OursBus
            | Side::OursRecords
            | Side::Pds
            | Side::Bare => (connections, window),
        }
    }

    /// Whether the server closes connections on which nothing was said while others had their turn.
    pub(crate) fn is_closed_when_idle(self) -> bool {
        match self {
            Side::OursHttp | Side::OursRefused | Side::OursRecords | Side::Pds => true,
            Side::Nats
            | Side::NatsBatches
            | Side::NatsDefault
            | Side::Redis
            | Side::RedisEverysec
            | Side::Ours
            | Side::OursEcho
            | Side::OursBus
            | Side::Bare => false,
        }
    }

    pub(crate) fn publisher(self, server: &Server, place: usize, first: u64) -> Box<dyn Publish> {
        match self {
            Side::Nats | Side::NatsDefault => Box::new(nats::Single::new(place)),
            Side::NatsBatches => Box::new(nats::Batches::new(place, BATCH, first)),
            Side::Redis | Side::RedisEverysec => Box::new(Adder),
            Side::Ours => Box::new(socket::Sender::new()),
            Side::OursHttp => Box::new(http::Poster::new(&server.tokens[place], 201)),
            Side::OursRefused => Box::new(http::Poster::new(&server.tokens[place], 403)),
            Side::OursEcho => Box::new(echo::Native::new()),
            Side::OursBus => Box::new(echo::Bus::new()),
            Side::OursRecords | Side::Pds => Box::new(http::Poster::of_records(&server.tokens[place])),
            Side::Bare => Box::new(bare::Writer),
        }
    }

    /// The agents that publish. What comes back to an agent comes to any of its sockets, so those of two sides that may
    /// be open at once are not the same.
    fn places(self, connections: usize) -> Range<usize> {
        let first = if self == Side::OursBus { AGENTS / 2 } else { 0 };
        first..first + connections
    }

    /// The documents of a connection.
    fn documents(
        self,
        server: &Server,
        place: usize,
        number: u64,
        (worth, recipients): (Worth, Recipients),
    ) -> Documents {
        let native = Language::Native(worth);
        match self {
            Side::OursRefused => Documents::new((place + 1) % AGENTS, number, native, recipients),
            Side::OursEcho => Documents::new(place, number, native, Recipients::Itself),
            Side::OursBus => Documents::new(place, number, Language::Bus, Recipients::Itself),
            Side::OursRecords | Side::Pds => {
                Documents::new(place, number, Language::Record(&server.dids[place]), recipients)
            }
            Side::Nats
            | Side::NatsBatches
            | Side::NatsDefault
            | Side::Redis
            | Side::RedisEverysec
            | Side::Ours
            | Side::OursHttp
            | Side::Bare => Documents::new(place, number, native, recipients),
        }
    }

    /// Opens connections that publish; documents are numbered from `first`, which must be new to the server.
    pub(crate) fn open(
        self,
        lines: &Lines,
        server: &Server,
        connections: usize,
        first: u64,
        data: (Worth, Recipients),
    ) -> anyhow::Result<Vec<Line<dyn Publish>>> {
        let mut opened = Vec::new();
        for place in self.places(connections) {
            let documents = self.documents(server, place, first + place as u64 * 1_000_000_000, data);
            let speech = self.publisher(server, place, first);
            opened.push(lines.open(server, place, Role::Publisher(self), speech, documents)?);
        }
        Ok(opened)
    }
}

impl Taking {
    /// Tells whether each document is acknowledged by itself.
    pub(crate) fn settles_each(self) -> bool {
        match self {
            Taking::Nats | Taking::RedisSingle | Taking::Ours => true,
            Taking::RedisTogether => false,
        }
    }

    pub(crate) const ALL: [Taking; 4] =
        [Taking::Ours, Taking::Nats, Taking::RedisSingle, Taking::RedisTogether];

    pub(crate) fn kind(self) -> Kind {
        match self {
            Taking::Nats => Kind::NatsAlways,
            Taking::RedisSingle | Taking::RedisTogether => Kind::RedisAlways,
            Taking::Ours => Kind::Ours,
        }
    }

    /// The quickest way to fill the queue.
    pub(crate) fn filler(self) -> Side {
        match self {
            Taking::Nats => Side::NatsBatches,
            Taking::RedisSingle | Taking::RedisTogether => Side::Redis,
            Taking::Ours => Side::Ours,
        }
    }

    pub(crate) fn title(self) -> &'static str {
        match self {
            Taking::RedisTogether => "Redis, synced, one ack for up to 256",
            Taking::Nats | Taking::RedisSingle | Taking::Ours => self.kind().title(),
        }
    }

    pub(crate) fn consumer(self, place: usize) -> Box<dyn Consume> {
        match self {
            Taking::Nats => Box::new(nats::Taker::new(place)),
            Taking::RedisSingle => Box::new(redis::Taker::new(place, Acks::Single)),
            Taking::RedisTogether => Box::new(redis::Taker::new(place, Acks::Together)),
            Taking::Ours => Box::new(socket::Taker::new()),
        }
    }

    /// Opens a connection that consumes.
    pub(crate) fn open(
        self,
        lines: &Lines,
        server: &Server,
        place: usize,
    ) -> anyhow::Result<Line<dyn Consume>> {
        let language = Language::Native(Worth::AtLeastOnce);
        let documents = Documents::new(place, 0, language, Recipients::All);
        lines.open(server, place, Role::Consumer(self), self.consumer(place), documents)
    }
}

impl Role {
    /// What the connection begins with.
    pub(crate) fn greeting(self, server: &Server, place: usize) -> Vec<u8> {
        match self {
            Role::Publisher(Side::NatsBatches) => nats::hello_batches(place),
            Role::Publisher(Side::Nats | Side::NatsDefault) => nats::hello_publisher(place),
            Role::Consumer(Taking::Nats) => nats::hello_taker(place),
            Role::Publisher(Side::Ours | Side::OursEcho) | Role::Consumer(Taking::Ours) => {
                socket::hello(place, &server.tokens[place])
            }
            Role::Publisher(Side::OursBus) => echo::hello(place, &server.tokens[place]),
            Role::Publisher(
                Side::Redis
                | Side::RedisEverysec
                | Side::OursHttp
                | Side::OursRefused
                | Side::OursRecords
                | Side::Pds
                | Side::Bare,
            )
            | Role::Consumer(Taking::RedisSingle | Taking::RedisTogether) => Vec::new(),
        }
    }

    /// Whether the server has said all that it says first.
    pub(crate) fn is_open(self, input: &mut Input) -> anyhow::Result<bool> {
        match self {
            Role::Publisher(Side::Ours | Side::OursEcho) | Role::Consumer(Taking::Ours) => {
                socket::is_open(input)
            }
            Role::Publisher(Side::OursBus) => echo::is_open(input),
            Role::Publisher(_) | Role::Consumer(_) => Ok(true),
        }
    }
}
