//! The JSON Schemas of a dialect: what is shipped is what its interfaces say.

use std::collections::BTreeSet;
use std::fs;

use json::Value;

/// Compares `definitions/NAME/*.json` with schemas by the names of their interfaces; `UPDATE_VECTORS=1` rewrites.
///
/// # Panics
///
/// If a file differs, is missing, or belongs to no interface.
pub fn check_schemas(dialect: &str, schemas: impl IntoIterator<Item = (&'static str, Value<'static>)>) {
    let folder = crate::root().join("definitions").join(dialect);
    let mut expected = BTreeSet::new();
    for (name, schema) in schemas {
        let file = format!("{}.json", kebab(name));
        let text = crate::pretty(&schema);
        if std::env::var_os("UPDATE_VECTORS").is_some() {
            fs::write(folder.join(&file), &text).expect("the schema can be written");
        }
        assert_eq!(crate::read(&folder.join(&file)), text, "{file}: UPDATE_VECTORS=1 rewrites it");
        expected.insert(file);
    }
    let names = fs::read_dir(&folder).expect("a dialect has schemas");
    let found: BTreeSet<String> = names
        .map(|entry| entry.expect("it can be listed").file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(found, expected, "every schema belongs to an interface");
}

/// `TaskUpdate` is `task-update`.
fn kebab(name: &str) -> String {
    let mut kebab = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !kebab.is_empty() {
            kebab.push('-');
        }
        kebab.push(letter.to_ascii_lowercase());
    }
    kebab
}
