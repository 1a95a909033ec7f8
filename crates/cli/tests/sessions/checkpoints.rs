//! Checkpoints: what stood there at each question is kept, and one can go back to it.

use std::{
    fs,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use ostler_server::api::{CheckpointView, NewRun, PrunedView, RestoreView};
use serde_json::json;

use crate::support::{DEADLINE, QUESTION, World, write};

fn git(directory: &Path, arguments: &[&str]) -> String {
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
    write(&world.project, ".gitignore", "*.log\n");
    git(&world.project, &["add", "."]);
    git(&world.project, &["commit", "-qm", "first"]);
}

fn list(world: &World, session: &str) -> Vec<CheckpointView> {
    world.get(&format!("/checkpoints?session={session}")).expect("checkpoints")
}

fn restore(world: &World, id: &str, conversation: bool) -> RestoreView {
    let body = json!({ "conversation": conversation });
    world.post(&format!("/checkpoints/{id}/restore"), &body).expect("an answer")
}

fn read(world: &World, name: &str) -> String {
    fs::read_to_string(world.project.join(name)).expect(name)
}

/// Works, asks, and then spoils everything.
fn bad_agent() -> String {
    format!(
        "echo good >>readme; echo new >new; {QUESTION}; read -r answer; \
         echo spoiled >readme; rm new; echo rubbish >rubbish; echo noise >noise.log"
    )
}

#[test]
fn what_stood_there_at_a_question_is_kept_before_the_answer_is_read() {
    let world = World::new();
    repository(&world);
    let session = world.bash(&bad_agent());
    let request = world.asked(&session);
    let made = world.wait_for("a checkpoint", |world| list(world, &session).into_iter().next());
    let made = world.wait_for("its commit", |world| {
        let view: CheckpointView = world.get(&format!("/checkpoints/{}", made.id)).expect("a checkpoint");
        (view.state == "made").then_some(view)
    });
    assert_eq!((made.why.as_str(), made.requests.as_slice()), ("request", [request.id.clone()].as_slice()));
    let reference = made.reference.expect("a ref");
    assert_eq!(reference, format!("refs/ostler/checkpoints/{session}/{}", made.id));
    assert_eq!(git(&world.project, &["show", &format!("{reference}:readme")]), "one\ngood");
    assert_eq!(git(&world.project, &["show", &format!("{reference}:new")]), "new");
    world.answer(&request.id, "MySQL");
    world.status(&session, "completed");
    let kinds: Vec<String> = world.events(&session).into_iter().map(|event| event.kind).collect();
    let place = |kind: &str| kinds.iter().position(|it| it == kind).expect(kind);
    assert!(place("request.opened") < place("checkpoint.made"));
    assert!(place("checkpoint.made") < place("input.sent"), "{kinds:?}");
    world.verify();
}

#[test]
fn after_a_bad_agent_everything_is_as_it_was_and_the_bad_state_is_kept() {
    let mut world = World::new();
    repository(&world);
    write(&world.project, "mine", "not committed\n");
    let session = world.bash(&bad_agent());
    let request = world.asked(&session);
    world.answer(&request.id, "MySQL");
    world.status(&session, "completed");
    assert_eq!(read(&world, "readme"), "spoiled\n");
    let good = list(&world, &session).pop().expect("one at the question");
    // The server may have been away meanwhile.
    world.restart();
    let back = restore(&world, &good.id, true);
    assert!(back.restored, "{back:?}");
    assert_eq!((read(&world, "readme"), read(&world, "new")), ("one\ngood\n".into(), "new\n".into()));
    assert_eq!(read(&world, "mine"), "not committed\n");
    assert!(!world.project.join("rubbish").exists(), "what came later is gone");
    assert_eq!(read(&world, "noise.log"), "noise\n", "what is ignored stays");
    let bad = back.before.expect("the bad state");
    let bad_ref = bad.reference.expect("a ref");
    assert_eq!(git(&world.project, &["show", &format!("{bad_ref}:rubbish")]), "rubbish");
    assert_eq!(git(&world.project, &["show", &format!("{bad_ref}:readme")]), "spoiled");
    assert_eq!(git(&world.project, &["log", "--oneline"]).lines().count(), 1, "no commit was made");
    // And forward again.
    let again = restore(&world, &bad.id, false);
    assert!(again.restored && again.conversation == "kept", "{again:?}");
    let before = again.before.expect("one");
    assert_ne!(before.id, good.id, "nothing had changed since, and it has a name of its own all the same");
    let before_ref = before.reference.expect("a ref");
    assert_eq!(git(&world.project, &["show", &format!("{before_ref}:new")]), "new");
    assert_eq!(read(&world, "rubbish"), "rubbish\n");
    world.verify();
}

#[test]
fn in_a_worktree_only_the_worktree_changes() {
    let world = World::new();
    repository(&world);
    let new = world.new_run(&["bash", "-c", &bad_agent()]);
    let session = world.run_with(&NewRun { worktree: true, ..new });
    let request = world.asked(&session);
    world.answer(&request.id, "MySQL");
    let directory = world.status(&session, "completed").directory;
    let good = list(&world, &session).pop().expect("one at the question");
    write(&world.project, "readme", "the project's own\n");
    assert!(restore(&world, &good.id, true).restored);
    let inside = |name: &str| fs::read_to_string(Path::new(&directory).join(name)).expect(name);
    assert_eq!((inside("readme"), inside("new")), ("one\ngood\n".into(), "new\n".into()));
    assert_eq!(read(&world, "readme"), "the project's own\n");
}

#[test]
fn refusals_name_what_stands_in_the_way() {
    let world = World::new();
    repository(&world);
    let session = world.bash(&format!("{QUESTION}; read -r answer; touch reached; sleep 1000"));
    let request = world.asked(&session);
    let made: CheckpointView =
        world.post(&format!("/sessions/{session}/checkpoints"), &json!({})).expect("one");
    let target = if made.state == "made" { made.id } else { list(&world, &session)[0].id.clone() };
    world.answer(&request.id, "MySQL");
    world.wait_for("its next step", |world| world.project.join("reached").exists().then_some(()));
    let path = format!("/checkpoints/{target}/restore");
    assert_eq!(world.refused(&path, &json!({})).kind, "not_now", "it runs");
    world.wish(&session, "cancel");
    world.status(&session, "cancelled");
    // A git that was stopped holds the index.
    let lock = world.project.join(".git/index.lock");
    fs::write(&lock, "").expect("a lock");
    let locked = restore(&world, &target, true);
    assert!(!locked.restored && locked.message.expect("why").contains("index.lock"));
    assert!(lock.exists() && world.project.join("reached").exists(), "nothing was changed");
    fs::remove_file(&lock).expect("it is ours");
    assert!(restore(&world, &target, true).restored);
    assert!(!world.project.join("reached").exists());
    assert_eq!(world.refused("/checkpoints/c_99/restore", &json!({})).kind, "no_checkpoint");
    assert_eq!(world.refused_get("/checkpoints/c_99/diff"), "no_checkpoint");
}

#[test]
fn on_demand_and_nothing_twice() {
    let world = World::new();
    repository(&world);
    let session = world.bash("sleep 1000");
    world.status(&session, "active");
    let make = || -> CheckpointView {
        world.post(&format!("/sessions/{session}/checkpoints"), &json!({})).expect("an answer")
    };
    let first = make();
    assert_eq!((first.why.as_str(), first.state.as_str()), ("person", "made"));
    let second = make();
    assert_eq!(second.reason, json!({ "key": "unchanged", "checkpoint": first.id }));
    write(&world.project, "readme", "two\n");
    let third = make();
    let path = format!("/checkpoints/{}/diff?to={}", first.id, third.id);
    let client = world.client();
    let diff = world.block_on(async {
        let mut pieces = client.stream(&path).await.expect("a diff");
        pieces.next().await.expect("bytes").expect("some")
    });
    assert!(String::from_utf8_lossy(&diff).contains("-one\n+two"), "{diff:?}");
    world.wish(&session, "cancel");
    world.status(&session, "cancelled");
    let directory = world.project.display().to_string();
    let pruned: Vec<PrunedView> =
        world.post("/checkpoints/prune", &json!({ "directory": directory })).expect("an answer");
    assert_eq!(pruned, [], "none is too old");
}

#[test]
fn outside_of_git_it_is_said_once_and_nothing_waits() {
    let world = World::new();
    let session = world.bash(&format!("{QUESTION}; read -r answer; echo $answer"));
    let request = world.asked(&session);
    world.answer(&request.id, "MySQL");
    world.status(&session, "completed");
    assert_eq!(world.count(&session, "checkpoint.skipped"), 1);
    assert_eq!(world.count(&session, "checkpoint.wanted"), 0);
    let refused = world.refused(&format!("/sessions/{session}/checkpoints"), &json!({}));
    assert_eq!(refused.kind, "not_git");
    assert!(refused.hint.is_some_and(|hint| hint.contains("checkpoints")));
}

#[test]
fn a_checkpoint_that_cannot_be_made_holds_nobody() {
    let world = World::new();
    repository(&world);
    // Git refuses to work on a repository of a form that it does not know.
    let session = world.bash(&format!(
        "git config core.repositoryFormatVersion 9; {QUESTION}; read -r answer; echo \"got $answer\""
    ));
    let request = world.asked(&session);
    world.answer(&request.id, "MySQL");
    world.status(&session, "completed");
    let skipped = world.events(&session).into_iter().find(|event| event.kind == "checkpoint.skipped");
    assert_eq!(skipped.expect("a word").body["reason"]["key"], "failed");
    assert!(world.output(&session).contains("got"));
}

/// Another repository beside the project, in which a session asks once.
fn asks_elsewhere(world: &World) -> String {
    let other = world.project.with_file_name("other");
    fs::create_dir_all(&other).expect("a folder");
    git(&other, &["init", "-q", "-b", "main"]);
    write(&other, "readme", "one\n");
    git(&other, &["add", "."]);
    git(&other, &["commit", "-qm", "first"]);
    let script = format!("{QUESTION}; read -r answer; echo \"got $answer\"");
    let new = world.new_run(&["bash", "-c", &script]);
    world.run_with(&NewRun { directory: other.display().to_string(), ..new })
}

/// As many sessions as checkpoints are made at once; each runs a command and asks.
fn four_ask(world: &World, command: &str) -> Vec<String> {
    let script = format!("{command}; {QUESTION}; read -r answer; echo \"got $answer\"");
    // All of them are there before the first does its harm.
    let gate = format!("until [ -e go ]; do sleep 0.05; done; {script}");
    let sessions: Vec<String> = (0..4).map(|_| world.bash(&gate)).collect();
    write(&world.project, "go", "");
    sessions
}

fn answered(world: &World, session: &str) {
    let request = world.asked(session);
    world.answer(&request.id, "MySQL");
    world.status(session, "completed");
    assert!(world.output(session).contains("got"));
}

#[test]
fn a_pipe_that_a_configuration_includes_holds_nobody() {
    let world = World::new();
    repository(&world);
    let plant = "mkfifo .git/inc 2>/dev/null; printf '[include]\\n\\tpath = inc\\n' >>.git/config";
    let sessions = four_ask(&world, plant);
    answered(&world, &asks_elsewhere(&world));
    for session in &sessions {
        answered(&world, session);
    }
    let refused = world.refused("/runs", &world.new_run(&["true"]));
    assert!(refused.title.contains("inc': not a regular file"), "{}", refused.title);
}

/// How many processes work in a directory.
fn in_directory(directory: &Path) -> usize {
    let processes = fs::read_dir("/proc").expect("processes").flatten();
    let here = |path: &Path| fs::read_link(path.join("cwd")).is_ok_and(|cwd| cwd == directory);
    processes.filter(|process| here(&process.path())).count()
}

/// Git hangs at a pipe that nobody can look for before, for longer than this test waits.
#[test]
fn a_git_that_hangs_holds_neither_answers_nor_the_end_of_the_server() {
    let mut world = World::idle();
    world.start_with(&[("OSTLER_PATIENCE_MS", "2000")]);
    repository(&world);
    let sessions = four_ask(&world, "mkfifo pipe.$$; mv -f pipe.$$ .git/info/exclude");
    for session in &sessions {
        answered(&world, session);
        let skipped = world.events(session).into_iter().find(|event| event.kind == "checkpoint.skipped");
        let reason = skipped.expect("a word").body["reason"].to_string();
        assert!(reason.contains("it was not done after 2 s"), "{reason}");
    }
    answered(&world, &asks_elsewhere(&world));
    assert!(in_directory(&world.project) > 0, "no git hangs");
    assert!(world.ostler(&["serve", "--stop"]).status.success());
    let deadline = Instant::now() + DEADLINE;
    while in_directory(&world.project) > 0 {
        assert!(Instant::now() < deadline, "a git was left behind");
        std::thread::sleep(Duration::from_millis(10));
    }
    while !world.has_died() {
        assert!(Instant::now() < deadline, "the server does not end");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn who_gives_up_is_ended_after_what_it_did_is_kept() {
    let world = World::new();
    repository(&world);
    // Asked to end, it throws away what it did.
    let session = world.bash(
        "trap 'git checkout -q readme; rm -f new; exit' TERM; echo good >>readme; echo new >new
        printf '[ERROR]\\ntype: fatal\\nmessage: hopeless\\nrecovery: checkpoint_and_fail\\n[/ERROR]\\n'
        while :; do sleep 0.1; done",
    );
    let reason = world.status(&session, "failed").outcome.expect("an outcome").reason;
    assert_eq!(reason["message"], "hopeless");
    assert_eq!(read(&world, "readme"), "one\n", "it did throw it away");
    let kinds: Vec<String> = world.events(&session).into_iter().map(|event| event.kind).collect();
    let place = |kind: &str| kinds.iter().position(|it| it == kind).expect(kind);
    assert!(place("checkpoint.made") < place("session.recalled"), "{kinds:?}");
    let kept = list(&world, &session).pop().expect("one at its end");
    assert!(restore(&world, &kept.id, true).restored);
    assert_eq!((read(&world, "readme"), read(&world, "new")), ("one\ngood\n".into(), "new\n".into()));
    world.verify();
}

/// A CLI that keeps its conversation, and can take it up at anything it said.
const REWINDER: &str = r#"
echo "$*" >>"$TEST_CALLS"
case "$1" in
    --new=*)
        echo '{"event":"hello","chat":"c1"}'
        echo good >work; echo good >>readme
        echo '{"event":"say","uuid":"u1","text":"I work."}'
        echo '{"event":"say","uuid":"u2","text":"[USER_QUESTION]\ncategory: choice\nquestion: Which?\noptions:\n  - A\n  - B\nrequired: true\n[/USER_QUESTION]"}'
        sleep 1000 ;;
    --resume=c1)
        if [ "$2" = --at=u2 ]; then echo '{"event":"hello","chat":"c2"}'; echo again >>work
        else echo '{"event":"hello","chat":"c1"}'; echo bad >work; rm readme; echo rubbish >rubbish; echo '{"event":"say","uuid":"u3","text":"Hm."}'; fi
        echo '{"event":"done"}' ;;
    *) echo '{"event":"done"}' ;;
esac
"#;

const TABLE: &str = r#"
[agents.rewinder]
about = "goes back"
command = ["bash", "../rewinder.sh"]
input.way = "relaunch"
arguments.fresh = ["--new={new_conversation}"]
arguments.resume = ["--resume={conversation}"]
arguments.rewind = ["--resume={conversation}", "--at={anchor}", "--fork"]
arguments.prompt = ["--", "{prompt}"]
output.agent_session = [{ when = { event = "hello" }, give = { id = "chat" } }]
output.speech = [{ when = { event = "say" }, give = { text = "text" } }]
output.anchor = [{ when = { event = "say" }, give = { id = "uuid" } }]
output.end = [{ when = { event = "done" }, give = { status = "success" } }]
"#;

#[test]
fn the_conversation_goes_back_with_the_files() {
    let mut world = World::idle();
    repository(&world);
    let root = world.project.parent().expect("a folder").to_path_buf();
    write(&root, "rewinder.sh", REWINDER);
    let config = world.home.join("config/ostler");
    fs::create_dir_all(&config).expect("a folder");
    write(&config, "config.toml", TABLE);
    world.start();
    let calls = root.join("calls");
    let mut new = world.new_run(&[]);
    new.agent = Some("rewinder".to_owned());
    new.prompt = Some("begin".to_owned());
    new.environment.get_or_insert_default().insert("TEST_CALLS".to_owned(), calls.display().to_string());
    let session = world.run_with(&new);
    let request = world.asked(&session);
    world.answer(&request.id, "A");
    world.status(&session, "completed");
    assert_eq!(read(&world, "work"), "bad\n");
    let good = list(&world, &session).pop().expect("one at the question");
    assert!(good.rewindable && good.conversation.as_deref() == Some("c1"), "{good:?}");
    let back = restore(&world, &good.id, true);
    assert_eq!((back.restored, back.conversation.as_str()), (true, "rewound"), "{back:?}");
    assert_eq!((read(&world, "work"), read(&world, "readme")), ("good\n".into(), "one\ngood\n".into()));
    assert!(!world.project.join("rubbish").exists());
    let bad = back.before.and_then(|bad| bad.reference).expect("the bad state");
    assert_eq!(git(&world.project, &["show", &format!("{bad}:rubbish")]), "rubbish");
    let resumed = json!({ "prompt": "Take B." });
    world.post::<serde_json::Value>(&format!("/sessions/{session}/resume"), &resumed).expect("it goes on");
    world.status(&session, "completed");
    assert_eq!(read(&world, "work"), "good\nagain\n");
    let calls = fs::read_to_string(calls).expect("what it was called with");
    let last = calls.split("--resume=c1").last().expect("a call");
    assert!(last.starts_with(" --at=u2 --fork -- The files are as they were"), "{calls}");
    assert!(last.contains("Answer to your question \"Which?\": A") && last.contains("Take B."), "{calls}");
    assert_eq!(
        world.session(&session).conversation.as_deref(),
        Some("c2"),
        "the next goes on with the new one"
    );
    world.verify();
}

/// Starts a server whose user has a filter through which `zed` is written.
fn start_with_a_filter(world: &mut World, smudge: &str) {
    let file = world.home.join("gitconfig").display().to_string();
    for (name, value) in [("smudge", smudge), ("clean", "cat"), ("required", "true")] {
        git(&world.project, &["config", "-f", &file, &format!("filter.disk.{name}"), value]);
    }
    write(&world.project, ".gitattributes", "zed filter=disk\n");
    world.start_with(&[("GIT_CONFIG_GLOBAL", &file)]);
}

#[test]
fn nobody_begins_while_files_are_exchanged() {
    let mut world = World::idle();
    repository(&world);
    let (begun, go) = (world.home.join("begun"), world.home.join("go"));
    let wait =
        format!("touch '{}'; until [ -e '{}' ]; do sleep 0.02; done; cat", begun.display(), go.display());
    start_with_a_filter(&mut world, &wait);
    let session = world.bash(&format!("echo good >zed; {QUESTION}; read -r answer; echo spoiled >zed"));
    let request = world.asked(&session);
    world.answer(&request.id, "MySQL");
    world.status(&session, "completed");
    let mut restoring = world.command(&["checkpoint", "restore", "c_1"]).spawn().expect("it runs");
    world.wait_for("the first file", |_| begun.exists().then_some(()));
    let other = world.bash("cat zed >seen");
    let again = json!({ "prompt": "Once more." });
    let refused = world.refused(&format!("/sessions/{session}/resume"), &again);
    assert_eq!(refused.kind, "restoring", "its own files");
    let second = world.ostler(&["checkpoint", "restore", "c_1"]);
    let words = String::from_utf8_lossy(&second.stderr).into_owned();
    assert_eq!(second.status.code(), Some(7), "{words}");
    assert!(words.contains("the files of s_1 are being brought back to c_1"), "{words}");
    assert_eq!(world.count(&other, "session.launched"), 0, "not yet");
    write(&world.home, "go", "");
    assert!(restoring.wait().expect("it ends").success());
    world.status(&other, "completed");
    assert_eq!(read(&world, "seen"), "good\n");
    world.verify();
}

/// Asked to end, it still writes to a file that is exchanged behind the one that takes its time.
#[test]
fn what_it_writes_when_it_is_cancelled_is_not_lost_between_two_files() {
    let mut world = World::idle();
    repository(&world);
    let (begun, go) = (world.home.join("begun"), world.home.join("go"));
    let wait =
        format!("touch '{}'; until [ -e '{}' ]; do sleep 0.02; done; cat", begun.display(), go.display());
    start_with_a_filter(&mut world, &wait);
    let session = world.bash(&format!(
        "trap 'echo last >>zzz; exit' TERM; echo good >zed; echo good >zzz; {QUESTION}; \
         while :; do sleep 0.1; done"
    ));
    world.asked(&session);
    world.wait_for("a checkpoint", |world| list(world, &session).into_iter().find(|it| it.state == "made"));
    write(&world.project, "zed", "spoiled\n");
    write(&world.project, "zzz", "spoiled\n");
    let mut restoring =
        world.command(&["checkpoint", "restore", "--files-only", "c_1"]).spawn().expect("it runs");
    world.wait_for("the first file", |_| begun.exists().then_some(()));
    world.wish(&session, "cancel");
    assert_eq!(world.count(&session, "session.cancelled"), 1, "it is heard");
    assert_eq!(world.count(&session, "session.recalled"), 0, "and carried out later");
    write(&world.home, "go", "");
    assert!(restoring.wait().expect("it ends").success());
    world.status(&session, "cancelled");
    assert_eq!((read(&world, "zed"), read(&world, "zzz")), ("good\n".into(), "good\nlast\n".into()));
    world.verify();
}

/// A filter that neither ends nor hears that it should.
#[test]
fn a_restore_that_hangs_holds_up_its_own_project_alone() {
    let mut world = World::idle();
    repository(&world);
    let (begun, go) = (world.home.join("begun"), world.home.join("go"));
    let wait = format!(
        "trap '' TERM; touch '{}'; until [ -e '{}' ]; do sleep 0.02; done; cat",
        begun.display(),
        go.display()
    );
    start_with_a_filter(&mut world, &wait);
    let session = world.bash(&format!("echo good >zed; {QUESTION}; read -r answer; echo spoiled >zed"));
    let request = world.asked(&session);
    world.answer(&request.id, "MySQL");
    world.status(&session, "completed");
    let mut restoring = world.command(&["checkpoint", "restore", "c_1"]).spawn().expect("it runs");
    world.wait_for("the first file", |_| begun.exists().then_some(()));
    answered(&world, &asks_elsewhere(&world));
    assert!(world.ostler(&["serve", "--stop"]).status.success());
    restoring.wait().expect("whoever waits hears that the server ends");
    let deadline = Instant::now() + DEADLINE;
    while !world.has_died() || in_directory(&world.project) > 0 {
        assert!(Instant::now() < deadline, "something of it is left behind");
        std::thread::sleep(Duration::from_millis(10));
    }
    // Nobody holds the lock of the repository, so the next server can finish it.
    write(&world.home, "go", "");
    let file = world.home.join("gitconfig").display().to_string();
    world.start_with(&[("GIT_CONFIG_GLOBAL", &file)]);
    world.wait_for("the files", |world| (world.count(&session, "checkpoint.restored") == 1).then_some(()));
    assert_eq!(read(&world, "zed"), "good\n");
    world.verify();
}

#[test]
fn whoever_works_in_a_worktree_stands_in_the_way_of_its_restore() {
    let world = World::new();
    repository(&world);
    let new = world.new_run(&["bash", "-c", &format!("{QUESTION}; read -r answer")]);
    let session = world.run_with(&NewRun { worktree: true, ..new });
    let request = world.asked(&session);
    world.answer(&request.id, "MySQL");
    let place = world.status(&session, "completed").worktree.expect("a worktree").path;
    let inside = NewRun { directory: place, ..world.new_run(&["sleep", "1000"]) };
    let other = world.run_with(&inside);
    world.status(&other, "active");
    let refused = world.refused("/checkpoints/c_1/restore", &json!({ "conversation": true }));
    assert_eq!(refused.kind, "place_busy", "{}", refused.title);
    world.wish(&other, "cancel");
    world.status(&other, "cancelled");
    assert!(restore(&world, "c_1", true).restored);
}

#[test]
fn what_stood_there_is_named_when_git_stops_half_way() {
    let mut world = World::idle();
    repository(&world);
    // As on a full disk: one file cannot be written, after others were.
    let full = world.home.join("full");
    start_with_a_filter(&mut world, &format!("test ! -e '{}' && cat", full.display()));
    let session = world.bash(&format!(
        "echo good >>readme; echo good >zed; {QUESTION}; read -r answer; \
         echo spoiled >readme; echo spoiled >zed; echo rubbish >rubbish"
    ));
    let request = world.asked(&session);
    world.answer(&request.id, "MySQL");
    world.status(&session, "completed");
    write(&world.home, "full", "");
    let output = world.ostler(&["checkpoint", "restore", "c_1"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.starts_with("not brought back to c_1: git stopped half-way, and "), "{text}");
    assert!(text.contains("What stood there is c_2: ostler checkpoint restore c_2"), "{text}");
    assert!(!world.project.join("rubbish").exists(), "it was removed");
    assert!(list(&world, &session).iter().any(|kept| kept.id == "c_2" && kept.state == "made"));
    fs::remove_file(&full).expect("room is made");
    assert!(restore(&world, "c_2", true).restored);
    assert_eq!((read(&world, "readme"), read(&world, "rubbish")), ("spoiled\n".into(), "rubbish\n".into()));
    assert!(restore(&world, "c_1", true).restored);
    assert_eq!((read(&world, "readme"), read(&world, "zed")), ("one\ngood\n".into(), "good\n".into()));
    world.verify();
}

#[test]
fn checkpoints_of_two_projects_are_not_compared() {
    let world = World::new();
    repository(&world);
    let first = world.bash("true");
    world.status(&first, "completed");
    let elsewhere = world.project.with_file_name("elsewhere");
    fs::create_dir(&elsewhere).expect("a folder");
    git(&elsewhere, &["init", "-q", "-b", "main"]);
    let mut new = world.new_run(&["true"]);
    new.directory = elsewhere.display().to_string();
    let second = world.run_with(&new);
    world.status(&second, "completed");
    write(&elsewhere, "file", "one\n");
    for session in [&first, &second] {
        let path = format!("/sessions/{session}/checkpoints");
        let made: CheckpointView = world.post(&path, &json!({})).expect("an answer");
        assert_eq!(made.state, "made", "{made:?}");
    }
    let said = world.ostler(&["checkpoint", "diff", "c_1", "c_2"]);
    let words = String::from_utf8_lossy(&said.stderr).into_owned();
    assert!(words.contains("c_1 and c_2 are of different projects"), "{words}");
}

#[test]
fn a_person_types_it() {
    let world = World::new();
    repository(&world);
    let session = world.bash(&bad_agent());
    let request = world.asked(&session);
    world.answer(&request.id, "MySQL");
    world.status(&session, "completed");
    let said = |arguments: &[&str]| {
        let output = world.ostler(arguments);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        (output.status.code(), text + &String::from_utf8_lossy(&output.stderr))
    };
    let (code, text) = said(&["checkpoint", &session]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.starts_with("c_2 keeps what stands in the directory of s_1: refs/ostler/"), "{text}");
    let (_, text) = said(&["checkpoint"]);
    assert_eq!(text, "nothing has changed in s_1 since c_2, so no other was made\n");
    let (_, text) = said(&["checkpoint", "list"]);
    assert!(text.contains("c_2") && text.contains("it asked") && text.contains("you wanted it"), "{text}");
    let (_, text) = said(&["checkpoint", "diff", "c_1", "c_2"]);
    assert!(text.contains("+spoiled"), "{text}");
    let (code, text) = said(&["checkpoint", "restore", "c_1"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.starts_with("the files of s_1 are as they were at c_1; 3 changed\n"), "{text}");
    assert!(text.contains("What stood there is c_4: ostler checkpoint restore c_4"), "{text}");
    assert_eq!(read(&world, "readme"), "one\ngood\n");
    let (code, text) = said(&["checkpoint", "restore", "c_77"]);
    assert_eq!((code, text.contains("there is no checkpoint c_77")), (Some(8), true), "{text}");
    let (code, text) = said(&["checkpoint", "diff", "s_1"]);
    assert_eq!((code, text.contains("not a checkpoint such as c_4")), (Some(8), true), "{text}");
    let (code, text) = said(&["checkpoint", "list", "s_77"]);
    assert_eq!((code, text.contains("s_77")), (Some(8), true), "{text}");
    let (code, text) = said(&["show", "c_1"]);
    assert!(code == Some(0) && text.contains("c_1") && text.contains("it asked"), "{text}");
    let (code, text) = said(&["checkpoint", "prune", "--dry-run", "--json"]);
    assert_eq!((code, text.as_str()), (Some(0), "[]\n"));
}
