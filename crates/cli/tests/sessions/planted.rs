//! Named pipes, links and directories in the place of files that the server, the command line and shims read: nobody waits
//! for them, and what is wrong is said.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use crate::support::{QUESTION, World, kill, write};

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
        for arguments in [&["serve"][..], &["doctor"], &["verify"], &["status"]] {
            let said = world.ostler_of_user(arguments);
            assert_ne!(said.status.code(), Some(0), "{end} {arguments:?}: {}", words(&said));
            assert!(
                words(&said).contains("a named pipe; remove it"),
                "{end} {arguments:?}: {}",
                words(&said)
            );
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
