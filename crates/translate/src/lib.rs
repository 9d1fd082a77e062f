//! Any dialect to any other and back without loss, and the report of what happened to every field.
//!
//! A translated document carries the one that it was made of, its origin, as the exact text with its digest.
//! Whoever translates it back, or on, works from the origin as long as nobody edited the copy: so a document
//! that travels through all dialects comes home as it was, to the byte. An edited copy counts as it is: its
//! edits are merged into what the origin says, and it becomes the origin itself.
//!
//! Pure. Whether an origin may be trusted is for the caller to say; loops are for bridges to stop.
#![deny(missing_docs)]

mod convoke;
mod copy;
mod edit;
mod report;
mod translation;

#[cfg(test)]
mod tests;

use dialect::{Dialect, Name};
use json::Value;

pub use convoke::Convoke;
pub use report::Report;
pub use translation::{
    Carry, Failure, Options, Reports, Source, Translation, translate, translate_decoded, translate_parsed,
};

/// Returns the dialect of that name.
pub fn dialect(name: Name) -> &'static dyn Dialect {
    match name {
        Name::Comms => &dialect_comms::Comms,
        Name::Coord => &dialect_coord::Coord,
        Name::Bus => &dialect_bus::Bus,
        Name::Channel => &dialect_channel::Channel,
        Name::Wire => &dialect_wire::Wire,
        Name::Convoke => &Convoke,
    }
}

/// Tells by its fields which dialect a document is written in.
///
/// The names of the AT Protocol and of Agent Wire are asked first: theirs are the least like any others.
pub fn detect(document: &Value<'_>) -> Option<Name> {
    const ORDER: [Name; 6] = [Name::Comms, Name::Wire, Name::Bus, Name::Channel, Name::Coord, Name::Convoke];
    let object = document.as_object()?;
    ORDER.into_iter().find(|name| dialect(*name).recognizes(object))
}
