//! strace, which delays calls to the system or makes them fail: downloaded where it is missing.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::{SetupError, debian, lock, progress};

/// The program and a library that a small Debian lacks.
const PACKAGES: [&str; 2] = ["strace", "libunwind8"];
const HINT: &str = "install strace; or run `apt-get update` on a Debian, so that it can be downloaded";

/// Returns the words with which a command line begins that runs strace, and downloads it if it is missing.
pub fn command_line(tools: &Path) -> Result<Vec<String>, SetupError> {
    if let Some(found) = installed(tools) {
        return Ok(found);
    }
    let _lock = lock(tools, "strace")?;
    if let Some(found) = installed(tools) {
        return Ok(found);
    }
    progress("there is no strace; downloading it with apt-get");
    debian::unpack(&PACKAGES, &tools.join("strace"), HINT)?;
    installed(tools).ok_or_else(|| SetupError::new("strace was downloaded but does not run", HINT))
}

/// Returns the words if the program is there.
fn installed(tools: &Path) -> Option<Vec<String>> {
    [vec!["strace".to_owned()], downloaded(tools)].into_iter().find(|words| runs(words))
}

/// The program that we downloaded, with the libraries beside it.
fn downloaded(tools: &Path) -> Vec<String> {
    let folder = tools.join("strace/usr");
    let folders = fs::read_dir(folder.join("lib")).into_iter().flatten().filter_map(Result::ok);
    let mut libraries = folders.map(|entry| entry.path()).filter(|path| path.join("libunwind.so.8").exists());
    let libraries = libraries.next().unwrap_or_default();
    let program = folder.join("bin/strace");
    let variable = format!("LD_LIBRARY_PATH={}", libraries.display());
    vec!["env".to_owned(), variable, program.display().to_string()]
}

fn runs(words: &[String]) -> bool {
    let Some((program, words)) = words.split_first() else { return false };
    let run = Command::new(program).args(words).arg("-V").stdin(Stdio::null()).output();
    run.is_ok_and(|output| output.status.success())
}
