//! Addresses: one table of what each text is, one of what is wrong with the others.

use proptest::prelude::*;

use super::generators::address;
use crate::{Address, AddressError, AgentName, AgentRef, Alias, ChannelName, RoleName, TopicName};

/// Names the sort of an address and what it holds.
fn sort(text: &str) -> String {
    match text.parse::<Address>() {
        Ok(Address::Agent(AgentRef::Name(name))) => format!("agent {name}"),
        Ok(Address::Agent(AgentRef::Alias(alias))) => format!("alias {alias}"),
        Ok(Address::Session { agent, session }) => format!("session {session} of {agent}"),
        Ok(Address::Role(role)) => format!("role {role}"),
        Ok(Address::Topic(topic)) => format!("topic {topic}"),
        Ok(Address::Channel(channel)) => format!("channel {channel}"),
        Ok(Address::All) => "everybody".to_owned(),
        Err(error) => format!("{error:?}"),
    }
}

#[test]
fn every_sort_is_told_apart_and_written_again() {
    let cases = [
        ("codex", "agent codex"),
        ("0", "agent 0"),
        ("a.b_c-d", "agent a.b_c-d"),
        ("ann.codex", "agent ann.codex"),
        ("human", "agent human"),
        ("allan", "agent allan"),
        ("roles", "agent roles"),
        ("rolesx", "agent rolesx"),
        ("channel", "agent channel"),
        ("did", "agent did"),
        ("claude#2", "session 2 of claude"),
        ("claude#0", "session 0 of claude"),
        ("claude#4294967295", "session 4294967295 of claude"),
        ("roles.developer", "role developer"),
        ("roles.all", "role all"),
        ("roles.roles.x", "role roles.x"),
        ("#deploys", "topic deploys"),
        ("#all", "topic all"),
        ("channel:team-a", "channel team-a"),
        ("channel:all", "channel all"),
        ("all", "everybody"),
        ("did:plc:ewvi7nxzyoun6zhxrhs64oiz", "alias did:plc:ewvi7nxzyoun6zhxrhs64oiz"),
        ("did:web:Ann.example:8080", "alias did:web:Ann.example:8080"),
        ("did:cf:abc@net#key", "alias did:cf:abc@net#key"),
        ("codex://ann", "alias codex://ann"),
        ("channel://ann", "alias channel://ann"),
        ("roles.x://ann", "alias roles.x://ann"),
        ("X-a+b.c://Ann/é?q#f", "alias X-a+b.c://Ann/é?q#f"),
    ];
    for (text, expected) in cases {
        assert_eq!(sort(text), expected, "{text}");
        assert_eq!(text.parse::<Address>().unwrap().to_string(), text);
    }
}

#[test]
fn what_is_no_address_is_refused_for_the_right_reason() {
    let cases = [
        ("", "Empty"),
        ("#", "Empty"),
        ("roles.", "Empty"),
        ("channel:", "Empty"),
        ("#2", "topic 2"),
        ("Ann", r#"UpperCase { lower: "ann" }"#),
        ("ALL", r#"UpperCase { lower: "all" }"#),
        ("#Deploys", r#"UpperCase { lower: "deploys" }"#),
        ("Ann Lee", "Character { found: 'A' }"),
        ("ann lee", "Character { found: ' ' }"),
        ("ann\n", r"Character { found: '\n' }"),
        ("änn", "Character { found: 'ä' }"),
        ("ann@example", "Character { found: '@' }"),
        (".ann", "FirstCharacter { found: '.' }"),
        ("-ann", "FirstCharacter { found: '-' }"),
        ("_", "FirstCharacter { found: '_' }"),
        ("##x", "Character { found: '#' }"),
        ("all#2", "All"),
        ("roles.x#2", "Character { found: '#' }"),
        ("#x#2", "Character { found: '#' }"),
        ("claude#", "Session"),
        ("claude#02", "Session"),
        ("claude#+2", "Session"),
        ("claude#-1", "Session"),
        ("claude#two", "Session"),
        ("claude#4294967296", "Session"),
        ("did:", "Alias"),
        ("did:plc", "Alias"),
        ("did:plc:", "Alias"),
        ("did:PLC:abc", "Alias"),
        ("did:plc:a b", "Alias"),
        ("did:plc:a\u{7f}", "Alias"),
        ("://ann", "Alias"),
        ("codex://", "Alias"),
        ("1codex://ann", "Alias"),
        ("co dex://ann", "Alias"),
        ("codex://ann\u{a0}lee", "Alias"),
    ];
    for (text, expected) in cases {
        assert_eq!(sort(text), expected, "{text:?}");
    }
}

#[test]
fn names_end_at_their_limit() {
    let longest = "n".repeat(64);
    for prefix in ["", "#", "roles.", "channel:"] {
        assert!(format!("{prefix}{longest}").parse::<Address>().is_ok());
        let error = format!("{prefix}{longest}n").parse::<Address>().unwrap_err();
        assert_eq!(error, AddressError::TooLong { bytes: 65, bytes_max: 64 });
    }
    let alias = format!("did:plc:{}", "x".repeat(2040));
    assert!(alias.parse::<Alias>().is_ok());
    let error = format!("{alias}x").parse::<Alias>().unwrap_err();
    assert_eq!(error, AddressError::TooLong { bytes: 2049, bytes_max: 2048 });
}

#[test]
fn names_of_agents_are_not_addresses_of_others() {
    assert_eq!("all".parse::<AgentName>(), Err(AddressError::All));
    assert_eq!("roles.developer".parse::<AgentName>(), Err(AddressError::RolePrefix));
    assert!("all".parse::<RoleName>().is_ok());
    assert!("all".parse::<TopicName>().is_ok());
    assert!("roles.x".parse::<ChannelName>().is_ok());
    for reserved in ["human", "system", "runner"] {
        assert!(reserved.parse::<AgentName>().unwrap().is_reserved());
    }
    assert!(!"humans".parse::<AgentName>().unwrap().is_reserved());
}

#[test]
fn only_one_agent_can_send() {
    for text in ["claude#2", "roles.developer", "#deploys", "channel:team-a", "all"] {
        assert_eq!(text.parse::<AgentRef>(), Err(AddressError::NotAnAgent), "{text}");
    }
    for text in ["ann", "did:plc:abc", "codex://ann"] {
        assert_eq!(text.parse::<AgentRef>().unwrap().to_string(), text);
    }
    assert_eq!("Ann".parse::<AgentRef>().unwrap_err().to_string(), "write it in lower case: `ann`");
}

proptest! {
    #[test]
    fn writing_then_reading_gives_the_address(address in address()) {
        prop_assert_eq!(address.to_string().parse::<Address>().unwrap(), address);
    }

    #[test]
    fn reading_then_writing_gives_the_text(text in "(#|roles\\.|channel:|did:[a-z]{0,3}:|[a-z]{1,3}://)?[a-zA#:./0-9 -]{0,8}") {
        if let Ok(address) = text.parse::<Address>() {
            prop_assert_eq!(address.to_string(), text);
        }
    }
}
