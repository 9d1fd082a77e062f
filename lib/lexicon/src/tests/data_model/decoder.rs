//! A decoder of DAG-CBOR, written from the specification and as strict as it: shortest lengths, sorted keys.

use atproto_syntax::Cid;
use json::{Object, Value};

/// Decodes bytes that hold one value and nothing else.
pub(super) fn decode(bytes: &[u8]) -> Value<'static> {
    let mut decoder = Decoder { bytes };
    let value = decoder.value();
    assert!(decoder.bytes.is_empty(), "{} bytes are left", decoder.bytes.len());
    value
}

struct Decoder<'d> {
    bytes: &'d [u8],
}

impl<'d> Decoder<'d> {
    fn value(&mut self) -> Value<'static> {
        match self.head() {
            (0, number) => Value::integer(number.try_into().unwrap()),
            (1, number) => Value::integer((-1 - i128::from(number)).try_into().unwrap()),
            (2, length) => single("$bytes", base64(self.take(length as usize))),
            (3, length) => Value::from(self.text(length)),
            (4, count) => Value::Array((0..count).map(|_| self.value()).collect()),
            (5, count) => self.map(count),
            (6, 42) => {
                let (2, length) = self.head() else { panic!("a link is bytes") };
                let (0, cid) = self.take(length as usize).split_first().unwrap() else { panic!("no zero") };
                single("$link", Cid::from_bytes(cid).unwrap().to_string())
            }
            (7, 20) => Value::Bool(false),
            (7, 21) => Value::Bool(true),
            (7, 22) => Value::Null,
            (major, argument) => panic!("major type {major} with {argument} is not of the data model"),
        }
    }

    fn map(&mut self, count: u64) -> Value<'static> {
        let mut members: Vec<(String, Value<'_>)> = Vec::new();
        for _ in 0..count {
            let (3, length) = self.head() else { panic!("a key is a text") };
            let key = self.text(length);
            if let Some((before, _)) = members.last() {
                assert!(
                    (before.len(), before.as_bytes()) < (key.len(), key.as_bytes()),
                    "{before:?} {key:?}"
                );
            }
            members.push((key, self.value()));
        }
        Value::Object(members.into_iter().collect::<Object<'_>>())
    }

    /// Reads a major type and its argument, which must stand in the fewest bytes.
    fn head(&mut self) -> (u8, u64) {
        let first = self.take(1)[0];
        let (major, short) = (first >> 5, first & 31);
        let (width, least) = match short {
            0..=23 => return (major, u64::from(short)),
            24 => (1, 24),
            25 => (2, 1 << 8),
            26 => (4, 1 << 16),
            27 => (8, 1 << 32),
            _ => panic!("lengths are definite"),
        };
        let argument = self.take(width).iter().fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte));
        assert!(argument >= least, "{argument} fits fewer bytes");
        (major, argument)
    }

    fn text(&mut self, length: u64) -> String {
        String::from_utf8(self.take(length as usize).to_vec()).unwrap()
    }

    fn take(&mut self, count: usize) -> &'d [u8] {
        let (taken, rest) = self.bytes.split_at(count);
        self.bytes = rest;
        taken
    }
}

fn single(key: &'static str, text: String) -> Value<'static> {
    Value::Object([(key, text)].into_iter().collect())
}

/// Base64 without padding, as the generated values have it.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let bits =
            chunk.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        let digits = (0..=chunk.len()).map(|nth| char::from(DIGITS[(bits >> (18 - 6 * nth) & 63) as usize]));
        text.extend(digits);
    }
    text
}
