//! TLS from end to end: certificates that the machine's `openssl` makes, asked by our own client.

use std::process::Command;

use crate::server::Place;

/// Makes a certificate for `localhost` and its key, unless there is no `openssl` here.
pub(crate) fn certificate(place: &Place, name: &str, days: &str) -> Option<()> {
    let made = Command::new("openssl")
        .args("req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes".split(' '))
        .args("-subj /CN=localhost -addext subjectAltName=DNS:localhost".split(' '))
        .args(["-addext", "basicConstraints=critical,CA:FALSE"])
        .args(days.split(' '))
        .args(["-keyout", &format!("{name}.key"), "-out", &format!("{name}.pem")])
        .current_dir(place.path())
        .output();
    match made {
        Ok(output) => {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            Some(())
        }
        Err(error) => {
            eprintln!("skipped: no openssl here: {error}");
            None
        }
    }
}

#[test]
fn a_bus_speaks_tls_and_reads_a_new_certificate_when_told() {
    let place = Place::new();
    let Some(()) = certificate(&place, "cert", "-days 30") else { return };
    let server = place.start("--tls-cert cert.pem --tls-key cert.key --host localhost");
    assert!(server.url.starts_with("https://localhost:"), "{}", server.url);
    let asked = |ca: &str| place.run(&format!("who --json --ca {ca}")).0 == 0;
    assert!(asked("cert.pem"));
    assert!(!server.ask("/healthz", "").contains("HTTP/1.1"), "nothing is said in the clear");
    std::fs::copy(place.path().join("cert.pem"), place.path().join("old.pem")).unwrap();
    certificate(&place, "cert", "-days 30").unwrap();
    assert!(!asked("cert.pem"), "nobody told it yet");
    server.signal("-HUP");
    while !asked("cert.pem") {}
    assert!(!asked("old.pem"));
    std::fs::write(place.path().join("cert.pem"), "nonsense").unwrap();
    server.signal("-HUP");
    while !server.said().contains("the old certificate stays in use") {}
    assert_eq!(server.stop(), 0);
}

#[test]
fn certificates_that_cannot_be_used_are_refused_at_start() {
    let place = Place::new();
    let Some(()) = certificate(&place, "one", "-days 30") else { return };
    let Some(()) = certificate(&place, "two", "-days 30") else { return };
    let mut shown = String::new();
    for flags in [
        "--tls-cert one.pem",
        "--tls-cert one.pem --tls-key two.key",
        "--tls-cert none.pem --tls-key one.key",
        "--tls-cert one.key --tls-key one.key",
    ] {
        let (code, said) = place.run(&format!("up --listen 127.0.0.1:0 {flags}"));
        shown.push_str(&format!("$ convoke up {flags}\n{said}[exit {code}]\n"));
    }
    insta::assert_snapshot!(shown);
}
