//! Links by which this program is called like the scripts that it stands in for.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::failure::{Answer, Failure, reason};
use crate::output::Output;

/// The scripts, and the command of `convoke channel` that each is.
const SCRIPTS: [(&str, &str); 4] = [
    ("send-message", "send-message"),
    ("send-message.py", "send-message"),
    ("read-messages", "read-messages"),
    ("who", "who"),
];

/// Returns the command that stands for the name by which the program was called.
pub(crate) fn script(called: Option<&OsString>) -> Option<&'static str> {
    let name = Path::new(called?).file_name()?.to_str()?;
    SCRIPTS.iter().find(|(script, _)| *script == name).map(|(_, command)| *command)
}

/// Returns the root in whose folder `scripts` the link lies by which the program was called.
pub(super) fn root_of_link() -> Option<PathBuf> {
    let called = std::env::args_os().next();
    script(called.as_ref())?;
    let called = PathBuf::from(called?);
    // A name without a folder was found on the PATH.
    let path = if called.components().count() > 1 { called } else { on_path(&called)? };
    let root = std::path::absolute(path).ok()?.parent()?.parent()?.to_owned();
    root.join("channels").is_dir().then_some(root)
}

fn on_path(name: &Path) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join(name)).find(|path| path.exists())
}

/// Makes the links. One that is there already is left as it is.
pub(super) fn make(folder: &Path) -> Result<Answer, Failure> {
    let shown = folder.display();
    let failed =
        |error: &io::Error| Failure::wrong_use(format!("cannot make links in {shown}: {}", reason(error)));
    let program = std::env::current_exe().map_err(|error| failed(&error))?;
    fs::create_dir_all(folder).map_err(|error| failed(&error))?;
    let (mut output, mut all) = (Output::new(), true);
    for (name, _) in SCRIPTS {
        let link = folder.join(name);
        match symlink(&program, &link) {
            Ok(()) => output.line(link.display())?,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let is_ours = fs::read_link(&link).is_ok_and(|target| target == program);
                match is_ours {
                    true => output.line(link.display())?,
                    false => eprintln!("error: {} is there already, and is left as it is", link.display()),
                }
                all &= is_ours;
            }
            Err(error) => return Err(failed(&error)),
        }
    }
    output.flush()?;
    if !all {
        eprintln!("hint: move the old scripts away first, or choose another folder");
    }
    Ok(Answer::from_bool(all))
}
