//! Tests: a real broker on a real log, and the history beside it.

mod faults;
mod ops;
mod oracle;
mod paging;
mod rebuild;
mod receipts;
mod scope;
mod searching;
mod speed;
mod topics;
mod words;
mod world;
