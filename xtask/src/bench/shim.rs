//! `cargo xtask bench shim`: how long an agent still runs after it has asked.
//!
//! The same agent is stopped by the shim, by a reader in C and by one on Node, in one run. It notes in shared memory
//! when it wrote its question and when it last ran, so that nothing of what stops it has to be changed for this.

use std::{
    env, fs,
    io::{self, BufRead, BufReader, Read, Write},
    os::{
        fd::OwnedFd,
        unix::{fs::FileExt, net::UnixStream},
    },
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use serde_json::{Value, json};

use super::quotient;
use crate::{
    error::Error,
    process::{cargo, executable, program, root, run as run_command, start_error, succeeds},
};

/// How often each agent asks.
const ROUNDS: u64 = 500;

/// Between two questions: nobody asks again at once, and who has just worked is let in later by the kernel.
const BETWEEN: Duration = Duration::from_millis(10);

/// How long a stop may take before the benchmark gives up.
const PATIENCE: Duration = Duration::from_secs(30);

/// The agent's notes, in the order of the fields in `benches/shim/agent.c`.
#[derive(Clone, Copy)]
enum Note {
    Pid,
    Go,
    Before,
    Last,
    Progress,
    Released,
}

/// What stops the agent.
enum Stopper {
    Shim { socket: BufReader<UnixStream>, spool: PathBuf },
    Reader,
}

impl Stopper {
    /// Whether it has stopped the agent. A frozen process does not show it, but the shim writes it down, and only
    /// what is new there is looked at: whoever watches takes time from those who are watched.
    fn has_stopped(&self, pid: u64, spool_before: u64) -> bool {
        match self {
            Stopper::Shim { spool, .. } => {
                let mut bytes = [0; 4096];
                let read = fs::File::open(spool).and_then(|file| file.read_at(&mut bytes, spool_before));
                let records = String::from_utf8_lossy(&bytes[..read.unwrap_or(0)]).into_owned();
                records.contains("\"event\":\"stopped\"")
            }
            Stopper::Reader => is_stopped(pid),
        }
    }

    /// How much of the spool is known.
    fn spool_length(&self) -> u64 {
        match self {
            Stopper::Shim { spool, .. } => fs::metadata(spool).map_or(0, |it| it.len()),
            Stopper::Reader => 0,
        }
    }
}

/// One row of the table, times in nanoseconds.
struct Row {
    name: &'static str,
    median: u64,
    late: u64,
    /// How many agents did nothing behind the write.
    at_once: u64,
}

pub(crate) fn run() -> Result<(), Error> {
    let ostler = executable(cargo().args(["build", "--release", "-p", "ostler"]), "ostler")?;
    let directory = env::temp_dir().join(format!("ostler-bench-{}", std::process::id()));
    fs::create_dir(&directory).map_err(|source| Error::Write { path: directory.clone(), source })?;
    let outcome = measure_all(&ostler, &directory);
    fs::remove_dir_all(&directory).map_err(|source| Error::Write { path: directory, source })?;
    print(&outcome?);
    Ok(())
}

fn measure_all(ostler: &Path, directory: &Path) -> Result<Vec<Row>, Error> {
    let (agent, reader) = (directory.join("agent"), directory.join("reader"));
    for (source, target) in [("agent.c", &agent), ("reader.c", &reader)] {
        let source = root().join("benches/shim").join(source);
        run_command(program("cc").args(["-O2", "-pthread", "-o"]).arg(target).arg(source).arg("-lutil"))?;
    }
    let mut rows = Vec::new();
    for (name, terminal) in [("C, pipe", "pipe"), ("C, terminal", "pty")] {
        let notes = notes(directory, name)?;
        let child = start(program(&reader).arg(terminal).arg(&agent).arg(&notes))?;
        rows.push(measure(name, child, Stopper::Reader, &notes)?);
    }
    if succeeds(program("node").arg("--version")) {
        let notes = notes(directory, "node")?;
        let script = root().join("benches/shim/reader.mjs");
        let child = start(program("node").arg(script).arg(&agent).arg(&notes))?;
        rows.push(measure("Node, pipe", child, Stopper::Reader, &notes)?);
    } else {
        println!("SKIPPED Node: it is not installed");
    }
    let pty = json!({ "pty": { "rows": 24, "columns": 80 } });
    for (name, terminal) in [("Ostler, pipe", json!("none")), ("Ostler, terminal", pty)] {
        let notes = notes(directory, name)?;
        let home = directory.join(name);
        let (child, socket) = shim(ostler, &agent, &notes, &home, &terminal)?;
        let stopper = Stopper::Shim { socket, spool: home.join("spool.ndjson") };
        rows.push(measure(name, child, stopper, &notes)?);
    }
    Ok(rows)
}

/// An empty file for the notes of one agent.
fn notes(directory: &Path, name: &str) -> Result<PathBuf, Error> {
    let path = directory.join(format!("{name}.notes"));
    let made = fs::File::create(&path).and_then(|file| file.set_len(4096));
    made.map_err(|source| Error::Write { path: path.clone(), source })?;
    Ok(path)
}

fn start(command: &mut Command) -> Result<Child, Error> {
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null());
    quiet.spawn().map_err(|source| start_error(command, source))
}

fn shim(
    ostler: &Path,
    agent: &Path,
    notes: &Path,
    directory: &Path,
    terminal: &Value,
) -> Result<(Child, BufReader<UnixStream>), Error> {
    let launch = json!({
        "session": "bench", "command": [agent, notes], "directory": "/", "environment": {},
        "terminal": terminal, "input": "open", "format": "text", "nonce": null, "thin_role": false,
        "stop": true, "log_bytes_max": 1 << 30,
    });
    let sealed = fs::create_dir(directory).and_then(|()| seal(launch.to_string().as_bytes()));
    let sealed = sealed.map_err(|source| Error::Write { path: directory.to_path_buf(), source })?;
    let mut command = program(ostler);
    command.arg("__shim").arg(directory).stdin(sealed).stdout(Stdio::null());
    let child = command.spawn().map_err(|source| start_error(&command, source))?;
    let socket = directory.join("ctl.sock");
    let stream = wait_for(&socket, || UnixStream::connect(&socket).ok())?;
    let mut reader = BufReader::new(stream);
    let mut greeting = String::new();
    reader.read_line(&mut greeting).map_err(|source| Error::Read { path: socket, source })?;
    Ok((child, reader))
}

/// What a shim takes as its launch: a file in memory that nobody can change.
fn seal(launch: &[u8]) -> io::Result<OwnedFd> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let mut file = fs::File::from(memfd_create("launch", flags)?);
    file.write_all(launch)?;
    fcntl_add_seals(&file, SealFlags::SEAL | SealFlags::SHRINK | SealFlags::GROW | SealFlags::WRITE)?;
    Ok(file.into())
}

/// Lets the agent ask again and again, and ends it.
fn measure(name: &'static str, mut child: Child, mut stopper: Stopper, path: &Path) -> Result<Row, Error> {
    let outcome = rounds(&mut stopper, path);
    // The agent goes first: what stops it ends with it.
    if let Ok(Some(pid)) = note(path, Note::Pid).map(|pid| (pid > 0).then_some(pid)) {
        succeeds(program("kill").args(["-KILL", &pid.to_string()]));
    }
    child.wait().map_err(|source| Error::Start { program: name.to_owned(), source })?;
    let (mut times, at_once) = outcome?;
    times.sort_unstable();
    Ok(Row { name, median: times[times.len() / 2], late: times[times.len() * 99 / 100], at_once })
}

fn rounds(stopper: &mut Stopper, path: &Path) -> Result<(Vec<u64>, u64), Error> {
    let pid = wait_for(path, || note(path, Note::Pid).ok().filter(|pid| *pid > 0))?;
    let (mut times, mut at_once) = (Vec::new(), 0);
    for round in 1..=ROUNDS {
        let (before, spool_before) = (note(path, Note::Before)?, stopper.spool_length());
        thread::sleep(BETWEEN);
        set(path, Note::Go, round)?;
        wait_for(path, || {
            let has_asked = note(path, Note::Before).ok()? > before;
            (has_asked && stopper.has_stopped(pid, spool_before)).then_some(())
        })?;
        times.push(note(path, Note::Last)?.saturating_sub(note(path, Note::Before)?));
        at_once += u64::from(note(path, Note::Progress)? == 0);
        set(path, Note::Released, round)?;
        match stopper {
            Stopper::Shim { socket, .. } => ask_to_go_on(socket, path)?,
            Stopper::Reader => run_command(program("kill").args(["-CONT", &pid.to_string()]))?,
        }
    }
    Ok((times, at_once))
}

fn ask_to_go_on(socket: &mut BufReader<UnixStream>, path: &Path) -> Result<(), Error> {
    let failed = |source| Error::Read { path: path.to_owned(), source };
    socket.get_mut().write_all(b"{\"id\":1,\"do\":\"go_on\"}\n").map_err(failed)?;
    let mut reply = String::new();
    socket.take(4096).read_line(&mut reply).map_err(failed)?;
    Ok(())
}

/// Whether all threads of a process are stopped.
fn is_stopped(pid: u64) -> bool {
    let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else { return false };
    tasks.flatten().all(|task| {
        let stat = fs::read_to_string(task.path().join("stat")).unwrap_or_default();
        stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('T'))
    })
}

fn note(path: &Path, note: Note) -> Result<u64, Error> {
    let mut bytes = [0; 8];
    let read = fs::File::open(path).and_then(|file| file.read_exact_at(&mut bytes, note as u64 * 8));
    read.map_err(|source| Error::Read { path: path.to_owned(), source })?;
    Ok(u64::from_ne_bytes(bytes))
}

fn set(path: &Path, note: Note, value: u64) -> Result<(), Error> {
    let file = fs::OpenOptions::new().write(true).open(path);
    let written = file.and_then(|file| file.write_all_at(&value.to_ne_bytes(), note as u64 * 8));
    written.map_err(|source| Error::Write { path: path.to_owned(), source })
}

fn wait_for<T>(path: &Path, mut look: impl FnMut() -> Option<T>) -> Result<T, Error> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(seen) = look() {
            return Ok(seen);
        }
        if Instant::now() >= deadline {
            return Err(Error::Read { path: path.to_owned(), source: io::ErrorKind::TimedOut.into() });
        }
        thread::sleep(Duration::from_millis(1));
    }
}

fn print(rows: &[Row]) {
    println!(
        "An agent's write() of its question to the last moment at which it ran; {ROUNDS} questions each.\n"
    );
    println!("| stopped by | p50, µs | p99, µs | p50 to C | p99 to C | did nothing behind the write |");
    println!("|---|---:|---:|---:|---:|---:|");
    for row in rows {
        let kind = row.name.rsplit(' ').next();
        let base =
            rows.iter().find(|base| base.name.starts_with('C') && base.name.rsplit(' ').next() == kind);
        let [p50, p99] = [(row.median, base.map(|it| it.median)), (row.late, base.map(|it| it.late))].map(
            |(own, base)| base.filter(|base| *base > 0).map_or("–".to_owned(), |base| quotient(own, base)),
        );
        let [median, late] = [row.median, row.late].map(|time| quotient(time, 1000));
        println!("| {} | {median} | {late} | {p50} | {p99} | {} % |", row.name, row.at_once * 100 / ROUNDS);
    }
}
