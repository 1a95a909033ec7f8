//! Permission rules: what a person allows an agent's CLI for the rest of a session, and whether a call falls under it.
//!
//! The matcher is pure and says no in case of doubt: a call that no rule covers is asked about. A narrow rule looks at
//! every field of a tool's input. Only fields that the agent's table calls free may differ.
//!
//! | rule | covers a call of the same tool if |
//! |---|---|
//! | call | all fields are equal, free ones aside |
//! | prefix | the command is the prefix, or the prefix, a space and plain arguments without shell syntax |
//! | file | the real path is equal |
//! | directory | the real path is below the directory, and no name below it is hidden |
//! | tool | always |

use alloc::{
    borrow::ToOwned,
    collections::BTreeMap,
    format,
    string::{String, ToString},
    vec::Vec,
};

use ostler_agents::agent::ToolShape;
use ostler_protocol::{fact::PermissionRequest, mask::is_masked};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{answer::NotAnAnswer, id::RequestId};

/// The key of an item under which the driver puts the real path of the file that a tool would be used on.
pub const REAL_PATH: &str = "real_path";

/// The option that allows one call.
pub(crate) const ALLOW: &str = "allow";

/// The option that denies it.
pub(crate) const DENY: &str = "deny";

/// The longest input that a rule repeats, in bytes of JSON: the person has to be able to read it.
const INPUT_BYTES_MAX: usize = 4096;

/// Characters that mean themselves in a shell, beside letters and digits.
const PLAIN: &str = "-_./,:=@%+";

/// Programs that run the command in their arguments: a prefix of them would allow any command.
const RUNNERS: [&str; 33] = [
    "bash", "builtin", "busybox", "chroot", "command", "dash", "doas", "env", "eval", "exec", "find", "fish",
    "flock", "ionice", "ksh", "nice", "nohup", "nsenter", "parallel", "script", "setsid", "sh", "source",
    "ssh", "stdbuf", "strace", "su", "sudo", "time", "timeout", "watch", "xargs", "zsh",
];

/// What a person allows: calls of one tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PermissionRule {
    /// The tool, as the CLI names it.
    pub tool: String,
    /// Which of its calls.
    #[serde(flatten)]
    pub scope: RuleScope,
}

/// Which calls of a tool a rule covers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "scope", rename_all = "snake_case")]
pub enum RuleScope {
    /// The same call again.
    Call {
        /// Its input without the free fields.
        input: Value,
    },
    /// Commands that begin with these words.
    Prefix {
        /// The words.
        prefix: String,
    },
    /// One file.
    File {
        /// Its real path.
        path: String,
    },
    /// The files below a directory, hidden ones excepted.
    Directory {
        /// Its real path.
        directory: String,
    },
    /// Every call.
    Tool,
}

/// The rules of one session.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SessionPermissions {
    /// How many rules it ever had.
    #[serde(default)]
    pub count: u64,
    /// Those that are in force, by number.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub allowed: BTreeMap<u64, AllowedRule>,
}

/// A rule that is in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AllowedRule {
    /// The rule.
    pub rule: PermissionRule,
    /// The request on which a person chose it.
    pub request: RequestId,
    /// When.
    pub at_ms: u64,
}

/// What can happen to the rules of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind")]
pub enum PermissionEvent {
    /// A permission request offers these rules, in this order.
    #[serde(rename = "permission.offered")]
    Offered {
        /// The request.
        request: RequestId,
        /// The narrowest first.
        rules: Vec<PermissionRule>,
    },
    /// A person allowed one for the rest of the session.
    #[serde(rename = "permission.allowed")]
    Allowed {
        /// Its number in the session, counted from 1.
        number: u64,
        /// The request on which it was chosen.
        request: RequestId,
        /// The rule.
        rule: PermissionRule,
    },
    /// A person took one back.
    #[serde(rename = "permission.revoked")]
    Revoked {
        /// Its number.
        number: u64,
    },
}

/// A call that an agent's CLI asks about.
#[derive(Debug, Clone, Copy)]
pub struct ToolCall<'a> {
    /// What the CLI says.
    pub request: &'a PermissionRequest,
    /// What the agent's table knows of the tool.
    pub shape: Option<&'a ToolShape>,
    /// The real path of the file that it is about, without links, if that could be found out.
    pub real_path: Option<&'a str>,
}

impl SessionPermissions {
    /// Whether there never was a rule.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// The first rule in force that covers a call.
    pub fn covering(&self, call: ToolCall<'_>) -> Option<&PermissionRule> {
        self.allowed.values().map(|allowed| &allowed.rule).find(|rule| rule.covers(call))
    }
}

impl PermissionRule {
    /// Whether a call falls under the rule.
    pub fn covers(&self, call: ToolCall<'_>) -> bool {
        if self.tool != call.request.tool {
            return false;
        }
        match &self.scope {
            RuleScope::Tool => true,
            _ if call.is_masked() => false,
            RuleScope::Call { input } => call.bound_input() == *input,
            RuleScope::Prefix { prefix } => {
                call.command().is_some_and(|command| has_plain_prefix(command, prefix))
            }
            RuleScope::File { path } => call.path() == Some(path),
            RuleScope::Directory { directory } => call.path().is_some_and(|path| is_below(path, directory)),
        }
    }

    /// The word that chooses it on a card.
    pub fn option(&self) -> &'static str {
        match self.scope {
            RuleScope::Call { .. } => "allow this call",
            RuleScope::Prefix { .. } => "allow this prefix",
            RuleScope::File { .. } => "allow this file",
            RuleScope::Directory { .. } => "allow this directory",
            RuleScope::Tool => "allow this tool",
        }
    }

    /// What the rule is about in one text: a command, the beginning of one, a path, or the tool.
    pub fn text(&self) -> String {
        match &self.scope {
            RuleScope::Call { input } => match only_text(input) {
                Some(text) => text.to_owned(),
                None => input.to_string(),
            },
            RuleScope::Prefix { prefix } => format!("{prefix} …"),
            RuleScope::File { path } => path.clone(),
            RuleScope::Directory { directory } => directory.clone(),
            RuleScope::Tool => self.tool.clone(),
        }
    }
}

impl<'a> ToolCall<'a> {
    /// The rules that are offered for it: the narrowest first, the whole tool last.
    pub fn offers(self) -> Vec<PermissionRule> {
        let mut scopes = Vec::new();
        if let Some(path) = self.path().filter(|_| !self.is_masked()) {
            scopes.push(RuleScope::File { path: path.to_owned() });
            let directory = path.rsplit_once('/').map(|(directory, _)| directory);
            if let Some(directory) = directory.filter(|directory| is_below(path, directory)) {
                scopes.push(RuleScope::Directory { directory: directory.to_owned() });
            }
        } else if !self.is_masked() && self.shape.is_none_or(|shape| shape.path.is_none()) {
            let input = self.bound_input();
            if input.to_string().len() <= INPUT_BYTES_MAX {
                scopes.push(RuleScope::Call { input });
            }
            if let Some(prefix) = self.command().and_then(prefix_of) {
                scopes.push(RuleScope::Prefix { prefix });
            }
        }
        scopes.push(RuleScope::Tool);
        let rule = |scope| PermissionRule { tool: self.request.tool.clone(), scope };
        scopes.into_iter().map(rule).collect()
    }

    /// The input without the free fields.
    fn bound_input(self) -> Value {
        let Value::Object(fields) = &self.request.input else { return self.request.input.clone() };
        let is_free = |name: &str| self.shape.is_some_and(|shape| shape.free.iter().any(|free| free == name));
        let bound = fields.iter().filter(|(name, _)| !is_free(name));
        Value::Object(bound.map(|(name, value)| (name.clone(), value.clone())).collect::<Map<_, _>>())
    }

    /// The text of one field, if the input has no other field that is not free.
    fn only(self, name: Option<&String>) -> Option<&'a str> {
        let (name, input) = (name?, self.request.input.as_object()?);
        let bound = self.bound_input();
        let is_only = bound.as_object().is_some_and(|bound| bound.len() == 1 && bound.contains_key(name));
        input.get(name).filter(|_| is_only)?.as_str()
    }

    fn command(self) -> Option<&'a str> {
        self.only(self.shape?.command.as_ref())
    }

    fn path(self) -> Option<&'a str> {
        self.only(self.shape?.path.as_ref())?;
        self.real_path.filter(|path| is_normal(path))
    }

    /// Two secrets of one length look alike where they are masked, so a narrow rule is never about one.
    fn is_masked(self) -> bool {
        is_masked(&self.request.input.to_string())
    }
}

/// What can be chosen on a card that offers these rules. The first three places keep what they were before there were
/// several rules, or allow less; wider rules come after them.
pub(crate) fn options(rules: &[PermissionRule]) -> Vec<String> {
    let mut options: Vec<String> = rules.iter().map(|rule| rule.option().to_owned()).collect();
    options.insert(0, ALLOW.to_owned());
    options.insert(options.len().min(2), DENY.to_owned());
    options
}

/// The only field of an input, if that is a text.
fn only_text(input: &Value) -> Option<&str> {
    let fields = input.as_object().filter(|fields| fields.len() == 1)?;
    fields.values().next()?.as_str()
}

/// The first two words of a plain command, if the second one names what the first one does.
fn prefix_of(command: &str) -> Option<String> {
    let mut words = command.split(' ');
    let (program, action) = (words.next()?, words.next()?);
    let is_word = |word: &str| {
        let is_plain =
            word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | ':'));
        is_plain && !word.is_empty() && !word.starts_with('-')
    };
    let name = program.rsplit('/').next().unwrap_or_default();
    let can_be = is_word(program) && is_word(action) && !RUNNERS.contains(&name);
    let prefix = format!("{program} {action}");
    (can_be && has_plain_prefix(command, &prefix)).then_some(prefix)
}

/// Whether a command is a prefix with nothing but plain arguments after it.
fn has_plain_prefix(command: &str, prefix: &str) -> bool {
    let Some(rest) = command.strip_prefix(prefix) else { return false };
    (rest.is_empty() || rest.starts_with(' ')) && are_plain(rest)
}

/// Whether a shell makes nothing of these arguments but words: letters, digits, a few signs and spaces, also in quotes.
fn are_plain(arguments: &str) -> bool {
    let mut quote = None;
    for c in arguments.chars() {
        match c {
            '\'' | '"' => match quote {
                None => quote = Some(c),
                Some(open) if open == c => quote = None,
                Some(_) => return false,
            },
            ' ' => {}
            _ if c.is_alphanumeric() || PLAIN.contains(c) => {}
            _ => return false,
        }
    }
    quote.is_none()
}

/// Whether a path is absolute and says where it leads: no empty name, no `.`, no `..`.
fn is_normal(path: &str) -> bool {
    path.strip_prefix('/').is_some_and(|names| names.split('/').all(|name| !matches!(name, "" | "." | "..")))
}

/// Whether a file is below a directory, and nothing on the way to it is hidden. The root is too wide for a rule.
fn is_below(path: &str, directory: &str) -> bool {
    let names = path.strip_prefix(directory).and_then(|rest| rest.strip_prefix('/'));
    let is_shown = |names: &str| names.split('/').all(|name| !name.is_empty() && !name.starts_with('.'));
    !directory.is_empty() && names.is_some_and(is_shown)
}

/// Words that agree, where a yes or no is asked for: whoever begins with one does not want to deny.
const AGREEING: [&str; 9] = ["y", "yes", "yeah", "ok", "okay", "sure", "예", "네", "응"];

/// The reason in words that are no option: "deny: use the other database", "use the other database", "nope". A number, a
/// word close to an option, and words that begin with an option or agree count only if somebody insists.
pub(crate) fn why_denied<'a>(
    sentence: &'a str,
    options: &[String],
    insist: bool,
    error: &NotAnAnswer,
) -> Option<&'a str> {
    let (head, rest) = sentence.split_once([':', ' ', ',']).unwrap_or((sentence, ""));
    let rest = rest.trim_start_matches([':', ' ', ',']);
    if head.eq_ignore_ascii_case(DENY) && !rest.is_empty() {
        return Some(rest);
    }
    let begins = |word: &str| word.eq_ignore_ascii_case(head);
    let first_words = options.iter().filter_map(|option| option.split(' ').next());
    let is_other = !first_words.chain(AGREEING).any(begins);
    let is_near = matches!(error, NotAnAnswer::NotAnOption { nearest: Some(_), .. });
    let is_word = sentence.contains(char::is_alphabetic) && !is_near;
    let is_meant = insist || (is_other && (sentence.contains(' ') || is_word));
    (is_meant && !sentence.is_empty()).then_some(sentence)
}

#[cfg(test)]
mod tests;
