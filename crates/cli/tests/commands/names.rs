//! What people call sessions: `run --name`, `rename`, and names wherever an id can stand.

use crate::support::{ASK, Place};

#[test]
fn a_name_stands_for_its_session_everywhere() {
    let place = Place::with_commit();
    let run = place.json(&["run", "-d", "--worktree", "--name", "login-fix", "--", "bash", "-c", ASK]);
    assert_eq!(run["sessions"][0]["name"], "login-fix", "{run}");
    place.wait_for("login-fix", "waiting_input");
    assert!(place.done(&["ps"]).contains("\ns_1 login-fix  ◆"), "{}", place.done(&["ps"]));
    assert!(place.done(&["inbox"]).contains(" · s_1 login-fix · "), "{}", place.done(&["inbox"]));
    assert_eq!(place.json(&["inbox"])[0]["session_name"], "login-fix");
    assert!(place.done(&["show", "login-fix"]).starts_with("s_1 login-fix  "));
    assert!(place.done(&["logs", "login-fix"]).contains("thinking"));
    place.done(&["pause", "login-fix"]);
    place.done(&["continue", "login-fix"]);
    place.done(&["permissions", "login-fix"]);
    place.done(&["checkpoint", "login-fix"]);
    place.done(&["answer", "login-fix", "MySQL"]);
    place.wait_for("login-fix", "completed");
    place.done(&["diff", "login-fix"]);
    // What is over keeps its name, also for a server that has not known it.
    place.kill_server();
    assert_eq!(place.session("login-fix")["id"], "s_1");
    place.done(&["discard", "--yes", "login-fix"]);
    assert_eq!(place.run(&["show", "login"]).code, 8);
}

#[test]
fn a_name_is_free_again_when_its_session_has_ended() {
    let place = Place::new();
    place.done(&["run", "-d", "--name", "one", "--", "sleep", "1000"]);
    let taken = place.run(&["run", "--name", "one", "--", "true"]);
    assert_eq!(taken.code, 7, "{taken:?}");
    assert!(
        taken.err.contains("s_1 is called 'one'") && taken.err.contains("ostler rename s_1"),
        "{taken:?}"
    );
    assert_eq!(place.done(&["rename", "one", "둘"]), "s_1 is called 둘\n");
    assert_eq!(place.run(&["show", "one"]).code, 8, "it was called so");
    place.done(&["run", "--name", "one", "--", "true"]);
    place.done(&["run", "--name", "one", "--", "true"]);
    assert_eq!(place.session("one")["id"], "s_3", "the newest");
    assert_eq!(place.run(&["rename", "s_2", "둘"]).code, 7);
    assert_eq!(place.done(&["rename", "둘", "--remove"]), "s_1 has no name\n");
    assert_eq!(place.json(&["rename", "s_2", "둘"])["name"], "둘");
    let events = place.done(&["export"]);
    assert!(events.contains("session.renamed"), "{events}");
}

#[test]
fn nonsense_is_no_name() {
    let place = Place::new();
    let long = "x".repeat(41);
    for name in ["", "two words", "s_9", "r_1", "last", "-x", "9lives", "a/b", "a\u{1b}[31m", &long] {
        let said = place.run(&["run", "-d", &format!("--name={name}"), "--", "true"]);
        assert_eq!(said.code, 7, "{name:?}: {said:?}");
        assert!(said.err.contains("A name has 1 to 40"), "{said:?}");
        assert!(!said.err.contains('\u{1b}'), "{said:?}");
    }
    assert_eq!(place.json(&["ps", "-a"]), serde_json::json!([]));
    assert_eq!(place.run(&["rename", "s_1", "x"]).code, 8);
    assert_eq!(place.run(&["rename", "s_1"]).code, 2);
}

#[test]
fn names_that_cannot_be_told_apart_are_refused_in_both_languages() {
    let place = Place::new();
    place.done(&["run", "-d", "--name", "cop", "--", "sleep", "1000"]);
    // The same letters in Cyrillic alone, which is a name of its own elsewhere.
    let taken = place.run(&["run", "-d", "--name", "\u{441}\u{43e}\u{440}", "--", "true"]);
    assert_eq!(taken.code, 7, "{taken:?}");
    assert!(taken.err.contains("s_1 is called 'cop'"), "{taken:?}");
    for (name, shown, english, korean) in [
        ("co\u{3164}", "'co\\u{3164}'", "A letter of it is invisible", "보이지 않거나"),
        ("c\u{43e}p", "'c\\u{43e}p'", "letters of several scripts", "여러 문자 체계"),
    ] {
        for (language, words) in [("en", english), ("ko", korean)] {
            let said = place.run(&["--lang", language, "rename", "s_1", name]);
            assert_eq!(said.code, 7, "{said:?}");
            assert!(said.err.contains(words) && said.err.contains(shown), "{said:?}");
        }
    }
    for name in ["co\u{200b}p", "co\u{202e}p", "co\u{7f}p"] {
        let said = place.run(&["rename", "s_1", name]);
        assert_eq!(said.code, 7, "{said:?}");
        assert!(!said.err.contains(name), "{said:?}");
    }
    assert_eq!(place.done(&["rename", "s_1", "로그인-v2"]), "s_1 is called 로그인-v2\n");
}
