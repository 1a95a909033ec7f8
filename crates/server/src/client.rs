//! The other end of the interface: how the command line asks the server.
//!
//! A request that changes something carries a key, so that asking again after a broken connection does it once.

use std::{
    fmt, io,
    path::{Path, PathBuf},
    time::Duration,
};

use http_body_util::{BodyExt, Full};
use hyper::{
    Method, Request, Response, StatusCode,
    body::{Bytes, Incoming},
    client::conn::http1,
    header,
};
use hyper_util::rt::TokioIo;
use serde::{Serialize, de::DeserializeOwned};
use tokio::time::{Instant, sleep};

use crate::{
    api::Problem,
    home::Home,
    server_peer::{self, Asker, NotTheServer},
    socket, start,
};

/// The header with a request's key.
pub const KEY_HEADER: &str = "idempotency-key";

/// How often a request is sent again when the connection breaks under it.
const TRIES: u32 = 3;

/// How long a server that says that it ends is waited for.
const END_MAX: Duration = Duration::from_secs(1);

/// Between two looks at its socket.
const LOOK: Duration = Duration::from_millis(5);

/// A way to ask the server of a state directory.
#[derive(Debug, Clone)]
pub struct Client {
    home: Home,
    /// Whether a server that has died is started again.
    revives: bool,
}

/// Why there is no answer, or not the one that was wanted.
#[derive(Debug)]
pub enum ClientError {
    /// Nobody listens.
    NoServer {
        /// The socket.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A process of an agent listens in place of the server. Nothing was sent.
    NotTheServer {
        /// The socket.
        path: PathBuf,
        /// The process.
        pid: i32,
    },
    /// The connection broke.
    Broken {
        /// What was asked for.
        path: String,
        /// What happened.
        message: String,
    },
    /// The server says no.
    Refused(Box<Problem>),
    /// The answer cannot be understood: server and client are of different versions.
    Strange {
        /// What was asked for.
        path: String,
        /// What is wrong with it.
        message: String,
    },
}

impl Client {
    /// Asks the server that uses this directory.
    pub fn new(home: &Home) -> Client {
        Client { home: home.clone(), revives: false }
    }

    /// The same, and starts the server again if it has died.
    pub(crate) fn reviving(home: &Home) -> Client {
        Client { home: home.clone(), revives: true }
    }

    /// The same for whoever watches: a server that ends is waited for, and is not started by looking.
    #[must_use]
    pub fn watching(&self) -> Client {
        Client { home: self.home.clone(), revives: false }
    }

    /// Asks for something.
    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, ClientError> {
        read(path, self.surely(Method::GET, path, Bytes::new(), None).await?).await
    }

    /// The same of the server that is there, if one is.
    pub async fn look<T: DeserializeOwned>(&self, path: &str) -> Result<T, ClientError> {
        let mut tries = 1;
        loop {
            match self.send(Method::GET, path, Bytes::new(), None).await {
                Err(ClientError::Broken { .. }) if tries < TRIES => tries += 1,
                answer => return read(path, answer?).await,
            }
        }
    }

    /// Wants something done, once.
    pub async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<T, ClientError> {
        self.post_once(path, body, &crate::random::word()).await
    }

    /// Wants something done once under a key, however often and by whomever it is asked for.
    pub async fn post_once<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
        key: &str,
    ) -> Result<T, ClientError> {
        let body = Bytes::from(serde_json::to_vec(body).expect("what is sent is plain data"));
        read(path, self.surely(Method::POST, path, body, Some(key)).await?).await
    }

    /// Asks for something that comes in pieces, for as long as there are any.
    pub async fn stream(&self, path: &str) -> Result<Pieces, ClientError> {
        let response = self.surely(Method::GET, path, Bytes::new(), None).await?;
        if response.status().is_success() {
            Ok(Pieces { path: path.to_owned(), response })
        } else {
            Err(refusal(path, response).await)
        }
    }

    /// Sends it again if the server goes away: it may have been about to end when it was found.
    async fn surely(
        &self,
        method: Method,
        path: &str,
        body: Bytes,
        key: Option<&str>,
    ) -> Result<Response<Incoming>, ClientError> {
        let mut tries = 1;
        loop {
            let answer = self.send(method.clone(), path, body.clone(), key).await;
            let is_gone = match &answer {
                Ok(response) => response.status() == StatusCode::SERVICE_UNAVAILABLE,
                Err(error) => matches!(error, ClientError::Broken { .. } | ClientError::NoServer { .. }),
            };
            if !is_gone || tries == TRIES {
                return answer;
            }
            if answer.is_ok() {
                self.let_end().await;
            }
            // Whether it was done is not known: under the same key it is done once.
            if self.revives {
                start::ensure(&self.home).await.ok();
            }
            tries += 1;
        }
    }

    /// Waits until a server that is about to end answers nobody any more: it takes its socket away.
    pub async fn let_end(&self) {
        let since = Instant::now();
        while self.home.socket().exists() && since.elapsed() < END_MAX {
            sleep(LOOK).await;
        }
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        body: Bytes,
        key: Option<&str>,
    ) -> Result<Response<Incoming>, ClientError> {
        let socket = self.home.socket();
        exchange((&socket, Asker::Anybody), "/api/v1", method, path, body, key).await
    }
}

/// Asks one thing over a connection of its own.
pub(crate) async fn exchange(
    (socket, asker): (&Path, Asker),
    prefix: &str,
    method: Method,
    path: &str,
    body: Bytes,
    key: Option<&str>,
) -> Result<Response<Incoming>, ClientError> {
    let no_server = |source| ClientError::NoServer { path: socket.to_path_buf(), source };
    let broken =
        |error: hyper::Error| ClientError::Broken { path: path.to_owned(), message: error.to_string() };
    let stream = socket::connect(socket).await.map_err(no_server)?;
    server_peer::check(&stream, asker).map_err(|source| match NotTheServer::of(&source) {
        Some(NotTheServer { pid }) => ClientError::NotTheServer { path: socket.to_path_buf(), pid },
        // The server has ended since.
        None if source.kind() == io::ErrorKind::NotConnected => {
            ClientError::Broken { path: path.to_owned(), message: source.to_string() }
        }
        None => no_server(source),
    })?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(broken)?;
    tokio::spawn(connection);
    let mut request = Request::builder()
        .method(method)
        .uri(format!("{prefix}{path}"))
        .header(header::HOST, "localhost")
        .header(header::CONTENT_TYPE, "application/json");
    if let Some(key) = key {
        request = request.header(KEY_HEADER, key);
    }
    let request = request
        .body(Full::new(body))
        .map_err(|error| ClientError::Broken { path: path.to_owned(), message: error.to_string() })?;
    sender.send_request(request).await.map_err(broken)
}

/// Text as it stands in the query of an address.
pub fn encoded(text: &str) -> String {
    let mut said = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            said.push(char::from(byte));
        } else {
            let digit =
                |half: u8| char::from_digit(u32::from(half), 16).map(|digit| digit.to_ascii_uppercase());
            said.extend([Some('%'), digit(byte >> 4), digit(byte & 15)].into_iter().flatten());
        }
    }
    said
}

/// An answer that comes in pieces.
#[derive(Debug)]
pub struct Pieces {
    path: String,
    response: Response<Incoming>,
}

impl Pieces {
    /// A header of the answer.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.response.headers().get(name)?.to_str().ok()
    }

    /// The next piece; none at the end.
    pub async fn next(&mut self) -> Result<Option<Bytes>, ClientError> {
        loop {
            match self.response.body_mut().frame().await {
                None => return Ok(None),
                Some(Ok(frame)) => {
                    if let Ok(bytes) = frame.into_data() {
                        return Ok(Some(bytes));
                    }
                }
                Some(Err(error)) => {
                    let path = self.path.clone();
                    return Err(ClientError::Broken { path, message: error.to_string() });
                }
            }
        }
    }
}

pub(crate) async fn read<T: DeserializeOwned>(
    path: &str,
    response: Response<Incoming>,
) -> Result<T, ClientError> {
    if !response.status().is_success() {
        return Err(refusal(path, response).await);
    }
    let body = whole(path, response).await?;
    let strange =
        |error: serde_json::Error| ClientError::Strange { path: path.to_owned(), message: error.to_string() };
    serde_json::from_slice(&body).map_err(strange)
}

async fn refusal(path: &str, response: Response<Incoming>) -> ClientError {
    let status = response.status();
    match whole(path, response).await {
        Err(error) => error,
        Ok(body) => serde_json::from_slice(&body).map_or_else(
            |_| ClientError::Strange { path: path.to_owned(), message: format!("status {status}") },
            |problem| ClientError::Refused(Box::new(problem)),
        ),
    }
}

async fn whole(path: &str, response: Response<Incoming>) -> Result<Bytes, ClientError> {
    let body = response.into_body().collect().await;
    body.map(http_body_util::Collected::to_bytes)
        .map_err(|error| ClientError::Broken { path: path.to_owned(), message: error.to_string() })
}

impl fmt::Display for ClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ClientError::NoServer { path, source } => {
                write!(f, "no server answers at '{}': {source}", path.display())
            }
            ClientError::NotTheServer { path, pid } => {
                write!(f, "{} at '{}'", NotTheServer { pid: *pid }, path.display())
            }
            ClientError::Broken { path, message } => {
                write!(f, "the connection broke while asking for {path}: {message}")
            }
            ClientError::Refused(problem) => write!(f, "{}", problem.title),
            ClientError::Strange { path, message } => {
                write!(f, "the answer to {path} cannot be understood: {message}")
            }
        }
    }
}

impl std::error::Error for ClientError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ClientError::NoServer { source, .. } => Some(source),
            ClientError::NotTheServer { .. }
            | ClientError::Broken { .. }
            | ClientError::Refused(_)
            | ClientError::Strange { .. } => None,
        }
    }
}
