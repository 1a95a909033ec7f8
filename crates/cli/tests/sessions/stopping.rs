//! While an agent waits, nothing of it runs.

use std::fs;

use crate::support::{QUESTION, World, state};

/// A shell tool in its own session, a double-forked child, a busy loop, and children forked while the walk is under
/// way: each writes down that it lives, many times a second.
const BUSY: &str = r#"
beat() { while :; do echo x >>"$1"; sleep 0.01; done; }
export -f beat
setsid bash -c 'beat tool.beat' &
(bash -c 'beat orphan.beat' &) &
(while :; do :; done) &
for i in $(seq 50); do bash -c "beat fork$i.beat" & done
sleep 0.3
"#;

#[test]
fn while_stopped_nothing_of_the_tree_runs() {
    let world = World::new();
    let session = world.bash(&format!("{BUSY}{QUESTION}; read -r line; kill 0"));
    let request = world.asked(&session);
    world.wait_for("the stop", |world| world.session(&session).launches[0].stopped_at_ms);
    let sizes = || {
        let files = fs::read_dir(&world.project).expect("a project").flatten();
        files.map(|file| file.metadata().map_or(0, |it| it.len())).sum::<u64>()
    };
    // Frozen by a control group a process is not shown as stopped, so what it does is looked at.
    let before = sizes();
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert_eq!(sizes(), before, "somebody still writes");
    let busy = |times: &[(u32, u64)]| times.iter().map(|(_, ticks)| ticks).sum::<u64>();
    let ticks = || -> Vec<(u32, u64)> {
        world.processes().into_iter().filter_map(|(pid, _)| Some((pid, ticks_of(pid)?))).collect()
    };
    let spent = busy(&ticks());
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert!(busy(&ticks()) <= spent + 1, "somebody still computes");
    world.answer(&request.id, "1");
    world.wait_for("its end", |world| (world.session(&session).status != "active").then_some(()));
    world.wish(&session, "cancel");
    world.wait_for("nothing left", |world| world.processes().is_empty().then_some(()));
}

/// Processor time of a process, in ticks. The shim's own is not the agent's.
fn ticks_of(pid: u32) -> Option<u64> {
    let command = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    if command.split(|&byte| byte == 0).nth(1) == Some(b"__shim") {
        return Some(0);
    }
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split(' ').collect();
    Some(fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?)
}

#[test]
fn a_person_holds_an_agent_and_lets_it_go_on() {
    let world = World::new();
    let session = world.bash("while :; do echo x >>beat; sleep 0.01; done");
    world.status(&session, "active");
    world.wish(&session, "pause");
    assert_eq!(world.session(&session).status, "paused");
    world.wait_for("the stop", |world| world.session(&session).launches[0].stopped_at_ms);
    let size = || fs::metadata(world.project.join("beat")).map_or(0, |it| it.len());
    let before = size();
    std::thread::sleep(std::time::Duration::from_millis(200));
    assert_eq!(size(), before);
    assert_eq!(world.refused(&format!("/sessions/{session}/resume"), &serde_json::json!({})).kind, "not_now");
    world.wish(&session, "continue");
    world.wait_for("more", |_| (size() > before).then_some(()));
    assert_eq!(
        world.refused(&format!("/sessions/{session}/continue"), &serde_json::json!({})).kind,
        "not_now"
    );
    let pid = u32::try_from(world.session(&session).pid.expect("a process")).expect("a pid");
    world.wish(&session, "cancel");
    world.status(&session, "cancelled");
    assert_eq!(state(pid), None);
}

#[test]
fn words_sent_to_an_agent_arrive_once_and_in_order() {
    let world = World::new();
    let session = world.bash("for i in 1 2 3; do read -r line; echo \"heard $line\"; done");
    world.status(&session, "active");
    for word in ["one", "two", "three"] {
        let body = serde_json::json!({ "text": word });
        world.post::<serde_json::Value>(&format!("/sessions/{session}/messages"), &body).expect("sent");
    }
    world.status(&session, "completed");
    assert_eq!(world.output(&session), "heard one\nheard two\nheard three\n");
}
