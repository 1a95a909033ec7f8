//! `Cargo.toml`.

use toml::de::{DeTable, DeValue};

use super::{Dependency, Manifest, SharedRequirements, SyntaxFault};
use crate::{
    lines::LineIndex,
    technology::{Ecosystem, StackSection},
    version::StackVersion,
};

pub(super) fn read(text: &str, shared: &mut SharedRequirements) -> Result<Manifest, SyntaxFault> {
    let lines = LineIndex::new(text);
    let document = DeTable::parse(text)
        .map_err(|error| SyntaxFault { line: error.span().map(|span| lines.line(span.start)) })?;
    let document = document.into_inner();
    let mut reader = Reader { lines, shared, manifest: Manifest::default() };
    if let Some(workspace) = table(&document, "workspace") {
        reader.workspace(workspace);
    }
    if let Some(package) = table(&document, "package") {
        reader.package(package);
    }
    reader.dependencies(&document);
    if let Some(targets) = table(&document, "target") {
        for target in targets.values() {
            if let DeValue::Table(target) = target.get_ref() {
                reader.dependencies(target);
            }
        }
    }
    Ok(reader.manifest)
}

/// A table below a table.
pub(super) fn table<'a, 'i>(of: &'a DeTable<'i>, name: &str) -> Option<&'a DeTable<'i>> {
    match of.get(name)?.get_ref() {
        DeValue::Table(table) => Some(table),
        _ => None,
    }
}

/// A text in a table, and where it is.
pub(super) fn text<'a>(of: &'a DeTable<'_>, name: &str) -> Option<(&'a str, usize)> {
    let value = of.get(name)?;
    match value.get_ref() {
        DeValue::String(text) => Some((text, value.span().start)),
        _ => None,
    }
}

struct Reader<'a> {
    lines: LineIndex<'a>,
    shared: &'a mut SharedRequirements,
    manifest: Manifest,
}

impl Reader<'_> {
    fn workspace(&mut self, workspace: &DeTable<'_>) {
        for (name, value) in table(workspace, "dependencies").into_iter().flatten() {
            self.shared.insert(name.get_ref().to_string(), version(value.get_ref()));
        }
        if let Some(package) = table(workspace, "package") {
            self.package(package);
        }
    }

    /// The language, with what the package says of it.
    fn package(&mut self, package: &DeTable<'_>) {
        let place = (StackSection::Backend, "Language", "Rust");
        let at_least = |(version, at)| {
            StackVersion::of_requirement(&format!(">={version}")).map(|version| (version, at))
        };
        let edition = |(edition, at): (&str, usize)| (StackVersion::Edition(edition.to_owned()), at);
        let known = text(package, "rust-version").and_then(at_least);
        match known.or_else(|| text(package, "edition").map(edition)) {
            Some((version, at)) => {
                let line = self.lines.line(at);
                self.manifest.tell(place, Some(version), line);
            }
            None => {
                if let Some((_, at)) = text(package, "name") {
                    let line = self.lines.line(at);
                    self.manifest.tell(place, None, line);
                }
            }
        }
    }

    fn dependencies(&mut self, of: &DeTable<'_>) {
        for (block, is_dev) in
            [("dependencies", false), ("build-dependencies", true), ("dev-dependencies", true)]
        {
            for (name, value) in table(of, block).into_iter().flatten() {
                let (mut package, mut required) = (name.get_ref().to_string(), version(value.get_ref()));
                if let DeValue::Table(details) = value.get_ref() {
                    if matches!(
                        details.get("workspace").map(toml::Spanned::get_ref),
                        Some(DeValue::Boolean(true))
                    ) {
                        required = self.shared.get(&package).cloned().flatten();
                    }
                    if let Some((renamed, _)) = text(details, "package") {
                        renamed.clone_into(&mut package);
                    }
                }
                let line = self.lines.line(name.span().start);
                let ecosystem = Ecosystem::Cargo;
                self.manifest.push(Dependency { ecosystem, name: package, version: required, line, is_dev });
            }
        }
    }
}

fn version(value: &DeValue<'_>) -> Option<StackVersion> {
    match value {
        DeValue::String(requirement) => StackVersion::of_requirement(requirement),
        DeValue::Table(details) => StackVersion::of_requirement(text(details, "version")?.0),
        _ => None,
    }
}
