//! `ostler secret`: what agents may be given without anybody seeing it.
//!
//! A value comes from a prompt or standard input, never from an argument: those stand in every list of processes.

use std::{
    env,
    io::{self, Read, Write},
};

use clap::{Args, Subcommand};
use ostler_server::{
    SecretsError,
    api::{NewSecret, SecretView, Unlock, WhichSecret},
    client::Client,
    config::VaultKey,
    open_vault,
};
use ostler_vault::{Name, Scope, Secret, VALUE_BYTES_MAX, Vault};
use serde_json::{Value, json};
use zeroize::Zeroizing;

use crate::{
    clock,
    context::{Context, directory, home, talk},
    error::{Error, Message},
    exit::Exit,
    hidden, inside,
    screen::{Cell, Style},
    words::Key,
};

/// Keep secrets for the agents of a project.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Keep a secret, in place of what stood under its name.
    ///
    /// You are asked for the value, which is not shown; or it is read from standard input, or looked up elsewhere
    /// each time it is needed.
    Set {
        /// Its name: that of the variable that an agent gets.
        #[arg(value_name = "NAME")]
        name: String,
        /// Read the value from standard input; one line break at its end does not belong to it.
        #[arg(long)]
        stdin: bool,
        #[arg(
            long,
            value_name = "REFERENCE",
            conflicts_with = "stdin",
            help = "Look it up each time: env:NAME (where the server runs), file:PATH or cmd:COMMAND"
        )]
        from: Option<String>,
        /// Ask you each time an agent wants it.
        #[arg(long)]
        ask: bool,
        /// It is no secret: show it wherever an agent prints it.
        #[arg(long)]
        plain: bool,
        #[command(flatten)]
        place: Place,
    },
    /// List the names of the secrets, never what they are.
    List {
        /// Those of all projects, and those that were given to single sessions.
        #[arg(short, long, conflicts_with = "project")]
        all: bool,
        #[command(flatten)]
        place: Place,
    },
    /// Remove a secret.
    Rm {
        /// Its name.
        #[arg(value_name = "NAME")]
        name: String,
        /// The session that alone was given it.
        #[arg(long, value_name = "ID", conflicts_with = "project")]
        session: Option<String>,
        #[command(flatten)]
        place: Place,
    },
    /// Print a secret.
    Get {
        /// Its name.
        #[arg(value_name = "NAME")]
        name: String,
        #[command(flatten)]
        place: Place,
    },
    /// Give the server the passphrase of the vault, until it ends.
    Unlock {
        /// Read the passphrase from standard input.
        #[arg(long)]
        stdin: bool,
    },
    /// Keep what can still be opened of a damaged vault, or take one that was brought back from a backup.
    Mend,
}

#[derive(Args)]
struct Place {
    /// The project, by its id or name [default: that of the current directory].
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,
}

pub(crate) fn run(context: &Context, arguments: Arguments) -> Result<Exit, Error> {
    ostler_vault::guard();
    match arguments.command {
        Command::Set { name, stdin, from, ask, plain, place } => {
            let value = match &from {
                Some(_) => None,
                None => Some(value(context, &name, stdin)?),
            };
            let new = NewSecret { name, from, reuse: Some(!ask), plain, ..NewSecret::default() };
            set(context, &place, new, value)
        }
        Command::List { all, place } => list(context, all, &place),
        Command::Rm { name, session, place } => remove(context, name, session, &place),
        Command::Get { name, place } => get(context, &name, &place),
        Command::Unlock { stdin } => unlock(context, stdin),
        Command::Mend => mend(context),
    }
}

impl Place {
    /// The directory, where no project is named.
    fn directory(&self) -> Result<Option<String>, Error> {
        if self.project.is_some() {
            return Ok(None);
        }
        Ok(Some(directory()?.display().to_string()))
    }

    fn query(&self) -> Result<String, Error> {
        let encoded = |text: &str| -> String {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~/".contains(&byte);
            let one = |byte: u8| {
                if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }
            };
            text.bytes().map(one).collect()
        };
        Ok(match (&self.project, self.directory()?) {
            (Some(project), _) => format!("?project={}", encoded(project)),
            (None, Some(directory)) => format!("?directory={}", encoded(&directory)),
            (None, None) => String::new(),
        })
    }
}

/// The value, from wherever it comes.
fn value(context: &Context, name: &str, stdin: bool) -> Result<Secret, Error> {
    if stdin {
        return standard_input();
    }
    hidden::ask(&context.words.say(Key::SecretPrompt, &[("name", &name)]), Key::HintSecretInput)
}

fn standard_input() -> Result<Secret, Error> {
    let most = VALUE_BYTES_MAX + 3;
    let mut bytes = Zeroizing::new(Vec::with_capacity(most));
    let failed = |source| Error::Input { path: None, source };
    io::stdin().lock().take(most as u64).read_to_end(&mut bytes).map_err(failed)?;
    let text =
        str::from_utf8(&bytes).map_err(|error| failed(io::Error::new(io::ErrorKind::InvalidData, error)))?;
    let text = text.strip_suffix('\n').map_or(text, |text| text.strip_suffix('\r').unwrap_or(text));
    Ok(Secret::new(text.to_owned()))
}

fn set(context: &Context, place: &Place, new: NewSecret, value: Option<Secret>) -> Result<Exit, Error> {
    let kept: SecretView = talk(async {
        let client = context.server().await?;
        let value = value.map(|secret| secret.expose().to_owned());
        let new = NewSecret { directory: place.directory()?, project: place.project.clone(), value, ..new };
        Ok(client.post("/secrets", &new).await?)
    })?;
    let words = context.words;
    context.print(&kept, |screen| {
        screen.text(&words.say(Key::SecretKept, &[("name", &kept.name), ("scope", &kept.scope)]))
    })?;
    Ok(Exit::Done)
}

fn list(context: &Context, all: bool, place: &Place) -> Result<Exit, Error> {
    let secrets: Vec<SecretView> = talk(async {
        let client = context.server().await?;
        let query = if all { String::new() } else { place.query()? };
        Ok(client.get(&format!("/secrets{query}")).await?)
    })?;
    let words = context.words;
    context.print(&secrets, |screen| {
        if secrets.is_empty() {
            return screen.text(words.sentence(Key::NoSecrets));
        }
        let keys = [Key::ColumnName, Key::ColumnFor, Key::ColumnWhat, Key::ColumnGiven, Key::ColumnSince];
        let head = keys.iter().map(|key| Cell::styled(Style::Dim, words.sentence(*key))).collect();
        let rows = secrets.iter().map(|secret| {
            let given = match secret.reuse {
                _ if secret.scope.starts_with("s_") => Key::GivenOnce,
                true => Key::GivenFreely,
                false => Key::GivenAsked,
            };
            let since = clock::since(words, secret.at_ms);
            let what = if secret.plain { "plain" } else { &secret.what };
            [secret.name.as_str(), &secret.scope, what, words.sentence(given), &since].map(Cell::new).into()
        });
        screen.columns(&std::iter::once(head).chain(rows).collect::<Vec<_>>())
    })?;
    Ok(Exit::Done)
}

fn remove(context: &Context, name: String, session: Option<String>, place: &Place) -> Result<Exit, Error> {
    let words = context.words;
    let (directory, project) = (place.directory()?, place.project.clone());
    let which = WhichSecret { directory, project, session, name };
    let removed: Value = talk(async {
        let client = context.server().await?;
        Ok(client.post("/secrets/remove", &which).await?)
    })?;
    let name = &which.name;
    context.print(&removed, |screen| screen.text(&words.say(Key::SecretGone, &[("name", &name)])))?;
    Ok(Exit::Done)
}

/// Inside a session, only what it was given: the rest is for people, and to be asked for.
fn given(context: &Context, name: &str) -> Result<Exit, Error> {
    let values = inside::values()?;
    let (_, value) = values.iter().find(|(given, _)| given == name).ok_or_else(|| Error::NotFound {
        message: Message::new(Key::SecretInSession).with("name", &name),
        hint: Message::new(Key::HintSecretInSession).with("name", &name),
    })?;
    let text = if context.json {
        json!({ "name": name, "value": value.as_str() }).to_string()
    } else {
        value.as_str().to_owned()
    };
    inside::print_secret(&Zeroizing::new(text + "\n"))?;
    Ok(Exit::Done)
}

/// The value itself is not asked of the server, which never says it: whoever can read the key can read it too.
fn get(context: &Context, name: &str, place: &Place) -> Result<Exit, Error> {
    if env::var_os("OSTLER_SESSION").is_some() {
        return given(context, name);
    }
    let missing = || Error::NotFound {
        message: Message::new(Key::NoSuchSecret).with("name", &name),
        hint: Message::new(Key::HintSecrets),
    };
    let kept: Vec<SecretView> = talk(async {
        let client: Client = context.server().await?;
        Ok(client.get(&format!("/secrets{}", place.query()?)).await?)
    })?;
    let kept = kept.into_iter().find(|secret| secret.name == name).ok_or_else(missing)?;
    let (scope, key) = (Scope::new(&kept.scope), Name::new(&kept.name));
    let (Ok(scope), Ok(key)) = (scope, key) else { return Err(missing()) };
    let vault = open(context)?;
    let secret = vault.get(&scope, &key).map_err(|error| Error::Secrets(Box::new(error.into())))?;
    let secret = secret.ok_or_else(missing)?;
    let mut stdout = io::stdout().lock();
    let text = if context.json {
        let line = json!({ "name": name, "value": secret.expose() }).to_string();
        Zeroizing::new(line + "\n")
    } else {
        Zeroizing::new(format!("{}\n", secret.expose()))
    };
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(Error::Output)?;
    Ok(Exit::Done)
}

fn unlock(context: &Context, stdin: bool) -> Result<Exit, Error> {
    let words = context.words;
    let is_new = !Vault::exists(&home()?.vault());
    let passphrase = if stdin {
        standard_input()?
    } else {
        let prompt = if is_new { Key::PassphraseNew } else { Key::PassphrasePrompt };
        let first = hidden::ask(words.sentence(prompt), Key::HintUnlockInput)?;
        if is_new {
            let again = hidden::ask(words.sentence(Key::PassphraseAgain), Key::HintUnlockInput)?;
            if again.expose() != first.expose() {
                return Err(Error::Refused {
                    message: Message::new(Key::PassphraseDiffers),
                    hint: Message::new(Key::HintUnchanged),
                });
            }
        }
        first
    };
    if passphrase.expose().is_empty() {
        return Err(Error::Refused {
            message: Message::new(Key::PassphraseEmpty),
            hint: Message::new(Key::HintUnchanged),
        });
    }
    let unlocked: Value = talk(async {
        let client = context.server().await?;
        let body = Unlock { passphrase: passphrase.expose().to_owned() };
        Ok(client.post("/secrets/unlock", &body).await?)
    })?;
    context.print(&unlocked, |screen| screen.text(words.sentence(Key::Unlocked)))?;
    Ok(Exit::Done)
}

fn mend(context: &Context) -> Result<Exit, Error> {
    let home = home()?;
    if !ostler_server::vault_exists(&home) {
        return Err(Error::NotFound {
            message: Message::new(Key::NoVault),
            hint: Message::new(Key::HintUnchanged),
        });
    }
    let mended = ostler_server::mend_vault(&home, || passphrase(context))
        .map_err(|error| Error::Secrets(Box::new(error)))?;
    let value =
        json!({ "kept": mended.kept, "lost": mended.lost, "aside": mended.aside.display().to_string() });
    let words = context.words;
    context.print(&value, |_| {
        let aside = mended.aside.display();
        let mut said = words.say(Key::VaultMended, &[("kept", &mended.kept), ("aside", &aside)]) + "\n";
        for lost in &mended.lost {
            said += &(words.say(Key::VaultLost, &[("name", lost)]) + "\n");
        }
        said
    })?;
    Ok(if mended.lost.is_empty() { Exit::Done } else { Exit::Failed })
}

/// What a server that has the passphrase knows is of no use here: it never says a value.
fn open(context: &Context) -> Result<Vault, Error> {
    open_vault(&home()?, || passphrase(context)).map_err(|error| match error {
        SecretsError::Locked => Error::Refused {
            message: Message::new(Key::VaultLocked),
            hint: Message::new(Key::HintPassphraseHere),
        },
        error => Error::Secrets(Box::new(error)),
    })
}

/// Asks for the passphrase, where the configuration wants one.
fn passphrase(context: &Context) -> Result<Secret, SecretsError> {
    let wanted = matches!(context.config().map(|config| &config.vault), Ok(VaultKey::Passphrase));
    if !wanted {
        return Err(SecretsError::Locked);
    }
    let prompt = context.words.sentence(Key::PassphrasePrompt);
    hidden::ask(prompt, Key::HintPassphraseHere).map_err(|_| SecretsError::Locked)
}
