//! The table of technologies that are recognised, and of the packages and files that prove them.
//!
//! It is data (`data/technologies.toml`), so that a technology is added without code.

use std::{collections::BTreeMap, sync::LazyLock};

use serde::{Deserialize, Serialize};

const TABLE: &str = include_str!("../data/technologies.toml");

/// The part of a project's description that a technology belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum StackSection {
    /// What runs in a browser or on a device.
    Frontend,
    /// What runs on a server, and everything that is no frontend.
    Backend,
    /// Where data is kept.
    Database,
    /// Models and what serves them.
    Ai,
    /// Where it runs, and how it gets there.
    Infrastructure,
    /// What installs dependencies.
    PackageManager,
    /// How it is tested.
    Testing,
    /// What looks after the form of the code.
    Style,
    /// Rules about commits.
    Git,
    /// Directories.
    Layout,
    /// In the table alone: the frontend or the backend, as the other dependencies of the manifest say.
    Either,
}

/// Where packages come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ecosystem {
    /// package.json.
    Npm,
    /// pyproject.toml, requirements.txt.
    Pypi,
    /// Cargo.toml.
    Cargo,
    /// go.mod.
    Go,
    /// pom.xml.
    Maven,
    /// composer.json.
    Composer,
    /// Gemfile.
    Gem,
    /// Images that a compose file names.
    Image,
    /// The provider of a Prisma schema.
    Prisma,
}

/// One technology.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Technology {
    /// What it is called.
    pub name: String,
    /// Where it is written down.
    pub section: StackSection,
    /// Under which word.
    pub key: String,
    /// Whether a development dependency proves it.
    #[serde(default)]
    pub dev: bool,
    /// Whether the packages are clients of it, whose version is their own.
    #[serde(default)]
    pub driver: bool,
    #[serde(default)]
    npm: Vec<String>,
    #[serde(default)]
    pypi: Vec<String>,
    #[serde(default)]
    cargo: Vec<String>,
    #[serde(default)]
    go: Vec<String>,
    #[serde(default)]
    maven: Vec<String>,
    #[serde(default)]
    composer: Vec<String>,
    #[serde(default)]
    gem: Vec<String>,
    #[serde(default)]
    image: Vec<String>,
    #[serde(default)]
    prisma: Vec<String>,
}

/// A file that proves a technology by being there.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProofFile {
    pub(crate) path: String,
    pub(crate) name: String,
    pub(crate) section: StackSection,
    pub(crate) key: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    technology: Vec<Technology>,
    file: Vec<ProofFile>,
    unread: Vec<String>,
}

static TECHNOLOGIES: LazyLock<Table> =
    LazyLock::new(|| toml::from_str(TABLE).expect("the table is part of the program, and a test reads it"));

/// The technologies that a package proves, by its name.
type ByPackage = BTreeMap<&'static str, Vec<&'static Technology>>;

static BY_PACKAGE: LazyLock<BTreeMap<Ecosystem, ByPackage>> = LazyLock::new(|| {
    let mut index: BTreeMap<Ecosystem, ByPackage> = BTreeMap::new();
    for technology in &TECHNOLOGIES.technology {
        for (ecosystem, packages) in technology.packages() {
            let of_ecosystem = index.entry(ecosystem).or_default();
            for package in packages {
                of_ecosystem.entry(package).or_default().push(technology);
            }
        }
    }
    index
});

impl Technology {
    fn packages(&self) -> [(Ecosystem, &[String]); 9] {
        [
            (Ecosystem::Npm, &self.npm),
            (Ecosystem::Pypi, &self.pypi),
            (Ecosystem::Cargo, &self.cargo),
            (Ecosystem::Go, &self.go),
            (Ecosystem::Maven, &self.maven),
            (Ecosystem::Composer, &self.composer),
            (Ecosystem::Gem, &self.gem),
            (Ecosystem::Image, &self.image),
            (Ecosystem::Prisma, &self.prisma),
        ]
    }
}

/// All technologies, in the order of the table.
pub fn technologies() -> &'static [Technology] {
    &TECHNOLOGIES.technology
}

/// The technologies that a package proves.
pub(crate) fn of_package(ecosystem: Ecosystem, package: &str) -> &'static [&'static Technology] {
    BY_PACKAGE.get(&ecosystem).and_then(|packages| packages.get(package)).map_or(&[], Vec::as_slice)
}

pub(crate) fn proof_files() -> &'static [ProofFile] {
    &TECHNOLOGIES.file
}

/// Whether a file is a manifest that is named and not read.
pub(crate) fn is_unread(name: &str) -> bool {
    TECHNOLOGIES.unread.iter().any(|it| it == name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_table_can_be_read_and_names_each_technology_once() {
        let mut names = BTreeSet::new();
        for technology in technologies() {
            assert!(names.insert(&technology.name), "{} is there twice", technology.name);
            assert!(technology.packages().iter().any(|(_, packages)| !packages.is_empty()));
        }
        assert!(proof_files().iter().all(|it| !it.path.starts_with('/')));
    }
}
