//! `convoke log`: is what the bus wrote still what it wrote, what can be saved if not, and what need not be kept?

use std::io;
use std::path::PathBuf;

use client::TrimOptions;
use json::{Object, Value};
use log::{Damage, InspectError, Range, RealDisk, Report, Salvaged, Trimmed};

use crate::cli::TrimArgs;
use crate::data;
use crate::failure::{Answer, Failure};
use crate::output::{Form, Output};
use crate::remote::Remote;

/// The folder of the log in the data folder.
const LOG: &str = "log";

pub(crate) fn verify(given: Option<PathBuf>, form: Form) -> Result<Answer, Failure> {
    let (disk, folder) = open(given)?;
    let report = log::verify(&disk).map_err(|error| failure(&folder, &error))?;
    let mut output = Output::new();
    match form {
        Form::Json => output.line(report_value(&report))?,
        Form::Text => output.text(&report.to_string())?,
    }
    output.flush()?;
    if !report.is_whole() {
        eprintln!("hint: `convoke log salvage` sets the damaged part aside and goes on with the rest");
    }
    Ok(Answer::from_bool(report.is_whole()))
}

pub(crate) fn salvage(given: Option<PathBuf>, form: Form) -> Result<Answer, Failure> {
    let (disk, folder) = open(given)?;
    let salvaged = log::salvage(&disk).map_err(|error| failure(&folder, &error))?;
    let mut output = Output::new();
    match form {
        Form::Json => output.line(salvaged_value(&salvaged))?,
        Form::Text => output.text(&salvaged.to_string())?,
    }
    output.flush()?;
    Ok(Answer::Yes)
}

/// Lets a running bus give up what its log need not keep.
pub(crate) async fn trim(args: &TrimArgs) -> Result<Answer, Failure> {
    let remote = Remote::administer(&args.remote)?;
    let mut options = TrimOptions::default();
    (options.keep, options.keep_bytes, options.dry_run) = (args.keep, args.keep_bytes, args.dry_run);
    let trim = remote.client.trim_log(&options).await.map_err(|error| remote.failure(&error))?;
    let mut output = Output::new();
    match remote.form {
        Form::Json => output.line(&trim.json)?,
        Form::Text => {
            let done = if args.dry_run { "would be given up" } else { "given up" };
            output.line(format_args!(
                "{done}: {} segments with {} MiB, and {} documents carried forward; the log begins at {}",
                trim.segments,
                trim.bytes >> 20,
                trim.carried,
                trim.first
            ))?;
        }
    }
    output.flush()?;
    if let Some(because) = &trim.kept_because {
        eprintln!("hint: the rest stays because {because}");
    }
    Ok(Answer::Yes)
}

fn open(given: Option<PathBuf>) -> Result<(RealDisk, PathBuf), Failure> {
    let folder = data::folder(given)?.join(LOG);
    if !folder.is_dir() {
        let message = format!("there is no log in {}", folder.display());
        return Err(Failure::not_found(message).hint("name the data folder with --data DIR"));
    }
    let disk =
        RealDisk::new(&folder).map_err(|error| Failure::unreadable(&folder.display().to_string(), &error))?;
    Ok((disk, folder))
}

fn failure(folder: &std::path::Path, error: &InspectError) -> Failure {
    let place = folder.display();
    match error {
        InspectError::InUse => Failure::wrong_use(format!("{place}: {error}"))
            .hint("stop the bus first; this command reads the files beneath it"),
        InspectError::Version { .. } => {
            Failure::wrong_use(format!("{place}: {error}")).hint("use the version of convoke that wrote it")
        }
        InspectError::Hopeless(_) => Failure::wrong_use(format!("{place} {error}"))
            .hint("restore the folder from a backup; nothing was changed"),
        InspectError::Storage(source) => storage(&place.to_string(), source),
    }
}

fn storage(place: &str, error: &io::Error) -> Failure {
    Failure::unreadable(place, error).hint("check the folder's owner and the disk")
}

fn report_value(report: &Report) -> Value<'_> {
    let members: Object<'_> = [
        ("whole", Value::from(report.is_whole())),
        ("segments", Value::from(report.segments)),
        ("batches", Value::from(report.batches)),
        ("records", Value::from(report.records)),
        ("range", report.range.as_ref().map_or(Value::Null, range_value)),
        ("trimmed", report.trimmed.as_ref().map_or(Value::Null, trimmed_value)),
        ("chain", Value::from(report.chain.as_str())),
        ("snapshots", Value::Array(report.snapshots.iter().map(|at| Value::from(at.0)).collect())),
        ("gaps", Value::Array(report.gaps.iter().map(range_value).collect())),
        ("torn", report.torn.as_ref().map_or(Value::Null, damage_value)),
        ("damages", Value::Array(report.damages.iter().map(damage_value).collect())),
    ]
    .into_iter()
    .collect();
    Value::Object(members)
}

fn trimmed_value(trimmed: &Trimmed) -> Value<'_> {
    let mut members: Object<'_> = Object::new();
    members.insert("first", trimmed.range.first.0);
    members.insert("last", trimmed.range.last.0);
    members.insert("chain", trimmed.chain.as_str());
    Value::Object(members)
}

fn salvaged_value(salvaged: &Salvaged) -> Value<'_> {
    let set_aside = salvaged.set_aside.iter().map(|file| Value::from(file.as_str())).collect();
    let members: Object<'_> = [
        ("damages", Value::Array(salvaged.damages.iter().map(damage_value).collect())),
        ("set_aside", Value::Array(set_aside)),
        ("missing", Value::Array(salvaged.missing.iter().map(range_value).collect())),
        ("end_unknown", Value::from(salvaged.end_unknown)),
    ]
    .into_iter()
    .collect();
    Value::Object(members)
}

fn range_value(range: &Range) -> Value<'static> {
    let members: Object<'static> =
        [("first", Value::from(range.first.0)), ("last", Value::from(range.last.0))].into_iter().collect();
    Value::Object(members)
}

fn damage_value(damage: &Damage) -> Value<'_> {
    let members: Object<'_> = [
        ("file", Value::from(damage.file.as_str())),
        ("offset", Value::from(damage.offset)),
        ("what", Value::from(damage.what.as_str())),
    ]
    .into_iter()
    .collect();
    Value::Object(members)
}
