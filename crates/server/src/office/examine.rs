//! Looks at what one agent brings another: whether it is what it says to be, for whom it is, and whether it is too long
//! to be said.

use std::{io, path::Path};

use ostler_agents::{Agent, InputWay, agent::Terminal};
use ostler_engine::{
    ProjectId, SessionId,
    office::{Delivery, Examined, Reference},
};

use super::{roles::Roles, seat::place};
use crate::{
    driver::Driver,
    environment,
    home::{Home, private_directory, write_private},
};

/// The longest text that is said to an agent as it is.
const TEXT_BYTES_MAX: usize = 16 << 10;

/// The same for one that reads nothing but its arguments, where several of them have to find room.
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
            text_bytes_max: if reads_arguments { ARGUMENT_BYTES_MAX } else { TEXT_BYTES_MAX },
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
pub(crate) fn kept_if_long(
    home: &Home,
    name: &str,
    text: &str,
    limits: Limits,
) -> io::Result<Option<Reference>> {
    if limits.hold(text) {
        return Ok(None);
    }
    let folder = home.office();
    private_directory(&folder)?;
    let path = folder.join(name);
    write_private(&path, text.as_bytes())?;
    let sha256 = environment::digest(text.as_bytes());
    Ok(Some(Reference { path: path.display().to_string(), bytes: text.len() as u64, sha256 }))
}

/// Whether something can be brought, and to whom.
pub(crate) fn examine(driver: &Driver, giver: SessionId, delivery: &Delivery) -> Result<Examined, String> {
    let known = driver.journal.world().sessions.get(&giver).map(|it| (it.project, it.directory().to_owned()));
    let (project, directory) = known.ok_or("the session is gone")?;
    check_content(&directory, delivery)?;
    let to = receiver(driver, project, &delivery.to)?;
    let limits = limits_of(driver, project, &to);
    let name = format!("{giver}.{}", delivery.origin.replace([':', '.'], "-"));
    let reference = kept_if_long(&driver.home, &name, &delivery.content, limits)
        .map_err(|error| format!("it cannot be kept: {error}"))?;
    Ok(Examined { to, reference })
}

fn check_content(directory: &str, delivery: &Delivery) -> Result<(), String> {
    let content = delivery.content.trim();
    match delivery.kind.as_str() {
        "json" => serde_json::from_str::<serde_json::Value>(content)
            .map(drop)
            .map_err(|error| format!("it is no JSON: {error}")),
        "file_path" => {
            let root = Path::new(directory).canonicalize().map_err(|error| error.to_string())?;
            let path = root.join(content).canonicalize();
            let path = path.map_err(|error| format!("there is no file '{content}': {error}"))?;
            if path.starts_with(&root) {
                Ok(())
            } else {
                Err(format!("'{content}' is outside of the project"))
            }
        }
        _ => Ok(()),
    }
}

/// The name that is meant: of somebody who has a seat, of a role, or of a session of the project.
fn receiver(driver: &Driver, project: ProjectId, to: &str) -> Result<String, String> {
    {
        let world = driver.journal.world();
        let has_seat = world.projects.get(&project).is_some_and(|it| it.seats.contains_key(to));
        let session = to.parse().ok().and_then(|id: SessionId| world.sessions.get(&id));
        if has_seat || session.is_some_and(|session| session.project == project) {
            return Ok(to.to_owned());
        }
    }
    let (root, is_git) = place(driver, project).ok_or("the project is gone")?;
    let roles = Roles::read(Path::new(&root), is_git).map_err(|error| error.to_string())?;
    match roles.find(to) {
        Some(Ok(role)) => Ok(role.name.clone()),
        Some(Err(role)) => Err(role.message.clone()),
        None => Err(format!("there is no agent {to}. There are: {}", roles.names().join(", "))),
    }
}

fn limits_of(driver: &Driver, project: ProjectId, to: &str) -> Limits {
    let world = driver.journal.world();
    let seat = world.projects.get(&project).and_then(|it| it.seats.get(to)).copied();
    let session = seat.or_else(|| to.parse().ok()).and_then(|id| world.sessions.get(&id));
    session.map_or_else(Limits::least, |session| Limits::of(&session.order.agent))
}
