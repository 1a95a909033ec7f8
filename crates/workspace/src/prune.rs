//! Thins out checkpoints and pins by age, as a policy says.
//!
//! History may go; the only place of work may not. A ref is let go only from where it was seen, and objects are left to
//! git's own housekeeping.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use crate::{
    Commit, GitError, KeptCheckpoint, Repository,
    git::{Call, text},
    pin::DISCARDED,
};

const HOUR_S: u64 = 60 * 60;
const DAY_S: u64 = 24 * HOUR_S;

/// Why a checkpoint was made that holds what somebody had removed or overwritten.
const OF_A_RESTORE: &str = "restore";

/// What is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrunePolicy {
    /// So many of each session, the newest.
    pub last: usize,
    /// One for each hour, for so long.
    pub hourly: Duration,
    /// One for each day, for so long.
    pub daily: Duration,
    /// How long the work of a discarded worktree is kept; for ever, if nothing is said. What has another place goes
    /// when `daily` is over.
    pub discarded: Option<Duration>,
}

/// A ref that was let go, or would be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pruned {
    /// Its full name.
    pub reference: String,
    /// Where it led.
    pub commit: Commit,
    /// The checkpoint that it was; none if it was the work of a discarded worktree.
    pub id: Option<String>,
    /// Whose work it was.
    pub session: String,
}

impl Repository {
    /// What the policy does not keep, of one state directory. Whatever `is_needed` names stays.
    pub fn too_many(
        &self,
        policy: &PrunePolicy,
        state: &str,
        now_s: u64,
        is_needed: &dyn Fn(&KeptCheckpoint) -> bool,
    ) -> Result<Vec<Pruned>, GitError> {
        let mut own = self.checkpoints()?;
        own.retain(|kept| kept.state == state);
        let mut pruned = Vec::new();
        for (kept, is_newest) in unwanted(&own, policy, now_s) {
            let holds_work = is_newest || kept.why == OF_A_RESTORE;
            if is_needed(kept) || (holds_work && self.is_only_place(&kept.commit)?) {
                continue;
            }
            pruned.push(Pruned {
                reference: kept.reference.clone(),
                commit: kept.commit.clone(),
                id: Some(kept.id.clone()),
                session: kept.session.clone(),
            });
        }
        pruned.extend(self.old_pins(policy, now_s)?);
        Ok(pruned)
    }

    /// Lets go of refs that still lead where they were seen.
    pub fn prune(&self, unwanted: &[Pruned]) -> Result<(), GitError> {
        unwanted.iter().try_for_each(|it| self.drop_ref(&it.reference, &it.commit))
    }

    /// Pins that are older than wanted.
    fn old_pins(&self, policy: &PrunePolicy, now_s: u64) -> Result<Vec<Pruned>, GitError> {
        let command = "for-each-ref";
        let format = "--format=%(refname) %(objectname) %(committerdate:unix)";
        let list = text(Call::on(&self.common_dir).args([command, format, DISCARDED]).run()?, command)?;
        let mut old = Vec::new();
        for line in list.lines() {
            let [reference, commit, at] = line.split(' ').collect::<Vec<_>>()[..] else { continue };
            let (Some(commit), Ok(at_s)) = (Commit::parse(commit), at.parse::<u64>()) else { continue };
            let age = Duration::from_secs(now_s.saturating_sub(at_s));
            let is_old = policy.discarded.is_some_and(|kept| age > kept)
                || (age > policy.daily && !self.is_only_place(&commit)?);
            if is_old {
                let session = reference.trim_start_matches(DISCARDED).to_owned();
                old.push(Pruned { reference: reference.to_owned(), commit, id: None, session });
            }
        }
        Ok(old)
    }

    /// Whether a commit or a file in a checkpoint or pin is on no branch, tag or remote. In doubt it is.
    fn is_only_place(&self, commit: &Commit) -> Result<bool, GitError> {
        let (list, parents) = ("rev-list", format!("{commit}^@"));
        let refs = ["--branches", "--tags", "--remotes"];
        // What was staged is kept as a commit that nobody made.
        let but_staged = ["--invert-grep", "--grep=^What was staged$"];
        let made = [list, "--max-count=1"].into_iter().chain(but_staged).chain([parents.as_str(), "--not"]);
        if !self.lines(made.chain(refs))?.is_empty() {
            return Ok(true);
        }
        let files = [list, "--objects", "--filter=object:type=blob", "--filter-provided-objects"];
        let in_it = self.lines(files.into_iter().chain([commit.as_str(), "--not"]).chain(refs))?;
        if in_it.is_empty() {
            return Ok(false);
        }
        let came_later = self.lines(files.into_iter().chain(refs).chain(["--not", &parents]))?;
        Ok(!in_it.is_subset(&came_later))
    }

    /// The names of objects, without their paths.
    fn lines<'a>(&self, args: impl Iterator<Item = &'a str>) -> Result<BTreeSet<Vec<u8>>, GitError> {
        let list = Call::on(&self.common_dir).args(args).args(["--"]).run()?;
        let lines = list.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        Ok(lines.map(|line| line.split(|byte| *byte == b' ').next().unwrap_or_default().to_vec()).collect())
    }
}

/// The checkpoints that no rule keeps, and whether each is the newest of its session.
fn unwanted<'a>(
    kept: &'a [KeptCheckpoint],
    policy: &PrunePolicy,
    now_s: u64,
) -> Vec<(&'a KeptCheckpoint, bool)> {
    let mut sessions: BTreeMap<&str, Vec<&KeptCheckpoint>> = BTreeMap::new();
    for it in kept {
        sessions.entry(&it.session).or_default().push(it);
    }
    let mut unwanted = Vec::new();
    for of_session in sessions.values_mut() {
        of_session.sort_by_key(|it| std::cmp::Reverse((it.at_s, number(&it.id))));
        let mut seen = BTreeSet::new();
        for (place, &it) in of_session.iter().enumerate() {
            let age_s = now_s.saturating_sub(it.at_s);
            // The newest of each hour or day comes first.
            let first_of = |unit: u64, seen: &mut BTreeSet<(u64, u64)>| seen.insert((unit, it.at_s / unit));
            let (of_hour, of_day) = (first_of(HOUR_S, &mut seen), first_of(DAY_S, &mut seen));
            let is_kept = place < policy.last
                || (of_hour && age_s <= policy.hourly.as_secs())
                || (of_day && age_s <= policy.daily.as_secs());
            if !is_kept {
                unwanted.push((it, place == 0));
            }
        }
    }
    unwanted
}

fn number(id: &str) -> u64 {
    id.rsplit('_').next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(id: u64, at_s: u64) -> KeptCheckpoint {
        KeptCheckpoint {
            reference: String::new(),
            commit: Commit::parse(&"a1".repeat(20)).expect("a name"),
            at_s,
            id: format!("c_{id}"),
            session: "s_1".to_owned(),
            state: String::new(),
            why: String::new(),
            requests: Vec::new(),
        }
    }

    #[test]
    fn the_last_ones_then_one_per_hour_then_one_per_day() {
        let day = Duration::from_secs(DAY_S);
        let policy = PrunePolicy { last: 3, hourly: day, daily: 10 * day, discarded: None };
        let now_s = 100 * DAY_S;
        // Every ten minutes, for twenty days.
        let all: Vec<KeptCheckpoint> = (0..20 * 144).map(|n| kept(n, now_s - n * 600)).collect();
        let gone: BTreeSet<&str> =
            unwanted(&all, &policy, now_s).into_iter().map(|(it, _)| it.id.as_str()).collect();
        let left: Vec<&KeptCheckpoint> = all.iter().filter(|it| !gone.contains(it.id.as_str())).collect();
        assert!(left.iter().take(3).map(|it| it.id.as_str()).eq(["c_0", "c_1", "c_2"]));
        let age = |it: &&&KeptCheckpoint| now_s - it.at_s;
        assert_eq!(left.iter().filter(|it| age(it) <= DAY_S).count(), 3 + 24 - 1);
        assert_eq!(left.iter().filter(|it| age(it) > DAY_S).count(), 9);
        assert!(left.iter().all(|it| age(&it) <= 10 * DAY_S));
    }

    #[test]
    fn of_one_second_the_higher_number_is_the_newer() {
        let policy = PrunePolicy { last: 1, hourly: Duration::ZERO, daily: Duration::ZERO, discarded: None };
        let all = [kept(9, 5), kept(10, 5)];
        let gone: Vec<_> =
            unwanted(&all, &policy, 100).into_iter().map(|(it, newest)| (&*it.id, newest)).collect();
        assert_eq!(gone, [("c_9", false)]);
    }
}
