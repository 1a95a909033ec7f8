//! `[[notify]]`: where somebody is told what needs them. Only the user's own file can say so: a repository must not be
//! able to send anything anywhere.
//!
//! Addresses and tokens may be secrets. No message here repeats one, and none can be printed.

use std::{collections::BTreeSet, fmt, path::PathBuf, time::Duration};

use ostler_agents::nearest;
use ostler_vault::{Name, Reference};
use serde::Deserialize;
use toml::Spanned;

use super::{ConfigError, Source, parse_duration};
use crate::notify::{Kind, Url};

/// How long something may take until somebody is told, if nothing is said.
const AFTER: Duration = Duration::from_secs(30);

/// The longest that can be said.
const AFTER_MAX: Duration = Duration::from_hours(24);

/// How many messages a channel gets in a minute, if nothing is said.
const PER_MINUTE: u32 = 6;

const PER_MINUTE_MAX: u32 = 60;

/// The most channels.
const CHANNELS_MAX: usize = 32;

/// The longest name of a channel: it is also that of a file.
const NAME_BYTES_MAX: usize = 32;

/// Somebody who is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotifyChannel {
    /// Its name.
    pub name: String,
    /// How it is reached.
    pub way: Way,
    /// What it is told of.
    pub kinds: BTreeSet<Kind>,
    /// How long something may take until it is told.
    pub after: Duration,
    /// How many messages it gets in a minute.
    pub per_minute: u32,
    /// Whether it is told what agents say.
    pub text: bool,
}

impl NotifyChannel {
    /// What names it where a person agrees to what it runs.
    pub(crate) fn key(&self) -> String {
        format!("notify.{}", self.name)
    }

    /// What it has the server run, if anything: a program, or a command that prints an address or a token.
    pub(crate) fn command(&self) -> Option<String> {
        let hidden = |name: &str, value: &Hidden| match value {
            Hidden::Reference(Reference::Cmd(command)) => Some(format!("{name} = cmd:{command}")),
            Hidden::Reference(_) | Hidden::Plain(_) | Hidden::Vault { .. } => None,
        };
        let parts: Vec<String> = match &self.way {
            Way::Command { arguments } => vec![format!("{arguments:?}")],
            Way::Slack { target } => hidden("url", &target.url).into_iter().collect(),
            Way::Webhook { target, secret } => {
                [hidden("url", &target.url), hidden("secret", secret)].into_iter().flatten().collect()
            }
            Way::Ntfy { target, token } => {
                let token = token.as_ref().and_then(|token| hidden("token", token));
                [hidden("url", &target.url), token].into_iter().flatten().collect()
            }
        };
        (!parts.is_empty()).then(|| parts.join("\n"))
    }
}

/// How somebody is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Way {
    /// An incoming webhook of Slack.
    Slack {
        /// Where.
        target: Target,
    },
    /// A program that takes signed requests.
    Webhook {
        /// Where.
        target: Target,
        /// What they are signed with.
        secret: Hidden,
    },
    /// A topic of ntfy.
    Ntfy {
        /// Where.
        target: Target,
        /// The token that may write there.
        token: Option<Hidden>,
    },
    /// A program with its arguments.
    Command {
        /// Both.
        arguments: Vec<String>,
    },
}

/// An address, and what is allowed on the way to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The address.
    pub url: Hidden,
    /// Whether it may be on this machine or in its network, and without encryption.
    pub allow_private: bool,
    /// The authority that is trusted in place of the public ones.
    pub ca: Option<PathBuf>,
}

/// Something that may be a secret, or where to look it up.
#[derive(Clone, PartialEq, Eq)]
pub enum Hidden {
    /// It stands in the configuration.
    Plain(String),
    /// Somebody else keeps it.
    Reference(Reference),
    /// The vault keeps it for a project.
    Vault {
        /// The project, by id or name.
        project: String,
        /// The name of the secret.
        name: Name,
    },
}

/// The table as it stands in the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NotifyTable {
    name: Option<Spanned<String>>,
    #[serde(rename = "type")]
    kind: Spanned<String>,
    url: Option<Spanned<String>>,
    token: Option<Spanned<String>>,
    secret: Option<Spanned<String>>,
    command: Option<Spanned<Vec<String>>>,
    kinds: Option<Vec<Spanned<String>>>,
    after: Option<Spanned<String>>,
    per_minute: Option<Spanned<u32>>,
    text: Option<bool>,
    allow_private: Option<Spanned<bool>>,
    ca: Option<Spanned<String>>,
}

/// What `type` can be.
const TYPES: [&str; 4] = ["slack", "webhook", "ntfy", "command"];

/// All tables of a file, in order.
pub(super) fn read(
    source: &Source,
    tables: Vec<Spanned<NotifyTable>>,
) -> Result<Vec<NotifyChannel>, ConfigError> {
    let mut channels: Vec<NotifyChannel> = Vec::new();
    for table in tables {
        let span = table.span();
        let channel = table.into_inner().read(source)?;
        let wrong = |message| Err(source.wrong(span.clone(), message, None));
        if channels.iter().any(|it| it.name == channel.name) {
            let name = channel.name;
            return wrong(format!("two of [[notify]] are called `{name}`; give each a `name` of its own"));
        }
        if channels.len() == CHANNELS_MAX {
            return wrong(format!("there can be {CHANNELS_MAX} of [[notify]]"));
        }
        channels.push(channel);
    }
    Ok(channels)
}

impl NotifyTable {
    fn read(self, source: &Source) -> Result<NotifyChannel, ConfigError> {
        let after = self.after.as_ref().map_or(Ok(AFTER), |after| {
            let wrong = |message| source.wrong(after.span(), message, None);
            let read = parse_duration(after.get_ref()).map_err(|error| wrong(error.to_string()))?;
            if read > AFTER_MAX { Err(wrong("`after` is a day at most".to_owned())) } else { Ok(read) }
        })?;
        let per_minute = self.per_minute.as_ref().map_or(Ok(PER_MINUTE), |per_minute| {
            let is_right = (1..=PER_MINUTE_MAX).contains(per_minute.get_ref());
            let message = || format!("`per_minute` is a number from 1 to {PER_MINUTE_MAX}");
            if is_right {
                Ok(*per_minute.get_ref())
            } else {
                Err(source.wrong(per_minute.span(), message(), None))
            }
        })?;
        Ok(NotifyChannel {
            name: self.name(source)?,
            kinds: self.kinds(source)?,
            after,
            per_minute,
            text: self.text.unwrap_or(true),
            way: self.way(source)?,
        })
    }

    fn name(&self, source: &Source) -> Result<String, ConfigError> {
        let Some(name) = &self.name else { return Ok(self.kind.get_ref().clone()) };
        let text = name.get_ref();
        let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte);
        if !text.is_empty() && text.len() <= NAME_BYTES_MAX && text.bytes().all(is_plain) {
            return Ok(text.clone());
        }
        let message =
            format!("`name` is made of small letters, digits, `-` and `_`, {NAME_BYTES_MAX} of them at most");
        Err(source.wrong(name.span(), message, None))
    }

    fn kinds(&self, source: &Source) -> Result<BTreeSet<Kind>, ConfigError> {
        let Some(kinds) = &self.kinds else { return Ok(Kind::usual()) };
        let read = |word: &Spanned<String>| {
            Kind::parse(word.get_ref()).ok_or_else(|| {
                let known = Kind::ALL.map(Kind::as_str);
                let message =
                    format!("unknown kind `{}`, expected one of `{}`", word.get_ref(), known.join("`, `"));
                source.wrong(word.span(), message, nearest(word.get_ref(), known))
            })
        };
        kinds.iter().map(read).collect()
    }

    fn way(self, source: &Source) -> Result<Way, ConfigError> {
        let kind = self.kind.get_ref().clone();
        let span = self.kind.span();
        let wrong = |message: String| source.wrong(span.clone(), message, None);
        let used: &[&str] = match kind.as_str() {
            "slack" => &["url", "allow_private", "ca"],
            "webhook" => &["url", "allow_private", "ca", "secret"],
            "ntfy" => &["url", "allow_private", "ca", "token"],
            "command" => &["command"],
            _ => {
                let message = format!("unknown type `{kind}`, expected one of `{}`", TYPES.join("`, `"));
                return Err(source.wrong(span, message, nearest(&kind, TYPES)));
            }
        };
        self.sees(source, used)?;
        if kind == "command" {
            let message = || wrong("a command wants `command = [\"program\", \"argument\"]`".to_owned());
            let arguments = self.command.ok_or_else(message)?.into_inner();
            let is_program = arguments.first().is_some_and(|program| !program.is_empty());
            let has_zero = arguments.iter().any(|argument| argument.contains('\0'));
            return if is_program && !has_zero { Ok(Way::Command { arguments }) } else { Err(message()) };
        }
        let target = target(source, &self, &wrong)?;
        Ok(match kind.as_str() {
            "slack" => Way::Slack { target },
            "webhook" => {
                let missing = || wrong("a webhook wants a `secret` that it is signed with".to_owned());
                let secret = self.secret.ok_or_else(missing)?;
                Way::Webhook { target, secret: hidden(source, &secret)? }
            }
            _ => Way::Ntfy { target, token: self.token.map(|it| hidden(source, &it)).transpose()? },
        })
    }

    /// Sees that nothing is said that this type has no use for.
    fn sees(&self, source: &Source, used: &[&str]) -> Result<(), ConfigError> {
        let span = |it: &Option<Spanned<String>>| it.as_ref().map(Spanned::span);
        let said = [
            ("url", span(&self.url)),
            ("token", span(&self.token)),
            ("secret", span(&self.secret)),
            ("command", self.command.as_ref().map(Spanned::span)),
            ("allow_private", self.allow_private.as_ref().map(Spanned::span)),
            ("ca", span(&self.ca)),
        ];
        let stray =
            said.into_iter().find_map(|(key, span)| Some((key, span?)).filter(|_| !used.contains(&key)));
        let Some((key, span)) = stray else { return Ok(()) };
        Err(source.wrong(span, format!("`{}` has no use for `{key}`", self.kind.get_ref()), None))
    }
}

fn target(
    source: &Source,
    table: &NotifyTable,
    wrong: &dyn Fn(String) -> ConfigError,
) -> Result<Target, ConfigError> {
    let kind = table.kind.get_ref();
    let url = table.url.as_ref().ok_or_else(|| wrong(format!("`{kind}` wants a `url`")))?;
    let allow_private = table.allow_private.as_ref().is_some_and(|it| *it.get_ref());
    let ca = table.ca.as_ref().map(|ca| {
        let path = PathBuf::from(ca.get_ref());
        if path.is_absolute() {
            Ok(path)
        } else {
            Err(source.wrong(ca.span(), "`ca` is not an absolute path".to_owned(), None))
        }
    });
    let hidden = hidden(source, url)?;
    if let Hidden::Plain(text) = &hidden {
        // What is wrong is said without the address.
        Url::parse(text, allow_private)
            .map_err(|error| source.wrong(url.span(), format!("`url`: {error}"), None))?;
    }
    Ok(Target { url: hidden, allow_private, ca: ca.transpose()? })
}

fn hidden(source: &Source, said: &Spanned<String>) -> Result<Hidden, ConfigError> {
    let text = said.get_ref();
    let wrong = |message: String| source.wrong(said.span(), message, None);
    match text.split_once(':') {
        Some(("env" | "file" | "cmd", _)) => {
            Reference::parse(text).map(Hidden::Reference).map_err(|error| wrong(error.to_string()))
        }
        Some(("vault", place)) => {
            let found = place.rsplit_once('/').filter(|(project, _)| !project.is_empty());
            let found = found.and_then(|(project, name)| Some((project, Name::new(name).ok()?)));
            let (project, name) =
                found.ok_or_else(|| wrong("behind vault: stands PROJECT/NAME of a secret".to_owned()))?;
            Ok(Hidden::Vault { project: project.to_owned(), name })
        }
        _ if text.is_empty() => Err(wrong("there is nothing in it".to_owned())),
        _ => Ok(Hidden::Plain(text.clone())),
    }
}

/// What may be a secret is not shown, and neither is the command that prints it.
impl fmt::Debug for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn load(toml: &str) -> Result<Vec<NotifyChannel>, String> {
        let user = Source { path: "config.toml".into(), text: toml.into() };
        Config::of(Some(&user), None, &[]).map(|it| it.notify).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_not_said_is_what_a_person_would_want() {
        let channels =
            load("[[notify]]\ntype = 'ntfy'\nurl = 'https://ntfy.sh/topic'\n").expect("it is right");
        let [channel] = channels.as_slice() else { panic!("one: {channels:?}") };
        assert_eq!((channel.name.as_str(), channel.after, channel.text), ("ntfy", AFTER, true));
        assert_eq!(channel.per_minute, PER_MINUTE);
        let kinds: Vec<&str> = channel.kinds.iter().map(|kind| kind.as_str()).collect();
        let usual = "question dependency permission error fault budget failed interrupted phase";
        assert_eq!(kinds.join(" "), usual);
        assert_eq!(load(""), Ok(Vec::new()));
    }

    #[test]
    fn a_mistake_is_named_without_the_secret() {
        let check = |toml: &str, expected: &str| {
            let said = load(&format!("[[notify]]\n{toml}")).expect_err(toml);
            assert_eq!(said, format!("config.toml:{expected}"), "{toml}");
            assert!(!said.contains("hush"), "{said}");
        };
        check(
            "type = 'slak'",
            "2: unknown type `slak`, expected one of `slack`, `webhook`, `ntfy`, `command`; did you mean `slack`?",
        );
        check("type = 'slack'", "2: `slack` wants a `url`");
        check(
            "type = 'slack'\nurl = 'http://hooks.example/hush'",
            "3: `url`: it does not begin with https://",
        );
        check(
            "type = 'slack'\nurl = 'https://me:hush@example.org/'",
            "3: `url`: it holds a name or a password",
        );
        check(
            "type = 'slack'\nurl = 'ftp://hush'\nallow_private = true",
            "3: `url`: it begins neither with https:// nor with http://",
        );
        check("type = 'slack'\nurl = 'https://a b/hush'", "3: `url`: it is no address");
        check("type = 'slack'\nurl = 'vault:hush'", "3: behind vault: stands PROJECT/NAME of a secret");
        check("type = 'slack'\nurl = 'file:hush'", "3: behind file: stands an absolute path");
        check(
            "type = 'webhook'\nurl = 'https://example.org/'",
            "2: a webhook wants a `secret` that it is signed with",
        );
        check(
            "type = 'slack'\nurl = 'https://example.org/'\ntoken = 'hush'",
            "4: `slack` has no use for `token`",
        );
        check("type = 'command'\ncommand = []", "2: a command wants `command = [\"program\", \"argument\"]`");
        check(
            "type = 'command'\ncommand = ['a']\nallow_private = true",
            "4: `command` has no use for `allow_private`",
        );
        check(
            "type = 'command'\ncommand = ['a']\nname = '../x'",
            "4: `name` is made of small letters, digits, `-` and `_`, 32 of them at most",
        );
        check(
            "type = 'command'\ncommand = ['a']\nkinds = ['quesion']",
            "4: unknown kind `quesion`, expected one of `question`, `dependency`, `permission`, `error`, `fault`, `budget`, `done`, `failed`, `interrupted`, `limit`, `phase`; did you mean `question`?",
        );
        check("type = 'command'\ncommand = ['a']\nafter = '2d'", "4: `after` is a day at most");
        check(
            "type = 'command'\ncommand = ['a']\nper_minute = 0",
            "4: `per_minute` is a number from 1 to 60",
        );
        check(
            "type = 'command'\ncommand = ['a']\n[[notify]]\ntype = 'command'\ncommand = ['b']",
            "4: two of [[notify]] are called `command`; give each a `name` of its own",
        );
    }

    #[test]
    fn nothing_that_may_be_a_secret_can_be_printed() {
        let channels = load(
            "[[notify]]\ntype = 'webhook'\nurl = 'https://example.org/hush'\nsecret = 'hush'\n\
             [[notify]]\ntype = 'ntfy'\nurl = 'cmd:pass hush'\ntoken = 'vault:p_1/HUSH'\n",
        );
        let said = format!("{:?}", channels.expect("they are right"));
        assert!(!said.to_lowercase().contains("hush"), "{said}");
    }

    #[test]
    fn a_project_can_have_nothing_sent() {
        let user = Source { path: "config.toml".into(), text: String::new() };
        let text = "\n[[notify]]\ntype = 'command'\ncommand = ['a']\n".to_owned();
        let project = Source { path: "ostler.toml".into(), text };
        let said = Config::of(Some(&user), Some(&project), &[]).expect_err("a mistake").to_string();
        assert_eq!(said, "ostler.toml:2: only your own configuration can say who is notified");
    }
}
