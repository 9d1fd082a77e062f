//! Commits of records, in the language of the scenarios.

use crate::tests::language::{Send, Stage, digest, named, option};
use crate::{
    Command, Commit, Digest, Fingerprint, Identity, RecordChange, RecordWrite, Reply, Swap, TaskIntent,
};

/// Writes records in one commit, which is known by its last text. `gone` removes one; `new`, `old` and `is=TEXT` say
/// what must be there before, `blob` that it refers to one. `to=TO[+TO…]` makes it a message, called by its text when
/// it is sent; whatever else `send` takes may follow.
pub(super) fn write(stage: &mut Stage, words: &[&str]) -> Vec<String> {
    let repo = stage.agent(words[0]);
    let (mut swap, mut last) = (None, "");
    let (mut writes, mut texts) = (Vec::new(), Vec::new());
    for (name, value) in words[1..].iter().map(|word| option(word)) {
        if name == "last" {
            swap = Some(stage.commits.get(value).copied().unwrap_or_default());
            continue;
        }
        let (text, options) = value.split_once(',').unwrap_or((value, ""));
        last = text;
        texts.push(text);
        writes.push(record_write(stage, repo, name, text, options));
    }
    let did = format!("did:web:{}.example", words[0]).into();
    let commit = Commit { repo, did, swap, writes: writes.clone() };
    let outcome = stage.world.run(&Command::Commit(Box::new(commit)));
    if let Ok(Reply::Committed(committed)) = &outcome.reply {
        stage.commits.extend(committed.head.map(|head| (last.to_owned(), head.commit)));
        for ((write, key), text) in writes.iter().zip(&committed.keys).zip(texts) {
            let record = stage.world.broker.record(repo, &write.collection, key);
            let message = record.and_then(|record| record.message);
            if let Some(message) = message.filter(|id| !stage.labels.values().any(|known| known == id)) {
                assert!(stage.labels.insert(text.to_owned(), message).is_none(), "`{text}` is used");
            }
        }
    }
    stage.told(outcome)
}

fn record_write(stage: &Stage, repo: crate::AgentKey, name: &str, text: &str, options: &str) -> RecordWrite {
    let (collection, key) = named(name);
    let (mut before, mut blobs, mut send) = (Swap::Anything, Vec::new(), None::<Send>);
    for (name, value) in options.split(',').filter(|word| !word.is_empty()).map(option) {
        match (name, &mut send) {
            ("new", _) => before = Swap::Nothing,
            ("old", _) => before = Swap::Something,
            ("is", _) => before = Swap::Is(Some(digest(value)).filter(|_| !value.is_empty())),
            ("blob", _) => blobs = vec![Digest([7; 32])],
            ("to", send) => {
                let mut made = Send::new(repo, &value.replace('+', ","), text);
                made.accept.identity = Identity::Content;
                *send = Some(made);
            }
            (_, Some(send)) => send.option(name, value, stage.world.wall),
            (_, None) => panic!("`write` has no option `{name}`"),
        }
    }
    let submit = send.map(|Send { mut accept, intent }| {
        accept.intent = Some(Box::new(intent)).filter(|intent| **intent != TaskIntent::default());
        accept.fingerprint = Fingerprint::of(&[&accept.body]);
        Box::new(accept)
    });
    let change = match text {
        "gone" => RecordChange::Remove,
        _ => RecordChange::Set { cid: digest(text), document: text.to_owned().into(), submit, blobs },
    };
    let key = (!key.is_empty()).then(|| key.into());
    RecordWrite { collection: collection.into(), key, swap: before, change }
}
