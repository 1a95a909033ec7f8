//! `pyproject.toml`: the standard tables, dependency groups, and those of Poetry.

use toml::de::{DeTable, DeValue};

use super::{
    Dependency, Manifest, SyntaxFault,
    cargo_toml::{table, text},
    requirements::{self, Requirement},
};
use crate::{
    lines::LineIndex,
    technology::{Ecosystem, StackSection},
    version::StackVersion,
};

/// Tools whose table proves that they are used: section, word, name.
const TOOLS: &[(&str, StackSection, &str, &str)] = &[
    ("ruff", StackSection::Style, "Linter", "Ruff"),
    ("black", StackSection::Style, "Formatter", "Black"),
    ("mypy", StackSection::Style, "Type checker", "mypy"),
    ("pytest", StackSection::Testing, "Runner", "pytest"),
];

pub(super) fn read(text: &str) -> Result<Manifest, SyntaxFault> {
    let lines = LineIndex::new(text);
    let document = DeTable::parse(text)
        .map_err(|error| SyntaxFault { line: error.span().map(|span| lines.line(span.start)) })?;
    let document = document.into_inner();
    let mut reader = Reader { lines, manifest: Manifest::default() };
    if let Some(project) = table(&document, "project") {
        reader.project(project);
    }
    for group in table(&document, "dependency-groups").into_iter().flat_map(|groups| groups.values()) {
        reader.list(group.get_ref(), true);
    }
    if let Some(tools) = table(&document, "tool") {
        reader.tools(tools);
    }
    Ok(reader.manifest)
}

struct Reader<'a> {
    lines: LineIndex<'a>,
    manifest: Manifest,
}

impl Reader<'_> {
    fn project(&mut self, project: &DeTable<'_>) {
        self.python(text(project, "requires-python").or_else(|| text(project, "name").map(|it| ("", it.1))));
        if let Some(list) = project.get("dependencies") {
            self.list(list.get_ref(), false);
        }
        for extra in table(project, "optional-dependencies").into_iter().flat_map(|extras| extras.values()) {
            self.list(extra.get_ref(), true);
        }
    }

    fn python(&mut self, required: Option<(&str, usize)>) {
        let Some((requirement, at)) = required else { return };
        let place = (StackSection::Backend, "Language", "Python");
        self.manifest.tell(place, StackVersion::of_requirement(requirement), self.lines.line(at));
    }

    fn list(&mut self, list: &DeValue<'_>, is_dev: bool) {
        let DeValue::Array(list) = list else { return };
        for entry in list {
            let DeValue::String(text) = entry.get_ref() else { continue };
            if let Some(Requirement { name, version }) = requirements::requirement(text) {
                let line = self.lines.line(entry.span().start);
                self.manifest.push(Dependency { ecosystem: Ecosystem::Pypi, name, version, line, is_dev });
            }
        }
    }

    fn tools(&mut self, tools: &DeTable<'_>) {
        for (name, value) in tools {
            let found = TOOLS.iter().find(|(tool, ..)| tool == name.get_ref());
            if let (Some((_, section, key, shown)), DeValue::Table(_)) = (found, value.get_ref()) {
                self.manifest.tell((*section, key, shown), None, self.lines.line(name.span().start));
            }
        }
        let Some(poetry) = table(tools, "poetry") else { return };
        if let Some(dependencies) = table(poetry, "dependencies") {
            self.python(text(dependencies, "python"));
            self.poetry(dependencies, false);
        }
        if let Some(dependencies) = table(poetry, "dev-dependencies") {
            self.poetry(dependencies, true);
        }
        for group in table(poetry, "group").into_iter().flat_map(|groups| groups.values()) {
            if let DeValue::Table(group) = group.get_ref()
                && let Some(dependencies) = table(group, "dependencies")
            {
                self.poetry(dependencies, true);
            }
        }
    }

    fn poetry(&mut self, dependencies: &DeTable<'_>, is_dev: bool) {
        for (name, value) in dependencies.iter().filter(|(name, _)| name.get_ref() != "python") {
            let required = match value.get_ref() {
                DeValue::String(requirement) => Some(&**requirement),
                DeValue::Table(details) => text(details, "version").map(|it| it.0),
                _ => None,
            };
            let version = required.and_then(StackVersion::of_requirement);
            let (name, line) = (requirements::normal(name.get_ref()), self.lines.line(name.span().start));
            self.manifest.push(Dependency { ecosystem: Ecosystem::Pypi, name, version, line, is_dev });
        }
    }
}
