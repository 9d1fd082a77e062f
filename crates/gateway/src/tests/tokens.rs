//! Tokens are read as they were shown, and show nothing else.

use crate::{Token, TokenHash};

fn token() -> Token {
    Token::new("ann".parse().unwrap()).unwrap()
}

#[test]
fn a_token_is_known_by_its_hash() {
    let token = token();
    let again: Token = token.reveal().parse().unwrap();
    let hash: TokenHash = token.hash().to_string().parse().unwrap();
    assert_eq!((again.agent().as_str(), hash.is_of(&again)), ("ann", true));
}

#[test]
fn neither_another_secret_nor_another_name_will_do() {
    let token = token();
    let hash = token.hash();
    assert!(!hash.is_of(&self::token()));
    let other: Token = token.reveal().replace("~ann", "~bob").parse().unwrap();
    assert!(!hash.is_of(&other), "a token speaks for the agent for whom it was made");
}

#[test]
fn a_token_does_not_show_its_secret() {
    let token = token();
    let secret = token.reveal();
    let secret = secret.split('~').next().unwrap();
    assert_eq!(format!("{token:?}"), "Token(for ann)");
    assert!(!token.hash().to_string().contains(secret) && !token.hash().label().contains(secret));
}

#[test]
fn what_is_no_token_is_refused() {
    let good = token().reveal();
    let short = &good[1..];
    for wrong in [
        "",
        "~",
        "~ann",
        "abc~ann",
        short,
        &good.to_uppercase(),
        &good.replace('~', ":"),
        &format!("{good}!"),
    ] {
        assert!(wrong.parse::<Token>().is_err(), "{wrong}");
    }
}
