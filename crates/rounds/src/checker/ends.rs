//! Promises about how it ends: nothing is lost, every end is explained, senders are told, receipts agree.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::{Promise, Violation, broken};
use crate::history::{Ending, Event, Guarantee, Handing, Letter, Recipient, Record};

/// One letter has one id.
pub(super) fn idempotent(record: &Record, violations: &mut Vec<Violation>) {
    let mut names: HashMap<&str, &str> = HashMap::new();
    for (name, ids) in record.ids() {
        if ids.len() > 1 {
            broken(violations, Promise::Idempotent, format!("{name} has the ids {ids:?}"));
        }
        for id in ids {
            if let Some(other) = names.insert(id, name)
                && other != name
            {
                broken(violations, Promise::Idempotent, format!("{name} and {other} are both {id}"));
            }
        }
    }
}

/// What the sender has a receipt for is known to the bus.
pub(super) fn durable(record: &Record, violations: &mut Vec<Violation>) {
    for event in &record.events {
        if let Event::Accepted { name, id } = event {
            let is_known = record.endings.get(id).is_some_and(|ending| ending.recipients.is_some());
            if !is_known {
                broken(violations, Promise::Durable, format!("{name} was accepted as {id} and is not there"));
            }
        }
    }
}

/// Every message ended in a way that is promised for it, and the receipt agrees with what its recipients saw.
pub(super) fn accounted(record: &Record, violations: &mut Vec<Violation>) {
    let saw = Saw::new(record);
    for (name, ids) in record.ids() {
        let Some(letter) = record.letters.get(name) else { continue };
        for id in ids {
            let Some(ending) = record.endings.get(id) else { continue };
            for recipient in ending.recipients.iter().flatten() {
                one_end(letter, ending, recipient, &saw, violations);
            }
            let has_recipient = ending.recipients.as_ref().is_none_or(|recipients| !recipients.is_empty());
            if !has_recipient {
                broken(violations, Promise::Accounted, format!("{name} has no recipient"));
            }
        }
    }
}

/// Who sent what died has a notice of it.
pub(super) fn told(record: &Record, violations: &mut Vec<Violation>) {
    let mut notices: HashSet<(&str, &str)> = HashSet::new();
    for event in &record.events {
        if let Event::Noticed { agent, id } = event {
            notices.insert((agent, id));
        }
    }
    for (name, ids) in record.ids() {
        let Some(letter) = record.letters.get(name) else { continue };
        // An answer that comes too late is filed; whoever gave it sees that in the receipt.
        if letter.guarantee == Guarantee::AtMostOnce || letter.is_awaited {
            continue;
        }
        for id in ids {
            let has_died = record.endings.get(id).is_some_and(|ending| {
                ending.recipients.iter().flatten().any(|recipient| is_death(&recipient.stage))
            });
            if has_died && !notices.contains(&(letter.from.as_str(), id)) {
                let what = format!("{} was not told that {name} ({id}) died", letter.from);
                broken(violations, Promise::Told, what);
            }
        }
    }
}

/// Who follows a repo sees every record once, in the order in which they were written.
pub(super) fn followed(record: &Record, violations: &mut Vec<Violation>) {
    let (mut written, mut seen): (HashMap<&str, usize>, HashSet<&str>) = (HashMap::new(), HashSet::new());
    let mut latest = None;
    for event in &record.events {
        match event {
            // A sender writes one after the other, so the order of first tries is that of the records.
            Event::Sending { name } => {
                let place = written.len();
                written.entry(name).or_insert(place);
            }
            Event::Followed { name } => {
                let Some(place) = written.get(name.as_str()).copied() else {
                    broken(violations, Promise::Followed, format!("{name} was followed and never written"));
                    continue;
                };
                if !seen.insert(name) {
                    broken(violations, Promise::Followed, format!("{name} was followed twice"));
                } else if latest > Some(place) {
                    broken(violations, Promise::Followed, format!("{name} was followed too late"));
                }
                latest = latest.max(Some(place));
            }
            Event::Accepted { .. }
            | Event::Refused { .. }
            | Event::Delivered(_)
            | Event::Acking { .. }
            | Event::Acked { .. }
            | Event::Nacking { .. }
            | Event::Answered { .. }
            | Event::Noticed { .. } => {}
        }
    }
    for event in &record.events {
        if let Event::Accepted { name, .. } = event
            && record.letters.get(name).is_some_and(|letter| letter.is_record)
            && !seen.contains(name.as_str())
        {
            broken(violations, Promise::Followed, format!("{name} was written and nobody was told"));
        }
    }
}

/// What recipients saw and did, by letter and agent.
struct Saw<'r> {
    times: HashMap<(&'r str, &'r str), u64>,
    acking: HashSet<(&'r str, &'r str)>,
    acked: HashSet<(&'r str, &'r str)>,
    answered: BTreeSet<&'r str>,
}

impl<'r> Saw<'r> {
    fn new(record: &'r Record) -> Self {
        let mut saw = Saw {
            times: HashMap::new(),
            acking: HashSet::new(),
            acked: HashSet::new(),
            answered: BTreeSet::new(),
        };
        let mut places: HashMap<&str, (&str, &str)> = HashMap::new();
        for (_, sighting) in record.sightings() {
            let place = (sighting.name.as_str(), sighting.agent.as_str());
            places.insert(&sighting.delivery, place);
            if sighting.handing != Handing::Shown {
                *saw.times.entry(place).or_default() += 1;
            }
        }
        for event in &record.events {
            match event {
                Event::Acking { delivery } => saw.acking.extend(places.get(delivery.as_str())),
                Event::Acked { delivery } => saw.acked.extend(places.get(delivery.as_str())),
                Event::Answered { question, .. } => saw.answered.extend([question.as_str()]),
                Event::Sending { .. }
                | Event::Accepted { .. }
                | Event::Refused { .. }
                | Event::Delivered(_)
                | Event::Nacking { .. }
                | Event::Noticed { .. }
                | Event::Followed { .. } => {}
            }
        }
        saw
    }
}

fn one_end(
    letter: &Letter,
    ending: &Ending,
    recipient: &Recipient,
    saw: &Saw<'_>,
    violations: &mut Vec<Violation>,
) {
    let Letter { name, guarantee, .. } = letter;
    let Recipient { agent, stage, attempts, stages } = recipient;
    let place = (name.as_str(), agent.as_str());
    let seen = saw.times.get(&place).copied().unwrap_or(0);
    let once = *guarantee == Guarantee::AtMostOnce;
    let mut say = |promise, what: String| {
        broken(
            violations,
            promise,
            format!("{name} to {agent} ended as {stage}, {what}; its stages: {stages}"),
        );
    };
    let is_done = matches!(stage.as_str(), "acknowledged" | "answered");
    if saw.acked.contains(&place) && !is_done {
        say(Promise::Receipts, "though it was acknowledged".to_owned());
    }
    if saw.answered.contains(name.as_str()) && stage != "answered" {
        say(Promise::Receipts, "though it was answered".to_owned());
    }
    if seen > *attempts {
        say(Promise::Receipts, format!("handed out {attempts} times, and came {seen} times"));
    }
    match stage.as_str() {
        "acknowledged" if !saw.acking.contains(&place) && !letter.is_awaited => {
            say(Promise::Receipts, "and nobody acknowledged it".to_owned());
        }
        "acknowledged" | "answered" | "withdrawn" => {}
        "unconfirmed" if once => {}
        "unconfirmed" => say(Promise::AtLeastOnce, "given up though it must arrive".to_owned()),
        "expired" if letter.may_expire => {}
        "expired" => say(Promise::Accounted, "though its time was not over".to_owned()),
        "dead" if once || ending.is_dead_letter => {}
        "dead" => say(Promise::Accounted, "and is not among the dead letters".to_owned()),
        "accepted" | "stored" | "dispatched" | "surfaced" if ending.waits => {}
        _ => say(Promise::Accounted, "and waits nowhere".to_owned()),
    }
}

fn is_death(stage: &str) -> bool {
    matches!(stage, "dead" | "expired")
}
