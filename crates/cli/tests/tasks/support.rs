//! A project with a task file, and the program as somebody calls it there.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::PermissionsExt,
    path::PathBuf,
    process::{Command, Output, Stdio},
    sync::atomic::{AtomicU32, Ordering},
};

use expect_test::Expect;
use serde_json::Value;

pub(crate) const TASKS: &str = "## Phase 1: Auth\n- [x] T1.1: Schema\n- [ ] T1.2: API\n  - deps: T1.1\n  - owner: backend\n- [ ] T1.3: Page\n  \
                     - deps: T1.1\n- [ ] T1.4: Try it\n  - deps: T1.2, T1.3\n  - verify: make test\n  - [ ] it works\n## Phase 2: \
                     Orders\n- [ ] T2.1: Orders\n";

/// A project of its own for each test.
pub(crate) struct Place {
    pub(crate) root: PathBuf,
}

impl Place {
    pub(crate) fn new(tasks: &str) -> Place {
        static COUNTER: AtomicU32 = AtomicU32::new(0);
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let root =
            PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("tasks-{}-{number}", std::process::id()));
        fs::remove_dir_all(&root).ok();
        // What is around the target directory is none of the test's business.
        fs::create_dir_all(root.join("shop/.git")).expect("the target directory can be written");
        let place = Place { root };
        place.write(".git/HEAD", "ref: refs/heads/main\n");
        if !tasks.is_empty() {
            place.write("TASKS.md", tasks);
        }
        place
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.root.join("shop")
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.project().join(name);
        fs::create_dir_all(path.parent().expect("a directory")).expect("the project can be written");
        fs::write(path, text).expect("the project can be written");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.project().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub(crate) fn state(&self) -> Value {
        serde_json::from_str(&self.read(".claude/orchestrate-state.json")).expect("JSON")
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ostler"));
        command.args(arguments).current_dir(self.project()).stdin(Stdio::null()).env_clear();
        command.env("OSTLER_HOME", self.root.join("home")).env("XDG_CONFIG_HOME", self.root.join("config"));
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the binary starts")
    }

    /// What is printed, and the exit code.
    #[track_caller]
    pub(crate) fn check(&self, arguments: &[&str], expect: &Expect) {
        let output = self.run(arguments);
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        expect.assert_eq(&format!("{out}--- {}\n{err}", output.status.code().unwrap_or(-1)));
        assert!(!self.root.join("home").exists(), "no server is started");
    }

    /// The one line of `resolve`.
    #[track_caller]
    pub(crate) fn resolve(&self, arguments: &[&str], line: &str) {
        let output = self.run(&[&["resolve"], arguments].concat());
        let code = if line.starts_with("ERROR:") { 15 } else { 0 };
        let said = (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.code());
        assert_eq!(said, (format!("{line}\n"), Some(code)), "{}", String::from_utf8_lossy(&output.stderr));
    }

    /// Every file with its content.
    pub(crate) fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = BTreeMap::new();
        let mut open = vec![self.project()];
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(folder).expect("it can be read") {
                let path = entry.expect("an entry").path();
                if path.is_dir() && !path.is_symlink() {
                    open.push(path);
                } else {
                    files.insert(path.clone(), fs::read(&path).unwrap_or_default());
                }
            }
        }
        files
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        fs::set_permissions(self.project(), fs::Permissions::from_mode(0o755)).ok();
        fs::remove_dir_all(&self.root).ok();
    }
}
