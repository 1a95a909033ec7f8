//! What the door shows to be itself: a certificate and its key, from the files that the configuration names.

use std::{fmt, os::unix::fs::MetadataExt, path::PathBuf, sync::Arc};

use ostler_files::{FILE_BYTES_MAX, named};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        self, ServerConfig,
        crypto::ring,
        pki_types::{CertificateDer, PrivateKeyDer, pem, pem::PemObject},
    },
};
use zeroize::Zeroizing;

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

/// A certificate, and the files it comes from. It is read again when they have changed: certificates are renewed every
/// few weeks, by programs that tell nobody.
pub(super) struct Certificate {
    files: Tls,
    /// How the files were when they were last read.
    stamps: [Option<Stamp>; 2],
    acceptor: TlsAcceptor,
}

/// What tells a file that has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    file: (u64, u64),
    length: u64,
    changed: (i64, i64),
}

impl Certificate {
    pub(super) fn read(files: Tls) -> Result<Certificate, TlsError> {
        // Before they are read: what changes meanwhile is seen the next time.
        let stamps = stamps(&files);
        Ok(Certificate { acceptor: acceptor(&files)?, files, stamps })
    }

    /// Reads it again, if its files have changed. What cannot be used takes nobody's place.
    pub(super) fn renew(&mut self) -> Option<Result<(), TlsError>> {
        let stamps = stamps(&self.files);
        if stamps == self.stamps {
            return None;
        }
        self.stamps = stamps;
        Some(acceptor(&self.files).map(|acceptor| self.acceptor = acceptor))
    }

    pub(super) fn acceptor(&self) -> TlsAcceptor {
        self.acceptor.clone()
    }
}

fn stamps(files: &Tls) -> [Option<Stamp>; 2] {
    [&files.certificate, &files.key].map(|path| {
        let metadata = path.metadata().ok()?;
        let (file, changed) = ((metadata.dev(), metadata.ino()), (metadata.ctime(), metadata.ctime_nsec()));
        Some(Stamp { file, length: metadata.len(), changed })
    })
}

/// TLS 1.3 with this certificate.
fn acceptor(files: &Tls) -> Result<TlsAcceptor, TlsError> {
    let unread = |what, path: &PathBuf| {
        let path = path.clone();
        move |source| TlsError::File { what, path, source }
    };
    let unfit = |source| TlsError::Unfit { path: files.certificate.clone(), source };
    let read = |path: &PathBuf| named::read(path, FILE_BYTES_MAX).map_err(pem::Error::Io);
    let certificates: Vec<_> = read(&files.certificate)
        .and_then(|text| CertificateDer::pem_slice_iter(&text).collect())
        .map_err(unread("certificate", &files.certificate))?;
    if certificates.is_empty() {
        return Err(unread("certificate", &files.certificate)(pem::Error::NoItemsFound));
    }
    let key = read(&files.key).map(Zeroizing::new).and_then(|text| PrivateKeyDer::from_pem_slice(&text));
    let key = key.map_err(unread("private key", &files.key))?;
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
