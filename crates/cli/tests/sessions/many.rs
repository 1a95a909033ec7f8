//! Many sessions at once, and sessions that print a lot. `cargo xtask soak sessions` does the same with a thousand.

use std::{
    env, fs,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use ostler_server::api::{EventView, NewAnswer, RequestView, RunView};

use crate::support::{DEADLINE, QUESTION, World};

/// Asks, and says when it has read the answer, in microseconds since 1970.
const SCRIPT: &str = "ASK; read -r line; echo \"at ${EPOCHREALTIME/[^0-9]/} got $line\"";

fn sessions() -> usize {
    env::var("OSTLER_SESSIONS").ok().and_then(|text| text.parse().ok()).unwrap_or(50)
}

/// Microseconds since 1970.
fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
    u64::try_from(now.as_micros()).expect("before the year 500000")
}

/// What `/proc` says of a server.
#[derive(Clone, Copy)]
struct Size {
    files: usize,
    memory_kib: usize,
}

fn size(pid: u32) -> Size {
    let files = fs::read_dir(format!("/proc/{pid}/fd")).expect("a process").count();
    Size { files, memory_kib: kib(&format!("/proc/{pid}/status"), "VmRSS:") }
}

/// A line of a file in `/proc`, such as `Pss: 12 kB`. Nothing, if the process has gone.
fn kib(path: &str, name: &str) -> usize {
    let text = fs::read_to_string(path).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// The value at a percentage, in milliseconds.
fn percentile(micros: &mut [u64], percent: usize) -> String {
    micros.sort_unstable();
    let micros = micros[(micros.len() - 1) * percent / 100];
    format!("{}.{} ms", micros / 1000, micros % 1000 / 100)
}

/// What so many sessions took.
struct Wave {
    starts: Vec<u64>,
    reads: Vec<u64>,
    with_all: Size,
    after: Size,
    /// The proportional memory of all shims.
    shims_kib: usize,
}

#[test]
fn many_sessions_at_once_lose_nothing_and_leave_nothing() {
    let world = World::new();
    let count = sessions();
    world.status(&world.bash("true"), "completed");
    let before = size(world.server_pid());
    let mut first = wave(&world, count, before);
    let second = wave(&world, count, before);
    world.verify();
    println!(
        "start p50 {} p99 {}; answer p50 {} p99 {}; server {} KiB before, {} KiB with all \
         ({} KiB each), {} KiB after, {} and {} KiB the second time; shim {} KiB PSS each; open files {} before, \
         {} with all, {} after",
        percentile(&mut first.starts, 50),
        percentile(&mut first.starts, 99),
        percentile(&mut first.reads, 50),
        percentile(&mut first.reads, 99),
        before.memory_kib,
        first.with_all.memory_kib,
        first.with_all.memory_kib.saturating_sub(before.memory_kib) / count,
        first.after.memory_kib,
        second.with_all.memory_kib,
        second.after.memory_kib,
        first.shims_kib / count,
        before.files,
        first.with_all.files,
        second.after.files,
    );
    println!("sessions: {count} at once, twice, 0 signals lost, no process or open file left");
    // The allocator keeps what it got for the first, and has to make do with it.
    let memory_kib_max = first.with_all.memory_kib * 5 / 4 + 4096;
    assert!(second.with_all.memory_kib < memory_kib_max, "memory grows with the past");
}

/// So many sessions ask at once, are answered, and end.
fn wave(world: &World, count: usize, before: Size) -> Wave {
    let deadline = Instant::now() + DEADLINE + Duration::from_millis(count as u64 * 300);
    let server = world.server_pid();
    let run = world.new_run(&["bash", "-c", &SCRIPT.replace("ASK", QUESTION)]);
    let orders: Vec<(String, _)> = (0..count).map(|_| ("/runs".to_owned(), run.clone())).collect();
    let asked: Vec<(u64, RunView)> = world.post_all(&orders, now);
    let inbox = loop {
        let inbox = world.inbox();
        if inbox.len() == count {
            break inbox;
        }
        assert!(Instant::now() < deadline, "{} of {count} questions", inbox.len());
        std::thread::sleep(Duration::from_millis(100));
    };
    let with_all = size(server);
    let shims = world.shims();
    assert_eq!(shims.len(), count);
    let shims_kib = shims.iter().map(|pid| kib(&format!("/proc/{pid}/smaps_rollup"), "Pss:")).sum();
    let answer = NewAnswer { value: Some("MySQL".to_owned()), ..NewAnswer::default() };
    let answers: Vec<(String, _)> =
        inbox.iter().map(|request| (format!("/requests/{}/answer", request.id), answer.clone())).collect();
    let answered: Vec<(u64, RequestView)> = world.post_all(&answers, now);
    for id in asked.iter().map(|(_, run)| run.sessions[0].id.as_str()) {
        world.status(id, "completed");
        assert!(world.output(id).contains("\"answer\":\"MySQL\""), "{id}");
        let kinds = ["request.opened", "request.settled", "input.delivered", "session.started"];
        assert_eq!(kinds.map(|kind| world.count(id, kind)), [1; 4], "{id}");
    }
    world.wait_for("nothing left", |world| world.processes().is_empty().then_some(()));
    world.wait_for("no open file left", |_| (size(server).files <= before.files + 4).then_some(()));
    Wave {
        starts: asked.iter().map(|(at, run)| first_record(world, run) - at).collect(),
        reads: answered.iter().map(|(at, request)| read_at(world, request) - at).collect(),
        with_all,
        after: size(server),
        shims_kib,
    }
}

/// When the shim of a run wrote down that its agent runs.
fn first_record(world: &World, run: &RunView) -> u64 {
    let spool = world.home.join("sessions").join(&run.sessions[0].id).join("1/spool.ndjson");
    let text = fs::read_to_string(spool).expect("a spool");
    let first: serde_json::Value =
        serde_json::from_str(text.lines().next().expect("a record")).expect("JSON");
    assert_eq!(first["event"], "started");
    // A record counts whole milliseconds: the last microsecond of its own is meant.
    first["at_ms"].as_u64().expect("a time") * 1000 + 999
}

/// When the agent had read an answer.
fn read_at(world: &World, request: &RequestView) -> u64 {
    let output = world.output(&request.session);
    let at = output.split_once("at ").and_then(|(_, rest)| rest.split(' ').next()?.parse().ok());
    at.expect("the agent says when it has read")
}

#[test]
fn ten_thousand_blocks_binary_noise_and_a_line_of_ten_megabytes() {
    let world = World::new();
    let script = "head -c 10000000 /dev/zero | tr '\\0' x; echo; head -c 1000000 /dev/urandom; printf '\\n\\033[0m\\n'; \
        for i in $(seq 10000); do printf '[STEP_COMPLETE]\\nstep: %s\\n[/STEP_COMPLETE]\\n' $i; done; \
        printf '[USER_QUESTION]\\ncategory: clarification\\nquestion: Heard all?\\nrequired: true\\n[/USER_QUESTION]\\n'; read -r line";
    let session = world.bash(script);
    let request = world.asked(&session);
    assert_eq!(request.ask.text, "Heard all?");
    world.answer(&request.id, "yes");
    world.status(&session, "completed");
    let mut heard = 0;
    let mut after = 0;
    loop {
        let path = format!("/events?session={session}&after={after}");
        let events: Vec<EventView> = world.get(&path).expect("events");
        let Some(last) = events.last() else { break };
        after = last.seq;
        heard += events.iter().filter(|it| it.body["item"]["kind"] == "step_complete").count();
    }
    assert_eq!(heard, 10_000);
}
