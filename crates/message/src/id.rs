//! Identifiers: ours are sortable UUIDs, those of others are opaque strings.

use std::fmt;
use std::str::FromStr;

use crate::checked::check_opaque;
use crate::limits::{ID_BYTES_MAX, URI_BYTES_MAX};
use crate::uuid::Uuid;
use crate::{TextError, UuidError};

/// The id of a message on this bus: a UUIDv7, so ids sort by the time at which they were made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageId(Uuid);

/// The id of one handing-out of a message to one recipient; formed like a [`MessageId`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeliveryId(Uuid);

/// The place of an event in the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Seq(pub u64);

checked_text! {
    /// The id that the sender itself gave to a message.
    NativeId, TextError, |text| check_opaque(text, ID_BYTES_MAX)
}

checked_text! {
    /// The conversation to which a message belongs.
    ThreadId, TextError, |text| check_opaque(text, ID_BYTES_MAX)
}

checked_text! {
    /// The task about which a message speaks.
    TaskId, TextError, |text| check_opaque(text, ID_BYTES_MAX)
}

checked_text! {
    /// A pointer to another message, by our id, its native id or what both sides agreed on.
    Reference, TextError, |text| check_opaque(text, ID_BYTES_MAX)
}

checked_text! {
    /// A URI or a path that names something outside of the message; it is not looked into.
    Uri, TextError, |text| check_opaque(text, URI_BYTES_MAX)
}

impl MessageId {
    /// Makes an id from the time and random bits; 74 of the 80 bits are used.
    pub fn new(unix_millis: u64, random: [u8; 10]) -> Self {
        MessageId(Uuid::v7(unix_millis, random))
    }

    /// Takes the bytes of an id as they were stored.
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        MessageId(Uuid(bytes))
    }

    /// Returns the bytes of the id, whose order is its order.
    pub fn to_bytes(self) -> [u8; 16] {
        self.0.0
    }

    /// Tells whether this is a UUIDv7; an id that was read may be another.
    pub fn is_v7(self) -> bool {
        self.0.is_v7()
    }

    /// Returns the time at which a UUIDv7 was made.
    pub fn unix_millis(self) -> Option<u64> {
        self.0.unix_millis()
    }

    /// Writes the id at the end of a text, as it is displayed.
    pub fn push_to(self, text: &mut String) {
        self.0.push_to(text);
    }
}

impl DeliveryId {
    /// Makes an id from the time and random bits; 74 of the 80 bits are used.
    pub fn new(unix_millis: u64, random: [u8; 10]) -> Self {
        DeliveryId(Uuid::v7(unix_millis, random))
    }

    /// Takes the bytes of an id as they were stored.
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        DeliveryId(Uuid(bytes))
    }

    /// Returns the bytes of the id, whose order is its order.
    pub fn to_bytes(self) -> [u8; 16] {
        self.0.0
    }

    /// Tells whether this is a UUIDv7; an id that was read may be another.
    pub fn is_v7(self) -> bool {
        self.0.is_v7()
    }

    /// Returns the time at which a UUIDv7 was made.
    pub fn unix_millis(self) -> Option<u64> {
        self.0.unix_millis()
    }
}

/// Reads a UUID of any version, in either case.
impl FromStr for MessageId {
    type Err = UuidError;

    fn from_str(text: &str) -> Result<Self, UuidError> {
        text.parse().map(MessageId)
    }
}

/// Reads a UUID of any version, in either case.
impl FromStr for DeliveryId {
    type Err = UuidError;

    fn from_str(text: &str) -> Result<Self, UuidError> {
        text.parse().map(DeliveryId)
    }
}

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Display for DeliveryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}
