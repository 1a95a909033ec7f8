//! Who does a task asks a person.

use std::{
    io::{BufRead, BufReader, Read},
    process::Stdio,
    thread,
    time::Duration,
};

use crate::support::Place;

const TWO: &str = "\
## Phase 0
- [ ] T0.1: one
  - files: src/T0.1.txt
- [ ] T0.2: two
  - files: src/T0.2.txt
";

const ASKS: &str = "printf '[USER_QUESTION]\\ncategory: choice\\nquestion: Which database?\\noptions:\\n  - PostgreSQL\\n  - MySQL\\nrequired: true\\n[/USER_QUESTION]\\n'
while read -r line; do case $line in *MySQL*) echo MySQL > src/T0.2.txt; exit 0 ;; esac; done; exit 4
";

#[test]
fn what_a_task_asks_is_said_with_how_to_answer_and_its_waiting_is_in_the_report() {
    let mut place = Place::new(TWO);
    place.start(None);
    place.behave("T0.2", ASKS);
    let mut command = place.command(&["orchestrate"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the binary starts");
    let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
    // The line comes while the agent waits: nobody answers before it was read.
    let mut line = String::new();
    while !line.starts_with("T0.2 asks: ") {
        line.clear();
        assert_ne!(out.read_line(&mut line).expect("text"), 0, "{}", place.read("server.log"));
    }
    let said = "T0.2 asks: Which database? (1 PostgreSQL, 2 MySQL) Answer: ostler answer ";
    let id = line.trim().strip_prefix(said).and_then(|rest| rest.strip_suffix(" 1"));
    let id = id.unwrap_or_else(|| panic!("{line}")).to_owned();

    let loops: serde_json::Value = place.get("/orchestrate").expect("loops");
    let run = loops[0]["run"].as_str().expect("a run").to_owned();
    let view = place.view(&run);
    assert_eq!(view.request, None, "the loop itself asks nothing");
    let asking = view.tasks.iter().find(|task| task.id == "T0.2").expect("a task");
    assert_eq!(asking.request.as_ref().map(|it| it.id.as_str()), Some(id.as_str()), "{asking:?}");
    assert!(view.tasks.iter().all(|task| task.id == "T0.2" || task.request.is_none()), "{view:?}");
    // So long it waits: enough to be worth a word in the report.
    thread::sleep(Duration::from_millis(1_500));
    let (said, noted, code) = place.ostler(&["answer", &id, "2"]);
    assert_eq!(code, 0, "{said}{noted}");

    let mut rest = String::new();
    out.read_to_string(&mut rest).expect("text");
    assert!(child.wait().expect("it ends").success(), "{rest}");
    assert!(!rest.contains("T0.2 asks"), "once: {rest}");
    assert!(rest.contains("besides the work, tasks waited "), "{rest}");
    let view = place.end(&run);
    assert!(view.tasks.iter().all(|task| task.request.is_none()), "{view:?}");
    assert!(view.report.tasks_waited_ms >= 1_500, "{:?}", view.report);
    assert_eq!(place.read("project/src/T0.2.txt"), "MySQL\n");
}
