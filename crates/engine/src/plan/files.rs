//! Whether two tasks could change the same file, by the patterns that they declare.

use alloc::{
    collections::BTreeMap,
    string::{String, ToString},
    vec::Vec,
};

/// How many parts of a path are compared; longer ones count as overlapping.
const PARTS_MAX: usize = 64;

/// Patterns that somebody has claimed, by their first part.
#[derive(Debug, Default)]
pub(super) struct Claims {
    by_first: BTreeMap<String, Vec<String>>,
    /// Those whose first part can be anything.
    anywhere: Vec<String>,
}

impl Claims {
    /// Whether none of the patterns overlaps with one that is claimed.
    pub(super) fn allow(&self, patterns: &[String]) -> bool {
        patterns.iter().all(|pattern| {
            let near: Vec<&Vec<String>> = match literal_first(pattern) {
                Some(first) => self.by_first.get(first).into_iter().collect(),
                None => self.by_first.values().collect(),
            };
            !near.into_iter().chain([&self.anywhere]).flatten().any(|claimed| overlap(claimed, pattern))
        })
    }

    pub(super) fn add(&mut self, patterns: Vec<String>) {
        for pattern in patterns {
            match literal_first(&pattern).map(ToString::to_string) {
                Some(first) => self.by_first.entry(first).or_default().push(pattern),
                None => self.anywhere.push(pattern),
            }
        }
    }
}

/// Whether some path could fit both patterns, or lie below both. In doubt it could.
pub fn overlap(one: &str, other: &str) -> bool {
    let (one, other) = (parts(one), parts(other));
    let is_unclear = |parts: &[&str]| parts.len() > PARTS_MAX || parts.contains(&"..");
    if is_unclear(&one) || is_unclear(&other) {
        return true;
    }
    // Whether the rests of both, from these parts on, overlap. The end of one fits whatever is left of the other: a
    // directory stands for all that is in it.
    let mut behind = alloc::vec![true; other.len() + 1];
    for left in one.iter().rev() {
        let mut row = alloc::vec![true; other.len() + 1];
        for (at, right) in other.iter().enumerate().rev() {
            row[at] = if *left == "**" || *right == "**" {
                behind[at] || row[at + 1]
            } else {
                fits(left, right) && behind[at + 1]
            };
        }
        behind = row;
    }
    behind[0]
}

fn parts(pattern: &str) -> Vec<&str> {
    pattern.split('/').filter(|part| !part.is_empty() && *part != ".").collect()
}

fn literal_first(pattern: &str) -> Option<&str> {
    let first = pattern.split('/').find(|part| !part.is_empty() && *part != ".")?;
    (first != ".." && !first.contains(is_wild)).then_some(first)
}

fn is_wild(letter: char) -> bool {
    matches!(letter, '*' | '?' | '[' | '{')
}

/// Whether two parts could name the same thing: what stands before and behind their wildcards must agree.
fn fits(one: &str, other: &str) -> bool {
    if !one.contains(is_wild) && !other.contains(is_wild) {
        return one == other;
    }
    let head = |part: &str| part.split(is_wild).next().unwrap_or_default().to_string();
    let tail = |part: &str| {
        let is_end = |c: char| is_wild(c) || matches!(c, ']' | '}');
        if part.contains(is_wild) {
            part.rsplit(is_end).next().unwrap_or_default().to_string()
        } else {
            part.to_string()
        }
    };
    let (heads, tails) = ((head(one), head(other)), (tail(one), tail(other)));
    (heads.0.starts_with(&heads.1) || heads.1.starts_with(&heads.0))
        && (tails.0.ends_with(&tails.1) || tails.1.ends_with(&tails.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_that_overlap() {
        for (one, other) in [
            ("src/a.rs", "src/a.rs"),
            ("src/user/*", "src/user/a.rs"),
            ("src/user", "src/user/a.rs"),
            ("src/user/", "src/user/a/b.rs"),
            ("./src/a.rs", "src/a.rs"),
            ("**/*.rs", "src/a.rs"),
            ("src/**/x.ts", "src/a/b/x.ts"),
            ("src/*.rs", "src/a*"),
            ("*", "README.md"),
            ("../x", "src"),
            // It may be a directory, whatever its name.
            ("**/*.rs", "docs/a.md"),
            ("src/{a,b}.rs", "src/a.rs"),
        ] {
            assert!(overlap(one, other) && overlap(other, one), "{one} {other}");
        }
    }

    #[test]
    fn patterns_that_do_not() {
        for (one, other) in [
            ("src/a.rs", "src/b.rs"),
            ("src/user/*", "src/order/*"),
            ("src/user", "src/users"),
            ("src/*.rs", "src/*.ts"),
            ("tests/x.ts", "src/x.ts"),
        ] {
            assert!(!overlap(one, other) && !overlap(other, one), "{one} {other}");
        }
    }

    #[test]
    fn claims_are_found_by_their_first_part() {
        let mut claims = Claims::default();
        claims.add(alloc::vec!["src/a.rs".into(), "*.md".into()]);
        assert!(!claims.allow(&["src/*".into()]));
        assert!(!claims.allow(&["README.md".into()]));
        assert!(!claims.allow(&["*/a.rs".into()]));
        assert!(claims.allow(&["src/b.rs".into(), "docs/x.md".into()]));
        assert!(claims.allow(&[]));
    }
}
