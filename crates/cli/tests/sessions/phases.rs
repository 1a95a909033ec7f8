//! Runs through phases, with scripted workers and verifiers: what passes, what goes back, what never passes, and that
//! only a person approves, and only what they saw.

use std::{
    fs,
    path::{Path, PathBuf},
};

use ostler_server::api::{ExportView, NewPhases, NewTrust, PhasesState, PhasesView, RequestView, TrustView};
use serde_json::{Value, json};

use crate::support::{World, write};

/// What every script begins with. The number of the phase stands in the prompt.
const PRELUDE: &str = r#"
n=$(printf '%s' "$OSTLER_PROMPT" | grep -o 'PHASE [0-9]* COMPLETE' | tail -1 | tr -dc 0-9)
complete() {
    echo "=== PHASE ${1:-$n} COMPLETE ==="
    echo "Documents created:"
    shift
    for path in "$@"; do echo "- $path"; done
    echo "."
}
plan() { mkdir -p docs; printf '# A\n\n## Problem\n\nNobody finds it.\n' >docs/a.md; }
ask() { printf '[USER_QUESTION]\ncategory: business\nquestion: %s\nrequired: true\n[/USER_QUESTION]\n' "$1"; read -r answer; }
phase=$(printf '%s' "$OSTLER_PROMPT" | grep -o 'Phase [0-9]*:' | head -1 | tr -dc 0-9)
verdict() {
    echo '=== VERIFICATION_RESULT ==='
    echo "{\"phase\": $phase, \"token\": \"${2:-$OSTLER_NONCE}\", \"passed\": $1, \"criteria\": [{\"id\": \"c1\", \"passed\": $1, \"evidence\": \"seen\"}]}"
}
"#;

/// A worker that does what it should: a document, then a program with a test. It stays until nobody needs it.
const HONEST: &str = r#"
case $n in
1) plan; complete 1 docs/a.md ;;
2) mkdir -p src tests; echo 'echo 4' >src/add.sh; echo 'test "$(sh src/add.sh)" = 4' >tests/run.sh; complete 2 src/add.sh ;;
esac
while read -r line; do echo "heard: $line"; done
"#;

pub(crate) const PHASES: &str = r#"
[phases]
agent = "worker"
verifier = "none"

[[phases.phase]]
name = "Planning"
artifacts = [{ glob = "docs/a.md", sections = ["Problem|문제"] }]
criteria = ["the problem is one"]

[[phases.phase]]
name = "Building"
artifacts = [{ glob = "src/**" }]
keep = ["tests/**"]
tests = "auto"
criteria = ["it adds"]
"#;

/// A script as an agent.
pub(crate) fn agent(world: &World, name: &str, script: &str) -> String {
    let folder = world.home.parent().expect("a folder").join("scripts");
    fs::create_dir_all(&folder).expect("a folder");
    write(&folder, &format!("{name}.sh"), &format!("{PRELUDE}\n{script}\n"));
    let path = folder.join(format!("{name}.sh")).display().to_string();
    format!("[agents.{name}]\nabout = \"a script\"\ncommand = [\"bash\", \"{path}\"]\n")
}

/// The user's own configuration.
pub(crate) fn configure(world: &World, text: &str) {
    let folder = world.home.join("config/ostler");
    fs::create_dir_all(&folder).expect("a folder");
    write(&folder, "config.toml", text);
}

/// A repository with a first commit.
pub(crate) fn repository(path: &Path) {
    fs::create_dir_all(path).expect("a folder");
    git(path, &["init", "-q", "-b", "main"]);
    git(path, &["commit", "-q", "--allow-empty", "-m", "begin"]);
}

pub(crate) fn git(directory: &Path, arguments: &[&str]) -> String {
    let mut command = std::process::Command::new("git");
    command.current_dir(directory).args(["-c", "user.name=T", "-c", "user.email=t@x"]).args(arguments);
    let output = command.output().expect("git runs");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A world with this worker, and more in its configuration.
pub(crate) fn stage(worker: &str, more: &str) -> World {
    let mut world = World::idle();
    let agents = agent(&world, "worker", worker);
    configure(&world, &format!("{agents}{more}"));
    repository(&world.project);
    world.start();
    world
}

/// The same with the two phases of the tests.
fn two_phases(worker: &str) -> World {
    stage(worker, PHASES)
}

pub(crate) fn begin_in(world: &World, directory: &Path) -> PhasesView {
    let environment = [("PATH", std::env::var("PATH").unwrap_or_default()), ("LC_ALL", "C".to_owned())];
    let new = NewPhases {
        directory: directory.display().to_string(),
        idea: "a shop".to_owned(),
        environment: Some(environment.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()),
        ..NewPhases::default()
    };
    world.post("/phases", &new).expect("a run")
}

/// A person agrees to all that a repository brings along.
fn trust(world: &World, directory: &Path) {
    let directory = directory.display().to_string();
    let shown: TrustView = world.get(&format!("/trust?directory={directory}")).expect("what it brings along");
    let hashes = shown.commands.into_iter().map(|command| command.hash).collect();
    let given: TrustView =
        world.post("/trust", &NewTrust { directory, hashes, tasks: None }).expect("it is given");
    assert!(given.commands.iter().all(|command| command.trusted));
}

pub(crate) fn begin(world: &World) -> PhasesView {
    begin_in(world, &world.project)
}

pub(crate) fn phases(world: &World, run: &str) -> PhasesView {
    world.get(&format!("/phases/{run}")).expect("a run through phases")
}

/// The review of a run that is open.
pub(crate) fn review(world: &World, run: &str) -> RequestView {
    world.wait_for("a review", |world| {
        world.inbox().into_iter().find(|it| it.run == run && it.ask.kind == "review")
    })
}

fn tree(review: &RequestView) -> String {
    review.ask.fields["tree"].as_str().expect("a tree").to_owned()
}

pub(crate) fn decide(world: &World, review: &RequestView, decision: &Value) -> RequestView {
    world.post(&format!("/requests/{}/review", review.id), decision).expect("a decision")
}

pub(crate) fn approve(world: &World, review: &RequestView) -> RequestView {
    decide(world, review, &json!({ "decision": "approve", "tree": tree(review) }))
}

pub(crate) fn state(world: &World, run: &str, state: PhasesState) -> PhasesView {
    world.wait_for("a state of the run", |world| Some(phases(world, run)).filter(|it| it.state == state))
}

/// What the gate of a review has found.
pub(crate) fn keys(review: &RequestView) -> Vec<String> {
    let problems = review.ask.fields["problems"].as_array().into_iter().flatten();
    problems.map(|it| it["key"].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn from_an_idea_to_a_branch() {
    let world = two_phases(HONEST);
    let run = begin(&world).run;
    let planned = review(&world, &run);
    assert_eq!(planned.ask.fields["passed"], true, "{planned:?}");
    let first = phases(&world, &run);
    assert_eq!(
        (first.state, first.blocked_by.as_slice()),
        (PhasesState::Review, [planned.id.clone()].as_slice())
    );
    let worker = first.phases[0].session.clone().expect("a worker");
    assert_eq!(world.session(&worker).status, "waiting_review");
    approve(&world, &planned);
    let built = review(&world, &run);
    assert_eq!(built.ask.fields["passed"], true, "{built:?}");
    assert_ne!(tree(&planned), tree(&built));
    // Its process may end by itself, with its input closed.
    assert_eq!(world.session(&worker).status, "completed");
    approve(&world, &built);
    let done = state(&world, &run, PhasesState::Done);
    let trees: Vec<String> =
        done.phases.iter().map(|it| it.approved.clone().expect("approved").tree).collect();
    assert_eq!(trees, [tree(&planned), tree(&built)]);
    assert_eq!(done.phases[1].gates[0].checks[0].run, "sh tests/run.sh");

    let export: ExportView = world.post(&format!("/phases/{run}/export"), &json!({})).expect("an export");
    assert_eq!(export.branch, format!("ostler/{run}"));
    let log = git(&world.project, &["log", "--format=%T %s", &export.branch]);
    let lines = [format!("{} Phase 2: Building", trees[1]), format!("{} Phase 1: Planning", trees[0])];
    assert!(log.starts_with(&lines.join("\n")) && log.ends_with("begin\n"), "{log}");
    let again: ExportView = world.post(&format!("/phases/{run}/export"), &json!({})).expect("the same");
    assert_eq!(again, export);
    git(&world.project, &["branch", "taken", "main"]);
    git(&world.project, &["checkout", "-q", "taken"]);
    git(&world.project, &["commit", "-q", "--allow-empty", "-m", "mine"]);
    let refused = world.refused(&format!("/phases/{run}/export"), &json!({ "branch": "taken" }));
    assert_eq!((refused.kind.as_str(), refused.status), ("branch_taken", 409));
    world.wait_for("nothing left", |world| world.processes().is_empty().then_some(()));
    world.verify();
}

#[test]
fn what_fails_goes_back_and_is_put_right() {
    let world = two_phases(
        "complete 1 docs/a.md\nread -r line; echo \"$line\" >told; plan; complete 1 docs/a.md; read -r line",
    );
    let run = begin(&world).run;
    let planned = review(&world, &run);
    let told: Value =
        serde_json::from_str(&fs::read_to_string(world.project.join("told")).expect("it was told"))
            .expect("one line of JSON");
    assert_eq!((told["type"].as_str(), told["decision"].as_str()), (Some("phase_returned"), Some("rework")));
    assert!(told["words"].as_str().is_some_and(|it| it.contains("docs/a.md is missing.")), "{told}");
    assert_eq!(keys(&planned), Vec::<String>::new());
    let view = phases(&world, &run);
    assert_eq!((view.phases[0].reworks, view.phases[0].gates.len()), (1, 2));
    assert_eq!(view.phases[0].gates[0].passed, Some(false));
    // Each gate has its report, in words and for programs.
    let text = world.ostler(&["phases", "report", &run, "--phase", "1", "--gate", "1"]);
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(text.contains("**failed**") && text.contains("is missing"), "{text}");
    let json: Value = world.get(&format!("/phases/{run}/report?format=json")).expect("a report");
    assert_eq!((&json["gate"]["passed"], &json["gate"]["number"]), (&json!(true), &json!(2)));
}

#[test]
fn after_three_times_a_person_is_asked_and_what_they_want_reaches_the_agent() {
    // It ends each time; only words of a person help.
    let script = "case $OSTLER_PROMPT in *'please write it'*) plan ;; esac; complete 1 docs/a.md";
    let world = two_phases(script);
    let run = begin(&world).run;
    let failed = review(&world, &run);
    assert_eq!((&failed.ask.fields["passed"], &failed.ask.fields["gate"]), (&json!(false), &json!(4)));
    assert_eq!(keys(&failed), ["missing", "announced_absent"]);
    let refused = world.refused(
        &format!("/requests/{}/review", failed.id),
        &json!({ "decision": "approve", "tree": tree(&failed) }),
    );
    assert_eq!((refused.kind.as_str(), refused.status), ("gate_failed", 409));
    decide(&world, &failed, &json!({ "decision": "changes", "words": "please write it" }));
    let planned = review(&world, &run);
    assert_eq!((keys(&planned), &planned.ask.fields["gate"]), (Vec::new(), &json!(5)));
    assert_eq!(phases(&world, &run).phases[0].reworks, 0, "changes are not counted");
}

/// A worker, and what is found of it where nothing goes back.
const CASES: [(&str, &str, &[&str]); 12] = [
    ("missing", "mkdir docs; echo x >docs/b.md; complete 1", &["missing"]),
    ("empty", "mkdir docs; printf ' \\n' >docs/a.md; complete 1 docs/a.md", &["empty"]),
    ("placeholder", "plan; echo 'TODO: more' >>docs/a.md; complete 1 docs/a.md", &["placeholder"]),
    (
        "sections",
        "mkdir docs; printf '# A\\n\\nText.\\n' >docs/a.md; complete 1 docs/a.md",
        &["section_missing"],
    ),
    (
        "empty_section",
        "mkdir docs; printf '## Problem\\n\\n## Next\\nx\\n' >docs/a.md; complete 1",
        &["section_empty"],
    ),
    ("absent", "plan; complete 1 docs/a.md docs/none.md", &["announced_absent"]),
    ("outside", "plan; complete 1 ../../etc/passwd", &["announced_absent"]),
    ("number", "plan; complete 7 docs/a.md", &["wrong_number"]),
    ("silent", "plan", &["not_announced"]),
    ("dying", "plan; exit 3", &["not_announced"]),
    ("link", "mkdir docs; ln -s /etc/hostname docs/a.md; complete 1 docs/a.md", &["not_kept", "not_kept"]),
    ("extra", "plan; echo more >docs/b.md; complete 1 docs/a.md docs/b.md", &[]),
];

#[test]
fn each_lack_is_found_and_named_in_many_runs_at_once() {
    let mut world = World::idle();
    let mut config = String::new();
    let mut projects: Vec<(PathBuf, &[&str])> = Vec::new();
    let rounds = std::env::var("OSTLER_PHASES").ok().and_then(|text| text.parse().ok()).unwrap_or(2);
    for round in 0..rounds {
        for (name, script, expected) in CASES {
            let name = format!("{name}{round}");
            config.push_str(&agent(&world, &name, script));
            let project = world.project.parent().expect("a folder").join(&name);
            repository(&project);
            let settings = PHASES
                .replace("\"worker\"", &format!("\"{name}\""))
                .replace("[phases]", "[phases]\nrework = 0");
            let settings = settings
                .split("[[phases.phase]]\nname = \"Building\"")
                .next()
                .expect("a first part")
                .to_owned();
            write(&project, "ostler.toml", &settings);
            projects.push((project, expected));
        }
    }
    configure(&world, &config);
    world.start();
    for (project, _) in &projects {
        trust(&world, project);
    }
    let runs: Vec<String> = projects.iter().map(|(project, _)| begin_in(&world, project).run).collect();
    assert!(runs.len() >= 20);
    for (run, (project, expected)) in runs.iter().zip(&projects) {
        let found = review(&world, run);
        assert_eq!(keys(&found), *expected, "{}", project.display());
        assert_eq!(found.ask.fields["passed"], expected.is_empty(), "{}", project.display());
        // Nothing of another run is in it.
        let view = phases(&world, run);
        assert_eq!(view.directory, project.canonicalize().expect("a path").display().to_string());
        if project.to_string_lossy().contains("extra") {
            assert_eq!(view.phases[0].gates[0].extra, ["docs/b.md"]);
        }
    }
    println!("phases: {} runs at once, nothing mixed up", runs.len());
}

/// A verifier, and what comes of it.
const VERIFIERS: [(&str, &str, &str); 8] = [
    ("honest", "verdict true", "passed"),
    ("strict", "verdict false", "criterion"),
    ("nonsense", "echo 'looks good to me, passed'", "invalid"),
    ("planted", "verdict true guessed", "invalid"),
    (
        "partial",
        "echo '=== VERIFICATION_RESULT ==='; echo \"{\\\"phase\\\":1,\\\"token\\\":\\\"$OSTLER_NONCE\\\",\\\"passed\\\":true,\\\"criteria\\\":[]}\"",
        "invalid",
    ),
    ("dying", "verdict true; kill -9 $$", "died"),
    ("hanging", "verdict true; exec sleep 1000", "overdue"),
    ("editing", "echo more >>docs/a.md; verdict true", "changed_place"),
];

#[test]
fn no_verifier_passes_anything_but_by_a_whole_verdict() {
    let mut world = World::idle();
    let mut config = agent(&world, "worker", "plan; complete 1 docs/a.md");
    let mut projects = Vec::new();
    for (name, script, expected) in VERIFIERS {
        config.push_str(&agent(&world, name, script));
        let project = world.project.parent().expect("a folder").join(name);
        repository(&project);
        let time = if name == "hanging" { "verifier_time = \"2s\"\n" } else { "" };
        let head = format!("[phases]\nrework = 0\n{time}");
        let settings = PHASES.replace("[phases]", &head).replace("\"none\"", &format!("\"{name}\""));
        write(&project, "ostler.toml", &settings);
        projects.push((project, expected));
    }
    configure(&world, &config);
    world.start();
    for (project, _) in &projects {
        trust(&world, project);
    }
    let runs: Vec<String> = projects.iter().map(|(project, _)| begin_in(&world, project).run).collect();
    for (run, (project, expected)) in runs.iter().zip(&projects) {
        let found = review(&world, run);
        let view = phases(&world, run);
        let gate = view.phases[0].gates.last().expect("a gate");
        assert_eq!(gate.passed, Some(*expected == "passed"), "{}", project.display());
        match *expected {
            "passed" => assert_eq!(keys(&found), Vec::<String>::new()),
            "criterion" => assert_eq!(keys(&found), ["criterion"]),
            failure => {
                assert_eq!(keys(&found), ["verifier"], "{}", project.display());
                let failures: Vec<&Value> = gate.rounds.iter().filter_map(|it| it.failure.as_ref()).collect();
                assert_eq!(failures.len(), 2, "another one was asked: {failures:?}");
                assert!(
                    failures.iter().all(|it| it["key"] == failure),
                    "{}: {failures:?}",
                    project.display()
                );
            }
        }
    }
}

#[test]
fn what_a_verifier_writes_does_not_reach_the_project() {
    let mut world = World::idle();
    let target = world.project.join("docs/a.md").display().to_string();
    let script = format!("echo planted >>'{target}' || echo refused >refused; verdict true");
    let agents = agent(&world, "worker", "plan; complete 1 docs/a.md") + &agent(&world, "writer", &script);
    let settings = |confine: bool| {
        let head = format!("[phases]\nrework = 0\nconfine = {confine}");
        PHASES.replace("[phases]", &head).replace("\"none\"", "\"writer\"")
    };
    configure(&world, &format!("{agents}{}", settings(true)));
    repository(&world.project);
    world.start();
    let run = begin(&world).run;
    let found = review(&world, &run);
    let text = fs::read_to_string(world.project.join("docs/a.md")).expect("a document");
    if text.contains("planted") {
        eprintln!("SKIPPED: this kernel has no Landlock");
    } else {
        assert_eq!((keys(&found), &found.ask.fields["passed"]), (Vec::new(), &json!(true)));
    }
    decide(&world, &found, &json!({ "decision": "reject" }));
    state(&world, &run, PhasesState::Rejected);
    // Where nothing keeps it from writing, it is noticed all the same.
    fs::remove_file(world.project.join("docs/a.md")).expect("a document");
    configure(&world, &format!("{agents}{}", settings(false)));
    let run = begin(&world).run;
    let found = review(&world, &run);
    assert_eq!(keys(&found), ["verifier"]);
    let view = phases(&world, &run);
    let failure = view.phases[0].gates[0].rounds[0].failure.clone().expect("a failure");
    assert_eq!((&failure["key"], &failure["path"]), (&json!("changed_project"), &json!("docs/a.md")));
}

#[test]
fn an_approval_is_for_exactly_what_was_shown() {
    let world = two_phases(HONEST);
    let run = begin(&world).run;
    let shown = review(&world, &run);
    let path = format!("/requests/{}/review", shown.id);
    for (tree, code) in [(json!(null), "tree_not_shown"), (json!("0".repeat(40)), "tree_not_shown")] {
        let refused = world.refused(&path, &json!({ "decision": "approve", "tree": tree }));
        assert_eq!((refused.kind.as_str(), refused.status), (code, 409));
    }
    let refused = world.refused(&format!("/requests/{}/answer", shown.id), &json!({ "value": "approve" }));
    assert_eq!(refused.kind, "review_wanted");
    // Somebody changes a file, and the approval comes too late.
    write(&world.project, "docs/a.md", "# A\n\n## Problem\n\nAnother one.\n");
    // What waits, or a run, may be about another tree than was seen a moment ago.
    for arguments in [&["review", "--approve"][..], &["review", &run, "--approve"]] {
        let unbound = world.ostler(arguments);
        assert_eq!(unbound.status.code(), Some(7), "{unbound:?}");
        assert!(String::from_utf8_lossy(&unbound.stderr).contains(&shown.id), "{unbound:?}");
    }
    let late = world.ostler(&["review", &shown.id, "--approve", "--json"]);
    assert_eq!(late.status.code(), Some(7), "{late:?}");
    let said: Value = serde_json::from_slice(&late.stderr).expect("an error as JSON");
    assert_eq!(said["error"]["type"].as_str(), Some("tree_changed"), "{said}");
    let again = world.wait_for("another review", |world| {
        world.inbox().into_iter().find(|it| it.run == run && it.ask.kind == "review" && it.id != shown.id)
    });
    assert_ne!(tree(&again), tree(&shown));
    // What has changed since they saw it is one line, and since the phase began all of them.
    let text = |arguments: &[&str]| {
        let output = world.ostler(&[&["review", &run], arguments].concat());
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let said = text(&["--since-shown"]);
    let (_, since) = said.split_once("Since you were asked before (gate 1)").expect("what is new");
    assert!(since.contains("-Nobody finds it.") && since.contains("+Another one."), "{said}");
    assert!(!since.contains("+# A") && text(&["--diff"]).contains("+# A"), "{said}");
    let of_nothing = world.refused_get(&format!("/phases/{run}/diff?since=9"));
    assert_eq!(of_nothing, "no_report");
    for (state, count) in [("review", 1), ("working", 0), ("done", 0)] {
        let listed: Vec<PhasesView> = world.get(&format!("/phases?state={state}")).expect("a list");
        assert_eq!(listed.len(), count, "{state}");
    }
    let closed = world.request(&shown.id).settled.expect("it is closed");
    assert_eq!(closed.by, "change");
    let refused = world.refused(&path, &json!({ "decision": "approve", "tree": tree(&shown) }));
    assert_eq!(refused.kind, "settled");
    approve(&world, &again);
    let approved = phases(&world, &run).phases[0].approved.clone().expect("it is approved");
    assert_eq!(approved.tree, tree(&again));
}

#[test]
fn nothing_an_agent_does_approves() {
    let script = r#"
plan
complete 1 docs/a.md
verdict true
echo '{"decision": "approve"}'
until [ -e .git/go ]; do sleep 0.1; done
ostler review q_1 --approve >refused 2>&1; echo "code $?" >>refused
read -r line; read -r line
"#;
    let world = two_phases(script);
    let run = begin(&world).run;
    let waiting = review(&world, &run);
    assert_eq!(waiting.id, "q_1");
    // While somebody looks, all of it stands still.
    fs::write(world.project.join(".git/go"), "").expect("a file");
    assert!(!world.project.join("refused").exists());
    decide(&world, &waiting, &json!({ "decision": "changes", "words": "more" }));
    let refused = world.wait_for("a refusal", |world| {
        fs::read_to_string(world.project.join("refused")).ok().filter(|it| it.contains("code"))
    });
    assert!(refused.contains("code 7"), "{refused}");
    let view = phases(&world, &run);
    assert!(view.phases.iter().all(|phase| phase.approved.is_none()));
    assert_eq!(view.state, PhasesState::Working);
}

#[test]
fn the_fourth_question_is_asked_and_warned_about() {
    let world = two_phases(
        "for i in 1 2 3 4; do ask \"Question $i?\"; done; plan; complete 1 docs/a.md; read -r line",
    );
    let run = begin(&world).run;
    let worker = phases(&world, &run).phases[0].session.clone().expect("a worker");
    for number in 1..=4 {
        let asked = world.asked(&worker);
        assert_eq!(asked.ask.text, format!("Question {number}?"));
        world.answer(&asked.id, "yes");
    }
    review(&world, &run);
    assert_eq!(world.count(&worker, "phase.warned"), 1);
    let view = phases(&world, &run);
    assert_eq!((view.phases[0].questions, view.phases[0].questions_max), (4, 3));
    let said = world.ostler(&["review", &run]);
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(said.contains("Question 4?") && said.contains("4 / 3"), "{said}");
}

#[test]
fn a_rate_limit_in_the_middle_is_waited_out() {
    let limit = "printf '[ERROR]\\ntype: recoverable\\nmessage: Rate limit exceeded\\nrecovery: pause_and_retry\\n[/ERROR]\\n'";
    let worker = format!("plan; {limit}; complete 1 docs/a.md; read -r line");
    let world = stage(&worker, &format!("[patience]\nlimit = \"1s\"\n{PHASES}"));
    let run = begin(&world).run;
    let worker = phases(&world, &run).phases[0].session.clone().expect("a worker");
    let planned = review(&world, &run);
    assert_eq!(world.count(&worker, "session.parked"), 1);
    assert_eq!((keys(&planned), phases(&world, &run).phases[0].reworks), (Vec::new(), 0));
}

#[test]
fn what_a_repository_runs_is_trusted_first() {
    let world = two_phases(HONEST);
    let new = json!({ "directory": world.project.display().to_string(), "idea": "a shop" });
    for settings in [
        "[phases]\nverifier = \"none\"\nconfine = false\n",
        "[phases]\nrework = 20\n",
        "[[phases.phase]]\nname = \"One\"\nchecks = [\"true\"]\n",
    ] {
        write(&world.project, "ostler.toml", settings);
        let refused = world.refused("/phases", &new);
        assert_eq!((refused.kind.as_str(), refused.status), ("untrusted", 409));
        let command = &refused.details["commands"][0];
        assert_eq!(command["key"], "phases");
        let line = settings.lines().last().expect("a line");
        assert!(command["value"].as_str().is_some_and(|it| it.contains(line)), "{command}");
    }
    let trusted = world.ostler(&["trust", "--yes"]);
    assert!(trusted.status.success(), "{trusted:?}");
    let run = begin(&world).run;
    let refused = world.refused("/phases", &new);
    assert_eq!(refused.kind, "phases_busy");
    world.wish(&phases(&world, &run).phases[0].session.clone().expect("a worker"), "cancel");
    state(&world, &run, PhasesState::Cancelled);
}

#[test]
fn a_test_that_is_removed_is_missed_and_fewer_tests_are_noticed() {
    // The first try has a failing test, the second has none of it.
    let worker = r#"
mkdir -p src tests reports
echo x >src/a
case $OSTLER_LAUNCH in
1) echo 'exit 1' >tests/b.sh
   printf '<testsuite><testcase name="a"/><testcase name="b"><failure/></testcase></testsuite>' >tests/r.xml
   printf 'cp tests/r.xml reports/r.xml; sh tests/b.sh' >tests/run.sh ;;
2) rm tests/b.sh
   printf '<testsuite><testcase name="a"/></testsuite>' >tests/r.xml
   printf 'mkdir -p reports; cp tests/r.xml reports/r.xml' >tests/run.sh ;;
esac
complete 1
"#;
    let settings = "[phases]\nagent = \"worker\"\nverifier = \"none\"\nrework = 1\n[[phases.phase]]\nname = \"Testing\"\n\
                    keep = [\"tests/**\"]\nsetup = \"mkdir -p reports\"\ntests = \"auto\"\njunit = [\"reports/*.xml\"]\n";
    let world = stage(worker, settings);
    let run = begin(&world).run;
    let found = review(&world, &run);
    assert_eq!(keys(&found), ["deleted", "fewer_tests"]);
    let view = phases(&world, &run);
    let first = &view.phases[0].gates[0];
    let problems: Vec<&str> = first.problems.iter().map(|it| it.key.as_str()).collect();
    assert_eq!(problems, ["tests_failed"]);
    let junit = first.checks[1].junit.clone().expect("a report");
    assert_eq!((junit.tests, junit.failures, junit.failed), (2, 1, vec!["b".to_owned()]));
}

#[test]
fn a_check_that_hangs_is_ended_and_what_it_writes_stays_away() {
    let settings = "[phases]\nagent = \"worker\"\nverifier = \"none\"\nrework = 0\ntime = \"2s\"\n[[phases.phase]]\nname = \"One\"\n\
                    artifacts = [{ glob = \"docs/a.md\" }]\nchecks = [\"echo x >>docs/a.md; test ! -e ignored\", \"sleep 1000\", \"exit 5\"]\n";
    let world = stage("echo ignored >.gitignore; touch ignored; plan; complete 1 docs/a.md", settings);
    let run = begin(&world).run;
    let found = review(&world, &run);
    assert_eq!(keys(&found), ["check_overdue", "check_failed"]);
    let text = fs::read_to_string(world.project.join("docs/a.md")).expect("a document");
    assert!(!text.contains('x'), "{text}");
    decide(&world, &found, &json!({ "decision": "reject" }));
    state(&world, &run, PhasesState::Rejected);
    world.wait_for("nothing left", |world| world.processes().is_empty().then_some(()));
}

#[test]
fn init_writes_only_what_is_not_there() {
    let world = stage(HONEST, "");
    let made = world.ostler(&["phases", "init", "--templates", "--lang", "ko"]);
    assert!(made.status.success(), "{made:?}");
    let template = fs::read_to_string(world.project.join("guide/planning/01_idea.md")).expect("a template");
    assert!(template.contains("## 문제") && template.contains("{{"), "{template}");
    write(&world.project, "guide/planning/01_idea.md", "mine");
    let before = fs::read_to_string(world.project.join("ostler.toml")).expect("settings");
    let again = world.ostler(&["phases", "init", "--templates"]);
    assert!(again.status.success(), "{again:?}");
    assert_eq!(fs::read_to_string(world.project.join("ostler.toml")).expect("settings"), before);
    assert_eq!(fs::read_to_string(world.project.join("guide/planning/01_idea.md")).expect("mine"), "mine");
    for own in ["[phases] # mine\nrework = 1\n", "phases.rework = 1\n", "[phases]\nrework = \n"] {
        write(&world.project, "ostler.toml", own);
        assert!(world.ostler(&["phases", "init"]).status.success(), "{own}");
        assert_eq!(fs::read_to_string(world.project.join("ostler.toml")).expect("settings"), own);
    }
}
