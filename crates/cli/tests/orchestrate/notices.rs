//! What people are told of a loop, where they are: with a real receiver on loopback.

use std::time::Instant;

use serde_json::Value;

use crate::{
    receiver::Receiver,
    straight::THREE,
    support::{DEADLINE, Place},
};

/// Waits until so many came, and gives their kinds with their texts.
fn told(receiver: &Receiver, count: usize) -> Vec<(String, String)> {
    let deadline = Instant::now() + DEADLINE;
    loop {
        let taken: Vec<Value> = receiver.taken().iter().map(crate::receiver::Taken::json).collect();
        let notices = taken.iter().filter(|it| it["event"] == "notice");
        let notices = notices.flat_map(|it| it["notices"].as_array().cloned().unwrap_or_default());
        let text = |notice: &Value, name: &str| notice[name].as_str().unwrap_or_default().to_owned();
        let told: Vec<(String, String)> =
            notices.map(|notice| (text(&notice, "kind"), text(&notice, "text"))).collect();
        if told.len() >= count {
            return told;
        }
        assert!(Instant::now() < deadline, "{taken:?}");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

fn tell(receiver: &Receiver, more: &str) -> String {
    let url = receiver.url("/hook");
    format!(
        "{more}\n[[notify]]\nname = 'hook'\ntype = 'webhook'\nurl = '{url}'\nsecret = 'shared'\nafter = '0s'\n\
         allow_private = true\nkinds = ['question', 'failed', 'done', 'phase']\n"
    )
}

#[test]
fn phases_red_tests_and_the_end_are_told_and_no_task() {
    let receiver = Receiver::new();
    let mut place = Place::new(THREE);
    let red = "[orchestrate]\ntest = \"! test -e src/T1.1.txt || test -e src/T2.1.txt\"";
    place.configure(&tell(&receiver, red));
    // Its first attempt fails, which is nothing to tell.
    place.behave("T0.1", "if [ -e $R/once ]; then echo x > src/T0.1.txt; else touch $R/once; exit 3; fi\n");
    place.start(None);
    let run = place.begin(&[]);
    let card = place.asked(&run);
    let before = told(&receiver, 2);
    assert_eq!(before[0], ("phase".to_owned(), "Phase 0: orchestrate TASKS.md".to_owned()));
    assert!(
        before[1].0 == "question" && before[1].1.contains("The tests of phase 1 have failed"),
        "{before:?}"
    );
    place.answer(&card, "merge");
    place.end(&run);
    let told = told(&receiver, 5);
    let after: Vec<(&str, &str)> = told[2..].iter().map(|it| (it.0.as_str(), it.1.as_str())).collect();
    let all = [
        ("phase", "Phase 1: orchestrate TASKS.md"),
        ("phase", "Phase 2: orchestrate TASKS.md"),
        ("done", "orchestrate TASKS.md"),
    ];
    assert_eq!(after, all);
}

#[test]
fn what_is_blocked_is_told() {
    let receiver = Receiver::new();
    let mut place = Place::new(THREE);
    place.configure(&tell(&receiver, ""));
    place.behave("T0.1", "exit 3\n");
    place.start(None);
    let run = place.begin(&[]);
    place.asked(&run);
    let told = told(&receiver, 1);
    assert!(told[0].0 == "question" && told[0].1.contains("tasks that have failed: T0.1"), "{told:?}");
}

#[test]
fn slack_hears_of_a_phase() {
    let receiver = Receiver::new();
    let mut place = Place::new("- [ ] T0.1: one\n  - files: src/T0.1.txt\n");
    let url = receiver.url("/services/T0/B0/x");
    place.configure(&format!(
        "[[notify]]\nname = 'team'\ntype = 'slack'\nurl = '{url}'\nafter = '0s'\nallow_private = true\n"
    ));
    place.start(None);
    let run = place.begin(&[]);
    place.end(&run);
    let deadline = Instant::now() + DEADLINE;
    let text = loop {
        if let Some(taken) = receiver.taken().first() {
            break taken.json()["text"].as_str().unwrap_or_default().to_owned();
        }
        assert!(Instant::now() < deadline, "nobody was told");
        std::thread::sleep(std::time::Duration::from_millis(20));
    };
    assert!(text.contains("has finished a phase") && text.contains("Phase 0"), "{text}");
}

#[test]
fn a_task_that_has_failed_is_never_called_done() {
    let receiver = Receiver::new();
    let mut place = Place::new("- [ ] T0.1: one\n  - files: src/T0.1.txt\n- [ ] T0.2: two\n");
    place.configure(&tell(&receiver, ""));
    // Its agent is content with itself.
    place.behave("T0.1", "true\n");
    place.start(None);
    let (line, err, code) = place.ostler(&["exec", "T0.1"]);
    assert_eq!((line.as_str(), code), ("FAIL:T0.1:nothing has changed in src/T0.1.txt\n", 1), "{err}");
    // Whoever has a task done reads its line; what else ends is told.
    place.ostler(&["run", "--", "true"]);
    assert_eq!(told(&receiver, 1), [("done".to_owned(), "true".to_owned())]);
}
