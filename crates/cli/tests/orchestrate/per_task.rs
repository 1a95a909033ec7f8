//! A worktree for each task, merged into that of its phase.

use std::{thread, time::Duration};

use ostler_server::api::OutcomeKind;

use crate::support::{Place, exists};

const OWN: &str = "[orchestrate]\nworktrees = \"task\"\n";

const TASKS: &str = "\
## Phase 0: Setup
- [ ] T0.1: one
## Phase 1: Auth
- [ ] T1.1: two
- [ ] T1.2: three
- [ ] T1.3: four
  - deps: [T1.1, T1.2]
";

/// Each writes down its port, once both of the first two are there.
const MEET: &str = "echo \"$PORT $CACHE_PREFIX\" >> $R/ports; n=0\n\
    while [ \"$(sort -u $R/ports | wc -l)\" -lt 2 ] && [ $n -lt 600 ]; do sleep 0.1; n=$((n+1)); done\n\
    echo done > src/$id.txt; echo more > src/$id.more\n";

fn is_clean(place: &Place) {
    for name in ["worktree/task-T1.1", "worktree/task-T1.2", "worktree/phase-1-auth"] {
        assert!(!exists(&place.project().join(name)), "{name} is still there");
    }
    assert_eq!(place.git(&["branch", "--list", "worktree/*"]), "");
}

#[test]
fn each_task_has_its_place_and_all_come_together() {
    let mut place = Place::new(TASKS);
    place.configure(OWN);
    place.behave("T1.1", MEET);
    place.behave("T1.2", MEET);
    place.behave("T1.3", "test -e src/T1.1.txt && test -e src/T1.2.txt && echo done > src/T1.3.txt\n");
    place.start(None);
    let run = place.begin(&[]);
    let view = place.end(&run);
    assert_eq!(view.outcome.expect("an outcome").outcome, OutcomeKind::Completed);
    let ran = place.read("ran");
    for place in [
        "T0.1 ",
        "/project/worktree/task-T1.1\n",
        "/project/worktree/task-T1.2\n",
        "/project/worktree/task-T1.3\n",
    ] {
        assert!(ran.contains(place), "{place}: {ran}");
    }
    let files = place.tree().0;
    for file in ["src/T1.1.txt", "src/T1.2.txt", "src/T1.1.more", "src/T1.3.txt"] {
        assert!(files.contains(file), "{file}: {files}");
    }
    let ports = place.read("ports");
    assert!(ports.contains(" task-T1.1\n") && ports.contains(" task-T1.2\n"), "{ports}");
    let numbers: Vec<&str> = ports.lines().filter_map(|line| line.split(' ').next()).collect();
    assert_ne!(numbers[0], numbers[1], "{ports}");
    is_clean(&place);
}

#[test]
fn what_a_set_up_leaves_is_nobody_s_work() {
    for own in [OWN, "[orchestrate]\n"] {
        let mut place = Place::new(TASKS);
        place.configure(&format!("{own}setup = \"touch set-up-was-here\"\n"));
        place.start(None);
        let run = place.begin(&[]);
        let view = place.end(&run);
        assert_eq!((view.counts.completed, view.counts.failed), (4, 0), "{own}: {view:?}");
        let files = place.tree().0;
        assert!(files.contains("src/T1.3.txt") && !files.contains("set-up-was-here"), "{own}: {files}");
        is_clean(&place);
    }
}

#[test]
fn what_both_have_changed_is_brought_together_by_who_comes_later() {
    let mut place = Place::new(TASKS);
    place.configure(OWN);
    place.behave("T1.1", "while [ ! -e $R/begun ]; do sleep 0.05; done; echo one > src/shared.txt\n");
    // It ends when the other one is merged.
    place.behave(
        "T1.2",
        "touch $R/begun; echo two > src/shared.txt\n\
         until git show worktree/phase-1-auth:src/shared.txt | grep -q one; do sleep 0.05; done\n",
    );
    place.behave(
        "mend",
        "git merge -q worktree/phase-1-auth >/dev/null 2>&1; printf 'one\\ntwo\\n' > src/shared.txt; git commit -qam both\n",
    );
    place.behave("T1.3", "echo done > src/T1.3.txt\n");
    place.start(None);
    let run = place.begin(&[]);
    let view = place.end(&run);
    assert_eq!(view.counts.completed, 4);
    assert_eq!(place.git(&["show", "HEAD:src/shared.txt"]), "one\ntwo");
    let prompts = place.read("prompts.mend");
    assert!(
        prompts.contains("git merge worktree/phase-1-auth") && prompts.contains("src/shared.txt"),
        "{prompts}"
    );
    is_clean(&place);
}

#[test]
fn a_conflict_that_nobody_resolves_is_a_failure_and_loses_nothing() {
    let mut place = Place::new(TASKS);
    place.configure(OWN);
    place.behave("T1.1", "while [ ! -e $R/begun ]; do sleep 0.05; done; echo one > src/shared.txt\n");
    place.behave(
        "T1.2",
        "touch $R/begun; echo two > src/shared.txt\n\
         until git show worktree/phase-1-auth:src/shared.txt | grep -q one; do sleep 0.05; done\n",
    );
    place.behave("mend", ":\n");
    place.start(None);
    let run = place.begin(&[]);
    let card = place.asked(&run);
    let view = place.view(&run);
    let line = view.tasks.iter().find(|task| task.id == "T1.2").and_then(|task| task.line.clone());
    assert_eq!(line.as_deref(), Some("FAIL:T1.2:both sides changed the same places: src/shared.txt"));
    assert_eq!(place.git(&["show", "worktree/phase-1-auth:src/shared.txt"]), "one");
    assert_eq!(place.git(&["show", "worktree/task-T1.2:src/shared.txt"]), "two");
    place.answer(&card, "skip");
    assert_eq!(place.end(&run).counts.skipped, 1);
    assert_eq!(place.git(&["show", "worktree/task-T1.2:src/shared.txt"]), "two", "it is not taken away");
}

/// What somebody has left in the worktree of the phase is no failure of the task.
#[test]
fn what_stands_in_the_way_of_a_merge_goes_to_a_person_and_no_work_is_done_twice() {
    let mut place = Place::new(TASKS);
    place.configure(OWN);
    place.behave(
        "T1.2",
        "echo mine > $R/project/worktree/phase-1-auth/src/T1.2.txt; echo two > src/T1.2.txt\n",
    );
    place.start(None);
    let run = place.begin(&[]);
    let card = place.asked(&run);
    let text = format!("{:?}", card.ask);
    assert!(text.contains("worktree/task-T1.2 cannot be merged") && text.contains("src/T1.2.txt"), "{text}");
    let left = "project/worktree/phase-1-auth/src/T1.2.txt";
    assert_eq!(place.read(left), "mine\n", "it stays as it is");
    std::fs::remove_file(place.root.join(left)).expect("it is there");
    place.answer(&card, "retry");
    let view = place.end(&run);
    assert_eq!((view.counts.completed, view.counts.failed, view.report.retries), (4, 0, 0), "{view:?}");
    assert!(view.report.waited_ms > 0 && view.report.waited_ms <= view.report.wall_ms, "{:?}", view.report);
    assert_eq!(place.git(&["show", "HEAD:src/T1.2.txt"]), "two");
    assert_eq!(place.read("ran").lines().filter(|line| line.starts_with("T1.2 ")).count(), 1);
    is_clean(&place);
}

#[test]
fn it_goes_on_after_a_crash() {
    for site in ["after begin task:2", "after commit task:2", "after end task:2", "before commit task:3"] {
        let mut place = Place::new(TASKS);
        place.configure(OWN);
        place.start(Some(site));
        place.ostler(&["--json", "orchestrate", "--detach"]);
        while !place.has_died() {
            thread::sleep(Duration::from_millis(20));
        }
        place.start(None);
        let run = place.begin(&[]);
        assert_eq!(place.end(&run).counts.completed, 4, "{site}");
        let files = place.tree().0;
        for file in ["src/T0.1.txt", "src/T1.1.txt", "src/T1.2.txt", "src/T1.3.txt"] {
            assert!(files.contains(file), "{site}: {file}: {files}");
        }
        is_clean(&place);
    }
}
