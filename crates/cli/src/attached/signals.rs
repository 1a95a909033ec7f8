//! The signals of whoever watches: they leave, or their terminal has another size.

use std::{pin::pin, time::Duration};

use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    time::timeout,
};

use super::Next;
use crate::console;

/// How long an answer that is under way is waited for when somebody wants to leave.
const ANSWER_MAX: Duration = Duration::from_secs(2);

/// The signals that somebody may send to this command. They are caught before anything is asked for, so that whoever
/// presses Ctrl-C early is asked as well.
pub(crate) struct Signals {
    /// One that came while something else was waited for.
    early: Option<Next>,
    interrupt: Option<Signal>,
    terminate: Option<Signal>,
    hangup: Option<Signal>,
    resize: Option<Signal>,
    /// Ctrl-Z, once lines are edited here: the shell gets the terminal back as it was.
    suspend: Option<Signal>,
}

impl Signals {
    pub(crate) fn catch() -> Signals {
        Signals {
            early: None,
            interrupt: signal(SignalKind::interrupt()).ok(),
            terminate: signal(SignalKind::terminate()).ok(),
            hangup: signal(SignalKind::hangup()).ok(),
            resize: signal(SignalKind::window_change()).ok(),
            suspend: None,
        }
    }

    /// From now on Ctrl-Z first gives the terminal back.
    pub(super) fn catch_suspend(&mut self) {
        self.suspend = signal(SignalKind::from_raw(libc::SIGTSTP)).ok();
    }

    /// What the server answers; none if somebody leaves and it does not answer. A signal during an answer that comes
    /// soon all the same is not lost.
    pub(crate) async fn during<T>(&mut self, asked: impl Future<Output = T>) -> Option<T> {
        let mut asked = pin!(asked);
        let leaves = async {
            loop {
                let next = self.next().await;
                if matches!(next, Next::Interrupt | Next::End) {
                    return next;
                }
            }
        };
        tokio::select! {
            answer = &mut asked => return Some(answer),
            next = leaves => self.early = Some(next),
        }
        timeout(ANSWER_MAX, asked).await.ok()
    }

    pub(super) async fn next(&mut self) -> Next {
        if let Some(early) = self.early.take() {
            return early;
        }
        loop {
            return tokio::select! {
                biased;
                () = heard(&mut self.interrupt) => Next::Interrupt,
                () = heard(&mut self.terminate) => Next::End,
                () = heard(&mut self.hangup) => Next::End,
                () = heard(&mut self.resize) => Next::Resize,
                () = heard(&mut self.suspend) => {
                    console::suspend();
                    continue;
                }
            };
        }
    }
}

async fn heard(signal: &mut Option<Signal>) {
    match signal {
        Some(signal) => drop(signal.recv().await),
        None => std::future::pending().await,
    }
}
