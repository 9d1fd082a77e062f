//! The wire door of the real bus: what it tells of a topic is the same for ever.

use crate::bus::Bus;
use crate::session::Session;

#[test]
fn a_topic_is_the_same_after_a_restart_and_when_its_history_is_made_anew() {
    let session = Session::new();
    let data = session.path().join("data");
    let operator = || std::fs::read_to_string(data.join("operator.token")).unwrap().trim().to_owned();
    let topics = ["news", "0.0.7"].map(|topic| format!("/wire/topics/{topic}/messages"));
    let mut seen: Vec<Vec<String>> = Vec::new();
    for round in 0..3 {
        let bus = Bus::start(&data);
        let operator = operator();
        let read = || topics.iter().map(|path| bus.call("GET", path, &operator, "").1).collect::<Vec<_>>();
        if round > 0 {
            assert_eq!(seen.last(), Some(&read()), "round {round}");
        }
        for number in 0..3 {
            let note = format!(
                r##"{{"kind":"note","from":"human","to":["#news"],"task":"0.0.7","text":"{round}.{number}"}}"##
            );
            let (status, answer) = bus.call("POST", "/v1/messages", &operator, &note);
            assert_eq!(status, 201, "{answer}");
        }
        let now = read();
        for (topic, text) in topics.iter().zip(&now) {
            let last = format!("\"sequence_number\":{}", 3 * (round + 1));
            assert!(text.contains(&last), "{topic}: {text}");
            let before = seen.last().map_or("", |_| "\"sequence_number\":3,");
            assert!(text.contains(before), "{topic}: {text}");
        }
        seen.push(now);
        assert_eq!(bus.stop(), 0);
        if round == 1 {
            std::fs::remove_file(data.join("history.db")).unwrap();
        }
    }
}
