//! `cargo xtask bench`: builds the benchmark program and hands it the rest of the arguments.

use anyhow::ensure;

use crate::command::{Command, Outcome};
use crate::shell::{self, cargo};

pub(crate) const COMMAND: Command =
    Command { name: "bench", summary: "measure the release build", help: HELP, run };

const HELP: &str = "\
usage: cargo xtask bench [ARGUMENTS]

Builds the crate `bench` and the binary for release and runs the benchmark with ARGUMENTS.
Arguments after `--` reach the program even if they look like ours.

examples:
  cargo xtask bench
  cargo xtask bench peers --only T4
  cargo xtask bench -- --help
";

fn run(args: &[String]) -> anyhow::Result<Outcome> {
    ensure!(
        shell::root().join("crates/bench/Cargo.toml").is_file(),
        "there is no benchmark program: the crate crates/bench does not exist"
    );
    if !shell::run(&mut cargo(&["build", "--release", "--locked", "-p", "bench", "-p", "convoke"]))? {
        return Ok(Outcome::Failed);
    }
    let args = args.strip_prefix(&["--".to_owned()]).unwrap_or(args);
    let mut program = cargo(&["run", "--release", "--locked", "--quiet", "-p", "bench", "--"]);
    Ok(Outcome::from_success(shell::run(program.args(args))?))
}
