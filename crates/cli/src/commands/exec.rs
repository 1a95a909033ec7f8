//! `ostler exec`: has a task done by its agent, and says in one line of the thin dialect what came of it.

use std::{
    io::{self, Write},
    path::PathBuf,
    time::Duration,
};

use clap::Args;
use ostler_orchestrate::{
    Begun, Ended, Project, Work, begin, end, plan::timeout_s, release, trust_command, unbegun,
};
use ostler_protocol::{name::TaskId, thin::Thin};
use ostler_server::{
    api::{NewResume, NewRun, OutcomeKind, RunView, SessionView, TrustView, TrustedView},
    client::{Client, ClientError, encoded},
};
use serde_json::{Map, Value, json};
use tokio::time::{Instant, sleep};

use super::{run::environment, tasks::warn_of_other};
use crate::{
    clock,
    context::{self, Context, directory, talk},
    error::{Error, Message},
    exit::Exit,
    outcome,
    words::{Key, Language, Words},
};

/// Between two looks at the run.
const LOOK: Duration = Duration::from_millis(200);

/// How much of a reason a line has.
const REASON_CHARS_MAX: usize = 100;

/// The least of a command that is shown in one.
const COMMAND_CHARS_MIN: usize = 20;

/// Have a task done, and print DONE:ID or FAIL:ID:reason.
///
/// Its owner's agent gets the whole task as its prompt; without one the default agent does. It is done when its verify command
/// passes and, if it declares files, something has changed there. The mark in the task file and the state are written.
/// Killed and started again, it goes on with the same run. The exit code is 0 for DONE and 1 for FAIL.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The task.
    #[arg(value_name = "ID")]
    id: TaskId,
    /// Where it is done, relative to the project; without it in the project itself.
    #[arg(long, value_name = "PATH")]
    worktree: Option<PathBuf>,
    /// More about it, as JSON: "timeout" ends it after so many seconds, and never if it is 0.
    #[arg(long, value_name = "JSON", value_parser = meta)]
    meta: Option<Map<String, Value>>,
    /// The agent, whoever the owner is.
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Add figures to the line: DONE:T1.3:elapsed=120s.
    #[arg(long)]
    verbose: bool,
    /// The task file [default: that of the project].
    #[arg(long, value_name = "FILE")]
    tasks: Option<PathBuf>,
}

fn meta(text: &str) -> Result<Map<String, Value>, String> {
    let meta: Map<String, Value> = serde_json::from_str(text).map_err(|error| error.to_string())?;
    match timeout_s(&meta) {
        Ok(_) => Ok(meta),
        Err(said) => Err(format!("\"timeout\" is a whole number of seconds, 0 for none, and not {said}")),
    }
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result<Exit, Error> {
    let begun_at = Instant::now();
    let project = Project::find(&directory()?, arguments.tasks.as_deref());
    if let Ok(Some(state)) = project.state() {
        warn_of_other(context, &project, &state);
    }
    let is_korean = context.words.language() == Language::Ko;
    let worktree = arguments.worktree.as_deref();
    // A task that nobody can do stays as it is.
    let owner = unbegun(&project, &arguments.id, clock::now_ms());
    let agent = owner.map_or(Ok(()), |owner| agent(context, arguments, owner.as_ref()).map(drop));
    let begun = match agent {
        Ok(()) => begin(&project, &arguments.id, worktree, is_korean, clock::now_ms()),
        Err(error) => {
            let reason = error.message(Words::new(Language::En));
            Begun::Settled(Thin::fail(arguments.id.clone(), &reason))
        }
    };
    let line = match begun {
        Begun::Settled(line) => line,
        Begun::Work(work) => match talk(async { Ok(carry_out(context, arguments, &work).await) })? {
            Ok(ended) => {
                let line = end(&project, &work, ended, clock::now_ms());
                warn_of_damage(context, &project, &work.id);
                line
            }
            Err(reason) => {
                // A state that cannot be written stays as it is: the next who asks takes the task over.
                release(&project, &work, clock::now_ms()).ok();
                Thin::fail(work.id.clone(), &reason)
            }
        },
    };
    let line = if arguments.verbose { with_time(line, begun_at.elapsed()) } else { line };
    let text = if context.json {
        context::json(&json!({ "kind": line.kind(), "line": line.to_string(), "about": line }))
    } else {
        format!("{line}\n")
    };
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(Error::Output)?;
    Ok(if matches!(line, Thin::Done { .. }) { Exit::Done } else { Exit::Failed })
}

/// What came of a task is known without the state too, and somebody has to repair that.
fn warn_of_damage(context: &Context, project: &Project, id: &TaskId) {
    if let Err(error) = project.state() {
        context.note(&context.words.say(Key::EndedWithoutState, &[("id", id), ("message", &error)]));
        context.note(context.words.sentence(Key::HintStateRepair));
    }
}

fn with_time(line: Thin, elapsed: Duration) -> Thin {
    line.clone().with_figure("elapsed", &format!("{}s", elapsed.as_secs())).unwrap_or(line)
}

/// Has it done. What keeps it from being done is a failure of the task: whoever asked reads one line. A key that stands
/// for something else is none, and the task is to be given back.
async fn carry_out(context: &Context, arguments: &Arguments, work: &Work) -> Result<Ended, String> {
    let done = async {
        let client = context.server().await?;
        let run = match begun(&client, work).await? {
            Some(run) => run,
            None => {
                let new = new_run(context, arguments, work)?;
                check_trust(&client, arguments, work).await?;
                client.post_once("/runs", &new, &work.key).await?
            }
        };
        wait(&client, &run.id, work, timeout(arguments, work)).await
    };
    done.await.or_else(|error: Error| {
        let reason = error.message(Words::new(Language::En));
        match &error {
            Error::Client(ClientError::Refused(problem)) if problem.kind == "key_reused" => Err(reason),
            _ => Ok(Ended::Failed { reason }),
        }
    })
}

/// The run of a task that was begun before. Its key stands in a file that anybody may have written, so it counts only for
/// a run of the same project.
async fn begun(client: &Client, work: &Work) -> Result<Option<RunView>, Error> {
    let runs: Vec<RunView> = client.get(&format!("/runs?key={}", encoded(&work.key))).await?;
    Ok(runs.into_iter().find(|run| work.directory.starts_with(&run.project.root)))
}

/// A command that stands in a task file comes from a repository: it runs only if a person has agreed to it.
async fn check_trust(client: &Client, arguments: &Arguments, work: &Work) -> Result<(), Error> {
    let Some(check) = &work.check else { return Ok(()) };
    let path = format!("/trust?directory={}", encoded(&work.directory.to_string_lossy()));
    let is_it = |it: &TrustedView| it.key == "verify" && it.value.as_ref() == Some(check) && it.trusted;
    let trust: TrustView = client.get(&path).await?;
    if trust.commands.iter().any(is_it) {
        return Ok(());
    }
    let mut how = "ostler trust".to_owned();
    if let Some(tasks) = &arguments.tasks {
        let file = directory()?.join(tasks);
        let named = format!("{path}&tasks={}", encoded(&file.to_string_lossy()));
        let trust: TrustView = client.get(&named).await?;
        if trust.commands.iter().any(is_it) {
            return Ok(());
        }
        how = trust_command(&tasks.to_string_lossy());
    }
    // A line of the thin dialect is short, and what helps stands at its end.
    let fixed = "nobody has agreed to `` ()".len() + how.chars().count();
    let room = REASON_CHARS_MAX.saturating_sub(fixed).max(COMMAND_CHARS_MIN);
    Err(Error::Refused {
        message: Message::new(Key::VerifyUntrusted).with("command", &cut(check, room)).with("trust", &how),
        hint: Message::new(Key::HintVerifyTrust).with("trust", &how),
    })
}

fn cut(text: &str, chars_max: usize) -> String {
    if text.chars().count() <= chars_max {
        return text.to_owned();
    }
    text.chars().take(chars_max - 1).chain(['…']).collect()
}

/// After how long it is ended: what is said now counts before what the task says.
fn timeout(arguments: &Arguments, work: &Work) -> Option<Duration> {
    match arguments.meta.as_ref().and_then(|meta| timeout_s(meta).ok()?) {
        Some(0) => None,
        Some(seconds) => Some(Duration::from_secs(seconds)),
        None => work.timeout,
    }
}

/// Who is named; else the owner's agent, if there is one of that name; otherwise the default.
fn agent(context: &Context, arguments: &Arguments, owner: Option<&String>) -> Result<String, Error> {
    let config = context.config()?;
    let refused = |message| Error::Refused { message, hint: Message::new(Key::HintAgents) };
    match config.agent_of_task(arguments.agent.as_ref(), owner) {
        Some(name) if config.agents.get(name).is_some() => Ok(name.clone()),
        Some(name) => Err(refused(Message::new(Key::UnknownAgent).with("name", name))),
        None => Err(refused(Message::new(Key::NoAgentNamed))),
    }
}

fn new_run(context: &Context, arguments: &Arguments, work: &Work) -> Result<NewRun, Error> {
    let agent = agent(context, arguments, work.owner.as_ref())?;
    Ok(NewRun::of_task(work, &agent, environment(), context.words.language() == Language::Ko))
}

/// When work is late: what it has used before somebody came back to it counts. A clock that was put back has used nothing.
fn late_at(work: &Work, timeout: Option<Duration>) -> Option<Instant> {
    let used = Duration::from_millis(clock::now_ms().saturating_sub(work.begun_at_ms));
    Instant::now().checked_add(timeout?.saturating_sub(used))
}

/// Waits for the end of a run, however long its agent waits for answers and whatever becomes of the server meanwhile.
async fn wait(client: &Client, run: &str, work: &Work, timeout: Option<Duration>) -> Result<Ended, Error> {
    let deadline = late_at(work, timeout);
    let mut is_over = false;
    loop {
        let view: RunView = match client.get(&format!("/runs/{run}")).await {
            // It is started again by the next question.
            Err(ClientError::Broken { .. } | ClientError::NoServer { .. }) => {
                sleep(LOOK).await;
                continue;
            }
            view => view?,
        };
        if let Some(ended) = &view.outcome {
            return Ok(match (ended.outcome, is_over) {
                (OutcomeKind::Completed, _) => Ended::Done,
                (_, true) => {
                    let seconds = timeout.unwrap_or_default().as_secs();
                    Ended::Failed { reason: format!("it was ended after {seconds} s") }
                }
                (OutcomeKind::Cancelled, false) => Ended::Failed { reason: "it was cancelled".to_owned() },
                (OutcomeKind::Failed, false) => {
                    Ended::Failed { reason: outcome::reason(Words::new(Language::En), &ended.reason) }
                }
            });
        }
        for session in view.sessions.iter().filter(|session| session.status == "interrupted") {
            let resume = NewResume::default();
            let _resumed: SessionView =
                client.post(&format!("/sessions/{}/resume", session.id), &resume).await?;
        }
        if !is_over && deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            is_over = true;
            for session in &view.sessions {
                let _cancelled: SessionView =
                    client.post(&format!("/sessions/{}/cancel", session.id), &Value::Null).await?;
            }
        }
        sleep(LOOK).await;
    }
}
