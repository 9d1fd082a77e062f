//! How fast the history follows a log. Prints figures and asserts nothing about time: `SLOW_TESTS=1` for a run that means
//! something, in a release build.

use std::time::{Duration, Instant};

use broker::{Accept, AgentKey, Broker, Command, Context, Effects, Register, Reply, Take, Time};
use log::{Batch, Class, Log, MemDisk, Options, Reader, SegmentLog, Syncer};
use message::{Address, AgentName, Dialect, Envelope, Seq};

use super::world::{Gate, LONG, Seeded, note};
use crate::{History, Query, Scope, Settings};

/// Words of which the texts are made; the first ones are the most common.
const VOCABULARY: usize = 20_000;
const AGENTS: u32 = 8;

struct Source {
    broker: Broker,
    log: SegmentLog<MemDisk>,
    batch: Batch,
    random: Seeded,
    now: u64,
}

impl Source {
    fn new() -> Self {
        let (log, _) = SegmentLog::open(MemDisk::new(), Options::standard(1)).unwrap();
        let mut settings = testkit::broker_settings();
        settings.limits.take_max = 10_000;
        let (broker, batch) = (Broker::new(settings), Batch::new());
        let mut source = Source { broker, log, batch, random: Seeded(3), now: 1_700_000_000_000 };
        for number in 0..AGENTS {
            let name: AgentName = format!("agent-{number}").parse().unwrap();
            let (aliases, profile) = (Vec::new(), Vec::new());
            let register = Register { aliases, dialect: Dialect::Bus, profile, ..Register::of(name) };
            source.run(&Command::Register(Box::new(register)));
        }
        source
    }

    fn run(&mut self, command: &Command) -> Reply {
        let mut cx = Context { now: Time(self.now), wall: Time(self.now), random: &mut self.random };
        let batch = &mut self.batch;
        let mut write = |_, at, event: &broker::Event<'_>| batch.push_with(|out| event.encode(at, out));
        self.broker.execute(&mut cx, command, &mut Effects::new(), &mut write).unwrap()
    }

    fn flush(&mut self) {
        self.log.append(self.log.last(), &mut self.batch, Class::Normal).unwrap();
        self.batch.clear();
        self.log.syncer().sync().unwrap();
    }

    fn text(&mut self, words: usize) -> String {
        let mut text = String::new();
        for _ in 0..words {
            // Few words are said often, many seldom.
            let (one, other) = (self.random.below(VOCABULARY), self.random.below(VOCABULARY));
            text.push_str(&format!("word{} ", one * other / VOCABULARY));
        }
        text
    }

    /// Sends, hands out and acknowledges so many messages.
    fn fill(&mut self, messages: usize, words: usize) {
        for round in 0..messages.div_ceil(200) {
            self.now += 5;
            for number in 0..200 {
                let text = self.text(words);
                let document = format!(r#"{{"kind":"note","to":["x"],"body":{{"text":"{text}"}}}}"#);
                let body = Envelope::seal(Dialect::Convoke, None, document.as_bytes());
                let native_id = format!("{round}-{number}");
                let to: Vec<Address> = vec![format!("agent-{}", number % AGENTS as usize).parse().unwrap()];
                let accept = Accept {
                    from: AgentKey(3 + (number as u32 + 1) % AGENTS),
                    to,
                    task: Some(["one", "two", "three"][number % 3].into()),
                    thread: Some(["here", "there"][number % 2].into()),
                    body: body.into(),
                    ..note(&native_id)
                };
                self.run(&Command::Accept(Box::new(accept)));
            }
            self.settle();
            self.flush();
        }
    }

    fn settle(&mut self) {
        for number in 0..AGENTS {
            let agent = AgentKey(3 + number);
            // One of each lane at a time.
            for _ in 0..25 {
                let take = Take {
                    agent,
                    session: None,
                    max: 100,
                    bytes_max: u64::MAX,
                    lease_ms: 60_000,
                    by: "socket".into(),
                };
                let Reply::Taken(deliveries) = self.run(&Command::Take(take)) else { panic!() };
                for delivery in deliveries {
                    self.run(&Command::Ack { agent, delivery: delivery.delivery, by: "socket".into() });
                }
            }
        }
    }
}

#[allow(clippy::disallowed_methods, reason = "measuring time is what this is for")]
fn timed<T>(what: &str, count: u64, work: impl FnOnce() -> T) -> T {
    let (start, cpu_before) = (Instant::now(), cpu());
    let done = work();
    let took = start.elapsed().max(Duration::from_nanos(1));
    let cpu = cpu() - cpu_before;
    let rate = |time: Duration| count as f64 / time.max(Duration::from_nanos(1)).as_secs_f64();
    println!(
        "{what}: {count} in {took:.2?} ({:.0} a second), {cpu:.2?} of a core ({:.0} a second)",
        rate(took),
        rate(cpu)
    );
    done
}

/// Returns the processor time of this process; others may take their share of the clock, but not of this.
fn cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields).split_whitespace();
    // User and system time, in hundredths of a second.
    let ticks: u64 = fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 10)
}

#[test]
fn figures() {
    let is_slow = std::env::var_os("SLOW_TESTS").is_some_and(|value| value == "1");
    let messages = if is_slow { 100_000 } else { 1_000 };
    for words in [20, 100] {
        println!("{messages} messages of {words} words");
        measure(messages, words);
    }
}

fn measure(messages: usize, words: usize) {
    let mut source = Source::new();
    source.fill(messages, words);
    let last = source.log.last();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("history.db");
    let start = |text_chunk: usize| {
        let gate = Gate::default();
        let settings = Settings { text_chunk, text_slice: text_chunk, ..Settings::usual(file.clone()) };
        let waiting = gate.clone();
        let history =
            History::start(settings, source.log.reader(), move |after| waiting.wait(after)).unwrap();
        (history, gate)
    };
    let reader = source.log.reader();
    timed("reading", last.0, || {
        reader.scan(Seq(1), last, &mut |_| std::ops::ControlFlow::Continue(())).unwrap();
    });
    let (history, gate) = start(0);
    timed("events without text", last.0, || {
        gate.open(last);
        assert!(history.shared.wait_until(LONG, |position| position.applied >= last));
    });
    gate.stop();
    history.join();
    let bytes = std::fs::metadata(&file).unwrap().len();
    println!("the tables have {} bytes a message", bytes / messages as u64);
    let (history, gate) = start(Settings::usual(file.clone()).text_chunk);
    timed("texts", messages as u64, || {
        gate.open(last);
        history.catch_up(last);
    });
    questions(&history);
    gate.stop();
    history.join();
    let bytes = std::fs::metadata(&file).unwrap().len();
    println!("with texts {} bytes a message", bytes / messages as u64);
}

fn questions(history: &History) {
    let everything = Query::new(Scope::Everything, 50);
    let agent = Query::new(Scope::Agent(AgentKey(4)), 50);
    let with = |query: &Query, text: &str| Query { text: Some(text.to_owned()), ..query.clone() };
    let cases = [
        ("newest", everything.clone()),
        ("newest of an agent", agent.clone()),
        (
            "a thread from its beginning",
            Query { thread: Some("here".to_owned()), after: Some(Seq(0)), ..agent.clone() },
        ),
        ("a common word", with(&everything, "word3")),
        ("a rare word", with(&everything, "word14999")),
        ("two words and not a third", with(&agent, "word30 word50 -word3")),
        ("a phrase", with(&agent, "\"word3 word5\"")),
        ("a beginning", with(&everything, "word1499*")),
        ("nothing", with(&everything, "nowhere")),
        ("only not", with(&everything, "-word3")),
    ];
    for (what, query) in cases {
        let page = timed(what, 1, || history.find(&query).unwrap());
        println!("    {} found", page.rows.len());
    }
}
