//! Settings from a file, the environment and flags, as a user meets them.

use crate::server::Place;

#[test]
fn mistakes_are_refused_at_start() {
    let place = Place::new();
    place.write("typo.toml", "# a comment\n[limits]\nbody_byte = '1MiB'\n");
    place.write("sync.toml", "[log]\nsync = false\n");
    place.write("kind.toml", "turns_warn = 'often'\n");
    place.write("broken.toml", "listen = \n");
    let mut shown = String::new();
    for flags in ["typo", "sync", "kind", "broken", "missing"] {
        let (code, said) = place.run(&format!("up --listen 127.0.0.1:0 --config {flags}.toml"));
        shown.push_str(&format!("$ convoke up --config {flags}.toml\n{said}[exit {code}]\n"));
    }
    insta::assert_snapshot!(shown);
    assert!(!place.data().join("log").exists(), "nothing was started");
}

#[test]
fn the_file_in_the_data_folder_counts_the_environment_wins_and_flags_win_over_both() {
    let place = Place::new();
    std::fs::create_dir(place.data()).unwrap();
    place.write("data/convoke.toml", "listen = '127.0.0.1:1'\n[logs]\nformat = 'json'\nlevel = 'error'\n");
    let server = place.start_after("export CONVOKE_LISTEN=127.0.0.2:1 CONVOKE_LOGS_LEVEL=debug", "");
    let first = server.said().lines().next().unwrap_or_default().to_owned();
    assert!(first.starts_with("{\"timestamp\":"), "the file says json: {first}");
    assert!(server.address().starts_with("127.0.0.1:"), "a flag says where to listen: {}", server.url);
    assert!(server.ask("/v1/me?secret=1", &place.operator()).starts_with("HTTP/1.1 200"));
    // The line is written before the answer leaves.
    let said = server.said();
    assert!(said.contains("GET /v1/me answered 200"), "the environment says debug: {said}");
    assert!(!said.contains("secret") && !said.contains(&place.operator()));
    assert_eq!(server.stop(), 0);
}
