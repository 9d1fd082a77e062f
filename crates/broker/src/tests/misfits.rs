//! Misfits: events that do not follow from the state are refused; nothing panics, and nothing takes memory or time
//! that the state did not take before.

use std::borrow::Cow;

use message::{Backoff, DeliveryId, Dialect, Guarantee, Kind, MessageId, PresenceState, Priority, Seq};

use crate::tests::language::Stage;
use crate::tests::world::{START_MS, snapshot};
use crate::{
    Accepted, AgentKey, Broker, Digest, Door, Effects, EntryKey, Event, Failed, Fingerprint, GroupKey, Marks,
    MessageKey, Misfit, Next, Of, RecordSet, SessionKey, Target, Time,
};

/// Ann and bob, of whom cid and dan are gone; bob is connected and in a topic; one message waits, one is handed out,
/// one is settled, one is dead, one is a post.
const STATE: &str = "
agent ann did:web:ann
agent bob
agent cid
remove cid
open bob socket
join bob #news
join bob roles.dev
send ann bob out wait=1000
take bob#1
send ann bob settled
take bob#1
ack bob settled
send ann bob dead retries=0
take bob#1
nack bob dead no
send ann bob waiting
send ann #news post
open ann socket
send ann eve held hold
send ann roles.dev role
write bob x.notes/a=text
";

const ANN: AgentKey = AgentKey(3);
const BOB: AgentKey = AgentKey(4);
const CID: AgentKey = AgentKey(5);
const NOBODY: AgentKey = AgentKey(77);
const NEWS: GroupKey = GroupKey(1);
const OF_BOB: SessionKey = SessionKey(0);
const OF_ANN: SessionKey = SessionKey(1);

struct Fixture {
    stage: Stage,
    bytes: Vec<u8>,
}

impl Fixture {
    fn new() -> Self {
        let mut stage = Stage::new();
        for line in STATE.lines().filter(|line| !line.is_empty()) {
            for told in stage.line(line) {
                assert!(!told.starts_with("refused"), "{line}: {told}");
            }
        }
        let bytes = snapshot(&stage.world.broker);
        Fixture { stage, bytes }
    }

    fn broker(&self) -> Broker {
        Broker::restore(self.stage.world.broker.settings.clone(), &self.bytes)
            .expect("a snapshot can be read")
    }

    fn message(&self, label: &str) -> (MessageKey, Seq) {
        let broker = &self.stage.world.broker;
        let key = broker.find(self.stage.labels[label]).expect("it is remembered");
        (key, broker.message(key).expect("it is remembered").seq)
    }

    fn of(&self, label: &str) -> Of {
        let (key, seq) = self.message(label);
        let (entry, _) = self.stage.world.broker.entries_of(key).next().expect("it has an entry");
        Of { entry, seq }
    }

    /// Checks that an event is refused, and says which if it is not.
    fn refuses(&self, what: &str, event: &Event<'_>, wrong: &mut Vec<String>) {
        let mut broker = self.broker();
        let next = Seq(broker.last().0 + 1);
        let applied = broker.apply(next, Time(START_MS), event, &mut Effects::new());
        if applied.is_ok() {
            wrong.push(format!("{what} was accepted"));
        }
    }
}

#[test]
fn an_event_out_of_sequence_is_refused() {
    let fixture = Fixture::new();
    let last = fixture.broker().last();
    for found in [0, 1, last.0 - 1, last.0, last.0 + 2, u64::MAX] {
        let applied = fixture.broker().apply(Seq(found), Time(0), &Event::Restarted, &mut Effects::new());
        assert_eq!(applied, Err(Misfit::Sequence { last, found: Seq(found) }));
    }
}

#[test]
fn events_about_agents_and_groups_must_fit() {
    let fixture = Fixture::new();
    let set =
        |agent, name, aliases| Event::AgentSet { agent, name, aliases, dialect: Dialect::Bus, profile: b"" };
    let presence =
        |agent| Event::PresenceSet { agent, state: PresenceState::Idle, detail: (&b""[..]).into() };
    let opened = |session, agent, number| Event::SessionOpened { session, agent, number, door: Door::Poll };
    let made = |group, address| Event::GroupMade { group, address: Cow::Borrowed(address) };
    let cases = [
        ("an agent under another's number", set(ANN, "bob", vec![])),
        ("an agent with a name that is taken", set(AgentKey(6), "ann", vec![])),
        ("an agent with a number too high", set(NOBODY, "new", vec![])),
        ("an alias that is another's", set(BOB, "bob", vec!["did:web:ann"])),
        ("an alias that is another's name", set(BOB, "bob", vec!["ann"])),
        ("an alias that is its own name", set(BOB, "bob", vec!["bob"])),
        ("the same alias twice", set(BOB, "bob", vec!["did:web:x", "did:web:x"])),
        ("the removal of nobody", Event::AgentRemoved { agent: NOBODY }),
        ("the removal of one that is gone", Event::AgentRemoved { agent: CID }),
        ("the presence of nobody", presence(NOBODY)),
        ("the presence of one that is gone", presence(CID)),
        ("a connection of nobody", opened(SessionKey(2), NOBODY, 1)),
        ("a connection of one that is gone", opened(SessionKey(2), CID, 1)),
        ("a connection where one is", opened(OF_BOB, ANN, 2)),
        ("a connection whose number is taken", opened(SessionKey(2), BOB, 1)),
        ("the end of no connection", Event::SessionClosed { session: SessionKey(9) }),
        ("a group that is there", made(GroupKey(3), "#news")),
        ("a group with another's number", made(NEWS, "#other")),
        ("a group with a number too high", made(GroupKey(9), "#other")),
        ("nobody joins", Event::Joined { agent: NOBODY, group: NEWS }),
        ("one that is gone joins", Event::Joined { agent: CID, group: NEWS }),
        ("a member joins", Event::Joined { agent: BOB, group: NEWS }),
        ("a member of no group", Event::Joined { agent: ANN, group: GroupKey(9) }),
        ("a stranger leaves", Event::Left { agent: ANN, group: NEWS }),
        ("a member leaves no group", Event::Left { agent: BOB, group: GroupKey(9) }),
    ];
    let mut wrong = Vec::new();
    for (what, event) in &cases {
        fixture.refuses(what, event, &mut wrong);
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn events_about_deliveries_must_fit() {
    let fixture = Fixture::new();
    let delivery = DeliveryId::new(START_MS, [1; 10]);
    let dispatched = |of, agent, session| {
        let lease_until = Time(START_MS + 1_000);
        Event::Dispatched { of, agent, session, delivery, lease_until, by: "test" }
    };
    let of = |label: &str| fixture.of(label);
    let failed = |of, next| Event::Failed(Failed { of, reason: "no", next });
    let retry = Next::Retry { at: Time(START_MS + 1) };
    let fallback = |entry, agent| Next::Fallback { entry: EntryKey(entry), agent };
    let post_as_entry = Of { entry: EntryKey(50), ..of("post") };
    let absorbed = |agent, group, upto, entries: &[Of]| Event::Absorbed {
        agent,
        group,
        upto,
        entries: entries.to_vec(),
    };
    let stranger = Of { entry: EntryKey(999), seq: Seq(1) };
    let wrong_seq = Of { seq: Seq(1), ..of("waiting") };
    let cases = [
        ("nothing handed out", dispatched(stranger, BOB, None)),
        ("another message handed out", dispatched(wrong_seq, BOB, None)),
        ("what is out handed out", dispatched(of("out"), BOB, None)),
        ("what is settled handed out", dispatched(of("settled"), BOB, None)),
        ("what is dead handed out", dispatched(of("dead"), BOB, None)),
        ("a post handed out", dispatched(of("post"), BOB, None)),
        ("what is held handed out", dispatched(of("held"), BOB, None)),
        ("handed out to nobody", dispatched(of("waiting"), NOBODY, None)),
        ("handed out to somebody else", dispatched(of("waiting"), ANN, None)),
        ("handed out over no connection", dispatched(of("waiting"), BOB, Some(SessionKey(9)))),
        ("handed out over another's connection", dispatched(of("waiting"), BOB, Some(OF_ANN))),
        ("a role's handed to a stranger", dispatched(of("role"), ANN, None)),
        ("what waits returned", Event::Returned { of: of("waiting") }),
        ("what is settled returned", Event::Returned { of: of("settled") }),
        ("what waits surfaced", Event::Surfaced { of: of("waiting"), by: "test" }),
        ("what is settled surfaced", Event::Surfaced { of: of("settled"), by: "test" }),
        ("what is settled acknowledged", Event::Acknowledged { of: of("settled"), agent: BOB, by: "test" }),
        ("acknowledged by nobody", Event::Acknowledged { of: of("out"), agent: NOBODY, by: "test" }),
        ("a post acknowledged", Event::Acknowledged { of: of("post"), agent: BOB, by: "test" }),
        ("what is settled retried", failed(of("settled"), retry)),
        ("what is settled dead", failed(of("settled"), Next::Dead)),
        ("what is dead dead", failed(of("dead"), Next::Dead)),
        ("a post retried", failed(of("post"), retry)),
        ("what is held retried", failed(of("held"), retry)),
        ("a fallback in a taken place", failed(of("out"), fallback(of("waiting").entry.0, ANN))),
        ("a fallback that is nobody", failed(of("out"), fallback(50, NOBODY))),
        ("what waits extended", Event::Extended { of: of("waiting"), until: Time(START_MS) }),
        ("what waits released", Event::Released { of: of("waiting") }),
        ("what waits revived", Event::DeadRetried { of: of("waiting") }),
        ("what waits dropped", Event::DeadDropped { of: of("waiting") }),
        ("a stranger makes posts its own", absorbed(ANN, NEWS, 1, &[])),
        ("posts of no group", absorbed(BOB, GroupKey(9), 1, &[])),
        ("too few entries for the posts", absorbed(BOB, NEWS, 1, &[])),
        (
            "too many entries for the posts",
            absorbed(BOB, NEWS, 1, &[post_as_entry, Of { entry: EntryKey(51), ..of("post") }]),
        ),
        ("entries of other posts", absorbed(BOB, NEWS, 1, &[Of { seq: Seq(1), ..post_as_entry }])),
        ("entries in taken places", absorbed(BOB, NEWS, 1, &[of("post")])),
        ("posts to come", absorbed(BOB, NEWS, 2, &[post_as_entry])),
        ("posts without end", absorbed(BOB, NEWS, u64::MAX, &[post_as_entry])),
    ];
    let mut wrong = Vec::new();
    for (what, event) in &cases {
        fixture.refuses(what, event, &mut wrong);
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn events_about_messages_must_fit() {
    let fixture = Fixture::new();
    let (waiting, seq) = fixture.message("waiting");
    let (settled, settled_seq) = fixture.message("settled");
    let none = MessageKey(999);
    let cases = [
        ("no message expired", Event::Expired { message: none, seq }),
        ("another message expired", Event::Expired { message: waiting, seq: settled_seq }),
        ("no message withdrawn", Event::Withdrawn { message: none, seq }),
        ("no message amended", Event::Amended { message: none, seq, body: b"" }),
        ("another message amended", Event::Amended { message: waiting, seq: Seq(1), body: b"" }),
        ("no message resumed", Event::Resumed { message: none, seq }),
        ("what is not parked resumed", Event::Resumed { message: waiting, seq }),
        ("no wait ended", Event::WaitEnded { message: none, seq }),
        ("the wait of nobody ended", Event::WaitEnded { message: waiting, seq }),
        ("the wait for what is settled ended", Event::WaitEnded { message: settled, seq: settled_seq }),
        ("no body carried", Event::Carried { message: none, seq, body: b"" }),
        ("another body carried", Event::Carried { message: waiting, seq, body: b"not the same length" }),
        ("a message where one is", accepted(waiting, EntryKey(50), BOB, |_| {})),
        ("an entry where one is", accepted(MessageKey(50), fixture.of("waiting").entry, BOB, |_| {})),
        ("a message to nobody", accepted(MessageKey(50), EntryKey(50), NOBODY, |_| {})),
        ("a message from nobody", accepted(MessageKey(50), EntryKey(50), BOB, |it| it.from = NOBODY)),
        ("a message in a place far away", accepted(MessageKey(u32::MAX - 1), EntryKey(50), BOB, |_| {})),
        ("an entry in a place far away", accepted(MessageKey(50), EntryKey(u32::MAX - 1), BOB, |_| {})),
        (
            "an answer to nothing",
            accepted(MessageKey(50), EntryKey(50), BOB, |it| {
                it.answers = Some(Of { entry: EntryKey(999), seq });
            }),
        ),
        (
            "a message to no connection",
            accepted(MessageKey(50), EntryKey(50), BOB, |it| {
                it.targets =
                    vec![Target::Agent { entry: EntryKey(50), agent: BOB, session: Some(SessionKey(9)) }];
            }),
        ),
        (
            "a message to no group",
            accepted(MessageKey(50), EntryKey(50), BOB, |it| {
                it.targets = vec![Target::Group { entry: EntryKey(50), group: GroupKey(9) }];
            }),
        ),
        (
            "two entries in one place",
            accepted(MessageKey(50), EntryKey(50), BOB, |it| {
                it.targets.push(Target::Held { entry: EntryKey(50), name: "eve" });
            }),
        ),
    ];
    let mut wrong = Vec::new();
    for (what, event) in &cases {
        fixture.refuses(what, event, &mut wrong);
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn events_about_records_must_fit() {
    let fixture = Fixture::new();
    let last = fixture.stage.world.broker.records.tick;
    let place = fixture.stage.world.broker.record(BOB, "x.notes", "a").map(|record| record.body);
    let place = place.expect("it is there");
    let set = |change: fn(&mut RecordSet<'static>)| {
        let tick = last + 1;
        let (collection, key, body) = ("x.notes", "b", &b"text"[..]);
        let (cid, commit, blobs) = (Digest([1; 32]), Digest([2; 32]), Vec::new());
        let mut set = RecordSet {
            repo: BOB,
            collection,
            key,
            cid,
            tick,
            rev: tick,
            commit,
            is_new: true,
            message: None,
            blobs,
            place: None,
            bytes: 4,
            body,
        };
        change(&mut set);
        Event::RecordSet(Box::new(set))
    };
    let removed = |repo, key, tick, body| {
        let (collection, commit) = ("x.notes", Digest([2; 32]));
        Event::RecordRemoved { repo, collection, key, tick, rev: tick, commit, body }
    };
    let carried =
        |key, tick, body| Event::RecordCarried { repo: BOB, collection: "x.notes", key, tick, body };
    let cases = [
        ("a record of nobody", set(|it| it.repo = NOBODY)),
        ("a new record where one is", set(|it| it.key = "a")),
        ("a changed record where none is", set(|it| it.is_new = false)),
        ("a record without a key", set(|it| it.key = "")),
        ("a record without a collection", set(|it| it.collection = "")),
        ("a record at a tick that was", set(|it| it.tick = 1)),
        ("a record after its commit", set(|it| it.rev = 1)),
        ("a record of another length", set(|it| it.bytes = 5)),
        ("a record in two places", set(|it| it.place = Some(Seq(1)))),
        ("a record in a place to come", set(|it| (it.place, it.body) = (Some(Seq(u64::MAX)), b""))),
        ("no record removed", removed(BOB, "b", last + 1, place)),
        ("nobody's record removed", removed(NOBODY, "a", last + 1, place)),
        ("a record removed from another place", removed(BOB, "a", last + 1, Seq(1))),
        ("a record removed at a tick that was", removed(BOB, "a", last, place)),
        ("no record carried", carried("b", last, b"text")),
        ("another write carried", carried("a", last + 1, b"text")),
        ("another text carried", carried("a", last, b"longer")),
    ];
    let mut wrong = Vec::new();
    for (what, event) in &cases {
        fixture.refuses(what, event, &mut wrong);
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn accepted(
    message: MessageKey,
    entry: EntryKey,
    agent: AgentKey,
    change: impl FnOnce(&mut Accepted<'static>),
) -> Event<'static> {
    let mut bits = [9; 10];
    bits[6..].copy_from_slice(&message.0.to_be_bytes());
    let id = MessageId::new(START_MS, bits);
    let mut accepted = Accepted {
        message,
        id,
        from: ANN,
        kind: Kind::Note,
        priority: Priority::Normal,
        guarantee: Guarantee::AtLeastOnce,
        native_id: Some("misfit"),
        marks: Marks::of(ANN, Some("misfit"), Fingerprint([9; 16]), None),
        fingerprint: Fingerprint([9; 16]),
        task: None,
        thread: None,
        reply_to: None,
        expires: Time::NEVER,
        timeout_ms: None,
        retries: 0,
        backoff: Backoff::Exponential,
        fallback: Vec::new(),
        wait_until: None,
        live_only: false,
        parked: crate::Park::Nothing,
        filed: false,
        hops: 0,
        answers: None,
        targets: vec![Target::Agent { entry, agent, session: None }],
        body: Cow::Borrowed(b"body"),
    };
    change(&mut accepted);
    Event::Accepted(Box::new(accepted))
}
