//! The client's socket against the real bus: pipelined sends, credit, settling, replies, refusals.

use std::collections::HashSet;
use std::time::Duration;

use client::{Client, Receipts, Socket, SocketItem, SocketOptions, SocketSend};
use message::Dialect;

use crate::shell::Shell;

fn client(shell: &Shell, agent: &str) -> Client {
    let token = std::fs::read_to_string(shell.data().join(format!("agents/{agent}.token"))).unwrap();
    let address = &shell.bus.as_ref().unwrap().address;
    Client::new(&format!("http://{address}"), Some(token.trim())).unwrap()
}

/// Runs something that must not take for ever.
fn run<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { tokio::time::timeout(Duration::from_secs(120), work).await }).unwrap()
}

fn note(text: &str) -> String {
    format!(r#"{{"convoke":1,"kind":"note","from":"ann","to":["bob"],"text":"{text}"}}"#)
}

async fn open(client: &Client, agent: &str, receipts: Receipts) -> Socket {
    let mut options = SocketOptions::default();
    options.receipts = receipts;
    client.socket(agent, &options).await.unwrap()
}

#[test]
fn many_sends_and_as_many_receipts_and_deliveries() {
    const COUNT: u64 = 500;
    let shell = Shell::with_agents(&["ann", "bob"]);
    run(async {
        let mut ann = open(&client(&shell, "ann"), "ann", Receipts::Brief).await;
        assert_eq!(ann.session().0, "ann");
        for number in 0..COUNT {
            ann.send(&note(&number.to_string()), SocketSend::default()).await.unwrap();
        }
        let (mut references, mut ids) = (HashSet::new(), HashSet::new());
        while references.len() < usize::try_from(COUNT).unwrap() {
            let Some(SocketItem::Receipt(receipt)) = ann.next().await.unwrap() else { panic!("no receipt") };
            assert!(!receipt.duplicate && receipt.full().unwrap().is_none());
            references.insert(receipt.reference);
            ids.insert(receipt.id);
        }
        assert_eq!(references, (1..=COUNT).collect());

        let mut bob = open(&client(&shell, "bob"), "bob", Receipts::Full).await;
        bob.credit(100).await.unwrap();
        for _ in 0..COUNT {
            let Some(SocketItem::Delivery(delivery)) = bob.next().await.unwrap() else { panic!("none came") };
            assert!(ids.remove(&delivery.id), "{} came twice", delivery.id);
            assert_eq!(delivery.get("from").unwrap(), "ann");
            assert!(delivery.document().starts_with('{'));
            bob.ack(delivery.delivery).await.unwrap();
            bob.credit(1).await.unwrap();
        }
        assert!(ids.is_empty());
        bob.flush().await.unwrap();
        ann.close().await.unwrap();
        bob.close().await.unwrap();
    });
}

#[test]
fn a_reply_comes_through_the_socket() {
    let shell = Shell::with_agents(&["ann", "bob"]);
    run(async {
        let mut ann = open(&client(&shell, "ann"), "ann", Receipts::Full).await;
        let mut how = SocketSend::default();
        (how.dialect, how.wait) = (Some(Dialect::Convoke), Some(Duration::from_secs(60)));
        let question =
            r#"{"convoke":1,"native_id":"q-1","kind":"question","from":"ann","to":["bob"],"text":"?"}"#;
        let reference = ann.send(question, how).await.unwrap();
        let Some(SocketItem::Receipt(receipt)) = ann.next().await.unwrap() else { panic!("no receipt") };
        let full = receipt.full().unwrap().unwrap();
        assert_eq!((receipt.reference, full.native_id.unwrap().as_str()), (reference, "q-1"));
        let mut bob = open(&client(&shell, "bob"), "bob", Receipts::Full).await;
        bob.credit(1).await.unwrap();
        let Some(SocketItem::Delivery(asked)) = bob.next().await.unwrap() else { panic!("nothing came") };
        let answer = format!(
            r#"{{"convoke":1,"kind":"help.reply","from":"bob","to":["ann"],"reply_to":"{}","text":"!"}}"#,
            asked.id
        );
        bob.send(&answer, SocketSend::default()).await.unwrap();
        bob.ack(asked.delivery).await.unwrap();
        bob.flush().await.unwrap();
        let Some(SocketItem::Reply(reply)) = ann.next().await.unwrap() else { panic!("no reply") };
        assert_eq!(reply.reference, reference);
        assert!(reply.document().contains("\"text\":\"!\""), "{}", reply.document());
    });
}

#[test]
fn what_is_wrong_is_answered_and_the_socket_goes_on() {
    let shell = Shell::with_agents(&["ann", "bob"]);
    run(async {
        let mut ann = open(&client(&shell, "ann"), "ann", Receipts::Brief).await;
        let bad = ann.send(r#"{"convoke":1,"kind":"note"}"#, SocketSend::default()).await.unwrap();
        let good = ann.send(&note("x"), SocketSend::default()).await.unwrap();
        let mut answered = Vec::new();
        for _ in 0..2 {
            let item = ann.next().await.unwrap().unwrap();
            if let SocketItem::Problem(problem) = &item {
                answered.push((problem.reference, problem.code.clone()));
            } else if let SocketItem::Receipt(receipt) = &item {
                answered.push((Some(receipt.reference), String::new()));
            }
        }
        answered.sort();
        assert_eq!(answered, [(Some(bad), "invalid".to_owned()), (Some(good), String::new())]);

        let error = client(&shell, "ann").socket("bob", &SocketOptions::default()).await.err().unwrap();
        assert_eq!(error.problem().unwrap().status, 403, "{error:?}");
    });
}
