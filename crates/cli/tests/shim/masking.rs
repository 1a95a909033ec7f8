//! Values that an agent was given stand in nothing that a shim writes, and everything else about it stays as it was.

use std::{
    fs,
    path::{Path, PathBuf},
};

use ostler_protocol::{Format, Parser, Settings};
use ostler_shim::{
    control::{Command, MaskedQuestion, Reply},
    launch::{Launch, OutputFormat, Terminal},
    spool::{self, Happening},
    values,
};
use serde_json::{Value, json};

use crate::support::{Session, bash, command, wait_for};

const SECRET: &str = "sk_live_51\"Hq/Q é+only=for~tests";

/// The value beside the session, and a launch that knows of it.
fn with_value(launch: Launch) -> Launch {
    let file = place(&launch);
    fs::create_dir_all(file.parent().expect("a directory")).expect("the target directory can be written");
    give(&file);
    let given = [("KEY", SECRET), ("MODE", "shown to all")];
    let given = given.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    Launch { values: Some(file), given, ..launch }
}

fn place(launch: &Launch) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("values").join(&launch.session)
}

fn give(file: &Path) {
    let draft = file.with_extension("draft");
    fs::write(&draft, values::encode([("KEY", SECRET)], [("MODE", "shown to all")])).expect("a file");
    fs::rename(&draft, file).expect("it takes its place");
}

/// Every file of a session as one text.
fn everything(session: &Session) -> String {
    let files = fs::read_dir(&session.directory).expect("it is there").flatten();
    let files = files.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
    let texts =
        files.map(|entry| String::from_utf8_lossy(&fs::read(entry.path()).expect("it is ours")).into_owned());
    texts.collect()
}

/// Waits for the agent's end, which may come before anybody can follow: its code and its signal.
fn ended(session: &Session) -> (Option<i32>, Option<i32>) {
    wait_for("the agent's end", || {
        spool::read(&session.directory).ok()?.into_iter().find_map(|record| match record.what {
            Happening::Ended { code, signal, .. } => Some((code, signal)),
            _ => None,
        })
    })
}

fn heard(session: &Session) -> Vec<Value> {
    let records = spool::read(&session.directory).expect("a spool").into_iter();
    let items = records.filter_map(|record| match record.what {
        Happening::Heard { item } => Some(item),
        _ => None,
    });
    items.collect()
}

const LEAKS: &str = r#"
exec 2>&1
echo "whole: $KEY."
printf '%s' "${KEY:0:9}"; sleep 0.2; printf '%s\n' "${KEY:9}"
for ((at = 0; at < ${#KEY}; at++)); do printf '%s' "${KEY:at:1}"; done; echo
python3 - <<'PYTHON'
import base64, binascii, json, os, urllib.parse
key = os.environ["KEY"]
for text in ("", "a", "ab"):
    print(base64.b64encode((text + key + text).encode()).decode())
    print(base64.urlsafe_b64encode((text + key).encode()).decode())
print(json.dumps({"key": key}), json.dumps({"key": key}, ensure_ascii=False), json.dumps(json.dumps(key)))
print("https://x/?k=" + urllib.parse.quote(key, safe=""), urllib.parse.urlencode({"k": key}))
print(binascii.hexlify(key.encode()).decode())
lines = [key[at:at + 10] for at in range(0, len(key), 10)]
print("\\\n    ".join(lines))
print("".join(f"│ {line:10}  │\n" for line in lines))
print("".join(f"{letter}\b{letter}" for letter in key), "".join(f"_\b{letter}" for letter in key))
print("\u200b".join(key), "\u00ad".join(key))
print("\0".join(key), "\1".join(key), "".join(f"\33[3{ord(letter) % 8}m{letter}\33[0m" for letter in key))
import shlex, html
print("> " + "\n> ".join(lines), shlex.quote(key), html.escape(key), "".join(f"&#{ord(letter)};" for letter in key))
print("".join(f"\\x{byte:02x}" for byte in key.encode()), "".join(f"&#x{ord(letter):x};" for letter in key))
PYTHON
printf '%q %s\n' "$KEY" "${KEY@Q}"; printf '%s' "$KEY" | iconv -t UTF-16 2>/dev/null; echo
printf '%s' "$KEY" | fold -w 10 | sed 's/^/        /'; echo
for form in '-c' '-An -tx1' '-tx1z'; do printf 'KEY=%s' "$KEY" | od $form; done
echo "$KEY" >&3
printf '%s\n' '[USER_QUESTION]' 'category: clarification' "question: Is $KEY right?" 'required: true' \
    "note $KEY: odd" '[/USER_QUESTION]'
read -r answer
echo "got $answer"
"#;

/// What would be enough to know the value, in the forms that the script prints.
fn traces() -> Vec<String> {
    let json = serde_json::to_string(SECRET).expect("a text");
    vec![
        SECRET.to_owned(),
        json[1..json.len() - 1].to_owned(),
        "only=for~tests".to_owned(),
        "only%3Dfor~tests".to_owned(),
        "sk_live_51%22".to_owned(),
        "c2tfbGl2ZV81".to_owned(),
        "NrX2xpdmVfNT".to_owned(),
        "za19saXZlXzUx".to_owned(),
        "736b5f6c697665".to_owned(),
        "only=".to_owned(),
        "sk_liv".to_owned(),
        "o   n   l   y".to_owned(),
        "6f 6e 6c 79".to_owned(),
        "o\u{8}on\u{8}n".to_owned(),
        "_\u{8}o_\u{8}n".to_owned(),
        "o\u{200b}n\u{200b}l".to_owned(),
        "o\u{ad}n\u{ad}l".to_owned(),
        "o\0n\0l".to_owned(),
        "o\u{1}n\u{1}l".to_owned(),
        "mo\u{1b}[0m".to_owned(),
        "&#111;&#110;".to_owned(),
        "&#x6f;&#x6e;".to_owned(),
        "\\x6f\\x6e".to_owned(),
    ]
}

#[test]
fn no_form_of_a_value_is_written_down() {
    let script = format!("exec 3>&2\n{LEAKS}");
    let mut session = Session::start(&with_value(bash(&script)));
    let mut control = session.control();
    control.next_stop();
    control.answer("yes\n");
    assert_eq!(control.next_end(), (Some(0), None, true));
    session.wait();
    let written = everything(&session);
    for trace in traces() {
        assert!(!written.contains(&trace), "{trace} in\n{written}");
    }
    let stars = "*".repeat(SECRET.len());
    assert!(session.output().starts_with(&format!("whole: {stars}.\n")), "{}", session.output());
    let errors = fs::read_to_string(session.directory.join(ostler_shim::ERR)).expect("a log");
    assert_eq!(errors, format!("{stars}\n"));
    let items = heard(&session);
    assert_eq!(items.len(), 1);
    assert_eq!(items[0]["kind"], "fault", "the odd line makes it one: {}", items[0]);
}

#[test]
fn the_log_says_the_same_as_what_was_heard() {
    let script = "printf '%s\\n' before \"$KEY\" '[USER_QUESTION]' 'category: choice' \"question: Is it $KEY?\" \
                  \"options: [yes, $KEY]\" 'required: true' '[/USER_QUESTION]'; read -r answer; echo WAIT";
    let mut session = Session::start(&with_value(bash(script)));
    let mut control = session.control();
    control.next_stop();
    control.answer("yes\n");
    control.next_end();
    session.wait();
    let mut parser = Parser::new(Format::Text, Settings::default());
    parser.push(session.output().as_bytes());
    parser.finish();
    let again: Vec<Value> = parser.map(|item| json!(item)).collect();
    assert_eq!(again, heard(&session));
    assert_eq!(again[0]["question"], format!("Is it {}?", "*".repeat(SECRET.len())));
    assert_eq!(again[0]["offset"], "before\n".len() + SECRET.len() + 1);
}

#[test]
fn a_value_that_comes_later_is_masked_too() {
    let launch = bash(
        "printf 'before\\n'; until [ -e \"$FILE\" ]; do sleep 0.01; done; cat \"$FILE\"; echo; exec 1>&-",
    );
    let file = place(&launch);
    fs::create_dir_all(file.parent().expect("a directory")).expect("the target directory can be written");
    fs::remove_file(&file).ok();
    let mut launch = Launch { values: Some(file.clone()), ..launch };
    launch.environment.insert("FILE".to_owned(), file.display().to_string());
    let session = Session::start(&launch);
    let log = session.directory.join(ostler_shim::OUT);
    wait_for("the first words", || (fs::read(&log).ok()? == b"before\n").then_some(()));
    give(&file);
    assert_eq!(ended(&session), (Some(0), None));
    let stars = "*".repeat(SECRET.len());
    assert_eq!(session.output(), format!("before\nKEY={stars}\0OSTLER_SHOWN=\0MODE=shown to all\0\n"));
}

#[test]
fn a_terminal_is_masked_too() {
    let launch = with_value(command(&["bash", "-c", "printf 'a\\n%s\\nb\\n' \"$KEY\""]));
    let session = Session::start(&Launch { terminal: Terminal::Pty { rows: 20, columns: 80 }, ..launch });
    assert_eq!(ended(&session), (Some(0), None));
    assert_eq!(session.output(), format!("a\r\n{}\r\nb\r\n", "*".repeat(SECRET.len())));
}

#[test]
fn what_begins_like_a_value_is_seen_after_a_while() {
    let session = Session::start(&with_value(bash("printf 'name: sk'; read -r answer; echo \"$answer\"")));
    let mut control = session.control();
    wait_for("all of the prompt", || (session.output() == "name: sk").then_some(()));
    control.answer("y\n");
    assert_eq!(control.next_end(), (Some(0), None, true));
    assert_eq!(session.output(), "name: sky\n");
}

#[test]
fn a_tool_is_called_with_what_it_was_to_be_called_with() {
    let table =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../protocol/tables/claude.toml"));
    let script = r#"
import json, os, sys
request = {"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "curl -u " + os.environ["KEY"], "n": 1}}
print(json.dumps({"type": "control_request", "request_id": "r1", "request": request}), flush=True)
answer = json.loads(sys.stdin.readline())
print("same" if answer["input"] == request["input"] else "another", flush=True)
"#;
    let format = OutputFormat::Table(table.expect("the table is there"));
    let mut session = Session::start(&with_value(Launch { format, ..command(&["python3", "-c", script]) }));
    let mut control = session.control();
    let record = control.next(|what| matches!(what, Happening::Heard { .. }));
    let Happening::Heard { item } = record.what else { panic!("{record:?}") };
    assert_eq!(item["kind"], "permission_request", "{item}");
    assert_eq!(item["input"]["command"], format!("curl -u {}", "*".repeat(SECRET.len())));
    let text = json!({ "behavior": "allow", "input": item["input"] }).to_string() + "\n";
    let reply = control.ask(Command::Input { key: "q_1".into(), text, go_on: true, asked: None });
    assert_eq!(reply, Reply::Done);
    assert_eq!(session.wait(), Some(0));
    assert!(session.output().ends_with("same\n"), "{}", session.output());
    for trace in traces() {
        assert!(!everything(&session).contains(&trace), "{trace}");
    }
}

#[test]
fn a_question_is_answered_in_its_own_words() {
    // Who knows nothing of the question, such as the shim of a later process, says the number with the masked text.
    for (known, expected) in [
        (true, format!("Answer: {SECRET}")),
        (false, format!("Answer: option 2: {}", "*".repeat(SECRET.len()))),
    ] {
        let script = r#"
import os, sys
print("[USER_QUESTION]\ncategory: choice\nquestion: Which?\noptions: [none, \"" + os.environ["KEY"] + "\"]\nrequired: true\n[/USER_QUESTION]", flush=True)
print("same" if sys.stdin.readline() == sys.argv[1] + "\n" else "another", flush=True)
"#;
        let mut session = Session::start(&with_value(command(&["python3", "-c", script, &expected])));
        let mut control = session.control();
        let record = control.next(|what| matches!(what, Happening::Heard { .. }));
        let Happening::Heard { item } = record.what else { panic!("{record:?}") };
        let options: Vec<String> = serde_json::from_value(item["options"].clone()).expect("options");
        assert_eq!(options[1], "*".repeat(SECRET.len()), "{item}");
        let question = if known { "Which?" } else { "Another?" }.to_owned();
        let text = format!("Answer: option 2: {}\n", options[1]);
        let asked = Some(MaskedQuestion { question, options, number: Some(2) });
        let reply = control.ask(Command::Input { key: "q_1".into(), text, go_on: true, asked });
        assert_eq!(reply, Reply::Done);
        assert_eq!(session.wait(), Some(0));
        assert!(session.output().ends_with("same\n"), "{}", session.output());
    }
}

#[test]
fn a_crash_leaves_no_core() {
    let launch = with_value(bash("ulimit -c; cd \"$PLACE\"; kill -SEGV $$"));
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-crash", launch.session));
    fs::create_dir_all(&place).expect("the target directory can be written");
    let mut launch = launch;
    launch.environment.insert("PLACE".to_owned(), place.display().to_string());
    let session = Session::start(&launch);
    assert_eq!(ended(&session), (None, Some(11)));
    assert_eq!(session.output(), "0\n");
    assert_eq!(fs::read_dir(&place).expect("it is there").count(), 0);
    fs::remove_dir_all(&place).expect("it is ours");
}
