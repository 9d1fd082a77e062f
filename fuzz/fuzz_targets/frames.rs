//! Feeds `fuzzing`'s target of the same name.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzzing::run("frames", bytes));
