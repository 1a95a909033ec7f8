//! `ostler orchestrate`: works through a task file, and shows how far it is.

mod graph;
mod shown;

use std::{
    io::{self, Write},
    num::NonZeroU32,
    path::PathBuf,
    time::Duration,
};

use clap::Args;
use ostler_orchestrate::{
    Project, State,
    plan::{State as TaskState, Task},
};
use ostler_server::{
    api::{LoopView, NewLoop},
    client::{Client, ClientError},
};
use serde_json::json;
use tokio::time::sleep;

use self::shown::Shown;
use super::{run::environment, trust};
use crate::{
    attached::{self, Options, Signals},
    console,
    context::{Context, directory, talk},
    error::{Error, Message},
    exit::Exit,
    help::heading,
    words::{Key, Language},
};

/// Between two looks at the loop.
const LOOK: Duration = Duration::from_millis(300);

/// Work through the task file: every task by its agent, in worktrees, tested and merged phase by phase.
///
/// You see what begins and ends, on a terminal also the graph as it stands, and what needs you is asked right there. It goes on without you: Ctrl-C asks whether to
/// cancel it or to leave it, and the same command shows it again. What is done stands in the task file and in
/// .claude/orchestrate-state.json, so it can be stopped and started at any time.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  ostler orchestrate\n  ostler orchestrate --phase 1 --max-parallel 5\n  \
                        ostler orchestrate --verify"
)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that somebody may give")]
pub(crate) struct Arguments {
    /// This phase alone.
    #[arg(long, value_name = "N", help_heading = heading::TASKS)]
    phase: Option<u32>,
    /// Also say where, how often and with which commands, and each end as DONE:T1.3:elapsed=120s:tests=15 or FAIL.
    #[arg(long, help_heading = heading::OUTPUT)]
    verbose: bool,
    /// Compare the task file with the state, and start nothing.
    #[arg(long, help_heading = heading::TASKS)]
    verify: bool,
    /// How many tasks run at once [default: 3].
    #[arg(long, value_name = "N", help_heading = heading::TASKS)]
    max_parallel: Option<NonZeroU32>,
    /// The task file [default: that of the project].
    #[arg(long, value_name = "FILE", help_heading = heading::TASKS)]
    tasks: Option<PathBuf>,
    /// The agent for all tasks, whoever their owners are.
    #[arg(long, value_name = "NAME", help_heading = heading::TASKS)]
    agent: Option<String>,
    /// Do not watch it: print its ids and return.
    #[arg(short, long, help_heading = heading::OUTPUT)]
    detach: bool,
    /// Print one line for each event.
    #[arg(long, help_heading = heading::COMPATIBILITY)]
    ultra_thin: bool,
    /// Continue where it stopped.
    #[arg(long, help_heading = heading::COMPATIBILITY)]
    resume: bool,
    /// Read the task file again.
    #[arg(long, help_heading = heading::COMPATIBILITY)]
    force: bool,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result<Exit, Error> {
    if arguments.verify {
        return verify(context, arguments);
    }
    let new = new_loop(context, arguments)?;
    talk(async {
        let mut signals = Signals::catch();
        let ask = async {
            let client = context.server().await?;
            let view: Result<LoopView, ClientError> = client.post("/orchestrate", &new).await;
            Ok::<_, Error>((client, view))
        };
        let Some(begun) = signals.during(ask).await else { return Ok(attached::left(context)) };
        let (client, view) = begun?;
        let view = match view {
            Ok(view) => view,
            Err(ClientError::Refused(problem)) if problem.details["key"] == "tasks" => {
                let line = problem.details["line"].as_str().unwrap_or_default();
                context.print(&json!({ "line": line }), |_| format!("{line}\n"))?;
                return Ok(Exit::Plan);
            }
            Err(error) => return Err(error.into()),
        };
        trust::note_withheld(context, &client, &new.directory).await;
        if arguments.detach {
            context.print(&view, |_| format!("{} {}\n", view.run, view.session))?;
            context.note(&context.words.say(Key::LoopDetached, &[("session", &view.session)]));
            return Ok(Exit::Done);
        }
        Box::pin(watch(context, &client, view, arguments.verbose, signals)).await
    })
}

/// Shows what happens until it is over or somebody leaves.
async fn watch(
    context: &Context,
    client: &Client,
    view: LoopView,
    is_verbose: bool,
    signals: Signals,
) -> Result<Exit, Error> {
    let (run, session) = (view.run.clone(), view.session.clone());
    let mut shown = Shown::new(context, is_verbose);
    shown.begin(&view);
    let exit = {
        let watched = attached::watch(context, client, &session, Options::default(), signals);
        let mut watched = std::pin::pin!(watched);
        loop {
            tokio::select! {
                exit = &mut watched => break exit?,
                () = sleep(LOOK) => {
                    // A server that is gone is started again by the next question.
                    if let Ok(view) = client.get::<LoopView>(&format!("/orchestrate/{run}")).await {
                        shown.show(&view)?;
                    }
                }
            }
        }
    };
    console::clear();
    if exit == Exit::Detached {
        context.note(&context.words.say(Key::LoopDetached, &[("session", &session)]));
        return Ok(exit);
    }
    let view: LoopView = client.get(&format!("/orchestrate/{run}")).await?;
    shown.show(&view)?;
    shown.end(&view)?;
    Ok(exit)
}

fn new_loop(context: &Context, arguments: &Arguments) -> Result<NewLoop, Error> {
    // A mistake in the configuration is said once, by whoever sees it first.
    context.config()?;
    let text = |path: PathBuf| {
        path.into_os_string().into_string().map_err(|path| Error::Usage {
            message: Message::new(Key::NotUnicode).with("what", &path.display()),
            command: "orchestrate",
        })
    };
    let directory = directory()?;
    Ok(NewLoop {
        tasks: arguments.tasks.as_ref().map(|tasks| text(directory.join(tasks))).transpose()?,
        directory: text(directory)?,
        phase: arguments.phase,
        parallel_max: arguments.max_parallel,
        agent: arguments.agent.clone(),
        korean: context.words.language() == Language::Ko,
        environment: Some(environment()),
    })
}

/// Says where the task file and the state differ. Nothing is changed.
fn verify(context: &Context, arguments: &Arguments) -> Result<Exit, Error> {
    let project = Project::find(&directory()?, arguments.tasks.as_deref());
    let line = |line: String| {
        let mut stdout = io::stdout().lock();
        writeln!(stdout, "{line}").and_then(|()| stdout.flush()).map_err(Error::Output)
    };
    let (plan, name) = match project.plan() {
        Ok((plan, name)) => match plan.problems().first() {
            Some(problem) => return line(problem.thin(&name).to_string()).map(|()| Exit::Plan),
            None => (plan, name),
        },
        Err(error) => return line(error.thin().to_string()).map(|()| Exit::Plan),
    };
    let states = match project.state() {
        Ok(state) => state.as_ref().map(State::tasks).unwrap_or_default(),
        Err(error) => {
            let said = error.thin().map_or_else(|| error.to_string(), |line| line.to_string());
            return line(said).map(|()| Exit::Plan);
        }
    };
    let is_done = |task: &Task<'_>| {
        states.iter().any(|(id, state)| *state == TaskState::Completed && id.as_str() == task.name())
    };
    let mut found: Vec<(Key, String)> = Vec::new();
    for task in plan.tasks() {
        match (task.is_done(), is_done(&task)) {
            (true, false) if !states.is_empty() => found.push((Key::LoopStateBehind, task.name().to_owned())),
            (false, true) => found.push((Key::LoopMarkMissing, task.name().to_owned())),
            _ => {}
        }
    }
    let unknown = states.keys().filter(|id| plan.find(id.as_str()).is_none());
    found.extend(unknown.map(|id| (Key::LoopUnknown, id.to_string())));
    let value: Vec<_> =
        found.iter().map(|(key, id)| json!({ "task": id, "difference": difference(*key) })).collect();
    let words = context.words;
    context.print(&value, |screen| {
        if found.is_empty() {
            return screen.text(&words.say(Key::LoopVerified, &[("file", &name), ("tasks", &plan.len())]));
        }
        let said = found.iter().map(|(key, id)| screen.text(&words.say(*key, &[("id", id)])));
        said.collect()
    })?;
    Ok(if found.is_empty() { Exit::Done } else { Exit::Failed })
}

/// The name of a difference in JSON.
fn difference(key: Key) -> &'static str {
    match key {
        Key::LoopStateBehind => "marked_only",
        Key::LoopMarkMissing => "completed_only",
        _ => "unknown_task",
    }
}
