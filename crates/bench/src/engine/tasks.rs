//! Tasks: what asking, claiming and ending cost while few or many other tasks are open, and what an open one holds.

use anyhow::{Context as _, bail};
use broker::{
    Accept, AgentKey, Broker, Command, Context, Effects, Fingerprint, Identity, Register, Reply, Time,
};
use message::{Address, AgentName, Kind};
use serde_json::{Value, json};

use super::load::{Dice, settings};
use super::memory::resident_bytes;
use crate::figures::{self, Pace, Series, Timing};
use crate::findings::{Aim, Finding};
use crate::progress::progress;
use crate::ring::Scale;

/// The work that tells what open tasks hold.
pub(crate) const MEMORY: &str = "memory-open-tasks";
/// Agents that are asked, each in turn; one more asks them.
const WORKERS: usize = 100;
/// Commands of one task: it is asked for, claimed and done.
const COMMANDS: usize = 3;
/// Tasks until those that are over are forgotten as fast as they come.
const WARM_UP: u64 = 110_000;
const NOW: Time = Time(1_790_000_000_000);
const FLAT: &[Aim] = &[Aim::AtMost(2.0)];

/// A bus on which work is asked for and done.
struct Workshop {
    broker: Broker,
    random: Dice,
    effects: Effects,
    agents: Vec<AgentKey>,
    addresses: Vec<[Address; 1]>,
    /// Where nobody listens: what is said there is over at once.
    nobody: [Address; 1],
    said: u64,
    tasks: u64,
}

impl Workshop {
    /// Makes one with so many open tasks.
    fn open(count: u64) -> anyhow::Result<Self> {
        let mut settings = settings();
        settings.limits.tasks_max = u64::MAX;
        let mut shop = Workshop {
            broker: Broker::new(settings),
            random: Dice::new(),
            effects: Effects::new(),
            agents: Vec::new(),
            addresses: Vec::new(),
            nobody: ["#nobody".parse().context("an address")?],
            said: 0,
            tasks: 0,
        };
        for number in 0..=WORKERS {
            shop.register(&format!("worker-{number}").parse().context("a name")?)?;
        }
        for _ in 0..count {
            shop.ask()?;
        }
        Ok(shop)
    }

    fn register(&mut self, name: &AgentName) -> anyhow::Result<()> {
        let profile = b"{}".to_vec();
        let register = Register { profile, ..Register::of(name.clone()) };
        let Reply::Agent(agent) = self.execute(&Command::Register(Box::new(register)))? else {
            bail!("{name} is not registered")
        };
        self.agents.push(agent);
        self.addresses.push([Address::from(name.clone())]);
        Ok(())
    }

    /// Asks for a task; returns its name and who is asked.
    fn ask(&mut self) -> anyhow::Result<(String, AgentKey)> {
        let worker = 1 + (self.tasks % WORKERS as u64) as usize;
        let task = format!("task-{}", self.tasks);
        self.tasks += 1;
        let to = self.addresses[worker].clone();
        self.say(self.agents[0], &to, Kind::TaskRequest, &task)?;
        Ok((task, self.agents[worker]))
    }

    /// Lets one task be asked for, claimed and done.
    fn cycle(&mut self) -> anyhow::Result<()> {
        let (task, worker) = self.ask()?;
        let nobody = self.nobody.clone();
        self.say(worker, &nobody, Kind::TaskClaim, &task)?;
        self.say(worker, &nobody, Kind::TaskDone, &task)
    }

    fn say(&mut self, from: AgentKey, to: &[Address], kind: Kind, task: &str) -> anyhow::Result<()> {
        self.said += 1;
        let native_id = format!("said-{}", self.said);
        let fingerprint = Fingerprint::of(&[native_id.as_bytes()]);
        let identity = Identity::Native(native_id.into());
        let accept = Accept {
            fingerprint,
            task: Some(task.into()),
            ..Accept::new(from, to.to_vec(), kind, identity, b"{}"[..].into())
        };
        self.execute(&Command::Accept(Box::new(accept))).map(|_| ())
    }

    fn execute(&mut self, command: &Command) -> anyhow::Result<Reply> {
        let mut context = Context { now: NOW, wall: NOW, random: &mut self.random };
        let reply = self.broker.execute(&mut context, command, &mut self.effects, &mut |_, _, _| {})?;
        self.effects.clear();
        Ok(reply)
    }
}

/// Measures what a command costs at every count of open tasks, round by round.
pub(crate) fn measure(
    rounds: usize,
    pace: Pace,
    scale: Scale,
) -> anyhow::Result<(Vec<Finding>, Vec<Timing>)> {
    let (counts, warm_up): (&[u64], u64) = match scale {
        Scale::Full => (&[1_000, 100_000, 1_000_000], WARM_UP),
        Scale::Tiny => (&[10, 100], 20),
    };
    let mut points = Vec::new();
    for count in counts {
        progress(format_args!("preparing {count} open tasks"));
        let mut shop = Workshop::open(*count)?;
        figures::try_run(Pace::Passes(warm_up), COMMANDS, || shop.cycle())?;
        points.push((*count, shop, Vec::new()));
    }
    for round in 1..=rounds {
        progress(format_args!("tasks, round {round} of {rounds}"));
        for (_, shop, timings) in &mut points {
            timings.push(figures::quietest(|| figures::try_run(pace, COMMANDS, || shop.cycle()))?);
        }
    }
    let mut findings = Vec::new();
    for (count, _, timings) in &points {
        let series = Series::by(timings, Timing::ns_per_record);
        findings.push(Finding::new(format!("{count} open: request, claim, done"), "ns/command", series));
    }
    if let (Some((_, _, few)), Some((_, _, many))) = (points.first(), points.last()) {
        let ratio = Series::ratio_by(few, many, Timing::ns_per_record);
        findings.push(Finding::new("most open / fewest open", "", ratio).aiming(FLAT));
    }
    Ok((findings, points.into_iter().flat_map(|(_, _, timings)| timings).collect()))
}

/// Opens so many tasks and tells what this process holds for them, their requests included.
pub(crate) fn look(count: u64) -> anyhow::Result<Value> {
    let idle = resident_bytes()?;
    let shop = Workshop::open(count)?;
    let loaded = resident_bytes()?;
    anyhow::ensure!(shop.broker.task_count() as u64 == count, "not every task is open");
    Ok(json!({ "idle": idle, "loaded": loaded, "count": count }))
}
