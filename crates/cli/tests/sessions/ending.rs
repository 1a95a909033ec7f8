//! Ends: by itself, by a person, by a signal, and of things that do not want to.

use crate::support::{World, kill};

#[test]
fn cancel_leaves_nothing_of_an_agent_that_ignores_forks_and_daemonises() {
    let world = World::new();
    let script = "trap '' TERM INT HUP; setsid bash -c 'trap \"\" TERM; while :; do sleep 1; done' & \
                  (setsid bash -c 'trap \"\" TERM; sleep 1000' >/dev/null 2>&1 &) & \
                  while :; do sleep 1; done";
    let config = world.home.join("config/ostler");
    std::fs::create_dir_all(&config).expect("a folder");
    crate::support::write(&config, "config.toml", "[patience]\ngrace = \"1s\"\n");
    let session = world.bash(script);
    world.wait_for("its children", |world| (world.processes().len() >= 5).then_some(()));
    world.wish(&session, "cancel");
    world.wish(&session, "cancel");
    world.status(&session, "cancelled");
    assert_eq!(world.of_agents(), Vec::new());
    world.wait_for("its shim to end", |world| world.processes().is_empty().then_some(()));
    assert_eq!(world.count(&session, "session.cancelled"), 1, "twice is once");
}

/// Every process forks as fast as it can, and each is in a session of its own and deaf to SIGTERM. So that a test that
/// fails does not take the machine with it, it ends at three hundred, and all give up after a while.
const BOMB: &str = "
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
end = time.monotonic() + 300
places, free = os.pipe()
os.write(free, b'x' * 300)
os.close(free)
while os.read(places, 1):
    if os.fork() == 0:
        os.setsid()
time.sleep(end - time.monotonic())
";

#[test]
fn cancel_leaves_nothing_of_a_fork_bomb() {
    let world = World::new();
    let config = world.home.join("config/ostler");
    std::fs::create_dir_all(&config).expect("a folder");
    crate::support::write(&config, "config.toml", "[patience]\ngrace = \"1s\"\n");
    let session = world.run(&["python3", "-c", BOMB]);
    world.wait_for("the bomb", |world| (world.processes().len() >= 60).then_some(()));
    // It can be held and sent on like any other.
    world.wish(&session, "pause");
    world.wait_for("its stop", |world| (world.count(&session, "session.stopped") > 0).then_some(()));
    world.wish(&session, "continue");
    world.status(&session, "active");
    world.wish(&session, "cancel");
    world.status(&session, "cancelled");
    assert_eq!(world.of_agents(), Vec::new());
    world.wait_for("its shim to end", |world| world.processes().is_empty().then_some(()));
    world.verify();
}

#[test]
fn an_agent_that_is_killed_has_failed_and_says_by_what() {
    let world = World::new();
    let session = world.bash("sleep 1000");
    let pid = world.status(&session, "active").pid.expect("a process");
    kill(u32::try_from(pid).expect("a pid"), "KILL");
    let view = world.status(&session, "failed");
    let reason = view.outcome.expect("an outcome").reason;
    assert_eq!((reason["key"].as_str(), reason["signal"].as_i64()), (Some("killed_by"), Some(9)));
}

#[test]
fn an_exit_code_is_a_reason() {
    let world = World::new();
    let session = world.bash("exit 3");
    let reason = world.status(&session, "failed").outcome.expect("an outcome").reason;
    assert_eq!((reason["key"].as_str(), reason["code"].as_i64()), (Some("exit_code"), Some(3)));
}

#[test]
fn a_program_that_does_not_exist_is_said_not_to_start() {
    let world = World::new();
    let session = world.run(&["no-such-program-anywhere"]);
    let reason = world.status(&session, "failed").outcome.expect("an outcome").reason;
    assert_eq!(reason["key"], "not_started");
    assert!(reason["message"].as_str().expect("words").contains("no-such-program-anywhere"));
}

#[test]
fn what_is_over_can_be_started_again() {
    let world = World::new();
    let session = world.bash("[ -e second ] && exit 0; touch second; exit 1");
    world.status(&session, "failed");
    world.wish(&session, "resume");
    let view = world.status(&session, "completed");
    assert_eq!(view.launches.len(), 2);
}

#[test]
fn what_was_over_before_the_server_started_can_be_looked_at_and_started_again() {
    let mut world = World::new();
    let session = world.bash("echo once more; exit 1");
    world.status(&session, "failed");
    world.restart();
    assert_eq!(world.session(&session).status, "failed");
    assert_eq!(world.get::<serde_json::Value>("/sessions").expect("a list"), serde_json::json!([]));
    world.wish(&session, "resume");
    let view = world.wait_for("the second", |world| {
        Some(world.session(&session)).filter(|view| view.launches.len() == 2 && view.status == "failed")
    });
    assert_eq!(view.run, "r_1");
    world.verify();
}

#[test]
fn an_agent_whose_shim_does_not_answer_can_be_cancelled_all_the_same() {
    let world = World::new();
    let session = world.bash("sleep 1000");
    world.status(&session, "active");
    kill(world.shim_of(&session), "STOP");
    world.wish(&session, "cancel");
    world.status(&session, "cancelled");
    assert_eq!(world.of_agents(), Vec::new());
    world.wait_for("its shim to end", |world| world.processes().is_empty().then_some(()));
}

#[test]
fn a_key_in_an_agents_table_stays_out_of_the_journal() {
    let world = World::new();
    let config = world.home.join("config/ostler");
    std::fs::create_dir_all(&config).expect("a folder");
    let table = "[agents.keyed]\ncommand = [\"bash\", \"-c\", \"echo ${#MY_KEY}\"]\nenvironment.MY_KEY = \"sk-SECRET-123\"\n";
    crate::support::write(&config, "config.toml", table);
    let (agent, prompt) = (Some("keyed".to_owned()), Some("go".to_owned()));
    let new = ostler_server::api::NewRun { agent, prompt, command: Vec::new(), ..world.new_run(&[]) };
    let session = world.run_with(&new);
    world.status(&session, "completed");
    assert_eq!(world.output(&session), "13\n", "the agent has it");
    let everything = world.ostler(&["export"]);
    assert!(!String::from_utf8_lossy(&everything.stdout).contains("sk-SECRET"));
}

#[test]
fn an_agent_does_not_start_a_server_that_would_stop_with_it() {
    let mut world = World::new();
    let program = env!("CARGO_BIN_EXE_ostler");
    let session =
        world.bash(&format!("while [ ! -e go ]; do sleep 0.05; done; {program} ps; echo \"code $?\""));
    world.status(&session, "active");
    world.kill_server();
    crate::support::write(&world.project, "go", "");
    world.wait_for("its end", |world| world.shims().is_empty().then_some(()));
    assert!(
        !world.home.join("api.sock").exists()
            || std::os::unix::net::UnixStream::connect(world.home.join("api.sock")).is_err()
    );
    world.start();
    world.status(&session, "completed");
    assert!(world.output(&session).ends_with("code 6\n"), "{}", world.output(&session));
}

/// The launch files that are left of a session, by their directories.
fn launch_files(world: &World, session: &str) -> Vec<String> {
    let directories = std::fs::read_dir(world.home.join("sessions").join(session)).expect("a directory");
    let paths = directories.map(|entry| entry.expect("an entry").path());
    let name = |path: std::path::PathBuf| path.file_name().expect("a name").to_string_lossy().into_owned();
    let mut names: Vec<String> = paths.filter(|path| path.join("launch.json").exists()).map(name).collect();
    names.sort();
    names
}

#[test]
fn what_a_launch_was_told_goes_with_it() {
    let mut world = World::new();
    let mut new = world.new_run(&["bash", "-c", "until [ -e go ]; do sleep 0.02; done; echo \"key $KEY\""]);
    new.environment.get_or_insert_default().insert("KEY".to_owned(), "sk-SECRET-123".to_owned());
    let check = Some("until [ -e checked ]; do sleep 0.02; done".to_owned());
    let session = world.run_with(&ostler_server::api::NewRun { check, ..new });
    world.status(&session, "active");
    assert_eq!(launch_files(&world, &session), Vec::<String>::new(), "a shim is told in memory");
    // It ends while there is no server.
    world.kill_server();
    crate::support::write(&world.project, "go", "");
    world.wait_for("its end", |world| world.shims().is_empty().then_some(()));
    world.start();
    world.status(&session, "checking");
    crate::support::write(&world.project, "checked", "");
    world.status(&session, "completed");
    assert_eq!(launch_files(&world, &session), Vec::<String>::new());
    // What a server of an older version left behind is found by the next one.
    world.kill_server();
    for directory in ["1", "check-1"] {
        crate::support::write(
            &world.home.join("sessions").join(&session).join(directory),
            "launch.json",
            "{}",
        );
    }
    world.start();
    world.wait_for("no file", |world| launch_files(world, &session).is_empty().then_some(()));
    // Who is resumed has everything again.
    world.wish(&session, "resume");
    world.status(&session, "completed");
    assert_eq!(world.output(&session), "key sk-SECRET-123\n");
    assert_eq!(launch_files(&world, &session), Vec::<String>::new());
    world.verify();
}
