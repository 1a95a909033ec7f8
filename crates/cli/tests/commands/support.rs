//! A state directory, a project and a configuration of its own for each test, and the binary run in them. Waiting is
//! always for an event, with a long deadline. A server that was started ends with the test.

use std::{
    fs,
    io::Write,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::atomic::{AtomicU32, Ordering},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

/// Long enough for a machine that has a lot else to do.
pub(crate) const DEADLINE: Duration = Duration::from_mins(1);

/// A question with two options, as an agent prints it; then the answer as it came.
pub(crate) const ASK: &str = "printf '%s\\n' thinking '[USER_QUESTION]' 'category: choice' 'question: Which database?' \
                              'options: [PostgreSQL, MySQL]' 'default: PostgreSQL' 'required: true' \
                              '[/USER_QUESTION]'; read -r line; echo \"got $line\"";

/// Everything that a test has for itself.
pub(crate) struct Place {
    root: PathBuf,
}

/// What a command said.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) code: i32,
}

impl Place {
    pub(crate) fn new() -> Place {
        static COUNTER: AtomicU32 = AtomicU32::new(0);
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let name = format!("place-{}-{number}", std::process::id());
        let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        // Process numbers come again, and so would an old directory.
        fs::remove_dir_all(&root).ok();
        for directory in ["state", "project", "config/ostler", "home"] {
            fs::create_dir_all(root.join(directory)).expect("the target directory can be written");
        }
        fs::set_permissions(root.join("state"), fs::Permissions::from_mode(0o700)).expect("it is ours");
        let place = Place { root };
        // What is around the target directory is none of the test's business.
        place.git(&["init", "--quiet", "--initial-branch=main", "."]);
        place
    }

    /// With a commit in its repository.
    pub(crate) fn with_commit() -> Place {
        let place = Place::new();
        fs::write(place.project().join("file.txt"), "one\ntwo\n").expect("a file");
        place.git(&["add", "file.txt"]);
        place.git(&["commit", "--quiet", "-m", "first"]);
        place
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.root.join("state")
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.root.join("project")
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=a", "-c", "user.email=a@example.org"]).args(arguments);
        git.current_dir(self.project()).env("HOME", self.root.join("home"));
        let output = git.output().expect("git starts");
        assert!(output.status.success(), "git {arguments:?}: {output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// The user's configuration file.
    pub(crate) fn configure(&self, toml: &str) {
        fs::write(self.root.join("config/ostler/config.toml"), toml).expect("a configuration");
    }

    /// The binary with this place as its world.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        self.program(env!("CARGO_BIN_EXE_ostler"), arguments)
    }

    /// Another program in the same world.
    pub(crate) fn program(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(self.project()).stdin(Stdio::null());
        command.env_clear();
        for name in ["PATH", "TMPDIR", "LD_LIBRARY_PATH"] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        command.env("HOME", self.root.join("home")).env("OSTLER_HOME", self.state());
        command.env("XDG_CONFIG_HOME", self.root.join("config")).env("TERM", "xterm");
        command
    }

    /// Runs a command to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Said {
        self.command(arguments).output().expect("the binary starts").into()
    }

    /// Runs a command that has to be done.
    pub(crate) fn done(&self, arguments: &[&str]) -> String {
        let said = self.run(arguments);
        assert_eq!(said.code, 0, "{arguments:?}: {said:?}");
        said.out
    }

    /// Runs a command with `--json` that has to be done.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let out = self.done(&[&["--json"], arguments].concat());
        serde_json::from_str(&out).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {out}"))
    }

    /// Runs with some standard input.
    pub(crate) fn pipe(&self, arguments: &[&str], input: &str) -> Said {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary starts");
        child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("it reads");
        child.wait_with_output().expect("the binary ends").into()
    }

    /// Starts a script without watching it; its session.
    pub(crate) fn start(&self, script: &str) -> String {
        let run = self.json(&["run", "-d", "--", "bash", "-c", script]);
        run["sessions"][0]["id"].as_str().expect("a run has a session").to_owned()
    }

    /// A session as it is now.
    pub(crate) fn session(&self, id: &str) -> Value {
        self.json(&["show", id])["session"].clone()
    }

    /// Waits until a session is so.
    pub(crate) fn wait_for(&self, id: &str, status: &str) -> Value {
        let what = format!("{id} is {status}");
        until(&what, || Some(self.session(id)).filter(|session| session["status"] == status))
    }

    /// Kills the server as nobody should.
    pub(crate) fn kill_server(&self) {
        signal(&self.server_pid(), "KILL");
    }

    /// Has the server stand still: it takes connections and answers nobody.
    pub(crate) fn halt_server(&self) -> Halted {
        let pid = self.server_pid();
        signal(&pid, "STOP");
        Halted { pid }
    }

    fn server_pid(&self) -> String {
        let doctor = self.json(&["doctor"]);
        let checks = doctor.as_array().expect("checks");
        let server = checks.iter().find(|it| it["check"] == "server").expect("it runs");
        server["says"].as_str().expect("text").rsplit(' ').next().expect("a number").to_owned()
    }

    /// Waits until there is something to answer, and says what.
    pub(crate) fn wait_for_request(&self) -> String {
        until("a request", || Some(self.json(&["inbox"])[0]["id"].as_str()?.to_owned()))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // Agents would outlive the test, as they are meant to.
        if let Ok(output) = self.command(&["--json", "ps"]).output()
            && let Ok(Value::Array(sessions)) = serde_json::from_slice(&output.stdout)
        {
            for id in sessions.iter().filter_map(|session| session["id"].as_str()) {
                self.command(&["cancel", id]).output().ok();
                let deadline = Instant::now() + DEADLINE;
                while Instant::now() < deadline {
                    let shown = self.command(&["--json", "show", id]).output().ok();
                    let shown = shown.and_then(|it| serde_json::from_slice::<Value>(&it.stdout).ok());
                    if shown.is_none_or(|it| !it["session"]["outcome"].is_null()) {
                        break;
                    }
                    thread::sleep(Duration::from_millis(10));
                }
            }
        }
        let lock = self.state().join("server.lock");
        self.command(&["serve", "--stop"]).output().ok();
        wait_for_unlock(&lock);
        fs::remove_dir_all(&self.root).ok();
    }
}

/// The server has ended when nobody holds the lock.
/// Sends a signal to a process.
pub(crate) fn signal(pid: &str, name: &str) {
    let mut kill = Command::new("kill");
    assert!(kill.args(["-s", name, pid]).status().expect("kill starts").success());
}

/// Waits until a process would hear a signal instead of being ended by it.
pub(crate) fn wait_until_caught(pid: u32, number: u32) {
    until("the signal is caught", || {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"))?.trim();
        (u64::from_str_radix(caught, 16).ok()? >> (number - 1) & 1 == 1).then_some(())
    });
}

/// A server that stands still until this is dropped.
pub(crate) struct Halted {
    pid: String,
}

impl Drop for Halted {
    fn drop(&mut self) {
        signal(&self.pid, "CONT");
    }
}

pub(crate) fn wait_for_unlock(lock: &Path) {
    let deadline = Instant::now() + DEADLINE;
    while Instant::now() < deadline {
        let Ok(file) = fs::File::open(lock) else { return };
        if file.try_lock().is_ok() {
            return;
        }
        thread::sleep(Duration::from_millis(5));
    }
}

impl From<Output> for Said {
    fn from(output: Output) -> Said {
        Said {
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
            code: output.status.code().unwrap_or(-1),
        }
    }
}

/// Looks again and again until there is something.
pub(crate) fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + DEADLINE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "{what} did not come");
        thread::sleep(Duration::from_millis(10));
    }
}
