//! A state directory, a server on it, and a client. Waiting is always for an event, with a long deadline.

use std::{
    collections::BTreeMap,
    fs,
    future::Future,
    io::{BufRead, BufReader},
    os::unix::{
        fs::{PermissionsExt, chown},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        atomic::{AtomicU32, Ordering},
        mpsc,
    },
    task::Poll,
    time::{Duration, Instant},
};

use ostler_server::{
    Home,
    api::{EventView, InfoView, NewAnswer, NewRun, Problem, RequestView, RunView, SessionView},
    client::{Client, ClientError},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

/// Long enough for a machine that has a lot else to do.
pub(crate) const DEADLINE: Duration = Duration::from_mins(2);

/// The program: the one that was built with the tests, or another build of it that is to be measured.
fn program() -> PathBuf {
    std::env::var_os("OSTLER_TEST_PROGRAM").map_or_else(|| env!("CARGO_BIN_EXE_ostler").into(), PathBuf::from)
}

/// How many things are asked for at once.
const AT_ONCE: usize = 32;

/// A state directory with a server on it.
pub(crate) struct World {
    pub(crate) home: PathBuf,
    pub(crate) project: PathBuf,
    server: Option<Child>,
    runtime: Runtime,
    disk: Option<Disk>,
    /// How many files the next server may open.
    pub(crate) open_files: Option<u32>,
    /// The user that the server runs as, if it is not the one that runs the tests.
    pub(crate) user: Option<u32>,
    /// The control group that the server and its agents live in, if it is a special one.
    group: Option<PathBuf>,
}

impl World {
    /// A new state directory, a new project, and a server.
    pub(crate) fn new() -> World {
        let mut world = World::idle();
        world.start();
        world
    }

    /// The same without a server.
    pub(crate) fn idle() -> World {
        static COUNTER: AtomicU32 = AtomicU32::new(0);
        let name = format!("w{}-{}", std::process::id(), COUNTER.fetch_add(1, Ordering::Relaxed));
        let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("sessions").join(name);
        fs::remove_dir_all(&root).ok();
        let (home, project) = (root.join("home"), root.join("project"));
        for directory in [&home, &project] {
            fs::create_dir_all(directory).expect("the target directory can be written");
        }
        fs::set_permissions(&home, fs::Permissions::from_mode(0o700)).expect("it is ours");
        // A wall: without it, every project here would be part of the repository that the tests stand in.
        write(&root, ".git", "gitdir: nowhere\n");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.expect("a runtime");
        World { home, project, server: None, runtime, disk: None, open_files: None, user: None, group: None }
    }

    /// The same, for a user without any rights, who can make no control group either. Only root can arrange that.
    pub(crate) fn of_another_user() -> Option<World> {
        let mut world = World::idle_of_another_user()?;
        world.start();
        Some(world)
    }

    /// The same without a server.
    pub(crate) fn idle_of_another_user() -> Option<World> {
        /// Neither root nor the user that stands for nobody.
        const OTHER: u32 = 64_998;
        let mut world = World::idle();
        let exe = program();
        let is_hidden =
            |path: &&Path| path.metadata().map_or(true, |it| it.permissions().mode() & 0o001 == 0);
        let hidden = world.project.ancestors().chain(exe.ancestors()).find(is_hidden);
        if !rustix::process::geteuid().is_root() || hidden.is_some() {
            eprintln!("SKIPPED: only root can run something as another user, who has to reach {hidden:?}");
            return None;
        }
        for path in [&world.home, &world.project] {
            chown(path, Some(OTHER), Some(OTHER)).expect("root may");
        }
        world.user = Some(OTHER);
        Some(world)
    }

    /// The same in a control group that its user may divide.
    pub(crate) fn in_control_group(mut self) -> Option<World> {
        self.group = self.user.and_then(|user| make_group(&self.home, user));
        if self.group.is_none() {
            eprintln!("SKIPPED: there is no control group that may be handed on here");
            return None;
        }
        Some(self)
    }

    /// The same, with the state directory on a small disk, where one may be mounted.
    pub(crate) fn on_a_small_disk(mebibytes: u32) -> Option<World> {
        let mut world = World::idle();
        let disk = Disk::mount(&world.home, mebibytes)?;
        world.home = PathBuf::from(format!("/proc/{}/root{}", disk.holder.id(), world.home.display()));
        world.disk = Some(disk);
        Some(world)
    }

    /// The state directory as the processes in it know it.
    pub(crate) fn inner_home(&self) -> &Path {
        self.disk.as_ref().map_or(&self.home, |disk| &disk.inside)
    }

    /// The program, where it sees the state directory.
    fn program(&self) -> Command {
        let Some(disk) = &self.disk else { return Command::new(program()) };
        let mut command = Command::new("nsenter");
        let target = disk.holder.id().to_string();
        command.args(["--preserve-credentials", "--user", "--mount", "--target", &target]).arg(program());
        command
    }

    pub(crate) fn start(&mut self) {
        self.start_with(&[]);
    }

    /// Starts the server with more in its environment.
    pub(crate) fn start_with(&mut self, environment: &[(&str, &str)]) {
        self.spawn(environment);
        let deadline = Instant::now() + DEADLINE;
        while self.get::<InfoView>("/info").is_err() {
            assert!(Instant::now() < deadline, "the server does not answer:\n{}", self.log());
            if self.has_died() {
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Starts the server and does not wait for it.
    pub(crate) fn spawn(&mut self, environment: &[(&str, &str)]) {
        let log = fs::OpenOptions::new().create(true).append(true).open(self.home.join("test.log"));
        let log = log.expect("a log");
        let mut command = self.program();
        if let Some((user, group)) = self.user.zip(self.group.as_ref()) {
            command = in_group(group, user);
        }
        if let Some(open_files) = self.open_files {
            let program = command.get_program().to_owned();
            command = Command::new("prlimit");
            command.arg(format!("--nofile={open_files}:{open_files}")).arg(program);
        }
        let home = self.inner_home();
        command.arg("serve").env("OSTLER_HOME", home).env("XDG_CONFIG_HOME", home.join("config"));
        command.envs(environment.iter().copied()).stdin(Stdio::null());
        command.stdout(log.try_clone().expect("a log")).stderr(log);
        if let Some(user) = self.user.filter(|_| self.group.is_none()) {
            command.uid(user).gid(user);
        }
        self.server = Some(command.spawn().expect("the server starts"));
    }

    pub(crate) fn server_pid(&self) -> u32 {
        self.server.as_ref().expect("a server").id()
    }

    /// Whether the server has ended by itself.
    pub(crate) fn has_died(&mut self) -> bool {
        let server = self.server.as_mut().expect("a server");
        server.try_wait().expect("a child can be waited for").is_some()
    }

    /// kill -9.
    pub(crate) fn kill_server(&mut self) {
        if let Some(mut server) = self.server.take() {
            server.kill().ok();
            server.wait().expect("a child can be waited for");
        }
    }

    /// kill -9, and another one.
    pub(crate) fn restart(&mut self) {
        self.kill_server();
        self.start();
    }

    /// As after a power failure: nothing runs, the state directory is there.
    pub(crate) fn reboot(&mut self) {
        self.end_processes();
        self.start();
    }

    /// The power failure alone: the server, shims and agents are gone, and none of them has written down its end.
    pub(crate) fn end_processes(&mut self) {
        self.kill_server();
        // Shims first: nobody writes down an end when the power goes.
        for pid in self.shims() {
            kill(pid, "KILL");
        }
        for (pid, _) in self.processes() {
            kill(pid, "KILL");
        }
        self.wait_for("an empty machine", |world| world.processes().is_empty().then_some(()));
    }

    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.home.join("test.log")).unwrap_or_default()
    }

    pub(crate) fn client(&self) -> Client {
        Client::new(&Home::at(&self.home))
    }

    pub(crate) fn block_on<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(async { tokio::time::timeout(DEADLINE, work).await.expect("in time") })
    }

    pub(crate) fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, ClientError> {
        let client = self.client();
        self.block_on(client.get(path))
    }

    pub(crate) fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<T, ClientError> {
        let client = self.client();
        self.block_on(client.post(path, body))
    }

    /// Posts everything, a few at a time, and gives each answer with the moment at which it was asked for.
    pub(crate) fn post_all<B: Serialize, T: DeserializeOwned>(
        &self,
        wishes: &[(String, B)],
        now: impl Fn() -> u64,
    ) -> Vec<(u64, T)> {
        let client = self.client();
        let mut answers = Vec::new();
        for few in wishes.chunks(AT_ONCE) {
            let asked: Vec<_> = few
                .iter()
                .map(|(path, body)| async { (now(), client.post(path, body).await.expect("an answer")) })
                .collect();
            answers.extend(self.block_on(all(asked)));
        }
        answers
    }

    /// What the server refuses, and why.
    pub(crate) fn refused(&self, path: &str, body: &impl Serialize) -> Problem {
        match self.post::<Value>(path, body) {
            Err(ClientError::Refused(problem)) => *problem,
            other => panic!("{path} was not refused: {other:?}"),
        }
    }

    /// What the server does not show, and why.
    pub(crate) fn refused_get(&self, path: &str) -> String {
        match self.get::<Value>(path) {
            Err(ClientError::Refused(problem)) => problem.kind,
            other => panic!("{path} was not refused: {other:?}"),
        }
    }

    /// Asks for a command to be run, and gives the id of its session.
    pub(crate) fn run(&self, command: &[&str]) -> String {
        self.run_with(&self.new_run(command))
    }

    pub(crate) fn bash(&self, script: &str) -> String {
        self.run(&["bash", "-c", script])
    }

    pub(crate) fn run_with(&self, new: &NewRun) -> String {
        let run: RunView = self.post("/runs", new).expect("a run");
        run.sessions[0].id.clone()
    }

    pub(crate) fn new_run(&self, command: &[&str]) -> NewRun {
        NewRun {
            directory: self.project.display().to_string(),
            command: command.iter().map(ToString::to_string).collect(),
            environment: Some(environment()),
            ..NewRun::default()
        }
    }

    pub(crate) fn session(&self, id: &str) -> SessionView {
        self.get(&format!("/sessions/{id}")).expect("a session")
    }

    pub(crate) fn inbox(&self) -> Vec<RequestView> {
        self.get("/inbox").expect("an inbox")
    }

    pub(crate) fn request(&self, id: &str) -> RequestView {
        self.get(&format!("/requests/{id}")).expect("a request")
    }

    pub(crate) fn answer(&self, request: &str, value: &str) -> RequestView {
        let answer = NewAnswer { value: Some(value.to_owned()), ..NewAnswer::default() };
        self.post(&format!("/requests/{request}/answer"), &answer).expect("an answer")
    }

    pub(crate) fn wish(&self, session: &str, what: &str) -> SessionView {
        self.post(&format!("/sessions/{session}/{what}"), &json!({})).expect(what)
    }

    /// What a session's agent printed in its last launch.
    pub(crate) fn output(&self, session: &str) -> String {
        let launch = self.session(session).launches.last().map_or(0, |launch| launch.number);
        let path = self.home.join("sessions").join(session).join(launch.to_string()).join("out.log");
        String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned()
    }

    pub(crate) fn events(&self, session: &str) -> Vec<EventView> {
        self.get(&format!("/events?session={session}")).expect("events")
    }

    /// How often something happened to a session.
    pub(crate) fn count(&self, session: &str, kind: &str) -> usize {
        self.events(session).iter().filter(|event| event.kind == kind).count()
    }

    /// Waits until a session asks for something.
    pub(crate) fn asked(&self, session: &str) -> RequestView {
        self.wait_for("a question", |world| {
            world.inbox().into_iter().find(|request| request.session == session && !request.expired)
        })
    }

    pub(crate) fn status(&self, session: &str, status: &str) -> SessionView {
        self.wait_for(status, |world| Some(world.session(session)).filter(|it| it.status == status))
    }

    pub(crate) fn wait_for<T>(&self, what: &str, look: impl Fn(&World) -> Option<T>) -> T {
        let deadline = Instant::now() + DEADLINE;
        loop {
            if let Some(found) = look(self) {
                return found;
            }
            if Instant::now() > deadline {
                let sessions: Value = self.get("/sessions?all=true").unwrap_or_default();
                panic!("waited too long for {what}\n{sessions:#}\n{}", self.log());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Every process that belongs to this state directory, shims too: pid and state. The server not.
    pub(crate) fn processes(&self) -> Vec<(u32, char)> {
        self.of_agents().into_iter().chain(self.shims().into_iter().map(|pid| (pid, 'S'))).collect()
    }

    /// Every process of an agent, by its mark.
    pub(crate) fn of_agents(&self) -> Vec<(u32, char)> {
        let mark = fs::read_to_string(self.home.join("mark")).unwrap_or_default();
        let suffix = format!("@{mark}");
        let is_marked = |variable: &[u8]| {
            variable.starts_with(b"OSTLER_SESSION=") && variable.ends_with(suffix.as_bytes())
        };
        all_pids()
            .filter(|pid| {
                let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
                environment.split(|&byte| byte == 0).any(is_marked)
            })
            .filter_map(|pid| Some((pid, state(pid)?)))
            .filter(|(_, state)| *state != 'Z')
            .collect()
    }

    /// Servers that a command has started for itself, because there was none.
    fn servers_of_commands(&self) -> Vec<u32> {
        let home = format!("OSTLER_HOME={}", self.inner_home().display());
        let has = |pid: u32, file: &str, word: &str| {
            let bytes = fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
            bytes.split(|&byte| byte == 0).any(|it| it == word.as_bytes())
        };
        all_pids().filter(|&pid| has(pid, "cmdline", "--background") && has(pid, "environ", &home)).collect()
    }

    /// The shims of this state directory.
    pub(crate) fn shims(&self) -> Vec<u32> {
        let home = self.inner_home().display().to_string();
        let is_shim = |pid: &u32| {
            let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let arguments: Vec<&[u8]> = command.split(|&byte| byte == 0).collect();
            let in_home = |path: &&[u8]| path.starts_with(home.as_bytes());
            arguments.get(1) == Some(&b"__shim".as_slice()) && arguments.get(2).is_some_and(in_home)
        };
        all_pids().filter(is_shim).filter(|pid| state(*pid).is_some_and(|state| state != 'Z')).collect()
    }

    /// The shim of a session.
    pub(crate) fn shim_of(&self, session: &str) -> u32 {
        let folder = self.inner_home().join("sessions").join(session).display().to_string() + "/";
        let shims = self.shims();
        let of_session = |pid: &&u32| {
            let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&command).contains(&folder)
        };
        *shims.iter().find(of_session).expect("a shim")
    }

    /// Runs the program as a person would.
    pub(crate) fn ostler(&self, arguments: &[&str]) -> std::process::Output {
        self.command(arguments).output().expect("the program runs")
    }

    /// The same as the user whose state directory it is. A command that hangs is ended, and fails the test.
    pub(crate) fn ostler_of_user(&self, arguments: &[&str]) -> std::process::Output {
        let mut command = self.command(arguments);
        if let Some(user) = self.user {
            command.uid(user).gid(user);
        }
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program runs");
        let pid = child.id();
        // What it prints is read all the time: one that prints more than a pipe holds would wait for that.
        let (said, hears) = mpsc::channel();
        std::thread::spawn(move || said.send(child.wait_with_output()));
        hears.recv_timeout(DEADLINE).map_or_else(
            |_| {
                kill(pid, "KILL");
                panic!("{arguments:?} hangs")
            },
            |output| output.expect("a child can be waited for"),
        )
    }

    /// The program as a person would run it.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.program();
        let home = self.inner_home();
        command.args(arguments).env("OSTLER_HOME", home).current_dir(&self.project);
        command.env("XDG_CONFIG_HOME", home.join("config")).env("LC_ALL", "C").stdin(Stdio::null());
        command
    }

    /// The journal gives what is kept, and the state directory can be read again.
    pub(crate) fn verify(&self) {
        let replayed = ostler_server::verify(&Home::at(&self.home)).expect("the journal can be replayed");
        assert_eq!(replayed.differences, Vec::<String>::new());
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.kill_server();
        let left = self.processes().into_iter().map(|(pid, _)| pid);
        for pid in left.chain(self.servers_of_commands()) {
            kill(pid, "KILL");
        }
        if !std::thread::panicking() {
            fs::remove_dir_all(self.inner_home().parent().expect("a folder")).ok();
        }
        if let Some(disk) = &mut self.disk {
            disk.holder.kill().ok();
            disk.holder.wait().ok();
        }
        if let Some(group) = &self.group {
            fs::remove_dir(group).ok();
        }
    }
}

/// Makes a control group of the second version that a user may divide.
fn make_group(home: &Path, user: u32) -> Option<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let mount = mounts.lines().find(|line| line.contains(" - cgroup2 "))?.split(' ').nth(4)?;
    let name = home.parent()?.file_name()?.to_str()?;
    let group = Path::new(mount).join(format!("ostler-test-{name}"));
    fs::create_dir(&group).ok()?;
    let give = |path: PathBuf| chown(path, Some(user), Some(user)).is_ok();
    let files = ["cgroup.procs", "cgroup.subtree_control", "cgroup.threads"];
    (files.iter().all(|file| give(group.join(file))) && give(group.clone())).then_some(group)
}

/// The program as a user, in a control group. Only root moves a process there, so it does that first.
fn in_group(group: &Path, user: u32) -> Command {
    let script = "echo $$ >\"$1/cgroup.procs\" && shift && exec \"$@\"";
    let user = user.to_string();
    let mut command = Command::new("sh");
    command.args(["-c", script, "sh"]).arg(group);
    command.args(["setpriv", "--reuid", &user, "--regid", &user, "--clear-groups", "--"]).arg(program());
    command
}

/// A small disk, which only those see who are sent there. It goes with the last process in it.
pub(crate) struct Disk {
    holder: Child,
    inside: PathBuf,
}

impl Disk {
    fn mount(place: &Path, mebibytes: u32) -> Option<Disk> {
        let script = "mount -t tmpfs -o size=$1m,mode=700 none \"$2\" && echo mounted && exec cat";
        let mut command = Command::new("unshare");
        command.args(["--mount", "--map-root-user", "sh", "-c", script, "sh", &mebibytes.to_string()]);
        command.arg(place).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut holder = command.spawn().ok()?;
        let mut said = String::new();
        BufReader::new(holder.stdout.take()?).read_line(&mut said).ok()?;
        if said != "mounted\n" {
            holder.wait().ok();
            eprintln!("SKIPPED: no small file system may be mounted here");
            return None;
        }
        Some(Disk { holder, inside: place.to_owned() })
    }
}

/// Does everything beside each other, and gives what came of it in the same order.
async fn all<F: Future>(futures: Vec<F>) -> Vec<F::Output> {
    let mut waiting: Vec<_> = futures.into_iter().map(|future| (Box::pin(future), None)).collect();
    std::future::poll_fn(|context| {
        for (future, found) in waiting.iter_mut().filter(|(_, found)| found.is_none()) {
            if let Poll::Ready(output) = future.as_mut().poll(context) {
                *found = Some(output);
            }
        }
        if waiting.iter().all(|(_, found)| found.is_some()) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    waiting.into_iter().map(|(_, found)| found.expect("all are there")).collect()
}

/// A block that asks.
pub(crate) const QUESTION: &str = "printf '[USER_QUESTION]\\ncategory: choice\\nquestion: Which database?\\noptions:\\n  - PostgreSQL\\n  - MySQL\\nrequired: true\\n[/USER_QUESTION]\\n'";

fn all_pids() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").expect("Linux").flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// What `/proc` says of a process.
pub(crate) fn state(pid: u32) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.chars().next()
}

pub(crate) fn kill(pid: u32, signal: &str) {
    let status =
        Command::new("kill").arg(format!("-{signal}")).arg(pid.to_string()).stderr(Stdio::null()).status();
    status.expect("kill runs");
}

/// A small environment, the same everywhere.
pub(crate) fn environment() -> BTreeMap<String, String> {
    let path = std::env::var("PATH").unwrap_or_default();
    BTreeMap::from([("PATH".to_owned(), path), ("LC_ALL".to_owned(), "C".to_owned())])
}

/// A file in the project.
pub(crate) fn write(project: &Path, name: &str, text: &str) {
    fs::write(project.join(name), text).expect("the project can be written");
}
