//! One CLI with a home and a directory of its own, and the commands that a person types about it.

use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use ostler_server::api::{RunView, SessionView};
use serde_json::Value;

use super::{
    model::Model,
    script,
    support::{World, write},
};

/// A person who lets some CLIs run commands without asking.
const CONFIGURATION: &str = r#"
[agents.claude-free]
extends = "claude"
tools = ["Bash"]

[agents.gemini-free]
extends = "gemini"
tools = ["run_shell_command"]

[agents.claude-private]
extends = "claude"
private.use = true

[agents.codex-private]
extends = "codex"
private.use = true

[agents.gemini-private]
extends = "gemini"
private.use = true

[agents.opencode-careful]
extends = "opencode"
environment.OPENCODE_PERMISSION = '{"bash":"ask"}'
"#;

/// One CLI.
pub(crate) struct Lab {
    pub(crate) name: &'static str,
    /// Where it works.
    pub(crate) work: PathBuf,
    /// Where it is configured.
    pub(crate) home: PathBuf,
    environment: BTreeMap<String, String>,
}

/// Writes the configuration of Ostler.
pub(crate) fn configure(folder: &Path) {
    let folder = folder.join("ostler");
    fs::create_dir_all(&folder).expect("a folder");
    write(&folder, "config.toml", CONFIGURATION);
}

impl Lab {
    pub(crate) fn new(name: &'static str, world: &World, model: &Model, bin: &Path) -> Lab {
        let work = world.project.join(name);
        let home = world.project.join(format!("{name}-home"));
        for folder in [&work, &home] {
            fs::create_dir_all(folder).expect("a folder");
        }
        let clis = fs::read_to_string(repository().join("tests/model/clis.json")).expect("what each needs");
        let cli = serde_json::from_str::<Value>(&clis).expect("JSON")[name].take();
        let filled = |value: &Value| {
            let text = value.as_str().expect("a text");
            text.replace("{model}", &model.url).replace("{home}", home.to_str().expect("a path of letters"))
        };
        for (path, content) in cli["files"].as_object().expect("files") {
            let path = home.join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, filled(content)).expect("its home can be written");
        }
        let variables = cli["env"].as_object().expect("an environment").iter();
        let mut environment: BTreeMap<_, _> =
            variables.map(|(name, value)| (name.clone(), filled(value))).collect();
        let path = env::var_os("PATH").unwrap_or_default();
        let path = env::join_paths([bin.to_owned()].into_iter().chain(env::split_paths(&path)));
        let path = path.expect("a PATH").into_string().expect("a path of letters");
        environment.insert("PATH".to_owned(), path);
        environment.insert("LC_ALL".to_owned(), "C".to_owned());
        let port = model.url.rsplit(':').next().expect("an address ends with its port");
        write(&work, "port", port);
        // The smaller the repository, the less an agent looks through.
        let made = Command::new("git").args(["init", "--quiet"]).current_dir(&work).status();
        assert!(made.expect("git runs").success());
        // The command line looks where the CLI's environment says.
        configure(&environment.get("XDG_CONFIG_HOME").map_or_else(|| home.join(".config"), PathBuf::from));
        Lab { name, work, home, environment }
    }

    /// The words by which the conversation of a case is known.
    pub(crate) fn words(&self, case: &str) -> String {
        script::words(self.name, case)
    }

    /// The agent that may run commands.
    pub(crate) fn free(&self) -> String {
        match self.name {
            "claude" | "gemini" => format!("{}-free", self.name),
            name => name.to_owned(),
        }
    }

    /// What a person types, in the environment of the CLI.
    pub(crate) fn ostler(&self, world: &World, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ostler"));
        command.args(arguments).current_dir(&self.work).stdin(Stdio::null());
        command.env_clear().envs(&self.environment).env("OSTLER_HOME", &world.home);
        command.output().expect("the program runs")
    }

    /// The same, when it has to succeed.
    pub(crate) fn done(&self, world: &World, arguments: &[&str]) -> String {
        let output = self.ostler(world, arguments);
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "ostler {arguments:?}: {}\n{said}\n{errors}", output.status);
        said
    }

    /// `ostler run -d AGENT PROMPT`; the id of the session.
    pub(crate) fn run(&self, world: &World, agent: &str, case: &str) -> String {
        let said = self.done(world, &["--json", "run", "-d", agent, &self.words(case)]);
        let run: RunView = serde_json::from_str(&said).expect("a run");
        run.sessions[0].id.clone()
    }

    /// Waits until it is over, and gives what became of it. How it ended is for the caller to judge.
    pub(crate) fn end(&self, world: &World, session: &str) -> SessionView {
        world.wait_for(&format!("the end of {} in {}", session, self.name), |world| {
            Some(world.session(session)).filter(|it| it.outcome.is_some())
        })
    }

    /// Waits until it is done, and gives what became of it.
    pub(crate) fn completed(&self, world: &World, session: &str) -> SessionView {
        let view = self.end(world, session);
        let told = || self.ostler(world, &["logs", "--err", session]);
        assert_eq!(view.status, "completed", "{view:#?}\n{}\n{told:?}", world.output(session), told = told());
        view
    }

    /// Waits until the tool of a case runs.
    pub(crate) fn wait_for_tool(&self, world: &World, case: &str) {
        world.wait_for("a running tool", |_| self.work.join(format!("{case}.runs")).exists().then_some(()));
        assert!(!self.tools(case).is_empty());
    }

    /// The processes of the tool of a case, known by the file that they wait for: a sandbox may have numbers of its own.
    pub(crate) fn tools(&self, case: &str) -> Vec<u32> {
        let file = self.work.join(format!("{case}.go")).display().to_string();
        let entries = fs::read_dir("/proc").expect("Linux").flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let waits = |pid: &u32| {
            let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&command).contains(&file)
        };
        pids.filter(waits).collect()
    }

    /// Lets the tool of a case end.
    pub(crate) fn let_go(&self, case: &str) {
        write(&self.work, &format!("{case}.go"), "");
    }
}

/// The root of the repository.
pub(crate) fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}
