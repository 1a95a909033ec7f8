//! One request to somewhere outside: resolved here, looked at, sent to exactly that address, and nothing followed.
//!
//! No error names the address: it may be the secret.

use std::{
    fmt,
    net::{IpAddr, SocketAddr},
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
    time::Duration,
};

use http_body_util::Full;
use hyper::{
    HeaderMap, Method, Request, StatusCode, Uri,
    body::Bytes,
    client::conn::http1,
    header::{self, HeaderValue},
};
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpStream, lookup_host},
    task::JoinSet,
    time::timeout,
};
use tokio_rustls::{
    TlsConnector,
    rustls::{
        ClientConfig, RootCertStore, crypto,
        pki_types::{CertificateDer, ServerName, pem::PemObject},
    },
};

use super::address::{self, Refused};

/// How long it may take until there is a connection.
const CONNECT_MAX: Duration = Duration::from_secs(15);

/// How long it may take until there is an answer.
const ANSWER_MAX: Duration = Duration::from_secs(20);

/// The most of an answer that is read: its head.
const HEAD_BYTES_MAX: usize = 64 << 10;

/// How many addresses of a name are tried.
const ADDRESSES_MAX: usize = 4;

/// The longest address.
const URL_BYTES_MAX: usize = 4096;

/// Where something is sent.
pub(crate) struct Url {
    encrypted: bool,
    /// As it stands, with brackets around an IPv6 address.
    authority: String,
    host: String,
    port: u16,
    path: String,
}

/// What is wrong with an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InvalidUrl {
    NotHttps,
    NotHttp,
    Nothing,
    Credentials,
    Topic,
}

/// What is sent.
pub(crate) struct Outgoing {
    pub(crate) url: Url,
    pub(crate) method: Method,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
    pub(crate) allow_private: bool,
    pub(crate) ca: Option<PathBuf>,
}

/// Why it has not arrived, or not certainly.
#[derive(Debug)]
pub(crate) enum CallError {
    /// The name cannot be resolved.
    NoName,
    /// It leads where nothing is sent.
    Refused(Refused),
    /// Nobody answers there.
    NoConnection(std::io::ErrorKind),
    /// There is no connection in time.
    ConnectLate,
    /// The authority in the configuration cannot be read.
    Authority { path: PathBuf },
    /// Whoever answers cannot show that it is who it should be.
    Certificate,
    /// The connection broke before there was an answer.
    Broken,
    /// There was no answer in time.
    AnswerLate,
    /// The answer is another address.
    Redirect(StatusCode),
    /// The answer is no.
    Status { status: StatusCode, wait_ms: Option<u64> },
}

impl Url {
    /// Reads an address. Without encryption only where that is allowed.
    pub(crate) fn parse(text: &str, allow_plain: bool) -> Result<Url, InvalidUrl> {
        if text.len() > URL_BYTES_MAX {
            return Err(InvalidUrl::Nothing);
        }
        let (encrypted, rest) = match (text.strip_prefix("https://"), text.strip_prefix("http://")) {
            (Some(rest), _) => (true, rest),
            (None, Some(rest)) if allow_plain => (false, rest),
            _ if allow_plain => return Err(InvalidUrl::NotHttp),
            _ => return Err(InvalidUrl::NotHttps),
        };
        let uri: Uri = text.parse().map_err(|_| InvalidUrl::Nothing)?;
        let authority = uri.authority().ok_or(InvalidUrl::Nothing)?;
        if authority.as_str().contains('@') {
            return Err(InvalidUrl::Credentials);
        }
        // A fragment is dropped by the parser, and is a mistake.
        if authority.host().is_empty() || rest.contains('#') {
            return Err(InvalidUrl::Nothing);
        }
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        Ok(Url {
            encrypted,
            authority: authority.as_str().to_owned(),
            host,
            port: authority.port_u16().unwrap_or(if encrypted { 443 } else { 80 }),
            path: uri.path_and_query().map_or("/", |path| path.as_str()).to_owned(),
        })
    }

    /// Takes the topic of ntfy off its end: messages are sent to the server, and name it themselves.
    pub(crate) fn topic(self) -> Result<(Url, String), InvalidUrl> {
        let topic = self.path.trim_matches('/').to_owned();
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
        if topic.is_empty() || topic.len() > 64 || !topic.bytes().all(is_plain) {
            return Err(InvalidUrl::Topic);
        }
        Ok((Url { path: "/".to_owned(), ..self }, topic))
    }

    /// The same server, another place.
    pub(crate) fn at(self, path: String) -> Url {
        Url { path, ..self }
    }
}

impl Outgoing {
    /// Sends it, and takes nothing but a yes for a yes.
    pub(crate) async fn send(self) -> Result<(), CallError> {
        let stream = timeout(CONNECT_MAX, self.connect()).await.map_err(|_| CallError::ConnectLate)??;
        if !self.url.encrypted {
            return timeout(ANSWER_MAX, self.exchange(stream)).await.map_err(|_| CallError::AnswerLate)?;
        }
        let name = ServerName::try_from(self.url.host.clone()).map_err(|_| CallError::Certificate)?;
        let connector = TlsConnector::from(trust(self.ca.as_deref())?);
        let shaken = timeout(CONNECT_MAX, connector.connect(name, stream)).await;
        let stream = shaken.map_err(|_| CallError::ConnectLate)?.map_err(|error| match error.kind() {
            std::io::ErrorKind::InvalidData => CallError::Certificate,
            kind => CallError::NoConnection(kind),
        })?;
        timeout(ANSWER_MAX, self.exchange(stream)).await.map_err(|_| CallError::AnswerLate)?
    }

    /// Connects to an address of the name that was looked at, and to no other.
    async fn connect(&self) -> Result<TcpStream, CallError> {
        let found = match self.url.host.parse::<IpAddr>() {
            Ok(address) => vec![SocketAddr::new(address, self.url.port)],
            Err(_) => {
                let found = lookup_host((self.url.host.as_str(), self.url.port)).await;
                found.map_err(|_| CallError::NoName)?.collect()
            }
        };
        let mut failed = CallError::NoName;
        let mut tried = 0;
        for place in found {
            if let Err(refused) = address::check(place.ip(), self.allow_private) {
                failed = CallError::Refused(refused);
                continue;
            }
            if tried == ADDRESSES_MAX {
                break;
            }
            tried += 1;
            match TcpStream::connect(place).await {
                Ok(stream) => return Ok(stream),
                Err(error) => failed = CallError::NoConnection(error.kind()),
            }
        }
        Err(failed)
    }

    async fn exchange(
        self,
        stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    ) -> Result<(), CallError> {
        let shaken = http1::Builder::new().max_buf_size(HEAD_BYTES_MAX).handshake(TokioIo::new(stream)).await;
        let (mut sender, connection) = shaken.map_err(|_| CallError::Broken)?;
        let mut request = Request::new(Full::new(Bytes::from(self.body)));
        *request.method_mut() = self.method;
        *request.uri_mut() = self.url.path.parse().map_err(|_| CallError::Broken)?;
        *request.headers_mut() = self.headers;
        let host = HeaderValue::from_str(&self.url.authority).map_err(|_| CallError::Broken)?;
        let headers = request.headers_mut();
        headers.insert(header::HOST, host);
        headers.insert(
            header::USER_AGENT,
            HeaderValue::from_static(concat!("ostler/", env!("CARGO_PKG_VERSION"))),
        );
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        // The body of an answer is nobody's business: the connection goes with the task that drives it.
        let mut driving = JoinSet::new();
        driving.spawn(connection);
        let response = sender.send_request(request).await.map_err(|_| CallError::Broken)?;
        judged(response.status(), response.headers())
    }
}

/// What an answer means.
fn judged(status: StatusCode, headers: &HeaderMap) -> Result<(), CallError> {
    if status.is_success() {
        return Ok(());
    }
    if status.is_redirection() {
        return Err(CallError::Redirect(status));
    }
    // A date is not read: then it is tried again as after every failure.
    let seconds = headers.get(header::RETRY_AFTER).and_then(|value| value.to_str().ok()?.trim().parse().ok());
    Err(CallError::Status { status, wait_ms: seconds.map(|it: u64| it.saturating_mul(1000)) })
}

/// Whom is believed: the public authorities, or the one that is named.
fn trust(ca: Option<&Path>) -> Result<Arc<ClientConfig>, CallError> {
    static PUBLIC: OnceLock<Arc<ClientConfig>> = OnceLock::new();
    let Some(path) = ca else {
        let public = || client(RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() });
        return Ok(Arc::clone(PUBLIC.get_or_init(public)));
    };
    let unread = || CallError::Authority { path: path.to_path_buf() };
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(path).map_err(|_| unread())? {
        roots.add(certificate.map_err(|_| unread())?).map_err(|_| unread())?;
    }
    if roots.is_empty() { Err(unread()) } else { Ok(client(roots)) }
}

fn client(roots: RootCertStore) -> Arc<ClientConfig> {
    let provider = Arc::new(crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let mut config =
        builder.expect("ring has what TLS needs").with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Arc::new(config)
}

impl CallError {
    /// Whether it is certain that nobody has taken it.
    pub(crate) fn is_certain(&self) -> bool {
        !matches!(self, CallError::Broken | CallError::AnswerLate)
    }

    /// Whether it is the message that is refused. One that takes back is refused by whoever cannot do that, too.
    pub(crate) fn is_refusal(&self, takes_back: bool) -> bool {
        let CallError::Status { status, .. } = self else { return false };
        let is_about_message = matches!(
            *status,
            StatusCode::BAD_REQUEST | StatusCode::PAYLOAD_TOO_LARGE | StatusCode::UNPROCESSABLE_ENTITY
        );
        let is_unknown =
            matches!(*status, StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED | StatusCode::GONE);
        is_about_message || (takes_back && is_unknown)
    }

    /// How long the other side wants us to wait.
    pub(crate) fn wait_ms(&self) -> Option<u64> {
        match self {
            CallError::Status { wait_ms, .. } => *wait_ms,
            _ => None,
        }
    }
}

impl fmt::Display for InvalidUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            InvalidUrl::NotHttps => "it does not begin with https://",
            InvalidUrl::NotHttp => "it begins neither with https:// nor with http://",
            InvalidUrl::Nothing => "it is no address",
            InvalidUrl::Credentials => "it holds a name or a password",
            InvalidUrl::Topic => "behind the server stands no topic of ntfy",
        })
    }
}

impl std::error::Error for InvalidUrl {}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CallError::NoName => write!(f, "its name leads to no address"),
            CallError::Refused(refused) => write!(f, "{refused}"),
            CallError::NoConnection(kind) => write!(f, "nobody answers there: {kind}"),
            CallError::ConnectLate => {
                write!(f, "there was no connection within {} seconds", CONNECT_MAX.as_secs())
            }
            CallError::Authority { path } => write!(f, "'{}' holds no certificate to trust", path.display()),
            CallError::Certificate => {
                write!(f, "its certificate is not to be trusted; `ca` names another authority")
            }
            CallError::Broken => write!(f, "the connection broke before there was an answer"),
            CallError::AnswerLate => write!(f, "there was no answer within {} seconds", ANSWER_MAX.as_secs()),
            CallError::Redirect(status) => {
                write!(f, "it answers with another address ({}), which is not followed", status.as_u16())
            }
            CallError::Status { status, .. } => write!(f, "it answers {}", status.as_u16()),
        }
    }
}

impl std::error::Error for CallError {}
