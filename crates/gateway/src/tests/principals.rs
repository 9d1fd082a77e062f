//! Who is let in, and how far.

use broker::{AgentKey, Broker, Command, Context, Random, Register, Reply, Time};
use message::{AgentName, Dialect};

use crate::{Authority, Denied, Principal, Profile, Token};

struct Zero;

impl Random for Zero {
    fn next(&mut self) -> u64 {
        0
    }
}

fn token(name: &str) -> Token {
    Token::new(name.parse().unwrap()).unwrap()
}

fn register(broker: &mut Broker, name: &str, tokens: &[&Token]) -> AgentKey {
    let profile = Profile { tokens: tokens.iter().map(|token| token.hash()).collect(), ..Profile::default() };
    let (name, profile): (AgentName, Vec<u8>) = (name.parse().unwrap(), profile.write());
    let register = Register { name: &name, aliases: &[], dialect: Dialect::Convoke, profile: &profile };
    let mut cx = Context { now: Time(1), wall: Time(1), random: &mut Zero };
    let command = Command::Register(register);
    let reply = broker.execute(&mut cx, &command, &mut Vec::new(), &mut |_, _, _| {}).unwrap();
    let Reply::Agent(agent) = reply else { panic!("{reply:?}") };
    agent
}

#[test]
fn a_token_reaches_as_far_as_whom_it_speaks_for() {
    let (operator, ann, bob) = (token("human"), token("ann"), token("bob"));
    let authority = Authority { operator: operator.hash() };
    let mut broker = Broker::new(testkit::broker_settings());
    let key = register(&mut broker, "ann", &[&ann]);
    let other = register(&mut broker, "bob", &[&bob]);
    let who = |token: &Token| authority.principal(Some(token), &broker);
    assert_eq!(who(&operator), Ok(Principal::Operator));
    assert_eq!(who(&ann), Ok(Principal::Agent(key)));
    let ann = who(&ann).unwrap();
    assert_eq!((ann.speaker(), ann.must_be(key), ann.must_be(other)), (key, Ok(()), Err(Denied::NotYours)));
    assert_eq!(ann.must_be_operator(), Err(Denied::NotYours));
    assert_eq!(Principal::Operator.must_be(other), Ok(()));
}

#[test]
fn neither_none_nor_another_nor_a_revoked_token_opens() {
    let (operator, ann) = (token("human"), token("ann"));
    let authority = Authority { operator: operator.hash() };
    let mut broker = Broker::new(testkit::broker_settings());
    register(&mut broker, "ann", &[&ann]);
    assert_eq!(authority.principal(None, &broker), Err(Denied::NoToken));
    for wrong in [token("ann"), token("human"), token("nobody")] {
        assert_eq!(authority.principal(Some(&wrong), &broker), Err(Denied::NoToken));
    }
    register(&mut broker, "ann", &[]);
    assert_eq!(authority.principal(Some(&ann), &broker), Err(Denied::NoToken), "it was revoked");
}

#[test]
fn a_profile_is_read_as_it_was_written() {
    let profile = Profile {
        tokens: vec![token("ann").hash(), token("ann").hash()],
        framework: Some("codex".to_owned()),
        did: Some("did:web:ann.example".to_owned()),
        handle: None,
        uri: Some("codex://ann".to_owned()),
    };
    assert_eq!(Profile::read(&profile.write()), profile);
    assert_eq!(profile.aliases(), ["did:web:ann.example", "codex://ann"]);
    for odd in [&b""[..], b"[]", b"{\"tokens\":7}", b"{\"tokens\":[1,\"x\"]}", b"\xff"] {
        assert_eq!(Profile::read(odd), Profile::default(), "{odd:?}");
    }
}
