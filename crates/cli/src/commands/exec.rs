//! `ostler exec`: has a task done by its agent, and says in one line of the thin dialect what came of it.

use std::{
    io::{self, Write},
    path::PathBuf,
    time::Duration,
};

use clap::Args;
use ostler_orchestrate::{Ended, Project, note_if_there, plan::timeout_s};
use ostler_protocol::{name::TaskId, thin::Thin};
use ostler_server::{
    api::{ExecutionStatus, ExecutionView, NewExecution},
    channel::Channel,
    client::ClientError,
};
use serde_json::{Map, Value, json};
use tokio::time::sleep;

use super::{run::environment, tasks::warn_of_other};
use crate::{
    clock,
    context::{self, Context, directory, talk},
    error::{Error, Message},
    exit::Exit,
    usage_error::BadValue,
    words::{Key, Language, Words},
};

/// Before a server that has gone is asked again.
const AGAIN: Duration = Duration::from_millis(200);

/// Have a task done, and print DONE:ID or FAIL:ID:reason.
///
/// Its owner's agent gets the whole task as its prompt; without one the default agent does. It is done when its verify command
/// passes and, if it declares files, something has changed there. The mark in the task file and the state are written.
/// One that fails is begun again and told why, up to `retry_limit` times, and given up after three identical failures.
/// The server does all that: killed and started again, this command waits for the same task. Inside a session only a main
/// agent may use it. The exit code is 0 for DONE and 1 for FAIL.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The task.
    #[arg(value_name = "ID")]
    id: TaskId,
    /// Where it is done, relative to the project; without it in the project itself.
    #[arg(long, value_name = "PATH")]
    worktree: Option<PathBuf>,
    /// More about it, as JSON: "timeout" ends all its attempts together after so many seconds, and never if it is 0.
    #[arg(long, value_name = "JSON", value_parser = meta)]
    meta: Option<Map<String, Value>>,
    /// The agent, whoever the owner is.
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Add figures to the line: DONE:T1.3:elapsed=120s:tests=15, or FAIL:T1.3:elapsed=300s:retries=10:reason.
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
    let project = Project::find(&directory()?, arguments.tasks.as_deref());
    if let Ok(Some(state)) = project.state() {
        warn_of_other(context, &project, &state);
    }
    let new = new_execution(context, arguments)?;
    let view = talk(async {
        Ok(match Channel::find() {
            Some(channel) => inside(&channel, new).await,
            None => outside(context, new).await,
        })
    })?;
    let line = match view {
        Ok(view) => {
            warn_of_damage(context, &project, &arguments.id);
            line(&arguments.id, &view, arguments.verbose)
        }
        // The caller reads one line, also for an error that keeps the task from starting.
        Err(error) => {
            let reason = error.message(Words::new(Language::En));
            let line = Ended::failed(&reason).line(&arguments.id);
            note_if_there(&project, &line, clock::now_ms());
            line
        }
    };
    let text = if context.json {
        context::json(&json!({ "kind": line.kind(), "line": line.to_string(), "about": line }))
    } else {
        format!("{line}\n")
    };
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(Error::Output)?;
    Ok(if matches!(line, Thin::Done { .. }) { Exit::Done } else { Exit::Failed })
}

fn new_execution(context: &Context, arguments: &Arguments) -> Result<NewExecution, Error> {
    let text = |path: PathBuf| {
        path.into_os_string().into_string().map_err(|path| Error::Usage {
            message: Message::new(Key::NotUnicode).with("what", &path.display()),
            command: "exec",
        })
    };
    let directory = directory()?;
    Ok(NewExecution {
        task: arguments.id.to_string(),
        tasks: arguments.tasks.as_ref().map(|tasks| text(directory.join(tasks))).transpose()?,
        directory: text(directory)?,
        worktree: arguments.worktree.clone().map(text).transpose()?,
        meta: arguments.meta.clone(),
        agent: arguments.agent.clone(),
        korean: context.words.language() == Language::Ko,
        environment: Some(environment()),
        again: false,
    })
}

/// Has the server do a task, and waits for its end, whatever becomes of the server meanwhile.
async fn outside(context: &Context, mut new: NewExecution) -> Result<ExecutionView, Error> {
    // A mistake in the configuration is said once, by whoever sees it first.
    context.config()?;
    let client = context.server().await?;
    loop {
        match client.post::<ExecutionView>("/executions", &new).await {
            Ok(view) if view.state != ExecutionStatus::Running => return Ok(view),
            Ok(_) => new.again = true,
            // It is started again by the next question.
            Err(ClientError::Broken { .. } | ClientError::NoServer { .. }) => sleep(AGAIN).await,
            Err(error) => return Err(error.into()),
        }
    }
}

/// The same for a main agent. Its environment is known to the server, and stays there.
async fn inside(channel: &Channel, new: NewExecution) -> Result<ExecutionView, Error> {
    let mut new = NewExecution { environment: None, ..new };
    loop {
        let view = channel.execute(&new).await?;
        if view.state != ExecutionStatus::Running {
            return Ok(view);
        }
        new.again = true;
    }
}

/// The line about a task that has ended.
fn line(id: &TaskId, view: &ExecutionView, is_verbose: bool) -> Thin {
    let ended = match view.state {
        ExecutionStatus::Done => Ended::Done,
        ExecutionStatus::Running | ExecutionStatus::Failed => {
            Ended::failed(view.reason.as_deref().unwrap_or_default())
        }
    };
    let line = ended.line(id);
    if is_verbose { verbose(line, view.elapsed_ms, view.tries, view.tests) } else { line }
}

/// The verbose form of a line: how long it took, and how many tests ran or how often it was tried.
pub(super) fn verbose(line: Thin, elapsed_ms: u64, tries: u32, tests: Option<u32>) -> Thin {
    let more = match &line {
        Thin::Done { .. } => tests.map(|tests| ("tests", tests)),
        Thin::Fail { .. } => Some(("retries", tries)),
        _ => return line,
    };
    let elapsed = ("elapsed", format!("{}s", elapsed_ms / 1000));
    let figures = [elapsed].into_iter().chain(more.map(|(name, count)| (name, count.to_string())));
    figures.fold(line, |line, (name, value)| line.clone().with_figure(name, &value).unwrap_or(line))
}

/// Warns of a state file that cannot be used: the task has its end, and a person has to repair the file.
fn warn_of_damage(context: &Context, project: &Project, id: &TaskId) {
    if let Err(error) = project.state() {
        context.note(&context.words.say(Key::EndedWithoutState, &[("id", id), ("message", &error)]));
        context.note(context.words.sentence(Key::HintStateRepair));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(state: ExecutionStatus, reason: Option<&str>, tests: Option<u32>) -> ExecutionView {
        let reason = reason.map(str::to_owned);
        ExecutionView { task: "T1.3".to_owned(), state, reason, elapsed_ms: 120_900, tries: 10, tests }
    }

    #[test]
    fn lines_are_those_of_the_document() {
        let id: TaskId = "T1.3".parse().expect("an id");
        let check = |view: ExecutionView, is_verbose: bool, wanted: &str| {
            assert_eq!(line(&id, &view, is_verbose).to_string(), wanted);
        };
        check(view(ExecutionStatus::Done, None, Some(15)), false, "DONE:T1.3");
        check(view(ExecutionStatus::Done, None, Some(15)), true, "DONE:T1.3:elapsed=120s:tests=15");
        check(view(ExecutionStatus::Done, None, None), true, "DONE:T1.3:elapsed=120s");
        let failed = || view(ExecutionStatus::Failed, Some("Redis connection refused\nat line 5"), Some(15));
        check(failed(), false, "FAIL:T1.3:Redis connection refused");
        check(failed(), true, "FAIL:T1.3:elapsed=120s:retries=10:Redis connection refused");
        let long = view(ExecutionStatus::Failed, Some(&"연".repeat(101)), None);
        check(long, true, &format!("FAIL:T1.3:elapsed=120s:retries=10:{}", "연".repeat(100)));
    }
}
