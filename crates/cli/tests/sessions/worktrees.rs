//! Worktrees: a session works beside the project, and its work comes back whole or not at all.

use std::{fs, path::Path, process::Command};

use ostler_server::api::{EventView, NewRun};

use crate::{
    needs::{give, values},
    support::{World, write},
};

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

/// An agent asks for a key and writes it into files, plain and in base64.
const LEAKS: &str = r#"
key=$(ostler need DEPLOY_KEY)
echo two >>readme
printf 'one\nkey = "%s"\n' "$key" >config
printf '%s' "$key" | base64 >encoded
"#;

const DEPLOY_KEY: &str = "sk-live-77aa88bb99cc00dd";

fn leak(world: &World) -> String {
    let new = world.new_run(&["bash", "-c", LEAKS]);
    let session = world.run_with(&NewRun { worktree: true, ..new });
    let request = world.asked(&session);
    give(world, &request.id, &values(&[("DEPLOY_KEY", DEPLOY_KEY)]));
    world.status(&session, "completed");
    session
}

/// What a command says beside its result. The value is never in it.
fn notes(output: &std::process::Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!said.contains(DEPLOY_KEY), "{said}");
    said
}

#[test]
fn diff_and_merge_name_a_secret_in_the_work_and_go_on() {
    let world = World::new();
    repository(&world);
    let session = leak(&world);
    let diff = world.ostler(&["diff", &session, "--stat"]);
    let said = notes(&diff);
    assert!(said.contains("warning: the secret DEPLOY_KEY is in config, line 2"), "{said}");
    assert!(said.contains("warning: the secret DEPLOY_KEY is in encoded, line 1"), "{said}");
    assert!(diff.status.success() && !said.contains("readme"), "{said}");
    let secrets: serde_json::Value = world.get(&format!("/sessions/{session}/secrets")).expect("an answer");
    assert_eq!(
        secrets["found"][0],
        serde_json::json!({ "secret": "DEPLOY_KEY", "file": "config", "line": 2 })
    );
    assert_eq!(secrets["unchecked"], serde_json::json!([]));
    let merge = world.ostler(&["merge", &session]);
    assert!(merge.status.success(), "{merge:?}");
    assert!(notes(&merge).contains("the secret DEPLOY_KEY is in config"), "{merge:?}");
    // A merge that nobody watches puts it down as well.
    let events = world.events(&session);
    let of_merge = |it: &&EventView| it.kind == "secret.found" && it.body["step"] == "merge";
    let found: Vec<&EventView> = events.iter().filter(of_merge).collect();
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!(found[0].body["secret"], "DEPLOY_KEY");
    assert!(!serde_json::json!(events).to_string().contains(DEPLOY_KEY));
    assert!(notes(&world.ostler(&["show", &session])).is_empty());
    world.verify();
}

#[test]
fn a_checkpoint_names_a_secret_in_the_work_once() {
    let world = World::new();
    repository(&world);
    let script = format!(
        "{LEAKS}\nostler ask First? --option yes\necho more >>config\nostler ask Second? --option yes\n"
    );
    let new = world.new_run(&["bash", "-c", &script]);
    let session = world.run_with(&NewRun { worktree: true, ..new });
    let request = world.asked(&session);
    give(&world, &request.id, &values(&[("DEPLOY_KEY", DEPLOY_KEY)]));
    for question in ["First?", "Second?"] {
        let request = world.wait_for(question, |world| {
            world.inbox().into_iter().find(|it| it.session == session && it.ask.text == question)
        });
        world.wait_for("its secrets", |world| (world.count(&session, "secret.found") >= 2).then_some(()));
        world.answer(&request.id, "yes");
    }
    world.status(&session, "completed");
    let events = world.events(&session);
    let found: Vec<&EventView> = events.iter().filter(|it| it.kind == "secret.found").collect();
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.iter().all(|it| it.body["step"] == "checkpoint"), "{found:?}");
    assert!(!serde_json::json!(events).to_string().contains(DEPLOY_KEY));
}

/// What is kept under a passphrase that nobody has given cannot be looked for, and that is said wherever it would be.
#[test]
fn a_locked_vault_is_said_at_diff_merge_and_checkpoint() {
    let mut world = World::new();
    repository(&world);
    let secret = serde_json::json!({ "directory": world.project, "name": "DEPLOY_KEY", "value": DEPLOY_KEY });
    world.post::<serde_json::Value>("/secrets", &secret).expect("it is kept");
    let folder = world.home.join("config/ostler");
    fs::create_dir_all(&folder).expect("a folder");
    write(&folder, "config.toml", "[vault]\nkey = 'passphrase'\n");
    world.restart();
    let script = format!(
        "echo {DEPLOY_KEY} >config\nostler ask First? --option yes\necho more >>config\n\
         ostler ask Second? --option yes\n"
    );
    let new = world.new_run(&["bash", "-c", &script]);
    let session = world.run_with(&NewRun { worktree: true, ..new });
    let unchecked = |world: &World, step: &str| {
        let events = world.events(&session);
        events.iter().filter(|it| it.kind == "secret.unchecked" && it.body["step"] == step).count()
    };
    for question in ["First?", "Second?"] {
        let request = world.wait_for(question, |world| {
            world.inbox().into_iter().find(|it| it.session == session && it.ask.text == question)
        });
        world.wait_for("its word", |world| (unchecked(world, "checkpoint") >= 1).then_some(()));
        world.answer(&request.id, "yes");
    }
    world.status(&session, "completed");
    assert_eq!(unchecked(&world, "checkpoint"), 1, "it is said once");
    let why = "not all was checked for secrets: the vault cannot be opened";
    for arguments in [&["diff", &session, "--stat"][..], &["merge", &session]] {
        let output = world.ostler(arguments);
        assert!(output.status.success() && notes(&output).contains(why), "{output:?}");
    }
    assert_eq!(unchecked(&world, "merge"), 1);
    assert_eq!(world.count(&session, "secret.found"), 0);
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
