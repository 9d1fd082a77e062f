//! Figures that each stand in one line, with what was aimed at.

use serde_json::{Value, json};

use crate::area::{Area, Form, Options};
use crate::figures::{Series, Timing};
use crate::machine::Machine;
use crate::parts::{noise, series};
use crate::table::{table, thousands};

/// One figure.
pub(crate) struct Finding {
    pub(crate) name: String,
    pub(crate) unit: &'static str,
    pub(crate) figure: Series,
    pub(crate) aims: &'static [Aim],
}

/// What a figure should be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Aim {
    AtLeast(f64),
    AtMost(f64),
}

/// Everything that a run of an area found, and how.
pub(crate) struct Sheet {
    machine: Machine,
    /// How it was measured, in sentences.
    method: Vec<String>,
    sections: Vec<(&'static str, Vec<Finding>)>,
    /// The measures whose processor time counts, of which each should have had its processor for itself.
    quiet: Vec<Timing>,
}

impl Finding {
    pub(crate) fn new(name: impl Into<String>, unit: &'static str, figure: Series) -> Self {
        Finding { name: name.into(), unit, figure, aims: &[] }
    }

    /// A figure that was measured once.
    pub(crate) fn single(name: impl Into<String>, unit: &'static str, figure: f64) -> Self {
        Finding::new(name, unit, Series::of([figure]))
    }

    pub(crate) fn aiming(self, aims: &'static [Aim]) -> Self {
        Finding { aims, ..self }
    }

    fn row(&self) -> Vec<String> {
        let Series { median, min, max } = self.figure;
        let range = if min == max { String::new() } else { format!("{} to {}", short(min), short(max)) };
        let mut row = vec![self.name.clone(), short(median), self.unit.to_owned(), range];
        for aim in self.aims {
            let reached = if aim.is_reached(median) { "yes" } else { "no" };
            row.push(format!("{}: {reached}", aim.text()));
        }
        row
    }

    fn line(&self, area: &Area, section: &str) -> Value {
        let aims: Vec<Value> = self.aims.iter().map(|aim| aim.value(self.figure.median)).collect();
        json!({
            "area": area.name, "kind": "figure", "section": section, "figure": self.name, "unit": self.unit,
            "value": series(self.figure, 4), "aims": aims,
        })
    }
}

impl Aim {
    pub(crate) fn is_reached(self, figure: f64) -> bool {
        match self {
            Aim::AtLeast(bound) => figure >= bound,
            Aim::AtMost(bound) => figure <= bound,
        }
    }

    fn text(self) -> String {
        match self {
            Aim::AtLeast(bound) => format!("{} or more", short(bound)),
            Aim::AtMost(bound) => format!("{} or less", short(bound)),
        }
    }

    fn value(self, figure: f64) -> Value {
        let (name, bound) = match self {
            Aim::AtLeast(bound) => ("at_least", bound),
            Aim::AtMost(bound) => ("at_most", bound),
        };
        json!({ name: bound, "reached": self.is_reached(figure) })
    }
}

impl Sheet {
    pub(crate) fn new(method: Vec<String>) -> Self {
        Sheet { machine: Machine::look(), method, sections: Vec::new(), quiet: Vec::new() }
    }

    pub(crate) fn note(&mut self, sentence: String) {
        self.method.push(sentence);
    }

    pub(crate) fn add(&mut self, section: &'static str, findings: Vec<Finding>) {
        self.sections.push((section, findings));
    }

    /// Says later how quiet it was during these.
    pub(crate) fn watch(&mut self, timings: impl IntoIterator<Item = Timing>) {
        self.quiet.extend(timings);
    }

    pub(crate) fn render(&self, area: &Area, options: &Options) -> String {
        match options.form {
            Form::Text => self.text(area),
            Form::Json => self.lines(area).map(|line| format!("{line}\n")).collect(),
        }
    }

    /// Renders a smoke run, whose figures mean nothing: what was found at all.
    pub(crate) fn render_smoke(&self, area: &Area, form: Form) -> String {
        let figures: Vec<&Finding> = self.sections.iter().flat_map(|(_, findings)| findings).collect();
        match form {
            Form::Text => format!("smoke: {} found {} figures\n", area.name, figures.len()),
            Form::Json => figures
                .iter()
                .map(|finding| {
                    json!({ "area": area.name, "kind": "smoke", "figure": finding.name, "unit": finding.unit })
                })
                .map(|line| format!("{line}\n"))
                .collect(),
        }
    }

    fn text(&self, area: &Area) -> String {
        let Machine { processor, cores, kernel, rustc } = &self.machine;
        let mut text = format!(
            "{}: {}\nmachine    {processor}, {cores} cores, {kernel}\nversions   rustc {rustc}\n",
            area.name, area.summary
        );
        for sentence in &self.method {
            text.push_str(&format!("method     {sentence}\n"));
        }
        for (section, findings) in &self.sections {
            let heads = [*section, "median", "", "over rounds", "aims"].map(str::to_owned).to_vec();
            let rows: Vec<_> = std::iter::once(heads).chain(findings.iter().map(Finding::row)).collect();
            text.push_str(&format!("\n{}", table(&rows)));
        }
        if !self.quiet.is_empty() {
            text.push_str(&format!("\n{}", noise(self.quiet.iter())));
        }
        text
    }

    fn lines<'s>(&'s self, area: &'s Area) -> impl Iterator<Item = Value> + 's {
        let Machine { processor, cores, kernel, rustc } = &self.machine;
        let run = json!({
            "area": area.name, "kind": "run",
            "machine": { "processor": processor, "cores": cores, "kernel": kernel },
            "versions": { "rustc": rustc },
            "method": self.method,
            "processor_share_min": self.quiet.iter().map(Timing::share).fold(1.0, f64::min),
        });
        let figures = self.sections.iter().flat_map(move |(section, findings)| {
            findings.iter().map(move |finding| finding.line(area, section))
        });
        std::iter::once(run).chain(figures)
    }
}

/// Writes a figure as short as it still says something.
fn short(figure: f64) -> String {
    if figure.abs() >= 100.0 || figure == 0.0 { thousands(figure) } else { format!("{figure:.2}") }
}
