//! Power loss at every operation, with every kind of loss of what was not synced.

use super::model::{Model, check, live};
use crate::{Fault, MemDisk, Options, Plant};

/// Cuts the power at each operation of a short life, lets the disk lose what it may, and checks what is left.
fn sweep(options: &Options, lives: u64, seeds: u64) -> Result<u64, String> {
    let mut states = 0;
    for life in 0..lives {
        let mut at = 0;
        loop {
            let disk = MemDisk::new();
            disk.fault_at(at, Fault::PowerOff);
            let mut model = Model::default();
            let finished = live(&disk, options, &mut model, life, 40);
            for seed in 0..seeds {
                let crashed = disk.crash(seed.wrapping_mul(7919) + at);
                after(&crashed, options, &model, seed)
                    .map_err(|what| format!("life {life}, power off at {at}, loss {seed}: {what}"))?;
                states += 1;
            }
            if finished {
                break;
            }
            at += 1;
        }
    }
    Ok(states)
}

/// Checks what is left, goes on with it, and loses the power once more.
fn after(crashed: &MemDisk, options: &Options, model: &Model, seed: u64) -> Result<(), String> {
    let mut model = model.clone();
    let (log, opened) = check(crashed, options, &model)?;
    drop(log);
    model.cut(opened.last);
    // Everything that was found counts as durable now.
    model.acked = opened.last.0;
    live(crashed, options, &mut model, seed, 6);
    check(&crashed.crash(seed + 1), options, &model)
        .map(|_| ())
        .map_err(|what| format!("second life: {what}"))
}

#[test]
fn nothing_acknowledged_is_lost_and_nothing_half_written_is_seen() {
    let lives = if std::env::var("SLOW_TESTS").is_ok_and(|slow| slow == "1") { 100 } else { 3 };
    let states = sweep(&Options::small(3), lives, 24).unwrap();
    println!("{states} states after a power loss");
    assert!(states > 5_000, "only {states}");
}

#[test]
fn the_sweep_finds_planted_faults() {
    for plant in [Plant::SkipSync, Plant::SkipDirSync, Plant::SkipRollSync, Plant::AckTornBatch] {
        let options = Options { plant: Some(plant), ..Options::small(3) };
        let found = sweep(&options, 3, 24);
        println!("{}: {found:?}", plant.name());
        assert!(found.is_err(), "{} is not found", plant.name());
    }
}

#[test]
fn every_subset_of_the_unsynced_may_survive() {
    let options = Options::small(4);
    let mut states = 0;
    for life in 10..16 {
        for at in 0.. {
            let (disk, mut model) = (MemDisk::new(), Model::default());
            disk.fault_at(at, Fault::PowerOff);
            let finished = live(&disk, &options, &mut model, life, 24);
            let unsynced = disk.unsynced().min(7);
            for subset in 0..1_u32 << unsynced {
                // What comes after the first few is kept, so that later batches are whole behind a hole.
                let crashed = disk.crash_keeping(|index| index >= unsynced || subset & 1 << index != 0);
                check(&crashed, &options, &model).unwrap_or_else(|what| {
                    panic!("life {life}, power off at {at}, subset {subset:b}: {what}")
                });
                states += 1;
            }
            if finished {
                break;
            }
        }
    }
    println!("{states} subsets");
    assert!(states > 3_000, "only {states}");
}
