//! The body of a call from an agent's process. Every string and number in it is masked before it is read as anything, so
//! that no field of any call, whenever it is added, brings a value that the session was given into the journal.

use std::sync::Arc;

use axum::{
    extract::{ConnectInfo, FromRequest, Request},
    http::StatusCode,
};
use ostler_shim::values::is_signal_word;
use ostler_vault::Masks;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{App, channel::agent, code::Code, extract::Body};
use crate::{api::Problem, client::KEY_HEADER, driver::values, peer::Peer};

/// A body of JSON from an agent's process, masked. Handlers of the session's own socket take no other body.
pub(super) struct AgentBody<T>(pub(super) T);

impl<T: DeserializeOwned> FromRequest<App> for AgentBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        let peer = request.extensions().get::<ConnectInfo<Peer>>();
        let ConnectInfo(peer) = peer.ok_or_else(|| Problem::internal("the caller is not known"))?;
        let (session, _) = agent(peer)?;
        let key = request.headers().get(KEY_HEADER).and_then(|key| key.to_str().ok()).map(str::to_owned);
        let Body(mut body) = Body::<Value>::from_request(request, app).await?;
        let driver = Arc::clone(&app.driver);
        let masks = tokio::task::spawn_blocking(move || values::masks(&driver, session)).await?;
        // Without the values nobody can tell what has to be masked. The caller tries again.
        let masks = masks.map_err(|error| {
            let title = format!("the values of the session cannot be read: {error}");
            Problem::new(StatusCode::SERVICE_UNAVAILABLE, Code::Vault, title)
        })?;
        if key.is_some_and(|key| masks.text(&key) != key) {
            let title = "the Idempotency-Key contains a value that the session was given";
            return Err(Problem::bad(Code::BadKey, title));
        }
        mask(&masks, &mut body);
        let read = serde_json::from_value(body);
        read.map(AgentBody).map_err(|error| Problem::bad(Code::BadBody, error.to_string()))
    }
}

/// Masks the fields of a body. Their names are Ostler's own, and so are the words of its signals.
fn mask(masks: &Arc<Masks>, body: &mut Value) {
    match body {
        Value::Object(fields) => {
            let is_own = |value: &Value| value.as_str().is_some_and(is_signal_word);
            fields.values_mut().filter(|value| !is_own(value)).for_each(|value| masks.json(value));
        }
        other => masks.json(other),
    }
}
