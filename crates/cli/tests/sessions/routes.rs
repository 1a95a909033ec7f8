//! Every route over TCP, asked by everybody who should not: each is refused with the right word, before anything is done.

use std::collections::BTreeSet;

use ostler_server::{Need, api::StatusView, routes};
use serde_json::Value;

use crate::{
    support::World,
    tcp::{Answer, Browser, borrowed, send, sign_in, token},
};

/// More than any body.
const TOO_LONG: &str = "5368709120";

/// Routes beside the interface.
const BESIDE: [&str; 3] = ["/healthz", "/readyz", "/metrics"];

/// Those that anybody may ask, and why. Another one is a decision, and is to be made here too.
const OPEN: [(&str, &str); 3] = [
    ("/sign-in", "whoever signs in is nobody yet, and shows the code of a link"),
    ("/healthz", "one word, for what looks after the server"),
    ("/readyz", "one word, for what looks after the server"),
];

/// What is asked, and by whom.
struct Asked<'a> {
    browser: &'a Browser,
    line: String,
    is_write: bool,
    kind: &'static str,
}

impl Asked<'_> {
    /// As the page would ask it, with some headers changed: those that are `None` are left out.
    fn with(&self, changes: &[(&'static str, Option<&str>)]) -> Answer {
        let mut headers = self.browser.headers();
        if self.is_write {
            headers.push(("Content-Type", self.kind.to_owned()));
        }
        for (name, value) in changes {
            headers.retain(|(known, _)| known != name);
            headers.extend(value.map(|value| (*name, value.to_owned())));
        }
        // A body that nobody could take for another: what lets it through does nothing with it.
        let body = if self.is_write { "nonsense" } else { "" };
        send(&self.browser.address, &self.line, &borrowed(&headers), body)
    }

    fn refused(&self, what: &str, changes: &[(&'static str, Option<&str>)], status: u16, kind: &str) {
        let answer = self.with(changes);
        assert_eq!(
            (answer.status, answer.kind().as_str()),
            (status, kind),
            "{} {what}: {answer:?}",
            self.line
        );
        let problem = answer.json();
        assert!(problem["title"].is_string() && problem["hint"].is_string(), "{what}: {answer:?}");
        let policy = answer.header("content-security-policy").expect("a policy");
        assert!(policy.starts_with("default-src 'none'"), "{policy}");
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"),
            ("cache-control", "no-store"),
        ] {
            assert_eq!(answer.header(name), Some(value), "{} {what}", self.line);
        }
        assert_eq!(answer.header("access-control-allow-origin"), None, "{} {what}", self.line);
    }
}

/// Those who show something that is not, or not any more, good.
struct Strangers {
    over: String,
    over_browser: Browser,
    other: Browser,
    read_only: String,
    full: String,
}

/// A server whose first token and browser are over.
fn world() -> (World, Browser, Strangers) {
    let mut world = World::idle();
    world.start();
    let (over, over_browser) = (token(&world, "over", false), sign_in(&world));
    world.kill_server();
    let path = world.home.join("sign-ins.json");
    let mut kept: Value = serde_json::from_slice(&std::fs::read(&path).expect("a file")).expect("JSON");
    for entry in kept["entries"].as_array_mut().expect("entries") {
        entry["over_at_ms"] = (entry["made_at_ms"].as_u64().expect("a time") + 1).into();
    }
    std::fs::write(&path, kept.to_string()).expect("it can be written");
    world.start();
    let strangers = Strangers {
        over: format!("Bearer {over}"),
        over_browser,
        other: sign_in(&world),
        read_only: format!("Bearer {}", token(&world, "looks", true)),
        full: format!("Bearer {}", token(&world, "does", false)),
    };
    let browser = sign_in(&world);
    (world, browser, strangers)
}

#[test]
fn every_route_refuses_what_it_must_and_nothing_happens() {
    let (world, browser, strangers) = world();
    let document: Value = world.get("/openapi.json").expect("a document");
    let mut documented = BTreeSet::from(["GET /openapi.json".to_owned()]);
    for (path, methods) in document["paths"].as_object().expect("paths") {
        let methods = methods.as_object().expect("methods").keys().filter(|it| *it != "servers");
        documented.extend(methods.map(|it| format!("{} {path}", it.to_uppercase())));
    }
    let decided: BTreeSet<String> = routes().map(|(method, path, _)| format!("{method} {path}")).collect();
    assert_eq!(documented, decided, "every route needs a decision: crates/server/src/http/access.rs");
    let seq = || world.get::<StatusView>("/status").expect("a status").seq;
    let before = seq();
    for (method, path, need) in routes() {
        assert_eq!(need == Need::Nothing, OPEN.iter().any(|(open, _)| *open == path), "{path}");
        let prefix = if BESIDE.contains(&path) { "" } else { "/api/v1" };
        let about = &document["paths"][path][method.to_lowercase()];
        let takes_file = about["requestBody"]["content"]["application/octet-stream"].is_object();
        let asked = Asked {
            browser: &browser,
            line: format!("{method} {prefix}{}", path_of(path)),
            is_write: method != "GET",
            kind: if takes_file { "application/octet-stream" } else { "application/json" },
        };
        foreign(&asked);
        if need != Need::Nothing {
            not_signed_in(&asked, &strangers);
            not_allowed(&asked, need, &strangers);
        }
        bodies(&asked, need);
        let takes_json = about["requestBody"]["content"]["application/json"].is_object();
        if !asked.is_write || takes_json {
            // Whoever may is let through: what they say is what is wrong then.
            let answer = asked.with(&[]);
            assert!(![401, 403, 413, 415, 421].contains(&answer.status), "{}: {answer:?}", asked.line);
        }
    }
    assert_eq!(seq(), before, "nothing stands in the journal");
}

/// A path with something in the place of its parameters.
fn path_of(path: &str) -> String {
    let values = [("{id}", "x_1"), ("{name}", "nobody"), ("{task}", "T1.1"), ("{phase}", "1")];
    values.iter().fold(path.to_owned(), |path, (name, value)| path.replace(name, value))
}

/// What is meant for another host, or comes from another page.
fn foreign(asked: &Asked<'_>) {
    let port = asked.browser.address.rsplit(':').next().expect("a port");
    let hosts = [
        "evil.example".to_owned(),
        format!("evil.example:{port}"),
        "127.0.0.1".to_owned(),
        "127.0.0.1:1".to_owned(),
        format!("127.0.0.1:{port}.evil.example"),
        format!("127.0.0.2:{port}"),
        String::new(),
    ];
    for host in &hosts {
        asked.refused(host, &[("Host", Some(host))], 421, "foreign_host");
    }
    asked.refused("no host", &[("Host", None)], 421, "foreign_host");
    let own = &asked.browser.address;
    let origins = [
        "http://evil.example".to_owned(),
        "null".to_owned(),
        format!("https://{own}"),
        format!("http://localhost:{port}"),
        "http://127.0.0.1:1".to_owned(),
        format!("http://{own}.evil.example"),
        format!("HTTP://{own}"),
        String::new(),
    ];
    for origin in &origins {
        asked.refused(origin, &[("Origin", Some(origin))], 403, "foreign_origin");
    }
    for site in ["cross-site", "same-site", "nonsense"] {
        asked.refused(site, &[("Sec-Fetch-Site", Some(site))], 403, "foreign_origin");
    }
}

fn not_signed_in(asked: &Asked<'_>, strangers: &Strangers) {
    let nothing = [("Cookie", None), ("Ostler-Proof", None)];
    asked.refused("nothing", &nothing, 401, "not_signed_in");
    for (what, changes) in [
        ("no proof", [("Ostler-Proof", None)]),
        ("no cookie", [("Cookie", None)]),
        ("another's proof", [("Ostler-Proof", Some(strangers.other.proof.as_str()))]),
        ("another's cookie", [("Cookie", Some(strangers.other.cookie.as_str()))]),
        ("a wrong proof", [("Ostler-Proof", Some("0"))]),
        ("a cookie of another name", [("Cookie", Some("ostler=1"))]),
    ] {
        asked.refused(what, &changes, 401, "not_signed_in");
    }
    let over = &strangers.over_browser;
    let over = [("Cookie", Some(over.cookie.as_str())), ("Ostler-Proof", Some(over.proof.as_str()))];
    asked.refused("a browser that is over", &over, 401, "not_signed_in");
    let cookie_as_token = format!("Bearer {}", asked.browser.cookie.split_once('=').expect("a value").1);
    for shown in [strangers.over.as_str(), "Bearer ost_0", "Bearer ", &cookie_as_token] {
        // A token counts for itself, whatever stands beside it.
        asked.refused(shown, &[("Authorization", Some(shown))], 401, "not_signed_in");
    }
    for shown in [strangers.over.as_str(), "Bearer ost_0", "Bearer ", "Basic b3N0OmxlcgDg", &cookie_as_token]
    {
        let alone = [nothing[0], nothing[1], ("Authorization", Some(shown))];
        asked.refused(shown, &alone, 401, "not_signed_in");
    }
}

fn not_allowed(asked: &Asked<'_>, need: Need, strangers: &Strangers) {
    let with =
        |token| [("Cookie", None), ("Ostler-Proof", None), ("Origin", None), ("Authorization", Some(token))];
    if need != Need::Look {
        asked.refused("a token that looks", &with(strangers.read_only.as_str()), 403, "read_only");
    }
    if need == Need::Access {
        asked.refused("a token", &with(strangers.full.as_str()), 403, "not_with_token");
    }
    if asked.is_write {
        asked.refused("a cookie, and no origin", &[("Origin", None)], 403, "foreign_origin");
    }
}

/// Bodies that a form of another page could send, or that are too long; nobody waits for the rest of those.
fn bodies(asked: &Asked<'_>, need: Need) {
    asked.refused("a long body", &[("Content-Length", Some(TOO_LONG))], 413, "too_large");
    if !asked.is_write {
        return;
    }
    for kind in
        ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/jsonx", ""]
    {
        asked.refused(kind, &[("Content-Type", Some(kind))], 415, "not_json");
    }
    asked.refused("no kind", &[("Content-Type", None)], 415, "not_json");
    if need == Need::Act {
        // Also where none is wanted.
        let changes = [("Content-Type", Some("text/plain")), ("Content-Length", Some("0"))];
        asked.refused("a form without a body", &changes, 415, "not_json");
    }
}
