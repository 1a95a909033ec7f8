//! `ostler demo`: a minute with three scripted agents, on a real server, in a real repository; or, with `--full`, all four
//! phases of an idea. Nothing is faked: what is said was read from the interface or from `/proc`, and at the end it is
//! verified.

mod facts;
mod full;
mod place;
mod play;
mod process;
mod stage;

use std::{
    io::{self, IsTerminal},
    path::PathBuf,
};

use clap::Args;
use serde_json::Value;
use tokio::signal::unix::{SignalKind, signal};

use self::{
    facts::Facts,
    full::{FullFacts, FullPlay},
    place::Place,
    play::Play,
    stage::Stage,
};
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
///
/// With --full, scripted agents go through all four phases instead: they plan, design, write and test a small program,
/// ask you for what they need, and you approve each phase, here or on the page.
#[derive(Args)]
pub(crate) struct Arguments {
    /// From an idea to tested code, phase by phase.
    #[arg(long)]
    full: bool,
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
    ToTheEnd(Seen),
    /// Somebody has seen enough.
    Left,
}

/// What was seen of it.
enum Seen {
    Minute(Box<Facts>),
    Full(Box<FullFacts>),
}

impl Seen {
    fn verify(&self) -> Vec<(Key, bool)> {
        match self {
            Seen::Minute(facts) => facts.verify(),
            Seen::Full(facts) => facts.verify(),
        }
    }

    fn is_verified(&self) -> bool {
        self.verify().iter().all(|(_, is_so)| *is_so)
    }

    fn to_json(&self) -> Value {
        match self {
            Seen::Minute(facts) => facts.to_json(),
            Seen::Full(facts) => facts.to_json(),
        }
    }

    /// Whether everything has ended as it should.
    fn ended(&mut self, well: bool) {
        match self {
            Seen::Minute(facts) => facts.nothing_left = well,
            Seen::Full(facts) => facts.nothing_left = well,
        }
    }

    fn next_command(&self) -> Key {
        match self {
            Seen::Minute(_) => Key::DemoNextCommand,
            Seen::Full(_) => Key::FullNextCommand,
        }
    }
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
        // A person who answers whole phases types lines, not keys.
        let mut stage = Stage::new(context, arguments.auto || arguments.full);
        let played = tokio::select! {
            biased;
            () = left => Ok(Played::Left),
            seen = play(context, arguments, &place, &mut stage) => seen,
        };
        finish(context, arguments.keep, place, stage, played).await
    })
}

async fn play(
    context: &Context,
    arguments: &Arguments,
    place: &Place,
    stage: &mut Stage,
) -> Result<Played, Error> {
    let is_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
    let by_hand = !arguments.auto && !context.json && is_terminal;
    let played = async {
        if arguments.full {
            let seen = FullPlay::begin(context, place, stage, by_hand).await?.perform().await?;
            return Ok(seen.map(|facts| Seen::Full(Box::new(facts))));
        }
        let seen = Play::begin(context, place, stage).await?.perform().await?;
        Ok(seen.map(|facts| Seen::Minute(Box::new(facts))))
    };
    match played.await {
        Ok(Some(seen)) => Ok(Played::ToTheEnd(seen)),
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
    facts.ended(ended_well);
    let said = conclude(context, &mut stage, &facts, keep.then_some(&root));
    // What was not so counts, whether or not anybody reads it.
    if facts.is_verified() {
        said.map(|()| Exit::Done)
    } else {
        Err(Error::Demo { message: Message::new(Key::DemoNotVerified) })
    }
}

/// Says what was found, and how to go on.
fn conclude(context: &Context, stage: &mut Stage, facts: &Seen, kept: Option<&PathBuf>) -> Result<(), Error> {
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
        stage.command(words.sentence(facts.next_command()))?;
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
