//! The command line of `fuzz`, and what libFuzzer's lines tell.

use crate::command::UsageError;
use crate::fuzz::{Report, Request, table};

const CLEAN: &str = "\
INFO: Running with entropic power schedule (0xFF, 100).
#2\tINITED cov: 12 ft: 13 corp: 1/1b exec/s: 0 rss: 42Mb
#1024\tpulse  cov: 80 ft: 120 corp: 9/30b lim: 4 exec/s: 512 rss: 43Mb
artifact_prefix='artifacts/json/'; Test unit written to artifacts/json/slow-unit-00ff
#20570\tDONE   cov: 91 ft: 140 corp: 12/50b lim: 4096 exec/s: 10285 rss: 44Mb
Done 20570 runs in 2 second(s)
stat::number_of_executed_units: 20570
stat::average_exec_per_sec:     10285
stat::new_units_added:          11
";

const CRASHED: &str = "\
#3\tNEW    cov: 15 ft: 16 corp: 2/4b
==7== ERROR: libFuzzer: deadly signal
artifact_prefix='artifacts/wire/'; Test unit written to artifacts/wire/crash-da39a3ee
stat::number_of_executed_units: 4
";

fn report(target: &str, output: &str, succeeded: bool) -> Report {
    let mut report = Report::new(target);
    output.lines().for_each(|line| report.read_line(line));
    report.succeeded = succeeded;
    report
}

fn request(args: &[&str]) -> anyhow::Result<Request> {
    let args: Vec<String> = args.iter().map(ToString::to_string).collect();
    Request::parse(&args)
}

#[test]
fn figures_are_read() {
    let clean = report("json", CLEAN, true);
    assert_eq!((clean.executions, clean.executions_per_second), (Some(20570), Some(10285)));
    assert_eq!((clean.coverage, clean.is_clean()), (Some(91), true));
    let crashed = report("wire", CRASHED, false);
    assert_eq!(crashed.crashes, ["artifacts/wire/crash-da39a3ee"]);
    assert!(!crashed.is_clean());
}

#[test]
fn a_crash_counts_even_if_the_program_ends_well() {
    assert!(!report("wire", CRASHED, true).is_clean());
    assert!(!report("broken-build", "", false).is_clean());
}

#[test]
fn the_table_shows_every_target() {
    let reports = [report("json", CLEAN, true), report("wire", CRASHED, false), report("x", "", false)];
    assert_eq!(
        table(&reports),
        "\
target   executions   exec/s coverage crashes  result
json          20570    10285       91       0  clean
wire              4        -       15       1  crashed
x                 -        -        -       0  failed

wire is broken by artifacts/wire/crash-da39a3ee
hint: cargo +nightly fuzz run wire artifacts/wire/crash-da39a3ee
"
    );
}

#[test]
fn the_command_line_is_read() {
    assert_eq!(request(&[]).unwrap(), Request { target: None, seconds: 600 });
    let wanted = Request { target: Some("json".to_owned()), seconds: 5 };
    assert_eq!(request(&["json", "--seconds", "5"]).unwrap(), wanted);
    assert_eq!(request(&["--seconds", "5", "json"]).unwrap(), wanted);
    for wrong in [&["a", "b"][..], &["--seconds"], &["--seconds", "0"], &["--seconds", "x"], &["--fast"]] {
        assert!(request(wrong).unwrap_err().is::<UsageError>(), "{wrong:?}");
    }
}
