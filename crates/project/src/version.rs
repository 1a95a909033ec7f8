//! Versions as manifests require them: `^4.19.2`, `>=4.2,<5`, `~> 7.1`, `10.*`.

use std::fmt;

use serde::{Serialize, Serializer};

/// The version of a technology, as far as a manifest fixes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StackVersion {
    /// This release line: at most major and minor.
    Release(String),
    /// This one or any later one.
    AtLeast(String),
    /// The edition of a language.
    Edition(String),
}

impl StackVersion {
    /// Reads a requirement in the notation of npm, PEP 440, Cargo, Composer, Bundler or Go. None where it leaves the
    /// release line open, or names no version at all.
    pub fn of_requirement(requirement: &str) -> Option<StackVersion> {
        let requirement = requirement.trim();
        let names_a_place = |c| matches!(c, ':' | '/' | '@');
        if requirement.is_empty() || requirement.contains(names_a_place) || requirement.contains(" - ") {
            return None;
        }
        let mut alternatives = requirement.split('|').map(str::trim).filter(|it| !it.is_empty());
        let first = of_clauses(alternatives.next()?)?;
        let agree = |other: &str| of_clauses(other).is_some_and(|other| other.line() == first.line());
        alternatives.all(agree).then_some(first)
    }

    /// A version that is named exactly, such as `v1.9.1` or `16-alpine`.
    pub fn exact(text: &str) -> Option<StackVersion> {
        numbers(text.trim()).map(|it| StackVersion::Release(shown(&it)))
    }

    /// The release line: the major version, before 1.0 with the minor one.
    pub fn line(&self) -> String {
        let text = match self {
            StackVersion::Edition(text) => return format!("edition {text}"),
            StackVersion::Release(text) | StackVersion::AtLeast(text) => text,
        };
        let mut parts = text.split('.');
        let major = parts.next().unwrap_or_default();
        let line = match parts.next() {
            Some(minor) if major == "0" => format!("0.{minor}"),
            _ => major.to_owned(),
        };
        if matches!(self, StackVersion::AtLeast(_)) { format!(">={line}") } else { line }
    }
}

impl fmt::Display for StackVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StackVersion::Release(text) => f.write_str(text),
            StackVersion::AtLeast(text) => write!(f, ">={text}"),
            StackVersion::Edition(text) => write!(f, "edition {text}"),
        }
    }
}

impl Serialize for StackVersion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Clauses that all hold, such as `>=4.2,<5`.
fn of_clauses(text: &str) -> Option<StackVersion> {
    let (mut pinned, mut lower, mut upper) = (None, None, None);
    let mut words = text.split([',', ' ']).filter(|it| !it.is_empty());
    while let Some(word) = words.next() {
        let version = word.trim_start_matches(['^', '~', '=', '<', '>', '!']);
        let operator = &word[..word.len() - version.len()];
        // An operator may stand apart from its version.
        let version = if version.is_empty() { words.next()? } else { version };
        let version = numbers(version)?;
        match operator {
            "" | "^" | "~" | "=" | "==" | "===" | "~=" | "~>" => pinned = Some(version),
            ">=" | ">" => lower = Some(version),
            "<" | "<=" => upper = Some((version, operator == "<")),
            "!=" => {}
            _ => return None,
        }
    }
    if let Some(version) = pinned {
        return Some(StackVersion::Release(shown(&version)));
    }
    let lower = lower?;
    let is_one_line = upper.is_some_and(|(upper, is_open)| {
        let is_next = is_open && upper[1..].iter().all(|it| *it == 0) && upper[0] == lower[0] + 1;
        lower[0] > 0 && (upper[0] == lower[0] || is_next)
    });
    let text = shown(&lower);
    Some(if is_one_line { StackVersion::Release(text) } else { StackVersion::AtLeast(text) })
}

/// The numbers that a version begins with; at least one.
fn numbers(text: &str) -> Option<Vec<u32>> {
    let text = text.strip_prefix(['v', 'V']).unwrap_or(text);
    let mut numbers = Vec::new();
    for part in text.split('.').take(3) {
        let digits = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
        let Ok(number) = part[..digits].parse() else { break };
        // A major version with room above it.
        if number == u32::MAX {
            return None;
        }
        numbers.push(number);
        if digits < part.len() {
            break;
        }
    }
    (!numbers.is_empty()).then_some(numbers)
}

fn shown(numbers: &[u32]) -> String {
    numbers.iter().take(2).map(ToString::to_string).collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_requirement_fixes_a_release_line_or_does_not() {
        let check = |requirement: &str, expected: &str| {
            let found = StackVersion::of_requirement(requirement);
            let found = found.map_or_else(|| "-".to_owned(), |it| format!("{it} ({})", it.line()));
            assert_eq!(found, expected, "{requirement}");
        };
        check("^4.19.2", "4.19 (4)");
        check("4", "4 (4)");
        check("~> 7.1.3", "7.1 (7)");
        check("10.*", "10 (10)");
        check("1.x", "1 (1)");
        check("==2.0.1", "2.0 (2)");
        check("~=0.115.0", "0.115 (0.115)");
        check(">=4.2,<5.0", "4.2 (4)");
        check(">= 4.2, < 6", ">=4.2 (>=4)");
        check(">=18", ">=18 (>=18)");
        check(">=0.1,<1", ">=0.1 (>=0.1)");
        check("^8.1 || ^8.2", "8.1 (8)");
        check("^17.0.0 || ^18.0.0", "-");
        check("v1.9.1", "1.9 (1)");
        check("5.0.0-beta.3", "5.0 (5)");
        for open in [
            "*",
            "latest",
            "",
            "workspace:*",
            "catalog:",
            "file:../x",
            "git+https://x/y",
            "a/b",
            "1 - 2",
            "<5",
            "!=3",
            ">",
            "99999999999999999999",
            "4294967295",
            "beta",
            "|",
            "===",
        ] {
            check(open, "-");
        }
    }
}
