//! Histories that nobody lived through.

use crate::checker::answer_to;
use crate::history::{Ending, Event, Guarantee, Handing, Letter, Recipient, Record, Sighting};

pub(super) struct Story {
    pub(super) record: Record,
}

impl Story {
    /// Three letters about a task, of which two were acknowledged; one that comes once; one that died; a question.
    pub(super) fn good() -> Self {
        let mut story = Story { record: Record::default() };
        for number in 1..=3 {
            story.sends(&format!("a-{number}"), Some(number));
        }
        story.sends("o-1", None);
        story.record.letters.get_mut("o-1").unwrap().guarantee = Guarantee::AtMostOnce;
        story.sends("d-1", None);
        story.sends("q-1", None);
        for name in ["a-1", "a-2", "o-1", "q-1"] {
            story.comes(name, "bob", 1);
            story.acks(name);
        }
        story.waits("a-3");
        story.ends("d-1", Some("dead"));
        story.ending("d-1").is_dead_letter = true;
        let (agent, id) = ("ann".to_owned(), "id-d-1".to_owned());
        story.record.events.push(Event::Noticed { agent, id });
        let answer = answer_to("q-1");
        story.record.events.push(Event::Answered { question: "q-1".to_owned(), answer });
        story.ends("q-1", Some("answered"));
        story.more_attempts("q-1", 1);
        story
    }

    /// Ann sends something to bob.
    pub(super) fn sends(&mut self, name: &str, number: Option<u64>) {
        let letter = Letter {
            name: name.to_owned(),
            from: "ann".to_owned(),
            to: "bob".to_owned(),
            fallback: None,
            task: number.map(|number| ("t-1".to_owned(), number)),
            guarantee: Guarantee::AtLeastOnce,
            may_expire: false,
            is_awaited: false,
            is_record: false,
        };
        self.record.letters.insert(name.to_owned(), letter);
        self.record.events.push(Event::Sending { name: name.to_owned() });
        self.record.events.push(Event::Accepted { name: name.to_owned(), id: format!("id-{name}") });
        self.record.endings.insert(format!("id-{name}"), Ending::default());
    }

    /// It comes to somebody, who asked for it just before.
    /// Makes a letter a record that somebody follows.
    pub(super) fn is_record(&mut self, name: &str) {
        self.record.letters.get_mut(name).unwrap().is_record = true;
    }

    pub(super) fn follows(&mut self, name: &str) {
        self.record.events.push(Event::Followed { name: name.to_owned() });
    }

    pub(super) fn comes(&mut self, name: &str, agent: &str, attempt: u64) {
        let asked = self.record.events.len();
        self.record.events.push(Event::Delivered(sighting(name, agent, attempt, asked)));
    }

    /// It comes to bob, who had asked for it before.
    pub(super) fn comes_asked(&mut self, name: &str, attempt: u64, asked: usize) {
        self.record.events.push(Event::Delivered(sighting(name, "bob", attempt, asked)));
        self.more_attempts(name, attempt);
    }

    pub(super) fn comes_changed(&mut self, name: &str) {
        let asked = self.record.events.len();
        let came = Sighting { is_whole: false, ..sighting(name, "bob", 1, asked) };
        self.record.events.push(Event::Delivered(came));
    }

    /// It still waits, after it was handed out once.
    pub(super) fn waits(&mut self, name: &str) {
        let ending = self.ending(name);
        ending.waits = true;
        ending.recipients = Some(vec![recipient("bob", "stored", 1)]);
    }

    /// The receipt says so; nothing says that nobody knows it.
    pub(super) fn ends(&mut self, name: &str, stage: Option<&str>) {
        let ending = self.ending(name);
        ending.waits = false;
        ending.is_dead_letter = false;
        ending.recipients = stage.map(|stage| vec![recipient("bob", stage, 1)]);
    }

    pub(super) fn more_attempts(&mut self, name: &str, attempts: u64) {
        for recipient in self.ending(name).recipients.iter_mut().flatten() {
            recipient.attempts = attempts;
        }
    }

    fn acks(&mut self, name: &str) {
        let delivery = format!("{name}-bob-1");
        self.record.events.push(Event::Acking { delivery: delivery.clone() });
        self.record.events.push(Event::Acked { delivery });
        self.ends(name, Some("acknowledged"));
    }

    fn ending(&mut self, name: &str) -> &mut Ending {
        self.record.endings.entry(format!("id-{name}")).or_default()
    }
}

pub(super) fn recipient(agent: &str, stage: &str, attempts: u64) -> Recipient {
    Recipient { agent: agent.to_owned(), stage: stage.to_owned(), attempts, stages: String::new() }
}

fn sighting(name: &str, agent: &str, attempt: u64, asked: usize) -> Sighting {
    Sighting {
        delivery: format!("{name}-{agent}-{attempt}"),
        id: format!("id-{name}"),
        name: name.to_owned(),
        agent: agent.to_owned(),
        handing: Handing::Attempt(attempt),
        asked,
        is_whole: true,
    }
}
