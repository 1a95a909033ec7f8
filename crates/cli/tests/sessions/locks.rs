//! Locks: one whose holder is dead is taken over at once, one whose holder lives is never broken. All of them are the
//! kernel's, which lets go of them with the process; what stands in a lock's file is only for people.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use ostler_server::api::NewRun;

use crate::support::{World, kill, write};

/// The longest that a lock of a dead process may be in the way.
const TAKEN_OVER: Duration = Duration::from_secs(5);

/// A process that holds a lock until it is killed.
fn hold(path: &Path) -> Child {
    let mut command = Command::new("flock");
    command.args(["--no-fork"]).arg(path).args(["sh", "-c", "echo held; exec sleep 1000"]);
    let mut holder = command.stdout(Stdio::piped()).spawn().expect("flock is part of every Linux");
    let mut said = String::new();
    BufReader::new(holder.stdout.take().expect("a pipe")).read_line(&mut said).expect("a line");
    assert_eq!(said, "held\n");
    holder
}

/// Kills it and gives the moment.
fn let_go(mut holder: Child) -> Instant {
    holder.kill().expect("it is ours");
    holder.wait().expect("a child");
    Instant::now()
}

/// Waits until the server has a file open, and so waits for the lock on it.
fn server_waits_for(world: &World, path: &Path) {
    let path = path.canonicalize().expect("a file");
    world.wait_for("the server at the lock", |world| {
        let open = fs::read_dir(format!("/proc/{}/fd", world.server_pid())).expect("its files");
        let mut links = open.flatten().filter_map(|entry| fs::read_link(entry.path()).ok());
        links.any(|link| link == path).then_some(())
    });
}

#[test]
fn a_state_directory_is_its_servers_as_long_as_that_lives() {
    let mut world = World::new();
    let session = world.bash("sleep 1000");
    let pid = world.status(&session, "active").pid;
    // It does not answer, and lives: nobody takes its place.
    kill(world.server_pid(), "STOP");
    let said = world.ostler(&["serve"]);
    assert_eq!(said.status.code(), Some(6), "{said:?}");
    assert!(String::from_utf8_lossy(&said.stderr).contains("another server uses"), "{said:?}");
    kill(world.server_pid(), "CONT");
    assert_eq!(world.session(&session).pid, pid);
    // It is dead, whatever its file says: here, the number of a process that lives.
    world.kill_server();
    write(&world.home, "server.lock", &format!("{}\n", std::process::id()));
    let began = Instant::now();
    world.start();
    assert!(began.elapsed() < TAKEN_OVER, "{:?}", began.elapsed());
    assert_eq!(world.session(&session).pid, pid);
}

#[test]
fn a_vault_is_waited_for_while_its_holder_lives() {
    let world = World::new();
    let set = |name: &str| world.ostler(&["secret", "set", name, "--from", "env:HOME"]);
    assert_eq!(set("FIRST").status.code(), Some(0));
    let lock = world.home.join("vault/lock");
    let holder = hold(&lock);
    std::thread::scope(|scope| {
        let mut command = world.command(&["secret", "set", "SECOND", "--from", "env:HOME"]);
        let second = scope.spawn(move || command.output().expect("the program runs"));
        server_waits_for(&world, &lock);
        let listed = world.ostler(&["secret", "list"]);
        let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
        assert!(listed.contains("FIRST") && !listed.contains("SECOND"), "{listed}");
        let free = let_go(holder);
        let secrets = world.home.join("vault/secrets");
        world.wait_for("the second", |_| fs::read_to_string(&secrets).ok()?.contains("SECOND").then_some(()));
        assert!(free.elapsed() < TAKEN_OVER, "{:?}", free.elapsed());
        let said = second.join().expect("it runs");
        assert_eq!(said.status.code(), Some(0), "{said:?}");
    });
}

#[test]
fn a_repository_is_waited_for_while_its_holder_lives() {
    let world = World::new();
    crate::worktrees::repository(&world);
    let lock = world.project.join(".git/ostler.lock");
    let holder = hold(&lock);
    let new = world.new_run(&["bash", "-c", "echo two >>readme"]);
    let session = world.run_with(&NewRun { worktree: true, ..new });
    server_waits_for(&world, &lock);
    assert_eq!(world.session(&session).status, "starting");
    let free = let_go(holder);
    world.wait_for("the worktree", |world| {
        let is_begun = world.project.join(".git/worktrees").exists();
        (is_begun || world.session(&session).status != "starting").then_some(())
    });
    assert!(free.elapsed() < TAKEN_OVER, "{:?}", free.elapsed());
    world.status(&session, "completed");
    let holder = hold(&lock);
    std::thread::scope(|scope| {
        let mut command = world.command(&["merge", &session]);
        let merge = scope.spawn(move || command.output().expect("the program runs"));
        server_waits_for(&world, &lock);
        assert_eq!(fs::read_to_string(world.project.join("readme")).expect("a file"), "one\n");
        let_go(holder);
        let said = merge.join().expect("it runs");
        assert_eq!(said.status.code(), Some(0), "{said:?}");
    });
    assert_eq!(fs::read_to_string(world.project.join("readme")).expect("a file"), "one\ntwo\n");
}
