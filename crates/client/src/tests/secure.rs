//! TLS: whom the file of certificates names is trusted, nobody else.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::aws_lc_rs;

use super::server::{Line, Server, answer};
use crate::{Client, ClientOptions};

/// Made for these tests alone, good for a hundred years.
fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tests/tls").join(name)
}

fn acceptor() -> TlsAcceptor {
    let chain = CertificateDer::pem_file_iter(file("server.pem")).unwrap().map(Result::unwrap).collect();
    let key = PrivateKeyDer::from_pem_file(file("server.key")).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    TlsAcceptor::from(Arc::new(config))
}

fn client(url: &str, ca_file: Option<PathBuf>) -> Client {
    let mut options = ClientOptions::new(url);
    options.ca_file = ca_file;
    Client::with(options).unwrap()
}

#[tokio::test]
async fn a_certificate_is_trusted_by_the_file_that_names_its_authority() {
    let ok = answer("200 OK", "ok\n");
    let lines = vec![Line::Answers(vec![ok.clone(), ok]), Line::HangsUp];
    let server = Server::start_secure(acceptor(), lines).await;
    let trusting = client(&server.url, Some(file("ca.pem")));
    trusting.health().await.unwrap();
    trusting.health().await.unwrap();
    assert_eq!(server.requests().len(), 2);

    // A machine without any authority of its own refuses before it connects.
    let code = client(&server.url, None).health().await.unwrap_err().code().to_owned();
    assert!(["unreachable", "tls"].contains(&code.as_str()), "{code}");
    assert_eq!(server.requests().len(), 2, "nothing was said to whom nobody trusts");
}

#[tokio::test]
async fn a_file_without_certificates_is_named() {
    for name in ["server.key", "nowhere.pem"] {
        let error = client("https://localhost:1", Some(file(name))).health().await.unwrap_err();
        assert_eq!(error.code(), "tls", "{name}: {error}");
    }
}
