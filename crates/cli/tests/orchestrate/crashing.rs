//! A server that dies at every step of a loop, and at random: in the end everything stands as if it had not.

use std::{
    fmt::Write as _,
    thread,
    time::{Duration, Instant},
};

use ostler_server::api::OutcomeKind;

use crate::support::{DEADLINE, Place};

/// Every place that a loop passes; the last ones only where something goes wrong.
const SITES: [&str; 16] = [
    "before conduct",
    "before prepare phase",
    "after prepare phase",
    "after begin task",
    "after start task",
    "after failed try",
    "before commit task",
    "after commit task",
    "after end task",
    "before test phase",
    "after test phase",
    "before merge phase",
    "after merge phase",
    "before record phase",
    "after record phase",
    "after conduct",
];

const SMALL: &str = "\
## Phase 0: Setup
- [ ] T0.1: one
  - files: src/T0.1.txt
## Phase 1: Auth
- [ ] T1.1: two
  - files: src/T1.1.txt
- [ ] T1.2: three
";

/// A task that fails once, one that declares nothing, and tests that pass.
fn small() -> Place {
    let place = Place::new(SMALL);
    place.configure("[orchestrate]\ntest = \"true\"\n");
    place.behave(
        "T1.1",
        "if [ -e $R/tried ]; then echo done > src/T1.1.txt; else touch $R/tried; exit 1; fi\n",
    );
    place
}

fn finish(place: &mut Place, crash_at: Option<&str>) {
    place.start(crash_at);
    // The server may be gone before it has answered; the loop is in the journal then, or is begun by the next.
    place.command(&["orchestrate", "--detach"]).output().ok();
    let deadline = Instant::now() + DEADLINE;
    while crash_at.is_some() && !place.has_died() {
        assert!(Instant::now() < deadline, "{crash_at:?} was never passed:\n{}", place.read("server.log"));
        thread::sleep(Duration::from_millis(10));
    }
    if crash_at.is_some() {
        place.kill();
        place.start(None);
    }
    let run = place.begin(&[]);
    let view = place.end(&run);
    assert_eq!(view.outcome.expect("an outcome").outcome, OutcomeKind::Completed, "{crash_at:?}");
}

#[test]
fn a_server_that_dies_at_any_step_goes_on() {
    let mut undisturbed = small();
    finish(&mut undisturbed, None);
    for site in SITES {
        let mut place = small();
        finish(&mut place, Some(&format!("{site}:1")));
        assert_eq!(place.content(), undisturbed.content(), "{site}: {:?}", place.tree());
        assert_eq!(place.tree(), undisturbed.tree(), "{site}");
        let mut subjects = place.subjects();
        let mut expected = undisturbed.subjects();
        subjects.sort();
        expected.sort();
        assert_eq!(subjects, expected, "{site}: each is committed once");
        assert_eq!(place.git(&["status", "--porcelain", "--", "src"]), "", "{site}");
    }
}

/// Four phases of ten tasks.
fn forty() -> Place {
    let mut tasks = String::new();
    for phase in 0..4 {
        writeln!(tasks, "## Phase {phase}: Part {phase}").expect("text");
        for n in 1..=10 {
            writeln!(tasks, "- [ ] T{phase}.{n}: task\n  - files: src/T{phase}.{n}.txt").expect("text");
            if n % 4 == 0 {
                writeln!(tasks, "  - deps: [T{phase}.{}]", n - 1).expect("text");
            }
        }
    }
    let place = Place::new(&tasks);
    place.configure("[orchestrate]\ntest = \"ls src >/dev/null\"\n");
    place.behave(
        "T1.3",
        "n=$(cat $R/count 2>/dev/null || echo 0); n=$((n+1)); echo $n > $R/count\n\
         if [ $n -lt 3 ]; then exit $n; fi; echo good > src/T1.3.txt\n",
    );
    place
}

#[test]
fn forty_tasks_survive_a_server_that_is_killed_at_random() {
    let given = |name: &str| std::env::var(name).ok().and_then(|it| it.parse::<u64>().ok());
    let kills = given("OSTLER_LOOP_KILLS").unwrap_or(8);
    let mut seed = given("OSTLER_SEED").unwrap_or(0x2545_F491_4F6C_DD1D).max(1);
    println!("loop: seed {seed}");
    let mut undisturbed = forty();
    undisturbed.start(None);
    let run = undisturbed.begin(&["--max-parallel", "4"]);
    assert_eq!(undisturbed.end(&run).counts.completed, 40);
    let mut place = forty();
    // Slow enough for so many deaths, and most of them in the middle of something.
    place.write("pause", &format!("{}.{}", kills / 20, kills % 20 / 2));
    place.start(None);
    let run = place.begin(&["--max-parallel", "4"]);
    let mut killed = 0;
    for _ in 0..kills {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        thread::sleep(Duration::from_millis(100 + seed % 900));
        if place.view(&run).outcome.is_some() {
            break;
        }
        place.kill();
        place.start(None);
        killed += 1;
    }
    let view = place.end(&run);
    println!("loop: {killed} servers killed at random, 40 tasks");
    assert!(killed > 3, "it was over too soon");
    assert_eq!(view.outcome.expect("an outcome").outcome, OutcomeKind::Completed);
    assert_eq!(view.counts.completed, 40);
    assert_eq!(place.content(), undisturbed.content(), "{:?}", place.tree());
    assert_eq!(place.tree(), undisturbed.tree());
}
