//! The interface over TCP as it stands on the wire: what a browser, a script or somebody else sends, byte by byte.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
};

use ostler_server::api::{InfoView, LinkView, NewLink, NewToken, TokenView};
use serde_json::{Value, json};

use crate::support::{DEADLINE, World, write};

/// An answer, as it came.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let pairs = self.head.lines().filter_map(|line| line.split_once(": "));
        pairs.into_iter().find(|(it, _)| it.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }

    /// The word of a problem.
    pub(crate) fn kind(&self) -> String {
        self.json()["type"].as_str().unwrap_or_default().to_owned()
    }
}

/// The user's configuration, before a server is started.
pub(crate) fn configure(world: &World, text: &str) {
    let folder = world.home.join("config/ostler");
    fs::create_dir_all(&folder).expect("a folder");
    write(&folder, "config.toml", text);
}

/// Where the page is, as `127.0.0.1:PORT`.
pub(crate) fn address(world: &World) -> String {
    let url = world.wait_for("the page", |world| world.get::<InfoView>("/info").ok()?.page.url);
    url.split_once("://").expect("an address").1.to_owned()
}

/// A request with exactly these headers; `Connection: close` and the length of the body are added.
pub(crate) fn send(address: &str, line: &str, headers: &[(&str, &str)], body: &str) -> Answer {
    let mut head = format!("{line} HTTP/1.1\r\nConnection: close\r\n");
    for (name, value) in headers {
        head.extend([name, ": ", value, "\r\n"]);
    }
    let has_length = headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    if !body.is_empty() && !has_length {
        head.extend(["Content-Length: ", &body.len().to_string(), "\r\n"]);
    }
    raw(address, &format!("{head}\r\n{body}"))
}

/// Sends these bytes and gives what comes.
pub(crate) fn raw(address: &str, bytes: &str) -> Answer {
    let mut stream = connect(address);
    stream.write_all(bytes.as_bytes()).expect("it listens");
    let mut answer = Vec::new();
    // Who is refused before its body was taken may see the connection break behind the answer.
    let end = stream.read_to_end(&mut answer);
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {end:?} {answer}"));
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status");
    Answer { status, head: head.to_owned(), body: body.to_owned() }
}

pub(crate) fn connect(address: &str) -> TcpStream {
    let stream = TcpStream::connect(address).expect("a server");
    stream.set_read_timeout(Some(DEADLINE)).expect("a time");
    stream
}

/// A browser that is signed in.
#[derive(Debug, Clone)]
pub(crate) struct Browser {
    pub(crate) address: String,
    /// As it is sent: name and value.
    pub(crate) cookie: String,
    pub(crate) proof: String,
}

impl Browser {
    /// What it sends with every request of the page.
    pub(crate) fn headers(&self) -> Vec<(&'static str, String)> {
        vec![
            ("Host", self.address.clone()),
            ("Origin", format!("http://{}", self.address)),
            ("Sec-Fetch-Site", "same-origin".to_owned()),
            ("Cookie", self.cookie.clone()),
            ("Ostler-Proof", self.proof.clone()),
        ]
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        let headers = self.headers();
        send(&self.address, &format!("GET /api/v1{path}"), &borrowed(&headers), "")
    }

    /// Follows a stream, once it has begun.
    pub(crate) fn follow(&self, path: &str) -> BufReader<TcpStream> {
        let mut stream = connect(&self.address);
        let headers = self.headers().into_iter().map(|(name, value)| format!("{name}: {value}\r\n"));
        let head = format!("GET /api/v1{path} HTTP/1.1\r\n{}\r\n", headers.collect::<String>());
        stream.write_all(head.as_bytes()).expect("it listens");
        let mut lines = BufReader::new(stream);
        let mut line = String::new();
        while line != "event: hello\n" {
            line.clear();
            assert!(lines.read_line(&mut line).expect("a stream") > 0, "it ends");
        }
        lines
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        let mut headers = self.headers();
        headers.push(("Content-Type", "application/json".to_owned()));
        send(&self.address, &format!("POST /api/v1{path}"), &borrowed(&headers), &body.to_string())
    }
}

pub(crate) fn borrowed<'a>(headers: &'a [(&'static str, String)]) -> Vec<(&'static str, &'a str)> {
    headers.iter().map(|(name, value)| (*name, value.as_str())).collect()
}

/// The code of a new link.
pub(crate) fn code(world: &World) -> String {
    let link: LinkView = world.post("/links", &NewLink::default()).expect("a link");
    link.url.split_once('#').expect("a code").1.to_owned()
}

/// What comes of a code.
pub(crate) fn redeem(address: &str, code: &str) -> Answer {
    let body = json!({ "code": code }).to_string();
    let headers = [("Host", address), ("Content-Type", "application/json")];
    send(address, "POST /api/v1/sign-in", &headers, &body)
}

/// Signs a browser in.
pub(crate) fn sign_in(world: &World) -> Browser {
    let address = address(world);
    let answer = redeem(&address, &code(world));
    assert_eq!(answer.status, 200, "{answer:?}");
    let cookie =
        answer.header("set-cookie").expect("a cookie").split(';').next().expect("a value").to_owned();
    let proof = answer.json()["proof"].as_str().expect("a proof").to_owned();
    Browser { address, cookie, proof }
}

/// A token for a script.
pub(crate) fn token(world: &World, name: &str, read_only: bool) -> String {
    let new = NewToken { name: name.to_owned(), days: Some(1), read_only };
    world.post::<TokenView>("/tokens", &new).expect("a token").token
}
