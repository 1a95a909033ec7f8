//! The real binary as a person meets it: what it prints, what it says of bad input, and its exit codes.
#![expect(clippy::disallowed_methods, reason = "these tests run the binary and make its input")]

use std::{
    ffi::OsStr,
    fs,
    io::{Read, Write},
    path::PathBuf,
    process::{Child, Command, Output, Stdio},
};

use expect_test::{Expect, expect};

const QUESTION: &str = "hello\n[USER_QUESTION]\ncategory: choice\nquestion: Which?\noptions: [a, b]\nrequired: \
                        true\n[/USER_QUESTION]\n";

fn ostler() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ostler"));
    command.stdin(Stdio::null());
    command
}

fn run<S: AsRef<OsStr>>(arguments: &[S]) -> Output {
    ostler().args(arguments).output().expect("the binary starts")
}

/// Runs with some standard input.
fn pipe(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = start(arguments, Stdio::piped());
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(input).expect("the binary reads all its input");
    drop(stdin);
    child.wait_with_output().expect("the binary ends")
}

fn start(arguments: &[&str], stdout: Stdio) -> Child {
    let mut command = ostler();
    command.args(arguments).stdin(Stdio::piped()).stdout(stdout).stderr(Stdio::piped());
    command.spawn().expect("the binary starts")
}

/// A file of this test run.
fn file(name: &str, content: &[u8]) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, content).expect("the target directory can be written");
    path
}

/// What was printed on both streams, and the exit code.
#[expect(clippy::needless_pass_by_value, reason = "an inline snapshot is written in the call")]
fn check(output: &Output, expect: Expect) {
    let code = output.status.code().map_or("a signal".to_string(), |code| code.to_string());
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    expect.assert_eq(&format!("{stdout}--- {code}\n{stderr}"));
}

#[test]
fn parse_reads_standard_input_and_files() {
    let piped = pipe(&["parse"], QUESTION.as_bytes());
    check(
        &piped,
        expect![[r#"
        {"kind":"user_question","offset":6,"end":103,"index":0,"trust":"plain","ended_by":"closing_tag","category":"choice","question":"Which?","options":["a","b"],"default":null,"required":true}
        --- 0
    "#]],
    );
    assert_eq!(pipe(&["parse", "-"], QUESTION.as_bytes()), piped);
    assert_eq!(run(&[OsStr::new("parse"), file("question.txt", QUESTION.as_bytes()).as_os_str()]), piped);
}

#[test]
fn parse_gives_the_same_for_every_chunk() {
    let whole = pipe(&["parse"], QUESTION.as_bytes());
    for chunk in ["1", "2", "7", "64", "100000"] {
        assert_eq!(pipe(&["parse", "--chunk", chunk], QUESTION.as_bytes()).stdout, whole.stdout, "{chunk}");
    }
}

#[test]
fn parse_reads_structured_streams() {
    let stream = br#"{"type":"assistant","message":{"model":"m","content":[{"type":"text","text":"WAIT"}]}}
not json
{"type":"result","subtype":"success","is_error":false,"total_cost_usd":0.5}
"#;
    check(
        &pipe(&["parse", "--format", "claude"], stream),
        expect![[r#"
            {"kind":"wait","offset":0,"end":86,"index":0,"trust":"speech","ended_by":"line"}
            {"kind":"usage","offset":96,"end":171,"index":0,"trust":"stream","ended_by":"line","input_tokens":null,"output_tokens":null,"cache_read_tokens":null,"cache_write_tokens":null,"reasoning_tokens":null,"cost_usd":0.5,"tokens_span":"turn","cost_span":"conversation"}
            {"kind":"end","offset":96,"end":171,"index":1,"trust":"stream","ended_by":"line","status":"success","reason":null}
            --- 0
        "#]],
    );
}

#[test]
fn parse_knows_the_nonce_and_counts() {
    let text = b"[STEP_COMPLETE n=k7]\n[/STEP_COMPLETE]\n[STEP_COMPLETE]\n";
    check(
        &pipe(&["parse", "--nonce", "k7", "--stats"], text),
        expect![[r#"
        {"kind":"step_complete","offset":0,"end":37,"index":0,"trust":"tagged","ended_by":"closing_tag","step":null,"summary":null}
        {"kind":"step_complete","offset":38,"end":53,"index":0,"trust":"plain","ended_by":"stream","step":null,"summary":null}
        --- 0
        {"bytes":54,"items":2,"kinds":{"step_complete":2},"buffered_bytes_max":16}
    "#]],
    );
}

#[test]
fn guide_speaks_two_languages() {
    assert!(String::from_utf8_lossy(&run(&["guide"]).stdout).starts_with("You run under Ostler"));
    assert!(String::from_utf8_lossy(&run(&["guide", "--lang", "ko"]).stdout).starts_with("당신은 Ostler"));
}

#[test]
fn no_such_file() {
    check(
        &run(&["parse", "no/such/file"]),
        expect![[r#"
        --- 3
        ostler: cannot read 'no/such/file': No such file or directory (os error 2)
          Check the path, or give '-' to read standard input.
    "#]],
    );
}

#[test]
fn a_directory() {
    check(
        &run(&["parse", "/"]),
        expect![[r#"
        --- 3
        ostler: cannot read '/': Is a directory (os error 21)
          Name a file in it, or give '-' to read standard input.
    "#]],
    );
}

#[test]
fn a_full_disk() {
    let full = fs::File::options().write(true).open("/dev/full").expect("Linux has it");
    let output = ostler().args(["guide"]).stdout(full).output().expect("the binary starts");
    check(
        &output,
        expect![[r#"
            --- 4
            ostler: cannot write standard output: No space left on device (os error 28)
              The output is cut there. Nothing else was changed; make room or write elsewhere, and run it again.
        "#]],
    );
}

#[test]
fn nowhere_to_complain_to() {
    let full = || fs::File::options().write(true).open("/dev/full").expect("Linux has it");
    let output = ostler().args(["parse", "no/such/file"]).stderr(full()).output().expect("the binary starts");
    check(
        &output,
        expect![[r#"
        --- 3
    "#]],
    );
    let output = ostler().args(["parse", "--stats"]).stderr(full()).output().expect("the binary starts");
    check(
        &output,
        expect![[r#"
        --- 4
    "#]],
    );
}

#[test]
fn a_wrong_command_line() {
    for arguments in
        [&["parse", "--chunk", "0"][..], &["parse", "--nonce", "a b"], &["parse", "--format", "x"], &["sing"]]
    {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{arguments:?}");
    }
}

#[test]
fn binary_input_is_only_bytes() {
    let noise: Vec<u8> =
        (0..200_000_u32).map(|number| (number.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let output = pipe(&["parse"], &[&noise[..], b"\nWAIT\n"].concat());
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&output.stdout).contains(r#"{"kind":"wait""#));
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let mut child = start(&["parse"], Stdio::piped());
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(b"WAIT\n").expect("the binary reads");
    let mut first = [0; 1];
    child.stdout.take().expect("a pipe").read_exact(&mut first).expect("an item comes at once");
    // The reader is gone; writing goes on until the binary notices and stops reading.
    while stdin.write_all(&b"WAIT\n".repeat(1000)).is_ok() {}
    check(
        &child.wait_with_output().expect("the binary ends"),
        expect![[r#"
        --- 0
    "#]],
    );
}

#[test]
fn an_item_comes_before_the_input_ends() {
    let mut child = start(&["parse"], Stdio::piped());
    let mut stdin = child.stdin.take().expect("a pipe");
    let mut stdout = child.stdout.take().expect("a pipe");
    stdin.write_all(QUESTION.trim_end().as_bytes()).expect("the binary reads");
    let mut kind = [0; 23];
    stdout.read_exact(&mut kind).expect("the closing tag counts the moment it is complete");
    assert_eq!(&kind, br#"{"kind":"user_question""#);
    drop(stdin);
    assert!(child.wait().expect("the binary ends").success());
}

#[test]
fn memory_stays_constant() {
    let mut child = start(&["parse"], Stdio::null());
    let mut stdin = child.stdin.take().expect("a pipe");
    let resident_kib = |id: u32| -> u64 {
        let status = fs::read_to_string(format!("/proc/{id}/status")).expect("Linux tells");
        let line =
            status.lines().find(|line| line.starts_with("VmRSS:")).expect("a living process has memory");
        line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).expect("a number of KiB")
    };
    let chunk = [&b"y\n".repeat(50_000)[..], &b"[ERROR]\n".repeat(100)].concat();
    stdin.write_all(&chunk).expect("the binary reads");
    let before = resident_kib(child.id());
    for _ in 0..300 {
        stdin.write_all(&chunk).expect("the binary reads");
    }
    let after = resident_kib(child.id());
    drop(stdin);
    assert!(child.wait().expect("the binary ends").success());
    assert!(after < before + 4096, "{before} KiB grew to {after} KiB over 30 MB");
}
