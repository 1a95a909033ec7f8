//! `requirements.txt`, and the requirements of PEP 508 everywhere else.

use super::{Dependency, Manifest};
use crate::{technology::Ecosystem, version::StackVersion};

/// One requirement of PEP 508.
pub(super) struct Requirement {
    pub(super) name: String,
    pub(super) version: Option<StackVersion>,
}

pub(super) fn read(text: &str) -> Manifest {
    let mut manifest = Manifest::default();
    for (line, number) in text.lines().zip(1..) {
        let line = line.split(" #").next().unwrap_or_default().trim();
        // Options such as -r and -e, and addresses, name no package that is known.
        if line.is_empty() || line.starts_with(['#', '-']) {
            continue;
        }
        if let Some(Requirement { name, version }) = requirement(line) {
            let ecosystem = Ecosystem::Pypi;
            manifest.push(Dependency { ecosystem, name, version, line: number, is_dev: false });
        }
    }
    manifest
}

/// `Django[argon2]>=4.2,<5; python_version > "3.8"`.
pub(super) fn requirement(text: &str) -> Option<Requirement> {
    let text = text.split(';').next().unwrap_or_default().trim();
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let end = text.find(|c| !is_of_name(c)).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let mut rest = rest.trim_start();
    if let Some(extras) = rest.strip_prefix('[') {
        rest = extras.split_once(']')?.1;
    }
    let rest = rest.trim().trim_start_matches('(').trim_end_matches(')');
    // `name @ https://…` fixes no version; `name/path` is no requirement.
    let is_requirement = rest.is_empty() || rest.starts_with(['=', '>', '<', '~', '!', '@']);
    if name.is_empty() || !is_requirement {
        return None;
    }
    Some(Requirement { name: normal(name), version: StackVersion::of_requirement(rest) })
}

/// Names count the same in either case, and with any of `-`, `_` and `.`.
pub(super) fn normal(name: &str) -> String {
    name.to_ascii_lowercase().replace(['_', '.'], "-")
}
