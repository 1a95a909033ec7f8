//! Forms for what agents need: typed on a terminal, read from pipes and files, and what is refused.

use std::{fs, io::Write, process::Stdio};

use serde_json::json;

use crate::{
    support::{ASK, Place, until},
    terminal::Terminal,
};

/// A block that asks for something; behind it a question, because a shell runs on until it is stopped.
fn need(kind: &str, name: &str, rest: &str) -> String {
    format!(
        "printf '%s\\n' '[DEPENDENCY_REQUEST]' 'type: {kind}' 'name: {name}' 'description: For the tests' '{rest}' \
         '[/DEPENDENCY_REQUEST]'; {ASK}; bash -c 'echo \"length ${{#KEY}}\"'"
    )
}

/// Answers the question that stands behind what was needed, and says what was printed.
fn rest(place: &Place, session: &str) -> String {
    let question = place.wait_for_request();
    // It may run on for a moment behind what it prints, read what was brought before, and end: nobody reads this then.
    place.run(&["answer", &question, "1"]);
    place.wait_for(session, "completed");
    place.done(&["logs", session])
}

#[test]
fn a_key_is_typed_where_the_session_is_watched_and_not_shown() {
    let place = Place::new();
    let script = need("api_key", "KEY", "required: true");
    let mut terminal = Terminal::start(&place, &["run", "--", "bash", "-c", &script]);
    terminal.sees("KEY (not shown; Enter: deny): ");
    terminal.press("\n");
    terminal.sees("Deny it? [y/N]: ");
    terminal.press("n\n");
    // Asked again, and only then not shown.
    until("the second prompt", || (terminal.screen().matches("KEY (not shown").count() == 2).then_some(()));
    terminal.press("sk_typed_1\n");
    terminal.sees("without asking you? [y/N]: ");
    terminal.press("n\n");
    terminal.sees("Your answer");
    terminal.press("2\n");
    terminal.sees("length 10");
    assert_eq!(terminal.code(), 0, "{}", terminal.screen());
    let screen = terminal.screen();
    assert!(!screen.contains("sk_typed"), "{screen}");
    assert!(screen.contains("2\r\n"), "what is no secret is shown again: {screen}");
}

/// A value that comes too late is not even read.
#[test]
fn a_request_that_was_cancelled_takes_no_value() {
    let place = Place::new();
    let session = place.start(&need("service", "acme", "required: true"));
    let request = place.wait_for_request();
    place.done(&["cancel", &session]);
    place.wait_for(&session, "cancelled");
    let late = place.run(&["answer", &request, "--stdin"]);
    assert_eq!(late.code, 7, "{late:?}");
    assert!(late.err.starts_with("ostler: q_1 is settled already"), "{late:?}");
}

#[test]
fn the_same_from_another_terminal_in_korean() {
    let place = Place::new();
    let session = place.start(&need("service", "acme", "required: true"));
    let request = place.wait_for_request();
    let mut terminal = Terminal::start(&place, &["--lang", "ko", "answer", &request]);
    terminal.sees("변수 이름: ");
    terminal.press("1BAD\n");
    terminal.sees("변수 이름이 아닙니다");
    terminal.press("KEY\n");
    terminal.sees("KEY (화면에 보이지 않음; 선택): ");
    terminal.press("sk_typed_2\n");
    terminal.sees("다른 변수 이름 (Enter: 더 없음): ");
    terminal.press("\n");
    terminal.sees("[y/N]: ");
    terminal.press("y\n");
    terminal.sees("KEY 제공함 (프로젝트 전체)");
    assert_eq!(terminal.code(), 0, "{}", terminal.screen());
    assert!(!terminal.screen().contains("sk_typed"), "{}", terminal.screen());
    assert!(rest(&place, &session).contains("length 10"));
}

#[test]
fn from_pipes_and_files_and_never_as_an_argument() {
    let place = Place::new();
    let session = place.start(&need("api_key", "KEY", "required: true"));
    let request = place.wait_for_request();
    let card = place.done(&["inbox"]);
    assert!(
        card.contains(&format!("Answer: ostler answer {request} (you are asked for the value)")),
        "{card}"
    );
    let refused = place.run(&["answer", &request, "sk_argument"]);
    assert_eq!(refused.code, 7, "{refused:?}");
    assert!(
        refused.err.contains("not given as an argument") && refused.err.contains("--stdin"),
        "{refused:?}"
    );
    assert_eq!(place.run(&["answer", &request, "--yes"]).code, 7);
    assert_eq!(place.run(&["answer", &request, "--skip"]).code, 7);
    assert_eq!(place.run(&["answer", &request]).code, 7, "there is no terminal");
    let said = place.pipe(&["--json", "answer", &request, "--stdin"], "sk_piped_12\n");
    assert_eq!(said.code, 0, "{said:?}");
    assert!(!said.out.contains("sk_piped"), "{said:?}");
    let settled: serde_json::Value = serde_json::from_str(&said.out).expect("JSON");
    let answer = json!({ "answer": "provided", "names": ["KEY"], "reuse": false });
    assert_eq!(settled["settled"]["answer"], answer);
    assert!(rest(&place, &session).contains("length 11"));
    assert!(place.done(&["show", &request]).contains("KEY given"));

    let session = place.start(&need("service", "stripe", "required: true"));
    let request = place.wait_for_request();
    let shown = place.json(&["show", &request]);
    assert_eq!(shown["ask"]["form"]["fields"][0]["name"], "STRIPE_SECRET_KEY");
    fs::write(place.project().join("bad.env"), "KEY=1\nnothing\n").expect("a file");
    let refused = place.run(&["answer", &request, "--file", "bad.env"]);
    assert!(refused.code == 7 && refused.err.contains("line 2 is not NAME=value"), "{refused:?}");
    fs::write(place.project().join("good.env"), "# mine\nexport KEY='123456'\n").expect("a file");
    place.done(&["answer", &request, "--file", "good.env", "--reuse"]);
    assert!(rest(&place, &session).contains("length 6"));
}

#[test]
fn what_is_skipped_has_its_default() {
    let place = Place::new();
    let session = place.start(&need("env_variable", "KEY", "required: false\ndefault: 12345"));
    let request = place.wait_for_request();
    assert_eq!(
        place.done(&["answer", &request, "--skip"]),
        format!("{request} is answered: the default: 12345\n")
    );
    assert!(rest(&place, &session).contains("length 5"));
}

#[test]
fn a_package_shows_what_approval_runs() {
    let place = Place::new();
    fs::write(place.project().join("package.json"), "{}").expect("a file");
    fs::write(place.project().join("pnpm-lock.yaml"), "").expect("a file");
    let session = place.start(&need("package", "left-pad", "required: true"));
    let request = place.wait_for_request();
    let card = place.done(&["inbox"]);
    assert!(card.contains("approval runs: pnpm add left-pad"), "{card}");
    place.done(&["answer", &request, "--no", "write it yourself"]);
    assert!(rest(&place, &session).contains("write it yourself"));
}

/// Of two who answer at once one is refused, and the agent has what the other gave.
#[test]
fn a_value_that_was_refused_reaches_nobody() {
    let place = Place::new();
    for round in 0..4 {
        let session = place.start(&need("api_key", "KEY", "required: true"));
        let request = place.wait_for_request();
        // Told from each other by their length, which is printed.
        let said = ["1".repeat(10), "2".repeat(20)].map(|value| {
            let mut command = place.command(&["answer", &request, "--stdin"]);
            let mut child = command
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .expect("it starts");
            child.stdin.take().expect("a pipe").write_all(value.as_bytes()).expect("it reads");
            (value.len(), child)
        });
        let ended = said.map(|(length, mut child)| (length, child.wait().expect("it ends").code()));
        let taken: Vec<usize> = ended.iter().filter(|(_, code)| *code == Some(0)).map(|it| it.0).collect();
        let [length] = taken[..] else { panic!("{ended:?}") };
        let printed = rest(&place, &session);
        assert!(printed.contains(&format!("length {length}\n")), "{round}: {ended:?}: {printed}");
    }
}

/// Whoever gives up at a hidden prompt has a terminal that shows again what is typed.
#[test]
fn a_terminal_is_left_as_it_was() {
    let place = Place::new();
    place.start(&need("api_key", "KEY", "required: true"));
    let request = place.wait_for_request();
    let program = env!("CARGO_BIN_EXE_ostler");
    let script =
        format!("trap : INT; {program} answer {request}; echo code=$?; stty -a | tr ' ' '\\n' | grep echo$");
    let mut terminal = Terminal::of(place.program("bash", &["-c", &script]));
    terminal.sees("KEY (not shown; Enter: deny): ");
    terminal.press("abc\x03");
    terminal.sees("code=7");
    terminal.sees("\necho\r\n");
    let screen = terminal.screen();
    assert!(!screen.contains("-echo\r\n") && !screen.contains("abc"), "{screen}");
}

/// What is no text cannot be given as it is, so that it is not given at all.
#[test]
fn bytes_that_are_no_text_are_refused() {
    let place = Place::new();
    place.start(&need("api_key", "KEY", "required: true"));
    let request = place.wait_for_request();
    let path = place.project().join("bytes");
    fs::write(&path, b"sk\xff\xfe1").expect("a file");
    let piped = place
        .command(&["answer", &request, "--stdin"])
        .stdin(fs::File::open(&path).expect("a file"))
        .output();
    assert_eq!(piped.expect("it runs").status.code(), Some(3));
    assert_eq!(place.run(&["answer", &request, "--file", "bytes"]).code, 3);
    assert_eq!(place.wait_for_request(), request, "it is open as before");
}

/// A session that is cancelled while somebody answers: if the answer was refused, nobody agreed to anything.
#[test]
fn consent_that_was_refused_is_none() {
    let place = Place::new();
    for round in 0..6 {
        let name = format!("KEY_{round}");
        let session = place.start(&need("api_key", &name, "required: true"));
        let request = place.wait_for_request();
        let mut answer = place.command(&["answer", &request, "--stdin", "--reuse"]);
        let mut child = answer
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        child.stdin.take().expect("a pipe").write_all(b"sk_1234567890").expect("it reads");
        place.done(&["cancel", &session]);
        // An answer that was taken may find that its program has ended; that is another exit code.
        let is_taken = child.wait().expect("it ends").code() != Some(7);
        let is_kept = place.done(&["secret", "list"]).contains(&name);
        assert_eq!(is_kept, is_taken, "{name}");
        place.wait_for(&session, "cancelled");
    }
}

/// What was given to one session alone is shown as that, and can be taken out of the vault.
#[test]
fn what_a_session_was_given_can_be_removed() {
    let place = Place::new();
    // A program may run on for a moment after it asked; this one asks its question only when it has the key, so that
    // the session has one request at a time.
    let has_key = format!("until [ \"$(bash -c 'echo ${{#KEY}}')\" != 0 ]; do sleep 0.05; done; {ASK}");
    let session = place.start(&need("api_key", "KEY", "required: true").replacen(ASK, &has_key, 1));
    let request = place.wait_for_request();
    let answered = place.pipe(&["answer", &session, "--stdin"], "sk_1234567890");
    assert_eq!(answered.code, 0, "{answered:?}");
    assert_ne!(place.wait_for_request(), request, "the session stands for what it asks");
    rest(&place, &session);
    let listed = place.done(&["secret", "list", "--all"]);
    assert!(listed.contains(&session) && listed.contains("to it alone"), "{listed}");
    assert_eq!(place.run(&["secret", "rm", "KEY"]).code, 8);
    place.done(&["secret", "rm", "KEY", "--session", &session]);
    assert_eq!(place.run(&["secret", "rm", "KEY", "--session", &session]).code, 8);
    assert!(place.done(&["secret", "list", "--all"]).contains("No secrets"));
}
