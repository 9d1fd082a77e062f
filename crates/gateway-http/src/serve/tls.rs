//! TLS: a certificate and its key from files, read again when asked.

mod validity;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use rustls_pki_types::pem::{self, PemObject};
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::{self, ServerConfig};
use tokio_rustls::server::TlsStream;

pub use validity::Validity;

/// How the server proves who it is. Copies share what a reload brings.
#[derive(Clone)]
pub struct Tls {
    certificate: PathBuf,
    key: PathBuf,
    current: Arc<RwLock<Current>>,
}

/// Why certificate and key are of no use.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read.
    #[error("cannot read {}", path.display())]
    Unreadable {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The file holds no certificate.
    #[error("there is no PEM certificate in {}", path.display())]
    NoCertificate {
        /// Which.
        path: PathBuf,
    },
    /// The file holds no key.
    #[error("there is no PEM private key in {}", path.display())]
    NoKey {
        /// Which.
        path: PathBuf,
    },
    /// They do not belong together, or are of a kind that is not known.
    #[error("certificate and key cannot be used together")]
    Unfit(#[source] rustls::Error),
}

struct Current {
    config: Arc<ServerConfig>,
    validity: Option<Validity>,
}

impl Tls {
    /// Reads a certificate, with those that vouch for it, and its key.
    pub fn load(certificate: &Path, key: &Path) -> Result<Self, TlsError> {
        let current = Arc::new(RwLock::new(read(certificate, key)?));
        Ok(Tls { certificate: certificate.to_owned(), key: key.to_owned(), current })
    }

    /// Reads both files again. Connections that there are stay as they are; when it fails everything does.
    pub fn reload(&self) -> Result<(), TlsError> {
        let fresh = read(&self.certificate, &self.key)?;
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = fresh;
        Ok(())
    }

    /// Returns from when to when the certificate holds, if it says so in a way that is understood.
    pub fn validity(&self) -> Option<Validity> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).validity
    }

    pub(super) async fn accept(&self, stream: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        let config = Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner).config);
        TlsAcceptor::from(config).accept(stream).await
    }
}

fn read(certificate: &Path, key: &Path) -> Result<Current, TlsError> {
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes(certificate)?).collect();
    let chain = chain.unwrap_or_default();
    let Some(first) = chain.first() else {
        return Err(TlsError::NoCertificate { path: certificate.to_owned() });
    };
    let validity = Validity::of(first);
    let private: Result<_, pem::Error> = PrivateKeyDer::from_pem_slice(&bytes(key)?);
    let private = private.map_err(|_| TlsError::NoKey { path: key.to_owned() })?;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(TlsError::Unfit)?
        .with_no_client_auth();
    let mut config = builder.with_single_cert(chain, private).map_err(TlsError::Unfit)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Current { config: Arc::new(config), validity })
}

fn bytes(path: &Path) -> Result<Vec<u8>, TlsError> {
    std::fs::read(path).map_err(|source| TlsError::Unreadable { path: path.to_owned(), source })
}
