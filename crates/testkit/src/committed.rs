//! Files that are generated and committed: compared, or written again with `UPDATE_VECTORS=1`.

use std::path::Path;

/// Checks that a committed file is what would be generated now.
pub fn check_file(path: &Path, generated: &str) {
    if std::env::var_os("UPDATE_VECTORS").is_some() {
        std::fs::write(path, generated).expect("the file can be written");
        return;
    }
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    let place = committed.lines().zip(generated.lines()).position(|(old, new)| old != new);
    assert!(
        committed == generated,
        "{} is not what is generated now (line {}): run the tests with UPDATE_VECTORS=1 and read the diff",
        path.display(),
        place.map_or_else(|| committed.lines().count(), |line| line + 1)
    );
}
