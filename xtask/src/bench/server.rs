//! `cargo xtask bench server`: how soon an agent reads its answer, how many agents are started in a second, what an idle
//! session costs, and how long a server with a long past takes to its first answer.
//!
//! The server is a release build on a state directory of its own, asked over its socket. What it is compared with is
//! measured in the same rounds.

use std::{
    env,
    fs::{self, File},
    io::{BufRead, BufReader},
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    process::{Child, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use self::http::Client;
use super::quotient;
use crate::{
    error::Error,
    process::{cargo, executable, program, run as run_command, start_error, succeeds},
};

mod http;

/// How often the agent asks.
const QUESTIONS: usize = 200;

/// How often starts are measured, and how many in a round.
const ROUNDS: usize = 5;
const STARTS: usize = 200;

/// How many clients ask for starts at once.
const CLIENTS: usize = 8;

/// How many sessions are idle.
const IDLE: usize = 200;

/// How many sessions lie behind a server that starts.
const PAST: usize = 10_000;

/// A project in git, beside the one that is not.
const REPOSITORY: &str = "repository";

/// What the page asks for first.
const PAGE: [&str; 3] = ["/status", "/sessions?all=true", "/projects"];

/// How often it is started.
const COLD_STARTS: usize = 9;

/// How long anything may take before the benchmark gives up.
const PATIENCE: Duration = Duration::from_mins(5);

/// Asks, and says in microseconds since 1970 when it has read the answer.
const AGENT: &str = r#"while :; do
printf '[USER_QUESTION]\ncategory: clarification\nquestion: Go on?\nrequired: true\n[/USER_QUESTION]\n'
read -r line; now=${EPOCHREALTIME/[^0-9]/}; echo $now >"$0"
done"#;

/// A server on a directory of its own.
pub(super) struct Server {
    ostler: PathBuf,
    home: PathBuf,
    child: Child,
}

pub(crate) fn run() -> Result<(), Error> {
    let ostler = executable(cargo().args(["build", "--release", "-p", "ostler"]), "ostler")?;
    // Not below the repository, or every project would be in one.
    let directory = env::temp_dir().join(format!("ostler-bench-{}", std::process::id()));
    let project = directory.join("project");
    fs::create_dir_all(&project).map_err(|source| Error::Write { path: project.clone(), source })?;
    run_command(program("git").args(["init", "-q"]).arg(directory.join(REPOSITORY)))?;
    let mut server = Server::start(&ostler, &directory.join("home"))?;
    let outcome = answers(&server, &project)
        .and_then(|()| starts(&server, &project))
        .and_then(|()| memory(&server, &project))
        .and_then(|()| cold_start(&mut server, &project));
    server.end()?;
    fs::remove_dir_all(&directory).map_err(|source| Error::Write { path: directory, source })?;
    outcome
}

impl Server {
    pub(super) fn start(ostler: &Path, home: &Path) -> Result<Server, Error> {
        let child = spawn(ostler, home)?;
        let server = Server { ostler: ostler.to_owned(), home: home.to_owned(), child };
        server.client()?;
        Ok(server)
    }

    pub(super) fn client(&self) -> Result<Client, Error> {
        let socket = self.home.join("api.sock");
        wait_for(&socket, || {
            let mut client = Client::connect(&socket).ok()?;
            client.get("/info").ok()?;
            Some(client)
        })
    }

    /// kill -9.
    fn kill(&mut self) -> Result<(), Error> {
        let ended = self.child.kill().and_then(|()| self.child.wait());
        ended.map(drop).map_err(|source| Error::Start { program: "ostler serve".to_owned(), source })
    }

    /// Cancels what is left, and ends the server.
    pub(super) fn end(&mut self) -> Result<(), Error> {
        let mut client = self.client()?;
        let left = client.get("/sessions")?;
        for session in left.as_array().into_iter().flatten() {
            client.post(&format!("/sessions/{}/cancel", word(&session["id"])), &json!({}))?;
        }
        wait_for(&self.home, || client.get("/sessions").ok()?.as_array()?.is_empty().then_some(()))?;
        self.kill()
    }
}

fn spawn(ostler: &Path, home: &Path) -> Result<Child, Error> {
    let mut command = program(ostler);
    command.arg("serve").env("OSTLER_HOME", home).env("XDG_CONFIG_HOME", home.join("config"));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().map_err(|source| start_error(&command, source))
}

pub(super) fn new_run(project: &Path, command: &[&str]) -> Value {
    let path = env::var("PATH").unwrap_or_default();
    json!({ "directory": project, "command": command, "environment": { "PATH": path, "LC_ALL": "C" } })
}

/// The time from an answer to the moment at which the agent has read it.
fn answers(server: &Server, project: &Path) -> Result<(), Error> {
    let fifo = project.join("read");
    run_command(program("mkfifo").arg(&fifo))?;
    let raw = project.join("raw");
    let failed = |source| Error::Write { path: raw.clone(), source };
    let file = File::create(&raw).map_err(failed)?;
    file.write_all_at(&vec![0; 1 << 20], 0).and_then(|()| file.sync_all()).map_err(failed)?;
    let mut client = server.client()?;
    let run = client.post("/runs", &new_run(project, &["bash", "-c", AGENT, &fifo.display().to_string()]))?;
    let (mut http, mut syncs, mut reads) = (Vec::new(), Vec::new(), Vec::new());
    for question in 0..QUESTIONS {
        let request = wait_for(&fifo, || Some(client.get("/inbox").ok()?[0]["id"].as_str()?.to_owned()))?;
        // It stands still, whatever the machine is doing.
        thread::sleep(Duration::from_millis(10));
        let began = Instant::now();
        client.get("/info")?;
        http.push(micros(began.elapsed()));
        let began = Instant::now();
        let at = (question as u64 % 1024) * 1024;
        file.write_all_at(&[1; 450], at).and_then(|()| file.sync_data()).map_err(failed)?;
        syncs.push(micros(began.elapsed()));
        let began = now();
        client.post(&format!("/requests/{request}/answer"), &json!({ "value": "yes" }))?;
        let mut line = String::new();
        let opened = File::open(&fifo).and_then(|fifo| BufReader::new(fifo).read_line(&mut line));
        opened.map_err(|source| Error::Read { path: fifo.clone(), source })?;
        reads.push(line.trim().parse::<u64>().unwrap_or(began).saturating_sub(began));
    }
    client.post(&format!("/sessions/{}/cancel", word(&run["sessions"][0]["id"])), &json!({}))?;
    println!("An answer until the agent has read it; {QUESTIONS} answers.\n");
    println!(
        "| what | p50, µs | p99, µs | p50 to HTTP | p50 to HTTP and two syncs |\n|---|---:|---:|---:|---:|"
    );
    let medians = [&mut http, &mut syncs].map(|times| percentile(times, 50));
    let floor = medians[0] + 2 * medians[1];
    for (name, times) in [("HTTP round trip", http), ("write and fdatasync", syncs), ("answer", reads)] {
        let mut times = times;
        let (p50, p99) = (percentile(&mut times, 50), percentile(&mut times, 99));
        println!("| {name} | {p50} | {p99} | {} | {} |", quotient(p50, medians[0]), quotient(p50, floor));
    }
    println!();
    Ok(())
}

/// How many runs of `true` come to their end in a second.
fn starts(server: &Server, project: &Path) -> Result<(), Error> {
    let has_parallel = succeeds(program("parallel").arg("--version"));
    if !has_parallel {
        println!("SKIPPED GNU parallel: it is not installed\n");
    }
    println!("Runs of `true` per second, each to its end; the median of {ROUNDS} rounds of {STARTS}.\n");
    let repository = project.with_file_name(REPOSITORY);
    let mut rows: [Vec<u64>; 5] = Default::default();
    for _ in 0..ROUNDS {
        let began = Instant::now();
        for _ in 0..STARTS {
            run_command(&mut program("true"))?;
        }
        rows[0].push(rate(STARTS, began.elapsed()));
        if has_parallel {
            let began = Instant::now();
            let numbers = (0..STARTS).map(|number| number.to_string());
            run_command(program("parallel").args(["-j", "2", "-N", "0", "true", ":::"]).args(numbers))?;
            rows[1].push(rate(STARTS, began.elapsed()));
        }
        rows[2].push(rate(STARTS, run_true(server, project, STARTS, 1)?));
        rows[3].push(rate(STARTS, run_true(server, project, STARTS, CLIENTS)?));
        rows[4].push(rate(STARTS, run_true(server, &repository, STARTS, CLIENTS)?));
    }
    println!("| what | per second | to the bare loop |\n|---|---:|---:|");
    let bare = percentile(&mut rows[0], 50);
    let names = [
        "bare loop",
        "GNU parallel",
        "Ostler, one client",
        "Ostler, eight clients",
        "Ostler, eight clients, in a repository",
    ];
    for (name, mut rates) in names.into_iter().zip(rows).filter(|(_, rates)| !rates.is_empty()) {
        let rate = percentile(&mut rates, 50);
        println!("| {name} | {rate} | {} |", quotient(rate, bare));
    }
    println!();
    Ok(())
}

/// Runs `true` so often and waits for the last one.
fn run_true(server: &Server, project: &Path, count: usize, clients: usize) -> Result<Duration, Error> {
    let began = Instant::now();
    let run = new_run(project, &["true"]);
    let ask = |share: usize| -> Result<(), Error> {
        let mut client = server.client()?;
        (0..share).try_for_each(|_| client.post("/runs", &run).map(drop))
    };
    thread::scope(|scope| {
        let asking: Vec<_> = (0..clients).map(|_| scope.spawn(|| ask(count / clients))).collect();
        asking.into_iter().try_for_each(|client| client.join().expect("a client reports its errors"))
    })?;
    let mut client = server.client()?;
    wait_for(project, || client.get("/sessions").ok()?.as_array()?.is_empty().then_some(()))?;
    Ok(began.elapsed())
}

/// What idle sessions take.
fn memory(server: &Server, project: &Path) -> Result<(), Error> {
    let mut client = server.client()?;
    let pid = server.child.id();
    let before = kib(pid, "status", "VmRSS:");
    let run = new_run(project, &["sleep", "1000"]);
    for _ in 0..IDLE {
        client.post("/runs", &run)?;
    }
    let is_running = |session: &Value| session["pid"].is_number();
    wait_for(project, || client.get("/sessions").ok()?.as_array()?.iter().all(is_running).then_some(()))?;
    let after = kib(pid, "status", "VmRSS:");
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let of_task = |task: fs::DirEntry| fs::read_to_string(task.path().join("children")).unwrap_or_default();
    let all = tasks.map(of_task).collect::<Vec<_>>().join(" ") + &children;
    let shims: std::collections::BTreeSet<u32> = all.split_whitespace().flat_map(str::parse).collect();
    let pss: u64 = shims.iter().map(|shim| kib(*shim, "smaps_rollup", "Pss:")).sum();
    println!("Memory with {IDLE} idle sessions, KiB.\n\n| what | each |\n|---|---:|");
    println!("| server, RSS | {} |", quotient(after.saturating_sub(before), IDLE as u64));
    println!("| shim, PSS, of {} | {} |\n", shims.len(), quotient(pss, (shims.len() as u64).max(1)));
    for session in client.get("/sessions")?.as_array().into_iter().flatten() {
        client.post(&format!("/sessions/{}/cancel", word(&session["id"])), &json!({}))?;
    }
    wait_for(project, || client.get("/sessions").ok()?.as_array()?.is_empty().then_some(()))
}

/// From the start of the program to its first answer, with many sessions behind it.
fn cold_start(server: &mut Server, project: &Path) -> Result<(), Error> {
    let past = ROUNDS * STARTS * 3 + IDLE + 1;
    run_true(server, project, PAST.saturating_sub(past), CLIENTS)?;
    println!(
        "`ostler serve` until it has given what the page shows first, after {PAST} sessions; the median of {COLD_STARTS}.\n"
    );
    println!("| journal | ms | slowest |\n|---|---:|---:|");
    let journal = server.home.join("journal.sqlite");
    for (name, cached) in [("in the system's cache", true), ("not in the cache", false)] {
        let mut times = Vec::new();
        for _ in 0..COLD_STARTS {
            server.kill()?;
            if !cached {
                let file = format!("if={}", journal.display());
                run_command(program("dd").args([file.as_str(), "iflag=nocache", "count=0", "status=none"]))?;
            }
            let began = Instant::now();
            server.child = spawn(&server.ostler, &server.home)?;
            let mut client = server.client()?;
            for path in PAGE {
                client.get(path)?;
            }
            times.push(micros(began.elapsed()));
        }
        let [median, slowest] = [50, 100].map(|percent| quotient(percentile(&mut times, percent), 1000));
        println!("| left by kill -9, {name} | {median} | {slowest} |");
    }
    Ok(())
}

pub(super) fn word(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Microseconds since 1970, as bash counts them.
#[expect(clippy::disallowed_methods, reason = "compared with the agent's own clock")]
fn now() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(0, micros)
}

pub(super) fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

pub(super) fn rate(count: usize, time: Duration) -> u64 {
    count as u64 * 1_000_000 / micros(time).max(1)
}

pub(super) fn percentile(values: &mut [u64], percent: usize) -> u64 {
    values.sort_unstable();
    values[(values.len() - 1) * percent / 100]
}

/// A line of a file in `/proc`, such as `Pss: 12 kB`.
fn kib(pid: u32, file: &str, name: &str) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/{file}")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

pub(super) fn wait_for<T>(path: &Path, mut look: impl FnMut() -> Option<T>) -> Result<T, Error> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(seen) = look() {
            return Ok(seen);
        }
        if Instant::now() >= deadline {
            return Err(Error::Read { path: path.to_owned(), source: std::io::ErrorKind::TimedOut.into() });
        }
        thread::sleep(Duration::from_millis(1));
    }
}
