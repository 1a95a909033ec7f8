//! What is said of what makes no sense, or cannot be done. Nothing is lost by it.

use std::{fs, os::unix::fs::PermissionsExt};

use crate::support::{ASK, Place, Said};

/// A command that is refused, with its exit code and what it must say.
fn refused(place: &Place, arguments: &[&str], code: i32, says: &[&str]) {
    let said = place.run(arguments);
    assert_eq!(said.code, code, "{arguments:?}: {said:?}");
    assert_eq!(said.out, "", "{arguments:?}");
    for words in says {
        assert!(said.err.contains(words), "{arguments:?} does not say {words:?}: {said:?}");
    }
}

#[test]
fn an_unknown_command() {
    let place = Place::new();
    refused(&place, &["rnu"], 2, &["there is no command 'rnu'", "Did you mean 'run'?"]);
    refused(&place, &["xyzzy"], 2, &["there is no command 'xyzzy'", "ostler --help"]);
    refused(&place, &["ps", "--al"], 2, &["--all"]);
    for (arguments, what) in [
        (vec!["--json", "ps", "--al"], "there is no argument '--al' here"),
        (vec!["show", "--json"], "<ID>"),
        (vec!["--json", "rnu"], "there is no command 'rnu'"),
    ] {
        let said = place.run(&arguments);
        let error: serde_json::Value = serde_json::from_str(&said.err).expect("an error for machines");
        assert_eq!((said.code, &error["exit_code"]), (2, &2.into()), "{said:?}");
        assert!(error["error"]["title"].as_str().expect("text").contains(what), "{said:?}");
    }
    assert!(place.done(&["--json", "--help"]).contains("Usage"), "help is no error");
}

/// What the parser finds is said like every other error, in both languages.
#[test]
fn a_wrong_command_line_is_one_kind_of_error() {
    let place = Place::new();
    for (arguments, said) in [
        (
            ["run", "--nope"].as_slice(),
            "ostler: there is no argument '--nope' here\n  See 'ostler run --help'.\n",
        ),
        (&["diff"], "ostler: <ID> is missing\n  See 'ostler diff --help'.\n"),
        (&["ps", "--limit"], "ostler: --limit <N> needs a value\n  See 'ostler ps --help'.\n"),
        (
            &["ps", "-n", "x"],
            "ostler: 'x' is not a value of --limit <N>: it must be a whole number\n  See 'ostler ps --help'.\n",
        ),
        (
            &["completions", "zhs"],
            "ostler: 'zhs' is not a value of <SHELL>\n  Options: bash, elvish, fish, powershell, zsh.\n",
        ),
        (&["token", "mak"], "ostler: there is no command 'mak'\n  Did you mean 'token make'?\n"),
        (
            &["answer", "--yes", "--no"],
            "ostler: --yes cannot be used with --no\n  See 'ostler answer --help'.\n",
        ),
        (
            &["--lang", "ko", "run", "--nope"],
            "ostler: 여기에는 '--nope'이라는 인수가 없습니다\n  'ostler run --help'를 보세요.\n",
        ),
    ] {
        let output = place.run(arguments);
        assert_eq!((output.code, output.out.as_str(), output.err.as_str()), (2, "", said), "{arguments:?}");
    }
}

#[test]
fn the_manual_names_every_command() {
    let place = Place::new();
    let page = place.done(&["man"]);
    assert!(page.contains(".TH OSTLER 1"), "{page}");
    let help = place.done(&["--help"]);
    let names = help.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let names: Vec<&str> = names.filter(|it| it.starts_with(|c: char| c.is_ascii_lowercase())).collect();
    assert!(names.len() > 40, "{help}");
    place.done(&["man", "--directory", "pages"]);
    for name in names.into_iter().filter(|name| *name != "help") {
        assert!(page.contains(&format!("ostler\\-{name}(1)")), "{name}: {page}");
        let path = place.project().join(format!("pages/ostler-{name}.1"));
        assert!(path.exists(), "{}", path.display());
    }
}

#[test]
fn an_unknown_agent() {
    let place = Place::new();
    refused(&place, &["run", "cladue", "work"], 8, &["there is no agent 'cladue'", "Did you mean 'claude'?"]);
    refused(&place, &["run", "xyzzy", "work"], 8, &["there is no agent 'xyzzy'", "ostler agents list"]);
    refused(&place, &["run", "claude"], 2, &["what is 'claude' to do?"]);
    refused(&place, &["run", "fix the flaky test"], 2, &["no agent is named"]);
    refused(&place, &["run", "--until", "claude", "work"], 2, &["--until needs --check"]);
    refused(&place, &["run", "--check", " ", "claude", "work"], 2, &["it is no command"]);
    let too_often = ["run", "--check", "true", "--until", "--max", "5000", "claude", "work"];
    refused(&place, &too_often, 2, &["5000", "1000"]);
    refused(&place, &["run", "--max-time", "soon", "claude", "work"], 2, &["90s"]);
    refused(&place, &["run", "--max-time", "0s", "claude", "work"], 2, &["longer than nothing"]);
}

#[test]
fn an_id_that_is_none() {
    let place = Place::new();
    refused(&place, &["show", "s_99"], 8, &["s_99"]);
    refused(&place, &["show", "nonsense"], 8, &["'nonsense' is no id", "s_12 (session)"]);
    refused(&place, &["logs", "last"], 8, &["there is no session yet"]);
    refused(&place, &["cancel", "r_99"], 8, &["r_99"]);
    refused(&place, &["pause", "q_1"], 8, &["a session is meant here"]);
    refused(&place, &["show", "s_1/../.."], 8, &["is no id"]);
}

#[test]
fn a_launch_that_was_none() {
    let place = Place::new();
    let session = place.start("true");
    place.wait_for(&session, "completed");
    refused(&place, &["logs", &session, "--launch", "7"], 8, &["7"]);
}

#[test]
fn a_state_directory_that_others_can_look_into() {
    let place = Place::new();
    fs::set_permissions(place.state(), fs::Permissions::from_mode(0o755)).expect("it is ours");
    refused(&place, &["ps"], 6, &["others can look into", "chmod 700"]);
    let said = place.run(&["doctor"]);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.out.contains("chmod 700"), "{said:?}");
    fs::set_permissions(place.state(), fs::Permissions::from_mode(0o700)).expect("it is ours");
}

#[test]
fn a_state_directory_that_is_none() {
    let place = Place::new();
    fs::remove_dir_all(place.state()).expect("it is ours");
    fs::write(place.state(), "").expect("a file in its place");
    refused(&place, &["ps"], 6, &["cannot use", "OSTLER_HOME"]);
    fs::remove_file(place.state()).expect("it is ours");
}

#[test]
fn a_state_directory_that_would_be_another_one_in_every_directory() {
    let place = Place::new();
    for (variable, path) in [("OSTLER_HOME", "state"), ("OSTLER_HOME", "./x/y"), ("XDG_STATE_HOME", "s")] {
        let mut command = place.command(&["ps"]);
        command.env_remove("OSTLER_HOME").env(variable, path);
        let said = Said::from(command.output().expect("the binary starts"));
        assert_eq!(said.code, 6, "{variable}={path}: {said:?}");
        let why = format!("{variable} has to be an absolute path: '{path}'");
        assert!(said.err.contains(&why), "{said:?}");
        assert!(!place.project().join(path).exists());
    }
}

#[test]
fn a_hint_says_what_can_be_done_there() {
    let place = Place::new();
    let session = place.start(ASK);
    place.wait_for(&session, "waiting_input");
    refused(&place, &["answer", "q_1", "--file", "none"], 3, &["cannot read 'none'", "Check the path.\n"]);
    refused(&place, &["answer", "q_1", "--file", "."], 3, &["cannot read '.'", "Name a file in it.\n"]);
    place.done(&["answer", "q_1", "1"]);
    let mut command = place.command(&["secret", "set", "KEY", "--stdin"]);
    let bytes = place.project().join("bytes");
    fs::write(&bytes, [0xff, 0xfe, b'x']).expect("a file");
    command.stdin(fs::File::open(&bytes).expect("it is there"));
    let said = Said::from(command.output().expect("the binary starts"));
    assert!(said.err.contains("Only text in UTF-8 can be given."), "{said:?}");
    let config = place.state().parent().expect("a place").join("config/ostler/config.toml");
    fs::create_dir(&config).expect("a directory in its place");
    refused(&place, &["agents", "list"], 9, &["not a regular file", "Put a readable file there"]);
    fs::remove_dir(&config).expect("it is empty");
    fs::write(&config, [0xff, 0xfe]).expect("no text");
    refused(&place, &["agents", "list"], 9, &["UTF-8", "Put a readable file there"]);
}

#[test]
fn a_prompt_that_is_too_long() {
    let place = Place::new();
    let prompt = "x".repeat(17 << 20);
    let said = place.pipe(&["run", "claude", "-"], &prompt);
    assert_eq!(said.code, 7, "{}", said.err);
    assert!(said.err.contains("at most 16 MiB") && said.err.contains("into a file"), "{}", said.err);
}
