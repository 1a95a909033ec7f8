//! What is shown of a loop: a line for everything that happens, and on a terminal a few more that are drawn over and
//! over.

use std::collections::{BTreeMap, BTreeSet};

use ostler_protocol::thin::Thin;
use ostler_server::api::{LoopExchange, LoopPhaseView, LoopTaskView, LoopView, OutcomeKind};

use super::{super::exec::verbose, graph};
use crate::{
    card, clock,
    console::{self, Stream},
    context::Context,
    error::Error,
    screen::{Screen, one_line, size},
    words::{Key, Words},
};

/// How many running tasks the moving line names.
const NAMED_MAX: usize = 4;

/// How many characters of a commit are shown.
const COMMIT_CHARS: usize = 10;

pub(super) struct Shown<'a> {
    context: &'a Context,
    is_verbose: bool,
    /// The tasks whose beginning was said, by the run.
    begun: BTreeMap<String, String>,
    ended: BTreeSet<(String, u64)>,
    /// The requests that were said.
    asked: BTreeSet<String>,
    phases: BTreeMap<u32, Phase>,
}

/// What was said of a phase.
#[derive(Default)]
struct Phase {
    begun: bool,
    tested: Option<i32>,
    merged: bool,
    over: bool,
}

impl<'a> Shown<'a> {
    pub(super) fn new(context: &'a Context, is_verbose: bool) -> Shown<'a> {
        Shown {
            context,
            is_verbose,
            begun: BTreeMap::new(),
            ended: BTreeSet::new(),
            asked: BTreeSet::new(),
            phases: BTreeMap::new(),
        }
    }

    /// What it begins with. Whoever comes later does not hear what was before.
    pub(super) fn begin(&mut self, view: &LoopView) {
        let words = self.context.words;
        let is_new = view.tasks.iter().all(|task| task.run.is_none());
        let open = view.counts.total - view.counts.completed - view.counts.skipped;
        if is_new {
            let file = view.project.name.as_str();
            let values: &[(&str, &dyn std::fmt::Display)] = &[
                ("run", &view.run),
                ("file", &one_line(file)),
                ("open", &open),
                ("total", &view.counts.total),
                ("parallel", &view.parallel_max),
            ];
            self.context.note(&words.say(Key::LoopStarted, values));
            return;
        }
        self.context.note(&words.say(Key::LoopJoined, &[("run", &view.run)]));
        for task in view.tasks.iter().filter(|task| task.state != "in_progress") {
            if let (Some(run), Some(at_ms)) = (&task.run, task.ended_at_ms) {
                self.begun.insert(task.id.clone(), run.clone());
                self.ended.insert((task.id.clone(), at_ms));
            }
        }
        for phase in view.phases.iter().filter(|phase| phase.ended_at_ms.is_some()) {
            let said = Phase { begun: true, tested: phase.test_code, merged: true, over: true };
            self.phases.insert(phase.number, said);
        }
    }

    /// Says what is new.
    pub(super) fn show(&mut self, view: &LoopView) -> Result<(), Error> {
        let lines = self.news(view);
        if self.context.json {
            return Ok(());
        }
        if !lines.is_empty() {
            let text = lines.iter().fold(String::new(), |text, line| text + line + "\n");
            console::print(Stream::Out, text.as_bytes()).map_err(Error::Output)?;
        }
        self.draw(view);
        Ok(())
    }

    /// What is new, in an order in which it can have happened: what ends makes room for what begins.
    fn news(&mut self, view: &LoopView) -> Vec<String> {
        let mut lines = Vec::new();
        for phase in &view.phases {
            self.phase(phase, &mut lines, true);
            let tasks = || view.tasks.iter().filter(|task| task.phase == phase.number);
            for task in tasks() {
                if task.run.is_some() && task.run.as_ref() == self.begun.get(&task.id) {
                    self.ended(task, &mut lines);
                }
            }
            for task in tasks() {
                self.begun(task, &mut lines);
                self.ended(task, &mut lines);
            }
            self.phase(phase, &mut lines, false);
        }
        lines
    }

    /// That a task has begun, and what it asks.
    fn begun(&mut self, task: &LoopTaskView, lines: &mut Vec<String>) {
        let words = self.context.words;
        if let Some(run) = task.run.as_ref().filter(|run| self.begun.get(&task.id) != Some(*run)) {
            let is_first = self.begun.insert(task.id.clone(), run.clone()).is_none();
            if is_first || self.is_verbose {
                let line =
                    words.say(Key::LoopTaskBegun, &[("id", &task.id), ("title", &one_line(&task.title))]);
                lines.push(if self.is_verbose { format!("{line} ({run})") } else { line });
            }
        }
        if let Some(request) = task.request.as_ref().filter(|it| !self.asked.contains(&it.id)) {
            self.asked.insert(request.id.clone());
            let (text, how) = (card::in_a_line(words, request), card::how(words, request));
            lines.push(words.say(Key::LoopTaskAsks, &[("id", &task.id), ("text", &text), ("how", &how)]));
        }
    }

    /// How a task has ended.
    fn ended(&mut self, task: &LoopTaskView, lines: &mut Vec<String>) {
        let words = self.context.words;
        let Some(at_ms) = task.ended_at_ms else { return };
        if !self.ended.insert((task.id.clone(), at_ms)) {
            return;
        }
        let line = task.line.as_deref().unwrap_or_default();
        let time = clock::span(words, at_ms.saturating_sub(task.began_at_ms.unwrap_or(at_ms)));
        let values: &[(&str, &dyn std::fmt::Display)] =
            &[("id", &task.id), ("time", &time), ("tries", &task.tries)];
        let said = Thin::parse(line);
        lines.push(match &said {
            Some(Thin::Fail { reason, .. }) => {
                words.say(Key::LoopTaskFailed, &[("id", &task.id), ("reason", &one_line(reason))])
            }
            _ if task.tries > 1 => words.say(Key::LoopTaskDoneAfter, values),
            _ => words.say(Key::LoopTaskDone, values),
        });
        if let Some(said) = said.filter(|_| self.is_verbose) {
            let elapsed_ms = at_ms.saturating_sub(task.began_at_ms.unwrap_or(at_ms));
            lines.push(verbose(said, elapsed_ms, task.tries, task.tests).to_string());
        }
    }

    /// What is new of a phase: its beginning stands before its tasks, everything else behind them.
    fn phase(&mut self, phase: &LoopPhaseView, lines: &mut Vec<String>, is_beginning: bool) {
        let words = self.context.words;
        let said = self.phases.entry(phase.number).or_default();
        let n = phase.number;
        if is_beginning {
            if let Some(place) = phase.worktree.as_ref().filter(|_| !said.begun) {
                said.begun = true;
                lines.push(words.say(Key::LoopPhaseBegun, &[("n", &n), ("place", &one_line(place))]));
            }
            return;
        }
        if let (Some(code), Some(command)) = (phase.test_code, &phase.test)
            && said.tested != Some(code)
        {
            said.tested = Some(code);
            let values: &[(&str, &dyn std::fmt::Display)] =
                &[("n", &n), ("command", &one_line(command)), ("code", &code)];
            lines.push(words.say(Key::LoopPhaseTested, values));
        }
        if let Some(commit) = phase.merged.as_ref().filter(|_| !said.merged) {
            said.merged = true;
            let commit: String = commit.chars().take(COMMIT_CHARS).collect();
            let key = if phase.test.is_some() { Key::LoopPhaseMerged } else { Key::LoopPhaseMergedUntested };
            lines.push(words.say(key, &[("n", &n), ("commit", &commit)]));
        }
        if phase.ended_at_ms.is_some() && !said.over {
            said.over = true;
            let is_said = phase.test.is_some() || phase.merged.is_some();
            let key = if is_said { Key::LoopPhaseOver } else { Key::LoopPhaseOverUntested };
            lines.push(words.say(key, &[("n", &n)]));
        }
    }

    /// Draws the graph, and below it what runs, how fast, how long still.
    fn draw(&self, view: &LoopView) {
        let screen = Screen::stderr();
        if !screen.can_redraw() || view.request.is_some() || view.outcome.is_some() {
            return console::clear();
        }
        let width = screen.width().unwrap_or(80).saturating_sub(1);
        let status: String = status(self.context.words, view, clock::now_ms()).chars().take(width).collect();
        let mut lines = graph::lines(view, width);
        // A line that does not fit would move everything up.
        lines.truncate(usize::from(size().0).saturating_sub(2));
        lines.push(status);
        console::draw(&lines);
    }

    /// What came of it.
    pub(super) fn end(&mut self, view: &LoopView) -> Result<(), Error> {
        let words = self.context.words;
        self.context.print(view, |_| report(words, view))
    }
}

fn status(words: Words, view: &LoopView, now_ms: u64) -> String {
    let (asking, running): (Vec<_>, Vec<_>) =
        view.tasks.iter().filter(|task| task.state == "in_progress").partition(|task| task.request.is_some());
    let done = view.counts.completed + view.counts.skipped;
    let left = view.counts.total - done;
    let elapsed_ms = now_ms.saturating_sub(view.created_at_ms).max(1);
    let here = view.report.done as u64;
    let per_task_ms = elapsed_ms.checked_div(here).unwrap_or_default();
    let eta = if here == 0 { "?".to_owned() } else { clock::span(words, per_task_ms * left as u64) };
    let rate = here * 60_000 / elapsed_ms;
    // Who waits for a person is named first: the end of the line may not fit.
    let (key, first) = match (asking.is_empty(), running.is_empty()) {
        (true, true) => (Key::LoopStatusIdle, &running),
        (true, false) => (Key::LoopStatus, &running),
        (false, _) => (Key::LoopStatusAsks, &asking),
    };
    let mut names = first.iter().take(NAMED_MAX).map(|task| task.id.as_str()).collect::<Vec<_>>().join(", ");
    if first.len() > NAMED_MAX {
        names.push_str(", …");
    }
    let values: &[(&str, &dyn std::fmt::Display)] = &[
        ("done", &done),
        ("total", &view.counts.total),
        ("asking", &asking.len()),
        ("running", &running.len()),
        ("names", &names),
        ("rate", &rate),
        ("eta", &eta),
    ];
    words.say(key, values)
}

fn report(words: Words, view: &LoopView) -> String {
    let report = &view.report;
    let mut said = Vec::new();
    let values: &[(&str, &dyn std::fmt::Display)] = &[
        ("done", &report.done),
        ("failed", &view.counts.failed),
        ("skipped", &view.counts.skipped),
        ("retries", &report.retries),
    ];
    said.push(words.say(Key::LoopReport, values));
    if report.agent_ms > 0 {
        let (wall, agent) = (clock::span(words, report.wall_ms), clock::span(words, report.agent_ms));
        let speed = format!("{:.1}", report.speed_up);
        let mut values: Vec<(&str, &dyn std::fmt::Display)> =
            vec![("wall", &wall), ("agent", &agent), ("speed", &speed)];
        let waited = clock::span(words, report.waited_ms);
        // What is less than is shown is not worth a word.
        if report.waited_ms < 1_000 {
            said.push(words.say(Key::LoopReportTime, &values));
        } else {
            values.push(("waited", &waited));
            said.push(words.say(Key::LoopReportTimeWaited, &values));
        }
        if report.tasks_waited_ms >= 1_000 {
            let waited = clock::span(words, report.tasks_waited_ms);
            said.push(words.say(Key::LoopReportTasksWaited, &[("waited", &waited)]));
        }
    }
    if !report.critical_path.is_empty() {
        let (time, path) = (clock::span(words, report.critical_ms), report.critical_path.join(" → "));
        said.push(words.say(Key::LoopReportPath, &[("time", &time), ("path", &path)]));
    }
    said.extend(report.exchange.as_ref().and_then(|exchange| exchanged(words, exchange)));
    let is_done = view.outcome.as_ref().is_some_and(|it| it.outcome == OutcomeKind::Completed);
    if is_done && view.counts.completed + view.counts.skipped == view.counts.total {
        said.push(words.sentence(Key::TasksAllDone).to_owned());
    }
    said.into_iter().fold(String::new(), |text, line| text + &line + "\n")
}

/// How many tokens the loop has exchanged, beside how many a main agent would have. Who called nobody has saved nothing.
fn exchanged(words: Words, exchange: &LoopExchange) -> Option<String> {
    if exchange.calls == 0 {
        return None;
    }
    let place = one_line(&exchange.directory);
    let counted = exchange.thin_tokens.zip(exchange.full_tokens).zip(exchange.saved_percent);
    let Some(((thin, full), saved)) = counted else {
        return Some(words.say(Key::LoopReportNoTokens, &[("place", &place)]));
    };
    let (saved, tokenizer) = (format!("{saved:.1}"), exchange.tokenizer.as_deref().unwrap_or_default());
    let values: &[(&str, &dyn std::fmt::Display)] =
        &[("thin", &thin), ("full", &full), ("saved", &saved), ("tokenizer", &tokenizer), ("place", &place)];
    Some(words.say(Key::LoopReportTokens, values))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{card, words::Language};

    fn task(id: &str, phase: u32, state: &str) -> serde_json::Value {
        json!({ "id": id, "title": "a", "phase": phase, "state": state, "tries": 1, "worked_ms": 0 })
    }

    fn view(tasks: &[serde_json::Value]) -> LoopView {
        let phase = |number: u32| json!({ "number": number, "title": "", "worktree": (number > 0).then_some("worktree/phase-1") });
        serde_json::from_value(json!({
            "run": "r_1", "session": "s_1", "status": "active", "parallel_max": 3, "phases": [phase(0), phase(1)],
            "project": { "id": "p_1", "name": "shop", "root": "/shop", "git": true },
            "tasks": tasks,
            "counts": { "total": 2, "completed": 0, "failed": 0, "blocked": 0, "skipped": 0, "in_progress": 2 },
            "report": { "done": 0, "retries": 0, "wall_ms": 0, "agent_ms": 0, "speed_up": 0.0, "critical_path": [], "critical_ms": 0 },
            "created_at_ms": 0,
        }))
        .expect("a loop")
    }

    #[test]
    fn what_ends_is_said_before_what_begins() {
        let context = Context::new(false, Some(Language::En));
        let mut shown = Shown::new(&context, false);
        let mut tasks = ["T0.1", "T0.2", "T0.3"].map(|id| task(id, 0, "in_progress")).to_vec();
        tasks.push(task("T1.1", 1, "pending"));
        let run =
            |tasks: &mut [serde_json::Value], at: usize| tasks[at]["run"] = json!(format!("r_{}", at + 2));
        let end = |tasks: &mut [serde_json::Value], at: usize| {
            tasks[at]["began_at_ms"] = json!(0);
            tasks[at]["ended_at_ms"] = json!(1_000);
            tasks[at]["line"] = json!(format!("DONE:{}", tasks[at]["id"].as_str().unwrap_or_default()));
        };
        let mut first = view(&tasks);
        first.phases[1].worktree = None;
        assert!(shown.news(&first).is_empty());
        run(&mut tasks, 2);
        let mut second = view(&tasks);
        second.phases[1].worktree = None;
        assert_eq!(shown.news(&second), ["T0.3 begins: a"]);
        // The first has begun and ended since, the third has ended, and so has its phase.
        for at in [0, 1, 3] {
            run(&mut tasks, at);
        }
        for at in [0, 2] {
            end(&mut tasks, at);
        }
        let said = [
            "T0.3 is done, after 1 s",
            "T0.1 begins: a",
            "T0.1 is done, after 1 s",
            "T0.2 begins: a",
            "phase 1 begins in worktree/phase-1",
            "T1.1 begins: a",
        ];
        assert_eq!(shown.news(&view(&tasks)), said);
        assert!(shown.news(&view(&tasks)).is_empty());
    }

    #[test]
    fn a_verbose_end_is_also_said_in_the_words_of_the_wire() {
        let context = Context::new(false, Some(Language::En));
        let mut shown = Shown::new(&context, true);
        let mut tasks = [task("T0.1", 0, "completed"), task("T0.2", 0, "failed")];
        for (at, line, tries) in [(0, "DONE:T0.1", 1), (1, "FAIL:T0.2:Redis connection refused", 10)] {
            tasks[at]["run"] = json!(format!("r_{}", at + 2));
            tasks[at]["began_at_ms"] = json!(0);
            tasks[at]["ended_at_ms"] = json!(120_000);
            tasks[at]["line"] = json!(line);
            tasks[at]["tries"] = json!(tries);
            tasks[at]["tests"] = json!(15);
        }
        let said = shown.news(&view(&tasks));
        assert!(said.contains(&"DONE:T0.1:elapsed=120s:tests=15".to_owned()), "{said:?}");
        let failed = "FAIL:T0.2:elapsed=120s:retries=10:Redis connection refused".to_owned();
        assert!(said.contains(&failed), "{said:?}");
    }

    #[test]
    fn who_waits_for_a_person_is_not_counted_as_running() {
        let mut view = view(&[task("T0.1", 0, "in_progress"), task("T0.2", 0, "in_progress")]);
        let said = |view: &LoopView, language| status(Words::new(language), view, 60_000);
        assert!(said(&view, Language::En).starts_with("0/2 done, 2 running: T0.1, T0.2; "));
        view.tasks[1].request = Some(card::tests::request());
        assert!(said(&view, Language::En).starts_with("0/2 done, 1 waiting for you: T0.2; 1 running; "));
        assert!(said(&view, Language::Ko).starts_with("2개 중 0개 완료, 1개 답을 기다림: T0.2; 1개 진행; "));
        view.tasks.clear();
        assert!(said(&view, Language::En).starts_with("0/2 done, nothing running; "));
    }
}
