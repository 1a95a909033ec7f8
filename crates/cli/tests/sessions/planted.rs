//! Named pipes, links and directories in the place of files that the server, the command line and shims read: nobody waits
//! for them, and what is wrong is said.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use ostler_server::api::RequestView;
use rusqlite::{Connection, OpenFlags};

use crate::{
    needs::{give, values},
    support::{QUESTION, World, kill, write},
};

/// Puts a named pipe in the place of whatever is there.
fn plant(path: &Path) {
    let draft = path.with_added_extension("planted");
    assert!(Command::new("mkfifo").arg(&draft).status().expect("mkfifo runs").success());
    fs::rename(draft, path).expect("it is ours");
}

fn launch(world: &World, session: &str) -> PathBuf {
    world.home.join("sessions").join(session).join("1")
}

fn words(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|it| String::from_utf8_lossy(it)).concat()
}

#[test]
fn pipes_in_the_state_directory_hold_up_no_server_and_no_command() {
    let mut world = World::new();
    world.kill_server();
    let names = [
        "lock-limit",
        "mark",
        "sign-ins.json",
        "looked.json",
        "config-consent.json",
        "vault-changes",
        "page.port",
        "log.jsonl",
        "server.log",
        "reserve",
        "bin/ostler",
    ];
    for name in names {
        plant(&world.home.join(name));
    }
    world.start();
    for arguments in [&["status"][..], &["ps"], &["token", "list"], &["doctor"], &["verify"], &["inbox"]] {
        world.ostler_of_user(arguments);
    }
    let session = world.bash("echo hello");
    world.status(&session, "completed");
}

#[test]
fn a_pipe_in_place_of_the_configuration_is_refused_with_what_to_do() {
    let world = World::new();
    fs::create_dir_all(world.home.join("config/ostler")).expect("a directory");
    plant(&world.home.join("config/ostler/config.toml"));
    let said = world.ostler_of_user(&["run", "--", "true"]);
    assert_eq!(said.status.code(), Some(9), "{}", words(&said));
    assert!(words(&said).contains("config.toml': not a regular file but a named pipe"), "{}", words(&said));
}

#[test]
fn a_pipe_in_place_of_a_file_of_the_journal_is_an_error_and_no_wait() {
    let mut world = World::new();
    world.bash("true");
    world.end_processes();
    for end in ["-wal", "-shm", "-journal", ""] {
        let path = world.home.join(format!("journal.sqlite{end}"));
        let aside = world.home.join("aside");
        let was_there = fs::rename(&path, &aside).is_ok();
        plant(&path);
        let commands: [(&[&str], i32); 5] = [
            (&["serve"], 6),
            (&["status"], 6),
            (&["doctor"], 1),
            (&["verify"], 1),
            (&["verify", "--mend"], 1),
        ];
        for (arguments, code) in commands {
            let said = world.ostler_of_user(arguments);
            assert_eq!(said.status.code(), Some(code), "{end} {arguments:?}: {}", words(&said));
            // What is to be removed is the pipe, and not the journal beside it.
            let expected = format!("journal.sqlite{end}': not a regular file but a named pipe; remove it");
            assert!(words(&said).contains(&expected), "{end} {arguments:?}: {}", words(&said));
        }
        fs::remove_file(&path).expect("it is ours");
        if was_there {
            fs::rename(&aside, &path).expect("it is ours");
        }
    }
    let lock = world.home.join("server.lock");
    plant(&lock);
    let said = world.ostler_of_user(&["serve"]);
    assert!(words(&said).contains("a named pipe; remove it"), "{}", words(&said));
    fs::remove_file(lock).expect("it is ours");
    world.start();
    assert!(!world.has_died());
}

#[test]
fn a_session_whose_files_were_exchanged_goes_on_and_can_be_cancelled() {
    let world = World::new();
    let session = world.bash(&format!("echo before; {QUESTION}; read -r line; sleep 100000"));
    let question = world.asked(&session).id;
    let directory = launch(&world, &session);
    for entry in fs::read_dir(&directory).expect("a directory").flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_file()) && entry.file_name() != "lock" {
            plant(&entry.path());
        }
    }
    let said = world.ostler_of_user(&["logs", &session]);
    assert!(!said.status.success(), "{}", words(&said));
    assert!(
        words(&said).contains("replaced the log") && words(&said).contains("a named pipe"),
        "{}",
        words(&said)
    );
    for arguments in [&["doctor"][..], &["verify"], &["show", &session]] {
        world.ostler_of_user(arguments);
    }
    world.answer(&question, "PostgreSQL");
    world.status(&session, "active");
    world.wish(&session, "cancel");
    world.status(&session, "cancelled");
}

#[test]
fn a_lost_session_whose_files_were_exchanged_is_interrupted_and_says_why() {
    let mut world = World::new();
    let session = world.bash("echo before; sleep 100000");
    world.status(&session, "active");
    let directory = launch(&world, &session);
    let shim = world.shim_of(&session);
    world.kill_server();
    for entry in fs::read_dir(&directory).expect("a directory").flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_file()) && entry.file_name() != "lock" {
            plant(&entry.path());
        }
    }
    kill(shim, "KILL");
    world.start();
    world.status(&session, "interrupted");
    let noted = world.events(&session).into_iter().filter(|event| event.kind == "session.noted");
    let noted: Vec<String> = noted.map(|event| event.body.to_string()).collect();
    assert!(noted.iter().any(|it| it.contains("a named pipe")), "{noted:?}");
    let said = world.ostler_of_user(&["doctor"]);
    assert!(words(&said).contains("a named pipe"), "{}", words(&said));
}

#[test]
fn a_forged_consent_agrees_to_nothing() {
    let mut world = World::new();
    world.kill_server();
    let script = world.home.join("planted.sh");
    let ran = world.home.join("planted.ran");
    write(&world.home, "planted.sh", &format!("#!/bin/sh\ntouch '{}'\n", ran.display()));
    let config =
        format!("[[notify]]\ntype = 'command'\ncommand = ['sh', '{}']\nafter = '0s'\n", script.display());
    fs::create_dir_all(world.home.join("config/ostler")).expect("a directory");
    write(&world.home, "config/ostler/config.toml", &config);
    world.start();
    let trust: serde_json::Value = world.get("/trust?directory=configuration").expect("a server");
    let hashes: Vec<&str> =
        trust["commands"].as_array().expect("a list").iter().filter_map(|it| it["hash"].as_str()).collect();
    assert!(!hashes.is_empty(), "{trust}");
    world.kill_server();
    write(&world.home, "config-consent.json", &serde_json::json!({ "hashes": hashes }).to_string());
    world.start();
    let trust: serde_json::Value = world.get("/trust?directory=configuration").expect("a server");
    assert!(trust["commands"].as_array().expect("a list").iter().all(|it| it["trusted"] == false), "{trust}");
    let session = world.bash(QUESTION);
    world.asked(&session);
    assert!(!ran.exists(), "the command ran");
}

/// A value that counts as secret.
const KEY: &str = "sk_planted_0123456789abcdefXYZ";

/// Needs a key, waits until its private file was exchanged, and uses every way to the file.
const NEEDING: &str = "key=$(ostler need KEY); echo \"key ${#key}\"
    while [ ! -e exchanged ]; do sleep 0.02; done
    bash -c 'echo \"bash ${#KEY}\"'; node -e 'console.log(`node ${String(process.env.KEY).length}`)'
    ostler step \"with $key\"; echo \"step $?\"
    other=$(ostler need OTHER); echo \"other ${#other}\"; bash -c 'echo \"later ${#OTHER}\"'
    sleep 100000";

/// Gives a session what it asks for next.
fn provide(world: &World, session: &str, name: &str, value: &str) -> RequestView {
    let request = world.wait_for("a request", |world| {
        world.inbox().into_iter().find(|it| it.session == session && it.ask.text.contains(name))
    });
    give(world, &request.id, &values(&[(name, value)]))
}

fn prints(world: &World, session: &str, line: &str) {
    world.wait_for(line, |world| world.output(session).contains(line).then_some(()));
}

/// Values of another process's making.
fn forged(world: &World) -> PathBuf {
    let path = world.home.join("forged");
    fs::write(&path, "KEY=theirs\0OTHER=theirs\0PLANTED=theirs\0").expect("it is ours");
    path
}

#[test]
fn a_pipe_in_place_of_the_file_of_values_delays_nobody_and_is_replaced() {
    exchange_values(|_, path| plant(path));
}

#[test]
fn a_link_in_place_of_the_file_of_values_is_not_followed_and_is_replaced() {
    exchange_values(|world, path| {
        fs::remove_file(path).expect("it is ours");
        symlink(forged(world), path).expect("it is ours");
    });
}

#[test]
fn other_content_in_the_file_of_values_is_replaced_and_uncovers_no_value() {
    exchange_values(|world, path| fs::rename(forged(world), path).expect("it is ours"));
}

fn exchange_values(exchange: impl Fn(&World, &Path)) {
    let world = World::new();
    let session = world.bash(NEEDING);
    let file = world.home.join("sessions").join(&session).join("values");
    provide(&world, &session, "KEY", KEY);
    prints(&world, &session, &format!("key {}", KEY.len()));
    exchange(&world, &file);
    write(&world.project, "exchanged", "");
    prints(&world, &session, "step 0");
    provide(&world, &session, "OTHER", "sk_other_0123456789");
    prints(&world, &session, "other 19\nlater 19");
    let found = fs::read_to_string(&file).unwrap_or_default();
    assert!(found.contains(KEY) && !found.contains("theirs"), "it was not replaced");
    let written = world.events(&session).iter().any(|event| event.body.to_string().contains(KEY));
    assert!(!written, "the value was written down");
    exchange(&world, &file);
    world.wish(&session, "cancel");
    world.status(&session, "cancelled");
    world.wait_for("the end of the file", |_| file.symlink_metadata().is_err().then_some(()));
}

#[test]
fn a_directory_in_place_of_the_file_of_values_is_told_and_keeps_nobody_from_ending() {
    let world = World::new();
    let session = world.bash(NEEDING);
    let file = world.home.join("sessions").join(&session).join("values");
    fs::create_dir_all(file.join("below")).expect("a directory");
    provide(&world, &session, "KEY", KEY);
    let told = world.wait_for("a word to a person", |world| {
        let events = world.events(&session);
        events.into_iter().map(|event| event.body.to_string()).find(|body| body.contains("but a directory"))
    });
    assert!(told.contains("remove it"), "{told}");
    world.wish(&session, "cancel");
    world.status(&session, "cancelled");
    let path = world.home.join("journal.sqlite");
    let journal = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).expect("a journal");
    world.wait_for("an empty outbox", |_| {
        let open = journal.query_row("SELECT count(*) FROM actions", [], |row| row.get::<_, i64>(0)).ok()?;
        (open == 0).then_some(())
    });
}
