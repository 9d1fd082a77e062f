//! The journal of a root: which files are on the bus already, for good.
//!
//! The bus itself knows a repeat for a day or so; files stay for years. So each file that was taken in, or that the
//! bus wrote itself, is noted in a file of lines in the data folder:
//!
//! ```text
//! > 1234 team-a/msg-….json      about to be sent; the log was durable up to record 1234 then
//! = team-a/msg-….json           known: sent, or there before the bus first came
//! ! team-a/msg-….json           refused; it is looked at again at the next start
//! < 0193… team-a/msg-….json     about to be written by the bus, for the message of that id
//! ```
//!
//! What is about to happen is durable before it happens. A file that was about to be sent and is not known to be is in
//! doubt after a crash: the history behind record 1234 tells whether it was accepted, so it is neither missed nor sent
//! twice, however long the bus was away. A file that was about to be written is written when its message is handed out
//! again, and is never taken for somebody's new one.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use message::{MessageId, Seq};

/// How much the journal may grow before it is written anew, beside its own size.
const GROWTH_BYTES_MAX: u64 = 8 << 20;
/// Bytes of a line; longer ones are nobody's.
const LINE_BYTES_MAX: usize = 1_024;

/// One line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// A file is about to be sent.
    Sending { after: Seq, channel: String, file: String },
    /// A file is known.
    Known { channel: String, file: String },
    /// A file was refused.
    Refused { channel: String, file: String },
    /// A file is about to be written.
    Writing { id: MessageId, channel: String, file: String },
}

/// The journal.
#[derive(Debug)]
pub(crate) struct Journal {
    path: PathBuf,
    file: File,
    bytes: u64,
    /// How large it was when it was written anew.
    bytes_first: u64,
}

impl Journal {
    /// Opens a journal, and reads it line by line; tells whether there was none before.
    pub(crate) fn open(path: PathBuf, mut each: impl FnMut(Line)) -> io::Result<(Self, bool)> {
        let is_new = !path.exists();
        let mut file = OpenOptions::new().create(true).append(true).read(true).open(&path)?;
        let mut bytes = 0;
        if !is_new {
            let mut reader = BufReader::new(&file);
            let mut line = Vec::new();
            while reader.read_until(b'\n', &mut line)? > 0 {
                bytes += line.len() as u64;
                // A line without an end was being written when the process ended: what it says had not happened yet.
                let whole = line.strip_suffix(b"\n").filter(|line| line.len() <= LINE_BYTES_MAX);
                let text = whole.and_then(|line| std::str::from_utf8(line).ok());
                text.and_then(Line::parse).into_iter().for_each(&mut each);
                if whole.is_none() && !line.ends_with(b"\n") {
                    file.write_all(b"\n")?;
                    bytes += 1;
                    break;
                }
                line.clear();
            }
        }
        Ok((Journal { path, file, bytes, bytes_first: bytes }, is_new))
    }

    /// Adds lines, and makes them durable before anything else happens.
    pub(crate) fn add_durable(&mut self, lines: &[Line]) -> io::Result<()> {
        self.add(lines)?;
        self.file.sync_data()
    }

    /// Adds lines.
    pub(crate) fn add(&mut self, lines: &[Line]) -> io::Result<()> {
        let text: String = lines.iter().map(|line| line.text()).collect();
        self.file.write_all(text.as_bytes())?;
        self.bytes += text.len() as u64;
        Ok(())
    }

    /// Tells whether it has grown so much that it should be written anew.
    pub(crate) fn is_long(&self) -> bool {
        self.bytes > 2 * self.bytes_first + GROWTH_BYTES_MAX
    }

    /// Writes it anew with these lines alone.
    pub(crate) fn replace(&mut self, lines: impl Iterator<Item = Line>) -> io::Result<()> {
        let unfinished = self.path.with_extension("tmp");
        let mut out = BufWriter::new(File::create(&unfinished)?);
        let mut bytes = 0;
        for line in lines {
            let text = line.text();
            bytes += text.len() as u64;
            out.write_all(text.as_bytes())?;
        }
        out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
        fs::rename(&unfinished, &self.path)?;
        sync_folder(&self.path)?;
        self.file = OpenOptions::new().append(true).read(true).open(&self.path)?;
        (self.bytes, self.bytes_first) = (bytes, bytes);
        Ok(())
    }
}

impl Line {
    fn parse(text: &str) -> Option<Self> {
        let (sign, rest) = text.split_once(' ')?;
        let place = |text: &str| {
            let (channel, file) = text.split_once('/')?;
            Some((channel.to_owned(), file.to_owned()))
        };
        match sign {
            "=" => place(rest).map(|(channel, file)| Line::Known { channel, file }),
            "!" => place(rest).map(|(channel, file)| Line::Refused { channel, file }),
            ">" => {
                let (after, rest) = rest.split_once(' ')?;
                let (channel, file) = place(rest)?;
                Some(Line::Sending { after: Seq(after.parse().ok()?), channel, file })
            }
            "<" => {
                let (id, rest) = rest.split_once(' ')?;
                let (channel, file) = place(rest)?;
                Some(Line::Writing { id: id.parse().ok()?, channel, file })
            }
            _ => None,
        }
    }

    /// Names of channels and files hold neither slashes nor control characters.
    fn text(&self) -> String {
        match self {
            Line::Sending { after, channel, file } => format!("> {} {channel}/{file}\n", after.0),
            Line::Known { channel, file } => format!("= {channel}/{file}\n"),
            Line::Refused { channel, file } => format!("! {channel}/{file}\n"),
            Line::Writing { id, channel, file } => format!("< {id} {channel}/{file}\n"),
        }
    }
}

/// Files that were about to be sent and are not known to be, with the place of the log behind which they may be.
#[derive(Debug, Default)]
pub(crate) struct Doubts {
    files: HashMap<(String, String), Seq>,
}

impl Doubts {
    /// Follows the journal.
    pub(crate) fn follow(&mut self, line: &Line) {
        match line {
            Line::Sending { after, channel, file } => {
                self.files.insert((channel.clone(), file.clone()), *after);
            }
            Line::Known { channel, file }
            | Line::Refused { channel, file }
            | Line::Writing { channel, file, .. } => {
                self.files.remove(&(channel.clone(), file.clone()));
            }
        }
    }

    pub(crate) fn into_files(self) -> Vec<((String, String), Seq)> {
        let mut files: Vec<_> = self.files.into_iter().collect();
        files.sort();
        files
    }
}

fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}
