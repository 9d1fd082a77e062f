//! What peers are installed from: exact versions, checked sums, no particular registry.

use serde_json::Value;

use crate::lexicon::peer::PACKAGE;

#[test]
fn versions_are_exact() {
    let manifest: Value = serde_json::from_str(PACKAGE.manifest).unwrap();
    let dependencies = manifest["dependencies"].as_object().unwrap();
    assert!(!dependencies.is_empty());
    for (name, version) in dependencies {
        let version = version.as_str().unwrap();
        assert!(version.starts_with(|first: char| first.is_ascii_digit()), "{name} {version}");
    }
}

#[test]
fn the_lock_file_has_sums_and_no_hosts() {
    assert!(!PACKAGE.lock.contains("http") && !PACKAGE.lock.contains("resolved"));
    let lock: Value = serde_json::from_str(PACKAGE.lock).unwrap();
    let packages = lock["packages"].as_object().unwrap();
    let installed: Vec<_> = packages.iter().filter(|(path, _)| !path.is_empty()).collect();
    assert!(!installed.is_empty());
    for (path, package) in installed {
        assert!(package["integrity"].as_str().is_some_and(|sum| sum.starts_with("sha512-")), "{path}");
    }
    let root = &packages[""]["dependencies"];
    let manifest: Value = serde_json::from_str(PACKAGE.manifest).unwrap();
    assert_eq!(root, &manifest["dependencies"]);
}
