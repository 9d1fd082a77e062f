//! Receipts: what became of a message with each recipient, stage by stage.

use message::{Address, MessageId, Reachability, RecipientReceipt, Stage, StageEntry};

use crate::broker::Broker;
use crate::entry::{End, Entry, State, Step};
use crate::group::GroupKind;
use crate::known::accepted;
use crate::mailbox::Mailbox;
use crate::{AgentKey, EntryKey, GroupKey, MessageKey, Time};

impl Broker {
    /// Returns what became of a message with each recipient; nothing if it is no longer remembered here.
    pub fn receipt(&self, id: MessageId) -> Option<Vec<RecipientReceipt>> {
        let key = self.find(id)?;
        let mut recipients = Vec::new();
        let mut waiting = Vec::new();
        for (entry_key, entry) in self.entries_of(key) {
            match (entry.state, entry.mailbox) {
                // Its fallback speaks for it, and names it among those that were tried.
                (State::Done(End::Moved | End::Shared), _) => {}
                (State::Post, Mailbox::Group(group)) => {
                    waiting.extend(self.waiting_members(key, entry_key, group, accepted(id)));
                }
                _ => recipients.push(self.recipient(entry, accepted(id))),
            }
        }
        // Entries are linked the newest first. Members of a topic who have not come stand behind those who have.
        recipients.reverse();
        recipients.extend(waiting);
        Some(recipients)
    }

    /// Returns who sent a message, while it is remembered.
    pub fn sender(&self, id: MessageId) -> Option<AgentKey> {
        self.find(id).and_then(|key| self.message(key)).map(|message| message.from)
    }

    /// Returns the members of a topic that have not come to take a post.
    fn waiting_members(
        &self,
        message: MessageKey,
        post: EntryKey,
        group: GroupKey,
        at: Time,
    ) -> Vec<RecipientReceipt> {
        let Some((group, order)) = self.groups.get(group).zip(self.entry(post).map(|post| post.order)) else {
            return Vec::new();
        };
        let number = group.posts.iter().find(|(_, post)| post.order == order).map_or(0, |(number, _)| number);
        let behind = group.members.iter().filter(|(_, cursor)| **cursor <= number).map(|(agent, _)| *agent);
        let waiting = behind.filter(|agent| self.is_news_to(*agent, message));
        waiting.map(|agent| stored(self.agent_address(agent), self.reachability(agent), at)).collect()
    }

    fn recipient(&self, entry: &Entry, at: Time) -> RecipientReceipt {
        let holder = self.holder_of(entry);
        let address = match holder {
            Some(agent) => self.agent_address(agent),
            None => self.address_of(entry).parse().unwrap_or(Address::All),
        };
        let reachability = holder.map_or(Reachability::Nobody, |agent| self.reachability(agent));
        let mut receipt = stored(address, reachability, at);
        receipt.stage = entry.stage();
        receipt.attempts = entry.attempts.into();
        let Some(ladder) = entry.ladder.as_deref() else { return receipt };
        let steps = [(Stage::Dispatched, &ladder.dispatched), (Stage::Surfaced, &ladder.surfaced)];
        receipt.stages.extend(steps.into_iter().filter_map(|(stage, step)| step_of(stage, step.as_ref()?)));
        if let State::Dead(_) | State::Done(_) = entry.state {
            let end = if entry.stage() == Stage::Answered { Stage::Acknowledged } else { entry.stage() };
            receipt.stages.extend(ladder.ended.as_ref().and_then(|step| step_of(end, step)));
        }
        if entry.stage() == Stage::Answered {
            receipt.stages.extend(ladder.answered.as_ref().and_then(|step| step_of(Stage::Answered, step)));
        }
        // An answer may come before its question is acknowledged.
        receipt.stages.sort_by_key(|step| step.at);
        receipt
    }

    fn agent_address(&self, agent: AgentKey) -> Address {
        self.name_of(agent).parse().unwrap_or(Address::All)
    }

    pub(crate) fn is_shared(&self, group: GroupKey) -> bool {
        self.groups.get(group).is_some_and(|group| group.kind == GroupKind::Shared)
    }
}

/// Makes the receipt of a recipient for whom a message waits. A receipt is given out when the message is durable.
fn stored(agent: Address, reachability: Reachability, at: Time) -> RecipientReceipt {
    let mut receipt = RecipientReceipt::new(agent, reachability);
    receipt.stage = Stage::Stored;
    receipt.stages = vec![
        StageEntry::new(Stage::Accepted, at.timestamp()),
        StageEntry::new(Stage::Stored, at.timestamp()),
    ];
    receipt
}

fn step_of(stage: Stage, step: &Step) -> Option<StageEntry> {
    let mut entry = StageEntry::new(stage, step.at.timestamp());
    entry.by = Some(step.by.to_string()).filter(|by| !by.is_empty());
    Some(entry)
}
