//! `ostler search`: lines of what sessions printed.

use crate::support::{ASK, Place};

#[test]
fn lines_of_all_sessions_are_found_with_their_neighbours() {
    let place = Place::new();
    place.done(&[
        "run",
        "--name",
        "first",
        "--",
        "bash",
        "-c",
        "echo before; echo 'Connection to DB refused'; echo after",
    ]);
    place.done(&["run", "--", "bash", "-c", "echo 'connection closed'; echo 'db: connection lost' >&2"]);
    let said = place.done(&["search", "connection"]);
    let [second, closed, lost, first, refused] = [
        "s_2 · ",
        "› connection closed",
        "stderr\n  › db: connection lost",
        "s_1 first · ",
        "    before\n  › Connection to DB refused\n    after\n",
    ]
    .map(|text| said.find(text).unwrap_or_else(|| panic!("{text} in {said}")));
    assert!(second < closed && closed < lost && lost < first && first < refused, "{said}");
    // Every word, and words in quotes together.
    assert_eq!(place.json(&["search", "db", "connection"])["hits"].as_array().map(Vec::len), Some(2));
    let hits = &place.json(&["search", "db refused"])["hits"];
    assert_eq!(
        (hits[0]["name"].as_str(), hits[0]["after"].as_str()),
        (Some("first"), Some("after")),
        "{hits}"
    );
    assert_eq!(place.json(&["search", "--session", "first", "connection"])["sessions"], 1);
    let nothing = place.run(&["search", "no such words"]);
    assert_eq!((nothing.code, nothing.out.as_str()), (1, "No line has that.\n"), "{nothing:?}");
}

#[test]
fn a_search_is_bounded_and_says_where_to_go_on() {
    let place = Place::new();
    for _ in 0..3 {
        place.done(&["run", "--", "bash", "-c", "for i in 1 2 3; do echo needle $i; done"]);
    }
    let said = place.run(&["search", "needle", "-n", "4"]);
    assert_eq!(said.out.matches("› needle").count(), 4, "{said:?}");
    assert!(said.err.contains("--before s_2"), "{said:?}");
    let rest = place.done(&["search", "needle", "--before", "s_2"]);
    assert!(rest.contains("s_1 · ") && rest.matches("› needle").count() == 3, "{rest}");
    assert_eq!(place.run(&["search", "needle", "-n", "0"]).code, 2);
    assert_eq!(place.run(&["search"]).code, 2);
    assert_eq!(place.run(&["search", ""]).code, 7);
}

#[test]
fn a_secret_is_found_by_nobody() {
    let place = Place::new();
    let need = "printf '%s\\n' '[DEPENDENCY_REQUEST]' 'type: api_key' 'name: KEY' 'description: For the tests' \
                'required: true' '[/DEPENDENCY_REQUEST]'";
    let session = place.start(&format!("{need}; {ASK}; bash -c 'echo \"the $KEY is here\"'"));
    let request = place.wait_for_request();
    let said = place.pipe(&["answer", &request, "--stdin"], "sk-needle-4711");
    assert_eq!(said.code, 0, "{said:?}");
    let question = place.wait_for_request();
    place.run(&["answer", &question, "1"]);
    place.wait_for(&session, "completed");
    assert_eq!(place.run(&["search", "sk-needle-4711"]).code, 1);
    let found = place.done(&["search", "is here"]);
    assert!(found.contains("› the ") && !found.contains("sk-needle-4711"), "{found}");
}

#[test]
fn what_a_terminal_would_obey_is_not_printed() {
    let place = Place::new();
    place.done(&["run", "--", "bash", "-c", r"printf 'a needle\033]52;c;eA==\007b\n'"]);
    let said = place.done(&["search", "needle"]);
    assert!(said.contains("› a needleb") && !said.contains('\u{1b}'), "{said:?}");
}

/// Another process can make a log longer than any shim writes: a reader would go on for hours.
#[test]
fn a_log_that_was_made_longer_is_read_to_the_end_of_its_words() {
    let place = Place::new();
    place.done(&["run", "--", "bash", "-c", "echo the needle; echo the end"]);
    let log = place.state().join("sessions/s_1/1/out.log");
    let file = std::fs::File::options().write(true).open(&log).expect("a log");
    file.set_len(3 << 40).expect("a sparse file");
    assert!(place.done(&["search", "needle"]).contains("› the needle"));
    let said = place.done(&["logs", "s_1"]);
    assert!(said.contains("the end") && said.len() < 1 << 20, "{} bytes", said.len());
    let raw = place.done(&["logs", "--raw", "s_1"]);
    assert!(raw.starts_with("the needle\nthe end\n") && raw.len() < 1 << 20, "{} bytes", raw.len());
    let session: u64 = place.json(&["search", "needle"])["unsearched_bytes"].as_u64().expect("a number");
    assert_eq!(session, 0);
}
