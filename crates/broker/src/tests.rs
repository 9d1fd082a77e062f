//! Tests of the broker: scenarios as data, properties over random commands, and the tables of which it is made.
//!
//! Every command in every test also goes through the checks of `world`: deciding changes nothing, events survive
//! their bytes, a restored state is the same state, and what follows from the entries follows from them.

mod audit;
mod containers;
mod hostile;
mod language;
mod ledger;
mod losses;
mod misfits;
mod ops;
mod properties;
mod queries;
mod recent;
mod retries;
mod scenarios;
mod settings;
mod show;
mod works;
mod world;
