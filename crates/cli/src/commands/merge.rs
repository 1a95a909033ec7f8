//! `ostler merge`: brings the work of a session into the branch it came from.

use clap::Args;
use ostler_server::{
    api::{SessionView, WorktreeView},
    client::Client,
};
use serde_json::json;

use super::diff;
use crate::{
    context::{Context, talk},
    error::{Error, Message},
    exit::Exit,
    id, outcome,
    screen::{Style, one_line},
    words::{Key, Words},
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
    let (session, has_work): (SessionView, bool) = talk(async {
        let client = context.server().await?;
        let id = id::session(&client, &arguments.id).await?;
        let session: SessionView = client.get(&format!("/sessions/{id}")).await?;
        if let Some(error) = diff::gone(&session) {
            return Err(error);
        }
        if let Some(worktree) = session.worktree.as_ref().filter(|it| has_no_branch(it)) {
            return Err(Error::Refused {
                message: Message::new(Key::NoBranchToMerge).with("id", &session.id),
                hint: Message::new(Key::HintMergeByHand)
                    .with("path", &worktree.path)
                    .with("branch", &worktree.branch),
            });
        }
        let has_work = has_work(&client, &session.id).await;
        // What is merged is hard to take back; the merge itself goes on.
        diff::warn(context, diff::secrets(&client, &session.id).await.as_ref());
        Ok((client.post(&format!("/sessions/{id}/merge"), &json!({})).await?, has_work))
    })?;
    let words = context.words;
    let worktree = session.worktree.as_ref();
    let target = worktree.and_then(|it| it.target.clone()).unwrap_or_default();
    let is_merged = worktree.is_some_and(|it| it.state == "merged");
    context.print(&session, |screen| {
        if is_merged && !has_work {
            return screen.text(&words.say(Key::NothingMerged, &[("id", &session.id)]));
        }
        if is_merged {
            return screen.text(&words.say(Key::Merged, &[("id", &session.id), ("target", &target)]));
        }
        let message = worktree.map(|it| why_not(words, it)).unwrap_or_default();
        let values: &[(&str, &dyn std::fmt::Display)] =
            &[("id", &session.id), ("target", &target), ("message", &message)];
        let mut said = screen.text(&words.say(Key::NotMerged, values));
        if let Some(files) = worktree.map(|it| it.files.join(", ")).filter(|files| !files.is_empty()) {
            screen.add_text(
                &mut said,
                2,
                Style::Plain,
                &words.say(Key::InTheWay, &[("files", &one_line(&files))]),
            );
        }
        if let Some(next) = outcome::how_to_put_right(words, &session) {
            screen.add_text(&mut said, 2, Style::Plain, &next);
        }
        said
    })?;
    Ok(if is_merged { Exit::Done } else { Exit::Failed })
}

/// Why a worktree is not merged. What git itself says is passed on as it is.
fn why_not(words: Words, worktree: &WorktreeView) -> String {
    match (worktree.conflict, worktree.files.is_empty()) {
        (true, _) => words.sentence(Key::MergeConflict).to_owned(),
        (false, false) => words.sentence(Key::MergeTargetDirty).to_owned(),
        (false, true) => worktree.message.as_deref().map(one_line).unwrap_or_default(),
    }
}

/// Whether a worktree that is there began on a detached HEAD.
fn has_no_branch(worktree: &WorktreeView) -> bool {
    worktree.target.is_none() && matches!(worktree.state.as_str(), "made" | "not_merged" | "not_discarded")
}

/// Whether anything was changed, committed or not. Where that cannot be seen, the merge says what is wrong.
async fn has_work(client: &Client, id: &str) -> bool {
    match diff::pieces(client, id, true, false).await {
        Ok(mut pieces) => !matches!(pieces.next().await, Ok(None)),
        Err(_) => true,
    }
}
