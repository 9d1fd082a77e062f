//! Members, cursors and posts.

use std::collections::BTreeSet;

use super::Facts;
use crate::Broker;
use crate::entry::State;
use crate::group::{Group, GroupKind};
use crate::mailbox::Mailbox;
use crate::{EntryKey, GroupKey};

pub(super) fn check(facts: &Facts<'_>) {
    let broker = facts.broker;
    let mut crowded = BTreeSet::new();
    for (key, group) in broker.groups.iter() {
        members(broker, key, group);
        posts(facts, key, group);
        if group.posts.len() > broker.settings.limits.queue_max {
            crowded.insert(key);
        }
    }
    assert_eq!(broker.crowded, crowded, "groups with too many posts");
}

fn members(broker: &Broker, key: GroupKey, group: &Group) {
    for (agent, cursor) in &group.members {
        let agent = broker.agents.get(*agent).expect("a member is there");
        assert!(agent.groups.contains(&key), "a member knows its group");
        assert!(*cursor <= group.posts.end(), "no cursor is ahead of the posts");
    }
    let known = broker.agents.iter().filter(|(_, agent)| agent.groups.contains(&key)).count();
    assert_eq!(known, group.members.len(), "nobody believes to be a member");
}

fn posts(facts: &Facts<'_>, key: GroupKey, group: &Group) {
    let broker = facts.broker;
    let mut standing = BTreeSet::new();
    let mut last = 0;
    for (number, post) in group.posts.iter() {
        assert!(post.order > last, "posts are in order");
        last = post.order;
        let Some(entry_key) = post.entry else { continue };
        standing.insert(entry_key);
        let entry = broker.entry(entry_key).expect("a post has an entry");
        assert_eq!((entry.state, entry.mailbox), (State::Post, Mailbox::Group(key)), "a post's entry");
        assert_eq!(entry.order, post.order, "a post's order");
        let author = broker.message(entry.message).map(|message| message.from);
        let behind =
            group.members.iter().filter(|(agent, cursor)| **cursor <= number && Some(**agent) != author);
        assert_eq!(
            post.pending as usize,
            behind.count(),
            "who has not come for post {number} of {}",
            group.address
        );
        assert!(post.pending > 0, "a post that everybody has is over");
    }
    assert!(group.posts.front().is_none_or(|post| post.entry.is_some()), "posts that are over go");
    let expected: BTreeSet<EntryKey> = facts
        .entries()
        .filter(|(_, entry)| entry.state == State::Post && entry.mailbox == Mailbox::Group(key))
        .map(|(key, _)| key)
        .collect();
    assert_eq!(standing, expected, "what stands in {}", group.address);
    assert!(group.kind == GroupKind::Shared || group.posts.len() == 0, "a role has no posts");
}
