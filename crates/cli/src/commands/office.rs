//! `ostler office`: who can be called in this project, who waits for whom, and what was brought.

mod columns;
pub(crate) mod pages;

use std::{env, path::Path};

use clap::{Args, Subcommand};
use ostler_server::{
    api::{
        DiagramView, InvocationStatus, InvocationView, NewOfficeMessage, NewProjectPlace, OfficeView,
        ProjectSummary, RequestView, ResultView, SessionView, UnmergedView,
    },
    client::{Client, ClientError, encoded},
};
use serde::de::DeserializeOwned;

use self::columns::{Asked, Brought, Invocation, question_status};
use crate::{
    clock,
    commands::{run::environment, send::standard_input},
    context::{Context, directory, talk},
    error::{Error, Message},
    exit::Exit,
    screen::{Cell, Screen, Style, add_line, one_line},
    status,
    words::{Key, Language, Words},
};

/// How much of a task or a result is shown in a line, in characters.
const SHOWN_CHARS_MAX: usize = 60;

/// Show the office of this project: its roles, who waits for whom, and what was brought.
///
/// A role is a file in .claude/agents, a table of ostler.toml, or an agent. How they call each other: docs/office.md.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// List the roles, also those that cannot be used, with why not.
    Roles,
    /// List what agents of the office have asked, newest first.
    Questions(ListArguments),
    /// List calls between agents, newest first.
    Invocations(ListArguments),
    /// List what agents brought each other, newest first.
    Results(ListArguments),
    Send(SendArguments),
    Cancel(CancelArguments),
    Diagram(DiagramArguments),
}

#[derive(Args)]
struct ListArguments {
    /// At most so many.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50,
        value_parser = clap::value_parser!(u32).range(1..=1000))]
    limit: u32,
}

/// Write to a role. Its session is found, resumed or made.
#[derive(Args)]
struct SendArguments {
    /// The role.
    #[arg(value_name = "ROLE")]
    role: String,
    /// The words.
    #[arg(value_name = "TEXT", required_unless_present = "stdin", conflicts_with = "stdin")]
    text: Option<String>,
    /// Take the words from standard input.
    #[arg(long)]
    stdin: bool,
}

/// Take a call back. Who works on it is told that nobody waits.
#[derive(Args)]
struct CancelArguments {
    #[arg(value_name = "CALL", help = "The call, such as i_4")]
    id: String,
}

/// Print who called whom as a Mermaid sequence diagram.
#[derive(Args)]
struct DiagramArguments {
    #[arg(value_name = "RUN", help = "Only what this run began, such as r_3")]
    run: Option<String>,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result<Exit, Error> {
    talk(async {
        let client = context.server().await?;
        if let Some(Command::Cancel(arguments)) = &arguments.command {
            return cancel(context, &client, &arguments.id).await;
        }
        if let Some(Command::Send(arguments)) = &arguments.command {
            let project = project(&client).await?;
            return send(context, &client, &project, arguments).await;
        }
        let office = here(&client).await?;
        let project = &office.project;
        match &arguments.command {
            None => show(context, &office),
            Some(Command::Roles) => roles(context, &office),
            Some(Command::Questions(arguments)) => questions(context, &client, project, arguments).await,
            Some(Command::Invocations(arguments)) => invocations(context, &client, project, arguments).await,
            Some(Command::Results(arguments)) => results(context, &client, project, arguments).await,
            Some(Command::Diagram(arguments)) => diagram(context, &client, project, arguments).await,
            Some(Command::Send(_) | Command::Cancel(_)) => Ok(Exit::Done),
        }
    })
}

/// The office of this directory. Looking makes no project known: one that is not has roles, and nothing has happened there.
pub(super) async fn here(client: &Client) -> Result<OfficeView, Error> {
    let here = directory()?.canonicalize().map_err(|source| Error::Input { path: None, source })?;
    let path = here.to_str().map(|here| format!("/office?directory={}", encoded(here)));
    let office: Option<OfficeView> = match path {
        Some(path) => Some(client.get(&path).await?),
        None => None,
    };
    match office {
        // An agent may work below the root of its project.
        Some(office) if !office.project.is_empty() || env::var_os("OSTLER_SESSION").is_none() => Ok(office),
        office => match (above(client, &here).await, office) {
            (Ok(project), _) => Ok(client.get(&format!("/projects/{project}/office")).await?),
            (Err(_), Some(office)) => Ok(office),
            (Err(error), None) => Err(error),
        },
    }
}

/// A list of a project; of one that is not known, nothing.
async fn list<T: DeserializeOwned>(client: &Client, project: &str, path: &str) -> Result<Vec<T>, Error> {
    if project.is_empty() {
        return Ok(Vec::new());
    }
    Ok(client.get(&format!("/projects/{project}/office/{path}")).await?)
}

/// The project of this directory, which is known from here on. An agent makes none known: for it the one counts whose root
/// is nearest above.
pub(super) async fn project(client: &Client) -> Result<String, Error> {
    let here = directory()?.canonicalize().map_err(|source| Error::Input { path: None, source })?;
    if let Some(directory) = here.to_str() {
        let new = NewProjectPlace { directory: directory.to_owned() };
        match client.post::<ProjectSummary>("/projects", &new).await {
            Ok(found) => return Ok(found.project.id),
            Err(ClientError::Refused(problem)) if problem.kind == "inside" => {}
            Err(error) => return Err(error.into()),
        }
    }
    above(client, &here).await
}

/// The project whose root is nearest above.
async fn above(client: &Client, here: &Path) -> Result<String, Error> {
    let projects: Vec<ProjectSummary> = client.get("/projects?limit=1000").await?;
    let above = projects.into_iter().filter(|it| here.starts_with(&it.project.root));
    let nearest = above.max_by_key(|it| it.project.root.len());
    nearest.map(|it| it.project.id).ok_or_else(|| Error::NotFound {
        message: Message::new(Key::NoOffice),
        hint: Message::new(Key::HintNoOffice),
    })
}

fn show(context: &Context, office: &OfficeView) -> Result<Exit, Error> {
    let words = context.words;
    context.print(office, |screen| {
        let mut said = role_table(screen, words, office, true);
        if !office.invocations.is_empty() {
            said.push('\n');
            add_line(&mut said, 0, words.sentence(Key::OfficeOpen));
            said.push_str(&call_table(screen, words, &office.invocations));
        }
        if !office.results.is_empty() {
            said.push('\n');
            add_line(&mut said, 0, words.sentence(Key::OfficeUnread));
            said.push_str(&result_table(screen, words, &office.results));
        }
        if !office.unmerged.is_empty() {
            said.push('\n');
            add_line(&mut said, 0, words.sentence(Key::OfficeUnmerged));
            said.push_str(&unmerged_table(screen, words, &office.unmerged));
        }
        said
    })?;
    Ok(Exit::Done)
}

fn unmerged_table(screen: Screen, words: Words, unmerged: &[UnmergedView]) -> String {
    let rows: Vec<Vec<Cell>> = unmerged
        .iter()
        .map(|work| {
            let how = match (work.state.as_str(), &work.request) {
                ("testing", _) => words.sentence(Key::WorkTested).to_owned(),
                ("merging", _) => words.sentence(Key::WorkMerged).to_owned(),
                (_, Some(request)) => words.say(Key::WorkAsked, &[("request", request)]),
                (_, None) => words.say(Key::WorkLeft, &[("id", &work.session)]),
            };
            vec![
                Cell::new(&work.session),
                Cell::new(&one_line(&work.role)),
                Cell::new(&how),
                Cell::styled(Style::Dim, &shown(work.message.as_deref().unwrap_or_default())),
            ]
        })
        .collect();
    screen.columns(&rows)
}

fn roles(context: &Context, office: &OfficeView) -> Result<Exit, Error> {
    let words = context.words;
    context.print(&office.roles, |screen| role_table(screen, words, office, false))?;
    Ok(Exit::Done)
}

/// The roles: those that are described or have a session, or all of them.
fn role_table(screen: Screen, words: Words, office: &OfficeView, only_used: bool) -> String {
    let is_shown = |role: &&ostler_server::api::RoleView| {
        !only_used || role.file.is_some() || role.session.is_some() || role.problem.is_some()
    };
    let shown: Vec<_> = office.roles.iter().filter(is_shown).collect();
    if shown.is_empty() {
        return screen.text(words.sentence(Key::NoRolesYet));
    }
    let head = [Key::ColumnRole, Key::ColumnSession, Key::ColumnStatus, Key::ColumnAgent, Key::ColumnAbout];
    let mut rows = vec![head.map(|key| Cell::styled(Style::Dim, words.sentence(key))).to_vec()];
    for role in shown {
        let status = role.status.and_then(|it| serde_json::to_value(it).ok());
        let status = status.as_ref().and_then(|it| it.as_str()).unwrap_or_default();
        let status = if role.idle { "idle" } else { status };
        let status = match status::of_word(status, false) {
            Some(status) => {
                Cell::styled(status.style, &format!("{} {}", status.shape, words.sentence(status.key)))
            }
            None => Cell::new("-"),
        };
        let about = role.problem.as_deref().or(role.description.as_deref()).unwrap_or_default();
        let style = if role.problem.is_some() { Style::Bad } else { Style::Plain };
        rows.push(vec![
            Cell::new(&one_line(&role.name)),
            Cell::new(role.session.as_deref().unwrap_or("-")),
            status,
            Cell::new(role.agent.as_deref().unwrap_or("-")),
            Cell::styled(style, &one_line(about)),
        ]);
    }
    screen.columns(&rows)
}

async fn questions(
    context: &Context,
    client: &Client,
    project: &str,
    arguments: &ListArguments,
) -> Result<Exit, Error> {
    let found: Vec<RequestView> =
        list(client, project, &format!("questions?limit={}", arguments.limit)).await?;
    let words = context.words;
    let rows: Vec<Asked<'_>> = found.iter().map(Asked::of).collect();
    context.print(&rows, |screen| {
        if found.is_empty() {
            return screen.text(words.sentence(Key::NoQuestionsYet));
        }
        let rows: Vec<Vec<Cell>> = found
            .iter()
            .map(|it| {
                let key = match question_status(it) {
                    "answered" => Key::QuestionAnswered,
                    "cancelled" => Key::CallCancelled,
                    "expired" => Key::QuestionExpired,
                    _ => Key::CallPending,
                };
                vec![
                    Cell::new(&it.id),
                    Cell::new(&one_line(it.role.as_ref().unwrap_or(&it.session))),
                    Cell::new(words.sentence(key)),
                    Cell::new(&shown(&it.ask.text)),
                ]
            })
            .collect();
        screen.columns(&rows)
    })?;
    Ok(Exit::Done)
}

async fn invocations(
    context: &Context,
    client: &Client,
    project: &str,
    arguments: &ListArguments,
) -> Result<Exit, Error> {
    let found: Vec<InvocationView> =
        list(client, project, &format!("invocations?limit={}", arguments.limit)).await?;
    let words = context.words;
    let rows: Vec<Invocation<'_>> = found.iter().map(Invocation::of).collect();
    context.print(&rows, |screen| {
        if found.is_empty() {
            return screen.text(words.sentence(Key::NoCallsYet));
        }
        call_table(screen, words, &found)
    })?;
    Ok(Exit::Done)
}

fn call_state(status: InvocationStatus) -> (Key, Style) {
    match status {
        InvocationStatus::Pending => (Key::CallPending, Style::Dim),
        InvocationStatus::InProgress => (Key::CallInProgress, Style::Good),
        InvocationStatus::Completed => (Key::CallCompleted, Style::Good),
        InvocationStatus::Failed => (Key::CallFailed, Style::Bad),
        InvocationStatus::Cancelled => (Key::CallCancelled, Style::Dim),
    }
}

fn call_table(screen: Screen, words: Words, calls: &[InvocationView]) -> String {
    let rows: Vec<Vec<Cell>> = calls
        .iter()
        .map(|call| {
            let (key, style) = call_state(call.status);
            vec![
                Cell::new(&call.id),
                Cell::new(&format!("{} → {}", one_line(&call.caller), one_line(&call.callee))),
                Cell::styled(style, words.sentence(key)),
                Cell::styled(Style::Dim, &clock::since(words, call.opened_at_ms)),
                Cell::new(&shown(&call.task)),
            ]
        })
        .collect();
    screen.columns(&rows)
}

async fn results(
    context: &Context,
    client: &Client,
    project: &str,
    arguments: &ListArguments,
) -> Result<Exit, Error> {
    let found: Vec<ResultView> = list(client, project, &format!("results?limit={}", arguments.limit)).await?;
    let words = context.words;
    let rows: Vec<Brought<'_>> = found.iter().map(Brought::of).collect();
    context.print(&rows, |screen| {
        if found.is_empty() {
            return screen.text(words.sentence(Key::NoResultsYet));
        }
        result_table(screen, words, &found)
    })?;
    Ok(Exit::Done)
}

fn result_table(screen: Screen, words: Words, results: &[ResultView]) -> String {
    let rows: Vec<Vec<Cell>> = results
        .iter()
        .map(|result| {
            let key = if result.delivered { Key::ResultDelivered } else { Key::ResultPending };
            vec![
                Cell::new(&result.id),
                Cell::new(&format!("{} → {}", one_line(&result.from), one_line(&result.to))),
                Cell::new(words.sentence(key)),
                Cell::new(&result.kind),
                Cell::styled(Style::Dim, &clock::since(words, result.given_at_ms)),
                Cell::new(&shown(&result.content)),
            ]
        })
        .collect();
    screen.columns(&rows)
}

fn shown(text: &str) -> String {
    let line = one_line(text);
    if line.chars().count() <= SHOWN_CHARS_MAX {
        return line;
    }
    line.chars().take(SHOWN_CHARS_MAX - 1).chain(['…']).collect()
}

async fn send(
    context: &Context,
    client: &Client,
    project: &str,
    arguments: &SendArguments,
) -> Result<Exit, Error> {
    let text = match &arguments.text {
        Some(text) => text.clone(),
        None => standard_input()?,
    };
    let words = context.words;
    let korean = words.language() == Language::Ko;
    let environment = Some(environment());
    let new = NewOfficeMessage { role: arguments.role.clone(), text, korean, environment };
    let session: SessionView = client.post(&format!("/projects/{project}/office/messages"), &new).await?;
    context.print(&session, |screen| screen.text(&words.say(Key::Sent, &[("id", &session.id)])))?;
    super::trust::note_withheld(context, client, &directory()?.to_string_lossy()).await;
    Ok(Exit::Done)
}

async fn cancel(context: &Context, client: &Client, id: &str) -> Result<Exit, Error> {
    let call: InvocationView = client.post(&format!("/invocations/{}/cancel", encoded(id)), &()).await?;
    let words = context.words;
    context.print(&call, |screen| call_table(screen, words, std::slice::from_ref(&call)))?;
    Ok(Exit::Done)
}

async fn diagram(
    context: &Context,
    client: &Client,
    project: &str,
    arguments: &DiagramArguments,
) -> Result<Exit, Error> {
    let run = arguments.run.as_ref().map(|run| format!("?run={}", encoded(run))).unwrap_or_default();
    if project.is_empty() {
        context.print(&Vec::<()>::new(), |screen| screen.text(context.words.sentence(Key::NoCallsYet)))?;
        return Ok(Exit::Done);
    }
    let drawn: DiagramView = client.get(&format!("/projects/{project}/office/diagram{run}")).await?;
    context.print(&drawn, |_| drawn.mermaid.clone())?;
    Ok(Exit::Done)
}
