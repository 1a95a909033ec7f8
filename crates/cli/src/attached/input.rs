//! Lines that a person types. A thread of its own reads them: there is no other way to wait for a terminal.

use std::{
    io::{self, Read},
    thread,
};

use tokio::sync::mpsc;
use zeroize::Zeroizing;

use crate::console::{self, LineEditing, Typed};

/// More than anybody types ahead.
const LINES_MAX: usize = 64;

/// So many keys are read at once.
const KEYS_MAX: usize = 1024;

/// The lines of a terminal.
pub(super) struct Lines {
    typed: Option<mpsc::Receiver<Typed>>,
    editing: Option<LineEditing>,
    ended: bool,
}

impl Lines {
    /// Reads standard input if it is a terminal, else nothing at all.
    pub(super) fn new(is_terminal: bool) -> Lines {
        let editing = if is_terminal { console::take() } else { None };
        let typed = is_terminal.then(|| start(editing.is_some()));
        Lines { typed, editing, ended: false }
    }

    /// Whether lines are edited here, and not by the terminal itself.
    pub(super) fn are_edited(&self) -> bool {
        self.editing.is_some()
    }

    /// Reads again after the input was closed: a terminal is there again after Ctrl-D.
    pub(super) fn reopen(&mut self) {
        let is_gone = self.typed.as_ref().is_some_and(mpsc::Receiver::is_closed);
        if std::mem::take(&mut self.ended) && is_gone {
            self.typed = Some(start(self.editing.is_some()));
        }
    }

    /// The next line; nothing, once, when the input was closed. May be dropped and called again at any time.
    pub(super) async fn next(&mut self) -> Option<Zeroizing<String>> {
        match &mut self.typed {
            Some(typed) if !self.ended => match typed.recv().await {
                Some(Typed::Line(line)) => Some(line),
                Some(Typed::End) | None => {
                    self.ended = true;
                    None
                }
            },
            _ => std::future::pending().await,
        }
    }
}

/// The thread ends with the process, with the input, or when nobody wants its lines. It also draws what is typed: a
/// person sees it at once, whatever the command waits for.
fn start(is_editing: bool) -> mpsc::Receiver<Typed> {
    let (sender, receiver) = mpsc::channel(LINES_MAX);
    thread::spawn(move || {
        while let Ok(Some(typed)) = if is_editing { read_keys() } else { read_line() } {
            for typed in typed {
                if sender.blocking_send(typed).is_err() {
                    return;
                }
            }
        }
    });
    receiver
}

fn read_keys() -> io::Result<Option<Vec<Typed>>> {
    let mut keys = Zeroizing::new([0; KEYS_MAX]);
    let read = io::stdin().lock().read(&mut *keys)?;
    Ok((read > 0).then(|| console::press(&keys[..read])))
}

fn read_line() -> io::Result<Option<Vec<Typed>>> {
    let mut line = Zeroizing::new(String::new());
    io::stdin().read_line(&mut line)?;
    // A word that is followed by the end of the input was not said.
    Ok(line.ends_with('\n').then(|| {
        let end = line.trim_end_matches(['\r', '\n']).len();
        line.truncate(end);
        vec![Typed::Line(line)]
    }))
}
