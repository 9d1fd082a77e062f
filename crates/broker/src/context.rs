//! What a decision takes from outside: time and chance.

use message::{DeliveryId, MessageId};

use crate::{EntryKey, Time};

/// A source of random numbers: seeded in simulations and tests, the system's otherwise.
pub trait Random {
    /// Draws 64 random bits.
    fn next(&mut self) -> u64;
}

/// The clocks and the generator that a decision may use.
pub struct Context<'r> {
    /// The bus's own time, which never goes back: leases and retries live in it.
    pub now: Time,
    /// The wall clock, which may jump: expiry compares with it.
    pub wall: Time,
    /// Chance.
    pub random: &'r mut dyn Random,
}

impl Context<'_> {
    pub(crate) fn message_id(&mut self) -> MessageId {
        let mut random = [0; 10];
        random[..8].copy_from_slice(&self.random.next().to_le_bytes());
        random[8..].copy_from_slice(&self.random.next().to_le_bytes()[..2]);
        MessageId::new(self.now.0, random)
    }

    /// Makes the id of a delivery, in which the number of its entry stands, so that no table is needed to find it.
    pub(crate) fn delivery_id(&mut self, entry: EntryKey) -> DeliveryId {
        let mut random = [0; 10];
        random[..6].copy_from_slice(&self.random.next().to_le_bytes()[..6]);
        random[6..].copy_from_slice(&entry.0.to_be_bytes());
        DeliveryId::new(self.now.0, random)
    }
}

/// Returns the entry that a delivery's id names; whether it is that delivery, its entry tells.
pub(crate) fn entry_of(delivery: DeliveryId) -> EntryKey {
    let bytes = delivery.to_bytes();
    EntryKey(u32::from_be_bytes([bytes[12], bytes[13], bytes[14], bytes[15]]))
}
