//! A resolver and an executor that somebody else wrote: agents that are asked in one line, and answer in one. They are
//! heard, and never believed over what the files say.

use std::{collections::BTreeSet, path::Path, sync::Arc, time::Duration};

use ostler_agents::Output;
use ostler_engine::{SessionId, input::Made};
use ostler_orchestrate::{Ended, Place, Work, note};
use ostler_protocol::{name::TaskId, thin::Thin};
use serde_json::{Value, json};

use super::{Shared, exchange::said};
use crate::{
    api::NewRun,
    driver::executor::{
        parent::{End, blocking},
        time_limits::TimeLimits,
    },
    environment::digest,
    http::runs,
    journal::Key,
    task_list::short_list,
};

/// How long a resolver may take, if nobody says otherwise.
const PATIENCE: Duration = Duration::from_mins(10);

/// What a resolver wants.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// These are to begin, in this order.
    Begin(Vec<TaskId>),
    /// Nothing, as long as somebody works.
    Wait,
}

/// What a resolver's line means beside what the files say. `ready` is what can begin; whether anybody works says whether
/// there is anything to wait for.
pub(super) fn understood(line: &Thin, ready: &[Place], is_busy: bool) -> Result<Wanted, String> {
    let can_begin: Vec<String> = ready.iter().map(|place| place.id.to_string()).collect();
    let refused = |why: &str| {
        Err(format!("the resolver has said {line}, but {why}: {}", short_list(&can_begin, false)))
    };
    match line {
        Thin::Ready { groups, .. } => {
            let wanted = groups.first().into_iter().flatten();
            let ids: Vec<TaskId> =
                wanted.filter(|id| ready.iter().any(|place| place.id == **id)).cloned().collect();
            if ids.is_empty() {
                refused("none of these can begin; these can")
            } else {
                Ok(Wanted::Begin(ids))
            }
        }
        Thin::Wait {} if is_busy => Ok(Wanted::Wait),
        Thin::Wait {} => refused("nobody works, and these can begin"),
        Thin::PhaseDone { .. } | Thin::AllDone {} => refused("these can begin"),
        _ => Err(format!("the resolver has said {line}")),
    }
}

/// The last line of what a resolver said that answers.
fn answer(text: &str) -> Option<Thin> {
    let is_answer = |line: &Thin| {
        matches!(
            line,
            Thin::Ready { .. }
                | Thin::PhaseDone { .. }
                | Thin::AllDone {}
                | Thin::Wait {}
                | Thin::Error { .. }
        )
    };
    text.lines().filter_map(Thin::parse).rfind(is_answer)
}

/// What an executor said of a task.
pub(in crate::driver) fn reply(text: &str, id: &TaskId) -> Ended {
    let about = |line: Thin| match line {
        Thin::Done { id: it, .. } if it == *id => Some(Ended::Done),
        Thin::Fail { id: it, reason, .. } if it == *id => Some(Ended::Failed { reason }),
        _ => None,
    };
    let said = text.lines().rev().filter_map(Thin::parse).find_map(about);
    said.unwrap_or_else(|| Ended::Failed {
        reason: format!("the executor has said neither DONE:{id} nor FAIL:{id}"),
    })
}

/// What an executor is asked.
pub(super) fn request(work: &Work, worktree: Option<&str>) -> Thin {
    // All that the task file says is for the executor to read, also what Ostler does not know.
    let mut meta = work.meta.clone().unwrap_or_default();
    if let Some(timeout) = work.timeout {
        meta.insert("timeout".to_owned(), json!(timeout.as_secs()));
    }
    if let Some(failure) = &work.failure {
        meta.insert("failure".to_owned(), json!(failure));
    }
    let meta = (!meta.is_empty()).then_some(Value::Object(meta));
    Thin::task(work.id.clone(), worktree, meta.as_ref())
}

/// A check that runs in the directory of the work, wherever who does it was started.
pub(super) fn check_in(directory: &Path, check: &str) -> String {
    let quoted = directory.to_string_lossy().replace('\'', "'\\''");
    format!("cd '{quoted}' && {{ {check}\n}}")
}

impl Shared {
    /// Asks a resolver. `number` tells this question from the one before it.
    pub(super) async fn ask_resolver(
        self: &Arc<Self>,
        resolver: &str,
        ready: &[Place],
        is_busy: bool,
        number: u32,
    ) -> Result<Wanted, String> {
        let question = Thin::ResolveNext { phase: self.asked.phase, groups: false, force: false };
        let ids: BTreeSet<&str> = ready.iter().map(|place| place.id.as_str()).collect();
        let ended = self.ended_tasks();
        let about = format!("{question} {ids:?} {ended} {number}");
        let key = format!("resolve-{}-{}", self.session, digest(about.as_bytes()));
        let (shared, agent, prompt) = (Arc::clone(self), resolver.to_owned(), question.to_string());
        let wanted = blocking(move || {
            let new = NewRun {
                directory: shared.project.root().to_string_lossy().into_owned(),
                agent: Some(agent),
                prompt: Some(prompt),
                environment: Some(shared.environment.clone()),
                guide: Some(false),
                context: Some(false),
                korean: shared.korean,
                ..NewRun::default()
            };
            let mut wanted = runs::wanted(&shared.driver, new).map_err(|problem| problem.title)?;
            wanted.parent = Some(shared.session);
            let timeout = shared.config()?.orchestrate.timeout.unwrap_or(PATIENCE);
            Ok::<_, String>((wanted, timeout))
        });
        let (wanted, timeout) = wanted.await.ok_or("the resolver could not be asked")??;
        let output = wanted.order.agent.output.clone();
        let key = Key { fingerprint: key.clone(), key };
        let Some(Made { run: Some(run), session: Some(session), .. }) = self.submit_run(wanted, key).await?
        else {
            return Err("the resolver could not be asked".to_owned());
        };
        match self.wait(run, TimeLimits::of_run(timeout)).await {
            End::Cancelled => return Ok(Wanted::Wait),
            End::Over(_) | End::Late(..) | End::Gone => {}
        }
        let line = answer(&self.heard(session, output).await)
            .ok_or("the resolver has said nothing that is an answer")?;
        self.put_down(&question, &line).await;
        understood(&line, ready, is_busy)
    }

    /// What a child has said at last.
    pub(super) async fn heard(self: &Arc<Self>, session: SessionId, output: Output) -> String {
        let shared = Arc::clone(self);
        blocking(move || said(&shared.driver.home, session, &output)).await.unwrap_or_default()
    }

    async fn put_down(self: &Arc<Self>, question: &Thin, line: &Thin) {
        let (shared, lines) = (Arc::clone(self), [question.to_string(), line.to_string()]);
        // Who cannot write the log has heard the answer all the same.
        blocking(move || {
            shared.resolved(&lines[1]);
            note(&shared.project, &lines, shared.now_ms()).ok();
        })
        .await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(id: &str) -> Place {
        let id = id.parse().expect("an id");
        Place { id, title: String::new(), phase: 1, files: Vec::new() }
    }

    fn thin(line: &str) -> Thin {
        Thin::parse(line).expect("a line of the dialect")
    }

    #[test]
    fn a_resolver_chooses_among_what_can_begin() {
        let ready = [place("T1.1"), place("T1.2")];
        let ids = |wanted: Wanted| match wanted {
            Wanted::Begin(ids) => ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(","),
            Wanted::Wait => "WAIT".to_owned(),
        };
        let said = |line: &str, is_busy: bool| understood(&thin(line), &ready, is_busy).map(ids);
        assert_eq!(said("READY:T1.2,T1.1", false), Ok("T1.2,T1.1".to_owned()));
        assert_eq!(said("READY:T9.9,T1.2|T1.1", false), Ok("T1.2".to_owned()));
        assert_eq!(said("WAIT", true), Ok("WAIT".to_owned()));
        for line in ["READY:T9.9", "WAIT", "PHASE_DONE:1", "ALL_DONE", "ERROR:PARSE_FAIL"] {
            let refusal = said(line, false).expect_err("it is not so");
            assert!(refusal.contains(line), "{refusal}");
        }
    }

    #[test]
    fn the_last_line_counts() {
        assert_eq!(answer("thinking\nWAIT\nREADY:T1.1\nbye"), Some(thin("READY:T1.1")));
        assert_eq!(answer("DONE:T1.1"), None);
        let id: TaskId = "T1.1".parse().expect("an id");
        assert_eq!(reply("FAIL:T1.1:no\nDONE:T1.1\nDONE:T1.2", &id), Ended::Done);
        assert_eq!(reply("DONE:T1.1\nFAIL:T1.1:no", &id), Ended::Failed { reason: "no".to_owned() });
        assert!(matches!(reply("DONE:T1.2", &id), Ended::Failed { .. }));
    }
}
