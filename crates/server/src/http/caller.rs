//! Who asks. At the socket the kernel says so; over TCP it is shown, with every request.
//!
//! Over TCP, what comes from another page or is meant for another host is refused here, before anybody is looked at.

use std::sync::Arc;

use axum::{
    extract::{ConnectInfo, Request, State},
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};

use super::{
    access::{self, Need},
    code::Code,
    guard, leave,
};
use crate::{
    api::Problem,
    clock::Clock,
    config::Scheme,
    peer::{Belongs, Peer},
    sign_in::{BROWSER_MS, Keeper, Kind, Shown, SignInId, TOKEN_PREFIX},
    tcp::{Arrival, Opened},
};

/// The header with what a browser shows beside its cookie.
const PROOF: &str = "ostler-proof";

/// The header by which a page knows its server again, whoever it is signed in with.
const SERVER: &str = "ostler-server";

/// What a browser may do with what it is sent: show it, and nothing of anybody else's.
const HEADERS: &[(&str, &str)] = &[
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; \
         connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
];

/// Who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Caller {
    /// A person's program, at the socket.
    Person,
    /// A process of an agent, at the socket.
    Agent,
    /// A process at the socket of which nothing can be said.
    Unseen,
    /// A browser that has signed in.
    Browser(SignInId),
    /// A script with a token.
    Token {
        id: SignInId,
        /// Whether it may only look.
        read_only: bool,
    },
    /// Somebody over TCP who shows nothing that is known.
    Stranger(Showed),
}

/// What a stranger showed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Showed {
    /// Nothing.
    Nothing,
    /// Something that nobody was given, or that was taken away.
    Unknown,
    /// Something that is over.
    Over,
    /// A cookie, and not what belongs to it.
    NoProof,
}

/// What is needed to know who asks over TCP.
#[derive(Debug, Clone)]
pub(super) struct Doorman {
    pub(super) keeper: Arc<Keeper>,
    pub(super) clock: Clock,
    /// By what a page knows the server again.
    pub(super) server: HeaderValue,
}

/// The address of the page as the browser has it that asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Site {
    pub(super) scheme: Scheme,
    pub(super) host: String,
}

impl Caller {
    /// Whether it came over TCP.
    pub(super) fn is_remote(self) -> bool {
        matches!(self, Caller::Browser(_) | Caller::Token { .. } | Caller::Stranger(_))
    }

    /// Whether it may see which secrets there are.
    pub(super) fn sees_names(self) -> bool {
        guard::may(self, Need::Names).is_ok()
    }

    /// By what it has signed in.
    pub(super) fn sign_in(self) -> Option<SignInId> {
        match self {
            Caller::Browser(id) | Caller::Token { id, .. } => Some(id),
            Caller::Person | Caller::Agent | Caller::Unseen | Caller::Stranger(_) => None,
        }
    }
}

/// Whoever is at the socket is who the kernel says.
pub(super) async fn at_socket(
    ConnectInfo(peer): ConnectInfo<Peer>,
    mut request: Request,
    next: Next,
) -> Response {
    let caller = match peer.belongs {
        Belongs::User => Caller::Person,
        Belongs::Shim(_) | Belongs::Marked | Belongs::Server => Caller::Agent,
        Belongs::Nobody => Caller::Unseen,
    };
    request.extensions_mut().insert(caller);
    next.run(request).await
}

/// Whoever comes over TCP is who they show to be.
pub(super) async fn over_tcp(State(doorman): State<Doorman>, mut request: Request, next: Next) -> Response {
    let is_page = !request.uri().path().starts_with(access::PREFIX);
    let mut renewed = None;
    let mut response = match admit(&request, is_page) {
        Err(problem) => problem.into_response(),
        Ok((site, door)) => {
            let (caller, cookie) = doorman.look(request.headers(), &site, door.address.port());
            renewed = cookie;
            request.extensions_mut().insert(site);
            request.extensions_mut().insert(caller);
            let mut response = next.run(request).await;
            // Not where somebody else's name leads here: a page of theirs could read it, and know its visitors by it.
            response.headers_mut().insert(SERVER, doorman.server.clone());
            match caller.sign_in() {
                Some(id) => leave::with_sign_in(response, id, &doorman.keeper, doorman.clock),
                None => response,
            }
        }
    };
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(*name, HeaderValue::from_static(value));
    }
    if !headers.contains_key(header::CACHE_CONTROL) {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    if let Some(cookie) = renewed.filter(|_| !headers.contains_key(header::SET_COOKIE)) {
        headers.insert(header::SET_COOKIE, cookie);
    }
    response
}

/// Sees that a request is meant for this server, and does not come from a page of somebody else's.
fn admit(request: &Request, is_page: bool) -> Result<(Site, Arc<Opened>), Problem> {
    let arrival = request.extensions().get::<Arrival>();
    let arrival = arrival.ok_or_else(|| Problem::internal("it is not known how this request came"))?;
    let site = site(request, arrival).ok_or_else(|| {
        let title = "this server does not answer under that name";
        let hint = "Open the address that `ostler open` prints, or allow the name: allowed_hosts in [page].";
        Problem::new(StatusCode::MISDIRECTED_REQUEST, Code::ForeignHost, title).hint(hint)
    })?;
    let is_ours = is_own(request.headers(), &site) || (is_page && is_navigation(request));
    if !is_ours {
        return Err(foreign_origin("this comes from a page of another site"));
    }
    Ok((site, Arc::clone(&arrival.door)))
}

/// What another page wants, or may want.
pub(super) fn foreign_origin(title: &str) -> Problem {
    Problem::new(StatusCode::FORBIDDEN, Code::ForeignOrigin, title)
        .hint("Nothing was done. Use the page itself, or a token: ostler token make NAME")
}

/// The name under which the server is asked, if it is one of its own.
fn site(request: &Request, arrival: &Arrival) -> Option<Site> {
    let mut hosts = request.headers().get_all(header::HOST).iter();
    let host = hosts.next()?.to_str().ok()?.to_ascii_lowercase();
    let said_twice = request.uri().authority().is_some_and(|it| !it.as_str().eq_ignore_ascii_case(&host));
    if hosts.next().is_some() || said_twice {
        return None;
    }
    let (door, port) = (&arrival.door, arrival.door.address.port());
    // The address of this very connection: a name that somebody else owns can point here, an address cannot.
    let own = [arrival.local.to_string(), format!("localhost:{port}")];
    if own.iter().any(|own| door.scheme.shorten(own) == host) {
        return Some(Site { scheme: door.scheme, host });
    }
    let allowed = door.allowed_hosts.iter().find(|allowed| allowed.is(&host, port))?;
    Some(Site { scheme: allowed.scheme, host })
}

/// Whether a request comes from the page itself, or from no page at all.
fn is_own(headers: &HeaderMap, site: &Site) -> bool {
    let origin = format!("{}://{}", site.scheme.as_str(), site.host);
    let origins = headers.get_all(header::ORIGIN).iter().all(|it| it.as_bytes() == origin.as_bytes());
    let from = headers.get_all("sec-fetch-site").iter();
    origins && from.into_iter().all(|it| it == "same-origin" || it == "none")
}

/// Whether somebody opens the page, from a message or a bookmark. It holds nothing private, and can be in no frame.
fn is_navigation(request: &Request) -> bool {
    let is_get = matches!(*request.method(), Method::GET | Method::HEAD);
    let is = |name: &str, value: &str| request.headers().get(name).is_some_and(|it| it == value);
    is_get && is("sec-fetch-mode", "navigate") && is("sec-fetch-dest", "document")
}

impl Doorman {
    /// Who shows what, and a cookie that is to last longer if it was used today for the first time.
    fn look(&self, headers: &HeaderMap, site: &Site, port: u16) -> (Caller, Option<HeaderValue>) {
        let now_ms = self.clock.now_ms();
        let text = |name: &str| headers.get(name).and_then(|it| it.to_str().ok());
        let authorization = text("authorization");
        let shown = authorization.map(|shown| shown.split_once(' ').unwrap_or((shown, "")));
        if let Some((_, token)) = shown.filter(|(way, _)| way.eq_ignore_ascii_case("bearer")) {
            let token = Some(token.trim()).filter(|it| it.starts_with(TOKEN_PREFIX));
            let shown = token.map_or(Shown::Unknown, |token| self.keeper.show_token(token, now_ms));
            return (known(shown), None);
        }
        // Any other word beside a cookie is meant for a proxy that hands it on, and says nothing here.
        let Some(cookie) = cookie(headers, port) else {
            let showed = if authorization.is_some() { Showed::Unknown } else { Showed::Nothing };
            return (Caller::Stranger(showed), None);
        };
        let Some(proof) = text(PROOF) else { return (Caller::Stranger(Showed::NoProof), None) };
        let shown = self.keeper.show_cookie(cookie, proof, port, now_ms);
        let first_today = matches!(shown, Shown::Known { first_today: true, .. });
        (known(shown), first_today.then(|| kept_cookie(site, port, cookie)).flatten())
    }
}

fn known(shown: Shown) -> Caller {
    match shown {
        Shown::Known { id, kind: Kind::Browser, .. } => Caller::Browser(id),
        Shown::Known { id, kind: Kind::Token, .. } => Caller::Token { id, read_only: false },
        Shown::Known { id, kind: Kind::ReadOnlyToken, .. } => Caller::Token { id, read_only: true },
        Shown::Over => Caller::Stranger(Showed::Over),
        Shown::Unknown => Caller::Stranger(Showed::Unknown),
    }
}

/// Cookies do not know ports, so the port is in the name: two servers on one host keep theirs apart.
fn cookie_name(port: u16) -> String {
    format!("ostler_{port}")
}

fn cookie(headers: &HeaderMap, port: u16) -> Option<&str> {
    let name = cookie_name(port);
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|it| it.to_str().ok());
    let mut pairs = cookies.flat_map(|it| it.split(';')).filter_map(|it| it.trim().split_once('='));
    pairs.find(|(known, _)| *known == name).map(|(_, value)| value)
}

/// A cookie that a browser is to keep.
pub(super) fn kept_cookie(site: &Site, port: u16, value: &str) -> Option<HeaderValue> {
    set_cookie(site, port, value, BROWSER_MS / 1000)
}

/// A cookie that a browser is to forget.
pub(super) fn no_cookie(site: &Site, port: u16) -> Option<HeaderValue> {
    set_cookie(site, port, "", 0)
}

fn set_cookie(site: &Site, port: u16, value: &str, age_s: u64) -> Option<HeaderValue> {
    let secure = if site.scheme == Scheme::Https { "; Secure" } else { "" };
    let name = cookie_name(port);
    let text = format!("{name}={value}; HttpOnly; SameSite=Strict; Path=/; Max-Age={age_s}{secure}");
    HeaderValue::from_str(&text).ok()
}
