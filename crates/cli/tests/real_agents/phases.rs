//! Each CLI goes through a phase, as the one who works and as the one who verifies.

use std::fs;

use ostler_server::api::{PhasesState, PhasesView, RequestView};
use serde_json::json;

use super::{
    lab::Lab,
    model::Model,
    support::{World, write},
};

/// It works, hears what is missing, and works again; it verifies, runs what it finds, and writes nothing of the project.
pub(crate) fn goes_through_a_phase(lab: &Lab, world: &mut World, model: &Model) {
    if !ostler_shim::can_confine() {
        // Who is not kept from writing asks before it runs anything, or has no way to.
        return super::say("SKIPPED: this kernel has no Landlock");
    }
    let stolen = lab.work.join("stolen");
    let look = "grep -q Nobody plan.md && echo it is so\necho > beside && echo it may write here\n";
    let look = format!("{look}echo > {} || echo it is kept out\n", stolen.display());
    // Where its CLI keeps its own things, too: what it leaves there would run when a person uses it.
    let planted = lab.home.join("planted");
    let look = format!("{look}echo > {} || echo it plants nothing\n", planted.display());
    write(&lab.work, "look.sh", &look);
    write(&lab.work, "ostler.toml", &configuration(lab));
    lab.done(world, &["trust", "--yes"]);
    let said = lab.done(world, &["--json", "phases", "run", "a plan"]);
    let run: PhasesView = serde_json::from_str(&said).expect("a run");

    let review: RequestView = world.wait_for("a review", |world| {
        world.inbox().into_iter().find(|it| it.run == run.run && it.ask.kind == "review")
    });
    let shown =
        || -> PhasesView { world.get(&format!("/phases/{}", run.run)).expect("a run through phases") };
    let phase = &shown().phases[0];
    let gates: Vec<_> = phase.gates.iter().map(|gate| gate.passed).collect();
    assert_eq!((phase.reworks, gates), (1, vec![Some(false), Some(true)]), "{phase:#?}");
    assert!(model.last(&lab.words("phase")).contains("no section \"Problem\""), "it is told what is missing");

    let verifier = phase.sessions.last().expect("somebody verified");
    assert_eq!(world.count(verifier, "request.opened"), 0, "it asks nobody");
    let heard = world.output(verifier);
    let runs = ["it is so", "it may write here"].iter().all(|it| heard.contains(it));
    assert!(runs, "{} cannot run what it finds: {heard}", lab.name);
    assert!(heard.contains("it is kept out") && !stolen.exists(), "{heard}");
    assert!(heard.contains("it plants nothing") && !planted.exists(), "{heard}");
    assert!(
        !world.home.join("sessions").join(verifier).join("verifier").exists(),
        "its configuration is removed"
    );
    lab.done(world, &["review", &review.id, "--approve"]);
    world.wait_for("the end", |_| (shown().state == PhasesState::Done).then_some(()));
    let used = json!(shown().phases[0].usage);
    assert!(used["input_tokens"].as_u64().is_some_and(|tokens| tokens > 0), "{used}");
    fs::remove_file(lab.work.join("ostler.toml")).expect("its directory can be written");
}

fn configuration(lab: &Lab) -> String {
    let (worker, verifier) = (lab.free(), lab.name);
    let (phase, verify) = (lab.words("phase"), lab.words("verify"));
    format!(
        r#"
[phases]
agent = "{worker}"
verifier = "{verifier}"

[[phases.phase]]
name = "Plan"
prompt = "{phase}"
artifacts = [{{ glob = "plan.md", sections = ["Problem"] }}]
criteria = ["{verify}"]
"#
    )
}
