//! Roles that call each other while the server and agents are killed at random: each call ends once, and each result is
//! read once.

use std::collections::BTreeMap;

use ostler_server::api::InvocationView;
use serde_json::Value;

use super::{calls, office, results, seat};
use crate::{
    storm::{Random, number},
    support::{World, kill},
};

/// Each task is a number: who gets one above nothing calls the next with one less. One that was killed has forgotten for
/// whom it had called, and says nothing when the result comes. It has no other process: one that was killed instead of the
/// role would leave it with half of what it has to know.
fn relay(next: u64) -> String {
    format!(
        r#"while read -r head; do case $head in
        "[Task from "*) caller=${{head#* from }}; caller=${{caller%%]*}}; read -r task
            if [ "$task" -gt 0 ]; then invoke R{next} $((task - 1)); else deliver "$caller" 0; caller=; fi;;
        "[Result from "*) read -r it; read -r _; [ -z "$caller" ] || deliver "$caller" "$it"; caller=;;
        "[No result from "*) read -r it; read -r _; [ -z "$caller" ] || deliver "$caller" "no: $it"; caller=;; esac; done"#
    )
}

/// `OSTLER_OFFICE_CALLS` says how many calls.
#[test]
fn calls_survive_kills_of_the_server_and_of_agents() {
    let (wanted, seed) = (number("OSTLER_OFFICE_CALLS", 24), number("OSTLER_SEED", 1));
    println!("office: seed {seed}");
    let mut random = Random(seed);
    let count = if wanted > 100 { 20 } else { 6 };
    let names: Vec<String> = (0..count).map(|n| format!("R{n}")).collect();
    let scripts: Vec<String> = (0..count).map(|n| relay((n + 1) % count)).collect();
    let roles: Vec<(&str, &str)> =
        names.iter().zip(&scripts).map(|(name, script)| (name.as_str(), script.as_str())).collect();
    let mut world = office(&roles);
    let (mut callers, mut servers, mut agents) = (Vec::new(), 0, 0);
    while (calls(&world).len() as u64) < wanted {
        let script = format!(
            "printf '[INVOKE:R{}]\\n{}\\n[/INVOKE]\\n'; read -r a; read -r b; read -r _; echo \"$b\"",
            random.below(count),
            random.below(4)
        );
        callers.push(world.bash(&script));
        if random.below(4) == 0 {
            let there = world.of_agents();
            let one = usize::try_from(random.below(there.len().max(1) as u64)).expect("few");
            if let Some((pid, _)) = there.get(one) {
                kill(*pid, "KILL");
                agents += 1;
            }
        }
        if random.below(6) == 0 {
            world.restart();
            servers += 1;
        }
    }
    for caller in &callers {
        world.wait_for("a caller to end", |world| {
            let status = world.session(caller).status;
            ["completed", "failed"].contains(&status.as_str()).then_some(())
        });
    }
    world.wait_for("every call to end", |world| {
        calls(world).iter().all(InvocationView::is_over).then_some(())
    });
    // What was not read was for somebody who is not there: it waits for the next process of that name.
    world.wait_for("that everybody who is there has read everything", |world| {
        let unread = results(world).into_iter().filter(|result| !result.delivered);
        let receivers = unread.map(|it| if it.to.starts_with('R') { seat(world, &it.to).id } else { it.to });
        receivers.map(|it| world.session(&it)).all(|it| it.pid.is_none()).then_some(())
    });
    let (ended, delivered) = (times(&world, "invocation.ended"), times(&world, "result.delivered"));
    assert!(ended.values().all(|times| *times == 1), "seed {seed}: {ended:?}");
    assert!(delivered.values().all(|times| *times == 1), "seed {seed}: {delivered:?}");
    let all = calls(&world);
    assert_eq!(ended.len(), all.len(), "seed {seed}");
    world.verify();
    let completed = all.iter().filter(|call| call.why.as_deref() == Some("delivered")).count();
    println!(
        "office: {} calls among {count} roles, {completed} with a result; {agents} agents and {servers} servers killed",
        all.len()
    );
}

/// How often the journal has an event of this kind, by what it is about.
fn times(world: &World, kind: &str) -> BTreeMap<String, u32> {
    let journal = String::from_utf8(world.ostler(&["export"]).stdout).expect("text");
    let about = if kind.starts_with("result") { "result" } else { "invocation" };
    let mut times = BTreeMap::new();
    for line in journal.lines() {
        let event: Value = serde_json::from_str(line).expect("a line of JSON");
        if event["kind"] == kind {
            *times.entry(event[about].to_string()).or_default() += 1;
        }
    }
    times
}
