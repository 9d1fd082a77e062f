//! Who sends over HTTP, one letter after the other, and repeats what was not answered.

use std::collections::HashMap;
use std::io;

use super::{World, document, write_letter};
use crate::history::{Event, Letter};
use crate::http::Line;
use crate::random::Dice;

pub(super) fn run(world: &World, agent: &str, mut dice: Dice) {
    let (mut count, mut numbers) = (0, HashMap::new());
    let mut unanswered: Option<(Letter, String)> = None;
    world.with_each_server(|opening| {
        let mut line = Line::connect(&opening.address)?;
        // Some never hear what came of their letter, and do not ask.
        if dice.percent(20) {
            unanswered = None;
        }
        for _ in 0..world.letters_max {
            let (letter, document) = unanswered.take().unwrap_or_else(|| {
                count += 1;
                let letter = write_letter(agent, count, &mut numbers, &mut dice);
                world.history.letter(letter.clone());
                let document = document(&letter, &mut dice);
                (letter, document)
            });
            world.history.note(Event::Sending { name: letter.name.clone() });
            let sent = line.call("POST", "/v1/messages", world.token(agent), &document);
            match sent {
                Ok(answer) if answer.status == 201 || answer.status == 200 => {
                    let id = answer.text("id").unwrap_or_default();
                    world.history.note(Event::Accepted { name: letter.name, id });
                }
                // A bus that stops, or is full, may take it later.
                Ok(answer) if answer.status == 503 || answer.status == 429 => {
                    unanswered = Some((letter, document));
                    return Ok(());
                }
                Ok(answer) => {
                    world.history.note(Event::Refused { name: letter.name, code: answer.to_string() });
                }
                Err(error) => {
                    unanswered = Some((letter, document));
                    return Err(error);
                }
            }
        }
        io::Result::Ok(())
    });
}
