//! What is left behind: by tasks that were given up, by whoever was killed, and by people who were at it before. None of it
//! is committed for somebody else, and none of it is lost.

use std::{
    fs,
    process::Stdio,
    thread,
    time::{Duration, Instant},
};

use ostler_server::api::{LoopView, OutcomeKind};

use crate::support::{DEADLINE, Place, exists};

/// Writes half of its file, and the first of them fails.
const HALF: &str = "echo \"half-done work of $id\" > src/$id.txt; if [ $id = T1.1 ]; then exit 2; fi\n";

const THREE_OF_ONE: &str = "\
## Phase 1: Auth
- [ ] T1.1: fails
  - files: src/T1.1.txt
- [ ] T1.2: is done
  - files: src/T1.2.txt
- [ ] T1.3: waits
  - deps: T1.1
  - files: src/T1.3.txt
";

/// All files that any commit of the target has touched.
fn touched(place: &Place) -> String {
    place.git(&["log", "--format=%s", "--name-only", "main"])
}

/// Whether anything that the repository keeps has this file so.
fn is_kept(place: &Place, file: &str, text: &str) -> bool {
    let refs = place.git(&["for-each-ref", "--format=%(refname)", "refs/ostler/"]);
    refs.lines().any(|name| {
        let list = place.git(&["ls-tree", "-r", "--name-only", name]);
        list.lines().any(|it| it == file) && place.git(&["show", &format!("{name}:{file}")]) == text
    })
}

#[test]
fn what_a_task_has_left_that_was_given_up_is_not_merged() {
    for word in ["close", "skip"] {
        let mut place = Place::new(THREE_OF_ONE);
        // The tests see what will be merged, and nothing else.
        place.configure("[orchestrate]\ntest = \"test -e src/T1.2.txt && test ! -e src/T1.1.txt\"\n");
        place.start(None);
        place.behave("any", HALF);
        let run = place.begin(&[]);
        place.answer(&place.asked(&run), word);
        let view = place.end(&run);
        assert_eq!(view.outcome.expect("an outcome").outcome, OutcomeKind::Completed, "{word}");
        let commits = touched(&place);
        assert!(commits.contains("src/T1.2.txt"), "{word}: {commits}");
        assert!(!commits.contains("src/T1.1.txt"), "{word}: {commits}");
        assert_eq!(commits.contains("src/T1.3.txt"), word == "skip", "{commits}");
        assert!(is_kept(&place, "src/T1.1.txt", "half-done work of T1.1"), "{word}: nothing is lost");
        assert!(!exists(&place.project().join("worktree/phase-1-auth")), "{word}");
    }
}

/// A task that declares nothing is committed with all that has changed, but for what others have declared and not done.
#[test]
fn who_declares_nothing_does_not_take_what_others_have_left() {
    let mut place = Place::new(
        "## Phase 1: Auth\n- [ ] T1.1: fails\n  - files: src/T1.1.txt\n- [ ] T1.2: declares nothing\n  - deps: T1.3\n\
         - [ ] T1.3: comes first\n  - files: src/T1.3.txt\n",
    );
    place.behave("any", HALF);
    // It begins when the other was given up.
    place.behave(
        "T1.3",
        "until [ \"$(grep -c '] FAIL:T1.1' $R/project/.claude/orchestrate.log)\" -ge 3 ]; do sleep 0.05; done\n\
         echo done > src/T1.3.txt\n",
    );
    place.start(None);
    let run = place.begin(&[]);
    place.answer(&place.asked(&run), "skip");
    place.end(&run);
    assert_eq!(place.git(&["show", "--format=", "--name-only", ":/^T1.2: "]), "src/T1.2.txt");
    assert!(!touched(&place).contains("src/T1.1.txt"));
}

/// In the checkout nothing is put away: it stays where it is, and uncommitted.
#[test]
fn what_was_given_up_in_the_checkout_stays_there() {
    let tasks = THREE_OF_ONE.replace("Phase 1", "Phase 0").replace("T1.", "T0.");
    let mut place = Place::new(&tasks);
    place.start(None);
    place.behave("any", &HALF.replace("T1.1", "T0.1"));
    let run = place.begin(&[]);
    place.answer(&place.asked(&run), "close");
    place.end(&run);
    assert!(!touched(&place).contains("src/T0.1.txt"));
    assert_eq!(place.git(&["status", "--porcelain", "--", "src"]), "?? src/T0.1.txt");
}

const DIRTY: &str = "\
## Phase 0: Setup
- [ ] T0.1: a
@FILES@
## Phase 1: More
- [ ] T1.1: b
  - files: src/T1.1.txt
";

/// A loop on a checkout in which somebody was in the middle of something.
fn dirty(files: &str) -> (Place, String) {
    let mut place = Place::new(&DIRTY.replace("@FILES@", files));
    place.write("project/src/shared.txt", "shared\nmine\n");
    place.behave("T0.1", "echo theirs >> src/shared.txt\n");
    place.behave("T1.1", "cp src/shared.txt src/T1.1.txt\n");
    place.start(None);
    let run = place.begin(&[]);
    (place, run)
}

fn has_done(view: &LoopView, id: &str) -> bool {
    view.tasks.iter().any(|task| task.id == id && task.state == "completed")
}

#[test]
fn no_task_begins_on_top_of_what_somebody_has_not_committed() {
    let (place, run) = dirty("  - files: src/*");
    let card = place.asked(&run);
    assert!(
        format!("{:?}", card.ask).contains("src/shared.txt had changes before phase 0"),
        "{:?}",
        card.ask
    );
    assert_eq!(place.read("ran"), "", "nobody was begun");
    // Who commits it does not have to say so.
    place.git(&["commit", "-qam", "my own"]);
    let view = place.end(&run);
    assert_eq!(view.outcome.expect("an outcome").outcome, OutcomeKind::Completed);
    assert_eq!(
        place.git(&["show", "--format=%s", ":/^T0.1: "]).matches("\n+").count(),
        2,
        "one line, and its name"
    );
    assert_eq!(place.git(&["show", "HEAD:src/T1.1.txt"]), "shared\nmine\ntheirs");
}

#[test]
fn what_was_put_away_is_nobodys_work() {
    let (place, run) = dirty("  - files: src/shared.txt");
    place.asked(&run);
    place.git(&["stash", "-q", "--", "src/shared.txt"]);
    let view = place.end(&run);
    assert_eq!(view.outcome.expect("an outcome").outcome, OutcomeKind::Completed);
    assert_eq!(place.git(&["show", "HEAD:src/T1.1.txt"]), "shared\ntheirs");
    assert_eq!(place.git(&["show", "stash@{0}:src/shared.txt"]), "shared\nmine");
}

#[test]
fn who_declares_nothing_and_adds_to_what_was_there_is_told_of() {
    let (place, run) = dirty("");
    let card = place.asked(&run);
    assert!(format!("{:?}", card.ask).contains("T0.1 cannot be committed: src/shared.txt"), "{:?}", card.ask);
    assert!(!has_done(&place.view(&run), "T0.1"));
    place.git(&["commit", "-qam", "mine and theirs"]);
    let view = place.end(&run);
    assert_eq!(view.outcome.expect("an outcome").outcome, OutcomeKind::Completed);
    assert_eq!(place.git(&["show", "HEAD:src/T1.1.txt"]), "shared\nmine\ntheirs");
    assert_eq!(place.read("ran").lines().count(), 2, "nothing is done twice");
}

/// What was changed before stays as it is as long as no task has to do with it.
#[test]
fn nobody_is_asked_about_what_no_task_touches() {
    let mut place = Place::new(&DIRTY.replace("@FILES@", ""));
    place.write("project/src/shared.txt", "mine\n");
    place.start(None);
    let run = place.begin(&[]);
    let view = place.end(&run);
    assert_eq!(view.counts.completed, 2);
    assert_eq!(place.git(&["show", "--format=", "--name-only", ":/^T0.1: "]), "src/T0.1.txt");
    assert_eq!(place.git(&["status", "--porcelain", "--", "src"]), "M src/shared.txt");
}

#[test]
fn what_a_task_has_changed_that_exec_began_is_its_own() {
    let mut place = Place::new(&DIRTY.replace("@FILES@", ""));
    place.write("project/src/shared.txt", "mine\n");
    place.start(None);
    place.behave(
        "T0.1",
        "echo one > src/T0.1.txt; echo begun > \"$R/begun\"; until [ -e \"$R/go\" ]; do sleep 0.05; done\n",
    );
    let mut command = place.command(&["exec", "T0.1"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the binary starts");
    let deadline = Instant::now() + DEADLINE;
    while place.read("begun").is_empty() {
        assert!(Instant::now() < deadline, "the agent does not begin");
        thread::sleep(Duration::from_millis(20));
    }
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    // The server goes on without its client; a loop takes over what the last server has left.
    place.kill();
    place.start(None);
    let run = place.begin(&[]);
    place.until(&run, "it was taken over", |view| view.tasks.iter().any(|it| it.run.is_some()));
    fs::write(place.root.join("go"), "").expect("a file");
    let view = place.end(&run);
    assert_eq!(view.counts.completed, 2, "{view:?}");
    assert_eq!(place.git(&["show", "--format=", "--name-only", ":/^T0.1: "]), "src/T0.1.txt");
    assert_eq!(
        place.git(&["status", "--porcelain", "--", "src"]),
        "M src/shared.txt",
        "what was there before"
    );
}
