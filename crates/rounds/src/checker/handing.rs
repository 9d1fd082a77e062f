//! Promises about handing out: what comes, how often, in which order.

use std::collections::{BTreeMap, HashMap};

use super::{Promise, Violation, broken};
use crate::history::{Event, Guarantee, Handing, Moment, Record, Sighting};

/// Only what was sent comes, as it was sent, to whom it was sent.
pub(super) fn genuine(record: &Record, violations: &mut Vec<Violation>) {
    let mut sending: HashMap<&str, Moment> = HashMap::new();
    for (moment, event) in record.events.iter().enumerate() {
        if let Event::Sending { name } = event {
            sending.entry(name).or_insert(moment);
        }
    }
    for (moment, sighting) in record.sightings() {
        let Sighting { name, agent, id, .. } = sighting;
        let is_sent = sending.get(name.as_str()).is_some_and(|sent| *sent < moment);
        match record.letters.get(name).filter(|_| is_sent) {
            None => broken(violations, Promise::Genuine, format!("{agent} got {name} ({id}), never sent")),
            Some(letter) => {
                if letter.to != *agent && letter.fallback.as_ref() != Some(agent) {
                    let what = format!("{agent} got {name}, which is for {}", letter.to);
                    broken(violations, Promise::Genuine, what);
                }
                if !sighting.is_whole {
                    broken(violations, Promise::Genuine, format!("{agent} got {name}, but changed"));
                }
            }
        }
    }
    for event in &record.events {
        if let Event::Refused { name, code } = event
            && record.sightings().any(|(_, sighting)| sighting.name == *name)
        {
            broken(violations, Promise::Genuine, format!("{name} was refused ({code}) and came"));
        }
    }
}

/// At most once is once; at least once is flagged when it comes again.
pub(super) fn repeated(record: &Record, violations: &mut Vec<Violation>) {
    let mut by_place: BTreeMap<(&str, &str), Vec<(Moment, &Sighting)>> = BTreeMap::new();
    for (moment, sighting) in record.sightings() {
        // Whoever looks may look again.
        if sighting.handing != Handing::Shown {
            by_place.entry((&sighting.name, &sighting.agent)).or_default().push((moment, sighting));
        }
    }
    for ((name, agent), seen) in by_place {
        let once = record.letters.get(name).is_some_and(|letter| letter.guarantee == Guarantee::AtMostOnce);
        if once && seen.len() > 1 {
            let what = format!("{agent} got {name} {} times", seen.len());
            broken(violations, Promise::AtMostOnce, what);
        }
        flagged((name, agent), &seen, violations);
    }
}

/// Who is told the how manieth time something comes is told right.
fn flagged((name, agent): (&str, &str), seen: &[(Moment, &Sighting)], violations: &mut Vec<Violation>) {
    let told = seen.iter().filter_map(|(moment, sighting)| match sighting.handing {
        Handing::Attempt(attempt) => Some((*moment, sighting.asked, attempt)),
        Handing::Plain | Handing::Shown => None,
    });
    let told: Vec<(Moment, Moment, u64)> = told.collect();
    for (index, (moment, _, attempt)) in told.iter().enumerate() {
        if *attempt == 0 {
            broken(violations, Promise::Flagged, format!("{agent} got {name} with attempt 0"));
        }
        for (_, asked, later) in &told[index + 1..] {
            // Two that were under way at once may be noted in either order.
            let is_after = asked > moment;
            if later == attempt || (is_after && later < attempt) {
                let what =
                    format!("{agent} got {name} with attempt {attempt} and again with attempt {later}");
                broken(violations, Promise::Flagged, what);
            }
        }
    }
}

/// A letter in its lane: when it came, when it was asked for, its number, its name.
type Step<'r> = (Moment, Moment, u64, &'r str);

/// Within a task nothing comes after something that was sent later.
pub(super) fn ordered(record: &Record, violations: &mut Vec<Violation>) {
    let mut lanes: BTreeMap<(&str, &str), Vec<Step<'_>>> = BTreeMap::new();
    for (moment, sighting) in record.sightings() {
        let Some(letter) = record.letters.get(&sighting.name) else { continue };
        // What moved to a fallback entered there at the tail, whenever that was; and an inbox that is looked at is not
        // in the order of tasks.
        if let Some((task, number)) = &letter.task
            && letter.to == sighting.agent
            && sighting.handing != Handing::Shown
        {
            let lane = lanes.entry((&sighting.agent, task)).or_default();
            lane.push((moment, sighting.asked, *number, &sighting.name));
        }
    }
    for ((agent, task), lane) in lanes {
        // The largest number that had certainly come before a moment: moments grow along the lane.
        let mut top: Vec<(Moment, u64, &str)> = Vec::new();
        for (moment, asked, number, name) in lane {
            let before = top.partition_point(|(came, _, _)| *came < asked);
            if let Some((_, largest, other)) = before.checked_sub(1).and_then(|index| top.get(index))
                && *largest > number
            {
                let what = format!("{agent} got {name} about {task} after {other}");
                broken(violations, Promise::Ordered, what);
            }
            let largest = match top.last() {
                Some((_, largest, other)) if *largest > number => (*largest, *other),
                Some(_) | None => (number, name),
            };
            top.push((moment, largest.0, largest.1));
        }
    }
}

/// What was acknowledged does not come again.
pub(super) fn settled(record: &Record, violations: &mut Vec<Violation>) {
    let places: HashMap<&str, (&str, &str)> = record
        .sightings()
        .map(|(_, sighting)| (sighting.delivery.as_str(), (sighting.name.as_str(), sighting.agent.as_str())))
        .collect();
    let mut settled: HashMap<(&str, &str), Moment> = HashMap::new();
    for (moment, event) in record.events.iter().enumerate() {
        if let Event::Acked { delivery } = event
            && let Some(place) = places.get(delivery.as_str())
        {
            settled.entry(*place).or_insert(moment);
        }
    }
    for (_, sighting) in record.sightings() {
        let acked = settled.get(&(sighting.name.as_str(), sighting.agent.as_str()));
        if acked.is_some_and(|acked| sighting.asked > *acked) {
            let what = format!("{} got {} after it was acknowledged", sighting.agent, sighting.name);
            broken(violations, Promise::Settled, what);
        }
    }
}

/// Each who waits gets its own answer, which names its question.
pub(super) fn replies(record: &Record, violations: &mut Vec<Violation>) {
    for event in &record.events {
        if let Event::Answered { question, answer } = event
            && answer != &answer_to(question)
        {
            broken(violations, Promise::Replies, format!("{question} was answered with {answer:?}"));
        }
    }
}

/// Returns what the answer to a question says.
pub fn answer_to(question: &str) -> String {
    format!("the answer to {question}")
}
