//! The example projects in `examples/` are read without a problem, and give the graph of their golden file and the answer of their README.

use std::{fs, path::PathBuf};

use expect_test::expect_file;
use ostler_engine::plan::{Plan, Progress, Request, answer};

use crate::{dump, laws};

#[test]
fn every_example_is_read() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut seen = 0;
    for entry in fs::read_dir(&root).expect("examples are there") {
        let folder = entry.expect("a folder").path();
        let files = ["TASKS.md", "docs/planning/TASKS.md", "docs/planning/06-tasks.md"];
        let Some(file) = files.iter().map(|file| folder.join(file)).find(|file| file.exists()) else {
            continue;
        };
        let plan = Plan::read(fs::read(&file).expect("a file"));
        assert!(plan.problems().is_empty(), "{}: {:?}", file.display(), plan.problems());
        laws::any_bytes(plan.text());
        let name = folder.file_name().expect("a name").to_string_lossy().into_owned();
        expect_file![format!("goldens/{name}.txt")].assert_eq(&dump(&plan));
        let ready = answer(&Progress::new(&plan), &[].into(), Request::default()).to_string();
        let readme = fs::read_to_string(folder.join("README.md")).expect("a README");
        assert!(readme.contains(&format!("`{ready}`")), "{}: {ready}", folder.display());
        seen += 1;
    }
    assert!(seen >= 10, "one for each shape");
}

#[test]
fn every_seed_obeys_the_laws() {
    let seeds = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/plan");
    for seed in fs::read_dir(seeds).expect("seeds are there") {
        laws::any_bytes(&fs::read(seed.expect("a seed").path()).expect("a file"));
    }
}
