//! The tasks of a project over the interface: shown as the files have them, decided once under a key, and never outside of
//! the project.

use std::{fs, os::unix::fs::symlink};

use ostler_server::api::{ProjectSummary, TaskState, TaskView, TasksSummary, TasksView};
use serde_json::{Value, json};

use crate::{
    support::{World, write},
    tcp::{borrowed, configure, send, sign_in},
};

const SHOP: &str = "## Phase 1: Shop\n\n- [x] T1.1: Prices\n- [ ] T1.2: <b>Basket</b>\n  - owner: clerk\n  - files: src/a\n  \
                    - [ ] it holds apples\n- [ ] T1.3: Till\n  - deps: T1.2\n\n## Phase 2: Street\n\n- [ ] T2.1: Sign\n";

/// A server that knows a project, and where its tasks are.
fn place(tasks: Option<&str>) -> (World, String) {
    place_with("", tasks)
}

fn place_with(configuration: &str, tasks: Option<&str>) -> (World, String) {
    let mut world = World::idle();
    configure(&world, configuration);
    world.start();
    let session = world.run(&["true"]);
    world.status(&session, "completed");
    if let Some(tasks) = tasks {
        write(&world.project, "TASKS.md", tasks);
    }
    let projects: Vec<ProjectSummary> = world.get("/projects").expect("projects");
    (world, format!("/projects/{}/tasks", projects[0].project.id))
}

fn look(world: &World, path: &str) -> TasksView {
    world.get(path).expect("tasks")
}

fn task(world: &World, path: &str, id: &str) -> TaskView {
    look(world, path).tasks.into_iter().find(|task| task.id == id).expect("a task")
}

#[test]
fn tasks_are_shown_as_the_files_have_them() {
    let (world, path) = place(Some(SHOP));
    let view = look(&world, &path);
    assert_eq!((view.file.as_deref(), view.line.as_str()), (Some("TASKS.md"), "READY:T1.2"));
    let states: Vec<(&str, TaskState)> = view.tasks.iter().map(|it| (it.id.as_str(), it.state)).collect();
    let (done, waits) = (TaskState::Completed, TaskState::Pending);
    assert_eq!(states, [("T1.1", done), ("T1.2", TaskState::Ready), ("T1.3", waits), ("T2.1", waits)]);
    let basket = &view.tasks[1];
    assert_eq!(
        (basket.title.as_str(), basket.line, basket.owner.as_deref()),
        ("<b>Basket</b>", 4, Some("clerk"))
    );
    assert_eq!(
        (basket.files.as_slice(), basket.criteria[0].text.as_str()),
        (&["src/a".to_owned()][..], "it holds apples")
    );
    let waited = |index: usize| view.tasks[index].waits.clone().expect("it waits");
    assert_eq!((waited(2).tasks.as_slice(), waited(3).phase), (&["T1.2".to_owned()][..], Some(1)));
    let critical: Vec<bool> = view.tasks.iter().map(|it| it.critical).collect();
    assert_eq!(critical, [false, true, true, true]);
    let detail: Value = world.get(&format!("{path}/T1.2")).expect("a task");
    assert!(detail["body"].as_str().is_some_and(|body| body.contains("it holds apples")), "{detail}");
    assert_eq!(detail["then"], json!(["T1.3"]));
    let summaries: Vec<TasksSummary> = world.get("/tasks").expect("summaries");
    assert_eq!((summaries.len(), summaries[0].tasks, summaries[0].settled), (1, 4, 1));
    assert!(!world.project.join(".claude").exists(), "to look writes nothing");
    assert_eq!(world.refused_get(&format!("{path}/T9.9")), "no_task");
    assert_eq!(world.refused_get("/projects/p_99/tasks"), "no_project");
}

#[test]
fn what_cannot_be_worked_with_says_so() {
    let (world, path) = place(None);
    let none = look(&world, &path);
    assert_eq!((none.file, none.line.as_str()), (None, "ERROR:TASKS_NOT_FOUND"));
    assert_eq!(none.looked_for[0], "TASKS.md");
    assert_eq!(world.get::<Vec<TasksSummary>>("/tasks").expect("summaries").len(), 0);
    assert_eq!(world.refused(&format!("{path}/T1.1/skip"), &json!({})).kind, "no_tasks");
    write(&world.project, "TASKS.md", "- [ ] T1.1: a\n- [ ] T1.2: b\n  - deps: T9.9\n");
    let wrong = look(&world, &path);
    assert_eq!((wrong.problems[0].line, wrong.line.as_str()), (3, "ERROR:MISSING_DEP:T1.2->T9.9"));
    assert!(wrong.tasks.is_empty());
    assert_eq!(world.refused(&format!("{path}/T1.1/skip"), &json!({})).kind, "tasks_unclear");
    // More than anybody looks at.
    let many: Vec<String> = (1..=6000).map(|n| format!("- [ ] T1.{n}: task")).collect();
    write(&world.project, "TASKS.md", &many.join("\n"));
    let view = look(&world, &path);
    assert_eq!((view.tasks.len(), view.left_off), (5000, 1000));
    write(&world.project, "TASKS.md", &"x".repeat(9 << 20));
    assert_eq!(world.refused_get(&path), "tasks_unreadable");
    // A state that cannot be understood is told, and the marks count alone.
    write(&world.project, "TASKS.md", SHOP);
    fs::create_dir(world.project.join(".claude")).expect("a directory");
    write(&world.project, ".claude/orchestrate-state.json", "{ half");
    let view = look(&world, &path);
    assert!(view.line.starts_with("ERROR:STATE_CORRUPT") && view.state_problem.is_some(), "{view:?}");
    assert_eq!(view.tasks.len(), 4);
    assert_eq!(world.refused(&format!("{path}/T1.2/skip"), &json!({})).kind, "tasks_state");
}

#[test]
fn a_person_decides_and_once_is_once() {
    let (world, path) = place(Some(SHOP));
    let client = world.client();
    let skip =
        || world.block_on(client.post_once::<TaskView>(&format!("{path}/T1.2/skip"), &json!({}), "k1"));
    assert_eq!(skip().expect("it is skipped").state, TaskState::Skipped);
    assert_eq!(skip().expect("it was skipped").state, TaskState::Skipped);
    // Without the key it is another wish, and one that makes no sense.
    let again = world.refused(&format!("{path}/T1.2/skip"), &json!({}));
    assert_eq!((again.kind.as_str(), &again.details["state"]), ("task_not_so", &json!("skipped")));
    let other = world.block_on(client.post_once::<Value>(&format!("{path}/T1.3/skip"), &json!({}), "k1"));
    assert!(other.is_err_and(|error| error.to_string().contains("Idempotency-Key")));
    let log = fs::read_to_string(world.project.join(".claude/orchestrate.log")).expect("a log");
    assert_eq!(log.matches("CUSTOM:SKIP:T1.2").count(), 1, "{log}");
    let retried: TaskView = world.post(&format!("{path}/T1.2/retry"), &json!({})).expect("again");
    assert_eq!(retried.state, TaskState::Ready);
    let first: TaskView = world.post(&format!("{path}/T1.3/first"), &json!({})).expect("first");
    assert_eq!(first.priority, "first");
    let close = path.replace("/tasks", "/phases/1/close");
    let open = world.refused(&close, &json!({}));
    assert_eq!((open.kind.as_str(), &open.details["tasks"]), ("tasks_open", &json!(["T1.2", "T1.3"])));
    assert_eq!(world.refused(&close.replace("/1/", "/7/"), &json!({})).kind, "no_task_phase");
    for id in ["T1.2", "T1.3"] {
        world.post::<TaskView>(&format!("{path}/{id}/skip"), &json!({})).expect("it is skipped");
    }
    assert_eq!(look(&world, &path).line, "PHASE_DONE:1");
    let closed: Value = world.post(&close, &json!({})).expect("it is over");
    assert_eq!(closed, json!({ "phase": 1, "skipped": [] }));
    assert_eq!(look(&world, &path).line, "READY:T2.1");
    world.verify();
}

#[test]
fn nothing_outside_of_the_project_is_shown_or_written() {
    let (world, path) = place(None);
    let outside = world.project.parent().expect("a parent").join("outside");
    fs::create_dir_all(&outside).expect("a directory");
    write(&outside, "TASKS.md", "- [ ] T1.1: private\n");
    symlink(outside.join("TASKS.md"), world.project.join("TASKS.md")).expect("a link");
    assert_eq!(world.refused_get(&path), "tasks_outside");
    assert_eq!(world.refused(&format!("{path}/T1.1/skip"), &json!({})).kind, "tasks_outside");
    for named in ["../outside/TASKS.md", "/etc/passwd", "%2e%2e%2foutside%2fTASKS.md"] {
        assert_eq!(world.refused_get(&format!("{path}?file={named}")), "tasks_outside", "{named}");
    }
    fs::remove_file(world.project.join("TASKS.md")).expect("it is a link");
    write(&world.project, "TASKS.md", "- [ ] T1.1: a\n");
    symlink(&outside, world.project.join(".claude")).expect("a link");
    write(&outside, "orchestrate-state.json", "{ half");
    let view = look(&world, &path);
    assert!(view.state_problem.is_some_and(|it| it.contains("leads out")), "{:?}", view.line);
    assert_eq!(world.refused(&format!("{path}/T1.1/skip"), &json!({})).kind, "tasks_state");
    let mut names: Vec<String> = fs::read_dir(&outside)
        .expect("a directory")
        .map(|it| it.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert_eq!(names, ["TASKS.md", "orchestrate-state.json"], "nothing was written there");
}

#[test]
fn a_task_leads_to_its_session_and_a_change_is_seen() {
    let agent = "default_agent = \"worker\"\n[agents.worker]\ncommand = [\"sh\", \"-c\", \"while [ ! -e bell ]; do sleep 0.05; done\"]\n";
    let (world, path) = place_with(agent, Some("- [ ] T1.1: Wait\n"));
    let browser = sign_in(&world);
    let ask = |tag: Option<&str>| {
        let mut headers = browser.headers();
        headers.extend(tag.map(|tag| ("If-None-Match", tag.to_owned())));
        send(&browser.address, &format!("GET /api/v1{path}"), &borrowed(&headers), "")
    };
    let before = ask(None);
    let tag = before.header("etag").expect("a tag").to_owned();
    let same = ask(Some(&tag));
    assert_eq!((same.status, same.body.as_str(), same.header("etag")), (304, "", Some(tag.as_str())));
    let mut exec = world.command(&["exec", "T1.1"]).spawn().expect("the program runs");
    let session = world.wait_for("its session", |world| task(world, &path, "T1.1").session);
    assert_eq!(ask(Some(&tag)).status, 200);
    let running = task(&world, &path, "T1.1");
    assert_eq!((running.state, running.attempts.len()), (TaskState::InProgress, 1));
    assert_eq!(
        (running.run.as_deref(), running.attempts[0].ended_at_ms),
        (Some(world.session(&session).run.as_str()), None)
    );
    assert_eq!(look(&world, &path).line, "WAIT");
    write(&world.project, "bell", "");
    assert!(exec.wait().expect("it ends").success());
    let done = task(&world, &path, "T1.1");
    assert_eq!((done.state, done.session.as_deref()), (TaskState::Completed, Some(session.as_str())));
    assert!(done.attempts[0].ended_at_ms.is_some() && done.attempts[0].failed.is_none(), "{done:?}");
    // Whatever stands in the state as a key, a run of another project is not shown.
    let state = world.project.join(".claude/orchestrate-state.json");
    let text = fs::read_to_string(&state).expect("a state");
    let mut kept: Value = serde_json::from_str(&text).expect("JSON");
    kept["runs"]["T1.1"] = json!("k".repeat(10_000));
    fs::write(&state, kept.to_string()).expect("it can be written");
    assert_eq!(task(&world, &path, "T1.1").session, None);
}
