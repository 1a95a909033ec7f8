//! What handlers take from a request: path, query and body. What cannot be read is a problem like every other, with a
//! sentence that says what is wrong, never a bare line of text.

use axum::{
    Json,
    extract::{self, FromRequest, FromRequestParts, Request, rejection::JsonRejection},
    http::{StatusCode, request::Parts},
};
use serde::de::DeserializeOwned;
use serde_json::json;

use super::{
    code::Code,
    pace::{self, is_too_slow, paced, too_slow},
};
use crate::api::Problem;

/// Where the forms of everything are described.
const HINT: &str = "GET /api/v1/openapi.json describes every path, query and body.";

/// What stands in the path.
pub(super) struct Path<T>(pub(super) T);

/// What stands behind the question mark.
pub(super) struct Query<T>(pub(super) T);

/// A body of JSON.
pub(super) struct Body<T>(pub(super) T);

/// The longest body that a route takes, for whoever is told that theirs is longer.
#[derive(Debug, Clone, Copy)]
pub(super) struct BytesMax(pub(super) u64);

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
        let bytes_max = request.extensions().get::<BytesMax>().copied();
        let request = request.map(|body| paced(body, pace::WORDS_MAX));
        match Json::<T>::from_request(request, state).await {
            Ok(Json(body)) => Ok(Body(body)),
            Err(JsonRejection::MissingJsonContentType(_)) => Err(not_json("application/json")),
            Err(rejection) if rejection.status() == StatusCode::PAYLOAD_TOO_LARGE => {
                Err(too_large(bytes_max.unwrap_or(BytesMax(super::BODY_BYTES_MAX as u64))))
            }
            Err(rejection) if is_too_slow(&rejection) => Err(too_slow("the body")),
            Err(rejection) => Err(Problem::bad(Code::BadBody, rejection.body_text()).hint(HINT)),
        }
    }
}

/// A body that is longer than the longest that is taken.
pub(super) fn too_large(BytesMax(max): BytesMax) -> Problem {
    let max = if max < 1 << 20 { format!("{} KiB", max >> 10) } else { format!("{} MiB", max >> 20) };
    let title = format!("that is too long: at most {max} are taken here");
    Problem::new(StatusCode::PAYLOAD_TOO_LARGE, Code::TooLarge, title)
        .hint("Nothing was done. Put a long text into a file that the agent can read, and name it instead.")
        .details(json!({ "key": "too_large", "max": max }))
}

/// A body of another kind than the one that is taken.
pub(super) fn not_json(wanted: &str) -> Problem {
    let title = format!("the body must be {wanted}");
    Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, Code::NotJson, title)
        .hint(format!("Nothing was done. Send it with this header: Content-Type: {wanted}"))
}
