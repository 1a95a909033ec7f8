//! Names, texts and paths that an agent or a repository chooses are hostile: they are printed so that no terminal obeys
//! them, and they are never run, read as an option, or followed out of where they belong.

use std::{fs, path::Path};

use ostler_server::{Home, client::Client};
use serde_json::{Value, json};

use crate::support::{Place, Said, until};

/// What somebody could come up with.
const TEXTS: &[&str] = &[
    "--output=owned",
    "-c",
    "$(touch owned)",
    "`touch owned`",
    "; touch owned",
    "| touch owned",
    "../../../../etc/passwd",
    "/etc/passwd",
    "s_1/../s_1",
    "%2e%2e%2f",
    "%00",
    "{id}",
    "a\u{202e}gpj.exe",
    "a\u{2066}b\u{2069}",
    "\u{1b}]52;c;b3duZWQ=\u{7}",
    "\u{1b}[2J\u{1b}[31m",
    "\u{9b}31mred",
    "\u{90}q\u{9c}",
    "a\rb",
    "<img src=x onerror=alert(1)>",
    "refs/heads/main",
    "HEAD@{1}",
];

/// What must not reach a terminal.
fn is_obeyed(letter: char) -> bool {
    (letter.is_control() && !matches!(letter, '\n' | '\t'))
        || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[track_caller]
fn assert_tame(what: &str, said: &Said) {
    for text in [&said.out, &said.err] {
        assert!(!text.contains(is_obeyed), "{what}: {text:?}");
        assert!(!text.contains("panicked"), "{what}: {text:?}");
    }
}

/// Nothing was made by a text that was taken for a command or an option.
#[track_caller]
fn assert_not_owned(place: &Place) {
    let worktrees = fs::read_dir(place.state().join("worktrees")).into_iter().flatten().flatten();
    let places = worktrees.map(|entry| entry.path()).chain([place.project(), place.state(), "/".into()]);
    for directory in places {
        assert!(!directory.join("owned").exists(), "{}", directory.display());
    }
}

#[test]
fn as_an_id() {
    let place = Place::with_commit();
    place.start("true");
    for text in TEXTS {
        for command in
            ["show", "logs", "attach", "cancel", "pause", "diff", "merge", "discard", "answer", "resume"]
        {
            for json in [false, true] {
                let mut arguments = vec![command, "--", text];
                if json {
                    arguments.insert(0, "--json");
                }
                let said = place.run(&arguments);
                assert!(matches!(said.code, 2 | 7 | 8), "{arguments:?}: {said:?}");
                assert_tame(&format!("{arguments:?}"), &said);
            }
        }
        let said = place.run(&["trust", "--yes", "--", text]);
        assert!(matches!(said.code, 0 | 2 | 7 | 8), "{text:?}: {said:?}");
        assert_tame(text, &said);
    }
    assert_not_owned(&place);
}

#[test]
fn as_words_of_a_person_and_of_an_agent() {
    let place = Place::with_commit();
    place.configure(
        "[agents.mine]\ncommand = [\"printf\", \"%s\\\\n\"]\n[agents.mine.arguments]\nprompt = [\"{prompt}\"]\n",
    );
    for text in TEXTS {
        let said = place.run(&["run", "--check", "true", "mine", "--", text]);
        assert_tame(text, &said);
        // A question that says it, with options that say it.
        let script = "printf '%s\\n' '[USER_QUESTION]' 'category: choice' \"question: $0\" \"options: [$0, b]\" \
                      'required: true' '[/USER_QUESTION]'; read -r line";
        let run = place.json(&["run", "-d", "--", "bash", "-c", script, text]);
        let session = run["sessions"][0]["id"].as_str().expect("an id").to_owned();
        let request = place.wait_for_request();
        for arguments in [
            vec![],
            vec!["ps"],
            vec!["ps", "-a"],
            vec!["inbox"],
            vec!["show", &request],
            vec!["show", &session],
            vec!["logs", &session],
            vec!["answer", &request, "none of them"],
            vec!["--json", "show", &session],
            vec!["--json", "inbox"],
            vec!["--lang", "ko", "inbox"],
        ] {
            let said = place.run(&arguments);
            // What was printed is shown as text; turning its direction is not filtered there.
            if arguments.first() != Some(&"logs") {
                assert_tame(&format!("{text:?} {arguments:?}"), &said);
            }
            assert!(!said.out.contains(['\u{1b}', '\u{7}', '\u{9b}', '\u{90}']), "{text:?}: {said:?}");
        }
        // What is sent may be what it waits for; then it ends by itself.
        place.run(&["send", &session, "--", text]);
        place.run(&["cancel", &session]);
        until("its end", || (!place.session(&session)["outcome"].is_null()).then_some(()));
    }
    assert_not_owned(&place);
}

#[test]
fn as_the_names_of_files_and_branches() {
    let place = Place::with_commit();
    let names: Vec<&str> = TEXTS.iter().copied().filter(|it| !it.contains('/')).collect();
    let script = "for name; do echo x > \"./$name\"; done; git add --all; git commit --quiet -m \"$1\"; \
                  echo more > \"./$1\"; git update-ref 'refs/heads/--output=owned' HEAD";
    let mut arguments = vec!["run", "-d", "--worktree", "--", "bash", "-c", script, "bash"];
    arguments.extend(&names);
    let run = place.json(&arguments);
    let session = run["sessions"][0]["id"].as_str().expect("an id").to_owned();
    place.wait_for(&session, "completed");
    for name in &names {
        assert!(
            place.state().join("worktrees/s_1").join(name).exists(),
            "{name:?}: {:?}",
            place.session(&session)
        );
    }
    assert_tame("show", &place.run(&["show", &session]));
    // To a file a diff goes as it is; git escapes what is in names.
    let stat = place.done(&["diff", "--stat", &session]);
    assert!(stat.contains("--output=owned") && !stat.contains('\u{1b}'), "{stat:?}");
    // Names that are in the way are printed, and nothing of them is done.
    for name in &names {
        fs::write(place.project().join(name), "mine\n").expect("a file");
    }
    let said = place.run(&["merge", &session]);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.out.contains("--output=owned"), "{said:?}");
    assert_tame("merge", &said);
    for name in &names {
        assert_eq!(fs::read(place.project().join(name)).expect("it is there"), b"mine\n");
        fs::remove_file(place.project().join(name)).expect("it is there");
    }
    // On a branch whose name is an option.
    let worktree = place.state().join("worktrees/s_1");
    let head = ["-C", worktree.to_str().expect("text"), "symbolic-ref", "HEAD"];
    place.git(&[&head[..], &["refs/heads/--output=owned"]].concat());
    let said = place.run(&["merge", &session]);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.out.contains("--output=owned"), "{said:?}");
    place.git(&[&head[..], &["refs/heads/ostler/s_1"]].concat());
    assert_eq!(place.run(&["merge", &session]).code, 0);
    let owned = place.project().join("owned");
    assert!(!owned.exists() && place.project().join("--output=owned").exists());
}

/// An agent exchanges its worktree for a link to something else.
#[test]
fn as_a_link_in_place_of_a_worktree() {
    let place = Place::with_commit();
    let victim = place.project().with_file_name("victim");
    fs::create_dir(&victim).expect("a directory");
    fs::write(victim.join("precious"), "precious\n").expect("a file");
    let script = "cd ..; rm -r s_1; ln -s \"$0\" s_1";
    let run =
        place.json(&["run", "-d", "--worktree", "--", "bash", "-c", script, victim.to_str().expect("text")]);
    let session = run["sessions"][0]["id"].as_str().expect("an id").to_owned();
    place.wait_for(&session, "completed");
    for command in [["diff", &session].as_slice(), &["merge", &session], &["discard", "--yes", &session]] {
        let said = place.run(command);
        assert_ne!(said.code, 0, "{command:?}: {said:?}");
        assert!(!said.out.contains("precious"), "{said:?}");
    }
    assert_eq!(fs::read(victim.join("precious")).expect("it is there"), b"precious\n");
    let objects = place.git(&["log", "--all", "--name-only", "--format="]);
    assert!(!objects.contains("precious"), "nothing of it got into the repository: {objects}");
}

/// The same over the interface, where a zero byte can be sent too.
#[test]
fn over_the_interface() {
    let place = Place::with_commit();
    place.start("true");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let client = Client::new(&Home::at(&place.state()));
    let directory = place.project();
    let directory = directory.to_str().expect("text");
    let texts = TEXTS.iter().copied().chain(["\0", "a\0b", "s_1\0"]);
    for text in texts {
        let encoded = ostler_server::client::encoded(text).replace('/', "%2F");
        for path in ["sessions", "runs", "requests", "agents"] {
            let answer = runtime.block_on(client.get::<Value>(&format!("/{path}/{encoded}")));
            assert!(answer.is_err(), "{path} {text:?}");
        }
        for body in [
            json!({ "directory": text, "command": ["true"] }),
            json!({ "directory": directory, "agent": text, "prompt": "x" }),
            json!({ "directory": directory, "command": [text, text] }),
            json!({ "directory": directory, "command": ["true"], "check": text, "title": text }),
        ] {
            let answer = runtime.block_on(client.post::<Value>("/runs", &body));
            let Ok(run) = answer else { continue };
            let session = run["sessions"][0]["id"].as_str().expect("an id").to_owned();
            until("its end", || {
                let shown = runtime.block_on(client.get::<Value>(&format!("/sessions/{session}"))).ok()?;
                (!shown["outcome"].is_null()).then_some(())
            });
        }
        for (path, body) in [
            ("/trust", json!({ "directory": text, "hashes": [text] })),
            ("/trust/revoke", json!({ "directory": text })),
            ("/sessions/s_1/messages", json!({ "text": text })),
        ] {
            runtime.block_on(client.post::<Value>(path, &body)).ok();
        }
    }
    assert_eq!(place.run(&["verify"]).code, 0);
    assert!(!Path::new("/owned").exists());
    // A check is a shell command of whoever asks, so what it says is done: in the project and nowhere else.
    assert!(fs::read_dir(place.state()).expect("it is there").flatten().all(|it| it.file_name() != "owned"));
}
