//! Pruning: history goes by age, the only place of work does not.

use std::{fs, time::Duration};

use ostler_workspace::{CheckpointSpec, KeptCheckpoint, PrunePolicy, Repository};

use crate::{
    checkpoint::{checkpoint, made, spec},
    support::{Ground, work_in},
};

/// Nothing is kept for its age.
const STRICT: PrunePolicy =
    PrunePolicy { last: 1, hourly: Duration::ZERO, daily: Duration::ZERO, discarded: None };

const NONE: PrunePolicy = PrunePolicy { last: 0, ..STRICT };

/// Long after everything here was made.
const LATER_S: u64 = 1 << 40;

fn prune(repository: &Repository, policy: &PrunePolicy, needed: &[&str], dry_run: bool) -> Vec<String> {
    let is_needed = |kept: &KeptCheckpoint| needed.contains(&kept.id.as_str());
    let pruned = repository.too_many(policy, "here", LATER_S, &is_needed).expect("git works");
    if !dry_run {
        repository.prune(&pruned).expect("git works");
    }
    let mut names: Vec<_> = pruned.into_iter().map(|it| it.id.unwrap_or(it.reference)).collect();
    names.sort();
    names
}

fn left(repository: &Repository) -> Vec<String> {
    repository.checkpoints().expect("git works").into_iter().map(|kept| kept.id).collect()
}

#[test]
fn what_no_rule_keeps_goes() {
    let ground = Ground::new();
    let project = ground.project("project");
    let repository = project.repository();
    for id in 1..=4 {
        project.write("new", &format!("{id}\n"));
        checkpoint(&repository, None, id);
    }
    let other = CheckpointSpec { state: "there".to_owned(), session: "s_9".to_owned(), ..spec(9) };
    made(repository.checkpoint(None, &other).unwrap());
    assert_eq!(prune(&repository, &STRICT, &["c_2"], true), ["c_1", "c_3"]);
    assert_eq!(left(&repository).len(), 5, "a dry run changes nothing");
    assert_eq!(prune(&repository, &STRICT, &["c_2"], false), ["c_1", "c_3"]);
    assert_eq!(left(&repository), ["c_2", "c_4", "c_9"], "another state directory's are its own");
    assert_eq!(prune(&repository, &STRICT, &["c_2"], false), Vec::<String>::new());
}

#[test]
fn the_only_place_of_work_stays() {
    let ground = Ground::new();
    let project = ground.project("project");
    let repository = project.repository();
    project.write("new", "one\n");
    made(repository.checkpoint(None, &CheckpointSpec { why: "restore".to_owned(), ..spec(1) }).unwrap());
    project.write("new", "two\n");
    checkpoint(&repository, None, 2);
    assert_eq!(prune(&repository, &NONE, &[], false), Vec::<String>::new());
    // Once a branch has it, it has another place.
    project.commit("two");
    assert_eq!(prune(&repository, &NONE, &[], false), ["c_2"]);
    assert_eq!(prune(&repository, &NONE, &[], false), Vec::<String>::new());
    project.write("new", "one\n");
    project.commit("one");
    assert_eq!(prune(&repository, &NONE, &[], false), ["c_1"]);
}

#[test]
fn discarded_work_is_kept_for_as_long_as_wanted() {
    let ground = Ground::new();
    let project = ground.project("project");
    let repository = project.repository();
    let worktree = project.worktree();
    work_in(&worktree.path);
    let pin = repository.discard(&worktree).unwrap().pin.unwrap();
    assert_eq!(prune(&repository, &STRICT, &[], false), Vec::<String>::new(), "for ever, if nothing is said");
    let policy = PrunePolicy { discarded: Some(Duration::from_mins(1)), ..STRICT };
    assert_eq!(prune(&repository, &policy, &[], true), ["refs/ostler/discarded/s_12"]);
    // What a branch has needs no pin.
    project.git(["branch", "kept", pin.commit.as_str()]);
    assert_eq!(prune(&repository, &STRICT, &[], false), ["refs/ostler/discarded/s_12"]);
    assert!(!fs::exists(project.root.join(".git/refs/ostler/discarded/s_12")).unwrap());
}
