//! Files that hold one version of a runtime: `.nvmrc`, `.python-version`, `.ruby-version`.

use super::Manifest;
use crate::{technology::StackSection, version::StackVersion};

pub(super) fn read(text: &str, name: &'static str) -> Manifest {
    let mut manifest = Manifest::default();
    let first = text.lines().next().unwrap_or_default().trim();
    let first = first.strip_prefix("ruby-").unwrap_or(first);
    // `lts/iron` and names of environments say nothing that can be relied on.
    if let Some(version) = StackVersion::exact(first) {
        manifest.tell((StackSection::Either, "Runtime", name), Some(version), 1);
    }
    manifest
}
