//! The faulty disk itself: what it keeps and loses, and that it does so by its seed.

use crate::{Disk, DiskFile, MemDisk};

#[test]
fn only_what_was_synced_survives() {
    let disk = MemDisk::new();
    let file = disk.create("a").unwrap();
    file.write_at(b"synced", 0).unwrap();
    file.sync().unwrap();
    assert_eq!(disk.crash_keeping(|_| false).files(), [], "the name was not synced");
    disk.sync_folder().unwrap();
    file.write_at(b"LATER", 3).unwrap();
    disk.rename("a", "b").unwrap();
    disk.create("c").unwrap();
    assert_eq!(disk.unsynced(), 3);
    let lost = disk.crash_keeping(|_| false);
    assert_eq!(lost.contents("a").unwrap(), b"synced");
    let kept = disk.crash_keeping(|_| true);
    assert_eq!(kept.contents("b").unwrap(), b"synLATER");
    assert!(kept.contents("a").is_none() && kept.contents("c").is_some());
    assert_eq!(disk.crash_keeping(|index| index == 1).contents("b").unwrap(), b"synced");
}

#[test]
fn a_removal_that_is_lost_leaves_the_file() {
    let disk = MemDisk::new();
    let file = disk.create("a").unwrap();
    file.write_at(b"synced", 0).unwrap();
    file.sync().unwrap();
    disk.remove("a").unwrap();
    let removal_lost = disk.crash_keeping(|index| index == 0);
    assert_eq!(removal_lost.contents("a").unwrap(), b"synced");
    assert_eq!(disk.crash_keeping(|_| true).files(), []);
    disk.sync_folder().unwrap();
    assert_eq!(disk.crash_keeping(|_| false).files(), []);
}

#[test]
fn a_crash_is_decided_by_its_seed_and_tears_at_units() {
    let disk = MemDisk::new();
    let file = disk.create("a").unwrap();
    file.write_at(&[0; 16384], 0).unwrap();
    file.sync().unwrap();
    disk.sync_folder().unwrap();
    file.write_at(&[1; 9000], 100).unwrap();
    let mut outcomes = std::collections::BTreeSet::new();
    for seed in 0..200 {
        let contents = disk.crash(seed).contents("a").unwrap();
        assert_eq!(contents, disk.crash(seed).contents("a").unwrap());
        for unit in contents[512..8704].chunks(512) {
            assert!(unit.iter().all(|byte| *byte == unit[0]), "a unit is whole or not there");
        }
        outcomes.insert(contents);
    }
    assert!(outcomes.len() > 50, "{}", outcomes.len());
}

#[test]
fn slow_syncs_take_time_on_the_clock_of_the_disk() {
    let disk = MemDisk::new();
    disk.set_sync_us(5_000);
    let file = disk.create("a").unwrap();
    file.sync().unwrap();
    file.sync().unwrap();
    assert_eq!((disk.clock_us(), disk.syncs()), (10_000, 2));
}

#[test]
fn short_transfers_change_nothing_but_the_number_of_calls() {
    use super::model::{Model, check, live};
    use crate::Options;
    let (disk, mut model) = (MemDisk::new(), Model::default());
    disk.set_transfer_max(Some(1000));
    assert!(live(&disk, &Options::small(1), &mut model, 3, 60));
    check(&disk, &Options::small(1), &model).unwrap();
}
