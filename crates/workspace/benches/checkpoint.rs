//! How long a checkpoint of 100,000 files takes, beside what git itself offers for keeping work.
//!
//! Prints a Markdown table. Each round measures everything once, and the medians are shown.
#![expect(clippy::disallowed_methods, reason = "a benchmark makes its files and runs git as a user would")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use ostler_workspace::{CheckpointOutcome, CheckpointSpec, Limits, Repository};

const FILES: usize = 100_000;
const ROUNDS: usize = 7;

fn main() {
    let root =
        PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("bench-workspace-{}", std::process::id()));
    make(&root);
    let repository = Repository::find(&root).expect("git works").expect("it was made just now");
    let mut times: [Vec<Duration>; 4] = Default::default();
    for round in 0..ROUNDS {
        for file in 0..10 {
            fs::write(root.join(format!("d{file:03}/new")), format!("{round}\n")).expect("a file is written");
            fs::write(root.join(format!("d{file:03}/0")), format!("{round}\n")).expect("a file is written");
        }
        let checkpoint = |id: usize, last| CheckpointSpec {
            id: format!("c_{id}"),
            session: "s_1".to_owned(),
            state: "bench".to_owned(),
            why: "bench".to_owned(),
            journal: 1,
            conversation: None,
            requests: Vec::new(),
            last,
            limits: Limits { file_bytes_max: 1 << 20, untracked_bytes_max: 1 << 30 },
        };
        let keep = |spec: &CheckpointSpec| repository.checkpoint(None, spec).expect("it is kept");
        let mut last = None;
        times[0].push(time(|| {
            if let CheckpointOutcome::Made(made) = keep(&checkpoint(round, None)) {
                last = Some(made.commit);
            }
        }));
        times[1].push(time(|| drop(keep(&checkpoint(ROUNDS, last.clone())))));
        times[2].push(time(|| git(&root, &["stash", "create"], None)));
        times[3].push(time(|| {
            let index = root.join(".git/from-head");
            for args in [&["read-tree", "HEAD"][..], &["add", "--all"], &["write-tree"]] {
                git(&root, args, Some(&index));
            }
            fs::remove_file(index).expect("git made it");
        }));
    }
    let names = [
        "checkpoint",
        "checkpoint that finds nothing changed",
        "`git stash create`, which leaves new files out",
        "`git add --all` on an index made from HEAD",
    ];
    println!("{FILES} files, 10 changed and 10 new, median of {ROUNDS}\n\n| what | seconds |\n|---|---:|");
    for (name, times) in names.iter().zip(&mut times) {
        times.sort();
        println!("| {name} | {:.2} |", times[ROUNDS / 2].as_secs_f64());
    }
    fs::remove_dir_all(&root).expect("what was made can be removed");
}

fn make(root: &Path) {
    for file in 0..FILES {
        let folder = root.join(format!("d{:03}", file / 1000));
        if file % 1000 == 0 {
            fs::create_dir_all(&folder).expect("the target directory can be written");
        }
        fs::write(folder.join((file % 1000).to_string()), format!("file {file}\n"))
            .expect("a file is written");
    }
    git(root, &["init", "--quiet"], None);
    git(root, &["add", "--all"], None);
    git(root, &["commit", "--quiet", "-m", "first"], None);
}

fn git(root: &Path, args: &[&str], index: Option<&Path>) {
    let mut command = Command::new("git");
    command.current_dir(root).args(["-c", "user.name=bench", "-c", "user.email=bench@localhost"]).args(args);
    command.env_remove("GIT_INDEX_FILE").envs(index.map(|index| ("GIT_INDEX_FILE", index)));
    let output = command.output().expect("git can be started");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn time(work: impl FnOnce()) -> Duration {
    let since = Instant::now();
    work();
    since.elapsed()
}
