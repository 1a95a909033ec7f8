//! Whether a caller may do what it asks for. Who it is says `caller`; what that takes says `access`.
//!
//! It keeps processes of agents from doing what only people do: to answer, to allow, to give or see secrets, to trust,
//! and to steer. They may look at the socket, and ask over the session's own. Over TCP nobody does or sees anything
//! without a sign-in. What remains stands in `docs/design/channel.md` and `docs/design/page.md`.

use axum::{
    extract::{MatchedPath, Request},
    http::{Method, StatusCode, header},
    middleware::Next,
    response::Response,
};
use hyper::body::Body;

use super::{
    access::{self, Need},
    caller::{Caller, Showed, foreign_origin},
    code::Code,
    extract::{BytesMax, not_json, too_large},
    files,
};
use crate::api::Problem;

/// Lets a request through to whoever answers it, or says why not. No body has been read by then.
pub(super) async fn guard(mut request: Request, next: Next) -> Result<Response, Problem> {
    let caller = request.extensions().get::<Caller>().copied();
    let caller = caller.ok_or_else(|| Problem::internal("it is not known who asks"))?;
    let is_write = !matches!(*request.method(), Method::GET | Method::HEAD);
    let route = request.extensions().get::<MatchedPath>();
    let is_file = route.is_some_and(|route| access::takes_file(route.as_str()));
    let bytes_max = BytesMax(access::bytes_max(route.map_or("", MatchedPath::as_str)));
    let need = match route {
        Some(route) => access::need(request.method(), route.as_str()),
        // There is nothing there, which is no secret; but only who may look is told.
        None if !is_write => Need::Look,
        None => Need::Act,
    };
    may(caller, need)?;
    if caller.is_remote() {
        check_origin(&request, caller, is_write)?;
        check_body(&request, is_write, is_file, bytes_max)?;
    }
    request.extensions_mut().insert(bytes_max);
    Ok(next.run(request).await)
}

/// Whether a caller is what something needs.
pub(super) fn may(caller: Caller, need: Need) -> Result<(), Problem> {
    match (caller, need) {
        (Caller::Person | Caller::Browser(_), _)
        | (_, Need::Nothing)
        | (Caller::Token { read_only: false, .. }, Need::Look | Need::Names | Need::Act)
        | (Caller::Token { read_only: true, .. } | Caller::Agent | Caller::Unseen, Need::Look) => Ok(()),
        (Caller::Stranger(showed), _) => Err(not_signed_in(showed)),
        (Caller::Token { read_only: true, .. }, _) => {
            Err(forbidden(Code::ReadOnly, "this token only looks, and sees no secrets")
                .hint("Nothing was done. Make one that may: ostler token make NAME"))
        }
        (Caller::Token { read_only: false, .. }, Need::Access) => {
            Err(forbidden(Code::NotWithToken, "who may come in is for a person to say, not for a token")
                .hint("Nothing was done. Use `ostler open` or `ostler token`, or the page."))
        }
        (Caller::Unseen, _) => Err(forbidden(
            Code::UnknownPeer,
            "it cannot be seen who asks: the process is gone, or another user's",
        )
        .hint("Nothing was done. Ask from a process that waits for the answer.")),
        (Caller::Agent, _) => {
            Err(forbidden(Code::Inside, "a process of an agent cannot do this: only a person can").hint(
                "Inside a session, `ostler ask`, `need` and `error` ask the person. In a shell of your own, \
                     `ostler doctor` says why.",
            ))
        }
    }
}

/// Whoever writes with a cookie says from which page.
fn check_origin(request: &Request, caller: Caller, is_write: bool) -> Result<(), Problem> {
    let says = request.headers().contains_key(header::ORIGIN);
    if is_write && matches!(caller, Caller::Browser(_)) && !says {
        return Err(foreign_origin("it is not said which page this comes from"));
    }
    Ok(())
}

/// A body is none that a form of another page could send, and none that is too long.
fn check_body(request: &Request, is_write: bool, is_file: bool, bytes_max: BytesMax) -> Result<(), Problem> {
    let wanted = if is_file { "application/octet-stream" } else { "application/json" };
    if request.body().size_hint().lower() > bytes_max.0 {
        return Err(if is_file { files::too_large() } else { too_large(bytes_max) });
    }
    let said = request.headers().get(header::CONTENT_TYPE).map(|it| it.to_str().unwrap_or_default());
    let is_wanted = match said {
        Some(kind) => kind.split(';').next().is_some_and(|it| it.trim().eq_ignore_ascii_case(wanted)),
        None => request.body().is_end_stream(),
    };
    if is_write && !is_wanted {
        return Err(not_json(wanted));
    }
    Ok(())
}

fn not_signed_in(showed: Showed) -> Problem {
    let (title, hint) = match showed {
        Showed::Nothing => ("nobody has signed in here", "Sign in by the link that `ostler open` prints."),
        Showed::Over => (
            "this sign-in or token is over",
            "Sign in again with `ostler open`, or make a new one: ostler token make NAME",
        ),
        Showed::Unknown => (
            "this sign-in or token is not known, or was taken back",
            "Sign in again with `ostler open`, or make a new one: ostler token make NAME",
        ),
        Showed::NoProof => (
            "the cookie alone signs nobody in",
            "Open the page by the link that `ostler open` prints; it sends the rest.",
        ),
    };
    Problem::new(StatusCode::UNAUTHORIZED, Code::NotSignedIn, title).hint(hint)
}

fn forbidden(code: Code, title: &str) -> Problem {
    Problem::new(StatusCode::FORBIDDEN, code, title)
}
