//! Asking for something.

use std::{
    collections::BTreeMap,
    path::{Path as FilePath, PathBuf},
};

use axum::{
    Json,
    extract::State,
    http::{HeaderMap, StatusCode},
};
use ostler_agents::{Agent, Output, Terminal, agent::Argument};
use ostler_engine::{
    Input,
    budget::Budget,
    input::{NewProject, NewRun as Wanted},
    run::Terms,
    session::{Order, Role, Screen, UncommittedChanges, WorktreeTerms},
    usage::{nusd, price},
};
use ostler_protocol::stream::Table;
use ostler_workspace::{GitError, Repository};
use serde_json::{Value, json};

use super::{
    App, code::Code, extract::Body, installed::MissingProgram, names::session_name, problem::not_written,
    read::unknown_agent, wishes::key,
};
use crate::{
    account,
    api::{NewRun, Problem, RunView},
    config::{Config, RepositoryCommand, root_without_git},
    driver::Driver,
    environment,
    journal::Key,
    project_record, random,
};

/// The longest title, in characters.
const TITLE_CHARS_MAX: usize = 100;

/// How long a check may take, if nobody said otherwise.
const CHECK_S_MAX: u64 = 30 * 60;

/// The most attempts that anybody can want.
const ATTEMPTS_MAX: u32 = 1_000;

/// The longest time that somebody can mean: a year.
const TIME_S_MAX: u64 = 366 * 24 * 60 * 60;

/// The most lines of a terminal, and the most characters in one.
const SCREEN_MAX: u16 = 1_000;

/// So many files that are left out of a worktree are named; the others are counted.
const CHANGES_MAX: usize = 10;

/// What names the settings of phases.
const PHASES: &str = "phases";

/// What names the agent that is meant where none is named.
const DEFAULT_AGENT: &str = "default_agent";

/// Asks for something to be done.
#[utoipa::path(post, path = "/runs", request_body = NewRun,
    responses((status = 201, body = RunView), (status = 400, body = Problem), (status = 404, body = Problem)))]
pub(super) async fn create(
    State(app): State<App>,
    headers: HeaderMap,
    Body(new): Body<NewRun>,
) -> Result<(StatusCode, Json<RunView>), Problem> {
    let key = key(&headers, "/runs", &new)?;
    Ok((StatusCode::CREATED, Json(start(&app, new, key).await?)))
}

/// The same for one that is not sent by a client.
pub(super) async fn start(app: &App, new: NewRun, key: Option<Key>) -> Result<RunView, Problem> {
    let driver = app.driver.clone();
    let wanted = tokio::task::spawn_blocking(move || wanted(&driver, new)).await??;
    let made = app.driver.journal.submit_for(Input::CreateRun(Box::new(wanted)), key).await?;
    let run = made.run.ok_or_else(|| Problem::internal("a run was not made"))?;
    app.run_view(run)
}

/// What the engine has to know.
pub(crate) fn wanted(driver: &Driver, new: NewRun) -> Result<Wanted, Problem> {
    let directory = directory(&new.directory)?;
    let repository = repository(&directory)?;
    let root = project_root(&directory, repository.as_ref());
    let trusted = driver.trusted(&text(&root)?);
    let own = repository.clone().filter(|_| new.worktree).map(|it| it.trusting(trusted.iter().cloned()));
    let worktree_terms = own.map(|it| worktree_terms(&it, &directory, new.with_changes)).transpose()?;
    let settings = repository.as_ref().map_or(root.as_path(), Repository::directory_root);
    let config = Config::known(Some(settings), &trusted).map_err(|error| {
        Problem::bad(Code::Configuration, error.to_string()).hint("Mend the file; nothing was started.")
    })?;
    check_terms(&new)?;
    let named = agent_name(&config, &new, &trusted)?;
    let mut agent = agent(&config, &new, named)?;
    check_commands(&config, &new.directory, named, &trusted)?;
    let asked = Asked { cost_usd_max: new.cost_usd_max, tokens_max: new.tokens_max };
    let budget = budget(&config, &[(&agent, new.model.as_ref())], asked)?;
    let time_ms_max = time_ms_max(&config, new.time_s_max)?;
    let mut variables = new.environment.clone().unwrap_or_else(environment::of_server);
    variables.extend(take_values(&mut agent));
    let environment =
        environment::keep(&driver.home, &variables).map_err(|error| not_written(error.to_string()))?;
    let account = account::name(&agent, &variables, driver.mark());
    let is_plain = named.is_none();
    if let Some(missing) = MissingProgram::of(&agent, &variables).filter(|_| !is_plain) {
        return Err(missing.into());
    }
    let order = Order {
        instruction: project_record::of_run(&new, &agent, &root).filter(|_| !is_plain),
        guide: new.guide.unwrap_or(true) && !is_plain,
        channel: new.mcp.unwrap_or(true) && !is_plain,
        agent,
        prompt: new.prompt.clone().unwrap_or_default(),
        directory: text(&directory)?,
        environment,
        model: new.model.clone(),
        turns_max: new.turns_max,
        nonce: Some(random::word()),
        new_conversation: random::uuid(),
        korean: new.korean,
        patience: config.patience,
        account,
        prices: config.prices.clone(),
        checkpoints: config.checkpoints,
        role: if new.main { Role::Main } else { Role::Work },
        tools: Vec::new(),
        screen: new.terminal.map(|(rows, columns)| screen(rows, columns)).transpose()?,
    };
    Ok(Wanted {
        root: text(&root)?,
        name: name(&root),
        git: repository.is_some(),
        title: title(&new),
        order: Box::new(order),
        worktrees: if new.worktree { Some(text(&driver.home.worktrees())?) } else { None },
        worktree_terms: worktree_terms.unwrap_or_default(),
        session_name: new.name.as_deref().map(session_name).transpose()?,
        terms: terms(new, time_ms_max, budget),
        phases: None,
        parent: None,
        node: None,
        graph: None,
        roles: crate::office::roles::described(&root, trusted),
    })
}

/// When it counts as done, and how far it may go.
fn terms(new: NewRun, time_ms_max: Option<u64>, budget: Budget) -> Terms {
    let check_time_ms_max = Some(new.check_time_s_max.unwrap_or(CHECK_S_MAX).saturating_mul(1000));
    Terms {
        check: new.check,
        attempts_max: new.attempts_max,
        time_ms_max,
        check_time_ms_max,
        budget,
        task: None,
    }
}

/// Where a new worktree begins: in the same directory below its root, with what the checkout holds or without it.
fn worktree_terms(
    repository: &Repository,
    directory: &FilePath,
    with_changes: bool,
) -> Result<WorktreeTerms, Problem> {
    repository.check_trust().map_err(|error| refused_by_git(&error))?;
    let below =
        directory.strip_prefix(repository.directory_root()).ok().filter(|it| !it.as_os_str().is_empty());
    let changed = repository.changed_now().map_err(|error| refused_by_git(&error))?;
    let files = changed.iter().take(CHANGES_MAX).map(|path| path.display().to_string()).collect();
    let more = changed.len().saturating_sub(CHANGES_MAX) as u64;
    Ok(WorktreeTerms {
        subdirectory: below.map(text).transpose()?,
        changes: UncommittedChanges { taken: with_changes && !changed.is_empty(), files, more },
    })
}

/// The project that a directory belongs to, registered or not.
pub(super) fn project_at(path: &str) -> Result<NewProject, Problem> {
    let directory = directory(path)?;
    let repository = repository(&directory)?;
    let root = project_root(&directory, repository.as_ref());
    Ok(NewProject { root: text(&root)?, name: name(&root), git: repository.is_some() })
}

/// The root that a project is known by: that of its main repository. Without git it is the nearest directory above that
/// has an `ostler.toml`, or else the directory itself.
pub(super) fn project_root(directory: &FilePath, repository: Option<&Repository>) -> PathBuf {
    match repository {
        Some(repository) => repository.main_root().to_path_buf(),
        None => root_without_git(directory),
    }
}

/// The root by which the journal knows the project of a directory.
pub(crate) fn root_of(directory: &FilePath) -> Result<String, Problem> {
    text(&project_root(directory, repository(directory)?.as_ref()))
}

pub(super) fn name(root: &FilePath) -> String {
    root.file_name().map_or_else(|| "/".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// The repository that a directory belongs to.
pub(super) fn repository(directory: &FilePath) -> Result<Option<Repository>, Problem> {
    Repository::find(directory).map_err(|error| refused_by_git(&error))
}

/// What git, or the guard before it, has against a repository.
pub(super) fn refused_by_git(error: &GitError) -> Problem {
    let title = error.to_string();
    let GitError::Untrusted { repository, programs } = error else {
        return Problem::bad(Code::Git, title).hint("See `ostler doctor`.");
    };
    let commands = programs.iter().map(|it| (it.key.as_str(), it.value.as_str(), it.file.as_path()));
    untrusted(&repository.to_string_lossy(), title, commands)
}

/// An agent that the repository defines runs only if a person agreed to all that it defines: one table may lean on
/// another.
fn check_commands(
    config: &Config,
    directory: &str,
    agent: Option<&String>,
    trusted: &[String],
) -> Result<(), Problem> {
    let is_of_repository = agent.is_some_and(|name| config.is_of_repository(name));
    refuse_unseen(config, directory, trusted, |it| is_of_repository && it.is_agent())
}

/// The same for phases: all that is set for them, and who works in them.
pub(super) fn check_phase_commands(
    config: &Config,
    directory: &str,
    trusted: &[String],
    is_of_repository: bool,
) -> Result<(), Problem> {
    refuse_unseen(config, directory, trusted, |it| it.key == PHASES || (is_of_repository && it.is_agent()))
}

/// Refuses what nobody has agreed to, of what counts.
fn refuse_unseen(
    config: &Config,
    directory: &str,
    trusted: &[String],
    counts: impl Fn(&RepositoryCommand) -> bool,
) -> Result<(), Problem> {
    let is_new = |it: &&RepositoryCommand| counts(it) && !trusted.contains(&it.fingerprint());
    let unseen: Vec<&RepositoryCommand> = config.commands.iter().filter(is_new).collect();
    let Some(first) = unseen.first() else { return Ok(()) };
    let title = format!("'{}' defines {}, and nobody has agreed to it", first.file.display(), first.key);
    let commands = unseen.iter().map(|it| (it.key.as_str(), it.value.as_str(), it.file.as_path()));
    Err(untrusted(directory, title, commands))
}

fn untrusted<'a>(
    directory: &str,
    title: String,
    commands: impl Iterator<Item = (&'a str, &'a str, &'a FilePath)>,
) -> Problem {
    let show =
        |(key, value, file): (&str, &str, &FilePath)| json!({ "key": key, "value": value, "file": file });
    let commands: Vec<Value> = commands.map(show).collect();
    Problem::new(StatusCode::CONFLICT, Code::Untrusted, title)
        .hint(format!("Look at it and decide: ostler trust {directory}"))
        .details(json!({ "key": "untrusted", "directory": directory, "commands": commands }))
}

/// The values that a table sets: they may be keys, and go where the rest of the environment is kept.
pub(crate) fn take_values(agent: &mut Agent) -> BTreeMap<String, String> {
    let fixed = |value: &Argument| value.fill(|_| None).ok();
    let values = agent.environment.iter().filter_map(|(name, value)| Some((name.clone(), fixed(value)?)));
    let values: BTreeMap<String, String> = values.collect();
    agent.environment.retain(|name, _| !values.contains_key(name));
    values
}

fn check_terms(new: &NewRun) -> Result<(), Problem> {
    if new.attempts_max.is_some() && new.check.is_none() {
        return Err(Problem::bad(Code::NoCheck, "there is nothing that says when it is done")
            .hint("Say it with --check COMMAND."));
    }
    if new.attempts_max.is_some_and(|max| max == 0 || max > ATTEMPTS_MAX) {
        let title = format!("an agent may try between 1 and {ATTEMPTS_MAX} times");
        return Err(Problem::bad(Code::BadAttempts, title));
    }
    if new.check.as_deref().is_some_and(|check| check.trim().is_empty() || check.contains('\0')) {
        return Err(Problem::bad(Code::EmptyCheck, "the check is no command"));
    }
    if let Some(time_s) = new.check_time_s_max {
        check_time(time_s)?;
    }
    Ok(())
}

/// What somebody asks that a run uses at most.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked {
    pub(crate) cost_usd_max: Option<f64>,
    pub(crate) tokens_max: Option<u64>,
}

/// How much it may use. What somebody asks for has to be kept: an agent that does not say what it uses is refused. What
/// is only configured counts where it can. Agents come with the model that was named for them.
pub(crate) fn budget(
    config: &Config,
    agents: &[(&Agent, Option<&String>)],
    asked: Asked,
) -> Result<Budget, Problem> {
    let silent_of_cost = agents.iter().find(|(agent, model)| !states(config, agent, *model).0);
    let silent_of_tokens = agents.iter().find(|(agent, model)| !states(config, agent, *model).1);
    let somebody = |is_it: fn((bool, bool)) -> bool| {
        agents.iter().any(|(agent, model)| is_it(states(config, agent, *model)))
    };
    let configured = config.budget.used;
    if let Some((agent, _)) = silent_of_cost.filter(|_| asked.cost_usd_max.is_some()) {
        return Err(Problem::bad(Code::CostUnknown, format!("nobody says what '{}' costs", agent.name))
            .hint("Give the price of its model under [prices], or limit --max-tokens or --max-time."));
    }
    if let Some((agent, _)) = silent_of_tokens.filter(|_| asked.tokens_max.is_some()) {
        let title = format!("'{}' does not say how many tokens it uses", agent.name);
        return Err(Problem::bad(Code::TokensUnknown, title).hint("Limit --max-time instead."));
    }
    let cost_nusd_max = match asked.cost_usd_max {
        None => configured.cost_nusd_max.filter(|_| somebody(|(cost, _)| cost)),
        Some(cost) => {
            let nothing = || Problem::bad(Code::BadCost, "a budget is an amount of US dollars above nothing");
            Some(nusd(cost).filter(|cost| *cost > 0).ok_or_else(nothing)?)
        }
    };
    let tokens_max = asked.tokens_max.or(configured.tokens_max.filter(|_| somebody(|(_, tokens)| tokens)));
    if tokens_max == Some(0) {
        return Err(Problem::bad(Code::BadTokens, "no tokens at all are not enough"));
    }
    Ok(Budget { cost_nusd_max, tokens_max })
}

/// Whether it can be known what an agent costs, and how many tokens it uses.
fn states(config: &Config, agent: &Agent, model: Option<&String>) -> (bool, bool) {
    let table = match &agent.output {
        Output::Table(text) => Table::parse(text).ok(),
        Output::Text => None,
    };
    let tokens = table.as_ref().is_some_and(Table::states_tokens);
    let has_price = match model.or(agent.model.as_ref()) {
        Some(model) => price(&config.prices, model).is_some(),
        None => !config.prices.is_empty() && table.as_ref().is_some_and(Table::names_model),
    };
    (table.as_ref().is_some_and(Table::states_cost) || (tokens && has_price), tokens)
}

/// Whether a length of time can be kept to.
fn check_time(time_s: u64) -> Result<(), Problem> {
    match time_s {
        0 => Err(Problem::bad(Code::BadTime, "no time at all is not enough")),
        1..=TIME_S_MAX => Ok(()),
        _ => Err(Problem::bad(Code::BadTime, format!("a time has at most {TIME_S_MAX} seconds"))),
    }
}

/// Milliseconds of work after which a person is asked: what somebody says, or what is configured.
pub(crate) fn time_ms_max(config: &Config, time_s_max: Option<u64>) -> Result<Option<u64>, Problem> {
    if let Some(time_s) = time_s_max {
        check_time(time_s)?;
    }
    Ok(time_s_max.or(config.budget.time_s_max).map(|seconds| seconds.saturating_mul(1000)))
}

/// The agent that is meant: the one that is named, or the default one where there is something to do and no command.
fn agent_name<'a>(
    config: &'a Config,
    new: &'a NewRun,
    trusted: &[String],
) -> Result<Option<&'a String>, Problem> {
    let has_prompt = new.prompt.as_deref().is_some_and(|prompt| !prompt.trim().is_empty());
    if new.agent.is_some() || !new.command.is_empty() || !has_prompt {
        return Ok(new.agent.as_ref());
    }
    if config.default_agent.is_none() {
        refuse_unseen(config, &new.directory, trusted, |it| it.key == DEFAULT_AGENT)?;
    }
    Ok(config.default_agent.as_ref())
}

fn agent(config: &Config, new: &NewRun, name: Option<&String>) -> Result<Agent, Problem> {
    let mut agent = match (name, new.command.as_slice()) {
        (Some(_), [_, ..]) => {
            return Err(Problem::bad(
                Code::AgentAndCommand,
                "there is an agent and a command; one is enough",
            ));
        }
        (Some(name), []) => {
            let agent = config.agents.get(name).ok_or_else(|| unknown_agent(config, name))?;
            let has_prompt = new.prompt.as_deref().is_some_and(|prompt| !prompt.trim().is_empty());
            if !has_prompt {
                return Err(Problem::bad(Code::NoPrompt, format!("'{name}' is not told what to do"))
                    .hint(format!("ostler run {name} \"fix the flaky test\"")));
            }
            agent.clone()
        }
        (None, command @ [program, ..]) if !program.is_empty() => Agent::plain(command),
        _ => {
            return Err(Problem::bad(Code::NothingToRun, "there is neither an agent nor a command")
                .hint("ostler run claude \"…\", or ostler run -- COMMAND"));
        }
    };
    add_options(&mut agent, new, name.is_some())?;
    if new.command.iter().chain(&new.arguments).any(|argument| argument.contains('\0')) {
        return Err(Problem::bad(Code::ZeroByte, "no argument can hold a zero byte"));
    }
    if new.terminal.is_some() {
        agent.terminal = Terminal::Pty;
    }
    Ok(agent)
}

/// What somebody gives the agent's CLI for one run. A session keeps it for all its launches.
fn add_options(agent: &mut Agent, new: &NewRun, is_named: bool) -> Result<(), Problem> {
    let (has_rules, mode) = (!new.allow.is_empty(), new.permission_mode.as_deref());
    for (what, flag, is_wanted) in
        [("tools", "--allow", has_rules), ("permission_mode", "--permission-mode", mode.is_some())]
    {
        if is_wanted && !agent.takes(what) {
            let title = format!("'{}' cannot be given {flag}: its table has no argument for it", agent.name);
            let hint = "Give its CLI the arguments themselves: ostler run AGENT \"…\" -- ARGUMENTS";
            return Err(Problem::bad(Code::NotSupported, title).hint(hint));
        }
    }
    if !is_named && !new.arguments.is_empty() {
        return Err(Problem::bad(Code::NotSupported, "a command has its arguments already"));
    }
    if new.allow.iter().map(String::as_str).chain(mode).any(|text| text.trim().is_empty()) {
        return Err(Problem::bad(Code::EmptyField, "a rule and a mode are more than blanks"));
    }
    agent.tools.extend(new.allow.iter().cloned());
    agent.permission_mode = new.permission_mode.clone().or(agent.permission_mode.take());
    agent.extra.extend(new.arguments.iter().cloned());
    Ok(())
}

/// A size that a terminal can have, and a page can draw.
pub(super) fn screen(rows: u16, columns: u16) -> Result<Screen, Problem> {
    let fits = |length: u16| (1..=SCREEN_MAX).contains(&length);
    if fits(rows) && fits(columns) {
        return Ok(Screen { rows, columns });
    }
    let title = format!("a terminal has 1 to {SCREEN_MAX} lines, of as many characters");
    Err(Problem::bad(Code::BadSize, title).hint("Nothing has changed."))
}

pub(super) fn directory(path: &str) -> Result<PathBuf, Problem> {
    let path = FilePath::new(path);
    if !path.is_absolute() {
        return Err(bad_directory(format!("'{}' is not an absolute path", path.display())));
    }
    let found = path.canonicalize().and_then(|path| {
        let is_directory = path.metadata()?.is_dir();
        if is_directory { Ok(path) } else { Err(std::io::ErrorKind::NotADirectory.into()) }
    });
    found.map_err(|error| bad_directory(format!("cannot work in '{}': {error}", path.display())))
}

fn bad_directory(title: String) -> Problem {
    Problem::bad(Code::BadDirectory, title)
        .hint("Name a directory that is there, from the root: /home/you/project. Nothing was started.")
}

pub(super) fn text(path: &FilePath) -> Result<String, Problem> {
    path.to_str()
        .map(str::to_owned)
        .ok_or_else(|| bad_directory(format!("'{}' is not text; rename it", path.display())))
}

fn title(new: &NewRun) -> String {
    let said = [&new.title, &new.prompt].into_iter().flatten().find(|text| !text.trim().is_empty());
    said.map_or_else(|| title_of(&new.command.join(" ")), |text| title_of(text))
}

/// The first line of a text, if it is short.
pub(super) fn title_of(text: &str) -> String {
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
    if line.chars().count() <= TITLE_CHARS_MAX {
        return line.to_owned();
    }
    line.chars().take(TITLE_CHARS_MAX - 1).chain(['…']).collect()
}
