//! Fingerprints: by which a repeat under the same id is known to say the same. They are stored, so they stay as they are.
//!
//! A fast hash is enough: it is compared only with documents of the same sender, who would deceive nobody but itself.

use std::fmt::{self, Write};

use broker::Fingerprint;
use dialect::Name;
use json::Value;

/// Takes the fingerprint of what a document says: its text without blanks between its tokens, and without what may
/// differ between repeats.
pub(crate) fn of_document(dialect: Name, document: &Value<'_>, bytes: &[u8]) -> Fingerprint {
    match dialect {
        // A sender that tries again counts its tries.
        Name::Coord => of_bytes(without_retry_count(document, bytes.len()).as_bytes()),
        Name::Comms | Name::Bus | Name::Channel | Name::Wire | Name::Convoke => {
            std::str::from_utf8(bytes).map_or_else(|_| of_bytes(bytes), of_text)
        }
    }
}

/// Takes the fingerprint of a text that is JSON, without the blanks between its tokens.
pub(crate) fn of_text(text: &str) -> Fingerprint {
    of_bytes(json::compact(text).as_bytes())
}

/// Takes the fingerprint of a text in which there are no blanks between tokens.
pub(crate) fn of_bytes(text: &[u8]) -> Fingerprint {
    Fingerprint(xxhash_rust::xxh3::xxh3_128(text).to_le_bytes())
}

/// Writes a document of `coord` without the count of tries in its metadata.
fn without_retry_count(document: &Value<'_>, bytes: usize) -> String {
    let Some(members) = document.as_object() else { return document.to_json() };
    let mut text = String::with_capacity(bytes);
    write_members(&mut text, members.iter(), |text, key, value| match value.as_object() {
        Some(metadata) if key == "metadata" => {
            let others = metadata.iter().filter(|(key, _)| *key != "retry_count");
            write_members(text, others, |text, _, value| json::write_value(text, value))
        }
        Some(_) | None => json::write_value(text, value),
    })
    .expect("writing to a string does not fail");
    text
}

fn write_members<'m, 'v: 'm>(
    text: &mut String,
    members: impl Iterator<Item = (&'m str, &'m Value<'v>)>,
    write: impl Fn(&mut String, &str, &Value<'_>) -> fmt::Result,
) -> fmt::Result {
    text.push('{');
    for (number, (key, value)) in members.enumerate() {
        if number > 0 {
            text.push(',');
        }
        json::write_string(text, key)?;
        text.write_char(':')?;
        write(text, key, value)?;
    }
    text.write_char('}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

        #[test]
        fn the_text_is_that_of_a_copy_from_which_the_count_was_removed(
            document in testkit::generate::coord::document(),
            count in proptest::option::of(0..9_u64),
        ) {
            let mut document = document;
            if let (Some(count), Some(metadata)) =
                (count, document.as_object_mut().and_then(|members| members.get_mut("metadata")))
                && let Some(metadata) = metadata.as_object_mut()
            {
                metadata.insert("retry_count", Value::from(count));
            }
            let mut copy = document.clone();
            if let Some(Value::Object(metadata)) = copy.as_object_mut().and_then(|it| it.get_mut("metadata")) {
                metadata.remove("retry_count");
            }
            prop_assert_eq!(without_retry_count(&document, 0), copy.to_json());
        }
    }

    #[test]
    fn odd_documents_are_written_as_they_are() {
        for text in
            ["{}", "[]", "7", r#"{"metadata":3}"#, r#"{"metadata":{"a":{"retry_count":1}},"retry_count":1}"#]
        {
            let value = json::parse_str(text, json::Limits::DOCUMENT).unwrap();
            assert_eq!(without_retry_count(&value, 0), text);
        }
    }
}
