//! The table of settings, files with mistakes, and the reference.

use std::path::Path;

use super::kind::Given;
use super::table::{SECTIONS, TABLE};
use super::{Settings, Sources, file, load_all, reference};

/// Reads a file and shows what is wrong with it.
fn read(text: &str) -> (Settings, Vec<String>) {
    let (mut settings, mut problems) = (defaults(), Vec::new());
    file::read(Path::new("/etc/convoke.toml"), text, &mut settings, &mut problems);
    problems.extend(settings.misfit());
    let problems = problems.iter().map(|problem| format!("{problem} ({})", problem.mend())).collect();
    (settings, problems)
}

fn defaults() -> Settings {
    let mut settings = Settings::unset();
    for setting in TABLE {
        let set = setting.kind.set(&mut settings, &Given::Text(setting.default), None);
        assert_eq!(set, Ok(()), "the default of {}", setting.key);
    }
    settings
}

#[test]
fn defaults_fit_and_names_are_in_their_sections() {
    assert_eq!(defaults().misfit(), None);
    for (nth, setting) in TABLE.iter().enumerate() {
        assert!(SECTIONS.iter().any(|(section, _)| *section == setting.section()), "{}", setting.key);
        assert!(!TABLE[..nth].iter().any(|other| other.variable() == setting.variable()), "{}", setting.key);
        assert!(setting.doc.ends_with('.'), "{} is described in sentences", setting.key);
        assert!(
            !["CONVOKE_URL", "CONVOKE_TOKEN", "CONVOKE_AGENT", "CONVOKE_DATA"]
                .contains(&&*setting.variable())
        );
    }
}

#[test]
fn values_arrive_where_they_belong() {
    let (settings, problems) = read(
        "listen = '[::1]:80'\nhosts = ['Bus.Example']\nturns_park = 40\n[limits]\nbody_bytes = 2048\nqueue_bytes = '3MiB'\n\
         idle_timeout = '2m'\nhops = 0x10\n[tls]\ncertificate = 'cert.pem'\nkey = '/keys/key.pem'\n\
         [delivery]\njitter = false\nbackoff_factor = 3\n[logs]\nlevel = 'debug'\nformat = 'json'\n",
    );
    assert_eq!(problems, Vec::<String>::new());
    assert_eq!(settings.listen.to_string(), "[::1]:80");
    assert_eq!(settings.hosts, ["bus.example"]);
    assert_eq!(settings.broker.turns_park, Some(40));
    assert_eq!(settings.hub.body_bytes_max, 2_048);
    assert_eq!(settings.broker.limits.queue_bytes_max, 3 << 20);
    assert_eq!(settings.serve.idle_timeout.as_secs(), 120);
    assert_eq!(settings.broker.limits.hops_max, 16);
    assert_eq!(settings.certificate.as_deref(), Some(Path::new("/etc/cert.pem")));
    assert_eq!(settings.key.as_deref(), Some(Path::new("/keys/key.pem")));
    assert!(!settings.broker.retries.jitter);
    assert_eq!(settings.broker.retries.multiplier, 3.0);
    assert_eq!((settings.logs.level, settings.logs.format), (tracing::Level::DEBUG, super::LogFormat::Json));
}

#[test]
fn mistakes_are_told_with_their_line() {
    let cases = [
        ("lissten = 'x'", "1: there is no setting `lissten` (did you mean `listen`?)"),
        (
            "[limits]\n\nbody_byte = 1",
            "3: there is no setting `limits.body_byte` (did you mean `limits.body_bytes`?)",
        ),
        ("[log]\nsync = false", "2: there is no setting `log.sync`"),
        ("[lok]\nbytes = 1", "1: there is no setting `lok`"),
        ("listen = 'nowhere'", "1: listen: \"nowhere\" is not an address and a port"),
        (
            "listen = 7700",
            "1: listen: it takes an address and a port, such as \"127.0.0.1:7700\", and this is 7700",
        ),
        ("[limits]\nhops = 256", "2: limits.hops: 256 is too large, the most is 255"),
        (
            "[limits]\nhops = -1",
            "2: limits.hops: it takes a number from 1 to 255, and this is a number below zero",
        ),
        (
            "[limits]\nhops = 1.5",
            "2: limits.hops: it takes a number from 1 to 255, and this is a number with a fraction",
        ),
        ("[limits]\nhead_bytes = '1KiB'", "2: limits.head_bytes: 1KiB is too small, the least is 8KiB"),
        ("[limits]\nhead_bytes = '99999999999GiB'", "2: limits.head_bytes: it takes a size"),
        (
            "[limits]\nidle_timeout = 30",
            "2: limits.idle_timeout: it takes a duration from \"10ms\" to \"1d\", and this is 30",
        ),
        ("[limits]\nidle_timeout = '30'", "2: limits.idle_timeout: it takes a duration"),
        ("limits = 3", "1: there is no setting `limits`"),
        ("[limits.hops]\nx = 3", "1: limits.hops: it takes a number from 1 to 255, and this is a section"),
        ("[logs]\nlevel = 'loud'", "2: logs.level: \"loud\" is not a level of a log"),
        (
            "hosts = [1]",
            "1: hosts: it takes a list of host names, and this is a list of something else than texts",
        ),
        ("hosts = ['*']", "1: hosts: \"*\" is not the name of a host"),
        ("listen = 'a'\nlisten = 'b'", "2: "),
        ("listen", "1: "),
        ("[limits\n", "1: "),
    ];
    for (text, wanted) in cases {
        let (_, problems) = read(text);
        assert_eq!(problems.len(), 1, "{text:?}: {problems:?}");
        let told = problems[0].strip_prefix("/etc/convoke.toml:").unwrap_or_else(|| panic!("{problems:?}"));
        assert!(told.starts_with(wanted), "{text:?}: {told}");
    }
}

#[test]
fn all_mistakes_are_told_and_the_rest_is_set() {
    let (settings, problems) = read("nonsense = 1\nturns_warn = 7\n[limits]\nhops = 'many'\n");
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert_eq!(settings.broker.turns_warn, 7);
}

#[test]
fn what_does_not_fit_together_is_refused() {
    let cases = [
        ("[limits]\nmessage_bytes = '16MiB'", "limits.message_bytes: a message may have 16777216 bytes"),
        ("[log]\nrecord_bytes = '64MiB'", "log.record_bytes: a record may have 67108864 bytes"),
        ("[tls]\nkey = 'key.pem'", "tls: TLS needs both"),
        ("[delivery]\nlease_max = '1m'", "delivery.lease: the usual lease is not between"),
    ];
    for (text, wanted) in cases {
        let (_, problems) = read(text);
        assert!(problems.len() == 1 && problems[0].starts_with(wanted), "{text:?}: {problems:?}");
    }
}

#[test]
fn a_file_that_was_named_must_be_there() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing.toml");
    let (_, problems) = load_all(&Sources { config: None, data: folder.path() });
    assert_eq!(problems, Vec::new());
    let (_, problems) = load_all(&Sources { config: Some(&missing), data: folder.path() });
    assert!(problems[0].to_string().ends_with("missing.toml: cannot be read: no such file or directory"));
}

#[test]
fn the_reference_is_up_to_date() {
    let path = testkit::root().join("docs/settings.md");
    testkit::check_file(&path, &reference::write());
}

proptest::proptest! {
    #[test]
    fn no_file_is_too_odd(text in "[a-z.= \\[\\]0-9'\"\n{},-]{0,80}") {
        read(&text);
    }
}
