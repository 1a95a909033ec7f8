//! A shim as the engine knows it: numbered records that last, a tree that stands still, input that is taken once.

use std::collections::{BTreeSet, VecDeque};

use ostler_agents::Terminal;
use ostler_engine::input::News;
use serde_json::Value;

use crate::{
    agent::{Agent, Letter},
    common::{random::Random, said},
};

/// One launch, outside.
#[expect(clippy::struct_excessive_bools, reason = "a process can be all of this at once")]
#[derive(Debug, Clone)]
pub(crate) struct Shim {
    pub(crate) alive: bool,
    /// What happened, on disk.
    pub(crate) spool: Vec<News>,
    /// What was printed, on disk.
    pub(crate) log: Vec<Value>,
    /// Printed and not read yet.
    pipe: VecDeque<Value>,
    pub(crate) stopped: bool,
    stop_noted: bool,
    stop_seq: u64,
    stalled: bool,
    pub(crate) cancelling: bool,
    taken: BTreeSet<String>,
    pub(crate) agent: Agent,
    has_terminal: bool,
    /// Whether it says that it stands still before it says why, as the first version does.
    stall_reason_last: bool,
    stalls: u32,
    name: String,
}

impl Shim {
    pub(crate) fn start(agent: Agent, terminal: Terminal, name: String, random: &mut Random) -> Shim {
        let mut shim = Shim {
            alive: true,
            spool: Vec::new(),
            log: Vec::new(),
            pipe: VecDeque::new(),
            stopped: false,
            stop_noted: false,
            stop_seq: 0,
            stalled: false,
            cancelling: false,
            taken: BTreeSet::new(),
            agent,
            has_terminal: terminal == Terminal::Pty,
            stall_reason_last: random.once_in(2),
            stalls: 0,
            name,
        };
        if random.once_in(60) {
            shim.spool.push(News::NotStarted { message: "no such program".to_owned() });
            shim.alive = false;
        } else {
            shim.spool.push(News::Started { pid: 7, began: 1 });
        }
        shim
    }

    /// Whether it has said its last word.
    pub(crate) fn has_ended(&self) -> bool {
        matches!(self.spool.last(), Some(News::Ended { .. } | News::NotStarted { .. }))
    }

    /// Whether it goes on by itself.
    pub(crate) fn is_running(&self) -> bool {
        self.alive && !self.stopped
    }

    /// Lets a little time pass. `may_die` is for a storm; nobody dies when it is over.
    pub(crate) fn step(&mut self, random: &mut Random, may_die: bool) {
        if !self.alive {
            return;
        }
        if may_die && random.once_in(150) {
            self.alive = false;
        } else if may_die && random.once_in(200) {
            self.end(None, Some(9));
        } else if let Some(item) = self.pipe.pop_front() {
            self.hear(item, random, may_die);
        } else if self.cancelling {
            if random.once_in(6) {
                self.hear(said::usage(0.2), random, may_die);
            } else if random.once_in(2) {
                self.end(None, Some(15));
            }
        } else if !self.stopped {
            let done = self.agent.step(random);
            if let Some(key) = done.consumed.filter(|_| !self.has_terminal) {
                self.spool.push(News::Consumed { key });
            }
            self.pipe.extend(done.printed);
            if done.flood {
                self.stall();
            }
            // What it prints is usually read before it goes on, but not always.
            if !random.once_in(4)
                && let Some(item) = self.pipe.pop_front()
            {
                self.hear(item, random, may_die);
            }
            if let Some(code) = done.exit.filter(|_| self.alive) {
                while let Some(item) = self.pipe.pop_front() {
                    self.hear(item, random, false);
                }
                self.end(Some(code), None);
            }
        }
    }

    fn hear(&mut self, item: Value, random: &mut Random, may_die: bool) {
        let offset = self.log.len() as u64 * 100;
        let item = said::at(offset, item);
        self.log.push(item.clone());
        if may_die && random.once_in(60) {
            // What was printed is in the log and nowhere else.
            self.alive = false;
            return;
        }
        let kind = item["kind"].as_str().unwrap_or_default();
        let asks = matches!(
            kind,
            "user_question" | "ask_user" | "dependency_request" | "error" | "fault" | "phase_complete"
        );
        self.spool.push(News::Heard { item });
        if asks && !self.cancelling {
            self.stopped = true;
            self.note_stop("signal");
        }
    }

    fn stall(&mut self) {
        self.stalls += 1;
        self.stopped = true;
        self.stalled = true;
        let reason = format!("no room {} {}", self.name, self.stalls);
        if self.stall_reason_last {
            self.note_stop("stall");
            self.spool.push(News::Stalled { reason });
        } else {
            self.spool.push(News::Stalled { reason });
            self.note_stop("stall");
        }
    }

    fn note_stop(&mut self, cause: &str) {
        if !self.stop_noted || cause != "command" {
            self.stop_noted = true;
            self.spool.push(News::Stopped { cause: cause.to_owned(), processes: 1, confirmed: true });
            self.stop_seq = self.spool.len() as u64;
        }
    }

    fn end(&mut self, code: Option<i32>, signal: Option<i32>) {
        while let Some(item) = self.pipe.pop_front() {
            let item = said::at(self.log.len() as u64 * 100, item);
            self.log.push(item.clone());
            self.spool.push(News::Heard { item });
        }
        if signal.is_some() {
            let mut half = said::at(self.log.len() as u64 * 100, said::fault("half a message"));
            half["ended_by"] = "cut_off".into();
            self.log.push(half.clone());
            self.spool.push(News::Heard { item: half });
        }
        self.spool.push(News::Ended { code, signal, clean: true });
        self.alive = false;
    }

    /// Takes something for the agent, once.
    pub(crate) fn take(&mut self, letter: Letter) {
        if self.alive && !self.agent.input_closed && self.taken.insert(letter.key.clone()) {
            self.spool.push(News::TookInput { key: letter.key.clone() });
            self.agent.input.push_back(letter);
        }
    }

    pub(crate) fn close_input(&mut self) {
        if self.alive && !self.agent.input_closed {
            self.spool.push(News::ClosedInput);
            self.agent.input_closed = true;
        }
    }

    pub(crate) fn stop(&mut self) {
        if self.alive && !self.cancelling {
            self.stopped = true;
            self.note_stop("command");
        }
    }

    /// Whether it would go on if it were told to by somebody who knows the records up to this one.
    pub(crate) fn heeds(&self, after: u64) -> bool {
        self.alive && self.stopped && after >= self.stop_seq
    }

    pub(crate) fn go_on(&mut self, after: u64) {
        if self.heeds(after) {
            self.stopped = false;
            self.stop_noted = false;
            self.stalled = false;
            self.spool.push(News::WentOn);
        }
    }

    pub(crate) fn cancel(&mut self) {
        if self.alive {
            self.cancelling = true;
            self.stopped = false;
            self.stop_noted = false;
        }
    }
}
