//! The demonstration: by itself, with somebody who presses keys, and left half-way. Nothing of it stays behind.

use std::{fs, path::Path, process::Stdio};

use serde_json::Value;

use crate::{
    support::{Place, Said, until},
    terminal::Terminal,
};

/// Nothing runs that has to do with this directory, and the directory is gone.
#[track_caller]
fn assert_nothing_left(demo: &Path) {
    assert!(!demo.exists(), "{} is still there", demo.display());
    assert_eq!(processes(demo), [""; 0]);
}

/// Everything was seen in its place, nothing went wrong, and nothing is left.
#[track_caller]
fn assert_played(place: &Place, said: &Said, acts: &[&str]) {
    let mut rest = said.out.as_str();
    for act in acts {
        rest = rest.split_once(act).unwrap_or_else(|| panic!("{act} in its place: {}", said.out)).1;
    }
    assert!(!said.out.contains(['\x1b', '✗']), "{}", said.out);
    assert_eq!(said.err, "");
    assert_nothing_left(&place.state().join("demo"));
}

/// The processes with this directory in their command line, environment or as the place they are in.
fn processes(demo: &Path) -> Vec<String> {
    let text = demo.to_str().expect("a path of this test");
    let entries = fs::read_dir("/proc").expect("there is one").flatten();
    let has = |path: &Path| {
        let read =
            |name: &str| String::from_utf8_lossy(&fs::read(path.join(name)).unwrap_or_default()).into_owned();
        let is_in = fs::read_link(path.join("cwd")).is_ok_and(|directory| directory.starts_with(demo));
        is_in || read("cmdline").contains(text) || read("environ").contains(text)
    };
    let is_process =
        |path: &Path| path.file_name().is_some_and(|it| it.as_encoded_bytes()[0].is_ascii_digit());
    let found = entries.map(|entry| entry.path()).filter(|path| is_process(path) && has(path));
    found
        .map(|path| fs::read_to_string(path.join("cmdline")).unwrap_or_default().replace('\0', " "))
        .collect()
}

#[test]
fn it_plays_by_itself() {
    let place = Place::new();
    let said = place.run(&["demo", "--auto"]);
    assert_eq!(said.code, 0, "{said:?}");
    let acts = [
        "Three scripted agents start",
        "One of them asks.",
        "1  PostgreSQL",
        "$ kill -9 ",
        "The server is gone. The agents do not notice: same processes ",
        "the question is still there",
        "$ ostler answer q_1 1",
        "PostgreSQL: the agent reads it",
        "$ sh test.sh\n  10 pieces at 5 cost 50, not 45",
        "Not done (exit code 1): it was sent back",
        "s_3  ✓ done",
        "All done",
        "$ ostler diff s_2",
        "+    if [ \"$2\" -ge 10 ]; then",
        "✓ nothing is left running",
        "$ ostler run ",
    ];
    assert_played(&place, &said, &acts);
}

#[test]
fn a_machine_gets_what_was_seen() {
    let place = Place::new();
    let demo = place.state().join("elsewhere");
    let facts = place.json(&["demo", "--dir", demo.to_str().expect("a path of this test")]);
    assert_eq!(facts["verified"], true, "{facts}");
    assert_eq!(facts["agents"]["before"].as_array().map(Vec::len), Some(3), "{facts}");
    assert_eq!(facts["agents"]["before"], facts["agents"]["after"], "{facts}");
    assert_ne!(facts["servers"][0], facts["servers"][1], "{facts}");
    assert_eq!(facts["check_codes"], serde_json::json!([1, 0]), "{facts}");
    assert_eq!(facts["request"]["settled"]["answer"]["text"], "PostgreSQL", "{facts}");
    assert_nothing_left(&demo);
}

#[test]
fn somebody_presses_a_number() {
    let place = Place::new();
    let mut terminal = Terminal::start(&place, &["--lang", "ko", "demo"]);
    // Any key goes on, but none of them answers.
    until("the question", || {
        terminal.press(" ");
        terminal.screen().contains("번호를 누르세요").then_some(())
    });
    terminal.press("x9 2");
    until("the end", || {
        terminal.try_press(" ");
        terminal.has_ended().then_some(())
    });
    assert_eq!(terminal.code(), 0, "{}", terminal.screen());
    terminal.sees("$ ostler answer q_1 2");
    terminal.sees("SQLite: 에이전트가");
    terminal.sees("남아서 실행 중인 것이 없음");
    assert!(
        terminal.screen().contains("\x1b[3A\r\x1b[2K"),
        "the list is drawn in place: {}",
        terminal.screen()
    );
    assert_nothing_left(&place.state().join("demo"));
}

#[test]
fn ctrl_c_ends_and_removes_everything() {
    let place = Place::new();
    let mut terminal = Terminal::start(&place, &["demo"]);
    until("the question", || {
        terminal.press(" ");
        terminal.screen().contains("Press a number").then_some(())
    });
    assert!(!processes(&place.state().join("demo")).is_empty(), "{}", terminal.screen());
    terminal.press("\x03");
    assert_eq!(terminal.code(), 10, "{}", terminal.screen());
    assert_nothing_left(&place.state().join("demo"));
}

#[test]
fn what_an_aborted_one_left_is_ended_by_the_next() {
    let place = Place::new();
    let demo = place.state().join("demo");
    let mut terminal = Terminal::start(&place, &["demo"]);
    until("the question", || {
        terminal.press(" ");
        terminal.screen().contains("Press a number").then_some(())
    });
    let said = place.run(&["demo", "--auto"]);
    assert_eq!(said.code, 7, "two at once: {said:?}");
    assert!(said.err.contains("another demo uses"), "{said:?}");
    terminal.kill();
    assert!(!processes(&demo).is_empty(), "agents outlive it");
    let said = place.run(&["demo", "--auto"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_nothing_left(&demo);
}

#[test]
fn a_directory_of_somebody_else_is_not_touched() {
    let place = Place::with_commit();
    let project = place.project();
    let said = place.run(&["demo", "--auto", "--dir", "."]);
    assert_eq!(said.code, 7, "{said:?}");
    assert!(said.err.contains("is not from a demo"), "{said:?}");
    assert!(project.join("file.txt").exists());
    assert!(!project.join("ostler-demo").exists());
}

#[test]
fn it_can_be_kept_and_looked_at() {
    let place = Place::new();
    let demo = place.state().join("demo");
    let said = place.run(&["demo", "--auto", "--keep"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(processes(&demo), [""; 0]);
    let mut ps = place.command(&["--json", "ps", "-a"]);
    let output = ps.env("OSTLER_HOME", demo.join("state")).output().expect("the binary starts");
    let sessions: Value = serde_json::from_slice(&output.stdout).expect("a list");
    assert_eq!(sessions.as_array().map(Vec::len), Some(3), "{sessions}");
    // The next one takes its place, with the server that was started to look.
    let said = place.run(&["demo", "--auto"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_nothing_left(&demo);
}

#[test]
fn whoever_reads_may_go_away() {
    let place = Place::new();
    let mut command = place.command(&["demo"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the binary starts");
    drop(child.stdout.take());
    assert_eq!(child.wait().expect("it is ours").code(), Some(10));
    assert_nothing_left(&place.state().join("demo"));
}

#[test]
fn an_idea_goes_through_all_phases_by_itself() {
    let place = Place::new();
    let said = place.run(&["demo", "--full", "--auto"]);
    assert_eq!(said.code, 0, "{said:?}");
    let acts = [
        "$ ostler trust",
        "$ ostler phases run ",
        "Phase 1 of 4: Planning.",
        "$ ostler answer q_1 'Corner Shop'",
        "$ ostler answer q_2 10",
        "Gate 1: nothing is wrong. Files: 9, commands: 0, criteria of the verifier: 3.",
        "$ ostler review q_3 --approve --tree ",
        "Approved: exactly the tree ",
        "Phase 2 of 4: Design.",
        "Gate 1: the agent said that it is done, and it is not.",
        "docs/design/04_api.md does not name `refund`",
        "Gate 2: nothing is wrong.",
        "Phase 3 of 4: Development.",
        "prices.csv",
        "it goes on by itself.",
        "$ printf … | ostler answer ",
        "remove old/receipt.sh",
        "Phase 4 of 4: Testing.",
        "All 6 tests pass.",
        "$ ostler phases export r_1",
        "  4 Testing",
        "✓ nothing is left running",
        "$ ostler phases run ",
    ];
    assert_played(&place, &said, &acts);
}

#[test]
fn what_came_of_the_idea_can_be_looked_at() {
    let place = Place::new();
    let facts = place.json(&["--lang", "ko", "demo", "--full", "--keep"]);
    assert_eq!(facts["verified"], true, "{facts:#}");
    assert_eq!(facts["tests"], 0);
    let phases = facts["phases"]["phases"].as_array().expect("phases");
    assert_eq!(phases.len(), 4);
    let gates: Vec<usize> = phases.iter().map(|it| it["gates"].as_array().map_or(0, Vec::len)).collect();
    assert_eq!(gates, [1, 2, 1, 1], "one was sent back");
    let project = place.state().join("demo/shop");
    let read = |path: &str| fs::read_to_string(project.join(path)).expect("it was written");
    assert!(read("docs/planning/01_idea.md").contains("골목 가게"), "the answer stands in the plan");
    assert!(read("data/prices.csv").contains("olive oil"), "the file that was given is used");
    assert!(!project.join("old/receipt.sh").exists(), "what was allowed was done");
    let mut log =
        place.program("git", &["log", "--format=%s", facts["export"]["branch"].as_str().expect("a branch")]);
    let said = log.current_dir(&project).output().expect("git starts");
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    assert_eq!(said.lines().count(), 5, "four phases, and what was there before: {said}");
    assert_eq!(processes(&place.state().join("demo")), [""; 0]);
}

/// Answers every request as a person would, some of them elsewhere.
#[test]
fn somebody_answers_and_approves_by_hand() {
    let place = Place::new();
    let demo = place.state().join("demo");
    let mut terminal = Terminal::start(&place, &["demo", "--full"]);
    let elsewhere = |arguments: &[&str]| {
        let mut command = place.command(arguments);
        let output = command.env("OSTLER_HOME", demo.join("state")).output().expect("the binary starts");
        assert!(output.status.success(), "{arguments:?}: {output:?}");
    };
    terminal.sees("$ ostler answer q_1");
    terminal.sees("Enter: Corner Shop");
    terminal.press("Tea & Sons\n");
    terminal.sees("$ ostler answer q_2");
    terminal.sees("Enter: 10");
    elsewhere(&["answer", "q_2", "12"]);
    terminal.sees("Answered on the page.");
    terminal.sees("Enter approves it.");
    terminal.press("mention tea\n");
    terminal.sees("--changes=mention tea");
    terminal.sees("$ ostler review q_4");
    let idea = fs::read_to_string(demo.join("shop/docs/planning/01_idea.md")).expect("it was written");
    assert!(idea.contains("Tea & Sons hands out"), "{idea}");
    let changes = fs::read_to_string(demo.join("shop/CHANGES.md")).expect("it was written");
    assert!(changes.ends_with("- mention tea\n"), "{changes}");
    until("the second decision", || {
        (terminal.screen().matches("Enter approves it.").count() == 2).then_some(())
    });
    terminal.press("\n");
    terminal.sees("Phase 2 of 4: Design.");
    terminal.sees("$ ostler answer q_5");
    terminal.sees("csv");
    terminal.press("2\n");
    terminal.sees("Gate 2: nothing is wrong.");
    until("the third decision", || {
        (terminal.screen().matches("Enter approves it.").count() == 3).then_some(())
    });
    terminal.press("reject\n");
    assert_eq!(terminal.code(), 10, "{}", terminal.screen());
    terminal.sees("It was rejected");
    assert_nothing_left(&demo);
}
