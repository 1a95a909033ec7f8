//! `ostler exec`: has a task done by its agent, and says in one line of the thin dialect what came of it.

use std::{
    io::{self, Write},
    path::PathBuf,
    time::Duration,
};

use clap::Args;
use ostler_orchestrate::{
    Begun, Ended, Project, Tried, Work, begin, conclude, note_if_there, plan::timeout_s, release,
    trust_command, unbegun,
};
use ostler_protocol::{name::TaskId, thin::Thin};
use ostler_server::{
    api::{
        NewResume, NewRun, Outcome, OutcomeKind, PieceView, PiecesView, RunView, SessionView, TrustView,
        TrustedView,
    },
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
    usage_error::BadValue,
    words::{Key, Language, Words},
};

/// Between two looks at the run.
const LOOK: Duration = Duration::from_millis(200);

/// How much of a reason a line has.
const REASON_CHARS_MAX: usize = 100;

/// The least of a command that is shown in one.
const COMMAND_CHARS_MIN: usize = 20;

/// How much of what an agent printed is looked at for what it said at last.
const SAID_BYTES_MAX: u64 = 64 << 10;

/// Have a task done, and print DONE:ID or FAIL:ID:reason.
///
/// Its owner's agent gets the whole task as its prompt; without one the default agent does. It is done when its verify command
/// passes and, if it declares files, something has changed there. The mark in the task file and the state are written.
/// One that fails is begun again and told why, up to `retry_limit` times, and given up after three identical failures.
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

fn meta(text: &str) -> Result<Map<String, Value>, BadValue> {
    let meta: Map<String, Value> =
        serde_json::from_str(text).map_err(|_| BadValue::new(Key::WhyNoJsonObject))?;
    match timeout_s(&meta) {
        Ok(_) => Ok(meta),
        Err(said) => Err(BadValue::from(Message::new(Key::WhyMetaTimeout).with("value", said))),
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
            let line = Thin::fail(arguments.id.clone(), &error.message(Words::new(Language::En)));
            note_if_there(&project, &line, clock::now_ms());
            Begun::Settled(line)
        }
    };
    let line = see_through(context, arguments, &project, begun)?;
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

/// Has it done, again and again while there is a point in it; every try has a run of its own, and is told of the last.
fn see_through(
    context: &Context,
    arguments: &Arguments,
    project: &Project,
    mut begun: Begun,
) -> Result<Thin, Error> {
    let is_korean = context.words.language() == Language::Ko;
    loop {
        let work = match begun {
            Begun::Settled(line) => return Ok(line),
            Begun::Work(work) => work,
        };
        match talk(async { Ok(carry_out(context, arguments, &work).await) })? {
            Ok(tried) => {
                if let Some(line) = conclude(project, &work, &tried, clock::now_ms()) {
                    warn_of_damage(context, project, &work.id);
                    return Ok(line);
                }
            }
            Err(reason) => {
                // A state that cannot be written stays as it is: the next who asks takes the task over.
                release(project, &work, clock::now_ms()).ok();
                let line = Thin::fail(work.id.clone(), &reason);
                note_if_there(project, &line, clock::now_ms());
                return Ok(line);
            }
        }
        begun = begin(project, &work.id, arguments.worktree.as_deref(), is_korean, clock::now_ms());
    }
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
async fn carry_out(context: &Context, arguments: &Arguments, work: &Work) -> Result<Tried, String> {
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
            _ => Ok(Tried::in_vain(reason)),
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

/// How long this try has taken, also before somebody came back to it. A clock that was put back has used nothing.
fn used_ms(work: &Work) -> u64 {
    clock::now_ms().saturating_sub(work.begun_at_ms)
}

/// When work is late: what earlier tries have used counts.
fn late_at(work: &Work, timeout: Option<Duration>) -> Option<Instant> {
    let used = work.used.saturating_add(Duration::from_millis(used_ms(work)));
    Instant::now().checked_add(timeout?.saturating_sub(used))
}

/// Waits for the end of a run, however long its agent waits for answers and whatever becomes of the server meanwhile.
async fn wait(client: &Client, run: &str, work: &Work, timeout: Option<Duration>) -> Result<Tried, Error> {
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
            let late = is_over.then(|| timeout.unwrap_or_default());
            let session = view.sessions.last();
            let report = match (ended.outcome, session) {
                (OutcomeKind::Failed, Some(session)) => said(client, &session.id).await.unwrap_or_default(),
                _ => String::new(),
            };
            let tries = session.map_or(1, |session| session.attempts.max(1));
            return Ok(tried(
                ended,
                late,
                Tried { report, tries, used_ms: used_ms(work), ..Tried::in_vain(String::new()) },
            ));
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

/// What the end of a run is to its task. Who was ended, could not be started or fails in the same way again and again
/// would not do better.
fn tried(ended: &Outcome, late: Option<Duration>, known: Tried) -> Tried {
    let failed = |reason: String, is_final: bool| (Ended::Failed { reason }, is_final);
    let (ended, is_final) = match (ended.outcome, late) {
        (OutcomeKind::Completed, _) => (Ended::Done, false),
        (_, Some(timeout)) => failed(format!("it was ended after {} s", timeout.as_secs()), true),
        (OutcomeKind::Cancelled, None) => failed("it was cancelled".to_owned(), true),
        (OutcomeKind::Failed, None) => failed(
            outcome::reason(Words::new(Language::En), &ended.reason),
            matches!(ended.reason["key"].as_str(), Some("not_started" | "same_failure")),
        ),
    };
    Tried { ended, is_final, ..known }
}

/// What an agent said at last: its last message, where its CLI prints events, and else the end of what it printed.
async fn said(client: &Client, session: &str) -> Result<String, Error> {
    let path = format!("/sessions/{session}/output?form=pieces&tail={SAID_BYTES_MAX}");
    let mut answer = client.stream(&path).await?;
    let is_pieces = answer.header("content-type") == Some("application/x-ndjson");
    let mut bytes = Vec::new();
    while let Some(piece) = answer.next().await? {
        bytes.extend_from_slice(&piece);
    }
    if !is_pieces {
        return Ok(String::from_utf8_lossy(&bytes).into_owned());
    }
    let (mut message, mut goes_on) = (String::new(), false);
    let views =
        bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice::<PiecesView>(line).ok());
    for piece in views.flat_map(|view| view.pieces) {
        if let PieceView::Speech { text, fragment } = piece {
            if !goes_on {
                message.clear();
            }
            message.push_str(&text);
            goes_on = fragment;
        } else {
            goes_on = false;
        }
    }
    Ok(message)
}
