//! What the door shows to be itself: a certificate and its key, from the files that the configuration names.

use std::{fmt, path::PathBuf, sync::Arc};

use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        self, ServerConfig,
        crypto::ring,
        pki_types::{CertificateDer, PrivateKeyDer, pem, pem::PemObject},
    },
};

use crate::config::Tls;

/// Why nothing can be shown.
#[derive(Debug)]
pub(super) enum TlsError {
    /// A file cannot be read, or holds something else.
    File {
        /// What it should hold.
        what: &'static str,
        path: PathBuf,
        source: pem::Error,
    },
    /// The two do not fit each other, or cannot be used.
    Unfit { path: PathBuf, source: rustls::Error },
}

/// TLS 1.3 with this certificate.
pub(super) fn acceptor(files: &Tls) -> Result<TlsAcceptor, TlsError> {
    let unread = |what, path: &PathBuf| {
        let path = path.clone();
        move |source| TlsError::File { what, path, source }
    };
    let unfit = |source| TlsError::Unfit { path: files.certificate.clone(), source };
    let certificates: Vec<_> = CertificateDer::pem_file_iter(&files.certificate)
        .and_then(Iterator::collect)
        .map_err(unread("certificate", &files.certificate))?;
    if certificates.is_empty() {
        return Err(unread("certificate", &files.certificate)(pem::Error::NoItemsFound));
    }
    let key = PrivateKeyDer::from_pem_file(&files.key).map_err(unread("private key", &files.key))?;
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .map_err(unfit)?
        .with_no_client_auth()
        .with_single_cert(certificates, key)
        .map_err(unfit)?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

impl fmt::Display for TlsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TlsError::File { what, path, source: pem::Error::NoItemsFound } => {
                write!(f, "'{}' holds no {what} in PEM form", path.display())
            }
            TlsError::File { what, path, source } => {
                write!(f, "cannot read the {what} in '{}': {source}", path.display())
            }
            TlsError::Unfit { path, source } => {
                write!(f, "the certificate in '{}' cannot be used: {source}", path.display())
            }
        }
    }
}

impl std::error::Error for TlsError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            TlsError::File { source, .. } => Some(source),
            TlsError::Unfit { source, .. } => Some(source),
        }
    }
}
