//! The messages of a root on a real NATS server, which goes and comes back.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use setup::nats::Server;

use crate::session::Session;

struct Place {
    session: Session,
    server: Server,
}

impl Place {
    fn new() -> Self {
        let session = Session::new();
        std::fs::create_dir_all(session.path().join("r/channels")).unwrap();
        let server = Server::start(&setup::tools_folder(), &session.path().join("nats"), "").unwrap();
        Place { session, server }
    }

    /// Runs a command of channels on the root and the server; returns its exit code and what it printed.
    fn run(&self, words: &str) -> (i32, String) {
        let outcome = self.session.run(&format!("{words} --root r --nats {}", self.server.url()));
        (outcome.code, outcome.stdout)
    }

    fn post(&self, text: &str) -> String {
        let (code, said) =
            self.run(&format!("channel post team-a --from claude --nats-timeout 2s --json {text}"));
        assert_eq!(code, 0);
        said.split("\"nats_ack\":").nth(1).unwrap().trim_end().trim_end_matches('}').to_owned()
    }

    fn check(&self) -> (i32, String) {
        let (code, said) = self.run("channel mirror --check");
        (code, said.lines().last().unwrap().to_owned())
    }
}

#[test]
fn a_post_says_what_the_server_says_and_what_is_left_follows() {
    let mut place = Place::new();
    assert_eq!(place.post("one"), "{\"stream\":\"CHAT\",\"seq\":1,\"duplicate\":false");
    place.server.stop();
    assert_eq!(place.post("two"), "null");
    assert_eq!(place.run("channel mirror --check").0, 1, "nobody answers");
    place.server.again().unwrap();
    assert_eq!(place.check(), (1, "1 the same, 1 different".to_owned()));
    assert_eq!(place.post("three"), "{\"stream\":\"CHAT\",\"seq\":3,\"duplicate\":false");
    assert_eq!(place.check(), (0, "3 the same, 0 different".to_owned()));
}

#[test]
fn a_watcher_publishes_its_answers() {
    let mut place = Place::new();
    let watch = |place: &Place| {
        let words = "watch --agent codex --channel team-a --once --nats-timeout 2s --json";
        let url = place.server.url();
        place.session.run(&format!("{words} --root r --nats {url} --exec echo fine")).stdout
    };
    watch(&place);
    place.server.stop();
    assert_eq!(place.post("@codex one"), "null");
    assert_eq!(place.post("@codex two"), "null");
    assert_eq!(watch(&place), "{\"answered\":2,\"failed\":0,\"passed\":2}\n");
    place.server.again().unwrap();
    assert_eq!(place.check(), (1, "0 the same, 4 different".to_owned()));
    assert_eq!(place.post("@codex three"), "{\"stream\":\"CHAT\",\"seq\":5,\"duplicate\":false");
    watch(&place);
    assert_eq!(place.check(), (0, "6 the same, 0 different".to_owned()));
}

#[test]
fn a_mirror_that_is_killed_and_a_server_that_goes_lose_nothing() {
    let mut place = Place::new();
    let mut count = 0;
    for round in 0..4 {
        let mut mirror = Command::new(env!("CARGO_BIN_EXE_convoke"))
            .args(["channel", "mirror", "--root", "r", "--poll", "10ms", "--nats-timeout", "1s", "--nats"])
            .arg(place.server.url())
            .current_dir(place.session.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        for nth in 0..10 {
            let words = format!("channel post team-a --from claude --root r number {round} {nth}");
            assert_eq!(place.session.run(&words).code, 0);
            count += 1;
            if nth == 4 && round % 2 == 0 {
                place.server.stop();
            }
            if nth == 7 && round % 2 == 0 {
                place.server.again().unwrap();
            }
        }
        mirror.kill().unwrap();
        mirror.wait().unwrap();
    }
    assert_eq!(place.run("channel mirror --once").0, 0);
    assert_eq!(place.check(), (0, format!("{count} the same, 0 different")));
    let back = place.session.run(&format!(
        "channel mirror --from-nats --once --root copy --nats {} --nats-timeout 20s",
        place.server.url()
    ));
    assert_eq!(back.stdout, format!("written {count}, there 0, refused 0\n"));
}

#[test]
fn a_bus_keeps_its_roots_on_the_server_too() {
    let place = Place::new();
    let folder = place.session.path();
    std::fs::create_dir(folder.join("r/channels/team-a")).unwrap();
    let command = |words: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_convoke"));
        command
            .args(words.split_whitespace())
            .current_dir(folder)
            .env("CONVOKE_DATA", folder.join("bus"))
            .env("CONVOKE_CHANNELS_NATS", place.server.url())
            .env("CONVOKE_CHANNELS_POLL", "20ms")
            .stderr(Stdio::null());
        command
    };
    let mut up = command("up --json --listen 127.0.0.1:0 --channels r");
    let mut bus = Killed(up.stdout(Stdio::piped()).spawn().unwrap());
    let mut ready = String::new();
    BufReader::new(bus.0.stdout.take().unwrap()).read_line(&mut ready).unwrap();
    assert!(ready.contains("ready"), "{ready}");
    for words in ["agent add ann", "channel post team-a --from ann by-the-bus"] {
        assert!(command(words).stdout(Stdio::null()).status().unwrap().success(), "{words}");
    }
    let mut tries = 0;
    while place.check() != (0, "1 the same, 0 different".to_owned()) {
        tries += 1;
        assert!(tries < 600, "{:?}", place.run("channel mirror --check"));
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A process that does not outlive a test that fails.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}
