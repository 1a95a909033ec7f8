//! `pom.xml`. Properties of the same file are put in; those of a parent elsewhere are not known.

use std::collections::BTreeMap;

use roxmltree::{Document, Node, ParsingOptions};

use super::{Dependency, Manifest, SyntaxFault};
use crate::{
    technology::{Ecosystem, StackSection},
    version::StackVersion,
};

/// How many elements and texts of one file are read.
const NODES_MAX: u32 = 200_000;

/// The properties that name the version of the language, the one that counts first.
const JAVA_PROPERTIES: [&str; 3] = ["maven.compiler.release", "java.version", "maven.compiler.source"];

pub(super) fn read(text: &str) -> Result<Manifest, SyntaxFault> {
    let options = ParsingOptions { nodes_limit: NODES_MAX, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options)
        .map_err(|error| SyntaxFault { line: Some(error.pos().row) })?;
    let root = document.root_element();
    let mut manifest = Manifest::default();
    let properties: BTreeMap<&str, Node<'_, '_>> = children(root, "properties")
        .flat_map(|it| it.children())
        .map(|it| (it.tag_name().name(), it))
        .collect();
    let java = JAVA_PROPERTIES.iter().find_map(|name| properties.get(name));
    if let Some(node) = java
        && let Some(version) = value(*node, &properties)
    {
        let version = version.strip_prefix("1.").unwrap_or(version);
        let place = (StackSection::Backend, "Language", "Java");
        manifest.tell(place, StackVersion::exact(version), line(*node));
    }
    let managed = children(root, "dependencyManagement").flat_map(|it| children(it, "dependencies"));
    let managed: Vec<Node<'_, '_>> = managed.flat_map(|it| children(it, "dependency")).collect();
    // An imported bill of materials is a decision for what it manages; other managed versions are not used by that alone.
    let imported = managed.iter().copied().filter(|it| text_of(*it, "scope") == Some("import"));
    let own = children(root, "dependencies").flat_map(|it| children(it, "dependency"));
    for node in children(root, "parent").chain(imported).chain(own) {
        let (Some(group), Some(artifact)) = (text_of(node, "groupId"), text_of(node, "artifactId")) else {
            continue;
        };
        let same = |it: &&Node<'_, '_>| {
            text_of(**it, "groupId") == Some(group) && text_of(**it, "artifactId") == Some(artifact)
        };
        let of_managed = || managed.iter().find(same).and_then(|it| child(*it, "version"));
        let version = child(node, "version").or_else(of_managed).and_then(|it| value(it, &properties));
        manifest.push(Dependency {
            ecosystem: Ecosystem::Maven,
            name: format!("{group}:{artifact}"),
            version: version.and_then(StackVersion::exact),
            line: child(node, "artifactId").map_or_else(|| line(node), line),
            is_dev: text_of(node, "scope") == Some("test"),
        });
    }
    Ok(manifest)
}

fn children<'a, 'i: 'a>(node: Node<'a, 'i>, name: &'static str) -> impl Iterator<Item = Node<'a, 'i>> {
    node.children().filter(move |it| it.tag_name().name() == name)
}

fn child<'a, 'i: 'a>(node: Node<'a, 'i>, name: &'static str) -> Option<Node<'a, 'i>> {
    children(node, name).next()
}

fn text_of<'a, 'i: 'a>(node: Node<'a, 'i>, name: &'static str) -> Option<&'a str> {
    child(node, name)?.text().map(str::trim)
}

/// The text of a node, or that of the property it names.
fn value<'a, 'i: 'a>(node: Node<'a, 'i>, properties: &BTreeMap<&str, Node<'a, 'i>>) -> Option<&'a str> {
    let text = node.text()?.trim();
    let Some(name) = text.strip_prefix("${").and_then(|it| it.strip_suffix('}')) else { return Some(text) };
    let text = properties.get(name)?.text()?.trim();
    (!text.contains("${")).then_some(text)
}

fn line(node: Node<'_, '_>) -> u32 {
    node.document().text_pos_at(node.range().start).row
}
