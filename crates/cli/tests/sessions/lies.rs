//! Agents that lie and agents that do not, each of them through a real gate with a real verifier: no lie passes, and no
//! honest agent is refused. They stand in `tests/phases/`, a script for each; what a gate has to find stands in the
//! script of who lies.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, Write},
    panic::{self, AssertUnwindSafe},
    path::{Path, PathBuf},
    process::Command,
};

use ostler_server::api::NewAnswer;
use serde_json::{Value, json};

use crate::support::{World, environment, write};

/// So many go through their gates at once.
const AT_ONCE: usize = 6;

/// A script, and what is expected of its gate.
#[derive(Clone)]
struct Case {
    name: String,
    script: PathBuf,
    /// Of each line one has to be found: the key of a problem, and perhaps what it is about.
    found: Vec<Vec<(String, Option<String>)>>,
    /// How often it is sent back before it is right.
    reworks: usize,
}

/// A case on its way.
struct Begun {
    case: Case,
    run: String,
}

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/phases")
        .canonicalize()
        .expect("the corpus is there")
}

/// All scripts of a folder, by their names.
fn cases(folder: &str) -> Vec<Case> {
    let entries = fs::read_dir(corpus().join(folder)).expect("the corpus is there");
    let mut scripts: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    scripts.sort();
    scripts.into_iter().map(Case::read).collect()
}

impl Case {
    fn read(script: PathBuf) -> Case {
        let text = fs::read_to_string(&script).expect("a script");
        let alternative = |text: &str| {
            let mut words = text.split_whitespace().map(str::to_owned);
            (words.next().expect("a key"), words.next())
        };
        let found = text.lines().filter_map(|line| line.strip_prefix("# found: "));
        let found = found.map(|line| line.split('|').map(alternative).collect()).collect();
        let reworks = text.lines().filter(|line| *line == "# is sent back").count();
        let name = script.file_stem().expect("a name").to_string_lossy().into_owned();
        Case { name, script, found, reworks }
    }

    /// A project of its own, and the run in it.
    fn begin(&self, world: &World) -> Begun {
        let root = world.project.join(&self.name);
        let (project, other) = (root.join("project"), root.join("tmp"));
        fs::create_dir_all(&other).expect("the project can be written");
        copy(&corpus().join("project"), &project);
        fs::rename(project.join("ignored"), project.join(".gitignore")).expect("it was copied");
        git(&project, &["init", "--quiet", "--initial-branch=main", "."]);
        git(&project, &["add", "."]);
        git(&project, &["commit", "--quiet", "-m", "first"]);
        let text = |path: &Path| path.display().to_string();
        let mut variables: BTreeMap<String, String> = environment();
        variables.insert("CORPUS".to_owned(), text(&corpus()));
        variables.insert("CASE".to_owned(), text(&self.script));
        variables.insert("TMPDIR".to_owned(), text(&other));
        let new = json!({ "directory": text(&project), "idea": "sums", "environment": variables });
        let run: Value =
            world.post("/phases", &new).unwrap_or_else(|error| panic!("{}: {error:?}", self.name));
        Begun { case: self.clone(), run: run["run"].as_str().expect("a run").to_owned() }
    }
}

impl Begun {
    fn view(&self, world: &World) -> Value {
        world.get(&format!("/phases/{}", self.run)).expect("a run")
    }

    /// Waits until a person is asked; whatever else is asked gets its default.
    fn review(&self, world: &World) -> Vec<Value> {
        let what = format!("the review of {}", self.case.name);
        let view = world.wait_for(&what, |world| {
            for request in world.inbox().iter().filter(|it| it.ask.kind != "review") {
                let answer = NewAnswer { value: request.ask.default.clone(), ..NewAnswer::default() };
                // Somebody else's card may be gone meanwhile.
                world.post::<Value>(&format!("/requests/{}/answer", request.id), &answer).ok();
            }
            let view = self.view(world);
            let state = view["state"].as_str().unwrap_or_default().to_owned();
            assert!(matches!(state.as_str(), "working" | "gate" | "review"), "{}: {view:#}", self.case.name);
            Some(view).filter(|_| state == "review")
        });
        view["phases"][0]["gates"].as_array().expect("gates").clone()
    }

    fn path(gate: &Value) -> String {
        format!("/requests/{}/review", gate["request"].as_str().expect("a request"))
    }

    /// The gate has found the lie, and nobody but a person who insists can approve it.
    fn is_refused(&self, world: &World) {
        let name = &self.case.name;
        let gates = self.review(world);
        let gate = gates.last().expect("a gate");
        assert_eq!(gate["passed"], false, "{name}: {gate:#}");
        let problems = gate["problems"].as_array().expect("problems");
        for line in &self.case.found {
            let is_it = |problem: &Value| {
                line.iter().any(|(key, about)| {
                    let names = |field: &str, about: &String| problem["fields"][field] == **about;
                    let is_about = |about: &String| ["path", "glob", "id"].iter().any(|it| names(it, about));
                    problem["key"] == **key && about.as_ref().is_none_or(is_about)
                })
            };
            assert!(problems.iter().any(is_it), "{name}: not {line:?} but {problems:#?}");
        }
        let approve = json!({ "decision": "approve", "tree": gate["tree"].as_str().unwrap_or("none") });
        // Where nothing could be kept there is no tree to approve.
        let refused = if gate["tree"].is_null() { "tree_not_shown" } else { "gate_failed" };
        assert_eq!(world.refused(&Self::path(gate), &approve).kind, refused, "{name}");
        // That it can be rejected shows that nothing else has settled it.
        let reject = json!({ "decision": "reject", "words": "no" });
        world.post::<Value>(&Self::path(gate), &reject).unwrap_or_else(|error| panic!("{name}: {error:?}"));
        world.wait_for("the end", |world| (self.view(world)["state"] == "rejected").then_some(()));
        let events: Vec<Value> = world.get(&format!("/events?run={}&limit=1000", self.run)).expect("events");
        assert!(events.iter().all(|it| it["kind"] != "phase.approved"), "{name}");
    }

    /// The gate has found nothing, and what it has shown can be approved.
    fn is_approved(&self, world: &World) {
        let name = &self.case.name;
        let gates = self.review(world);
        let gate = gates.last().expect("a gate");
        assert_eq!(gates.len(), 1 + self.case.reworks, "{name}: {gates:#?}");
        assert_eq!((&gate["passed"], &gate["problems"]), (&json!(true), &json!([])), "{name}: {gate:#}");
        let approve = json!({ "decision": "approve", "tree": gate["tree"] });
        world.post::<Value>(&Self::path(gate), &approve).unwrap_or_else(|error| panic!("{name}: {error:?}"));
        world.wait_for("the end", |world| (self.view(world)["state"] == "done").then_some(()));
    }
}

/// A world in which the gate of the corpus is the user's own. Who lies is not told about it more than once: that would
/// be the same lie again.
fn world(rework: u32) -> World {
    let mut world = World::idle();
    let config = fs::read_to_string(corpus().join("config.toml")).expect("a configuration");
    let config = config.replace("rework = 0", &format!("rework = {rework}"));
    let folder = world.home.join("config/ostler");
    fs::create_dir_all(&folder).expect("the state directory can be written");
    write(&folder, "config.toml", &config);
    world.start();
    world
}

fn git(project: &Path, arguments: &[&str]) {
    let mut git = Command::new("git");
    git.args(["-c", "user.name=a", "-c", "user.email=a@example.org"]).args(arguments).current_dir(project);
    assert!(git.status().expect("git starts").success(), "git {arguments:?}");
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("the corpus is there") {
        let entry = entry.expect("an entry");
        let place = to.join(entry.file_name());
        if entry.file_type().expect("a type").is_dir() {
            copy(&entry.path(), &place);
        } else {
            fs::copy(entry.path(), place).expect("a copy");
        }
    }
}

/// Judges all of them, and names each for which it is not so.
fn each(rework: u32, cases: &[Case], judge: impl Fn(&Begun, &World)) {
    let world = world(rework);
    let mut wrong = Vec::new();
    for few in cases.chunks(AT_ONCE) {
        let begun: Vec<Begun> = few.iter().map(|case| case.begin(&world)).collect();
        for case in &begun {
            if panic::catch_unwind(AssertUnwindSafe(|| judge(case, &world))).is_err() {
                wrong.push(case.case.name.clone());
            }
        }
    }
    assert_eq!(wrong, [""; 0]);
    world.verify();
}

#[test]
fn no_lie_passes_a_gate() {
    let cases = cases("lies");
    // Not with `println!`: what a passing test prints that way nobody sees.
    writeln!(io::stderr(), "{} agents that lie", cases.len()).expect("standard error is open");
    assert!(cases.len() >= 40 && cases.iter().all(|case| !case.found.is_empty()));
    each(0, &cases, Begun::is_refused);
}

#[test]
fn no_honest_agent_is_refused() {
    let cases = cases("honest");
    writeln!(io::stderr(), "{} honest agents", cases.len()).expect("standard error is open");
    assert!(cases.len() >= 25 && cases.iter().all(|case| case.found.is_empty()));
    each(1, &cases, Begun::is_approved);
}
