//! Manifests: what a project declares that it depends on, each with its line.

mod cargo_toml;
mod compose_file;
mod composer_json;
mod gemfile;
mod go_mod;
mod package_json;
mod pom_xml;
mod prisma_schema;
mod pyproject;
mod requirements;
mod version_file;

use std::collections::BTreeMap;

use crate::{
    technology::{Ecosystem, StackSection},
    version::StackVersion,
};

/// The longest manifest that is read.
pub(crate) const MANIFEST_BYTES_MAX: u64 = 1 << 20;

/// How many dependencies of one manifest are read.
const DEPENDENCIES_MAX: usize = 10_000;

/// What a manifest says.
#[derive(Debug, Default)]
pub(crate) struct Manifest {
    pub(crate) dependencies: Vec<Dependency>,
    pub(crate) facts: Vec<ManifestFact>,
}

/// A package that a manifest names.
#[derive(Debug)]
pub(crate) struct Dependency {
    pub(crate) ecosystem: Ecosystem,
    pub(crate) name: String,
    pub(crate) version: Option<StackVersion>,
    pub(crate) line: u32,
    /// Whether only development needs it.
    pub(crate) is_dev: bool,
}

/// What a manifest says beside its dependencies, such as the version of the language.
#[derive(Debug)]
pub(crate) struct ManifestFact {
    pub(crate) section: StackSection,
    pub(crate) key: &'static str,
    pub(crate) name: &'static str,
    pub(crate) version: Option<StackVersion>,
    pub(crate) line: u32,
}

/// A manifest cannot be read; what is wrong, and on which line if that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SyntaxFault {
    pub(crate) line: Option<u32>,
}

/// The requirements that a workspace sets for its members.
pub(crate) type SharedRequirements = BTreeMap<String, Option<StackVersion>>;

impl Manifest {
    fn push(&mut self, dependency: Dependency) {
        if self.dependencies.len() < DEPENDENCIES_MAX {
            self.dependencies.push(dependency);
        }
    }

    fn tell(
        &mut self,
        place: (StackSection, &'static str, &'static str),
        version: Option<StackVersion>,
        line: u32,
    ) {
        let (section, key, name) = place;
        self.facts.push(ManifestFact { section, key, name, version, line });
    }
}

/// Whether a file of that name is a manifest that can be read.
pub(crate) fn is_manifest(name: &str) -> bool {
    read(name, "", &mut SharedRequirements::new()).is_some()
}

/// Reads a manifest by its name; none if a file of that name is no manifest.
pub(crate) fn read(
    name: &str,
    text: &str,
    shared: &mut SharedRequirements,
) -> Option<Result<Manifest, SyntaxFault>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    Some(match name {
        "package.json" => package_json::read(text),
        "pyproject.toml" => pyproject::read(text),
        "requirements.txt" => Ok(requirements::read(text)),
        "Cargo.toml" => cargo_toml::read(text, shared),
        "go.mod" => Ok(go_mod::read(text)),
        "pom.xml" => pom_xml::read(text),
        "composer.json" => composer_json::read(text),
        "Gemfile" => Ok(gemfile::read(text)),
        "schema.prisma" => Ok(prisma_schema::read(text)),
        "docker-compose.yml" | "docker-compose.yaml" | "compose.yml" | "compose.yaml" => {
            Ok(compose_file::read(text))
        }
        ".nvmrc" | ".node-version" => Ok(version_file::read(text, "Node.js")),
        ".python-version" => Ok(version_file::read(text, "Python")),
        ".ruby-version" => Ok(version_file::read(text, "Ruby")),
        _ => return None,
    })
}
