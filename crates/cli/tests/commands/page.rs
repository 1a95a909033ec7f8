//! `ostler open` and `ostler token`: what they print, what a browser is started with, and what is said of bad input.

use std::{fs, os::unix::fs::PermissionsExt};

use crate::support::{Place, until};

/// The link in what was printed.
fn link(out: &str) -> String {
    out.lines().find(|line| line.starts_with("http")).unwrap_or_else(|| panic!("no link: {out}")).to_owned()
}

#[test]
fn open_prints_a_link_and_starts_a_browser_with_it() {
    let place = Place::new();
    let (browser, seen) = (place.project().join("browser"), place.project().join("seen"));
    let script =
        format!("#!/bin/sh\nprintf '%s\\n' \"$@\" > {0}.draft && mv {0}.draft {0}\n", seen.display());
    fs::write(&browser, script).expect("a script");
    fs::set_permissions(&browser, fs::Permissions::from_mode(0o755)).expect("it is ours");
    let mut command = place.command(&["open", "q_7"]);
    command.env("BROWSER", format!("{} --new-tab %s:w3m", browser.display()));
    let output = command.output().expect("the binary starts");
    assert!(output.status.success(), "{output:?}");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let link = link(&out);
    assert!(link.starts_with("http://127.0.0.1:") && link.ends_with("/requests/q_7"), "{link}");
    assert!(err.contains("once and within ten minutes"), "{err}");
    let arguments = until("a browser", || fs::read_to_string(&seen).ok());
    assert_eq!(arguments, format!("--new-tab\n{link}\n"));
    // One that is not there is no failure: the link is.
    let mut command = place.command(&["--lang", "ko", "open"]);
    command.env("BROWSER", "/no/such/browser");
    let output = command.output().expect("the binary starts");
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && err.contains("시작할 수 없습니다"), "{output:?}");
}

#[test]
fn open_leads_where_it_is_asked_to() {
    let place = Place::new();
    let session = place.start("true");
    for (asked, path) in [
        ("q_1", "/requests/q_1"),
        ("s_1", "/sessions/s_1"),
        ("r_1", "/runs/r_1"),
        ("last", &format!("/sessions/{session}")),
        ("/runs?all=true", "/runs?all=true"),
        ("/a b", "/a%20b"),
    ] {
        let opened = place.json(&["open", asked]);
        let url = opened["url"].as_str().expect("a link");
        let code = url.split_once("/sign-in#").expect("a code").1;
        assert_eq!(&code[32..], path, "{asked}");
        assert!(opened["away"].is_null() && opened["over_at_ms"].is_u64(), "{opened}");
    }
    let said = place.run(&["open", "nonsense"]);
    assert_eq!(said.code, 8, "{said:?}");
}

#[test]
fn a_code_is_drawn_with_the_name_that_a_phone_can_reach() {
    let place = Place::new();
    let here = place.run(&["open", "--qr"]);
    assert_eq!(here.code, 0, "{here:?}");
    assert!(here.out.contains('█') && link(&here.out).starts_with("http://127.0.0.1:"), "{}", here.out);
    assert!(here.err.contains("A phone cannot reach this address"), "{}", here.err);
    place.done(&["serve", "--stop"]);
    place.configure("[page]\nallowed_hosts = [\"http://localhost:9000\", \"box.ts.net\"]\n");
    let away = place.run(&["open", "--qr"]);
    assert!(link(&away.out).starts_with("https://box.ts.net/sign-in#"), "{}", away.out);
    assert!(!away.err.contains("phone"), "{}", away.err);
    assert!(link(&place.done(&["open", "--print"])).starts_with("http://127.0.0.1:"));
}

#[test]
fn a_page_that_is_switched_off_says_so() {
    let place = Place::new();
    place.configure("[page]\nlisten = \"off\"\n");
    let said = place.run(&["open"]);
    assert_eq!((said.code, said.out.as_str()), (7, ""), "{said:?}");
    assert!(said.err.contains("switched off") && said.err.contains("[page]"), "{}", said.err);
    let said = place.run(&["--lang", "ko", "open"]);
    assert!(said.err.contains("페이지가 꺼져 있습니다"), "{}", said.err);
    let doctor = place.json(&["doctor"]);
    let page = doctor.as_array().expect("checks").iter().find(|it| it["check"] == "page").expect("a check");
    assert_eq!(page["grade"], "ok");
    // A mistake is named with its line.
    place.configure("[page]\nlisten = \"here\"\n");
    let said = place.run(&["open"]);
    assert_eq!(said.code, 7, "{said:?}");
    assert!(said.err.contains("config.toml:2: `here` is no address"), "{}", said.err);
}

#[test]
fn tokens_are_made_listed_and_ended() {
    let place = Place::new();
    assert!(place.done(&["token", "list"]).contains("ostler token make NAME"));
    let made = place.run(&["token", "make", "ci", "--days", "30", "--read-only"]);
    assert_eq!(made.code, 0, "{made:?}");
    let token = made.out.trim_end();
    assert!(
        token.starts_with("ost_") && token.len() == 68 && made.err.contains("not shown again"),
        "{made:?}"
    );
    let other = place.json(&["token", "make", "deploy"]);
    assert!(other["token"].as_str().is_some_and(|it| it.starts_with("ost_")), "{other}");
    let days = other["sign_in"]["over_at_ms"].as_u64().zip(other["sign_in"]["made_at_ms"].as_u64());
    assert_eq!(days.map(|(over, made)| (over - made) / 86_400_000), Some(90));
    let list = place.done(&["token", "list"]);
    let rows: Vec<Vec<&str>> = list.lines().skip(1).map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0][..5], ["k_1", "ci", "token,", "only", "looks"], "{list}");
    assert_eq!(rows[1][..3], ["k_2", "deploy", "token"], "{list}");
    assert!(!list.contains("ost_") && list.contains("never"), "{list}");
    assert!(place.done(&["--lang", "ko", "token", "list"]).contains("읽기 전용"));
    let again = place.run(&["token", "make", "ci"]);
    assert_eq!(again.code, 7, "{again:?}");
    assert!(again.err.contains("already") && again.err.contains("ostler token revoke ci"), "{}", again.err);
    assert!(place.done(&["token", "revoke", "ci"]).contains("'ci' cannot come in any more"));
    assert_eq!(place.json(&["token", "revoke", "k_2"])["name"], "deploy");
    for gone in ["ci", "k_2", "../x", ""] {
        let said = place.run(&["token", "revoke", gone]);
        assert_eq!(said.code, 8, "{gone}: {said:?}");
    }
    assert_eq!(place.json(&["token", "list"]), serde_json::json!([]));
    assert_eq!(place.run(&["token", "make", "a b"]).code, 7);
    assert_eq!(place.run(&["token", "make", "x", "--days", "0"]).code, 7);
    assert_eq!(place.run(&["token", "make"]).code, 2);
}
