//! `ostler demo`: a minute with three scripted agents, on a real server, in a real repository. Nothing is faked: what is
//! said was read from the interface or from `/proc`, and at the end it is verified.

mod facts;
mod place;
mod play;
mod process;
mod stage;

use std::{io, path::PathBuf};

use clap::Args;
use tokio::signal::unix::{SignalKind, signal};

use self::{facts::Facts, place::Place, play::Play, stage::Stage};
use crate::{
    context::{Context, home, talk},
    error::{Error, Message},
    exit::Exit,
    screen::{Screen, Style},
    words::Key,
};

/// Watch three scripted agents for a minute.
///
/// They ask, outlive a server that is killed, and are sent back when they claim to be done and are not. It is the real
/// thing, in a directory of its own: your projects and sessions are not touched, and nothing is left of it. Ctrl-C ends
/// it at any time.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Play by itself, without keys and pauses, as it also does where there is no terminal.
    #[arg(long)]
    auto: bool,
    /// Leave the directory there, to look at it.
    #[arg(long)]
    keep: bool,
    /// Where: a new or empty directory [default: demo in the state directory].
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// How the play ended.
enum Played {
    ToTheEnd(Box<Facts>),
    /// Somebody has seen enough.
    Left,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result<Exit, Error> {
    let root = match &arguments.dir {
        Some(path) => {
            std::path::absolute(path).map_err(|source| Error::File { path: path.clone(), source })?
        }
        None => home()?.root().join("demo"),
    };
    talk(async {
        // Caught before anything is begun, so that whatever is begun is also ended.
        let left = leaving()?;
        let place = Place::take(&root).await?;
        let mut stage = Stage::new(context, arguments.auto);
        let played = tokio::select! {
            biased;
            () = left => Ok(Played::Left),
            facts = play(context, &place, &mut stage) => facts,
        };
        finish(context, arguments.keep, place, stage, played).await
    })
}

async fn play(context: &Context, place: &Place, stage: &mut Stage) -> Result<Played, Error> {
    let played = async { Play::begin(context, place, stage).await?.perform().await };
    match played.await {
        Ok(Some(facts)) => Ok(Played::ToTheEnd(Box::new(facts))),
        Ok(None) => Ok(Played::Left),
        // Whoever reads has gone: that is a way to leave.
        Err(Error::Output(source)) if source.kind() == io::ErrorKind::BrokenPipe => Ok(Played::Left),
        Err(error) => Err(error),
    }
}

/// Ends everything, and says what came of it.
async fn finish(
    context: &Context,
    keep: bool,
    place: Place,
    mut stage: Stage,
    played: Result<Played, Error>,
) -> Result<Exit, Error> {
    let words = context.words;
    if matches!(played, Ok(Played::Left)) {
        context.note(words.sentence(Key::DemoLeaving));
    }
    let ended_well = place.end().await;
    let root = place.root().to_path_buf();
    let removed = if keep { Ok(()) } else { place.remove() };
    let mut facts = match played? {
        Played::ToTheEnd(facts) => facts,
        Played::Left => {
            removed?;
            return Ok(Exit::Cancelled);
        }
    };
    removed?;
    facts.nothing_left = ended_well;
    let said = conclude(context, &mut stage, &facts, keep.then_some(&root));
    // What was not so counts, whether or not anybody reads it.
    if facts.is_verified() {
        said.map(|()| Exit::Done)
    } else {
        Err(Error::Demo { message: Message::new(Key::DemoNotVerified) })
    }
}

/// Says what was found, and how to go on.
fn conclude(
    context: &Context,
    stage: &mut Stage,
    facts: &Facts,
    kept: Option<&PathBuf>,
) -> Result<(), Error> {
    let words = context.words;
    if context.json {
        return context.print(&facts.to_json(), |_| String::new());
    }
    stage.act(words.sentence(Key::DemoVerified))?;
    for (key, is_so) in facts.verify() {
        let (shape, style) = if is_so { ("✓", Style::Good) } else { ("✗", Style::Bad) };
        let line = format!("  {} {}\n", Screen::stdout().style(style, shape), words.sentence(key));
        stage.print(&line)?;
    }
    if let Some(root) = kept {
        stage.act(&words.say(Key::DemoKept, &[("path", &root.display())]))?;
        stage.command(&format!("OSTLER_HOME='{}/state' ostler ps -a", root.display()))?;
    }
    if facts.is_verified() {
        stage.act(words.sentence(Key::DemoNext))?;
        stage.command(words.sentence(Key::DemoNextCommand))?;
    }
    Ok(())
}

/// Waits for a signal that says that somebody wants to leave.
fn leaving() -> Result<impl Future<Output = ()>, Error> {
    let caught = |kind| signal(kind).map_err(Error::Output);
    let mut interrupt = caught(SignalKind::interrupt())?;
    let mut terminate = caught(SignalKind::terminate())?;
    let mut hangup = caught(SignalKind::hangup())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
    })
}
