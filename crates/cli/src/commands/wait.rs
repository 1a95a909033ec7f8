//! `ostler wait`: until sessions and runs have ended, or need somebody. The events of the server say when to look.

use std::time::Duration;

use clap::{Args, ValueEnum};
use ostler_server::api::{EventView, InfoView, RunView, SessionView};
use serde::Serialize;
use tokio::time::{Instant, timeout_at};

use super::limits::duration;
use crate::{
    attached::Events,
    clock,
    context::{Context, talk},
    error::Error,
    exit::Exit,
    id::{self, Id},
    outcome, sessions,
    words::{Key, Words},
};

/// The events after which something may have ended, or need somebody.
const KINDS: &str = "run.ended,session.finished,session.ended,request.";

/// A wait without an end: no clock goes so far.
const FOREVER: Duration = Duration::from_hours(100 * 365 * 24);

/// Wait until sessions or runs have ended.
///
/// Prints a line for each when it has ended. The exit code is 0 if all are done; otherwise that of the first, in the
/// order given, that is not: 1 failed, 10 cancelled, 11 interrupted. It is 16 if the time is over.
#[derive(Args)]
pub(crate) struct Arguments {
    #[arg(value_name = "ID", required = true, help = id::HELP)]
    ids: Vec<String>,
    /// What to wait for: the end, or until it needs you or has ended.
    #[arg(long = "for", value_enum, value_name = "WHAT", default_value = "end")]
    until: Until,
    /// Give up after so long: 90s, 10m, 2h.
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    timeout: Option<Duration>,
}

/// What is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Until {
    /// The end.
    End,
    /// A request that waits for a person.
    Request,
}

/// A session or run that the command waits for.
struct Target {
    id: Id,
    done: Option<Waited>,
}

/// The result for one target.
#[derive(Serialize)]
struct Waited {
    /// `ended` or `request`.
    why: &'static str,
    exit_code: u8,
    session: SessionView,
    #[serde(skip)]
    exit: Exit,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result<Exit, Error> {
    talk(async {
        let client = context.server().await?;
        let begun = Instant::now();
        let deadline = begun.checked_add(arguments.timeout.unwrap_or(FOREVER)).unwrap_or(begun + FOREVER);
        let mut targets = Vec::new();
        for text in &arguments.ids {
            let id = match id::read(&client, text).await? {
                Id::Request(_) => Id::Session(id::session(&client, text).await?),
                id => id,
            };
            targets.push(Target { id, done: None });
        }
        // The place in the journal comes first, so that nothing that happens meanwhile is missed.
        let info: InfoView = client.get("/info").await?;
        let mut events = Events::of_kinds(&client, KINDS, info.seq);
        for target in &mut targets {
            target.look(context, &mut events, arguments.until).await?;
        }
        while targets.iter().any(|target| target.done.is_none()) {
            let Ok(event) = timeout_at(deadline, events.next(context)).await else {
                return timed_out(context, &targets, begun.elapsed());
            };
            let event = event?;
            for target in targets.iter_mut().filter(|target| target.is_concerned(&event)) {
                target.look(context, &mut events, arguments.until).await?;
            }
        }
        let waited: Vec<&Waited> = targets.iter().filter_map(|target| target.done.as_ref()).collect();
        if context.json {
            context.print(&waited, |_| String::new())?;
        }
        Ok(waited.iter().map(|it| it.exit).find(|exit| *exit != Exit::Done).unwrap_or(Exit::Done))
    })
}

/// Names the targets that have not ended; `--json` lists those that have.
fn timed_out(context: &Context, targets: &[Target], after: Duration) -> Result<Exit, Error> {
    let left: Vec<&str> = targets.iter().filter(|it| it.done.is_none()).map(Target::id).collect();
    let words = context.words;
    let time = clock::span(words, u64::try_from(after.as_millis()).unwrap_or(u64::MAX));
    context.note(&words.say(Key::WaitTimedOut, &[("time", &time), ("ids", &left.join(", "))]));
    if context.json {
        let waited: Vec<&Waited> = targets.iter().filter_map(|target| target.done.as_ref()).collect();
        context.print(&waited, |_| String::new())?;
    }
    Ok(Exit::TimedOut)
}

impl Target {
    fn id(&self) -> &str {
        match &self.id {
            Id::Session(id) | Id::Run(id) | Id::Request(id) => id,
        }
    }

    /// Whether something may have come of it.
    fn is_concerned(&self, event: &EventView) -> bool {
        let of = match &self.id {
            Id::Run(_) => &event.run,
            Id::Session(_) | Id::Request(_) => &event.session,
        };
        self.done.is_none() && of.as_deref() == Some(self.id())
    }

    /// Looks whether something has come of it, and says so.
    async fn look(&mut self, context: &Context, events: &mut Events, until: Until) -> Result<(), Error> {
        let mut session: SessionView = events.get(context, &format!("/sessions/{}", self.id())).await?;
        if let Id::Run(id) = &self.id {
            // A run has ended with the last of its sessions.
            let run: RunView = events.get(context, &format!("/runs/{id}")).await?;
            (session.id, session.outcome) = (id.clone(), run.outcome);
        }
        let is_over = session.outcome.is_some() || session.status == "interrupted";
        let needs = until == Until::Request && !session.blocked_by.is_empty() && session.wait.is_none();
        if !is_over && !needs {
            return Ok(());
        }
        let (why, exit) = if is_over { ("ended", outcome::exit(&session)) } else { ("request", Exit::Done) };
        if !context.json {
            let said = said(context.words, &session, is_over);
            context.print(&(), |_| format!("{said}\n"))?;
        }
        self.done = Some(Waited { why, exit_code: exit as u8, session, exit });
        Ok(())
    }
}

/// The result for one session, in a line.
fn said(words: Words, session: &SessionView, is_over: bool) -> String {
    if is_over {
        return outcome::sentence(words, session).into_iter().next().unwrap_or_default();
    }
    let requests = session.blocked_by.join(" ");
    words.say(Key::WaitNeedsYou, &[("id", &sessions::label(session)), ("requests", &requests)])
}
