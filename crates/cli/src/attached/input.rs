//! Lines that somebody types. A thread of its own reads them: there is no other way to wait for a terminal.

use std::{io, thread};

use tokio::sync::mpsc;

/// More than anybody types ahead.
const LINES_MAX: usize = 64;

/// The lines of a terminal.
pub(super) struct Lines {
    lines: Option<mpsc::Receiver<String>>,
    ended: bool,
}

impl Lines {
    /// Reads standard input if it is a terminal, else nothing at all.
    pub(super) fn new(is_terminal: bool) -> Lines {
        Lines { lines: is_terminal.then(start), ended: false }
    }

    /// Reads again after the input was closed: a terminal is there again after Ctrl-D.
    pub(super) fn reopen(&mut self) {
        if std::mem::take(&mut self.ended) {
            self.lines = Some(start());
        }
    }

    /// The next line; nothing, once, when the input was closed.
    pub(super) async fn next(&mut self) -> Option<String> {
        match &mut self.lines {
            Some(lines) if !self.ended => {
                let line = lines.recv().await;
                self.ended = line.is_none();
                line
            }
            _ => std::future::pending().await,
        }
    }
}

/// The thread ends with the process, or when nobody wants its lines.
fn start() -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel(LINES_MAX);
    thread::spawn(move || {
        loop {
            let mut line = String::new();
            // Who closes the input behind a word has not said it.
            if io::stdin().read_line(&mut line).is_err() || !line.ends_with('\n') {
                return;
            }
            line.truncate(line.trim_end_matches(['\r', '\n']).len());
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    receiver
}
