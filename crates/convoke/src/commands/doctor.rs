//! `convoke doctor`: finds what ails a bus and says how to mend it.
//!
//! It looks and changes nothing, whether or not the bus runs. Each thing that it looks at is one finding or more, also
//! when all is well: who reads the list knows what was looked at.

mod channels;
mod files;
mod finding;
mod net;
mod server;
mod storage;

use std::path::PathBuf;

use message::Timestamp;

use self::finding::{Finding, Verdict};
use super::up::{Running, holder};
use crate::cli::server::DoctorArgs;
use crate::failure::{Answer, Failure};
use crate::output::{Form, Output};
use crate::settings::{self, Settings, Sources};
use crate::{clock, data, remote};

/// What every check needs.
struct Patient {
    data: PathBuf,
    settings: Settings,
    now: Timestamp,
    /// The process that holds the data folder.
    holder: Option<u32>,
    /// The bus that said that it is ready there.
    running: Option<Running>,
    url: Option<String>,
    ca: Option<PathBuf>,
}

pub(crate) fn run(args: &DoctorArgs) -> Result<Answer, Failure> {
    let data = data::folder(args.data.clone())?;
    let now = clock::now().map_err(|error| Failure::wrong_use(format!("the clock: {error}")))?;
    let (settings, problems) = settings::load_all(&Sources { config: args.config.as_deref(), data: &data });
    let (holder, running) = (holder(&data), Running::read(&data));
    let (url, ca) = (args.url.clone(), args.ca.clone());
    let patient = Patient { data, settings, now, holder, running, url, ca };
    let mut findings = Vec::new();
    for problem in &problems {
        findings.push(Finding::bad("settings", problem.to_string()).mend(problem.mend()));
    }
    if problems.is_empty() {
        findings.push(Finding::good("settings", "every setting is known and within its bounds"));
    }
    findings.extend(files::check(&patient));
    findings.extend(channels::check(&patient));
    findings.extend(net::check(&patient));
    findings.extend(storage::check(&patient));
    findings.extend(remote::block_on(async { Ok(server::check(&patient).await) })?);
    report(&findings, Form::from_flag(args.json))
}

impl Patient {
    /// Tells whether the bus runs that the data folder speaks of.
    fn is_running(&self) -> bool {
        self.running.as_ref().is_some_and(|running| Some(running.pid) == self.holder)
    }
}

fn report(findings: &[Finding], form: Form) -> Result<Answer, Failure> {
    let mut output = Output::new();
    for finding in findings {
        match form {
            Form::Text => output.text(&finding.to_string())?,
            Form::Json => output.line(finding.to_value())?,
        }
    }
    output.flush()?;
    let is_well = findings.iter().all(|finding| finding.verdict != Verdict::Bad);
    Ok(Answer::from_bool(is_well))
}
