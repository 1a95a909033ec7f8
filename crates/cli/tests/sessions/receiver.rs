//! Somebody who is told: a real server on loopback that keeps what comes, and answers as it is told to.

use std::{
    collections::VecDeque,
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    path::Path,
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use serde_json::Value;
use tokio_rustls::rustls::{
    ServerConfig, ServerConnection, StreamOwned, crypto,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};

use crate::support::DEADLINE;

/// Something that came.
#[derive(Debug, Clone)]
pub(crate) struct Taken {
    pub(crate) method: String,
    pub(crate) path: String,
    /// Names in small letters.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

/// How something is answered.
#[derive(Debug, Clone)]
pub(crate) enum Reply {
    /// With a status, and lines of the head.
    Status(u16, String),
    /// Not at all: the connection stays open.
    Hang,
    /// Not at all: the connection breaks.
    Break,
}

/// Somebody who is told.
#[derive(Clone)]
pub(crate) struct Receiver {
    address: SocketAddr,
    scheme: &'static str,
    taken: Arc<Mutex<Vec<Taken>>>,
    replies: Arc<Mutex<VecDeque<Reply>>>,
    /// How many have connected.
    connected: Arc<Mutex<usize>>,
}

impl Receiver {
    pub(crate) fn new() -> Receiver {
        Receiver::listening("http", None)
    }

    /// With the certificate of the tests.
    pub(crate) fn encrypted() -> Receiver {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sessions/tls");
        let certificate = CertificateDer::from_pem_file(folder.join("cert.pem")).expect("a certificate");
        let key = PrivateKeyDer::from_pem_file(folder.join("key.pem")).expect("a key");
        let provider = Arc::new(crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let builder = builder.expect("ring has what TLS needs").with_no_client_auth();
        let config = builder.with_single_cert(vec![certificate], key).expect("they belong together");
        Receiver::listening("https", Some(Arc::new(config)))
    }

    fn listening(scheme: &'static str, tls: Option<Arc<ServerConfig>>) -> Receiver {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
        let address = listener.local_addr().expect("an address");
        let receiver = Receiver {
            address,
            scheme,
            taken: Arc::default(),
            replies: Arc::default(),
            connected: Arc::default(),
        };
        let this = receiver.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                *this.connected.lock().expect("a lock") += 1;
                let (this, tls) = (this.clone(), tls.clone());
                thread::spawn(move || this.serve(stream, tls));
            }
        });
        receiver
    }

    /// Where it is, by the name that its certificate has.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}://localhost:{}{path}", self.scheme, self.address.port())
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    /// The next is answered so; behind that everything with 200.
    pub(crate) fn replies(&self, replies: impl IntoIterator<Item = Reply>) {
        self.replies.lock().expect("a lock").extend(replies);
    }

    pub(crate) fn taken(&self) -> Vec<Taken> {
        self.taken.lock().expect("a lock").clone()
    }

    pub(crate) fn connected(&self) -> usize {
        *self.connected.lock().expect("a lock")
    }

    fn serve(&self, stream: TcpStream, tls: Option<Arc<ServerConfig>>) {
        stream.set_read_timeout(Some(DEADLINE)).expect("a time");
        match tls {
            None => self.talk(stream),
            Some(config) => {
                let connection = ServerConnection::new(config).expect("it is whole");
                self.talk(StreamOwned::new(connection, stream));
            }
        }
    }

    /// One request. Who breaks off has sent nothing.
    fn talk(&self, mut stream: impl Read + Write) {
        let Some(taken) = read(&mut stream) else { return };
        self.taken.lock().expect("a lock").push(taken);
        let reply = self.replies.lock().expect("a lock").pop_front();
        match reply.unwrap_or(Reply::Status(200, String::new())) {
            Reply::Status(status, head) => {
                let answer = format!("HTTP/1.1 {status} X\r\n{head}Content-Length: 2\r\n\r\nok");
                stream.write_all(answer.as_bytes()).and_then(|()| stream.flush()).ok();
            }
            Reply::Hang => loop {
                thread::sleep(Duration::from_hours(1));
            },
            Reply::Break => {}
        }
    }
}

fn read(stream: &mut impl Read) -> Option<Taken> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split(' ');
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.push((name.to_lowercase(), value.to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length = length.and_then(|(_, value)| value.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Taken { method, path, headers, body })
}

impl Taken {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(it, _)| it == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("a body of JSON")
    }
}
