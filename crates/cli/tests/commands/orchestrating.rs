//! `ostler orchestrate` on a terminal: the graph as it stands, and plain lines where there is none.

use std::fs;

use crate::{support::Place, terminal::Terminal};

const TASKS: &str = "- [ ] T0.1: one\n- [ ] T0.2: two\n  - deps: [T0.1]\n";

/// A task file, and an agent that works until the second task may go on.
fn place() -> Place {
    let place = Place::with_commit();
    fs::write(place.project().join("TASKS.md"), TASKS).expect("a task file");
    let file = place.project().join("worker.sh");
    let script = "case \"$1\" in *T0.2*) while [ ! -e go ]; do sleep 0.05; done;; esac; date > \"$$.txt\"";
    fs::write(&file, script).expect("a script");
    let file = file.display().to_string();
    place.configure(&format!(
        "default_agent = \"worker\"\n[agents.worker]\ncommand = [\"bash\", {file:?}]\n\
         [agents.worker.arguments]\nprompt = [\"{{prompt}}\"]\n"
    ));
    place
}

#[test]
fn a_terminal_shows_the_graph_and_what_runs() {
    let place = place();
    let mut terminal = Terminal::start(&place, &["orchestrate"]);
    terminal.sees("T0.1 is done");
    terminal.sees("● 0 1/2");
    terminal.sees("✓T0.1 → ●T0.2");
    terminal.sees("1/2 done, 1 running: T0.2");
    // Who wants to leave is asked, and what is drawn does not go over it.
    terminal.press("\u{3}");
    terminal.sees("c cancels it");
    terminal.press("\n");
    terminal.sees("it goes on");
    fs::write(place.project().join("go"), "").expect("a file");
    terminal.sees("tasks: 2 done, 0 failed");
    assert_eq!(terminal.code(), 0, "{}", terminal.screen());
}

#[test]
fn a_card_that_was_withdrawn_was_not_left_unanswered() {
    let place = place();
    fs::write(place.project().join("worker.sh"), "case \"$1\" in *T0.2*) date > two.txt;; *) exit 3;; esac")
        .expect("a script");
    let mut terminal = Terminal::start(&place, &["orchestrate"]);
    terminal.sees("Your answer, a number or words");
    assert_eq!(place.run(&["tasks", "skip", "T0.1"]).code, 0);
    terminal.sees("is not asked any more: it has settled itself");
    terminal.sees("tasks: 1 done, 0 failed, 1 skipped; retries: ");
    assert_eq!(terminal.code(), 0, "{}", terminal.screen());
    // Nothing that happens stands behind what somebody may be typing.
    assert!(!terminal.screen().contains("words: T0"), "{}", terminal.screen());
}

#[test]
fn without_a_terminal_there_are_lines_alone() {
    let place = place();
    fs::write(place.project().join("go"), "").expect("a file");
    let said = place.run(&["orchestrate"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.out.contains("T0.2 is done"), "{}", said.out);
    assert!(!said.err.contains('\u{1b}') && !said.out.contains('●'), "{}{}", said.out, said.err);
}
