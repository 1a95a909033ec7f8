//! Nothing is held without a bound, and nothing that comes later is lost.

use expect_test::expect;
use ostler_protocol::{Format, Limits, Parser, Settings};

fn settings(line_bytes: usize, block_bytes: usize, block_lines: usize) -> Settings {
    Settings { limits: Limits { line_bytes, block_bytes, block_lines }, ..Settings::default() }
}

#[test]
fn a_long_line_is_reported_and_passed_over() {
    let text = format!("{}\nCUSTOM:x:{}\nWAIT\n{}", "x".repeat(50), "y".repeat(50), "z".repeat(50));
    let items = crate::parse(text.as_bytes(), &settings(40, 100, 10));
    expect![[r#"
        0..50 fault by "line" {"details":"a line is longer than the limit","raw":"","reason":"line_too_long","severity":"warning","tag":""}
        51..110 fault by "line" {"details":"a line is longer than the limit","raw":"","reason":"line_too_long","severity":"warning","tag":""}
        111..115 wait by "line" {}
        116..166 fault by "line" {"details":"a line is longer than the limit","raw":"","reason":"line_too_long","severity":"warning","tag":""}"#]]
    .assert_eq(&crate::show(&items));
}

#[test]
fn a_block_with_too_many_bytes_is_a_fault() {
    let text = format!("[ERROR]\nmessage: {}\n[/ERROR]\nWAIT\n", "x".repeat(100));
    let items = crate::parse(text.as_bytes(), &settings(1000, 100, 10));
    expect![[r#"
        0..7 fault by "limit" {"details":"ERROR is longer than the limit of 100 bytes","field":"100 bytes","message":"Invalid protocol format","raw":"[ERROR]\n","reason":"too_long","recovery":"notify_user","severity":"fault","tag":"ERROR","type":"fatal"}
        127..131 wait by "line" {}"#]]
    .assert_eq(&crate::show(&items));
}

#[test]
fn a_block_with_too_many_lines_is_a_fault() {
    let text = "[ERROR]\na: 1\nb: 2\nc: 3\nd: 4\n[/ERROR]\nWAIT\n";
    let items = crate::parse(text.as_bytes(), &settings(1000, 1000, 4));
    expect![[r#"
        0..27 fault by "limit" {"details":"ERROR is longer than the limit of 4 lines","field":"4 lines","message":"Invalid protocol format","raw":"[ERROR]\na: 1\nb: 2\nc: 3\nd: 4\n","reason":"too_long","recovery":"notify_user","severity":"fault","tag":"ERROR","type":"fatal"}
        37..41 wait by "line" {}"#]].assert_eq(&crate::show(&items));
}

#[test]
fn a_list_of_documents_that_is_too_long_is_cut() {
    let text = "=== PHASE 1 COMPLETE ===\nDocuments created:\n- a\n- b\n- c\nWAIT\n";
    let items = crate::parse(text.as_bytes(), &settings(1000, 1000, 3));
    expect![[r#"
        0..51 phase_complete by "limit" {"documents":["a","b"],"phase":1,"warnings":[{"code":"cut","field":"documents"}]}
        56..60 wait by "line" {}"#]].assert_eq(&crate::show(&items));
}

#[test]
fn ten_megabytes_without_a_newline_are_not_held() {
    let mut parser = Parser::new(Format::Text, Settings::default());
    let noise = [b'x', 0xff, b'[', 0x1b, b'\r', 0].repeat(1 << 14);
    for _ in 0..100 {
        parser.push(&noise);
        assert!(parser.buffered_bytes() <= Limits::default().line_bytes);
    }
    parser.push(b"\nWAIT\n");
    assert_eq!(parser.by_ref().map(|item| item.what.kind()).collect::<Vec<_>>(), ["fault", "wait"]);
}

#[test]
fn ten_thousand_blocks_are_all_heard() {
    let block = "[ERROR]\ntype: fatal\nmessage: m\nrecovery: notify_user\n[/ERROR]\n";
    let items = crate::parse(block.repeat(10_000).as_bytes(), &Settings::default());
    assert_eq!(items.len(), 10_000);
    assert!(items.iter().zip(0..).all(|(item, number)| item.offset == number * block.len() as u64));
}

#[test]
fn a_bracket_that_is_too_much_is_let_go() {
    let items = crate::parse(b"[ERROR]\n   [/ERRORRRRRRRRRRRRR]\nWAIT\n", &settings(100, 30, 10));
    assert_eq!(items.iter().map(|item| item.what.kind()).collect::<Vec<_>>(), ["fault", "wait"]);
}

#[test]
fn a_long_line_behind_an_announcement_is_heard() {
    let text = format!("=== PHASE 1 COMPLETE ===\nCUSTOM:x:{}\n", "y".repeat(200));
    let items = crate::parse(text.as_bytes(), &settings(1000, 100, 10));
    assert_eq!(items.iter().map(|item| item.what.kind()).collect::<Vec<_>>(), ["phase_complete", "custom"]);
    assert!(items.iter().all(|item| item.warnings.is_empty()));
}

/// Were a bracket to cost as much as the line before it, these lines would take hours.
#[test]
fn a_line_of_brackets_costs_no_more_than_another() {
    let mut parser = Parser::new(Format::Text, Settings::default());
    for line in [" ".repeat(100_000) + &"]".repeat(100_000), "[/".repeat(50_000) + &"]".repeat(50_000)] {
        parser.push(b"[ERROR]\n");
        for byte in line.as_bytes() {
            parser.push(&[*byte]);
            assert!(parser.patience().is_some());
        }
        parser.push(b"\n[/ERROR]\n");
    }
    parser.push(b"CUSTOM:x:");
    for _ in 0..500_000 {
        parser.push(b"y");
        parser.patience();
    }
    parser.push(b"\n");
    for beginning in ["", "[ERROR]"] {
        parser.push(beginning.as_bytes());
        for _ in 0..500_000 {
            parser.push(b" ");
        }
        parser.push(b"\n[/ERROR]\n");
    }
    assert_eq!(
        parser.map(|item| item.what.kind()).collect::<Vec<_>>(),
        ["fault", "fault", "custom", "fault"]
    );
}
