//! Turns: conversations that go back and forth without a human and without getting anywhere.
//!
//! A conversation is a thread, or two agents that write to each other. A turn is a message from the other side. A
//! human's word or another task starts the count again. Only the newest conversations are counted.

use std::collections::VecDeque;
use std::hash::{BuildHasherDefault, Hasher};

use hashbrown::HashMap;
use xxhash_rust::xxh3::xxh3_64;

use crate::AgentKey;
use crate::codec::{DecodeError, Reader, Writer};

const CONVERSATIONS_MAX: usize = 65_536;

#[derive(Default)]
pub(crate) struct Turns {
    /// Only looked up, never gone through, so its order does not matter.
    conversations: HashMap<u64, Turn, BuildHasherDefault<Hashed>>,
    oldest: VecDeque<u64>,
}

#[derive(Clone, Copy)]
struct Turn {
    last: AgentKey,
    task: u64,
    count: u32,
}

/// Names a conversation. A thread is a name that anybody may use, so nobody gains anything by finding another one that
/// hashes alike.
pub(crate) fn conversation(thread: Option<&str>, from: AgentKey, to: AgentKey) -> u64 {
    let (one, other) = (from.0.min(to.0), from.0.max(to.0));
    match thread {
        Some(thread) => xxh3_64(thread.as_bytes()),
        None => xxh3_64(&(u64::from(one) << 32 | u64::from(other)).to_le_bytes()),
    }
}

/// Hashes what is a hash already.
#[derive(Default)]
struct Hashed(u64);

impl Hasher for Hashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = xxh3_64(bytes);
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

impl Turns {
    /// Returns how many turns a conversation has had when somebody speaks in it next.
    pub(crate) fn count(&self, conversation: u64, from: AgentKey, task: u64) -> u32 {
        match self.conversations.get(&conversation) {
            Some(turn) if turn.task == task && from != AgentKey::HUMAN => {
                turn.count + u32::from(turn.last != from)
            }
            Some(_) | None => 0,
        }
    }

    pub(crate) fn note(&mut self, conversation: u64, from: AgentKey, task: u64) {
        let count = self.count(conversation, from, task);
        if self.conversations.insert(conversation, Turn { last: from, task, count }).is_none() {
            self.oldest.push_back(conversation);
        }
        if self.oldest.len() > CONVERSATIONS_MAX
            && let Some(oldest) = self.oldest.pop_front()
        {
            self.conversations.remove(&oldest);
        }
    }

    /// Starts the count of a conversation again.
    pub(crate) fn restart(&mut self, conversation: u64) {
        if let Some(turn) = self.conversations.get_mut(&conversation) {
            turn.count = 0;
        }
    }

    pub(crate) fn write(&self, writer: &mut Writer<'_>) {
        writer.count(self.oldest.len());
        for conversation in &self.oldest {
            writer.number(*conversation);
            let turn = self.conversations.get(conversation).copied();
            let turn = turn.unwrap_or(Turn { last: AgentKey::SYSTEM, task: 0, count: 0 });
            writer.number(turn.last.0.into());
            writer.number(turn.task);
            writer.number(turn.count.into());
        }
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let mut turns = Turns::default();
        for _ in 0..reader.count()? {
            let conversation = reader.number()?;
            let turn =
                Turn { last: AgentKey(reader.short()?), task: reader.number()?, count: reader.short()? };
            turns.conversations.insert(conversation, turn);
            turns.oldest.push_back(conversation);
        }
        Ok(turns)
    }
}
