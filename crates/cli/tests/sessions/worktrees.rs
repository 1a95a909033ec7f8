//! Worktrees: a session works beside the project, and its work comes back whole or not at all.

use std::{fs, path::Path, process::Command};

use ostler_server::api::NewRun;

use crate::support::{World, write};

pub(crate) fn git(directory: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=T", "-c", "user.email=t@example.com"]).args(arguments);
    let output =
        command.current_dir(directory).env("GIT_CONFIG_GLOBAL", "/dev/null").output().expect("git runs");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

pub(crate) fn repository(world: &World) {
    git(&world.project, &["init", "-q", "-b", "main"]);
    write(&world.project, "readme", "one\n");
    git(&world.project, &["add", "."]);
    git(&world.project, &["commit", "-qm", "first"]);
}

fn run(world: &World, script: &str) -> String {
    let new = world.new_run(&["bash", "-c", script]);
    let session = world.run_with(&NewRun { worktree: true, ..new });
    world.status(&session, "completed");
    session
}

#[test]
fn work_in_a_worktree_is_merged() {
    let world = World::new();
    repository(&world);
    let session = run(&world, "pwd >where; echo two >>readme; echo new >file");
    assert_eq!(fs::read_to_string(world.project.join("readme")).expect("a file"), "one\n");
    let view = world.session(&session);
    assert!(view.directory.starts_with(&world.home.display().to_string()), "never in a temporary directory");
    let diff = world.ostler(&["diff", &session]);
    assert!(String::from_utf8_lossy(&diff.stdout).contains("+two"), "{diff:?}");
    let view = world.wish(&session, "merge");
    assert_eq!(view.worktree.expect("a worktree").state, "merged");
    assert_eq!(fs::read_to_string(world.project.join("readme")).expect("a file"), "one\ntwo\n");
    assert_eq!(fs::read_to_string(world.project.join("file")).expect("a file"), "new\n");
    assert_eq!(git(&world.project, &["status", "--porcelain"]), "");
    let again = world.refused(&format!("/sessions/{session}/merge"), &serde_json::json!({}));
    assert_eq!(again.kind, "worktree_gone");
}

#[test]
fn a_conflict_leaves_the_target_as_it_was() {
    let world = World::new();
    repository(&world);
    let session = run(&world, "echo theirs >readme");
    write(&world.project, "readme", "ours\n");
    git(&world.project, &["commit", "-qam", "ours"]);
    let before =
        (git(&world.project, &["rev-parse", "HEAD"]), fs::read(world.project.join(".git/index")).ok());
    let view = world.wish(&session, "merge");
    let worktree = view.worktree.expect("a worktree");
    assert_eq!(
        (worktree.state.as_str(), worktree.files.as_slice()),
        ("not_merged", &["readme".to_owned()][..])
    );
    let after =
        (git(&world.project, &["rev-parse", "HEAD"]), fs::read(world.project.join(".git/index")).ok());
    assert_eq!(before, after);
    assert_eq!(fs::read_to_string(world.project.join("readme")).expect("a file"), "ours\n");
    let view = world.wish(&session, "discard");
    let worktree = view.worktree.expect("a worktree");
    assert_eq!(worktree.state, "discarded");
    let kept = worktree.message.expect("a ref");
    assert_eq!(git(&world.project, &["show", &format!("{kept}:readme")]), "theirs");
}

#[test]
fn a_worktree_survives_the_server_and_a_reboot() {
    let mut world = World::new();
    repository(&world);
    let new = world.new_run(&["bash", "-c", "echo work >file; while [ ! -e go ]; do sleep 0.05; done"]);
    let session = world.run_with(&NewRun { worktree: true, ..new });
    world.status(&session, "active");
    let place = world.session(&session).directory;
    world.wait_for("its work", |_| Path::new(&place).join("file").exists().then_some(()));
    world.reboot();
    world.status(&session, "interrupted");
    assert!(Path::new(&place).join("file").exists());
    fs::write(Path::new(&place).join("go"), "").expect("the worktree can be written");
    world.wish(&session, "resume");
    world.status(&session, "completed");
    assert_eq!(world.wish(&session, "merge").worktree.expect("a worktree").state, "merged");
    assert!(world.project.join("file").exists());
}

#[test]
fn an_edit_of_the_same_size_in_the_same_second_is_not_lost() {
    let world = World::new();
    repository(&world);
    let session = run(&world, "echo two >readme");
    let diff = world.ostler(&["diff", &session]);
    assert!(String::from_utf8_lossy(&diff.stdout).contains("+two"), "{diff:?}");
    assert_eq!(world.wish(&session, "merge").worktree.expect("a worktree").state, "merged");
    assert_eq!(fs::read_to_string(world.project.join("readme")).expect("a file"), "two\n");
}

#[test]
fn a_merge_that_was_wanted_is_carried_out_by_the_next_server() {
    let mut world = World::new();
    repository(&world);
    let session = run(&world, "echo two >>readme");
    world.kill_server();
    world.start_with(&[("OSTLER_CRASH_AT", "before worktree:1")]);
    world.post::<serde_json::Value>(&format!("/sessions/{session}/merge"), &serde_json::json!({})).ok();
    world.wait_for("the death", |_| Some(()));
    world.restart();
    world.wait_for("the merge", |world| {
        let worktree = world.session(&session).worktree?;
        (worktree.state == "merged").then_some(())
    });
    assert_eq!(fs::read_to_string(world.project.join("readme")).expect("a file"), "one\ntwo\n");
}
