//! Tells whether two failures are the same. Only what differs from run to run without meaning is left out: times,
//! durations, addresses and temporary paths. A change in a count or in what fails is progress and stays.

use alloc::string::String;

/// What a failure said, without what differs each time.
pub fn signature(output: &str) -> String {
    let mut folded = String::with_capacity(output.len());
    for line in output.lines() {
        for word in line.split_whitespace() {
            folded.push_str(fold(word));
            folded.push(' ');
        }
        folded.push('\n');
    }
    folded
}

fn fold(word: &str) -> &str {
    let bare = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '/');
    if is_address(bare) {
        "<address>"
    } else if is_duration(bare) {
        "<duration>"
    } else if is_time(bare) {
        "<time>"
    } else if bare.starts_with("/tmp/") || bare.starts_with("/var/tmp/") {
        "<path>"
    } else {
        word
    }
}

fn is_address(word: &str) -> bool {
    word.strip_prefix("0x").is_some_and(|hex| hex.len() >= 6 && hex.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// `1.2s`, `350ms`, `3µs`.
fn is_duration(word: &str) -> bool {
    let digits = word.trim_end_matches(|c: char| c.is_alphabetic());
    let unit = &word[digits.len()..];
    let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    is_number && matches!(unit, "s" | "ms" | "us" | "µs" | "ns" | "m" | "min" | "h" | "sec" | "secs")
}

/// `12:34:56`, `2026-01-21`, `2026-01-21T10:00:00Z`.
fn is_time(word: &str) -> bool {
    let separators = word.bytes().filter(|b| matches!(b, b':' | b'-')).count();
    let fits = |c: char| c.is_ascii_digit() || matches!(c, ':' | '-' | '.' | 'T' | 'Z' | '+' | ',');
    separators >= 2 && word.starts_with(|c: char| c.is_ascii_digit()) && word.chars().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_each_time_is_left_out_and_counts_are_not() {
        let same = |a: &str, b: &str| assert_eq!(signature(a), signature(b));
        same("FAILED in 1.2s", "FAILED in 3.45s");
        same("[2026-01-21T10:00:00Z] panic at 0x7ffee4c1", "[2026-01-22T11:01:02Z] panic at 0x7ffee9ab");
        same("see /tmp/abc/x.log", "see /tmp/def/x.log");
        let differs = |a: &str, b: &str| assert_ne!(signature(a), signature(b));
        differs("3 tests failed", "2 tests failed");
        differs("test a failed", "test b failed");
        differs("app.rs:429", "app.rs:430");
    }
}
