//! What is too long to be said: it reaches its receiver whole, and stands in a file and not in the journal.

use std::fs;

use ostler_server::api::InvocationStatus;
use serde_json::{Value, json};

use super::{office, output_with, results, seat, views::rows, wait_for_call};
use crate::{
    support::{World, write},
    tcp::sign_in,
};

/// Brings a text of 300,300 bytes, in the language that takes several bytes for a letter.
pub(super) const LONG: &str = r#"read -r head; read -r task; yes '긴 결과' | head -c 300300 >long
    ostler deliver "$(name_in "$head")" --stdin <long; sleep 600"#;

/// The text as it was written.
fn long(world: &World) -> String {
    fs::read_to_string(world.project.join("long")).expect("the role has written it")
}

fn printed(world: &World, arguments: &[&str]) -> String {
    let output = world.ostler(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn a_long_result_stands_in_a_file_and_its_beginning_in_journal_and_lists() {
    let world = office(&[("QA", LONG)]);
    let caller = world.bash("ostler invoke --wait QA x >whole; cmp long whole && echo same");
    world.status(&caller, "completed");
    assert_eq!(world.output(&caller), "same\n", "who waits has all of it");

    let result = results(&world).remove(0);
    let whole = long(&world);
    assert!(!result.whole && result.delivered && result.content.len() <= 4096);
    assert!(whole.starts_with(&result.content) && !result.content.is_empty());
    assert_eq!(result.bytes, Some(300_300));
    let file = result.file.expect("a file");
    assert_eq!(fs::read_to_string(&file).expect("it is there"), whole);
    let longest = rows(&world, "SELECT max(length(body)) FROM events");
    assert!(longest[0][0].parse::<u64>().expect("a number") < 20_000, "{longest:?}");

    // The column says what it holds: a reference.
    let row = rows(&world, "SELECT result_type, content_type, content FROM agent_results").remove(0);
    assert_eq!(row[..2], ["message", "application/vnd.ostler.reference+json"]);
    let reference = json!({ "path": file, "bytes": 300_300, "sha256": result.sha256 });
    assert_eq!(serde_json::from_str::<Value>(&row[2]).expect("JSON"), reference);
    let said: Value = serde_json::from_str(&printed(&world, &["--json", "office", "results"])).expect("JSON");
    assert_eq!(
        (said[0]["content_type"].as_str(), said[0]["content"].as_str()),
        (Some(&*row[1]), Some(&*row[2]))
    );

    // Who has only what is written out has all of it.
    let lines = printed(&world, &["export"]);
    let events = lines.lines().map(|line| serde_json::from_str::<Value>(line).expect("a line of JSON"));
    let given: Vec<Value> = events.filter(|event| event["kind"] == "result.given").collect();
    assert_eq!(given.len(), 1);
    assert_eq!((given[0]["content"].as_str(), &given[0]["cut"]), (Some(&*whole), &Value::Null));
    world.verify();
}

#[test]
fn all_of_a_result_can_be_taken_away_as_a_file() {
    let world = office(&[("QA", "sleep 600")]);
    let giver = world.bash(
        "yes '긴 결과' | head -c 300300 >long; ostler deliver QA --stdin <long; ostler deliver QA --type json '{\"a\": 1}'",
    );
    world.status(&giver, "completed");
    let browser = sign_in(&world);
    for (id, name, body) in [("d_1", "d_1.txt", long(&world).as_str()), ("d_2", "d_2.json", r#"{"a": 1}"#)] {
        let answer = browser.get(&format!("/results/{id}/content"));
        assert!(answer.status == 200 && answer.body == body, "{id}: {} bytes", answer.body.len());
        let attachment = format!("attachment; filename=\"{name}\"");
        for (header, value) in [
            ("content-type", "text/plain; charset=utf-8"),
            ("content-disposition", attachment.as_str()),
            ("x-content-type-options", "nosniff"),
        ] {
            assert_eq!(answer.header(header), Some(value), "{id}");
        }
    }
    let answer = browser.get("/results/d_9/content");
    assert_eq!((answer.status, answer.kind().as_str()), (404, "no_result"));

    // What is not what was written is not given.
    let file = results(&world).remove(0).file.expect("a file");
    fs::write(&file, "something else").expect("it is ours");
    assert_eq!(browser.get("/results/d_1/content").kind(), "internal");
}

/// It has begun to print, and nobody reads on.
const STUCK: &str = "mkfifo pipe; exec 3<>pipe; ostler invoke --wait QA x >pipe & ";

#[test]
fn who_dies_while_it_is_handed_a_result_has_it_as_a_message() {
    let mut world = office(&[("QA", LONG)]);
    let script = format!(
        "{STUCK} head -c 9 <&3 >began; until [ -e go ]; do sleep 0.05; done; kill -9 $!; read -r a; read -r b; read -r end; echo \"$a $b\""
    );
    let caller = world.bash(&script);
    world.wait_for("it to begin", |world| {
        world.project.join("began").metadata().ok().filter(|it| it.len() > 0)
    });
    assert!(!results(&world)[0].delivered, "nobody has all of it");
    world.restart();
    assert!(!results(&world)[0].delivered, "nobody has all of it yet");
    write(&world.project, "go", "");
    world.status(&caller, "completed");
    let output = world.output(&caller);
    assert!(output.contains("[Result from QA]") && output.contains("(300300 bytes, SHA-256 "), "{output}");
    assert!(results(&world)[0].delivered);
    world.verify();
}

#[test]
fn who_reads_on_after_the_server_died_has_all_of_a_result_and_no_message() {
    let mut world = office(&[("QA", LONG)]);
    let script = format!(
        "{STUCK} head -c 9 <&3 >began; until [ -e go ]; do sleep 0.05; done; head -c 300291 <&3 >rest; wait $!; echo $?; cat began rest | cmp - long && echo same"
    );
    let caller = world.bash(&script);
    world.wait_for("it to begin", |world| {
        world.project.join("began").metadata().ok().filter(|it| it.len() > 0)
    });
    world.restart();
    write(&world.project, "go", "");
    world.status(&caller, "completed");
    assert_eq!(world.output(&caller), "0\nsame\n");
    assert_eq!(world.count(&caller, "message.written"), 0);
    assert!(results(&world)[0].delivered);
    world.verify();
}

#[test]
fn a_kept_text_is_looked_after_and_what_nothing_names_is_removed() {
    let mut world = office(&[("QA", LONG)]);
    let caller = world.bash("printf '[INVOKE:QA]\\nx\\n[/INVOKE]\\n'; read -r a; read -r b; echo \"$b\"");
    wait_for_call(&world, 1, InvocationStatus::Completed);
    output_with(&world, &caller, "(300300 bytes, SHA-256 ");
    let file = results(&world).remove(0).file.expect("a file");
    printed(&world, &["verify"]);

    // A server that died before the commit leaves such files.
    let folder = world.home.join("office");
    let left = ["0".repeat(64), "x.draft".to_owned()].map(|name| folder.join(name));
    for path in &left {
        fs::write(path, "left").expect("it is ours");
    }
    world.restart();
    world.wait_for("what nothing names is gone", |_| left.iter().all(|path| !path.exists()).then_some(()));
    assert_eq!(fs::read_to_string(&file).expect("it is there"), long(&world));

    fs::write(&file, "something else").expect("it is ours");
    let output = world.ostler(&["verify"]);
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains(&file), "{said}");
    let output = world.ostler(&["export"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(1) && said.contains(&file), "{said}");
    assert!(String::from_utf8_lossy(&output.stdout).lines().any(|line| line.contains("\"cut\":true")));
    // The same text, brought again, mends it.
    let again = world.bash("ostler deliver QA --stdin <long; ostler deliver QA --stdin <long");
    world.status(&again, "completed");
    assert_eq!(fs::read_to_string(&file).expect("it is there"), long(&world));
    printed(&world, &["verify"]);
    assert_eq!(fs::read_dir(&folder).expect("a folder").count(), 1, "the same text is kept once");
    assert_eq!(seat(&world, "QA").launches.len(), 1);
}

#[test]
fn what_is_refused_leaves_no_file_and_takes_none_away() {
    let world = office(&[("QA", "sleep 600")]);
    let bring = |script: &str| {
        let giver = world.bash(&format!("yes '긴 결과' | head -c 300300 >long; {script}"));
        world.status(&giver, "completed");
        world.output(&giver)
    };
    let files = || fs::read_dir(world.home.join("office")).into_iter().flatten().count();
    let refused = bring(
        "for to in 'Nobody' 'QA --type json' 'QA --for i_9'; do ostler deliver $to --stdin <long 2>&1; echo $?; done",
    );
    for words in ["there is no agent Nobody", "it is no JSON", "i_9 is no open call of QA"] {
        assert!(refused.contains(words), "{words}:\n{refused}");
    }
    assert_eq!(refused.lines().filter(|line| *line == "7").count(), 3, "{refused}");
    assert_eq!(files(), 0, "nothing names it");

    // What something names stays, though somebody else is refused with the same.
    bring("ostler deliver QA --stdin <long; ostler deliver QA --for i_9 --stdin <long 2>&1; true");
    assert_eq!(files(), 1);
    let file = results(&world).remove(0).file.expect("a file");
    assert_eq!(fs::read_to_string(file).expect("it is there"), long(&world));
    printed(&world, &["verify"]);
}

#[test]
fn who_waits_prints_what_was_brought_byte_for_byte() {
    let world = office(&[(
        "QA",
        r#"while read -r head; do read -r task; printf "$task" | ostler deliver "$(name_in "$head")" --stdin; done"#,
    )]);
    let caller = world.bash(
        r#"for words in 'no end' '\n two ends \n\n'; do ostler invoke --wait QA "$words" | od -An -c; done
        python3 -c 'import pty; pty.spawn(["ostler", "invoke", "--wait", "QA", "at a terminal"])'; echo through"#,
    );
    world.status(&caller, "completed");
    let output = world.output(&caller);
    let shown: Vec<String> =
        output.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(shown, ["n o e n d", r"\n t w o e n d s \n \n", "at a terminal", "through"]);
    world.verify();
}
