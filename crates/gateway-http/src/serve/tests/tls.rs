//! TLS with certificates that the machine's `openssl` makes.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, ServerName};
use tempfile::TempDir;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::{self, ClientConfig, RootCertStore};

use super::*;
use crate::serve::TlsError;

/// Files of a certificate and its key.
struct Files {
    folder: TempDir,
    certificate: PathBuf,
    key: PathBuf,
}

impl Files {
    /// Makes them, unless there is no `openssl` here.
    fn make() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let files =
            Files { certificate: folder.path().join("cert.pem"), key: folder.path().join("key.pem"), folder };
        files.renew()?;
        Some(files)
    }

    fn renew(&self) -> Option<()> {
        let made = Command::new("openssl")
            .args("req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30".split(' '))
            .args("-subj /CN=localhost -addext subjectAltName=DNS:localhost".split(' '))
            .args(["-addext", "basicConstraints=critical,CA:FALSE", "-keyout"])
            .arg(&self.key)
            .arg("-out")
            .arg(&self.certificate)
            .output();
        match made {
            Ok(output) => {
                assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
                Some(())
            }
            Err(error) => {
                println!("skipped: no openssl here: {error}");
                None
            }
        }
    }

    fn tls(&self) -> Tls {
        Tls::load(&self.certificate, &self.key).unwrap()
    }

    /// Asks a server that must show this certificate.
    async fn ask(&self, address: SocketAddr) -> Result<String, std::io::Error> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_file(&self.certificate).unwrap()).unwrap();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let stream = TcpStream::connect(address).await?;
        let name = ServerName::try_from("localhost").unwrap();
        let mut stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await?;
        stream.write_all(HELLO_AND_CLOSE.as_bytes()).await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await?;
        Ok(answer)
    }
}

#[tokio::test]
async fn a_certificate_is_shown_and_may_be_renewed() {
    let Some(files) = Files::make() else { return };
    let tls = files.tls();
    let server = Server::start_with(limits(), Some(tls.clone())).await;
    assert!(files.ask(server.address).await.unwrap().ends_with("hello\n"));
    files.renew().unwrap();
    assert!(files.ask(server.address).await.is_err(), "the old one is still shown");
    tls.reload().unwrap();
    assert!(files.ask(server.address).await.unwrap().ends_with("hello\n"));
    std::fs::write(&files.key, "nonsense").unwrap();
    assert!(matches!(tls.reload(), Err(TlsError::NoKey { .. })));
    assert!(files.ask(server.address).await.unwrap().ends_with("hello\n"), "the good one stays");
}

#[tokio::test]
async fn a_handshake_that_never_ends_is_cut() {
    let Some(files) = Files::make() else { return };
    let limits = ServeLimits { head_timeout: SHORT, ..limits() };
    let server = Server::start_with(limits, Some(files.tls())).await;
    for beginning in ["", HELLO] {
        let mut peer = server.connect().await;
        peer.send(beginning).await;
        let heard = peer.rest().await;
        assert!(!heard.contains("HTTP"), "{heard:?}");
    }
}

#[test]
fn what_is_wrong_with_the_files_is_told() {
    let Some(files) = Files::make() else { return };
    let Some(others) = Files::make() else { return };
    let missing = files.folder.path().join("missing.pem");
    let shown = |certificate: &Path, key: &Path| match Tls::load(certificate, key) {
        Ok(tls) => format!("good for {:?}", tls.validity().map(|validity| validity.until > validity.from)),
        Err(error) => error.to_string().replace(&files.folder.path().display().to_string(), ""),
    };
    assert_eq!(shown(&files.certificate, &files.key), "good for Some(true)");
    assert_eq!(shown(&missing, &files.key), "cannot read /missing.pem");
    assert_eq!(shown(&files.certificate, &missing), "cannot read /missing.pem");
    assert_eq!(shown(&files.key, &files.key), "there is no PEM certificate in /key.pem");
    assert_eq!(shown(&files.certificate, &files.certificate), "there is no PEM private key in /cert.pem");
    assert_eq!(shown(&files.certificate, &others.key), "certificate and key cannot be used together");
}

#[test]
fn a_validity_is_read_from_der_or_not_at_all() {
    let Some(files) = Files::make() else { return };
    let certificate = CertificateDer::from_pem_file(&files.certificate).unwrap();
    let validity = super::super::Validity::of(&certificate).unwrap();
    assert_eq!(validity.until.duration_since(validity.from).unwrap().as_secs(), 30 * 24 * 60 * 60);
    for length in 0..certificate.len() {
        assert_eq!(super::super::Validity::of(&certificate[..length]), None, "cut at {length}");
    }
}
