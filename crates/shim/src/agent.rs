//! Starts the agent and holds the ends of its streams.
//!
//! The agent leads a process group of its own in the shim's session: its parent is in the same session and another
//! group, so the kernel does not discard job-control signals, and what is typed at a terminal reaches it alone.

use std::{
    fs::File,
    io::{self, Write},
    os::{
        fd::{AsFd, FromRawFd, OwnedFd},
        unix::process::CommandExt,
    },
    process::{Command, Stdio},
};

use rustix::{
    fs::{Mode, OFlags, fcntl_setfl, open},
    process::{
        Pid, Resource, Rlimit, Signal, WaitId, WaitIdOptions, WaitOptions, WaitStatus, getpid, getppid,
        getrlimit, ioctl_tiocsctty, set_parent_process_death_signal, setrlimit, waitid, waitpid,
    },
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    stdio::stdout,
    termios::{LocalModes, OptionalActions, Winsize, tcgetattr, tcsetattr, tcsetpgrp, tcsetwinsize},
};

use crate::{
    cgroup::Cgroup,
    confine::Confinement,
    error::Error,
    launch::{Input, Launch, Terminal},
};

/// A running agent.
#[derive(Debug)]
pub(crate) struct Agent {
    pub(crate) pid: Pid,
    /// The streams; each is gone once it has ended.
    pub(crate) input: Option<OwnedFd>,
    pub(crate) output: Option<OwnedFd>,
    pub(crate) errors: Option<OwnedFd>,
    reads_terminal: bool,
    /// The shim's end of the terminal, if there is one.
    terminal: Option<OwnedFd>,
    /// The agent's end, held so that the terminal does not hang up while nobody else has it open: who comes back to
    /// it later is still heard.
    _kept_open: Option<OwnedFd>,
}

impl Agent {
    /// Starts it, in a control group if there is one for it.
    pub(crate) fn start(launch: &Launch, cgroup: Option<&Cgroup>) -> Result<Agent, Error> {
        let [program, arguments @ ..] = &launch.command[..] else {
            let source = io::Error::new(io::ErrorKind::InvalidInput, "no command");
            return Err(Error::Start { program: String::new(), source });
        };
        let mut command = command(program);
        command.args(arguments).current_dir(&launch.directory).env_clear().envs(&launch.environment);
        let is_unset = |(name, _): &(&String, &String)| !launch.environment.contains_key(*name);
        command.envs(launch.given.iter().filter(is_unset));
        command.env("OSTLER_SESSION", &launch.session).process_group(0);
        prepare(&mut command, launch, cgroup.and_then(|cgroup| cgroup.door().ok()));
        let failed = |source| Error::Start { program: program.clone(), source };
        match launch.terminal {
            Terminal::None => start_on_pipes(command, launch.input).map_err(failed),
            Terminal::Pty { rows, columns } => {
                start_on_pty(command, launch.input, rows, columns).map_err(failed)
            }
        }
    }

    /// Whether it has ended. It is not buried yet, so that its number stays its own as long as its group is signalled.
    pub(crate) fn has_ended(&self) -> io::Result<bool> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        Ok(waitid(WaitId::Pid(self.pid), options)?.is_some())
    }

    /// Buries it and says what became of it.
    pub(crate) fn bury(&self) -> io::Result<Option<WaitStatus>> {
        Ok(waitpid(Some(self.pid), WaitOptions::NOHANG)?.map(|(_, status)| status))
    }

    /// Whether it reads from a terminal.
    pub(crate) fn reads_terminal(&self) -> bool {
        self.reads_terminal
    }

    /// Whether this agent has a terminal, and it now has that size.
    pub(crate) fn resize(&self, rows: u16, columns: u16) -> io::Result<bool> {
        let Some(terminal) = &self.terminal else { return Ok(false) };
        tcsetwinsize(terminal, size(rows, columns))?;
        Ok(true)
    }
}

#[expect(clippy::disallowed_methods, reason = "this is where agents are started")]
fn command(program: &str) -> Command {
    Command::new(program)
}

fn start_on_pipes(mut command: Command, input: Input) -> io::Result<Agent> {
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).stdin(match input {
        Input::Open | Input::Piped => Stdio::piped(),
        Input::Empty => Stdio::null(),
    });
    let mut child = command.spawn()?;
    let pid = pid(child.id())?;
    Ok(Agent {
        pid,
        input: child.stdin.take().map(OwnedFd::from).map(without_blocking).transpose()?,
        output: child.stdout.take().map(OwnedFd::from).map(without_blocking).transpose()?,
        errors: child.stderr.take().map(OwnedFd::from).map(without_blocking).transpose()?,
        reads_terminal: false,
        terminal: None,
        _kept_open: None,
    })
}

/// The shim leads the terminal's session, the agent is its foreground group.
fn start_on_pty(mut command: Command, input: Input, rows: u16, columns: u16) -> io::Result<Agent> {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&ours)?;
    unlockpt(&ours)?;
    let name = ptsname(&ours, Vec::new())?;
    let theirs = open(&*name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())?;
    tcsetwinsize(&ours, size(rows, columns))?;
    // What is written to the agent must not come back as if it had said it.
    let mut attributes = tcgetattr(&theirs)?;
    attributes.local_modes.remove(LocalModes::ECHO | LocalModes::ECHONL);
    tcsetattr(&theirs, OptionalActions::Now, &attributes)?;
    ioctl_tiocsctty(&theirs)?;
    let end = || theirs.as_fd().try_clone_to_owned().map(Stdio::from);
    command.stdout(end()?).stderr(end()?);
    command.stdin(if input == Input::Piped { Stdio::piped() } else { end()? });
    let mut child = command.spawn()?;
    let pid = pid(child.id())?;
    let ours = without_blocking(ours)?;
    let pipe = child.stdin.take().map(OwnedFd::from).map(without_blocking).transpose()?;
    Ok(Agent {
        pid,
        reads_terminal: pipe.is_none(),
        input: Some(pipe.map_or_else(|| ours.try_clone(), Ok)?),
        output: Some(ours.try_clone()?),
        errors: None,
        terminal: Some(ours),
        _kept_open: Some(theirs),
    })
}

/// What the child does before it becomes the agent.
#[expect(unsafe_code, reason = "only between fork and exec can these be set, and std calls that unsafe")]
fn prepare(command: &mut Command, launch: &Launch, door: Option<File>) {
    let shim = getpid();
    let on_terminal = launch.terminal != Terminal::None;
    let open_files_max = launch.open_files_max;
    let mark = launch.agent_limit();
    // Made before the fork: between that and exec nothing may be allocated.
    let confinement = Confinement::new(launch.writes.as_deref(), launch.scope_signals);
    let before_exec = move || {
        // A shim that dies must not leave an agent behind: the kernel would continue a stopped one.
        set_parent_process_death_signal(Some(Signal::KILL))?;
        if getppid() != Some(shim) {
            return Err(io::Error::other("the shim is gone"));
        }
        if let Some(mut door) = door.as_ref() {
            // Who may not move in is looked after without a group.
            door.write_all(b"0").ok();
        }
        if on_terminal {
            // SAFETY: `signal` is async-signal-safe and changes only this process.
            unsafe { libc::signal(libc::SIGTTOU, libc::SIG_IGN) };
            // Its input may be a pipe.
            tcsetpgrp(stdout(), getpid())?;
        }
        reset_signals(&[]);
        // Its memory holds what it was given, and a crash would leave it in a file; whoever wants that can raise it.
        let maximum = getrlimit(Resource::Core).maximum;
        setrlimit(Resource::Core, Rlimit { current: Some(0), maximum })?;
        if let Some(most) = open_files_max {
            let maximum = getrlimit(Resource::Nofile).maximum;
            let current = Some(maximum.map_or(most, |maximum| most.min(maximum)));
            setrlimit(Resource::Nofile, Rlimit { current, maximum })?;
        }
        // A kernel that does not keep this limit leaves the agent without the mark, and the older checks.
        mark.enter().ok();
        if let Some(confinement) = &confinement {
            confinement.enter()?;
        }
        // What the shim inherited by accident is not for the agent.
        // SAFETY: the call only marks descriptors, which are closed by exec.
        unsafe { libc::close_range(3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC.cast_signed()) };
        Ok(())
    };
    // SAFETY: the closure makes system calls only; it allocates nothing and takes no lock.
    unsafe { command.pre_exec(before_exec) };
}

/// Every signal but those that are ignored does what it does by default, and none is held back.
#[expect(unsafe_code, reason = "there is no safe way to set what a signal does")]
pub(crate) fn reset_signals(ignored: &[libc::c_int]) {
    for signal in 1..32 {
        let action = if ignored.contains(&signal) { libc::SIG_IGN } else { libc::SIG_DFL };
        // SAFETY: no handler is installed, and those that cannot be set are refused.
        unsafe { libc::signal(signal, action) };
    }
    // SAFETY: the set is initialised by the first call before the second reads it.
    unsafe {
        let mut none = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
    }
}

/// Readable whenever a child has ended. It holds the signal back, which is what lets it be read.
#[expect(unsafe_code, reason = "there is no safe way to read signals from a descriptor")]
pub(crate) fn child_signals() -> io::Result<OwnedFd> {
    // SAFETY: the set is initialised before it is read, and the descriptor is new and nobody else's.
    unsafe {
        let mut children = std::mem::zeroed();
        libc::sigemptyset(&raw mut children);
        libc::sigaddset(&raw mut children, libc::SIGCHLD);
        if libc::sigprocmask(libc::SIG_BLOCK, &raw const children, std::ptr::null_mut()) != 0 {
            return Err(io::Error::last_os_error());
        }
        let fd = libc::signalfd(-1, &raw const children, libc::SFD_NONBLOCK | libc::SFD_CLOEXEC);
        if fd < 0 { Err(io::Error::last_os_error()) } else { Ok(OwnedFd::from_raw_fd(fd)) }
    }
}

fn pid(raw: u32) -> io::Result<Pid> {
    let raw = i32::try_from(raw).ok().and_then(Pid::from_raw);
    raw.ok_or_else(|| io::Error::other("the agent has no process id"))
}

fn size(rows: u16, columns: u16) -> Winsize {
    Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }
}

fn without_blocking(fd: OwnedFd) -> io::Result<OwnedFd> {
    fcntl_setfl(&fd, OFlags::NONBLOCK)?;
    Ok(fd)
}
