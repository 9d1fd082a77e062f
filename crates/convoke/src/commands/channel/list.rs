//! `convoke channel list`: channels of the bus or of a root, and files that were not taken in.

use channel_root::Root;
use json::{Object, Value};

use super::failure;
use crate::cli::remote::{RemoteArgs, SpeakerArgs};
use crate::failure::{Answer, Failure};
use crate::output::{Form, Output};
use crate::remote::Remote;
use crate::screen;
use crate::table::Table;

/// Lists the channels of the bus.
pub(super) async fn of_bus(args: &RemoteArgs, speaker: &SpeakerArgs) -> Result<Answer, Failure> {
    let remote = Remote::look(args, speaker)?;
    let channels = remote.client.channels().await.map_err(|error| remote.failure(&error))?;
    let mut output = Output::new();
    match remote.form {
        Form::Json => {
            for channel in &channels {
                output.line(&channel.json)?;
            }
        }
        Form::Text if channels.is_empty() => eprintln!("there is no channel yet"),
        Form::Text => {
            let mut table = Table::new(&["channel", "files", "members", "folders"]);
            for channel in &channels {
                let folders = screen::line(&channel.folders.join(" "));
                let members = channel.members.join(" ");
                table.row([channel.channel.clone(), channel.files.to_string(), members, folders]);
            }
            table.print(&mut output)?;
        }
    }
    output.flush()?;
    Ok(Answer::Yes)
}

/// Lists the files that were not taken in, or are odd.
pub(super) async fn problems(args: &RemoteArgs) -> Result<Answer, Failure> {
    let remote = Remote::administer(args)?;
    let problems = remote.client.channel_problems().await.map_err(|error| remote.failure(&error))?;
    let mut output = Output::new();
    match remote.form {
        Form::Json => {
            for problem in &problems {
                output.line(&problem.json)?;
            }
        }
        Form::Text if problems.is_empty() => eprintln!("every file was taken in, and none is odd"),
        Form::Text => {
            for problem in &problems {
                let place = screen::line(&format!("{}/{}", problem.channel, problem.file));
                output.line(format_args!("{}  {place}  [{}]", problem.severity, problem.code))?;
                output.line(format_args!("  | {}", screen::line(&problem.detail)))?;
            }
        }
    }
    output.flush()?;
    Ok(Answer::Yes)
}

/// Lists the channels of a root.
pub(super) fn of_root(root: &Root, form: Form) -> Result<Answer, Failure> {
    let channels = root.channels().map_err(|error| failure(&error))?;
    let mut output = Output::new();
    let mut table = Table::new(&["channel", "files", "newest"]);
    for channel in &channels {
        let names = root.messages(channel).map_err(|error| failure(&error))?;
        let newest = names.last().map(|name| name.trim_end_matches(".json").to_owned());
        match form {
            Form::Json => {
                let members = [
                    ("channel", Value::from(channel.as_str())),
                    ("files", Value::from(names.len() as u64)),
                    ("newest", newest.map_or(Value::Null, Value::from)),
                ];
                output.line(Value::Object(Object::from_iter(members)).to_json())?;
            }
            Form::Text => {
                let newest = screen::line(&newest.unwrap_or_default());
                table.row([screen::line(channel), names.len().to_string(), newest]);
            }
        }
    }
    match form {
        Form::Text if channels.is_empty() => eprintln!("there is no channel yet"),
        Form::Text => table.print(&mut output)?,
        Form::Json => {}
    }
    output.flush()?;
    Ok(Answer::Yes)
}
