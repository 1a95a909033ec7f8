//! Notifications: who is told of what, how it goes, and a test of one.

use axum::{Json, extract::State, http::StatusCode};
use serde_json::json;

use super::{App, code::Code, extract::Path};
use crate::{
    api::{NotificationsView, NotifyTestView, Problem},
    notify::TestError,
};

/// Who is told, and how it goes. Addresses and tokens are not shown.
#[utoipa::path(get, path = "/notifications", responses((status = 200, body = NotificationsView)))]
pub(super) async fn list(State(app): State<App>) -> Json<NotificationsView> {
    Json(app.notifications.view().await)
}

/// Sends a test to a channel, and waits for what comes of it.
#[utoipa::path(post, path = "/notifications/{name}/test", params(("name" = String, Path)),
    responses((status = 200, body = NotifyTestView), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(super) async fn test(
    State(app): State<App>,
    Path(name): Path<String>,
) -> Result<Json<NotifyTestView>, Problem> {
    let id = app.notifications.test(&name).await.map_err(|error| problem(&name, &error))?;
    Ok(Json(NotifyTestView { channel: name, id }))
}

fn problem(name: &str, error: &TestError) -> Problem {
    match error {
        TestError::NoChannel { known } => {
            let title = format!("there is no notification channel '{name}'");
            Problem::new(StatusCode::NOT_FOUND, Code::NoNotifyChannel, title)
                .hint("List them: ostler notify list. They stand as [[notify]] in your configuration.")
                .details(json!({ "name": name, "known": known }))
        }
        TestError::NotSent(why) => {
            let title = format!("the test did not arrive at {name}: {why}");
            Problem::new(StatusCode::CONFLICT, Code::NotNotified, title)
                .hint("Nothing else was sent. docs/notifications.md says what each type needs.")
                .details(json!({ "name": name, "why": why.to_string() }))
        }
    }
}
