//! The hidden command that stands between the server and a person's own program. It leads the group in which that runs,
//! and ends all of it when the server is gone, whatever ended that: nobody else would.

use std::{
    ffi::OsString,
    io::{self, Write},
    os::unix::process::ExitStatusExt,
    process::{Command, ExitCode, Stdio},
    thread,
};

use rustix::{
    event::{PollFd, PollFlags, poll},
    io::Errno,
    process::{Signal, getpgrp, kill_process_group},
};

/// What it ends with, where the program could not be started. Why stands in its output.
pub(super) const NOT_STARTED: u8 = 127;

/// Runs a program to its end, or to that of whoever holds the other end of the output.
#[expect(
    clippy::disallowed_methods,
    reason = "its arguments and its environment were looked after by the server"
)]
pub fn attend(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let mut command = Command::new(arguments.next().unwrap_or_default());
    command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            // Where even that cannot be said, the code says it.
            write!(io::stdout(), "{error}").ok();
            return NOT_STARTED.into();
        }
    };
    thread::spawn(end_with_the_server);
    match child.wait() {
        Ok(status) => {
            let code = status.code().or_else(|| Some(128 + status.signal()?));
            code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1).into()
        }
        Err(_) => ExitCode::FAILURE,
    }
}

/// Waits until nobody can read the output any more, then ends the whole group, this process with it.
fn end_with_the_server() {
    let output = io::stdout();
    let mut watched = [PollFd::new(&output, PollFlags::empty())];
    while matches!(poll(&mut watched, None), Err(Errno::INTR)) {}
    kill_process_group(getpgrp(), Signal::KILL).ok();
}
