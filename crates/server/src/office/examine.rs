//! Looks at what one agent brings another: whether it is what it says to be, for whom it is, and whether it is too long
//! to be said or to stand in the journal.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use ostler_agents::{Agent, InputWay, agent::Terminal};
use ostler_engine::{
    ProjectId, SessionId, World,
    office::{Delivery, Examined, Reference},
    session::Session,
};
use ostler_vault::Masks;

use super::{
    kept::{BYTES_MAX, INLINE_BYTES_MAX, Texts, beginning},
    roles::Roles,
    seat::{names, place},
};
use crate::driver::{Driver, values};

/// The longest text that is said as it is to an agent that reads nothing but its arguments, where several of them have to find room.
const ARGUMENT_BYTES_MAX: usize = 4 << 10;

/// The longest line that a terminal passes on.
const LINE_BYTES_MAX: usize = 4_000;

/// How much can be said to an agent as it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    text_bytes_max: usize,
    line_bytes_max: usize,
}

impl Limits {
    /// Of an agent.
    pub(crate) fn of(agent: &Agent) -> Limits {
        let reads_arguments = agent.input.way == InputWay::Relaunch;
        let has_terminal = agent.terminal == Terminal::Pty;
        Limits {
            text_bytes_max: if reads_arguments { ARGUMENT_BYTES_MAX } else { INLINE_BYTES_MAX },
            line_bytes_max: if has_terminal { LINE_BYTES_MAX } else { usize::MAX },
        }
    }

    /// Of an agent that nobody knows yet: as little as any of them takes.
    fn least() -> Limits {
        Limits { text_bytes_max: ARGUMENT_BYTES_MAX, line_bytes_max: LINE_BYTES_MAX }
    }

    fn hold(self, text: &str) -> bool {
        text.len() <= self.text_bytes_max && text.lines().all(|line| line.len() <= self.line_bytes_max)
    }
}

/// Keeps a text in a file of its own if it is too long to be said.
pub(crate) fn kept_if_long(texts: &Texts, text: &str, limits: Limits) -> io::Result<Option<Reference>> {
    if limits.hold(text) { Ok(None) } else { texts.keep(text).map(Some) }
}

/// Whether something can be brought, and to whom. Why not is said in the language of who brings it.
pub(crate) fn examine(driver: &Driver, giver: SessionId, delivery: &Delivery) -> Result<Examined, String> {
    let korean = driver.journal.world().sessions.get(&giver).is_some_and(|session| session.order.korean);
    look(driver, giver, delivery).map_err(|objection| objection.words(korean))
}

fn look(driver: &Driver, giver: SessionId, delivery: &Delivery) -> Result<Examined, Objection> {
    let known = driver.journal.world().sessions.get(&giver).map(|it| (it.project, Stand::of(it)));
    let (project, stand) = known.ok_or(Objection::Gone)?;
    let words = delivery.content.trim();
    if words.is_empty() {
        return Err(Objection::Empty);
    }
    let file = match delivery.kind.as_str() {
        "json" => {
            serde_json::from_str::<serde::de::IgnoredAny>(words).map_err(Objection::NotJson)?;
            None
        }
        "file_path" => {
            let (root, _) = place(driver, project).ok_or(Objection::Gone)?;
            Some(stand.file(&root, words)?)
        }
        _ => None,
    };
    let to = receiver(driver, project, &delivery.to)?;
    if let Some(file) = file {
        let (content, reference) = match stand.in_worktree(&file) {
            Some(place) => {
                let masks = values::masks(driver, giver)
                    .map_err(|error| Objection::NotKept(io::Error::other(error.to_string())))?;
                (place, Some(kept_copy(&driver.texts, &file, words, &masks)?))
            }
            None => (seen_from(directory_of(driver, project, &to).as_deref(), &file), None),
        };
        return Ok(Examined { to, content: Some(content), reference, cut: false });
    }
    let (whole, limits) = (&delivery.content, limits_of(driver, project, &to));
    let reference = kept_if_long(&driver.texts, whole, limits).map_err(Objection::NotKept)?;
    // Nobody says more than that, so that a long one has a reference.
    let cut = whole.len() > INLINE_BYTES_MAX;
    Ok(Examined { to, content: cut.then(|| beginning(whole).to_owned()), reference, cut })
}

/// Keeps what somebody else reads of a worktree that may be gone by then.
fn kept_copy(texts: &Texts, file: &Path, said: &str, masks: &Arc<Masks>) -> Result<Reference, Objection> {
    texts.keep_file(file, masks).map_err(|error| match error.kind() {
        io::ErrorKind::FileTooLarge => Objection::TooLarge(said.to_owned()),
        _ => Objection::NotKept(error),
    })
}

/// Why something cannot be brought.
enum Objection {
    /// The session or its project is not known any more.
    Gone,
    /// There is nothing to bring.
    Empty,
    /// It is said to be JSON.
    NotJson(serde_json::Error),
    /// There is no such file.
    NoFile(String, io::Error),
    /// It is neither in the project nor in the giver's worktree.
    Outside(String),
    /// It is a directory, or something else that cannot be read as a file.
    NotAFile(String),
    /// It is in a worktree, and too large for a copy.
    TooLarge(String),
    /// Nobody has that name.
    NoAgent(String, Vec<String>),
    /// The role, or the configuration, cannot be used as it stands in its file.
    Bad(String),
    /// It is too long to be said, and cannot be written down.
    NotKept(io::Error),
}

impl Objection {
    fn words(&self, korean: bool) -> String {
        match (self, korean) {
            (Objection::Gone, false) => "the session or its project is gone".to_owned(),
            (Objection::Gone, true) => "세션이나 프로젝트가 없어졌습니다".to_owned(),
            (Objection::Empty, false) => "there is nothing in it".to_owned(),
            (Objection::Empty, true) => "내용이 없습니다".to_owned(),
            (Objection::NotJson(error), false) => format!("it is no JSON: {error}"),
            (Objection::NotJson(error), true) => {
                format!("올바른 JSON이 아닙니다({}번째 줄, {}번째 글자)", error.line(), error.column())
            }
            (Objection::NoFile(said, error), _) if error.kind() != io::ErrorKind::NotFound => {
                format!("'{said}': {error}")
            }
            (Objection::NoFile(said, _), false) => format!("there is no file '{said}'"),
            (Objection::NoFile(said, _), true) => format!("'{said}' 파일이 없습니다"),
            (Objection::Outside(said), false) => format!("'{said}' is outside of the project"),
            (Objection::Outside(said), true) => format!("'{said}'은(는) 프로젝트 밖에 있습니다"),
            (Objection::NotAFile(said), false) => format!("'{said}' is no file"),
            (Objection::NotAFile(said), true) => format!("'{said}'은(는) 파일이 아닙니다"),
            (Objection::TooLarge(said), false) => {
                let mebibytes = BYTES_MAX >> 20;
                format!(
                    "'{said}' has more than {mebibytes} MiB, and what is in a worktree is copied. Put it into the project"
                )
            }
            (Objection::TooLarge(said), true) => {
                let mebibytes = BYTES_MAX >> 20;
                format!(
                    "'{said}'은(는) {mebibytes}MiB보다 크고, 워크트리의 파일은 복사해 보관합니다. 프로젝트에 두고 전달하세요"
                )
            }
            (Objection::NoAgent(to, names), false) => {
                format!("there is no agent {to}. There are: {}", names.join(", "))
            }
            (Objection::NoAgent(to, names), true) => {
                format!("{to}(이)라는 에이전트가 없습니다. 있는 에이전트: {}", names.join(", "))
            }
            (Objection::Bad(message), _) => message.clone(),
            (Objection::NotKept(error), false) => format!("it cannot be kept: {error}"),
            (Objection::NotKept(error), true) => format!("파일로 보관할 수 없습니다: {error}"),
        }
    }
}

/// Where an agent is.
struct Stand {
    /// Its directory.
    directory: String,
    /// Its own worktree, if it has one.
    worktree: Option<String>,
}

impl Stand {
    fn of(session: &Session) -> Stand {
        let worktree = session.worktree.as_ref().map(|worktree| worktree.path.clone());
        Stand { directory: session.directory().to_owned(), worktree }
    }

    /// The file that is meant by a path, if it is one of the project or of the agent's own worktree.
    fn file(&self, root: &str, said: &str) -> Result<PathBuf, Objection> {
        let path = Path::new(&self.directory).join(said).canonicalize();
        let path = path.map_err(|error| Objection::NoFile(said.to_owned(), error))?;
        let mut roots = self
            .worktree
            .as_deref()
            .into_iter()
            .chain([root])
            .filter_map(|root| Path::new(root).canonicalize().ok());
        if !roots.any(|root| path.starts_with(root)) {
            return Err(Objection::Outside(said.to_owned()));
        }
        if path.is_file() { Ok(path) } else { Err(Objection::NotAFile(said.to_owned())) }
    }

    /// Where a file stands in the agent's own worktree, if it does: where it will be in the project when that is merged.
    fn in_worktree(&self, file: &Path) -> Option<String> {
        let root = Path::new(self.worktree.as_deref()?).canonicalize().ok()?;
        file.strip_prefix(root).ok().map(|place| place.display().to_string())
    }
}

/// A file as it is named by somebody in this directory: from there if it is below it, else from the root of everything.
fn seen_from(directory: Option<&str>, file: &Path) -> String {
    let directory = directory.and_then(|directory| Path::new(directory).canonicalize().ok());
    let below = directory.and_then(|directory| file.strip_prefix(directory).ok());
    below.unwrap_or(file).display().to_string()
}

/// The name that is meant: of somebody who has a seat, of a role, or of a session of the project.
fn receiver(driver: &Driver, project: ProjectId, to: &str) -> Result<String, Objection> {
    {
        let world = driver.journal.world();
        let has_seat = world.projects.get(&project).is_some_and(|it| it.seats.contains_key(to));
        let session = to.parse().ok().and_then(|id: SessionId| world.sessions.get(&id));
        if has_seat || session.is_some_and(|session| session.project == project) {
            return Ok(to.to_owned());
        }
    }
    let (root, is_git) = place(driver, project).ok_or(Objection::Gone)?;
    let roles = Roles::read(Path::new(&root), driver.trusted(&root));
    let roles = roles.map_err(|error| Objection::Bad(error.to_string()))?;
    match roles.find(to) {
        Some(Ok(role)) => Ok(role.name.clone()),
        Some(Err(role)) => Err(Objection::Bad(role.message.clone())),
        None => Err(Objection::NoAgent(to.to_owned(), names((&root, is_git), &roles))),
    }
}

fn limits_of(driver: &Driver, project: ProjectId, to: &str) -> Limits {
    let world = driver.journal.world();
    session_of(&world, project, to).map_or_else(Limits::least, |session| Limits::of(&session.order.agent))
}

/// Where somebody is, if anybody has that name by now.
fn directory_of(driver: &Driver, project: ProjectId, to: &str) -> Option<String> {
    let world = driver.journal.world();
    session_of(&world, project, to).map(|session| session.directory().to_owned())
}

fn session_of<'a>(world: &'a World, project: ProjectId, name: &str) -> Option<&'a Session> {
    let seat = world.projects.get(&project).and_then(|it| it.seats.get(name)).copied();
    seat.or_else(|| name.parse().ok()).and_then(|id| world.sessions.get(&id))
}
