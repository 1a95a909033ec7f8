//! Programs that are asked which version they are, and the browser that shows the page. The only module of the command
//! line that starts one.

use std::{
    env, io,
    os::unix::{fs::PermissionsExt, process::CommandExt},
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use ostler_shim::{LockLimit, limit_locks};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open},
};

/// How long a program may take to say its version.
const VERSION_MAX: Duration = Duration::from_secs(10);

/// The first line that a program prints, or why there is none. An agent can write into the configuration what is run
/// here, so the program carries the mark of helpers and is no person at the server's socket.
#[expect(clippy::disallowed_methods, reason = "this is where programs are asked for their version")]
pub(crate) fn first_line(command: &[String]) -> Result<String, io::Error> {
    let (program, arguments) = command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut command = Command::new(program);
    limit_locks(&mut command, LockLimit::own().helper_mark());
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // With whatever it starts, so that all of it can be ended.
    let child = command.process_group(0).spawn()?;
    let ended = end_after(&child, VERSION_MAX);
    let output = child.wait_with_output()?;
    ended.map_err(|()| io::Error::new(io::ErrorKind::TimedOut, "it did not say its version in time"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().map(str::trim).find(|line| !line.is_empty());
    match line {
        Some(line) if output.status.success() => Ok(line.to_owned()),
        _ => {
            let errors = String::from_utf8_lossy(&output.stderr);
            let why = errors.lines().find(|line| !line.trim().is_empty()).unwrap_or("no version");
            Err(io::Error::other(format!("{}: {why}", output.status)))
        }
    }
}

/// Waits until a program has ended, and ends it and whatever it has started when it takes too long.
fn end_after(child: &Child, time: Duration) -> Result<(), ()> {
    let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) else { return Ok(()) };
    // Where it cannot be watched it is waited for.
    let Ok(watched) = pidfd_open(pid, PidfdFlags::empty()) else { return Ok(()) };
    let mut poll_for = [PollFd::new(&watched, PollFlags::IN)];
    let time = Timespec::try_from(time).ok();
    match poll(&mut poll_for, time.as_ref()) {
        Ok(0) => {
            kill_process_group(pid, Signal::KILL).ok();
            Err(())
        }
        _ => Ok(()),
    }
}

/// Whether a program is there to be started.
pub(crate) fn is_installed(program: &str) -> bool {
    let is_program =
        |path: &Path| path.metadata().is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0);
    if program.contains('/') {
        return is_program(Path::new(program));
    }
    let search = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&search).any(|folder| is_program(&folder.join(program)))
}

/// Whether this very program can be started again, as each agent's shim is.
#[expect(clippy::disallowed_methods, reason = "a shim is a start of this program")]
pub(crate) fn starts_itself() -> Result<(), io::Error> {
    let mut command = Command::new(env::current_exe()?);
    // There is no such directory, and the shim says so with its own exit code: it has started.
    command
        .args(["__shim", "/dev/null/nowhere"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let status = command.status()?;
    let as_expected = status.code() == Some(i32::from(crate::exit::Exit::Shim as u8));
    if as_expected { Ok(()) } else { Err(io::Error::other(status.to_string())) }
}

/// Has a browser open a link, and lets go of it. What names the browser may name several, and say where the link goes.
#[expect(clippy::disallowed_methods, reason = "a browser is started for whoever asks for one")]
pub(crate) fn open(browser: &str, url: &str) -> Result<(), io::Error> {
    let first = browser.split(':').next().unwrap_or_default();
    let mut words = first.split_whitespace();
    let mut command = Command::new(words.next().ok_or(io::ErrorKind::InvalidInput)?);
    let has_place = first.contains("%s");
    command.args(words.map(|word| word.replace("%s", url)));
    command.args((!has_place).then_some(url));
    // Ctrl-C here is not meant for it.
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    command.spawn().map(drop)
}

/// The numbers of a version in some words: `git version 2.43.0` is `[2, 43, 0]`.
pub(crate) fn version_numbers(text: &str) -> Vec<u64> {
    let is_version = |word: &&str| word.contains('.') && word.starts_with(|it: char| it.is_ascii_digit());
    let word = text.split(|it: char| !(it.is_ascii_alphanumeric() || it == '.')).find(is_version);
    word.unwrap_or_default().split('.').map_while(|number| number.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_found_in_its_words() {
        assert_eq!(version_numbers("git version 2.43.0"), [2, 43, 0]);
        assert_eq!(version_numbers("2.1.210 (Claude Code)"), [2, 1, 210]);
        assert_eq!(version_numbers("codex-cli 0.166.0"), [0, 166, 0]);
        assert_eq!(version_numbers("none"), [0; 0]);
    }

    #[test]
    fn a_program_says_its_first_line() {
        let words = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(first_line(&words(&["printf", "\\n 1.2 \\nmore"])).ok().as_deref(), Some("1.2"));
        assert!(first_line(&words(&["false"])).is_err());
        assert!(first_line(&words(&["no-such-program-anywhere"])).is_err());
        assert!(first_line(&[]).is_err());
    }
}
