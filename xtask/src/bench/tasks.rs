//! `cargo xtask bench tasks`: how soon it is known what can run next, and how many tasks of `true` come to their end in a
//! second, beside the programs that people use for that.
//!
//! Everything in a table is measured in the same run. A peer that is not installed is left out, and said so.

use std::{
    env,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::json;

use super::quotient;
use crate::{
    error::Error,
    process::{cargo, executable, output, program, root, start_error, succeeds},
};

/// How many tasks the files have from which the next one is told, and how often it is.
const FILES: [usize; 3] = [100, 10_000, 100_000];
const ROUNDS: usize = 5;

/// How many tasks of `true` there are, and how many run at once.
const TASKS: usize = 1_000;
const AT_ONCE: usize = 2;

/// So many of them for a peer that takes a second for a few.
const FEW: usize = TASKS / 10;

/// That peer, and where peers are looked for before the path.
const PUEUE: &str = "pueue";
const PEERS: &str = "target/peers";

/// How long a peer's server may take to answer.
const PATIENCE: Duration = Duration::from_mins(1);

/// The program, its state and its project.
struct Place {
    ostler: PathBuf,
    directory: PathBuf,
}

pub(crate) fn run() -> Result<(), Error> {
    let ostler = executable(cargo().args(["build", "--release", "-p", "ostler"]), "ostler")?;
    // Not below the repository, or every project would be in it.
    let directory = env::temp_dir().join(format!("ostler-bench-{}", std::process::id()));
    make(&directory)?;
    let place = Place { ostler, directory };
    let outcome = next(&place).and_then(|()| dispatch(&place));
    let ended = quiet(place.command(&["serve", "--stop"], &place.directory));
    fs::remove_dir_all(&place.directory)
        .map_err(|source| Error::Write { path: place.directory.clone(), source })?;
    outcome.and(ended)
}

impl Place {
    fn command(&self, arguments: &[&str], project: &Path) -> Command {
        let mut command = program(&self.ostler);
        command.args(arguments).current_dir(project);
        command.env("OSTLER_HOME", self.directory.join("state"));
        command.env("XDG_CONFIG_HOME", self.directory.join("config"));
        command
    }
}

/// How long it takes to say what can run next.
fn next(place: &Place) -> Result<(), Error> {
    let peer = env::var_os("OSTLER_TASK_MASTER").map_or_else(|| PathBuf::from("task-master"), PathBuf::from);
    let has_peer = succeeds(program(&peer).arg("--version").stdin(Stdio::null()));
    if !has_peer {
        println!(
            "SKIPPED task-master: it is not installed (npm: task-master-ai; OSTLER_TASK_MASTER names it)\n"
        );
    }
    println!("What can run next, ms; the median of {ROUNDS}.\n");
    println!("| tasks | `ostler resolve` | `task-master next` | ratio |\n|---:|---:|---:|---:|");
    let start = |name: &str, mine: u64, theirs: Option<u64>| {
        let theirs = theirs.filter(|_| has_peer);
        let [said, ratio] = theirs.map_or_else(
            || ["–".to_owned(), "–".to_owned()],
            |theirs| [quotient(theirs, 1000), quotient(theirs, mine.max(1))],
        );
        println!("| {name} | {} | {said} | {ratio} |", quotient(mine, 1000));
    };
    let version = median(|| quiet(place.command(&["--version"], &place.directory)))?;
    let theirs =
        has_peer.then(|| median(|| quiet(of(&peer, &["--version"], &place.directory)))).transpose()?;
    start("only its start", version, theirs);
    for tasks in FILES {
        let project = place.directory.join(format!("next-{tasks}"));
        write(&project.join("TASKS.md"), &markdown(tasks))?;
        write(&project.join(".taskmaster/tasks/tasks.json"), &their_file(tasks))?;
        let mine = median(|| quiet(place.command(&["resolve"], &project)))?;
        let theirs = has_peer.then(|| median(|| quiet(of(&peer, &["next"], &project)))).transpose()?;
        start(&tasks.to_string(), mine, theirs);
    }
    println!();
    Ok(())
}

/// How many tasks of `true` come to their end in a second.
fn dispatch(place: &Place) -> Result<(), Error> {
    println!("Tasks of `true` per second, {TASKS} of them, {AT_ONCE} at once.\n");
    let mut rows = vec![("bare loop, one at a time", rate(TASKS, timed(|| bare(TASKS))?))];
    let numbers = joined("\n", |number| number.to_string());
    let list = place.directory.join("numbers");
    write(&list, &numbers)?;
    let at_once = AT_ONCE.to_string();
    let shell = |script: String| {
        let mut command = program("sh");
        command.args(["-c", &script]).current_dir(&place.directory);
        command
    };
    rows.push(("xargs", {
        rate(TASKS, timed(|| quiet(shell(format!("xargs -P {at_once} -n 1 sh -c true < numbers"))))?)
    }));
    let names = joined(" ", |number| format!("t{number}"));
    write(&place.directory.join("Makefile"), &format!("all: {names}\n{names}:\n\t@true\n\t@touch $@\n"))?;
    rows.push(("make, with a file for each that is done", {
        rate(TASKS, timed(|| quiet(shell(format!("make -s -j {at_once} all"))))?)
    }));
    if succeeds(program("parallel").arg("--version")) {
        let script = format!("parallel -j {at_once} --joblog log -N 1 true '#' < numbers");
        rows.push(("GNU parallel, with its log", rate(TASKS, timed(|| quiet(shell(script)))?)));
    } else {
        println!("SKIPPED GNU parallel: it is not installed\n");
    }
    if let Some(rate) = pueue(place)? {
        rows.push(("pueue, a tenth of them", rate));
    }
    for (name, is_repository) in
        [("ostler orchestrate", false), ("ostler orchestrate, in a repository", true)]
    {
        rows.push((name, orchestrate(place, is_repository)?));
    }
    println!("| what | per second | to the bare loop |\n|---|---:|---:|");
    let bare = rows[0].1;
    for (name, rate) in rows {
        println!("| {name} | {} | {} |", quotient(rate, 100), quotient(rate, bare));
    }
    Ok(())
}

fn bare(count: usize) -> Result<(), Error> {
    (0..count).try_for_each(|_| quiet(program("true")))
}

/// The loop with an agent that is `true`.
fn orchestrate(place: &Place, is_repository: bool) -> Result<u64, Error> {
    let project = place.directory.join(if is_repository { "repository" } else { "plain" });
    let table = "[agents.nothing]\ncommand = [\"true\"]\n[agents.nothing.arguments]\nprompt = []\n";
    write(
        &place.directory.join("config/ostler/config.toml"),
        &format!("default_agent = \"nothing\"\n{table}"),
    )?;
    let tasks = joined("\n", |number| format!("- [ ] T0.{number}: Nothing"));
    write(&project.join("TASKS.md"), &format!("## Phase 0: All\n\n{tasks}\n"))?;
    if is_repository {
        for arguments in [
            &["init", "--quiet"][..],
            &["add", "TASKS.md"],
            &[
                "-c",
                "user.name=Bench",
                "-c",
                "user.email=bench@example.org",
                "commit",
                "--quiet",
                "-m",
                "tasks",
            ],
        ] {
            quiet(of(Path::new("git"), arguments, &project))?;
        }
    }
    // What the program needs once, it has by then.
    quiet(place.command(&["run", "--", "true"], &project))?;
    let at_once = AT_ONCE.to_string();
    let took = timed(|| quiet(place.command(&["orchestrate", "--max-parallel", &at_once], &project)))?;
    Ok(rate(TASKS, took))
}

/// Pueue's own way, with a server of its own: every task is added by a command, as its users do it.
fn pueue(place: &Place) -> Result<Option<u64>, Error> {
    let [client, server] = [PUEUE, "pueued"].map(|name| {
        let own = root().join(PEERS).join("bin").join(name);
        if own.exists() { own } else { PathBuf::from(name) }
    });
    if !succeeds(program(&server).arg("--version")) {
        println!("SKIPPED pueue: it is not installed (cargo install --root {PEERS} {PUEUE})\n");
        return Ok(None);
    }
    let home = place.directory.join("pueue");
    make(&home)?;
    let within = |name: &Path, arguments: &[&str]| {
        let mut command = of(name, arguments, &home);
        for variable in ["HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"] {
            command.env(variable, &home);
        }
        command
    };
    let mut running = Server(started(within(&server, &[]))?);
    let deadline = Instant::now() + PATIENCE;
    while !succeeds(&mut within(&client, &["status"])) && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(100));
    }
    quiet(within(&client, &["parallel", &AT_ONCE.to_string()]))?;
    let took = timed(|| {
        (0..FEW).try_for_each(|_| quiet(within(&client, &["add", "true"])))?;
        quiet(within(&client, &["wait", "--quiet"]))
    })?;
    quiet(within(&client, &["shutdown"]))?;
    running.0.wait().map_err(|source| Error::Start { program: "pueued".to_owned(), source })?;
    Ok(Some(rate(FEW, took)))
}

/// A peer's server. It does not outlive the benchmark, whatever becomes of that.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        // It is gone already if everything went well.
        self.0.kill().ok();
    }
}

/// As people write it: four lines a task, fifty tasks a phase, two dependencies each.
fn markdown(tasks: usize) -> String {
    let mut text = String::new();
    for number in 0..tasks {
        let (phase, at) = (number / 50, number % 50);
        if at == 0 {
            writeln!(text, "\n## Phase {phase}: Part {phase}\n").expect("text can be written");
        }
        writeln!(text, "- [ ] T{phase}.{at}: Write the service for part {number}")
            .expect("text can be written");
        if at > 1 {
            let deps = [at / 2, at - 2].map(|it| format!("T{phase}.{it}")).join(", ");
            writeln!(text, "  - deps: [{deps}]").expect("text can be written");
        }
        writeln!(text, "  - owner: backend\n  - files: src/part_{number}/*").expect("text can be written");
    }
    text
}

/// The same tasks in the form of task-master.
fn their_file(tasks: usize) -> String {
    let task = |number: usize| {
        let at = number % 50;
        let deps = if at > 1 { vec![number - at + at / 2 + 1, number - 1] } else { Vec::new() };
        json!({
            "id": number + 1, "title": format!("Write the service for part {number}"), "description": "A part.",
            "status": "pending", "dependencies": deps, "priority": "medium", "details": "", "testStrategy": "",
            "subtasks": [],
        })
    };
    let tasks: Vec<_> = (0..tasks).map(task).collect();
    let about = json!({ "created": "2026-01-01T00:00:00Z", "updated": "2026-01-01T00:00:00Z", "description": "Bench" });
    json!({ "master": { "tasks": tasks, "metadata": about } }).to_string()
}

fn joined(between: &str, each: impl Fn(usize) -> String) -> String {
    (0..TASKS).map(each).collect::<Vec<_>>().join(between)
}

fn of(name: &Path, arguments: &[&str], directory: &Path) -> Command {
    let mut command = program(name);
    command.args(arguments).current_dir(directory);
    command
}

/// Runs something whose words nobody wants, unless it fails.
fn quiet(mut command: Command) -> Result<(), Error> {
    output(command.stdin(Stdio::null())).map(drop)
}

fn started(mut command: Command) -> Result<Child, Error> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().map_err(|source| start_error(&command, source))
}

fn timed(what: impl FnOnce() -> Result<(), Error>) -> Result<Duration, Error> {
    let began = Instant::now();
    what().map(|()| began.elapsed())
}

/// Microseconds.
fn median(mut what: impl FnMut() -> Result<(), Error>) -> Result<u64, Error> {
    let mut times = (0..ROUNDS).map(|_| timed(&mut what)).collect::<Result<Vec<_>, _>>()?;
    times.sort_unstable();
    Ok(u64::try_from(times[ROUNDS / 2].as_micros()).unwrap_or(u64::MAX))
}

/// In hundredths of one in a second.
fn rate(count: usize, took: Duration) -> u64 {
    let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
    count as u64 * 100_000_000 / micros.max(1)
}

fn make(directory: &Path) -> Result<(), Error> {
    fs::create_dir_all(directory).map_err(|source| Error::Write { path: directory.to_owned(), source })
}

#[expect(clippy::disallowed_methods, reason = "files of a benchmark")]
fn write(path: &Path, text: &str) -> Result<(), Error> {
    path.parent().map_or(Ok(()), make)?;
    fs::write(path, text).map_err(|source| Error::Write { path: path.to_owned(), source })
}
