//! The prompt of the attached mode on a real terminal: what comes meanwhile goes above it, what was typed stays, and a
//! card comes after the lines that explain it.

use std::{thread, time::Duration};

use rustix::termios::LocalModes;

use crate::{
    output_gate::OutputGate,
    support::{ASK, Place, signal, until},
    terminal::Terminal,
};

/// Asks, and meanwhile prints these lines when `go` is there. It asks by the command: an agent that asks by printing is
/// stopped until it has its answer.
fn asking_while(place: &Place, printing: &str) {
    let ask = "ask 'Which database?' --option PostgreSQL --option MySQL --default PostgreSQL";
    let ostler = env!("CARGO_BIN_EXE_ostler");
    let script = format!(
        "(until [ -e go ]; do sleep 0.05; done; {printing}) & answer=$({ostler} {ask}); echo \"got $answer\"; wait"
    );
    std::fs::write(place.project().join("ask.sh"), script).expect("a script");
}

fn let_go(place: &Place) {
    std::fs::write(place.project().join("go"), "").expect("a file");
}

/// The last rows of the picture, once they are these.
fn ends_with(terminal: &Terminal, rows: &[&str]) {
    until(&format!("{rows:?} at the end of the screen: {:?}", terminal.screen()), || {
        let picture = terminal.rows();
        let written: Vec<&str> = picture.iter().map(String::as_str).collect();
        let end = written.iter().rposition(|row| !row.is_empty()).map_or(0, |at| at + 1);
        written[..end].ends_with(rows).then_some(())
    });
}

#[test]
fn a_line_that_comes_goes_above_the_prompt_and_what_is_typed() {
    let place = Place::new();
    asking_while(&place, "echo 'from the agent'; echo 'and 경고' >&2");
    let mut terminal = Terminal::start(&place, &["run", "--", "bash", "ask.sh"]);
    let prompt = "  Your answer, a number or words (Enter: PostgreSQL):";
    ends_with(&terminal, &[prompt]);
    terminal.press("한국 My");
    ends_with(&terminal, &[&format!("{prompt} 한국 My")]);
    let_go(&place);
    terminal.sees("and 경고");
    let picture = until("the prompt below both lines", || {
        let picture = terminal.rows();
        let has_both = ["from the agent", "and 경고"].iter().all(|it| picture.iter().any(|row| row == it));
        (has_both && picture.last() == Some(&format!("{prompt} 한국 My"))).then_some(picture)
    });
    assert_eq!(picture.iter().filter(|row| row.contains("Your answer")).count(), 1, "{picture:#?}");
    terminal.press("\x152\n");
    terminal.sees("got MySQL");
    assert_eq!(terminal.code(), 0, "{}", terminal.screen());
}

#[test]
fn an_open_line_stays_one_line() {
    let place = Place::new();
    asking_while(
        &place,
        "printf '10%%'; until [ -e on ]; do sleep 0.05; done; printf ' 20%%'; \
         until [ -e off ]; do sleep 0.05; done; echo ' done'",
    );
    let mut terminal = Terminal::sized(place.command(&["run", "--", "bash", "ask.sh"]), 40);
    terminal.sees("Your answer");
    terminal.press("2");
    let prompt = ["  Your answer, a number or words (Enter:", "  PostgreSQL): 2"];
    let_go(&place);
    ends_with(&terminal, &["10%", prompt[0], prompt[1]]);
    std::fs::write(place.project().join("on"), "").expect("a file");
    ends_with(&terminal, &["10% 20%", prompt[0], prompt[1]]);
    std::fs::write(place.project().join("off"), "").expect("a file");
    ends_with(&terminal, &["10% 20% done", prompt[0], prompt[1]]);
    terminal.press("\n");
    terminal.sees("got MySQL");
    assert_eq!(terminal.code(), 0, "{}", terminal.screen());
}

#[test]
fn what_was_typed_for_a_question_that_was_settled_elsewhere_does_not_answer_the_next() {
    let place = Place::new();
    let next = ASK.replace("Which database", "Which cache").replace("thinking", "still thinking");
    let mut terminal = Terminal::start(&place, &["run", "--", "bash", "-c", &format!("{ASK}; {next}")]);
    terminal.sees("Your answer");
    terminal.press("1");
    place.done(&["answer", "q_1", "2"]);
    terminal.sees("q_1 is settled: MySQL");
    terminal.sees("Which cache?");
    ends_with(&terminal, &["  Your answer, a number or words (Enter: PostgreSQL):"]);
    terminal.press("2\n");
    assert_eq!(terminal.code(), 0, "{}", terminal.screen());
    assert_eq!(terminal.screen().matches(r#""answer":"MySQL""#).count(), 2, "{}", terminal.screen());
}

#[test]
fn a_value_is_typed_as_stars_and_drawn_again_as_stars() {
    let place = Place::new();
    let ostler = env!("CARGO_BIN_EXE_ostler");
    let waits = "until [ -e go ]; do sleep 0.05; done; echo meanwhile";
    let script = format!("({waits}) & {ostler} need STRIPE_KEY > key; wc -c < key");
    std::fs::write(place.project().join("need.sh"), script).expect("a script");
    let mut terminal = Terminal::start(&place, &["run", "--", "bash", "need.sh"]);
    terminal.sees("STRIPE_KEY (not shown");
    terminal.press("sk_live_1");
    terminal.sees("*********");
    let_go(&place);
    terminal.sees("meanwhile");
    until("the stars below the line", || terminal.rows().last()?.ends_with(": *********").then_some(()));
    terminal.press("\n");
    terminal.sees("[y/N]: ");
    terminal.press("\n");
    assert_eq!(terminal.code(), 0, "{}", terminal.screen());
    terminal.sees("10\r\n");
    assert!(!terminal.screen().contains("sk_live"), "{}", terminal.screen());
}

#[test]
fn a_prompt_is_drawn_again_for_another_size() {
    let place = Place::new();
    let mut terminal = Terminal::start(&place, &["run", "--", "bash", "-c", ASK]);
    terminal.sees("Your answer");
    terminal.press("PostgreSQ");
    terminal.sees("PostgreSQ");
    let before = terminal.screen().matches("Your answer").count();
    terminal.resize(30);
    until("the prompt again", || (terminal.screen().matches("Your answer").count() > before).then_some(()));
    terminal.press("L\n");
    terminal.sees(r#""answer":"PostgreSQL""#);
    assert_eq!(terminal.code(), 0, "{}", terminal.screen());
}

/// A shell gets the terminal as it was, while the command is stopped and when it has ended.
#[test]
fn the_terminal_gets_its_modes_back() {
    let place = Place::new();
    let mut terminal = Terminal::start(&place, &["run", "--", "bash", "-c", ASK]);
    let edits_lines = |terminal: &Terminal| terminal.modes().contains(LocalModes::ICANON | LocalModes::ECHO);
    terminal.sees("Your answer");
    assert!(!edits_lines(&terminal), "lines are edited by the command");
    terminal.press("2");
    until("what is typed", || terminal.rows().last()?.ends_with("PostgreSQL): 2").then_some(()));
    terminal.press("\x1a");
    until("it is stopped", || (terminal.state() == "T").then_some(()));
    assert!(edits_lines(&terminal), "a stopped command has given the terminal back");
    signal(&terminal.id().to_string(), "CONT");
    until("it edits lines again", || (!edits_lines(&terminal)).then_some(()));
    until("the prompt again", || terminal.rows().last()?.ends_with("PostgreSQL): 2").then_some(()));
    terminal.press("\n");
    assert_eq!(terminal.code(), 0, "{}", terminal.screen());
    assert!(edits_lines(&terminal), "a command that has ended has given the terminal back");
}

/// The question is known for a long time before what was printed comes: the card still waits for it, on both streams.
#[test]
fn a_card_comes_after_the_lines_that_explain_it() {
    let place = Place::new();
    place.done(&["ps"]);
    let gate = OutputGate::closed(&place);
    let ostler = env!("CARGO_BIN_EXE_ostler");
    let script = format!("seq -f 'because %g' 400 >&2; seq -f 'reason %g' 400; {ostler} ask 'Which way?'");
    let mut terminal = Terminal::start(&place, &["run", "--", "bash", "-c", &script]);
    until("the command asks how much was printed", || gate.was_measured().then_some(()));
    // Without the wait for the lines, the card comes after a short silence. This is a much longer one.
    thread::sleep(Duration::from_secs(2));
    assert!(!terminal.screen().contains("Which way?"), "{}", terminal.screen());
    gate.open();
    terminal.sees("Which way?");
    let screen = terminal.screen();
    let at = |text: &str| screen.find(text).unwrap_or_else(|| panic!("{text:?} is missing: {screen}"));
    let card = at("Which way?");
    assert!(at("because 400\r\n") < card && at("reason 400\r\n") < card, "{screen}");
    terminal.press("left\n");
    assert_eq!(terminal.code(), 0, "{}", terminal.screen());
}
