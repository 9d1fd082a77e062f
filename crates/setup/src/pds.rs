//! The reference PDS, and the official client of the AT Protocol.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Output, Stdio};

use anyhow::{Context, ensure};
use json::{Limits, Value};

use crate::node::{Node, Package};

/// The PDS with a stand-in for the directory of DIDs.
pub const SERVER: Package = Package {
    name: "pds",
    manifest: include_str!("../../../tests/pds/server/package.json"),
    lock: include_str!("../../../tests/pds/server/package-lock.json"),
    files: &[
        ("pds.mjs", include_str!("../../../tests/pds/server/pds.mjs")),
        ("plc.mjs", include_str!("../../../tests/pds/server/plc.mjs")),
    ],
    compiled: &["better-sqlite3"],
};

/// The client, and the programs that use it.
pub const CLIENT: Package = Package {
    name: "atproto-client",
    manifest: include_str!("../../../tests/pds/client/package.json"),
    lock: include_str!("../../../tests/pds/client/package-lock.json"),
    files: &[
        ("drive.mjs", include_str!("../../../tests/pds/client/drive.mjs")),
        ("compare.mjs", include_str!("../../../tests/pds/client/compare.mjs")),
        ("sequence.json", include_str!("../../../tests/pds/client/sequence.json")),
        ("follow.mjs", include_str!("../../../tests/pds/client/follow.mjs")),
    ],
    compiled: &[],
};

/// A PDS that runs; it ends when this is dropped, and leaves nothing behind.
pub struct Pds {
    child: Child,
    /// Taken when it shall end.
    stdin: Option<ChildStdin>,
    /// What it said when it was ready, as JSON.
    pub ready: String,
    /// Where it is.
    pub url: String,
    /// Its version.
    pub version: String,
    /// Its accounts by their names.
    pub accounts: BTreeMap<String, Account>,
}

/// Somebody with a repo.
#[derive(Clone, Debug)]
pub struct Account {
    /// Its DID.
    pub did: String,
    /// Its handle.
    pub handle: String,
    /// Its password.
    pub password: String,
}

/// Tells whether the PDS is there, so that starting it takes no time.
pub fn is_installed(tools: &Path) -> bool {
    SERVER.is_installed(tools)
}

/// The official client, installed.
pub struct Client {
    node: Node,
    folder: PathBuf,
}

impl Client {
    /// Installs the client, unless it is there.
    pub fn install(tools: &Path) -> anyhow::Result<Self> {
        let node = Node::find(tools)?;
        let folder = node.install(&CLIENT, tools)?;
        Ok(Client { node, folder })
    }

    /// Makes every call of the sequence to a side, and returns what came back, as JSON.
    pub fn drive(&self, side: &str) -> anyhow::Result<String> {
        let output = self.run(self.program("drive.mjs").arg(self.folder.join("sequence.json")), side)?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "the calls broke off: {said}");
        String::from_utf8(output.stdout).context("what came back is not UTF-8")
    }

    /// A program of ours that uses the client.
    pub fn program(&self, name: &str) -> Command {
        self.command(&self.folder.join(name))
    }

    /// Any program for the same Node.js.
    pub fn command(&self, script: &Path) -> Command {
        self.node.command(script)
    }

    /// Returns a file beside which the packages lie.
    pub fn modules(&self) -> PathBuf {
        self.folder.join("package.json")
    }

    /// Runs a program, gives it a side on its standard input, and waits for its end.
    pub fn run(&self, command: &mut Command, side: &str) -> anyhow::Result<Output> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().context("starting node")?;
        let mut stdin = child.stdin.take().context("node has no standard input")?;
        stdin.write_all(side.as_bytes()).context("telling the side")?;
        drop(stdin);
        child.wait_with_output().context("waiting for node")
    }
}

impl Pds {
    /// Installs the PDS unless it is there, and starts it in a folder with an account for each name.
    pub fn start(tools: &Path, folder: &Path, names: &[&str]) -> anyhow::Result<Self> {
        let node = Node::own(tools)?;
        let script = node.install(&SERVER, tools)?.join("pds.mjs");
        let mut command = node.command(&script);
        command.args(names).env("PDS_FOLDER", folder).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().context("starting the PDS")?;
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().context("the PDS has no standard output")?;
        let mut ready = String::new();
        BufReader::new(stdout).read_line(&mut ready).context("waiting for the PDS")?;
        let mut pds = Pds {
            child,
            stdin,
            ready,
            url: String::new(),
            version: String::new(),
            accounts: BTreeMap::new(),
        };
        pds.read().with_context(|| format!("the PDS is not ready: {:?}", pds.ready))?;
        Ok(pds)
    }

    /// Reads what it said when it was ready.
    fn read(&mut self) -> anyhow::Result<()> {
        let value = json::parse_str(&self.ready, Limits::DOCUMENT).ok().context("that is no JSON")?;
        let text = |value: &Value<'_>, key: &str| {
            value.get(key).and_then(Value::as_str).map(str::to_owned).with_context(|| format!("no {key}"))
        };
        (self.url, self.version) = (text(&value, "url")?, text(&value, "version")?);
        let accounts = value.get("accounts").and_then(Value::as_object).context("no accounts")?;
        for (name, account) in accounts.iter() {
            let account = Account {
                did: text(account, "did")?,
                handle: text(account, "handle")?,
                password: text(account, "password")?,
            };
            self.accounts.insert(name.to_string(), account);
        }
        ensure!(!self.url.is_empty(), "no url");
        Ok(())
    }

    /// Returns the process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Pds {
    /// It ends when its standard input does; waiting for it leaves no process behind.
    fn drop(&mut self) {
        drop(self.stdin.take());
        if let Err(error) = self.child.wait() {
            eprintln!("setup: the PDS did not end: {error}");
        }
    }
}
