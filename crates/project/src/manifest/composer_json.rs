//! `composer.json`.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    Dependency, Manifest, SyntaxFault,
    package_json::{entries, fault, requirement},
};
use crate::{
    lines::LineIndex,
    technology::{Ecosystem, StackSection},
};

#[derive(Deserialize)]
struct Package<'a> {
    #[serde(borrow)]
    require: Option<&'a RawValue>,
    #[serde(borrow, rename = "require-dev")]
    require_dev: Option<&'a RawValue>,
}

pub(super) fn read(text: &str) -> Result<Manifest, SyntaxFault> {
    let package: Package<'_> = serde_json::from_str(text).map_err(|error| fault(&error))?;
    let lines = LineIndex::new(text);
    let mut manifest = Manifest::default();
    for (block, is_dev) in [(package.require, false), (package.require_dev, true)] {
        for (name, value) in entries(block) {
            let (line, version) = (lines.line_of(value.get()), requirement(value));
            if name == "php" {
                manifest.tell((StackSection::Backend, "Language", "PHP"), version, line);
            } else {
                let ecosystem = Ecosystem::Composer;
                manifest.push(Dependency {
                    ecosystem,
                    name: name.to_ascii_lowercase(),
                    version,
                    line,
                    is_dev,
                });
            }
        }
    }
    Ok(manifest)
}
