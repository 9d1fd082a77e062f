//! `convoke doctor`: for each thing that can ail a bus, what is found and how it is mended.

use std::fs::{self, File, Permissions};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, SystemTime};

use crate::redact::Redactor;
use crate::server::Place;
use crate::tls::certificate;

/// Runs the doctor and keeps the lines of some checks, with what differs from run to run left out.
fn look(place: &Place, flags: &str, checks: &[&str]) -> String {
    let (code, told) = place.run(&format!("doctor {flags}"));
    let mut shown = String::new();
    let mut is_wanted = false;
    for line in told.lines() {
        if !line.starts_with(' ') {
            is_wanted = checks.iter().any(|check| line.split_whitespace().nth(1) == Some(check));
        }
        if is_wanted {
            shown.push_str(&format!("{}\n", without_numbers(&Redactor::default().redact(line))));
        }
    }
    format!("{shown}[exit {code}]\n")
}

/// Numbers of four digits and more are processes, ports, times and the like; modes and limits are shorter.
fn without_numbers(line: &str) -> String {
    let mut shown = String::new();
    let mut digits = String::new();
    for letter in line.chars().chain(['\n']) {
        if letter.is_ascii_digit() {
            digits.push(letter);
            continue;
        }
        let is_many = digits.len() >= 4 || (!digits.is_empty() && shown.ends_with("process "));
        shown.push_str(if is_many { "[n]" } else { &digits });
        digits.clear();
        shown.push(letter);
    }
    shown.trim_end().to_owned()
}

/// Makes a bus that has run and stopped.
fn stopped() -> Place {
    let place = Place::new();
    assert_eq!(place.start("").stop(), 0);
    place
}

fn chmod(place: &Place, name: &str, mode: u32) {
    fs::set_permissions(place.data().join(name), Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_folder_that_is_not_there_or_not_private() {
    let mut shown = look(&Place::new(), "", &["folder", "log"]);
    let place = stopped();
    shown += &look(&place, "", &["settings", "folder", "bus", "secrets", "log"]);
    chmod(&place, "", 0o755);
    chmod(&place, "operator.token", 0o644);
    shown += &look(&place, "", &["folder", "secrets"]);
    chmod(&place, "operator.token", 0o600);
    fs::write(place.data().join("operator.token"), "half a tok").unwrap();
    fs::write(place.data().join("origin.key"), "").unwrap();
    shown += &look(&place, "", &["secrets"]);
    let place = Place::new();
    place.write("data", "a file");
    shown += &look(&place, "", &["folder"]);
    insta::assert_snapshot!(shown);
}

#[test]
fn settings_with_mistakes_are_all_told() {
    let place = Place::new();
    let file = place.write("odd.toml", "lisen = 1\n[limits]\nhops = 0\nhop = 1\n");
    insta::assert_snapshot!(look(&place, &format!("--config {}", file.display()), &["settings"]));
}

#[test]
fn a_port_that_is_taken() {
    let place = Place::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let file = place.write("port.toml", &format!("listen = '{address}'\n"));
    let flags = format!("--config {}", file.display());
    let (code, told) = place.run(&format!("doctor {flags}"));
    let wanted = format!("bad   port      {address} is taken by process {} (", std::process::id());
    assert!(code == 1 && told.contains(&wanted), "{told}");
    drop(taken);
    let (_, told) = place.run(&format!("doctor {flags}"));
    assert!(told.contains(&format!("good  port      {address} is free")), "{told}");
}

#[test]
fn a_bus_that_runs_ended_or_is_another_s() {
    let place = Place::new();
    let server = place.start("");
    let mut shown = look(&place, "", &["bus", "server", "log"]);
    fs::rename(place.data().join("operator.token"), place.path().join("kept")).unwrap();
    let other = stopped();
    fs::copy(other.data().join("operator.token"), place.data().join("operator.token")).unwrap();
    shown += &look(&place, "", &["server"]);
    fs::rename(place.path().join("kept"), place.data().join("operator.token")).unwrap();
    server.kill();
    shown += &look(&place, "", &["bus"]);
    shown += &look(&place, "--url http://127.0.0.1:1", &["server"]);
    let held = File::options().write(true).open(place.data().join("log/lock")).unwrap();
    held.lock().unwrap();
    let (code, told) = place.run("doctor");
    let wanted = format!("odd   bus       process {} (", std::process::id());
    assert!(code == 0 && told.contains(&wanted), "{told}");
    insta::assert_snapshot!(shown);
}

#[test]
fn a_log_that_is_damaged_or_from_the_future() {
    let place = stopped();
    let segment = fs::read_dir(place.data().join("log")).unwrap().map(|entry| entry.unwrap().path());
    let segment = segment
        .filter(|path| path.extension().is_some_and(|extension| extension == "segment"))
        .min()
        .unwrap();
    let ahead = SystemTime::UNIX_EPOCH + Duration::from_secs(10_000_000_000);
    File::options().write(true).open(&segment).unwrap().set_modified(ahead).unwrap();
    let mut shown = look(&place, "", &["clock", "log"]);
    let mut bytes = fs::read(&segment).unwrap();
    bytes[8] ^= 1;
    fs::write(&segment, bytes).unwrap();
    shown += &look(&place, "", &["clock", "log"]);
    insta::assert_snapshot!(shown);
}

#[test]
fn certificates_that_do_not_fit_are_open_or_over() {
    let place = Place::new();
    let Some(()) = certificate(&place, "one", "-days 300") else { return };
    let Some(()) = certificate(&place, "two", "-days 3") else { return };
    expired(&place);
    let mut shown = String::new();
    for (certificate, key) in
        [("one.pem", "two.key"), ("one.pem", "none"), ("two.pem", "two.key"), ("old.pem", "old.key")]
    {
        let file = place.write("tls.toml", &format!("[tls]\ncertificate = '{certificate}'\nkey = '{key}'\n"));
        shown += &look(&place, &format!("--config {}", file.display()), &["tls"]);
    }
    fs::set_permissions(place.path().join("one.key"), Permissions::from_mode(0o644)).unwrap();
    let file = place.write("tls.toml", "[tls]\ncertificate = 'one.pem'\nkey = 'one.key'\n");
    shown += &look(&place, &format!("--config {}", file.display()), &["tls"]);
    insta::assert_snapshot!(shown);
}

/// Makes a certificate whose time is over; only an authority can choose the time, so there must be one.
fn expired(place: &Place) {
    place.write(
        "ca.conf",
        "[ca]\ndefault_ca=own\n[own]\ndatabase=index.txt\nserial=serial\nnew_certs_dir=.\ndefault_md=sha256\n\
         policy=any\nx509_extensions=names\n\
         [any]\ncommonName=supplied\n[names]\nsubjectAltName=DNS:localhost\n",
    );
    place.write("index.txt", "");
    place.write("serial", "01\n");
    let lines = [
        "req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=localhost -keyout old.key -out old.csr",
        "ca -batch -selfsign -notext -config ca.conf -startdate 20200101000000Z -enddate 20200201000000Z \
         -keyfile old.key -in old.csr -out old.pem",
    ];
    for line in lines {
        let words: Vec<&str> = line.split_whitespace().collect();
        let output =
            std::process::Command::new("openssl").args(words).current_dir(place.path()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn too_few_descriptors() {
    let place = Place::new();
    let mut command = std::process::Command::new("sh");
    let line = "ulimit -n 256; exec \"$0\" doctor --data \"$1\"";
    let output =
        command.args(["-c", line, env!("CARGO_BIN_EXE_convoke")]).arg(place.data()).output().unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(
        told.contains("odd   files     a process may open 256 files, and limits.connections needs"),
        "{told}"
    );
}

#[test]
fn findings_as_json_have_a_check_a_verdict_and_a_mend() {
    let (_, told) = Place::new().run("doctor --json");
    for line in told.lines() {
        let value = json::parse_str(line, json::Limits::DOCUMENT).unwrap();
        assert!(value.get("check").is_some() && value.get("what").is_some(), "{line}");
        let verdict = value.get("verdict").and_then(json::Value::as_str).unwrap();
        assert!(verdict == "good" || value.get("mend").is_some(), "{line}");
    }
}
