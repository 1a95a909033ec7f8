//! The door for browsers and scripts: links, sign-ins and tokens, where it stands, and who fills the house.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    path::Path,
    process::Command,
    time::Instant,
};

use ostler_server::api::{InfoView, LinkView, NewLink, PageState, SignInView};
use serde_json::{Value, json};

use crate::{
    support::{DEADLINE, World, write},
    tcp::{Browser, address, borrowed, code, configure, connect, raw, redeem, send, sign_in, token},
};

/// More than the door takes at a time.
const CONNECTIONS: usize = 520;

/// The same, for those who have nothing to ask.
const IDLE: usize = 600;

fn page(world: &World) -> ostler_server::api::PageView {
    let tried = |world: &World| Some(world.get::<InfoView>("/info").ok()?.page);
    world.wait_for("the door", |world| tried(world).filter(|page| page.state != PageState::Closed))
}

#[test]
fn a_link_signs_one_browser_in_once() {
    let world = World::new();
    let address = address(&world);
    let link: LinkView =
        world.post("/links", &NewLink { path: Some("/requests/q_7".into()) }).expect("a link");
    let (origin, code) = link.url.split_once("/sign-in#").expect("a link");
    assert_eq!((origin, link.away), (format!("http://{address}").as_str(), None));
    assert_eq!(code.len(), 32 + "/requests/q_7".len(), "128 bits, and where it leads to");
    let answer = redeem(&address, code);
    assert_eq!(answer.status, 200, "{answer:?}");
    let port = address.rsplit(':').next().expect("a port");
    let cookie = answer.header("set-cookie").expect("a cookie");
    let (value, terms) = cookie.split_once("; ").expect("a value and its terms");
    assert!(value.starts_with(&format!("ostler_{port}=")) && value.len() > 64, "{cookie}");
    assert_eq!(terms, "HttpOnly; SameSite=Strict; Path=/; Max-Age=2592000");
    let again = redeem(&address, code);
    assert_eq!((again.status, again.kind().as_str()), (410, "link_used"));
    assert!(again.json()["hint"].as_str().is_some_and(|hint| hint.contains("ostler open")), "{again:?}");
    let unknown = redeem(&address, "0123456789abcdef0123456789abcdef");
    assert_eq!((unknown.status, unknown.kind().as_str()), (401, "link_unknown"));
    let long = redeem(&address, &"0".repeat(5000));
    assert_eq!((long.status, long.kind().as_str()), (413, "too_large"));
    assert!(long.body.contains("at most 4 KiB are taken here"), "{long:?}");
    for path in ["//evil.example", "requests", "/a b", "/a#b", &format!("/{}", "a".repeat(500))] {
        let refused = world.refused("/links", &NewLink { path: Some(path.into()) });
        assert_eq!(refused.kind, "bad_path", "{path}");
    }
    // At the socket there is nobody to sign in.
    assert_eq!(world.refused("/sign-in", &json!({ "code": "x" })).kind, "not_over_tcp");
    assert_eq!(world.refused("/sign-out", &json!({})).kind, "not_over_tcp");
}

#[test]
fn a_sign_in_outlives_the_server_and_finds_it_again() {
    let mut world = World::idle();
    // The usual one is everybody's, and so are those that the system gives away.
    let port = 20_000 + std::process::id() % 10_000;
    write(&world.home, "page.port", &port.to_string());
    world.start();
    let browser = sign_in(&world);
    let token = token(&world, "ci", false);
    let unused = code(&world);
    world.restart();
    assert_eq!(address(&world), browser.address, "the port is remembered");
    assert_eq!(browser.get("/status").status, 200);
    assert_eq!(redeem(&browser.address, &unused).kind(), "link_unknown", "links are not");
    let bearer = format!("Bearer {token}");
    let ask = || {
        let headers = [("Host", browser.address.as_str()), ("Authorization", &bearer)];
        send(&browser.address, "GET /api/v1/status", &headers, "").status
    };
    assert_eq!(ask(), 200);
    let kept = fs::read_to_string(world.home.join("sign-ins.json")).expect("a file");
    for secret in
        [token.trim_start_matches("ost_"), &browser.proof, browser.cookie.split_once('=').expect("a value").1]
    {
        assert!(!kept.contains(secret), "{kept}");
    }
    let all: Vec<SignInView> = world.get("/sign-ins").expect("a list");
    let names: Vec<&str> = all.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["browser", "ci"]);
    assert!(all.iter().all(|it| it.used_at_ms.is_some_and(|at| at % 86_400_000 == 0)), "{all:?}");
    // What is taken back is over at once, a stream that was begun with it too, and stays so.
    let mut stream = TcpStream::connect(&browser.address).expect("it listens");
    stream.set_read_timeout(Some(DEADLINE)).expect("a time");
    let follow = format!(
        "GET /api/v1/events?follow=true&after=9999 HTTP/1.1\r\nHost: {}\r\nAuthorization: {bearer}\r\n\
         Connection: close\r\n\r\n",
        browser.address
    );
    stream.write_all(follow.as_bytes()).expect("it reads");
    let mut lines = BufReader::new(stream).lines();
    let hello = lines.by_ref().map(|line| line.expect("a line")).find(|line| line.contains("event: hello"));
    assert!(hello.is_some(), "it follows");
    world.post::<Value>("/sign-ins/ci/revoke", &json!({})).expect("it ends");
    let over = Instant::now() + DEADLINE;
    assert!(lines.all(|line| line.is_ok() && Instant::now() < over), "the stream comes to its end");
    assert_eq!(ask(), 401);
    world.restart();
    assert_eq!(address(&world), browser.address);
    assert_eq!(ask(), 401);
    assert_eq!(world.refused("/sign-ins/ci/revoke", &json!({})).kind, "no_sign_in");
}

/// Whoever takes the port is shown what its browsers show there. It is worth nothing at the port that the server has
/// meanwhile.
#[test]
fn a_sign_in_is_good_at_its_own_port_and_that_port_is_come_back_to() {
    let mut world = World::idle();
    let port = 30_000 + std::process::id() % 2_000;
    write(&world.home, "page.port", &port.to_string());
    configure(&world, "[page]\nlisten = \"127.0.0.1:0\"\n");
    world.start();
    let browser = sign_in(&world);
    world.kill_server();
    let taken = TcpListener::bind(&browser.address).expect("nobody has it");
    world.start();
    let elsewhere = address(&world);
    assert_ne!(elsewhere, browser.address);
    let (_, value) = browser.cookie.split_once('=').expect("a value");
    let other = elsewhere.rsplit(':').next().expect("a port");
    let cookie = format!("ostler_{other}={value}");
    let stolen = Browser { address: elsewhere.clone(), cookie, proof: browser.proof.clone() };
    let refused = stolen.get("/status");
    assert_eq!((refused.status, refused.kind().as_str()), (401, "not_signed_in"), "{refused:?}");
    assert_eq!(sign_in(&world).get("/status").status, 200, "who signs in there is signed in there");
    let kept = fs::read_to_string(world.home.join("page.port")).expect("a file");
    assert_eq!(kept, format!("{port}\n{other}\n"), "its own port, and the one that it had instead");
    world.kill_server();
    drop(taken);
    world.start();
    assert_eq!(address(&world), browser.address);
    assert_eq!(browser.get("/status").status, 200);
}

#[test]
fn a_page_knows_its_server_again() {
    let (mut world, other) = (World::new(), World::new());
    let id = world.get::<InfoView>("/info").expect("the server").server;
    assert!(id.len() == 16 && id.bytes().all(|byte| byte.is_ascii_hexdigit()), "{id}");
    assert_ne!(id, other.get::<InfoView>("/info").expect("the server").server);
    world.restart();
    let own = address(&world);
    let signed_in = redeem(&own, &code(&world));
    assert_eq!(signed_in.json()["server"], id.as_str(), "{signed_in:?}");
    for line in ["GET /", "GET /api/v1/status", "GET /api/v1/nothing", "GET /healthz"] {
        let answer = send(&own, line, &[("Host", &own)], "");
        assert_eq!(answer.header("ostler-server"), Some(id.as_str()), "{line}: {answer:?}");
    }
    // Where another's name leads here, a page of theirs could read it.
    for headers in
        [[("Host", "evil.example"), ("X", "")], [("Host", &own), ("Origin", "http://evil.example")]]
    {
        assert_eq!(send(&own, "GET /", &headers, "").header("ostler-server"), None, "{headers:?}");
    }
    let mut stream = crate::wire::lines(crate::wire::send(&world, "GET /events?follow=true", &[], b""));
    let hello = stream.find(|line| line.starts_with("data: ")).expect("a greeting");
    assert!(hello.contains(&format!("\"server\":\"{id}\"")), "{hello}");
}

#[test]
fn a_browser_does_what_a_person_does_and_signs_another_in() {
    let world = World::new();
    let browser = sign_in(&world);
    let made = browser.post("/runs", &json!(world.new_run(&["true"])));
    assert_eq!(made.status, 201, "{made:?}");
    let session = made.json()["sessions"][0]["id"].as_str().expect("a session").to_owned();
    world.status(&session, "completed");
    let link = browser.post("/links", &json!({}));
    assert_eq!(link.status, 201, "{link:?}");
    let link: LinkView = serde_json::from_str(&link.body).expect("a link");
    let phone = redeem(&browser.address, link.url.split_once('#').expect("a code").1);
    let phone = Browser {
        cookie: phone.header("set-cookie").expect("a cookie").split(';').next().expect("a value").to_owned(),
        proof: phone.json()["proof"].as_str().expect("a proof").to_owned(),
        ..browser.clone()
    };
    assert_eq!(phone.get("/inbox").status, 200);
    // Each is its own: who signs out signs nobody else out.
    let out = browser.post("/sign-out", &json!({}));
    assert_eq!(out.status, 200, "{out:?}");
    assert!(
        out.header("set-cookie").is_some_and(|it| it.contains("=; ") && it.contains("Max-Age=0")),
        "{out:?}"
    );
    assert_eq!(browser.get("/inbox").status, 401);
    let listed = phone.get("/sign-ins").json();
    let current: Vec<bool> =
        listed.as_array().expect("a list").iter().filter_map(|it| it["current"].as_bool()).collect();
    assert_eq!(current, [true]);
    assert_eq!(phone.post("/tokens", &json!({ "name": "made-here" })).status, 201);
}

#[test]
fn what_is_meant_for_a_proxy_keeps_no_browser_out_and_lets_nobody_in() {
    let world = World::new();
    let browser = sign_in(&world);
    let ask = |headers: Vec<(&'static str, String)>, word: &str| {
        let headers = [headers, vec![("Authorization", word.to_owned())]].concat();
        send(&browser.address, "GET /api/v1/inbox", &borrowed(&headers), "").status
    };
    let bare = vec![("Host", browser.address.clone())];
    for word in ["Basic eW91OnNlc2FtZQ==", "Digest username=\"you\"", "nonsense"] {
        assert_eq!(ask(browser.headers(), word), 200, "{word}");
        assert_eq!(ask(bare.clone(), word), 401, "{word}");
    }
    let forged = browser.headers().into_iter().filter(|(name, _)| *name != "Ostler-Proof").collect();
    assert_eq!(ask(forged, "Basic eW91OnNlc2FtZQ=="), 401);
}

#[test]
fn names_and_times_of_tokens_are_looked_at() {
    let world = World::new();
    token(&world, "ci", false);
    for (body, kind) in [
        (json!({ "name": "ci" }), "token_taken"),
        (json!({ "name": "" }), "bad_name"),
        (json!({ "name": "k_7" }), "bad_name"),
        (json!({ "name": "../x" }), "bad_name"),
        (json!({ "name": "a b" }), "bad_name"),
        (json!({ "name": "x".repeat(65) }), "bad_name"),
        (json!({ "name": "x", "days": 0 }), "bad_time"),
        (json!({ "name": "x", "days": 4000 }), "bad_time"),
        (json!({ "name": "x", "scope": "all" }), "bad_body"),
    ] {
        assert_eq!(world.refused("/tokens", &body).kind, kind, "{body}");
    }
}

#[test]
fn who_guesses_waits_and_keeps_nobody_out() {
    let world = World::new();
    let address = address(&world);
    let good = code(&world);
    let answers: Vec<(u16, String)> = std::thread::scope(|scope| {
        let guesses: Vec<_> = (0..40)
            .map(|number| {
                let address = &address;
                scope.spawn(move || redeem(address, &format!("{number:032x}")))
            })
            .collect();
        let right = redeem(&address, &good);
        assert_eq!(right.status, 200, "{right:?}");
        guesses.into_iter().map(|it| it.join().expect("an answer")).map(|it| (it.status, it.kind())).collect()
    });
    for (status, kind) in &answers {
        let expected = [(401, "link_unknown"), (429, "too_many_tries")];
        assert!(expected.contains(&(*status, kind.as_str())), "{status} {kind}");
    }
}

#[test]
fn an_address_that_is_taken_keeps_nobody_from_being_looked_after() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address").to_string();
    let mut world = World::idle();
    configure(&world, &format!("[page]\nlisten = \"{address}\"\n"));
    world.start();
    let shut = page(&world);
    let why = shut.problem.unwrap_or_default();
    assert_eq!(shut.state, PageState::Shut);
    assert!(why.starts_with(&format!("cannot listen on {address}: ")), "{why}");
    let session = world.run(&["true"]);
    world.status(&session, "completed");
    let open = world.ostler(&["open", "--print"]);
    let said = String::from_utf8_lossy(&open.stderr);
    assert_eq!(open.status.code(), Some(7), "{said}");
    assert!(said.contains(&why) && said.contains("[page]"), "{said}");
    let doctor = String::from_utf8(world.ostler(&["doctor"]).stdout).expect("text");
    assert!(doctor.lines().any(|line| line.starts_with("warn") && line.contains(&why)), "{doctor}");
    // It is tried again when somebody asks for it.
    drop(taken);
    let open = world.ostler(&["open", "--print"]);
    assert!(
        String::from_utf8_lossy(&open.stdout).starts_with(&format!("http://{address}/sign-in#")),
        "{open:?}"
    );
    assert_eq!(page(&world).state, PageState::Open);
}

#[test]
fn a_mistake_is_named_with_its_line_and_can_be_mended_meanwhile() {
    let mut world = World::idle();
    configure(&world, "[page]\nlisten = \"0.0.0.0:0\"\n");
    world.start();
    let why = page(&world).problem.unwrap_or_default();
    assert!(why.contains("config.toml:2: `0.0.0.0:0` can be reached from other machines"), "{why}");
    configure(&world, "[page]\nlisten = \"off\"\n");
    assert_eq!(world.refused("/links", &json!({})).kind, "page_shut");
    assert_eq!(page(&world).state, PageState::Off);
    configure(&world, "[page]\nlisten = \"127.0.0.1:0\"\nallowed_hosts = [\"box.ts.net\"]\n");
    let link: LinkView = world.post("/links", &json!({})).expect("a link");
    assert!(link.away.is_some_and(|away| away.starts_with("https://box.ts.net/sign-in#")));
}

#[test]
fn a_name_is_answered_to_if_it_is_allowed_with_its_own_origin() {
    let mut world = World::idle();
    configure(&world, "[page]\nallowed_hosts = [\"box.ts.net\", \"http://localhost:9000\"]\n");
    world.start();
    let browser = sign_in(&world);
    let asked = |host: &str, origin: &str| {
        let mut headers = browser.headers();
        headers.retain(|(name, _)| !["Host", "Origin"].contains(name));
        headers.extend([("Host", host.to_owned()), ("Origin", origin.to_owned())]);
        headers.push(("Content-Type", "application/json".to_owned()));
        send(&browser.address, "POST /api/v1/links", &borrowed(&headers), "{}").status
    };
    let port = browser.address.rsplit(':').next().expect("a port");
    for (host, origin, status) in [
        ("box.ts.net", "https://box.ts.net", 201),
        ("BOX.ts.net", "https://box.ts.net", 201),
        ("box.ts.net", "http://box.ts.net", 403),
        ("box.ts.net:444", "https://box.ts.net:444", 421),
        ("localhost:9000", "http://localhost:9000", 201),
        ("localhost:9000", "https://localhost:9000", 403),
        (&format!("localhost:{port}"), &format!("http://localhost:{port}"), 201),
        ("evil.box.ts.net", "https://evil.box.ts.net", 421),
    ] {
        assert_eq!(asked(host, origin), status, "{host} {origin}");
    }
    // Where the page comes over TLS, its cookie goes nowhere else.
    let body = json!({ "code": code(&world) }).to_string();
    let headers = [("Host", "box.ts.net"), ("Content-Type", "application/json")];
    let answer = send(&browser.address, "POST /api/v1/sign-in", &headers, &body);
    assert!(answer.header("set-cookie").is_some_and(|it| it.ends_with("; Secure")), "{answer:?}");
}

#[test]
fn the_page_is_there_for_everybody_and_nothing_else() {
    let world = World::new();
    let address = address(&world);
    let get = |line: &str, headers: &[(&str, &str)]| {
        send(&address, line, &[&[("Host", address.as_str())], headers].concat(), "")
    };
    for path in ["/", "/sign-in", "/requests/q_7", "/sessions/s_1?tab=diff"] {
        let answer = get(&format!("GET {path}"), &[]);
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        assert_eq!(answer.header("content-type"), Some("text/html; charset=utf-8"), "{path}");
        assert_eq!(answer.header("cache-control"), Some("no-cache"), "{path}");
        assert!(
            answer.header("content-security-policy").is_some_and(|it| it.contains("frame-ancestors 'none'"))
        );
        let head = get(&format!("HEAD {path}"), &[]);
        assert_eq!((head.status, head.body.as_str()), (200, ""), "{path}");
        assert_eq!(head.header("content-length"), answer.header("content-length"), "{path}");
    }
    for path in ["/assets/no-such-file.js", "/nothing.png", "/assets/x", "/../../etc/passwd.txt"] {
        assert_eq!(get(&format!("GET {path}"), &[]).status, 404, "{path}");
    }
    // An address in a message may end with the dot of its sentence.
    assert_eq!(get("GET /requests/q_7.", &[("Accept", "text/html,*/*;q=0.8")]).status, 200);
    assert_eq!(get("GET /requests/q_7.", &[("Accept", "*/*")]).status, 404);
    assert_eq!(get("POST /", &[]).status, 405);
    let is_refused = |path: &str, status: u16, kind: &str| {
        let answer = get(&format!("GET {path}"), &[]);
        assert_eq!((answer.status, answer.kind().as_str()), (status, kind), "{path}: {answer:?}");
        assert_eq!(answer.header("content-type"), Some("application/problem+json"), "{path}");
    };
    for path in ["/api/v1", "/api/v1/", "/api/v1/nothing"] {
        is_refused(path, 401, "not_signed_in");
    }
    for path in ["/api/v2/status", "/api", "/api/", "/api/x.json"] {
        is_refused(path, 404, "no_route");
    }
    // A link in a message opens it; a script of another page does not get it.
    let navigation =
        [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document")];
    assert_eq!(get("GET /requests/q_7", &navigation).status, 200);
    assert_eq!(get("GET /api/v1/status", &navigation).kind(), "foreign_origin");
    let frame =
        [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "iframe")];
    assert_eq!(get("GET /", &frame).kind(), "foreign_origin");
    assert_eq!(
        get("GET /", &[("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "no-cors")]).kind(),
        "foreign_origin"
    );
    assert_eq!(send(&address, "GET /", &[("Host", "evil.example")], "").kind(), "foreign_host");
}

#[test]
fn what_is_asked_for_twice_or_too_long_is_refused() {
    let world = World::new();
    let browser = sign_in(&world);
    let own = browser.address.as_str();
    let twice = [("Host", own), ("Host", "evil.example")];
    assert_eq!(send(own, "GET /", &twice, "").kind(), "foreign_host");
    let absolute = send(own, "GET http://evil.example/", &[("Host", own)], "");
    assert_eq!(absolute.kind(), "foreign_host");
    let long = "x".repeat(200 << 10);
    assert_eq!(send(own, "GET /", &[("Host", own), ("X", &long)], "").status, 431);
    let many = "X: 1\r\n".repeat(200);
    assert_eq!(raw(own, &format!("GET / HTTP/1.1\r\nHost: {own}\r\n{many}\r\n")).status, 431);
    // Chunks name no length in advance; there are no more of them for that.
    let mut headers = browser.headers();
    headers.push(("Content-Type", "application/json".to_owned()));
    headers.push(("Transfer-Encoding", "chunked".to_owned()));
    let mut stream = connect(own);
    let head: Vec<String> = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    write!(stream, "POST /api/v1/runs HTTP/1.1\r\nConnection: close\r\n{}\r\n", head.concat())
        .expect("it listens");
    let chunk = format!("100000\r\n{}\r\n", " ".repeat(1 << 20));
    // The server may have heard enough before all is sent.
    let sent = (0..20).take_while(|_| stream.write_all(chunk.as_bytes()).is_ok()).count();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).ok();
    let answer = String::from_utf8_lossy(&answer);
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 413"), "{sent} {answer}");
    assert_eq!(browser.get("/runs").body, "[]");
}

#[test]
fn a_house_full_of_silent_callers_empties_itself() {
    let world = World::new();
    let browser = sign_in(&world);
    raise_open_files();
    let mut silent: Vec<TcpStream> = (0..CONNECTIONS).map(|_| connect(&browser.address)).collect();
    // Some begin to say something, and never end.
    for stream in silent.iter_mut().step_by(3) {
        stream.write_all(b"GET / HTTP/1.1\r\nHost: ").expect("it listens");
    }
    let session = world.run(&["true"]);
    world.status(&session, "completed");
    assert_eq!(browser.get("/status").status, 200, "who says something gets through in the end");
    let mut first = silent.swap_remove(0);
    let mut rest = Vec::new();
    first.read_to_end(&mut rest).ok();
    assert!(rest.is_empty() || rest.starts_with(b"HTTP/1.1 408"), "{rest:?}");
}

/// A browser keeps its connections, and so does a script that forgets them. Whoever comes when the house is full of those
/// does not wait until they are over.
#[test]
fn who_asks_for_nothing_makes_room_for_who_comes() {
    let mut world = World::idle();
    // Nobody is let go only because time has passed.
    world.start_with(&[("OSTLER_PATIENCE_MS", "3600000")]);
    let browser = sign_in(&world);
    raise_open_files();
    let follow = browser.follow("/events?follow=true");
    let mut idle: Vec<TcpStream> = Vec::new();
    for number in 0..IDLE {
        let mut stream = connect(&browser.address);
        // Most have asked for something; some have only begun to, and some have not.
        match number % 10 {
            0 => {}
            1 => stream.write_all(b"GET / HTTP/1.1\r\nHost: ").expect("it listens"),
            _ => ask_and_stay(&mut stream, &browser.address),
        }
        idle.push(stream);
    }
    assert_eq!(browser.get("/status").status, 200, "who comes now is answered");
    // The oldest made room; the newest and who is being answered did not.
    let mut rest = Vec::new();
    idle[2].read_to_end(&mut rest).expect("it is closed, and not broken");
    assert!(rest.is_empty(), "{rest:?}");
    ask_and_stay(&mut idle[IDLE - 1], &browser.address);
    let session = world.run(&["true"]);
    assert!(follow.lines().map_while(Result::ok).any(|line| line == "event: run.created"), "it goes on");
    world.status(&session, "completed");
}

/// Asks for something over a connection that stays.
fn ask_and_stay(stream: &mut TcpStream, address: &str) {
    let ask = format!("GET /healthz HTTP/1.1\r\nHost: {address}\r\n\r\n");
    stream.write_all(ask.as_bytes()).expect("it listens");
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\nok\n") {
        let mut piece = [0; 4096];
        let count = stream.read(&mut piece).expect("an answer");
        assert!(count > 0, "{}", String::from_utf8_lossy(&answer));
        answer.extend_from_slice(&piece[..count]);
    }
}

fn raise_open_files() {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    let limit = rustix::process::Rlimit { current: limit.maximum, maximum: limit.maximum };
    rustix::process::setrlimit(rustix::process::Resource::Nofile, limit).expect("as many as are allowed");
}

#[test]
fn an_agent_sees_nothing_there_and_lets_nobody_in() {
    let world = World::new();
    let address = address(&world);
    write(
        &world.project,
        "try.py",
        r#"
import http.client, os, sys
def ask(method, path, headers={}, body=None):
    it = http.client.HTTPConnection(sys.argv[1])
    it.request(method, "/api/v1" + path, body, headers)
    answer = it.getresponse()
    print(method, path, answer.status, answer.read().decode(), flush=True)
ask("GET", "/status")
ask("GET", "/info", {"Cookie": "ostler_1=x", "Ostler-Proof": "x"})
ask("POST", "/links", {"Content-Type": "application/json"}, "{}")
ask("POST", "/sign-in", {"Content-Type": "application/json"}, '{"code":"00000000000000000000000000000000"}')
"#,
    );
    let session = world.bash(&format!(
        "python3 try.py {address}; ostler open --print; echo \"open $?\"; ostler token make mine; echo \"token $?\"; \
         ostler token list; echo \"list $?\""
    ));
    world.status(&session, "completed");
    let output = world.output(&session);
    for line in ["GET /status 401", "GET /info 401", "POST /links 401", "POST /sign-in 401"] {
        assert!(output.contains(line), "{line}: {output}");
    }
    for line in ["open 7", "token 7", "list 7"] {
        assert!(output.contains(line), "{line}: {output}");
    }
    assert!(!output.contains("ost_") && !output.contains("/sign-in#"), "{output}");
    assert_eq!(world.get::<Vec<SignInView>>("/sign-ins").expect("a list"), []);
}

#[test]
fn with_a_certificate_it_speaks_tls() {
    let mut world = World::idle();
    let (certificate, key) = (world.home.join("cert.pem"), world.home.join("key.pem"));
    let has_curl = Command::new("curl").arg("--version").output().is_ok();
    if !(has_curl && make_certificate(&certificate, &key)) {
        eprintln!("SKIPPED: there is no openssl or no curl here");
        return;
    }
    let table = |certificate: &Path, key: &Path| {
        format!(
            "[page]\nlisten = \"127.0.0.1:0\"\ntls = {{ certificate = {certificate:?}, key = {key:?} }}\n"
        )
    };
    // Files that are not there, hold something else, or do not fit are named.
    configure(&world, &table(&world.home.join("none.pem"), &key));
    world.start();
    let why = page(&world).problem.unwrap_or_default();
    assert!(why.contains("cannot read the certificate in") && why.contains("none.pem"), "{why}");
    configure(&world, &table(&certificate, &certificate));
    let refused = world.refused("/links", &json!({}));
    assert!(refused.title.contains("cert.pem' holds no private key"), "{}", refused.title);
    configure(&world, &table(&certificate, &key));
    let link: LinkView = world.post("/links", &json!({})).expect("a link");
    let (origin, code) = link.url.split_once("/sign-in#").expect("a link");
    assert!(origin.starts_with("https://127.0.0.1:"), "{origin}");
    let curl_trusting = |authority: &Path, arguments: &[&str]| {
        let mut curl = Command::new("curl");
        curl.args(["--silent", "--include", "--max-time", "60", "--cacert"]).arg(authority);
        let output = curl.args(arguments).output().expect("it starts");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let curl = |arguments: &[&str]| curl_trusting(&certificate, arguments);
    let body = json!({ "code": code }).to_string();
    let sign_in = format!("{origin}/api/v1/sign-in");
    let said = curl(&[
        "-H",
        "Content-Type: application/json",
        "-H",
        &format!("Origin: {origin}"),
        "-d",
        &body,
        &sign_in,
    ]);
    assert!(said.starts_with("HTTP/1.1 200") && said.contains("; Secure"), "{said}");
    let plain = connect(origin.trim_start_matches("https://"));
    (&plain).write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").expect("it listens");
    let mut answer = Vec::new();
    (&plain).read_to_end(&mut answer).ok();
    assert!(!answer.starts_with(b"HTTP"), "nothing is said in the open");
    assert_eq!(curl(&["--tls-max", "1.2", &format!("{origin}/")]), "", "nor as it was done long ago");
    // One that was renewed is shown from then on, and what cannot be used takes nobody's place.
    assert!(make_certificate(&certificate, &key), "it is renewed");
    let page = format!("{origin}/");
    assert!(curl(&[&page]).starts_with("HTTP/1.1 200"), "the renewed one is shown");
    let renewed = world.home.join("renewed.pem");
    fs::copy(&certificate, &renewed).expect("a copy");
    write(&world.home, "cert.pem", "half a certificate");
    assert!(
        curl_trusting(&renewed, &[&page]).starts_with("HTTP/1.1 200"),
        "the last that was whole is shown"
    );
    let log = fs::read_to_string(world.home.join("log.jsonl")).expect("a log");
    assert!(log.contains("page.certificate_renewed") && log.contains("page.certificate_kept"), "{log}");
}

/// A certificate for this machine, and its key.
fn make_certificate(certificate: &Path, key: &Path) -> bool {
    let mut openssl = Command::new("openssl");
    openssl.args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]);
    openssl.args(["-days", "2", "-subj", "/CN=localhost"]);
    openssl.args(["-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"]);
    openssl.arg("-keyout").arg(key).arg("-out").arg(certificate);
    openssl.output().is_ok_and(|it| it.status.success())
}
