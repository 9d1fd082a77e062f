//! The report of the area: a table for people, or JSON lines.

use serde_json::{Value, json};

use super::corpus::{Case, Corpus};
use super::peer::Versions;
use super::verdicts::{Agreement, Compared};
use super::{AREA, Measure, Rounds};
use crate::area::{Form, Options};
use crate::figures::{Series, Timing};
use crate::machine::Machine;
use crate::parts::{clock, noise, series, side};
use crate::table::{table, thousands};

/// What the figures are worth: where and how they came about.
pub(crate) struct Run<'r> {
    pub(crate) machine: Machine,
    pub(crate) versions: Versions,
    pub(crate) corpus: &'r Corpus,
    pub(crate) options: &'r Options,
}

/// Renders a whole run.
pub(crate) fn render(run: &Run<'_>, rounds: &[Rounds], verdicts: &[Compared<'_>]) -> String {
    match run.options.form {
        Form::Json => {
            let lines = std::iter::once(run_line(run)).chain(rounds.iter().map(measure_line));
            lines.chain(verdicts.iter().filter_map(verdict_line)).map(|line| format!("{line}\n")).collect()
        }
        Form::Text => {
            let mut text = heading(run, clock(timings(rounds)));
            text.push_str(&table(&measure_rows(rounds)));
            text.push_str(&noise(timings(rounds)));
            text.push_str(&verdict_text(verdicts));
            text
        }
    }
}

/// Renders a smoke run, whose figures mean nothing.
pub(crate) fn render_smoke(
    timings: &[(Measure, Timing)],
    corpus: &Corpus,
    wrong: &[&Case],
    form: Form,
) -> String {
    let mut lines: Vec<String> = Vec::new();
    for (measure, timing) in timings {
        lines.push(match form {
            Form::Json => json!({
                "area": AREA.name, "kind": "smoke", "measure": measure.name(), "records": timing.records,
            })
            .to_string(),
            Form::Text => format!("smoke: {} ran over {} records", measure.name(), timing.records),
        });
    }
    for case in wrong {
        lines.push(match form {
            Form::Json => json!({
                "area": AREA.name, "kind": "unlisted", "case": case.name, "listed_ours": case.ours.name(),
            })
            .to_string(),
            Form::Text => format!("smoke: {:?} is not {}", case.name, case.ours.name()),
        });
    }
    if form == Form::Text {
        lines.push(format!(
            "smoke: {} of {} verdicts as listed",
            corpus.cases.len() - wrong.len(),
            corpus.cases.len()
        ));
    }
    lines.into_iter().map(|line| line + "\n").collect()
}

/// Renders instructions for each record.
pub(crate) fn render_instructions(counts: &[(Measure, f64)], form: Form) -> String {
    match form {
        Form::Json => counts
            .iter()
            .map(|(measure, count)| {
                let line = json!({
                    "area": AREA.name, "kind": "instructions", "measure": measure.name(),
                    "per_record": count.round() as u64,
                });
                format!("{line}\n")
            })
            .collect(),
        Form::Text => {
            let mut rows = vec![vec!["ours".to_owned(), "instructions a record".to_owned()]];
            rows.extend(
                counts.iter().map(|(measure, count)| vec![measure.title().to_owned(), thousands(*count)]),
            );
            table(&rows)
        }
    }
}

fn heading(run: &Run<'_>, clock: &str) -> String {
    let Run { machine, versions, corpus, options } = run;
    format!(
        "{}: {}\n\
         machine    {}, {} cores, {}\n\
         versions   rustc {}; node {}; @atproto/lexicon {}\n\
         corpus     {} records, {:.0} bytes on average\n\
         method     {} rounds of {} s for each measure, sides in turn, warmed up; medians of {clock} time\n\n",
        AREA.name,
        AREA.summary,
        machine.processor,
        machine.cores,
        machine.kernel,
        machine.rustc,
        versions.node,
        versions.package,
        corpus.records.len(),
        corpus.record_bytes(),
        options.rounds,
        options.duration.as_secs(),
    )
}

fn timings(rounds: &[Rounds]) -> impl Iterator<Item = &Timing> + Clone {
    rounds.iter().flat_map(|rounds| rounds.ours.iter().chain(&rounds.peer))
}

fn measure_rows(rounds: &[Rounds]) -> Vec<Vec<String>> {
    let heads = ["ns a record", "ours", "peer", "peer/ours", "over rounds", "by wall time", "aim", "reached"];
    let mut rows = vec![heads.map(str::to_owned).to_vec()];
    for rounds in rounds {
        let ours = Series::by(&rounds.ours, Timing::ns_per_record);
        let mut row = vec![rounds.measure.title().to_owned(), thousands(ours.median)];
        if !rounds.peer.is_empty() {
            let ratio = rounds.ratio(Timing::ns_per_record);
            row.push(thousands(Series::by(&rounds.peer, Timing::ns_per_record).median));
            row.push(format!("{:.2}", ratio.median));
            row.push(format!("{:.2} to {:.2}", ratio.min, ratio.max));
            row.push(format!("{:.2}", rounds.ratio(Timing::wall_ns_per_record).median));
            if let Some(aim) = rounds.measure.aim() {
                row.push(format!("{aim:.0} or more"));
                row.push(if ratio.median >= aim { "yes" } else { "no" }.to_owned());
            }
        }
        rows.push(row);
    }
    rows
}

fn verdict_text(verdicts: &[Compared<'_>]) -> String {
    let of = |agreement| verdicts.iter().filter(move |compared| compared.agreement == agreement);
    let mut text = format!(
        "\nverdicts   {} documents: the sides agree about {}, differ by design about {}, otherwise about {}\n",
        verdicts.len(),
        of(Agreement::Same).count(),
        of(Agreement::ByDesign).count(),
        of(Agreement::Unlisted).count()
    );
    for Compared { case, ours, peer, .. } in of(Agreement::ByDesign) {
        let reason = case.reason.as_deref().unwrap_or_default();
        text.push_str(&format!(
            "  by design: {}: ours {}, peer {}: {reason}\n",
            case.name,
            ours.0.name(),
            peer.0.name()
        ));
    }
    for Compared { case, ours, peer, .. } in of(Agreement::Unlisted) {
        text.push_str(&format!(
            "  UNLISTED: {}: ours {} (listed {}) {:?}, peer {} (listed {}) {:?}\n",
            case.name,
            ours.0.name(),
            case.ours.name(),
            ours.1,
            peer.0.name(),
            case.peer.name(),
            peer.1
        ));
    }
    text
}

fn run_line(run: &Run<'_>) -> Value {
    json!({
        "area": AREA.name,
        "kind": "run",
        "machine": {
            "processor": run.machine.processor, "cores": run.machine.cores, "kernel": run.machine.kernel,
        },
        "versions": {
            "rustc": run.machine.rustc, "node": run.versions.node, "@atproto/lexicon": run.versions.package,
        },
        "records": run.corpus.records.len(),
        "record_bytes": run.corpus.record_bytes().round() as u64,
        "rounds": run.options.rounds,
        "seconds": run.options.duration.as_secs(),
    })
}

fn measure_line(rounds: &Rounds) -> Value {
    let has_peer = !rounds.peer.is_empty();
    let ratio = has_peer.then(|| rounds.ratio(Timing::ns_per_record));
    let wall_ratio = has_peer.then(|| rounds.ratio(Timing::wall_ns_per_record));
    let peer = has_peer.then(|| side(&rounds.peer));
    let aim = rounds.measure.aim();
    json!({
        "area": AREA.name,
        "kind": "measure",
        "measure": rounds.measure.name(),
        "ours": side(&rounds.ours),
        "peer": peer,
        "peer_by_ours": ratio.map(|ratio| series(ratio, 3)),
        "peer_by_ours_wall": wall_ratio.map(|ratio| series(ratio, 3)),
        "aim": aim,
        "reached": ratio.zip(aim).map(|(ratio, aim)| ratio.median >= aim),
    })
}

fn verdict_line(compared: &Compared<'_>) -> Option<Value> {
    let Compared { case, ours, peer, agreement } = compared;
    let kind = match agreement {
        Agreement::Same => return None,
        Agreement::ByDesign => "by_design",
        Agreement::Unlisted => "unlisted",
    };
    Some(json!({
        "area": AREA.name,
        "kind": kind,
        "case": case.name,
        "ours": ours.0.name(),
        "peer": peer.0.name(),
        "ours_message": ours.1,
        "peer_message": peer.1,
        "reason": case.reason,
    }))
}
