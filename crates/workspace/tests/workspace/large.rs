//! A large repository: what has not changed is not read again. `OSTLER_FILES` says how many files it has.

use std::{
    env, fs,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use ostler_workspace::Commit;

use crate::{
    checkpoint::{checkpoint, made, spec},
    support::{Ground, git, write},
};

/// With every change; 100,000 were tried, too.
const FILES: usize = 3000;

const IN_FOLDER: usize = 1000;
const ROUNDS: u64 = 3;

fn time(work: impl FnOnce()) -> Duration {
    let since = Instant::now();
    work();
    since.elapsed()
}

/// The other way, which reads every file.
#[expect(clippy::disallowed_methods, reason = "git is given an index of its own, as nothing else here is")]
fn add_from_head(root: &Path) {
    let index = root.join(".git/from-head");
    for args in [["read-tree", "HEAD"], ["add", "--all"]] {
        let mut command = Command::new("git");
        command.current_dir(root).env("GIT_INDEX_FILE", &index).args(args);
        assert!(command.status().expect("git runs").success());
    }
    fs::remove_file(&index).expect("git made it");
}

#[test]
fn many_files_cost_little_if_few_have_changed() {
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
    let (mut kept, mut read_again) = (Duration::MAX, Duration::MAX);
    for round in 1..=ROUNDS {
        project.write("d0/0", &format!("changed {round}\n"));
        project.write("new", &format!("new {round}\n"));
        kept = kept.min(time(|| drop(checkpoint(&repository, None, round))));
        read_again = read_again.min(time(|| add_from_head(&project.root)));
    }
    // With few files most of the time goes to starting git a few times.
    let bound = if files < 100_000 { 5 * read_again } else { read_again };
    assert!(kept < bound, "{files} files: {kept:?}, and {read_again:?} to read everything");

    let first = git(&project.root, ["rev-parse", "refs/ostler/checkpoints/s_12/c_1"]);
    let target = Commit::parse(&first).expect("a commit");
    let since = Instant::now();
    let restored = repository.restore(None, &target, &spec(ROUNDS + 1)).expect("it is brought back");
    println!(
        "{files} files: kept in {kept:?}, restored in {:?}; {read_again:?} to read everything",
        since.elapsed()
    );
    assert_eq!((restored.changed, restored.different), (2, Vec::new()));
    assert_eq!(fs::read_to_string(project.root.join("new")).expect("a file"), "new 1\n");
    assert_eq!(fs::read_to_string(project.root.join("d0/0")).expect("a file"), "changed 1\n");
    made(restored.before);
}
