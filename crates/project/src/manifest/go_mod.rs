//! `go.mod`.

use super::{Dependency, Manifest};
use crate::{
    technology::{Ecosystem, StackSection},
    version::StackVersion,
};

pub(super) fn read(text: &str) -> Manifest {
    let mut manifest = Manifest::default();
    let mut block = None;
    for (line, number) in text.lines().zip(1..) {
        let (code, comment) = line.split_once("//").unwrap_or((line, ""));
        let words: Vec<&str> = code.split_whitespace().collect();
        match words.as_slice() {
            [")"] => block = None,
            [name, "("] => block = Some(*name),
            ["go", version] => {
                let place = (StackSection::Backend, "Language", "Go");
                manifest.tell(place, StackVersion::exact(version), number);
            }
            // What others need is no decision of this project.
            ["require", module, version] | [module, version]
                if (words[0] == "require" || block == Some("require")) && comment.trim() != "indirect" =>
            {
                manifest.push(Dependency {
                    ecosystem: Ecosystem::Go,
                    name: without_major(module).to_owned(),
                    version: StackVersion::exact(version),
                    line: number,
                    is_dev: false,
                });
            }
            _ => {}
        }
    }
    manifest
}

/// Without `/v5` at the end.
fn without_major(module: &str) -> &str {
    match module.rsplit_once("/v") {
        Some((module, digits)) if !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit()) => {
            module
        }
        _ => module,
    }
}
