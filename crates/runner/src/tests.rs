//! Tests with real processes and real folders.

mod commands;
mod extracting;
mod fences;
mod journals;
mod judging;
mod roots;

use std::time::Duration;

use crate::{Environment, Extraction, Invocation, PromptBy};

/// A command of the shell, which stands in for an agent's program.
fn script(text: &str) -> Invocation {
    let environment = Environment::choose(&[], std::env::vars_os());
    Invocation {
        argv: ["sh", "-c", text].map(str::to_owned).to_vec(),
        prompt_by: PromptBy::Stdin,
        folder: None,
        secrets: environment.secrets(),
        environment,
        timeout: Duration::from_secs(60),
        output_bytes_max: 64 << 10,
        extraction: Extraction::Whole,
    }
}
