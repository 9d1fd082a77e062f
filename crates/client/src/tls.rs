//! TLS, set up only for a bus that is reached by https.

use std::path::Path;
use std::sync::Arc;

use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use crate::ClientError;

/// Trusts whom the machine trusts, and the certificates of one more file.
pub(crate) fn connector(ca_file: Option<&Path>) -> Result<TlsConnector, ClientError> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if let Some(path) = ca_file {
        add_file(&mut roots, path)?;
    }
    if roots.is_empty() {
        return Err(refuse("this machine trusts nobody: name a file of certificates"));
    }
    let config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| refuse(error.to_string()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}

fn add_file(roots: &mut RootCertStore, path: &Path) -> Result<(), ClientError> {
    let place = path.display();
    let certificates =
        CertificateDer::pem_file_iter(path).map_err(|error| refuse(format!("{place}: {error}")))?;
    let before = roots.len();
    for certificate in certificates {
        let certificate = certificate.map_err(|error| refuse(format!("{place}: {error}")))?;
        roots.add(certificate).map_err(|error| refuse(format!("{place}: {error}")))?;
    }
    if roots.len() == before {
        return Err(refuse(format!("{place} holds no certificate")));
    }
    Ok(())
}

fn refuse(reason: impl Into<String>) -> ClientError {
    ClientError::Tls { reason: reason.into() }
}
