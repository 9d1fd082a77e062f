//! A bus with clocks, chance and a log in memory, and a history that is shown as much of it as a test wants.

use std::path::Path;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use broker::{
    Accept, AgentKey, Broker, Command, Context, Effects, Event, Fingerprint, Identity, Random, Refusal,
    Register, Reply, Time,
};
use log::{Batch, Class, Entry, Log, LogReader, MemDisk, Options, Reader, SegmentLog, Syncer};
use message::{Address, AgentName, Dialect, Envelope, Kind, MessageId, Seq};

use crate::{History, Settings};

/// When every test starts.
const START_MS: u64 = 1_700_000_000_000;
/// Longer than anything takes that ends.
pub(super) const LONG: Duration = Duration::from_secs(60);

pub(super) struct World {
    pub(super) settings: broker::Settings,
    pub(super) broker: Broker,
    pub(super) disk: MemDisk,
    pub(super) log: SegmentLog<MemDisk>,
    pub(super) now: u64,
    pub(super) wall: u64,
    pub(super) random: Seeded,
    pub(super) gate: Gate,
    pub(super) sent: u64,
}

/// Says how much of the log a history may see.
#[derive(Clone, Default)]
pub(super) struct Gate {
    state: Arc<(Mutex<(Seq, bool)>, Condvar)>,
}

/// Chance that is the same each time.
#[derive(Clone)]
pub(super) struct Seeded(pub(super) u64);

impl Random for Seeded {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

impl Seeded {
    pub(super) fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).unwrap()
    }

    pub(super) fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }

    pub(super) fn one_in(&mut self, many: usize) -> bool {
        self.below(many) == 0
    }
}

impl Gate {
    /// Lets histories see the log up to a place.
    pub(super) fn open(&self, seq: Seq) {
        self.state.0.lock().unwrap().0 = seq;
        self.state.1.notify_all();
    }

    /// Ends the histories that go through it.
    pub(super) fn stop(&self) {
        self.state.0.lock().unwrap().1 = true;
        self.state.1.notify_all();
    }

    pub(super) fn wait(&self, after: Seq) -> Option<Seq> {
        let state = self.state.0.lock().unwrap();
        let state =
            self.state.1.wait_while(state, |(durable, is_over)| *durable <= after && !*is_over).unwrap();
        if state.1 { None } else { Some(state.0) }
    }
}

pub(super) fn options() -> Options {
    Options {
        segment_bytes: 64 << 10,
        first_segment_bytes: 64 << 10,
        record_bytes_max: 16 << 10,
        ..Options::small(7)
    }
}

impl World {
    pub(super) fn new(seed: u64) -> Self {
        World::with(seed, testkit::broker_settings())
    }

    pub(super) fn with(seed: u64, settings: broker::Settings) -> Self {
        let disk = MemDisk::new();
        let (log, _) = SegmentLog::open(disk.clone(), options()).unwrap();
        World {
            broker: Broker::new(settings.clone()),
            settings,
            disk,
            log,
            now: START_MS,
            wall: START_MS,
            random: Seeded(seed),
            gate: Gate::default(),
            sent: 0,
        }
    }

    /// Carries a command out; what it leads to is durable afterwards, and the gate is open to it.
    pub(super) fn run(&mut self, command: &Command) -> Result<Reply, Refusal> {
        let reply = self.run_unseen(command);
        self.gate.open(self.log.last());
        reply
    }

    /// Carries a command out and shows it to nobody.
    pub(super) fn run_unseen(&mut self, command: &Command) -> Result<Reply, Refusal> {
        let mut batch = Batch::new();
        let mut cx = Context { now: Time(self.now), wall: Time(self.wall), random: &mut self.random };
        let mut effects = Effects::new();
        let reply = self.broker.execute(&mut cx, command, &mut effects, &mut |_, at, event| {
            batch.push_with(|out| event.encode(at, out));
        });
        self.log.append(self.log.last(), &mut batch, Class::Normal).unwrap();
        self.log.syncer().sync().unwrap();
        reply
    }

    pub(super) fn register(&mut self, name: &str) -> AgentKey {
        let name: AgentName = name.parse().unwrap();
        let (aliases, profile) = (Vec::new(), Vec::new());
        let register = Register { aliases, dialect: Dialect::Bus, profile, ..Register::of(name) };
        let Ok(Reply::Agent(agent)) = self.run(&Command::Register(Box::new(register))) else { panic!() };
        agent
    }

    pub(super) fn join(&mut self, agent: AgentKey, address: &str) {
        let address: Address = address.parse().unwrap();
        self.run(&Command::Join { agent, address }).unwrap();
    }

    /// Sends a note with a text.
    pub(super) fn send(&mut self, from: AgentKey, to: &[&str], text: &str) -> MessageId {
        let document = format!(r#"{{"kind":"note","body":{{"text":{}}}}}"#, json::Value::string(text));
        self.send_document(from, to, document.as_bytes(), Kind::Note)
    }

    pub(super) fn send_document(
        &mut self,
        from: AgentKey,
        to: &[&str],
        document: &[u8],
        kind: Kind,
    ) -> MessageId {
        let to: Vec<Address> = to.iter().map(|address| address.parse().unwrap()).collect();
        let body = Envelope::seal(Dialect::Convoke, None, document);
        self.sent += 1;
        let native_id = format!("n{}", self.sent);
        let accept = Accept { from, to, kind, body: body.into(), ..note(&native_id) };
        match self.run(&Command::Accept(Box::new(accept))) {
            Ok(Reply::Accepted(receipted)) => receipted.id,
            other => panic!("{other:?}"),
        }
    }

    /// Starts a history that sees what the gate lets it.
    pub(super) fn history(&self, file: &Path) -> History {
        self.history_with(settings(file), &self.gate)
    }

    pub(super) fn history_with(&self, settings: Settings, gate: &Gate) -> History {
        let gate = gate.clone();
        History::start(settings, self.log.reader(), move |after| gate.wait(after)).unwrap()
    }

    pub(super) fn reader(&self) -> LogReader<MemDisk> {
        self.log.reader()
    }

    /// Visits every event of the log.
    pub(super) fn events(&self, mut visit: impl FnMut(Seq, Time, &Event<'_>)) {
        let scanned = self.log.reader().scan(self.log.first(), self.log.last(), &mut |entry| {
            if let Entry::Record { seq, bytes, .. } = entry {
                let (at, event) = Event::decode(bytes).unwrap();
                visit(seq, at, &event);
            }
            std::ops::ControlFlow::Continue(())
        });
        scanned.unwrap();
    }
}

/// Returns settings whose pieces are small, so that a few events fill several.
pub(super) fn settings(file: &Path) -> Settings {
    Settings {
        chunk_events: 7,
        text_chunk: 3,
        text_slice: 1,
        cache_messages: 8,
        ..Settings::usual(file.to_owned())
    }
}

/// A note to nobody that has nothing special.
pub(super) fn note(native_id: &str) -> Accept {
    let identity = Identity::Native(native_id.into());
    let fingerprint = Fingerprint::of(&[native_id.as_bytes()]);
    Accept {
        fingerprint,
        ..Accept::new(AgentKey::HUMAN, Vec::new(), Kind::Note, identity, bytes::Bytes::new())
    }
}

impl History {
    /// Waits until everything up to a place is in the tables and in the index.
    pub(super) fn catch_up(&self, seq: Seq) {
        let is_there =
            self.shared.wait_until(LONG, |position| position.applied >= seq && position.indexed >= seq);
        assert!(is_there, "at {:?} instead of {seq}, because of {:?}", self.position(), self.trouble());
    }
}

impl World {
    pub(super) fn log_is_empty(&self) -> bool {
        self.log_last() == Seq(0)
    }

    pub(super) fn log_last(&self) -> Seq {
        self.log.last()
    }

    /// Reads a body from where the log has it.
    pub(super) fn body(&self, place: Seq) -> Vec<u8> {
        let record = self.log.reader().read(place).unwrap();
        crate::said::said(place, &record).expect("a body is where the broker says").body.into_owned()
    }
}

impl Seeded {
    pub(super) fn next_below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}
