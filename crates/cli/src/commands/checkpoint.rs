//! `ostler checkpoint`: keeps what stands in a session's directory, shows what was kept, and goes back to it.

use std::{
    fmt::Display,
    io::{self, Write},
};

use clap::{Args, Subcommand};
use ostler_server::{
    api::{CheckpointView, NewPrune, NewRestore, PrunedView, RestoreView},
    client::Client,
};
use serde_json::json;

use crate::{
    clock,
    context::{self, Context, directory, talk},
    error::{Error, Message},
    exit::Exit,
    id,
    screen::{Cell, Screen, Style, add_line, one_line},
    words::{Key, Words},
};

/// What help says about the id of a checkpoint.
const HELP: &str = "The checkpoint, such as c_4";

/// How many names are shown of what is not in a checkpoint.
const NAMES_MAX: usize = 5;

/// Keep what stands in a session's directory, or go back to what was kept.
///
/// Alone, it makes a checkpoint now. Ostler makes them by itself when an agent asks, and every ten minutes of work.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    #[arg(value_name = "ID", help = id::HELP, default_value = "last", hide_default_value = true)]
    id: String,
}

#[derive(Subcommand)]
enum Command {
    List(ListArguments),
    Diff(DiffArguments),
    Restore(RestoreArguments),
    Prune(PruneArguments),
}

/// List checkpoints, newest first.
#[derive(Args)]
struct ListArguments {
    /// Only those of this session.
    #[arg(value_name = "ID")]
    id: Option<String>,
    /// Also those that were not made, and those that were let go.
    #[arg(short, long)]
    all: bool,
    /// At most so many.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50,
        value_parser = clap::value_parser!(u32).range(1..=1000))]
    limit: u32,
}

/// Show what differs between a checkpoint and another, or what stands there now.
#[derive(Args)]
struct DiffArguments {
    #[arg(value_name = "CHECKPOINT", help = HELP)]
    from: String,
    /// The other one; what stands there now, if nothing is said.
    #[arg(value_name = "OTHER")]
    to: Option<String>,
    /// A line per file instead of every changed line.
    #[arg(long)]
    stat: bool,
}

/// Bring files back to a checkpoint, and the conversation with them.
///
/// What stands there becomes a checkpoint first, which is named. HEAD and branches stay where they are. The session
/// must be over, interrupted, or (for its files alone) stand still.
#[derive(Args)]
struct RestoreArguments {
    #[arg(value_name = "CHECKPOINT", help = HELP)]
    id: String,
    /// Files and conversation, which is the default.
    #[arg(long, conflicts_with = "files_only")]
    with_conversation: bool,
    /// Leave the conversation as it is.
    #[arg(long)]
    files_only: bool,
}

/// Let go of checkpoints in this repository that the policy does not keep.
///
/// The newest of a session, and what a restore replaced, stay until everything in them is on a branch, tag or remote.
#[derive(Args)]
struct PruneArguments {
    /// Only say what would go.
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result<Exit, Error> {
    talk(async {
        let client = context.server().await?;
        match &arguments.command {
            None => make(context, &client, &arguments.id).await,
            Some(Command::List(arguments)) => list(context, &client, arguments).await,
            Some(Command::Diff(arguments)) => diff(context, &client, arguments).await,
            Some(Command::Restore(arguments)) => restore(context, &client, arguments).await,
            Some(Command::Prune(arguments)) => prune(context, &client, arguments).await,
        }
    })
}

async fn make(context: &Context, client: &Client, text: &str) -> Result<Exit, Error> {
    let id = id::session(client, text).await?;
    let made: CheckpointView = client.post(&format!("/sessions/{id}/checkpoints"), &json!({})).await?;
    let words = context.words;
    context.print(&made, |_| {
        let mut said = format!("{}\n", said(words, &made));
        add_left_out(&mut said, words, &made);
        said
    })?;
    let has_failed = made.reason["key"] == "failed";
    Ok(if has_failed { Exit::Failed } else { Exit::Done })
}

/// What came of a checkpoint, in a sentence.
fn said(words: Words, made: &CheckpointView) -> String {
    let reference = made.reference.as_deref().unwrap_or_default();
    let message = one_line(made.reason["message"].as_str().unwrap_or_default());
    let last = made.reason["checkpoint"].as_str().unwrap_or_default();
    let key = match (made.state.as_str(), made.reason["key"].as_str()) {
        ("made", _) => Key::CheckpointMade,
        ("wanted", _) => Key::CheckpointWanted,
        (_, Some("unchanged")) => Key::CheckpointUnchanged,
        (_, Some("no_repository")) => Key::CheckpointNoRepository,
        _ => Key::CheckpointFailed,
    };
    let values: &[(&str, &dyn Display)] = &[
        ("id", &made.id),
        ("session", &made.session),
        ("reference", &reference),
        ("last", &last),
        ("message", &message),
    ];
    words.say(key, values)
}

fn add_left_out(said: &mut String, words: Words, checkpoint: &CheckpointView) {
    for name in checkpoint.left_out.iter().take(NAMES_MAX) {
        add_line(said, 2, &words.say(Key::CheckpointLeftOut, &[("name", &one_line(name))]));
    }
    let shown = checkpoint.left_out.len().min(NAMES_MAX) as u64;
    let more = checkpoint.left_out_count.saturating_sub(shown);
    if more > 0 {
        add_line(said, 2, &words.say(Key::MoreLines, &[("n", &more)]));
    }
}

async fn list(context: &Context, client: &Client, arguments: &ListArguments) -> Result<Exit, Error> {
    let session = match &arguments.id {
        Some(text) => format!("&session={}", id::session(client, text).await?),
        None => String::new(),
    };
    let (all, limit) = (arguments.all, arguments.limit);
    let path = format!("/checkpoints?all={all}&limit={limit}{session}");
    let found: Vec<CheckpointView> = client.get(&path).await?;
    let words = context.words;
    context.print(&found, |screen| {
        if found.is_empty() {
            return screen.text(words.sentence(Key::NoCheckpoints));
        }
        table(words, screen, &found)
    })?;
    Ok(Exit::Done)
}

/// One of them, for `ostler show`.
pub(super) async fn show(context: &Context, client: &Client, id: &str) -> Result<Exit, Error> {
    let found: CheckpointView = client.get(&format!("/checkpoints/{id}")).await?;
    let words = context.words;
    context.print(&found, |screen| {
        let mut said = table(words, screen, std::slice::from_ref(&found));
        add_left_out(&mut said, words, &found);
        said
    })?;
    Ok(Exit::Done)
}

fn table(words: Words, screen: Screen, found: &[CheckpointView]) -> String {
    let headings = [
        Key::ColumnId,
        Key::ColumnSession,
        Key::ColumnWhen,
        Key::ColumnWhy,
        Key::ColumnOpen,
        Key::ColumnKept,
    ];
    let head = headings.iter().map(|key| Cell::styled(Style::Dim, words.sentence(*key))).collect();
    let row = |it: &CheckpointView| {
        let what = match (it.state.as_str(), it.left_out_count) {
            ("made", 0) => it.commit.as_deref().map(|commit| commit.chars().take(12).collect()),
            ("made", n) => Some(words.say(Key::CheckpointSomeLeftOut, &[("n", &n)])),
            ("pruned", _) => Some(words.sentence(Key::CheckpointPruned).to_owned()),
            _ => Some(said(words, it)),
        };
        vec![
            Cell::new(&it.id),
            Cell::new(&it.session),
            Cell::new(&clock::local(it.at_ms)),
            Cell::new(words.sentence(why(&it.why))),
            Cell::new(&it.requests.join(" ")),
            Cell::new(&what.unwrap_or_default()),
        ]
    };
    let rows: Vec<Vec<Cell>> = std::iter::once(head).chain(found.iter().map(row)).collect();
    screen.columns(&rows)
}

fn why(word: &str) -> Key {
    match word {
        "request" => Key::WhyRequest,
        "time" => Key::WhyTime,
        "person" => Key::WhyPerson,
        "rest" => Key::WhyRest,
        "limit" => Key::WhyLimit,
        "phase" => Key::WhyPhase,
        _ => Key::WhyRestore,
    }
}

/// The id of a checkpoint, or an error that says what one looks like.
pub(super) fn checkpoint(text: &str) -> Result<&str, Error> {
    let digits = text.strip_prefix("c_").unwrap_or_default();
    let is_id = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if is_id {
        return Ok(text);
    }
    Err(Error::NotFound {
        message: Message::new(Key::NotACheckpoint).with("text", &one_line(text)),
        hint: Message::new(Key::HintCheckpoints),
    })
}

async fn diff(context: &Context, client: &Client, arguments: &DiffArguments) -> Result<Exit, Error> {
    let from = checkpoint(&arguments.from)?;
    let color = Screen::stdout().colours() && !context.json;
    let mut path = format!("/checkpoints/{from}/diff?stat={}&color={color}", arguments.stat);
    if let Some(to) = &arguments.to {
        path.push_str("&to=");
        path.push_str(checkpoint(to)?);
    }
    let mut pieces = client.stream(&path).await?;
    let mut diff = Vec::new();
    while let Some(piece) = pieces.next().await? {
        diff.extend_from_slice(&piece);
    }
    let mut stdout = io::stdout().lock();
    if context.json {
        let text = String::from_utf8_lossy(&diff);
        let line = context::json(&json!({ "from": from, "to": arguments.to, "diff": text }));
        stdout.write_all(line.as_bytes()).map_err(Error::Output)?;
    } else if diff.is_empty() {
        context.note(context.words.sentence(Key::NothingDiffers));
    } else {
        stdout.write_all(&diff).map_err(Error::Output)?;
    }
    stdout.flush().map_err(Error::Output)?;
    Ok(Exit::Done)
}

async fn restore(context: &Context, client: &Client, arguments: &RestoreArguments) -> Result<Exit, Error> {
    let id = checkpoint(&arguments.id)?;
    let new = NewRestore { conversation: Some(!arguments.files_only) };
    let came: RestoreView = client.post(&format!("/checkpoints/{id}/restore"), &new).await?;
    let words = context.words;
    context.print(&came, |screen| {
        if came.restored { restored(words, screen, &came) } else { not_restored(words, screen, &came) }
    })?;
    Ok(if came.restored { Exit::Done } else { Exit::Failed })
}

fn restored(words: Words, screen: Screen, came: &RestoreView) -> String {
    let (session, id) = (&came.checkpoint.session, &came.checkpoint.id);
    let values: &[(&str, &dyn Display)] = &[("session", session), ("id", id), ("n", &came.changed)];
    let mut said = screen.text(&words.say(Key::Restored, values));
    if let Some(before) = came.before.as_ref().filter(|before| came.changed > 0 || before.id != *id) {
        screen.add_text(&mut said, 2, Style::Plain, &words.say(Key::RestoredBefore, &[("id", &before.id)]));
        add_left_out(&mut said, words, before);
    }
    let key = match came.conversation.as_str() {
        "rewound" => Some(Key::ConversationRewound),
        "new" => Some(Key::ConversationNew),
        _ => None,
    };
    if let Some(key) = key {
        screen.add_text(&mut said, 2, Style::Plain, &words.say(key, &[("session", session)]));
    }
    for (key, files) in
        [(Key::RestoredDifferent, &came.different), (Key::RestoredSubmodules, &came.submodules)]
    {
        if !files.is_empty() {
            screen.add_text(
                &mut said,
                2,
                Style::Plain,
                &words.say(key, &[("files", &one_line(&files.join(", ")))]),
            );
        }
    }
    said
}

fn not_restored(words: Words, screen: Screen, came: &RestoreView) -> String {
    let message = one_line(came.message.as_deref().unwrap_or_default());
    let values: &[(&str, &dyn Display)] = &[("id", &came.checkpoint.id), ("message", &message)];
    let mut said = screen.text(&words.say(Key::NotRestored, values));
    // Files may be changed by now: whoever reads this must know where they are.
    if let Some(before) = came.before.as_ref().filter(|before| before.state == "made") {
        screen.add_text(&mut said, 2, Style::Plain, &words.say(Key::RestoredBefore, &[("id", &before.id)]));
        add_left_out(&mut said, words, before);
    }
    said
}

async fn prune(context: &Context, client: &Client, arguments: &PruneArguments) -> Result<Exit, Error> {
    let directory = directory()?.display().to_string();
    let new = NewPrune { directory, dry_run: arguments.dry_run };
    let pruned: Vec<PrunedView> = client.post("/checkpoints/prune", &new).await?;
    let words = context.words;
    context.print(&pruned, |screen| {
        let key = if arguments.dry_run { Key::WouldPrune } else { Key::Pruned };
        let mut said = screen.text(&words.say(key, &[("n", &pruned.len())]));
        for it in &pruned {
            add_line(&mut said, 2, &one_line(&it.reference));
        }
        said
    })?;
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_has_a_label_of_its_own() {
        let reasons = ["request", "time", "person", "rest", "limit", "phase", "restore"];
        for (at, reason) in reasons.iter().enumerate() {
            assert!(reasons[..at].iter().all(|other| why(other) != why(reason)), "{reason}");
        }
    }
}
