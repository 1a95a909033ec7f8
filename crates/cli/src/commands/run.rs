//! `ostler run`: asks for something to be done, and watches it.

mod role;

use std::{collections::BTreeMap, env, time::Duration};

use clap::Args;
use ostler_server::{
    api::{NewRun, RunView, StatusView},
    client::Client,
};

use super::{
    limits::{Limits, duration, limit_s},
    send::standard_input,
    trust,
};
use crate::{
    attached::{self, Options, Signals},
    context::{Context, directory, talk},
    error::{Error, Message},
    exit::Exit,
    help::heading,
    screen::{self, one_line},
    usage_error::BadValue,
    words::{Key, Language},
};

/// How often an agent may try with --until, if nothing else is said.
const ATTEMPTS: u32 = 10;

/// Run an agent or any command, and look after it.
///
/// You see its output, and its questions are asked right there. Ctrl-C asks whether to cancel it, to leave it working
/// on its own, or to go on; Ctrl-C again leaves it. The exit code says how it ended.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  ostler run claude \"fix the flaky test\"\n  ostler run codex --check 'cargo test' \
                        --until \"make the tests pass\"\n  ostler run --allow 'Bash(git *)' claude \"rebase it\" -- --add-dir ../lib\n  ostler run -d --worktree claude \"try the new parser\"\n  \
                        ostler run -- ./my-agent --fast"
)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that somebody may give")]
pub(crate) struct Arguments {
    /// The agent, as in 'ostler agents list', or a role of 'ostler office roles'; without it the configured default.
    #[arg(value_name = "AGENT")]
    agent: Option<String>,
    /// What it is to do; '-' reads it from standard input.
    #[arg(value_name = "PROMPT")]
    prompt: Option<String>,
    /// More arguments for the agent's CLI in this run; without an agent, a command instead of one.
    #[arg(last = true, value_name = "ARGUMENTS")]
    command: Vec<String>,
    /// What to call its session: a name can be given wherever an id can.
    #[arg(long, value_name = "NAME", help_heading = heading::SESSION)]
    name: Option<String>,
    /// The model, if not the agent's own choice.
    #[arg(long, value_name = "MODEL", help_heading = heading::AGENT)]
    model: Option<String>,
    /// The most turns it may take.
    #[arg(long, value_name = "N", help_heading = heading::AGENT)]
    max_turns: Option<u32>,
    /// Allow without asking in this run, as a rule of the agent's CLI: "Bash(git *)". Can be given several times.
    #[arg(long, value_name = "RULE", help_heading = heading::AGENT)]
    allow: Vec<String>,
    /// What the agent may do without asking in this run, in the word of its CLI: acceptEdits.
    #[arg(long, value_name = "MODE", help_heading = heading::AGENT)]
    permission_mode: Option<String>,
    /// Do not tell the agent how to ask.
    #[arg(long, help_heading = heading::AGENT)]
    no_guide: bool,
    /// Do not tell the agent what the project has on record in .claude/memory/context.
    #[arg(long, help_heading = heading::AGENT)]
    no_context: bool,
    /// Do not give the agent the tools with which it asks.
    #[arg(long, help_heading = heading::AGENT)]
    no_mcp: bool,
    /// A shell command that exits with 0 only if the work is done.
    #[arg(long, value_name = "CMD", value_parser = check, help_heading = heading::CHECK)]
    check: Option<String>,
    /// Send it back with the failure until the check passes.
    #[arg(long, help_heading = heading::CHECK)]
    until: bool,
    /// How often it may try with --until [default: 10].
    #[arg(long, value_name = "N", requires = "until", value_parser = clap::value_parser!(u32).range(1..=1000), help_heading = heading::CHECK)]
    max: Option<u32>,
    #[command(flatten)]
    limits: Limits,
    /// End a check that takes longer, and count it as failed [default: 30m].
    #[arg(long, value_name = "DURATION", requires = "check", value_parser = duration, help_heading = heading::CHECK)]
    check_time: Option<Duration>,
    /// Give it a branch and a directory of its own.
    #[arg(long, help_heading = heading::WORKTREE)]
    worktree: bool,
    /// Begin the worktree with the changes that are not committed, instead of leaving them out.
    #[arg(long, requires = "worktree", help_heading = heading::WORKTREE)]
    with_changes: bool,
    /// It is a main agent: what it prints in the thin dialect is carried out, and answered on its input.
    #[arg(long, help_heading = heading::AGENT)]
    main: bool,
    /// Run it on a terminal instead of pipes.
    #[arg(long, help_heading = heading::SESSION)]
    pty: bool,
    /// Do not watch it: print its ids and return.
    #[arg(short, long, help_heading = heading::SESSION)]
    detach: bool,
    /// Show bytes as they are: JSON of the CLI, escapes of the program.
    #[arg(long, help_heading = heading::OUTPUT)]
    raw: bool,
}

impl Arguments {
    /// The first flag that says something about an agent, which a command is not.
    fn of_agents(&self) -> Option<&'static str> {
        let flags = [
            ("--model", self.model.is_some()),
            ("--max-turns", self.max_turns.is_some()),
            ("--allow", !self.allow.is_empty()),
            ("--permission-mode", self.permission_mode.is_some()),
            ("--no-guide", self.no_guide),
            ("--no-context", self.no_context),
            ("--no-mcp", self.no_mcp),
        ];
        flags.into_iter().find_map(|(flag, is_given)| is_given.then_some(flag))
    }
}

/// A command; what is blank would pass or fail for no reason.
fn check(text: &str) -> Result<String, BadValue> {
    if text.trim().is_empty() { Err(BadValue::new(Key::WhyNoCommand)) } else { Ok(text.to_owned()) }
}

impl Arguments {
    /// The options that were given and that the definition of a role sets instead.
    fn set_by_role(&self) -> Vec<&'static str> {
        let limits = &self.limits;
        let has_time = !matches!(limits.time_s("run"), Ok(None));
        let given = [
            (self.name.is_some(), "--name"),
            (self.model.is_some(), "--model"),
            (self.max_turns.is_some(), "--max-turns"),
            (!self.allow.is_empty(), "--allow"),
            (self.permission_mode.is_some(), "--permission-mode"),
            (!self.command.is_empty(), "--"),
            (self.no_guide, "--no-guide"),
            (self.no_context, "--no-context"),
            (self.no_mcp, "--no-mcp"),
            (self.check.is_some(), "--check"),
            (self.until, "--until"),
            (has_time, "--max-time"),
            (limits.cost_usd().is_some(), "--max-cost"),
            (limits.tokens().is_some(), "--max-tokens"),
            (self.worktree, "--worktree"),
            (self.main, "--main"),
            (self.pty, "--pty"),
        ];
        given.into_iter().filter_map(|(is_given, name)| is_given.then_some(name)).collect()
    }
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result<Exit, Error> {
    if let Some(exit) = role::run(context, arguments)? {
        return Ok(exit);
    }
    let new = new_run(context, arguments)?;
    talk(async {
        let mut signals = Signals::catch();
        let ask = async {
            let client = context.server().await?;
            // The place in the journal comes first: a quick agent has asked and is answered before it is looked at.
            let status: StatusView = client.get("/status").await?;
            let run: RunView = client.post("/runs", &new).await?;
            Ok::<_, Error>((client, status.seq, run))
        };
        let Some(begun) = signals.during(ask).await else { return Ok(attached::left(context)) };
        let (client, seq, run) = begun?;
        let session = run.sessions.first().map(|session| session.id.clone()).unwrap_or_default();
        let words = context.words;
        note_left_out(context, &run);
        if arguments.detach {
            context.print(&run, |screen| {
                let title = one_line(&run.title);
                let begun: &[(&str, &dyn std::fmt::Display)] =
                    &[("run", &run.id), ("session", &session), ("title", &title)];
                screen.text(&words.say(Key::RunBegun, begun))
            })?;
            context.note(&words.say(Key::RunDetached, &[("session", &session)]));
            trust::note_withheld(context, &client, &new.directory).await;
            return Ok(Exit::Done);
        }
        let begun: &[(&str, &dyn std::fmt::Display)] =
            &[("run", &run.id), ("session", &session), ("title", &one_line(&run.title))];
        context.note(&words.say(Key::RunBegun, begun));
        trust::note_withheld(context, &client, &new.directory).await;
        if !run.project.git && is_first(&client, &run).await {
            context.note(words.sentence(Key::ShowNotGit));
        }
        attached::watch(
            context,
            &client,
            &session,
            Options { raw: arguments.raw, pty: arguments.pty, after: Some(seq) },
            signals,
        )
        .await
    })
}

/// Whether nothing ran in the project before: what is said of the project itself is said once.
async fn is_first(client: &Client, run: &RunView) -> bool {
    let runs = client.get::<Vec<RunView>>(&format!("/runs?project={}&limit=2", run.project.id)).await;
    runs.is_ok_and(|runs| runs.len() < 2)
}

/// Names what the checkout holds and the worktree does not.
fn note_left_out(context: &Context, run: &RunView) {
    let worktree = run.sessions.first().and_then(|session| session.worktree.as_ref());
    let Some(worktree) = worktree.filter(|worktree| !worktree.left_out.is_empty()) else { return };
    let n = worktree.left_out.len() as u64 + worktree.left_out_more;
    let more = if worktree.left_out_more > 0 { ", …" } else { "" };
    let files = one_line(&worktree.left_out.join(", ")) + more;
    context.note(&context.words.say(Key::LeftOutOfWorktree, &[("n", &n), ("files", &files)]));
}

fn new_run(context: &Context, arguments: &Arguments) -> Result<NewRun, Error> {
    let usage = |message: Message| Error::Usage { message, command: "run" };
    if arguments.until && arguments.check.is_none() {
        return Err(usage(Message::new(Key::UntilNeedsCheck)));
    }
    let time_s_max = arguments.limits.time_s("run")?;
    let check_time_s_max = limit_s(arguments.check_time, "run")?;
    // A mistake in the configuration is said once, by whoever sees it first.
    context.config()?;
    let is_plain = arguments.agent.is_none() && !arguments.command.is_empty();
    let (agent, prompt) = if is_plain {
        if let Some(flag) = arguments.of_agents() {
            return Err(usage(Message::new(Key::FlagOfAgents).with("flag", &flag)));
        }
        (None, None)
    } else {
        let (agent, prompt) = who_does_what(context, arguments)?;
        (agent, Some(prompt))
    };
    let given = arguments.command.clone();
    let (command, more) = if is_plain { (given, Vec::new()) } else { (Vec::new(), given) };
    let directory = directory()?;
    let directory = directory
        .to_str()
        .ok_or_else(|| usage(Message::new(Key::NotUnicode).with("what", &directory.display())))?;
    Ok(NewRun {
        directory: directory.to_owned(),
        agent,
        command,
        prompt,
        title: None,
        name: arguments.name.clone(),
        model: arguments.model.clone(),
        turns_max: arguments.max_turns,
        allow: arguments.allow.clone(),
        permission_mode: arguments.permission_mode.clone(),
        arguments: more,
        guide: arguments.no_guide.then_some(false),
        context: arguments.no_context.then_some(false),
        mcp: arguments.no_mcp.then_some(false),
        check: arguments.check.clone(),
        attempts_max: arguments.until.then(|| arguments.max.unwrap_or(ATTEMPTS)),
        time_s_max,
        cost_usd_max: arguments.limits.cost_usd(),
        tokens_max: arguments.limits.tokens(),
        check_time_s_max,
        worktree: arguments.worktree,
        with_changes: arguments.with_changes,
        terminal: arguments.pty.then(screen::size),
        environment: Some(environment()),
        korean: context.words.language() == Language::Ko,
        main: arguments.main,
    })
}

/// The agent and what it is to do. One word alone is what the default agent is to do, unless it names an agent; the
/// server knows which agent that is.
fn who_does_what(context: &Context, arguments: &Arguments) -> Result<(Option<String>, String), Error> {
    let usage = |message: Message| Error::Usage { message, command: "run" };
    let config = context.config()?;
    let unknown = |name: &str| Error::NotFound {
        message: Message::new(Key::UnknownAgent).with("name", &one_line(name)),
        hint: match config.agents.nearest(name) {
            Some(nearest) => Message::new(Key::HintDidYouMean).with("nearest", &nearest),
            None => Message::new(Key::HintAgents),
        },
    };
    let (agent, prompt) = match (&arguments.agent, &arguments.prompt) {
        (Some(agent), Some(prompt)) if config.agents.get(agent).is_some() => {
            (Some(agent.clone()), prompt.clone())
        }
        (Some(agent), Some(_)) => return Err(unknown(agent)),
        (Some(agent), None) if config.agents.get(agent).is_some() => {
            return Err(usage(Message::new(Key::NoPrompt).with("name", agent)));
        }
        (Some(words), None) if config.names_default_agent() => (None, words.clone()),
        // A sentence is no name: whoever wrote one has left the agent out.
        (Some(words), None) if words.contains(char::is_whitespace) => {
            return Err(usage(Message::new(Key::NoAgentNamed)));
        }
        (Some(words), None) => return Err(unknown(words)),
        (None, _) => return Err(usage(Message::new(Key::NoAgentNamed))),
    };
    let prompt = if prompt == "-" { standard_input()? } else { prompt };
    if prompt.trim().is_empty() {
        let name = agent.as_deref().or(config.default_agent.as_deref()).unwrap_or_default();
        return Err(usage(Message::new(Key::NoPrompt).with("name", &name)));
    }
    Ok((agent, prompt))
}

/// The environment of whoever asks. What is no text cannot be sent, and no agent would miss it.
pub(super) fn environment() -> BTreeMap<String, String> {
    env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}
