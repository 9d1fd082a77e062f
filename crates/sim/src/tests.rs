//! The simulation is tested as a whole: it finds what is planted, finds nothing else, and says the same twice.

mod args;
mod plants;
mod runs;
mod shrinking;
