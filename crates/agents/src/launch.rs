//! Plans one launch of an agent: the command line, the environment and the first words on its input.
//!
//! A plan is a list of arguments and never goes through a shell. The caller runs it; nothing is run here.

use alloc::{
    collections::BTreeMap,
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::fmt;

use serde_json::Value;

use crate::agent::{Agent, Argument, Guide, InputWay, Output, Terminal, Verify};

/// The longest argument that Linux takes, without its final zero byte.
const ARGUMENT_BYTES_MAX: usize = 128 * 1024 - 1;

/// What one launch brings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LaunchRequest<'a> {
    /// What is to be done, or the answer with which a conversation goes on.
    pub prompt: Option<&'a str>,
    /// The id of the prompt where it is a message, a UUID.
    pub prompt_id: &'a str,
    /// A new conversation or an old one.
    pub conversation: Conversation<'a>,
    /// The text that teaches the agent to ask.
    pub guide: Option<&'a str>,
    /// A file that holds that text, for agents that [need one](Agent::needs_guide_file).
    pub guide_file: Option<&'a str>,
    /// The model.
    pub model: Option<&'a str>,
    /// The limit on turns.
    pub max_turns: Option<u32>,
    /// The tools that need no permission.
    pub tools: &'a [String],
    /// MCP servers, in the CLI's own form.
    pub mcp_config: Option<&'a str>,
    /// Where the tools with which it asks come from; nothing, if it is not to have them.
    pub channel: Option<ChannelPlace<'a>>,
    /// Whether it looks at the work of another one.
    pub verifies: Verifies,
}

/// Whether a launch is one of a verifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Verifies {
    /// It works.
    #[default]
    No,
    /// It verifies, and nothing but its CLI keeps it from writing.
    Free,
    /// It verifies, and the kernel keeps it from writing elsewhere.
    Confined,
}

/// Where the tools with which an agent asks come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChannelPlace<'a> {
    /// The program that is the MCP server.
    pub ostler: &'a str,
    /// The socket at which it asks.
    pub channel: &'a str,
}

/// Which conversation a launch belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conversation<'a> {
    /// A new one, with an id for agents that [take one](Agent::takes_conversation_id).
    Fresh {
        /// A UUID.
        id: Option<&'a str>,
    },
    /// An old one, by the id that the agent's stream told.
    Resume {
        /// The CLI's own id.
        id: &'a str,
    },
    /// An old one, as it was at an earlier place. What came after it is not part of what the agent knows.
    Rewind {
        /// The CLI's own id.
        id: &'a str,
        /// The CLI's own name of the place.
        anchor: &'a str,
    },
}

impl Default for Conversation<'_> {
    fn default() -> Self {
        Conversation::Fresh { id: None }
    }
}

/// How to launch an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchPlan {
    /// Program and arguments.
    pub command: Vec<String>,
    /// Variables to set, on top of those that the agent has anyway.
    pub environment: BTreeMap<String, String>,
    /// What it is connected to.
    pub terminal: Terminal,
    /// What it reads from.
    pub input: InputPlan,
    /// What it prints.
    pub output: Output,
}

/// What an agent reads from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InputPlan {
    /// From nowhere: an open pipe would be waited for.
    Empty,
    /// From Ostler, beginning with this text.
    Open {
        /// The bytes. Empty if there is nothing to say yet.
        first: String,
        /// The words in them.
        words: String,
    },
}

/// Why a launch cannot be planned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanError {
    /// The CLI has no way to be given this.
    Unsupported {
        /// The agent.
        agent: String,
        /// The name of the value.
        what: &'static str,
    },
    /// The command cannot do without this value.
    Missing {
        /// The agent.
        agent: String,
        /// The name of the value.
        what: String,
    },
    /// The CLI cannot take up an old conversation.
    CannotResume {
        /// The agent.
        agent: String,
    },
    /// An argument is longer than the system takes.
    TooLong {
        /// The agent.
        agent: String,
        /// Its length.
        bytes: usize,
    },
    /// An argument holds a zero byte, which no argument can.
    ZeroByte {
        /// The agent.
        agent: String,
    },
}

impl Agent {
    /// Plans a launch.
    pub fn launch(&self, request: &LaunchRequest<'_>) -> Result<LaunchPlan, PlanError> {
        let values = self.values(request)?;
        let value = |name: &str| values.get(name).cloned();
        let mut command = Vec::new();
        for argument in &self.command {
            command.extend(argument.fill_arguments(value).map_err(|name| self.missing(name))?);
        }
        let groups = &self.arguments;
        let conversation = match request.conversation {
            Conversation::Fresh { .. } => &groups.fresh,
            Conversation::Resume { .. } => &groups.resume,
            Conversation::Rewind { .. } => &groups.rewind,
        };
        let optional = [
            &groups.permission_mode,
            conversation,
            &groups.model,
            &groups.max_turns,
            &groups.tools,
            &groups.mcp_config,
        ];
        let has_channel = request.channel.is_some() && !self.channel.off;
        let channel = has_channel.then_some(&self.channel);
        let optional = optional.into_iter().chain(channel.map(|channel| &channel.arguments));
        for group in optional.chain([&groups.guide]) {
            command.extend(filled(group, value));
        }
        command.extend(self.verify_arguments(request.verifies).cloned());
        command.extend(self.extra.iter().cloned());
        command.extend(filled(&groups.prompt, value));

        let more = channel.into_iter().flat_map(|channel| &channel.environment);
        let environment = self
            .environment
            .iter()
            .chain(more)
            .filter_map(|(name, template)| Some((name.clone(), template.fill(value).ok()?)))
            .collect::<BTreeMap<_, _>>();
        self.check_size(command.iter().chain(environment.values()))?;

        let spoken = values.get("prompt").and_then(Value::as_str).filter(|_| !self.names("prompt"));
        let input = match self.input.way {
            InputWay::Relaunch => InputPlan::Empty,
            InputWay::Line | InputWay::Message => {
                let first = spoken.and_then(|text| self.message(text, request.prompt_id)).unwrap_or_default();
                InputPlan::Open { first, words: spoken.unwrap_or_default().to_string() }
            }
        };
        Ok(LaunchPlan { command, environment, terminal: self.terminal, input, output: self.output.clone() })
    }

    fn verify_arguments(&self, verifies: Verifies) -> impl Iterator<Item = &String> {
        let Verify { arguments, confined, .. } = &self.verify;
        let (is_verifier, is_confined) = (verifies != Verifies::No, verifies == Verifies::Confined);
        let always = arguments.iter().filter(move |_| is_verifier);
        always.chain(confined.iter().filter(move |_| is_confined))
    }

    /// Every value that is given, by its name in a template.
    fn values(&self, request: &LaunchRequest<'_>) -> Result<BTreeMap<&'static str, Value>, PlanError> {
        let mut values = BTreeMap::new();
        match request.conversation {
            Conversation::Fresh { id: Some(id) } => {
                values.insert("new_conversation", Value::from(id));
            }
            Conversation::Fresh { id: None } => {}
            Conversation::Resume { .. } if !self.can_resume() => {
                return Err(PlanError::CannotResume { agent: self.name.clone() });
            }
            Conversation::Resume { id } => {
                values.insert("conversation", Value::from(id));
            }
            Conversation::Rewind { .. } if !self.can_rewind() => {
                return Err(PlanError::CannotResume { agent: self.name.clone() });
            }
            Conversation::Rewind { id, anchor } => {
                values.insert("conversation", Value::from(id));
                values.insert("anchor", Value::from(anchor));
            }
        }
        let tools = if request.tools.is_empty() { &self.tools } else { request.tools };
        let options = [
            ("model", request.model.or(self.model.as_deref()).map(Value::from)),
            // Flags are text, so a number is written as one.
            ("max_turns", request.max_turns.or(self.max_turns).map(|turns| Value::from(turns.to_string()))),
            ("tools", (!tools.is_empty()).then(|| Value::from(tools.join(",")))),
            ("permission_mode", self.permission_mode.as_deref().map(Value::from)),
            ("mcp_config", request.mcp_config.or(self.mcp_config.as_deref()).map(Value::from)),
        ];
        for (what, value) in options {
            let Some(value) = value else { continue };
            if !self.names(what) {
                return Err(PlanError::Unsupported { agent: self.name.clone(), what });
            }
            values.insert(what, value);
        }
        if self.guide == Guide::Argument {
            if request.guide.is_some() && request.guide_file.is_none() && self.needs_guide_file() {
                return Err(self.missing("guide_file"));
            }
            values.extend(request.guide.map(|text| ("guide", Value::from(text))));
            values.extend(request.guide_file.map(|path| ("guide_file", Value::from(path))));
        }
        if let Some(ChannelPlace { ostler, channel }) = request.channel {
            values.extend([("ostler", Value::from(ostler)), ("channel", Value::from(channel))]);
        }
        let Some(prompt) = request.prompt else { return Ok(values) };
        let prompt = match (self.guide, request.guide, request.conversation) {
            (Guide::Prompt, Some(guide), Conversation::Fresh { .. }) => {
                format!("{}\n\n{prompt}", guide.trim_end())
            }
            _ => prompt.to_string(),
        };
        if self.input.way == InputWay::Relaunch && !self.names("prompt") {
            return Err(PlanError::Unsupported { agent: self.name.clone(), what: "prompt" });
        }
        values.insert("prompt", Value::from(prompt));
        Ok(values)
    }

    fn missing(&self, what: &str) -> PlanError {
        PlanError::Missing { agent: self.name.clone(), what: what.to_string() }
    }

    /// A launch that the system would refuse is refused here, with words.
    fn check_size<'a>(&self, mut texts: impl Iterator<Item = &'a String>) -> Result<(), PlanError> {
        texts.try_for_each(|text| {
            if text.len() > ARGUMENT_BYTES_MAX {
                return Err(PlanError::TooLong { agent: self.name.clone(), bytes: text.len() });
            }
            if text.contains('\0') { Err(PlanError::ZeroByte { agent: self.name.clone() }) } else { Ok(()) }
        })
    }
}

/// A group with its values, or nothing if one is not given.
fn filled(group: &[Argument], value: impl Fn(&str) -> Option<Value> + Copy) -> Vec<String> {
    let filled = group.iter().map(|argument| argument.fill_arguments(value)).collect::<Result<Vec<_>, _>>();
    filled.map(|arguments| arguments.concat()).unwrap_or_default()
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlanError::Unsupported { agent, what } => {
                write!(f, "agent `{agent}` cannot be given `{what}`: its table has no argument for it")
            }
            PlanError::Missing { agent, what } => {
                write!(f, "agent `{agent}` cannot be started without `{what}`: its table names it")
            }
            PlanError::CannotResume { agent } => {
                write!(f, "agent `{agent}` cannot go on with an old conversation: its table has no `resume`")
            }
            PlanError::TooLong { agent, bytes } => write!(
                f,
                "an argument for agent `{agent}` has {bytes} bytes, the system takes {ARGUMENT_BYTES_MAX}: put the \
                 text into a file and name it in the prompt"
            ),
            PlanError::ZeroByte { agent } => {
                write!(f, "an argument for agent `{agent}` holds a zero byte, which no program can be given")
            }
        }
    }
}

impl core::error::Error for PlanError {}
