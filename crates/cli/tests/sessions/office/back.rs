//! What a role has done in a worktree of its own comes back by itself, or somebody is asked.

use std::{fs, path::Path};

use ostler_server::{
    BACK_SITES,
    api::{InfoView, RequestView, SessionView},
};

use serde_json::{Value, json};

use super::{seat, set_roles};
use crate::{
    support::{World, write},
    worktrees::{git, repository},
};

/// A role that does what it is told, and ends.
const DOES: &str = r#"read -r wish; eval "$wish""#;

/// A repository with a role that has a worktree of its own, and this as what tests the project.
fn apart(test: Option<&str>) -> World {
    let mut world = World::idle();
    let test = test.map(|test| format!("[orchestrate]\ntest = {test:?}\n")).unwrap_or_default();
    set_roles(&world, &test, &[("builder", DOES)]);
    let config = world.home.join("config/ostler/config.toml");
    let roles = fs::read_to_string(&config).expect("it was written");
    fs::write(&config, format!("{roles}isolation = \"worktree\"\n")).expect("it is ours");
    repository(&world);
    world.start();
    // The project is known by that.
    let somebody = world.bash("true");
    world.status(&somebody, "completed");
    world
}

fn send(world: &World, words: &str) -> SessionView {
    let sent = world.ostler(&["office", "send", "builder", words]);
    assert!(sent.status.success(), "{}", String::from_utf8_lossy(&sent.stderr));
    seat(world, "builder")
}

fn state(world: &World, session: &str) -> String {
    world.session(session).worktree.expect("a worktree").state
}

fn wait_for_state(world: &World, session: &str, wanted: &str) {
    world.wait_for(wanted, |world| (state(world, session) == wanted).then_some(()));
}

fn file(world: &World, name: &str) -> String {
    fs::read_to_string(world.project.join(name)).unwrap_or_default()
}

fn said(world: &World, arguments: &[&str]) -> String {
    String::from_utf8_lossy(&world.ostler(arguments).stdout).into_owned()
}

fn is_settled(world: &World, request: &RequestView) -> bool {
    world.request(&request.id).settled.is_some()
}

/// All of the target that a merge could change.
fn target(world: &World) -> (String, Option<Vec<u8>>, String) {
    let index = fs::read(world.project.join(".git/index")).ok();
    (git(&world.project, &["rev-parse", "main"]), index, file(world, "readme"))
}

/// The commits of the target, without the first one.
fn merged_commits(world: &World) -> usize {
    git(&world.project, &["log", "--format=%s", "main"]).lines().count() - 1
}

/// Nobody watches such a merge, so the journal has to say it.
#[test]
fn a_known_value_in_work_that_is_merged_by_itself_is_named() {
    const VALUE: &str = "sk-live-77aa88bb99cc00dd";
    let world = apart(Some("true"));
    let secret = json!({ "directory": world.project, "name": "DEPLOY_KEY", "value": VALUE });
    world.post::<Value>("/secrets", &secret).expect("it is kept");
    write(&world.home, "value", &format!("key = {VALUE}\n"));
    let builder = send(&world, &format!("cat '{}' >>config", world.home.join("value").display()));
    wait_for_state(&world, &builder.id, "merged");
    let events = world.events(&builder.id);
    let found: Vec<_> =
        events.iter().filter(|it| it.kind == "secret.found" && it.body["step"] == "merge").collect();
    assert_eq!(found.len(), 1, "{events:?}");
    assert_eq!((&found[0].body["secret"], &found[0].body["file"]), (&json!("DEPLOY_KEY"), &json!("config")));
    assert!(!json!(events).to_string().contains(VALUE));
    assert!(said(&world, &["show", &builder.id]).contains("DEPLOY_KEY"));
    assert!(file(&world, "config").contains(VALUE), "it stops nothing");
}

#[test]
fn green_work_is_merged_by_itself() {
    let world = apart(Some("grep -q two readme && echo rubbish >left_behind"));
    let builder = send(&world, "echo two >>readme; echo new >file");
    wait_for_state(&world, &builder.id, "merged");
    assert_eq!((file(&world, "readme").as_str(), file(&world, "file").as_str()), ("one\ntwo\n", "new\n"));
    assert!(!world.project.join("left_behind").exists(), "what tests leave behind is nobody's work");
    assert!(!Path::new(&builder.directory).exists());
    assert_eq!(git(&world.project, &["status", "--porcelain"]), "");
    let message = git(&world.project, &["log", "-1", "--format=%b", "main"]);
    assert_eq!(message, format!("Ostler-Session: {}", builder.id));
    assert!(world.inbox().is_empty());
    // The next task begins in a new place, with what was merged.
    let next = send(&world, "cat readme >copy");
    wait_for_state(&world, &next.id, "merged");
    assert_ne!(next.id, builder.id);
    assert_eq!(file(&world, "copy"), "one\ntwo\n");
    world.verify();
}

#[test]
fn without_tests_work_is_merged_and_where_nothing_was_done_nothing_happens() {
    let world = apart(None);
    let idle = send(&world, "true");
    wait_for_state(&world, &idle.id, "made");
    world.status(&idle.id, "completed");
    let builder = send(&world, "echo two >>readme");
    assert_eq!(builder.id, idle.id, "it keeps its place");
    wait_for_state(&world, &builder.id, "merged");
    assert_eq!((file(&world, "readme").as_str(), merged_commits(&world)), ("one\ntwo\n", 1));
}

#[test]
fn red_work_asks_and_is_merged_after_a_fix_or_all_the_same() {
    for (word, expected) in [("merge", "one\nbroken\n"), ("retry", "one\nmended\n")] {
        let world = apart(Some("grep broken readme && exit 3 || true"));
        let before = target(&world);
        let builder = send(&world, "echo broken >>readme");
        let card = world.asked(&builder.id);
        assert_eq!(card.ask.options, ["retry", "merge", "leave"]);
        let text = &card.ask.text;
        assert!(text.contains("broken\nexit code 3") && text.contains("builder"), "{text}");
        assert_eq!(target(&world), before);
        assert_eq!(state(&world, &builder.id), "not_merged");
        let office = said(&world, &["office"]);
        assert!(office.contains(&format!("waits for you: ostler answer {}", card.id)), "{office}");
        if word == "retry" {
            world.answer(&card.id, word);
            let again = world.asked(&builder.id);
            assert_ne!(again.id, card.id, "it was tested again");
            write(Path::new(&builder.directory), "readme", "one\nmended\n");
            world.answer(&again.id, word);
        } else {
            let answered = world.ostler(&["answer", &card.id, word]);
            assert!(answered.status.success(), "{answered:?}");
        }
        wait_for_state(&world, &builder.id, "merged");
        assert_eq!(file(&world, "readme"), expected);
        assert!(world.inbox().is_empty() && !said(&world, &["office"]).contains("Not merged"));
        world.verify();
    }
}

#[test]
fn a_conflict_leaves_the_target_as_it_was_and_asks() {
    let world = apart(Some("true"));
    let go = world.home.join("go");
    let builder =
        send(&world, &format!("until [ -e '{}' ]; do sleep 0.05; done; echo theirs >readme", go.display()));
    wait_for_state(&world, &builder.id, "made");
    write(&world.project, "readme", "ours\n");
    git(&world.project, &["commit", "-qam", "ours"]);
    let before = target(&world);
    fs::write(&go, "").expect("it is ours");
    let card = world.asked(&builder.id);
    assert_eq!(
        (target(&world), card.ask.options.as_slice()),
        (before.clone(), &["retry", "leave"].map(str::to_owned)[..])
    );
    assert!(
        card.ask.text.contains("readme") && card.ask.text.contains(" merge main, edit the files"),
        "{}",
        card.ask.text
    );
    // A person may try it too, and is told; the work waits as before.
    let merge = world.ostler(&["merge", &builder.id]);
    assert_eq!((merge.status.code(), target(&world)), (Some(1), before));
    assert!(is_settled(&world, &card), "another card is the question");
    let card = world.asked(&builder.id);
    let place = Path::new(&builder.directory);
    git(place, &["merge", "-q", "-X", "ours", "main"]);
    world.answer(&card.id, "retry");
    wait_for_state(&world, &builder.id, "merged");
    assert_eq!(file(&world, "readme"), "theirs\n");
    world.verify();
}

#[test]
fn files_in_the_way_ask_and_what_is_merged_or_discarded_by_hand_does_not_any_more() {
    let world = apart(None);
    write(&world.project, "readme", "edited\n");
    let builder = send(&world, "echo two >>readme");
    let card = world.asked(&builder.id);
    assert!(card.ask.text.contains("committed these files in the project"), "{}", card.ask.text);
    assert_eq!(file(&world, "readme"), "edited\n");
    git(&world.project, &["checkout", "-q", "readme"]);
    assert_eq!(world.wish(&builder.id, "merge").worktree.expect("a worktree").state, "merged");
    assert!(is_settled(&world, &card) && world.inbox().is_empty());
    // On a detached HEAD there is nothing to merge into.
    git(&world.project, &["checkout", "-q", "--detach"]);
    let other = send(&world, "echo three >>readme");
    let card = world.asked(&other.id);
    assert!(card.ask.text.contains("detached HEAD"), "{}", card.ask.text);
    world.answer(&card.id, "leave");
    assert!(said(&world, &["office"]).contains(&format!("left: ostler merge {}", other.id)));
    assert_eq!(world.wish(&other.id, "discard").worktree.expect("a worktree").state, "discarded");
    world.verify();
}

#[test]
fn a_test_command_of_the_repository_is_not_run_before_somebody_has_agreed() {
    let world = apart(None);
    write(&world.project, "ostler.toml", "[orchestrate]\ntest = \"touch was_run\"\n");
    git(&world.project, &["add", "ostler.toml"]);
    git(&world.project, &["commit", "-qm", "tests"]);
    let builder = send(&world, "echo two >>readme");
    let card = world.asked(&builder.id);
    assert!(card.ask.text.contains("ostler trust"), "{}", card.ask.text);
    assert!(!Path::new(&builder.directory).join("was_run").exists());
    let trusted = world.ostler(&["trust", "--yes"]);
    assert!(trusted.status.success(), "{trusted:?}");
    world.answer(&card.id, "retry");
    wait_for_state(&world, &builder.id, "merged");
    assert_eq!(
        (file(&world, "readme").as_str(), world.project.join("was_run").exists()),
        ("one\ntwo\n", false)
    );
}

/// A test that says that it runs, and waits.
fn waiting_test(world: &World) -> String {
    let home = world.home.display();
    format!("echo run >>'{home}/runs'; until [ -e '{home}/go' ]; do sleep 0.05; done")
}

fn wait_for_runs(world: &World, count: usize) {
    let runs = || fs::read_to_string(world.home.join("runs")).unwrap_or_default().lines().count();
    world.wait_for("a test", |_| (runs() >= count).then_some(()));
    assert_eq!(runs(), count);
}

/// The same, with a test that waits.
fn apart_and_waiting() -> World {
    let world = apart(None);
    let config = world.home.join("config/ostler/config.toml");
    let roles = fs::read_to_string(&config).expect("it was written");
    let all = format!("[orchestrate]\ntest = {:?}\n{roles}", waiting_test(&world));
    fs::write(&config, all).expect("it is ours");
    world
}

#[test]
fn a_server_that_dies_while_tests_run_listens_to_the_same_ones() {
    let mut world = apart_and_waiting();
    let builder = send(&world, "echo two >>readme");
    wait_for_runs(&world, 1);
    world.restart();
    assert_eq!(state(&world, &builder.id), "testing");
    assert!(said(&world, &["office"]).contains("is being tested"));
    // Those that are gone with the machine are run again.
    world.reboot();
    wait_for_runs(&world, 2);
    write(&world.home, "go", "");
    wait_for_state(&world, &builder.id, "merged");
    wait_for_runs(&world, 2);
    assert_eq!((file(&world, "readme").as_str(), merged_commits(&world)), ("one\ntwo\n", 1));
    world.verify();
}

#[test]
fn a_server_that_dies_anywhere_on_the_way_merges_once() {
    for site in BACK_SITES.into_iter().chain(["before merge", "after merge"]) {
        let mut world = apart_and_waiting();
        write(&world.home, "go", "");
        world.kill_server();
        world.start_with(&[("OSTLER_CRASH_AT", &format!("{site}:1"))]);
        let builder = send(&world, "echo two >>readme");
        world.wait_for("the death", |world| world.get::<InfoView>("/info").is_err().then_some(()));
        world.restart();
        wait_for_state(&world, &builder.id, "merged");
        assert_eq!((file(&world, "readme").as_str(), merged_commits(&world)), ("one\ntwo\n", 1), "{site}");
        wait_for_runs(&world, 1);
        assert!(world.inbox().is_empty(), "{site}");
        world.verify();
    }
}

#[test]
fn a_role_that_is_called_meanwhile_goes_on_and_loses_nothing() {
    let world = apart_and_waiting();
    let builder = send(&world, "echo two >>readme");
    wait_for_runs(&world, 1);
    // The test that runs is ended before its next process begins.
    let again = send(&world, "echo three >>readme");
    assert_eq!(again.id, builder.id);
    wait_for_runs(&world, 2);
    write(&world.home, "go", "");
    wait_for_state(&world, &builder.id, "merged");
    assert_eq!(
        (file(&world, "readme").as_str(), world.session(&builder.id).launches.len()),
        ("one\ntwo\nthree\n", 2)
    );
    assert!(world.inbox().is_empty());
    world.verify();
}

#[test]
fn a_role_that_is_called_while_its_work_waits_mends_it() {
    let world = apart(Some("! grep -q broken readme"));
    let builder = send(&world, "echo broken >>readme");
    let card = world.asked(&builder.id);
    let again = send(&world, "sed -i s/broken/mended/ readme");
    assert_eq!(again.id, builder.id);
    wait_for_state(&world, &builder.id, "merged");
    assert!(is_settled(&world, &card) && world.inbox().is_empty());
    assert_eq!(file(&world, "readme"), "one\nmended\n");
}

#[test]
fn the_work_of_a_role_that_has_failed_is_asked_about() {
    let world = apart(Some("true"));
    let builder = send(&world, "echo half >file; exit 3");
    let card = world.asked(&builder.id);
    assert!(card.ask.text.contains("before it was through"), "{}", card.ask.text);
    assert!(!world.project.join("file").exists());
    world.answer(&card.id, "merge");
    wait_for_state(&world, &builder.id, "merged");
    assert_eq!(file(&world, "file"), "half\n");
}
