//! Somebody checks out something else while a loop goes on.

use std::{
    fs, thread,
    time::{Duration, Instant},
};

use ostler_server::api::{EventView, NewLoop, OutcomeKind};
use serde_json::{Value, json};

use crate::support::{DEADLINE, Place};

const TWO: &str = "\
## Phase 1: One
- [ ] T1.1: one
  - files: src/T1.1.txt
## Phase 2: Two
- [ ] T2.1: two
  - files: src/T2.1.txt
";

const CHECKOUT: &str = "\
## Phase 0: Setup
- [ ] T0.1: one
  - files: src/T0.1.txt
## Phase 1: One
- [ ] T1.1: two
  - files: src/T1.1.txt
";

/// The agent of a task does something to the checkout, and then its work; and that of another finds what the first did.
fn meanwhile(place: &Place, command: &str, first: &str, second: &str) {
    place.behave(first, &format!("(cd $R/project && {command})\necho it > src/{first}.txt\n"));
    place.behave(second, &format!("test -e src/{first}.txt && echo it > src/{second}.txt\n"));
}

/// The files that a branch has.
fn files(place: &Place, branch: &str) -> String {
    place.git(&["ls-tree", "-r", "--name-only", branch])
}

fn is_completed(place: &Place, run: &str) {
    let view = place.end(run);
    assert_eq!(view.outcome.clone().expect("an outcome").outcome, OutcomeKind::Completed, "{view:?}");
}

#[test]
fn all_phases_go_to_the_branch_on_which_the_first_began() {
    let mut place = Place::new(TWO);
    let start = place.git(&["rev-parse", "HEAD"]);
    place.start(None);
    meanwhile(&place, "git checkout -q -b other", "T1.1", "T2.1");
    is_completed(&place, &place.begin(&[]));
    let main = files(&place, "main");
    assert!(main.contains("src/T1.1.txt") && main.contains("src/T2.1.txt"), "{main}");
    assert_eq!(place.git(&["branch", "--show-current"]), "other");
    assert_eq!(place.git(&["rev-parse", "other"]), start, "it has nothing of the loop");
    assert!(!place.project().join("src/T1.1.txt").exists(), "nor have its files");
    assert!(place.git(&["branch", "--list", "worktree/*"]).is_empty(), "nothing is left behind");
}

#[test]
fn the_merge_of_a_phase_names_a_secret_in_its_work() {
    const KEY: &str = "sk-live-77aa88bb99cc00dd";
    let mut place = Place::new(TWO);
    place.start(None);
    let directory = place.project().display().to_string();
    let secret = json!({ "directory": directory, "name": "DEPLOY_KEY", "value": KEY });
    place.post::<Value>("/secrets", &secret).expect("it is kept");
    meanwhile(&place, "true", "T1.1", "T2.1");
    place.behave("T1.1", &format!("echo one > src/T1.1.txt; echo {KEY} >> src/T1.1.txt\n"));
    is_completed(&place, &place.begin(&[]));
    let events: Vec<EventView> = place.get("/events?kind=secret.found").expect("events");
    let [found] = events.as_slice() else { panic!("one: {events:?}") };
    assert_eq!(
        found.body,
        json!({ "secret": "DEPLOY_KEY", "file": "src/T1.1.txt", "line": 2, "step": "merge" })
    );
}

#[test]
fn a_commit_in_the_checkout_names_a_secret_in_it() {
    const KEY: &str = "sk-live-77aa88bb99cc00dd";
    let mut place = Place::new(CHECKOUT);
    place.start(None);
    let directory = place.project().display().to_string();
    let secret = json!({ "directory": directory, "name": "DEPLOY_KEY", "value": KEY });
    place.post::<Value>("/secrets", &secret).expect("it is kept");
    meanwhile(&place, "true", "T0.1", "T1.1");
    place.behave("T0.1", &format!("echo one > src/T0.1.txt; echo {KEY} >> src/T0.1.txt\n"));
    is_completed(&place, &place.begin(&[]));
    let events: Vec<EventView> = place.get("/events?kind=secret.found").expect("events");
    let [found] = events.as_slice() else { panic!("one: {events:?}") };
    assert_eq!(
        found.body,
        json!({ "secret": "DEPLOY_KEY", "file": "src/T0.1.txt", "line": 2, "step": "commit" })
    );
}

#[test]
fn a_detached_head_between_two_phases_keeps_nobody() {
    let mut place = Place::new(TWO);
    let start = place.git(&["rev-parse", "HEAD"]);
    place.start(None);
    meanwhile(&place, "git checkout -q --detach", "T1.1", "T2.1");
    is_completed(&place, &place.begin(&[]));
    let main = files(&place, "main");
    assert!(main.contains("src/T1.1.txt") && main.contains("src/T2.1.txt"), "{main}");
    assert_eq!(place.git(&["rev-parse", "HEAD"]), start);
}

/// The next loop goes on where the worktree says, too, and not where somebody stands by then.
#[test]
fn a_loop_that_goes_on_with_a_worktree_goes_on_with_its_branch() {
    let mut place = Place::new(TWO);
    place.start(None);
    meanwhile(&place, "true", "T1.1", "T2.1");
    place.behave("T1.1", "exit 3\n");
    let run = place.begin(&[]);
    place.answer(&place.asked(&run), "stop");
    place.end(&run);
    place.git(&["checkout", "-q", "-b", "other"]);
    place.behave("T1.1", "echo it > src/T1.1.txt\n");
    let (out, err, code) = place.ostler(&["tasks", "retry", "T1.1"]);
    assert_eq!(code, 0, "{out}{err}");
    is_completed(&place, &place.begin(&[]));
    let (main, other) = (files(&place, "main"), files(&place, "other"));
    assert!(main.contains("src/T1.1.txt") && main.contains("src/T2.1.txt"), "{main}");
    assert!(!other.contains("src/T"), "{other}");
}

#[test]
fn what_is_done_in_the_checkout_waits_for_its_branch() {
    let mut place = Place::new(CHECKOUT);
    let start = place.git(&["rev-parse", "HEAD"]);
    place.start(None);
    meanwhile(&place, "git checkout -q -b other", "T0.1", "T1.1");
    let run = place.begin(&[]);
    let card = place.asked(&run);
    assert!(format!("{:?}", card.ask).contains("git checkout main"), "{:?}", card.ask);
    assert_eq!(place.git(&["rev-parse", "other"]), start, "nothing is committed there");
    // Nobody has to say that it is put right.
    place.git(&["checkout", "-q", "main"]);
    is_completed(&place, &run);
    let main = files(&place, "main");
    assert!(main.contains("src/T0.1.txt") && main.contains("src/T1.1.txt"), "{main}");
    assert_eq!(place.git(&["rev-parse", "other"]), start);
    assert_eq!(place.read("ran").matches("T0.1 ").count(), 1, "what was done is not done again");
}

#[test]
fn nothing_begins_in_the_checkout_of_another_branch() {
    let mut place = Place::new(CHECKOUT);
    place.start(None);
    meanwhile(&place, "true", "T0.1", "T1.1");
    place.behave("T0.1", "exit 3\n");
    let run = place.begin(&[]);
    let failed = place.asked(&run);
    let tries = place.read("ran");
    place.git(&["checkout", "-q", "-b", "other"]);
    place.behave("T0.1", "echo it > src/T0.1.txt\n");
    place.answer(&failed, "retry");
    let is_other = |it: &String| *it != failed.id;
    place.until(&run, "another question", |view| view.request.as_ref().is_some_and(is_other));
    assert_eq!(place.read("ran"), tries, "nobody was asked to work there");
    place.git(&["checkout", "-q", "main"]);
    is_completed(&place, &run);
    assert!(!files(&place, "other").contains("src/T"));
    assert!(files(&place, "main").contains("src/T1.1.txt"));
}

#[test]
fn a_head_that_is_detached_when_the_first_phase_begins_is_asked_about_until_it_is_not() {
    let mut place = Place::new(TWO);
    place.start(Some("before prepare phase:1"));
    let directory = place.project().to_string_lossy().into_owned();
    // The server may be gone before it has answered.
    place.post::<Value>("/orchestrate", &NewLoop { directory, ..NewLoop::default() }).ok();
    let deadline = Instant::now() + DEADLINE;
    while !place.has_died() {
        assert!(Instant::now() < deadline, "{}", place.read("server.log"));
        thread::sleep(Duration::from_millis(5));
    }
    place.git(&["checkout", "-q", "--detach"]);
    place.start(None);
    let loops = place.get::<Value>("/orchestrate").expect("a list");
    let run = loops[0]["run"].as_str().expect("a run").to_owned();
    let card = place.asked(&run);
    assert!(format!("{:?}", card.ask).contains("HEAD is detached"), "{:?}", card.ask);
    assert!(place.git(&["for-each-ref", "refs/ostler/worktrees"]).is_empty(), "nothing was made");
    place.git(&["checkout", "-q", "main"]);
    is_completed(&place, &run);
    assert!(files(&place, "main").contains("src/T2.1.txt"));
}

/// A worktree of phase 1 as it was left when it was made before anybody looked at what is checked out.
fn without_target(place: &Place) {
    let name = "worktree/phase-1-one";
    let base = place.git(&["rev-parse", "HEAD"]);
    let record = place.git(&[
        "commit-tree",
        "-p",
        &base,
        "-m",
        &format!("Worktree of {name}"),
        &format!("{base}^{{tree}}"),
    ]);
    place.git(&["update-ref", &format!("refs/ostler/worktrees/{name}"), &record]);
    place.git(&["worktree", "add", "-q", "-b", name, name]);
    place.write("project/.git/worktrees/phase-1-one/ostler", name);
    place.write("project/later.txt", "later\n");
    place.git(&["add", "later.txt"]);
    place.git(&["commit", "-q", "-m", "later"]);
}

#[test]
fn a_worktree_that_was_made_for_no_branch_is_made_anew() {
    let mut place = Place::new(TWO);
    without_target(&place);
    place.behave("T1.1", "test -e later.txt && echo it > src/T1.1.txt\n");
    place.start(None);
    is_completed(&place, &place.begin(&[]));
    assert!(files(&place, "main").contains("src/T2.1.txt"));
}

#[test]
fn work_in_a_worktree_that_was_made_for_no_branch_is_left_to_its_owner() {
    let mut place = Place::new(TWO);
    without_target(&place);
    let work = place.project().join("worktree/phase-1-one/work.txt");
    fs::write(&work, "somebody's\n").expect("a file");
    place.start(None);
    let run = place.begin(&[]);
    let card = place.asked(&run);
    assert!(format!("{:?}", card.ask).contains("began on a detached HEAD"), "{:?}", card.ask);
    assert!(work.exists());
    place.git(&["worktree", "remove", "--force", "worktree/phase-1-one"]);
    place.git(&["branch", "-q", "-D", "worktree/phase-1-one"]);
    place.answer(&card, "retry");
    is_completed(&place, &run);
    assert!(files(&place, "main").contains("src/T2.1.txt"));
}
