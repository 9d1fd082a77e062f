//! One function for each reader that takes hostile bytes. A fuzzer calls it without end, a plain test calls it
//! with the corpus in `fuzz/seeds`.
//!
//! A target may refuse its input but must not panic, and what it accepts must keep the promises stated here.

mod broker_bytes;
mod dialects;
mod frames;
mod json_text;
mod lexicon_pair;
mod log_folder;
mod message_document;
mod syntax;

#[cfg(test)]
mod tests;

/// A target: any bytes go in, nothing may blow up.
pub type Target = fn(&[u8]);

/// Every target by its name, which is also the name of its folder of seeds.
pub const TARGETS: &[(&str, Target)] = &[
    ("broker_event", broker_bytes::event),
    ("broker_snapshot", broker_bytes::snapshot),
    ("bus", dialects::bus),
    ("channel", dialects::channel),
    ("comms", dialects::comms),
    ("coord", dialects::coord),
    ("frames", frames::run),
    ("json", json_text::run),
    ("lexicon_compare", lexicon_pair::compare),
    ("lexicon_document", lexicon_pair::document),
    ("lexicon_validate", lexicon_pair::validate),
    ("log_folder", log_folder::run),
    ("message", message_document::run),
    ("syntax", syntax::run),
    ("translate", dialects::translation),
    ("wire", dialects::wire),
];

/// Runs the target of that name.
///
/// # Panics
///
/// If there is no such target, or if the target found a broken promise.
pub fn run(name: &str, bytes: &[u8]) {
    let (_, target) = TARGETS.iter().find(|(known, _)| *known == name).expect("the target is in the list");
    target(bytes);
}
