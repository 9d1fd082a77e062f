//! Who is let in, and how far.

use broker::query::agents::RegistryPage;
use broker::{AgentKey, At, Broker, Command, Context, Query, Random, Register, Reply, Time};
use message::AgentName;

use crate::{Denied, Directory, Listed, Principal, Profile, SessionNote, Token, TokenNote};

struct Zero;

impl Random for Zero {
    fn next(&mut self) -> u64 {
        0
    }
}

fn token(name: &str) -> Token {
    Token::new(name.parse().unwrap()).unwrap()
}

fn note(token: &Token) -> TokenNote {
    TokenNote { hash: token.hash(), expires: None }
}

fn register(broker: &mut Broker, name: &str, profile: &Profile) -> AgentKey {
    let (name, profile): (AgentName, Vec<u8>) = (name.parse().unwrap(), profile.write());
    let register = Register { profile, ..Register::of(name) };
    let mut cx = Context { now: Time(1), wall: Time(1), random: &mut Zero };
    let command = Command::Register(Box::new(register));
    let reply = broker.execute(&mut cx, &command, &mut Vec::new(), &mut |_, _, _| {}).unwrap();
    let Reply::Agent(agent) = reply else { panic!("{reply:?}") };
    agent
}

fn directory(broker: &Broker) -> Directory {
    let mut directory = Directory::default();
    let at = At { now: Time(1), wall: Time(1) };
    let (agents, _) = RegistryPage { after: None, max: 100 }.run(broker, at);
    for (name, listed) in agents.iter().filter_map(Listed::of) {
        directory.set(name, listed);
    }
    directory
}

#[test]
fn a_token_reaches_as_far_as_whom_it_speaks_for() {
    let (ann, bob) = (token("ann"), token("bob"));
    let mut broker = Broker::new(testkit::broker_settings());
    let other = register(&mut broker, "bob", &Profile { tokens: vec![note(&bob)], ..Profile::default() });
    let third = register(&mut broker, "cyd", &Profile::default());
    let speaks_for = vec!["bob".parse().unwrap(), "nobody".parse().unwrap()];
    let profile = Profile { tokens: vec![note(&ann)], speaks_for, ..Profile::default() };
    let key = register(&mut broker, "ann", &profile);
    let directory = directory(&broker);
    let ann = directory.speaker(&ann, Time(1)).unwrap();
    assert_eq!((ann.speaker(), ann.must_be(key), ann.must_be(third)), (key, Ok(()), Err(Denied::NotYours)));
    assert!(ann.may_send_as(key) && ann.may_send_as(other), "it speaks for bob too");
    assert!(!ann.may_send_as(third) && !ann.may_send_as(AgentKey::HUMAN));
    assert_eq!(ann.must_be_operator(), Err(Denied::NotYours));
    let bob = directory.speaker(&bob, Time(1)).unwrap();
    assert!(!bob.acts_as(key), "bob does not speak for ann");
    let operator = Principal::Operator;
    assert!(operator.acts_as(other) && !operator.may_send_as(other), "it reads all, and speaks as itself");
    assert!(operator.may_send_as(AgentKey::HUMAN) && operator.may_send_as(AgentKey::SYSTEM));
    assert!(Principal::Anybody.may_send_as(other));
}

#[test]
fn neither_another_nor_a_revoked_nor_an_old_token_opens() {
    let (ann, old) = (token("ann"), token("ann"));
    let mut broker = Broker::new(testkit::broker_settings());
    let brief = TokenNote { hash: old.hash(), expires: Some(Time(100)) };
    register(&mut broker, "ann", &Profile { tokens: vec![note(&ann), brief], ..Profile::default() });
    let mut listed = directory(&broker);
    for wrong in [token("ann"), token("human"), token("nobody")] {
        assert_eq!(listed.speaker(&wrong, Time(1)), Err(Denied::NoToken));
    }
    assert!(listed.speaker(&old, Time(99)).is_ok());
    assert_eq!(listed.speaker(&old, Time(100)), Err(Denied::NoToken), "its time is over");
    register(&mut broker, "ann", &Profile::default());
    listed = directory(&broker);
    assert_eq!(listed.speaker(&ann, Time(1)), Err(Denied::NoToken), "it was revoked");
}

#[test]
fn a_profile_is_read_as_it_was_written() {
    let profile = Profile {
        tokens: vec![
            note(&token("ann")),
            TokenNote { hash: token("ann").hash(), expires: Some(Time(1_790_000_000_000)) },
        ],
        sessions: vec![SessionNote {
            id: "0123".to_owned(),
            token: Some(token("ann").hash()),
            renewals: 3,
            renewed: Time(5),
            expires: Time(9),
        }],
        speaks_for: vec!["bob".parse().unwrap()],
        framework: Some("codex".to_owned()),
        did: Some("did:web:ann.example".to_owned()),
        handle: None,
        uri: Some("codex://ann".to_owned()),
        descriptor: Some(r#"{"agent_id":"codex://ann"}"#.to_owned()),
        card: Some(r#"{"card_version":"1.0"}"#.to_owned()),
    };
    assert_eq!(Profile::read(&profile.write()), profile);
    assert_eq!(profile.aliases(), ["did:web:ann.example", "codex://ann"]);
    for odd in [&b""[..], b"[]", b"{\"tokens\":7}", b"{\"tokens\":[1,\"x\"]}", b"\xff"] {
        assert_eq!(Profile::read(odd), Profile::default(), "{odd:?}");
    }
}
