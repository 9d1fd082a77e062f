//! The area `engine`: it runs, what it says of itself is true, and an aim is read the right way round.

use std::path::Path;
use std::time::Duration;

use broker::Event;
use serde_json::json;

use crate::area::{Form, Length, Options, Outcome};
use crate::child;
use crate::engine::bus::Bus;
use crate::engine::load::{BODY_BYTES, Crowd, Tasks};
use crate::engine::{AREA, memory};
use crate::figures::Series;
use crate::findings::{Aim, Finding, Sheet};
use crate::scratch::file_system_of;

const CROWD: Crowd = Crowd { senders: 2, recipients: 8 };

#[test]
fn smoke() {
    for form in [Form::Text, Form::Json] {
        let options = Options { rounds: 1, duration: Duration::ZERO, form, only: None, length: Length::Full };
        assert_eq!((AREA.smoke)(&options).unwrap(), Outcome::Agreed);
    }
    for work in ["cycle-16", "cycle-1", "memory-distinct"] {
        (AREA.work)(work, 2).unwrap();
    }
    assert!((AREA.work)("nothing", 1).is_err());
    assert!((AREA.work)("restart=/nowhere/at/all", 1).is_err());
}

#[test]
fn a_cycle_leaves_nothing_behind_and_writes_three_events_a_message() {
    let mut bus = Bus::new(CROWD, Tasks::Half(4), &mut |_, _, _| {}).unwrap();
    bus.fill(40, &mut |_, _, _| {}).unwrap();
    let (mut events, mut bodies) = (0, 0);
    for _ in 0..10 {
        bus.cycle(4, &mut |_, _, event| {
            events += 1;
            if let Event::Accepted(accepted) = event {
                bodies += accepted.body.len();
            }
        })
        .unwrap();
    }
    assert_eq!((events, bodies), (3 * 40, 40 * BODY_BYTES));
    let counts = bus.broker.counts();
    assert_eq!((counts.messages, counts.handed_out, counts.known, counts.agents), (40, 0, 80, 2 + 8 + 3));
}

#[test]
fn aims_are_bounds() {
    assert!(Aim::AtLeast(0.8).is_reached(0.8) && !Aim::AtLeast(0.8).is_reached(0.79));
    assert!(Aim::AtMost(300.0).is_reached(300.0) && !Aim::AtMost(300.0).is_reached(300.1));
}

#[test]
fn a_sheet_says_what_was_aimed_at() {
    let mut sheet = Sheet::new(vec!["by hand".to_owned()]);
    let figure = Series { median: 0.9, min: 0.7, max: 1_200.0 };
    let finding = Finding::new("ours / bare file", "", figure);
    sheet.add("appends", vec![finding.aiming(&[Aim::AtLeast(0.85), Aim::AtLeast(0.95)])]);
    let options =
        |form| Options { rounds: 1, duration: Duration::ZERO, form, only: None, length: Length::Full };
    let text = sheet.render(&AREA, &options(Form::Text));
    assert!(text.contains("method     by hand\n"), "{text}");
    assert!(text.contains("0.90"), "{text}");
    assert!(text.contains("0.70 to 1,200   0.85 or more: yes   0.95 or more: no\n"), "{text}");
    let lines = sheet.render(&AREA, &options(Form::Json));
    let line: serde_json::Value = serde_json::from_str(lines.lines().last().unwrap()).unwrap();
    assert_eq!(line["aims"][1], json!({ "at_least": 0.95, "reached": false }));
}

#[test]
fn what_the_system_tells_is_read() {
    assert_eq!(memory::resident("VmPeak:\t 9 kB\nVmRSS:\t  1234 kB\n"), Some(1234 << 10));
    assert_eq!(memory::resident("VmPeak:\t 9 kB\n"), None);
    let mounts = "/dev/a / ext4 rw 0 0\ntmpfs /tmp tmpfs rw 0 0\n/dev/b /tmp/disk xfs rw 0 0\n";
    let kind = |path| file_system_of(mounts, Path::new(path));
    assert_eq!(
        [kind("/srv/x"), kind("/tmp/x"), kind("/tmp/disk/x")],
        [Some("ext4"), Some("tmpfs"), Some("xfs")]
    );
    assert_eq!(kind("/tmpfoo"), Some("ext4"));
    assert_eq!(child::number(&json!({ "idle": 5 }), "idle").unwrap(), 5.0);
    assert!(child::number(&json!({ "idle": "5" }), "idle").is_err());
}
