//! Budgets, with real processes: who has used what it may stands still, a person is asked, and nothing goes on before.

use std::fs;

use ostler_server::api::{NewPhases, NewRun, PhasesView, UsageReport};
use serde_json::json;

use crate::{
    phases,
    support::{World, environment, write},
};

/// A CLI that speaks as opencode does: with every step that it is let to do it uses 100 tokens for 60 cents.
const STEPS: &str = r#"
says() { echo "{\"type\":\"step_finish\",\"sessionID\":\"c1\",\"part\":{\"reason\":\"$1\",\"cost\":$2,\"tokens\":{\"input\":$3}}}"; }
for n in 1 2 3; do
    while [ ! -e "step-$n" ]; do sleep 0.05; done
    says tool-calls 0.6 100
done
while [ ! -e end ]; do sleep 0.05; done
says stop 0 0
"#;

/// A CLI that speaks as claude does: it reports when it is through, and its second attempt succeeds.
const TURNS: &str = r#"
echo '{"type":"system","subtype":"init","session_id":"c1"}'
read -r _
echo x >>turns
n=$(wc -l <turns)
echo "{\"type\":\"result\",\"subtype\":\"success\",\"total_cost_usd\":$n.5,\"usage\":{\"output_tokens\":5}}"
"#;

/// Agents that are called `steps` and `turns`, and what else stands in the user's file.
fn configured(more: &str) -> World {
    let world = World::new();
    let folder = world.home.join("config/ostler");
    fs::create_dir_all(&folder).expect("a folder");
    let text = format!(
        "[agents.steps]\nextends = \"opencode\"\ncommand = [\"bash\", \"steps.sh\"]\n\
         [agents.turns]\nextends = \"claude\"\ncommand = [\"bash\", \"turns.sh\"]\nguide = \"none\"\n\
         [agents.turns.arguments]\nguide = []\n{more}"
    );
    write(&folder, "config.toml", &text);
    write(&world.project, "steps.sh", STEPS);
    write(&world.project, "turns.sh", TURNS);
    world
}

fn order(world: &World, agent: &str) -> NewRun {
    NewRun { agent: Some(agent.into()), prompt: Some("do it".into()), mcp: Some(false), ..world.new_run(&[]) }
}

fn said(world: &World, arguments: &[&str]) -> String {
    String::from_utf8(world.ostler(arguments).stdout).expect("text")
}

#[test]
fn who_has_cost_too_much_stands_still_until_somebody_raises_it() {
    let mut world = configured("");
    let session = world.run_with(&NewRun { cost_usd_max: Some(1.0), ..order(&world, "steps") });
    write(&world.project, "step-1", "");
    write(&world.project, "step-2", "");
    let request = world.asked(&session);
    assert_eq!((request.ask.kind.as_str(), request.trust.as_str()), ("cost_over", "ostler"));
    assert_eq!(request.ask.options, ["raise", "stop"]);
    assert_eq!(request.ask.fields["cost_nusd"], 1_200_000_000_u64);
    world.wait_for("the stop", |world| world.session(&session).launches[0].stopped_at_ms);
    // If it ran, it would do its third step.
    write(&world.project, "step-3", "");
    let inbox = said(&world, &["inbox"]);
    assert!(inbox.contains("It has cost $1.20, and may cost $1.00. May it go on?"), "{inbox}");
    assert!(inbox.contains("raise 5"), "{inbox}");
    let usage = said(&world, &["usage", "--by", "run"]);
    assert!(usage.contains("$1.20 of $1.00"), "{usage}");
    world.restart();
    assert_eq!(world.asked(&session).id, request.id, "it is the same card");
    // What is no amount changes nothing.
    let wrong = world.ostler(&["answer", &request.id, "raise some"]);
    assert_eq!(wrong.status.code(), Some(7), "{wrong:?}");
    assert_eq!(world.session(&session).usage.cost_usd, Some(1.2));
    world.answer(&request.id, "raise 0.50");
    assert!(said(&world, &["show", &session]).contains("$1.70"), "what it may cost now");
    let again = world.wait_for("another card", |world| {
        world.inbox().into_iter().find(|it| it.session == session && it.id != request.id)
    });
    world.answer(&again.id, "stop");
    let view = world.status(&session, "failed");
    assert_eq!(view.outcome.expect("an outcome").reason["key"], "cost_over");
    world.wait_for("nothing left", |world| world.processes().is_empty().then_some(()));
    // Whoever resumes it is asked first.
    world.wish(&session, "resume");
    let first = world.asked(&session);
    assert_eq!((first.ask.kind.as_str(), world.session(&session).launches.len()), ("cost_over", 1));
    write(&world.project, "end", "");
    world.answer(&first.id, "raise 10");
    let view = world.status(&session, "completed");
    assert_eq!(view.launches.len(), 2);
    world.verify();
}

#[test]
fn tokens_of_a_step_are_counted() {
    let world = configured("");
    for name in ["step-1", "step-2"] {
        write(&world.project, name, "");
    }
    let run = world.ostler(&["run", "-d", "--json", "--max-tokens", "0.2k", "--no-mcp", "steps", "do it"]);
    assert!(run.status.success(), "{run:?}");
    let run: serde_json::Value = serde_json::from_slice(&run.stdout).expect("JSON");
    assert_eq!(run["budget"]["tokens_max"], 200);
    let session = run["sessions"][0]["id"].as_str().expect("a session");
    let request = world.asked(session);
    assert_eq!((request.ask.kind.as_str(), &request.ask.fields["tokens"]), ("tokens_over", &200.into()));
    let report: UsageReport = world.get("/usage?by=session").expect("a report");
    assert_eq!((report.rows[0].usage.tokens, report.rows[0].budget.tokens_max), (Some(200), Some(200)));
    // As many again.
    world.answer(&request.id, "raise");
    write(&world.project, "step-3", "");
    write(&world.project, "end", "");
    world.status(session, "completed");
    let report: UsageReport = world.get("/usage?by=session").expect("a report");
    assert_eq!((report.rows[0].usage.tokens, report.rows[0].budget.tokens_max), (Some(300), Some(400)));
}

#[test]
fn work_that_is_through_is_checked_and_only_another_attempt_is_asked_about() {
    let world = configured("[budget]\ncost = 1\n");
    let check = Some("[ \"$(wc -l <turns)\" = 2 ]".to_owned());
    let session = world.run_with(&NewRun { check, attempts_max: Some(3), ..order(&world, "turns") });
    let request = world.asked(&session);
    assert_eq!((request.ask.kind.as_str(), world.session(&session).attempts), ("cost_over", 1));
    assert_eq!(world.processes(), [], "nothing is started meanwhile");
    world.answer(&request.id, "raise");
    let view = world.status(&session, "completed");
    assert_eq!((view.attempts, view.launches.len()), (2, 2));
    assert_eq!(world.count(&session, "request.opened"), 1, "its second turn was the last");
    world.verify();
}

#[test]
fn a_budget_that_cannot_be_kept_is_refused() {
    let world = configured("[budget]\ncost = 1\ntokens = \"1m\"\n");
    let refused = |new: NewRun| world.refused("/runs", &new).kind;
    let plain = || world.new_run(&["true"]);
    assert_eq!(refused(NewRun { cost_usd_max: Some(1.0), ..plain() }), "cost_unknown");
    assert_eq!(refused(NewRun { tokens_max: Some(9), ..plain() }), "tokens_unknown");
    let codex = || order(&world, "codex");
    assert_eq!(refused(NewRun { cost_usd_max: Some(1.0), ..codex() }), "cost_unknown");
    assert_eq!(refused(NewRun { cost_usd_max: Some(0.0), ..order(&world, "steps") }), "bad_cost");
    assert_eq!(refused(NewRun { cost_usd_max: Some(-1.0), ..order(&world, "steps") }), "bad_cost");
    assert_eq!(refused(NewRun { tokens_max: Some(0), ..order(&world, "steps") }), "bad_tokens");
    // What is only configured is for those who say what they use.
    let session = world.run_with(&plain());
    world.status(&session, "completed");
    let wrong = world.ostler(&["run", "--max-cost", "much", "steps", "x"]);
    assert_eq!(wrong.status.code(), Some(2), "{wrong:?}");
}

/// One phase, worked on by who is told to.
fn phased(world: &World, agent: &str) -> NewPhases {
    phases::repository(&world.project);
    NewPhases {
        directory: world.project.display().to_string(),
        idea: "a shop".to_owned(),
        agent: Some(agent.to_owned()),
        verifier: Some("none".to_owned()),
        environment: Some(environment()),
        ..NewPhases::default()
    }
}

#[test]
fn a_run_through_phases_stands_still_as_a_whole_when_it_has_cost_too_much() {
    let world = configured("");
    let new = NewPhases { cost_usd_max: Some(1.0), tokens_max: Some(1_000_000), ..phased(&world, "steps") };
    let run: PhasesView = world.post("/phases", &new).expect("a run");
    let session = run.phases[0].session.clone().expect("it has begun");
    write(&world.project, "step-1", "");
    write(&world.project, "step-2", "");
    let request = world.asked(&session);
    assert_eq!(request.ask.kind, "cost_over");
    world.wait_for("the stop", |world| world.session(&session).launches[0].stopped_at_ms);
    let blocked = phases::phases(&world, &run.run).blocked_by;
    assert_eq!(blocked, [request.id.as_str()]);
    world.answer(&request.id, "stop");
    world.wait_for("the end", |world| phases::phases(world, &run.run).outcome);
    // Who does not say what it costs cannot be held to it.
    let silent = phases::agent(&world, "silent", "sleep 1");
    let config = world.home.join("config/ostler/config.toml");
    let text = fs::read_to_string(&config).expect("a configuration") + &silent;
    fs::write(&config, text).expect("a configuration");
    let refused = |new: &NewPhases| world.refused("/phases", new).kind;
    let mute = NewPhases { agent: Some("silent".to_owned()), ..phased(&world, "steps") };
    assert_eq!(refused(&NewPhases { cost_usd_max: Some(1.0), ..mute.clone() }), "cost_unknown");
    assert_eq!(refused(&NewPhases { tokens_max: Some(1), ..mute.clone() }), "tokens_unknown");
    assert_eq!(refused(&NewPhases { time_s_max: Some(0), ..mute }), "bad_time");
}

#[test]
fn the_time_of_a_run_through_phases_is_over_for_whoever_works_on_it() {
    let world = configured("");
    let worker = "plan; complete $n docs/a.md; while read -r line; do :; done";
    let text = phases::agent(&world, "worker", worker) + "[budget]\ntime = \"1s\"\n";
    phases::configure(&world, &(text + phases::PHASES));
    let new = NewPhases { time_s_max: Some(3600), ..phased(&world, "worker") };
    let run: PhasesView = world.post("/phases", &new).expect("a run");
    let first = phases::review(&world, &run.run);
    let view = world.session(&first.session);
    assert!(world.count(&view.id, "request.opened") == 1, "an hour is enough: {view:#?}");
    let reject = json!({ "decision": "reject" });
    world.post::<serde_json::Value>(&format!("/requests/{}/review", first.id), &reject).expect("a decision");
    world.wait_for("the end", |world| phases::phases(world, &run.run).outcome);

    // What is configured is a second, and passes while the agent does nothing.
    let idle =
        phases::agent(&world, "worker", "while [ ! -e go ]; do sleep 0.1; done; plan; complete 1 docs/a.md");
    phases::configure(&world, &(idle + "[budget]\ntime = \"1s\"\n" + phases::PHASES));
    let run: PhasesView = world.post("/phases", &phased(&world, "worker")).expect("a run");
    let session = run.phases[0].session.clone().expect("it has begun");
    let request = world.asked(&session);
    assert_eq!((request.ask.kind.as_str(), &request.ask.fields["time_ms_max"]), ("time_over", &json!(1000)));
    world.wait_for("the stop", |world| world.session(&session).launches[0].stopped_at_ms);
    write(&world.project, "go", "");
    world.answer(&request.id, "raise 1h");
    let review = phases::review(&world, &run.run);
    assert_eq!(review.session, session);
}
