//! What a project is made of, each finding with the line that proves it. What is not known is said to be unknown.

use std::{collections::BTreeMap, fmt, io, path::Path};

use ostler_files::{UnusableFile, named};
use serde::Serialize;

use crate::{
    manifest::{self, Dependency, MANIFEST_BYTES_MAX, Manifest, ManifestFact, SharedRequirements},
    technology::{self, Ecosystem, StackSection},
    tree::{self, TreeDirectory},
    version::StackVersion,
};

/// How many places are named as evidence of one finding.
const EVIDENCE_MAX: usize = 8;

/// How many manifests of one project are read.
const MANIFESTS_MAX: usize = 512;

/// How many findings, and manifests that cannot be read, are kept.
const FINDINGS_MAX: usize = 1000;

/// The words within a section, in the order in which they are shown. Others follow.
const KEY_ORDER: &[&str] = &[
    "Framework",
    "Language",
    "Runtime",
    "Styling",
    "State",
    "Form",
    "UI Kit",
    "ORM",
    "Auth",
    "Validation",
    "Queue",
    "Server",
    "Primary",
    "Cache",
    "Search",
    "Hosting",
    "CI/CD",
    "Container",
    "Monitoring",
];

/// How many directories of the root are named.
const LAYOUT_MAX: usize = 12;

/// The stack of a project, as its files say.
#[derive(Debug, Default, Serialize)]
pub struct StackDetection {
    /// What was found, in the order of the sections.
    pub findings: Vec<StackFinding>,
    /// Manifests that are there and say nothing to us.
    pub unread: Vec<UnreadManifest>,
    /// Whether there was more than is looked at.
    pub is_cut: bool,
}

/// One technology.
#[derive(Debug, Clone, Serialize)]
pub struct StackFinding {
    /// Where it belongs.
    pub section: StackSection,
    /// Under which word.
    pub key: String,
    /// What it is called.
    pub name: String,
    /// Its version, if a manifest fixes it.
    pub version: Option<StackVersion>,
    /// Where that stands, the nearest to the root first.
    pub evidence: Vec<Evidence>,
    /// Whether only development dependencies and configurations say so.
    pub is_dev: bool,
    /// Whether a dependency of a manifest says so, and no other file alone.
    pub is_dependency: bool,
}

/// A place in a file of the project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Evidence {
    /// The file, relative to the root.
    pub file: String,
    /// Its line, where it is not the file itself that proves it.
    pub line: Option<u32>,
}

/// A manifest that says nothing to us.
#[derive(Debug, Serialize)]
pub struct UnreadManifest {
    /// The file, relative to the root.
    pub file: String,
    /// Why not.
    pub why: WhyUnread,
}

/// Why a manifest was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum WhyUnread {
    /// Its kind is not supported.
    Unsupported,
    /// It is too large.
    TooLarge,
    /// It is not text.
    NotText,
    /// It cannot be opened.
    Unreadable,
    /// It is not what its name says.
    Malformed {
        /// Where it stops making sense.
        line: Option<u32>,
    },
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}", self.file),
            None => f.write_str(&self.file),
        }
    }
}

impl StackFinding {
    /// The name with the version that is required.
    pub fn value(&self) -> String {
        match &self.version {
            Some(version) => format!("{} {version}", self.name),
            None => self.name.clone(),
        }
    }

    /// The name with the release line, as it is written into a context file. Languages change with minor versions.
    pub fn line_value(&self) -> String {
        match &self.version {
            Some(_) if matches!(self.key.as_str(), "Language" | "Runtime") => self.value(),
            Some(version) => format!("{} {}", self.name, version.line()),
            None => self.name.clone(),
        }
    }
}

impl StackDetection {
    /// Looks at a project. It fails only if the root itself cannot be listed.
    pub fn of(root: &Path) -> io::Result<StackDetection> {
        let (directories, is_cut) = tree::walk(root)?;
        let mut collector = Collector { is_cut, ..Collector::new(root) };
        for directory in &directories {
            let sources = directory.path.join("src");
            let sources = directories.iter().find(|it| it.path == sources);
            collector.directory(directory, sources);
        }
        collector.layout(&directories[0]);
        Ok(collector.finish())
    }

    /// Whether nothing at all was found.
    pub fn is_empty(&self) -> bool {
        self.findings.is_empty() && self.unread.is_empty()
    }

    /// Words under which several technologies stand where one is expected, so that a person has to say which.
    pub fn unclear(&self) -> Vec<(StackSection, &str)> {
        let mut counts: BTreeMap<(StackSection, &str), usize> = BTreeMap::new();
        for finding in &self.findings {
            let place = (finding.section, finding.key.as_str());
            if matches!(place, (StackSection::Database, "Primary") | (StackSection::PackageManager, _)) {
                *counts.entry(place).or_default() += 1;
            }
        }
        counts.into_iter().filter(|(_, count)| *count > 1).map(|(place, _)| place).collect()
    }
}

/// Collects findings over the directories of a project.
struct Collector<'a> {
    root: &'a Path,
    findings: Vec<StackFinding>,
    /// Those of directories that are neither a frontend nor a backend by themselves.
    undecided: Vec<StackFinding>,
    unread: Vec<UnreadManifest>,
    shared: SharedRequirements,
    manifests: usize,
    is_cut: bool,
}

/// What one directory says, before it is known whether it is a frontend or a backend.
#[derive(Default)]
struct DirectoryFindings {
    findings: Vec<StackFinding>,
    has_manager_field: bool,
}

impl<'a> Collector<'a> {
    fn new(root: &'a Path) -> Collector<'a> {
        Collector {
            root,
            findings: Vec::new(),
            undecided: Vec::new(),
            unread: Vec::new(),
            shared: SharedRequirements::new(),
            manifests: 0,
            is_cut: false,
        }
    }

    fn directory(&mut self, directory: &TreeDirectory, sources: Option<&TreeDirectory>) {
        let mut found = DirectoryFindings::default();
        for name in &directory.files {
            let file = shown(&directory.path.join(name));
            if technology::is_unread(name) {
                self.leave(file, WhyUnread::Unsupported);
            } else if let Some(manifest) = self.manifest(directory, name, &file) {
                found.manifest(manifest, &file);
            }
        }
        found.typescript(directory);
        found.javascript(directory, sources);
        self.proof_files(directory, &mut found);
        for finding in found.placed() {
            if finding.section == StackSection::Either && self.undecided.len() < FINDINGS_MAX {
                self.undecided.push(finding);
            } else {
                self.add(finding);
            }
        }
    }

    fn manifest(&mut self, directory: &TreeDirectory, name: &str, file: &str) -> Option<Manifest> {
        if !manifest::is_manifest(name) {
            return None;
        }
        if self.manifests >= MANIFESTS_MAX {
            self.is_cut = true;
            return None;
        }
        self.manifests += 1;
        let text = match named::read_text(self.root.join(&directory.path).join(name), MANIFEST_BYTES_MAX) {
            Ok(text) => text,
            Err(error) => {
                self.leave(file.to_owned(), why(&error));
                return None;
            }
        };
        match manifest::read(name, &text, &mut self.shared)? {
            Ok(manifest) => Some(manifest),
            Err(fault) => {
                self.leave(file.to_owned(), WhyUnread::Malformed { line: fault.line });
                None
            }
        }
    }

    /// Files that prove something by being there.
    fn proof_files(&mut self, directory: &TreeDirectory, found: &mut DirectoryFindings) {
        for proof in technology::proof_files() {
            let is_there = match proof.path.split_once('/') {
                None => directory.files.contains(&proof.path),
                // Below a hidden directory, which is not walked.
                Some(_) => self.root.join(&directory.path).join(&proof.path).is_file(),
            };
            // The manager that the manifest names is the one; other lock files are left over.
            let is_overruled = proof.section == StackSection::PackageManager
                && proof.key == "Node"
                && found.has_manager_field;
            if is_there && !is_overruled {
                let file = shown(&directory.path.join(&proof.path));
                found.findings.push(StackFinding {
                    section: proof.section,
                    key: proof.key.clone(),
                    name: proof.name.clone(),
                    version: None,
                    evidence: vec![Evidence { file, line: None }],
                    is_dev: true,
                    is_dependency: false,
                });
            }
        }
        if directory.path.as_os_str().is_empty()
            && let Some(file) = first_workflow(self.root)
        {
            found.findings.push(StackFinding {
                section: StackSection::Infrastructure,
                key: "CI/CD".to_owned(),
                name: "GitHub Actions".to_owned(),
                version: None,
                evidence: vec![Evidence { file, line: None }],
                is_dev: true,
                is_dependency: false,
            });
        }
    }

    /// The directories of the root, so that a reader knows where to look.
    fn layout(&mut self, root: &TreeDirectory) {
        for name in root.directories.iter().take(LAYOUT_MAX) {
            self.add(StackFinding {
                section: StackSection::Layout,
                key: "Directory".to_owned(),
                name: format!("{name}/"),
                version: None,
                evidence: vec![Evidence { file: format!("{name}/"), line: None }],
                is_dev: false,
                is_dependency: false,
            });
        }
    }

    fn leave(&mut self, file: String, why: WhyUnread) {
        if self.unread.len() < FINDINGS_MAX {
            self.unread.push(UnreadManifest { file, why });
        } else {
            self.is_cut = true;
        }
    }

    /// One more proof of what is known, or something new.
    fn add(&mut self, finding: StackFinding) {
        if let Some(known) = self.findings.iter_mut().find(|known| known.is_of(&finding)) {
            known.join(finding);
        } else if self.findings.len() < FINDINGS_MAX {
            self.findings.push(finding);
        } else {
            self.is_cut = true;
        }
    }

    /// What no directory decides goes where the project has the same already, and otherwise to its only side.
    fn decide(&mut self) {
        let has = |section| self.findings.iter().any(|it| it.section == section && it.is_dependency);
        let only = if has(StackSection::Frontend) && !has(StackSection::Backend) {
            StackSection::Frontend
        } else {
            StackSection::Backend
        };
        for finding in std::mem::take(&mut self.undecided) {
            let at = |section| StackFinding { section, ..finding.clone() };
            let sides = [StackSection::Frontend, StackSection::Backend].map(at);
            let known = sides.iter().find(|side| self.findings.iter().any(|known| known.is_of(side)));
            let placed = known.cloned().unwrap_or_else(|| at(only));
            self.add(placed);
        }
    }

    fn finish(mut self) -> StackDetection {
        self.decide();
        let Collector { mut findings, unread, is_cut, .. } = self;
        let rank = |key: &str| KEY_ORDER.iter().position(|it| *it == key).unwrap_or(KEY_ORDER.len());
        findings.sort_by_key(|it| (it.section, rank(&it.key)));
        StackDetection { findings, unread, is_cut }
    }
}

impl StackFinding {
    /// Whether both are about one technology in one version, as far as they name one.
    fn is_of(&self, other: &StackFinding) -> bool {
        let agrees = self.version.is_none() || other.version.is_none() || self.version == other.version;
        self.section == other.section && self.key == other.key && self.name == other.name && agrees
    }

    fn join(&mut self, other: StackFinding) {
        let is_vague = other.version.is_none()
            && matches!(self.version, Some(StackVersion::Edition(_) | StackVersion::AtLeast(_)));
        if self.version.is_none() {
            self.version = other.version;
        }
        self.is_dev &= other.is_dev;
        self.is_dependency |= other.is_dependency;
        // A package that inherits its edition, or names none, proves nothing about the version.
        if self.key == "Language" && is_vague {
            return;
        }
        let room = EVIDENCE_MAX.saturating_sub(self.evidence.len());
        self.evidence.extend(other.evidence.into_iter().take(room));
    }
}

impl DirectoryFindings {
    fn manifest(&mut self, manifest: Manifest, file: &str) {
        for ManifestFact { section, key, name, version, line } in manifest.facts {
            self.has_manager_field |= section == StackSection::PackageManager;
            let evidence = vec![Evidence { file: file.to_owned(), line: Some(line) }];
            let (key, name) = (key.to_owned(), name.to_owned());
            let is_dependency = false;
            self.findings.push(StackFinding {
                section,
                key,
                name,
                version,
                evidence,
                is_dev: false,
                is_dependency,
            });
        }
        for Dependency { ecosystem, name, version, line, is_dev } in manifest.dependencies {
            for technology in technology::of_package(ecosystem, &name) {
                if is_dev && !technology.dev {
                    continue;
                }
                // The tag of an image is the version of what it serves; that of a client is its own.
                let is_own = !technology.driver || ecosystem == Ecosystem::Image;
                self.findings.push(StackFinding {
                    section: technology.section,
                    key: technology.key.clone(),
                    name: technology.name.clone(),
                    version: version.clone().filter(|_| is_own),
                    evidence: vec![Evidence { file: file.to_owned(), line: Some(line) }],
                    is_dev,
                    is_dependency: !matches!(ecosystem, Ecosystem::Image | Ecosystem::Prisma),
                });
            }
        }
    }

    /// A compiler configuration proves TypeScript without the package.
    fn typescript(&mut self, directory: &TreeDirectory) {
        let has = |name: &str| directory.files.contains(name);
        if has("package.json") && has("tsconfig.json") {
            self.findings.push(language("TypeScript", &directory.path.join("tsconfig.json")));
        }
    }

    /// A package with a framework, and with sources in JavaScript alone.
    fn javascript(&mut self, directory: &TreeDirectory, sources: Option<&TreeDirectory>) {
        let has_framework = self.findings.iter().any(|it| it.is_dependency && it.key == "Framework");
        let is_typed = self.findings.iter().any(|it| it.name == "TypeScript");
        if !directory.files.contains("package.json") || !has_framework || is_typed {
            return;
        }
        let places = [Some(directory), sources].into_iter().flatten();
        let files: Vec<(&TreeDirectory, &String)> =
            places.flat_map(|place| place.files.iter().map(move |name| (place, name))).collect();
        if files.iter().any(|(_, name)| has_extension(name, &["ts", "tsx", "mts", "cts"])) {
            return;
        }
        let is_source = |name: &str| {
            has_extension(name, &["js", "jsx", "mjs", "cjs"])
                && !name.contains(".config.")
                && !name.starts_with('.')
        };
        if let Some((place, name)) = files.iter().find(|(_, name)| is_source(name)) {
            self.findings.push(language("JavaScript", &place.path.join(name)));
        }
    }

    /// With each finding in a section, as far as the directory decides it.
    fn placed(self) -> Vec<StackFinding> {
        let has = |section| self.findings.iter().any(|it| it.section == section && it.is_dependency);
        let (front, back) = (has(StackSection::Frontend), has(StackSection::Backend));
        let mut placed = Vec::new();
        for finding in self.findings {
            let is_either = finding.section == StackSection::Either;
            match (front, back) {
                (true, true) if is_either && finding.key == "Language" => {
                    placed.push(StackFinding { section: StackSection::Frontend, ..finding.clone() });
                    placed.push(StackFinding { section: StackSection::Backend, ..finding });
                }
                (_, true) if is_either => {
                    placed.push(StackFinding { section: StackSection::Backend, ..finding });
                }
                (true, false) if is_either => {
                    placed.push(StackFinding { section: StackSection::Frontend, ..finding });
                }
                _ => placed.push(finding),
            }
        }
        placed
    }
}

fn language(name: &str, path: &Path) -> StackFinding {
    StackFinding {
        section: StackSection::Either,
        key: "Language".to_owned(),
        name: name.to_owned(),
        version: None,
        evidence: vec![Evidence { file: shown(path), line: None }],
        is_dev: true,
        is_dependency: false,
    }
}

fn has_extension(name: &str, extensions: &[&str]) -> bool {
    Path::new(name).extension().is_some_and(|it| extensions.iter().any(|known| it == *known))
}

/// The first workflow of GitHub Actions by name.
fn first_workflow(root: &Path) -> Option<String> {
    let entries = std::fs::read_dir(root.join(".github/workflows")).ok()?;
    let names = entries.take(1000).flatten().filter_map(|it| it.file_name().into_string().ok());
    let is_workflow = |name: &String| {
        Path::new(name).extension().is_some_and(|it| it == "yml" || it == "yaml")
            && !name.chars().any(char::is_control)
    };
    names.filter(is_workflow).min().map(|name| format!(".github/workflows/{name}"))
}

fn why(error: &io::Error) -> WhyUnread {
    match (UnusableFile::of(error), error.kind()) {
        (Some(UnusableFile::TooLong { .. }), _) => WhyUnread::TooLarge,
        (None, io::ErrorKind::InvalidData) => WhyUnread::NotText,
        _ => WhyUnread::Unreadable,
    }
}

/// A path as people write it.
fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
