//! An agent that attacks: it tries to pass for a person, to steer other agents, and to hang the server. One session
//! plays every attack, as an unprivileged user, in two rounds with a restart between them.

mod displacing;

use std::{
    env, fs,
    os::unix::fs::chown,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use ostler_server::{
    Home,
    api::{GivenValue, InfoView, NewAnswer, NewRun, RequestView, SignInView},
    client::Client,
};
use tokio::runtime;

use crate::{
    storm::number,
    support::{QUESTION, World, state},
};

const ATTACKER: &str = include_str!("attacker.py");

/// A value that counts as secret.
const SECRET: &str = "sk_attack_0123456789abcdefXYZ";

/// The attacks of one session. The last one ends it.
const ATTACKS: [&str; 11] = [
    "configuration",
    "person",
    "shim",
    "values",
    "state",
    "sockets",
    "spool",
    "files",
    "backlog",
    "token",
    "mark",
];

/// The most memory that the server may have taken after a round.
const SERVER_MEMORY_KIB_MAX: u64 = 600 << 10;

/// The most that the inbox may list, however much agents ask.
const INBOX_BYTES_MAX: usize = 4 << 20;

/// The attacked: a session that waits for a person, and one that works.
struct Victims {
    asking: String,
    question: String,
    working: String,
    pids: [Option<i32>; 2],
}

/// One attacker at work.
struct Attack {
    session: String,
    directory: PathBuf,
}

#[test]
fn an_attacker_gains_nothing() {
    attack("attacker", World::idle_of_another_user());
}

#[test]
fn an_attacker_in_a_control_group_gains_nothing() {
    attack("attacker in a group", World::idle_of_another_user().and_then(World::in_control_group));
}

/// `name` begins the line that soak takes for its table.
fn attack(name: &str, world: Option<World>) {
    let Some(mut world) = world else { return println!("\n{name}: SKIPPED") };
    // A bound that shows a hang, not a figure: soak sets a tighter one on a machine that does nothing else.
    let answer_ms_max = number("OSTLER_ATTACK_ANSWER_MS", 20_000);
    let rounds = number("OSTLER_ATTACK_ROUNDS", 2);
    world.start();
    let watch = Watch::start(&world);
    for round in 1..=rounds {
        let victims = Victims::start(&world);
        let attack = Attack::start(&world, &victims, &format!("round{round}"), &ATTACKS);
        attack.play(&mut world, &watch);
        let unreachable = Attack::start(&world, &victims, &format!("unreachable{round}"), &["socket_file"]);
        unreachable.reached("TRIED socket_file", &world);
        watch.during_restart(|| world.restart());
        cancel_the_unreachable(&world, &unreachable);
        displacing::displace(&mut world, &watch, round);
        victims.are_untouched(&world);
        attack.gained_nothing();
        the_forged_sign_in_is_shown(&world);
        the_command_line_answers(&world);
        assert!(memory_kib(world.server_pid()) < SERVER_MEMORY_KIB_MAX, "the server has grown");
        fs::remove_file(world.home.join("config/ostler/config.toml")).expect("the attacker wrote one");
        victims.finish(&world);
    }
    let longest_ms = watch.stop().as_millis();
    println!("{name}: {rounds} rounds, longest wait for an answer {longest_ms} ms (allowed {answer_ms_max})");
    assert!(longest_ms < u128::from(answer_ms_max), "the server hung for {longest_ms} ms");
    // An interrupted session can be resumed, so it keeps its private file.
    let mut written = files_with(&world.home, SECRET.as_bytes());
    written.retain(|path| !path.ends_with("values"));
    assert_eq!(written, Vec::<PathBuf>::new(), "the value was written down");
    world.verify();
}

/// An agent without a control socket, which ignores SIGTERM, is ended all the same.
fn cancel_the_unreachable(world: &World, attack: &Attack) {
    let pid = world.session(&attack.session).pid.expect("it runs").cast_unsigned();
    world.wish(&attack.session, "cancel");
    world.wait_for("its end", |world| world.session(&attack.session).outcome.map(drop));
    assert!(state(pid).is_none_or(|state| state == 'Z'), "{pid} is shown as gone and lives");
}

/// A sign-in that an agent has written into the file lets nobody in, and a person is told.
fn the_forged_sign_in_is_shown(world: &World) {
    let all: Vec<SignInView> = world.get("/sign-ins").expect("a server");
    assert!(all.iter().any(|it| it.forged && it.name.starts_with("evil")), "{all:?}");
    assert!(all.iter().all(|it| it.forged), "{all:?}");
    let inbox = String::from_utf8_lossy(&world.ostler_of_user(&["inbox"]).stdout).into_owned();
    assert!(inbox.contains("was not made by Ostler"), "{inbox}");
}

/// Whatever pipes were planted, every command ends.
fn the_command_line_answers(world: &World) {
    for arguments in [["status", "--json"], ["ps", "--json"], ["doctor", "--json"], ["verify", "--json"]] {
        let began = Instant::now();
        world.ostler_of_user(&arguments);
        println!("{arguments:?} took {:?}", began.elapsed());
    }
}

impl Victims {
    fn start(world: &World) -> Victims {
        let asking = world.bash(&format!("{QUESTION}; read -r line; echo \"got $line\""));
        let question = world.asked(&asking).id;
        let working = world.bash("sleep 100000");
        world.status(&working, "active");
        let pids = [&asking, &working].map(|session| world.session(session).pid);
        Victims { asking, question, working, pids }
    }

    fn are_untouched(&self, world: &World) {
        assert_eq!([&self.asking, &self.working].map(|session| world.session(session).pid), self.pids);
        for pid in self.pids {
            assert!(state(pid.expect("it runs").cast_unsigned()).is_some_and(|state| state != 'Z'));
        }
        assert_eq!(world.session(&self.asking).status, "waiting_input");
        assert_eq!(world.session(&self.working).status, "active");
        assert!(world.request(&self.question).settled.is_none());
        assert_eq!(world.count(&self.asking, "input.delivered"), 0);
        assert_eq!(world.output(&self.asking).matches("got").count(), 0);
    }

    /// A person still answers, and only that answer arrives.
    fn finish(&self, world: &World) {
        world.answer(&self.question, "PostgreSQL");
        world.status(&self.asking, "completed");
        let output = world.output(&self.asking);
        assert!(output.contains("PostgreSQL") && !output.contains("mine"), "{output}");
        world.wish(&self.working, "cancel");
        world.status(&self.working, "cancelled");
    }
}

impl Attack {
    fn start(world: &World, victims: &Victims, name: &str, attacks: &[&str]) -> Attack {
        let directory = world.project.join(name);
        fs::create_dir(&directory).expect("the project can be written");
        fs::write(directory.join("attacker.py"), ATTACKER).expect("the project can be written");
        if let Some(user) = world.user {
            chown(&directory, Some(user), Some(user)).expect("only root is here");
        }
        let command: Vec<&str> = ["python3", "attacker.py"].iter().chain(attacks).copied().collect();
        let mut new = NewRun { directory: directory.display().to_string(), ..world.new_run(&command) };
        let environment = new.environment.get_or_insert_default();
        environment.insert("ATTACKED_HOME".to_owned(), world.home.display().to_string());
        environment.insert("VICTIM".to_owned(), victims.asking.clone());
        environment.insert("VICTIM_QUESTION".to_owned(), victims.question.clone());
        if let Ok(steps) = env::var("ATTACK_STEPS") {
            environment.insert("ATTACK_STEPS".to_owned(), steps);
        }
        let session = world.run_with(&new);
        Attack { session, directory }
    }

    /// Does for the attacker what a person would, and restarts the server at the worst moment.
    fn play(&self, world: &mut World, watch: &Watch) {
        let stopped = self.request(world, |request| request.ask.text.contains("Am I stopped?"));
        world.answer(&stopped.id, "yes");
        let need = self.request(world, |request| request.ask.kind == "dependency");
        let given = [("ATTACK_KEY".to_owned(), GivenValue::new(SECRET.to_owned()))];
        let answer = NewAnswer { values: given.into(), ..NewAnswer::default() };
        world.post::<RequestView>(&format!("/requests/{}/answer", need.id), &answer).expect("it is taken");
        self.reached("AT values", world);
        self.request(world, |request| request.ask.kind == "question");
        self.go_on("values");
        self.reached("AT sockets", world);
        // A person comes in, and what the inbox lists stays small.
        let listed = serde_json::to_vec(&world.inbox()).expect("plain data");
        assert!(listed.len() < INBOX_BYTES_MAX, "{} bytes", listed.len());
        self.go_on("sockets");
        self.reached("AT backlog", world);
        watch.during_restart(|| world.restart());
        self.go_on("backlog");
        self.reached("TRIED mark", world);
        world.status(&self.session, "interrupted");
        let orphan = world.wait_for("the orphan", |_| {
            fs::read_to_string(self.directory.join("orphan.pid")).ok()?.parse().ok()
        });
        world.wait_for("the end of the orphan", |_| {
            state(orphan).is_none_or(|state| state == 'Z').then_some(())
        });
    }

    fn gained_nothing(&self) {
        let attempts = self.attempts();
        println!("{attempts}");
        assert!(!attempts.contains("GAINED"), "{attempts}");
        for attack in ATTACKS {
            let tried = [format!("TRIED {attack}:"), format!("TRIED {attack}.")];
            assert!(tried.iter().any(|it| attempts.contains(it)), "{attack} was not tried: {attempts}");
        }
        assert!(!self.directory.join("notified").exists(), "the server ran a command nobody agreed to");
    }

    fn attempts(&self) -> String {
        fs::read_to_string(self.directory.join("attempts")).unwrap_or_default()
    }

    fn reached(&self, line: &str, world: &World) {
        world.wait_for(line, |_| self.attempts().contains(line).then_some(()));
    }

    fn go_on(&self, name: &str) {
        fs::write(self.directory.join(format!("past.{name}")), "").expect("the project can be written");
    }

    fn request(&self, world: &World, is_it: impl Fn(&RequestView) -> bool) -> RequestView {
        world.wait_for("a request of the attacker", |world| {
            world.inbox().into_iter().find(|it| it.session == self.session && is_it(it))
        })
    }
}

/// Asks the server again and again, and keeps how long anybody had to wait for an answer. A refusal is no answer.
struct Watch {
    ends: Arc<AtomicBool>,
    /// Counts up before and after a restart: odd while a server is being restarted.
    restarts: Arc<AtomicU64>,
    thread: JoinHandle<Duration>,
}

impl Watch {
    fn start(world: &World) -> Watch {
        let (ends, restarts) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let (is_over, restarting) = (Arc::clone(&ends), Arc::clone(&restarts));
        let home = world.home.clone();
        let thread = thread::spawn(move || {
            let runtime = runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            let client = Client::new(&Home::at(&home));
            let (mut longest, mut asked, mut restart) = (Duration::ZERO, Instant::now(), 0);
            while !is_over.load(Ordering::SeqCst) {
                let answer = runtime.block_on(client.get::<InfoView>("/info"));
                let now = restarting.load(Ordering::SeqCst);
                // A server that is being restarted answers nobody, which is no hang.
                if now == restart && now % 2 == 0 {
                    longest = longest.max(asked.elapsed());
                }
                let is_counted = answer.is_err() && now == restart && now % 2 == 0;
                thread::sleep(Duration::from_millis(20));
                if !is_counted {
                    (asked, restart) = (Instant::now(), restarting.load(Ordering::SeqCst));
                }
            }
            longest
        });
        Watch { ends, restarts, thread }
    }

    fn during_restart(&self, restart: impl FnOnce()) {
        self.restarts.fetch_add(1, Ordering::SeqCst);
        restart();
        self.restarts.fetch_add(1, Ordering::SeqCst);
    }

    fn stop(self) -> Duration {
        self.ends.store(true, Ordering::SeqCst);
        self.thread.join().expect("it watches until it is told to end")
    }
}

fn memory_kib(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("the server runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("Linux");
    line.split_whitespace().next().and_then(|it| it.parse().ok()).expect("a number")
}

/// The files below a directory that hold some bytes.
fn files_with(directory: &Path, bytes: &[u8]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let (path, kind) = (entry.path(), entry.file_type());
        if kind.as_ref().is_ok_and(fs::FileType::is_dir) {
            found.extend(files_with(&path, bytes));
        } else if kind.is_ok_and(|kind| kind.is_file())
            && fs::read(&path).is_ok_and(|text| text.windows(bytes.len()).any(|window| window == bytes))
        {
            found.push(path);
        }
    }
    found
}
