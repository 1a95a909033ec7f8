//! `schema.prisma`: the provider of its data source.

use super::{Dependency, Manifest};
use crate::technology::Ecosystem;

pub(super) fn read(text: &str) -> Manifest {
    let mut manifest = Manifest::default();
    let mut is_source = false;
    for (line, number) in text.lines().zip(1..) {
        let line = line.split("//").next().unwrap_or_default().trim();
        if line.starts_with("datasource ") {
            is_source = true;
        } else if line == "}" {
            is_source = false;
        } else if let Some(("provider", value)) = line.split_once('=').map(|(key, value)| (key.trim(), value))
            && is_source
        {
            manifest.push(Dependency {
                ecosystem: Ecosystem::Prisma,
                name: value.trim().trim_matches('"').to_owned(),
                version: None,
                line: number,
                is_dev: false,
            });
        }
    }
    manifest
}
