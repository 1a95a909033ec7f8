//! Roles that outlive their processes: a worktree that is merged, a conversation that comes back, and the office of
//! `examples/`.

use std::{fs, path::Path};

use ostler_server::api::InvocationStatus;

use super::{calls, office, output_with, results, seat, set_roles, wait_for_call};
use crate::{
    support::{World, write},
    worktrees::repository,
};

#[test]
fn a_role_in_a_worktree_is_merged_back_and_begins_in_a_new_one() {
    let world = World::new();
    repository(&world);
    let role = r#"while read -r head; do read -r task
        echo "$task" >>work; pwd >where; deliver "$(name_in "$head")" "$(cat work | tr '\n' ,)"; done"#;
    set_roles(&world, "[office]\nidle = \"1s\"\n", &[("backend", role)]);
    let config = world.home.join("config/ostler/config.toml");
    let text = fs::read_to_string(&config).expect("it was written");
    fs::write(&config, format!("{text}isolation = \"worktree\"\n")).expect("it is ours");
    let call = |task: &str| {
        let script =
            format!("printf '[INVOKE:backend]\\n{task}\\n[/INVOKE]\\n'; read -r a; read -r b; echo \"$b\"");
        let caller = world.bash(&script);
        world.status(&caller, "completed");
        world.output(&caller).lines().last().map(str::to_owned)
    };
    assert_eq!(call("one").as_deref(), Some("one,"));
    let first = seat(&world, "backend");
    assert!(first.directory.starts_with(&world.home.display().to_string()), "{}", first.directory);
    merged(&world, &first.id);
    assert_eq!(fs::read_to_string(world.project.join("work")).expect("it is merged"), "one\n");

    // What was merged is there when it is called again, elsewhere.
    assert_eq!(call("two").as_deref(), Some("one,two,"));
    let second = seat(&world, "backend");
    assert!(second.id != first.id && second.directory != first.directory, "{second:?}");
    merged(&world, &second.id);
    assert_eq!(fs::read_to_string(world.project.join("work")).expect("a file"), "one\ntwo\n");
    world.verify();
}

/// Waits until what a role has done has come back.
fn merged(world: &World, session: &str) {
    world.wait_for("the merge", |world| (world.session(session).worktree?.state == "merged").then_some(()));
}

/// Who was brought a file of a worktree may look at it when that is gone.
#[test]
fn a_file_of_a_worktree_can_be_opened_after_it_was_merged_and_removed() {
    let mut world = World::new();
    repository(&world);
    let role = r#"while read -r head; do read -r task; mkdir -p docs; printf '\xff\x00%s' "$task" >docs/plan.bin
        printf '[DELIVER_RESULT:%s]\ntype: file_path\ncontent: docs/plan.bin\n[/DELIVER_RESULT]\n' "$(name_in "$head")"
        done"#;
    set_roles(&world, "[office]\nidle = \"1s\"\n", &[("backend", role)]);
    let config = world.home.join("config/ostler/config.toml");
    let text = fs::read_to_string(&config).expect("it was written");
    fs::write(&config, format!("{text}isolation = \"worktree\"\n")).expect("it is ours");
    let ways = [
        "printf '[INVOKE:backend]\\none\\n[/INVOKE]\\n'; read -r a; read -r b",
        "b=$(ostler invoke --wait backend two)",
    ];
    for (number, (way, task)) in ways.iter().zip(["one", "two"]).enumerate() {
        let go = format!("go{number}");
        let script = format!(
            "{way}; echo \"$b\" >given{number}; until [ -e {go} ]; do sleep 0.05; done; od -An -c \"$b\"; echo \"${{b##*-}}\""
        );
        let caller = world.bash(&script);
        let given = world.wait_for("the path", |world| {
            fs::read_to_string(world.project.join(format!("given{number}")))
                .ok()
                .filter(|it| it.ends_with('\n'))
        });
        let backend = seat(&world, "backend");
        merged(&world, &backend.id);
        assert!(!Path::new(&backend.directory).exists(), "the worktree is gone");
        // A server that starts looks through what is kept.
        world.restart();
        world.verify();
        assert!(Path::new(given.trim_end()).is_absolute(), "{given}");
        write(&world.project, &go, "");
        world.status(&caller, "completed");
        let output = world.output(&caller);
        let spelt: Vec<String> = task.chars().map(String::from).collect();
        let read: Vec<&str> = output.lines().rev().take(2).collect();
        let shown = read[1].split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!((shown, read[0]), (format!("377 \\0 {}", spelt.join(" ")), "plan.bin"), "{output}");
        // People see where it is in the project.
        let result = results(&world).pop().expect("a result");
        assert_eq!((result.content.as_str(), result.bytes), ("docs/plan.bin", Some(5)));
        assert!(world.project.join(&result.content).is_file());
    }
}

#[test]
fn a_role_that_thinks_or_talks_for_long_is_not_idle_meanwhile() {
    let world = World::new();
    // What it says comes far more often than it would have to, so that a slow machine does not make it silent.
    let role = r#"while read -r wish; do sleep 5; for n in {1..50}; do echo "$n"; sleep 0.1; done
        echo "through: $wish"; done"#;
    set_roles(&world, "[office]\nidle = \"3s\"\n", &[("writer", role)]);
    // The project is known by that.
    let somebody = world.bash("true");
    world.status(&somebody, "completed");
    let sent = world.ostler(&["office", "send", "writer", "A long letter"]);
    assert!(sent.status.success(), "{}", String::from_utf8_lossy(&sent.stderr));
    let writer = seat(&world, "writer").id;
    output_with(&world, &writer, "through: A long letter");
    world.status(&writer, "completed");
    assert_eq!(world.session(&writer).launches.len(), 1, "one process has done it all");
    world.verify();
}

/// What a program does silently is seen: that it uses a core, and that something it has begun has not ended.
#[test]
fn a_role_that_works_without_a_word_is_not_ended_and_one_at_rest_is() {
    let world = World::new();
    // What begins after the first words belongs to a task.
    let role = r#"read -r wish; echo begun; bash -c 'until [ -e first ]; do sleep 0.2; done'; until [ -e second ]; do :; done
        echo through; read -r more"#;
    set_roles(&world, "[office]\nidle = \"2s\"\n", &[("builder", role)]);
    let somebody = world.bash("true");
    world.status(&somebody, "completed");
    let sent = world.ostler(&["office", "send", "builder", "Build it"]);
    assert!(sent.status.success(), "{}", String::from_utf8_lossy(&sent.stderr));
    let builder = seat(&world, "builder").id;
    output_with(&world, &builder, "begun");
    let kept = |times: usize| {
        world.wait_for("that it is seen to work", |world| {
            (world.count(&builder, "role.busy") >= times).then_some(())
        });
    };
    kept(2);
    write(&world.project, "first", "");
    let busy = world.count(&builder, "role.busy");
    // The last look may have seen what went before.
    kept(busy + 2);
    assert_eq!(world.session(&builder).status, "active");
    assert!(world.session(&builder).idle, "nobody has anything for it");
    let said = world.ostler(&["ps"]);
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(said.contains("○ here, no open call") && !said.contains("working"), "{said}");
    let overview = || String::from_utf8_lossy(&world.ostler(&[]).stdout).into_owned();
    let said = overview();
    assert!(said.contains("No agent is at work. Here, and without an open call:"), "{said}");
    // Who is at work does not stand among those who are not.
    let busy = world.bash("sleep 600");
    let said = overview();
    let (at_work, here) = said.split_once("\nHere, and without an open call:\n").expect("both");
    assert!(at_work.contains("1 agent at work:\n") && !at_work.contains("no open call"), "{said}");
    assert!(at_work.contains(&busy) && !here.contains(&busy) && here.contains(&builder), "{said}");
    world.wish(&busy, "cancel");
    write(&world.project, "second", "");
    output_with(&world, &builder, "through");
    world.status(&builder, "completed");
    assert_eq!(world.session(&builder).launches.len(), 1, "one process has done it all");
    world.verify();
}

#[test]
fn a_role_whose_agent_has_changed_begins_anew() {
    let world = World::new();
    set_roles(&world, "[office]\nidle = \"1s\"\n", &[("QA", "read -r wish; echo \"$1 $wish\"")]);
    let somebody = world.bash("true");
    world.status(&somebody, "completed");
    let send = |words: &str| {
        let sent = world.ostler(&["office", "send", "QA", words]);
        assert!(sent.status.success(), "{}", String::from_utf8_lossy(&sent.stderr));
        let id = seat(&world, "QA").id;
        output_with(&world, &id, words);
        world.status(&id, "completed");
        id
    };
    let first = send("one");
    assert_eq!(send("two"), first);
    let config = world.home.join("config/ostler/config.toml");
    let text = fs::read_to_string(&config).expect("it was written");
    fs::write(&config, text.replace("role0.sh\"]", "role0.sh\", \"new\"]")).expect("it is ours");
    let second = send("three");
    assert_ne!(second, first);
    assert!(world.output(&second).contains("new three"), "{}", world.output(&second));
    world.verify();
}

/// A CLI that is started for each task and remembers by the name of its conversation.
const REMEMBERS: &str = r#"
[agents.memory]
about = "a program that remembers"
command = ["bash", "memory.sh"]
arguments.fresh = ["--new={new_conversation}"]
arguments.resume = ["--resume={conversation}"]
arguments.prompt = ["--", "{prompt}"]
input.way = "relaunch"
output.agent_session = [{ when = { type = "begin" }, give = { id = "id" } }]
output.speech = [{ when = { type = "say" }, give = { text = "text" } }]
output.end = [{ when = { type = "end" }, give = { status = "success" } }]
end.required = true

[office]
idle = "1s"

[office.roles.PO]
agent = "memory"
"#;

const MEMORY: &str = r#"
conversation=${1#--*=}
echo "{\"type\":\"begin\",\"id\":\"$conversation\"}"
task=$(printf '%s\n' "$3" | sed -n 2p)
caller=$(printf '%s\n' "$3" | sed -n '1s/.* from \(.*\)]/\1/p')
echo "$task" >>"$conversation.heard"
printf '{"type":"say","text":"[DELIVER_RESULT:%s]\\ncontent: %s\\n[/DELIVER_RESULT]\\n"}\n' "$caller" "$(tr '\n' , <"$conversation.heard")"
echo '{"type":"end"}'
"#;

#[test]
fn a_role_that_ended_comes_back_with_its_conversation() {
    let mut world = World::new();
    let folder = world.home.join("config/ostler");
    fs::create_dir_all(&folder).expect("it is ours");
    write(&folder, "config.toml", REMEMBERS);
    write(&world.project, "memory.sh", MEMORY);
    let call = |world: &World, task: &str| {
        let script =
            format!("printf '[INVOKE:PO]\\n{task}\\n[/INVOKE]\\n'; read -r a; read -r b; echo \"$b\"");
        let caller = world.bash(&script);
        world.status(&caller, "completed");
        let heard = world.output(&caller).lines().last().map(str::to_owned);
        world.status(&seat(world, "PO").id, "completed");
        heard
    };
    assert_eq!(call(&world, "one").as_deref(), Some("one,"));
    let first = seat(&world, "PO");
    assert_eq!(call(&world, "two").as_deref(), Some("one,two,"));
    world.restart();
    assert_eq!(call(&world, "three").as_deref(), Some("one,two,three,"));
    let last = seat(&world, "PO");
    assert_eq!((&last.id, &last.conversation, last.launches.len()), (&first.id, &first.conversation, 3));
    world.verify();
}

#[test]
fn the_office_of_the_examples_works() {
    let world = World::new();
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/office"), &world.project);
    repository(&world);
    let done = |arguments: &[&str]| {
        let output = world.ostler(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    };
    done(&["trust", "--yes"]);
    done(&["office", "send", "PO", "Good morning"]);
    let po = seat(&world, "PO").id;
    output_with(&world, &po, "Good morning: {\"passed\": true}");
    let all = calls(&world);
    let who: Vec<(&str, &str)> =
        all.iter().map(|call| (call.caller.as_str(), call.callee.as_str())).collect();
    assert_eq!(who, [("PO", "designer"), ("PO", "backend"), ("PO", "QA")]);
    assert!(all.iter().all(|call| call.status == InvocationStatus::Completed), "{all:#?}");
    assert!(all[2].opened_at_ms >= all[0].ended_at_ms.max(all[1].ended_at_ms).expect("both are over"));
    let kinds: Vec<String> = results(&world).into_iter().map(|result| result.kind).collect();
    assert_eq!(kinds, ["file_path", "file_path", "json"]);
    let diagram = done(&["office", "diagram"]);
    assert!(diagram.contains("PO->>QA: i_3 Test app.sh against sketch.md"), "{diagram}");
    // Once more with the same sessions, and in Korean.
    done(&["office", "send", "PO", "좋은 아침"]);
    output_with(&world, &po, "좋은 아침: {\"passed\": true}");
    assert_eq!(seat(&world, "PO").id, po);

    // The writer is apart, until its work is tested and merged.
    done(&["office", "send", "writer", "It says good morning"]);
    let writer = seat(&world, "writer").id;
    merged(&world, &writer);
    assert_eq!(
        fs::read_to_string(world.project.join("NOTES.md")).expect("notes"),
        "# Notes\n\nIt says good morning\n"
    );

    // Without the scripts the roles are those that are written down, for a real CLI.
    fs::remove_file(world.project.join("ostler.toml")).expect("it is ours");
    let roles = done(&["office", "roles"]);
    let described = ["PO", "QA", "backend", "designer", "writer"]
        .iter()
        .all(|name| roles.lines().any(|line| line.starts_with(name) && !line.contains("cannot")));
    assert!(described, "{roles}");
    world.verify();
}

#[test]
fn what_is_called_while_it_fails_is_served_by_the_next_process() {
    let world = office(&[(
        "QA",
        "read -r head; read -r task; [ \"$task\" = bad ] && exit 3; deliver \"$(name_in \"$head\")\" \"$task\"; sleep 600",
    )]);
    let script = "printf '[INVOKE:QA]\\nbad\\n[/INVOKE]\\n[INVOKE:QA]\\ngood\\n[/INVOKE]\\n'
        read -r a; read -r b; read -r end; read -r c; read -r d; echo \"$a|$c|$d\"";
    let caller = world.bash(script);
    world.status(&caller, "completed");
    let output = world.output(&caller);
    assert!(output.ends_with("[No result from QA]|[Result from QA]|good\n"), "{output}");
    assert_eq!(wait_for_call(&world, 1, InvocationStatus::Failed).why.as_deref(), Some("failed"));
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("it is ours");
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let to = to.join(entry.file_name());
        if entry.file_type().expect("a kind").is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).expect("it is ours");
        }
    }
}
