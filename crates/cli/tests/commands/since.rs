//! What has ended since the person last looked, and sessions that were interrupted: `ostler`, `resume --all`.

use std::{fs, process::Command};

use crate::{
    support::{Place, signal, until},
    terminal::Terminal,
};

/// What `ostler` shows on a terminal: only there somebody has looked.
fn look(place: &Place) -> String {
    let mut terminal = Terminal::start(place, &[]);
    assert_eq!(terminal.code(), 0, "{}", terminal.screen());
    until("the end of the screen", || Some(terminal.screen()).filter(|screen| screen.contains("need")))
}

#[test]
fn what_ended_since_the_last_look_is_shown_first_and_once() {
    let place = Place::with_commit();
    assert!(!look(&place).contains("Ended so far"), "nothing has happened yet");
    let failed = place.start("exit 3");
    place.wait_for(&failed, "failed");
    let run = place.json(&["run", "-d", "--worktree", "--", "bash", "-c", "echo three >> file.txt"]);
    let work = run["sessions"][0]["id"].as_str().expect("an id").to_owned();
    place.wait_for(&work, "completed");
    // A program that reads has not looked, and a person whose server was killed meanwhile has lost nothing.
    assert_eq!(place.json(&[])["looked"]["ended"].as_array().map(Vec::len), Some(2));
    assert!(place.done(&[]).starts_with("Ended so far:\ns_1  ✗ failed"), "{}", place.done(&[]));
    place.kill_server();
    let screen = look(&place);
    let [failed_at, why_at, work_at, merge_at, needs_at] =
        ["s_1", "its exit code was 3", "s_2", "ostler merge s_2", "Nothing needs you."]
            .map(|text| screen.find(text).unwrap_or_else(|| panic!("{text} in {screen}")));
    assert!(failed_at < why_at && why_at < work_at && work_at < merge_at && merge_at < needs_at, "{screen}");
    // It is kept that it was shown.
    place.kill_server();
    assert_eq!(place.json(&[])["looked"]["ended"], serde_json::json!([]));
    assert!(!look(&place).contains("s_1"));
    let next = place.start("true");
    place.wait_for(&next, "completed");
    assert!(place.done(&["--lang", "ko"]).starts_with("마지막으로 본 뒤("), "{}", place.done(&[]));
    let screen = look(&place);
    assert!(screen.contains("Since you last looked (") && screen.contains("s_3"), "{screen}");
    assert!(!screen.contains("s_2"), "{screen}");
}

#[test]
fn whose_end_was_watched_or_wanted_is_no_news() {
    let place = Place::new();
    let mut terminal = Terminal::start(&place, &["run", "--", "bash", "-c", "exit 4"]);
    assert_eq!(terminal.code(), 1);
    assert_eq!(place.json(&[])["looked"]["ended"], serde_json::json!([]), "it was watched");
    let session = place.start("sleep 1000");
    place.done(&["cancel", &session]);
    place.wait_for(&session, "cancelled");
    assert_eq!(place.json(&[])["looked"]["ended"], serde_json::json!([]), "somebody wanted it");
    // It was watched once; the end of what is resumed is another one.
    place.done(&["resume", "-d", "s_1"]);
    place.wait_for("s_1", "failed");
    assert_eq!(place.json(&[])["looked"]["ended"][0]["id"], "s_1");
}

#[test]
fn many_are_counted() {
    let place = Place::new();
    for _ in 0..12 {
        let session = place.start("true");
        place.wait_for(&session, "completed");
    }
    let said = place.done(&[]);
    assert!(said.contains("… and 2 more: ostler ps --all"), "{said}");
}

/// The process of a session, and the shim that watches it.
fn processes(place: &Place, session: &str) -> [String; 2] {
    let pid = until("it runs", || place.session(session)["pid"].as_i64()).to_string();
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).expect("it runs");
    let shim = stat.rsplit(") ").next().and_then(|rest| rest.split(' ').nth(1)).expect("its parent");
    [shim.to_owned(), pid]
}

/// Takes the shim of a session away.
fn lose(place: &Place, session: &str) {
    signal(&processes(place, session)[0], "KILL");
    place.wait_for(session, "interrupted");
}

/// A reboot ends server, shims and agents at once. The next server has looked before it answers.
#[test]
fn after_a_reboot_the_first_look_shows_what_was_interrupted() {
    let place = Place::new();
    let session = place.start("sleep 1000");
    let processes = processes(&place, &session);
    place.kill_server();
    // The shim first: it has no time to write down how its agent ended.
    Command::new("kill").arg("-KILL").args(&processes).output().expect("kill starts");
    let said = place.done(&[]);
    assert!(said.starts_with("1 thing needs you:\n\ns_1  ⚡ interrupted"), "{said}");
    assert!(!said.contains("working") && !said.contains("at work:"), "{said}");
    assert_eq!(place.session(&session)["status"], "interrupted");
}

#[test]
fn an_interrupted_session_needs_somebody_and_all_can_be_resumed() {
    let place = Place::new();
    let script = "until [ -e go ]; do sleep 0.05; done";
    let sessions = [place.start(script), place.start(script)];
    for session in &sessions {
        until("it runs", || place.session(session)["pid"].as_i64());
    }
    lose(&place, &sessions[0]);
    let said = place.done(&[]);
    assert!(said.starts_with("1 thing needs you:\n\ns_1  ⚡ interrupted"), "{said}");
    assert!(said.contains("ostler resume s_1\n"), "{said}");
    assert!(said.contains("1 agent at work:\ns_2"), "{said}");
    lose(&place, &sessions[1]);
    let said = place.done(&[]);
    assert!(said.starts_with("2 things need you:\n"), "{said}");
    assert!(said.contains("\nResume all of them: ostler resume --all\n"), "{said}");
    fs::write(place.project().join("go"), "").expect("a file");
    let said = place.done(&["resume", "--all"]);
    assert!(said.contains("s_1 goes on") && said.contains("s_2 goes on"), "{said}");
    for session in &sessions {
        place.wait_for(session, "completed");
    }
    assert_eq!(place.done(&["resume", "--all"]), "No session is interrupted.\n");
    let said = place.run(&["resume"]);
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.err.contains("name a session, or say --all"), "{said:?}");
    assert_eq!(place.run(&["resume", "--all", "s_1"]).code, 2);
}
