//! Which files are looked at.

use std::fs;
use std::process::Command;

use super::fixture::Fixture;

#[test]
fn a_plain_folder_is_walked() {
    let fixture = Fixture::new(&[
        ("a.rs", "//! a\n"),
        ("crates/b/src/lib.rs", "//! b\n"),
        ("target/debug/c.rs", ""),
        ("fuzz/corpus/d", ""),
        ("fuzz/fuzz_targets/e.rs", ""),
        ("f.snap.new", ""),
    ]);
    let paths: Vec<String> = fixture.tree().paths().map(str::to_owned).collect();
    assert_eq!(paths, ["a.rs", "crates/b/src/lib.rs", "fuzz/fuzz_targets/e.rs"]);
}

#[test]
fn a_repository_is_listed_by_git() {
    let fixture =
        Fixture::new(&[(".gitignore", "*.log\n"), ("a.log", ""), ("gone.rs", ""), ("new ü.rs", "")]);
    let git = |args: &[&str]| {
        Command::new("git")
            .args(args)
            .current_dir(fixture.root())
            .output()
            .is_ok_and(|output| output.status.success())
    };
    if !git(&["init", "--quiet"]) {
        println!("skipped: git is not installed");
        return;
    }
    assert!(git(&["add", "gone.rs"]));
    fs::remove_file(fixture.root().join("gone.rs")).unwrap();
    let paths: Vec<String> = fixture.tree().paths().map(str::to_owned).collect();
    assert_eq!(paths, [".gitignore", "new ü.rs"]);
}

#[test]
fn binary_files_exist_but_have_no_text() {
    let fixture = Fixture::new(&[("a.bin", "a\0b")]);
    fs::write(fixture.root().join("b.bin"), [0xff, 0xfe]).unwrap();
    let tree = fixture.tree();
    assert_eq!(tree.file_count(), 2);
    assert_eq!(tree.texts().count(), 0);
    assert!(tree.holds("b.bin"));
}
