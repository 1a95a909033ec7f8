//! What is read from a commit is what stands in it, whatever the repository says.

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use ostler_workspace::ChangedFile;

use crate::support::{Ground, git, head};

#[test]
fn a_repository_cannot_have_another_object_shown() {
    let ground = Ground::new();
    let project = ground.project("p");
    let commit = head(&project.root);
    project.write("other", "other\n");
    let other = git(&project.root, ["hash-object", "-w", "other"]);
    git(&project.root, ["replace", "HEAD:a", other.trim()]);
    assert_eq!(git(&project.root, ["show", "HEAD:a"]), "other", "git would show it");
    let repository = project.repository();
    let files = repository.files(&commit).expect("it can be listed");
    let file = files.iter().find(|file| file.path == Path::new("a")).expect("it is there");
    assert_eq!(repository.read(file, 1000).expect("it can be read"), b"one\ntwo\nthree\n");
}

#[test]
fn who_makes_a_file_a_program_has_not_changed_what_stands_in_it() {
    let ground = Ground::new();
    let project = ground.project("p");
    let before = head(&project.root);
    fs::set_permissions(project.root.join("a"), fs::Permissions::from_mode(0o755)).expect("it is ours");
    project.write("b", "another\n");
    project.write("c", "new\n");
    project.commit("second");
    let after = head(&project.root);
    let changed = |path: &str, how, mode_alone| ChangedFile { path: path.into(), how, mode_alone };
    let found = project.repository().changed(&before, &after).expect("they can be compared");
    assert_eq!(found, [changed("a", 'M', true), changed("b", 'M', false), changed("c", 'A', false)]);
}
