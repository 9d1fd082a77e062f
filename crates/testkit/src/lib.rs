//! What the tests of several crates share: where the public vectors lie, how to read them, how a bus is set up.
//!
//! Only tests depend on this crate; it holds nothing that a running bus needs.

mod bus;
mod committed;
pub mod generate;
mod pretty;
mod schemas;
mod vectors;

use std::path::{Path, PathBuf};

pub use bus::broker_settings;
pub use committed::check_file;
pub use pretty::pretty;
pub use schemas::check_schemas;
pub use vectors::{Findings, check_vectors};

/// Finds a folder of the public test data, or says on stderr that its tests are skipped.
///
/// `CONVOKE_SHARED` names the place; without it, it is the folder `shared` beside the project.
pub fn shared(folder: &str) -> Option<PathBuf> {
    let default = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let root = std::env::var_os("CONVOKE_SHARED").map_or_else(default, PathBuf::from);
    let path = root.join(folder);
    if path.is_dir() {
        return Some(path);
    }
    eprintln!("skipped: no public vectors at {}; set CONVOKE_SHARED to their folder", path.display());
    None
}

/// Reads a file of the repository or of the vectors; a test without its data must fail, not pass.
pub fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()))
}

/// Returns the project's root folder.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
