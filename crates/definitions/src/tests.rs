//! What is listed is what is there.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::ALL;

#[test]
fn every_file_is_listed_once_in_order() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../definitions");
    let mut files = BTreeSet::new();
    collect(&folder, &mut files);
    let listed: BTreeSet<String> = ALL.iter().map(|definition| definition.text.to_owned()).collect();
    assert_eq!(files, listed);
    assert!(ALL.windows(2).all(|pair| pair[0].name < pair[1].name), "the list is sorted");
}

/// Gathers the texts of all files below a folder.
fn collect(folder: &Path, files: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else {
            files.insert(fs::read_to_string(&path).unwrap());
        }
    }
}
