//! `ostler merge`: brings the work of a session into the branch it came from.

use clap::Args;
use ostler_server::api::SessionView;
use serde_json::json;

use crate::{
    context::{Context, talk},
    error::Error,
    exit::Exit,
    id,
    screen::{add_line, one_line},
    words::Key,
};

/// Merge the work of a session into the branch it came from.
///
/// A conflict leaves that branch as it was, names the files, and is exit code 1.
#[derive(Args)]
pub(crate) struct Arguments {
    #[arg(value_name = "ID", help = id::HELP)]
    id: String,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result<Exit, Error> {
    let session: SessionView = talk(async {
        let client = context.server().await?;
        let id = id::session(&client, &arguments.id).await?;
        Ok(client.post(&format!("/sessions/{id}/merge"), &json!({})).await?)
    })?;
    let words = context.words;
    let worktree = session.worktree.as_ref();
    let target = worktree.and_then(|it| it.target.clone()).unwrap_or_default();
    let is_merged = worktree.is_some_and(|it| it.state == "merged");
    context.print(&session, |_| {
        if is_merged {
            return format!("{}\n", words.say(Key::Merged, &[("id", &session.id), ("target", &target)]));
        }
        let message = worktree.and_then(|it| it.message.as_deref()).map(one_line).unwrap_or_default();
        let values: &[(&str, &dyn std::fmt::Display)] =
            &[("id", &session.id), ("target", &target), ("message", &message)];
        let mut said = format!("{}\n", words.say(Key::NotMerged, values));
        if let Some(files) = worktree.map(|it| it.files.join(", ")).filter(|files| !files.is_empty()) {
            add_line(&mut said, 2, &words.say(Key::InTheWay, &[("files", &one_line(&files))]));
        }
        said
    })?;
    Ok(if is_merged { Exit::Done } else { Exit::Failed })
}
