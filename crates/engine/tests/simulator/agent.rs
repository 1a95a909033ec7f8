//! Scripted agents: what they print, what they wait for, and what they remember.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use ostler_agents::{Agent as Table, InputWay, Terminal};
use serde_json::{Value, json};

use crate::common::{random::Random, said};

/// What is asked, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sort {
    Question,
    Optional,
    AskUser,
    Dependency,
    Value,
    Package,
    Permission,
    Error,
    Fault,
}

/// One thing that an agent does.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Step {
    /// It works, and may read what lies in its input.
    Work,
    /// It asks all of this at once, and waits.
    Ask(Vec<(Sort, String)>),
    /// It asks, and ends without waiting.
    AskAndExit(Sort, String, i32),
    /// It asks, and goes on without waiting.
    AskAndIgnore(Sort, String),
    /// A process of it asks over the session's socket, and is blocked there.
    Call(Sort, String),
    /// It says this in the thin dialect.
    Thin(Value),
    /// It says that it has failed.
    GiveUp(String),
    /// It prints more than there is room for.
    Flood,
    /// Its account has hit a limit, and it ends; later launches find that it is over.
    HitLimit,
    /// It ends.
    Die(i32),
    /// It works until somebody ends it.
    Forever,
    /// It says that this phase is done.
    Complete(u32),
}

/// What an agent is going to do, and how it is.
#[derive(Debug, Clone)]
pub(crate) struct Script {
    pub(crate) table: Table,
    pub(crate) steps: Vec<Step>,
    /// Whether it tells its conversation only after the first step.
    pub(crate) tells_late: bool,
}

/// How far it has got. A CLI that remembers has this on disk.
#[derive(Debug, Clone, Default)]
pub(crate) struct Mind {
    at: usize,
    /// What it has asked and waits for.
    waits_for: Vec<(Sort, String)>,
    has_told: bool,
    /// What the conversation holds of what it was told: the names of inputs, and the questions that prompts answered.
    pub(crate) knows: BTreeSet<String>,
}

/// Something in its input.
#[derive(Debug, Clone)]
pub(crate) struct Letter {
    pub(crate) key: String,
    /// The question it answers, if it does.
    pub(crate) about: Option<String>,
    /// Whether it comes so late that nobody waits for it.
    pub(crate) late: bool,
    /// The id that its stream names it by.
    pub(crate) id: Option<String>,
}

/// A process of an agent that is blocked at the session's socket.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    pub(crate) key: String,
    pub(crate) item: Value,
    text: String,
}

/// An agent at work.
#[derive(Debug, Clone)]
pub(crate) struct Agent {
    script: Script,
    pub(crate) mind: Mind,
    prompt: String,
    /// What was asked in this launch.
    asked: BTreeSet<String>,
    /// What was answered in this launch.
    answered: BTreeSet<String>,
    /// Who is blocked at the socket.
    pub(crate) caller: Option<Caller>,
    /// How often each was asked there, less how often it was answered.
    called: BTreeMap<String, u32>,
    calls: u32,
    name: String,
    pub(crate) input: VecDeque<Letter>,
    /// What its process has read and its conversation does not hold yet. It is lost with the process.
    queue: VecDeque<Letter>,
    /// What its conversation holds, and its stream has not proven.
    unproven: Vec<Value>,
    /// The proof of its prompt, until that is part of the conversation.
    prompt_proof: Option<Value>,
    pub(crate) input_closed: bool,
    /// The names of what it has read.
    pub(crate) read: Vec<String>,
    is_through: bool,
}

/// What comes of a step.
#[derive(Debug, Default)]
pub(crate) struct Done {
    /// Printed before anybody could stop it.
    pub(crate) printed: Vec<Value>,
    pub(crate) consumed: Option<String>,
    pub(crate) exit: Option<i32>,
    pub(crate) flood: bool,
}

impl Script {
    pub(crate) fn remembers(&self) -> bool {
        self.table.can_resume()
    }

    pub(crate) fn is_endless(&self) -> bool {
        self.steps.contains(&Step::Forever)
    }

    /// The same for the agent of a phase, which says at the end that it is done.
    pub(crate) fn of_phase(&self, phase: u32) -> Script {
        let mut script = self.clone();
        script.steps.retain(|step| !matches!(step, Step::Complete(_) | Step::Forever));
        script.steps.push(Step::Complete(phase));
        script
    }

    /// A verifier: it works, and ends.
    pub(crate) fn of_verifier(table: Table) -> Script {
        Script { table, steps: vec![Step::Work], tells_late: false }
    }

    /// A script of a few steps. The name keeps its questions apart from those of others.
    pub(crate) fn invent(random: &mut Random, table: Table, name: &str) -> Script {
        let speaks = table.permission.is_some();
        let mut number = 0;
        let mut text = || {
            number += 1;
            format!("{name} asks {number}")
        };
        let mut steps = Vec::new();
        for _ in 0..=random.below(4) {
            let step = match random.below(22) {
                20 | 21 => Step::Thin(thin(random)),
                3..=8 => Step::Ask(vec![(sort(random, speaks), text())]),
                9..=11 => Step::Ask(vec![(sort(random, speaks), text()), (sort(random, speaks), text())]),
                12..=13 => Step::AskAndExit(sort(random, speaks), text(), i32::from(random.once_in(3))),
                14 => Step::AskAndIgnore(sort(random, speaks), text()),
                2 | 19 => Step::Call(call_sort(random), text()),
                15 if random.once_in(2) => Step::GiveUp(text()),
                16 => Step::Flood,
                17 if random.once_in(2) => Step::Die(1),
                18 if random.once_in(3) => Step::Forever,
                18 => Step::HitLimit,
                _ => Step::Work,
            };
            steps.push(step);
        }
        Script { table, steps, tells_late: random.once_in(4) }
    }
}

/// A line of the thin dialect that asks for something.
fn thin(random: &mut Random) -> Value {
    let task = format!("T0.{}", 1 + random.below(3));
    match random.below(5) {
        0 => json!({ "kind": "resolve_next", "phase": null, "force": false }),
        1 => json!({ "kind": "custom", "type": "SKIP", "payload": task }),
        2 => json!({ "kind": "fault", "severity": "fault", "tag": "TASK_ID", "reason": "invalid_json",
                     "details": "TASK_ID has invalid JSON", "raw": format!("TASK_ID:{task}\nMETA:{{oops\n") }),
        _ => json!({ "kind": "task", "id": task, "worktree": null, "meta": null }),
    }
}

fn call_sort(random: &mut Random) -> Sort {
    match random.below(6) {
        0 => Sort::Optional,
        1 => Sort::Dependency,
        2 => Sort::Error,
        _ => Sort::Question,
    }
}

fn sort(random: &mut Random, speaks: bool) -> Sort {
    match random.below(18) {
        0 | 1 => Sort::Optional,
        2 | 3 => Sort::AskUser,
        4 => Sort::Dependency,
        5 | 6 if speaks => Sort::Permission,
        7 => Sort::Error,
        8 => Sort::Fault,
        9 | 10 => Sort::Value,
        11..=13 => Sort::Package,
        _ => Sort::Question,
    }
}

impl Sort {
    fn says(self, text: &str) -> Value {
        match self {
            Sort::Question => said::question(text),
            Sort::Optional => said::optional(text, text.len().is_multiple_of(2).then_some("as usual")),
            Sort::AskUser => said::ask_user(text),
            Sort::Dependency => said::dependency("permission", text),
            Sort::Value if text.len().is_multiple_of(2) => said::dependency("api_key", text),
            Sort::Value => said::wish("env_variable", text, Some("as usual")),
            Sort::Package => said::dependency("package", text),
            Sort::Permission => said::permission(1, text),
            Sort::Error if text.len().is_multiple_of(2) => said::error(text, "pause_and_retry"),
            Sort::Error => said::error(text, "notify_user"),
            Sort::Fault => said::fault(text),
        }
    }

    /// Whether something is read before it goes on.
    fn waits(self) -> bool {
        !matches!(self, Sort::Error | Sort::Fault | Sort::Value)
    }
}

impl Agent {
    /// Begins, with what it remembers if it does.
    pub(crate) fn start(
        script: &Script,
        memory: Option<Mind>,
        (prompt, id): (&str, &str),
        name: &str,
    ) -> Agent {
        let input = &script.table.input;
        let prompt_proof = input.proven.then(|| said::heard((input.way == InputWay::Message).then_some(id)));
        let mut agent = Agent {
            script: script.clone(),
            mind: memory.unwrap_or_default(),
            prompt: prompt.to_owned(),
            asked: BTreeSet::new(),
            answered: BTreeSet::new(),
            caller: None,
            called: BTreeMap::new(),
            calls: 0,
            name: name.to_owned(),
            input: VecDeque::new(),
            queue: VecDeque::new(),
            unproven: Vec::new(),
            prompt_proof,
            input_closed: false,
            read: Vec::new(),
            is_through: false,
        };
        if agent.prompt_proof.is_none() {
            agent.take_prompt();
        }
        agent
    }

    /// Its prompt may hold what it waited for.
    fn take_prompt(&mut self) {
        let waited = core::mem::take(&mut self.mind.waits_for);
        let (answered, open): (Vec<_>, _) =
            waited.into_iter().partition(|(_, text)| names(&self.prompt, text));
        self.mind.waits_for = open;
        self.mind.knows.extend(answered.into_iter().map(|(_, text)| text));
    }

    /// Whether its conversation holds what it was told in this launch.
    pub(crate) fn knows(&self, name: &str) -> bool {
        self.mind.knows.contains(name)
    }

    pub(crate) fn has_terminal(&self) -> bool {
        self.script.table.terminal == Terminal::Pty
    }

    /// Whether its prompt says what came of a question.
    pub(crate) fn was_told(&self, text: &str) -> bool {
        names(&self.prompt, text)
    }

    /// Whether it has taken a prompt with these words.
    pub(crate) fn was_given(&self, words: &str) -> bool {
        self.prompt_proof.is_none() && self.prompt.contains(words)
    }

    /// One step of an agent that nobody holds.
    pub(crate) fn step(&mut self, random: &mut Random) -> Done {
        let mut done = Done::default();
        if self.caller.is_some() {
            // The time-out of its tool ends the caller; the agent goes on, or asks again.
            if random.once_in(15) {
                self.caller = None;
                self.mind.at -= usize::from(random.once_in(2));
            }
            return done;
        }
        if let Some(proof) = self.prompt_proof.take() {
            self.take_prompt();
            self.unproven.push(proof);
            return done;
        }
        // The model replies some time after the request.
        if !self.unproven.is_empty() && random.once_in(2) {
            done.printed.append(&mut self.unproven);
            return done;
        }
        if self.script.remembers() && !self.mind.has_told && !(self.script.tells_late && self.mind.at == 0) {
            self.mind.has_told = true;
            done.printed.push(said::conversation("c1"));
            return done;
        }
        // What it asked in an earlier process and got no answer to, it asks again.
        let forgotten = self.mind.waits_for.iter().find(|(_, text)| !self.asked.contains(text));
        if let Some((sort, text)) = forgotten.cloned() {
            done.printed.push(self.ask(sort, &text));
        } else if !self.mind.waits_for.is_empty() {
            if self.script.table.input.way == InputWay::Relaunch {
                // It cannot be told anything: it ends, or is ended.
                done.exit = random.once_in(2).then_some(0);
            } else {
                self.read_one(&mut done);
            }
        } else if let Some(step) = self.script.steps.get(self.mind.at).cloned() {
            self.do_step(step, random, &mut done);
        } else {
            self.end(&mut done);
        }
        done
    }

    fn do_step(&mut self, step: Step, random: &mut Random, done: &mut Done) {
        self.mind.at += usize::from(step != Step::Forever);
        match step {
            Step::Work | Step::Forever => {
                if random.once_in(2) {
                    self.read_one(done);
                } else if random.once_in(3) {
                    done.printed.push(said::usage(0.1));
                }
            }
            Step::Ask(asks) => {
                for (sort, text) in asks {
                    if names(&self.prompt, &text) {
                        continue;
                    }
                    done.printed.push(self.ask(sort, &text));
                    if sort.waits() {
                        self.mind.waits_for.push((sort, text));
                    }
                }
            }
            Step::AskAndExit(sort, text, code) => {
                if !names(&self.prompt, &text) {
                    done.printed.push(self.ask(sort, &text));
                    if self.script.remembers() && sort.waits() {
                        self.mind.waits_for.push((sort, text));
                    }
                    done.exit = Some(code);
                }
            }
            Step::Call(sort, text) => {
                if !names(&self.prompt, &text) {
                    self.calls += 1;
                    let (key, item) = (format!("{} {}", self.name, self.calls), sort.says(&text));
                    self.asked.insert(text.clone());
                    *self.called.entry(text.clone()).or_default() += 1;
                    self.caller = Some(Caller { key, item, text });
                }
            }
            Step::AskAndIgnore(sort, text) => done.printed.push(self.ask(sort, &text)),
            Step::GiveUp(text) => {
                self.asked.insert(text.clone());
                done.printed.push(said::error(&text, "checkpoint_and_fail"));
            }
            Step::Thin(item) => done.printed.push(item),
            Step::Complete(phase) => done.printed.push(said::phase_complete(phase)),
            Step::Flood => done.flood = true,
            // Of a launch named s_1/3 it is over.
            Step::HitLimit if self.name.ends_with("/1") || self.name.ends_with("/2") => {
                done.printed.push(said::limit_for(random.once_in(2).then_some(60_000)));
                done.exit = Some(1);
            }
            Step::HitLimit => {}
            Step::Die(code) => done.exit = Some(code),
        }
    }

    fn ask(&mut self, sort: Sort, text: &str) -> Value {
        self.asked.insert(text.to_owned());
        sort.says(text)
    }

    /// Reads what lies in its input. A CLI whose stream proves what it heard has a queue of its own, from which the next
    /// request takes: what is read and what is known are two things there.
    fn read_one(&mut self, done: &mut Done) {
        let Some(letter) = self.input.pop_front() else {
            if let Some(letter) = self.queue.pop_front() {
                self.take(letter);
            }
            return;
        };
        done.consumed = Some(letter.key.clone());
        if letter.id.is_some() {
            self.queue.push_back(letter);
        } else {
            self.take(letter);
        }
    }

    /// Makes something part of the conversation.
    fn take(&mut self, letter: Letter) {
        if let Some(about) = letter.about.filter(|_| !letter.late) {
            assert!(self.asked.contains(&about), "it reads an answer to what it has not asked: {about}");
            match self.called.get_mut(&about) {
                Some(left) => *left = left.checked_sub(1).expect("each call is answered once"),
                None => {
                    let is_first = self.answered.insert(about.clone());
                    assert!(is_first, "it reads two answers to the same: {about}");
                }
            }
            self.mind.waits_for.retain(|(_, text)| *text != about);
        }
        self.is_through = false;
        self.unproven.extend(letter.id.map(|id| said::heard(Some(&id))));
        self.mind.knows.insert(letter.key.clone());
        self.read.push(letter.key);
    }

    /// Its caller reads the answer to a request, or that there is none.
    pub(crate) fn hears(&mut self, request: Option<String>) {
        let Some(caller) = self.caller.take() else { return };
        if let Some(request) = request {
            let left = self.called.get_mut(&caller.text).expect("it has called");
            *left = left.checked_sub(1).expect("each call is answered once");
            self.read.push(request);
        }
    }

    /// Nothing is left to do.
    fn end(&mut self, done: &mut Done) {
        let end = self.script.table.end;
        if end.required && !self.is_through {
            done.printed.push(said::end("success"));
            self.is_through = true;
        } else if !self.unproven.is_empty() {
            done.printed.append(&mut self.unproven);
        } else if !end.close_input || (self.input_closed && self.input.is_empty() && self.queue.is_empty()) {
            done.exit = Some(0);
        } else {
            self.read_one(done);
        }
    }
}

/// Whether words say what came of a question: it stands there in quotation marks, or behind a decision.
fn names(words: &str, text: &str) -> bool {
    let ends = |end: &str| words.contains(&format!("{text}{end}"));
    words.lines().any(|line| line.ends_with(text)) || ends("\"") || ends(".")
}
