//! Tests of the benchmark itself: that its data is what it says, and that it still runs.

mod args;
mod channels;
mod dialects;
mod engine;
mod fanout;
mod figures;
mod lexicon;
mod log;
mod peers;
