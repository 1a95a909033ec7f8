//! Who may come in over TCP: links, sign-ins and tokens. No event tells of it; the journal's
//! database has a fingerprint of each ([`crate::journal_fact`]).

use std::{sync::Arc, time::Duration};

use axum::{
    Extension, Json,
    extract::{FromRequest, Request, State},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde_json::json;
use tokio::{
    sync::Semaphore,
    time::{sleep, timeout},
};

use super::{
    App,
    caller::{Caller, Site, kept_cookie, no_cookie},
    code::Code,
    extract::{Body, Path},
    pace::too_slow,
    problem::not_written,
};
use crate::{
    api::{
        LinkView, NewLink, NewSignIn, NewToken, PageState, PageView, Problem, SignInKind, SignInView,
        SignedInView, TokenView,
    },
    sign_in::{self, Entry, Keeper, Kind, NotALink, NotKept},
    tcp::{Door, Opened, Standing},
};

/// How long somebody who is nobody yet may take to say its code.
const BODY_MAX: Duration = Duration::from_secs(10);

/// The longest body that is taken from somebody who is nobody yet.
pub(super) const BODY_BYTES_MAX: usize = 4 << 10;

/// How long a wrong code waits for its answer.
const WRONG: Duration = Duration::from_millis(500);

/// How many wrong codes wait at a time. A right one never does.
const WRONG_MAX: usize = 8;

/// The longest path of the page that a link leads to.
const PATH_BYTES_MAX: usize = 500;

/// For how many days a token is good, if nothing is said.
const DAYS: u32 = 90;

/// For how many at most.
const DAYS_MAX: u32 = 3650;

/// The longest name of a token.
const NAME_BYTES_MAX: usize = 64;

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// What is known of who comes in over TCP, and where.
#[derive(Debug)]
pub(crate) struct Entrance {
    pub(crate) keeper: Arc<Keeper>,
    pub(crate) door: Arc<Door>,
    wrong: Semaphore,
}

impl Entrance {
    pub(crate) fn new(keeper: Keeper, door: Arc<Door>) -> Arc<Entrance> {
        Arc::new(Entrance { keeper: Arc::new(keeper), door, wrong: Semaphore::new(WRONG_MAX) })
    }

    /// Where the page can be had.
    pub(super) fn page(&self) -> PageView {
        let none = |state, problem| PageView { state, url: None, away: None, problem };
        match self.door.standing() {
            Standing::Open(door) => PageView {
                state: PageState::Open,
                url: Some(door.origin()),
                away: door.origin_away(),
                problem: None,
            },
            Standing::Off => none(PageState::Off, None),
            Standing::Closed => none(PageState::Closed, None),
            Standing::Shut(why) => none(PageState::Shut, Some(why)),
        }
    }

    async fn opened(&self) -> Result<Arc<Opened>, Problem> {
        let conflict = |title: String| Problem::new(StatusCode::CONFLICT, Code::PageShut, title);
        match self.door.ask().await {
            Standing::Open(door) => Ok(door),
            Standing::Off => Err(conflict("the page is switched off: listen = \"off\"".to_owned())
                .hint("Change [page] in your configuration, and try again.")),
            Standing::Shut(why) => Err(conflict(format!("the page cannot be had: {why}"))
                .hint(
                    "Change [page] in your configuration, and try again. Agents are looked after meanwhile.",
                )
                .details(json!({ "why": why }))),
            Standing::Closed => {
                let why = "it is not open yet";
                let problem = conflict(format!("the page cannot be had: {why}"));
                Err(problem.hint("Try again.").details(json!({ "why": why })))
            }
        }
    }
}

/// A link that signs a browser in once.
#[utoipa::path(post, path = "/links", request_body = NewLink,
    responses((status = 201, body = LinkView), (status = 400, body = Problem), (status = 409, body = Problem)))]
pub(super) async fn link(
    State(app): State<App>,
    Body(new): Body<NewLink>,
) -> Result<(StatusCode, Json<LinkView>), Problem> {
    let path = new.path.unwrap_or_default();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~%?&=".contains(&byte);
    let is_path = path.is_empty() || (path.starts_with('/') && !path.starts_with("//"));
    if !is_path || path.len() > PATH_BYTES_MAX || !path.bytes().all(is_plain) {
        return Err(Problem::bad(Code::BadPath, format!("'{path}' is no path of the page"))
            .hint("Such as /requests/q_7, in the form that stands in an address."));
    }
    let door = app.entrance.opened().await?;
    let (code, over_at_ms) = app.entrance.keeper.make_link(app.driver.journal.clock().now_ms());
    // Behind the `#` it reaches no log, no proxy, and no program that looks at links in advance.
    let to = |origin: String| format!("{origin}/sign-in#{code}{path}");
    let link = LinkView { url: to(door.origin()), away: door.origin_away().map(to), over_at_ms };
    Ok((StatusCode::CREATED, Json(link)))
}

/// Signs a browser in.
#[utoipa::path(post, path = "/sign-in", request_body = NewSignIn,
    responses((status = 200, body = SignedInView), (status = 401, body = Problem), (status = 410, body = Problem),
        (status = 429, body = Problem)))]
pub(super) async fn sign_in(
    State(app): State<App>,
    site: Option<Extension<Site>>,
    request: Request,
) -> Result<Response, Problem> {
    let Some(Extension(site)) = site else {
        return Err(Problem::bad(Code::NotOverTcp, "at the socket nobody has to sign in")
            .hint("Send it to the address that `ostler open` prints."));
    };
    let name = browser_name(request.headers());
    let read = timeout(BODY_MAX, Body::<NewSignIn>::from_request(request, &())).await;
    let Body(NewSignIn { code }) = read.map_err(|_| too_slow("the code"))??;
    let door = app.entrance.opened().await?;
    // Behind the code stands where the link leads to.
    let code = code.split('/').next().unwrap_or_default().to_owned();
    let port = door.address.port();
    let signed_in = app.with_keeper(move |keeper, now_ms| keeper.sign_in(&code, name, port, now_ms)).await;
    let signed_in = match signed_in {
        Err(problem) if problem.status < 500 => return Err(app.slowly(problem).await),
        other => other?,
    };
    let (id, server) = (signed_in.id.to_string(), app.server_id());
    let view = SignedInView { proof: signed_in.proof, id, server };
    let cookie = kept_cookie(&site, port, &signed_in.cookie);
    Ok(with_cookie(Json(view), cookie))
}

/// Ends the sign-in that asks.
#[utoipa::path(post, path = "/sign-out",
    responses((status = 200, body = serde_json::Value), (status = 409, body = Problem)))]
pub(super) async fn sign_out(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    site: Option<Extension<Site>>,
) -> Result<Response, Problem> {
    let (Some(id), Some(Extension(site))) = (caller.sign_in(), site) else {
        let title = "nobody has signed in at the socket";
        return Err(Problem::new(StatusCode::CONFLICT, Code::NotOverTcp, title)
            .hint("To end another's: ostler token revoke ID"));
    };
    let id = id.to_string();
    let ended = id.clone();
    app.with_keeper(move |keeper, now_ms| keeper.revoke(&ended, now_ms)).await?;
    let door = app.entrance.opened().await?;
    Ok(with_cookie(Json(json!({ "revoked": id })), no_cookie(&site, door.address.port())))
}

/// Everybody who may come in over TCP, oldest first.
#[utoipa::path(get, path = "/sign-ins", responses((status = 200, body = [SignInView])))]
pub(super) async fn list(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
) -> Json<Vec<SignInView>> {
    let all = app.entrance.keeper.list(app.driver.journal.clock().now_ms());
    let forged = app.entrance.keeper.forged().into_iter();
    let forged = forged.map(|entry| SignInView { forged: true, current: false, ..view(entry, caller) });
    Json(all.into_iter().map(|entry| view(entry, caller)).chain(forged).collect())
}

/// Ends a sign-in by its id, or a token by its name too.
#[utoipa::path(post, path = "/sign-ins/{id}/revoke", params(("id" = String, Path)),
    responses((status = 200, body = SignInView), (status = 404, body = Problem)))]
pub(super) async fn revoke(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Json<SignInView>, Problem> {
    let revoked = app.with_keeper(move |keeper, now_ms| keeper.revoke(&id, now_ms)).await?;
    Ok(Json(view(revoked, caller)))
}

/// Makes a token for a script.
#[utoipa::path(post, path = "/tokens", request_body = NewToken,
    responses((status = 201, body = TokenView), (status = 400, body = Problem), (status = 409, body = Problem)))]
pub(super) async fn make_token(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Body(NewToken { name, days, read_only }): Body<NewToken>,
) -> Result<(StatusCode, Json<TokenView>), Problem> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let is_id = name.parse::<sign_in::SignInId>().is_ok();
    if name.is_empty() || name.len() > NAME_BYTES_MAX || is_id || !name.bytes().all(is_plain) {
        return Err(Problem::bad(Code::BadName, format!("'{name}' is no name for a token"))
            .hint("Up to 64 letters, digits, '-', '_' and '.', such as 'ci'; 'k_' with a number is an id."));
    }
    let days = days.unwrap_or(DAYS);
    if !(1..=DAYS_MAX).contains(&days) {
        let title = format!("a token is good for 1 to {DAYS_MAX} days, not for {days}");
        return Err(Problem::bad(Code::BadTime, title));
    }
    let made = app.with_keeper(move |keeper, now_ms| {
        let over_at_ms = now_ms.saturating_add(u64::from(days) * DAY_MS);
        keeper.make_token(sign_in::NewToken { name, read_only, over_at_ms }, now_ms)
    });
    let (token, entry) = made.await?;
    Ok((StatusCode::CREATED, Json(TokenView { token, sign_in: view(entry, caller) })))
}

impl App {
    /// Does something with who may come in, on a thread that may wait.
    async fn with_keeper<T: Send + 'static>(
        &self,
        what: impl FnOnce(&Keeper, u64) -> Result<T, NotKept> + Send + 'static,
    ) -> Result<T, Problem> {
        let (keeper, now_ms) = (Arc::clone(&self.entrance.keeper), self.driver.journal.clock().now_ms());
        let done = tokio::task::spawn_blocking(move || what(&keeper, now_ms)).await;
        done.map_err(|error| Problem::internal(error.to_string()))?.map_err(|error| problem(&error))
    }

    /// Somebody who guesses waits, and of many who guess all but a few are sent away.
    async fn slowly(&self, problem: Problem) -> Problem {
        let Ok(_place) = self.entrance.wrong.try_acquire() else {
            let title = "too many wrong codes at once";
            return Problem::new(StatusCode::TOO_MANY_REQUESTS, Code::TooManyTries, title)
                .hint("Wait a moment, and sign in by the link that `ostler open` prints.");
        };
        sleep(WRONG).await;
        problem
    }
}

fn problem(error: &NotKept) -> Problem {
    const AGAIN: &str = "A link is good once and for ten minutes. Make another: ostler open";
    let (status, code, hint) = match error {
        NotKept::Link(NotALink::Unknown) => (StatusCode::UNAUTHORIZED, Code::LinkUnknown, AGAIN),
        NotKept::Link(NotALink::Used) => (StatusCode::GONE, Code::LinkUsed, AGAIN),
        NotKept::Link(NotALink::Over) => (StatusCode::GONE, Code::LinkOver, AGAIN),
        NotKept::Taken { .. } => (
            StatusCode::CONFLICT,
            Code::TokenTaken,
            "Take another name, or revoke it: ostler token revoke NAME",
        ),
        NotKept::TooMany => {
            (StatusCode::CONFLICT, Code::TooManyTokens, "Revoke one that is not used: ostler token list")
        }
        NotKept::Unknown { .. } => (StatusCode::NOT_FOUND, Code::NoSignIn, "List them: ostler token list"),
        NotKept::Io { .. } => return not_written(error.to_string()),
    };
    let details = match error {
        NotKept::Taken { name } | NotKept::Unknown { wanted: name } => json!({ "name": name }),
        _ => serde_json::Value::Null,
    };
    Problem::new(status, code, error.to_string()).hint(hint).details(details)
}

fn view(entry: Entry, caller: Caller) -> SignInView {
    SignInView {
        id: entry.id.to_string(),
        kind: if entry.kind == Kind::Browser { SignInKind::Browser } else { SignInKind::Token },
        read_only: entry.kind == Kind::ReadOnlyToken,
        name: entry.name,
        made_at_ms: entry.made_at_ms,
        used_at_ms: entry.used_at_ms,
        over_at_ms: entry.over_at_ms,
        current: caller.sign_in() == Some(entry.id),
        forged: false,
    }
}

fn with_cookie(body: impl IntoResponse, cookie: Option<HeaderValue>) -> Response {
    let mut response = body.into_response();
    if let Some(cookie) = cookie {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}

/// What a person would call the browser that asks, as far as it says so.
fn browser_name(headers: &HeaderMap) -> String {
    let text = headers.get(header::USER_AGENT).and_then(|it| it.to_str().ok()).unwrap_or_default();
    // Most browsers also claim to be those that come later in the list.
    let find = |names: &[(&str, &str)]| {
        names.iter().find(|(part, _)| text.contains(part)).map(|(_, name)| (*name).to_owned())
    };
    let browser = find(&[
        ("Firefox", "Firefox"),
        ("Edg", "Edge"),
        ("OPR", "Opera"),
        ("SamsungBrowser", "Samsung Internet"),
        ("Chrom", "Chrome"),
        ("CriOS", "Chrome"),
        ("FxiOS", "Firefox"),
        ("Safari", "Safari"),
        ("curl", "curl"),
    ]);
    let system = find(&[
        ("Android", "Android"),
        ("iPhone", "iPhone"),
        ("iPad", "iPad"),
        ("Windows", "Windows"),
        ("Mac OS", "macOS"),
        ("CrOS", "ChromeOS"),
        ("Linux", "Linux"),
    ]);
    match (browser, system) {
        (Some(browser), Some(system)) => format!("{browser}, {system}"),
        (Some(name), None) | (None, Some(name)) => name,
        (None, None) => "browser".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_that_signs_nobody_in_says_why_and_what_to_do() {
        for (why, status, kind) in [
            (NotALink::Unknown, 401, "link_unknown"),
            (NotALink::Used, 410, "link_used"),
            (NotALink::Over, 410, "link_over"),
        ] {
            let problem = problem(&NotKept::Link(why));
            assert_eq!((problem.status, problem.kind.as_str()), (status, kind));
            assert!(problem.hint.is_some_and(|hint| hint.contains("ostler open")), "{kind}");
        }
    }

    #[test]
    fn a_browser_is_called_what_a_person_calls_it() {
        let named = |agent: &'static str| {
            let agent = HeaderValue::from_static(agent);
            browser_name(&HeaderMap::from_iter([(header::USER_AGENT, agent)]))
        };
        let chrome = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36";
        assert_eq!(named(chrome), "Chrome, Linux");
        let safari = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1 Version/18.0 Safari/604.1";
        assert_eq!(named(safari), "Safari, iPhone");
        assert_eq!(named("Mozilla/5.0 (Android 15; Mobile; rv:130.0) Firefox/130.0"), "Firefox, Android");
        assert_eq!(browser_name(&HeaderMap::new()), "browser");
    }
}
