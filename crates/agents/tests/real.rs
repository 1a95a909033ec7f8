//! Each real CLI is run with the command lines of its table against the scripted model, without a network.
//!
//! `cargo xtask test --real-agents` installs the CLIs and names their directory in `OSTLER_REAL_AGENTS`; without it
//! nothing is run, and the test says so. With `OSTLER_REAL_AGENTS_ALL` a CLI that is not there is a failure. What a CLI needs to use the model stands in `tests/model/clis.json`.
#![expect(clippy::disallowed_methods, reason = "this test runs the CLIs and writes their configuration")]
#![expect(clippy::unwrap_used, reason = "what is missing here fails the test at the line that needs it")]

use std::{
    collections::BTreeMap,
    env, fs,
    io::{self, BufRead, BufReader, Read, Write},
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, ExitStatus, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
    time::{Duration, Instant},
};

use ostler_agents::{
    Agent, BUILTIN_NAMES, Conversation, Decision, InputPlan, InputWay, LaunchPlan, LaunchRequest, Output,
};
use ostler_protocol::{
    Format, Item, Parser, Settings, What,
    fact::{EndStatus, Fact, PermissionRequest, RateLimit},
    guide,
    reply::{QuestionAnswer, Reply},
    signal::Signal,
    stream::Table,
};
use serde_json::{Value, json};

/// A CLI that is slow to start on a loaded machine is not a broken one.
const PATIENCE: Duration = Duration::from_mins(2);

#[test]
fn real_agents() {
    let Some(installed) = env::var_os("OSTLER_REAL_AGENTS").map(PathBuf::from) else {
        return say("real agents: 0 of 4 (not installed: cargo xtask test --real-agents)");
    };
    let runs = BUILTIN_NAMES.map(|name| {
        let bin = installed.join("node_modules/.bin");
        (name, bin.join(name).exists().then(|| thread::spawn(move || Lab::new(name, &bin).all())))
    });
    let all_are_wanted = env::var_os("OSTLER_REAL_AGENTS_ALL").is_some();
    let mut working = 0;
    let mut broken = Vec::new();
    for (name, run) in runs {
        match run.map(thread::JoinHandle::join) {
            Some(Ok(())) => working += 1,
            Some(Err(_)) => broken.push(format!("{name} does not do what its table says")),
            None if all_are_wanted => broken.push(format!("{name} is not installed")),
            None => {}
        }
    }
    say(&format!("real agents: {working} of 4"));
    assert!(broken.is_empty(), "{}", broken.join("; "));
}

/// Not with `println!`: what a passing test prints that way nobody sees.
fn say(line: &str) {
    writeln!(io::stderr(), "{line}").expect("standard error is open");
}

/// What differs between the CLIs and is not said in their tables.
struct Trait {
    /// The tools that let it run a command without asking.
    tools: &'static [&'static str],
    /// A refusal of the model, and what is heard of it.
    limit: Value,
    limit_heard: Option<RateLimit>,
    limit_end: EndStatus,
}

impl Trait {
    fn of(name: &str) -> Trait {
        let short = json!({ "status": 429, "message": "Too many.", "headers": { "retry-after": "1" } });
        match name {
            "claude" => Trait {
                tools: &["Bash"],
                limit: json!({ "status": 429, "message": "Too many.", "headers": { "retry-after": "3600" } }),
                limit_heard: Some(RateLimit {
                    message: Some("API Error: Request rejected (429) · Too many.".to_owned()),
                    ..RateLimit::default()
                }),
                limit_end: EndStatus::Error,
            },
            "codex" => Trait {
                tools: &[],
                limit: short,
                limit_heard: Some(RateLimit {
                    retrying: true,
                    message: Some(
                        "Reconnecting... 1/5 (exceeded retry limit, last status: 429 Too Many Requests)"
                            .to_owned(),
                    ),
                    ..RateLimit::default()
                }),
                limit_end: EndStatus::Success,
            },
            "gemini" => Trait {
                tools: &["run_shell_command"],
                limit: json!({ "status": 429, "body": { "error": {
                    "code": 429,
                    "message": "Too many.",
                    "status": "RESOURCE_EXHAUSTED",
                    "details": [{
                        "@type": "type.googleapis.com/google.rpc.QuotaFailure",
                        "violations": [{ "quotaId": "RequestsPerDay" }],
                    }],
                } } }),
                limit_heard: Some(RateLimit::default()),
                limit_end: EndStatus::Error,
            },
            // It tries again and says nothing.
            _ => Trait { tools: &[], limit: short, limit_heard: None, limit_end: EndStatus::Success },
        }
    }
}

/// One CLI with a home of its own, and a model that only it talks to.
struct Lab {
    agent: Agent,
    character: Trait,
    environment: BTreeMap<String, String>,
    work: PathBuf,
    guide_file: PathBuf,
    model: Model,
}

impl Lab {
    fn new(name: &str, bin: &Path) -> Lab {
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("real-agents").join(name);
        if root.exists() {
            fs::remove_dir_all(&root).expect("an old run can be cleared away");
        }
        let [home, work] = ["home", "work"].map(|part| root.join(part));
        fs::create_dir_all(&work).unwrap();
        let character = Trait::of(name);
        let model = Model::start(&root, &script(&character, &work));

        let clis = fs::read_to_string(repository().join("tests/model/clis.json")).unwrap();
        let cli = serde_json::from_str::<Value>(&clis).unwrap()[name].take();
        let filled = |value: &Value| {
            let text = value.as_str().expect("a text");
            text.replace("{model}", &model.url).replace("{home}", home.to_str().expect("a path of letters"))
        };
        for (path, content) in cli["files"].as_object().unwrap() {
            let path = home.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, filled(content)).unwrap();
        }
        fs::create_dir_all(&home).unwrap();
        let mut environment: BTreeMap<_, _> = cli["env"]
            .as_object()
            .unwrap()
            .iter()
            .map(|(name, value)| (name.clone(), filled(value)))
            .collect();
        let path = env::var_os("PATH").unwrap_or_default();
        let path = env::join_paths([bin.to_owned()].into_iter().chain(env::split_paths(&path))).unwrap();
        environment.insert("PATH".to_owned(), path.into_string().expect("a path of letters"));

        let guide_file = root.join("guide.md");
        fs::write(&guide_file, guide_text()).unwrap();
        Lab { agent: Agent::builtin(name).unwrap(), character, environment, work, guide_file, model }
    }

    fn all(&self) {
        self.prints_its_version();
        self.asks_and_is_answered();
        self.is_killed_and_goes_on();
        self.hits_a_limit();
        if self.agent.permission.is_some() {
            self.wants_permission();
        }
    }

    fn prints_its_version(&self) {
        let version: Vec<String> = self.agent.version.clone();
        let output = self.command(&version).stdin(Stdio::null()).output().unwrap();
        let printed = String::from_utf8_lossy(&output.stdout);
        assert_eq!(Agent::version_in(&printed), self.agent.tested.as_deref(), "{printed}");
    }

    fn asks_and_is_answered(&self) {
        let prompt = "-question: say \"it\"  twice\nor not";
        let mut run = self.start(&self.request(prompt, Conversation::Fresh { id: Some(&uuid(1)) }));
        run.until("a question", |item| matches!(&item.what, What::Signal(Signal::UserQuestion(_))));
        let answer = Reply::QuestionAnswer(QuestionAnswer {
            question_id: "q1".to_owned(),
            answer: Some("the \"left\" one".to_owned()),
            option: None,
        });
        let answer = answer.encode();
        let ended = match self.agent.input.way {
            InputWay::Relaunch => {
                let conversation = run.finish().conversation(&self.agent, &uuid(1));
                self.start(&self.request(answer.trim_end(), Conversation::Resume { id: &conversation }))
                    .finish()
            }
            // What is written before the input is closed is done before the CLI exits.
            InputWay::Line | InputWay::Message => {
                run.write(&self.agent.message(&answer, &uuid(2)).unwrap());
                run.finish()
            }
        };
        ended.check_end(EndStatus::Success);
        assert!(ended.status.success(), "{:?}", ended.status);

        let asked = self.model.requests("-question");
        let [first, .., last] = &asked[..] else { panic!("two requests, not {asked:?}") };
        assert!(text(first).contains(prompt), "the prompt arrives as it is");
        for request in [first, last] {
            assert!(text(request).contains(guide_text().trim_end()), "the model is told how to ask");
        }
        let said = last["messages"].as_array().unwrap();
        assert!(said.iter().any(|message| message["text"].as_str().unwrap().contains(answer.trim_end())));
    }

    fn is_killed_and_goes_on(&self) {
        let tools: Vec<String> = self.character.tools.iter().map(|&tool| tool.to_owned()).collect();
        let id = uuid(2);
        let request = self.request("interrupt this", Conversation::Fresh { id: Some(&id) });
        let mut run = self.start(&LaunchRequest { tools: &tools, ..request });
        run.until("its conversation", |item| matches!(&item.what, What::Fact(Fact::AgentSession(_))));
        wait_for("a running tool", || self.work.join("started").exists());
        let killed = run.kill();
        // The tool is in a session of its own and ends by itself.
        fs::write(self.work.join("go"), "").unwrap();
        let conversation = killed.conversation(&self.agent, &id);
        let ended = self.start(&self.request("Go on.", Conversation::Resume { id: &conversation })).finish();
        ended.check_end(EndStatus::Success);
        let asked = self.model.requests("interrupt this");
        assert!(asked.len() >= 2, "the conversation is still known: {asked:?}");
        assert!(text(&asked[asked.len() - 1]).contains("Go on."));
    }

    fn hits_a_limit(&self) {
        let ended =
            self.start(&self.request("case: limit", Conversation::Fresh { id: Some(&uuid(3)) })).finish();
        ended.check_end(self.character.limit_end);
        let heard = ended.items.iter().find_map(|item| match &item.what {
            What::Fact(Fact::RateLimit(limit)) => Some(limit.clone()),
            _ => None,
        });
        let expected = self.character.limit_heard.clone().map(|limit| RateLimit {
            message: limit.message.or_else(|| heard.as_ref().and_then(|heard| heard.message.clone())),
            ..limit
        });
        assert_eq!(heard, expected);
    }

    fn wants_permission(&self) {
        let mut run =
            self.start(&self.request("case: permission", Conversation::Fresh { id: Some(&uuid(4)) }));
        let deny = Decision::Deny("A person said \"no\".");
        for decision in [deny, Decision::Allow, Decision::Allow, Decision::Allow] {
            let asked = run.until("a permission request", |item| {
                matches!(&item.what, What::Fact(Fact::PermissionRequest(_)))
            });
            let What::Fact(Fact::PermissionRequest(asked)) = asked.what else { unreachable!("just matched") };
            let asked: PermissionRequest = asked;
            run.write(&self.agent.permission_reply(&asked, decision).unwrap());
        }
        run.until("the end", |item| matches!(&item.what, What::Fact(Fact::End(_))));
        let ended = run.finish();
        ended.check_end(EndStatus::Success);
        let made = ["denied", "once", "session", "later"].map(|name| self.work.join(name).exists());
        assert_eq!(made, [false, true, true, true]);
        let asked = self.model.requests("case: permission");
        assert!(asked.iter().any(|request| text(request).contains("A person said \"no\".")));
    }

    fn request<'a>(&'a self, prompt: &'a str, conversation: Conversation<'a>) -> LaunchRequest<'a> {
        // A conversation has no two messages of the same id.
        let prompt_id = match conversation {
            Conversation::Fresh { .. } => "6e1f7c1e-0000-4000-8000-00000000000a",
            Conversation::Resume { .. } | Conversation::Rewind { .. } => {
                "6e1f7c1e-0000-4000-8000-00000000000b"
            }
        };
        LaunchRequest {
            prompt: Some(prompt),
            prompt_id,
            conversation,
            guide: Some(guide_text()),
            guide_file: self.guide_file.to_str(),
            ..LaunchRequest::default()
        }
    }

    fn start(&self, request: &LaunchRequest<'_>) -> Run {
        let plan = self.agent.launch(request).unwrap();
        let mut command = self.command(&plan.command);
        command.envs(&plan.environment);
        Run::start(&self.agent, command, plan)
    }

    fn command(&self, line: &[String]) -> Command {
        // The program is looked for on the PATH that it gets, not on that of the test.
        let mut command = Command::new("env");
        command.args(line).current_dir(&self.work).env_clear().envs(&self.environment);
        command
    }
}

/// What the model says in each of the conversations.
fn script(character: &Trait, work: &Path) -> Value {
    let shell = |command: &str| json!({ "call": { "tool": "@shell", "input": { "command": command } } });
    let question = "First:\n\n[USER_QUESTION]\ncategory: clarification\nquestion: Which one?\nrequired: true\n[/USER_QUESTION]\n";
    let work = work.display();
    let wait = format!("echo > {work}/started; until [ -e {work}/go ]; do sleep 0.1; done");
    json!({ "conversations": [
        { "when": "-question", "turns": [{ "say": question }, { "say": "Thank you." }] },
        { "when": "interrupt this", "turns": [shell(&wait), { "say": "Went on." }] },
        { "when": "case: limit", "turns": [character.limit, { "say": "Later." }] },
        { "when": "case: permission", "turns": [
            shell("echo > denied"), shell("echo > once"), shell("echo > session"), shell("echo > later"),
        ] },
    ] })
}

/// The scripted model. It ends with its input, so it never outlives the test.
struct Model {
    url: String,
    log: PathBuf,
    process: Child,
}

impl Model {
    fn start(root: &Path, script: &Value) -> Model {
        let [file, log] = ["script.json", "requests.ndjson"].map(|name| root.join(name));
        fs::write(&file, script.to_string()).unwrap();
        let mut process = Command::new("node")
            .arg(repository().join("tests/model/model.mjs"))
            .args(["--until-stdin-ends", "--script"])
            .arg(&file)
            .arg("--log")
            .arg(&log)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("node runs the model");
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let ready: Value = serde_json::from_str(&line).unwrap();
        Model { url: ready["url"].as_str().unwrap().to_owned(), log, process }
    }

    /// The requests of a conversation, without those that a CLI makes for itself.
    fn requests(&self, conversation: &str) -> Vec<Value> {
        let log = fs::read_to_string(&self.log).unwrap();
        let requests = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        requests
            .filter(|request| request["conversation"] == conversation && request["turn"] != "side")
            .collect()
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        self.process.wait().expect("the model ends with its input");
    }
}

/// Everything that the model was told in a request.
fn text(request: &Value) -> String {
    let messages = request["messages"].as_array().unwrap().iter().map(|message| &message["text"]);
    let texts: Vec<&str> =
        [&request["system"]].into_iter().chain(messages).filter_map(Value::as_str).collect();
    texts.join("\n")
}

/// A running CLI.
struct Run {
    process: Child,
    input: Option<ChildStdin>,
    output: Receiver<Vec<u8>>,
    errors: Option<thread::JoinHandle<String>>,
    parser: Parser,
    items: Vec<Item>,
}

/// A CLI that has ended.
struct Ended {
    status: ExitStatus,
    items: Vec<Item>,
    errors: String,
}

impl Run {
    fn start(agent: &Agent, mut command: Command, plan: LaunchPlan) -> Run {
        let Output::Table(table) = &plan.output else { panic!("{} prints events", agent.name) };
        let parser = Parser::new(Format::Structured(Table::parse(table).unwrap()), Settings::default());
        let (stdin, first) = match plan.input {
            InputPlan::Empty => (Stdio::null(), String::new()),
            InputPlan::Open { first, .. } => (Stdio::piped(), first),
        };
        command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let mut process = command.spawn().unwrap();
        let (sender, output) = channel();
        let mut stdout = process.stdout.take().unwrap();
        thread::spawn(move || {
            let mut chunk = [0; 8192];
            while let Ok(length @ 1..) = stdout.read(&mut chunk) {
                if sender.send(chunk[..length].to_vec()).is_err() {
                    break;
                }
            }
        });
        let mut stderr = process.stderr.take().unwrap();
        let errors = thread::spawn(move || {
            let mut text = Vec::new();
            stderr.read_to_end(&mut text).expect("standard error can be read");
            String::from_utf8_lossy(&text).into_owned()
        });
        let input = process.stdin.take();
        let mut run = Run { process, input, output, errors: Some(errors), parser, items: Vec::new() };
        if run.input.is_some() {
            run.write(&first);
        }
        run
    }

    fn write(&mut self, text: &str) {
        self.input.as_mut().expect("its input is open").write_all(text.as_bytes()).unwrap();
    }

    /// Reads on until something new is heard.
    fn until(&mut self, what: &str, wanted: impl Fn(&Item) -> bool) -> Item {
        let deadline = Instant::now() + PATIENCE;
        loop {
            for item in self.parser.by_ref() {
                self.items.push(item.clone());
                if wanted(&item) {
                    return item;
                }
            }
            let Ok(bytes) = self.output.recv_timeout(deadline.saturating_duration_since(Instant::now()))
            else {
                self.give_up(what);
            };
            self.parser.push(&bytes);
        }
    }

    /// Closes the input and waits for the end.
    fn finish(mut self) -> Ended {
        drop(self.input.take());
        let deadline = Instant::now() + PATIENCE;
        while let Some(bytes) = self.receive(deadline) {
            self.parser.push(&bytes);
        }
        self.parser.finish();
        self.items.extend(self.parser.by_ref());
        let status = self.process.wait().unwrap();
        Ended { status, errors: self.take_errors(), items: self.items }
    }

    fn kill(mut self) -> Ended {
        self.end_all();
        let status = self.process.wait().unwrap();
        // A tool may hold the pipes for longer than the CLI lives.
        Ended { status, items: self.items, errors: String::new() }
    }

    fn receive(&mut self, deadline: Instant) -> Option<Vec<u8>> {
        use std::sync::mpsc::RecvTimeoutError::{Disconnected, Timeout};
        match self.output.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(bytes) => Some(bytes),
            Err(Disconnected) => None,
            Err(Timeout) => self.give_up("its end"),
        }
    }

    fn give_up(&mut self, what: &str) -> ! {
        self.end_all();
        let errors = self.take_errors();
        panic!("{what} does not come: {:#?}\n{errors}", self.items);
    }

    /// Ends the CLI and its children: it leads a process group.
    fn end_all(&self) {
        let group = format!("-{}", self.process.id());
        Command::new("kill").args(["-s", "KILL", "--", &group]).status().expect("kill runs");
    }

    fn take_errors(&mut self) -> String {
        self.errors.take().map(|errors| errors.join().unwrap()).unwrap_or_default()
    }
}

impl Ended {
    /// The id to resume with; a CLI that was given one uses it.
    fn conversation(&self, agent: &Agent, given: &str) -> String {
        let told = self.items.iter().find_map(|item| match &item.what {
            What::Fact(Fact::AgentSession(session)) => Some(session.id.clone()),
            _ => None,
        });
        let told = told.expect("the stream names the conversation");
        if agent.takes_conversation_id() {
            assert_eq!(told, given);
        }
        told
    }

    /// Checks the last end: a CLI may report one per turn.
    fn check_end(&self, expected: EndStatus) {
        let last = self.items.iter().rev().find_map(|item| match &item.what {
            What::Fact(Fact::End(end)) => Some(end.status),
            _ => None,
        });
        assert_eq!(last, Some(expected), "{:#?}\n{}", self.items, self.errors);
        let faulty = self.items.iter().find(|item| matches!(item.what, What::Fault(_)));
        assert_eq!(faulty, None);
    }
}

fn wait_for(what: &str, ready: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !ready() {
        assert!(Instant::now() < deadline, "{what} does not come");
        thread::sleep(Duration::from_millis(20));
    }
}

fn guide_text() -> &'static str {
    guide::text(guide::Language::English)
}

fn uuid(number: u32) -> String {
    format!("6e1f7c1e-0000-4000-8000-{number:012}")
}

fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}
