//! Forty tasks in four phases with everything that can happen on the way, first undisturbed, then with servers, agents,
//! shims and gits that are killed at random: the same tree in the end, and nothing done twice.

use std::{
    collections::BTreeSet,
    fmt::Write as _,
    fs,
    path::PathBuf,
    thread,
    time::{Duration, Instant},
};

use ostler_server::api::{LoopView, NewAnswer, OutcomeKind};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::support::{DEADLINE, Place, exists};

const PHASES: [&str; 4] = ["Model", "Service", "Screens", "Release"];

/// Fails however often it is tried; the person does without it then.
const HOPELESS: &str = "T2.5";

/// The person does without it from the beginning.
const UNWANTED: &str = "T2.4";

/// The person wants it first.
const FIRST: &str = "T2.9";

/// Between two looks.
const LOOK: Duration = Duration::from_millis(20);

/// Every task writes a function; some also name theirs in a file that they share. A draft that a killed one leaves lies
/// outside of the project.
const ANY: &str = r#"name=$(printf '%s' "$id" | tr 'T.' 't_')
printf '%s() {\n    echo "%s"\n}\n' "$name" "$id" > "src/$name.sh"
case "$id" in *.2 | *.6 | *.10)
    if ! grep -qx "$name" src/main.sh; then
        { cat src/main.sh; printf '. ./src/%s.sh\n%s\n' "$name" "$name"; } | LC_ALL=C sort > "$R/draft.$id"
        mv "$R/draft.$id" src/main.sh
    fi ;;
esac
"#;

const THIRD_TIME: &str = r#"n=$(cat "$R/count" 2>/dev/null || echo 0); n=$((n + 1)); echo $n > "$R/count"
if [ $n -lt 3 ]; then exit $n; fi
. "$R/behave/any"
"#;

const MEND: &str = r#"rm -f "$(git rev-parse --git-dir)/index.lock"
git merge -q main >/dev/null 2>&1
printf 'ours\ntheirs\n' > src/shared.txt
git commit -qam merged || git diff --quiet HEAD
"#;

/// A git that dies where `doom` says so, when the server has it merge or commit: before it does anything, on the way, or
/// when it is done and nobody has heard of it yet.
const GIT: &str = r#"#!/bin/sh
case " $* " in
" --no-pager "*" merge "* | " --no-pager "*" merge-tree "* | " --no-pager "*" merge-base "* | \
" --no-pager "*" commit-tree "* | " --no-pager "*" update-index "*)
    doom=$(ls @ROOT@/doom | head -1)
    if [ -n "$doom" ] && mv "@ROOT@/doom/$doom" "@ROOT@/doomed/$doom" 2>/dev/null; then
        case "$doom" in
        *.before) kill -9 $$ ;;
        *.during) @GIT@ "$@" <&0 & sleep "$(cat "@ROOT@/doomed/$doom")"; kill -9 $!; wait $!; kill -9 $$ ;;
        *.after) @GIT@ "$@"; kill -9 $$ ;;
        esac
    fi ;;
esac
exec @GIT@ "$@"
"#;

/// Numbers by chance, the same for the same seed.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end as u64).expect("it is below the end")
    }
}

/// What is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Victim {
    Server,
    Agent,
    Shim,
    Git,
}

fn tasks() -> String {
    let mut tasks = String::new();
    for (phase, title) in (1..).zip(PHASES) {
        writeln!(tasks, "## Phase {phase}: {title}").expect("text");
        for n in 1..=10 {
            let id = format!("T{phase}.{n}");
            write!(tasks, "- [ ] {id}: write {n}\n  - files: src/t{phase}_{n}.sh").expect("text");
            tasks.push_str(if n % 4 == 2 { ", src/main.sh" } else { "" });
            tasks.push_str(if id == "T3.1" { ", src/shared.txt\n" } else { "\n" });
            if n % 4 == 0 || id == "T2.6" || id == "T2.7" {
                writeln!(tasks, "  - deps: [T{phase}.{}]", n - 1).expect("text");
            }
        }
    }
    tasks
}

fn project() -> Place {
    let place = Place::new(&tasks());
    place.configure(
        "[orchestrate]\ntest = \"for f in src/*.sh; do sh -n $f || exit 1; done; sh src/main.sh >/dev/null\"\n",
    );
    place.behave("any", ANY);
    place.behave("mend", MEND);
    place.behave("T1.3", THIRD_TIME);
    place.behave(HOPELESS, "exit 3\n");
    place.behave("T3.1", "echo theirs > src/shared.txt; . \"$R/behave/any\"\n");
    // Until the person has said everything, until somebody else has committed, and until all were killed.
    for phase in [1, 3, 4] {
        let wait = format!("while [ ! -e \"$R/go{phase}\" ]; do sleep 0.05; done; . \"$R/behave/any\"\n");
        place.behave(&format!("T{phase}.10"), &wait);
    }
    place.write("project/src/main.sh", "# Every part that is shown.\n");
    place.git(&["add", "-A"]);
    place.git(&["commit", "-q", "-m", "parts"]);
    for folder in ["doom", "doomed"] {
        fs::create_dir_all(place.root.join(folder)).expect("a folder");
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut candidates = std::env::split_paths(&path).map(|folder| folder.join("git"));
    let git = candidates.find(|git| git.is_file()).expect("there is git");
    place.write_program("tools/git", &GIT.replace("@GIT@", &git.to_string_lossy()));
    place
}

/// The loop with its person, who skips one task and wants another first before anything depends on that.
fn begin(place: &mut Place) -> String {
    place.start(None);
    let run = place.begin(&["--max-parallel", "4"]);
    for (word, id) in [("skip", UNWANTED), ("first", FIRST)] {
        let (out, err, code) = place.ostler(&["tasks", word, id]);
        assert_eq!(code, 0, "{out}{err}");
    }
    place.write("go1", "");
    run
}

fn worktree(place: &Place, phase: usize) -> PathBuf {
    let title = PHASES[phase - 1].to_lowercase();
    place.project().join(format!("worktree/phase-{phase}-{title}"))
}

/// Somebody commits to main while phase 3 is worked on, and the person decides what is asked.
fn live(place: &Place, view: &LoopView) {
    if !place.root.join("go3").exists() && exists(&worktree(place, 3)) {
        place.write("project/src/shared.txt", "ours\n");
        place.git(&["commit", "-q", "-m", "somebody else", "--", "src/shared.txt"]);
        place.write("go3", "");
    }
    let Some(request) = &view.request else { return };
    let failed: Vec<&str> =
        view.tasks.iter().filter(|task| task.state == "failed").map(|task| task.id.as_str()).collect();
    for id in &failed {
        // It may have been decided by the last look.
        place.ostler(&["tasks", if *id == HOPELESS { "skip" } else { "retry" }, id]);
    }
    if failed.is_empty() {
        let answer = NewAnswer { value: Some("retry".to_owned()), ..NewAnswer::default() };
        place.post::<Value>(&format!("/requests/{request}/answer"), &answer).ok();
    }
}

/// What has to be so in the end, whatever happened.
fn check(place: &Place, view: &LoopView) {
    assert_eq!(view.outcome.clone().expect("an outcome").outcome, OutcomeKind::Completed);
    assert_eq!((view.counts.completed, view.counts.skipped, view.counts.failed), (38, 2, 0));
    let log = place.read("project/.claude/orchestrate.log");
    for line in ["ERROR:BLOCKED:T2.5", "CUSTOM:SKIP:T2.5", "CUSTOM:SKIP:T2.4", "PHASE_DONE:4", "ALL_DONE"] {
        assert!(log.contains(line), "{line}: {log}");
    }
    assert_eq!(place.git(&["show", "HEAD:src/shared.txt"]), "ours\ntheirs");
    assert_eq!(place.git(&["status", "--porcelain", "--", "src"]), "");
    assert_eq!(place.git(&["branch", "--list", "worktree/*"]), "");
    assert_eq!(place.git(&["worktree", "list"]).lines().count(), 1);
    let subjects = place.subjects();
    for (phase, n) in (1..=4).flat_map(|phase| (1..=10).map(move |n| (phase, n))) {
        let (id, name) = (format!("T{phase}.{n}"), format!("t{phase}_{n}"));
        let is_done = id != HOPELESS && id != UNWANTED;
        let committed = subjects.iter().filter(|it| it.starts_with(&format!("{id}: "))).count();
        assert_eq!(committed, usize::from(is_done), "{id}: {subjects:?}");
        let main = place.git(&["show", "HEAD:src/main.sh"]);
        let shown = main.lines().filter(|line| *line == name).count();
        assert_eq!(shown, usize::from(n % 4 == 2), "{id}: {main}");
    }
    let ran = place.read("ran");
    let second: Vec<&str> = ran.lines().filter(|line| line.starts_with("T2.")).take(4).collect();
    assert!(second.iter().any(|line| line.starts_with(FIRST)), "it came first: {second:?}");
}

/// How often agents were started, but for the one that never passes: how often it is tried depends on how it fails.
fn starts(place: &Place) -> usize {
    place.read("ran").lines().filter(|line| !line.starts_with(HOPELESS)).count()
}

/// Every process that is an agent of this place, or a shim.
fn pids(place: &Place, victim: Victim) -> Vec<Pid> {
    let (agent, home) = (place.root.join("agent"), place.root.join("home"));
    let is_it = |process: &fs::DirEntry| {
        let command = fs::read(process.path().join("cmdline")).unwrap_or_default();
        let command = String::from_utf8_lossy(&command).into_owned();
        let mut words = command.split('\0').skip(1);
        match victim {
            Victim::Agent => words.next() == agent.to_str(),
            Victim::Shim => {
                words.next() == Some("__shim")
                    && words.next().is_some_and(|it| it.starts_with(&*home.to_string_lossy()))
            }
            Victim::Server | Victim::Git => false,
        }
    };
    let processes = fs::read_dir("/proc").expect("processes are listed").flatten().filter(is_it);
    processes.filter_map(|it| Pid::from_raw(it.file_name().to_str()?.parse().ok()?)).collect()
}

/// Kills one of them; false if there is none now.
fn strike(place: &mut Place, victim: Victim, chance: &mut Chance) -> bool {
    if victim == Victim::Server {
        place.kill();
        place.start(None);
        return true;
    }
    let found = pids(place, victim);
    !found.is_empty() && kill_process(found[chance.below(found.len())], Signal::KILL).is_ok()
}

/// Has gits of a phase die: so many, each after some that live.
fn doom(place: &Place, phase: usize, count: usize, chance: &mut Chance) {
    let mut number = 0;
    let mut put = |fate: &str, after: &str| {
        number += 1;
        place.write(&format!("doom/{phase}.{number:03}.{fate}"), after);
    };
    for _ in 0..count {
        for _ in 0..chance.below(4) {
            put("pass", "");
        }
        let after = format!("0.{:03}", chance.below(12));
        put(["before", "during", "after"][chance.below(3)], &after);
    }
}

fn doomed(place: &Place) -> usize {
    let files = fs::read_dir(place.root.join("doomed")).expect("a folder").flatten();
    files.filter(|it| !it.file_name().to_string_lossy().ends_with(".pass")).count()
}

/// Who is killed, in which order: of five, two servers, an agent, a shim and a git.
fn victims(kills: usize, chance: &mut Chance) -> Vec<Victim> {
    let all = [Victim::Server, Victim::Agent, Victim::Git, Victim::Shim, Victim::Server];
    let mut victims: Vec<Victim> = all.into_iter().cycle().take(kills).collect();
    for at in (1..victims.len()).rev() {
        victims.swap(at, chance.below(at + 1));
    }
    victims
}

/// Lets the loop go on to its end, and kills on the way. How many processes with agents in them were killed.
fn disturb(place: &mut Place, run: &str, kills: usize, chance: &mut Chance) -> (LoopView, usize) {
    let (gits, victims): (Vec<Victim>, Vec<Victim>) =
        victims(kills, chance).into_iter().partition(|victim| *victim == Victim::Git);
    let (mut killed, mut executors) = (0, 0);
    let mut entered = BTreeSet::new();
    let deadline =
        Instant::now() + DEADLINE + Duration::from_secs(20) * u32::try_from(kills).unwrap_or(u32::MAX);
    loop {
        let view = place.view(run);
        if view.outcome.is_some() {
            println!(
                "loop: {killed} servers, agents and shims and {} gits killed at random, 40 tasks",
                doomed(place)
            );
            assert!(gits.is_empty() || doomed(place) > 0, "no git was killed");
            return (view, executors);
        }
        assert!(Instant::now() < deadline, "{view:#?}\n{}", place.read("server.log"));
        for phase in (1..=PHASES.len()).filter(|phase| exists(&worktree(place, *phase))) {
            if entered.insert(phase) {
                doom(place, phase, (gits.len() + PHASES.len() - phase) / PHASES.len(), chance);
            }
        }
        live(place, &view);
        // Spread over the whole way: so many are done before the next dies.
        let is_due = view.counts.completed * victims.len() >= killed * 36;
        if killed == victims.len() {
            place.write("go4", "");
        } else if is_due {
            thread::sleep(Duration::from_millis(chance.below(300) as u64));
            if strike(place, victims[killed], chance) {
                executors += usize::from(victims[killed] != Victim::Server);
                killed += 1;
            }
        }
        thread::sleep(LOOK);
    }
}

#[test]
fn forty_tasks_end_the_same_however_often_something_is_killed() {
    let given = |name: &str| std::env::var(name).ok().and_then(|it| it.parse::<u64>().ok());
    let kills = usize::try_from(given("OSTLER_LOOP_KILLS").unwrap_or(6)).expect("not too many");
    let seed = given("OSTLER_SEED").unwrap_or(0x2545_F491).max(1);
    println!("loop: seed {seed}");
    let mut undisturbed = project();
    undisturbed.write("go4", "");
    let run = begin(&mut undisturbed);
    let asked = undisturbed.until(&run, "a question", |view| {
        if view.request.is_none() {
            live(&undisturbed, view);
        }
        view.request.is_some()
    });
    let state = |id: &str| asked.tasks.iter().find(|task| task.id == id).expect("a task").state.clone();
    assert_eq!(["T2.5", "T2.6", "T2.7", "T2.8"].map(state), ["failed", "blocked", "blocked", "blocked"]);
    let view = undisturbed.until(&run, "its end", |view| {
        live(&undisturbed, view);
        view.outcome.is_some()
    });
    check(&undisturbed, &view);
    assert_eq!(undisturbed.read("count"), "3\n", "it has failed twice");

    let mut place = project();
    // Slow enough that most die in the middle of something.
    place.write("pause", "0.2");
    let run = begin(&mut place);
    let (view, executors) = disturb(&mut place, &run, kills, &mut Chance(seed));
    check(&place, &view);
    assert_eq!(place.content(), undisturbed.content(), "{:?}", place.tree());
    assert!(
        starts(&place) <= starts(&undisturbed) + executors,
        "agents are started again only where one was killed: {} and {} killed, not {}",
        starts(&undisturbed),
        executors,
        starts(&place),
    );
}
