//! The interface as it stands on the wire, for those tests that look at more than a client shows.

use std::{
    io::{BufRead, BufReader, ErrorKind, Read, Write},
    os::unix::net::UnixStream,
};

use serde_json::Value;

use crate::support::{DEADLINE, World};

/// An answer, as it came.
pub(crate) struct Answer {
    pub(crate) status: u16,
    head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let of_name = |line: &str| line.split_once(": ").is_some_and(|(it, _)| it.eq_ignore_ascii_case(name));
        self.head.lines().find(|line| of_name(line)).and_then(|line| line.split_once(": ")).map(|(_, it)| it)
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    pub(crate) fn kind(&self) -> String {
        self.json()["type"].as_str().unwrap_or_default().to_owned()
    }

    /// Where the next page is.
    pub(crate) fn next(&self) -> Option<String> {
        let link = self.header("link")?.strip_suffix(">; rel=\"next\"")?.strip_prefix("</api/v1")?;
        Some(link.to_owned())
    }
}

/// A connection to the server.
fn connect(world: &World) -> UnixStream {
    let stream = UnixStream::connect(world.home.join("api.sock")).expect("a server");
    stream.set_read_timeout(Some(DEADLINE)).expect("a time");
    stream
}

/// Sends a head, with what else belongs into it, and gives the connection.
pub(crate) fn send(world: &World, line: &str, headers: &[(&str, &str)], body: &[u8]) -> UnixStream {
    let (method, path) = line.split_once(' ').expect("a method and a path");
    send_beside(world, &format!("{method} /api/v1{path}"), headers, body)
}

/// The same for what is not below the interface.
pub(crate) fn send_beside(world: &World, line: &str, headers: &[(&str, &str)], body: &[u8]) -> UnixStream {
    let mut stream = connect(world);
    let mut head = format!("{line} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n");
    for (name, value) in headers {
        head.extend([name, ": ", value, "\r\n"]);
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes()).expect("it listens");
    // A server that refuses by the head may have hung up by now; its answer is there to be read.
    match stream.write_all(body) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => panic!("{error}"),
        _ => stream,
    }
}

/// The whole answer.
pub(crate) fn answer(mut stream: UnixStream) -> Answer {
    let mut bytes = Vec::new();
    // A server that refuses by the head leaves the body unread, and the kernel resets the connection behind the answer.
    match stream.read_to_end(&mut bytes) {
        Err(error) if error.kind() != ErrorKind::ConnectionReset => panic!("{error}"),
        _ => {}
    }
    let end = bytes.windows(4).position(|it| it == b"\r\n\r\n").expect("a head");
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status");
    let chunked = head.to_lowercase().contains("transfer-encoding: chunked");
    let body = &bytes[end + 4..];
    Answer { status, head, body: if chunked { unchunked(body) } else { body.to_vec() } }
}

fn unchunked(mut bytes: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    loop {
        let end = bytes.windows(2).position(|it| it == b"\r\n").expect("a length");
        let length = std::str::from_utf8(&bytes[..end]).expect("text");
        let length = usize::from_str_radix(length, 16).expect("a number");
        if length == 0 {
            return body;
        }
        body.extend_from_slice(&bytes[end + 2..end + 2 + length]);
        bytes = &bytes[end + 2 + length + 2..];
    }
}

/// Asks for something.
pub(crate) fn get(world: &World, path: &str) -> Answer {
    answer(send(world, &format!("GET {path}"), &[], b""))
}

/// The lines of a stream that goes on, behind its head.
pub(crate) fn lines(stream: UnixStream) -> impl Iterator<Item = String> {
    BufReader::new(stream).lines().map(|line| line.expect("it goes on")).skip_while(|line| !line.is_empty())
}
