//! What ran when, as far as the log knows it; and with git beside it, what a state has lost.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::OpenOptions,
    io::{Read, Seek, SeekFrom},
    mem,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use ostler_engine::plan::{Plan, State as TaskState, Task};
use ostler_protocol::{name::TaskId, thin::Thin};
use rustix::fs::OFlags;

use crate::{
    executor_log::{self, NoteEntry},
    project::Project,
    stamp::read_stamp,
    state::State,
};

/// So much of the end of the log is read to show what ran when.
const TAIL_BYTES_MAX: u64 = 4 << 20;

/// So much of it, and of the one before it, is read to find what a state has lost.
const RECALLED_BYTES_MAX: u64 = 256 << 20;

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
        attempts(&tail(&self.log_file(), TAIL_BYTES_MAX).unwrap_or_default().text)
    }

    /// A state as far as git and the log know it, in place of one that cannot be used any more.
    pub(crate) fn recalled(&self, plan: &Plan, commits: &[Committed], at_ms: u64) -> State {
        let mut state = State::new(&self.name(), plan, at_ms);
        recall_commits(commits, plan, &mut state);
        if self.is_folder_inside() {
            // What was begun in the one may have ended in the other.
            let logs = [self.log_file().with_extension("log.1"), self.log_file()];
            let read = |log: PathBuf| {
                let noted = tail(&executor_log::beside(&log), RECALLED_BYTES_MAX).unwrap_or_default();
                (tail(&log, RECALLED_BYTES_MAX).unwrap_or_default(), noted.text)
            };
            let logs = logs.map(read);
            recall(logs.iter().flat_map(|(log, noted)| story(log, noted)), plan, &mut state);
        }
        recall_merges(commits, plan, &mut state, at_ms);
        let progress = state.progress(plan);
        state.measured(&progress);
        state.count_lists();
        state
    }
}

/// A commit of the project, as git knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Committed {
    /// Its name.
    pub commit: String,
    /// The first line of what it says.
    pub subject: String,
    /// Whether what is checked out has it, and not only the branch of a phase.
    pub is_merged: bool,
}

/// Something that happened to the tasks of a project.
enum Told<'a> {
    /// A line of the wire, with its time.
    Line(u64, &'a str),
    /// An executor has noted something.
    Noted(NoteEntry),
}

/// A log with what executors have noted beside it, in the order in which both were written. Earlier versions had both in
/// one file.
fn story<'a>(log: &'a Tail, noted: &str) -> Vec<Told<'a>> {
    let mut noted = executor_log::read(noted, log.start + log.text.len() as u64).into_iter().peekable();
    let (mut told, mut at) = (Vec::new(), log.start);
    for line in log.text.split_inclusive('\n') {
        while let Some((_, entry)) = noted.next_if(|(noted_at, _)| *noted_at <= at) {
            told.push(Told::Noted(entry));
        }
        at += line.len() as u64;
        let Some((at_ms, said)) = entries(line).next() else { continue };
        told.push(NoteEntry::read_earlier(said).map_or(Told::Line(at_ms, said), Told::Noted));
    }
    told.extend(noted.map(|(_, entry)| Told::Noted(entry)));
    told
}

/// What a loop says of the commit of a task: it is made when the task is done.
fn subject(task: Task<'_>) -> String {
    format!("{}: {}", task.id(), task.title()).trim_end().to_owned()
}

/// Puts into a new state what was committed as done. Git knows no order beside the log, so what that says counts more.
fn recall_commits(commits: &[Committed], plan: &Plan, state: &mut State) {
    let subjects: BTreeSet<&str> = commits.iter().map(|it| it.subject.as_str()).collect();
    for task in plan.tasks().filter(|task| subjects.contains(subject(*task).as_str())) {
        state.executed(&task.id(), TaskState::Completed);
    }
}

/// Puts into the checkpoints which commit has their work, and adds those of phases whose merge git knows. `commits` come
/// newest first.
fn recall_merges(commits: &[Committed], plan: &Plan, state: &mut State, at_ms: u64) {
    let progress = state.progress(plan);
    for phase in plan.phases().iter().filter(|phase| phase.number > 0) {
        let number = phase.number;
        let tasks: Vec<Task<'_>> = plan.tasks().filter(|task| task.phase() == number).collect();
        let (merge, rest) = (format!("Merge {}", phase.worktree()), format!("Phase {number}"));
        let merged = |fits: &dyn Fn(&str) -> bool| {
            commits.iter().find(|it| it.is_merged && fits(&it.subject)).map(|it| it.commit.as_str())
        };
        let own = merged(&|said| is_titled(said, &merge));
        if own.is_some() && progress.is_phase_settled(number) && !state.checkpoints().contains(&number) {
            state.close(plan, number, tasks.iter().map(|task| task.name()), at_ms);
        }
        // A branch whose target had stood still has no merge of its own: its last commit is there instead.
        let subjects: BTreeSet<String> = tasks.iter().map(|task| subject(*task)).collect();
        let commit = own.or_else(|| merged(&|said| is_titled(said, &rest) || subjects.contains(said)));
        if commit.is_some() && state.checkpoints().contains(&number) {
            state.merged(number, commit);
        }
    }
}

/// Whether a commit is called so, with a title behind it or without.
fn is_titled(said: &str, what: &str) -> bool {
    said.strip_prefix(what).is_some_and(|title| title.is_empty() || title.starts_with(':'))
}

/// The end of a file, from the beginning of a line on.
#[derive(Default)]
struct Tail {
    /// Where it begins in the file.
    start: u64,
    text: String,
}

fn tail(path: &Path, bytes_max: u64) -> std::io::Result<Tail> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC).bits().cast_signed();
    let mut file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let about = file.metadata()?;
    if !about.is_file() {
        return Ok(Tail::default());
    }
    let mut start = about.len().saturating_sub(bytes_max);
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.take(bytes_max).read_to_end(&mut bytes)?;
    if start > 0 {
        let cut = bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |at| at + 1);
        bytes.drain(..cut);
        start += cut as u64;
    }
    Ok(Tail { start, text: String::from_utf8_lossy(&bytes).into_owned() })
}

/// Each line with its time; what has none is not ours.
fn entries(log: &str) -> impl Iterator<Item = (u64, &str)> {
    log.lines().filter_map(|line| {
        let (at, said) = line.strip_prefix('[')?.split_once("] ")?;
        Some((read_stamp(at)?, said))
    })
}

/// Puts into a new state what the logs say was done, given up and decided, and which phases were recorded.
fn recall<'a>(told: impl Iterator<Item = Told<'a>>, plan: &Plan, state: &mut State) {
    let (mut begun, mut failed): (BTreeSet<TaskId>, BTreeSet<TaskId>) = (BTreeSet::new(), BTreeSet::new());
    let mut is_answer = false;
    for told in told {
        let (at_ms, said) = match told {
            Told::Line(at_ms, said) => (at_ms, said),
            Told::Noted(NoteEntry { task, note, done }) => {
                let key = note.as_ref().and_then(|note| note.key.as_deref());
                if let Some(key) = key {
                    state.set_run_key(&task, key);
                    failed.remove(&task);
                    begun.insert(task.clone());
                }
                let now = match key {
                    Some(_) => TaskState::InProgress,
                    None if done => TaskState::Completed,
                    None => TaskState::Pending,
                };
                state.executed(&task, now);
                state.set_note(&task, note.as_deref());
                continue;
            }
        };
        let was_asked = mem::replace(&mut is_answer, said.starts_with("RESOLVE_NEXT"));
        let begins: Vec<TaskId> = match (said.strip_prefix("EXECUTE:"), Thin::parse(said)) {
            (Some(ids), _) => ids.split([',', '|']).filter_map(|id| id.trim().parse().ok()).collect(),
            (None, Some(Thin::Task { id, .. })) => vec![id],
            _ => Vec::new(),
        };
        // Who tries again has not failed yet.
        for id in begins.iter().filter(|id| failed.remove(*id)) {
            state.executed(id, TaskState::Pending);
        }
        begun.extend(begins);
        match Thin::parse(said) {
            Some(Thin::Done { id, .. }) => {
                state.executed(&id, TaskState::Completed);
                state.set_note(&id, None);
            }
            // Whoever may not begin a task is told so in the same way, also while somebody works on it.
            Some(Thin::Fail { id, reason, .. })
                if !state.note(&id).is_some_and(|note| note.is_begun()) && begun.remove(&id) =>
            {
                state.executed(&id, TaskState::Failed);
                state.add_failure(&id, &reason);
                failed.insert(id);
            }
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

    fn recall_text(log: &str, plan: &Plan, state: &mut State) {
        let log = Tail { start: 0, text: log.to_owned() };
        recall(story(&log, "").into_iter(), plan, state);
    }

    #[test]
    fn what_executors_have_noted_is_read_in_its_place() {
        let plan = Plan::read(b"- [ ] T1.1: a\n- [ ] T1.2: b\n- [ ] T1.3: c\n".to_vec());
        let first = "[2026-01-21T10:00:00] EXECUTE:T1.1\n[2026-01-21T10:00:00] EXECUTE:T1.2\n";
        let refused = "[2026-01-21T10:00:01] FAIL:T1.1:process 7 works on it\n";
        let ended = "[2026-01-21T10:00:02] FAIL:T1.2:no\n";
        let log = Tail { start: 0, text: [first, refused, ended].concat() };
        let entry = |at: usize, task: &str, note: &str| {
            format!("{{\"log_bytes\":{at},\"task\":\"{task}\",\"note\":{note}}}\n")
        };
        let noted = [
            entry(0, "T1.1", "{\"key\":\"k1\"}"),
            entry(0, "T1.2", "{\"key\":\"k2\"}"),
            entry(first.len() + refused.len(), "T1.2", "null"),
            // Of a log that is not there any more.
            entry(9_999, "T1.3", "{\"key\":\"k3\"}"),
        ];
        let mut state = State::new("shop", &plan, 1);
        recall(story(&log, &noted.concat()).into_iter(), &plan, &mut state);
        let found: Vec<String> = state.tasks().iter().map(|(id, it)| format!("{id} {it:?}")).collect();
        assert_eq!(found, ["T1.1 InProgress", "T1.2 Failed"]);
        assert_eq!(state.run_key(&"T1.1".parse().expect("an id")), Some("k1"));
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
            "EXECUTE:T2.1",
            "FAIL:T2.1:no",
            "EXECUTE:T2.1",
        ];
        let log = said.map(|said| [at, said].concat()).join("\n");
        let mut state = State::new("shop", &plan, 1);
        recall_text(&log, &plan, &mut state);
        let found: Vec<String> = state.tasks().iter().map(|(id, it)| format!("{id} {it:?}")).collect();
        assert_eq!(found, ["T1.1 Completed", "T1.2 Skipped", "T1.3 Completed", "T2.2 Failed"]);
        assert_eq!(state.checkpoints(), BTreeSet::from([1]));
        assert_eq!(state.preferred(), ["T2.2".parse::<TaskId>().expect("an id")]);
    }

    #[test]
    fn what_was_committed_and_merged_is_recalled() {
        let plan = Plan::read(
            b"## Phase 1: Auth\n- [ ] T1.1: a\n- [ ] T1.2: b\n## Phase 2: Shop\n- [ ] T2.1: c\n- [ ] T2.2: d\n\
              ## Phase 3: Rest\n- [ ] T3.1: e\n- [ ] T3.2: f\n"
                .to_vec(),
        );
        let commit = |name: &str, subject: &str, is_merged| Committed {
            commit: name.to_owned(),
            subject: subject.to_owned(),
            is_merged,
        };
        let commits = [
            commit("on-branch", "T3.1: e", false),
            commit("somebody", "T3.2: begin with f", true),
            commit("last", "T2.2: d", true),
            commit("first", "T2.1: c", true),
            commit("merge", "Merge worktree/phase-1-auth: Auth", true),
            commit("b", "T1.2: b", true),
            commit("a", "T1.1: a", true),
        ];
        let mut state = State::new("shop", &plan, 1);
        recall_commits(&commits, &plan, &mut state);
        recall_text("[2026-01-21T10:00:00] CUSTOM:RETRY:T2.1\n", &plan, &mut state);
        recall_merges(&commits, &plan, &mut state, T0);
        let found: Vec<String> = state.tasks().iter().map(|(id, it)| format!("{id} {it:?}")).collect();
        assert_eq!(found, ["T1.1 Completed", "T1.2 Completed", "T2.2 Completed", "T3.1 Completed"]);
        assert_eq!(state.checkpoints(), BTreeSet::from([1]));
        assert!(state.is_merged(1, Some("merge")));
        // A phase that was only moved along has the last of its commits.
        recall_text(
            "[2026-01-21T10:00:00] DONE:T2.1\n[2026-01-21T10:00:00] PHASE_DONE:2\n",
            &plan,
            &mut state,
        );
        recall_merges(&commits, &plan, &mut state, T0);
        assert!(state.is_merged(2, Some("last")));
        assert_eq!(state.checkpoints(), BTreeSet::from([1, 2]));
    }

    #[test]
    fn a_phase_without_a_title_is_known_by_its_commits_too() {
        assert!(is_titled("Phase 1: Auth", "Phase 1") && is_titled("Phase 1", "Phase 1"));
        assert!(!is_titled("Phase 10", "Phase 1") && !is_titled("Phase 1 is over", "Phase 1"));
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
