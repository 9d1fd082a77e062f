//! Subjects, and addresses that are shown.

use std::time::Duration;

use crate::{NatsSettings, chat_subject, presence_subject};

#[test]
fn names_become_one_token_each() {
    assert_eq!(chat_subject("team-a", "all", "claude"), "chat.team-a.all.claude");
    assert_eq!(chat_subject("a.b c", "*", ">"), "chat.a_b_c._._");
    assert_eq!(chat_subject("a\nb", "", "é"), "chat.a_b._.é");
    assert_eq!(presence_subject("qc-1"), "evt.presence.qc-1");
}

#[test]
fn credentials_are_never_shown() {
    for (url, shown) in [
        ("nats://127.0.0.1:4222", "nats://127.0.0.1:4222"),
        ("nats://ann:s3cr@t@host:4222", "nats://host:4222"),
        ("tls://token@host", "tls://host"),
        ("token@host", "nats://host"),
    ] {
        let settings = NatsSettings { url: url.to_owned(), credentials: None, timeout: Duration::ZERO };
        assert_eq!(settings.shown(), shown);
        assert_eq!(format!("{settings:?}"), format!("NatsSettings({shown})"));
    }
}

#[tokio::test]
async fn an_address_that_nobody_answers_at_is_told_without_its_secret() {
    let url = "nats://ann:hunter22@127.0.0.1:1".to_owned();
    let settings = NatsSettings { url, credentials: None, timeout: Duration::from_secs(5) };
    let Err(error) = crate::Nats::connect(&settings).await else { panic!("somebody answers") };
    assert_eq!(error.code(), "nats_away");
    assert!(!error.to_string().contains("hunter22"), "{error}");
}
