//! What a person allows a CLI for the rest of a session: offered on the card, kept over launches, listed and revoked.

use std::{fs, os::unix::fs::PermissionsExt};

use serde_json::json;

use crate::{
    support::{Place, until},
    terminal::Terminal,
};

/// Speaks like claude: asks for the commands of its launch one after the other, and runs what it may.
const AGENT: &str = r#"#!/bin/bash
read -r prompt
echo launched >>launches
printf '{"type":"system","subtype":"init","session_id":"11111111-1111-1111-1111-111111111111","model":"m"}\n'
number=0
while IFS= read -r input; do
  number=$((number + 1))
  case $input in *file_path*) tool=Edit ;; *) tool=Bash ;; esac
  printf '{"type":"control_request","request_id":"r%s","request":{"subtype":"can_use_tool","tool_name":"%s","input":%s}}\n' "$number" "$tool" "$input"
  read -r reply
  case $reply in *'"behavior":"allow"'*) printf '%s\n' "$input" >>allowed ;; *) printf '%s\n' "$reply" >>denied ;; esac
done <"launch-$(wc -l <launches)" 3<&0
"#;

/// A project whose agent asks for these inputs, launch by launch.
fn place(launches: &[&[&str]]) -> Place {
    let place = Place::new();
    let program = place.project().join("fake-claude");
    // What it reads its inputs from is not what it is answered on.
    let agent = AGENT
        .replace("read -r reply", "read -r reply <&4")
        .replace("read -r prompt", "exec 4<&0\nread -r prompt <&4");
    let end = r#"printf '{"type":"result","subtype":"success","is_error":false,"result":"done"}\n'"#;
    fs::write(&program, format!("{}{end}\n", agent.replace(" 3<&0", ""))).expect("a program");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("it is ours");
    for (index, inputs) in launches.iter().enumerate() {
        let text = inputs.join("\n") + "\n";
        fs::write(place.project().join(format!("launch-{}", index + 1)), text).expect("a file");
    }
    place.configure(&format!("[agents.claude]\ncommand = [{:?}]\n", program.display().to_string()));
    place
}

fn run(place: &Place, arguments: &[&str]) -> String {
    let run = place.json(&[&["run", "-d"], arguments, &["claude", "work"]].concat());
    run["sessions"][0]["id"].as_str().expect("a run has a session").to_owned()
}

fn bash(command: &str) -> String {
    json!({ "command": command }).to_string()
}

fn allowed(place: &Place) -> Vec<String> {
    let text = fs::read_to_string(place.project().join("allowed")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn a_rule_holds_for_the_session_and_for_nothing_else() {
    let touch = bash("touch a1");
    let others =
        [bash("touch a1; rm -rf x"), bash("touch a1 && rm x"), bash("touch \"a1\""), bash("A=1 touch a1")];
    let background = json!({ "command": "touch a1", "run_in_background": true }).to_string();
    let mut first = vec![touch.as_str(), touch.as_str()];
    first.extend(others.iter().map(String::as_str));
    first.push(&background);
    let place = place(&[&first, &[touch.as_str(), touch.as_str()]]);
    let session = run(&place, &["--until", "--check", "test \"$(wc -l <launches)\" -ge 2"]);
    let request = place.wait_for_request();
    let card = place.done(&["show", &request]);
    assert!(card.contains("2  allow for this session: Bash, exactly this: touch a1\n"), "{card}");
    assert!(
        card.contains("4  allow for this session: Bash, commands that begin like this: touch a1 …\n"),
        "{card}"
    );
    assert!(card.contains("5  allow for this session: every use of Bash\n"), "{card}");
    let korean = place.done(&["--lang", "ko", "show", &request]);
    assert!(korean.contains("2  이 세션 동안 허락: Bash, 정확히 이것만: touch a1\n"), "{korean}");
    let said = place.done(&["answer", &request, "2"]);
    assert!(said.contains("approved for this session: Bash, exactly this: touch a1"), "{said}");
    // The second is settled by the rule; every other form of it is asked about.
    for input in first.iter().skip(2) {
        let request = place.wait_for_request();
        let asked = place.json(&["show", &request])["ask"]["fields"]["input"].to_string();
        assert_eq!(&asked, input);
        place.done(&["answer", &request, "--no"]);
    }
    place.wait_for(&session, "completed");
    // The second launch asked twice, and nobody else was asked.
    assert_eq!(allowed(&place), vec![touch; 4]);
    let shown = place.done(&["show", &session]);
    assert!(shown.contains("Allowed for this session\n"), "{shown}");
    assert!(shown.contains("approved by the rule: Bash, exactly this: touch a1"), "{shown}");
}

#[test]
fn a_rule_that_is_revoked_is_asked_about_again() {
    let place =
        place(&[&[&bash("npm test"), &bash("npm test --watch"), &bash("pwd"), &bash("npm test --watch")]]);
    let session = run(&place, &[]);
    place.done(&["answer", &place.wait_for_request(), "allow this prefix"]);
    let request = place.wait_for_request();
    assert_eq!(place.json(&["show", &request])["ask"]["fields"]["input"]["command"], "pwd");
    let rules = place.json(&["permissions", &session]);
    assert_eq!(
        (&rules[0]["number"], &rules[0]["rule"]["scope"], &rules[0]["rule"]["text"]),
        (&json!(1), &json!("prefix"), &json!("npm test …"))
    );
    assert!(place.done(&["permissions", &session]).contains("Revoke one: ostler permissions s_1 --revoke N"));
    let said = place.run(&["permissions", &session, "--revoke", "7"]);
    assert_eq!((said.code, said.err.contains("s_1 never had a permission rule 7")), (8, true), "{said:?}");
    assert_eq!(place.done(&["permissions", &session, "--revoke", "1"]), "s_1: rule 1 is revoked\n");
    assert_eq!(place.done(&["permissions", &session]), "s_1 has no permission rules.\n");
    place.done(&["answer", &request, "--no"]);
    let request = until("the next card", || {
        let inbox = place.json(&["inbox"]);
        inbox[0]["id"].as_str().map(str::to_owned).filter(|id| *id != request)
    });
    assert_eq!(place.json(&["show", &request])["ask"]["fields"]["input"]["command"], "npm test --watch");
    let said = place.run(&["answer", &request, "allow for this session"]);
    assert_eq!(said.code, 7, "the old words do not say what they allow: {said:?}");
    place.done(&["answer", &request, "--no"]);
    place.wait_for(&session, "completed");
}

#[test]
fn a_command_is_shown_as_one_and_an_edit_as_a_diff() {
    let command = json!({ "command": "git add -A &&\ngit commit", "run_in_background": true }).to_string();
    let place = place(&[&[&command, "EDIT"]]);
    let file = place.project().join("src/app.ts");
    let edit = json!({ "file_path": file.display().to_string(), "replace_all": false,
        "old_string": "const a = 1;\nconst b = 2;", "new_string": "const a = 1;\nconst b = 3;" });
    fs::write(place.project().join("launch-1"), format!("{command}\n{edit}\n")).expect("a file");
    let session = run(&place, &[]);
    let first = place.wait_for_request();
    let card = place.done(&["inbox"]);
    assert!(
        card.contains(
            "\n  Bash\n    $ git add -A &&\n      git commit\n    run_in_background: true\n    1  allow\n"
        ),
        "{card}"
    );
    // Words deny, and say why.
    place.done(&["answer", &first, "commit on a branch, please"]);
    let second = until("the edit", || Some(place.wait_for_request()).filter(|id| *id != first));
    let card = place.done(&["show", &second]);
    assert!(
        card.contains(
            "  Edit  src/app.ts\n     const a = 1;\n    -const b = 2;\n    +const b = 3;\n    replace_all: false\n"
        ),
        "{card}"
    );
    let mut terminal = Terminal::start(&place, &["attach", &session]);
    terminal.sees("\u{1b}[31m-const b = 2;\u{1b}[0m");
    terminal.sees("Your answer: a number, or words that say why not: ");
    // One word that is no choice denies too.
    terminal.press("never\n");
    assert_eq!(terminal.code(), 0, "{}", terminal.screen());
    let denied = fs::read_to_string(place.project().join("denied")).expect("what it was told");
    assert!(denied.contains("commit on a branch, please") && denied.contains("never"), "{denied}");
    assert_eq!(allowed(&place), Vec::<String>::new());
}
