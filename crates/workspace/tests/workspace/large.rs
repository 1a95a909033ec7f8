//! A large repository: what is in it is kept and brought back. `OSTLER_FILES` says how many files it has; how long it takes
//! is measured by `cargo xtask bench workspace`.

use std::{env, fs};

use ostler_workspace::Commit;

use crate::{
    checkpoint::{checkpoint, made, spec},
    support::{Ground, git, write},
};

/// With every change; 100,000 were tried, too.
const FILES: usize = 3000;

const IN_FOLDER: usize = 1000;

#[test]
fn many_files_are_kept_and_brought_back() {
    let files = env::var("OSTLER_FILES").map_or(FILES, |text| text.parse().expect("a number"));
    let ground = Ground::new();
    let project = ground.empty_project("large");
    // To sync each object would take minutes.
    project.git(["config", "core.fsync", "none"]);
    for file in 0..files {
        let folder = project.root.join(format!("d{}", file / IN_FOLDER));
        if file % IN_FOLDER == 0 {
            fs::create_dir_all(&folder).expect("a folder");
        }
        write(&folder.join((file % IN_FOLDER).to_string()), &format!("file {file}\n"));
    }
    project.commit("first");
    let repository = project.repository();
    for round in 1..=2 {
        project.write("d0/0", &format!("changed {round}\n"));
        project.write("new", &format!("new {round}\n"));
        checkpoint(&repository, None, round);
    }
    let first = git(&project.root, ["rev-parse", "refs/ostler/checkpoints/s_12/c_1"]);
    let target = Commit::parse(&first).expect("a commit");
    let listed = git(&project.root, ["ls-tree", "-r", "--name-only", target.as_str()]);
    assert_eq!(listed.lines().count(), files + 1);
    let restored = repository.restore(None, &target, &spec(3)).expect("it is brought back");
    assert_eq!((restored.changed, restored.different), (2, Vec::new()));
    assert_eq!(fs::read_to_string(project.root.join("new")).expect("a file"), "new 1\n");
    assert_eq!(fs::read_to_string(project.root.join("d0/0")).expect("a file"), "changed 1\n");
    made(restored.before);
}
