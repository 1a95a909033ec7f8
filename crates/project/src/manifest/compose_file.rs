//! Compose files: the images of services. Only lines `image: NAME:TAG` are read.

use super::{Dependency, Manifest};
use crate::{technology::Ecosystem, version::StackVersion};

pub(super) fn read(text: &str) -> Manifest {
    let mut manifest = Manifest::default();
    for (line, number) in text.lines().zip(1..) {
        let line = line.trim().trim_start_matches("- ");
        let Some(image) = line.strip_prefix("image:") else { continue };
        let image = image.split(" #").next().unwrap_or_default().trim().trim_matches(['"', '\'']);
        // A variable could be any image.
        if image.is_empty() || image.contains('$') {
            continue;
        }
        let image = image.split('@').next().unwrap_or_default();
        // A colon before the last slash is that of a port.
        let (name, tag) = match image.rsplit_once(':') {
            Some((name, tag)) if !tag.contains('/') => (name, tag),
            _ => (image, ""),
        };
        let name = name.strip_prefix("docker.io/").unwrap_or(name);
        let name = name.strip_prefix("library/").unwrap_or(name);
        manifest.push(Dependency {
            ecosystem: Ecosystem::Image,
            name: name.to_owned(),
            version: StackVersion::exact(tag.strip_prefix("pg").unwrap_or(tag)),
            line: number,
            is_dev: false,
        });
    }
    manifest
}
