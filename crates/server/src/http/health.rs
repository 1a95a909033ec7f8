//! Whether the server lives, and whether it can be used: a word each, for whoever looks after it.

use axum::{extract::State, http::StatusCode};

use super::App;

/// Whether the server lives.
#[utoipa::path(get, path = "/healthz", responses((status = 200, body = String, content_type = "text/plain")))]
pub(super) async fn healthz() -> &'static str {
    "ok\n"
}

/// Whether the server can be used: it knows what became of every agent, and can write down what happens.
#[utoipa::path(get, path = "/readyz",
    responses((status = 200, body = String, content_type = "text/plain"),
        (status = 503, body = String, content_type = "text/plain", description = "`starting` or `unwritable`.")))]
pub(super) async fn readyz(State(app): State<App>) -> (StatusCode, &'static str) {
    if !app.driver.recovery.has_begun() {
        (StatusCode::SERVICE_UNAVAILABLE, "starting\n")
    } else if app.driver.journal.writing().is_failing() {
        (StatusCode::SERVICE_UNAVAILABLE, "unwritable\n")
    } else {
        (StatusCode::OK, "ready\n")
    }
}
