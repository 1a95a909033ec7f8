//! What people call sessions: given, taken away, and looked up wherever an id is expected.

use axum::{Json, extract::State, http::HeaderMap};
use ostler_engine::{
    Input, SessionId,
    session::{NotAName, SessionName},
};
use ostler_store::{Entity, Scope};
use serde_json::json;

use super::{
    App,
    code::Code,
    extract::{Body, Path},
    pages::{Limit, Rows},
};
use crate::{
    api::{NewSessionName, Problem, SessionView},
    journal::Found,
};

/// Calls a session something else.
#[utoipa::path(post, path = "/sessions/{id}/rename", params(("id" = String, Path)), request_body = NewSessionName,
    responses((status = 200, body = SessionView), (status = 400, body = Problem), (status = 409, body = Problem)))]
pub(super) async fn rename(
    State(app): State<App>,
    Path(id): Path<String>,
    headers: HeaderMap,
    Body(new): Body<NewSessionName>,
) -> Result<Json<SessionView>, Problem> {
    let body = json!(new);
    let name = new.name.as_deref().map(session_name).transpose()?;
    app.wish(&id, "rename", &headers, &body, |session| Input::Rename(session, name)).await
}

/// Reads a name that somebody gives.
pub(super) fn session_name(text: &str) -> Result<SessionName, Problem> {
    let max = SessionName::LETTERS_MAX;
    SessionName::new(text).map_err(|why| {
        let (why, title) = match why {
            NotAName::Length => ("length", format!("a name has 1 to {max} letters")),
            NotAName::Letters => (
                "letters",
                "a name begins with a letter and has letters, digits, '-', '_' and '.' alone".to_owned(),
            ),
            NotAName::Invisible => {
                ("invisible", "a letter of the name is invisible or out of use".to_owned())
            }
            NotAName::MixedScripts => {
                ("scripts", "letters of several scripts in one name can be taken for each other".to_owned())
            }
            NotAName::Reserved => ("reserved", format!("'{text}' means something else already")),
        };
        Problem::bad(Code::BadName, title)
            .hint("Nothing has changed.")
            .details(json!({ "key": "bad_session_name", "why": why, "name": text }))
    })
}

impl App {
    /// The session of that name: one that is not over, or else the newest.
    pub(super) fn session_named(&self, text: &str) -> Result<SessionId, Problem> {
        let unknown = || Problem::not_found(Code::NoSession, text);
        let name = SessionName::existing(text).map_err(|_| unknown())?;
        let live = {
            let world = self.driver.journal.world();
            let mut live = world.sessions.values().filter(|session| !session.is_over());
            live.find(|session| session.name.as_ref() == Some(&name)).map(|session| session.id)
        };
        if let Some(live) = live {
            return Ok(live);
        }
        let mut before = None;
        loop {
            let rows = Rows { entity: Entity::Session, scope: Scope::default(), before, limit: Limit(1) };
            let (found, next) = self.scan(rows, |row| {
                // Most rows need not be read to see that they have another name.
                let may_have = row.body.contains(name.as_str());
                let Some(Found::Session(session)) =
                    may_have.then(|| crate::journal::read(row).ok()).flatten()
                else {
                    return Ok(None);
                };
                Ok((session.name.as_ref() == Some(&name)).then_some(session.id))
            })?;
            match (found.first(), next) {
                (Some(id), _) => return Ok(*id),
                (None, Some(next)) => before = Some(next),
                (None, None) => return Err(unknown()),
            }
        }
    }
}
