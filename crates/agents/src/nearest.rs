//! Finds the name that somebody probably meant, for error messages.

use alloc::{borrow::ToOwned, string::String, vec::Vec};

/// The candidate that differs from the word by the fewest slips of a typing hand; `None` if all are far from it.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let far = word.chars().count().div_ceil(3) + 1;
    candidates
        .into_iter()
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|(distance, _)| *distance < far)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// The message for a person, and the known name that is nearest to an unknown one.
///
/// The reader's message holds both: "unknown field `x`, expected one of `a`, `b`". The list is kept only when none
/// of it is near.
pub fn explained(message: &str) -> (String, Option<String>) {
    let message = message.replace("unknown field", "unknown key").replace("unknown variant", "unknown value");
    let found = message.starts_with("unknown ").then(|| message.split_once(", expected ")).flatten();
    let Some((unknown, _)) = found else { return (message, None) };
    match meant(&message).map(ToOwned::to_owned) {
        Some(name) => (unknown.to_owned(), Some(name)),
        None => (message, None),
    }
}

/// The known name that is nearest to an unknown one. The message holds both: "unknown … `x`, expected … `a`, `b`".
fn meant(message: &str) -> Option<&str> {
    let (unknown, expected) = message.strip_prefix("unknown ")?.split_once(", expected ")?;
    let word = unknown.split('`').nth(1)?;
    nearest(word, expected.split('`').skip(1).step_by(2))
}

/// How many letters are added, left out, changed or swapped with their neighbour.
fn distance(left: &str, right: &str) -> usize {
    let left: Vec<char> = left.chars().collect();
    let right: Vec<char> = right.chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=right.len()).collect();
    for (row, letter) in left.iter().enumerate() {
        let mut now = alloc::vec![row + 1];
        for (column, other) in right.iter().enumerate() {
            let changed = last[column] + usize::from(letter != other);
            let mut fewest = changed.min(last[column + 1] + 1).min(now[column] + 1);
            let swapped = row > 0 && column > 0 && left[row - 1] == *other && right[column - 1] == *letter;
            if swapped {
                fewest = fewest.min(before[column - 1] + 1);
            }
            now.push(fewest);
        }
        before = core::mem::replace(&mut last, now);
    }
    last[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_counted() {
        for (left, right, expected) in [
            ("", "", 0),
            ("model", "model", 0),
            ("modle", "model", 1),
            ("modl", "model", 1),
            ("modeel", "model", 1),
            ("nodel", "model", 1),
            ("", "abc", 3),
            ("계정", "계좌", 1),
        ] {
            assert_eq!(distance(left, right), expected, "{left} {right}");
            assert_eq!(distance(right, left), expected, "{right} {left}");
        }
    }

    #[test]
    fn what_is_far_from_everything_has_no_nearest() {
        let names = ["claude", "codex", "gemini", "opencode"];
        assert_eq!(nearest("cladue", names), Some("claude"));
        assert_eq!(nearest("codx", names), Some("codex"));
        assert_eq!(nearest("claude-code", names), None);
        assert_eq!(nearest("x", names), None);
        assert_eq!(nearest("", names), None);
    }
}
