//! History: a projection behind the log, for looking back. Which messages there were, what became of them, what they say.
//!
//! One SQLite file, written by a thread of its own from the durable part of the log and from nothing else. It may lag,
//! and says by how much; it is never ahead. Deleting the file loses nothing that the log still holds: it is made again.
//!
//! It must never be asked what is true now (the broker knows that), never write to the log, and never hold up whoever
//! does. It keeps no bodies: a row says where in the log its body lies.
#![deny(missing_docs)]

mod counts;
mod delivery;
mod error;
mod find;
mod fold;
mod happening;
mod highlight;
mod history;
mod letter;
mod pool;
mod query;
mod receipt;
mod records;
mod registry;
mod row;
mod said;
mod search;
mod sequence;
mod settings;
mod store;
mod text;
mod words;
mod worker;

#[cfg(test)]
mod tests;

pub use counts::Counts;
pub use error::HistoryError;
pub use happening::{Happened, Happening, Happenings, Name, Watch};
pub use highlight::highlight;
pub use history::{History, Position};
pub use query::{Page, Query, Scope};
pub use receipt::Receipted;
pub use row::Row;
pub use sequence::{Post, Topic, of_task};
pub use settings::Settings;
pub use text::text;
