//! What an id on the command line means. The server knows them all; here only `last` is looked up.

use ostler_server::{api::SessionView, client::Client};

use crate::{
    error::{Error, Message},
    words::Key,
};

/// What help says about an id.
pub(crate) const HELP: &str = "The session or run (s_12, r_8), or 'last' for the newest session";

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
    parse(text).ok_or_else(|| Error::NotFound {
        message: Message::new(Key::NotAnId).with("text", &text),
        hint: Message::new(Key::HintIds),
    })
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
    fn an_id_says_what_it_is_of() {
        assert_eq!(parse("s_12"), Some(Id::Session("s_12".into())));
        assert_eq!(parse("r_8"), Some(Id::Run("r_8".into())));
        assert_eq!(parse("q_7"), Some(Id::Request("q_7".into())));
        for no in ["", "s", "s_", "12", "x_1", "s_1x", "../s_1", "s_1/../.."] {
            assert_eq!(parse(no), None, "{no}");
        }
    }
}
