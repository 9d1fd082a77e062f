//! What one fuzz target did, read from the lines that libFuzzer prints.

/// The account of one target; figures that never came are absent.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Report {
    pub(crate) target: String,
    pub(crate) executions: Option<u64>,
    pub(crate) executions_per_second: Option<u64>,
    pub(crate) coverage: Option<u64>,
    /// The files with the inputs that broke the target.
    pub(crate) crashes: Vec<String>,
    /// Whether the program ended well; a target that does not build has no crash but fails here.
    pub(crate) succeeded: bool,
}

impl Report {
    pub(crate) fn new(target: &str) -> Self {
        Self {
            target: target.to_owned(),
            executions: None,
            executions_per_second: None,
            coverage: None,
            crashes: Vec::new(),
            succeeded: false,
        }
    }

    pub(crate) fn is_clean(&self) -> bool {
        self.succeeded && self.crashes.is_empty()
    }

    /// Takes what one line of output tells; most lines tell nothing.
    pub(crate) fn read_line(&mut self, line: &str) {
        if let Some(rest) = line.strip_prefix("stat::number_of_executed_units:") {
            self.executions = first_number(rest);
        } else if let Some(rest) = line.strip_prefix("stat::average_exec_per_sec:") {
            self.executions_per_second = first_number(rest);
        } else if let Some((_, file)) = line.split_once("Test unit written to ") {
            if breaks_the_target(file) {
                self.crashes.push(file.trim().to_owned());
            }
        } else if line.starts_with('#')
            && let Some((_, rest)) = line.split_once(" cov: ")
        {
            self.coverage = first_number(rest).or(self.coverage);
        }
    }

    fn result(&self) -> &'static str {
        match (self.crashes.is_empty(), self.succeeded) {
            (false, _) => "crashed",
            (true, false) => "failed",
            (true, true) => "clean",
        }
    }
}

/// The table at the end, and below it the inputs that broke something.
pub(crate) fn table(reports: &[Report]) -> String {
    let width = reports.iter().map(|report| report.target.len()).max().unwrap_or(0).max("target".len());
    let mut text = format!(
        "{:<width$} {:>12} {:>8} {:>8} {:>7}  result\n",
        "target", "executions", "exec/s", "coverage", "crashes"
    );
    for report in reports {
        text.push_str(&format!(
            "{:<width$} {:>12} {:>8} {:>8} {:>7}  {}\n",
            report.target,
            figure(report.executions),
            figure(report.executions_per_second),
            figure(report.coverage),
            report.crashes.len(),
            report.result()
        ));
    }
    for report in reports {
        for file in &report.crashes {
            text.push_str(&format!(
                "\n{} is broken by {file}\nhint: cargo +nightly fuzz run {} {file}\n",
                report.target, report.target
            ));
        }
    }
    text
}

/// libFuzzer also keeps inputs that are merely slow; those are no failure.
fn breaks_the_target(file: &str) -> bool {
    let name = file.trim().rsplit('/').next().unwrap_or_default();
    ["crash-", "oom-", "timeout-", "leak-"].iter().any(|prefix| name.starts_with(prefix))
}

fn first_number(text: &str) -> Option<u64> {
    text.split_whitespace().next()?.parse().ok()
}

fn figure(value: Option<u64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| value.to_string())
}
