//! Parts that every report has: which clock, how quiet it was, figures as JSON.

use serde_json::{Value, json};

use crate::figures::{Series, Timing};

/// Names the time that the figures are made of.
pub(crate) fn clock<'t>(mut timings: impl Iterator<Item = &'t Timing>) -> &'static str {
    if timings.all(|timing| timing.processor.is_some()) { "processor" } else { "wall" }
}

/// Says how much of the time the sides had a processor, when that was not all of it.
pub(crate) fn noise<'t>(timings: impl Iterator<Item = &'t Timing> + Clone) -> String {
    let noisy = timings.clone().filter(|timing| !timing.is_quiet()).count();
    if noisy == 0 {
        return "quiet      every measure held its processor nearly all the time\n".to_owned();
    }
    let least = timings.clone().map(Timing::share).fold(1.0, f64::min);
    format!(
        "noisy      {noisy} of {} measures shared their processor; the worst had it {:.0} % of the time\n\
         hint: repeat the run when nothing else works on this machine\n",
        timings.count(),
        least * 100.0
    )
}

/// One side of a measure.
pub(crate) fn side(timings: &[Timing]) -> Value {
    json!({
        "ns_per_record": series(Series::by(timings, Timing::ns_per_record), 1),
        "wall_ns_per_record": series(Series::by(timings, Timing::wall_ns_per_record), 1),
        "processor_share_min": rounded(timings.iter().map(Timing::share).fold(1.0, f64::min), 3),
    })
}

/// A figure of several rounds.
pub(crate) fn series(series: Series, digits: i32) -> Value {
    json!({
        "median": rounded(series.median, digits),
        "min": rounded(series.min, digits),
        "max": rounded(series.max, digits),
    })
}

fn rounded(figure: f64, digits: i32) -> f64 {
    let unit = 10_f64.powi(digits);
    (figure * unit).round() / unit
}
