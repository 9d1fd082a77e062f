//! What a decision takes from outside: time and chance.

use message::{DeliveryId, MessageId};

use crate::{EntryKey, MessageKey, Time};

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
    /// Makes the id of a message, in which its number stands, so that no table is needed to find it.
    pub(crate) fn message_id(&mut self, message: MessageKey) -> MessageId {
        MessageId::new(self.now.0, self.bits(message.0))
    }

    /// Makes the id of a delivery, in which the number of its entry stands, so that no table is needed to find it.
    pub(crate) fn delivery_id(&mut self, entry: EntryKey) -> DeliveryId {
        DeliveryId::new(self.now.0, self.bits(entry.0))
    }

    /// Returns chance with a number at its end.
    fn bits(&mut self, number: u32) -> [u8; 10] {
        let mut bits = [0; 10];
        bits[..6].copy_from_slice(&self.random.next().to_le_bytes()[..6]);
        bits[6..].copy_from_slice(&number.to_be_bytes());
        bits
    }
}

/// Returns the message that an id names; whether it is that message, its own id tells.
pub(crate) fn message_of(id: MessageId) -> MessageKey {
    MessageKey(number_in(id.to_bytes()))
}

/// Returns the entry that a delivery's id names; whether it is that delivery, its entry tells.
pub(crate) fn entry_of(delivery: DeliveryId) -> EntryKey {
    EntryKey(number_in(delivery.to_bytes()))
}

fn number_in([.., a, b, c, d]: [u8; 16]) -> u32 {
    u32::from_be_bytes([a, b, c, d])
}
