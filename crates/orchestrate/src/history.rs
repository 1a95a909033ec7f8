//! What ran when, as far as the log knows it.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::OpenOptions,
    io::{Read, Seek, SeekFrom},
    mem,
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

use ostler_engine::plan::{Plan, State as TaskState, Task};
use ostler_protocol::{name::TaskId, thin::Thin};
use rustix::fs::OFlags;

use crate::{project::Project, stamp::read_stamp, state::State};

/// So much of the end of the log is read.
const TAIL_BYTES_MAX: u64 = 4 << 20;

/// So many attempts of a task are kept, the last ones.
const ATTEMPTS_MAX: usize = 20;

/// A time that somebody worked on a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// When it was begun, in UTC milliseconds.
    pub begun_at_ms: u64,
    /// When it was over, if it is.
    pub ended_at_ms: Option<u64>,
    /// Why it was not done; nothing if it was, or is not over.
    pub failed: Option<String>,
}

impl Project {
    /// The attempts at each task, oldest first. A log that is not there, or cannot be read, knows of none.
    pub fn history(&self) -> BTreeMap<TaskId, Vec<Attempt>> {
        if !self.is_folder_inside() {
            return BTreeMap::new();
        }
        attempts(&tail(&self.log_file()).unwrap_or_default())
    }

    /// A state as far as the log knows it, in place of one that cannot be used any more.
    pub(crate) fn recalled(&self, plan: &Plan, at_ms: u64) -> State {
        let mut state = State::new(&self.name(), plan, at_ms);
        if self.is_folder_inside() {
            recall(&tail(&self.log_file()).unwrap_or_default(), plan, &mut state);
        }
        state
    }
}

/// The end of the log, from the beginning of a line on.
fn tail(path: &Path) -> std::io::Result<String> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC).bits().cast_signed();
    let mut file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let about = file.metadata()?;
    if !about.is_file() {
        return Ok(String::new());
    }
    let start = about.len().saturating_sub(TAIL_BYTES_MAX);
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.take(TAIL_BYTES_MAX).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    Ok(if start == 0 { text.into_owned() } else { text.split_once('\n').unwrap_or_default().1.to_owned() })
}

/// Each line with its time; what has none is not ours.
fn entries(log: &str) -> impl Iterator<Item = (u64, &str)> {
    log.lines().filter_map(|line| {
        let (at, said) = line.strip_prefix('[')?.split_once("] ")?;
        Some((read_stamp(at)?, said))
    })
}

/// Puts into a new state what the log says was done, given up and decided, and which phases were recorded.
fn recall(log: &str, plan: &Plan, state: &mut State) {
    let mut begun: BTreeSet<TaskId> = BTreeSet::new();
    let mut is_answer = false;
    for (at_ms, said) in entries(log) {
        let was_asked = mem::replace(&mut is_answer, said.starts_with("RESOLVE_NEXT"));
        if let Some(ids) = said.strip_prefix("EXECUTE:") {
            begun.extend(ids.split([',', '|']).filter_map(|id| id.trim().parse::<TaskId>().ok()));
            continue;
        }
        match Thin::parse(said) {
            Some(Thin::Task { id, .. }) => {
                begun.insert(id);
            }
            Some(Thin::Done { id, .. }) => state.executed(&id, TaskState::Completed),
            // Whoever may not begin a task is told so in the same way.
            Some(Thin::Fail { id, .. }) if begun.remove(&id) => state.executed(&id, TaskState::Failed),
            Some(Thin::Custom { message_type, payload, .. }) => decided(&message_type, &payload, state),
            // A resolver says the same of a phase that can be recorded.
            Some(Thin::PhaseDone { phase }) if !was_asked => {
                let names = plan.tasks().filter(|task| task.phase() == phase).map(Task::name);
                state.close(plan, phase, names, at_ms);
            }
            _ => {}
        }
    }
}

fn decided(word: &str, id: &str, state: &mut State) {
    let Ok(id) = id.parse::<TaskId>() else { return };
    match word {
        "SKIP" => state.executed(&id, TaskState::Skipped),
        "RETRY" => state.executed(&id, TaskState::Pending),
        "PRIORITY" => state.prefer(&id),
        _ => {}
    }
}

/// Reads `[2026-01-21T10:00:00] EXECUTE:T1.3` and what came of it; all other lines are about something else.
fn attempts(log: &str) -> BTreeMap<TaskId, Vec<Attempt>> {
    let mut found: BTreeMap<TaskId, Vec<Attempt>> = BTreeMap::new();
    for (at_ms, said) in entries(log) {
        if let Some(ids) = said.strip_prefix("EXECUTE:") {
            for id in ids.split([',', '|']).filter_map(|id| id.trim().parse().ok()) {
                begin(found.entry(id).or_default(), at_ms);
            }
            continue;
        }
        match Thin::parse(said) {
            Some(Thin::Task { id, .. }) => begin(found.entry(id).or_default(), at_ms),
            Some(Thin::Done { id, .. }) => end(found.get_mut(&id), at_ms, None),
            Some(Thin::Fail { id, reason, .. }) => end(found.get_mut(&id), at_ms, Some(reason)),
            _ => {}
        }
    }
    found
}

/// Somebody begins. Who went on after a crash says so again, and it is the same attempt.
fn begin(attempts: &mut Vec<Attempt>, at_ms: u64) {
    if attempts.last().is_some_and(|last| last.ended_at_ms.is_none()) {
        return;
    }
    if attempts.len() == ATTEMPTS_MAX {
        attempts.remove(0);
    }
    attempts.push(Attempt { begun_at_ms: at_ms, ended_at_ms: None, failed: None });
}

/// Whoever asks for a task that cannot be begun gets a `FAIL` too, and so may be told while another works on it: what is
/// said last counts, unless it only says the same again.
fn end(attempts: Option<&mut Vec<Attempt>>, at_ms: u64, failed: Option<String>) {
    let Some(last) = attempts.and_then(|attempts| attempts.last_mut()) else { return };
    let is_news = match last.ended_at_ms {
        None => true,
        Some(_) => last.failed.is_some() && failed.is_none(),
    };
    if is_news {
        last.ended_at_ms = Some(at_ms.max(last.begun_at_ms));
        last.failed = failed;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(log: &str, id: &str) -> Vec<Attempt> {
        attempts(log).remove(&id.parse::<TaskId>().expect("an id")).unwrap_or_default()
    }

    const T0: u64 = 1_768_989_600_000;

    #[test]
    fn a_failure_then_a_success_are_two_attempts() {
        let log = "[2026-01-21T10:00:00] RESOLVE_NEXT\n[2026-01-21T10:00:00] READY:T1.1\n\
                   [2026-01-21T10:00:00] EXECUTE:T1.1\n[2026-01-21T10:00:05] FAIL:T1.1:its exit code was 7\n\
                   [2026-01-21T10:00:06Z] EXECUTE:T1.1\n[2026-01-21T10:01:00] DONE:T1.1\n\
                   [2026-01-21T10:05:00] DONE:T1.1\n";
        let first = Attempt {
            begun_at_ms: T0,
            ended_at_ms: Some(T0 + 5_000),
            failed: Some("its exit code was 7".to_owned()),
        };
        let second = Attempt { begun_at_ms: T0 + 6_000, ended_at_ms: Some(T0 + 60_000), failed: None };
        assert_eq!(of(log, "T1.1"), [first, second]);
    }

    #[test]
    fn who_is_refused_meanwhile_ends_nothing_for_good() {
        let log = "[2026-01-21T10:00:00] EXECUTE:T1.1\n[2026-01-21T10:00:01] FAIL:T1.1:process 7 works on it\n\
                   [2026-01-21T10:00:09] DONE:T1.1\n[2026-01-21T11:00:00] FAIL:T1.2:it waits for T1.1\n";
        let only = Attempt { begun_at_ms: T0, ended_at_ms: Some(T0 + 9_000), failed: None };
        assert_eq!(of(log, "T1.1"), [only]);
        assert_eq!(of(log, "T1.2"), []);
    }

    #[test]
    fn what_is_no_line_of_ours_is_passed_over() {
        let log = "nonsense\n[] EXECUTE:T1.1\n[2026-13-40T99:00:00] EXECUTE:T1.1\n[2026-01-21T10:00:00] EXECUTE:<b>\n\
                   [2026-01-21T10:00:00] TASK_ID:T1.3\n[2026-01-21T10:00:01] EXECUTE:T1.3\n";
        assert_eq!(of(log, "T1.1"), []);
        assert_eq!(of(log, "T1.3"), [Attempt { begun_at_ms: T0, ended_at_ms: None, failed: None }]);
    }

    #[test]
    fn what_was_decided_and_recorded_is_recalled() {
        let plan = Plan::read(
            b"- [ ] T1.1: a\n- [ ] T1.2: b\n- [ ] T1.3: c\n- [ ] T2.1: d\n- [ ] T2.2: e\n".to_vec(),
        );
        let at = "[2026-01-21T10:00:00] ";
        let said = [
            "EXECUTE:T1.1,T1.2,T1.3",
            "DONE:T1.1",
            "FAIL:T1.2:no",
            "FAIL:T1.3:no",
            "FAIL:T2.1:it waits for an earlier phase",
            "CUSTOM:SKIP:T1.2",
            "CUSTOM:RETRY:T1.3",
            "EXECUTE:T1.3",
            "DONE:T1.3",
            "RESOLVE_NEXT",
            "PHASE_DONE:2",
            "PHASE_DONE:1",
            "CUSTOM:PRIORITY:T2.2",
            "EXECUTE:T2.2",
            "FAIL:T2.2:no",
        ];
        let log = said.map(|said| [at, said].concat()).join("\n");
        let mut state = State::new("shop", &plan, 1);
        recall(&log, &plan, &mut state);
        let found: Vec<String> = state.tasks().iter().map(|(id, it)| format!("{id} {it:?}")).collect();
        assert_eq!(found, ["T1.1 Completed", "T1.2 Skipped", "T1.3 Completed", "T2.2 Failed"]);
        assert_eq!(state.checkpoints(), BTreeSet::from([1]));
        assert_eq!(state.preferred(), ["T2.2".parse::<TaskId>().expect("an id")]);
    }

    #[test]
    fn only_the_last_attempts_are_kept() {
        let attempt = "[2026-01-21T10:00:00] EXECUTE:T1.1\n[2026-01-21T10:00:30] FAIL:T1.1:no\n";
        let log = attempt.repeat(ATTEMPTS_MAX) + &attempt.replace("10:00", "11:00");
        let kept = of(&log, "T1.1");
        assert_eq!(kept.len(), ATTEMPTS_MAX);
        assert_eq!(kept[ATTEMPTS_MAX - 1].begun_at_ms, T0 + 3_600_000);
    }
}
