//! A folder on a real disk for what is written and read while it is measured.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use tempfile::TempDir;

use crate::ring::Scale;
use setup::SetupError;

const DROP_CACHES: &str = "/proc/sys/vm/drop_caches";

/// A folder below the build folder, which is removed at the end.
pub(crate) struct Scratch {
    folder: TempDir,
    /// The kind of file system on which it lies.
    pub(crate) file_system: String,
}

/// Whether what is read comes from the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cache {
    /// The system has forgotten what it had read and written.
    Cold,
    /// The system remembers files, and some may only be read from its memory.
    Warm,
}

impl Scratch {
    pub(crate) fn make() -> anyhow::Result<Self> {
        let parent = setup::tools_folder().join("scratch");
        fs::create_dir_all(&parent).with_context(|| format!("creating {}", parent.display()))?;
        let folder = tempfile::tempdir_in(&parent).context("making a folder to measure in")?;
        let mounts = fs::read_to_string("/proc/mounts").unwrap_or_default();
        let path = folder.path().canonicalize().context("finding the folder to measure in")?;
        let file_system = file_system_of(&mounts, &path).unwrap_or("unknown").to_owned();
        Ok(Scratch { folder, file_system })
    }

    /// Refuses a file system in memory, where a sync means nothing.
    pub(crate) fn on_disk() -> anyhow::Result<Self> {
        let scratch = Scratch::make()?;
        if matches!(scratch.file_system.as_str(), "tmpfs" | "ramfs") {
            let what = format!("the build folder lies on {}, which is no disk", scratch.file_system);
            return Err(SetupError::new(what, "set CARGO_TARGET_DIR to a folder on a disk").into());
        }
        Ok(scratch)
    }

    /// Makes a folder in it.
    pub(crate) fn folder(&self, name: &str) -> anyhow::Result<PathBuf> {
        let folder = self.folder.path().join(name);
        fs::create_dir_all(&folder).with_context(|| format!("creating {}", folder.display()))?;
        Ok(folder)
    }
}

/// Lets the system forget what it knows of files that are on the disk already; needs the rights of its owner.
///
/// A smoke run leaves the system alone: others use it too.
pub(crate) fn empty_cache(scale: Scale) -> Cache {
    match scale {
        Scale::Full if fs::write(DROP_CACHES, "3").is_ok() => Cache::Cold,
        Scale::Full | Scale::Tiny => Cache::Warm,
    }
}

/// The work of the machine in the last minute, or nothing where the system does not tell.
pub(crate) fn load_average() -> Option<f64> {
    let text = fs::read_to_string("/proc/loadavg").ok()?;
    text.split(' ').next()?.parse().ok()
}

/// The kind of the file system that is mounted nearest above a path.
pub(crate) fn file_system_of<'m>(mounts: &'m str, path: &Path) -> Option<&'m str> {
    let mounted = mounts.lines().filter_map(|line| {
        let mut words = line.split(' ').skip(1);
        Some((Path::new(words.next()?), words.next()?))
    });
    let above = mounted.filter(|(point, _)| path.starts_with(point));
    above.max_by_key(|(point, _)| point.components().count()).map(|(_, kind)| kind)
}

impl Cache {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Cache::Cold => "cold",
            Cache::Warm => "warm: the page cache was not emptied",
        }
    }
}
