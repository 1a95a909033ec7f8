//! The server dies at a named place, and again while it recovers. `cargo xtask soak crashes` does all of them.

use std::{collections::BTreeSet, env};

use ostler_server::{SITES, api::NewRun};

use crate::support::{QUESTION, World, write};

/// A session that passes every place: a worktree, a launch, a first word, a question, an answer, a message, a pause,
/// a failed check, a second attempt, a check that passes, a merge.
fn session(world: &mut World, site: &str, times: u32) -> bool {
    std::process::Command::new("git")
        .args(["init", "-q", "-b", "main"])
        .current_dir(&world.project)
        .status()
        .expect("git runs");
    write(&world.project, "agent.sh", &AGENT.replace("ASK", QUESTION));
    for arguments in [&["add", "."][..], &["-c", "user.name=T", "-c", "user.email=t@x", "commit", "-qm", "1"]]
    {
        let git = std::process::Command::new("git").args(arguments).current_dir(&world.project).status();
        assert!(git.expect("git runs").success());
    }
    let config = world.home.join("config/ostler");
    std::fs::create_dir_all(&config).expect("a folder");
    write(&config, "config.toml", CONFIG);
    world.start_with(&[("OSTLER_CRASH_AT", &format!("{site}:{times}"))]);
    let mut died = false;
    // Everything a person does is done again until it has worked, as the command line does.
    let mut keep = |world: &mut World| {
        if world.has_died() {
            died = true;
            // Once more, while it recovers.
            world.spawn(&[("OSTLER_CRASH_AT", "reconciling:1")]);
            world.wait_for("the second death or an answer", |_| Some(()));
            world.kill_server();
            world.start();
        }
    };
    let new = NewRun {
        agent: Some("listener".to_owned()),
        prompt: Some("begin".to_owned()),
        check: Some("test -e done".to_owned()),
        attempts_max: Some(5),
        worktree: true,
        command: Vec::new(),
        ..world.new_run(&[])
    };
    let id = loop {
        keep(world);
        let runs = world.get::<Vec<ostler_server::api::RunView>>("/runs").unwrap_or_default();
        if let Some(run) = runs.first() {
            break run.sessions[0].id.clone();
        }
        world.post::<serde_json::Value>("/runs", &new).ok();
    };
    let pid = persist(world, &mut keep, |world| {
        world.get::<ostler_server::api::SessionView>(&format!("/sessions/{id}")).ok()?.pid
    });
    let request = persist(world, &mut keep, |world| {
        let inbox = world.get::<Vec<ostler_server::api::RequestView>>("/inbox").ok()?;
        inbox.into_iter().next().map(|request| request.id)
    });
    let now =
        world.get::<ostler_server::api::SessionView>(&format!("/sessions/{id}")).ok().and_then(|it| it.pid);
    assert!(now.is_none() || now == Some(pid), "the agent has not noticed the server's death at {site}");
    persist(world, &mut keep, |world| {
        let body = serde_json::json!({ "value": "MySQL" });
        world.post::<serde_json::Value>(&format!("/requests/{request}/answer"), &body).ok();
        let request: ostler_server::api::RequestView = world.get(&format!("/requests/{request}")).ok()?;
        request.settled
    });
    persist(world, &mut keep, |world| {
        let view: ostler_server::api::SessionView = world.get(&format!("/sessions/{id}")).ok()?;
        (view.status == "completed").then_some(())
    });
    persist(world, &mut keep, |world| {
        world.post::<serde_json::Value>(&format!("/sessions/{id}/merge"), &serde_json::json!({})).ok();
        let view: ostler_server::api::SessionView = world.get(&format!("/sessions/{id}")).ok()?;
        (view.worktree?.state == "merged").then_some(())
    });
    keep(world);
    check(world, &id);
    died
}

const AGENT: &str = r#"
read -r first; echo "first: $first" >>heard
[ -e asked ] || { touch asked; ASK; read -r answer; echo "answer: $answer" >>heard; exit 0; }
touch done
"#;

const CONFIG: &str = r#"
[agents.listener]
about = "reads what it is told"
command = ["bash", "agent.sh"]
"#;

fn persist<T>(world: &mut World, keep: &mut impl FnMut(&mut World), look: impl Fn(&World) -> Option<T>) -> T {
    let deadline = std::time::Instant::now() + crate::support::DEADLINE;
    loop {
        keep(world);
        if let Some(found) = look(world) {
            return found;
        }
        assert!(std::time::Instant::now() < deadline, "waited too long");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

/// Nothing lost, nothing doubled.
fn check(world: &World, id: &str) {
    let events = world.events(id);
    let heard = std::fs::read_to_string(world.project.join("heard")).expect("what it heard");
    assert_eq!(heard.matches("answer:").count(), 1, "{heard}");
    assert_eq!(heard.matches("first:").count(), 2, "each launch is told once: {heard}");
    let count = |kind: &str| events.iter().filter(|event| event.kind == kind).count();
    assert_eq!((count("request.opened"), count("request.settled"), count("session.finished")), (1, 1, 1));
    assert_eq!((count("session.launched"), count("session.ended")), (2, 2));
    let all: Vec<ostler_server::api::EventView> = world.get("/events").expect("events");
    let numbers: Vec<u64> = all.iter().map(|event| event.seq).collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>(), "without a gap");
    world.wait_for("nothing left", |world| world.processes().is_empty().then_some(()));
    world.verify();
}

/// How many times each place is tried; all of them in `soak`.
fn times() -> u32 {
    env::var("OSTLER_CRASHES").ok().and_then(|text| text.parse().ok()).unwrap_or(1)
}

#[test]
fn the_server_may_die_anywhere() {
    let mut hit = BTreeSet::new();
    let sample = ["after commit", "after launch", "after deliver", "before control", "after worktree"];
    let all = env::var_os("OSTLER_CRASHES").is_some();
    for site in SITES.iter().filter(|site| all || sample.contains(site)) {
        for count in 1..=times() {
            let mut world = World::idle();
            if session(&mut world, site, count) {
                hit.insert(*site);
            }
        }
    }
    println!("crash sites hit: {} of {}", hit.len(), SITES.len());
    if all {
        assert_eq!(hit.len(), SITES.len(), "hit only {hit:?}");
    } else {
        assert_eq!(hit.len(), sample.len(), "hit only {hit:?}");
    }
}
