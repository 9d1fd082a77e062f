//! `convoke down`: stops the bus that runs on a data folder, and waits until it has.

use std::fs::OpenOptions;
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use json::{Object, Value};
use rustix::process::{Pid, Signal, kill_process};

use super::up::{Running, holder, lock_file};
use crate::cli::server::DownArgs;
use crate::data;
use crate::failure::{Answer, Failure};
use crate::output::{Form, Output};

/// How long a bus may take to stop before somebody must look.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) fn run(args: &DownArgs) -> Result<Answer, Failure> {
    let data = data::folder(args.data.clone())?;
    let place = data.display();
    let Some(pid) = holder(&data) else {
        return Err(Failure::not_found(format!("no bus runs on {place}")).hint("`convoke up` starts one"));
    };
    // A number alone proves nothing: the process must hold the folder, and be the one that said so.
    if Running::read(&data).is_none_or(|running| running.pid != pid) {
        let message = format!("process {pid} holds {place}, and it is not a bus that said it was ready");
        return Err(Failure::refused(message)
            .hint("it may be starting, or be another command on the log; wait for it"));
    }
    let process = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let process = process.ok_or_else(|| Failure::refused(format!("{pid} is not a process")))?;
    kill_process(process, Signal::TERM).map_err(|error| {
        Failure::refused(format!(
            "process {pid} cannot be stopped: {}",
            crate::failure::reason(&error.into())
        ))
        .hint("it belongs to somebody else")
    })?;
    wait_for_release(&data)?;
    let mut output = Output::new();
    match Form::from_flag(args.json) {
        Form::Text => output.line(format_args!("stopped process {pid}"))?,
        Form::Json => {
            let stopped: Object<'_> =
                [("event", Value::from("stopped")), ("pid", Value::from(u64::from(pid)))]
                    .into_iter()
                    .collect();
            output.line(Value::Object(stopped).to_json())?;
        }
    }
    output.flush()?;
    Ok(Answer::Yes)
}

/// Waits until nobody holds the folder: whoever waits for a lock is woken when it is free.
fn wait_for_release(data: &Path) -> Result<(), Failure> {
    let path = lock_file(data);
    let (tell, told) = sync_channel(1);
    thread::spawn(move || {
        let locked = OpenOptions::new().write(true).open(path).and_then(|file| file.lock());
        // Nobody listens any more when it took too long.
        drop(tell.send(locked));
    });
    match told.recv_timeout(PATIENCE) {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(Failure::unreadable(&lock_file(data).display().to_string(), &error)),
        Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
            Err(Failure::refused("the bus was told to stop and has not")
                .hint("look at its log; what was acknowledged is safe whatever ends it"))
        }
    }
}
