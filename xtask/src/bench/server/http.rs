//! As much of HTTP as a benchmark needs: one request after the other over a connection that is kept.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
};

use serde_json::Value;

use crate::error::Error;

/// A connection to a server.
pub(in crate::bench) struct Client {
    stream: BufReader<UnixStream>,
    path: PathBuf,
}

impl Client {
    pub(super) fn connect(socket: &Path) -> io::Result<Client> {
        Ok(Client { stream: BufReader::new(UnixStream::connect(socket)?), path: socket.to_owned() })
    }

    pub(in crate::bench) fn get(&mut self, what: &str) -> Result<Value, Error> {
        self.ask("GET", what, "")
    }

    pub(in crate::bench) fn post(&mut self, what: &str, body: &Value) -> Result<Value, Error> {
        self.ask("POST", what, &body.to_string())
    }

    fn ask(&mut self, method: &str, what: &str, body: &str) -> Result<Value, Error> {
        let answer = self.exchange(method, what, body);
        let (status, text) = answer.map_err(|source| Error::Read { path: self.path.clone(), source })?;
        let lacks =
            || Error::Output { command: format!("{method} {what}"), lacks: format!("success: {text}") };
        if !(200..300).contains(&status) {
            return Err(lacks());
        }
        serde_json::from_str(&text).map_err(|_| lacks())
    }

    fn exchange(&mut self, method: &str, what: &str, body: &str) -> io::Result<(u16, String)> {
        let request = format!(
            "{method} /api/v1{what} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n\r\n{body}",
            body.len()
        );
        self.stream.get_mut().write_all(request.as_bytes())?;
        let broken = || io::Error::from(io::ErrorKind::InvalidData);
        let mut line = String::new();
        self.stream.read_line(&mut line)?;
        let status = line.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or_else(broken)?;
        let mut length = 0;
        loop {
            line.clear();
            self.stream.read_line(&mut line)?;
            let header = line.trim().to_ascii_lowercase();
            if header.is_empty() {
                break;
            }
            if let Some(text) = header.strip_prefix("content-length:") {
                length = text.trim().parse().map_err(|_| broken())?;
            }
        }
        let mut text = vec![0; length];
        self.stream.read_exact(&mut text)?;
        String::from_utf8(text).map(|text| (status, text)).map_err(|_| broken())
    }
}
