//! `convoke completions`: a script that completes our commands in a shell.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::cli::Cli;
use crate::failure::{Answer, Failure};
use crate::output::Output;

pub(crate) fn run(shell: Shell) -> Result<Answer, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "convoke", &mut script);
    let mut output = Output::new();
    output.text(&String::from_utf8_lossy(&script))?;
    output.flush()?;
    Ok(Answer::Yes)
}
