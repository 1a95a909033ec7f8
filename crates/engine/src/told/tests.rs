//! What is told by a file, to a keeper of texts that only remembers them.

use core::convert::Infallible;
use std::{string::String, vec, vec::Vec};

use ostler_agents::{Agents, Terminal};

use super::*;

/// What is told, and what was kept for it.
fn told(agent: &Agent, korean: bool, text: &str, long: Long) -> (String, Vec<String>) {
    let mut kept = Vec::new();
    let keep = |text: &str| -> Result<Reference, Infallible> {
        kept.push(text.to_string());
        let path = format!("/state/told/{}", kept.len());
        Ok(Reference { path, bytes: text.len() as u64, sha256: "a".repeat(64) })
    };
    let told = by_file(korean, (text, long), keep).unwrap_or_else(|never| match never {});
    assert!(fits(agent, &told), "{} bytes", told.len());
    assert!(told.ends_with('\n'));
    (told, kept)
}

fn at_terminal() -> Agent {
    Agent { terminal: Terminal::Pty, ..Agent::plain(&["cat".to_string()]) }
}

#[test]
fn a_terminal_takes_lines_of_so_many_bytes_and_a_pipe_any() {
    let (terminal, pipe) = (at_terminal(), Agent::plain(&["cat".to_string()]));
    let most = "x".repeat(TERMINAL_LINE_BYTES_MAX);
    let korean = "가".repeat(TERMINAL_LINE_BYTES_MAX / 3);
    for (text, holds) in [
        (String::new(), true),
        (format!("{most}\n"), true),
        (format!("{most}\n{most}\n{korean}\n"), true),
        (format!("{most}x\n"), false),
        (format!("short\n{most}x\nshort\n"), false),
        (format!("{korean}가\n"), false),
    ] {
        assert_eq!(fits(&terminal, &text), holds, "{} bytes", text.len());
        assert!(fits(&pipe, &text));
    }
}

#[test]
fn words_stand_in_a_file_as_they_are() {
    let words = "가나다 ".repeat(100_000);
    let (said, kept) = told(&at_terminal(), true, &words, Long::Words);
    assert_eq!(kept, [words.as_str()]);
    let digest = "a".repeat(64);
    let file = format!("/state/told/1 ({}바이트, SHA-256 {digest})", words.len());
    assert_eq!(said, format!("내용이 길어 파일에 있습니다. 전부 읽으세요: {file}\n"));

    let (said, kept) = told(&at_terminal(), false, "a\nb\n", Long::Words);
    assert_eq!(kept, ["a\nb\n"], "with every newline");
    assert!(said.starts_with("It is long and stands in a file. Read all of it: /state/told/1 (4 bytes, "));
}

#[test]
fn who_speaks_is_said_in_front_of_the_file() {
    let (said, kept) = told(&at_terminal(), false, "[Result from QA] (late)\nwords\nmore", Long::Words);
    assert!(said.starts_with("[Result from QA] (late)\nIt is long"), "{said}");
    assert_eq!(kept, ["words\nmore"]);
    let long = format!("[{}]\nwords", "x".repeat(5_000));
    let (said, kept) = told(&at_terminal(), false, &long, Long::Words);
    assert!(said.starts_with("It is long"), "{said}");
    assert_eq!(kept, [long]);
}

#[test]
fn a_message_comes_through_a_pipe_and_is_never_too_long() {
    let agents = Agents::builtin();
    let claude = agents.get("claude").expect("it is built in");
    let agent = Agent { terminal: Terminal::Pty, ..claude.clone() };
    assert!(fits(&agent, &"x".repeat(5_000)) && !fits(&at_terminal(), &"x".repeat(5_000)));
}

#[test]
fn a_line_of_json_has_the_file_in_the_place_of_what_is_long() {
    let answer = "답 \"\\\n".repeat(20_000);
    let line = serde_json::json!({ "type": "question_answer", "questionId": "q_2", "answer": answer });
    let (said, kept) = told(&at_terminal(), false, &format!("{line}\n"), Long::Line);
    let file =
        serde_json::json!({ "path": "/state/told/1", "bytes": answer.len(), "sha256": "a".repeat(64) });
    let expected = serde_json::json!({ "type": "question_answer", "questionId": "q_2", "answerFile": file });
    assert_eq!(serde_json::from_str::<Value>(&said).expect("JSON"), expected);
    assert_eq!(kept, [answer]);
}

#[test]
fn only_as_many_texts_of_a_line_go_into_files_as_have_to() {
    let (reason, path) = ("r".repeat(6_000), "/p".repeat(400));
    let line = serde_json::json!({
        "type": "dependency_provided", "requestId": "q_1", "name": "n", "provided": false,
        "path": path, "reason": reason,
    });
    let (said, kept) = told(&at_terminal(), false, &line.to_string(), Long::Line);
    let said: Value = serde_json::from_str(&said).expect("JSON");
    assert_eq!((said["path"].as_str(), said["reason"].as_str()), (Some(path.as_str()), None));
    assert_eq!(said["reasonFile"]["path"], "/state/told/1");
    assert_eq!(kept, vec![reason.clone()]);

    let line = serde_json::json!({ "type": "t", "a": reason, "b": "b".repeat(5_000), "provided": true });
    let (said, kept) = told(&at_terminal(), false, &line.to_string(), Long::Line);
    let said: Value = serde_json::from_str(&said).expect("JSON");
    assert_eq!((kept[0].len(), kept[1].len()), (6_000, 5_000), "the longest first");
    assert_eq!(
        (&said["aFile"]["path"], &said["bFile"]["path"]),
        (&"/state/told/1".into(), &"/state/told/2".into())
    );
    assert_eq!((&said["type"], &said["provided"]), (&"t".into(), &true.into()));
}
