//! The tokens of sessions, without a bus.

use broker::Time;
use proptest::prelude::*;

use crate::jwt::{Claims, Scope, read, write};

const KEY: [u8; 32] = [7; 32];

fn claims(scope: Scope) -> Claims {
    Claims {
        scope,
        did: "did:web:ann.example".to_owned(),
        agent: "ann".parse().unwrap(),
        session: "0123456789abcdef".to_owned(),
        renewals: 3,
        issued: Time(1_790_000_000_000),
        expires: Time(1_790_000_007_000),
    }
}

#[test]
fn a_token_says_what_was_written_and_only_by_its_key() {
    for scope in [Scope::Access, Scope::Refresh] {
        let claims = claims(scope);
        let token = write(&KEY, &claims, "did:web:convoke.invalid");
        assert_eq!(token.split('.').count(), 3);
        assert_eq!(read(&KEY, &token), Some(claims));
        assert_eq!(read(&[8; 32], &token), None);
    }
}

/// Made by another implementation of HMAC and base64, for the same key and claims.
#[test]
fn the_signature_is_that_of_other_libraries() {
    let token = write(&KEY, &claims(Scope::Access), "did:web:convoke.invalid");
    assert_eq!(token, include_str!("session.jwt").trim_end());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_other_text_is_a_token(at in 0_usize..400, letter in "[A-Za-z0-9._-]", cut in 0_usize..400) {
        let token = write(&KEY, &claims(Scope::Access), "did:web:convoke.invalid");
        let at = at % token.len();
        let mut other = token.clone();
        other.replace_range(at..=at, &letter);
        prop_assert!(other == token || read(&KEY, &other).is_none());
        prop_assert!(read(&KEY, &token[..cut % token.len()]).is_none());
    }

    #[test]
    fn nothing_panics(text in "\\PC{0,200}") {
        prop_assert!(read(&KEY, &text).is_none());
    }
}
