//! What the server writes about itself: lines for people or for programs, to standard error or, in the background, to
//! a file that cannot fill the disk.
//!
//! Never tokens, bodies or query strings: whoever logs says what happened, not what was said.

use std::fs::{self, File, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tracing_subscriber::fmt::MakeWriter;

use crate::settings::{LogFormat, LogSettings};

/// Bytes of the file at most; the one before it is kept beside it.
const FILE_BYTES_MAX: u64 = 8 << 20;

/// A file that begins anew when it is full.
pub(crate) struct Rotating {
    path: PathBuf,
    bytes_max: u64,
    open: Mutex<Open>,
}

struct Open {
    file: File,
    bytes: u64,
}

/// Starts to log to standard error.
pub(crate) fn to_stderr(settings: &LogSettings) {
    let colours =
        io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    start(settings, colours, io::stderr);
}

/// Starts to log to a file.
pub(crate) fn to_file(settings: &LogSettings, path: &Path) -> io::Result<()> {
    let file = Rotating::open(path, FILE_BYTES_MAX)?;
    start(settings, false, file);
    Ok(())
}

fn start<W>(settings: &LogSettings, colours: bool, writer: W)
where
    W: for<'w> MakeWriter<'w> + Send + Sync + 'static,
{
    let lines = tracing_subscriber::fmt()
        .with_max_level(settings.level)
        .with_target(false)
        .with_ansi(colours)
        .with_writer(writer);
    let started = match settings.format {
        LogFormat::Text => lines.try_init(),
        LogFormat::Json => {
            lines.json().flatten_event(true).with_current_span(false).with_span_list(false).try_init()
        }
    };
    // A second subscriber is refused, and the first one goes on.
    drop(started);
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!("a fault in the program, at {place}; what was acknowledged is safe");
    }));
}

impl Rotating {
    pub(crate) fn open(path: &Path, bytes_max: u64) -> io::Result<Self> {
        Ok(Rotating { path: path.to_owned(), bytes_max, open: Mutex::new(Open::at(path)?) })
    }

    fn write(&self, line: &[u8]) -> io::Result<()> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = u64::try_from(line.len()).unwrap_or(u64::MAX);
        if open.bytes > 0 && open.bytes.saturating_add(bytes) > self.bytes_max {
            fs::rename(&self.path, before(&self.path))?;
            *open = Open::at(&self.path)?;
        }
        open.bytes += bytes;
        open.file.write_all(line)
    }
}

impl Open {
    fn at(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).mode(0o600).open(path)?;
        let bytes = file.metadata()?.len();
        Ok(Open { file, bytes })
    }
}

impl Write for &Rotating {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        Rotating::write(self, line).map(|()| line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'w> MakeWriter<'w> for Rotating {
    type Writer = &'w Rotating;

    fn make_writer(&'w self) -> Self::Writer {
        self
    }
}

/// Returns where the full file goes.
fn before(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".1");
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_never_grows_beyond_its_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("server.log");
        let file = Rotating::open(&path, 100).unwrap();
        for nth in 0..1_000 {
            file.write(format!("line {nth}\n").as_bytes()).unwrap();
            assert!(fs::metadata(&path).unwrap().len() <= 100);
        }
        drop(file);
        let file = Rotating::open(&path, 100).unwrap();
        file.write(&[b'x'; 500]).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().len(), 500, "a line is never cut");
        assert!(fs::read_to_string(before(&path)).unwrap().ends_with("line 999\n"));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
