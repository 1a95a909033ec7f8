//! What a shell is offered: ids, names, agents and tasks, without a server being started.

use std::fs;

use crate::support::Place;

/// What bash is offered for the last of these words.
fn offered(place: &Place, words: &[&str]) -> Vec<String> {
    let mut command = place.command(&["--"]);
    command.args(words).env("OSTLER_COMPLETE", "bash").env("_CLAP_IFS", "\n");
    command.env("_CLAP_COMPLETE_INDEX", (words.len() - 1).to_string());
    let output = command.output().expect("the binary starts");
    assert!(output.stderr.is_empty() && output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("text").lines().map(str::to_owned).collect()
}

#[test]
fn ids_names_agents_and_tasks_are_offered() {
    let place = Place::new();
    fs::write(
        place.project().join("TASKS.md"),
        "# Tasks\n\n## Phase 1\n\n- [ ] T1.1: one\n- [ ] T1.2: two\n",
    )
    .expect("a file");
    place.configure("[agents.mine]\ncommand = [\"cat\"]\n");
    // Nobody is asked who is not there, and nobody is started.
    assert_eq!(offered(&place, &["ostler", "logs", "s_"]), Vec::<String>::new());
    assert!(!place.state().join("server.lock").exists(), "no server was started");
    place.done(&["run", "-d", "--name", "login-fix", "--", "sleep", "1000"]);
    place.done(&["run", "--", "true"]);
    assert_eq!(offered(&place, &["ostler", "logs", "s_"]), ["s_1", "s_2"]);
    assert_eq!(offered(&place, &["ostler", "cancel", "s_1", "log"]), ["login-fix"]);
    assert_eq!(offered(&place, &["ostler", "answer", "la"]), ["last"]);
    assert_eq!(offered(&place, &["ostler", "run", "mi"]), ["mine"]);
    assert_eq!(offered(&place, &["ostler", "agents", "show", "ge"]), ["gemini"]);
    assert_eq!(offered(&place, &["ostler", "tasks", "show", "T"]), ["T1.1", "T1.2"]);
    assert_eq!(offered(&place, &["ostler", "exec", "T1.2"]), ["T1.2"]);
    assert_eq!(offered(&place, &["ostler", "renam"]), ["rename"]);
    assert_eq!(offered(&place, &["ostler", "wait", "--for", "r"]), ["request"]);
}

/// A shell puts on the command line what it is offered, as it is.
#[test]
fn a_name_that_a_shell_would_run_is_not_offered() {
    let place = Place::new();
    fs::write(place.project().join("ostler.toml"), "[agents.\"codex-fast$(touch x)\"]\ncommand = [\"x\"]\n")
        .expect("a file");
    assert_eq!(offered(&place, &["ostler", "run", "codex"]), ["codex"]);
}

#[test]
fn whatever_goes_wrong_nothing_is_said() {
    let place = Place::new();
    place.configure("this is no configuration");
    fs::write(place.project().join("TASKS.md"), [0xff, 0xfe]).expect("a file");
    for words in
        [["ostler", "run", "c"], ["ostler", "exec", "T"], ["ostler", "logs", "s"], ["ostler", "nix", "x"]]
    {
        assert_eq!(offered(&place, &words), Vec::<String>::new(), "{words:?}");
    }
    // A server that stands still is not waited for for long.
    place.configure("");
    place.start("sleep 1000");
    let halted = place.halt_server();
    assert_eq!(offered(&place, &["ostler", "logs", "s"]), Vec::<String>::new());
    drop(halted);
    let output = place
        .command(&["--", "ostler", ""])
        .env("OSTLER_COMPLETE", "nosuchshell")
        .output()
        .expect("it starts");
    assert!(output.stdout.is_empty() && output.stderr.is_empty(), "{output:?}");
}

#[test]
fn a_script_of_every_shell_asks_this_program() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(place.done(&["completions", shell]).contains("OSTLER_COMPLETE"), "{shell}");
    }
    let script = place.done(&["completions", "bash"]);
    let parsed = place.program("bash", &["-n", "-c", &script]).status().expect("bash starts");
    assert!(parsed.success(), "{script}");
}
