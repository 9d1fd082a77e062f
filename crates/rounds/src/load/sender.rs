//! Who sends over HTTP, one letter after the other, and repeats what was not answered.

use std::collections::HashMap;
use std::io;

use super::door::{Door, Request};
use super::{World, write_letter};
use crate::history::{Event, Letter};
use crate::http::Line;
use crate::random::Dice;

pub(super) fn run(world: &World, agent: &str, door: Door, mut dice: Dice) {
    let (mut count, mut numbers) = (0, HashMap::new());
    let mut unanswered: Option<(Letter, Request)> = None;
    world.send_to_each_server(|opening| {
        let mut line = Line::connect(&opening.address)?;
        // Some never hear what came of their letter, and do not ask.
        if dice.percent(20) {
            unanswered = None;
        }
        for _ in 0..world.load.letters_max {
            let is_again = unanswered.is_some();
            let (letter, request) = unanswered.take().unwrap_or_else(|| {
                count += 1;
                let letter = write_letter(world, (agent, door), count, &mut numbers, &mut dice);
                world.history.letter(letter.clone());
                let request = door.write(&letter, count, &mut dice);
                (letter, request)
            });
            world.history.note(Event::Sending { name: letter.name.clone() });
            let path = if is_again { request.path_again } else { request.path };
            let body = request.body.as_bytes();
            let sent = line.call_with("POST", path, world.token(agent), &request.headers, body);
            match sent {
                Ok(answer) if answer.status == 201 || answer.status == 200 => {
                    let id = door.id_in(&answer);
                    world.history.note(Event::Accepted { name: letter.name, id });
                }
                // A bus that stops, or is full, may take it later.
                Ok(answer) if answer.status == 503 || answer.status == 429 => {
                    unanswered = Some((letter, request));
                    return Ok(());
                }
                Ok(answer) => {
                    world.history.note(Event::Refused { name: letter.name, code: answer.to_string() });
                }
                Err(error) => {
                    unanswered = Some((letter, request));
                    return Err(error);
                }
            }
        }
        io::Result::Ok(())
    });
}
