//! Who gets over a socket, with credit; now and then it vanishes with what it has.

use std::collections::{HashMap, VecDeque};
use std::io;

use json::Value;

use super::{Deed, LEASE, Opening, World, deed};
use crate::history::{Event, Moment};
use crate::random::Dice;
use crate::socket::{Came, Socket, read};

const CREDIT: usize = 8;

pub(super) fn run(world: &World, agent: &str, mut dice: Dice) {
    world.with_each_server(|opening| {
        loop {
            listen(world, agent, opening, &mut dice)?;
        }
    });
}

/// What a socket has asked for and not got yet.
struct Open {
    socket: Socket,
    /// When each credit was given.
    credits: VecDeque<Moment>,
    acks: HashMap<i64, String>,
    last_ref: i64,
}

/// Listens until it feels like vanishing.
fn listen(world: &World, agent: &str, opening: &Opening, dice: &mut Dice) -> io::Result<()> {
    let query = format!("?dialect=convoke&receipts=brief&lease={LEASE}");
    let socket = Socket::open(&opening.address, agent, world.token(agent), &query)?;
    let mut open = Open { socket, credits: VecDeque::new(), acks: HashMap::new(), last_ref: 0 };
    open.credits.extend([world.history.now(); CREDIT]);
    open.socket.send(&format!(r#"{{"op":"credit","n":{CREDIT}}}"#))?;
    loop {
        let Came::Text(text) = open.socket.hear()? else {
            return Err(io::ErrorKind::ConnectionAborted.into());
        };
        let Some(frame) = read(&text) else { continue };
        match frame.get("op").and_then(Value::as_str) {
            Some("deliver") => {
                if !delivered(world, agent, &frame, &mut open, dice)? {
                    return Ok(());
                }
            }
            Some("done") => {
                let reference = frame.get("ref").and_then(Value::as_integer).unwrap_or(0);
                if let Some(delivery) = open.acks.remove(&reference) {
                    world.history.note(Event::Acked { delivery });
                }
            }
            Some(_) | None => {}
        }
    }
}

/// Does something with a delivery; `false` when the socket is to vanish.
fn delivered(
    world: &World,
    agent: &str,
    frame: &Value<'_>,
    open: &mut Open,
    dice: &mut Dice,
) -> io::Result<bool> {
    let asked = open.credits.pop_front().unwrap_or(0);
    drop(world.sight(agent, frame, asked));
    let delivery = frame.get("delivery").and_then(Value::as_str).unwrap_or_default().to_owned();
    match deed(dice) {
        Deed::Ack => {
            open.last_ref += 1;
            let reference = open.last_ref;
            world.history.note(Event::Acking { delivery: delivery.clone() });
            open.socket.send(&format!(r#"{{"op":"ack","ref":{reference},"delivery":"{delivery}"}}"#))?;
            open.acks.insert(reference, delivery);
        }
        Deed::Nack => {
            open.socket.send(&format!(r#"{{"op":"nack","delivery":"{delivery}","delay":"10ms"}}"#))?;
            world.history.note(Event::Nacking { delivery });
        }
        Deed::NackForever => {
            open.socket.send(&format!(r#"{{"op":"nack","delivery":"{delivery}","retryable":false}}"#))?;
            world.history.note(Event::Nacking { delivery });
        }
        Deed::Forget if dice.percent(40) => return Ok(false),
        Deed::Forget => {}
    }
    open.credits.push_back(world.history.now());
    open.socket.send(r#"{"op":"credit","n":1}"#)?;
    Ok(true)
}
