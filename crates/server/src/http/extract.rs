//! What handlers take from a request: path, query and body. What cannot be read is a problem like every other, with a
//! sentence that says what is wrong, never a bare line of text.

use axum::{
    Json,
    extract::{self, FromRequest, FromRequestParts, Request, rejection::JsonRejection},
    http::{StatusCode, request::Parts},
};
use serde::de::DeserializeOwned;

use super::{channel, code::Code};
use crate::api::Problem;

/// Where the forms of everything are described.
const HINT: &str = "GET /api/v1/openapi.json describes every path, query and body.";

/// What stands in the path.
pub(super) struct Path<T>(pub(super) T);

/// What stands behind the question mark.
pub(super) struct Query<T>(pub(super) T);

/// A body of JSON.
pub(super) struct Body<T>(pub(super) T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Path<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let read = extract::Path::<T>::from_request_parts(parts, state).await;
        read.map(|extract::Path(path)| Path(path)).map_err(|rejection| {
            let title = format!("the path '{}' cannot be read: {}", parts.uri.path(), rejection.body_text());
            Problem::bad(Code::BadPath, title).hint(HINT)
        })
    }
}

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let read = extract::Query::<T>::from_request_parts(parts, state).await;
        read.map(|extract::Query(query)| Query(query)).map_err(|rejection| {
            let (query, why) = (parts.uri.query().unwrap_or_default(), rejection.body_text());
            let why = why.strip_prefix("Failed to deserialize query string: ").unwrap_or(&why);
            Problem::bad(Code::BadQuery, format!("the query '{query}' cannot be read: {why}")).hint(HINT)
        })
    }
}

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        match Json::<T>::from_request(request, state).await {
            Ok(Json(body)) => Ok(Body(body)),
            Err(JsonRejection::MissingJsonContentType(_)) => Err(Problem::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                Code::NotJson,
                "the body must be application/json",
            )),
            Err(rejection) if rejection.status() == StatusCode::PAYLOAD_TOO_LARGE => Err(too_large()),
            Err(rejection) => Err(Problem::bad(Code::BadBody, rejection.body_text()).hint(HINT)),
        }
    }
}

/// A body that is longer than any.
pub(super) fn too_large() -> Problem {
    let [here, inside] = [super::BODY_BYTES_MAX, channel::BODY_BYTES_MAX].map(|max| max >> 20);
    let title = format!("that is too long: at most {here} MiB are taken, {inside} MiB inside a session");
    let problem = Problem::new(StatusCode::PAYLOAD_TOO_LARGE, Code::TooLarge, title);
    problem.hint("Put the text into a file that the agent can read, and name it instead.")
}
