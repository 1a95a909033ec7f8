//! A shim runs what it was handed in memory. Nothing that lies on the disk decides that.

use std::{fs, process::Stdio};

use ostler_shim::{
    launch::{FILE, Launch},
    spool::Happening,
    values,
};

use crate::support::{Session, bash, wait_for};

fn ended(session: &Session) -> Option<i32> {
    wait_for("the agent's end", || {
        ostler_shim::spool::read(&session.directory).ok()?.into_iter().find_map(|record| match record.what {
            Happening::Ended { code, .. } => Some(code),
            _ => None,
        })
    })
}

#[test]
fn a_launch_file_in_the_directory_decides_nothing() {
    let launch = bash("echo ours");
    let directory = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(&launch.session);
    fs::create_dir_all(&directory).expect("the target directory can be written");
    let theirs = Launch { command: vec!["echo".into(), "theirs".into()], ..launch.clone() };
    let text = serde_json::to_vec(&theirs).expect("a launch");
    fs::write(directory.join(FILE), text).expect("a file");
    let session = Session::start(&launch);
    assert_eq!((ended(&session), session.output().as_str()), (Some(0), "ours\n"));
}

#[test]
fn an_exchanged_file_of_values_adds_nothing_to_the_environment() {
    let launch = bash("echo \"${PRELOADED-nothing} $KEY\"");
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}.values", launch.session));
    fs::write(&file, values::encode([("PRELOADED", "theirs"), ("KEY", "theirs")], [])).expect("a file");
    let given = [("KEY".to_owned(), "ours".to_owned())].into();
    let session = Session::start(&Launch { values: Some(file), given, ..launch });
    assert_eq!((ended(&session), session.output().as_str()), (Some(0), "nothing ours\n"));
}

#[test]
fn a_launch_that_another_process_could_change_is_refused() {
    let launch = bash("echo ran");
    let directory = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(&launch.session);
    fs::create_dir_all(&directory).expect("the target directory can be written");
    let text = directory.join("text");
    fs::write(&text, serde_json::to_vec(&launch).expect("a launch")).expect("a file");
    for input in [Stdio::null(), fs::File::open(&text).expect("a file").into()] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_ostler"));
        let output = command.arg("__shim").arg(&directory).stdin(input).output().expect("the binary starts");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains("ostler serve --stop"), "{said}");
        assert!(!directory.join(ostler_shim::OUT).exists(), "nothing began");
    }
}
