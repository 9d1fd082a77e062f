//! A folder that means harm: nothing is followed, nothing waits, nothing is read without end.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::Duration;

use super::{noon, root, said};
use crate::{Follower, Limits};

#[test]
fn everything_odd_is_told_and_the_rest_is_read() {
    let (outside, root) = root();
    root.post("a", &said("good"), noon()).unwrap();
    let folder = root.path().join("channels/a");
    let name = |what: &str| folder.join(format!("msg-20260111-120000-{what}-0001.json"));
    let secret = outside.path().join("secret");
    fs::write(&secret, b"{\"secret\":1}").unwrap();
    symlink(&secret, name("link")).unwrap();
    symlink("/dev/zero", name("zero")).unwrap();
    fs::create_dir(name("folder")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        name("pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    // A file of a terabyte that takes no room.
    fs::File::create(name("huge")).unwrap().set_len(1 << 40).unwrap();
    fs::write(name("garbage"), [0xff; 100]).unwrap();
    fs::write(name("deep"), "[".repeat(10_000)).unwrap();
    fs::write(name("list"), b"[]").unwrap();
    fs::write(name("locked"), b"{}").unwrap();
    fs::set_permissions(name("locked"), fs::Permissions::from_mode(0o000)).unwrap();
    fs::write(folder.join("msg-\u{202e}nosj.json"), b"{}").unwrap();

    let mut follower = Follower::new(&root, "a", Limits::default()).unwrap();
    let first = follower.poll(Duration::ZERO).unwrap();
    let second = follower.poll(Duration::from_secs(2)).unwrap();
    let mut problems: Vec<(String, &str)> = first
        .unreadable
        .iter()
        .chain(&second.unreadable)
        .map(|file| (file.name.split('-').nth(3).unwrap_or("?").to_owned(), file.problem.code()))
        .collect();
    problems.sort();
    // Whoever runs as root may read everything.
    let is_root = rustix::process::geteuid().is_root();
    let found: Vec<String> = first.found.iter().map(|found| found.name[20..].to_owned()).collect();
    assert_eq!(found.len(), 1 + usize::from(is_root), "{found:?}");
    let mut expected = vec![
        ("?", "wrong_name"),
        ("deep", "malformed"),
        ("folder", "not_a_file"),
        ("garbage", "malformed"),
        ("huge", "too_large"),
        ("link", "link"),
        ("list", "malformed"),
        ("pipe", "not_a_file"),
        ("zero", "link"),
    ];
    if !is_root {
        expected.push(("locked", "unreadable"));
        expected.sort_unstable();
    }
    let shown: Vec<(&str, &str)> = problems.iter().map(|(name, code)| (name.as_str(), *code)).collect();
    assert_eq!(shown, expected);
    assert!(second.found.is_empty());
}
