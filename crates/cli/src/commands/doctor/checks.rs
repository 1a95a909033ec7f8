//! What `ostler doctor` looks at, one function per thing. Nothing here changes anything.

use std::{env, fs, path::PathBuf};

use ostler_files::{FILE_BYTES_MAX, kernel, named};
use ostler_server::{
    CONFIGURATION, Home, HomeError, KeepError,
    api::{InfoView, PageState, PageView, TakenSocketView, TrustView, TrustedView},
    client::{Client, ClientError},
    start::{self, StartError},
};
use rustix::fs::statvfs;

use super::{
    super::{inbox::taken_message, token},
    Grade,
};
use crate::{
    context::{Context, home},
    error::{Error, Message},
    program,
    screen::one_line,
    words::Key,
};

/// Below this, a busy agent fills the disk before anybody looks.
const FREE_MIB_MIN: u64 = 512;

/// The first git whose `merge-tree` merges without touching a directory.
const GIT_MIN: [u64; 2] = [2, 38];

/// One thing that was looked at.
pub(super) struct Check {
    pub(super) name: &'static str,
    pub(super) grade: Grade,
    pub(super) message: Message,
}

impl Check {
    fn new(name: &'static str, grade: Grade, message: Message) -> Check {
        Check { name, grade, message }
    }
}

/// Everything, in the order in which it matters.
pub(super) async fn all(context: &Context) -> Result<Vec<Check>, Error> {
    let mut checks = vec![configuration(context)];
    match home() {
        Err(error) => {
            let message = error.message(context.words);
            let message = Message::new(Key::DoctorHomeBad).with("message", &message);
            checks.push(Check::new("home", Grade::Bad, message));
        }
        Ok(home) => {
            checks.push(state(&home));
            checks.extend(server(&home).await);
            checks.push(database(&home));
            checks.extend(locked(&home));
            checks.extend(files(&home));
            checks.push(disk(&home));
            checks.extend(marks(&home));
        }
    }
    checks.extend([git(), shim(), cgroup(), unit()]);
    Ok(checks)
}

fn configuration(context: &Context) -> Check {
    match context.config() {
        Ok(_) => Check::new("configuration", Grade::Ok, Message::new(Key::DoctorConfig)),
        Err(error) => {
            let message = error.message(context.words);
            let message = Message::new(Key::DoctorConfigBad).with("message", &message);
            Check::new("configuration", Grade::Bad, message)
        }
    }
}

fn state(home: &Home) -> Check {
    let path = home.root().display();
    let say = |key: Key| Message::new(key).with("path", &path);
    match fs::metadata(home.root()) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Check::new("home", Grade::Ok, say(Key::DoctorHomeNew))
        }
        Err(error) => {
            Check::new("home", Grade::Bad, Message::new(Key::DoctorHomeBad).with("message", &error))
        }
        Ok(_) => match home.check() {
            Ok(()) => Check::new("home", Grade::Ok, say(Key::DoctorHome)),
            Err(HomeError::Open { .. }) => Check::new("home", Grade::Bad, say(Key::DoctorHomeOpen)),
            Err(error) => {
                Check::new("home", Grade::Bad, Message::new(Key::DoctorHomeBad).with("message", &error))
            }
        },
    }
}

async fn server(home: &Home) -> Vec<Check> {
    let mine = env!("CARGO_PKG_VERSION");
    let client = Client::new(home);
    let info = match start::in_time(home, client.get::<InfoView>("/info")).await {
        Ok(info) => info,
        Err(error) => return vec![silent(&error)],
    };
    let unreached: Vec<Check> =
        info.iter().flat_map(|info| &info.unreached).map(|id| unreached(id)).collect();
    let taken: Vec<Check> = info.iter().flat_map(|info| &info.taken_sockets).map(taken).collect();
    let page = info.as_ref().ok().and_then(|info| page(&info.page));
    // Only a server that has just answered is asked again.
    let consent = if info.is_ok() { consent(home).await } else { None };
    let forged = if info.is_ok() { forged(home).await } else { Vec::new() };
    let server = match info {
        Ok(info) => {
            let is_same = info.version == mine;
            let (grade, key) =
                if is_same { (Grade::Ok, Key::DoctorServer) } else { (Grade::Warn, Key::DoctorServerOther) };
            let message = Message::new(key).with("version", &info.version).with("pid", &info.pid);
            Check::new("server", grade, message.with("mine", &mine))
        }
        Err(ClientError::NoServer { path, .. }) if path.exists() => {
            let message = Message::new(Key::DoctorSocketStale).with("path", &path.display());
            Check::new("server", Grade::Warn, message)
        }
        Err(ClientError::NoServer { .. }) => {
            Check::new("server", Grade::Ok, Message::new(Key::DoctorServerNone))
        }
        Err(error) => Check::new("server", Grade::Bad, Message::new(Key::Strange).with("message", &error)),
    };
    [Some(server), page, consent].into_iter().flatten().chain(forged).chain(unreached).chain(taken).collect()
}

/// A server that is stopped or hangs.
fn silent(error: &StartError) -> Check {
    let pid = match error {
        StartError::Silent { pid: Some(pid) } => pid.to_string(),
        _ => "PID".to_owned(),
    };
    let message = Message::new(Key::DoctorServerSilent).with("message", error).with("pid", &pid);
    Check::new("server", Grade::Bad, message)
}

/// A session whose shim only a cancel ends.
fn unreached(session: &str) -> Check {
    Check::new("shim", Grade::Bad, Message::new(Key::DoctorUnreached).with("id", &session))
}

/// A socket of the server that another process has removed or replaced.
fn taken(it: &TakenSocketView) -> Check {
    Check::new("socket", Grade::Warn, taken_message(it))
}

/// Commands of the configuration that wait for a person.
async fn consent(home: &Home) -> Option<Check> {
    let path = format!("/trust?directory={CONFIGURATION}");
    let trust: TrustView = start::in_time(home, Client::new(home).get(&path)).await.ok()?.ok()?;
    let waiting = trust.commands.iter().filter(|it| !it.trusted);
    let shown = |it: &TrustedView| format!("{} = {}", it.key, it.value.as_deref().unwrap_or_default());
    let commands: Vec<String> = waiting.map(|it| one_line(&shown(it))).collect();
    let message = Message::new(Key::DoctorConsent).with("commands", &commands.join("; "));
    (!commands.is_empty()).then(|| Check::new("consent", Grade::Warn, message))
}

/// Sign-ins that another process has written into the file.
async fn forged(home: &Home) -> Vec<Check> {
    let client = Client::new(home);
    let found = start::in_time(home, token::forged(&client)).await.unwrap_or_default();
    found.iter().map(|it| Check::new("sign_in", Grade::Bad, token::forged_message(it))).collect()
}

/// Where the server that runs has its page.
fn page(page: &PageView) -> Option<Check> {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let (grade, message) = match page.state {
        PageState::Open => (Grade::Ok, Message::new(Key::DoctorPage).with("url", &text(&page.url))),
        PageState::Off => (Grade::Ok, Message::new(Key::DoctorPageOff)),
        PageState::Shut => {
            (Grade::Warn, Message::new(Key::DoctorPageShut).with("message", &text(&page.problem)))
        }
        PageState::Closed => return None,
    };
    Some(Check::new("page", grade, message))
}

fn database(home: &Home) -> Check {
    let bad = |message: &dyn std::fmt::Display| {
        Check::new("database", Grade::Bad, Message::new(Key::DoctorDatabaseBad).with("message", message))
    };
    match ostler_server::verify(home) {
        Ok(replayed) if replayed.differences.is_empty() => {
            let message = Message::new(Key::DoctorDatabase).with("n", &replayed.events);
            Check::new("database", Grade::Ok, message)
        }
        Ok(replayed) => bad(&replayed.differences.join("; ")),
        Err(KeepError::Nothing { .. }) => {
            Check::new("database", Grade::Ok, Message::new(Key::DoctorDatabaseNone))
        }
        Err(error) => bad(&error),
    }
}

/// Processes that keep the server from writing.
fn locked(home: &Home) -> Vec<Check> {
    let bad = |(pid, name): &(i32, String)| {
        let message = Message::new(Key::DoctorJournalLocked).with("pid", pid).with("name", &one_line(name));
        Check::new("lock", Grade::Bad, message)
    };
    ostler_server::lock_holders(home).iter().map(bad).collect()
}

fn files(home: &Home) -> Vec<Check> {
    let damaged = ostler_server::verify_files(home);
    if damaged.is_empty() {
        return vec![Check::new("files", Grade::Ok, Message::new(Key::DoctorFiles))];
    }
    let bad = |it: &String| Message::new(Key::DoctorFilesBad).with("message", it);
    damaged.iter().map(|it| Check::new("files", Grade::Bad, bad(it))).collect()
}

fn disk(home: &Home) -> Check {
    let there = home.root().ancestors().find(|path| path.exists());
    let Some(Ok(room)) = there.map(statvfs) else {
        let message = Message::new(Key::DoctorHomeBad).with("message", &"statvfs");
        return Check::new("disk", Grade::Warn, message);
    };
    let free = room.f_bavail.saturating_mul(room.f_frsize) >> 20;
    let (grade, key) =
        if free < FREE_MIB_MIN { (Grade::Warn, Key::DoctorDiskLow) } else { (Grade::Ok, Key::DoctorDisk) };
    Check::new("disk", grade, Message::new(key).with("free", &free))
}

fn git() -> Check {
    match program::first_line(&["git".to_owned(), "--version".to_owned()]) {
        Err(error) => {
            Check::new("git", Grade::Warn, Message::new(Key::DoctorGitNone).with("message", &error))
        }
        Ok(version) => {
            let is_old = program::version_numbers(&version) < GIT_MIN.to_vec();
            let (grade, key) =
                if is_old { (Grade::Warn, Key::DoctorGitOld) } else { (Grade::Ok, Key::DoctorGit) };
            Check::new("git", grade, Message::new(key).with("version", &version))
        }
    }
}

fn shim() -> Check {
    match program::starts_itself() {
        Ok(()) => Check::new("shim", Grade::Ok, Message::new(Key::DoctorShim)),
        Err(error) => {
            Check::new("shim", Grade::Bad, Message::new(Key::DoctorShimBad).with("message", &error))
        }
    }
}

/// A process of the user can lower the limit of another, which then counts as an agent's.
fn marks(home: &Home) -> Vec<Check> {
    let found = ostler_server::branded(home);
    let own = found.own.then(|| Check::new("mark", Grade::Bad, Message::new(Key::DoctorMarkOwn)));
    let other = |(pid, command): &(i32, String)| {
        let message = Message::new(Key::DoctorMarkOther).with("pid", pid).with("command", &one_line(command));
        Check::new("mark", Grade::Warn, message)
    };
    let checks: Vec<Check> = own.into_iter().chain(found.others.iter().map(other)).collect();
    if checks.is_empty() {
        return vec![Check::new("mark", Grade::Ok, Message::new(Key::DoctorMark))];
    }
    checks
}

/// systemd may end everything that was started in a session or a service together with it.
fn cgroup() -> Check {
    let text = kernel::read_text("/proc/self/cgroup").unwrap_or_default();
    let group = text.lines().last().and_then(|line| line.rsplit('/').next()).unwrap_or_default();
    if group.starts_with("session-") || group.ends_with(".service") {
        let message = Message::new(Key::DoctorCgroupScope).with("name", &group);
        return Check::new("cgroup", Grade::Warn, message);
    }
    Check::new("cgroup", Grade::Ok, Message::new(Key::DoctorCgroup))
}

fn unit() -> Check {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let directory = set("XDG_CONFIG_HOME").or_else(|| Some(set("HOME")?.join(".config")));
    let path = directory.unwrap_or_default().join("systemd/user/ostler.service");
    match named::read_text(&path, FILE_BYTES_MAX) {
        Err(_) => Check::new("unit", Grade::Ok, Message::new(Key::DoctorUnitNone)),
        Ok(text) if text.lines().any(|line| line.trim() == "KillMode=process") => {
            Check::new("unit", Grade::Ok, Message::new(Key::DoctorUnit))
        }
        Ok(_) => {
            let message = Message::new(Key::DoctorUnitBad).with("path", &path.display());
            Check::new("unit", Grade::Bad, message)
        }
    }
}
