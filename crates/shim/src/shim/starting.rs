//! From a directory to a running agent.

use std::{path::Path, time::Instant};

use ostler_protocol::{Format, Parser, Settings, stream::Table};
use rustix::{
    fs::{Mode, OFlags, open},
    io::Errno,
    process::{getpid, getsid, set_child_subreaper, setsid},
    stdio::{dup2_stdin, dup2_stdout},
};

use super::{Shim, raw};
use crate::{
    agent::{Agent, child_signals, reset_signals},
    cgroup::Cgroup,
    control::{Greeting, VERSION},
    error::Error,
    input::Input,
    launch::{CgroupPolicy, Launch, OutputFormat, Terminal},
    limits::Limits,
    masking::Masking,
    output::{ERR, Log, OUT},
    priority::ask_for_short_slices,
    socket::Socket,
    spool::{self, Happening, Spool},
    tree::{self, Tree},
};

impl Shim {
    pub(super) fn start(directory: &Path, launch: &Launch) -> Result<Shim, Error> {
        // A client that is gone, and a file that may not grow, must be errors and not the end.
        reset_signals(&[libc::SIGPIPE, libc::SIGXFSZ]);
        let children = child_signals()
            .map_err(|source| Error::System { what: "hear of the end of children", source })?;
        ask_for_short_slices();
        lead_session().map_err(system("lead a session"))?;
        set_child_subreaper(Some(getpid())).map_err(system("adopt orphans"))?;
        let greeting = Greeting { shim: VERSION, session: launch.session.clone() };
        let parser = parser(launch)?;
        let (out, err) = (
            Log::create(directory, OUT, launch.log_bytes_max)?,
            Log::create(directory, ERR, launch.log_bytes_max)?,
        );
        let (mut spool, socket) =
            (Spool::create(directory)?, Socket::bind(directory, greeting, launch.person_limit())?);
        let_go_of_streams().map_err(system("let go of its streams"))?;
        let auto = launch.cgroup == CgroupPolicy::Auto;
        let cgroup = auto.then(|| Cgroup::make(&launch.session, directory)).flatten();
        let mut agent = match Agent::start(launch, cgroup.as_ref()) {
            Ok(agent) => agent,
            Err(error) => {
                cgroup.inspect(Cgroup::remove);
                spool.add(Happening::NotStarted { message: error.to_string() });
                let path = directory.join(spool::FILE);
                spool.write().map_err(|source| Error::Write { path, source })?;
                return Err(error);
            }
        };
        let pid = agent.pid;
        let cgroup = cgroup.filter(|cgroup| {
            let moved_in = cgroup.holds(pid);
            if !moved_in {
                cgroup.remove();
            }
            moved_in
        });
        let input = Input::new(agent.input.take(), agent.reads_terminal());
        let mut shim = Shim {
            agent,
            children,
            tree: Tree::new(pid, cgroup),
            parser,
            masking: Masking::new(launch.values.as_deref()),
            out,
            err,
            spool,
            socket,
            stops: launch.stop,
            stopped: None,
            stop_noted: false,
            stop_seq: 0,
            stop_checked_at: Instant::now(),
            stalled: false,
            cancel_at: None,
            input,
            heard_at: Instant::now(),
            heard_to: 0,
            end_key: launch.end_key.clone(),
            limits: Limits::own(),
        };
        let began = tree::look(pid).map_or(0, |process| process.began);
        let cgroup = shim.tree.cgroup().map(|cgroup| cgroup.path().to_path_buf());
        shim.spool.add(Happening::Started { pid: raw(pid), began, cgroup });
        shim.write_down();
        Ok(shim)
    }
}

fn parser(launch: &Launch) -> Result<Parser, Error> {
    let format = match &launch.format {
        OutputFormat::Text => Format::Text,
        OutputFormat::Table(toml) => Format::Structured(Table::parse(toml).map_err(Error::Table)?),
    };
    let nonce = launch.nonce.as_deref().map(str::parse).transpose().map_err(Error::Nonce)?;
    let (thin_role, terminal) = (launch.thin_role, launch.terminal != Terminal::None);
    Ok(Parser::new(format, Settings { nonce, thin_role, terminal, ..Settings::default() }))
}

/// Whoever leads a session already need not, and cannot, lead another.
fn lead_session() -> Result<(), Errno> {
    match setsid() {
        Err(Errno::PERM) if getsid(None) == Ok(getpid()) => Ok(()),
        outcome => outcome.map(drop),
    }
}

/// Whoever has started the shim and waits until it can be talked to is not kept waiting any longer. Nothing is said there,
/// and the launch, which holds keys, is not kept open.
fn let_go_of_streams() -> Result<(), Errno> {
    let nowhere = open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    dup2_stdin(&nowhere)?;
    dup2_stdout(nowhere)
}

fn system(what: &'static str) -> impl Fn(Errno) -> Error {
    move |source| Error::System { what, source: source.into() }
}
