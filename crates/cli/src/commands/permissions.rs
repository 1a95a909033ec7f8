//! `ostler permissions`: lists what a person allowed an agent's CLI for the rest of a session, and revokes it.

use clap::Args;
use ostler_server::api::SessionView;
use serde_json::json;

use crate::{
    clock,
    context::{Context, talk},
    error::Error,
    exit::Exit,
    id, permission,
    screen::{Cell, Screen, Style},
    words::{Key, Words},
};

/// List what is allowed for the rest of a session, or revoke a rule.
///
/// A rule is chosen on the card of a permission request. It holds until the session is over, also when its agent is
/// started again.
#[derive(Args)]
#[command(after_help = "Examples:\n  ostler permissions s_1\n  ostler permissions s_1 --revoke 2")]
pub(crate) struct Arguments {
    #[arg(value_name = "ID", help = id::HELP)]
    id: String,
    /// Revoke the rule of this number.
    #[arg(long, value_name = "N")]
    revoke: Option<u64>,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result<Exit, Error> {
    let words = context.words;
    talk(async {
        let client = context.server().await?;
        let id = id::session(&client, &arguments.id).await?;
        let session: SessionView = match arguments.revoke {
            Some(number) => {
                client.post(&format!("/sessions/{id}/permissions/{number}/revoke"), &json!({})).await?
            }
            None => client.get(&format!("/sessions/{id}")).await?,
        };
        context.print(&session.permissions, |screen| match arguments.revoke {
            Some(number) => {
                let said = words.say(Key::PermissionRevoked, &[("id", &session.id), ("number", &number)]);
                format!("{said}\n")
            }
            None if session.permissions.is_empty() => {
                screen.text(&words.say(Key::NoPermissions, &[("id", &session.id)]))
            }
            None => list(words, screen, &session),
        })?;
        Ok(Exit::Done)
    })
}

/// The rules in force, with how to revoke one.
pub(crate) fn list(words: Words, screen: Screen, session: &SessionView) -> String {
    let rows: Vec<Vec<Cell>> = session
        .permissions
        .iter()
        .map(|allowed| {
            vec![
                Cell::new(&allowed.number.to_string()),
                Cell::new(&permission::said(words, &allowed.rule)),
                Cell::styled(Style::Dim, &allowed.request),
                Cell::styled(Style::Dim, &clock::local(allowed.at_ms)),
            ]
        })
        .collect();
    let how = screen.style(Style::Dim, &words.say(Key::HintRevoke, &[("id", &session.id)]));
    format!("{}{how}\n", screen.columns(&rows))
}
