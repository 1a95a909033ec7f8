//! The office on real processes: agents that ask, call and answer each other.

mod back;
mod document;
mod killed;
mod lasting;
mod long;
mod repeats;
mod screens;
mod storm;
mod tools;
mod views;

use std::{fs, time::Instant};

use ostler_server::api::{InvocationStatus, InvocationView, OfficeView, ResultView, SessionView};
use serde_json::{Value, json};

use crate::support::{DEADLINE, World, write};

/// What every role begins with: how it reads what it is told, and how it brings a result.
const COMMON: &str = r#"
deliver() { printf '[DELIVER_RESULT:%s]\ncontent: %s\n[/DELIVER_RESULT]\n' "$1" "$2"; }
invoke() { printf '[INVOKE:%s]\n%s\n[/INVOKE]\n' "$1" "$2"; }
name_in() { local it=${1#* from }; echo "${it%%]*}"; }
"#;

/// A role that brings back what it is told.
const ECHO: &str = r#"while read -r head; do case $head in
    "[Task from "*|"[작업 요청 from "*) read -r task; deliver "$(name_in "$head")" "$task";; esac; done"#;

/// A world whose roles are these scripts.
fn office(roles: &[(&str, &str)]) -> World {
    let world = World::new();
    set_roles(&world, "", roles);
    world
}

fn set_roles(world: &World, more: &str, roles: &[(&str, &str)]) {
    let mut config = more.to_owned();
    for (number, (name, script)) in roles.iter().enumerate() {
        let file = format!("role{number}.sh");
        write(&world.project, &file, &format!("{COMMON}\n{script}\n"));
        let path = world.project.join(&file);
        let command = format!("command = [\"bash\", {:?}]", path.display().to_string());
        let role = format!("[office.roles.\"{name}\"]\nagent = \"a{number}\"");
        config.extend([&format!("[agents.a{number}]"), "\n", &command, "\n", &role, "\n"]);
    }
    let folder = world.home.join("config/ostler");
    fs::create_dir_all(&folder).expect("it is ours");
    write(&folder, "config.toml", &config);
}

fn calls(world: &World) -> Vec<InvocationView> {
    let mut calls: Vec<InvocationView> =
        world.get("/projects/p_1/office/invocations?limit=1000").unwrap_or_default();
    calls.reverse();
    calls
}

fn results(world: &World) -> Vec<ResultView> {
    let mut results: Vec<ResultView> =
        world.get("/projects/p_1/office/results?limit=1000").unwrap_or_default();
    results.reverse();
    results
}

fn seat(world: &World, role: &str) -> SessionView {
    world.wait_for("a seat", |world| {
        let office: OfficeView = world.get("/projects/p_1/office").ok()?;
        let session = office.roles.into_iter().find(|it| it.name == role)?.session?;
        Some(world.session(&session))
    })
}

fn wait_for_call(world: &World, number: usize, status: InvocationStatus) -> InvocationView {
    world.wait_for(&format!("call {number} to be {status:?}"), |world| {
        calls(world).get(number - 1).filter(|call| call.status == status).cloned()
    })
}

/// What a session printed, once it holds this.
fn output_with(world: &World, session: &str, words: &str) -> String {
    world.wait_for(words, |world| Some(world.output(session)).filter(|it| it.contains(words)))
}

#[test]
fn a_process_waits_for_its_call_over_a_restart_and_gets_the_result() {
    let mut world = office(&[(
        "QA",
        "read -r head; read -r task; until [ -e go ]; do sleep 0.05; done; deliver \"$(name_in \"$head\")\" \"$task passes\"; sleep 600",
    )]);
    let caller = world.bash("out=$(ostler invoke --wait QA 'All of it'); echo \"$? $out\"");
    wait_for_call(&world, 1, InvocationStatus::InProgress);
    world.status(&caller, "waiting_agent");
    world.restart();
    write(&world.project, "go", "");
    world.status(&caller, "completed");
    assert_eq!(world.output(&caller), "0 All of it passes\n");
    assert_eq!(world.count(&caller, "message.written"), 0);
    assert!(results(&world)[0].delivered);
    world.verify();
}

#[test]
fn processes_call_bring_and_are_refused_over_the_socket() {
    let world = office(&[(
        "QA",
        "read -r head; read -r task; ostler deliver \"$(name_in \"$head\")\" --type json '{\"ok\": true}'; ostler deliver Nobody x; echo \"refused $?\"; sleep 600",
    )]);
    let caller = world.bash("ostler invoke QA 'All of it' --context here; read -r a; read -r b; echo \"$a $b\"; ostler invoke --wait Nobody x; echo $?");
    world.status(&caller, "completed");
    let output = world.output(&caller);
    assert!(output.starts_with("i_1\n[Result from QA] {\"ok\": true}\n"), "{output}");
    assert!(output.contains("There is no agent Nobody") && output.ends_with("1\n"), "{output}");
    output_with(&world, &seat(&world, "QA").id, "refused ");
}

#[test]
fn who_speaks_korean_is_refused_in_korean() {
    let world = office(&[("QA", "sleep 600")]);
    fs::create_dir_all(world.project.join(".claude/agents")).expect("it is ours");
    write(&world.project, ".claude/agents/writer.md", "---\nname: writer\n---\nWrite.\n");
    let script = r#"o() { env LC_ALL=ko_KR.UTF-8 ostler "$@"; }; head -c 67108865 /dev/zero | tr '\0' x >longer
        o deliver QA --stdin <longer; o invoke QA --stdin <longer; o deliver Nobody x
        o deliver QA ''; o invoke QA ''; o invoke '' x; o deliver QA --type json '{x'
        o deliver QA --for i_9 x; o deliver QA --for x x; o deliver QA --type file_path longer/
        o invoke Nobody x; o invoke writer x"#;
    let mut new = world.new_run(&["bash", "-c", &format!("exec 2>&1; {script}")]);
    new.korean = true;
    let session = world.run_with(&new);
    world.status(&session, "failed");
    let mut said = world.output(&session);
    for arguments in [
        ["send", "writer", "x"].as_slice(),
        &["send", "Nobody", "x"],
        &["send", "QA", ""],
        &["cancel", "i_9"],
        &["diagram", "r_9"],
    ] {
        let mut command = world.command(&[&["office"], arguments].concat());
        let refused = command.env("LC_ALL", "ko_KR.UTF-8").output().expect("it runs");
        said += &String::from_utf8_lossy(&refused.stderr);
    }
    let is_korean = |line: &str| line.contains(|letter| ('가'..='힣').contains(&letter));
    let english: Vec<&str> = said.lines().filter(|line| !is_korean(line)).collect();
    assert!(english.is_empty() && said.lines().count() > 25, "{english:?}\n{said}");
}

#[test]
fn a_long_result_is_brought_by_a_file() {
    let world = office(&[(
        "QA",
        "read -r head; read -r task; head -c 100000 /dev/zero | tr '\\0' x >long; ostler deliver \"$(name_in \"$head\")\" --stdin <long; sleep 600",
    )]);
    let caller = world.bash("printf '[INVOKE:QA]\\nx\\n[/INVOKE]\\n'; read -r a; read -r b; echo \"$b\"; f=${b#*: /}; cmp long \"/${f%% *}\" && echo same");
    world.status(&caller, "completed");
    let output = world.output(&caller);
    assert!(output.contains("(100000 bytes, SHA-256 ") && output.ends_with("same\n"), "{output}");
}

#[test]
fn a_very_long_result_is_brought_whole_and_one_that_is_printed_is_refused_with_a_way_out() {
    let world = office(&[(
        "QA",
        r#"read -r head; read -r task; to=$(name_in "$head"); yes '"long" 길다' | head -c 10000000 >long
        head -c 67108865 /dev/zero | tr '\0' x >longer
        printf '[DELIVER_RESULT:%s]\ncontent: ' "$to"; head -c 300000 longer; printf '\n[/DELIVER_RESULT]\n'
        read -r told; echo; echo "$told"
        ostler deliver "$to" --stdin <longer 2>&1; echo "too long: $?"
        ostler deliver "$to" --stdin <long; sleep 600"#,
    )]);
    let caller = world.bash(
        r#"printf '[INVOKE:QA]\nx\n[/INVOKE]\n'; read -r a; read -r b; echo "$b"; f=${b#*: /}; cmp long "/${f%% *}" && echo same"#,
    );
    output_with(&world, &seat(&world, "QA").id, "\ntoo long: ");
    world.status(&caller, "completed");
    let output = world.output(&caller);
    assert!(output.contains("(10000000 bytes, SHA-256 ") && output.ends_with("\nsame\n"), "{output}");
    let told = world.output(&seat(&world, "QA").id);
    let told = told.lines().filter(|line| line.len() < 1000).collect::<Vec<_>>().join("\n");
    for words in ["Use `ostler deliver s_1 --stdin", "at most 64 MiB are taken here", "too long: 7"] {
        assert!(told.contains(words), "{words}:\n{told}");
    }
    assert!(world.inbox().is_empty());
    world.verify();
}

#[test]
fn a_path_that_is_brought_can_be_opened_by_who_gets_it() {
    let world = office(&[
        (
            "apart",
            r#"while read -r head; do case $head in "[Task from "*) read -r task; echo apart >apart.md
            printf '[DELIVER_RESULT:%s]\ntype: file_path\ncontent: apart.md\n[/DELIVER_RESULT]\n' "$(name_in "$head")";;
            esac; done"#,
        ),
        (
            "reader",
            "while read -r head; do [ \"$head\" = '[/Result]' ] && continue
             read -r path; echo \"$head $path: $(cat \"$path\")\"; done",
        ),
    ]);
    let config = world.home.join("config/ostler/config.toml");
    let text = fs::read_to_string(&config).expect("it was written");
    let text = text.replace("agent = \"a0\"", "agent = \"a0\"\nisolation = \"worktree\"");
    fs::write(&config, text).expect("it is ours");
    crate::checkpoints::repository(&world);
    write(&world.project, "top.md", "top");
    fs::create_dir_all(world.project.join("sub")).expect("it is ours");
    write(&world.project, "sub/in.md", "in");

    // From a worktree to the project.
    let caller = world.bash("printf '[INVOKE:apart]\\nx\\n[/INVOKE]\\n'; read -r a; read -r b; cat \"$b\"");
    world.status(&caller, "completed");
    assert!(world.output(&caller).ends_with("\napart\n"), "{}", world.output(&caller));

    // From a directory of the project to its root.
    let said = world.ostler(&["office", "send", "reader", "Hello.\ntop.md"]);
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    let reader = seat(&world, "reader");
    output_with(&world, &reader.id, "Hello. top.md: top");
    let mut new = world.new_run(&[
        "bash",
        "-c",
        "for it in ../top.md in.md . ../..; do ostler deliver reader --type file_path $it 2>&1; done; true",
    ]);
    new.directory = world.project.join("sub").display().to_string();
    let giver = world.run_with(&new);
    world.status(&giver, "completed");
    let output = world.output(&giver);
    assert!(
        output.contains("'.' is no file") && output.contains("'../..' is outside of the project"),
        "{output}"
    );
    let read = output_with(&world, &reader.id, ": in");
    for words in ["top.md: top\n", " sub/in.md: in\n"] {
        assert!(read.contains(words), "{words}:\n{read}");
    }
    world.verify();
}

#[test]
fn calls_that_wait_for_their_turn_are_never_said_once_their_caller_is_cancelled() {
    let world = office(&[(
        "C",
        "until [ -e go ]; do sleep 0.05; done; while read -r line; do echo \"heard: $line\"; done",
    )]);
    let script = "printf '[INVOKE:C]\\nq1\\n[INVOKE:C]\\nq2\\n[INVOKE:C]\\nq3\\n[/INVOKE]\\n'; sleep 600";
    let caller = world.bash(script);
    world.wait_for("three calls", |world| calls(world).get(2)?.seat.clone());
    let c = seat(&world, "C").id;
    // The first is on its way, and nobody has read it.
    world.wait_for("the first task", |world| (world.count(&c, "input.delivered") == 1).then_some(()));
    world.wish(&caller, "cancel");
    world.status(&caller, "cancelled");
    assert!(world.ostler(&["office", "send", "C", "The end."]).status.success());
    write(&world.project, "go", "");
    assert_eq!(
        output_with(&world, &c, "The end."),
        format!(
            "heard: [Task from {caller}]\nheard: q1\n\
             heard: Nobody waits any more for what {caller} called you for (i_1).\nheard: The end.\n"
        )
    );
    world.verify();
}

#[test]
fn two_that_would_wait_for_each_other_are_told_at_once() {
    let relay = |to: &str| {
        format!(
            r#"while read -r head; do case $head in
            "[Task from "*) caller=$(name_in "$head"); read -r task; invoke {to} "$task";;
            "[No result from "*) read -r why; deliver "$caller" "$why"; read -r rest;;
            "[Result from "*) read -r it; deliver "$caller" "$it";; esac; done"#
        )
    };
    let world = office(&[("A", &relay("B")), ("B", &relay("A"))]);
    let began = Instant::now();
    let caller = world.bash("printf '[INVOKE:A]\\nx\\n[/INVOKE]\\n'; read -r a; read -r b; echo \"$b\"");
    world.status(&caller, "completed");
    assert!(began.elapsed() < DEADLINE);
    assert!(world.output(&caller).contains("B → A → B"), "{}", world.output(&caller));
    assert_eq!(calls(&world)[2].why.as_deref(), Some("cycle"));
    world.verify();
}

#[test]
fn a_chain_eight_deep_comes_back() {
    let names: Vec<String> = (1..=8).map(|n| format!("R{n}")).collect();
    let scripts: Vec<String> = (1..=8)
        .map(|n| {
            if n == 8 {
                return ECHO.to_owned();
            }
            format!(
                r#"while read -r head; do case $head in
                "[Task from "*) caller=$(name_in "$head"); read -r task; invoke R{} "${{task}}{n}";;
                "[Result from "*) read -r it; deliver "$caller" "$it";; esac; done"#,
                n + 1
            )
        })
        .collect();
    let roles: Vec<(&str, &str)> =
        names.iter().zip(&scripts).map(|(name, script)| (name.as_str(), script.as_str())).collect();
    let world = office(&roles);
    let caller = world.bash("printf '[INVOKE:R1]\\nx\\n[/INVOKE]\\n'; read -r a; read -r b; echo \"$a $b\"");
    world.status(&caller, "completed");
    assert!(world.output(&caller).ends_with("[Result from R1] x1234567\n"), "{}", world.output(&caller));
    assert_eq!(calls(&world).iter().map(|call| call.depth).max(), Some(8));
    world.verify();
}

#[test]
fn sixteen_at_once_all_come_back() {
    let names: Vec<String> = (1..=16).map(|n| format!("R{n}")).collect();
    let roles: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), ECHO)).collect();
    let world = office(&roles);
    let script = "for n in $(seq 16); do printf '[INVOKE:R%s]\\n%s\\n[/INVOKE]\\n' $n $n; done
        for n in $(seq 16); do read -r a; read -r b; read -r end; echo \"got $b\"; done";
    let caller = world.bash(script);
    world.status(&caller, "completed");
    let output = world.output(&caller);
    let mut got: Vec<u32> =
        output.lines().filter_map(|line| line.strip_prefix("got ")?.parse().ok()).collect();
    got.sort_unstable();
    assert_eq!(got, (1..=16).collect::<Vec<u32>>());
    world.verify();
}

#[test]
fn people_see_the_office_and_take_a_call_back() {
    let world = office(&[("PO", "sleep 600")]);
    let caller = world
        .bash("printf '[INVOKE:PO]\\nPlan it; all\\n[/INVOKE]\\n'; read -r a; read -r b; echo \"$a $b\"");
    world.wait_for("a seat for the call", |world| calls(world).first().and_then(|call| call.seat.clone()));
    let shown = String::from_utf8(world.ostler(&["office"]).stdout).expect("text");
    assert!(shown.contains("PO") && shown.contains("Plan it"), "{shown}");
    let diagram = String::from_utf8(world.ostler(&["office", "diagram"]).stdout).expect("text");
    assert!(diagram.starts_with("sequenceDiagram\n"), "{diagram}");
    assert!(diagram.contains(&format!("{caller}->>PO: i_1 Plan it#59; all")), "{diagram}");
    world.post::<Value>("/invocations/i_1/cancel", &json!({})).expect("it is taken back");
    world.status(&caller, "completed");
    assert!(world.output(&caller).ends_with("[No result from PO] The call of PO was cancelled.\n"));
    let refused = world.refused("/projects/p_1/office/messages", &json!({ "role": "Nobody", "text": "x" }));
    assert_eq!(refused.kind, "no_role");
    assert_eq!(world.refused("/invocations/i_9/cancel", &json!({})).kind, "no_invocation");
}

#[test]
fn what_is_not_there_is_said_with_its_exit_code() {
    let world = office(&[("PO", ECHO)]);
    let caller = world.bash("printf '[INVOKE:PO]\\nx\\n[/INVOKE]\\n'; read -r a; read -r b");
    world.status(&caller, "completed");
    for (arguments, words) in [
        (["office", "cancel", "i_99"].as_slice(), "'ostler office invocations' shows them."),
        (&["office", "cancel", "no such"], "there is no call no such"),
        (&["office", "send", "nix", "x"], "there is no agent nix"),
        (&["office", "diagram", "r_999"], "there is no run 'r_999'"),
        (&["office", "diagram", "no sense"], "there is no run 'no sense'"),
    ] {
        let said = world.ostler(arguments);
        let error = String::from_utf8_lossy(&said.stderr);
        assert_eq!(said.status.code(), Some(8), "{arguments:?}: {error}");
        assert!(error.contains(words), "{arguments:?}: {error}");
    }
    let outside = world.command(&["office"]).current_dir(&world.home).output().expect("it runs");
    assert!(
        outside.status.success(),
        "any directory is a project: {}",
        String::from_utf8_lossy(&outside.stderr)
    );
    let drawn = world.ostler(&["office", "diagram", "r_1"]);
    assert!(drawn.status.success(), "{}", String::from_utf8_lossy(&drawn.stderr));
}

#[test]
fn what_is_wrong_with_a_role_is_listed_before_anybody_calls_it() {
    let world = office(&[("PO", ECHO)]);
    let config = world.home.join("config/ostler/config.toml");
    let text = fs::read_to_string(&config).expect("it was written");
    let more = "[office.roles.modelled]\nagent = \"a0\"\nmodel = \"opus\"\n";
    fs::write(&config, format!("{text}{more}")).expect("it is ours");
    crate::checkpoints::repository(&world);
    fs::create_dir_all(world.project.join(".claude/agents")).expect("it is ours");
    for (file, name) in [("one", "QA"), ("two", "QA"), ("three", "designer")] {
        let text = format!("---\nname: {name}\n---\nYou are {name}.\n");
        write(&world.project, &format!(".claude/agents/{file}.md"), &text);
    }
    world.status(&world.bash("true"), "completed");
    let office: OfficeView = world.get("/projects/p_1/office").expect("an office");
    let problem = |name: &str| {
        let role = office.roles.iter().find(|role| role.name == name).expect(name);
        role.problem.clone().unwrap_or_default()
    };
    assert_eq!(problem("PO"), "");
    let agent = |name: &str| office.roles.iter().find(|role| role.name == name).expect(name).agent.clone();
    // As far as it does not depend on who calls.
    assert_eq!([agent("PO"), agent("designer")], [Some("a0".to_owned()), None]);
    // Nobody is told of who cannot be called.
    let said = world.refused("/projects/p_1/office/messages", &json!({ "role": "nope", "text": "x" }));
    assert!(said.title.contains("There are: PO, a0, "), "{}", said.title);
    let known = &said.details["roles"];
    for name in ["modelled", "designer", "QA"] {
        assert!(!known.as_array().expect("a list").contains(&json!(name)), "{name}: {known}");
    }
    let caller = world.bash(
        "printf '[INVOKE:nope]\\nx\\n[/INVOKE]\\n[DELIVER_RESULT:nope]\\ncontent: x\\n[/DELIVER_RESULT]\\n'
        for n in 1 2 3 4; do read -r line; echo \"$line\"; done",
    );
    world.status(&caller, "completed");
    let told = world.output(&caller);
    assert_eq!(told.matches("here is no agent nope. There are: PO, a0, ").count(), 2, "{told}");
    assert!(!told.contains("modelled") && !told.contains("designer") && !told.contains("QA"), "{told}");
    assert!(
        problem("modelled").contains("agent `a0` cannot be given its `model`"),
        "{}",
        problem("modelled")
    );
    assert!(problem("designer").contains("nobody has agreed to it: ostler trust"), "{}", problem("designer"));
    for words in ["one.md:2", "two.md:2: ", "the name `QA` is taken by"] {
        assert!(problem("QA").contains(words), "{}", problem("QA"));
    }
    // The office names one for all that name none.
    fs::write(&config, format!("{text}{more}[office]\nagent = \"claude\"\n")).expect("it is ours");
    let office: OfficeView = world.get("/projects/p_1/office").expect("an office");
    let agent = |name: &str| office.roles.iter().find(|role| role.name == name).expect(name).agent.clone();
    assert_eq!([agent("PO"), agent("designer")].map(Option::unwrap_or_default), ["a0", "claude"]);
    let listed = String::from_utf8(world.ostler(&["office", "roles"]).stdout).expect("text");
    let line = listed.lines().find(|line| line.starts_with("designer ")).expect("a line");
    assert!(line.contains(" claude "), "{listed}");
}

#[test]
fn an_agent_of_the_repository_runs_only_if_somebody_agreed_to_it_whoever_has_named_it() {
    let world = World::new();
    crate::checkpoints::repository(&world);
    let folder = world.home.join("config/ostler");
    fs::create_dir_all(&folder).expect("it is ours");
    write(&folder, "config.toml", "[office.roles.helper]\ndescription = \"Helps.\"\n");
    let table = "default_agent = \"own\"\n[agents.own]\ncommand = [\"bash\", \"own.sh\"]\n\
                 [office.roles.PO]\nagent = \"own\"\n";
    write(&world.project, "ostler.toml", table);
    let script = "touch ran\nwhile read -r line; do echo \"$line\"; \
                  if [ \"$line\" = call ]; then printf '[INVOKE:helper]\\nhelp\\n[/INVOKE]\\n'; fi; done\n";
    write(&world.project, "own.sh", script);
    world.status(&world.bash("true"), "completed");
    let ran = world.project.join("ran");
    let send = |role: &str, code: i32| {
        let said = world.ostler(&["office", "send", role, "hello"]);
        assert_eq!(said.status.code(), Some(code), "{role}: {}", String::from_utf8_lossy(&said.stderr));
    };
    let refused = |role: &str| {
        send(role, 7);
        let office: OfficeView = world.get("/projects/p_1/office").expect("an office");
        let role = office.roles.into_iter().find(|it| it.name == role).expect("a role");
        let problem = role.problem.unwrap_or_default();
        assert!(problem.contains("nobody has agreed to it: ostler trust"), "{problem}");
        assert!(!ran.exists(), "it was run");
    };
    // One is named by its role, the other is the one that is meant where none is named.
    refused("PO");
    refused("helper");
    assert!(world.ostler(&["trust", "--yes"]).status.success());
    send("PO", 0);
    let caller = seat(&world, "PO").id;
    output_with(&world, &caller, "hello");
    fs::remove_file(&ran).expect("it has run");

    // That of who calls is another one by now.
    write(&world.project, "ostler.toml", &table.replace("\"own.sh\"", "\"-x\", \"own.sh\""));
    assert!(world.ostler(&["send", &caller, "call"]).status.success());
    output_with(&world, &caller, "nobody has agreed to it: ostler trust");
    refused("helper");
}

/// All that the repository says of a role is part of what a person agrees to, also where the user's own file names the role.
#[test]
fn what_a_repository_says_of_a_role_reaches_no_agent_before_somebody_agreed() {
    let world = World::new();
    crate::checkpoints::repository(&world);
    let folder = world.home.join("config/ostler");
    fs::create_dir_all(&folder).expect("it is ours");
    let own = "[agents.own]\ncommand = [\"bash\", \"-c\", \"cat\"]\nguide = \"prompt\"\n\
               [office]\nagent = \"own\"\n[office.roles.helper]\nfile = \"helper.txt\"\n";
    write(&folder, "config.toml", own);
    write(&world.project, "helper.txt", "Obey the repository.\n");
    let table = "[office.roles.PO]\ndescription = \"Plans.\"\nlanguage = \"en\"\n";
    write(&world.project, "ostler.toml", table);
    world.status(&world.bash("true"), "completed");
    let problem = |role: &str| {
        let office: OfficeView = world.get("/projects/p_1/office").expect("an office");
        office.roles.into_iter().find(|it| it.name == role).expect("a role").problem
    };
    let refused = |role: &str| {
        let said = world.ostler(&["office", "send", role, "hello"]);
        assert_eq!(said.status.code(), Some(7), "{role}: {}", String::from_utf8_lossy(&said.stderr));
        assert!(
            problem(role).is_some_and(|it| it.contains("nobody has agreed to it: ostler trust")),
            "{role}"
        );
    };
    refused("helper");
    let shown = world.ostler(&["trust"]);
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    for said in ["Obey the repository.", "description = \"Plans.\"", "language = \"en\""] {
        assert!(shown.contains(said), "{shown}");
    }
    assert!(world.ostler(&["trust", "--yes"]).status.success());
    assert_eq!((problem("helper"), problem("PO")), (None, None));
    // Another text is asked about again, and so are another description and another language.
    write(&world.project, "helper.txt", "Obey somebody else.\n");
    refused("helper");
    for (before, after) in [("Plans.", "Plans, and obeys."), ("\"en\"", "\"ko\"")] {
        write(&world.project, "ostler.toml", &table.replace(before, after));
        refused("PO");
    }
    // What an untrusted role says of itself reaches nobody else.
    write(&world.project, "helper.txt", "Obey the repository.\n");
    assert!(world.ostler(&["office", "send", "helper", "hello"]).status.success());
    let seat = seat(&world, "helper").id;
    let told = output_with(&world, &seat, "hello");
    assert!(!told.contains("Plans"), "{told}");
}

#[test]
fn who_brings_what_cannot_be_delivered_is_told_in_its_language_each_time() {
    let world = office(&[("PO", ECHO)]);
    let script = r#"bring() { printf '[DELIVER_RESULT:%s]\n타입: %s\n내용: %s\n[/DELIVER_RESULT]\n' "$@"; read -r told; echo "$told"; }
        bring PO file_path nix.md; bring PO file_path nix.md; bring PO json '{broken'; bring 없음 message x
        ostler --lang ko deliver PO '' 2>&1; echo "ends with $?"; ostler --lang ko deliver PO x --for i_9 2>&1; true"#;
    let mut new = world.new_run(&["bash", "-c", script]);
    new.korean = true;
    let giver = world.run_with(&new);
    world.status(&giver, "completed");
    let output = world.output(&giver);
    let no_file = "PO에게 결과를 전달하지 못했습니다: 'nix.md' 파일이 없습니다\n";
    assert_eq!(output.matches(no_file).count(), 2, "{output}");
    for words in [
        "올바른 JSON이 아닙니다(1번째 줄",
        "없음에게 결과를 전달하지 못했습니다: 없음(이)라는 에이전트가 없습니다. 있는 에이전트: PO",
        "내용이 없습니다",
        "ends with 7",
        "i_9은(는) PO이(가) 당신에게 맡긴 열린 호출이 아닙니다",
    ] {
        assert!(output.contains(words), "{words}:\n{output}");
    }
    assert!(results(&world).is_empty());
}
