//! The door for browsers and scripts: TCP, on loopback unless the user's configuration says otherwise.
//!
//! It takes connections and bounds them; who comes through is decided in `http`. A door that cannot be opened keeps
//! nobody from being looked after: it says why, and is tried again when somebody asks for it.

pub(crate) mod house;
mod stall;
mod tls;

use std::{
    fmt, io,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::Path,
    pin::pin,
    sync::Arc,
    time::Duration,
};

use axum::Router;
use hyper::{body::Incoming, server::conn::http1, service::Service};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use ostler_files::{FILE_BYTES_MAX, private};
use serde_json::json;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    sync::{Notify, watch},
    time::{sleep, timeout},
};
use tokio_rustls::TlsAcceptor;

use self::{
    house::{Guest, House},
    stall::Stall,
    tls::{Certificate, TlsError},
};
use crate::{
    config::{AllowedHost, Config, Listen, Scheme},
    crash, descriptors,
    home::{Home, write_private},
    http::no_descriptors,
    log::{Level, Log},
    refused_connection::refuse,
};

/// The port, where nobody says another and nobody else has it.
const PORT: u16 = 7378;

/// The most connections at a time. Who comes then takes the place of one that asks for nothing.
const CONNECTIONS_MAX: usize = 512;

/// How long a client may take to say what it wants, and how long a connection may lie idle.
const HEAD_MAX: Duration = Duration::from_secs(30);

/// The most bytes of what comes before a body.
const HEAD_BYTES_MAX: usize = 32 << 10;

/// The most headers.
const HEADERS_MAX: usize = 64;

/// How long a client may take nothing of what it is sent.
const STALL_MAX: Duration = Duration::from_secs(30);

/// Between two attempts to take a connection that the system refused, for want of descriptors for instance.
const AGAIN: Duration = Duration::from_millis(100);

/// How long a door that is tried again may take to open.
const OPEN_MAX: Duration = Duration::from_secs(5);

/// The door, as those see it who want to know where it is.
#[derive(Debug)]
pub(crate) struct Door {
    home: Home,
    log: Arc<Log>,
    standing: watch::Sender<Standing>,
    knock: Notify,
}

/// How the door stands.
#[derive(Debug, Clone)]
pub(crate) enum Standing {
    /// It is not tried yet.
    Closed,
    /// The configuration wants none.
    Off,
    /// It is open.
    Open(Arc<Opened>),
    /// It cannot be opened, and why.
    Shut(String),
}

/// An open door.
#[derive(Debug)]
pub(crate) struct Opened {
    /// Where it listens.
    pub(crate) address: SocketAddr,
    /// Whether it speaks TLS itself.
    pub(crate) scheme: Scheme,
    /// Names beside its own.
    pub(crate) allowed_hosts: Vec<AllowedHost>,
}

/// How a request came: what is known of its connection.
#[derive(Debug, Clone)]
pub(crate) struct Arrival {
    /// The address at this end of it.
    pub(crate) local: SocketAddr,
    /// The door.
    pub(crate) door: Arc<Opened>,
}

/// Why the door is shut.
#[derive(Debug)]
enum ShutError {
    Config(crate::config::ConfigError),
    Tls(TlsError),
    Listen { address: SocketAddr, source: io::Error },
}

/// A listener, and what it is to speak.
struct Listening {
    listener: TcpListener,
    certificate: Option<Certificate>,
    door: Arc<Opened>,
}

impl Door {
    pub(crate) fn new(home: &Home, log: Arc<Log>) -> Arc<Door> {
        let (standing, _) = watch::channel(Standing::Closed);
        Arc::new(Door { home: home.clone(), log, standing, knock: Notify::new() })
    }

    /// How it stands now.
    pub(crate) fn standing(&self) -> Standing {
        self.standing.borrow().clone()
    }

    /// The same, after another try if it is not open: the configuration may have been mended.
    pub(crate) async fn ask(&self) -> Standing {
        let mut standing = self.standing.subscribe();
        let found = standing.borrow_and_update().clone();
        match found {
            Standing::Open(_) => return found,
            Standing::Off | Standing::Shut(_) => self.knock.notify_one(),
            Standing::Closed => {}
        }
        // A door that takes longer is as it was.
        drop(timeout(OPEN_MAX, standing.changed()).await);
        self.standing()
    }

    /// Takes connections for as long as there is a server.
    pub(crate) async fn serve(&self, router: Router) {
        loop {
            match self.open().await {
                Ok(Some(listening)) => {
                    self.standing.send_replace(Standing::Open(Arc::clone(&listening.door)));
                    listening.serve(router, &self.log).await;
                    return;
                }
                Ok(None) => drop(self.standing.send_replace(Standing::Off)),
                Err(error) => drop(self.standing.send_replace(Standing::Shut(error.to_string()))),
            }
            self.knock.notified().await;
        }
    }

    async fn open(&self) -> Result<Option<Listening>, ShutError> {
        let page = Config::of_user().map_err(ShutError::Config)?.page;
        let listener = match page.listen {
            Listen::Off => return Ok(None),
            Listen::Usual => self.any(IpAddr::V4(Ipv4Addr::LOCALHOST), &[PORT]).await?,
            Listen::At(address) if address.port() == 0 => self.any(address.ip(), &[]).await?,
            Listen::At(address) => listen(address).await?,
        };
        let certificate = page.tls.map(Certificate::read).transpose().map_err(ShutError::Tls)?;
        let address = listener.local_addr().map_err(|source| ShutError::Listen {
            address: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0),
            source,
        })?;
        let scheme = if certificate.is_some() { Scheme::Https } else { Scheme::Http };
        let door = Arc::new(Opened { address, scheme, allowed_hosts: page.allowed_hosts });
        Ok(Some(Listening { listener, certificate, door }))
    }

    /// At the port it had last, so that an open page and a bookmark find it again; else at one of these, or any.
    async fn any(&self, ip: IpAddr, ports: &[u16]) -> Result<TcpListener, ShutError> {
        let path = self.home.page_port();
        let kept = private::read_text(&path, FILE_BYTES_MAX).unwrap_or_default();
        let kept: Vec<u16> = kept.lines().filter_map(|line| line.trim().parse().ok()).take(2).collect();
        for port in kept.iter().chain(ports).filter(|&&port| port > 0) {
            if let Ok(listener) = listen(SocketAddr::new(ip, *port)).await {
                remember(&path, &kept, *port);
                return Ok(listener);
            }
        }
        let address = SocketAddr::new(ip, 0);
        let listener = listen(address).await?;
        let found = listener.local_addr().map_err(|source| ShutError::Listen { address, source })?;
        remember(&path, &kept, found.port());
        Ok(listener)
    }
}

/// Its own port stays its own. One that it has while somebody else is there is kept behind it, so that the next start
/// finds either. A full disk is no reason to stay shut.
fn remember(path: &Path, kept: &[u16], port: u16) {
    let text = match kept.first() {
        _ if kept.contains(&port) => return,
        Some(own) => format!("{own}\n{port}\n"),
        None => format!("{port}\n"),
    };
    write_private(path, text.as_bytes()).ok();
}

async fn listen(address: SocketAddr) -> Result<TcpListener, ShutError> {
    TcpListener::bind(address).await.map_err(|source| ShutError::Listen { address, source })
}

impl Listening {
    async fn serve(mut self, router: Router, log: &Log) {
        let service = TowerToHyperService::new(router);
        let house = House::new(CONNECTIONS_MAX);
        loop {
            let Ok((stream, _)) = self.listener.accept().await else {
                sleep(AGAIN).await;
                continue;
            };
            if !descriptors::can_admit() {
                // A client that expects TLS could not read it.
                if self.certificate.is_none() {
                    refuse(stream, &no_descriptors(), descriptors::RETRY_AFTER_S);
                }
                continue;
            }
            let Some(guest) = house.enter().await else { return };
            let acceptor = self.certificate.as_mut().map(|certificate| shown(certificate, log));
            let (service, door) = (service.clone(), Arc::clone(&self.door));
            tokio::spawn(async move {
                // A connection that breaks is the client's business.
                drop(take(stream, acceptor, door, service, guest).await);
            });
        }
    }
}

/// The certificate as its files are by now. One that was renewed badly is said, and the one before it shown on.
fn shown(certificate: &mut Certificate, log: &Log) -> TlsAcceptor {
    match certificate.renew() {
        None => {}
        Some(Ok(())) => log.info("page.certificate_renewed", json!({})),
        Some(Err(error)) => {
            log.write(Level::Warn, "page.certificate_kept", json!({ "message": error.to_string() }));
        }
    }
    certificate.acceptor()
}

/// One connection, from its first byte to its last.
async fn take(
    stream: TcpStream,
    acceptor: Option<TlsAcceptor>,
    door: Arc<Opened>,
    service: TowerToHyperService<Router>,
    guest: Arc<Guest>,
) -> io::Result<()> {
    let arrival = Arrival { local: stream.local_addr()?, door };
    // An event is small, and is to be seen at once.
    stream.set_nodelay(true)?;
    match acceptor {
        None => speak(stream, arrival, service, guest, STALL_MAX).await,
        Some(acceptor) => {
            let stream = tokio::select! {
                shaken = timeout(HEAD_MAX, acceptor.accept(stream)) => shaken??,
                () = guest.leaves() => return Ok(()),
            };
            speak(stream, arrival, service, guest, STALL_MAX).await
        }
    }
}

/// Answers the requests of one connection. Each request carries `about`: what is known of the connection.
pub(crate) async fn speak(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    about: impl Clone + Send + Sync + 'static,
    service: TowerToHyperService<Router>,
    guest: Arc<Guest>,
    stall_max: Duration,
) -> io::Result<()> {
    let asking = Arc::clone(&guest);
    let service = hyper::service::service_fn(move |mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(about.clone());
        let (answering, answer) = (asking.asks(), service.call(request));
        async move { answer.await.map(|response| response.map(|body| answering.with(body))) }
    });
    let mut speaking = pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(crash::patience(HEAD_MAX))
            .max_buf_size(HEAD_BYTES_MAX)
            .max_headers(HEADERS_MAX)
            .serve_connection(TokioIo::new(Stall::new(stream, stall_max)), service)
    );
    loop {
        tokio::select! {
            spoken = speaking.as_mut() => return spoken.map_err(io::Error::other),
            () = guest.leaves() => {
                if !guest.has_asked() {
                    return Ok(());
                }
                // What is still on its way arrives before the end.
                speaking.as_mut().graceful_shutdown();
            }
        }
    }
}

impl Opened {
    /// The beginning of every address of the page, as this machine reaches it.
    pub(crate) fn origin(&self) -> String {
        let mut address = self.address;
        if address.ip().is_unspecified() {
            // Whoever listens everywhere listens on loopback too.
            address.set_ip(if address.is_ipv6() {
                IpAddr::V6(std::net::Ipv6Addr::LOCALHOST)
            } else {
                IpAddr::V4(Ipv4Addr::LOCALHOST)
            });
        }
        let address = address.to_string();
        format!("{}://{}", self.scheme.as_str(), self.scheme.shorten(&address))
    }

    /// The same as other machines reach it, if they can.
    pub(crate) fn origin_away(&self) -> Option<String> {
        let named = self.allowed_hosts.iter().find(|it| !is_here(&it.host));
        if let Some(host) = named {
            return Some(format!("{}://{}", host.scheme.as_str(), host.host));
        }
        let ip = self.address.ip();
        (!ip.is_loopback() && !ip.is_unspecified()).then(|| self.origin())
    }
}

/// Whether a name means the machine on which it is said.
fn is_here(host: &str) -> bool {
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    let ip = name.trim_matches(['[', ']']).parse::<IpAddr>();
    name == "localhost" || name.ends_with(".localhost") || ip.is_ok_and(|ip| ip.is_loopback())
}

impl fmt::Display for ShutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ShutError::Config(source) => write!(f, "{source}"),
            ShutError::Tls(source) => write!(f, "{source}"),
            ShutError::Listen { address, source } => write!(f, "cannot listen on {address}: {source}"),
        }
    }
}

impl std::error::Error for ShutError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ShutError::Config(source) => Some(source),
            ShutError::Tls(source) => Some(source),
            ShutError::Listen { source, .. } => Some(source),
        }
    }
}
