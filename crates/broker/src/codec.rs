//! Bytes for events and snapshots: numbers of variable length, texts with their length before them.

use message::{DeliveryId, MessageId, Seq};

use crate::{Digest, Fingerprint, Time};

/// Why bytes are not what they should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    #[error("the bytes end too early")]
    Short,
    #[error("a number is too large for its place")]
    Number,
    #[error("a text is not UTF-8")]
    Text,
    #[error("unknown {what} {code}: written by a newer version?")]
    Unknown { what: &'static str, code: u64 },
    #[error("{bytes} bytes are left over")]
    Left { bytes: usize },
    #[error("{what} contradicts what came before it")]
    Contradiction { what: &'static str },
}

/// The bytes of the largest number.
const NUMBER_BYTES_MAX: usize = 10;

pub(crate) struct Writer<'o> {
    pub(crate) out: &'o mut Vec<u8>,
}

pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
}

impl Writer<'_> {
    pub(crate) fn byte(&mut self, value: u8) {
        self.out.push(value);
    }

    pub(crate) fn flag(&mut self, value: bool) {
        self.out.push(value.into());
    }

    /// Seven bits a byte, the lowest first; the highest bit says that more follow.
    pub(crate) fn number(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.out.push((value as u8) | 0x80);
            value >>= 7;
        }
        self.out.push(value as u8);
    }

    pub(crate) fn count(&mut self, value: usize) {
        self.number(value as u64);
    }

    pub(crate) fn bytes(&mut self, value: &[u8]) {
        self.count(value.len());
        self.out.extend_from_slice(value);
    }

    pub(crate) fn text(&mut self, value: &str) {
        self.bytes(value.as_bytes());
    }

    pub(crate) fn maybe_text(&mut self, value: Option<&str>) {
        self.flag(value.is_some());
        if let Some(value) = value {
            self.text(value);
        }
    }

    pub(crate) fn maybe_number(&mut self, value: Option<u64>) {
        self.flag(value.is_some());
        if let Some(value) = value {
            self.number(value);
        }
    }

    /// Writes `NEVER` as 0, so that the usual absence of a limit is one byte.
    pub(crate) fn time(&mut self, value: Time) {
        self.number(value.0.wrapping_add(1));
    }

    pub(crate) fn seq(&mut self, value: Seq) {
        self.number(value.0);
    }

    pub(crate) fn message_id(&mut self, value: MessageId) {
        self.out.extend_from_slice(&value.to_bytes());
    }

    pub(crate) fn delivery_id(&mut self, value: DeliveryId) {
        self.out.extend_from_slice(&value.to_bytes());
    }

    pub(crate) fn fingerprint(&mut self, value: Fingerprint) {
        self.out.extend_from_slice(&value.0);
    }

    pub(crate) fn digest(&mut self, value: Digest) {
        self.out.extend_from_slice(&value.0);
    }

    pub(crate) fn word<T: Copy + PartialEq>(&mut self, all: &[T], value: T) {
        let index = all.iter().position(|word| *word == value);
        self.byte(index.and_then(|index| u8::try_from(index).ok()).unwrap_or(u8::MAX));
    }
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Reader { bytes }
    }

    pub(crate) fn end(&self) -> Result<(), DecodeError> {
        match self.bytes.len() {
            0 => Ok(()),
            bytes => Err(DecodeError::Left { bytes }),
        }
    }

    pub(crate) fn byte(&mut self) -> Result<u8, DecodeError> {
        let (first, rest) = self.bytes.split_first().ok_or(DecodeError::Short)?;
        self.bytes = rest;
        Ok(*first)
    }

    pub(crate) fn flag(&mut self) -> Result<bool, DecodeError> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            code => Err(DecodeError::Unknown { what: "flag", code: code.into() }),
        }
    }

    pub(crate) fn number(&mut self) -> Result<u64, DecodeError> {
        let mut value = 0;
        for (place, byte) in self.bytes.iter().enumerate().take(NUMBER_BYTES_MAX) {
            value |= u64::from(byte & 0x7f) << (7 * place);
            if *byte < 0x80 {
                let is_padded = *byte == 0 && place > 0;
                let is_too_large = place == NUMBER_BYTES_MAX - 1 && *byte > 1;
                self.bytes = &self.bytes[place + 1..];
                return if is_padded || is_too_large { Err(DecodeError::Number) } else { Ok(value) };
            }
        }
        Err(if self.bytes.len() < NUMBER_BYTES_MAX { DecodeError::Short } else { DecodeError::Number })
    }

    pub(crate) fn short(&mut self) -> Result<u32, DecodeError> {
        u32::try_from(self.number()?).map_err(|_| DecodeError::Number)
    }

    /// Reads how many items follow; each has at least one byte, so a lie is seen before memory is taken for it.
    pub(crate) fn count(&mut self) -> Result<usize, DecodeError> {
        let count = usize::try_from(self.number()?).map_err(|_| DecodeError::Number)?;
        if count > self.bytes.len() { Err(DecodeError::Short) } else { Ok(count) }
    }

    pub(crate) fn raw(&mut self, len: usize) -> Result<&'a [u8], DecodeError> {
        let (value, rest) = self.bytes.split_at_checked(len).ok_or(DecodeError::Short)?;
        self.bytes = rest;
        Ok(value)
    }

    pub(crate) fn bytes(&mut self) -> Result<&'a [u8], DecodeError> {
        let len = self.count()?;
        self.raw(len)
    }

    pub(crate) fn text(&mut self) -> Result<&'a str, DecodeError> {
        std::str::from_utf8(self.bytes()?).map_err(|_| DecodeError::Text)
    }

    pub(crate) fn maybe_text(&mut self) -> Result<Option<&'a str>, DecodeError> {
        Ok(if self.flag()? { Some(self.text()?) } else { None })
    }

    pub(crate) fn maybe_number(&mut self) -> Result<Option<u64>, DecodeError> {
        Ok(if self.flag()? { Some(self.number()?) } else { None })
    }

    pub(crate) fn maybe_short(&mut self) -> Result<Option<u32>, DecodeError> {
        Ok(if self.flag()? { Some(self.short()?) } else { None })
    }

    pub(crate) fn time(&mut self) -> Result<Time, DecodeError> {
        Ok(Time(self.number()?.wrapping_sub(1)))
    }

    pub(crate) fn seq(&mut self) -> Result<Seq, DecodeError> {
        self.number().map(Seq)
    }

    pub(crate) fn message_id(&mut self) -> Result<MessageId, DecodeError> {
        self.sixteen().map(MessageId::from_bytes)
    }

    pub(crate) fn delivery_id(&mut self) -> Result<DeliveryId, DecodeError> {
        self.sixteen().map(DeliveryId::from_bytes)
    }

    pub(crate) fn fingerprint(&mut self) -> Result<Fingerprint, DecodeError> {
        self.sixteen().map(Fingerprint)
    }

    pub(crate) fn digest(&mut self) -> Result<Digest, DecodeError> {
        let mut bytes = [0; 32];
        bytes.copy_from_slice(self.raw(32)?);
        Ok(Digest(bytes))
    }

    pub(crate) fn word<T: Copy>(&mut self, what: &'static str, all: &[T]) -> Result<T, DecodeError> {
        let code = self.byte()?;
        all.get(usize::from(code)).copied().ok_or(DecodeError::Unknown { what, code: code.into() })
    }

    fn sixteen(&mut self) -> Result<[u8; 16], DecodeError> {
        let mut bytes = [0; 16];
        bytes.copy_from_slice(self.raw(16)?);
        Ok(bytes)
    }
}
