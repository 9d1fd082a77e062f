//! Who gets over a plain socket: a document a frame, settled by the pong; now and then it vanishes with what it has.

use std::io;

use super::{Opening, World, name_in, text_of};
use crate::history::{Event, Handing, Sighting};
use crate::random::Dice;
use crate::socket::{Came, Socket};

/// Runs an agent whose socket is at a path.
pub(super) fn run(world: &World, agent: &str, path: &str, mut dice: Dice) {
    let mut count = 0;
    world.with_each_server(|opening| {
        loop {
            listen(world, (agent, path), opening, &mut count, &mut dice)?;
        }
    });
}

/// Listens until it feels like vanishing.
fn listen(
    world: &World,
    (agent, path): (&str, &str),
    opening: &Opening,
    count: &mut u64,
    dice: &mut Dice,
) -> io::Result<()> {
    let mut socket = Socket::at(&opening.address, path, world.token(agent))?;
    loop {
        let Came::Text(text) = socket.hear()? else {
            return Err(io::ErrorKind::ConnectionAborted.into());
        };
        let Some(name) = name_in(&text) else { continue };
        *count += 1;
        let delivery = format!("{agent}-plain-{count}");
        let asked = world.history.now();
        world.history.note(Event::Delivered(Sighting {
            delivery: delivery.clone(),
            id: String::new(),
            name: name.to_owned(),
            agent: agent.to_owned(),
            handing: Handing::Plain,
            asked,
            is_whole: text.contains(&text_of(name)),
        }));
        // The ping that comes behind it is answered only by one who listens on.
        if dice.percent(3) {
            return Ok(());
        }
        world.history.note(Event::Acking { delivery });
    }
}
