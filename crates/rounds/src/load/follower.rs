//! Who follows what is written to a repo, and goes on where it was when the server comes back.

use std::io;
use std::sync::{Mutex, PoisonError};

use json::Value;

use super::{RECORDER, World, name_in};
use crate::history::Event;
use crate::socket::{Came, Socket, read};

/// The last thing that was seen; whoever comes back may be shown it once more.
#[derive(Debug, Default)]
pub(crate) struct Bookmark {
    last: Mutex<(i64, String)>,
}

pub(super) fn run(world: &World) {
    world.with_each_server(|opening| follow(world, &opening.address, None));
}

/// Follows from the bookmark on until a letter of a name comes, or for ever.
pub(crate) fn follow(world: &World, address: &str, until: Option<&str>) -> io::Result<()> {
    // A cursor before everything is the beginning.
    let cursor = world.bookmark.last.lock().unwrap_or_else(PoisonError::into_inner).0.max(1);
    let path = format!("/subscribe?wantedCollections=agent.comms.*&cursor={cursor}");
    let mut socket = Socket::at(address, &path, world.token(RECORDER))?;
    loop {
        let Came::Text(text) = socket.hear()? else {
            return Err(io::ErrorKind::ConnectionAborted.into());
        };
        let Some(frame) = read(&text) else { continue };
        let Some(name) = name_in(&text) else { continue };
        let time = frame.get("time_us").and_then(Value::as_integer).unwrap_or(0);
        if until == Some(name) {
            return Ok(());
        }
        let seen = (time, name.to_owned());
        let mut last = world.bookmark.last.lock().unwrap_or_else(PoisonError::into_inner);
        if *last != seen {
            *last = seen;
            drop(last);
            world.history.note(Event::Followed { name: name.to_owned() });
        }
    }
}
