//! The corpus as a plain test: every seed of every target.

use std::fs;

use crate::TARGETS;

#[test]
fn every_seed_keeps_the_promises() {
    let folder = testkit::root().join("fuzz/seeds");
    for (name, target) in TARGETS {
        let seeds =
            fs::read_dir(folder.join(name)).unwrap_or_else(|error| panic!("no seeds for {name}: {error}"));
        let mut count = 0;
        for seed in seeds {
            target(&fs::read(seed.unwrap().path()).unwrap());
            count += 1;
        }
        assert!(count > 0, "no seeds for {name}");
    }
}

#[test]
fn every_target_has_a_fuzz_target() {
    let root = testkit::root();
    let manifest = testkit::read(&root.join("fuzz/Cargo.toml"));
    for (name, _) in TARGETS {
        assert!(manifest.contains(&format!("name = \"{name}\"")), "fuzz/Cargo.toml lacks {name}");
        let text = testkit::read(&root.join(format!("fuzz/fuzz_targets/{name}.rs")));
        assert!(text.contains(&format!("fuzzing::run(\"{name}\", bytes)")), "{name} calls another target");
    }
}
