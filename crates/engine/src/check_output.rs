//! Reads what a check printed: the line that says why it failed, and how many tests it ran.
//!
//! Test runners print for people, so this is a reading and never evidence: whether a check passed is its exit code.

use alloc::string::String;

/// The last line that says something: not a rule, a bracket or the advice that a runner prints after its result. It comes
/// without colours and controls.
pub fn last_meaningful_line(output: &str) -> Option<String> {
    let mut advice = None;
    for line in output.lines().rev() {
        let line = without_escapes(line);
        let words = line.trim();
        if !words.chars().any(char::is_alphanumeric) {
            continue;
        }
        if !is_advice(words) {
            return Some(words.into());
        }
        advice = advice.or_else(|| Some(words.into()));
    }
    advice
}

/// How many tests a check says it has run, from the summaries that common runners print. Several summaries, as cargo
/// prints one for each binary, are added up.
pub fn tests_run(output: &str) -> Option<u32> {
    let mut total: Option<u32> = None;
    for line in output.lines() {
        let line = without_escapes(line);
        if let Some(count) = tests_in(line.trim()) {
            total = Some(total.unwrap_or(0).saturating_add(count));
        }
    }
    total
}

/// What runners print after the result, whatever that was.
fn is_advice(line: &str) -> bool {
    const ADVICE: [&str; 7] = [
        "note: run with `RUST_BACKTRACE",
        "error: test failed, to rerun pass",
        "npm ERR! A complete log",
        "npm error A complete log",
        "npm ERR! code ELIFECYCLE",
        "make: ***",
        "exit status ",
    ];
    ADVICE.iter().any(|advice| line.starts_with(advice))
        || (line.starts_with("make[") && line.contains("***"))
}

/// The tests that a line counts, if it is a summary.
fn tests_in(line: &str) -> Option<u32> {
    // TAP, and node's own runner: "# tests 15", "ℹ tests 15".
    if let Some(rest) = line.strip_prefix("# tests ").or_else(|| line.strip_prefix("ℹ tests ")) {
        return rest.trim().parse().ok();
    }
    // unittest: "Ran 15 tests in 0.1s".
    if let Some(rest) = line.strip_prefix("Ran ") {
        let (count, rest) = rest.split_once(' ')?;
        return count.parse().ok().filter(|_| rest.starts_with("test"));
    }
    // jest "Tests: 1 failed, 14 passed, 15 total", vitest "Tests  15 passed (15)", cargo "test result: ok. 15 passed; 0
    // failed", nextest "Summary [ 1s] 15 tests run: 15 passed", pytest "== 14 passed, 1 failed in 0.1s ==".
    let is_files = line.starts_with("Test Suites:") || line.starts_with("Test Files");
    if is_files {
        return None;
    }
    if let Some(before) = line.split(" tests run:").next().filter(|before| before.len() < line.len()) {
        return before.rsplit(|c: char| !c.is_ascii_digit()).next()?.parse().ok();
    }
    let is_summary = line.starts_with("test result:")
        || line.starts_with("Tests")
        || (line.starts_with('=') && line.ends_with('='))
        || line.starts_with(|c: char| c.is_ascii_digit());
    if !is_summary {
        return None;
    }
    let counted = |word: &str| {
        let before = line.find(word).map(|at| line[..at].trim_end())?;
        before.rsplit(|c: char| !c.is_ascii_digit()).next()?.parse::<u32>().ok()
    };
    let passed = counted(" passed");
    let failed = counted(" failed");
    match (passed, failed) {
        (None, None) => None,
        (passed, failed) => Some(passed.unwrap_or(0).saturating_add(failed.unwrap_or(0))),
    }
}

/// A line as a terminal shows it: without escapes, and only what follows the last carriage return.
fn without_escapes(line: &str) -> String {
    let line = line.trim_end_matches('\r');
    let line = line.rsplit('\r').next().unwrap_or(line);
    let mut plain = String::with_capacity(line.len());
    let mut characters = line.chars().peekable();
    while let Some(c) = characters.next() {
        if c != '\u{1b}' {
            if !c.is_control() || c == '\t' {
                plain.push(c);
            }
            continue;
        }
        if characters.next_if_eq(&'[').is_some() {
            // A control sequence ends with a letter or one of `@[\]^_`{|}~`.
            while characters.next().is_some_and(|c| !('@'..='~').contains(&c)) {}
        } else {
            characters.next();
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_is_the_last_line_that_says_something() {
        let check = |output: &str, reason: Option<&str>| {
            assert_eq!(last_meaningful_line(output).as_deref(), reason, "{output:?}");
        };
        check("connecting\nRedis connection refused\n", Some("Redis connection refused"));
        check(
            "Error: Redis connection refused\n    }\n  ]\n-----\n\n",
            Some("Error: Redis connection refused"),
        );
        check("\u{1b}[31mRedis connection refused\u{1b}[0m\r\n", Some("Redis connection refused"));
        check("10 %\r90 %\rRedis 연결이 거부됨", Some("Redis 연결이 거부됨"));
        check(
            "assertion failed: a == b\nerror: test failed, to rerun pass `--lib`\n",
            Some("assertion failed: a == b"),
        );
        check("no rule\nmake: *** [Makefile:2: test] Error 1\n", Some("no rule"));
        check("make: *** [Makefile:2: test] Error 1\n", Some("make: *** [Makefile:2: test] Error 1"));
        check("\n---\n{}\n", None);
        check("", None);
    }

    #[test]
    fn the_summaries_of_common_runners_are_counted() {
        let check = |output: &str, tests: Option<u32>| assert_eq!(tests_run(output), tests, "{output:?}");
        check("test result: ok. 15 passed; 0 failed; 0 ignored; finished in 0.1s", Some(15));
        check("test result: ok. 3 passed; 0 failed\n\ntest result: FAILED. 4 passed; 2 failed", Some(9));
        check("     Summary [   0.1s] 15 tests run: 15 passed, 2 skipped", Some(15));
        check("============ 14 passed, 1 failed in 0.12s ============", Some(15));
        check("15 passed in 0.12s", Some(15));
        check("Test Suites: 2 passed, 2 total\nTests:       1 failed, 14 passed, 15 total", Some(15));
        check(" Test Files  2 passed (2)\n      Tests  \u{1b}[32m15 passed\u{1b}[39m (15)", Some(15));
        check("Ran 15 tests in 0.003s\n\nOK", Some(15));
        check("# tests 15\n# pass 15", Some(15));
        check("ℹ tests 15\nℹ pass 15", Some(15));
        check("everything passed\nthe gate passed at 15", None);
        check("", None);
    }
}
