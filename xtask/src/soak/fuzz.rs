//! The fuzz storm: every target of `fuzz/` under libFuzzer for a while.
//!
//! New inputs go to `fuzz/corpus-grown/TARGET`, which git ignores; the committed seeds in `fuzz/corpus/TARGET` are
//! only read. What libFuzzer prints goes to `target/soak/TARGET.log`, and its rare progress lines to the screen.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    num::NonZero,
    path::Path,
    process::{Command, Stdio},
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::Instant,
};

use super::{Options, Row};
use crate::{
    error::Error,
    process::{
        cargo, cargo_nightly, line, metadata, output, program, root, run as run_command, start_error,
        succeeds,
    },
};

/// The version that is installed when there is none.
const CARGO_FUZZ: &str = "0.13.2";

/// The code is safe Rust: without the sanitizer the same time tries three times as much.
const NO_SANITIZER: [&str; 2] = ["--sanitizer", "none"];

/// What libFuzzer said in one run.
#[derive(Default)]
struct Report {
    executions: Option<u64>,
    /// Paths of the inputs it reported.
    artifacts: Vec<String>,
}

/// Runs every target, whatever becomes of the others; no rows when this machine cannot fuzz.
pub(super) fn run(options: &Options) -> Result<Vec<Result<Row, Error>>, Error> {
    let manifest = root().join("fuzz/Cargo.toml");
    if !manifest.exists() {
        println!("SKIPPED fuzz: there is no fuzz/Cargo.toml");
        return Ok(Vec::new());
    }
    if !has_nightly() {
        println!("SKIPPED fuzz: no nightly toolchain (rustup toolchain install nightly)");
        return Ok(Vec::new());
    }
    let targets = chosen(targets(&manifest)?, &options.targets)?;
    ensure_cargo_fuzz()?;
    run_command(cargo_nightly().args(["fuzz", "build"]).args(NO_SANITIZER))?;

    // As many at a time as there are cores: libFuzzer itself uses one.
    let next = AtomicUsize::new(0);
    let work = || {
        let mut rows = Vec::new();
        while let Some(target) = targets.get(next.fetch_add(1, Ordering::Relaxed)) {
            rows.push(storm(target, options));
        }
        rows
    };
    Ok(thread::scope(|scope| {
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("a storm reports its errors")).collect()
    }))
}

/// Those that were named, or all.
fn chosen(all: Vec<String>, named: &[String]) -> Result<Vec<String>, Error> {
    if let Some(unknown) = named.iter().find(|name| !all.contains(name)) {
        return Err(Error::Usage(format!("there is no fuzz target `{unknown}`, only {}", all.join(", "))));
    }
    Ok(all.into_iter().filter(|target| named.is_empty() || named.contains(target)).collect())
}

fn has_nightly() -> bool {
    output(program("rustup").args(["toolchain", "list"]))
        .is_ok_and(|list| list.lines().any(|line| line.starts_with("nightly")))
}

fn ensure_cargo_fuzz() -> Result<(), Error> {
    if succeeds(cargo().args(["fuzz", "--version"])) {
        return Ok(());
    }
    let mut install = cargo();
    install.args(["install", "cargo-fuzz", "--version", CARGO_FUZZ, "--locked"]);
    println!("cargo-fuzz is missing: installing it with `{}`", line(&install));
    run_command(&mut install)
}

/// The binaries of the fuzz crate.
fn targets(manifest: &Path) -> Result<Vec<String>, Error> {
    let metadata = metadata(manifest)?;
    let targets = metadata["packages"][0]["targets"].as_array().cloned().unwrap_or_default();
    let is_binary = |target: &&serde_json::Value| target["kind"][0] == "bin";
    Ok(targets
        .iter()
        .filter(is_binary)
        .filter_map(|target| target["name"].as_str().map(str::to_owned))
        .collect())
}

fn storm(target: &str, options: &Options) -> Result<Row, Error> {
    let log = root().join("target/soak").join(format!("{target}.log"));
    println!(
        "── fuzz {target}: {} s, everything it prints goes to target/soak/{target}.log",
        options.seconds
    );
    let mut command = cargo_nightly();
    command.args(["fuzz", "run"]).args(NO_SANITIZER).arg(target);
    command.args([format!("fuzz/corpus-grown/{target}"), format!("fuzz/corpus/{target}")]);
    for directory in ["corpus-grown", "corpus"] {
        create_directory(&root().join("fuzz").join(directory).join(target))?;
    }
    command.args(["--", "-print_final_stats=1", "-rss_limit_mb=2048", "-max_len=8192", "-timeout=10"]);
    command.arg("-dict=fuzz/dictionary.txt");
    command.args([format!("-max_total_time={}", options.seconds), format!("-seed={}", options.seed)]);
    let started = Instant::now();
    let report = listen(command, target, &log)?;
    for artifact in &report.artifacts {
        println!("FINDING in {target}: {artifact}");
        println!("  repeat it with: cargo +nightly fuzz run --sanitizer none {target} {artifact}");
    }
    Ok(Row {
        target: format!("fuzz {target}"),
        seconds: started.elapsed().as_secs(),
        executions: report.executions.map_or("unknown".to_owned(), |count| count.to_string()),
        seed: options.seed,
        findings: report.artifacts.len(),
    })
}

/// Runs libFuzzer and reads what it says on stderr, line by line, until it ends.
fn listen(mut command: Command, target: &str, log: &Path) -> Result<Report, Error> {
    create_directory(log.parent().unwrap_or(root()))?;
    let mut log_file = fs::File::create(log).map_err(|source| write_error(log, source))?;
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|source| start_error(&command, source))?;
    let mut report = Report::default();
    if let Some(stderr) = child.stderr.take() {
        // Split by bytes: the inputs that libFuzzer shows need not be UTF-8.
        for bytes in BufReader::new(stderr).split(b'\n') {
            let bytes = bytes.map_err(|source| Error::Read { path: log.to_owned(), source })?;
            log_file.write_all(&[&bytes[..], b"\n"].concat()).map_err(|source| write_error(log, source))?;
            let said = String::from_utf8_lossy(&bytes);
            report.hear(&said);
            if said.contains("\tpulse ") {
                println!("{target}: {}", said.trim_end());
            }
        }
    }
    let status = child.wait().map_err(|source| start_error(&command, source))?;
    if !status.success() && report.artifacts.is_empty() {
        return Err(Error::Failed { command: line(&command), status });
    }
    Ok(report)
}

impl Report {
    fn hear(&mut self, line: &str) {
        if let Some(count) = line.strip_prefix("stat::number_of_executed_units:") {
            self.executions = count.trim().parse().ok();
        } else if let Some((_, artifact)) = line.split_once("Test unit written to ") {
            let artifact = Path::new(artifact.trim());
            self.artifacts.push(artifact.strip_prefix(root()).unwrap_or(artifact).display().to_string());
        }
    }
}

fn create_directory(path: &Path) -> Result<(), Error> {
    fs::create_dir_all(path).map_err(|source| write_error(path, source))
}

fn write_error(path: &Path, source: std::io::Error) -> Error {
    Error::Write { path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use super::Report;

    #[test]
    fn hears_counts_and_findings() {
        let mut report = Report::default();
        report.hear("INFO: seed corpus: files: 3");
        report.hear("artifact_prefix='a/'; Test unit written to a/crash-12");
        report.hear("stat::number_of_executed_units: 4711");
        assert_eq!(report.executions, Some(4711));
        assert_eq!(report.artifacts, ["a/crash-12"]);
    }
}
