//! The area `channels`: a channel folder with 100,000 messages, beside a watcher that lists the folder every time.
//!
//! Files hold a message of the specification. What is told of memory is what the process grows by when all names
//! become known.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use channel_root::{Draft, Follower, Limits, Root};
use message::Timestamp;

use crate::area::{Area, Options, Outcome};
use crate::figures::{Pace, Series, Timing, once, try_run};
use crate::findings::{Aim, Finding, Sheet};
use crate::progress::progress;
use crate::ring::Scale;
use crate::scratch::{Scratch, load_average};

pub(crate) const AREA: Area = Area {
    name: "channels",
    summary: "poll a channel folder with 100,000 messages, beside listing it every time",
    measure,
    smoke,
    callgrind,
    work,
};

const CHANNEL: &str = "team-a";
const MESSAGES: usize = 100_000;
const MESSAGES_SMOKE: usize = 300;
const SMOKE_PASSES: u64 = 3;
/// A look that finds nothing must cost next to nothing, however full the folder.
const AIM_QUIET: &[Aim] = &[Aim::AtLeast(1_000.0)];

/// A folder full of messages.
struct Full {
    root: Root,
    folder: PathBuf,
    count: usize,
    /// How many were added since.
    added: usize,
}

fn measure(options: &Options) -> anyhow::Result<Outcome> {
    let scratch = Scratch::on_disk()?;
    let sheet = find(&scratch, options, Scale::Full)?;
    print!("{}", sheet.render(&AREA, options));
    Ok(Outcome::Agreed)
}

fn smoke(options: &Options) -> anyhow::Result<Outcome> {
    let scratch = Scratch::make()?;
    let sheet = find(&scratch, &Options { rounds: 1, ..options.clone() }, Scale::Tiny)?;
    print!("{}", sheet.render_smoke(&AREA, options.form));
    Ok(Outcome::Agreed)
}

fn find(scratch: &Scratch, options: &Options, scale: Scale) -> anyhow::Result<Sheet> {
    let (count, pace) = match scale {
        Scale::Full => (MESSAGES, Pace::For(options.duration)),
        Scale::Tiny => (MESSAGES_SMOKE, Pace::Passes(SMOKE_PASSES)),
    };
    let load_before = load_average();
    progress(format_args!("writing {count} messages"));
    let mut full = Full::make(&scratch.folder("channels")?, count)?;
    let mut sheet = Sheet::new(vec![format!(
        "{count} messages in one folder; {} rounds of {} ms for each measure; medians of wall time; {}",
        options.rounds,
        options.duration.as_millis(),
        scratch.file_system
    )]);
    let (mut follower, first) = first_look(&full)?;
    let [mut quiet, mut listing, mut changed, mut posting]: [Vec<Timing>; 4] = Default::default();
    let mut now = settle(&mut follower, Duration::ZERO)?;
    for round in 0..options.rounds {
        progress(format_args!("round {} of {}", round + 1, options.rounds));
        quiet.push(try_run(pace, 1, || poll(&mut follower, now, 0))?);
        listing.push(try_run(pace, 1, || full.list())?);
        changed.push(try_run(pace, 1, || {
            full.add()?;
            // As long after the last look as a watcher waits.
            now += Duration::from_secs(2);
            poll(&mut follower, now, 1)
        })?);
        posting.push(try_run(pace, 1, || full.post())?);
        drain(&mut follower, now)?;
        now = settle(&mut follower, now)?;
    }
    let ratio = Series::ratio_by(&quiet, &listing, Timing::wall_ns_per_record);
    let micros = |timings: &[Timing]| Series::by(timings, |timing| timing.wall_ns_per_record() / 1e3);
    sheet.add(
        "polling",
        vec![
            Finding::new("nothing new: listing / ours", "", ratio).aiming(AIM_QUIET),
            Finding::new("nothing new", "µs", micros(&quiet)),
            Finding::new("listing all names", "µs", micros(&listing)),
            Finding::new("one new file, with writing it", "µs", micros(&changed)),
        ],
    );
    sheet.add("first look", first);
    sheet.add("writing", vec![Finding::new("durable posts", "files/s", Series::by(&posting, Timing::rate))]);
    if let (Some(before), Some(after)) = (load_before, load_average()) {
        sheet.note(format!("load of the machine {before} before and {after} after"));
    }
    Ok(sheet)
}

/// Looks at a full folder for the first time: names alone, and everything in the files.
fn first_look(full: &Full) -> anyhow::Result<(Follower, Vec<Finding>)> {
    let before = resident_bytes();
    let mut follower = Follower::new(&full.root, CHANNEL, Limits::default())?;
    let (skipped, names) = once(|| follower.skip_existing())?;
    let grown = resident_bytes().saturating_sub(before);
    ensure!(skipped == full.count, "{skipped} of {} names", full.count);
    let mut reader = Follower::new(&full.root, CHANNEL, Limits::default())?;
    let (read, all) = once(|| drain(&mut reader, Duration::ZERO))?;
    ensure!(read == full.count, "{read} of {} files", full.count);
    Ok((
        follower,
        vec![
            Finding::single("all names become known", "ms", names.as_secs_f64() * 1e3),
            Finding::single("memory", "bytes/name", grown as f64 / full.count as f64),
            Finding::single("all files are read, in order", "files/s", read as f64 / all.as_secs_f64()),
        ],
    ))
}

/// Polls until nothing is left, and says how many files came.
fn drain(follower: &mut Follower, now: Duration) -> anyhow::Result<usize> {
    let mut count = 0;
    loop {
        let polled = follower.poll(now)?;
        count += polled.found.len();
        if !polled.more {
            return Ok(count);
        }
    }
}

/// Lets a folder become known as it is; returns the time after that.
fn settle(follower: &mut Follower, now: Duration) -> anyhow::Result<Duration> {
    let later = now + Duration::from_secs(3);
    for now in [now, later] {
        follower.poll(now)?;
    }
    Ok(later)
}

fn poll(follower: &mut Follower, now: Duration, expected: usize) -> anyhow::Result<()> {
    let found = follower.poll(now)?.found.len();
    if found == expected { Ok(()) } else { bail!("{found} files instead of {expected}") }
}

impl Full {
    fn make(path: &Path, count: usize) -> anyhow::Result<Self> {
        let root = Root::create(path)?;
        let folder = path.join("channels").join(CHANNEL);
        fs::create_dir_all(&folder).context("making a channel")?;
        let mut full = Full { root, folder, count: 0, added: 0 };
        for _ in 0..count {
            full.add()?;
        }
        (full.count, full.added) = (count, 0);
        Ok(full)
    }

    /// Adds a file as a script does; the disk is not waited for.
    fn add(&mut self) -> anyhow::Result<()> {
        let number = self.count + self.added;
        let at = instant(number)?;
        let name = dialect_name(number);
        let document = Draft::new("claude", "all", "Your message text here").document(&name, CHANNEL, at);
        let unfinished = self.folder.join(format!(".{name}.tmp"));
        fs::write(&unfinished, document).context("writing a file")?;
        fs::rename(&unfinished, self.folder.join(format!("{name}.json"))).context("naming a file")?;
        self.added += 1;
        Ok(())
    }

    fn post(&mut self) -> anyhow::Result<()> {
        let at = instant(self.count + self.added)?;
        self.root.post(CHANNEL, &Draft::new("codex", "all", "Your message text here"), at)?;
        Ok(())
    }

    /// Does what a watcher does that remembers no more than its last file: lists everything.
    fn list(&self) -> anyhow::Result<()> {
        let names = fs::read_dir(&self.folder).context("listing")?;
        let count = names.filter(|entry| entry.is_ok()).count();
        ensure!(count >= self.count, "{count} names");
        Ok(())
    }
}

/// Names of a hundred files a second.
fn dialect_name(number: usize) -> String {
    let second = number / 100;
    let (hour, minute, second) = (second / 3_600 % 24, second / 60 % 60, second % 60);
    format!("msg-20260111-{hour:02}{minute:02}{second:02}-claude-{number:05x}")
}

fn instant(number: usize) -> anyhow::Result<Timestamp> {
    let second = i64::try_from(number / 100).context("too many files")?;
    Ok(Timestamp::from_unix_micros((1_768_089_600 + second) * 1_000_000)?)
}

/// The memory of this process, where the system tells.
fn resident_bytes() -> u64 {
    let text = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: u64 = text.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    pages * 4_096
}

fn callgrind(_options: &Options) -> anyhow::Result<Outcome> {
    progress("skipped: nearly all of it is done by the system, whose instructions are not counted");
    Ok(Outcome::Agreed)
}

/// Polls a folder in which nothing is new.
fn work(what: &str, passes: u64) -> anyhow::Result<()> {
    ensure!(what == "poll", "there is no work {what:?}");
    let scratch = Scratch::make()?;
    let full = Full::make(&scratch.folder("channels")?, MESSAGES_SMOKE)?;
    let (mut follower, _) = first_look(&full)?;
    let now = settle(&mut follower, Duration::ZERO)?;
    try_run(Pace::Passes(passes), 1, || poll(&mut follower, now, 0)).map(drop)
}
