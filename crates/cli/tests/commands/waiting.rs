//! `ostler wait`: until sessions have ended or need somebody, and what the exit code says.

use std::{
    fs,
    process::{Child, Stdio},
};

use crate::support::{ASK, Place, Said};

/// A command that runs beside the test.
fn beside(place: &Place, arguments: &[&str]) -> Child {
    let mut command = place.command(arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts")
}

fn end(child: Child) -> Said {
    child.wait_with_output().expect("it ends").into()
}

#[test]
fn the_end_of_each_is_waited_for_and_the_first_that_is_not_done_counts() {
    let place = Place::new();
    let until_go = |code: u32| format!("until [ -e go ]; do sleep 0.02; done; exit {code}");
    for code in [0, 3, 0] {
        place.start(&until_go(code));
    }
    let waits = beside(&place, &["wait", "s_1", "r_3", "s_2"]);
    let fine = beside(&place, &["wait", "s_1", "r_3"]);
    fs::write(place.project().join("go"), "").expect("a file");
    let said = end(waits);
    assert_eq!(said.code, 1, "{said:?}");
    for line in ["s_1 is done", "r_3 is done", "s_2 has failed: its exit code was 3"] {
        assert!(said.out.contains(line), "{line} in {said:?}");
    }
    assert_eq!(said.out.lines().count(), 3, "{said:?}");
    assert_eq!(end(fine).code, 0);
    // What is over is not waited for.
    assert_eq!(place.run(&["wait", "s_2"]).code, 1);
    let waited = place.run(&["--json", "wait", "s_2", "s_1"]);
    let value: serde_json::Value = serde_json::from_str(&waited.out).expect("JSON");
    assert_eq!((&value[0]["exit_code"], &value[1]["exit_code"]), (&1.into(), &0.into()), "{value}");
    let cancelled = place.start("sleep 1000");
    let waits = beside(&place, &["wait", &cancelled]);
    place.done(&["cancel", &cancelled]);
    assert_eq!(end(waits).code, 10);
}

#[test]
fn a_request_is_waited_for_and_a_server_that_dies_meanwhile_is_no_end() {
    let place = Place::new();
    let session = place.start(&format!("until [ -e go ]; do sleep 0.02; done; {ASK}"));
    let waits = beside(&place, &["wait", "--for", "request", &session]);
    let ends = beside(&place, &["wait", &session]);
    place.kill_server();
    fs::write(place.project().join("go"), "").expect("a file");
    let said = end(waits);
    assert_eq!((said.code, said.out.as_str()), (0, "s_1 needs you: q_1\n"), "{said:?}");
    place.done(&["answer", "q_1", "1"]);
    let said = end(ends);
    assert_eq!(said.code, 0, "{said:?}");
    // Who ends without a question needs nobody any more.
    assert_eq!(place.run(&["wait", "--for", "request", &session]).code, 0);
}

#[test]
fn a_wait_has_a_limit_and_refuses_what_is_no_session() {
    let place = Place::new();
    let session = place.start("sleep 1000");
    let said = place.run(&["wait", &session, "--timeout", "1s"]);
    assert_eq!(said.code, 16, "{said:?}");
    assert!(said.err.contains("s_1"), "{said:?}");
    assert_eq!(place.run(&["wait", "s_9"]).code, 8);
    assert_eq!(place.run(&["wait", "q_1"]).code, 8);
    assert_eq!(place.run(&["wait"]).code, 2);
    assert_eq!(place.run(&["wait", &session, "--timeout", "soon"]).code, 2);
}
