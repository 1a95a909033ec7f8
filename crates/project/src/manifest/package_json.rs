//! `package.json`.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Dependency, Manifest, SyntaxFault};
use crate::{
    lines::LineIndex,
    technology::{Ecosystem, StackSection},
    version::StackVersion,
};

/// Fields of other types than npm allows are passed over, not errors: nothing follows from them.
#[derive(Deserialize)]
struct Package<'a> {
    #[serde(borrow)]
    dependencies: Option<&'a RawValue>,
    #[serde(borrow, rename = "devDependencies")]
    dev_dependencies: Option<&'a RawValue>,
    #[serde(borrow, rename = "packageManager")]
    manager: Option<&'a RawValue>,
    #[serde(borrow)]
    engines: Option<&'a RawValue>,
}

pub(super) fn read(text: &str) -> Result<Manifest, SyntaxFault> {
    let package: Package<'_> = serde_json::from_str(text).map_err(|error| fault(&error))?;
    let lines = LineIndex::new(text);
    let mut manifest = Manifest::default();
    for (block, is_dev) in [(package.dependencies, false), (package.dev_dependencies, true)] {
        for (name, value) in entries(block) {
            let (line, version) = (lines.line_of(value.get()), requirement(value));
            let ecosystem = Ecosystem::Npm;
            manifest.push(Dependency { ecosystem, name, version, line, is_dev });
        }
    }
    if let Some(value) = package.manager {
        tell_manager(&mut manifest, value, lines.line_of(value.get()));
    }
    if let Some((_, value)) = entries(package.engines).into_iter().find(|(name, _)| name == "node")
        && let Some(version) = requirement(value)
    {
        let place = (StackSection::Either, "Runtime", "Node.js");
        manifest.tell(place, Some(version), lines.line_of(value.get()));
    }
    Ok(manifest)
}

pub(super) fn entries(block: Option<&RawValue>) -> BTreeMap<String, &RawValue> {
    block.and_then(|block| serde_json::from_str(block.get()).ok()).unwrap_or_default()
}

pub(super) fn requirement(value: &RawValue) -> Option<StackVersion> {
    StackVersion::of_requirement(&serde_json::from_str::<String>(value.get()).ok()?)
}

pub(super) fn fault(error: &serde_json::Error) -> SyntaxFault {
    SyntaxFault { line: u32::try_from(error.line()).ok().filter(|line| *line > 0) }
}

/// `pnpm@8.15.0`.
fn tell_manager(manifest: &mut Manifest, value: &RawValue, line: u32) {
    let text: String = serde_json::from_str(value.get()).unwrap_or_default();
    let Some((name, version)) = text.split_once('@') else { return };
    let name = match name {
        "pnpm" => "pnpm",
        "npm" => "npm",
        "yarn" => "Yarn",
        "bun" => "Bun",
        _ => return,
    };
    manifest.tell((StackSection::PackageManager, "Node", name), StackVersion::exact(version), line);
}
