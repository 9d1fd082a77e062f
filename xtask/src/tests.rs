//! Tests of the commands: small made-up repositories for tidy, made-up output for the rest.

mod ci;
mod command;
mod documents;
mod fixture;
mod fuzz;
mod members;
mod purity;
mod ranks;
mod rust_text;
mod sources;
mod tree;
mod workspace;
