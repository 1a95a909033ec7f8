//! `ostler phases`: has an idea go through phases, and shows how far it is.

use std::{
    fmt::Write as _,
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

use clap::{Args, Subcommand};
use ostler_files::{FILE_BYTES_MAX, named};
use ostler_server::{
    api::{ExportView, GateView, NewExport, NewPhases, PhaseView, PhasesState, PhasesView},
    client::Client,
    config::{PROJECT_FILE, project_root},
    phase_settings, phase_templates,
};
use serde_json::json;

use crate::{
    clock,
    commands::{limits::Limits, run::environment, usage},
    context::{Context, directory, talk},
    error::{Error, Message},
    exit::Exit,
    help::heading,
    screen::{Cell, Screen, Style, add_line, one_line, safe},
    words::{Key, Language, Words},
};

/// What help says about the id of a run.
const HELP: &str = "The run, such as r_8; the newest that goes through phases, if nothing is said";

/// Have an idea go through Planning, Design, Development and Testing.
///
/// Each phase ends with evidence, a verifier's report and your approval. What is looked for stands under `[phases]` in
/// ostler.toml; docs/phases.md explains it.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Init(InitArguments),
    Run(RunArguments),
    Status(StatusArguments),
    Report(ReportArguments),
    Export(ExportArguments),
}

/// Write the settings of phases into ostler.toml, and document templates if you want them.
#[derive(Args)]
struct InitArguments {
    /// Also write the templates of the documents, below guide/.
    #[arg(long)]
    templates: bool,
}

/// Begin: an agent works on the first phase.
///
/// It returns at once, and what needs you comes to the inbox; with --follow it goes on until something needs you.
#[derive(Args)]
struct RunArguments {
    /// The idea.
    #[arg(value_name = "IDEA")]
    idea: String,
    /// Who works, if not who the configuration says.
    #[arg(long, value_name = "AGENT", help_heading = heading::AGENT)]
    agent: Option<String>,
    /// Who verifies; none for nobody.
    #[arg(long, value_name = "AGENT", help_heading = heading::AGENT)]
    verifier: Option<String>,
    #[command(flatten)]
    limits: Limits,
    /// Show what happens until it needs you, or is over.
    #[arg(long, help_heading = heading::OUTPUT)]
    follow: bool,
}

/// Show how far a run is: its phases, gates, questions, time and cost, and what it waits for.
#[derive(Args)]
struct StatusArguments {
    #[arg(value_name = "RUN", help = "The run, such as r_8; all that are under way, if nothing is said")]
    run: Option<String>,
    /// Show what happens until it needs you, or is over.
    #[arg(long)]
    follow: bool,
}

/// Print the report of a gate, in Markdown.
#[derive(Args)]
struct ReportArguments {
    #[arg(value_name = "RUN", help = HELP)]
    run: Option<String>,
    /// The phase; the last with a report, if nothing is said.
    #[arg(long, value_name = "N")]
    phase: Option<u32>,
    /// The gate of it; the last with a report, if nothing is said.
    #[arg(long, value_name = "N", requires = "phase")]
    gate: Option<u32>,
}

/// Make a branch with one commit for each approved phase, and print the report.
///
/// Each commit has exactly the tree that was approved. Nothing is checked out, and a branch that is there and leads
/// elsewhere is left alone.
#[derive(Args)]
struct ExportArguments {
    #[arg(value_name = "RUN", help = HELP)]
    run: Option<String>,
    /// The branch; ostler/ and the run's id, if nothing is said.
    #[arg(long, value_name = "NAME")]
    branch: Option<String>,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result<Exit, Error> {
    if let Command::Init(arguments) = &arguments.command {
        return init(context, arguments);
    }
    talk(async {
        let client = context.server().await?;
        match &arguments.command {
            Command::Init(_) => Ok(Exit::Done),
            Command::Run(arguments) => begin(context, &client, arguments).await,
            Command::Status(arguments) => status(context, &client, arguments).await,
            Command::Report(arguments) => report(context, &client, arguments).await,
            Command::Export(arguments) => export(context, &client, arguments).await,
        }
    })
}

/// Writes what is not there yet, and says what it has written.
fn init(context: &Context, arguments: &InitArguments) -> Result<Exit, Error> {
    let here = directory()?;
    let root = project_root(&here).unwrap_or(here);
    let korean = context.words.language() == Language::Ko;
    let (mut written, mut kept) = (Vec::new(), Vec::new());
    let settings = root.join(PROJECT_FILE);
    let before = read(&settings)?;
    if has_phases(&before) {
        kept.push(settings);
    } else {
        let gap = if before.is_empty() { "" } else { "\n" };
        append(&settings, &format!("{gap}{}", phase_settings(korean)))?;
        written.push(settings);
    }
    if arguments.templates {
        for template in phase_templates(korean) {
            let path = root.join(&template.path);
            let is_new = create(&path, &template.text)?;
            if is_new { written.push(path) } else { kept.push(path) }
        }
    }
    let words = context.words;
    context.print(&json!({ "written": written, "kept": kept }), |_| {
        let mut said = String::new();
        let shown = |path: &PathBuf| one_line(&path.strip_prefix(&root).unwrap_or(path).to_string_lossy());
        for path in &written {
            add_line(&mut said, 0, &words.say(Key::PhasesWritten, &[("path", &shown(path))]));
        }
        for path in &kept {
            add_line(&mut said, 0, &words.say(Key::PhasesKept, &[("path", &shown(path))]));
        }
        add_line(&mut said, 0, words.sentence(Key::PhasesNext));
        said
    })?;
    Ok(Exit::Done)
}

/// Whether a file says anything of phases, however it is written. One that cannot be read as a whole is looked through
/// line by line: a second table would only add to its mistakes.
fn has_phases(text: &str) -> bool {
    match text.parse::<toml::Table>() {
        Ok(table) => table.contains_key("phases"),
        Err(_) => text.lines().any(|line| line.trim_start_matches(['[', ' ']).starts_with("phases")),
    }
}

fn file_error(path: &Path, source: io::Error) -> Error {
    Error::File { path: path.to_path_buf(), source }
}

/// What stands in a file that does not have to be there.
fn read(path: &Path) -> Result<String, Error> {
    match named::read_text(path, FILE_BYTES_MAX) {
        Err(source) if source.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        other => other.map_err(|source| file_error(path, source)),
    }
}

fn append(path: &Path, text: &str) -> Result<(), Error> {
    let opened = OpenOptions::new().append(true).create(true).open(path);
    opened.and_then(|mut file| file.write_all(text.as_bytes())).map_err(|source| file_error(path, source))
}

/// Writes a file that is not there; whether it was not.
fn create(path: &Path, text: &str) -> Result<bool, Error> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|source| file_error(folder, source))?;
    }
    match File::create_new(path) {
        Err(source) if source.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        made => {
            let written = made.and_then(|mut file| file.write_all(text.as_bytes()));
            written.map(|()| true).map_err(|source| file_error(path, source))
        }
    }
}

async fn begin(context: &Context, client: &Client, arguments: &RunArguments) -> Result<Exit, Error> {
    let here = directory()?;
    let korean = context.words.language() == Language::Ko;
    let new = NewPhases {
        directory: here.to_string_lossy().into_owned(),
        idea: arguments.idea.clone(),
        agent: arguments.agent.clone(),
        verifier: arguments.verifier.clone(),
        korean,
        time_s_max: arguments.limits.time_s("phases run")?,
        cost_usd_max: arguments.limits.cost_usd(),
        tokens_max: arguments.limits.tokens(),
        environment: Some(environment()),
    };
    let begun: PhasesView = client.post("/phases", &new).await?;
    let words = context.words;
    super::trust::note_withheld(context, client, &new.directory).await;
    if arguments.follow {
        context
            .note(&words.say(Key::PhasesStarted, &[("run", &begun.run), ("title", &one_line(&begun.title))]));
        return follow(context, client, &begun.run).await;
    }
    context.print(&begun, |_| {
        let mut said = String::new();
        let title = one_line(&begun.title);
        add_line(&mut said, 0, &words.say(Key::PhasesStarted, &[("run", &begun.run), ("title", &title)]));
        add_line(&mut said, 0, &words.say(Key::PhasesHowToSee, &[("run", &begun.run)]));
        said
    })?;
    Ok(Exit::Done)
}

/// The run that is meant.
pub(super) async fn find(client: &Client, run: Option<&str>) -> Result<PhasesView, Error> {
    if let Some(run) = run {
        return Ok(client.get(&format!("/phases/{}", path_of(run)?)).await?);
    }
    let newest: Vec<PhasesView> = client.get("/phases?limit=1").await?;
    newest.into_iter().next().ok_or_else(|| Error::NotFound {
        message: Message::new(Key::NoRunYet),
        hint: Message::new(Key::NoPhasesYet),
    })
}

/// An id as it can stand in an address.
fn path_of(text: &str) -> Result<&str, Error> {
    let is_id =
        text.strip_prefix("r_").is_some_and(|it| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit()));
    if is_id {
        return Ok(text);
    }
    Err(Error::NotFound {
        message: Message::new(Key::NotAnId).with("text", &one_line(text)),
        hint: Message::new(Key::HintIds),
    })
}

async fn status(context: &Context, client: &Client, arguments: &StatusArguments) -> Result<Exit, Error> {
    let words = context.words;
    if arguments.follow || arguments.run.is_some() {
        let view = find(client, arguments.run.as_deref()).await?;
        if arguments.follow {
            return follow(context, client, &view.run).await;
        }
        context.print(&view, |screen| stepper(words, screen, &view))?;
        return Ok(exit(&view));
    }
    // All that are under way, or the last that was.
    let mut views: Vec<PhasesView> = client.get("/phases?limit=100").await?;
    if views.iter().any(|view| view.outcome.is_none()) {
        views.retain(|view| view.outcome.is_none());
    } else {
        views.truncate(1);
    }
    context.print(&views, |screen| {
        if views.is_empty() {
            return screen.text(words.sentence(Key::NoPhasesYet));
        }
        views.iter().map(|view| stepper(words, screen, view)).collect::<Vec<_>>().join("\n")
    })?;
    Ok(Exit::Done)
}

fn exit(view: &PhasesView) -> Exit {
    match view.state {
        PhasesState::Failed | PhasesState::Rejected => Exit::Failed,
        PhasesState::Cancelled => Exit::Cancelled,
        _ => Exit::Done,
    }
}

/// Prints the steps as they come, until somebody is needed or it is over.
async fn follow(context: &Context, client: &Client, run: &str) -> Result<Exit, Error> {
    let words = context.words;
    let path = format!("/events?run={run}&follow=true&kind=phase.,gate.,run.,request.,session.");
    let mut pieces = client.stream(&path).await?;
    let mut last = String::new();
    loop {
        let view: PhasesView = client.get(&format!("/phases/{run}")).await?;
        let now = stepper(words, Screen::stdout(), &view);
        if now != last && !context.json {
            context.print(&view, |_| now.clone())?;
            last = now;
        }
        if view.outcome.is_some() || !view.blocked_by.is_empty() {
            if context.json {
                context.print(&view, |_| String::new())?;
            }
            return Ok(exit(&view));
        }
        if pieces.next().await?.is_none() {
            pieces = client.stream(&path).await?;
        }
    }
}

/// The run with a line for each of its phases.
fn stepper(words: Words, screen: Screen, view: &PhasesView) -> String {
    let (key, style) = match view.state {
        PhasesState::Working | PhasesState::Gate if !view.blocked_by.is_empty() => {
            (Key::PhasesReview, Style::Attention)
        }
        PhasesState::Working => (Key::PhasesWorking, Style::Good),
        PhasesState::Gate => (Key::PhasesGate, Style::Good),
        PhasesState::Review => (Key::PhasesReview, Style::Attention),
        PhasesState::Done => (Key::PhasesDone, Style::Good),
        PhasesState::Rejected => (Key::PhasesRejected, Style::Bad),
        PhasesState::Failed => (Key::PhasesFailed, Style::Bad),
        PhasesState::Cancelled => (Key::PhasesCancelled, Style::Dim),
    };
    let state = screen.style(style, words.sentence(key));
    let mut said = format!("{}  {} · {state}\n", view.run, one_line(&view.title));
    let rows: Vec<Vec<Cell>> = view.phases.iter().map(|phase| row(words, phase)).collect();
    for line in screen.indented(2).columns(&rows).lines() {
        add_line(&mut said, 2, line);
    }
    let current = view.phases.iter().find(|phase| phase.number == view.current);
    let problems = current.and_then(|phase| phase.gates.last()).filter(|gate| gate.passed == Some(false));
    for problem in problems.iter().flat_map(|gate| &gate.problems) {
        let text = one_line(problem.text.lines().next().unwrap_or_default());
        add_line(&mut said, 4, &screen.style(Style::Bad, &words.say(Key::PhaseSays, &[("text", &text)])));
    }
    for id in &view.blocked_by {
        let key = if view.state == PhasesState::Review { Key::AnswerReview } else { Key::AnswerFreely };
        add_line(&mut said, 2, &screen.style(Style::Attention, &words.say(key, &[("id", id)])));
    }
    said
}

fn row(words: Words, phase: &PhaseView) -> Vec<Cell> {
    let (shape, style) = match phase.state.as_str() {
        "approved" | "ending" => ("✓", Style::Good),
        "waiting" => ("○", Style::Dim),
        "review" => ("◆", Style::Attention),
        "gate" => ("◐", Style::Good),
        "ended" => ("✗", Style::Bad),
        _ => ("●", Style::Good),
    };
    let time = phase.started_at_ms.map(|from| {
        let until = phase.ended_at_ms.unwrap_or_else(clock::now_ms);
        clock::span(words, until.saturating_sub(from))
    });
    let cost = phase.usage.cost_usd.map(usage::dollars).unwrap_or_default();
    let mut more = Vec::new();
    if phase.reworks > 0 {
        more.push(words.say(Key::PhaseReworks, &[("n", &phase.reworks), ("max", &phase.rework_max)]));
    }
    if phase.questions > phase.questions_max {
        more.push(words.say(Key::PhaseQuestions, &[("n", &phase.questions), ("max", &phase.questions_max)]));
    }
    vec![
        Cell::styled(style, &format!("{shape} {}", phase.number)),
        Cell::new(&one_line(&phase.name)),
        Cell::new(&state(words, phase)),
        Cell::new(phase.session.as_deref().unwrap_or_default()),
        Cell::new(&time.unwrap_or_default()),
        Cell::new(&cost),
        Cell::new(&more.join(", ")),
    ]
}

fn state(words: Words, phase: &PhaseView) -> String {
    let gate = phase.gates.last();
    let key = match phase.state.as_str() {
        "waiting" => Key::PhaseWaiting,
        "preparing" => Key::PhasePreparing,
        "gate" => {
            let (number, step) = gate.map_or((0, ""), |gate| (gate.number, step(words, gate)));
            return words.say(Key::PhaseGate, &[("gate", &number), ("step", &step)]);
        }
        "review" => {
            let request = gate.and_then(|gate| gate.request.as_deref()).unwrap_or_default();
            return words.say(Key::PhaseReview, &[("request", &request)]);
        }
        "ending" => Key::PhaseEnding,
        "approved" => Key::PhaseApproved,
        "ended" => Key::PhaseEnded,
        _ => Key::PhaseWorking,
    };
    words.sentence(key).to_owned()
}

fn step(words: Words, gate: &GateView) -> &'static str {
    words.sentence(match gate.step.as_str() {
        "waiting" => Key::StepWaiting,
        "checkpoint" => Key::StepCheckpoint,
        "collect" => Key::StepCollect,
        "check" => Key::StepCheck,
        "place" if gate.waits_for_login => Key::StepLogin,
        "place" | "verifier" | "verdict" => Key::StepVerifier,
        "report" => Key::StepReport,
        _ => Key::StepReview,
    })
}

async fn report(context: &Context, client: &Client, arguments: &ReportArguments) -> Result<Exit, Error> {
    let view = find(client, arguments.run.as_deref()).await?;
    let format = if context.json { "json" } else { "markdown" };
    let mut path = format!("/phases/{}/report?format={format}", view.run);
    for (name, number) in [("phase", arguments.phase), ("gate", arguments.gate)] {
        if let Some(number) = number {
            write!(path, "&{name}={number}").expect("text takes everything");
        }
    }
    print_text(client, &path, context.json).await?;
    Ok(Exit::Done)
}

/// Prints what a route gives, without anything that a terminal would obey.
pub(super) async fn print_text(client: &Client, path: &str, json: bool) -> Result<(), Error> {
    let mut pieces = client.stream(path).await?;
    let mut bytes = Vec::new();
    while let Some(piece) = pieces.next().await? {
        bytes.extend_from_slice(&piece);
    }
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let shown = match serde_json::from_str::<serde_json::Value>(&text) {
        Ok(value) if json => crate::context::json(&value),
        _ => safe(&text).into_owned(),
    };
    let mut stdout = io::stdout().lock();
    stdout.write_all(shown.as_bytes()).and_then(|()| stdout.flush()).map_err(Error::Output)
}

async fn export(context: &Context, client: &Client, arguments: &ExportArguments) -> Result<Exit, Error> {
    let view = find(client, arguments.run.as_deref()).await?;
    let new = NewExport { branch: arguments.branch.clone() };
    let made: ExportView = client.post(&format!("/phases/{}/export", view.run), &new).await?;
    let words = context.words;
    context.print(&made, |_| {
        let mut said = String::new();
        let values: &[(&str, &dyn std::fmt::Display)] =
            &[("branch", &one_line(&made.branch)), ("n", &made.commits.len())];
        add_line(&mut said, 0, &words.say(Key::PhasesExported, values));
        for it in &made.commits {
            let short: String = it.commit.chars().take(12).collect();
            add_line(&mut said, 2, &format!("{short}  {} {}", it.phase, one_line(&it.name)));
        }
        said.push('\n');
        said.push_str(&safe(&made.report));
        said
    })?;
    Ok(Exit::Done)
}
