//! The channel roots that the settings name.

use std::path::Path;

use channel_root::{Root, RootError};
use rustix::fs::{Access, access};

use super::Patient;
use super::finding::Finding;
use crate::failure::{chain, reason};

pub(super) fn check(patient: &Patient) -> Vec<Finding> {
    patient.settings.channels.roots.iter().map(|root| look_at(&root.path)).collect()
}

fn look_at(path: &Path) -> Finding {
    let place = path.display();
    if !path.exists() {
        let what = format!("there is no folder {place} yet");
        return Finding::odd("channels", what)
            .mend("`convoke up` makes it; mount the drive first if it is one");
    }
    let looked = Root::open(path).and_then(|root| root.channels());
    let channels = match looked {
        Ok(channels) => channels.len(),
        Err(RootError::NotARoot { .. }) => 0,
        Err(error) => return Finding::bad("channels", chain(&error)).mend(error.hint()),
    };
    if let Err(error) = access(path, Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK) {
        let what = format!("{place} cannot be written: {}", reason(&error.into()));
        return Finding::bad("channels", what)
            .mend("let the user of the bus write it, by its group for example");
    }
    Finding::good("channels", format!("{place} has {channels} channels"))
}
