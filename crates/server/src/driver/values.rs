//! Puts the values that a session was given where its agent finds them, and takes them away again. This is the only
//! place where values leave the vault for an agent; they go to one private file, and nowhere else.

use std::{
    collections::BTreeMap,
    fmt, fs, io,
    path::PathBuf,
    sync::{Arc, PoisonError},
};

use ostler_engine::{
    ProjectId, RequestId, SessionId,
    request::{Ask, Request},
    session::{Session, ValueSource},
};
use ostler_files::{FILE_BYTES_MAX, UnusableFile, private};
use ostler_protocol::{
    mask::is_masked,
    signal::{DependencyRequest, DependencyType},
};
use ostler_shim::values::{encode, is_signal_word, read, read_secrets};
use ostler_vault::{Masks, Name, ReadError, Scope, Secret, Vault};
use zeroize::Zeroizing;

use super::Driver;
use crate::{
    home::{draft_of, private_directory, write_private},
    secrets::SecretsError,
    services,
};

/// Why values could not be put in their place.
#[derive(Debug)]
pub(crate) enum ProvideError {
    /// The vault cannot be used.
    Vault {
        /// In its words.
        message: String,
    },
    /// A value cannot be had.
    Read(ReadError),
    /// A value is not in the vault any more.
    Gone {
        /// Its name.
        name: String,
    },
    /// The file that is there cannot be read.
    Unreadable {
        /// Which one.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The file cannot be written.
    Io {
        /// Which one.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

/// What a session was given, for the environment of a process that is about to start. Its file is written as well.
pub(super) async fn given(
    driver: &Arc<Driver>,
    session: SessionId,
) -> Result<BTreeMap<String, String>, String> {
    // Most are given nothing, and nobody has to be woken for that.
    if driver.journal.world().sessions.get(&session).is_none_or(|it| it.values.is_empty()) {
        return Ok(BTreeMap::new());
    }
    let driver = Arc::clone(driver);
    let provided = tokio::task::spawn_blocking(move || provide(&driver, session)).await;
    // Who panicked half-way has not done it.
    provided.map_err(|error| error.to_string())?.map_err(|error| error.to_string())
}

/// Writes the file of a session as a whole and gives what is in it; nothing, if it was given nothing or is over.
pub(crate) fn provide(driver: &Driver, session: SessionId) -> Result<BTreeMap<String, String>, ProvideError> {
    // What it was given is read only now, so that nothing older is written over something newer.
    let _turn = driver.value_files.wait_blocking(session);
    let given =
        |it: &Session| (!it.is_over() && !it.values.is_empty()).then(|| (it.project, it.values.clone()));
    let Some((project, values)) = driver.journal.world().sessions.get(&session).and_then(given) else {
        return Ok(BTreeMap::new());
    };
    let path = driver.home.values(session);
    let failed = |source| ProvideError::Io { path: path.clone(), source };
    let vault = driver.secrets.vault();
    let unreadable = |source| ProvideError::Unreadable { path: path.clone(), source };
    let before = passing_over_exchanged(read(&path)).map_err(unreadable)?;
    let secrets_before = passing_over_exchanged(read_secrets(&path)).map_err(unreadable)?;
    let mut secrets: Vec<(String, Secret)> = Vec::with_capacity(values.len());
    let mut shown: Vec<(String, Secret)> = Vec::new();
    for (name, source) in &values {
        let found = match source {
            // The agent has printed a secret as its default. It has the value, and the mask is of no use to it.
            ValueSource::Default { text } if is_masked(text) => continue,
            // A default is in what the agent printed; it is no secret.
            ValueSource::Default { text } => Ok((Secret::new(text.clone()), true)),
            ValueSource::Session => look_up(&vault, &Scope::Session(session.to_string()), name),
            ValueSource::Project => look_up(&vault, &Scope::Project(project.to_string()), name),
        };
        // What it has already is not taken away because the vault cannot be opened just now.
        let had = before.iter().find(|(had, _)| had == name).map(|(_, value)| {
            let was_shown = !secrets_before.iter().any(|(secret, _)| secret == name);
            (Secret::new(value.clone()), was_shown)
        });
        let (value, is_shown) = found.or_else(|error| had.ok_or(error))?;
        if is_shown { shown.push((name.clone(), value)) } else { secrets.push((name.clone(), value)) }
    }
    let masks = Arc::new(MaskedValues::masks(&secrets));
    driver
        .masked_values
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .insert(session, MaskedValues { values, masks });
    let bytes = Zeroizing::new(encode(secrets.iter().map(exposed), shown.iter().map(exposed)));
    if !private::read(&path, FILE_BYTES_MAX).is_ok_and(|found| found == *bytes) {
        private_directory(&driver.home.session(session)).map_err(failed)?;
        write_private(&path, &bytes).map_err(failed)?;
    }
    let given = secrets.iter().chain(&shown).map(exposed);
    Ok(given.map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
}

/// The masks of what a session was given. They come from the vault and not from the session's file: who could exchange
/// that, could have a value written down.
pub(crate) fn masks(driver: &Driver, session: SessionId) -> Result<Arc<Masks>, ProvideError> {
    let values = driver.journal.world().sessions.get(&session).map(|it| it.values.clone());
    let known = || {
        let known = driver.masked_values.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(&session).filter(|it| Some(&it.values) == values.as_ref()).map(|it| Arc::clone(&it.masks))
    };
    if let Some(masks) = known() {
        return Ok(masks);
    }
    provide(driver, session)?;
    // There are none if it was given nothing.
    Ok(known().unwrap_or_else(|| Arc::new(Masks::new([]))))
}

/// What is masked in the words of a session.
pub(super) struct MaskedValues {
    /// What it had been given when the masks were made.
    values: BTreeMap<String, ValueSource>,
    masks: Arc<Masks>,
}

impl fmt::Debug for MaskedValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MaskedValues").field("names", &self.values.keys()).finish_non_exhaustive()
    }
}

impl MaskedValues {
    fn masks(secrets: &[(String, Secret)]) -> Masks {
        let secrets = secrets.iter().map(|(_, secret)| secret);
        Masks::new(secrets.filter(|secret| !is_signal_word(secret.expose())))
    }
}

/// Nothing, where another process has put something else in the place of the file: that is replaced. A directory cannot
/// be replaced, so a person is told.
fn passing_over_exchanged<T: Default>(found: io::Result<T>) -> io::Result<T> {
    found.or_else(|error| match UnusableFile::of(&error) {
        None | Some(UnusableFile::Directory) => Err(error),
        Some(_) => Ok(T::default()),
    })
}

fn exposed((name, value): &(String, Secret)) -> (&str, &str) {
    (name, value.expose())
}

/// A value, and whether it may be shown.
fn look_up(
    vault: &Result<Arc<Vault>, SecretsError>,
    scope: &Scope,
    name: &str,
) -> Result<(Secret, bool), ProvideError> {
    let gone = || ProvideError::Gone { name: name.to_owned() };
    let name = Name::new(name).map_err(|_| gone())?;
    let vault = vault.as_ref().map_err(|error| ProvideError::Vault { message: error.to_string() })?;
    vault.get_marked(scope, &name).map_err(ProvideError::Read)?.ok_or_else(gone)
}

/// Takes the file away, unless the session goes on.
pub(super) fn remove(driver: &Driver, session: SessionId) -> io::Result<()> {
    let _turn = driver.value_files.wait_blocking(session);
    let goes_on = driver.journal.world().sessions.get(&session).is_some_and(|it| !it.is_over());
    if goes_on {
        return Ok(());
    }
    driver.masked_values.lock().unwrap_or_else(PoisonError::into_inner).remove(&session);
    let path = driver.home.values(session);
    for path in [draft_of(&path), path] {
        match fs::remove_file(&path) {
            // Another process has put a directory there. No value is in it, and nobody waits until it is gone.
            Err(_) if path.is_dir() => {}
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// The names under which the vault has what a request asks for, if all of it is there and may be given again.
pub(super) fn look(driver: &Driver, request: RequestId) -> Option<Vec<String>> {
    let wanted = |it: &Request| match &it.ask {
        Ask::Dependency(dependency) if it.is_open() => Some((it.project, dependency.clone())),
        _ => None,
    };
    let (project, dependency) = driver.journal.world().requests.get(&request).and_then(wanted)?;
    let vault = driver.secrets.existing().ok()??;
    let kept = reusable(&vault, project)?;
    let (needed, welcome) = names(&dependency);
    let is_kept = |name: &&String| kept.contains(name);
    if needed.is_empty() || !needed.iter().all(|name| is_kept(&name)) {
        return None;
    }
    let found: Vec<String> = needed.iter().chain(welcome.iter().filter(is_kept)).cloned().collect();
    // A reference may lead to nothing; then somebody is asked.
    let scope = Scope::Project(project.to_string());
    let can_be_had = |name: &String| {
        let name = Name::new(name).ok()?;
        vault.get(&scope, &name).ok()?
    };
    found.iter().all(|name| can_be_had(name).is_some()).then_some(found)
}

fn reusable(vault: &Vault, project: ProjectId) -> Option<Vec<String>> {
    let listed = vault.list(Some(&Scope::Project(project.to_string()))).ok()?;
    Some(listed.into_iter().filter(|it| it.reuse).map(|it| it.name.as_str().to_owned()).collect())
}

/// What is needed, and what else is welcome.
fn names(dependency: &DependencyRequest) -> (Vec<String>, Vec<String>) {
    match dependency.dependency_type {
        DependencyType::ApiKey | DependencyType::EnvVariable => (vec![dependency.name.clone()], Vec::new()),
        DependencyType::Service => {
            let variables = services::find(&dependency.name).into_iter().flat_map(|it| &it.variables);
            let (welcome, needed): (Vec<_>, Vec<_>) = variables.partition(|it| it.optional);
            let names = |list: Vec<&services::Variable>| list.into_iter().map(|it| it.name.clone()).collect();
            (names(needed), names(welcome))
        }
        DependencyType::File | DependencyType::Permission | DependencyType::Package => {
            (Vec::new(), Vec::new())
        }
    }
}

impl fmt::Display for ProvideError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProvideError::Vault { message } => write!(f, "{message}"),
            ProvideError::Read(source) => write!(f, "{source}"),
            ProvideError::Gone { name } => write!(f, "{name} is not in the vault any more"),
            ProvideError::Unreadable { path, source } => {
                write!(f, "cannot read '{}': {source}", path.display())
            }
            ProvideError::Io { path, source } => write!(f, "cannot write '{}': {source}", path.display()),
        }
    }
}

impl std::error::Error for ProvideError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ProvideError::Read(source) => Some(source),
            ProvideError::Unreadable { source, .. } | ProvideError::Io { source, .. } => Some(source),
            ProvideError::Vault { .. } | ProvideError::Gone { .. } => None,
        }
    }
}
