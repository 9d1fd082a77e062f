//! Who sends over a socket without waiting for receipts, and after a break sends again what has none, in order.

use std::collections::{HashMap, VecDeque};
use std::io;

use json::Value;

use super::door::Door;
use super::{World, document, write_letter};
use crate::history::{Event, Letter};
use crate::random::Dice;
use crate::socket::{Came, Socket, read};

/// Letters under way at once.
const WINDOW: usize = 16;

pub(super) fn run(world: &World, agent: &str, mut dice: Dice) {
    let (mut count, mut numbers) = (0, HashMap::new());
    let mut open: VecDeque<(u64, Letter, String)> = VecDeque::new();
    world.send_to_each_server(|opening| {
        let mut socket = Socket::open(&opening.address, agent, world.token(agent), "?receipts=brief")?;
        for (number, letter, document) in &open {
            send(world, &mut socket, *number, letter, document)?;
        }
        let mut left = world.load.letters_max;
        while left > 0 || !open.is_empty() {
            while left > 0 && open.len() < WINDOW {
                (left, count) = (left - 1, count + 1);
                let sender = (agent, Door::Native);
                let letter = write_letter(world, sender, count, &mut numbers, &mut dice);
                world.history.letter(letter.clone());
                let document = document(&letter, &mut dice);
                send(world, &mut socket, count, &letter, &document)?;
                open.push_back((count, letter, document));
            }
            match socket.hear()? {
                Came::Text(text) => hear(world, &text, &mut open),
                Came::Closed(_) => return Err(io::ErrorKind::ConnectionAborted.into()),
            }
        }
        Ok(())
    });
}

fn send(world: &World, socket: &mut Socket, number: u64, letter: &Letter, document: &str) -> io::Result<()> {
    world.history.note(Event::Sending { name: letter.name.clone() });
    socket.send(&format!(r#"{{"op":"send","ref":{number},"document":{document}}}"#))
}

fn hear(world: &World, text: &str, open: &mut VecDeque<(u64, Letter, String)>) {
    let Some(frame) = read(text) else { return };
    let reference = frame.get("ref").and_then(Value::as_integer);
    let Some(index) = open.iter().position(|(number, ..)| i64::try_from(*number).ok() == reference) else {
        return;
    };
    let word = |key| frame.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    match word("op").as_str() {
        "receipt" => {
            if let Some((_, letter, _)) = open.remove(index) {
                world.history.note(Event::Accepted { name: letter.name, id: word("id") });
            }
        }
        // What is refused for now stays open, and is sent again after the next break.
        "error" if matches!(word("code").as_str(), "stopped" | "queue_full" | "rate_limited") => {}
        "error" => {
            if let Some((_, letter, _)) = open.remove(index) {
                world.history.note(Event::Refused { name: letter.name, code: text.to_owned() });
            }
        }
        _ => {}
    }
}
