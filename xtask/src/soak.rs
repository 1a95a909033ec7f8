//! `cargo xtask soak`: the long storms, too slow for every change.
//!
//! Each storm returns one [`Row`] per thing it ran. The rows are printed and written into `docs/results.md`, so
//! that the last result of each stands there with its commit and seed. A finding ends the command with an
//! error, but only after everything has run.

use std::hash::{BuildHasher, Hasher, RandomState};

use crate::{
    error::Error,
    process::{output, program},
};

mod fuzz;
mod idle;
mod properties;
mod sim;
mod table;
mod whole;

/// What the storms are told.
#[derive(Debug)]
struct Options {
    /// Which fuzz targets run; none named means all.
    targets: Vec<String>,
    /// How long the simulator, and each fuzz target, runs.
    seconds: u64,
    /// How many cases each property tries.
    cases: u64,
    /// Where all randomness comes from.
    seed: u32,
}

/// The result of one target.
struct Row {
    /// The storm and what it ran on, `fuzz text`. One row of this name stands in the table.
    target: String,
    seconds: u64,
    executions: String,
    seed: u32,
    findings: usize,
}

pub(crate) fn run(arguments: &[&str]) -> Result<(), Error> {
    let (storm, options) = parse(arguments)?;
    println!("seed {}", options.seed);
    let mut results = Vec::new();
    if storm.is_none_or(|storm| storm == "properties") {
        results.push(properties::run(&options));
    }
    if storm.is_none_or(|storm| storm == "sim") {
        results.push(sim::run(&options));
    }
    if storm.is_none_or(|storm| storm == "sessions") {
        record_all(&mut results, whole::sessions(&options));
    }
    if storm.is_none_or(|storm| storm == "interface") {
        record_all(&mut results, whole::interface(&options));
    }
    if storm.is_none_or(|storm| storm == "crashes") {
        record_all(&mut results, whole::crashes(&options));
    }
    if storm.is_none_or(|storm| storm == "attacks") {
        record_all(&mut results, whole::attacks(&options));
    }
    if storm.is_none_or(|storm| storm == "faults") {
        record_all(&mut results, whole::faults(&options));
    }
    if storm.is_none_or(|storm| storm == "fuzz") {
        results.extend(fuzz::run(&options)?);
    }
    // What ran is recorded, even where something else could not run.
    let (rows, failed): (Vec<_>, Vec<_>) = results.into_iter().partition(Result::is_ok);
    let rows: Vec<Row> = rows.into_iter().flatten().collect();
    if !rows.is_empty() {
        println!("\n{}", table::record(&rows, &date()?, &commit())?);
    }
    if let Some(Err(error)) = failed.into_iter().next() {
        return Err(error);
    }
    match rows.iter().map(|row| row.findings).sum() {
        0 => Ok(()),
        count => Err(Error::Findings { count }),
    }
}

/// Adds several rows, or why there are none.
fn record_all(results: &mut Vec<Result<Row, Error>>, rows: Result<Vec<Row>, Error>) {
    match rows {
        Ok(rows) => results.extend(rows.into_iter().map(Ok)),
        Err(error) => results.push(Err(error)),
    }
}

fn parse<'a>(arguments: &[&'a str]) -> Result<(Option<&'a str>, Options), Error> {
    let mut storm = None;
    let mut options = Options { targets: Vec::new(), seconds: 600, cases: 200_000, seed: new_seed() };
    let mut arguments = arguments.iter();
    while let Some(&argument) = arguments.next() {
        match argument {
            "attacks" | "crashes" | "faults" | "fuzz" | "interface" | "properties" | "sessions" | "sim"
                if storm.is_none() =>
            {
                storm = Some(argument);
            }
            "--seconds" => options.seconds = number(argument, arguments.next())?,
            "--cases" => options.cases = number(argument, arguments.next())?,
            "--seed" => options.seed = number(argument, arguments.next())?,
            target if storm == Some("fuzz") && !target.starts_with('-') => {
                options.targets.push(target.to_owned());
            }
            _ => return Err(Error::Usage(format!("unexpected argument `{argument}` for soak"))),
        }
    }
    Ok((storm, options))
}

fn number<T: TryFrom<u64>>(option: &str, value: Option<&&str>) -> Result<T, Error> {
    value
        .and_then(|value| value.parse::<u64>().ok())
        .filter(|&number| number > 0)
        .and_then(|number| T::try_from(number).ok())
        .ok_or_else(|| Error::Usage(format!("{option} takes a positive number")))
}

/// A seed that libFuzzer takes too: positive, 31 bits.
fn new_seed() -> u32 {
    let random = RandomState::new().build_hasher().finish().to_le_bytes();
    let [a, b, c, d, ..] = random;
    (u32::from_le_bytes([a, b, c, d]) >> 1).max(1)
}

/// Today, in UTC.
fn date() -> Result<String, Error> {
    Ok(output(program("date").args(["-u", "+%F"]))?.trim().to_owned())
}

/// The commit that was stormed, with a `+` when the code on disk differs from it.
fn commit() -> String {
    let Ok(commit) = output(program("git").args(["rev-parse", "--short", "HEAD"])) else {
        return "none".to_owned();
    };
    let mut status = program("git");
    status.args(["status", "--porcelain", "--", "crates", "fuzz", "Cargo.toml", "Cargo.lock"]);
    let changed = output(&mut status).is_ok_and(|changes| !changes.is_empty());
    format!("{}{}", commit.trim(), if changed { "+" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::parse;
    use crate::error::Error;

    #[test]
    fn reads_its_arguments() {
        let (storm, options) = parse(&["fuzz", "--seconds", "5", "--seed", "42"]).expect("valid");
        assert_eq!((storm, options.seconds, options.seed), (Some("fuzz"), 5, 42));
        assert!(parse(&["fuzz", "text"]).is_ok_and(|(_, options)| options.targets == ["text"]));
        assert!(parse(&[]).is_ok_and(|(storm, options)| storm.is_none() && options.seconds == 600));
    }

    #[test]
    fn refuses_what_it_does_not_know() {
        for arguments in
            [&["storm"][..], &["--seconds"], &["--seconds", "x"], &["--seed", "0"], &["properties", "text"]]
        {
            assert!(matches!(parse(arguments), Err(Error::Usage(_))), "{arguments:?}");
        }
    }
}
