//! Reads a table from TOML: unknown keys, wrong values and unknown placeholders are mistakes with a line.
//!
//! Every key is optional here, because a table may change only some keys of another one. What a whole table must say
//! is checked when it is put on what it extends.

use alloc::{
    borrow::ToOwned,
    collections::BTreeMap,
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::fmt;

use ostler_protocol::stream::{Cli, Table};
use serde::{Deserialize, de::IgnoredAny};
use toml::Spanned;

use crate::{
    agent::{
        Account, Agent, Argument, Arguments, Channel, End, FurtherDirectory, Guide, InputWay, Login, Output,
        Permission, Private, Terminal, ToolShape, Values, Verify,
    },
    nearest::{explained, nearest},
    registry::BUILTIN_NAMES,
    template::{MessageNames, PermissionNames, Template},
};

/// What is wrong with a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableError {
    /// The agent, where it is known.
    pub agent: Option<String>,
    /// The line, from 1, where it is known.
    pub line: Option<usize>,
    /// What is wrong.
    pub message: String,
    /// The name that was probably meant.
    pub nearest: Option<String>,
}

/// The keys of a table.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Overlay {
    extends: Option<Spanned<String>>,
    about: Option<String>,
    tested: Option<String>,
    version: Option<Vec<String>>,
    install: Option<String>,
    command: Option<Vec<Argument>>,
    #[serde(default)]
    arguments: ArgumentsOverlay,
    extra: Option<Vec<String>>,
    #[serde(default)]
    environment: BTreeMap<String, Argument>,
    terminal: Option<Terminal>,
    output: Option<Spanned<OutputOverlay>>,
    #[serde(default)]
    input: InputOverlay,
    guide: Option<Spanned<Guide>>,
    permission: Option<Spanned<PermissionOverlay>>,
    #[serde(default)]
    end: EndOverlay,
    #[serde(default)]
    account: AccountOverlay,
    login: Option<Spanned<LoginOverlay>>,
    private: Option<Spanned<PrivateOverlay>>,
    model: Option<String>,
    max_turns: Option<u32>,
    tools: Option<Vec<String>>,
    permission_mode: Option<String>,
    mcp_config: Option<String>,
    #[serde(default)]
    values: ValuesOverlay,
    #[serde(default)]
    channel: ChannelOverlay,
    #[serde(default)]
    verify: VerifyOverlay,
    scope_signals: Option<bool>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct VerifyOverlay {
    arguments: Option<Vec<String>>,
    confined: Option<Vec<String>>,
    /// No effect; accepted for compatibility. A verifier writes in directories of its own alone.
    #[serde(rename = "writes")]
    _writes: Option<IgnoredAny>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ChannelOverlay {
    off: Option<bool>,
    arguments: Option<Vec<Argument>>,
    environment: Option<BTreeMap<String, Argument>>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ArgumentsOverlay {
    fresh: Option<Vec<Argument>>,
    resume: Option<Vec<Argument>>,
    rewind: Option<Vec<Argument>>,
    model: Option<Vec<Argument>>,
    max_turns: Option<Vec<Argument>>,
    tools: Option<Vec<Argument>>,
    permission_mode: Option<Vec<Argument>>,
    mcp_config: Option<Vec<Argument>>,
    guide: Option<Vec<Argument>>,
    prompt: Option<Vec<Argument>>,
}

/// A name, or the rules themselves.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged, expecting = "`output` is a name, or the rules of a stream")]
enum OutputOverlay {
    Named(String),
    Rules(toml::Table),
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct InputOverlay {
    way: Option<Spanned<InputWay>>,
    message: Option<Template<MessageNames>>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct PermissionOverlay {
    allow: Option<Template<PermissionNames>>,
    /// No effect; accepted for compatibility. Ostler keeps the rules of a session itself.
    #[serde(rename = "allow_session")]
    _allow_session: Option<IgnoredAny>,
    deny: Option<Template<PermissionNames>>,
    tools: Option<BTreeMap<String, ToolShape>>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct EndOverlay {
    required: Option<bool>,
    close_input: Option<bool>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct AccountOverlay {
    directory: Option<String>,
    keys: Option<Vec<String>>,
    park_retrying: Option<bool>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct LoginOverlay {
    variables: Option<Vec<String>>,
    files: Option<BTreeMap<String, Vec<String>>>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ValuesOverlay {
    node: Option<bool>,
    bash: Option<bool>,
    relaunch: Option<bool>,
    reply: Option<bool>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct PrivateOverlay {
    r#use: Option<bool>,
    variable: Option<String>,
    default: Option<String>,
    shared: Option<Vec<String>>,
    copied: Option<Vec<String>>,
    login: Option<Vec<String>>,
    locks: Option<Vec<String>>,
    elsewhere: Option<BTreeMap<String, String>>,
    further: Option<BTreeMap<String, FurtherDirectory>>,
}

/// The part of a configuration file that is read here.
#[derive(Deserialize)]
struct File {
    #[serde(default)]
    agents: BTreeMap<String, Overlay>,
}

/// The tables of a configuration file.
pub(crate) fn read_agents(toml: &str) -> Result<BTreeMap<String, Overlay>, TableError> {
    let file: File = toml::from_str(toml).map_err(|error| TableError::of_toml(None, toml, &error))?;
    Ok(file.agents)
}

impl Agent {
    /// Reads a whole table.
    pub fn parse(name: &str, toml: &str) -> Result<Agent, TableError> {
        Agent::empty(name).extended_by(name, toml)
    }

    /// This agent under another name, with the keys that the table changes.
    pub fn extended_by(&self, name: &str, toml: &str) -> Result<Agent, TableError> {
        let overlay: Overlay =
            toml::from_str(toml).map_err(|error| TableError::of_toml(Some(name), toml, &error))?;
        overlay.extend(self, name, toml)
    }

    /// The agent of a table that comes with Ostler.
    pub fn builtin(name: &str) -> Option<Agent> {
        let toml = Agent::builtin_toml(name)?;
        Some(Agent::parse(name, toml).expect("a built-in table is part of the program and tested"))
    }

    /// The text of a table that comes with Ostler, a model for another one.
    pub fn builtin_toml(name: &str) -> Option<&'static str> {
        let tables = [
            include_str!("../tables/claude.toml"),
            include_str!("../tables/codex.toml"),
            include_str!("../tables/gemini.toml"),
            include_str!("../tables/opencode.toml"),
        ];
        BUILTIN_NAMES.into_iter().zip(tables).find(|(known, _)| *known == name).map(|(_, toml)| toml)
    }
}

impl Overlay {
    /// The agent that the table begins with.
    pub(crate) fn extends(&self) -> Option<&str> {
        self.extends.as_ref().map(|name| name.get_ref().as_str())
    }

    /// The mistake of a table whose base is not there, or is the table itself in the end.
    pub(crate) fn unknown_base<'a>(
        &self,
        name: &str,
        toml: &str,
        known: impl Iterator<Item = &'a str>,
    ) -> TableError {
        let base = self.extends().unwrap_or_default();
        let known: Vec<&str> = known.collect();
        let message = if known.contains(&base) {
            format!("extends `{base}`, which extends it in turn")
        } else {
            format!("extends `{base}`, which is no agent")
        };
        let mut error = TableError::at(name, toml, self.extends.as_ref().map(Spanned::span), message);
        error.nearest = nearest(base, known).filter(|found| *found != base).map(ToOwned::to_owned);
        error
    }

    /// Puts the keys of the table on those of another agent.
    pub(crate) fn extend(self, base: &Agent, name: &str, toml: &str) -> Result<Agent, TableError> {
        let mut agent = base.clone();
        name.clone_into(&mut agent.name);
        let guide_span = self.guide.as_ref().map(Spanned::span);
        let way_span = self.input.way.as_ref().map(Spanned::span);

        if self.command.is_some() {
            // A command of one's own says the mode itself, unless the same table names one.
            agent.permission_mode = None;
        }
        agent.permission_mode = self.permission_mode.or(agent.permission_mode);
        set(&mut agent.about, self.about);
        set(&mut agent.version, self.version);
        set(&mut agent.command, self.command);
        set(&mut agent.extra, self.extra);
        set(&mut agent.terminal, self.terminal);
        set(&mut agent.tools, self.tools);
        set(&mut agent.scope_signals, self.scope_signals);
        set(&mut agent.guide, self.guide.map(Spanned::into_inner));
        set(&mut agent.input.way, self.input.way.map(Spanned::into_inner));
        agent.tested = self.tested.or(agent.tested);
        agent.install = self.install.or(agent.install);
        agent.input.message = self.input.message.or(agent.input.message);
        agent.model = self.model.or(agent.model);
        agent.max_turns = self.max_turns.or(agent.max_turns);
        agent.mcp_config = self.mcp_config.or(agent.mcp_config);
        agent.environment.extend(self.environment);
        self.channel.extend(&mut agent.channel);
        self.arguments.extend(&mut agent.arguments);
        self.end.extend(&mut agent.end);
        self.account.extend(&mut agent.account);
        self.values.extend(&mut agent.values);
        self.verify.extend(&mut agent.verify);
        if let Some(output) = self.output {
            let span = output.span();
            agent.output = output.into_inner().read().map_err(|(message, nearest)| TableError {
                nearest,
                ..TableError::at(name, toml, Some(span), message)
            })?;
        }
        if let Some(permission) = self.permission {
            let span = permission.span();
            let permission = permission.into_inner().extend(agent.permission.take());
            agent.permission = Some(permission.ok_or_else(|| {
                TableError::at(name, toml, Some(span), "`permission` needs both `allow` and `deny`".into())
            })?);
        }
        if let Some(login) = self.login {
            let span = login.span();
            let extended = login.into_inner().extend(&mut agent.login);
            extended.map_err(|message| TableError::at(name, toml, Some(span), message))?;
        }
        if let Some(private) = self.private {
            let span = private.span();
            let private = private.into_inner().extend(agent.private.take());
            agent.private = Some(private.map_err(|message| TableError::at(name, toml, Some(span), message))?);
        }
        agent.input.proven = agent.proves_inputs();
        agent
            .check(guide_span, way_span)
            .map_err(|(span, message)| TableError::at(name, toml, span, message))?;
        Ok(agent)
    }
}

/// Where a mistake stands, and what it is.
type Mistake = (Option<core::ops::Range<usize>>, String);

impl Agent {
    /// What a whole table must say.
    fn check(
        &self,
        guide: Option<core::ops::Range<usize>>,
        way: Option<core::ops::Range<usize>>,
    ) -> Result<(), Mistake> {
        if self.command.is_empty() {
            return Err((None, "`command` is missing: the program and its arguments".into()));
        }
        if self.input.way == InputWay::Message && self.input.message.is_none() {
            return Err((way, "`input.message` is missing: the line that carries a message".into()));
        }
        if self.input.way == InputWay::Relaunch && !self.can_resume() {
            return Err((
                way,
                "`arguments.resume` is missing: a relaunch goes on with the conversation".into(),
            ));
        }
        let passed = self.names("guide") || self.names("guide_file");
        match (self.guide, passed) {
            (Guide::Argument, false) => {
                Err((guide, "no argument or variable names `{guide}` or `{guide_file}`".into()))
            }
            (Guide::Prompt | Guide::None, true) => Err((
                guide,
                "an argument or variable names the guide, so `guide` must be \"argument\"".into(),
            )),
            _ => Ok(()),
        }
    }
}

impl ArgumentsOverlay {
    fn extend(self, base: &mut Arguments) {
        set(&mut base.fresh, self.fresh);
        set(&mut base.resume, self.resume);
        set(&mut base.rewind, self.rewind);
        set(&mut base.model, self.model);
        set(&mut base.max_turns, self.max_turns);
        set(&mut base.tools, self.tools);
        set(&mut base.permission_mode, self.permission_mode);
        set(&mut base.mcp_config, self.mcp_config);
        set(&mut base.guide, self.guide);
        set(&mut base.prompt, self.prompt);
    }
}

impl ChannelOverlay {
    fn extend(self, base: &mut Channel) {
        set(&mut base.off, self.off);
        set(&mut base.arguments, self.arguments);
        set(&mut base.environment, self.environment);
    }
}

impl VerifyOverlay {
    fn extend(self, base: &mut Verify) {
        set(&mut base.arguments, self.arguments);
        set(&mut base.confined, self.confined);
    }
}

impl EndOverlay {
    fn extend(self, base: &mut End) {
        set(&mut base.required, self.required);
        set(&mut base.close_input, self.close_input);
    }
}

impl AccountOverlay {
    fn extend(self, base: &mut Account) {
        base.directory = self.directory.or(base.directory.take());
        set(&mut base.keys, self.keys);
        set(&mut base.park_retrying, self.park_retrying);
    }
}

impl LoginOverlay {
    fn extend(self, base: &mut Login) -> Result<(), String> {
        set(&mut base.variables, self.variables);
        set(&mut base.files, self.files);
        match base.files.keys().find(|name| !stays_below(name)) {
            Some(name) => Err(format!("`{name}` is no path below the directory")),
            None => Ok(()),
        }
    }
}

impl ValuesOverlay {
    fn extend(self, base: &mut Values) {
        set(&mut base.node, self.node);
        set(&mut base.bash, self.bash);
        set(&mut base.relaunch, self.relaunch);
        set(&mut base.reply, self.reply);
    }
}

impl PermissionOverlay {
    fn extend(self, base: Option<Permission>) -> Option<Permission> {
        let (allow, deny, mut tools) = match base {
            Some(base) => (Some(base.allow), Some(base.deny), base.tools),
            None => (None, None, BTreeMap::new()),
        };
        tools.extend(self.tools.unwrap_or_default());
        Some(Permission { allow: self.allow.or(allow)?, deny: self.deny.or(deny)?, tools })
    }
}

impl PrivateOverlay {
    fn extend(self, base: Option<Private>) -> Result<Private, String> {
        let variable = self.variable.or_else(|| base.as_ref().map(|base| base.variable.clone()));
        let variable =
            variable.ok_or("`private.variable` is missing: the variable that names the directory")?;
        let mut private = base.unwrap_or_else(|| Private::empty(&variable));
        private.variable = variable;
        set(&mut private.used, self.r#use);
        set(&mut private.default, self.default);
        set(&mut private.shared, self.shared);
        set(&mut private.copied, self.copied);
        set(&mut private.login, self.login);
        set(&mut private.locks, self.locks);
        set(&mut private.elsewhere, self.elsewhere);
        set(&mut private.further, self.further);
        if private.used && !private.further.is_empty() {
            return Err(
                "`private.use` is for a CLI with one directory: verifiers alone get `further` ones".into()
            );
        }
        match private.names().find(|name| !stays_below(name)) {
            Some(name) => Err(format!("`{name}` is no path below the directory")),
            None => Ok(private.clone()),
        }
    }
}

/// Whether a path leads nowhere but down.
fn stays_below(path: &str) -> bool {
    path.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

impl OutputOverlay {
    /// The stream's table as text, so that a session keeps the one it began with.
    fn read(self) -> Result<Output, (String, Option<String>)> {
        match self {
            OutputOverlay::Named(name) if name == "text" => Ok(Output::Text),
            OutputOverlay::Named(name) => match Cli::ALL.into_iter().find(|cli| cli.name() == name) {
                Some(cli) => Ok(Output::Table(cli.table_toml().to_owned())),
                None => {
                    let known = Cli::ALL.into_iter().map(Cli::name).chain(["text"]);
                    Err((format!("unknown output `{name}`"), nearest(&name, known).map(ToOwned::to_owned)))
                }
            },
            OutputOverlay::Rules(rules) => {
                let text = rules.to_string();
                match Table::parse(&text) {
                    Ok(_) => Ok(Output::Table(text)),
                    Err(ostler_protocol::stream::TableError::Invalid { reason, .. }) => {
                        let (message, nearest) = explained(&reason);
                        Err((format!("in `output`: {message}"), nearest))
                    }
                    Err(error) => Err((format!("in `output`: {error}"), None)),
                }
            }
        }
    }
}

fn set<T>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}

impl TableError {
    fn of_toml(agent: Option<&str>, toml: &str, error: &toml::de::Error) -> TableError {
        let (message, nearest) = explained(error.message());
        let line = error.span().and_then(|span| line(toml, span.start));
        TableError { agent: agent.map(ToOwned::to_owned), line, message, nearest }
    }

    fn at(agent: &str, toml: &str, span: Option<core::ops::Range<usize>>, message: String) -> TableError {
        let line = span.and_then(|span| line(toml, span.start));
        TableError { agent: Some(agent.to_owned()), line, message, nearest: None }
    }
}

/// The line of an offset, from 1.
fn line(toml: &str, offset: usize) -> Option<usize> {
    toml.get(..offset).map(|before| before.split('\n').count())
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(agent) = &self.agent {
            write!(f, "agent `{agent}`: ")?;
        }
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        f.write_str(&self.message)?;
        match &self.nearest {
            Some(nearest) => write!(f, "; did you mean `{nearest}`?"),
            None => Ok(()),
        }
    }
}

impl core::error::Error for TableError {}
