//! What becomes of a try at a task for `ostler exec` and main agents: it is over, or it is begun again and told why. A
//! loop goes by the same rules and has a commit in between.

use std::sync::Arc;

use ostler_engine::signature;
use ostler_protocol::thin::Thin;

use crate::{
    conduct::{Failure, again_after},
    exec::{Ended, Over, Work, end_all},
    project::Project,
};

/// The most of a failure that the next one who tries is told: its end says what is wrong.
const TOLD_CHARS_MAX: usize = 4_000;

/// How a try went.
#[derive(Debug, Clone)]
pub struct Tried {
    /// How it ended, by the word of whoever worked and by the check.
    pub ended: Ended,
    /// What a check has said of a failure: two that fail with the same words fail in the same way.
    pub checked: Option<String>,
    /// What whoever worked said at last.
    pub report: String,
    /// Whether there is no point in another try.
    pub is_final: bool,
    /// How many tries it was: a check that fails goes back to the same agent.
    pub tries: u32,
    /// How long it took.
    pub used_ms: u64,
}

impl Tried {
    /// It has failed, and would fail again.
    pub fn in_vain(reason: String) -> Tried {
        Tried {
            ended: Ended::Failed { reason },
            checked: None,
            report: String::new(),
            is_final: true,
            tries: 1,
            used_ms: 0,
        }
    }

    /// What there is to know of a failure for this reason.
    fn failure(&self, reason: &str) -> Failure {
        // Of work that somebody calls done, and is not, the reason says all.
        let said = matches!(self.ended, Ended::Failed { .. });
        let checked = self.checked.as_deref().filter(|_| said);
        let report = Some(self.report.as_str()).filter(|_| said);
        let with = |more: Option<&str>| tail(&[reason, more.unwrap_or_default()].join("\n\n"));
        let told = with(checked.or(report));
        Failure { reason: reason.to_owned(), sign: signature(&told), told }
    }
}

/// Looks at the evidence of a try and puts down what came of it: one line, or nothing if it is to be begun again.
pub fn conclude(project: &Project, work: &Arc<Work>, tried: &Tried, at_ms: u64) -> Option<Thin> {
    let ended = work.proven(tried.ended.clone());
    let mut told = None;
    if let Ended::Failed { reason } = &ended {
        let failure = tried.failure(reason);
        // Whatever keeps it from being noted keeps it from being begun: then it is over.
        let goes_on = !tried.is_final
            && again_after(project, work, tried.tries, &failure, tried.used_ms, at_ms)
                .is_ok_and(|line| line.is_some());
        if goes_on {
            return None;
        }
        told = Some(failure.told);
    }
    let over = Over::proven(work, ended).telling(told);
    let lines = end_all(project, std::slice::from_ref(&over), at_ms);
    Some(lines.into_iter().next().unwrap_or_else(|| over.line()))
}

fn tail(text: &str) -> String {
    let text = text.trim();
    let more = text.chars().count().saturating_sub(TOLD_CHARS_MAX);
    text.chars().skip(more).collect()
}
