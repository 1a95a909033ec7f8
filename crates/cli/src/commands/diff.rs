//! `ostler diff`: what a session changed in its worktree.

use std::io::{self, IsTerminal, Write};

use clap::Args;
use ostler_protocol::shown::Shown;
use ostler_server::{
    api::{SessionView, UncheckedWork, WorkSecretsView},
    client::{Client, ClientError, Pieces},
};
use serde_json::json;

use crate::{
    context::{self, Context, talk},
    error::{Error, Message},
    exit::Exit,
    id,
    screen::{Screen, one_line},
    words::Key,
};

/// Show what a session has changed in its worktree.
#[derive(Args)]
pub(crate) struct Arguments {
    #[arg(value_name = "ID", help = id::HELP)]
    id: String,
    /// A line per file instead of every changed line.
    #[arg(long)]
    stat: bool,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result<Exit, Error> {
    talk(async {
        let client = context.server().await?;
        let id = id::session(&client, &arguments.id).await?;
        let color = Screen::stdout().colours() && !context.json;
        let mut pieces = match pieces(&client, &id, arguments.stat, color).await {
            Err(ClientError::Refused(problem)) => {
                let session: SessionView = client.get(&format!("/sessions/{id}")).await?;
                return Err(gone(&session).unwrap_or(Error::Client(ClientError::Refused(problem))));
            }
            pieces => pieces?,
        };
        let mut diff = Vec::new();
        // What stands in files is the agent's. To a file it goes as it is, for that is a patch.
        let mut filter = io::stdout().is_terminal().then(|| Shown::new(color));
        while let Some(piece) = pieces.next().await? {
            if context.json {
                diff.extend_from_slice(&piece);
            } else {
                let shown = filter.as_mut().map_or(piece.to_vec(), |filter| {
                    let mut shown = Vec::new();
                    filter.push(&piece, &mut shown);
                    shown
                });
                io::stdout().lock().write_all(&shown).map_err(Error::Output)?;
                diff.push(b'.');
            }
        }
        let secrets = secrets(&client, &id).await;
        if context.json {
            let text = String::from_utf8_lossy(&diff);
            let line = context::json(&json!({ "session": id, "diff": text, "secrets": secrets }));
            io::stdout().lock().write_all(line.as_bytes()).map_err(Error::Output)?;
        } else if diff.is_empty() {
            context.note(&context.words.say(Key::NoChanges, &[("id", &id)]));
        }
        io::stdout().lock().flush().map_err(Error::Output)?;
        warn(context, secrets.as_ref());
        Ok(Exit::Done)
    })
}

/// The secrets in what a session has changed; none where that cannot be known, such as from an older server.
pub(super) async fn secrets(client: &Client, id: &str) -> Option<WorkSecretsView> {
    client.get(&format!("/sessions/{id}/secrets")).await.ok()
}

/// Names the secrets in what a session has changed, and what was not checked.
pub(super) fn warn(context: &Context, secrets: Option<&WorkSecretsView>) {
    let words = context.words;
    let Some(WorkSecretsView { found, more, unchecked }) = secrets else { return };
    for it in found {
        let values: &[(&str, &dyn std::fmt::Display)] =
            &[("secret", &one_line(&it.secret)), ("file", &one_line(&it.file)), ("line", &it.line)];
        context.note(&words.say(Key::SecretInWork, values));
    }
    if *more > 0 {
        context.note(&words.say(Key::SecretsMore, &[("n", more)]));
    }
    for it in unchecked {
        context.note(words.sentence(match it {
            UncheckedWork::Vault => Key::SecretsVaultLocked,
            UncheckedWork::Long => Key::SecretsTooLong,
        }));
    }
}

/// What has become of a worktree that is not there any more, and where its work is.
pub(crate) fn gone(session: &SessionView) -> Option<Error> {
    let worktree = session.worktree.as_ref()?;
    let place = worktree.message.as_deref().map(one_line).filter(|place| !place.is_empty());
    let (message, hint) = match (worktree.state.as_str(), place) {
        ("merged", Some(commit)) => {
            let target = worktree.target.as_deref().unwrap_or_default();
            let message = Message::new(Key::WorktreeMerged).with("target", &one_line(target));
            (message, Message::new(Key::HintWorktreeMerged).with("commit", &commit))
        }
        ("discarded", Some(kept)) => {
            let message = Message::new(Key::WorktreeDiscarded).with("kept", &kept);
            (message, Message::new(Key::HintWorktreeDiscarded).with("kept", &kept))
        }
        _ => return None,
    };
    Some(Error::Refused { message: message.with("id", &session.id), hint })
}

/// What a session has changed, piece by piece.
pub(crate) async fn pieces(
    client: &Client,
    id: &str,
    stat: bool,
    color: bool,
) -> Result<Pieces, ClientError> {
    client.stream(&format!("/sessions/{id}/diff?stat={stat}&color={color}")).await
}
