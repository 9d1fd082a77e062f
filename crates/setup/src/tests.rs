//! What is installed: exact versions, checked sums, no particular registry.

use crate::node::{Package, major_of};
use crate::pds::{CLIENT, SERVER};

#[test]
fn packages_are_pinned_and_come_from_nowhere_in_particular() {
    for package in [&SERVER, &CLIENT] {
        assert_eq!(package.check(), Ok(()), "{}", package.name);
    }
}

#[test]
fn loose_packages_are_found() {
    let with = |manifest, lock| Package { name: "x", manifest, lock, files: &[], compiled: &[] }.check();
    let manifest = r#"{"dependencies":{"a":"1.0.0"}}"#;
    let root =
        r#"{"packages":{"":{"dependencies":{"a":"1.0.0"}},"node_modules/a":{"integrity":"sha512-x"}}}"#;
    assert_eq!(with(manifest, root), Ok(()));
    assert!(with(r#"{"dependencies":{"a":"^1.0.0"}}"#, root).is_err());
    assert!(with(r#"{"dependencies":{"a":"1.0.1"}}"#, root).is_err());
    let place = r#"{"packages":{"":{"dependencies":{"a":"1.0.0"}},"node_modules/a":{"integrity":"sha512-x","resolved":"a"}}}"#;
    assert!(with(manifest, place).is_err());
    let no_sum = r#"{"packages":{"":{"dependencies":{"a":"1.0.0"}},"node_modules/a":{}}}"#;
    assert!(with(manifest, no_sum).is_err());
}

#[test]
fn versions_of_node_are_read() {
    assert_eq!(major_of("v24.16.0\n"), Some(24));
    assert_eq!(major_of("24.16.0"), None);
}
