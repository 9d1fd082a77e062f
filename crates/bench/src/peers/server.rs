//! Servers that are measured: each in a folder of its own, on a free port of this machine, and gone at the end.

use std::fs::{self, File};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use setup::pds::{Account, Pds};

use super::clock::{self, now};
use super::document::{AGENTS, agent, agent_did};
use super::tools::Tools;
use super::{bare, http, nats, redis};
use crate::engine::memory::resident;
use crate::valgrind;

/// Name with which the files begin that callgrind writes, one for each thread.
const PROFILE: &str = "callgrind.out";
/// Accounts at a PDS, one for each connection.
pub(crate) const PDS_ACCOUNTS: usize = 16;
/// How long a server may take until it answers.
const READY_MAX: Duration = Duration::from_secs(60);
/// How often it is asked whether it is ready.
const ASK_EVERY: Duration = Duration::from_micros(250);
/// A folder that has not grown for so long grows no more by itself.
const SETTLE_EVERY: Duration = Duration::from_millis(500);
/// The unit in which the system counts processor time for others, `USER_HZ`.
const TICKS_PER_SECOND: f64 = 100.0;

/// Which server, and how it treats its disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// JetStream that syncs before it acknowledges.
    NatsAlways,
    /// JetStream as it comes, which syncs every two minutes.
    NatsDefault,
    /// Redis that syncs before it answers.
    RedisAlways,
    /// Redis that syncs every second.
    RedisEverysec,
    /// The real binary.
    Ours,
    /// The real binary under callgrind, which counts its instructions, each thread's apart.
    OursCounted,
    /// The reference PDS, which syncs four times for a record before it answers.
    Pds,
    /// No server at all: a file that is written and synced before one byte goes back.
    Bare,
}

/// A server that answers.
pub(crate) struct Server {
    pub(crate) kind: Kind,
    pub(crate) address: SocketAddr,
    /// How long it took until it answered.
    pub(crate) start: Duration,
    /// The tokens of our agents, in the order of their names; the operator's.
    pub(crate) tokens: Vec<String>,
    pub(crate) operator: String,
    /// The DIDs of those who have tokens.
    pub(crate) dids: Vec<String>,
    folder: PathBuf,
    child: Option<Child>,
    pds: Option<Pds>,
}

impl Server {
    /// Starts a server in an empty folder and waits until it answers.
    pub(crate) fn start(kind: Kind, tools: &Tools, folder: PathBuf) -> anyhow::Result<Self> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, free_port()?));
        let mut server = Server {
            kind,
            address,
            start: Duration::ZERO,
            tokens: Vec::new(),
            operator: String::new(),
            dids: Vec::new(),
            folder,
            child: None,
            pds: None,
        };
        match kind {
            Kind::Bare => {
                server.address = bare::start(&server.folder)?;
                return Ok(server);
            }
            Kind::Pds => return server.start_pds(),
            Kind::NatsAlways | Kind::NatsDefault | Kind::RedisAlways | Kind::RedisEverysec => {}
            Kind::Ours | Kind::OursCounted => {}
        }
        let mut command = command(kind, tools, address, &server.folder)?;
        let said = File::create(server.folder.join("said.txt"))?;
        command.stdin(Stdio::null()).stdout(said.try_clone()?).stderr(said);
        let begun = now();
        server.child = Some(command.spawn().with_context(|| format!("starting {}", kind.title()))?);
        server.wait_until_ready(begun)?;
        server.start = begun.elapsed();
        Ok(server)
    }

    /// Starts a PDS with an account for each connection.
    fn start_pds(mut self) -> anyhow::Result<Self> {
        let names: Vec<String> = (0..PDS_ACCOUNTS).map(|place| format!("peer-{}", agent(place))).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let begun = now();
        let pds = Pds::start(&setup::tools_folder(), &self.folder, &names)?;
        self.start = begun.elapsed();
        let address = pds.url.trim_start_matches("http://").parse();
        self.address = address.with_context(|| format!("the PDS is at {}", pds.url))?;
        self.pds = Some(pds);
        Ok(self)
    }

    /// Opens a session for each account.
    fn open_sessions(&mut self) -> anyhow::Result<()> {
        for account in self.pds.iter().flat_map(|pds| pds.accounts.values()) {
            let Account { did, handle, password } = account;
            let body = format!(r#"{{"identifier":"{handle}","password":"{password}"}}"#);
            let path = "/xrpc/com.atproto.server.createSession";
            let (status, answer) = http::ask(self.address, "POST", path, "", &body)?;
            ensure!(status == 200, "no session at the PDS: {status} {answer}");
            self.tokens.push(answer["accessJwt"].as_str().context("a session without a token")?.to_owned());
            self.dids.push(did.clone());
        }
        Ok(())
    }

    fn wait_until_ready(&mut self, begun: std::time::Instant) -> anyhow::Result<()> {
        loop {
            let answer = match self.kind {
                Kind::NatsAlways | Kind::NatsDefault => nats::greet(self.address),
                Kind::RedisAlways | Kind::RedisEverysec => redis::greet(self.address),
                Kind::Ours | Kind::OursCounted => http::greet(self.address),
                Kind::Pds | Kind::Bare => Ok(()),
            };
            let Err(error) = answer else { return Ok(()) };
            let ended = self.child.as_mut().and_then(|child| child.try_wait().ok().flatten());
            if ended.is_some() || begun.elapsed() > READY_MAX {
                bail!("{} does not start: {error:#}; it said: {}", self.kind.title(), self.said());
            }
            clock::pause(ASK_EVERY);
        }
    }

    /// Makes what publishing needs: streams, or agents with their tokens.
    pub(crate) fn prepare(&mut self) -> anyhow::Result<()> {
        match self.kind {
            Kind::NatsAlways | Kind::NatsDefault => nats::make_stream(self.address),
            Kind::RedisAlways | Kind::RedisEverysec => redis::make_stream(self.address),
            Kind::Ours | Kind::OursCounted => {
                self.make_agents()?;
                self.wait_until_settled()
            }
            Kind::Pds => self.open_sessions(),
            Kind::Bare => Ok(()),
        }
    }

    fn make_agents(&mut self) -> anyhow::Result<()> {
        let path = self.folder.join("operator.token");
        let text = fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
        self.operator = text.trim().to_owned();
        for place in 0..AGENTS {
            let (path, did) = (format!("/v1/agents/{}", agent(place)), agent_did(place));
            let profile = format!(r#"{{"did":"{did}"}}"#);
            let (status, answer) = http::ask(self.address, "PUT", &path, &self.operator, &profile)?;
            ensure!(status == 201, "the agent was not made: {status} {answer}");
            self.tokens.push(answer["token"].as_str().context("an agent without a token")?.to_owned());
            self.dids.push(did);
        }
        Ok(())
    }

    /// Waits until a fresh log has made its segments ahead, as that of a server that runs for a while has.
    fn wait_until_settled(&self) -> anyhow::Result<()> {
        let (begun, folder) = (now(), self.folder.join("log"));
        let mut before = 0;
        loop {
            clock::pause(SETTLE_EVERY);
            let bytes = bytes_in(&folder)?;
            if bytes == before || begun.elapsed() > READY_MAX {
                return Ok(());
            }
            before = bytes;
        }
    }

    /// The processor time that the server has used so far, in seconds.
    pub(crate) fn processor_seconds(&self) -> Option<f64> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.process()?)).ok()?;
        ticks(&stat).map(|ticks| ticks as f64 / TICKS_PER_SECOND)
    }

    /// The memory that the server holds, in bytes.
    pub(crate) fn resident_bytes(&self) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process()?)).ok()?;
        resident(&status)
    }

    /// The server's process.
    fn process(&self) -> Option<u32> {
        self.child.as_ref().map(Child::id).or_else(|| self.pds.as_ref().map(Pds::id))
    }

    /// Asks the server to stop, waits until it has, and returns the profile that callgrind wrote of each thread.
    pub(crate) fn end_counted(mut self) -> anyhow::Result<Vec<String>> {
        let mut child = self.child.take().context("nothing was started")?;
        let mut kill = Command::new("kill");
        kill.args(["-TERM", &child.id().to_string()]).status().context("starting kill")?;
        child.wait().context("waiting for the server")?;
        let mut profiles = Vec::new();
        for entry in fs::read_dir(&self.folder).context("reading the server's folder")? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().starts_with(PROFILE) {
                profiles.push(fs::read_to_string(entry.path())?);
            }
        }
        Ok(profiles)
    }

    /// The last lines that the server wrote.
    fn said(&self) -> String {
        let text = fs::read_to_string(self.folder.join("said.txt")).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(5)..].join(" / ")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            // Whoever is gone already cannot be ended, and a folder that stays is removed with its parent.
            drop(child.kill());
            drop(child.wait());
        }
        drop(self.pds.take());
        drop(fs::remove_dir_all(&self.folder));
    }
}

impl Kind {
    pub(crate) fn title(self) -> &'static str {
        match self {
            Kind::NatsAlways => "JetStream, synced",
            Kind::NatsDefault => "JetStream, not synced",
            Kind::RedisAlways => "Redis, synced",
            Kind::RedisEverysec => "Redis, synced every second",
            Kind::Ours => "ours",
            Kind::OursCounted => "ours, counted",
            Kind::Pds => "PDS, synced",
            Kind::Bare => "bare file behind a socket",
        }
    }
}

/// The processor time in a line of `/proc/PID/stat`, in ticks: the 14th and the 15th word.
pub(crate) fn ticks(stat: &str) -> Option<u64> {
    // The name of the program, the second word, may have blanks.
    let mut words = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let user: u64 = words.next()?.parse().ok()?;
    let system: u64 = words.next()?.parse().ok()?;
    Some(user + system)
}

fn command(kind: Kind, tools: &Tools, address: SocketAddr, folder: &Path) -> anyhow::Result<Command> {
    let place = folder.display();
    let nats = |sync: &str| -> anyhow::Result<Command> {
        let path = folder.join("nats.conf");
        let text = format!("listen: \"{address}\"\njetstream {{\n  store_dir: \"{place}\"\n{sync}}}\n");
        fs::write(&path, text).with_context(|| format!("writing {}", path.display()))?;
        let mut command = tools.nats.command();
        command.arg("--config").arg(path);
        Ok(command)
    };
    let redis = |sync: &str| {
        let mut command = tools.redis.command();
        let port = address.port().to_string();
        command.args(["--bind", "127.0.0.1", "--port", &port, "--dir"]).arg(folder);
        // Neither snapshots nor rewrites of the log, which would only disturb it.
        command.args(["--save", "", "--appendonly", "yes", "--auto-aof-rewrite-percentage", "0"]);
        command.args(["--appendfsync", sync]);
        command
    };
    match kind {
        Kind::NatsAlways => nats("  sync_interval: always\n"),
        Kind::NatsDefault => nats(""),
        Kind::RedisAlways => Ok(redis("always")),
        Kind::RedisEverysec => Ok(redis("everysec")),
        Kind::Ours => {
            let mut command = tools.ours.command();
            command.args(["up", "--listen", &address.to_string(), "--data"]).arg(folder);
            Ok(command)
        }
        Kind::OursCounted => {
            let mut command = valgrind::counting(&profile_of(folder));
            command.arg(tools.ours.path());
            command.args(["up", "--listen", &address.to_string(), "--data"]).arg(folder);
            Ok(command)
        }
        Kind::Pds | Kind::Bare => bail!("{} is no program", kind.title()),
    }
}

/// Where callgrind writes what it counts of a server.
fn profile_of(folder: &Path) -> PathBuf {
    folder.join(PROFILE)
}

/// The size of all files in a folder.
fn bytes_in(folder: &Path) -> anyhow::Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))? {
        // A file may be renamed or removed meanwhile.
        bytes += entry?.metadata().map_or(0, |file| file.len());
    }
    Ok(bytes)
}

fn free_port() -> anyhow::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}
