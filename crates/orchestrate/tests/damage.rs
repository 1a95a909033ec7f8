//! A state that is damaged, or a log that cannot be written, while somebody works, and whoever leaves their work: nothing
//! is lost, and nobody does it twice.
#![expect(clippy::disallowed_methods, reason = "files of a test")]

use std::{env, fs, path::PathBuf, sync::Arc};

use ostler_orchestrate::{
    Begun, Ended, Over, Project, Resolve, Work, begin, end_all,
    plan::State::{self, Completed, Failed, InProgress},
    release, resolve,
};
use ostler_protocol::name::TaskId;

struct Place {
    root: PathBuf,
    project: Project,
    /// Its own: what is begun at the same moment in the same process has the same key.
    at_ms: u64,
}

impl Place {
    fn new(name: &str, at_ms: u64, tasks: &str) -> Place {
        let root = env::temp_dir().join(format!("ostler-damage-{name}-{}", std::process::id()));
        fs::remove_dir_all(&root).ok();
        fs::create_dir_all(&root).expect("the temporary directory can be written");
        fs::write(root.join("TASKS.md"), tasks).expect("a file");
        let project = Project::find(&root, Some(&root.join("TASKS.md")));
        Place { root, project, at_ms }
    }

    fn begin(&self, id: &str) -> Result<Arc<Work>, String> {
        match begin(&self.project, &self::id(id), None, false, self.at_ms) {
            Begun::Work(work) => Ok(work),
            Begun::Settled(ended) => Err(ended.line(&self::id(id)).to_string()),
        }
    }

    fn end(&self, work: &Arc<Work>, ended: Ended) -> String {
        let over = Over::proven(work, ended);
        end_all(&self.project, &[over], 2_000)[0].line(&work.id).to_string()
    }

    fn damage(&self) {
        fs::write(self.root.join(".claude/orchestrate-state.json"), "{\"version\":").expect("a file");
    }

    fn resolve(&self, is_repair: bool) -> String {
        let asked = Resolve { repair: is_repair.then_some(&[]), ..Resolve::default() };
        resolve(&self.project, asked, 3_000).line.to_string()
    }

    fn state(&self, id: &str) -> Option<State> {
        let state = self.project.state().expect("it can be read").expect("it is there");
        state.tasks().get(&self::id(id)).copied()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.root).ok();
    }
}

fn id(text: &str) -> TaskId {
    text.parse().expect("an id")
}

fn failed() -> Ended {
    Ended::Failed { reason: "no".to_owned() }
}

#[test]
fn what_ends_meanwhile_is_marked_and_found_by_a_repair() {
    let place = Place::new("ends", 1_000, "- [ ] T1.1: a\n- [ ] T1.2: b\n- [ ] T1.3: c\n");
    let [first, second] = ["T1.1", "T1.2"].map(|id| place.begin(id).expect("it begins"));
    place.damage();
    assert_eq!(place.end(&first, Ended::Done), "DONE:T1.1");
    assert_eq!(place.end(&second, failed()), "FAIL:T1.2:no");
    let tasks = fs::read_to_string(place.root.join("TASKS.md")).expect("it is there");
    assert_eq!(tasks, "- [x] T1.1: a\n- [ ] T1.2: b\n- [ ] T1.3: c\n");
    assert!(place.resolve(false).starts_with("ERROR:STATE_CORRUPT:"));
    assert_eq!(place.resolve(true), "READY:T1.3");
    assert_eq!((place.state("T1.1"), place.state("T1.2")), (Some(Completed), Some(Failed)));
}

#[test]
fn a_repair_knows_who_works_on_what() {
    let place = Place::new("works", 1_001, "- [ ] T1.1: a\n- [ ] T1.2: b\n");
    let work = place.begin("T1.1").expect("it begins");
    let refused = "FAIL:T1.1:it is being done already";
    // Whoever is refused has ended nothing.
    assert_eq!(place.begin("T1.1").expect_err("it is begun"), refused);
    for _ in 0..2 {
        place.damage();
        assert_eq!(place.resolve(true), "READY:T1.2");
        assert_eq!(place.begin("T1.1").expect_err("it is begun"), refused);
    }
    let key = work.key.clone();
    drop(work);
    place.damage();
    assert_eq!(place.resolve(true), "READY:T1.2");
    let work = place.begin("T1.1").expect("nobody works on it any more");
    assert_eq!(work.key, key, "the same run is gone on with");
    assert_eq!(place.end(&work, failed()), "FAIL:T1.1:no");
    place.damage();
    assert_eq!(place.resolve(true), "READY:T1.2");
    assert_eq!(place.state("T1.1"), Some(Failed));
}

#[test]
fn what_is_given_back_meanwhile_can_be_begun() {
    let place = Place::new("back", 1_002, "- [ ] T1.1: a\n");
    let work = place.begin("T1.1").expect("it begins");
    place.damage();
    release(&place.project, &work, 2_000).expect("the log has it");
    assert_eq!(place.resolve(true), "READY:T1.1");
    // A task that runs on is not given back by what another process says of its own.
    let work = place.begin("T1.1").expect("it begins");
    place.damage();
    assert_eq!(place.resolve(true), "WAIT");
    assert_eq!(place.state("T1.1"), Some(InProgress));
    assert_eq!(place.end(&work, Ended::Done), "DONE:T1.1");
    assert_eq!(place.state("T1.1"), Some(Completed));
}

#[test]
fn what_somebody_has_left_is_offered_again_and_not_waited_for() {
    let place = Place::new("left", 1_003, "- [ ] T1.1: a\n- [ ] T1.2: b\n- [ ] T2.1: c\n");
    let [first, second] = ["T1.1", "T1.2"].map(|id| place.begin(id).expect("it begins"));
    assert_eq!(place.resolve(false), "WAIT");
    drop(first);
    assert_eq!(place.resolve(false), "WAIT", "somebody is at the other one");
    drop(second);
    assert_eq!(place.resolve(false), "READY:T1.1,T1.2");
    assert_eq!(place.state("T1.1"), Some(InProgress), "whoever begins it goes on with it");
    let second = place.begin("T1.2").expect("nobody works on it any more");
    assert_eq!(place.resolve(false), "WAIT");
    assert_eq!(place.end(&second, Ended::Done), "DONE:T1.2");
    assert_eq!(place.resolve(false), "READY:T1.1");
}

#[test]
fn without_a_log_nothing_has_changed() {
    let place = Place::new("log", 1_004, "- [ ] T1.1: a\n");
    let log = place.root.join(".claude/orchestrate.log");
    fs::create_dir_all(&log).expect("a folder where the log is to be");
    let refused = place.begin("T1.1").expect_err("it cannot be put down");
    assert!(refused.contains("orchestrate.log: Is a directory"), "{refused}");
    fs::remove_dir(&log).expect("it is empty");
    assert!(place.project.state().expect("it can be read").is_none(), "nothing was written");
    assert_eq!(place.resolve(false), "READY:T1.1");
}
