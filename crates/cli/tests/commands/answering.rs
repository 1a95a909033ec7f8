//! Requests and wishes from another terminal: `answer`, `send`, `pause`, `continue`, `cancel`, `resume`.

use std::fs;

use crate::{
    support::{ASK, Place, until},
    terminal::Terminal,
};

#[test]
fn an_answer_reaches_the_agent() {
    let place = Place::new();
    let session = place.start(ASK);
    let request = place.wait_for_request();
    assert_eq!(place.done(&["answer", &request, "2"]), "q_1 is answered: MySQL\n");
    place.wait_for(&session, "completed");
    let log = place.done(&["logs", &session]);
    assert!(log.contains(r#"got {"type":"question_answer","questionId":"q_1","answer":"MySQL"}"#), "{log}");
    let shown = place.done(&["show", "q_1"]);
    assert!(shown.contains("MySQL (person, "), "{shown}");
    let shown = place.done(&["show", &session]);
    assert!(shown.contains("answer MySQL"), "{shown}");
}

#[test]
fn an_answer_comes_from_anywhere() {
    let place = Place::new();
    let ask = "printf '%s\\n' '[USER_QUESTION]' 'category: business' 'question: Which name?' 'required: true' \
               '[/USER_QUESTION]'; read -r line; echo \"$line\"";
    let answered = |arguments: &[&str], input: &str| {
        let session = place.start(ask);
        let request = place.wait_for_request();
        let arguments: Vec<&str> =
            arguments.iter().map(|it| if *it == "ID" { request.as_str() } else { *it }).collect();
        let said = place.pipe(&arguments, input);
        assert_eq!(said.code, 0, "{said:?}");
        place.wait_for(&session, "completed");
        let log = place.done(&["logs", &session]);
        assert!(log.contains(r#""answer":"a \"name\""#), "{log}");
    };
    fs::write(place.project().join("answer.txt"), "a \"name\"\n").expect("a file");
    answered(&["answer", "ID", "a \"name\""], "");
    answered(&["answer", "ID", "--stdin"], "a \"name\"\n");
    answered(&["answer", "ID", "--file", "answer.txt"], "");
    answered(&["answer", "a \"name\""], "");
    answered(&["answer", "last", "a \"name\""], "");
    // Words need no quotes behind an id, wherever an option stands among them.
    answered(&["answer", "ID", "a", "\"name\""], "");
    answered(&["answer", "ID", "a", "--insist", "\"name\""], "");
    // Without one it is not clear what the first of them is.
    let session = place.start(ask);
    let request = place.wait_for_request();
    let said = place.run(&["answer", "a", "name"]);
    assert_eq!((said.code, place.wait_for_request()), (8, request), "{said:?}");
    place.done(&["cancel", &session]);
}

#[test]
fn a_yes_and_a_no() {
    let place = Place::new();
    let ask = "printf '%s\\n' '[USER_QUESTION]' 'category: confirmation' 'question: Sure?' 'required: true' \
               '[/USER_QUESTION]'; read -r line; echo \"$line\"";
    for (flags, answer) in [
        (&["--yes"][..], "Yes"),
        (&["--no"], "No"),
        (&["--no", "not on a Friday"], "No"),
        (&["--yes", "but only once"], "Yes"),
    ] {
        let session = place.start(ask);
        let request = place.wait_for_request();
        let said = place.done(&[&["answer", &request], flags].concat());
        assert!(flags.iter().skip(1).all(|remark| said.contains(&format!("{answer}. {remark}"))), "{said}");
        place.wait_for(&session, "completed");
        assert!(place.done(&["logs", &session]).contains(&format!("\"answer\":\"{answer}\"")));
    }
}

#[test]
fn an_answer_without_an_id_is_refused_while_several_requests_are_open() {
    let place = Place::new();
    let first = place.start(ASK);
    place.wait_for(&first, "waiting_input");
    let second = place.start(ASK);
    place.wait_for(&second, "waiting_input");
    fs::write(place.project().join("answer.txt"), "MySQL\n").expect("a file");
    for arguments in [&["1"][..], &["--yes"], &["--no"], &["--skip"], &["--stdin"], &["--file", "answer.txt"]]
    {
        let said = place.pipe(&[&["answer"], arguments].concat(), "MySQL\n");
        assert_eq!(said.code, 7, "{arguments:?}: {said:?}");
        assert!(
            said.err.contains("several requests are open: name one (q_1, q_2)"),
            "{arguments:?}: {said:?}"
        );
    }
    assert_eq!(place.json(&["inbox"]).as_array().map(Vec::len), Some(2), "both requests are still open");
    place.done(&["answer", "q_2", "2"]);
    place.wait_for(&second, "completed");
    assert_eq!(place.pipe(&["answer", "--stdin"], "MySQL\n").code, 0, "one request is clear");
    place.wait_for(&first, "completed");
}

/// A question, something that it needs, and an error, printed in one piece: the agent is not stopped in between.
const ALL_AT_ONCE: &str = "all=$(printf '%s\\n' '[USER_QUESTION]' 'category: business' 'question: Which name?' \
    'required: true' '[/USER_QUESTION]' '[DEPENDENCY_REQUEST]' 'type: permission' 'name: deploy' \
    'description: To show it.' 'required: true' '[/DEPENDENCY_REQUEST]' '[ERROR]' 'type: recoverable' \
    'message: The disk is full.' 'recovery: notify_user' '[/ERROR]'); cat <<<\"$all\"; read -r a; read -r b; \
    echo \"$a\"; echo \"$b\"";

#[test]
fn an_error_is_offered_first_then_a_dependency_then_a_question() {
    let place = Place::new();
    let session = place.start(ALL_AT_ONCE);
    let inbox = until("all three", || {
        Some(place.json(&["inbox"])).filter(|it| it.as_array().is_some_and(|it| it.len() == 3))
    });
    let ids: Vec<&str> =
        inbox.as_array().expect("a list").iter().filter_map(|it| it["id"].as_str()).collect();
    assert_eq!(ids, ["q_3", "q_2", "q_1"]);
    assert_eq!(place.session(&session)["blocked_by"], serde_json::json!(["q_3", "q_2", "q_1"]));
    for arguments in [&["continue"][..], &["--yes"], &["--no"], &["--skip"]] {
        let said = place.run(&[&["answer", &session], arguments].concat());
        assert_eq!(said.code, 7, "{arguments:?}: {said:?}");
        assert!(said.err.contains("several requests are open: name one (q_3, q_2, q_1)"), "{said:?}");
    }
    assert_eq!(place.done(&["answer", "q_3", "continue"]), "q_3 is answered: go on\n");
    place.wait_for(&session, "waiting_dependency");
    let mut terminal = Terminal::start(&place, &["answer"]);
    terminal.sees("q_2");
    terminal.press("y\n");
    assert_eq!(terminal.code(), 0, "{}", terminal.screen());
    place.wait_for(&session, "waiting_input");
    assert_eq!(place.done(&["answer", &session, "Anna"]), "q_1 is answered: Anna\n");
    place.wait_for(&session, "completed");
    // The answers come in the order in which they were asked for.
    let log = place.done(&["logs", &session]);
    assert!(log.find("question_answer") < log.find("dependency_provided"), "{log}");
}

#[test]
fn the_terminal_offers_an_error_first() {
    let place = Place::new();
    let mut terminal = Terminal::start(&place, &["run", "--", "bash", "-c", ALL_AT_ONCE]);
    for (id, keys) in [("◆ q_3", "continue\n"), ("◆ q_2", "y\n"), ("◆ q_1", "Anna\n")] {
        terminal.sees(id);
        terminal.press(keys);
    }
    assert_eq!(terminal.code(), 0, "{}", terminal.screen());
    let screen = terminal.screen();
    assert!(
        screen.find("◆ q_3") < screen.find("◆ q_2") && screen.find("◆ q_2") < screen.find("◆ q_1"),
        "{screen}"
    );
}

#[test]
fn words_that_are_no_option_need_insistence() {
    let place = Place::new();
    place.start(ASK);
    let request = place.wait_for_request();
    let said = place.run(&["answer", &request, "MySQ"]);
    assert_eq!(said.code, 7, "{said:?}");
    assert_eq!(
        said.err,
        "ostler: that is none of the options of q_1\n  Did you mean 'MySQL'? Options: 1 PostgreSQL, 2 MySQL. \
         To send it all the same: --insist\n"
    );
    let said = place.run(&["--lang", "ko", "answer", &request, "MySQ"]);
    assert!(
        said.err.starts_with("ostler: q_1의 선택지에 없는 답입니다\n  'MySQL'을(를) 뜻했나요?"),
        "{said:?}"
    );
    assert_eq!(place.done(&["answer", &request, "SQLite", "--insist"]), "q_1 is answered: SQLite\n");
}

#[test]
fn what_is_settled_or_foreign_cannot_be_answered() {
    let place = Place::new();
    place.start(ASK);
    let request = place.wait_for_request();
    place.done(&["answer", &request, "1"]);
    let said = place.run(&["answer", &request, "2"]);
    assert_eq!(said.code, 7, "{said:?}");
    assert!(said.err.starts_with("ostler: q_1 is settled already: PostgreSQL\n"), "{said:?}");
    let said = place.run(&["answer", "q_99", "2"]);
    assert_eq!(said.code, 8, "{said:?}");
    assert!(said.err.contains("q_99"), "{said:?}");
    let said = place.run(&["--json", "answer", "q_99", "2"]);
    let error: serde_json::Value = serde_json::from_str(&said.err).expect("an error for machines");
    assert_eq!((&error["exit_code"], &error["error"]["type"]), (&8.into(), &"no_request".into()));
    let said = place.run(&["answer", "1"]);
    assert_eq!(said.code, 7, "nothing is open: {said:?}");
    let said = place.run(&["answer"]);
    assert_eq!(said.code, 7, "nothing is open: {said:?}");
}

#[test]
fn without_a_terminal_nobody_can_be_asked() {
    let place = Place::new();
    place.start(ASK);
    place.wait_for_request();
    let said = place.run(&["answer"]);
    assert_eq!(said.code, 7, "{said:?}");
    assert!(said.err.contains("there is no terminal to ask on"), "{said:?}");
}

#[test]
fn words_are_sent_to_an_agent() {
    let place = Place::new();
    let session = place.start("read -r line; echo \"heard $line\"");
    place.wait_for(&session, "active");
    assert_eq!(place.done(&["send", &session, "go left"]), "written to s_1\n");
    place.wait_for(&session, "completed");
    assert_eq!(place.done(&["logs", &session]), "▸ you: go left\nheard go left\n");
    let said = place.run(&["send", &session, "too late"]);
    assert_eq!(said.code, 7, "{said:?}");
    assert!(said.err.starts_with("ostler: s_1 is done"), "{said:?}");
}

#[test]
fn an_agent_is_held_and_goes_on() {
    let place = Place::new();
    let session = place.start("while true; do sleep 0.05; done");
    place.wait_for(&session, "active");
    assert_eq!(place.done(&["pause", &session]), "s_1 is paused\n");
    place.wait_for(&session, "paused");
    assert_eq!(place.done(&["continue", "last"]), "s_1 goes on\n");
    place.wait_for(&session, "active");
    let said = place.run(&["continue", &session]);
    assert_eq!(said.code, 7, "nobody holds it: {said:?}");
    assert_eq!(place.done(&["cancel", "r_1"]), "s_1 is being ended\n");
    place.wait_for(&session, "cancelled");
    assert_eq!(place.done(&["cancel", &session]), "s_1 is over already\n");
}

#[test]
fn several_at_once() {
    let place = Place::new();
    let first = place.start("sleep 60");
    let second = place.start("sleep 60");
    let said = place.run(&["cancel", &first, "s_99", &second]);
    assert_eq!(said.code, 8, "{said:?}");
    assert!(said.err.contains("s_99"), "{said:?}");
    place.wait_for(&first, "cancelled");
    place.wait_for(&second, "cancelled");
    let both = place.json(&["cancel", &first, &second]);
    assert_eq!((&both[0]["id"], &both[1]["id"]), (&first.into(), &second.into()));
    assert_eq!(place.json(&["cancel", "last"])["status"], "cancelled");
}

#[test]
fn what_was_interrupted_is_resumed() {
    let place = Place::new();
    place.configure(
        r#"[agents.mine]
command = ["bash", "-c"]
output = "claude"
[agents.mine.arguments]
fresh = ["""echo '{{"type":"system","subtype":"init","session_id":"c1"}'; sleep 60"""]
resume = ["""echo '{{"type":"assistant","message":{{"model":"m","content":[{{"type":"text","text":"resumed {conversation}"}]}}'"""]
"#,
    );
    let run = place.json(&["run", "-d", "mine", "work"]);
    let session = run["sessions"][0]["id"].as_str().expect("an id").to_owned();
    let active = until("the conversation", || {
        Some(place.session(&session)).filter(|it| it["resumable"] == true && it["pid"].is_number())
    });
    let pid = active["pid"].as_i64().expect("a process");
    let parent = fs::read_to_string(format!("/proc/{pid}/stat")).expect("it runs");
    let parent = parent.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1)).expect("its shim");
    let mut kill = std::process::Command::new("kill");
    assert!(kill.args(["-KILL", parent]).status().expect("kill starts").success());
    place.wait_for(&session, "interrupted");
    let said = place.run(&["attach", &session]);
    assert_eq!(said.code, 11, "{said:?}");
    assert!(said.err.contains("Go on with: ostler resume s_1"), "{said:?}");
    let said = place.run(&["resume", &session]);
    assert_eq!((said.code, said.out.as_str()), (0, "resumed c1\n"), "{said:?}");
}

#[test]
fn a_session_that_asks_nothing_is_told_from_an_empty_inbox() {
    let place = Place::new();
    let quiet = place.start("true");
    place.wait_for(&quiet, "completed");
    let said = place.run(&["answer", &quiet, "x"]);
    assert!(said.err.contains("nothing is open"), "{said:?}");
    let asking = place.start(ASK);
    place.wait_for(&asking, "waiting_input");
    let said = place.run(&["answer", &quiet, "x"]);
    assert_eq!(said.code, 7, "{said:?}");
    assert!(said.err.contains(&format!("{quiet} waits for no answer")), "{said:?}");
    place.done(&["answer", &asking, "1"]);
}
