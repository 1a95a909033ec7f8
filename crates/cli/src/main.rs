//! The one binary. Reads the command line, runs the command, and turns its error into a message and an exit code.

mod answering;
mod attached;
mod card;
mod clock;
mod commands;
mod completing;
mod console;
mod context;
mod error;
mod exit;
mod form;
mod help;
mod hidden;
mod id;
mod inside;
mod login;
mod mcp;
mod outcome;
mod permission;
mod program;
mod refusal;
mod render;
mod screen;
mod sessions;
mod status;
mod table;
mod tool_call;
mod usage_error;
mod veil;
mod words;

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::{CommandFactory, Parser, Subcommand, ValueEnum, error::ErrorKind};

use crate::{
    commands::{
        agents, answer, ask, attach, checkpoint, completions, deliver, demo, diff, discard, dispatch, doctor,
        exec, export, guide, inbox, init, invoke, logs, man, memory, merge, need, notify, office, open,
        orchestrate, parse, permissions, phases, project_context, ps, rename, report, resolve, resume,
        review, run, search, secret, send, serve, show, skills, step, tasks, token, trust, usage, verify,
        wait,
        wish::{self, Wish},
    },
    context::Context,
    error::Error,
    exit::Exit,
    screen::{Screen, safe},
    words::Language,
};

/// Looks after AI coding agents.
///
/// Alone, it shows what needs you and what runs.
#[derive(Parser)]
#[command(name = "ostler", version, about)]
#[command(
    after_help = "Exit codes: 0 done, 1 failed, 2 the command line is wrong, 7 refused as things stand, 8 no such \
                        thing, 9 the configuration is wrong, 10 cancelled, 11 interrupted, 12 detached, 13 no answer, \
                        14 denied, 15 the task file or its state, 16 timed out; all of them are in docs/exit-codes.md."
)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    /// Print JSON, for machines. It is never translated.
    #[arg(long, global = true)]
    json: bool,
    /// The language: en or ko [default: as configured, or as the environment says].
    #[arg(long, global = true, value_enum, value_name = "LANG", hide_possible_values = true)]
    lang: Option<Language>,
}

#[derive(Subcommand)]
enum Command {
    Run(Box<run::Arguments>),
    #[command(alias = "list")]
    Ps(ps::Arguments),
    /// The same as `ostler` alone: what needs you, and who is at work.
    #[command(hide = true)]
    Status,
    Show(show::Arguments),
    Open(open::Arguments),
    Usage(usage::Arguments),
    Attach(attach::Arguments),
    Logs(logs::Arguments),
    Search(search::Arguments),
    Skills(skills::Arguments),
    Memory(memory::Arguments),
    Wait(wait::Arguments),
    Rename(rename::Arguments),
    Inbox(inbox::Arguments),
    Answer(answer::Arguments),
    Review(review::Arguments),
    Phases(phases::Arguments),
    Office(office::Arguments),
    Init(init::Arguments),
    Context(project_context::Arguments),
    Send(send::Arguments),
    Secret(secret::Arguments),
    Notify(notify::Arguments),
    /// Hold sessions: nothing of them runs until they are continued.
    Pause(wish::Arguments),
    /// Let held sessions go on.
    Continue(wish::Arguments),
    Resume(resume::Arguments),
    /// End sessions and everything they have started.
    #[command(aliases = ["kill", "stop"])]
    Cancel(wish::Arguments),
    Diff(diff::Arguments),
    Merge(merge::Arguments),
    #[command(alias = "rm")]
    Discard(discard::Arguments),
    Dispatch(dispatch::Arguments),
    Permissions(permissions::Arguments),
    Trust(trust::Arguments),
    Token(token::Arguments),
    Checkpoint(checkpoint::Arguments),
    Tasks(tasks::Arguments),
    Resolve(resolve::Arguments),
    Exec(exec::Arguments),
    Orchestrate(orchestrate::Arguments),
    Agents(agents::Arguments),
    Serve(serve::Arguments),
    Doctor(doctor::Arguments),
    Export(export::Arguments),
    Verify(verify::Arguments),
    Parse(parse::Arguments),
    Guide(guide::Arguments),
    Ask(ask::Arguments),
    Need(need::Arguments),
    Error(report::Arguments),
    Step(step::Arguments),
    Invoke(invoke::Arguments),
    Deliver(deliver::Arguments),
    Mcp(commands::mcp::Arguments),
    Completions(completions::Arguments),
    Man(man::Arguments),
    Demo(demo::Arguments),
}

fn main() -> ExitCode {
    if let Some(directory) = shim_directory() {
        return run_shim(&directory);
    }
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|it| it == "__attend") {
        return ostler_server::attend(arguments);
    }
    if let Some(answered) = completing::answer(Cli::command) {
        return answered;
    }
    let (context, outcome) = match Cli::try_parse() {
        Ok(cli) => {
            let context = Context::new(cli.json, cli.lang);
            let outcome = dispatch(&context, cli.command);
            (context, outcome)
        }
        Err(error) => {
            let context = Context::new(wants_json(), asked_language());
            let outcome = explain(&context, &error);
            (context, outcome)
        }
    };
    match outcome {
        Ok(exit) => exit.into(),
        // Whoever read our output has seen enough: that is no failure.
        Err(Error::Output(source)) if source.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            complain(&context, &error);
            error.exit().into()
        }
    }
}

fn dispatch(context: &Context, command: Option<Command>) -> Result<Exit, Error> {
    let Some(command) = command else { return commands::status::run(context) };
    match command {
        Command::Run(arguments) => run::run(context, &arguments),
        Command::Ps(arguments) => ps::run(context, &arguments),
        Command::Status => commands::status::run(context),
        Command::Show(arguments) => show::run(context, &arguments),
        Command::Open(arguments) => open::run(context, &arguments),
        Command::Attach(arguments) => attach::run(context, &arguments),
        Command::Logs(arguments) => logs::run(context, &arguments),
        Command::Search(arguments) => search::run(context, &arguments),
        Command::Skills(arguments) => skills::run(context, &arguments),
        Command::Memory(arguments) => memory::run(context, &arguments),
        Command::Wait(arguments) => wait::run(context, &arguments),
        Command::Rename(arguments) => rename::run(context, &arguments),
        Command::Inbox(_) => inbox::run(context),
        Command::Answer(arguments) => answer::run(context, &arguments),
        Command::Review(arguments) => review::run(context, &arguments),
        Command::Phases(arguments) => phases::run(context, &arguments),
        Command::Office(arguments) => office::run(context, &arguments),
        Command::Init(arguments) => init::run(context, &arguments),
        Command::Context(arguments) => project_context::run(context, &arguments),
        Command::Usage(arguments) => usage::run(context, &arguments),
        Command::Send(arguments) => send::run(context, &arguments),
        Command::Secret(arguments) => secret::run(context, arguments),
        Command::Notify(arguments) => notify::run(context, &arguments),
        Command::Pause(arguments) => wish::run(context, &arguments, Wish::Pause),
        Command::Continue(arguments) => wish::run(context, &arguments, Wish::Continue),
        Command::Resume(arguments) => resume::run(context, &arguments),
        Command::Cancel(arguments) => wish::run(context, &arguments, Wish::Cancel),
        Command::Diff(arguments) => diff::run(context, &arguments),
        Command::Merge(arguments) => merge::run(context, &arguments),
        Command::Discard(arguments) => discard::run(context, &arguments),
        Command::Dispatch(arguments) => dispatch::run(context, &arguments),
        Command::Permissions(arguments) => permissions::run(context, &arguments),
        Command::Trust(arguments) => trust::run(context, &arguments),
        Command::Token(arguments) => token::run(context, arguments),
        Command::Checkpoint(arguments) => checkpoint::run(context, &arguments),
        Command::Tasks(arguments) => tasks::run(context, &arguments),
        Command::Resolve(arguments) => resolve::run(context, &arguments),
        Command::Exec(arguments) => exec::run(context, &arguments),
        Command::Orchestrate(arguments) => orchestrate::run(context, &arguments),
        Command::Agents(arguments) => agents::run(context, &arguments),
        Command::Serve(arguments) => serve::run(context, &arguments),
        Command::Doctor(arguments) => doctor::run(context, &arguments),
        Command::Export(arguments) => export::run(context, &arguments),
        Command::Verify(arguments) => verify::run(context, &arguments),
        Command::Parse(arguments) => parse::run(&arguments),
        Command::Guide(_) => guide::run(context),
        Command::Ask(arguments) => ask::run(context, arguments),
        Command::Need(arguments) => need::run(context, arguments),
        Command::Error(arguments) => report::run(context, arguments),
        Command::Step(arguments) => step::run(context, arguments),
        Command::Invoke(arguments) => invoke::run(context, &arguments),
        Command::Deliver(arguments) => deliver::run(context, &arguments),
        Command::Mcp(arguments) => commands::mcp::run(arguments),
        Command::Demo(arguments) => demo::run(context, &arguments),
        Command::Man(arguments) => man::run(&arguments, Cli::command()),
        Command::Completions(arguments) => completions::run(&arguments),
    }
}

/// Whether a machine reads, as far as that can be seen on a command line that cannot be read.
fn wants_json() -> bool {
    std::env::args_os().skip(1).take_while(|it| it != "--").any(|it| it == "--json")
}

/// The language that is asked for on a command line that cannot be read.
fn asked_language() -> Option<Language> {
    let arguments: Vec<String> = std::env::args().skip(1).take_while(|it| it != "--").collect();
    let name = arguments.iter().enumerate().find_map(|(index, it)| match it.strip_prefix("--lang") {
        Some("") => arguments.get(index + 1).map(String::as_str),
        Some(rest) => rest.strip_prefix('='),
        None => None,
    })?;
    Language::from_str(name, true).ok()
}

/// Help where it was asked for; otherwise what is wrong with the command line, like every other error.
fn explain(context: &Context, error: &clap::Error) -> Result<Exit, Error> {
    let arguments: Vec<String> =
        std::env::args_os().skip(1).map(|it| it.to_string_lossy().into_owned()).collect();
    let is_asked = !error.use_stderr();
    if !is_asked && error.kind() != ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let words = context.error_words();
        return Err(usage_error::of(error, &Cli::command(), &arguments, words));
    }
    let screen = if is_asked { Screen::stdout() } else { Screen::stderr() };
    let command = help::localized(Cli::command(), context.words, screen.text_width());
    let shown = match command.try_get_matches_from(std::env::args_os()) {
        Err(error) => error.render(),
        Ok(_) => error.render(),
    };
    let text = if screen.colours() { shown.ansi().to_string() } else { shown.to_string() };
    let text = help::with_own_words(&text, context.words);
    if is_asked {
        console::print(console::Stream::Out, text.as_bytes()).map_err(Error::Output)?;
        return Ok(Exit::Done);
    }
    console::say(&text).map_err(Error::Stats)?;
    Ok(Exit::Usage)
}

/// Where not even this can be written, the exit code still says it.
fn complain(context: &Context, error: &Error) {
    let words = context.error_words();
    if context.json {
        io::stderr().write_all(context::json(&error.to_json(words)).as_bytes()).ok();
        return;
    }
    let hint = error.hint(words).map(|hint| format!("\n  {hint}")).unwrap_or_default();
    // What was named on the command line, or comes from a file, is in it.
    console::say(&context::note_lines(&safe(&format!("{}{hint}", error.message(words))))).ok();
}

/// The argument of the hidden command that a server starts for each agent. It is looked for before anything else: a
/// shim lives as long as its agent, and should be no larger than it must.
fn shim_directory() -> Option<PathBuf> {
    let mut arguments = std::env::args_os().skip(1);
    (arguments.next()? == "__shim").then(|| arguments.next().map(PathBuf::from))?
}

fn run_shim(directory: &Path) -> ExitCode {
    match ostler_shim::run(directory) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            writeln!(io::stderr(), "ostler: {error}").ok();
            Exit::Shim.into()
        }
    }
}
