//! `ostler trust`: shows what a repository would run, and lets it only if a person says so.

use std::{fmt::Write as _, path::PathBuf};

use clap::Args;
use ostler_server::{
    CONFIGURATION,
    api::{NewRevocation, NewTrust, TrustView, TrustedView},
    client::{Client, encoded},
};

use crate::{
    answering,
    context::{Context, directory, talk},
    error::{Error, Message},
    exit::Exit,
    screen::{Screen, Style, add_line, one_line, visible},
    words::{Key, Words},
};

/// See what a repository would run, and let it.
///
/// Git settings that run programs, agents of its ostler.toml and verify commands of its tasks run only after this. If one of them changes, you are asked
/// again.
#[derive(Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that somebody may give")]
pub(crate) struct Arguments {
    /// The repository, or any directory in it; without it where you are.
    #[arg(value_name = "PATH")]
    path: Option<PathBuf>,
    /// List what you have agreed to, everywhere.
    #[arg(long, conflicts_with_all = ["path", "revoke", "yes", "tasks"])]
    list: bool,
    /// Take it back: nothing of the repository runs any more.
    #[arg(long, conflicts_with_all = ["yes", "tasks"])]
    revoke: bool,
    /// Also what this task file of the repository has run, if it is not that of the project.
    #[arg(long, value_name = "FILE")]
    tasks: Option<PathBuf>,
    /// Your own configuration instead: commands in it that the server runs itself, where they are new or have changed.
    #[arg(long, conflicts_with_all = ["path", "list", "tasks"])]
    config: bool,
    /// Do not ask.
    #[arg(short, long)]
    yes: bool,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result<Exit, Error> {
    talk(async {
        let client = context.server().await?;
        if arguments.list {
            return list(context, &client).await;
        }
        let directory = place(arguments)?;
        if arguments.revoke {
            let trust: TrustView = client.post("/trust/revoke", &NewRevocation { directory }).await?;
            let root = one_line(&trust.root);
            context.print(&trust, |screen| {
                screen.text(&context.words.say(Key::TrustRevoked, &[("root", &root)]))
            })?;
            return Ok(Exit::Done);
        }
        let tasks =
            arguments.tasks.as_ref().map(|tasks| unicode(self::directory()?.join(tasks))).transpose()?;
        let named = tasks.as_ref().map(|tasks| format!("&tasks={}", encoded(tasks))).unwrap_or_default();
        let path = format!("/trust?directory={}{named}", encoded(&directory));
        let trust: TrustView = client.get(&path).await?;
        let wanted = NewTrust { directory, hashes: Vec::new(), tasks };
        give(context, &client, arguments, wanted, trust).await
    })
}

/// Where the command is about, absolute.
fn place(arguments: &Arguments) -> Result<String, Error> {
    if arguments.config {
        return Ok(CONFIGURATION.to_owned());
    }
    let here = directory()?;
    let path = arguments.path.as_ref().map_or_else(|| here.clone(), |path| here.join(path));
    let path = path.canonicalize().unwrap_or(path);
    unicode(path)
}

fn unicode(path: PathBuf) -> Result<String, Error> {
    path.into_os_string().into_string().map_err(|path| Error::Usage {
        message: Message::new(Key::NotUnicode).with("what", &path.display()),
        command: "trust",
    })
}

async fn list(context: &Context, client: &Client) -> Result<Exit, Error> {
    let trusted: Vec<TrustView> = client.get("/trusted").await?;
    let words = context.words;
    context.print(&trusted, |screen| {
        if trusted.is_empty() {
            return screen.text(words.sentence(Key::TrustNobody));
        }
        trusted.iter().map(|trust| shown(words, screen, trust)).collect()
    })?;
    Ok(Exit::Done)
}

/// Shows what there is, asks, and gives trust for exactly that.
async fn give(
    context: &Context,
    client: &Client,
    arguments: &Arguments,
    wanted: NewTrust,
    trust: TrustView,
) -> Result<Exit, Error> {
    let words = context.words;
    let root = one_line(&trust.root);
    if trust.commands.iter().all(|command| command.trusted) {
        context.print(&trust, |screen| {
            if trust.commands.is_empty() {
                return screen.text(&words.say(Key::TrustNothing, &[("root", &root)]));
            }
            format!("{}{}\n", shown(words, screen, &trust), words.sentence(Key::TrustAlready))
        })?;
        return Ok(Exit::Done);
    }
    if !arguments.yes {
        // What is asked about is seen first, also where nobody can answer.
        context.print(&trust, |screen| shown(words, screen, &trust))?;
        if context.json || !answering::agreed(words.sentence(Key::TrustAsk), Key::TrustHow)? {
            context.note(words.sentence(Key::TrustNot));
            return Ok(Exit::Refused);
        }
    }
    let hashes = trust.commands.iter().map(|command| command.hash.clone()).collect();
    let trust: TrustView = client.post("/trust", &NewTrust { hashes, ..wanted }).await?;
    let command = if arguments.config { "ostler trust --config --revoke" } else { "ostler trust --revoke" };
    let said = words.say(Key::TrustDone, &[("root", &root), ("command", &command)]);
    context.print(&trust, |screen| {
        if arguments.yes { format!("{}{said}\n", shown(words, screen, &trust)) } else { format!("{said}\n") }
    })?;
    Ok(Exit::Done)
}

/// Every command in full, whatever is in it.
fn shown(words: Words, screen: Screen, trust: &TrustView) -> String {
    let mut said = words.say(Key::TrustWould, &[("root", &one_line(&trust.root))]);
    said.push('\n');
    add_commands(&mut said, words, screen, &trust.commands);
    said.push('\n');
    said
}

/// Names the settings of the project that are not applied, because nobody has agreed to them: for every command that
/// starts something.
pub(super) async fn note_withheld(context: &Context, client: &Client, directory: &str) {
    let settings = context.config().map(|config| config.withheld(&[])).unwrap_or_default();
    if settings.is_empty() || context.json {
        return;
    }
    let trust = client.get::<TrustView>(&format!("/trust?directory={}", encoded(directory))).await;
    // The run has begun: a note is not worth an error.
    let Ok(trust) = trust else { return };
    let waits = |key: &str| trust.commands.iter().any(|it| it.key == key && !it.trusted);
    let keys: Vec<&str> = settings.iter().map(|it| it.key.as_str()).filter(|key| waits(key)).collect();
    if !keys.is_empty() {
        context.note(&context.words.say(Key::TrustWithheld, &[("keys", &keys.join(", "))]));
    }
}

/// The commands of the user's own configuration that wait for consent. What a server cannot say is said elsewhere.
pub(super) async fn waiting(client: &Client) -> Vec<TrustedView> {
    let trust: Option<TrustView> = client.get(&format!("/trust?directory={CONFIGURATION}")).await.ok();
    let commands = trust.into_iter().flat_map(|trust| trust.commands);
    commands.filter(|command| !command.trusted).collect()
}

/// Says above what needs a person that commands wait, each in full; nothing, if none does.
pub(super) fn notice(words: Words, screen: Screen, waiting: &[TrustedView]) -> String {
    if waiting.is_empty() {
        return String::new();
    }
    let mut said = String::new();
    screen.add_text(&mut said, 0, Style::Bold, words.sentence(Key::ConsentWaits));
    add_commands(&mut said, words, screen, waiting);
    said.push('\n');
    screen.add_text(&mut said, 2, Style::Plain, words.sentence(Key::ConsentHow));
    said.push('\n');
    said
}

fn add_commands(said: &mut String, words: Words, screen: Screen, commands: &[TrustedView]) {
    for TrustedView { key, value, file, trusted, .. } in commands {
        let (word, style) =
            if *trusted { (Key::TrustGiven, Style::Good) } else { (Key::TrustNew, Style::Attention) };
        let place = words.say(Key::TrustIn, &[("file", &one_line(file))]);
        let word = screen.style(style, words.sentence(word));
        // Writing to text does not fail.
        writeln!(said, "\n  {} ({word}, {place})", screen.style(Style::Bold, &visible(key))).ok();
        for line in value.as_deref().unwrap_or_default().trim_end_matches('\n').split('\n') {
            add_line(said, 4, &visible(line));
        }
    }
}
