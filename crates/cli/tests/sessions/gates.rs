//! What a gate believes: tests that were really run, reports that they wrote, and files that are really there. And that what
//! a person has ended stays ended.

use std::fs;

use ostler_server::api::PhasesState;
use serde_json::json;

use crate::{
    phases::{begin, decide, git, keys, phases, review, stage, state},
    support::{World, write},
};

/// A worker that changes its one file, says so, and stays.
const WORKER: &str = "mkdir -p src; echo more >>src/a; complete 1 src/a\nwhile read -r line; do :; done";

/// One phase about that file, in a project with these files.
fn project(settings: &str, files: &[(&str, &str)]) -> World {
    let text = format!(
        "[phases]\nagent = \"worker\"\nverifier = \"none\"\nrework = 0\n[[phases.phase]]\nname = \"One\"\n\
         artifacts = [{{ glob = \"src/**\" }}]\n{settings}\n"
    );
    let world = stage(WORKER, &text);
    for (path, text) in files {
        let folder = world.project.join(path);
        fs::create_dir_all(folder.parent().expect("a folder")).expect("a folder");
        write(&world.project, path, text);
    }
    git(&world.project, &["add", "--all"]);
    git(&world.project, &["commit", "-q", "--allow-empty", "-m", "files"]);
    world
}

/// What the gate finds.
fn check(settings: &str, files: &[(&str, &str)], expected: &[&str]) {
    let world = project(settings, files);
    let found = review(&world, &begin(&world).run);
    assert_eq!(keys(&found), expected, "{files:?}: {found:?}");
}

#[test]
fn tests_count_that_are_run_and_no_others() {
    let failing =
        "import unittest\nclass A(unittest.TestCase):\n    def test_x(self):\n        self.fail()\n";
    let passing = failing.replace("self.fail()", "pass");
    let auto = "tests = \"auto\"";
    check(auto, &[("tests/test_shop.py", failing)], &["check_failed"]);
    check(auto, &[("tests/test_shop.py", &passing)], &[]);
    check(auto, &[("shop_test.py", failing)], &["check_failed"]);
    check(auto, &[("tests/test_shop.py", "import unittest\n")], &["no_tests_run"]);
    check("tests = \"echo 'Ran 0 tests in 0.1s'\"", &[], &["no_tests_run"]);
    check("tests = \"echo done\"", &[], &[]);
}

#[test]
fn a_report_counts_that_the_tests_have_written() {
    let good = "<testsuite><testcase name=\"old\"></testcase></testsuite>";
    let bad = "<testsuite><testcase name=\"old\"><failure/></testcase></testsuite>";
    let report = "reports/junit.xml";
    check("tests = \"echo 'Ran 0 tests in 0.1s'\"", &[(report, good)], &["no_tests_run"]);
    check("tests = \"true\"", &[(report, bad)], &[]);
    let writes = format!("tests = \"printf '%s' '{}' >{report}\"", bad.replace('"', "\\\""));
    check(&writes, &[(report, good)], &["tests_failed"]);
}

#[test]
fn what_is_to_stay_may_be_a_link_and_may_not_be_emptied() {
    let settings = "keep = [\"tests/**\"]";
    let world = project(settings, &[("tests/a.sh", "exit 1\n")]);
    std::os::unix::fs::symlink("a.sh", world.project.join("tests/link")).expect("a link");
    git(&world.project, &["add", "--all"]);
    git(&world.project, &["commit", "-q", "-m", "a link"]);
    let run = begin(&world).run;
    assert_eq!(keys(&review(&world, &run)), [] as [&str; 0]);
    let emptied = format!(": >tests/a.sh; {WORKER}");
    let world = stage(
        &emptied,
        &format!(
            "[phases]\nagent = \"worker\"\nverifier = \"none\"\nrework = 0\n[[phases.phase]]\nname = \"One\"\n{settings}\n"
        ),
    );
    fs::create_dir_all(world.project.join("tests")).expect("a folder");
    write(&world.project, "tests/a.sh", "exit 1\n");
    git(&world.project, &["add", "--all"]);
    git(&world.project, &["commit", "-q", "-m", "a test"]);
    let run = begin(&world).run;
    assert_eq!(keys(&review(&world, &run)), ["empty"]);
}

#[test]
fn a_run_that_was_ended_stays_ended() {
    let world = project("", &[]);
    let first = begin(&world).run;
    decide(&world, &review(&world, &first), &json!({ "decision": "reject" }));
    let rejected = state(&world, &first, PhasesState::Rejected);
    let worker = rejected.phases[0].session.clone().expect("a worker");
    world.status(&worker, "failed");
    let refused = world.refused(&format!("/sessions/{worker}/resume"), &json!({}));
    assert_eq!(refused.kind, "not_now");
    // One that was cancelled may go on, but not beside another in the same place.
    let second = begin(&world).run;
    let worker = phases(&world, &second).phases[0].session.clone().expect("a worker");
    review(&world, &second);
    world.wish(&worker, "cancel");
    state(&world, &second, PhasesState::Cancelled);
    world.status(&worker, "cancelled");
    let third = begin(&world).run;
    let refused = world.refused(&format!("/sessions/{worker}/resume"), &json!({}));
    assert_eq!(refused.kind, "phases_busy");
    decide(&world, &review(&world, &third), &json!({ "decision": "reject" }));
    state(&world, &third, PhasesState::Rejected);
    world.wish(&worker, "resume");
    review(&world, &second);
}

#[test]
fn a_run_says_that_its_verifier_asks() {
    let world = stage(WORKER, "");
    let asking = crate::phases::agent(&world, "asking", "ask 'May I look?'\nverdict true");
    let worker = crate::phases::agent(&world, "worker", WORKER);
    crate::phases::configure(
        &world,
        &format!(
            "{worker}{asking}[phases]\nagent = \"worker\"\nverifier = \"asking\"\n[[phases.phase]]\nname = \"One\"\n\
             artifacts = [{{ glob = \"src/**\" }}]\ncriteria = [\"it is one\"]\n"
        ),
    );
    let run = begin(&world).run;
    let question = world.wait_for("a question", |world| {
        world.inbox().into_iter().find(|it| it.run == run && it.ask.kind == "question")
    });
    assert_eq!(phases(&world, &run).blocked_by, std::slice::from_ref(&question.id));
    world.answer(&question.id, "yes");
    assert_eq!(review(&world, &run).ask.fields["passed"], true);
}
