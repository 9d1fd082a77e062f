//! Words of all five dialects about one task: whoever says what in whatever language, the task moves as the state
//! machine says, or what was said is refused and nothing moves.

use broker::{AgentKey, Broker, Command, Context, Random, Register, Reply, Step, Time, after};
use dialect::{Name, Names};
use json::Limits;
use message::{AgentName, Kind, Message, TaskStatus};
use proptest::prelude::*;

use crate::{Asking, Reading, SealKey, Submission};

const WHO: [&str; 3] = ["ann", "bob", "cid"];
const TASK: &str = "0.0.7";
/// The languages of the five specifications.
const DIALECTS: [Name; 5] = [Name::Comms, Name::Coord, Name::Bus, Name::Channel, Name::Wire];
/// What can be said of a task, where it is when whoever was asked says so, and the words of ours.
const KINDS: [(Kind, TaskStatus, &str); 8] = [
    (
        Kind::TaskRequest,
        TaskStatus::Pending,
        r#""title":"The parser is built.","text":"It reads wires.","brief":{"criteria":["Tests pass"]}"#,
    ),
    (Kind::TaskClaim, TaskStatus::Claimed, r#""status":"claimed""#),
    (Kind::TaskProgress, TaskStatus::Running, r#""status":"running","text":"Half of it is read.""#),
    (Kind::TaskDone, TaskStatus::Done, r#""status":"done","text":"It is built.","metrics":{"tokens":30}"#),
    (
        Kind::TaskFailed,
        TaskStatus::Failed,
        r#""status":"failed","error":{"code":"TIMEOUT","message":"It took too long.","retryable":true}"#,
    ),
    (
        Kind::TaskRejected,
        TaskStatus::Rejected,
        r#""status":"rejected","text":"Not mine.","error":{"code":"VALIDATION_ERROR","message":"Not mine."}"#,
    ),
    (
        Kind::TaskBlocked,
        TaskStatus::Blocked,
        r#""status":"blocked","error":{"code":"spec_gap","message":"Which parser?"}"#,
    ),
    (
        Kind::HandoffOffer,
        TaskStatus::Claimed,
        r#""title":"The parser is handed over.","text":"I am out of time.","handoff":{"reason":"RATE_LIMIT"}"#,
    ),
];

struct Dice(u64);

impl Random for Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        self.0
    }
}

/// A bus without disk and doors, and its clock.
struct Bus {
    broker: Broker,
    now: u64,
    names: Names,
    said: u32,
}

impl Bus {
    fn new() -> Self {
        let broker = Broker::new(testkit::broker_settings());
        let known = WHO.map(|name| {
            format!(r#"{{"slug":"{name}","did":"did:web:{name}.example","uri":"codex://{name}","framework":"codex"}}"#)
        });
        let known = format!("[{}]", known.join(","));
        let names = Names::from_value(&json::parse_str(&known, Limits::DOCUMENT).unwrap()).unwrap();
        let mut bus = Bus { broker, now: 1_790_000_000_000, names, said: 0 };
        for name in WHO {
            let name: AgentName = name.parse().unwrap();
            let aliases = [format!("did:web:{name}.example"), format!("codex://{name}")];
            let aliases = aliases.iter().map(|alias| alias.as_str().into()).collect();
            let register = Register { aliases, ..Register::of(name) };
            bus.execute(&Command::Register(Box::new(register))).unwrap();
        }
        bus
    }

    fn execute(&mut self, command: &Command) -> Result<Reply, broker::Refusal> {
        self.now += 10;
        let (now, mut dice) = (Time(self.now), Dice(self.now));
        let mut cx = Context { now, wall: now, random: &mut dice };
        self.broker.execute(&mut cx, command, &mut Vec::new(), &mut |_, _, _| {})
    }

    /// Says something in a language; nothing if that language cannot say it.
    fn say(&mut self, from: &str, to: &str, kind: Kind, words: &str, dialect: Name) -> Option<bool> {
        self.said += 1;
        let id = format!("word-{}", self.said);
        let text = format!(
            r#"{{"convoke":1,"native_id":"{id}","kind":"{}","from":"{from}","to":["{to}"],"task":"{TASK}","created":"2026-09-21T14:13:20Z",{words}}}"#,
            kind.name()
        );
        let said = message::from_value(json::parse_str(&text, Limits::DOCUMENT).unwrap()).unwrap().message;
        let mut submission = written(&said, dialect, &self.names)?;
        submission.accept.from = self.broker.agent(from).unwrap();
        submission.ask(Asking { key: Some(&id), ..Asking::default() });
        let outcome = self.execute(&Command::Accept(submission.accept));
        Some(outcome.is_ok())
    }

    fn task(&self) -> (TaskStatus, Option<AgentKey>, u32, Vec<Step>) {
        let task = self.broker.look_at_task(TASK).unwrap();
        (task.status, task.holder, task.version, task.notes.iter().map(|note| note.step).collect())
    }
}

/// Writes a message in a language and reads it again as a door would.
fn written(message: &Message, dialect: Name, names: &Names) -> Option<Submission> {
    let document = json::Value::Object(translate::dialect(dialect).encode(message, names).document);
    let seal: SealKey = "07".repeat(32).parse().unwrap();
    let lexicons = dialect_comms::catalog();
    let reading = Reading { names, seal: &seal, limits: Limits::DOCUMENT, trace: None, lexicons };
    let submission = crate::receive(document.to_json().as_bytes(), Some(dialect), reading).ok()?;
    (submission.accept.kind == message.kind).then_some(submission)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn words_of_every_dialect_move_a_task_alike(
        said in proptest::collection::vec((0..3_usize, 0..3_usize, 0..KINDS.len(), 0..DIALECTS.len()), 1..24),
        first in 0..DIALECTS.len(),
    ) {
        let mut bus = Bus::new();
        let (kind, _, words) = KINDS[0];
        prop_assert_eq!(bus.say("ann", "bob", kind, words, DIALECTS[first]), Some(true), "every dialect can ask");
        prop_assert_eq!(bus.task().0, TaskStatus::Pending);
        for (from, to, kind, dialect) in said {
            let (kind, _, words) = KINDS[kind];
            let before = bus.task();
            let Some(accepted) = bus.say(WHO[from], WHO[to], kind, words, DIALECTS[dialect]) else { continue };
            let now = bus.task();
            prop_assert!(now.3.starts_with(&before.3), "the history only grows");
            let steps = &now.3[before.3.len()..];
            prop_assert!(accepted || now == before, "what is refused changes nothing: {:?} to {:?}", before, now);
            let mut status = before.0;
            for step in steps {
                let next = after(status, *step);
                prop_assert!(next.is_some(), "{} is impossible from {}", step.name(), status.name());
                status = next.unwrap_or(status);
            }
            // A role gives back what one of it refuses; here nobody but agents was asked.
            prop_assert_eq!(now.0, status, "the status is where the steps lead: {:?}", steps);
            let by = bus.broker.agent(WHO[from]);
            let ends = steps.iter().any(|step| matches!(step, Step::Done | Step::Failed | Step::Rejected));
            prop_assert!(!ends || now.1 == by, "only who has it ends it");
        }
    }
}

#[test]
fn the_same_word_is_the_same_step_in_every_dialect() {
    let mut count = 0;
    for dialect in DIALECTS {
        for (kind, status, words) in KINDS.iter().skip(1) {
            let mut bus = Bus::new();
            bus.say("ann", "bob", KINDS[0].0, KINDS[0].2, dialect).unwrap();
            let to = if *kind == Kind::HandoffOffer { "cid" } else { "ann" };
            let Some(accepted) = bus.say("bob", to, *kind, words, dialect) else { continue };
            count += 1;
            assert!(accepted, "{} in {}", kind.name(), dialect.name());
            assert_eq!(bus.task().0, *status, "{} in {}", kind.name(), dialect.name());
        }
    }
    assert!(count >= 30, "dialects have words for most steps; found {count}");
}
