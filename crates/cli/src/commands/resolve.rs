//! `ostler resolve`: what can run now, in one line of the thin dialect. Needs no server.

use std::{
    io::{self, Write},
    path::PathBuf,
};

use clap::Args;
use ostler_orchestrate::{Committed, Project, Resolve, StateError, resolve};
use ostler_protocol::thin::{ErrorCode, Thin};
use ostler_workspace::Repository;
use serde_json::json;

use crate::{
    clock,
    context::{self, Context, directory},
    error::Error,
    exit::Exit,
    screen::one_line,
    words::Key,
};

/// Print what of a task file can run now, in exactly one line, for main agents.
///
/// It is the answer of a resolver: READY:T1.3,T1.4 (these may all be started), WAIT, that a phase or everything is done, or
/// ERROR:…, with exit code 15; docs/orchestrate.md has them all.
/// The resolver's parts of .claude/orchestrate-state.json are written, and both lines go to .claude/orchestrate.log.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Only this phase.
    #[arg(long, value_name = "N")]
    phase: Option<u32>,
    /// Afresh from the file; it always is.
    #[arg(long)]
    force: bool,
    /// Go on with the later waves of the phase: READY:T1.3,T1.4|T1.5.
    #[arg(long)]
    groups: bool,
    /// Begin a new state from the done marks, the log and git if the old one cannot be understood; it is kept aside.
    #[arg(long)]
    repair: bool,
    /// The task file [default: that of the project].
    #[arg(long, value_name = "FILE")]
    tasks: Option<PathBuf>,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result<Exit, Error> {
    let project = Project::find(&directory()?, arguments.tasks.as_deref());
    let commits = if arguments.repair { committed(context, &project) } else { Vec::new() };
    let asked = Resolve {
        phase: arguments.phase,
        force: arguments.force,
        groups: arguments.groups,
        repair: arguments.repair.then_some(commits.as_slice()),
    };
    let resolved = resolve(&project, asked, clock::now_ms());
    let line = if context.json {
        context::json(
            &json!({ "kind": resolved.line.kind(), "line": resolved.line.to_string(), "about": resolved.line }),
        )
    } else {
        format!("{}\n", resolved.line)
    };
    let mut stdout = io::stdout().lock();
    stdout.write_all(line.as_bytes()).and_then(|()| stdout.flush()).map_err(Error::Output)?;
    if let Some(other) = &resolved.other {
        context.note(&context.words.say(Key::StateOfOther, &[("file", &one_line(other))]));
    }
    let is_corrupt = matches!(resolved.line, Thin::Error { code: ErrorCode::StateCorrupt, .. });
    if is_corrupt && matches!(project.state(), Err(StateError::Corrupt { .. })) {
        context.note(context.words.sentence(Key::HintStateRepair));
    }
    explain(context, &project, &resolved.line);
    if let Some(error) = &resolved.unwritten {
        context.note(&context.words.say(Key::StateUnwritten, &[("message", error)]));
    }
    Ok(if matches!(resolved.line, Thin::Error { .. }) { Exit::Plan } else { Exit::Done })
}

/// Tells a person what to do about an error: the line is for the main agent.
fn explain(context: &Context, project: &Project, line: &Thin) {
    let words = context.words;
    if let Ok(Some(state)) = project.state()
        && state.has_foreign()
        && let Ok((plan, name)) = project.plan()
    {
        let foreign = state.foreign(&plan);
        for key in &foreign.unread {
            context.note(&words.say(Key::ForeignUnread, &[("key", &one_line(key))]));
        }
        for task in &foreign.unknown_tasks {
            context.note(&words.say(Key::ForeignUnknown, &[("task", &one_line(task)), ("file", &name)]));
        }
    }
    let Thin::Error { code, detail, .. } = line else { return };
    let detail = one_line(detail.as_deref().unwrap_or_default());
    match code {
        ErrorCode::TasksNotFound => context.note(words.sentence(Key::HintTaskFile)),
        ErrorCode::ParseFail | ErrorCode::MissingDep | ErrorCode::CircularDep => {
            if let Ok((plan, name)) = project.plan()
                && let Some(problem) = plan.problems().first()
            {
                let problem = format!("{name}:{}: {}", problem.line(), words.plan_problem(problem));
                context.note(&one_line(&problem));
            }
            context.note(words.sentence(Key::HintMendTasks));
        }
        ErrorCode::OpenDep => context.note(&words.say(Key::PhaseAskedEarly, &[("tasks", &detail)])),
        ErrorCode::Blocked | ErrorCode::StateCorrupt | ErrorCode::StateLocked => {}
    }
}

/// What git has of the project, newest first. A repository that cannot be asked has nothing to add, and says why.
fn committed(context: &Context, project: &Project) -> Vec<Committed> {
    let asked = Repository::find(project.root())
        .and_then(|found| found.map_or(Ok(Default::default()), |it| it.subjects("worktree/phase-")));
    let [merged, branches] = asked.unwrap_or_else(|error| {
        context.note(&context.words.say(Key::GitNotAsked, &[("message", &error)]));
        Default::default()
    });
    let all = [(true, merged), (false, branches)].into_iter();
    all.flat_map(|(is_merged, commits)| {
        commits.into_iter().map(move |(commit, subject)| Committed {
            commit: commit.as_str().to_owned(),
            subject,
            is_merged,
        })
    })
    .collect()
}
