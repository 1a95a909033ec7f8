//! A relay between commands and their server that keeps back what agents have printed: events and output come to a
//! command by two ways, and here the output is the slower one, for as long as a test wants.

use std::{
    fs,
    io::{Read, Write},
    os::unix::net::{UnixListener, UnixStream},
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use crate::support::Place;

/// While it is closed, nothing comes through of what an agent has printed.
pub(crate) struct OutputGate {
    state: Arc<(Mutex<GateState>, Condvar)>,
}

#[derive(Default)]
struct GateState {
    is_open: bool,
    /// Whether a command has asked how much was printed.
    was_measured: bool,
}

impl OutputGate {
    /// Takes the place of the server that runs.
    pub(crate) fn closed(place: &Place) -> OutputGate {
        let (socket, real) = (place.state().join("api.sock"), place.state().join("real.sock"));
        fs::rename(&socket, &real).expect("a server runs");
        let listener = UnixListener::bind(&socket).expect("its place is free");
        let gate = OutputGate { state: Arc::default() };
        let state = Arc::clone(&gate.state);
        // Ends with the test's process.
        thread::spawn(move || {
            for ours in listener.incoming().map_while(Result::ok) {
                let Ok(theirs) = UnixStream::connect(&real) else { break };
                relay(ours, theirs, &state);
            }
        });
        gate
    }

    /// Whether a command has asked how much was printed.
    pub(crate) fn was_measured(&self) -> bool {
        self.state.0.lock().expect("nobody panics with it").was_measured
    }

    /// Lets everything through.
    pub(crate) fn open(&self) {
        self.state.0.lock().expect("nobody panics with it").is_open = true;
        self.state.1.notify_all();
    }
}

/// Both ways of a connection, each in a thread of its own.
fn relay(ours: UnixStream, theirs: UnixStream, state: &Arc<(Mutex<GateState>, Condvar)>) {
    let is_output = Arc::new(AtomicBool::new(false));
    let (mut requests, mut server) = (ours.try_clone().expect("a copy"), theirs.try_clone().expect("a copy"));
    let (state, seen, follows) = (Arc::clone(state), Arc::clone(state), Arc::clone(&is_output));
    thread::spawn(move || {
        let mut buffer = [0; 8192];
        while let Ok(read @ 1..) = requests.read(&mut buffer) {
            let text = String::from_utf8_lossy(&buffer[..read]);
            if text.contains("/output?") {
                follows.store(text.contains("follow=true"), Ordering::SeqCst);
                seen.0.lock().expect("nobody panics with it").was_measured |= text.contains("tail=0");
            }
            if server.write_all(&buffer[..read]).is_err() {
                break;
            }
        }
        server.shutdown(std::net::Shutdown::Write).ok();
    });
    let (mut answers, mut command) = (theirs, ours);
    thread::spawn(move || {
        let mut buffer = [0; 8192];
        while let Ok(read @ 1..) = answers.read(&mut buffer) {
            if is_output.load(Ordering::SeqCst) {
                let held = state.0.lock().expect("nobody panics with it");
                drop(state.1.wait_while(held, |held| !held.is_open).expect("nobody panics with it"));
            }
            if command.write_all(&buffer[..read]).is_err() {
                break;
            }
        }
        command.shutdown(std::net::Shutdown::Write).ok();
    });
}
