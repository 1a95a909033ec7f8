//! A directory, a shim in it, and a connection to that shim. Waiting is always for an event, with a long deadline.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, BufRead, BufReader, Read, Write},
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    process::{Child, Command as Process, Stdio},
    sync::atomic::{AtomicU32, Ordering},
    thread,
    time::{Duration, Instant},
};

use ostler_shim::{
    control::{Command, Greeting, Message, Reply, Request, Status},
    launch::{CgroupPolicy, Input, Launch, OutputFormat, Terminal},
    spool::{Happening, Record, read},
};

/// Long enough for a machine that has a lot else to do.
const DEADLINE: Duration = Duration::from_mins(1);

/// A session with its shim.
pub(crate) struct Session {
    pub(crate) directory: PathBuf,
    pub(crate) name: String,
    pub(crate) shim: Child,
}

/// A connection to a shim.
pub(crate) struct Control {
    reader: BufReader<UnixStream>,
    next_id: u64,
    replies: u64,
    /// Records that came while something else was waited for.
    records: Vec<Record>,
    pub(crate) greeting: Greeting,
}

/// A launch of a bash script on pipes.
pub(crate) fn bash(script: &str) -> Launch {
    command(&["bash", "-c", script])
}

/// Launches of a bash script without and with a control group of its own, which is not everywhere to be had.
pub(crate) fn both_ways(script: &str) -> [Launch; 2] {
    [CgroupPolicy::Off, CgroupPolicy::Auto].map(|cgroup| Launch { cgroup, ..bash(script) })
}

/// Says that a test cannot be made here. Not with `println!`: what a passing test prints that way nobody sees.
pub(crate) fn skipped(why: &str) {
    writeln!(io::stderr(), "SKIPPED {why}").expect("standard error is open");
}

/// A launch of a command on pipes.
pub(crate) fn command(command: &[&str]) -> Launch {
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    let session = format!("s_{}_{}", std::process::id(), COUNTER.fetch_add(1, Ordering::Relaxed));
    Launch {
        session,
        command: command.iter().map(ToString::to_string).collect(),
        directory: PathBuf::from("/"),
        environment: BTreeMap::from([("PATH".into(), std::env::var("PATH").unwrap_or_default())]),
        terminal: Terminal::None,
        input: Input::Open,
        format: OutputFormat::Text,
        nonce: None,
        thin_role: false,
        stop: true,
        log_bytes_max: 1 << 30,
        open_files_max: None,
        cgroup: CgroupPolicy::Auto,
        values: None,
        given: BTreeMap::new(),
        writes: None,
        baseline: None,
        scope_signals: false,
        end_key: None,
    }
}

impl Session {
    pub(crate) fn start(launch: &Launch) -> Session {
        Self::start_through(&[], launch)
    }

    /// Starts the shim through another program, which becomes it or starts it.
    pub(crate) fn start_through(program: &[&str], launch: &Launch) -> Session {
        let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(&launch.session);
        // Process numbers come again, and so would an old directory.
        if fs::metadata(directory.join(ostler_shim::LOCK)).is_ok() && Self::is_abandoned(&directory) {
            fs::remove_dir_all(&directory).expect("an old directory can be removed");
        }
        fs::create_dir_all(&directory).expect("the target directory can be written");
        let line = [program, &[env!("CARGO_BIN_EXE_ostler"), "__shim"]].concat();
        let mut command = Process::new(line[0]);
        command.args(&line[1..]).arg(&directory).stdin(launch.seal().expect("memory")).stderr(Stdio::piped());
        let shim = command.spawn().expect("the binary starts");
        Session { directory, name: launch.session.clone(), shim }
    }

    /// Whether no shim of this test run can be in the directory.
    fn is_abandoned(directory: &Path) -> bool {
        let age =
            fs::metadata(directory).and_then(|it| it.modified()).ok().and_then(|time| time.elapsed().ok());
        age.is_none_or(|age| age > 10 * DEADLINE)
    }

    /// Connects, as soon as the shim listens, and follows from the beginning.
    pub(crate) fn control(&self) -> Control {
        let stream = wait_for("the shim's socket", || ostler_shim::connect(&self.directory).ok());
        stream.set_read_timeout(Some(DEADLINE)).expect("a socket takes a timeout");
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        reader.read_line(&mut line).expect("the shim greets");
        let greeting = serde_json::from_str(&line).expect("a greeting");
        let mut control = Control { reader, next_id: 0, replies: 0, records: Vec::new(), greeting };
        assert_eq!(control.ask(Command::Follow { after_seq: 0 }), Reply::Done);
        control
    }

    /// The output log.
    pub(crate) fn output(&self) -> String {
        String::from_utf8_lossy(&fs::read(self.directory.join(ostler_shim::OUT)).expect("a log")).into_owned()
    }

    /// The agent's control group, if it has one; it must have started.
    pub(crate) fn cgroup(&self) -> Option<PathBuf> {
        match read(&self.directory).expect("a spool").swap_remove(0).what {
            Happening::Started { cgroup, .. } => cgroup,
            what => panic!("{what:?}"),
        }
    }

    /// How many processes there are, after making sure that all of them stand still.
    pub(crate) fn all_stand_still(&self) -> usize {
        let frozen = self.cgroup().filter(|group| {
            let events = fs::read_to_string(group.join("cgroup.events")).unwrap_or_default();
            events.contains("frozen 1")
        });
        let frozen = frozen.and_then(|group| fs::read_to_string(group.join("cgroup.procs")).ok());
        let frozen: Vec<u32> =
            frozen.unwrap_or_default().lines().filter_map(|pid| pid.parse().ok()).collect();
        let processes = self.processes();
        let stands = |(pid, state): &(u32, char)| *state == 'T' || frozen.contains(pid);
        assert!(processes.iter().all(stands), "{processes:?}, of which frozen: {frozen:?}");
        processes.len()
    }

    /// What `/proc` says of every process of this session, by its marker: pid and state.
    pub(crate) fn processes(&self) -> Vec<(u32, char)> {
        let marker = format!("OSTLER_SESSION={}", self.name);
        let pids = fs::read_dir("/proc").expect("Linux").flatten();
        let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        pids.filter(|pid| {
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment.split(|&byte| byte == 0).any(|variable| variable == marker.as_bytes())
        })
        .filter_map(|pid| Some((pid, state(pid)?)))
        .filter(|(_, state)| *state != 'Z')
        .collect()
    }

    /// Waits for the shim to end by itself.
    pub(crate) fn wait(&mut self) -> Option<i32> {
        wait_for("the shim's end", || self.shim.try_wait().expect("a child")).code()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if self.shim.try_wait().is_ok_and(|status| status.is_none()) {
            self.shim.kill().ok();
            self.shim.wait().ok();
        }
        // There is nothing to sweep where a test has cut things short.
        ostler_shim::sweep(&self.directory).ok();
        for (pid, _) in self.processes() {
            Process::new("kill").args(["-9", &pid.to_string()]).status().ok();
        }
    }
}

impl Control {
    pub(crate) fn ask(&mut self, command: Command) -> Reply {
        self.send(&[command]);
        self.next_reply()
    }

    /// Says all of this at once, without waiting for replies.
    pub(crate) fn send(&mut self, commands: &[Command]) {
        let mut lines = String::new();
        for command in commands {
            self.next_id += 1;
            let request = Request { id: self.next_id, command: command.clone() };
            lines += &serde_json::to_string(&request).expect("a request");
            lines.push('\n');
        }
        self.reader.get_mut().write_all(lines.as_bytes()).expect("the shim reads");
    }

    /// The reply to the first request that has none yet.
    pub(crate) fn next_reply(&mut self) -> Reply {
        self.replies += 1;
        loop {
            match self.message() {
                Message::Reply { id, reply } if id == self.replies => return reply,
                Message::Reply { .. } => panic!("a reply to something else"),
                Message::Record(record) => self.records.push(record),
            }
        }
    }

    pub(crate) fn status(&mut self) -> Status {
        match self.ask(Command::Status) {
            Reply::Status(status) => status,
            reply => panic!("{reply:?}"),
        }
    }

    /// Gives the agent a line and sends it on.
    pub(crate) fn answer(&mut self, text: &str) {
        let key = format!("answer {}", self.next_id);
        assert_eq!(
            self.ask(Command::Input { key, text: text.into(), go_on: true, asked: None }),
            Reply::Done
        );
    }

    /// The bytes that follow a reply.
    pub(crate) fn bytes(&mut self, count: u32) -> Vec<u8> {
        let mut bytes = vec![0; count as usize];
        self.reader.read_exact(&mut bytes).expect("as many bytes as were announced");
        bytes
    }

    /// The next record that fits; those before it are let go.
    pub(crate) fn next(&mut self, fits: impl Fn(&Happening) -> bool) -> Record {
        loop {
            let record = if self.records.is_empty() {
                match self.message() {
                    Message::Record(record) => record,
                    message @ Message::Reply { .. } => panic!("nobody asked: {message:?}"),
                }
            } else {
                self.records.remove(0)
            };
            if fits(&record.what) {
                return record;
            }
        }
    }

    pub(crate) fn next_stop(&mut self) -> Happening {
        self.next(|what| matches!(what, Happening::Stopped { .. })).what
    }

    /// Waits for the agent's end: its code, its signal, and whether nothing is left.
    pub(crate) fn next_end(&mut self) -> (Option<i32>, Option<i32>, bool) {
        match self.next(|what| matches!(what, Happening::Ended { .. })).what {
            Happening::Ended { code, signal, clean, .. } => (code, signal, clean),
            what => panic!("{what:?}"),
        }
    }

    /// The kind of the next item.
    pub(crate) fn next_kind(&mut self) -> String {
        match self.next(|what| matches!(what, Happening::Heard { .. })).what {
            Happening::Heard { item } => item["kind"].as_str().unwrap_or_default().to_string(),
            what => panic!("{what:?}"),
        }
    }

    fn message(&mut self) -> Message {
        let mut line = String::new();
        self.reader.read_line(&mut line).expect("a message within the deadline");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }
}

/// The state of a process, as `/proc` writes it.
pub(crate) fn state(pid: u32) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.chars().next()
}

/// Looks again and again until there is something to see.
pub(crate) fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + DEADLINE;
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(Instant::now() < deadline, "waited for {what} in vain");
        thread::sleep(Duration::from_millis(2));
    }
}
