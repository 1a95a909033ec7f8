//! What a verifier writes outlives it nowhere: its configuration is a copy, only a renewed login reaches the user, and
//! verifiers that use one login run one after the other.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use ostler_server::api::NewPhases;

use crate::{
    phases::{PHASES, agent, configure, keys, phases, repository, review},
    support::{World, write},
};

/// How the verifier's CLI is configured.
const PRIVATE: &str = r#"
private.variable = "FAKE_HOME"
private.default = ".fake"
private.shared = ["settings.json", "hooks"]
private.copied = ["state.json"]
private.login = ["sub/auth.json"]
private.locks = ["auth.lock"]
private.elsewhere = { "state.json" = ".fake.json" }
private.further.FAKE_STATE = { default = ".fake-state", copied = ["recent"] }
"#;

/// A person who is signed in, and runs through phases with a scripted verifier.
struct Person {
    world: World,
    home: PathBuf,
}

impl Person {
    fn new(verifier: &str, confine: bool) -> Person {
        let mut world = World::idle();
        let mut agents = agent(&world, "worker", "plan; complete 1 docs/a.md");
        agents.push_str(&agent(&world, "checker", verifier));
        let head = format!("[phases]\nrework = 0\nconfine = {confine}");
        let settings = PHASES.replace("[phases]", &head).replace("\"none\"", "\"checker\"");
        configure(&world, &format!("{agents}{PRIVATE}{settings}"));
        let home = world.project.parent().expect("a folder").join("person");
        sign_in(&home);
        world.start();
        Person { world, home }
    }

    /// Begins a run in a project of its own.
    fn begin(&self, name: &str, more: &[(&str, String)]) -> String {
        let project = self.world.project.join(name);
        repository(&project);
        let home = ("HOME", self.home.display().to_string());
        let path = ("PATH", std::env::var("PATH").unwrap_or_default());
        let environment = [home, path, ("LC_ALL", "C".to_owned())].into_iter().chain(more.iter().cloned());
        let new = NewPhases {
            directory: project.display().to_string(),
            idea: "a shop".to_owned(),
            environment: Some(environment.map(|(name, value)| (name.to_owned(), value)).collect()),
            ..NewPhases::default()
        };
        let run: ostler_server::api::PhasesView = self.world.post("/phases", &new).expect("a run");
        run.run
    }

    /// Waits until the verifier has passed the first phase, and gives its session.
    fn verified(&self, run: &str) -> String {
        let found = review(&self.world, run);
        let view = phases(&self.world, run);
        assert_eq!(keys(&found), Vec::<String>::new(), "{:?}", view.phases[0].gates);
        view.phases[0].sessions.last().expect("somebody verified").clone()
    }

    fn login(&self) -> String {
        fs::read_to_string(self.home.join(".fake/sub/auth.json")).expect("a login")
    }
}

fn sign_in(home: &Path) {
    for folder in [".fake/hooks", ".fake/sub", ".fake-state", ".claude", ".cache", "kept"] {
        fs::create_dir_all(home.join(folder)).expect("a folder");
    }
    write(home, "kept/one", "echo kind\n");
    symlink(home.join("kept/one"), home.join(".fake/hooks/one")).expect("a link");
    write(home, ".fake/settings.json", "{\"theme\":\"dark\"}\n");
    write(home, ".fake/sub/auth.json", "{\"token\":\"0\"}");
    write(home, ".fake.json", "mine\n");
    write(home, ".fake-state/recent", "lately\n");
    write(home, ".claude/settings.json", "{}\n");
}

/// Everything below a directory: what is in files, and where links lead.
fn everything(directory: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(directory).expect("a folder").map(|entry| entry.expect("an entry").path()) {
        if entry.is_symlink() {
            let target = fs::read_link(&entry).expect("a link").display().to_string();
            found.insert(entry, target);
        } else if entry.is_dir() {
            found.extend(everything(&entry));
            found.insert(entry, String::new());
        } else {
            let text = fs::read_to_string(&entry).expect("a file");
            found.insert(entry, text);
        }
    }
    found
}

/// Tries to leave something for the user's next CLI, wherever there is a way.
const PLANTER: &str = r#"
cat "$FAKE_HOME/settings.json" "$FAKE_HOME/hooks/one" "$FAKE_HOME/state.json" "$FAKE_STATE/recent" "$FAKE_HOME/sub/auth.json"
echo
find "$FAKE_HOME" "$FAKE_STATE" -type l | sed 's/^/a link: /'
plant() { mkdir -p "$(dirname "$1")" 2>/dev/null; (echo planted >>"$1") 2>/dev/null && echo "planted: $1"; }
own=$(dirname "$FAKE_HOME")
session=$(dirname "$own")
plant "$HOME/.fake/settings.json"
plant "$HOME/.fake/hooks/two"
plant "$HOME/kept/one"
plant "$HOME/.fake/sub/auth.json"
plant "$HOME/.fake.json"
plant "$HOME/.fake/auth.lock"
plant "$HOME/.claude/settings.json"
plant "$HOME/.claude/hooks/two"
plant "$HOME/.cache/tool/bin"
plant "$HOME/.bashrc"
plant "$session/verifier.json"
plant "$session/1/launch.json"
plant "$session/beside"
mv "$HOME/.fake/hooks" "$HOME/.fake/moved" 2>/dev/null && echo moved
ln -s "$HOME" "$HOME/.fake/link" 2>/dev/null && echo linked
mv "$own" "$own.moved" 2>/dev/null && echo exchanged
for place in "$FAKE_HOME/settings.json" "$FAKE_HOME/hooks/one" "$FAKE_HOME/hooks/two" "$FAKE_STATE/recent" "$TMPDIR/x" "$XDG_CACHE_HOME/x"; do
    plant "$place" | sed 's/:.*/ in its own/'
done
rm -r "$FAKE_HOME/sub"; ln -s "$HOME/.fake/hooks" "$FAKE_HOME/sub"; ln -s "$HOME" "$FAKE_HOME/home"
mkdir -p "$FAKE_HOME/closed/inside"; chmod 000 "$FAKE_HOME/closed"
verdict true
"#;

#[test]
fn nothing_that_a_verifier_plants_survives() {
    if !ostler_shim::can_confine() {
        eprintln!("SKIPPED: this kernel has no Landlock");
        return;
    }
    let person = Person::new(PLANTER, true);
    let before = everything(&person.home);
    let verifier = person.verified(&person.begin("one", &[]));
    let said = person.world.output(&verifier);
    let own = "{\"theme\":\"dark\"}\necho kind\nmine\nlately\n{\"token\":\"0\"}\n".to_owned()
        + &"planted in its own\n".repeat(6);
    assert_eq!(said.split("=== VERIFICATION").next(), Some(own.as_str()), "{said}");
    assert_eq!(everything(&person.home), before);
    let session = person.world.home.join("sessions").join(&verifier);
    let left: Vec<String> = fs::read_dir(&session)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    assert!(!left.iter().any(|name| name.starts_with("verifier") || name == "config"), "{left:?}");
}

/// Renews its login as CLIs do, while it works and in its last moment. What else it puts there is not brought.
const RENEWER: &str = r#"
renew() { printf '%s' "$1" >"$FAKE_HOME/draft"; mv "$FAKE_HOME/draft" "$FAKE_HOME/sub/auth.json"; }
until_is() { until grep -q "$1" "$2"; do sleep 0.05; done; }
renew '{"token":"1"}'
until_is 1 "$HOME/.fake/sub/auth.json"
printf '{"token":"2"}' >"$FAKE_HOME/sub/auth.json"
until_is 2 "$HOME/.fake/sub/auth.json"
renew '{"token":"3","https://example.org":{"type":"wellknown"}}'
printf '{"planted":true}' >"$FAKE_HOME/settings.json"
until_is theirs "$FAKE_HOME/sub/auth.json"
renew '{"token":"last"}'
verdict true
"#;

#[test]
fn a_login_that_a_verifier_renews_reaches_the_user() {
    let person = Person::new(RENEWER, true);
    let settings = fs::read_to_string(person.home.join(".fake/settings.json")).expect("settings");
    let run = person.begin("one", &[]);
    person.world.wait_for("the second renewal", |_| person.login().contains('2').then_some(()));
    let find_planted = |world: &World| {
        let copies = world.home.join("sessions");
        let sessions = fs::read_dir(copies).ok()?.filter_map(Result::ok).map(|entry| entry.path());
        let mut copies = sessions.map(|session| session.join("verifier/FAKE_HOME/settings.json"));
        copies.any(|copy| fs::read_to_string(copy).is_ok_and(|it| it.contains("planted"))).then_some(())
    };
    person.world.wait_for("the verifier to go on", find_planted);
    assert_eq!(person.login(), "{\"token\":\"2\"}", "nobody else is signed in with it");
    // Signed in anew by the user: the verifier gets that one.
    write(&person.home, ".fake/sub/auth.json", "{\"token\":\"theirs\"}");
    person.verified(&run);
    assert_eq!(person.login(), "{\"token\":\"last\"}");
    assert_eq!(fs::read_to_string(person.home.join(".fake/settings.json")).expect("settings"), settings);
    let left = fs::read_dir(person.home.join(".fake/sub")).expect("a folder").count();
    assert_eq!(left, 1, "nothing is left beside it");
}

/// Notices whoever is there at the same time, and renews the login that the last one has left.
const COUNTER: &str = r#"
mkdir "$HOME/busy" || echo "two at once" >>"$HOME/overlap"
echo began >>"$HOME/begun"
sleep 1
token=$(tr -dc 0-9 <"$FAKE_HOME/sub/auth.json")
printf '{"token":"%s"}' $((token + 1)) >"$FAKE_HOME/sub/auth.json"
rmdir "$HOME/busy"
verdict true
"#;

#[test]
fn verifiers_of_one_login_run_one_after_the_other() {
    let mut person = Person::new(COUNTER, false);
    let runs: Vec<String> =
        ["one", "two", "three", "four"].iter().map(|name| person.begin(name, &[])).collect();
    // A server that ends meanwhile knows afterwards who is at work.
    person.world.wait_for("the first verifier", |_| person.home.join("begun").exists().then_some(()));
    person.world.restart();
    let waiting = person.world.wait_for("one that waits for its turn", |world| {
        let waits = |run: &&String| {
            let view = phases(world, run);
            view.phases[0].gates.last().is_some_and(|gate| gate.step == "place" && gate.waits_for_login)
        };
        let run = runs.iter().find(waits)?;
        let status = world.ostler(&["phases", "status", run]);
        let status = String::from_utf8_lossy(&status.stdout).into_owned();
        status.contains("waits: another verifier uses this login").then(|| run.clone())
    });
    for run in &runs {
        person.verified(run);
    }
    let gates = phases(&person.world, &waiting).phases[0].gates.clone();
    assert!(gates.iter().all(|gate| !gate.waits_for_login), "{gates:?}");
    assert!(!person.home.join("overlap").exists(), "two verifiers used one login at the same time");
    assert_eq!(person.login(), "{\"token\":\"4\"}", "each renewed what the one before it had left");
}

#[test]
fn verifiers_of_different_logins_run_at_the_same_time() {
    // Each waits for the other one.
    let script = ": >\"$HOME/$WHO\"; until [ -e \"$HOME/$OTHER\" ]; do sleep 0.05; done; verdict true";
    let person = Person::new(script, false);
    let other = person.home.join("other");
    fs::create_dir_all(other.join("sub")).expect("a folder");
    write(&other, "sub/auth.json", "{\"token\":\"other\"}");
    let variables = |who: &str, other: &str| [("WHO", who.to_owned()), ("OTHER", other.to_owned())];
    let first = person.begin("one", &variables("a", "b"));
    let mut second = variables("b", "a").to_vec();
    second.push(("FAKE_HOME", other.display().to_string()));
    let second = person.begin("two", &second);
    for run in [first, second] {
        person.verified(&run);
    }
}

#[test]
fn a_cancelled_run_leaves_nothing_of_its_verifier() {
    let script = "printf '{\"token\":\"1\"}' >\"$FAKE_HOME/sub/auth.json\"; exec sleep 1000";
    let person = Person::new(script, true);
    let run = person.begin("one", &[]);
    person.world.wait_for("the renewal", |_| person.login().contains('1').then_some(()));
    let sessions = phases(&person.world, &run).phases[0].sessions.clone();
    let (worker, verifier) = (&sessions[0], sessions.last().expect("a verifier"));
    let folder = person.world.home.join("sessions").join(verifier);
    assert!(folder.join("verifier/FAKE_HOME/settings.json").exists());
    person.world.wish(worker, "cancel");
    person.world.wait_for("nothing of it", |_| {
        let is_left = ["verifier", "verifier.json"].iter().any(|name| folder.join(name).exists());
        (!is_left).then_some(())
    });
    assert_eq!(person.login(), "{\"token\":\"1\"}");
}
