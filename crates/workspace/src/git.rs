//! The one place that starts git. Everything else in the crate builds a [`Call`] and reads what comes back.
//!
//! Git itself is never run by a shell, never with the caller's `GIT_*` variables, never with a pager, an editor or a
//! prompt, and never for longer than its command may take.

use std::{
    env,
    ffi::{OsStr, OsString},
    fs::File,
    io,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::OnceLock,
    time::Duration,
};

use crate::{
    GitError,
    checkout::Checkout,
    guard::GitDir,
    talk::{self, Said},
};

/// How long git may take to read settings and names, on a machine that has a lot else to do.
const LOOK_MAX: Duration = Duration::from_mins(1);

/// How long git may take for work on files and objects that are there.
const WORK_MAX: Duration = Duration::from_mins(5);

/// How long git may take to check everything out: a filter of the user's may have to fetch large files.
const FETCH_MAX: Duration = Duration::from_mins(30);

/// Where the user's configuration lies is the user's word, as `HOME` is. Everything else that begins with `GIT_` is
/// about some other call of git, such as the one whose hook started us.
const KEPT: [&str; 3] = ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"];

/// Settings that hold for every call, whatever the configuration of the user or the repository says.
const SETTINGS: [&str; 14] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.quotePath=false",
    "core.splitIndex=false",
    // Work with mixed line ends is kept with one kind of them rather than not at all.
    "core.safecrlf=false",
    "commit.gpgSign=false",
    "tag.gpgSign=false",
    "log.showSignature=false",
    "submodule.recurse=false",
    // An address that is a command.
    "protocol.ext.allow=never",
    // A merge would otherwise leave a packing process behind.
    "gc.auto=0",
    "maintenance.auto=false",
    // Work is deleted only when it is pinned, so what pins it must have reached the disk. An index pins nothing.
    "core.fsync=all,-index",
    "core.fsyncMethod=batch",
];

/// What is done to every git before it is started.
static PREPARE: OnceLock<fn(&mut Command)> = OnceLock::new();

/// One call of git, not started yet.
pub(crate) struct Call<'a> {
    directory: &'a Path,
    /// What is looked at before git is.
    guard: Option<&'a GitDir>,
    place: Vec<OsString>,
    args: Vec<OsString>,
    environment: Vec<(&'static str, OsString)>,
    input: Input<'a>,
    stdout_bytes_max: u64,
}

/// What git finds on its standard input.
enum Input<'a> {
    Nothing,
    Bytes(&'a [u8]),
    /// A file that is locked. Git holds it open, so the lock outlives us exactly as long as git does.
    Held(&'a File),
}

/// What came of a call.
pub(crate) struct Output {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
    /// There was more than the call wanted, and the rest was not read.
    pub(crate) truncated: bool,
}

/// Has something done to every git that this process starts from now on. The first caller decides.
pub fn prepare_git_with(prepare: fn(&mut Command)) {
    PREPARE.set(prepare).ok();
}

impl<'a> Call<'a> {
    /// In a directory, whose repository git has to find by itself. Nothing is looked at before, so this is only for
    /// commands that run nothing, whatever is configured: `version`, `rev-parse`, `config` and `ls-files`.
    pub(crate) fn at(directory: &'a Path) -> Call<'a> {
        Call {
            directory,
            guard: None,
            place: Vec::new(),
            args: Vec::new(),
            environment: Vec::new(),
            input: Input::Nothing,
            stdout_bytes_max: u64::MAX,
        }
    }

    /// On a git directory, without files.
    pub(crate) fn on(git_dir: &'a GitDir) -> Call<'a> {
        Call { guard: Some(git_dir), ..Call::blind(git_dir) }
    }

    /// The same without looking at it before: for `config`, which runs nothing and is how one looks.
    pub(crate) fn blind(git_dir: &'a Path) -> Call<'a> {
        let mut call = Call::at(git_dir);
        call.place.push(joined("--git-dir=", git_dir));
        call
    }

    /// On a checkout. Its git directory is named, not found: what an agent has made of the file `.git` is not asked.
    pub(crate) fn within(checkout: &'a Checkout) -> Call<'a> {
        Call { guard: Some(&checkout.git_dir), ..Call::unguarded(checkout) }
    }

    /// The same without looking at it before: for `ls-files --stage`, which only prints the index.
    pub(crate) fn unguarded(checkout: &'a Checkout) -> Call<'a> {
        let mut call = Call::at(&checkout.root);
        call.place.push(joined("--git-dir=", &checkout.git_dir));
        call.place.push(joined("--work-tree=", &checkout.root));
        call
    }

    /// On a git directory that was made just now, with files that lie elsewhere. Nobody had a chance to configure it.
    pub(crate) fn beside(git_dir: &Path, directory: &'a Path) -> Call<'a> {
        let mut call = Call::at(directory);
        call.place.push(joined("--git-dir=", git_dir));
        call.place.push(joined("--work-tree=", directory));
        call
    }

    pub(crate) fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Call<'a> {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    pub(crate) fn env(mut self, name: &'static str, value: impl Into<OsString>) -> Call<'a> {
        self.environment.push((name, value.into()));
        self
    }

    pub(crate) fn envs(mut self, more: &[(&'static str, String)]) -> Call<'a> {
        self.environment.extend(more.iter().map(|(name, value)| (*name, value.into())));
        self
    }

    pub(crate) fn input(mut self, bytes: &'a [u8]) -> Call<'a> {
        self.input = Input::Bytes(bytes);
        self
    }

    pub(crate) fn holding(mut self, lock: &'a File) -> Call<'a> {
        self.input = Input::Held(lock);
        self
    }

    pub(crate) fn stdout_bytes_max(mut self, bytes: u64) -> Call<'a> {
        self.stdout_bytes_max = bytes;
        self
    }

    /// What git printed; anything but success is an error.
    pub(crate) fn run(self) -> Result<Vec<u8>, GitError> {
        let output = git(&self)?;
        if output.status.success() || output.truncated {
            return Ok(output.stdout);
        }
        Err(self.failed(&output))
    }

    /// What git printed, or none if it answered "no" with exit code 1.
    pub(crate) fn ask(self) -> Result<Option<Vec<u8>>, GitError> {
        let output = git(&self)?;
        match output.status.code() {
            Some(0) => Ok(Some(output.stdout)),
            Some(1) => Ok(None),
            _ => Err(self.failed(&output)),
        }
    }

    /// What git printed as one line of text.
    pub(crate) fn line(self) -> Result<String, GitError> {
        let command = self.command();
        text(self.run()?, &command)
    }

    /// Everything, for calls whose failure means something.
    pub(crate) fn output(&self) -> Result<Output, GitError> {
        git(self)
    }

    pub(crate) fn failed(&self, output: &Output) -> GitError {
        GitError::Failed {
            command: self.command(),
            directory: self.directory.to_owned(),
            status: output.status,
            stderr: output.stderr.trim().to_owned(),
        }
    }

    /// The name of the command, for messages.
    fn command(&self) -> String {
        self.args.first().map(|arg| arg.to_string_lossy().into_owned()).unwrap_or_default()
    }
}

/// Runs git. The only function of Ostler that does, so whatever must be true before git looks at a repository is
/// checked here: that its configuration would have git run nothing that nobody agreed to (`guard.rs`).
///
/// Switched off for every call, also where somebody agreed: hooks in files, fsmonitor, signing, showing signatures,
/// the pager, editors, prompts, packing in the background, recursion into submodules, addresses that are commands;
/// and by the callers external diffs, textconv and checking signatures. What the user's own configuration defines
/// runs: filters, merge drivers, hooks in the configuration (git 2.54), and what fetching takes in a partial clone.
///
/// None may wait for ever: at a pipe in place of a file git would. It is ended when its time is up, with everything
/// that it has started.
fn git(call: &Call<'_>) -> Result<Output, GitError> {
    call.guard.map_or(Ok(()), GitDir::check)?;
    git_within(call, time_max(&call.command()))
}

/// How long a command may take.
fn time_max(command: &str) -> Duration {
    match command {
        "version" | "config" | "rev-parse" | "symbolic-ref" | "check-ref-format" => LOOK_MAX,
        "worktree" => FETCH_MAX,
        _ => WORK_MAX,
    }
}

fn git_within(call: &Call<'_>, time_max: Duration) -> Result<Output, GitError> {
    let started = talk::start(|| start(call)).map_err(|source| GitError::Start { source })?;
    let input = if let Input::Bytes(bytes) = call.input { bytes } else { &[] };
    let said = talk::talk(started, input, call.stdout_bytes_max, time_max);
    match said.map_err(|source| GitError::Talk { command: call.command(), source })? {
        Some(Said { status, stdout, stderr, truncated }) => {
            Ok(Output { status, stdout, stderr: String::from_utf8_lossy(&stderr).into_owned(), truncated })
        }
        None => {
            let directory = call.directory.to_owned();
            Err(GitError::Late { command: call.command(), directory, after: time_max })
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the one function that starts git")]
fn start(call: &Call<'_>) -> io::Result<Child> {
    let mut command = Command::new(program()?);
    for (name, _) in env::vars_os() {
        if name.as_encoded_bytes().starts_with(b"GIT_") && !KEPT.iter().any(|kept| name == *kept) {
            command.env_remove(name);
        }
    }
    command.env("GIT_TERMINAL_PROMPT", "0").env("SSH_ASKPASS_REQUIRE", "never").env("LC_ALL", "C");
    // What stands under a name is what was kept under it: a repository can say that git is to show something else.
    command.env("GIT_NO_REPLACE_OBJECTS", "1");
    command.env("GIT_EDITOR", ":").envs(call.environment.iter().map(|(name, value)| (name, value)));
    command.args(["--no-pager", "--no-optional-locks"]).args(&call.place);
    command.args(SETTINGS.iter().flat_map(|setting| ["-c", setting])).args(&call.args);
    command.current_dir(call.directory).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.stdin(match call.input {
        Input::Nothing => Stdio::null(),
        Input::Bytes(_) => Stdio::piped(),
        Input::Held(lock) => Stdio::from(lock.try_clone()?),
    });
    if let Some(prepare) = PREPARE.get() {
        prepare(&mut command);
    }
    // A group of its own, so that all of it can be ended.
    command.process_group(0).spawn()
}

/// Git, from an absolute folder of `PATH`: with `.` in it, a repository could bring a git of its own.
fn program() -> io::Result<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let mut candidates = env::split_paths(&path).filter(|folder| folder.is_absolute());
    let found = candidates.find_map(|folder| Some(folder.join("git")).filter(|program| program.is_file()));
    found.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "there is no git in PATH"))
}

/// Text without its line end.
pub(crate) fn text(mut bytes: Vec<u8>, command: &str) -> Result<String, GitError> {
    bytes.pop_if(|last| *last == b'\n');
    String::from_utf8(bytes).map_err(|bytes| GitError::Unexpected {
        command: command.to_owned(),
        what: String::from_utf8_lossy(bytes.as_bytes()).into_owned(),
    })
}

pub(crate) fn joined(prefix: &str, path: &Path) -> OsString {
    let mut argument = OsString::from(prefix);
    argument.push(path);
    argument
}

#[cfg(test)]
mod tests {
    use std::{fs, time::Instant};

    use super::*;

    /// Whether a process with this word on its command line runs.
    fn runs(word: &str) -> bool {
        let processes = fs::read_dir("/proc").expect("processes are listed").flatten();
        processes.into_iter().any(|process| {
            let line = fs::read(process.path().join("cmdline")).unwrap_or_default();
            line.split(|&byte| byte == 0).any(|part| part == word.as_bytes())
        })
    }

    #[test]
    fn a_git_that_does_not_end_is_ended_with_all_it_started() {
        let word = format!("86400.{}", std::process::id());
        let alias = format!("alias.wait=!sh -c 'trap \"\" TERM; sleep {word} & sleep {word}'");
        let call = Call::at(Path::new("/")).args(["-c", &alias, "wait"]);
        let error = git_within(&call, Duration::from_millis(500)).err().expect("it is ended").to_string();
        assert!(error.contains("took longer than 0.5 s"), "{error}");
        let deadline = Instant::now() + Duration::from_mins(1);
        while runs(&word) {
            assert!(Instant::now() < deadline, "something of it still runs");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn what_is_said_in_time_is_heard_whole() {
        let text = "a line of many\n".repeat(100_000);
        let call = Call::at(Path::new("/")).args(["stripspace"]).input(text.as_bytes());
        assert_eq!(call.run().expect("it is said back"), text.as_bytes());
        let call = Call::at(Path::new("/")).args(["stripspace"]).input(text.as_bytes()).stdout_bytes_max(10);
        assert_eq!(call.run().expect("the beginning is enough"), b"a line of ");
    }
}
