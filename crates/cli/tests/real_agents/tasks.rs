//! Each CLI does the tasks of a file, and what that costs is counted beside whole prompts and reports.

use std::fs;

use ostler_server::api::{LoopView, OutcomeKind};

use super::{
    lab::Lab,
    model::Model,
    support::{World, write},
};

/// Two tasks, the second after the first; both have to change their files.
pub(crate) fn does_tasks(lab: &Lab, world: &mut World, model: &Model) {
    let tasks = format!(
        "## Phase 0: Build\n- [ ] T0.1: {}\n  - files: built.txt\n- [ ] T0.2: {}\n  - deps: [T0.1]\n  - files: rest.txt\n",
        lab.words("build"),
        lab.words("finish"),
    );
    write(&lab.work, "TASKS.md", &tasks);
    let said = lab.done(world, &["--json", "orchestrate", "--detach", "--agent", &lab.free()]);
    let begun: LoopView = serde_json::from_str(&said).expect("a loop");
    let view = world.wait_for("the end of the loop", |world| {
        let view: LoopView = world.get(&format!("/orchestrate/{}", begun.run)).expect("a loop");
        assert!(view.request.is_none(), "{view:#?}");
        view.outcome.is_some().then_some(view)
    });
    assert_eq!(view.outcome.as_ref().map(|it| it.outcome), Some(OutcomeKind::Completed), "{view:#?}");
    assert_eq!((view.counts.completed, view.report.retries), (2, 0), "{view:#?}");
    assert!(model.last(&lab.words("finish")).contains("T0.2"), "it has the whole task");
    let marked = fs::read_to_string(lab.work.join("TASKS.md")).expect("a task file");
    assert_eq!(marked, tasks.replace("[ ]", "[x]"));
    let counted = view.report.exchange.expect("what was said is kept");
    let (thin, full) = (counted.thin_tokens.expect("tokens"), counted.full_tokens.expect("tokens"));
    assert!(thin < full, "{thin} {full}");
    super::say(&format!("real agents: {} tasks: {thin} tokens of the loop, {full} in full", lab.name));
    fs::remove_file(lab.work.join("TASKS.md")).expect("its directory can be written");
    world.wait_for("an empty machine", |world| world.processes().is_empty().then_some(()));
}
