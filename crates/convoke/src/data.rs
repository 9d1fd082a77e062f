//! The data folder: where a bus keeps what must not be lost.

use std::path::PathBuf;

use crate::failure::Failure;

/// Finds the data folder: the given one, else `CONVOKE_DATA`, which the command line reads, else the user's own.
pub(crate) fn folder(given: Option<PathBuf>) -> Result<PathBuf, Failure> {
    let home = || std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
    given.or_else(|| home().map(|home| home.join(".local/share/convoke"))).ok_or_else(|| {
        Failure::wrong_use("no data folder: HOME is not set")
            .hint("name it with --data DIR or set CONVOKE_DATA")
    })
}
