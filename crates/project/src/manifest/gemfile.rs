//! `Gemfile`: a program in Ruby, of which only lines in the usual form are read.

use super::{Dependency, Manifest};
use crate::{
    technology::{Ecosystem, StackSection},
    version::StackVersion,
};

pub(super) fn read(text: &str) -> Manifest {
    let mut manifest = Manifest::default();
    // How many blocks are open, and at which depth one of development began.
    let (mut depth, mut dev_since) = (0_usize, None);
    for (line, number) in text.lines().zip(1..) {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line == "end" {
            depth = depth.saturating_sub(1);
            dev_since = dev_since.filter(|since| *since <= depth);
        } else if line.ends_with(" do") || line.starts_with("if ") || line.starts_with("unless ") {
            depth += 1;
            let is_dev =
                line.starts_with("group") && (line.contains(":development") || line.contains(":test"));
            if is_dev && !line.contains(":production") && dev_since.is_none() {
                dev_since = Some(depth);
            }
        } else if let Some(rest) = line.strip_prefix("gem ").or_else(|| line.strip_prefix("gem(")) {
            let mut parts = rest.split(',').map(quoted);
            if let Some(Some(name)) = parts.next() {
                let required: Vec<&str> = parts.take_while(Option::is_some).flatten().collect();
                let is_dev = dev_since.is_some()
                    || ((rest.contains("group: :development") || rest.contains("group: :test"))
                        && !rest.contains(":production"));
                manifest.push(Dependency {
                    ecosystem: Ecosystem::Gem,
                    name: name.to_owned(),
                    version: StackVersion::of_requirement(&required.join(", ")),
                    line: number,
                    is_dev,
                });
            }
        } else if let Some(version) = line.strip_prefix("ruby ").and_then(|it| quoted(it.split(',').next()?))
        {
            let place = (StackSection::Backend, "Language", "Ruby");
            manifest.tell(place, StackVersion::of_requirement(version), number);
        }
    }
    manifest
}

/// A text in quotation marks, and nothing else.
fn quoted(text: &str) -> Option<&str> {
    let text = text.trim().trim_end_matches(')');
    let inside = |mark: char| text.strip_prefix(mark)?.strip_suffix(mark);
    inside('"').or_else(|| inside('\'')).filter(|it| !it.contains(['"', '\'']))
}
