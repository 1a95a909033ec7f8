//! Who said it: nonces on raw output.

use std::time::Duration;

use expect_test::expect;
use ostler_protocol::{Format, Parser, Settings, Trust};

fn with_nonce() -> Settings {
    Settings { nonce: Some("k7Qz".parse().expect("a valid nonce")), ..Settings::default() }
}

/// The trust of each item, with its kind and warnings.
fn trust(input: &str) -> String {
    let items = crate::parse(input.as_bytes(), &with_nonce());
    let line = |item: &ostler_protocol::Item| {
        let warnings: Vec<_> = item.warnings.iter().map(|warning| warning.code).collect();
        format!("{} {:?} {warnings:?}", item.what.kind(), item.trust)
    };
    items.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_nonce_makes_a_tag_trustworthy() {
    expect![[r#"
        step_complete Tagged []
        invoke Tagged []
        phase_complete Tagged []
        wait Plain []"#]].assert_eq(&trust(
        "[STEP_COMPLETE n=k7Qz]\n[/STEP_COMPLETE]\n[INVOKE:PO n=k7Qz]\nx\n=== PHASE 1 COMPLETE n=k7Qz ===\nWAIT\n",
    ));
}

#[test]
fn the_plain_form_stays_valid_and_a_wrong_nonce_gives_no_trust() {
    expect![[r#"
        step_complete Plain []
        step_complete Plain [WrongNonce]
        step_complete Plain [WrongNonce]"#]]
    .assert_eq(&trust("[STEP_COMPLETE]\n[STEP_COMPLETE n=wrong]\n[STEP_COMPLETE n=]\n"));
}

#[test]
fn a_nonce_that_was_printed_counts_no_longer() {
    expect![[r#"
        step_complete Tagged []
        fault Plain []
        step_complete Plain [WrongNonce]"#]].assert_eq(&trust(
        "[STEP_COMPLETE n=k7Qz]\n[/STEP_COMPLETE]\nNONCE=k7Qz\n[STEP_COMPLETE n=k7Qz]\n[/STEP_COMPLETE n=k7Qz]\nk7Qz\n",
    ));
}

#[test]
fn the_nonce_on_a_closing_tag_gives_nothing_away() {
    expect![[r#"
        step_complete Tagged []
        step_complete Tagged []"#]]
    .assert_eq(&trust("[STEP_COMPLETE n=k7Qz]\n[/STEP_COMPLETE n=k7Qz]\n[STEP_COMPLETE n=k7Qz]\n"));
}

#[test]
fn a_nonce_within_a_message_is_given_away() {
    expect![[r#"
        fault Plain []
        step_complete Tagged []
        step_complete Plain [WrongNonce]"#]]
    .assert_eq(&trust("[STEP_COMPLETE n=k7Qz]\nsummary: k7Qz\n[/STEP_COMPLETE]\n[STEP_COMPLETE n=k7Qz]\n"));
}

#[test]
fn a_new_nonce_counts_again() {
    let mut parser = Parser::new(Format::Text, with_nonce());
    parser.push(b"k7Qz\n");
    assert_eq!(parser.by_ref().map(|item| item.what.kind()).collect::<Vec<_>>(), ["fault"]);
    parser.set_nonce("n3w".parse().expect("a valid nonce"));
    parser.push(b"[STEP_COMPLETE n=n3w]\n[STEP_COMPLETE n=k7Qz]\n");
    parser.finish();
    assert_eq!(parser.map(|item| item.trust).collect::<Vec<_>>(), [Trust::Tagged, Trust::Plain]);
}

#[test]
fn a_silence_does_not_burn_the_nonce() {
    let mut parser = Parser::new(Format::Text, with_nonce());
    parser.push(b"=== PHASE 1 COMPLETE n=k7Qz ===");
    parser.silent_for(Duration::from_millis(400));
    parser.push(b"\n[STEP_COMPLETE n=k7Qz]\n");
    parser.finish();
    assert_eq!(parser.map(|item| item.trust).collect::<Vec<_>>(), [Trust::Tagged, Trust::Tagged]);
}

#[test]
fn the_tag_is_excused_and_nothing_else_on_its_line() {
    for given_away in
        ["[/STEP_COMPLETE] k7Qz", "[/STEP_COMPLETE n=k7Qz] k7Qz", "k7Qz\r[STEP_COMPLETE n=k7Qz]"]
    {
        let shown = trust(&format!("[STEP_COMPLETE n=k7Qz]\n{given_away}\n[STEP_COMPLETE n=k7Qz]\n"));
        assert!(
            shown.contains("fault Plain") && shown.ends_with("step_complete Plain [WrongNonce]"),
            "{given_away}: {shown}"
        );
    }
}
