//! A project in git with a task file, a scripted agent that really edits files, and a server that can be killed.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    sync::atomic::{AtomicU32, Ordering},
    thread,
    time::{Duration, Instant},
};

use ostler_server::{
    Home,
    api::{InfoView, LoopView, NewAnswer, RequestView},
    client::{Client, ClientError},
};
use serde_json::Value;
use tokio::runtime::Runtime;

/// Long enough for a machine that has a lot else to do.
pub(crate) const DEADLINE: Duration = Duration::from_mins(4);

/// The agent: what `behave/ID` says, or `behave/any`, or else it writes the file that the task declares. `R` is the place
/// of the test.
const AGENT: &str = r#"#!/bin/sh
R=@ROOT@
if printf '%s' "$OSTLER_PROMPT" | grep -q 'git merge'; then id=mend; else
id=$(printf '%s' "$OSTLER_PROMPT" | grep -oE '\bT[0-9]+\.[0-9]+\b' | head -1); fi
printf '%s\n' "$OSTLER_PROMPT" >> "$R/prompts.$id"
echo "$id $(pwd)" >> "$R/ran"
mkdir -p src
if [ -e "$R/pause" ]; then sleep "$(cat "$R/pause")"; fi
if [ -e "$R/behave/$id" ]; then . "$R/behave/$id"
elif [ -e "$R/behave/any" ]; then . "$R/behave/any"
else echo "done $id" > "src/$id.txt"; fi
"#;

/// The program: the one that was built with the tests, or another build of it that is to be measured.
fn program() -> PathBuf {
    std::env::var_os("OSTLER_TEST_PROGRAM").map_or_else(|| env!("CARGO_BIN_EXE_ostler").into(), PathBuf::from)
}

/// A project with a server.
pub(crate) struct Place {
    pub(crate) root: PathBuf,
    server: Option<Child>,
    runtime: Runtime,
}

impl Place {
    /// A repository with this task file, and no server yet.
    pub(crate) fn new(tasks: &str) -> Place {
        static COUNTER: AtomicU32 = AtomicU32::new(0);
        let name = format!("o{}-{}", std::process::id(), COUNTER.fetch_add(1, Ordering::Relaxed));
        let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("orchestrate").join(name);
        fs::remove_dir_all(&root).ok();
        for folder in ["home", "project/src", "config/ostler", "behave", "tools"] {
            fs::create_dir_all(root.join(folder)).expect("the target directory can be written");
        }
        fs::set_permissions(root.join("home"), fs::Permissions::from_mode(0o700)).expect("it is ours");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let place = Place { root, server: None, runtime };
        place.write_program("agent", AGENT);
        place.configure("");
        place.write("project/TASKS.md", tasks);
        place.write("project/src/shared.txt", "shared\n");
        place.git(&["init", "-q", "-b", "main"]);
        place.git(&["config", "user.name", "somebody"]);
        place.git(&["config", "user.email", "somebody@localhost"]);
        place.git(&["add", "-A"]);
        place.git(&["commit", "-q", "-m", "start"]);
        place
    }

    /// The user's configuration, with more at its end.
    pub(crate) fn configure(&self, more: &str) {
        let agent = self.root.join("agent").display().to_string();
        let text = format!("default_agent = \"builder\"\n[agents.builder]\ncommand = [{agent:?}]\n{more}");
        self.write("config/ostler/config.toml", &text);
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.root.join("project")
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.root.join(name), text).expect("the place can be written");
    }

    /// A file that can be run; `@ROOT@` in it is the place.
    pub(crate) fn write_program(&self, name: &str, text: &str) {
        self.write(name, &text.replace("@ROOT@", &self.root.to_string_lossy()));
        fs::set_permissions(self.root.join(name), fs::Permissions::from_mode(0o755)).expect("it is ours");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.root.join(name)).unwrap_or_default()
    }

    /// What the agent does for a task.
    pub(crate) fn behave(&self, task: &str, script: &str) {
        self.write(&format!("behave/{task}"), script);
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let output = Command::new("git").args(arguments).current_dir(self.project()).output().expect("git");
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(program());
        command.args(arguments).current_dir(self.project()).stdin(Stdio::null());
        command.env("OSTLER_HOME", self.root.join("home")).env("XDG_CONFIG_HOME", self.root.join("config"));
        command.env("LC_ALL", "C.UTF-8").env_remove("OSTLER_CRASH_AT");
        // What a test puts there is found before everything else.
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = [self.root.join("tools")].into_iter().chain(std::env::split_paths(&path));
        command.env("PATH", std::env::join_paths(folders).expect("no folder has a colon in its name"));
        command
    }

    /// What a command prints, what it notes, and its exit code.
    pub(crate) fn ostler(&self, arguments: &[&str]) -> (String, String, i32) {
        let Output { status, stdout, stderr } = self.command(arguments).output().expect("the binary starts");
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        (text(stdout), text(stderr), status.code().unwrap_or(-1))
    }

    /// Starts a server, which may die where a test says so.
    pub(crate) fn start(&mut self, crash_at: Option<&str>) {
        self.start_with(&crash_at.map(|site| ("OSTLER_CRASH_AT", site)).into_iter().collect::<Vec<_>>());
    }

    /// Starts a server with more in its environment.
    pub(crate) fn start_with(&mut self, environment: &[(&str, &str)]) {
        let log = fs::OpenOptions::new().create(true).append(true).open(self.root.join("server.log"));
        let log = log.expect("a log");
        let mut command = self.command(&["serve"]);
        command.envs(environment.iter().copied());
        command.stdout(log.try_clone().expect("a log")).stderr(log);
        self.server = Some(command.spawn().expect("the server starts"));
        let deadline = Instant::now() + DEADLINE;
        while self.get::<InfoView>("/info").is_err() && !self.has_died() {
            assert!(Instant::now() < deadline, "the server does not answer:\n{}", self.read("server.log"));
            thread::sleep(Duration::from_millis(5));
        }
    }

    pub(crate) fn has_died(&mut self) -> bool {
        self.server.as_mut().is_some_and(|server| server.try_wait().expect("a child").is_some())
    }

    /// kill -9.
    pub(crate) fn kill(&mut self) {
        if let Some(mut server) = self.server.take() {
            server.kill().ok();
            server.wait().expect("a child can be waited for");
        }
    }

    pub(crate) fn get<T: serde::de::DeserializeOwned>(&self, path: &str) -> Result<T, ClientError> {
        let client = Client::new(&Home::at(&self.root.join("home")));
        self.runtime.block_on(client.get(path))
    }

    pub(crate) fn post<T: serde::de::DeserializeOwned>(
        &self,
        path: &str,
        body: &impl serde::Serialize,
    ) -> Result<T, ClientError> {
        let client = Client::new(&Home::at(&self.root.join("home")));
        self.runtime.block_on(client.post(path, body))
    }

    /// Begins a loop, or joins the one that runs, and gives its run.
    pub(crate) fn begin(&self, more: &[&str]) -> String {
        let arguments: Vec<&str> =
            ["--json", "orchestrate", "--detach"].iter().chain(more).copied().collect();
        let (out, err, code) = self.ostler(&arguments);
        assert_eq!(code, 0, "{out}{err}");
        let view: LoopView = serde_json::from_str(&out).expect("a loop");
        view.run
    }

    pub(crate) fn view(&self, run: &str) -> LoopView {
        self.get(&format!("/orchestrate/{run}")).expect("a loop")
    }

    /// Waits for something of a loop.
    pub(crate) fn until(&self, run: &str, what: &str, is_it: impl Fn(&LoopView) -> bool) -> LoopView {
        let deadline = Instant::now() + DEADLINE;
        loop {
            let view = self.view(run);
            if is_it(&view) {
                return view;
            }
            assert!(
                Instant::now() < deadline && (view.outcome.is_none() || what == "its end"),
                "{what}: {}\n{}\n{}",
                serde_json::to_string_pretty(&view).unwrap_or_default(),
                self.read("project/.claude/orchestrate.log"),
                self.read("server.log"),
            );
            thread::sleep(Duration::from_millis(20));
        }
    }

    pub(crate) fn end(&self, run: &str) -> LoopView {
        self.until(run, "its end", |view| view.outcome.is_some())
    }

    /// Waits for a card.
    pub(crate) fn asked(&self, run: &str) -> RequestView {
        let view = self.until(run, "a question", |view| view.request.is_some());
        self.get(&format!("/requests/{}", view.request.expect("there is one"))).expect("a request")
    }

    pub(crate) fn answer(&self, request: &RequestView, word: &str) {
        let answer = NewAnswer { value: Some(word.to_owned()), ..NewAnswer::default() };
        self.post::<Value>(&format!("/requests/{}/answer", request.id), &answer).expect("an answer");
    }

    /// The tree of the head, and the marks of the task file.
    pub(crate) fn tree(&self) -> (String, String) {
        (self.git(&["ls-tree", "-r", "--name-only", "HEAD"]), self.read("project/TASKS.md"))
    }

    /// The names of files with their content, as the head has them.
    pub(crate) fn content(&self) -> String {
        self.git(&["rev-parse", "HEAD^{tree}"])
    }

    pub(crate) fn subjects(&self) -> Vec<String> {
        self.git(&["log", "--format=%s", "--no-merges"]).lines().map(str::to_owned).collect()
    }
}

impl Place {
    /// Ends the agents that still run, and waits for their shims: each takes its control group with it. They would
    /// outlive the test, as they are meant to.
    fn end_agents(&self) {
        let deadline = Instant::now() + Duration::from_secs(20);
        while self.has_shims() && Instant::now() < deadline {
            let (out, _, _) = self.ostler(&["--json", "ps"]);
            let sessions: Vec<Value> = serde_json::from_str(&out).unwrap_or_default();
            for id in sessions.iter().filter_map(|session| session["id"].as_str()) {
                self.ostler(&["cancel", id]);
            }
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// Whether a process watches an agent of this place.
    fn has_shims(&self) -> bool {
        let home = self.root.join("home").display().to_string();
        fs::read_dir("/proc").expect("the processes").flatten().any(|process| {
            let words = fs::read(process.path().join("cmdline")).unwrap_or_default();
            let words = String::from_utf8_lossy(&words).into_owned();
            words.split('\0').nth(1) == Some("__shim") && words.contains(&home)
        })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.kill();
        self.end_agents();
        // A server that a command has started.
        self.command(&["serve", "--stop"]).output().ok();
        if !thread::panicking() {
            fs::remove_dir_all(&self.root).ok();
        }
    }
}

/// Whether a path is there.
pub(crate) fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}
