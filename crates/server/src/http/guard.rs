//! Keeps processes of agents from doing what only people do: to answer, to allow, to give or see secrets, to trust, and
//! to steer. They may look, and ask over the session's own socket.
//!
//! It keeps out mistakes and easy tricks, not somebody with the same user who means harm; `docs/design/channel.md` says
//! what remains.

use axum::{
    extract::{ConnectInfo, Request},
    http::{Method, StatusCode},
    middleware::Next,
    response::Response,
};

use super::code::Code;
use crate::{
    api::Problem,
    peer::{Belongs, Peer},
};

/// Lets people do everything, and processes of agents look.
pub(super) async fn guard(
    ConnectInfo(peer): ConnectInfo<Peer>,
    request: Request,
    next: Next,
) -> Result<Response, Problem> {
    if peer.belongs == Belongs::User || only_looks(request.method(), request.uri().path()) {
        return Ok(next.run(request).await);
    }
    let forbidden = |kind, title| Problem::new(StatusCode::FORBIDDEN, kind, title);
    Err(match peer.belongs {
        Belongs::Nobody => {
            forbidden(Code::UnknownPeer, "it cannot be seen who asks: the process is gone, or another user's")
                .hint("Nothing was done. Ask from a process that waits for the answer.")
        }
        _ => forbidden(Code::Inside, "a process of an agent cannot do this: only a person can")
            .hint("Inside a session, `ostler ask`, `need` and `error` ask the person."),
    })
}

fn only_looks(method: &Method, path: &str) -> bool {
    let is_read = method == Method::GET || method == Method::HEAD;
    // Inside the interface, and as a whole path.
    let is_secret = path.trim_start_matches("/api/v1").starts_with("/secrets");
    is_read && !is_secret
}
