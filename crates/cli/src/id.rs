//! What an id on the command line means. The server knows them all, and the names of sessions; here only `last` is
//! looked up.

use ostler_server::{
    api::SessionView,
    client::{Client, ClientError, encoded},
};

use crate::{
    error::{Error, Message},
    words::Key,
};

/// What help says about an id.
pub(crate) const HELP: &str = "The session or run (s_12, r_8), its name, or 'last' for the newest session";

/// What an id is of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Id {
    /// A session.
    Session(String),
    /// A run.
    Run(String),
    /// A request.
    Request(String),
}

/// Reads an id; `last` is the newest session.
pub(crate) async fn read(client: &Client, text: &str) -> Result<Id, Error> {
    if text == "last" {
        let newest: Vec<SessionView> = client.get("/sessions?all=true&limit=1").await?;
        let newest = newest.into_iter().next().ok_or_else(|| Error::NotFound {
            message: Message::new(Key::NoneYet),
            hint: Message::new(Key::NobodyAtWork),
        })?;
        return Ok(Id::Session(newest.id));
    }
    if let Some(id) = parse(text) {
        return Ok(id);
    }
    let unknown = || Error::NotFound {
        message: Message::new(Key::NotAnId).with("text", &text),
        hint: Message::new(Key::HintIds),
    };
    if !may_be_name(text) {
        return Err(unknown());
    }
    match client.get::<SessionView>(&format!("/sessions/{}", encoded(text))).await {
        Ok(session) => Ok(Id::Session(session.id)),
        Err(ClientError::Refused(problem)) if problem.status == 404 => Err(unknown()),
        Err(error) => Err(error.into()),
    }
}

/// Whether a session can be called so; the server says whether one is.
fn may_be_name(text: &str) -> bool {
    let fits = |letter: char| letter.is_alphanumeric() || "-_.".contains(letter);
    text.starts_with(char::is_alphabetic) && text.chars().all(fits)
}

/// Reads the id of a session, which may be that of its run.
pub(crate) async fn session(client: &Client, text: &str) -> Result<String, Error> {
    match read(client, text).await? {
        Id::Session(id) | Id::Run(id) => Ok(id),
        Id::Request(_) => Err(Error::NotFound {
            message: Message::new(Key::NotASession).with("text", &text),
            hint: Message::new(Key::HintIds),
        }),
    }
}

fn parse(text: &str) -> Option<Id> {
    let (kind, number) = text.split_once('_')?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    match kind {
        _ if !is_number => None,
        "s" => Some(Id::Session(text.to_owned())),
        "r" => Some(Id::Run(text.to_owned())),
        "q" => Some(Id::Request(text.to_owned())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_word_is_asked_about_as_a_name() {
        assert!(may_be_name("login-fix") && may_be_name("로그인"));
        for no in ["", "..", "../s_1", "a/b", "a b", "2nd", "a%2fb", "a?b"] {
            assert!(!may_be_name(no), "{no}");
        }
    }

    #[test]
    fn an_id_says_what_it_is_of() {
        assert_eq!(parse("s_12"), Some(Id::Session("s_12".into())));
        assert_eq!(parse("r_8"), Some(Id::Run("r_8".into())));
        assert_eq!(parse("q_7"), Some(Id::Request("q_7".into())));
        for no in ["", "s", "s_", "12", "x_1", "s_1x", "../s_1", "s_1/../.."] {
            assert_eq!(parse(no), None, "{no}");
        }
    }
}
