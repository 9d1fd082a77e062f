//! Rounds: load, a kill at any instant, a start, and again; in the end everything is taken and accounted for.

mod ending;

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::Duration;

use anyhow::{Context, ensure};

use crate::checker::{Violation, check};
use crate::folders::copy_folder;
use crate::history::{Event, Handing, Record};
use crate::load::{self, Cast, Gate, Length, World, door};
use crate::random::Dice;
use crate::server::{Launch, Server, tells_of_panic};

/// The shortest and the longest time between two kills.
const LIFE_MS: (u64, u64) = (5, 500);

/// What is to be done.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The program.
    pub binary: PathBuf,
    /// From which everything that is tried follows.
    pub seed: u64,
    /// Who takes part.
    pub cast: Cast,
    /// How often the server is killed.
    pub rounds: u64,
    /// Letters that each sender sends at most between two kills.
    pub letters_max: u64,
    /// Something wrong on purpose, to see that it is found.
    pub plant: Option<Plant>,
}

/// Something wrong that is done on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plant {
    /// The disk forgets everything since the last start but one, as one would that lied about syncing.
    ForgetfulDisk,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Summary {
    /// The seed.
    pub seed: u64,
    /// How often the server was killed.
    pub rounds: u64,
    /// Letters that were sent, and those with a receipt.
    pub letters: usize,
    /// Letters whose senders have a receipt.
    pub accepted: usize,
    /// How often a letter came.
    pub sightings: usize,
    /// How often one came again.
    pub repeats: usize,
    /// Questions that were answered in time.
    pub answers: usize,
    /// How letters ended.
    pub ends: Vec<(String, usize)>,
    /// The longest that the server took to be ready.
    pub ready_max: Duration,
    /// Refusals, each with the letter that was refused.
    pub refusals: Vec<String>,
    /// Who got a letter.
    pub reached: BTreeSet<String>,
    /// Promises that were broken.
    pub violations: Vec<Violation>,
}

/// Load on a bus.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    /// From which everything that is tried follows.
    pub(crate) seed: u64,
    /// Who takes part.
    pub(crate) cast: Cast,
    /// Letters that each sender sends at most to one server.
    pub(crate) letters_max: u64,
    /// How long they are.
    pub(crate) length: Length,
}

/// Runs a plan in a folder of its own.
pub fn run(plan: &Plan) -> anyhow::Result<Summary> {
    let folder = tempfile::tempdir().context("making a folder")?;
    let launch = quick(Launch::new(&plan.binary, folder.path()));
    // Every other time the log is kept short, too.
    let launch = if plan.seed % 2 == 1 { launch.set("LOG_KEEP_BYTES", "8MiB") } else { launch };
    let Plan { seed, cast, letters_max, .. } = *plan;
    let load = Load { seed, cast, letters_max, length: Length::Mixed };
    let (record, ready_max) =
        under_load(&launch, load, |world, first| kill_and_start(plan, &launch, world, first))?;
    let violations = check(&record);
    Ok(Summary::of(plan, &record, ready_max, violations))
}

/// Settings with short pauses and small files: more happens in the same time.
pub(crate) fn quick(launch: Launch) -> Launch {
    launch
        .set("DELIVERY_BACKOFF", "50ms")
        .set("DELIVERY_BACKOFF_MAX", "200ms")
        .set("LOG_SEGMENT_BYTES", "4MiB")
        .set("LOG_RECORD_BYTES", "3MiB")
        .set("LIMITS_MESSAGE_BYTES", "1MiB")
        .set("LOG_SNAPSHOT_BYTES", "1MiB")
}

/// Starts a bus, does something to it while clients send and take, and asks it in the end what became of everything.
///
/// `act` opens the gate for each server and returns the last one, with nobody connected.
pub(crate) fn under_load<T>(
    launch: &Launch,
    load: Load,
    act: impl FnOnce(&World, Server) -> anyhow::Result<(Server, T)>,
) -> anyhow::Result<(Record, T)> {
    let first = launch.start()?;
    let mut tokens = HashMap::new();
    for (agent, dialect) in load.cast.agents() {
        let profile = format!(r#"{{"dialect":"{dialect}","did":"{}"}}"#, door::did(agent));
        let made = first.call("PUT", &format!("/v1/agents/{agent}"), first.operator(), &profile)?;
        let token = made.text("token").with_context(|| format!("no token for {agent}: {made}"))?;
        tokens.insert(agent.to_owned(), token);
    }
    let world = World {
        load,
        tokens,
        history: Default::default(),
        bookmark: Default::default(),
        gate: Gate::default(),
    };
    let (server, acted) = thread::scope(|scope| {
        load::spawn(scope, &world);
        let acted = act(&world, first);
        world.gate.close();
        acted
    })?;
    let endings = ending::collect(&world, server);
    let mut record = world.history.into_record();
    record.endings = endings.with_context(|| format!("seed {}", load.seed))?;
    verify(launch)?;
    Ok((record, acted))
}

/// Kills the server and starts it again, as often as planned. The last one is left running, with nobody connected.
fn kill_and_start(
    plan: &Plan,
    launch: &Launch,
    world: &World,
    first: Server,
) -> anyhow::Result<(Server, Duration)> {
    let mut dice = Dice::new(plan.seed, 0);
    let mut server = first;
    let mut ready_max = server.ready_after;
    for round in 1..=plan.rounds {
        let forgets = plan.plant == Some(Plant::ForgetfulDisk) && round == plan.rounds;
        if forgets {
            copy_folder(&launch.data(), &launch.folder.join("before")).context("copying the data")?;
        }
        world.gate.open(server.address());
        let life_ms = if forgets { LIFE_MS.1 } else { dice.range(LIFE_MS.0, LIFE_MS.1) };
        // How long a server lives is part of the plan; nothing is waited for.
        thread::sleep(Duration::from_millis(life_ms));
        let log = server.log_text();
        server.kill()?;
        if forgets {
            fs::remove_dir_all(launch.data()).context("forgetting")?;
            fs::rename(launch.folder.join("before"), launch.data()).context("forgetting")?;
        }
        ensure!(!tells_of_panic(&log), "seed {}: the server panicked: {log}", plan.seed);
        server = launch.start().with_context(|| format!("seed {}: starting again", plan.seed))?;
        ready_max = ready_max.max(server.ready_after);
    }
    Ok((server, ready_max))
}

/// Lets the program check its own log.
pub(crate) fn verify(launch: &Launch) -> anyhow::Result<()> {
    let mut command = Command::new(&launch.binary);
    let output = command.args(["log", "verify", "--data"]).arg(launch.data()).output();
    let output = output.context("starting log verify")?;
    let said = String::from_utf8_lossy(&output.stdout);
    ensure!(output.status.success(), "the log is damaged: {said}");
    Ok(())
}

impl Summary {
    fn of(plan: &Plan, record: &Record, ready_max: Duration, violations: Vec<Violation>) -> Self {
        let count = |is: fn(&Event) -> bool| record.events.iter().filter(|event| is(event)).count();
        let mut ends: HashMap<String, usize> = HashMap::new();
        for recipient in record.endings.values().filter_map(|ending| ending.recipients.as_ref()).flatten() {
            *ends.entry(recipient.stage.clone()).or_default() += 1;
        }
        let mut ends: Vec<(String, usize)> = ends.into_iter().collect();
        ends.sort();
        Summary {
            seed: plan.seed,
            rounds: plan.rounds,
            letters: record.letters.len(),
            accepted: count(|event| matches!(event, Event::Accepted { .. })),
            sightings: record.sightings().count(),
            repeats: record.sightings().filter(|(_, sighting)| is_repeat(sighting.handing)).count(),
            answers: count(|event| matches!(event, Event::Answered { .. })),
            ends,
            refusals: refusals(record),
            reached: record.sightings().map(|(_, sighting)| sighting.agent.clone()).collect(),
            ready_max,
            violations,
        }
    }
}

fn refusals(record: &Record) -> Vec<String> {
    let refused = record.events.iter().filter_map(|event| match event {
        Event::Refused { name, code } => Some(format!("{name}: {code}")),
        Event::Sending { .. }
        | Event::Accepted { .. }
        | Event::Delivered(_)
        | Event::Acking { .. }
        | Event::Acked { .. }
        | Event::Nacking { .. }
        | Event::Answered { .. }
        | Event::Noticed { .. }
        | Event::Followed { .. } => None,
    });
    refused.collect()
}

fn is_repeat(handing: Handing) -> bool {
    match handing {
        Handing::Attempt(attempt) => attempt > 1,
        Handing::Plain | Handing::Shown => false,
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Summary { seed, rounds, letters, accepted, sightings, repeats, answers, .. } = self;
        write!(
            f,
            "seed {seed}: {rounds} kills, {letters} letters, {accepted} receipts, {sightings} deliveries, "
        )?;
        write!(f, "{repeats} again, {answers} answers; ended:")?;
        for (stage, count) in &self.ends {
            write!(f, " {count} {stage}")?;
        }
        let ready_ms = self.ready_max.as_millis();
        write!(f, "; ready within {ready_ms} ms; {} violations", self.violations.len())
    }
}
