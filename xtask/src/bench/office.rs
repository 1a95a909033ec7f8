//! `cargo xtask bench office`: how soon somebody who is called has read its task, how soon the caller has the result, and
//! how many calls come to their end in a second.
//!
//! Callers and roles are shells that only read and print. Two shells that talk over a pipe, and a write with its sync,
//! are measured in the same run.

use std::{
    env,
    fs::{self, DirBuilder, File},
    io::Write as _,
    os::unix::fs::{DirBuilderExt as _, FileExt},
    path::Path,
    time::Instant,
};

use super::{
    quotient,
    server::{Server, micros, new_run, percentile, rate, wait_for, word},
};
use crate::{
    error::Error,
    process::{cargo, executable, output, program},
};

/// How often one caller calls.
const CALLS: usize = 200;

/// How many call at once, each a role of its own, and how often.
const CALLERS: usize = 16;
const CALLS_OF_EACH: usize = 25;

/// Calls so often, and writes down when it called, when that was read, and when it had the result.
const CALLER: &str = r#"exec 3>"$3"
for ((n = 0; n < $2; n++)); do
printf '[INVOKE:%s]\n%s\n[/INVOKE]\n' "$1" "${EPOCHREALTIME/[^0-9]/}"
read -r head; read -r line; echo "$line ${EPOCHREALTIME/[^0-9]/}" >&3
done"#;

/// Says when it has read its task.
const ROLE: &str = r#"while read -r head; do read -r sent; read=${EPOCHREALTIME/[^0-9]/}; to=${head#* from }
printf '[DELIVER_RESULT:%s]\ncontent: %s\n[/DELIVER_RESULT]\n' "${to%]}" "$sent $read"; done"#;

/// Two shells and two pipes, with the same times.
const PIPES: &str = r#"coproc other { while read -r sent; do echo "$sent ${EPOCHREALTIME/[^0-9]/}"; done; }
for ((n = 0; n < $1; n++)); do
echo "${EPOCHREALTIME/[^0-9]/}" >&"${other[1]}"; read -r line <&"${other[0]}"; echo "$line ${EPOCHREALTIME/[^0-9]/}"
done"#;

/// The times of many calls, in microseconds.
struct Times {
    /// From the printed call to who reads it.
    there: Vec<u64>,
    /// From the printed call to the result that was read.
    back: Vec<u64>,
}

pub(crate) fn run() -> Result<(), Error> {
    let ostler = executable(cargo().args(["build", "--release", "-p", "ostler"]), "ostler")?;
    let directory = env::temp_dir().join(format!("ostler-bench-{}", std::process::id()));
    let (home, project) = (directory.join("home"), directory.join("project"));
    let config = home.join("config/ostler");
    for folder in [&config, &project] {
        // A state directory that others can read is refused.
        let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
        made.map_err(|source| Error::Write { path: folder.clone(), source })?;
    }
    write(&project.join("role.sh"), ROLE)?;
    let role = |number| format!("[office.roles.R{number}]\nagent = \"role\"\n");
    let agent = "[agents.role]\nabout = \"a shell\"\ncommand = [\"bash\", \"role.sh\"]\n".to_owned();
    write(&config.join("config.toml"), &(0..CALLERS).map(role).fold(agent, |all, role| all + &role))?;
    let mut server = Server::start(&ostler, &home)?;
    let outcome = measure(&server, &project);
    server.end()?;
    fs::remove_dir_all(&directory).map_err(|source| Error::Write { path: directory, source })?;
    outcome
}

fn measure(server: &Server, project: &Path) -> Result<(), Error> {
    // Everybody is there before anything is measured.
    calls(server, project, CALLERS, 1)?;
    let bare = Times::of(&output(program("bash").args(["-c", PIPES, "pipes", &CALLS.to_string()]))?);
    let mut syncs = syncs(project)?;
    let (one, _) = calls(server, project, 1, CALLS)?;
    let began = Instant::now();
    let (many, files) = calls(server, project, CALLERS, CALLS_OF_EACH)?;
    let elapsed = began.elapsed();
    let sync = percentile(&mut syncs, 50);
    println!(
        "A call from one shell to another, {CALLS} one after the other; {CALLERS} at once, {CALLS_OF_EACH} each.\n"
    );
    println!("| what | p50, µs | p99, µs | p50 to a sync | per second |\n|---|---:|---:|---:|---:|");
    let row = |name: &str, mut times: Vec<u64>, per_second: Option<u64>| {
        let (p50, p99) = (percentile(&mut times, 50), percentile(&mut times, 99));
        let per_second = per_second.map_or_else(|| "-".to_owned(), |rate| rate.to_string());
        println!("| {name} | {p50} | {p99} | {} | {per_second} |", quotient(p50, sync.max(1)));
    };
    let each = |times: &[u64]| Some(times.len() as u64 * 1_000_000 / times.iter().sum::<u64>().max(1));
    row("write and fdatasync", syncs.clone(), each(&syncs));
    row("two shells and a pipe, there and back", bare.back.clone(), each(&bare.back));
    row("printed INVOKE until the other has read it", one.there, None);
    row("printed INVOKE until its result is read", one.back.clone(), each(&one.back));
    row("the same, sixteen at once: read", many.there, None);
    row("the same, sixteen at once: result", many.back, Some(rate(files * CALLS_OF_EACH, elapsed)));
    Ok(())
}

/// So many callers, each with a role of its own, until all have ended. Gives what they wrote down, and how many they were.
fn calls(server: &Server, project: &Path, callers: usize, times: usize) -> Result<(Times, usize), Error> {
    let mut client = server.client()?;
    let mut sessions = Vec::new();
    for number in 0..callers {
        let file = project.join(format!("times.{number}")).display().to_string();
        let role = format!("R{number}");
        let command = ["bash", "-c", CALLER, "caller", &role, &times.to_string(), &file];
        let run = client.post("/runs", &new_run(project, &command))?;
        sessions.push(word(&run["sessions"][0]["id"]).to_owned());
    }
    for session in &sessions {
        let path = format!("/sessions/{session}");
        wait_for(project, || (client.get(&path).ok()?["status"] == "completed").then_some(()))?;
    }
    let mut all = Times { there: Vec::new(), back: Vec::new() };
    for number in 0..callers {
        let path = project.join(format!("times.{number}"));
        let text = fs::read_to_string(&path).map_err(|source| Error::Read { path, source })?;
        let these = Times::of(&text);
        all.there.extend(these.there);
        all.back.extend(these.back);
    }
    Ok((all, callers))
}

impl Times {
    /// Each line: when it was sent, when it was read, when it was back.
    fn of(text: &str) -> Times {
        let numbers = |line: &str| line.split_whitespace().flat_map(str::parse).collect::<Vec<u64>>();
        let lines: Vec<Vec<u64>> = text.lines().map(numbers).filter(|line| line.len() == 3).collect();
        let since = |at: usize| lines.iter().map(|line| line[at].saturating_sub(line[0])).collect();
        Times { there: since(1), back: since(2) }
    }
}

/// What a write with its sync takes on the same disk.
fn syncs(project: &Path) -> Result<Vec<u64>, Error> {
    let path = project.join("raw");
    let failed = |source| Error::Write { path: path.clone(), source };
    let file = File::create(&path).map_err(failed)?;
    file.write_all_at(&vec![0; 1 << 20], 0).and_then(|()| file.sync_all()).map_err(failed)?;
    (0..CALLS as u64)
        .map(|number| {
            let began = Instant::now();
            file.write_all_at(&[1; 450], number * 1024).and_then(|()| file.sync_data()).map_err(failed)?;
            Ok(micros(began.elapsed()))
        })
        .collect()
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    let written = File::create(path).and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|source| Error::Write { path: path.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::Times;

    #[test]
    fn times_are_counted_from_the_call() {
        let times = Times::of("100 130 190\nbroken\n200 210 220\n");
        assert_eq!((times.there, times.back), (vec![30, 10], vec![90, 20]));
    }
}
