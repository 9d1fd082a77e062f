//! Following: each file once, in order, whatever comes when.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use proptest::prelude::*;

use super::{at, noon, root, said};
use crate::{Follower, Limits, Polled, Problem, Root};

fn follow(root: &Root) -> Follower {
    Follower::new(root, "a", Limits::default()).unwrap()
}

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn names(polled: &Polled) -> Vec<String> {
    polled.found.iter().map(|found| found.name.clone()).collect()
}

#[test]
fn each_file_is_found_once_and_by_its_own_time() {
    let (_folder, root) = root();
    let mut follower = follow(&root);
    assert_eq!(follower.poll(seconds(0)).unwrap(), Polled::default(), "the channel is not there yet");
    // Names by agent, timestamps the other way round.
    for (agent, millis) in [("aa", 300), ("bb", 200), ("cc", 100)] {
        let at = at(&format!("2026-01-11T12:00:00.{millis}Z"));
        root.post("a", &crate::Draft::new(agent, "all", "x"), at).unwrap();
    }
    let polled = follower.poll(seconds(2)).unwrap();
    let agents: Vec<String> = names(&polled).iter().map(|name| name[20..22].to_owned()).collect();
    assert_eq!(agents, ["cc", "bb", "aa"]);
    for now in 3..100 {
        assert_eq!(follower.poll(seconds(now)).unwrap(), Polled::default());
    }
}

#[test]
fn a_file_with_an_older_name_is_found_too() {
    let (_folder, root) = root();
    let mut follower = follow(&root);
    root.post("a", &said("new"), noon()).unwrap();
    assert_eq!(follower.poll(seconds(0)).unwrap().found.len(), 1);
    root.put("a", "msg-20200101-000000-claude-0000", b"{\"late\":true}").unwrap();
    assert_eq!(names(&follower.poll(seconds(2)).unwrap()), ["msg-20200101-000000-claude-0000.json"]);
}

#[test]
fn a_file_that_comes_within_one_step_of_the_folders_clock_is_found() {
    let (_folder, root) = root();
    let mut follower = follow(&root);
    root.post("a", &said("first"), noon()).unwrap();
    assert_eq!(follower.poll(seconds(0)).unwrap().found.len(), 1);
    // The second one comes, and the folder's times say that nothing happened.
    root.post("a", &said("second"), noon()).unwrap();
    follower.seen = root.folders().channels.stamp("a").unwrap().map(|stamp| (stamp, seconds(0)));
    assert_eq!(follower.poll(seconds(1)).unwrap().found.len(), 1);
}

#[test]
fn what_a_network_hides_is_found_by_the_next_full_listing() {
    let (_folder, root) = root();
    let mut follower = follow(&root);
    root.post("a", &said("first"), noon()).unwrap();
    let mut found = 0;
    for now in [0, 2, 4] {
        found += follower.poll(seconds(now)).unwrap().found.len();
    }
    assert_eq!(found, 1);
    assert!(follower.is_whole, "the folder is known as it is");
    // As if the server of a network drive had kept the new stamp from us.
    root.post("a", &said("second"), noon()).unwrap();
    let stamp = root.folders().channels.stamp("a").unwrap().unwrap();
    follower.seen = Some((stamp, seconds(4)));
    assert_eq!(follower.poll(seconds(6)).unwrap(), Polled::default());
    assert_eq!(follower.poll(seconds(64)).unwrap().found.len(), 1);
}

#[test]
fn half_a_file_has_one_more_chance() {
    let (_folder, root) = root();
    let mut follower = follow(&root);
    root.post("a", &said("whole"), noon()).unwrap();
    let path = |name: &str| root.path().join("channels/a").join(name);
    fs::write(path("msg-20260111-120001-slow-0001.json"), b"{\"te").unwrap();
    fs::write(path("msg-20260111-120001-dead-0002.json"), b"{\"te").unwrap();
    let polled = follower.poll(seconds(0)).unwrap();
    assert_eq!((polled.found.len(), polled.unreadable.len()), (1, 0));
    fs::write(path("msg-20260111-120001-slow-0001.json"), b"{\"text\":1}").unwrap();
    let polled = follower.poll(seconds(2)).unwrap();
    assert_eq!(names(&polled), ["msg-20260111-120001-slow-0001.json"]);
    let unreadable: Vec<&str> = polled.unreadable.iter().map(|file| file.problem.code()).collect();
    assert_eq!(unreadable, ["malformed"]);
    assert_eq!(follower.poll(seconds(70)).unwrap(), Polled::default(), "each problem is told once");
}

#[test]
fn a_full_folder_is_given_in_parts() {
    let (_folder, root) = root();
    let folder = root.path().join("channels/a");
    fs::create_dir(&folder).unwrap();
    for number in 0..2_500 {
        let name = format!("msg-20260111-1200{:02}-claude-{number:04x}.json", number / 60);
        fs::write(folder.join(name), b"{}").unwrap();
    }
    let mut follower = follow(&root);
    let mut found = Vec::new();
    loop {
        let polled = follower.poll(seconds(0)).unwrap();
        assert!(polled.found.len() <= Limits::default().poll_files_max);
        found.extend(names(&polled));
        if !polled.more {
            break;
        }
    }
    assert_eq!(found.len(), 2_500);
    assert!(found.is_sorted());
}

#[test]
fn what_is_there_can_be_skipped_and_forgotten_again() {
    let (_folder, root) = root();
    let posted = root.post("a", &said("old"), noon()).unwrap();
    let mut follower = follow(&root);
    assert_eq!(follower.skip_existing().unwrap(), 1);
    assert_eq!(follower.poll(seconds(0)).unwrap(), Polled::default());
    follower.forget(&format!("{}.json", posted.id));
    assert_eq!(follower.poll(seconds(0)).unwrap().found.len(), 1);
}

#[test]
fn names_that_are_gone_are_forgotten_in_the_end() {
    let (_folder, root) = root();
    let mut follower = follow(&root);
    for number in 0..40_000 {
        follower.mark(&format!("msg-20200101-000000-claude-{number:05x}.json"));
    }
    root.post("a", &said("x"), noon()).unwrap();
    follower.poll(seconds(0)).unwrap();
    assert_eq!(follower.known(), 1);
}

#[test]
fn a_name_that_is_none_is_told_once() {
    let (_folder, root) = root();
    root.post("a", &said("x"), noon()).unwrap();
    for name in ["msg-late.json", "msg-20260111-120000-claude-00FF.json", "README.md", ".msg-x.json.tmp"] {
        fs::write(root.path().join("channels/a").join(name), b"{}").unwrap();
    }
    let mut follower = follow(&root);
    let polled = follower.poll(seconds(0)).unwrap();
    assert_eq!(polled.unreadable.len(), 2);
    assert!(polled.unreadable.iter().all(|file| file.problem == Problem::WrongName));
    assert!(follower.poll(seconds(100)).unwrap().unreadable.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Files come and go in any order, between polls at any time: each that stays is found exactly once.
    #[test]
    fn nothing_is_missed_and_nothing_found_twice(
        steps in prop::collection::vec((0_u8..4, 0_u16..40, 0_u64..3), 1..60),
    ) {
        let (_folder, root) = root();
        let folder = root.path().join("channels/a");
        fs::create_dir(&folder).unwrap();
        let mut follower = follow(&root);
        let (mut now, mut found): (u64, BTreeMap<String, u32>) = (0, BTreeMap::new());
        let mut poll = |now: u64, found: &mut BTreeMap<String, u32>| {
            for name in names(&follower.poll(seconds(now)).unwrap()) {
                *found.entry(name).or_default() += 1;
            }
        };
        for (what, number, pause) in steps {
            let name = format!("msg-20260111-1200{:02}-claude-{number:04x}.json", number % 7);
            match what {
                0 | 1 => fs::write(folder.join(name), b"{}").unwrap(),
                2 => drop(fs::write(folder.join(format!(".{name}.tmp")), b"{")),
                _ => {
                    now += pause;
                    poll(now, &mut found);
                }
            }
        }
        for later in [0, 2, 4, 70] {
            poll(now + later, &mut found);
        }
        let there: Vec<String> = root.messages("a").unwrap();
        prop_assert_eq!(there, found.keys().cloned().collect::<Vec<_>>());
        prop_assert!(found.values().all(|times| *times == 1));
    }
}
