//! Whether two tasks could change the same file, by the patterns that they declare.

use alloc::{
    collections::BTreeMap,
    string::{String, ToString},
    vec::Vec,
};

/// How many parts of a path are compared; longer ones count as overlapping.
const PARTS_MAX: usize = 64;

/// Patterns that somebody has claimed, by the directories that they name in full: a pattern is compared only with those on
/// its way, and not with all that begin like it.
#[derive(Debug, Default)]
pub(super) struct Claims {
    /// Those that end here, or go on with a part that could be anything.
    here: Vec<String>,
    below: BTreeMap<String, Claims>,
}

impl Claims {
    /// Whether none of the patterns overlaps with one that is claimed.
    pub(super) fn allow(&self, patterns: &[String]) -> bool {
        !patterns.iter().any(|pattern| self.overlaps(pattern))
    }

    pub(super) fn add(&mut self, patterns: Vec<String>) {
        for pattern in patterns {
            let mut place = &mut *self;
            for part in named(&pattern) {
                place = place.below.entry(part.to_string()).or_default();
            }
            place.here.push(pattern);
        }
    }

    fn overlaps(&self, pattern: &str) -> bool {
        let meets = |claims: &Claims| claims.here.iter().any(|claimed| overlap(claimed, pattern));
        let mut place = self;
        for part in named(pattern) {
            if meets(place) {
                return true;
            }
            match place.below.get(part) {
                Some(below) => place = below,
                None => return false,
            }
        }
        // From here on it could be anything that lies below.
        let mut open = alloc::vec![place];
        while let Some(place) = open.pop() {
            if meets(place) {
                return true;
            }
            open.extend(place.below.values());
        }
        false
    }
}

/// The parts at the beginning of a pattern that are named in full; none of one that cannot be compared.
fn named(pattern: &str) -> Vec<&str> {
    let parts = parts(pattern);
    let length = match parts.iter().position(|part| part.contains(is_wild)) {
        _ if is_unclear(&parts) => 0,
        wild => wild.unwrap_or(parts.len()),
    };
    parts.into_iter().take(length).collect()
}

/// Whether some path could fit both patterns, or lie below both. In doubt it could.
pub fn overlap(one: &str, other: &str) -> bool {
    let (one, other) = (parts(one), parts(other));
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

/// Whether it cannot be compared by its parts: braces that go over several of them stand for different paths.
fn is_unclear(parts: &[&str]) -> bool {
    let count = |part: &str, brace: char| part.matches(brace).count();
    parts.len() > PARTS_MAX || parts.iter().any(|part| *part == ".." || count(part, '{') != count(part, '}'))
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
            ("{lib,src}/a.rs", "src/a.rs"),
            ("{lib/x,src/y}/a.rs", "src/y/a.rs"),
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
    fn claims_are_found_wherever_they_stand() {
        let mut claims = Claims::default();
        claims.add(alloc::vec!["src/a.rs".into(), "*.md".into()]);
        assert!(!claims.allow(&["src/*".into()]));
        assert!(!claims.allow(&["README.md".into()]));
        assert!(!claims.allow(&["*/a.rs".into()]));
        assert!(claims.allow(&["src/b.rs".into(), "docs/x.md".into()]));
        assert!(claims.allow(&[]));
    }

    #[test]
    fn claims_allow_what_overlaps_with_none() {
        let long = ["a/"; PARTS_MAX + 1].concat();
        let patterns = [
            "",
            ".",
            "/",
            "*",
            "**",
            "..",
            "src",
            "src/",
            "./src",
            "src/a",
            "src/a/b",
            "src/a/b/c.rs",
            "src/*",
            "src/*/b",
            "src/**",
            "src/**/c.rs",
            "src/a*",
            "src/a/../b",
            "srcs/a",
            "*/a",
            "**/b",
            "s*/a/b",
            "a",
            "src/{a,b}",
            "{src/a,b}/b",
            &long,
        ];
        for claimed in patterns {
            for also in patterns {
                let mut claims = Claims::default();
                claims.add(alloc::vec![claimed.into(), also.into()]);
                for wanted in patterns {
                    let is_free = !overlap(claimed, wanted) && !overlap(also, wanted);
                    assert_eq!(claims.allow(&[wanted.into()]), is_free, "{claimed} {also} {wanted}");
                }
            }
        }
    }
}
