//! What a repository brings along runs only after `ostler trust`, and only as it was shown.

use std::{fs, os::unix::fs::PermissionsExt};

use serde_json::Value;

use crate::{
    support::{Place, until},
    terminal::Terminal,
};

const EVIL: &str = "touch canary; cat";

/// A repository whose files go through a filter of its own.
fn filtered() -> Place {
    let place = Place::with_commit();
    fs::write(place.project().join(".gitattributes"), "* filter=evil\n").expect("a file");
    place.git(&["add", "--all"]);
    place.git(&["commit", "--quiet", "-m", "attributes"]);
    place.git(&["config", "filter.evil.clean", EVIL]);
    place.git(&["config", "filter.evil.smudge", EVIL]);
    place
}

fn no_canary(place: &Place) {
    let found = ["project/canary", "state/worktrees/s_1/canary", "canary"];
    let root = place.project().parent().expect("it lies in the place").to_path_buf();
    assert!(found.iter().all(|path| !root.join(path).exists()));
}

#[test]
fn a_worktree_waits_for_it() {
    let place = filtered();
    let run = ["run", "-d", "--worktree", "--", "true"];
    let said = place.run(&run);
    assert_eq!(said.code, 7, "{said:?}");
    assert!(said.err.contains("filter.evil.clean = touch canary; cat"), "{said:?}");
    assert!(said.err.contains(".git/config") && said.err.contains("ostler trust "), "{said:?}");
    assert!(place.run(&[&["--lang", "ko"], run.as_slice()].concat()).err.contains("동의하지 않은"));
    assert_eq!(place.json(&["ps", "-a"]).as_array().map(Vec::len), Some(0), "nothing was begun");
    // Nobody can have agreed without a terminal.
    let said = place.run(&["trust"]);
    assert_eq!(said.code, 7, "{said:?}");
    assert!(
        said.out.contains("filter.evil.smudge (new, in ") && said.out.contains("    touch canary; cat"),
        "{said:?}"
    );
    let said = place.run(&["--json", "trust"]);
    assert_eq!(said.code, 7, "{said:?}");
    assert!(said.out.contains("\"trusted\":false"), "{said:?}");
    no_canary(&place);
    let said = place.done(&["trust", "--yes"]);
    assert!(said.contains("filter.evil.clean (agreed, in ") && said.contains("may run this"), "{said}");
    let session = place.json(&run)["sessions"][0]["id"].as_str().expect("an id").to_owned();
    place.wait_for(&session, "completed");
    assert!(place.state().join("worktrees/s_1/canary").exists(), "now it runs");
    assert!(place.done(&["trust"]).contains("You have agreed to all of it."));
    // Changed content asks again, and only for what is new.
    place.git(&["config", "filter.evil.clean", "touch other; cat"]);
    let said = place.run(&run);
    assert_eq!(said.code, 7, "{said:?}");
    assert!(said.err.contains("touch other; cat"), "{said:?}");
    let shown = place.run(&["trust"]).out;
    assert!(
        shown.contains("filter.evil.clean (new,") && shown.contains("filter.evil.smudge (agreed,"),
        "{shown}"
    );
    assert_eq!(place.run(&["merge", &session]).code, 1);
    assert!(place.session(&session)["worktree"]["message"].as_str().expect("why").contains("ostler trust"));
}

/// Settings that make git run their value. Each of them, and where it is refused, has a test of its own in
/// `crates/workspace`; here it is the whole of Ostler that is let loose on all of them.
const KEYS: &[&str] = &[
    "filter.evil.clean",
    "filter.evil.smudge",
    "filter.evil.process",
    "merge.evil.driver",
    "diff.evil.command",
    "diff.evil.textconv",
    "diff.external",
    "core.fsmonitor",
    "hook.evil.command",
    "core.sshCommand",
    "core.askPass",
    "core.gitProxy",
    "core.editor",
    "core.pager",
    "core.hooksPath",
    "core.alternateRefsCommand",
    "pager.status",
    "pager.diff-tree",
    "sequence.editor",
    "credential.helper",
    "gpg.program",
    "interactive.diffFilter",
    "uploadpack.packObjectsHook",
    "trailer.evil.command",
];

/// Every operation, with a trap that was there before, and with one that was set while an agent worked.
#[test]
fn a_booby_trapped_repository_never_runs_anything() {
    let place = Place::with_commit();
    let canary = place.project().with_file_name("canary");
    let program = place.project().join("program");
    fs::write(&program, format!("#!/bin/sh\ntouch '{}'\ncat\n", canary.display())).expect("a file");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("it is ours");
    let program = program.to_str().expect("text");
    let trap = || {
        for key in KEYS {
            let value = if *key == "core.hooksPath" { ".git/hooks" } else { program };
            place.git(&["config", key, value]);
        }
        place.git(&["config", "alias.status", &format!("!{program}")]);
        place.git(&["config", "protocol.ext.allow", "always"]);
        place.git(&["config", "remote.origin.url", &format!("ext::{program}")]);
        for hook in
            ["post-checkout", "post-index-change", "reference-transaction", "post-merge", "pre-commit"]
        {
            fs::copy(program, place.project().join(".git/hooks").join(hook)).expect("a hook");
        }
        fs::write(place.project().join(".gitattributes"), "* filter=evil diff=evil merge=evil\n")
            .expect("a file");
    };
    let unset = || {
        for key in KEYS.iter().chain(&["alias.status", "protocol.ext.allow", "remote.origin.url"]) {
            place.git(&["config", "--unset", key]);
        }
    };
    fs::create_dir_all(place.project().join(".git/hooks")).expect("a directory");
    // Three with work, two of them in worktrees, made while nothing was wrong.
    let script = "echo work >> file.txt; echo '* filter=evil diff=evil merge=evil' > .gitattributes";
    for _ in 0..2 {
        place.json(&["run", "-d", "--worktree", "--", "bash", "-c", script]);
    }
    place.json(&["run", "-d", "--", "bash", "-c", "echo more > more"]);
    for session in ["s_1", "s_2", "s_3"] {
        place.wait_for(session, "completed");
    }
    for session in ["s_1", "s_3"] {
        place.done(&["checkpoint", session]);
    }
    fs::write(place.project().join("more"), "changed").expect("a file");
    trap();
    for arguments in [
        ["run", "-d", "--worktree", "--", "true"].as_slice(),
        &["run", "--", "true"],
        &["run", "--check", "true", "--", "true"],
        &["diff", "s_1"],
        &["diff", "--stat", "s_1"],
        &["merge", "s_1"],
        &["discard", "--yes", "s_2"],
        &["checkpoint", "s_1"],
        &["checkpoint", "s_3"],
        &["checkpoint", "list"],
        &["checkpoint", "diff", "c_1"],
        &["checkpoint", "diff", "c_2"],
        &["checkpoint", "restore", "c_1"],
        &["checkpoint", "restore", "c_2"],
        &["checkpoint", "prune"],
        &["doctor"],
        &["ps", "-a"],
        &["show", "s_1"],
        &["inbox"],
        &[],
        &["trust"],
        &["trust", "--list"],
        &["agents", "check"],
        &["verify"],
        &["export"],
    ] {
        place.run(arguments);
        assert!(!canary.exists(), "{arguments:?}");
    }
    // Nothing was lost: without the trap it goes on.
    unset();
    assert!(place.done(&["diff", "s_1"]).contains("+work"));
    place.done(&["checkpoint", "restore", "c_2"]);
    assert_eq!(fs::read_to_string(place.project().join("more")).expect("a file"), "more\n");
    assert!(!place.project().join(".gitattributes").exists(), "it came later");
    assert_eq!(place.run(&["merge", "s_1"]).code, 0);
    assert_eq!(place.run(&["discard", "--yes", "s_2"]).code, 0);
    assert!(!canary.exists());
}

#[test]
fn it_is_listed_and_taken_back() {
    let place = filtered();
    assert_eq!(place.done(&["trust", "--list"]), "You have let no repository run anything.\n");
    place.done(&["trust", "-y", "."]);
    let list = place.done(&["trust", "--list"]);
    assert!(list.contains("filter.evil.clean (agreed") && !list.contains("touch"), "{list}");
    assert!(!place.done(&["export"]).contains("touch canary"), "a command may hold a key");
    place.done(&["verify"]);
    // A server that starts again knows it.
    place.kill_server();
    assert_eq!(place.json(&["trust", "--list"])[0]["commands"].as_array().map(Vec::len), Some(2));
    let said = place.done(&["trust", "--revoke"]);
    assert!(said.contains("may run nothing any more"), "{said}");
    assert_eq!(place.run(&["run", "-d", "--worktree", "--", "true"]).code, 7);
    no_canary(&place);
    let clean = Place::with_commit();
    assert!(clean.done(&["trust"]).contains("no commands or settings that need your approval"));
    let said = clean.run(&["trust", "--revoke", "/no/such/place"]);
    assert_eq!(said.code, 8, "{said:?}");
}

#[test]
fn a_person_is_asked_on_the_terminal() {
    let place = filtered();
    for (key, code) in [("\r", 7), ("n\r", 7), ("y\r", 0)] {
        let mut terminal = Terminal::start(&place, &["trust"]);
        terminal.sees("[y/N]");
        terminal.press(key);
        assert_eq!(terminal.code(), code, "{key:?}: {}", terminal.screen());
    }
    assert_eq!(place.json(&["trust", "--list"]).as_array().map(Vec::len), Some(1));
}

#[test]
fn an_agent_cannot_agree() {
    let place = filtered();
    let binary = env!("CARGO_BIN_EXE_ostler");
    let script = format!("'{binary}' trust --yes; echo \"exit $?\"; '{binary}' trust --list");
    let said = place.run(&["run", "--", "bash", "-c", &script]);
    assert!(
        said.out.contains("exit 7") && said.out.contains("You have let no repository run anything."),
        "{said:?}"
    );
    assert_eq!(place.json(&["trust", "--list"]).as_array().map(Vec::len), Some(0));
}

#[test]
fn what_is_shown_hides_nothing() {
    let place = filtered();
    place.git(&["config", "filter.evil.clean", "cat #\u{202e}\u{200b}\r\u{1b}]52;c;eA==\u{7}\nrm -r"]);
    let shown = place.run(&["trust"]).out;
    assert!(shown.contains("cat #\\u{202e}\\u{200b}\\u{d}\\u{1b}]52;c;eA==\\u{7}\n    rm -r"), "{shown:?}");
    let said = place.run(&["run", "-d", "--worktree", "--", "true"]);
    assert!(!said.err.contains(['\u{1b}', '\u{7}', '\u{202e}', '\r']), "{said:?}");
}

#[test]
fn the_agents_of_a_repository_wait_for_it() {
    let place = Place::with_commit();
    let file = place.project().join("ostler.toml");
    let table = "default_agent = \"mine\"\n[agents.mine]\ncommand = [\"sh\", \"-c\", \"touch canary\"]\n\
                 version = [\"touch\", \"canary\"]\n[agents.mine.arguments]\nprompt = [\"{prompt}\"]\n";
    fs::write(&file, table).expect("a file");
    for (run, key) in
        [(["run", "mine", "work"].as_slice(), "agents.mine"), (&["run", "work"], "default_agent")]
    {
        let said = place.run(run);
        assert_eq!(said.code, 7, "{said:?}");
        assert!(said.err.contains(key) && said.err.contains("ostler trust"), "{said:?}");
    }
    place.run(&["agents", "check"]);
    place.run(&["agents", "check", "mine"]);
    place.done(&["agents", "list"]);
    place.done(&["agents", "show", "mine"]);
    place.run(&["doctor"]);
    no_canary(&place);
    // Whoever runs something else is not bothered.
    assert_eq!(place.run(&["run", "--", "true"]).code, 0);
    let shown = place.done(&["trust", "--yes"]);
    assert!(shown.contains("agents.mine (agreed") && shown.contains("\"touch canary\""), "{shown}");
    assert_eq!(place.run(&["run", "mine", "work"]).code, 0);
    until("the agent ran", || place.project().join("canary").exists().then_some(()));
    fs::remove_file(place.project().join("canary")).expect("it was there");
    fs::write(&file, table.replace("touch canary\"]\nversion", "touch other\"]\nversion")).expect("a file");
    let said = place.run(&["run", "mine", "work"]);
    assert_eq!(said.code, 7, "{said:?}");
    assert!(!place.project().join("other").exists());
    // A name that everybody knows can be taken over, and is noticed as well.
    fs::write(&file, "[agents.claude]\ncommand = [\"touch\", \"canary\"]\n").expect("a file");
    let said = place.run(&["run", "claude", "work"]);
    assert_eq!(said.code, 7, "{said:?}");
    assert!(said.err.contains("agents.claude"), "{said:?}");
    no_canary(&place);
}

#[test]
fn the_settings_of_a_repository_wait_for_it() {
    let place = Place::with_commit();
    place.configure(
        "default_agent = \"own\"\n[agents.own]\ncommand = [\"echo\", \"own\"]\n\
                     [agents.other]\ncommand = [\"echo\", \"other\"]\n[patience]\nquestion = \"2h\"\n",
    );
    let settings = "default_agent = \"other\"\n[patience]\nquestion = \"1ms\"\n";
    fs::write(place.project().join("ostler.toml"), settings).expect("a file");
    let question = "printf '%s\\n' '[USER_QUESTION]' 'category: choice' 'question: Which?' 'options: [a, b]' \
                    'default: a' 'required: false' '[/USER_QUESTION]'; read -r line; echo \"got $line\"";
    let session = place.start(question);
    place.wait_for(&session, "waiting_input");
    let asked = place.json(&["inbox"])[0].clone();
    let waits_ms = |asked: &Value| {
        asked["expires_at_ms"].as_u64().expect("a time") - asked["opened_at_ms"].as_u64().expect("a time")
    };
    assert_eq!(waits_ms(&asked), 2 * 3_600_000, "the user's own patience counts");
    place.done(&["answer", asked["id"].as_str().expect("an id"), "1"]);
    let said = place.run(&["run", "work"]);
    assert!(said.code == 0 && said.out.contains("own") && !said.out.contains("other"), "{said:?}");
    assert!(said.err.contains("default_agent, patience") && said.err.contains("ostler trust"), "{said:?}");

    let said = place.run(&["run", "--detach", "work"]);
    assert!(said.code == 0 && said.err.contains("default_agent, patience"), "detached as well: {said:?}");

    let shown = place.run(&["trust"]);
    assert_eq!(shown.code, 7, "{shown:?}");
    assert!(shown.out.contains("question = \"1ms\"") && shown.out.contains("default_agent"), "{shown:?}");
    place.done(&["trust", "--yes"]);
    let said = place.run(&["run", "work"]);
    assert!(said.code == 0 && said.out.contains("other"), "{said:?}");
    assert!(!said.err.contains("ostler trust"), "{said:?}");
    let session = place.start(question);
    place.wait_for(&session, "completed");
}

#[test]
fn every_command_that_starts_something_names_the_settings_that_wait() {
    let place = Place::with_commit();
    place.configure(
        "default_agent = \"worker\"\n[agents.worker]\ncommand = [\"sleep\", \"100000\"]\n\
         [office.roles.PO]\nagent = \"worker\"\n",
    );
    fs::write(place.project().join("TASKS.md"), "- [ ] T0.1: one\n").expect("a file");
    fs::write(place.project().join("ostler.toml"), "[patience]\nquestion = \"1ms\"\n").expect("a file");
    let commands: [&[&str]; 4] = [
        &["run", "--detach", "work"],
        &["phases", "run", "a shop"],
        &["orchestrate", "--detach"],
        &["office", "send", "PO", "work"],
    ];
    for command in commands {
        let said = place.run(command);
        assert_eq!(said.code, 0, "{command:?}: {said:?}");
        assert!(said.err.contains("patience") && said.err.contains("ostler trust"), "{command:?}: {said:?}");
    }
    place.done(&["trust", "--yes"]);
    let said = place.run(&["run", "--detach", "work"]);
    assert!(said.code == 0 && !said.err.contains("ostler trust"), "{said:?}");
}

#[test]
fn an_agent_that_sets_a_trap_loses_nothing() {
    let place = Place::with_commit();
    let script = "echo work >> file.txt; echo '* filter=evil' > .gitattributes; \
                  git config filter.evil.clean 'touch ../../../project/canary; cat'";
    let run = place.json(&["run", "-d", "--worktree", "--", "bash", "-c", script]);
    let session = run["sessions"][0]["id"].as_str().expect("an id").to_owned();
    place.wait_for(&session, "completed");
    let said = place.run(&["diff", &session]);
    assert_eq!(said.code, 7, "{said:?}");
    assert!(said.err.contains("filter.evil.clean") && said.err.contains("ostler trust"), "{said:?}");
    assert_eq!(place.run(&["merge", &session]).code, 1);
    assert_eq!(place.run(&["discard", "--yes", &session]).code, 1);
    place.run(&["show", &session]);
    place.run(&["doctor"]);
    place.run(&[]);
    no_canary(&place);
    place.git(&["config", "--unset", "filter.evil.clean"]);
    assert!(place.done(&["diff", &session]).contains("+work"));
    assert_eq!(place.run(&["merge", &session]).code, 0);
    assert!(fs::read_to_string(place.project().join("file.txt")).expect("a file").contains("work"));
    no_canary(&place);
}
