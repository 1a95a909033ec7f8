//! Reads the configuration: the user's file and the one that is committed in a project.
//!
//! A mistake is an error with the file, the line and the name that was probably meant; nothing is guessed. Nothing
//! here runs a command. Those that a repository brings along are listed apart: whoever runs one has to see first that
//! a person agreed to them.

mod budget;
mod checkpoints;
mod dispatch;
mod known;
mod notify;
mod office;
pub(crate) mod orchestrate;
mod page;
mod phases;
mod project_keys;
mod vault;

use std::{
    collections::BTreeMap,
    env, fmt, io, mem,
    ops::Range,
    path::{Path, PathBuf},
    sync::LazyLock,
    time::Duration,
};

use ostler_agents::{Agents, explained, nearest};
use ostler_engine::{
    checkpoint::CheckpointTerms,
    session::Patience,
    usage::{Price, Prices},
};
use ostler_files::{FILE_BYTES_MAX, named};
use ostler_workspace::PrunePolicy;
use serde::Deserialize;
use toml::Spanned;

pub use budget::{Budgets, InvalidAmount, parse_cost, parse_tokens};
pub use notify::{Hidden, NotifyChannel, Target, Way};
pub use office::{Office, RoleSetting};
pub use orchestrate::OrchestrateSettings;
pub use page::{AllowedHost, Listen, Page, Scheme, Tls};
pub use phases::{Choice, PhaseSetting, PhaseSettings};
pub use project_keys::{PROJECT_KEYS, ProjectRule};
pub use vault::VaultKey;

use self::{
    budget::BudgetTable, checkpoints::CheckpointTable, notify::NotifyTable, office::OfficeTable,
    orchestrate::OrchestrateTable, page::PageTable, phases::PhasesTable, vault::VaultTable,
};

/// The name of the file in a project.
pub const PROJECT_FILE: &str = "ostler.toml";

const LANGUAGES: [&str; 2] = ["en", "ko"];

/// What the keys of agents begin with.
const AGENTS: &str = "agents.";

/// What a user and a project have settled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// The agents that can be named.
    pub agents: Agents,
    /// The agent that is meant where none is named.
    pub default_agent: Option<String>,
    /// `en` or `ko`; otherwise the environment decides.
    pub language: Option<String>,
    /// How long things may take.
    pub patience: Patience,
    /// What models cost, for CLIs that do not say it.
    pub prices: Prices,
    /// How much a run may use before a person is asked, where nobody says otherwise.
    pub budget: Budgets,
    /// What the vault is opened with. Only the user's own file can say so.
    pub vault: VaultKey,
    /// Where the page can be had. Only the user's own file can say so.
    pub page: Page,
    /// Which checkpoints a session gets; none of itself, if nothing.
    pub checkpoints: Option<CheckpointTerms>,
    /// Which of them are kept, and for how long.
    pub prune: PrunePolicy,
    /// Who is told what needs somebody. Only the user's own file can say so.
    pub notify: Vec<NotifyChannel>,
    /// What a run through phases goes through.
    pub phases: PhaseSettings,
    /// How a task file is worked through.
    pub orchestrate: OrchestrateSettings,
    /// What is said of the roles of an office.
    pub office: Office,
    /// Rules of dispatch beside the built-in ones, a text for each file.
    pub dispatch: Vec<String>,
    /// What a person has to agree to in the project's file.
    pub commands: Vec<RepositoryCommand>,
    /// What the user's own file has the server run itself, outside of any shim.
    pub own_commands: Vec<RepositoryCommand>,
}

/// Something of a repository that counts only after a person agreed to it: a command, or a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepositoryCommand {
    /// What names it, such as `agents.reviewer`.
    pub key: String,
    /// All that is said of it.
    pub value: String,
    /// The file that it stands in.
    pub file: PathBuf,
}

/// Why the configuration cannot be used.
#[derive(Debug)]
pub enum ConfigError {
    /// A file is there and cannot be read.
    Unreadable {
        /// Which one.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Something in it is wrong.
    Wrong {
        /// In which file.
        path: PathBuf,
        /// The line, from 1, where it is known.
        line: Option<usize>,
        /// What is wrong.
        message: String,
        /// The name that was probably meant.
        nearest: Option<String>,
    },
}

/// Text that is no length of time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidDuration {
    text: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    language: Option<Spanned<String>>,
    default_agent: Option<Spanned<String>>,
    #[expect(dead_code, reason = "`Agents::add` reads this key from the same text")]
    agents: Option<toml::Table>,
    #[serde(default)]
    patience: PatienceTable,
    #[serde(default)]
    prices: BTreeMap<String, Spanned<PriceTable>>,
    #[serde(default)]
    budget: BudgetTable,
    vault: Option<Spanned<VaultTable>>,
    checkpoints: Option<Spanned<CheckpointTable>>,
    page: Option<Spanned<PageTable>>,
    #[serde(default)]
    notify: Vec<Spanned<NotifyTable>>,
    phases: Option<PhasesTable>,
    #[serde(default)]
    orchestrate: OrchestrateTable,
    office: Option<OfficeTable>,
    dispatch: Option<Spanned<toml::Table>>,
}

/// US dollars for a million tokens.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct PriceTable {
    input: f64,
    output: f64,
    cache_read: Option<f64>,
    cache_write: Option<f64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct PatienceTable {
    question: Option<Spanned<String>>,
    ask_user: Option<Spanned<String>>,
    stopped: Option<Spanned<String>>,
    grace: Option<Spanned<String>>,
    limit: Option<Spanned<String>>,
    stagger: Option<Spanned<String>>,
}

/// Those that come with Ostler: read once, for a configuration is read again and again.
static BUILTIN: LazyLock<Agents> = LazyLock::new(Agents::builtin);

impl Config {
    /// The user's file alone. It does not have to be there.
    pub fn of_user() -> Result<Config, ConfigError> {
        Config::load(None, &[])
    }

    /// The user's file, and `ostler.toml` in the root of the project. Neither has to be there. Of the project's, what needs
    /// consent is applied as far as the hashes say that a person has given it.
    pub fn load(project_root: Option<&Path>, trusted: &[String]) -> Result<Config, ConfigError> {
        let [user, project] = sources(project_root)?;
        Config::of(user.as_ref(), project.as_ref(), trusted)
    }

    /// Whether a file names a default agent, although nobody may have agreed to it.
    pub fn names_default_agent(&self) -> bool {
        self.default_agent.is_some() || self.commands.iter().any(|it| it.key == "default_agent")
    }

    /// Who does a task: whoever is named, else the agent with the name of its owner, else the default.
    pub fn agent_of_task<'a>(
        &'a self,
        named: Option<&'a String>,
        owner: Option<&'a String>,
    ) -> Option<&'a String> {
        let owner = owner.filter(|owner| self.agents.get(owner).is_some());
        named.or(owner).or(self.default_agent.as_ref())
    }

    /// What holds where nobody has said anything.
    fn usual() -> Config {
        Config {
            agents: BUILTIN.clone(),
            default_agent: None,
            language: None,
            patience: Patience::default(),
            prices: Prices::new(),
            budget: Budgets::default(),
            vault: VaultKey::File(None),
            page: Page::default(),
            notify: Vec::new(),
            commands: Vec::new(),
            own_commands: Vec::new(),
            checkpoints: Some(CheckpointTerms::default()),
            prune: checkpoints::POLICY,
            phases: phases::Said::default().finish(),
            orchestrate: OrchestrateSettings::default(),
            office: Office::default(),
            dispatch: Vec::new(),
        }
    }

    fn of(
        user: Option<&Source>,
        project: Option<&Source>,
        trusted: &[String],
    ) -> Result<Config, ConfigError> {
        let mut config = Config::usual();
        let mut said = phases::Said::default();
        if let Some(source) = user {
            config.agents.add(&source.text).map_err(|error| source.wrong_table(error))?;
            let mut file = source.parse()?;
            if let Some(table) = file.vault.take() {
                config.vault = table.into_inner().read(source)?;
            }
            if let Some(table) = file.page.take() {
                config.page = table.into_inner().read(source)?;
            }
            config.notify = notify::read(source, mem::take(&mut file.notify))?;
            config.own_commands = config.commands_of_server(source);
            said.take(source, &config.agents, file.phases.take().unwrap_or_default())?;
            config.take(source, file)?;
        }
        // What a person speaks is not for a repository to say, only where they have not said it.
        let language = config.language.take();
        if let Some(source) = project {
            config.take_project(source, &mut said, trusted)?;
        }
        config.phases = said.finish();
        config.language = language.or(config.language);
        Ok(config)
    }

    /// Takes what the project's file says, by the rules of `project_keys.rs`.
    fn take_project(
        &mut self,
        source: &Source,
        said: &mut phases::Said,
        trusted: &[String],
    ) -> Result<(), ConfigError> {
        self.agents.add(&source.text).map_err(|error| source.wrong_table(error))?;
        let mut file = source.parse()?;
        source.check_user_only(&file)?;
        if let Some(table) = file.phases.take() {
            said.take(source, &self.agents, table)?;
        }
        // A mistake is one whether or not somebody has agreed to it.
        self.clone().take(source, file)?;
        self.commands = project_keys::commands(source, project_keys::needs_consent);
        let mut file = source.parse()?;
        for command in self.withheld(trusted) {
            project_keys::withhold(&mut file, &command.key);
        }
        self.take(source, file)
    }

    /// Settings of the project's file that are not applied, because nobody has agreed to them.
    pub fn withheld(&self, trusted: &[String]) -> Vec<RepositoryCommand> {
        let settings = self.commands.iter().filter(|it| project_keys::is_withheld(&it.key));
        settings.filter(|it| !trusted.contains(&it.fingerprint())).cloned().collect()
    }

    /// The commands of the user's file that the server runs itself.
    fn commands_of_server(&self, source: &Source) -> Vec<RepositoryCommand> {
        let command =
            |key: String, value: String| RepositoryCommand { key, value, file: source.path.clone() };
        let vault = match &self.vault {
            VaultKey::Command(command) => Some(format!("cmd:{command}")),
            VaultKey::File(_) | VaultKey::Passphrase => None,
        };
        let vault = vault.map(|value| command("vault.key".to_owned(), value));
        let channels = self.notify.iter().filter_map(|it| Some(command(it.key(), it.command()?)));
        vault.into_iter().chain(channels).collect()
    }

    /// Whether an agent is what it is because the project's file says so.
    pub fn is_of_repository(&self, agent: &str) -> bool {
        self.commands.iter().any(|command| command.key.strip_prefix(AGENTS) == Some(agent))
    }

    /// What a file says goes over what the one before said.
    fn take(&mut self, source: &Source, file: File) -> Result<(), ConfigError> {
        if let Some(language) = file.language {
            if !LANGUAGES.contains(&language.get_ref().as_str()) {
                let message = format!("unknown language `{}`, expected `en` or `ko`", language.get_ref());
                return Err(source.wrong(language.span(), message, None));
            }
            self.language = Some(language.into_inner());
        }
        if let Some(name) = file.default_agent {
            if self.agents.get(name.get_ref()).is_none() {
                let message = format!("`{}` is no agent", name.get_ref());
                let nearest = self.agents.nearest(name.get_ref());
                return Err(source.wrong(name.span(), message, nearest));
            }
            self.default_agent = Some(name.into_inner());
        }
        if let Some(rules) = file.dispatch {
            dispatch::add(&mut self.dispatch, source, rules)?;
        }
        if let Some(checkpoints) = file.checkpoints {
            (self.checkpoints, self.prune) = checkpoints.into_inner().read(source)?;
        }
        let patience = file.patience;
        for (place, value) in [
            (&mut self.patience.question_ms, patience.question),
            (&mut self.patience.ask_user_ms, patience.ask_user),
            (&mut self.patience.stopped_ms, patience.stopped),
            (&mut self.patience.grace_ms, patience.grace),
            (&mut self.patience.limit_ms, patience.limit),
            (&mut self.patience.stagger_ms, patience.stagger),
        ] {
            let Some(value) = value else { continue };
            let duration = parse_duration(value.get_ref())
                .map_err(|error| source.wrong(value.span(), error.to_string(), None))?;
            *place = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        }
        file.budget.take(source, &mut self.budget)?;
        file.orchestrate.take(source, &mut self.orchestrate)?;
        if let Some(office) = file.office {
            office.take(source, &self.agents, &mut self.office)?;
        }
        for (model, price) in file.prices {
            let wrong = || {
                let message = format!("a price of `{model}` is no amount of US dollars");
                source.wrong(price.span(), message, None)
            };
            let read = price.get_ref().read().ok_or_else(wrong)?;
            self.prices.insert(model, read);
        }
        Ok(())
    }
}

impl PriceTable {
    /// A price in thousandths; the cache costs what is sent costs, if nothing else is said.
    fn read(&self) -> Option<Price> {
        let thousandths = |dollars: f64| {
            let price = Duration::try_from_secs_f64(dollars).ok()?;
            u64::try_from(price.as_millis()).ok()
        };
        Some(Price {
            input: thousandths(self.input)?,
            output: thousandths(self.output)?,
            cache_read: thousandths(self.cache_read.unwrap_or(self.input))?,
            cache_write: thousandths(self.cache_write.unwrap_or(self.input))?,
        })
    }
}

/// The user's file: `ostler/config.toml` where the user keeps configuration. None if no variable says where that is.
pub fn user_file() -> Option<PathBuf> {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let directory = set("XDG_CONFIG_HOME").or_else(|| Some(set("HOME")?.join(".config")))?;
    Some(directory.join("ostler/config.toml"))
}

/// The project that a directory belongs to, as far as the configuration goes: the nearest directory above it that
/// has a repository, or else an `ostler.toml`.
pub fn project_root(directory: &Path) -> Option<PathBuf> {
    let repository = directory.ancestors().find(|it| ostler_orchestrate::has_repository(it));
    repository.map(Path::to_path_buf).or_else(|| nearest_with(directory, PROJECT_FILE))
}

/// The project that a directory outside of git belongs to: the nearest directory above it that has an `ostler.toml`, or
/// else the directory itself.
pub(crate) fn root_without_git(directory: &Path) -> PathBuf {
    nearest_with(directory, PROJECT_FILE).unwrap_or_else(|| directory.to_path_buf())
}

fn nearest_with(directory: &Path, name: &str) -> Option<PathBuf> {
    directory.ancestors().find(|it| it.join(name).exists()).map(Path::to_path_buf)
}

/// A length of time: a number and `ms`, `s`, `m`, `h` or `d`, such as `90s`.
pub fn parse_duration(text: &str) -> Result<Duration, InvalidDuration> {
    let invalid = || InvalidDuration { text: text.to_owned() };
    let text = text.trim();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let number: u64 = number.parse().map_err(|_| invalid())?;
    let unit_ms: u64 = match unit.trim_start() {
        "ms" => 1,
        "s" => 1_000,
        "m" | "min" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return Err(invalid()),
    };
    number.checked_mul(unit_ms).map(Duration::from_millis).ok_or_else(invalid)
}

/// A file and what stands in it.
#[derive(Debug, PartialEq, Eq)]
struct Source {
    path: PathBuf,
    text: String,
}

impl RepositoryCommand {
    /// Whether it defines an agent.
    pub(crate) fn is_agent(&self) -> bool {
        self.key.starts_with(AGENTS)
    }

    /// Stands for all of it. Whoever trusts it trusts this, and nothing that differs from it.
    pub fn fingerprint(&self) -> String {
        ostler_workspace::fingerprint(&[PROJECT_FILE, &self.key, &self.value])
    }
}

/// The user's file and the project's, as far as they are there.
fn sources(project_root: Option<&Path>) -> Result<[Option<Source>; 2], ConfigError> {
    let user = user_file().map(|path| read(&path)).transpose()?.flatten();
    let project = project_root.map(|root| read(&root.join(PROJECT_FILE))).transpose()?.flatten();
    Ok([user, project])
}

/// A file that does not have to be there.
fn read(path: &Path) -> Result<Option<Source>, ConfigError> {
    match named::read_text(path, FILE_BYTES_MAX) {
        Ok(text) => Ok(Some(Source { path: path.to_path_buf(), text })),
        Err(source) if matches!(source.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(source) => Err(ConfigError::Unreadable { path: path.to_path_buf(), source }),
    }
}

impl Source {
    fn parse(&self) -> Result<File, ConfigError> {
        toml::from_str(&self.text).map_err(|error| {
            let (message, nearest) = explained(error.message());
            let nearest = nearest.or_else(|| misplaced(&message).map(str::to_owned));
            let line = error.span().and_then(|span| self.line(span));
            ConfigError::Wrong { path: self.path.clone(), line, message, nearest }
        })
    }

    /// Refuses what only the user's own file may have.
    fn check_user_only(&self, file: &File) -> Result<(), ConfigError> {
        let found = [
            (
                file.prices.values().next().map(Spanned::span),
                "prices stand in your own file, not in a project's",
            ),
            (
                file.vault.as_ref().map(Spanned::span),
                "only your own configuration can say how the vault is opened",
            ),
            (file.notify.first().map(Spanned::span), "only your own configuration can say who is notified"),
            (
                file.checkpoints.as_ref().map(Spanned::span),
                "checkpoints stand in your own file, not in a project's",
            ),
            (
                file.page.as_ref().map(Spanned::span),
                "only your own configuration can say where the page can be had",
            ),
        ];
        let first = found.into_iter().find_map(|(span, message)| Some((span?, message)));
        first.map_or(Ok(()), |(span, message)| Err(self.wrong(span, message.to_owned(), None)))
    }

    fn wrong(&self, span: Range<usize>, message: String, nearest: Option<&str>) -> ConfigError {
        let nearest = nearest.map(str::to_owned);
        ConfigError::Wrong { path: self.path.clone(), line: self.line(span), message, nearest }
    }

    fn wrong_table(&self, error: ostler_agents::TableError) -> ConfigError {
        let message = match error.agent {
            Some(agent) => format!("agent `{agent}`: {}", error.message),
            None => error.message,
        };
        ConfigError::Wrong { path: self.path.clone(), line: error.line, message, nearest: error.nearest }
    }

    fn line(&self, span: Range<usize>) -> Option<usize> {
        self.text.get(..span.start).map(|before| before.split('\n').count())
    }
}

/// Where a name is far from all that are expected, it may be one that stands in a table.
fn misplaced(message: &str) -> Option<&'static str> {
    let word = message.strip_prefix("unknown key `")?.split('`').next()?;
    let keys = [
        "patience.question",
        "patience.ask_user",
        "patience.stopped",
        "patience.grace",
        "patience.limit",
        "patience.stagger",
        "budget.cost",
        "budget.tokens",
        "budget.time",
    ];
    let name = |key: &'static str| key.rsplit('.').next().unwrap_or(key);
    let found = nearest(word, keys.map(name))?;
    keys.into_iter().find(|key| name(key) == found)
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = |f: &mut fmt::Formatter<'_>, path: &Path, line: Option<usize>| match line {
            Some(line) => write!(f, "{}:{line}: ", path.display()),
            None => write!(f, "{}: ", path.display()),
        };
        match self {
            ConfigError::Unreadable { path, source } => {
                write!(f, "cannot read '{}': {source}", path.display())
            }
            ConfigError::Wrong { path, line, message, nearest } => {
                at(f, path, *line)?;
                f.write_str(message)?;
                nearest.as_ref().map_or(Ok(()), |nearest| write!(f, "; did you mean `{nearest}`?"))
            }
        }
    }
}

impl std::error::Error for ConfigError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ConfigError::Unreadable { source, .. } => Some(source),
            ConfigError::Wrong { .. } => None,
        }
    }
}

impl fmt::Display for InvalidDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is no length of time such as `90s`, `10m` or `2h`", self.text)
    }
}

impl std::error::Error for InvalidDuration {}

#[cfg(test)]
mod tests {
    use std::fs;

    use ostler_engine::budget::Budget;

    use super::*;

    fn source(path: &str, text: &str) -> Source {
        Source { path: path.into(), text: text.into() }
    }

    /// Both files, of which a person agreed to everything.
    pub(super) fn load(user: &str, project: &str) -> Result<Config, String> {
        let commands = project_keys::commands(&source("ostler.toml", project), project_keys::needs_consent);
        let trusted: Vec<String> = commands.iter().map(RepositoryCommand::fingerprint).collect();
        load_with(user, project, &trusted)
    }

    /// Both files, of which a person agreed to these.
    pub(super) fn load_with(user: &str, project: &str, trusted: &[String]) -> Result<Config, String> {
        Config::of(Some(&source("config.toml", user)), Some(&source("ostler.toml", project)), trusted)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn nothing_is_said() {
        let config = load("", "").expect("empty files are fine");
        assert_eq!(config.patience, Patience::default());
        assert_eq!(config.agents, Agents::builtin());
        assert_eq!((config.default_agent, config.language), (None, None));
    }

    #[test]
    fn the_nearer_file_wins_except_for_the_language() {
        let config = load(
            "language = \"ko\"\ndefault_agent = \"mine\"\n[agents.mine]\nextends = \"claude\"\n\
             [patience]\nquestion = \"2h\"\ngrace = \"3s\"\n",
            "language = \"en\"\ndefault_agent = \"codex\"\n[patience]\nquestion = \"1d\"\n",
        )
        .expect("both are right");
        assert_eq!(config.language.as_deref(), Some("ko"));
        assert_eq!(config.default_agent.as_deref(), Some("codex"));
        assert!(config.agents.get("mine").is_some());
        assert_eq!(config.patience.question_ms, 86_400_000);
        assert_eq!(config.patience.grace_ms, 3_000);
        assert_eq!(config.patience.stopped_ms, Patience::default().stopped_ms);
        assert_eq!(load("", "language = 'ko'").map(|it| it.language), Ok(Some("ko".into())));
    }

    #[test]
    fn a_mistake_is_named_with_its_line() {
        let check = |user: &str, project: &str, expected: &str| {
            assert_eq!(load(user, project).expect_err("a mistake"), expected);
        };
        check("\nlangauge = 'en'\n", "", "config.toml:2: unknown key `langauge`; did you mean `language`?");
        check(
            "question = '1h'\n",
            "",
            "config.toml:1: unknown key `question`, expected one of `language`, `default_agent`, `agents`, \
             `patience`, `prices`, `budget`, `vault`, `checkpoints`, `page`, `notify`, `phases`, `orchestrate`, `office`, `dispatch`; did you mean `patience.question`?",
        );
        check("default_agent = 'cladue'", "", "config.toml:1: `cladue` is no agent; did you mean `claude`?");
        check("", "language = 'fr'", "ostler.toml:1: unknown language `fr`, expected `en` or `ko`");
        check(
            "[patience]\n\ngrace = 'soon'\n",
            "",
            "config.toml:3: `soon` is no length of time such as `90s`, `10m` or `2h`",
        );
        check(
            "[agents.mine]\ncomand = ['x']\n",
            "",
            "config.toml:2: unknown key `comand`; did you mean `command`?",
        );
        check(
            "",
            "[vault]\nkey = 'cmd:evil'",
            "ostler.toml:1: only your own configuration can say how the vault is opened",
        );
        check(
            "[vault]\nkey = 'pasphrase'",
            "",
            "config.toml:2: unknown key `pasphrase`, expected `file`, `passphrase` or `cmd:COMMAND`",
        );
        check("[vault]\nkey_file = 'k'", "", "config.toml:2: `k` is not an absolute path");
        check(
            "",
            "[page]\nlisten = '0.0.0.0:80'",
            "ostler.toml:1: only your own configuration can say where the page can be had",
        );
        check(
            "[page]\nlisten = '7378'",
            "",
            "config.toml:2: `7378` is no address such as `127.0.0.1:7378`, and not `off`",
        );
        check(
            "[page]\n\nlisten = '0.0.0.0:7378'",
            "",
            "config.toml:3: `0.0.0.0:7378` can be reached from other machines: give `tls = { certificate = \"…\", key \
             = \"…\" }`, or say `behind_proxy = true` if somebody else speaks TLS in front",
        );
        check(
            "[page]\ntls = { certificate = '/c', key = 'k' }",
            "",
            "config.toml:2: `k` is not an absolute path",
        );
        check(
            "[page]\nallowed_hosts = [\n'fine.example.org',\n'*.example.org']",
            "",
            "config.toml:4: `*.example.org` is no name of a host such as `ostler.example.org`, \
             `ostler.example.org:8443` or `http://localhost:9000`",
        );
        check(
            "[page]\npublic_url = 'ostler.example.org/sub'",
            "",
            "config.toml:2: `ostler.example.org/sub` is not the beginning of an address such as \
             `https://ostler.example.org`",
        );
        check("[page]\nlisen = 'off'", "", "config.toml:2: unknown key `lisen`; did you mean `listen`?");
        check("", "language = \n", "ostler.toml:1: string values must be quoted, expected literal string");
    }

    #[test]
    fn what_a_repository_brings_along_is_listed() {
        let project = "default_agent = 'mine'\n[agents.mine]\ncommand = ['rm', '-r']\n\
                       [agents.claude]\nabout = 'another'\n";
        let config = load("[agents.own]\ncommand = ['x']\n", project).expect("both are right");
        let keys: Vec<&str> = config.commands.iter().map(|command| command.key.as_str()).collect();
        assert_eq!(keys, ["default_agent", "agents.claude", "agents.mine"]);
        assert!(config.is_of_repository("mine") && config.is_of_repository("claude"));
        assert!(!config.is_of_repository("own") && !config.is_of_repository("codex"));
        let mine = &config.commands[2];
        assert_eq!(mine.value, "command = [\"rm\", \"-r\"]\n");
        let other = load("", "[agents.mine]\ncommand = ['rm', '-f']\n").expect("it is right");
        assert_ne!(mine.fingerprint(), other.commands[0].fingerprint());
    }

    /// Nobody finds a setting that no page names.
    #[test]
    fn the_pages_name_every_kind_of_patience() {
        let page = |name: &str| {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
            fs::read_to_string(path).expect("a page")
        };
        let kinds = serde_json::to_value(Patience::default()).expect("it is plain data");
        for name in ["cli.md", "ko/cli.md"] {
            let text = page(name);
            let row = text.lines().find(|line| line.starts_with("| `[patience]` |")).expect("a row");
            for kind in kinds.as_object().expect("fields").keys() {
                let key = kind.strip_suffix("_ms").expect("a time");
                assert!(row.contains(&format!("`{key}`")), "{name}: {key}");
            }
        }
        // Who reads of the question finds how long it waits.
        for name in ["office.md", "ko/office.md", "protocol.md", "ko/protocol.md"] {
            assert!(page(name).contains("`patience.ask_user`"), "{name}");
        }
    }

    #[test]
    fn a_price_is_for_a_million_tokens() {
        let prices = |text: &str| load(text, "").map(|config| config.prices);
        let price = Price { input: 15_000, output: 75_000, cache_read: 1_500, cache_write: 15_000 };
        assert_eq!(
            prices("[prices.claude-opus]\ninput = 15\noutput = 75.0\ncache_read = 1.5\n"),
            Ok(Prices::from([("claude-opus".into(), price)]))
        );
        assert_eq!(
            prices("[prices.x]\ninput = -1.0\noutput = 1.0\n").expect_err("a mistake"),
            "config.toml:1: a price of `x` is no amount of US dollars"
        );
        assert!(prices("[prices.x]\ninput = 1.0\n").expect_err("a mistake").contains("missing"));
    }

    #[test]
    fn the_vault_is_opened_as_its_owner_says() {
        let check = |user: &str, expected: VaultKey| {
            assert_eq!(load(user, "").expect("it is right").vault, expected, "{user}");
        };
        check("", VaultKey::File(None));
        check("[vault]\nkey_file = '/mnt/k'", VaultKey::File(Some("/mnt/k".into())));
        check("[vault]\nkey = 'passphrase'", VaultKey::Passphrase);
        check(
            "[vault]\nkey = 'cmd:secret-tool lookup a b'",
            VaultKey::Command("secret-tool lookup a b".into()),
        );
    }

    #[test]
    fn the_page_is_where_its_owner_says() {
        let page = |user: &str| load(user, "").expect("it is right").page;
        assert_eq!(page(""), Page::default());
        assert_eq!(page("[page]\nlisten = 'off'").listen, Listen::Off);
        let at = |text: &str| Listen::At(text.parse().expect("an address"));
        assert_eq!(page("[page]\nlisten = 'localhost:9000'").listen, at("127.0.0.1:9000"));
        assert_eq!(page("[page]\nlisten = '[::1]:9000'").listen, at("[::1]:9000"));
        let open = page("[page]\nlisten = '0.0.0.0:80'\nbehind_proxy = true");
        assert_eq!((open.listen, open.behind_proxy), (at("0.0.0.0:80"), true));
        let open = page("[page]\nlisten = '[::]:443'\ntls = { certificate = '/c', key = '/k' }");
        assert_eq!(open.tls, Some(Tls { certificate: "/c".into(), key: "/k".into() }));
        // A link is of use only if the door opens under its name.
        let public = page("[page]\npublic_url = 'https://ostler.example.org/'");
        assert_eq!(public.public_url.as_deref(), Some("https://ostler.example.org"));
        assert_eq!(public.allowed_hosts.len(), 1);
    }

    #[test]
    fn of_two_budgets_the_smaller_counts() {
        let config = load(
            "[budget]\ncost = 5\ntokens = \"1m\"\n",
            "[budget]\ncost = 7.5\ntokens = 200000\ntime = \"2h\"\n",
        )
        .expect("both are right");
        let used = Budget { cost_nusd_max: Some(5_000_000_000), tokens_max: Some(200_000) };
        assert_eq!(config.budget, Budgets { used, time_s_max: Some(7_200) });
        for (text, error) in [
            ("cost = 0", "ostler.toml:2: `0` is no amount of US dollars such as `2.50`"),
            ("cost = \"much\"", "ostler.toml:2: `much` is no amount of US dollars such as `2.50`"),
            ("tokens = 1.5", "ostler.toml:2: `1.5` is no number of tokens such as `200k`"),
            ("time = \"0s\"", "ostler.toml:2: `0s` is no length of time such as `2h`"),
        ] {
            assert_eq!(load("", &format!("[budget]\n{text}\n")).expect_err(text), error);
        }
    }

    #[test]
    fn phases_have_defaults_and_what_is_said_goes_over_them() {
        let usual = load("", "").expect("nothing is said").phases;
        let names: Vec<&str> = usual.phases.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["Planning", "Design", "Development", "Testing"]);
        assert_eq!(usual.phases[0].artifacts.len(), 9);
        assert_eq!((usual.phases[0].rework_max, usual.phases[0].questions_max), (3, 3));
        assert_eq!(usual.phases[3].find_tests_ms_max, Some(600_000));
        let said = load(
            "[phases]\nagent = 'codex'\nrework = 5\n",
            "[phases]\nverifier = 'none'\n[[phases.phase]]\nname = 'One'\nsetup = 'npm ci'\n\
             checks = ['make lint', { run = 'x', time = '5s', place = 'project' }]\ntests = 'make test'\n",
        )
        .expect("both are right");
        let (phases, phase) = (&said.phases, &said.phases.phases[0]);
        assert_eq!((phases.agent.as_deref(), &phases.verifier), (Some("codex"), &Choice::Nobody));
        assert_eq!((phases.phases.len(), phase.rework_max), (1, 5));
        let runs: Vec<&str> = phase.commands.iter().map(|it| it.run.as_str()).collect();
        assert_eq!(runs, ["npm ci", "make lint", "x", "make test"]);
        assert!(phase.commands[2].in_project && phase.commands[2].time_ms_max == 5_000);
        // What a repository would run is listed, and what the user would run is not.
        assert_eq!((said.commands[0].key.as_str(), said.commands.len()), ("phases", 1));
        assert!(said.commands[0].value.contains("setup = \"npm ci\""), "{}", said.commands[0].value);
        assert_eq!(
            load("[[phases.phase]]\nname = 'One'\nsetup = 'x'\n", "").expect("it is right").commands,
            []
        );
    }

    /// In one file what a phase says counts before what all say; of two files the project's counts.
    #[test]
    fn what_a_project_says_of_phases_goes_over_all_that_the_user_says() {
        let users = "[phases]\nrework = 1\n[[phases.phase]]\nname = 'One'\nagent = 'gemini'\nverifier = 'none'\n\
            rework = 2\nquestions = 7\nverifier_time = '1m'\nchecks = [{ run = 'x', time = '5m' }]\n\
            [[phases.phase]]\nname = 'Two'\ntests = 'auto'\n";
        let own = load(users, "").expect("it is right").phases;
        let [one, two] = &own.phases[..] else { panic!("{own:?}") };
        assert_eq!((one.rework_max, one.questions_max, two.rework_max, two.questions_max), (2, 7, 1, 3));
        assert_eq!((one.commands[0].time_ms_max, two.find_tests_ms_max), (300_000, Some(600_000)));
        let project = "[phases]\nagent = 'codex'\nverifier = 'claude'\nrework = 0\nquestions = 1\ntime = '2m'\n\
            verifier_time = '3m'\n";
        let said = load(users, project).expect("it is right").phases;
        assert_eq!((said.agent.as_deref(), &said.verifier), (Some("codex"), &Choice::Agent("claude".into())));
        for phase in &said.phases {
            assert_eq!((&phase.agent, &phase.verifier), (&None, &Choice::Unsaid), "{}", phase.name);
            assert_eq!((phase.rework_max, phase.questions_max, phase.verifier_ms_max), (0, 1, 180_000));
        }
        assert_eq!(said.phases[0].commands[0].time_ms_max, 120_000);
        assert_eq!(said.phases[1].find_tests_ms_max, Some(120_000));
        let list = "[phases]\nrework = 4\n[[phases.phase]]\nname = 'Other'\nquestions = 9\n";
        let said = load(users, list).expect("it is right").phases;
        assert_eq!((said.phases.len(), said.phases[0].rework_max, said.phases[0].questions_max), (1, 4, 9));
    }

    #[test]
    fn a_mistake_in_phases_is_named_with_its_line() {
        for (text, error) in [
            ("[phases]\nrewrok = 1", "ostler.toml:2: unknown key `rewrok`; did you mean `rework`?"),
            ("[phases]\nagent = 'cladue'", "ostler.toml:2: `cladue` is no agent; did you mean `claude`?"),
            ("[phases]\nrework = 99", "ostler.toml:2: a phase goes back by itself at most 20 times"),
            ("[[phases.phase]]\nprompt = 'x'", "ostler.toml:1: a phase has a name"),
            (
                "[[phases.phase]]\nname = 'x'\nartifacts = [{ glob = '../x' }]",
                "ostler.toml:3: `../x` is no glob that can be used: it does not lie in the repository",
            ),
            (
                "[[phases.phase]]\nname = 'x'\nartifacts = [{ glob = 'x', min = 3, max = 2 }]",
                "ostler.toml:3: there cannot be at least 3 and fewer",
            ),
            (
                "[[phases.phase]]\nname = 'x'\nchecks = [{ run = 'x', place = 'moon' }]",
                "ostler.toml:3: unknown place `moon`, expected `checkpoint` or `project`",
            ),
            (
                "[[phases.phase]]\nname = 'x'\nchecks = [{ run = 'x', plce = 'project' }]",
                "ostler.toml:3: unknown key `plce`; did you mean `place`?",
            ),
            (
                "[[phases.phase]]\nname = 'x'\ncriteria = [{ id = 'a', txt = 'y' }]",
                "ostler.toml:3: unknown key `txt`; did you mean `text`?",
            ),
            (
                "[[phases.phase]]\nname = 'x'\ncriteria = ['x', { id = 'c1', text = 'y' }]",
                "ostler.toml:3: there are two criteria `c1`: no verdict could name one of them",
            ),
            ("[[phases.phase]]\nname = 'x'\ntests = ' '", "ostler.toml:3: there is no command"),
            ("[[phases.phase]]\nname = 'x'\nsetup = ''", "ostler.toml:3: there is no command"),
            (
                "[[phases.phase]]\nname = 'x'\nprompt = 'Do {nme}'",
                "ostler.toml:3: `{nme}` stands for nothing in a prompt; did you mean `{name}`?",
            ),
        ] {
            assert_eq!(load("", text).expect_err(text), error);
        }
    }

    #[test]
    fn a_length_of_time_has_a_unit() {
        for (text, ms) in
            [("90s", 90_000), ("10m", 600_000), ("2h", 7_200_000), ("1d", 86_400_000), ("5 ms", 5)]
        {
            assert_eq!(parse_duration(text), Ok(Duration::from_millis(ms)), "{text}");
        }
        for text in ["", "s", "10", "-1s", "1.5h", "1w", "99999999999999999999s", "18446744073709551615d"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }
}
