//! What is known of one agent CLI: the content of its table, read and checked.
//!
//! An [`Agent`] is plain data that a session keeps as it was when the session began, so that a later change of a
//! table does not change what runs. [`crate::launch`] makes command lines of it.

use alloc::{
    collections::BTreeMap,
    string::{String, ToString},
    vec::Vec,
};

use ostler_protocol::stream::Table;
use serde::{Deserialize, Serialize};

use crate::template::{LaunchNames, MessageNames, PermissionNames, Template};

/// An argument or a value of the environment, with places for what a launch brings.
pub type Argument = Template<LaunchNames>;

/// One agent CLI.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agent {
    /// What it is called on Ostler's command line.
    pub name: String,
    /// What it is, in a sentence.
    pub about: String,
    /// The version that the table was tested with.
    pub tested: Option<String>,
    /// The command that prints the version; empty if there is none.
    pub version: Vec<String>,
    /// The command that installs the CLI, for a person to read. Ostler never runs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub install: Option<String>,
    /// The program and the arguments of every launch.
    pub command: Vec<Argument>,
    /// The arguments of some launches, by what they are for.
    pub arguments: Arguments,
    /// Arguments that a user adds, put before the prompt.
    pub extra: Vec<String>,
    /// Variables to set.
    pub environment: BTreeMap<String, Argument>,
    /// What it is connected to.
    pub terminal: Terminal,
    /// What it prints.
    pub output: Output,
    /// How it is spoken to while it runs.
    pub input: Input,
    /// How it learns to ask.
    pub guide: Guide,
    /// What is written when a person has decided about a tool; `None` if the CLI cannot be told.
    pub permission: Option<Permission>,
    /// How its end is known.
    pub end: End,
    /// What an account is.
    pub account: Account,
    /// What proves that somebody is signed in.
    #[serde(default, skip_serializing_if = "Login::is_default")]
    pub login: Login,
    /// What a configuration directory of its own would hold; `None` if there cannot be one.
    #[serde(default)]
    pub private: Option<Private>,
    /// The model, where a launch names none.
    pub model: Option<String>,
    /// The limit on turns, where a launch names none.
    pub max_turns: Option<u32>,
    /// The tools that need no permission, where a launch names none.
    pub tools: Vec<String>,
    /// What it may do without asking, in the CLI's own word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<String>,
    /// MCP servers in the CLI's own form, where a launch names none.
    pub mcp_config: Option<String>,
    /// How a value that it was given reaches it.
    #[serde(default)]
    pub values: Values,
    /// How it is given the tools with which it asks. Orders that were written before there were any have none.
    #[serde(default)]
    pub channel: Channel,
    /// What is different when it verifies. Orders that were written before there was anything have nothing.
    #[serde(default)]
    pub verify: Verify,
    /// Whether it may send signals to its own tree alone. It gains no rights then, so `sudo` does not work in it.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub scope_signals: bool,
}

/// What is different for a CLI that looks at the work of another one.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Verify {
    /// Arguments of every verifier.
    pub arguments: Vec<String>,
    /// Arguments of one that the kernel keeps from writing elsewhere, and that may therefore run what it likes.
    pub confined: Vec<String>,
    /// Has no effect. Sessions of earlier versions hold it, and their states are compared with what the journal gives.
    #[serde(default)]
    writes: Vec<String>,
}

/// How a CLI is given Ostler's own MCP server, with the tools to ask by.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Channel {
    /// Whether it is not given.
    pub off: bool,
    /// The arguments that do it.
    pub arguments: Vec<Argument>,
    /// The variables that do it. They take the place of others of their name.
    pub environment: BTreeMap<String, Argument>,
}

/// Groups of arguments, in the order in which they follow the command. A group is left out as a whole when one of
/// its values is not given.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Arguments {
    /// To begin a conversation.
    pub fresh: Vec<Argument>,
    /// To go on with one; empty if the CLI cannot.
    pub resume: Vec<Argument>,
    /// To go on with one at an earlier place, as another one; empty if the CLI cannot.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rewind: Vec<Argument>,
    /// To choose the model.
    pub model: Vec<Argument>,
    /// To limit the turns.
    pub max_turns: Vec<Argument>,
    /// To allow tools without asking.
    pub tools: Vec<Argument>,
    /// To say what it may do without asking. They come first: some CLIs take them before a subcommand alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub permission_mode: Vec<Argument>,
    /// To add MCP servers.
    pub mcp_config: Vec<Argument>,
    /// To pass the guide.
    pub guide: Vec<Argument>,
    /// To pass the prompt; empty if it goes to the input.
    pub prompt: Vec<Argument>,
}

/// What an agent's streams are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Terminal {
    /// Pipes.
    #[default]
    None,
    /// A terminal.
    Pty,
}

/// What an agent prints.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Output {
    /// Text.
    #[default]
    Text,
    /// Events that a table describes: the TOML text that `ostler_protocol::stream::Table` reads.
    Table(String),
}

/// How an agent is spoken to while it runs.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Input {
    /// The way.
    pub way: InputWay,
    /// For [`InputWay::Message`], the line that carries a message.
    pub message: Option<Template<MessageNames>>,
    /// True if the stream proves which inputs are part of the conversation. Derived from `message` and the output when
    /// the table is read, so that a session keeps what it began with.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub proven: bool,
}

/// The ways in which words reach an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InputWay {
    /// It reads lines: a reply as one line of JSON, anything else as it is.
    #[default]
    Line,
    /// It reads messages that are wrapped as the table says; a reply is the text of one.
    Message,
    /// It reads nothing: it is ended and resumed with the words as its prompt.
    Relaunch,
}

/// How an agent learns to ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Guide {
    /// It is not told.
    #[default]
    None,
    /// With every launch, in an argument or a variable that names `{guide}` or `{guide_file}`.
    Argument,
    /// In front of the first prompt of a conversation.
    Prompt,
}

/// The lines that tell a CLI what a person decided about a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Permission {
    /// It may run this once.
    pub allow: Template<PermissionNames>,
    /// It may not.
    pub deny: Template<PermissionNames>,
    /// What a permission rule can say about the calls of a tool, by the tool's name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tools: BTreeMap<String, ToolShape>,
}

/// The fields of a tool's input that permission rules are about.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ToolShape {
    /// The field that holds a shell command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The field that holds the absolute path of a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The field that holds the text that an edit replaces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// The field that holds the text that is written to the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// The fields that may differ between calls of one rule.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub free: Vec<String>,
}

/// How the end of an agent is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct End {
    /// Success needs an `end` fact in the stream: the exit code alone proves nothing.
    pub required: bool,
    /// The CLI waits for more after its `end` fact, until its input is closed. What was written before that is
    /// still read and done, and each such turn gives another `end` fact: the last one counts.
    pub close_input: bool,
}

/// How a value reaches an agent that runs already. Whoever is started later has it in its environment anyway.
#[expect(clippy::struct_excessive_bools, reason = "each way is there or not, whatever the others are")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Values {
    /// A running Node program, and every later one, finds it in `process.env`.
    pub node: bool,
    /// Every later `bash -c` finds it.
    pub bash: bool,
    /// It is ended and started again with the value in its environment, if its conversation can be resumed.
    pub relaunch: bool,
    /// Who reads lines gets a line about it; without this only what is no value is written to its input.
    pub reply: bool,
}

impl Default for Values {
    fn default() -> Self {
        Values { node: true, bash: true, relaunch: false, reply: false }
    }
}

/// What an account is, for those who have several.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Account {
    /// The variable that names the directory in which the CLI keeps who is signed in.
    pub directory: Option<String>,
    /// The variables that hold a key, in the order in which the CLI looks.
    pub keys: Vec<String>,
    /// Whether a CLI that tries again by itself is held all the same when its account hits a limit.
    #[serde(default)]
    pub park_retrying: bool,
}

/// What proves that somebody is signed in: each of these does. A table that names nothing cannot tell.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Login {
    /// The variables that hold a key or name an account elsewhere.
    pub variables: Vec<String>,
    /// JSON files below the directory of `private`, or below the user's home without one; each with the keys at its top
    /// of which one has to hold something. Without keys, any content will do.
    pub files: BTreeMap<String, Vec<String>>,
}

impl Login {
    fn is_default(&self) -> bool {
        *self == Login::default()
    }
}

/// A configuration directory of its own for each session. Names are paths below it, with the same names in the user's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Private {
    /// Whether each session gets one.
    pub used: bool,
    /// The variable that names the directory.
    pub variable: String,
    /// Where it is if the variable is not set, below the user's home.
    pub default: String,
    /// What is the user's own: files and directories that are linked.
    pub shared: Vec<String>,
    /// What begins as the user's own: files that are copied, and changed in private.
    pub copied: Vec<String>,
    /// Who is signed in: JSON files that are linked, and brought back when the CLI has put others in their place.
    pub login: Vec<String>,
    /// Locks that the CLI holds while it renews a login: linked even if they do not exist yet.
    pub locks: Vec<String>,
    /// What stands elsewhere below the user's home if the variable is not set.
    pub elsewhere: BTreeMap<String, String>,
    /// Further directories of a CLI that has several, by the variables that name them. Verifiers alone get these.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub further: BTreeMap<String, FurtherDirectory>,
}

/// One more directory in which a CLI keeps its own things.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FurtherDirectory {
    /// Where it is if its variable is not set, below the user's home.
    pub default: String,
    /// Files and directories that begin as the user's own.
    pub copied: Vec<String>,
}

/// What is said about any command.
const PLAIN: &str = "a plain command";

impl Agent {
    /// Any command, taken as it is: it prints text and reads lines.
    pub fn plain(command: &[String]) -> Agent {
        let name = command.first().map(String::as_str).unwrap_or_default();
        let mut agent = Agent::empty(name.rsplit('/').next().unwrap_or_default());
        agent.about = PLAIN.to_string();
        agent.command = command.iter().map(|argument| Argument::literal(argument)).collect();
        agent
    }

    /// Whether it is any command, taken as it is: nobody described it as an agent.
    pub fn is_plain(&self) -> bool {
        self.about == PLAIN
    }

    /// What a table says before its first line.
    pub(crate) fn empty(name: &str) -> Agent {
        Agent {
            name: name.to_string(),
            about: String::new(),
            tested: None,
            version: Vec::new(),
            install: None,
            command: Vec::new(),
            arguments: Arguments::default(),
            extra: Vec::new(),
            environment: BTreeMap::new(),
            terminal: Terminal::default(),
            output: Output::default(),
            input: Input::default(),
            guide: Guide::default(),
            permission: None,
            end: End::default(),
            account: Account::default(),
            login: Login::default(),
            private: None,
            model: None,
            max_turns: None,
            tools: Vec::new(),
            permission_mode: None,
            mcp_config: None,
            values: Values::default(),
            channel: Channel::default(),
            verify: Verify::default(),
            scope_signals: false,
        }
    }

    /// Whether an ended conversation can be taken up again.
    pub fn can_resume(&self) -> bool {
        !self.arguments.resume.is_empty()
    }

    /// Whether a conversation can be taken up at an earlier place.
    pub fn can_rewind(&self) -> bool {
        !self.arguments.rewind.is_empty()
    }

    /// Whether a new conversation may be given an id, a UUID. Otherwise its id is learnt from the stream.
    pub fn takes_conversation_id(&self) -> bool {
        self.names("new_conversation")
    }

    /// Whether the guide has to be in a file, whose path the launch names.
    pub fn needs_guide_file(&self) -> bool {
        self.names("guide_file")
    }

    /// Whether it reads what it is told from a terminal. One that takes messages reads a pipe even on a terminal: its
    /// messages are lines that a terminal would cut, and some CLIs take none from a terminal.
    pub fn reads_terminal(&self) -> bool {
        self.terminal == Terminal::Pty && self.input.way != InputWay::Message
    }

    /// Whether its stream proves what has become part of the conversation: a message by its id, or the prompt in its
    /// arguments.
    pub(crate) fn proves_inputs(&self) -> bool {
        let Output::Table(toml) = &self.output else { return false };
        let Ok(table) = Table::parse(toml) else { return false };
        match self.input.way {
            InputWay::Line => false,
            InputWay::Message => {
                let has_id = self.input.message.as_ref().is_some_and(|message| message.names("id"));
                has_id && !self.names("prompt") && table.proves_input()
            }
            InputWay::Relaunch => table.proves_prompt(),
        }
    }

    /// Whether its table says how it is given a `model`, `max_turns`, `tools` or `permission_mode`.
    pub fn takes(&self, what: &str) -> bool {
        self.names(what)
    }

    /// The version in what the `version` command printed: its first word that begins with a digit.
    pub fn version_in(printed: &str) -> Option<&str> {
        let words = printed.split_whitespace().map(|word| word.strip_prefix('v').unwrap_or(word));
        words
            .map(|word| word.trim_end_matches([',', ';']))
            .find(|word| word.starts_with(|c: char| c.is_ascii_digit()))
    }

    /// Whether some argument or variable has a place for this value.
    pub(crate) fn names(&self, value: &str) -> bool {
        let groups = self.arguments.in_order();
        let arguments = self.command.iter().chain(groups.into_iter().flatten());
        arguments.chain(self.environment.values()).any(|argument| argument.names(value))
    }
}

impl Private {
    /// Every path that is named.
    pub(crate) fn names(&self) -> impl Iterator<Item = &String> {
        let lists = [&self.shared, &self.copied, &self.login, &self.locks];
        let lists = lists.into_iter().chain(self.further.values().map(|it| &it.copied));
        lists.flatten().chain(self.elsewhere.iter().flat_map(|(name, place)| [name, place]))
    }

    /// With nothing in it.
    pub(crate) fn empty(variable: &str) -> Private {
        Private {
            used: false,
            variable: variable.to_string(),
            default: String::new(),
            shared: Vec::new(),
            copied: Vec::new(),
            login: Vec::new(),
            locks: Vec::new(),
            elsewhere: BTreeMap::new(),
            further: BTreeMap::new(),
        }
    }
}

impl Arguments {
    /// All groups.
    fn in_order(&self) -> [&Vec<Argument>; 10] {
        [
            &self.permission_mode,
            &self.fresh,
            &self.resume,
            &self.rewind,
            &self.model,
            &self.max_turns,
            &self.tools,
            &self.mcp_config,
            &self.guide,
            &self.prompt,
        ]
    }
}
