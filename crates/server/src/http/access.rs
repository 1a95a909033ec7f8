//! What each route asks of whoever asks for it. Every route has its row here, and a test of the document sees to that;
//! one without counts as one that changes something.

use axum::http::Method;

use super::{BODY_BYTES_MAX, sign_in};
use crate::uploads;

/// What a caller has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Anybody, for a reason that the row says.
    Nothing,
    /// Somebody who may look.
    Look,
    /// Somebody who may see which secrets there are.
    Names,
    /// Somebody who may change something.
    Act,
    /// A person, at the socket or in a browser: who comes in, and what was seen, nobody else says.
    Access,
}

/// How the interface begins.
pub(super) const PREFIX: &str = "/api/v1";

/// Where somebody signs in who is nobody yet.
const SIGN_IN: &str = "/sign-in";

/// The routes of the interface without their beginning, and those beside it.
const ROUTES: &[(&str, &str, Need)] = &[
    ("GET", "/info", Need::Look),
    ("GET", "/status", Need::Look),
    ("GET", "/looked", Need::Look),
    // What a script has read no person has seen.
    ("POST", "/looked", Need::Access),
    ("GET", "/runs", Need::Look),
    ("POST", "/runs", Need::Act),
    ("POST", "/demo", Need::Act),
    ("GET", "/phases", Need::Look),
    ("POST", "/phases", Need::Act),
    ("GET", "/phases/{id}", Need::Look),
    ("GET", "/phases/{id}/report", Need::Look),
    ("GET", "/phases/{id}/file", Need::Look),
    ("GET", "/phases/{id}/diff", Need::Look),
    ("POST", "/phases/{id}/export", Need::Act),
    ("GET", "/orchestrate", Need::Look),
    ("POST", "/orchestrate", Need::Act),
    ("GET", "/orchestrate/{id}", Need::Look),
    ("POST", "/executions", Need::Act),
    ("GET", "/runs/{id}", Need::Look),
    ("GET", "/sessions", Need::Look),
    ("GET", "/sessions/{id}", Need::Look),
    ("POST", "/sessions/{id}/pause", Need::Act),
    ("POST", "/sessions/{id}/continue", Need::Act),
    ("POST", "/sessions/{id}/rename", Need::Act),
    ("POST", "/sessions/{id}/cancel", Need::Act),
    ("POST", "/sessions/{id}/resume", Need::Act),
    ("POST", "/sessions/{id}/messages", Need::Act),
    ("POST", "/sessions/{id}/size", Need::Act),
    ("POST", "/sessions/{id}/permissions/{number}/revoke", Need::Act),
    ("POST", "/sessions/{id}/merge", Need::Act),
    ("POST", "/sessions/{id}/discard", Need::Act),
    ("GET", "/sessions/{id}/diff", Need::Look),
    ("POST", "/sessions/{id}/checkpoints", Need::Act),
    ("GET", "/sessions/{id}/output", Need::Look),
    ("GET", "/sessions/{id}/output/search", Need::Look),
    ("GET", "/sessions/{id}/secrets", Need::Names),
    ("GET", "/search", Need::Look),
    ("GET", "/memory", Need::Look),
    ("GET", "/projects/{id}/memory", Need::Look),
    ("GET", "/checkpoints", Need::Look),
    ("POST", "/checkpoints/prune", Need::Act),
    ("GET", "/checkpoints/{id}", Need::Look),
    ("GET", "/checkpoints/{id}/diff", Need::Look),
    ("POST", "/checkpoints/{id}/restore", Need::Act),
    ("GET", "/inbox", Need::Look),
    ("GET", "/projects", Need::Look),
    ("POST", "/projects", Need::Act),
    ("GET", "/projects/{id}", Need::Look),
    ("GET", "/tasks", Need::Look),
    ("GET", "/projects/{id}/tasks", Need::Look),
    ("GET", "/projects/{id}/tasks/{task}", Need::Look),
    ("POST", "/projects/{id}/tasks/{task}/first", Need::Act),
    ("POST", "/projects/{id}/tasks/{task}/skip", Need::Act),
    ("POST", "/projects/{id}/tasks/{task}/retry", Need::Act),
    ("POST", "/projects/{id}/phases/{phase}/close", Need::Act),
    ("GET", "/office", Need::Look),
    ("GET", "/projects/{id}/office", Need::Look),
    ("GET", "/projects/{id}/office/invocations", Need::Look),
    ("GET", "/projects/{id}/office/diagram", Need::Look),
    ("GET", "/projects/{id}/office/results", Need::Look),
    ("GET", "/projects/{id}/office/questions", Need::Look),
    ("POST", "/projects/{id}/office/messages", Need::Act),
    ("GET", "/invocations/{id}", Need::Look),
    ("POST", "/invocations/{id}/cancel", Need::Act),
    ("GET", "/results/{id}", Need::Look),
    ("GET", "/results/{id}/content", Need::Look),
    ("GET", "/requests", Need::Look),
    ("GET", "/requests/{id}", Need::Look),
    ("POST", "/requests/{id}/answer", Need::Act),
    ("POST", "/requests/{id}/file", Need::Act),
    ("POST", "/requests/{id}/review", Need::Act),
    ("GET", "/events", Need::Look),
    ("GET", "/trust", Need::Look),
    ("POST", "/trust", Need::Act),
    ("POST", "/trust/revoke", Need::Act),
    ("GET", "/trusted", Need::Look),
    ("GET", "/usage", Need::Look),
    ("GET", "/agents", Need::Look),
    ("GET", "/agents/{name}", Need::Look),
    ("GET", "/secrets", Need::Names),
    ("POST", "/secrets", Need::Act),
    ("POST", "/secrets/remove", Need::Act),
    ("POST", "/secrets/unlock", Need::Act),
    ("GET", "/notifications", Need::Look),
    ("POST", "/notifications/{name}/test", Need::Act),
    ("POST", "/stop", Need::Act),
    ("GET", "/openapi.json", Need::Look),
    ("POST", "/links", Need::Access),
    // Whoever signs in is nobody yet. The code is what they show.
    ("POST", SIGN_IN, Need::Nothing),
    ("POST", "/sign-out", Need::Act),
    ("GET", "/sign-ins", Need::Access),
    ("POST", "/sign-ins/{id}/revoke", Need::Access),
    ("POST", "/tokens", Need::Access),
    // Whoever looks after the machine may know that the server lives; a word says nothing else.
    ("GET", "/healthz", Need::Nothing),
    ("GET", "/readyz", Need::Nothing),
    ("GET", "/metrics", Need::Look),
];

/// Those that take a file, which is bounded where it is taken.
const FILES: &[&str] = &["/requests/{id}/file"];

/// Every route with what it asks: method, path, need. Those of the interface stand without its beginning.
pub fn routes() -> impl Iterator<Item = (&'static str, &'static str, Need)> {
    ROUTES.iter().copied()
}

/// Whether a route takes a file.
pub(super) fn takes_file(route: &str) -> bool {
    FILES.contains(&route.strip_prefix(PREFIX).unwrap_or(route))
}

/// The longest body that a route takes.
pub(super) fn bytes_max(route: &str) -> u64 {
    match route.strip_prefix(PREFIX).unwrap_or(route) {
        SIGN_IN => sign_in::BODY_BYTES_MAX as u64,
        _ if takes_file(route) => uploads::BYTES_MAX,
        _ => BODY_BYTES_MAX as u64,
    }
}

/// What a route asks.
pub(super) fn need(method: &Method, route: &str) -> Need {
    let route = route.strip_prefix(PREFIX).unwrap_or(route);
    // Whoever may see something may see whether it is there.
    let method = if method == Method::HEAD { "GET" } else { method.as_str() };
    let row = ROUTES.iter().find(|(known, path, _)| *known == method && *path == route);
    row.map_or(Need::Act, |(_, _, need)| *need)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_route_is_decided_and_nothing_else() {
        let document = crate::http::openapi();
        let paths = document["paths"].as_object().expect("a document has paths");
        let mut documented: BTreeSet<String> = paths
            .iter()
            .flat_map(|(path, methods)| {
                let methods = methods.as_object().expect("a path has methods");
                methods
                    .keys()
                    .filter(|it| *it != "servers")
                    .map(move |method| format!("{} {path}", method.to_uppercase()))
            })
            .collect();
        documented.insert("GET /openapi.json".into());
        let decided: BTreeSet<String> =
            ROUTES.iter().map(|(method, path, _)| format!("{method} {path}")).collect();
        assert_eq!(decided, documented, "a route needs its row in http/access.rs");
        assert_eq!(decided.len(), ROUTES.len(), "a route is decided once");
    }
}
