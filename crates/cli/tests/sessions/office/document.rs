//! What the document says that the dialect comes from, task by task: each test has the number of one and looks at what
//! stands there, in the tables that it names.

use std::{fs, path::Path};

use ostler_protocol::{
    Format, Item, Parser, Settings,
    item::What,
    signal::{AnswerType, ResultType, Signal},
};
use ostler_server::api::{InvocationStatus, NewRun};

use super::{ECHO, office, output_with, results, seat, set_roles, views::rows, wait_for_call};
use crate::support::{World, write};

fn parse(text: &str) -> Vec<Item> {
    let mut parser = Parser::new(Format::Text, Settings::default());
    parser.push(text.as_bytes());
    parser.finish();
    parser.collect()
}

fn signals(text: &str) -> Vec<Signal> {
    parse(text)
        .into_iter()
        .filter_map(|item| match item.what {
            What::Signal(signal) => Some(signal),
            _ => None,
        })
        .collect()
}

const ASKED: &str =
    "[ASK_USER]\n질문: 로그인 방식을 선택해주세요\n타입: selection\n옵션: ['이메일', '소셜', 'SSO']\n";
const INVOKED: &str = "[INVOKE:PO]\n요구사항 분석을 진행해주세요.\n컨텍스트: 로그인 기능 구현\n";
const DELIVERED: &str = "[DELIVER_RESULT:PO]\n타입: markdown\n내용: # 결과\n둘째 줄\n";

#[test]
fn t1_the_protocol_has_a_place_of_its_own() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let needs = |name: &str, needed: &str| {
        let table = fs::read_to_string(crates.join(name).join("Cargo.toml")).expect("a crate");
        table.lines().any(|line| line.starts_with(needed))
    };
    assert!(!needs("protocol", "ostler-"), "it stands alone");
    for name in ["engine", "shim", "server"] {
        assert!(needs(name, "ostler-protocol"), "{name} has the messages from there");
    }
    // Its types, by its one entry.
    let found = signals(&format!("{ASKED}{INVOKED}{DELIVERED}[STEP_COMPLETE]\n"));
    assert!(
        matches!(
            found.as_slice(),
            [Signal::AskUser(_), Signal::Invoke(_), Signal::DeliverResult(_), Signal::StepComplete(_)]
        ),
        "{found:?}"
    );
}

#[test]
fn t2_a_parser_gives_messages_in_order() {
    let kinds: Vec<&str> = parse(&format!("{INVOKED}{ASKED}{DELIVERED}[STEP_COMPLETE]\n"))
        .iter()
        .map(|item| item.what.kind())
        .collect();
    assert_eq!(kinds, ["invoke", "ask_user", "deliver_result", "step_complete"]);
    // Two calls in a row are two.
    assert_eq!(signals(&format!("{INVOKED}{INVOKED}")).len(), 2);
}

#[test]
fn t3_escape_sequences_are_no_part_of_a_message() {
    let coloured = "\u{1b}[2J\u{1b}[1;32m[INVOKE:PO]\u{1b}[0m\r\n\u{1b}[3mPlan\u{1b}[0m it\u{1b}[K.\r\n\u{9b}31mcontext: \u{1b}]0;t\u{7}all\r\n";
    let found = signals(coloured);
    let [Signal::Invoke(invoke)] = found.as_slice() else { panic!("one call: {found:?}") };
    assert_eq!((invoke.task.as_str(), invoke.context.as_deref()), ("Plan it.", Some("all")));
}

#[test]
fn t4_a_question_has_type_options_and_context() {
    let asked = |text: &str| {
        let found = signals(text);
        let [Signal::AskUser(ask)] = found.as_slice() else { panic!("one question: {found:?}") };
        ask.clone()
    };
    let ask = asked(&format!("{ASKED}컨텍스트: 새 서비스이고,\n기존 사용자는 없습니다\n"));
    assert_eq!(
        (ask.question.as_str(), ask.answer_type),
        ("로그인 방식을 선택해주세요", AnswerType::Selection)
    );
    assert_eq!(ask.options, ["이메일", "소셜", "SSO"]);
    assert_eq!(ask.context.as_deref(), Some("새 서비스이고,\n기존 사용자는 없습니다"));
    for (word, answer_type) in [("text", AnswerType::Text), ("confirmation", AnswerType::Confirmation)] {
        let ask = asked(&format!("[ASK_USER]\nquestion: Well?\ntype: {word}\ncontext: all of it\n"));
        assert_eq!((ask.answer_type, ask.context.as_deref()), (answer_type, Some("all of it")));
    }
    let ask = asked("[ASK_USER]\n질문: 이름은?\n");
    assert_eq!((ask.answer_type, ask.options.len(), ask.context), (AnswerType::Text, 0, None));
}

#[test]
fn t5_a_call_has_a_target_a_task_and_a_context() {
    let found = signals(INVOKED);
    let [Signal::Invoke(invoke)] = found.as_slice() else { panic!("one call: {found:?}") };
    assert_eq!(invoke.target.as_str(), "PO");
    assert_eq!(invoke.task, "요구사항 분석을 진행해주세요.");
    assert_eq!(invoke.context.as_deref(), Some("로그인 기능 구현"));
}

#[test]
fn t6_a_result_has_a_target_a_type_and_a_content() {
    let delivered = |text: &str| {
        let found = signals(text);
        let [Signal::DeliverResult(result)] = found.as_slice() else { panic!("one result: {found:?}") };
        result.clone()
    };
    let result = delivered(DELIVERED);
    assert_eq!((result.target.as_str(), result.result_type), ("PO", ResultType::Markdown));
    assert_eq!(result.content, "# 결과\n둘째 줄");
    for (word, result_type) in [
        ("github_issue", ResultType::GithubIssue),
        ("json", ResultType::Json),
        ("file_path", ResultType::FilePath),
    ] {
        let result = delivered(&format!("[DELIVER_RESULT:PO]\n타입: {word}\n내용: x\n"));
        assert_eq!((result.result_type, result.content.as_str()), (result_type, "x"));
    }
    let result = delivered("[DELIVER_RESULT:PO]\n전부 내용입니다\n둘째 줄\n");
    assert_eq!(
        (result.result_type, result.content.as_str()),
        (ResultType::Message, "전부 내용입니다\n둘째 줄")
    );
}

#[test]
fn t7_a_question_is_stored_and_its_session_waits() {
    let world = World::new();
    let session = world.bash(&format!("printf \"{ASKED}\"; read -r answer; echo \"got $answer\""));
    world.status(&session, "waiting_input");
    let request = world.asked(&session);
    let expires_at = (request.opened_at_ms + 5 * 60 * 1000).to_string();
    assert_eq!(
        rows(
            &world,
            "SELECT id, agent_id, office_id, question_type, question, options, status, expires_at_ms, response \
             FROM user_questions"
        ),
        [[
            &request.id,
            &format!("p_1/{session}"),
            "p_1",
            "selection",
            "로그인 방식을 선택해주세요",
            r#"["이메일","소셜","SSO"]"#,
            "pending",
            &expires_at,
            "Null"
        ]]
    );
    // It waits for the answer and for nothing else.
    assert_eq!(world.session(&session).blocked_by, [request.id]);
}

#[test]
fn t8_the_answer_reaches_the_terminal_of_the_session_that_waits() {
    let world = World::new();
    let script =
        format!("[ -t 0 ] && [ -t 1 ] || exit 9; printf \"{ASKED}\"; read -r answer; echo \"got $answer\"");
    let at_terminal = NewRun { terminal: Some((24, 100)), ..world.new_run(&["bash", "-c", &script]) };
    let (session, other) = (world.run_with(&at_terminal), world.run_with(&at_terminal));
    let (request, left) = (world.asked(&session), world.asked(&other));
    world.answer(&request.id, "2");
    world.status(&session, "completed");
    assert!(world.output(&session).ends_with("got 소셜\r\n"), "{}", world.output(&session));
    // The other one waits for an answer of its own.
    world.status(&other, "waiting_input");
    assert!(!world.output(&other).contains("got "), "{}", world.output(&other));
    let kept =
        |id: &str| rows(&world, &format!("SELECT status, response FROM user_questions WHERE id = '{id}'"));
    assert_eq!(kept(&request.id), [["answered", "소셜"]]);
    assert_eq!(kept(&left.id), [["pending", "Null"]]);
}

#[test]
fn t9_a_call_finds_or_starts_its_session_and_delivers_the_task() {
    let world = office(&[(
        "PO",
        r#"while read -r line; do echo "PO heard: $line"; case $line in
            Context:*) until [ -e go ]; do sleep 0.05; done; printf '[STEP_COMPLETE]\n[/STEP_COMPLETE]\n';; esac; done"#,
    )]);
    let script = format!("printf '{INVOKED}'; sleep 600");
    let caller = world.bash(&script);
    let call = wait_for_call(&world, 1, InvocationStatus::InProgress);
    assert_eq!((call.caller.as_str(), call.callee.as_str()), (caller.as_str(), "PO"));
    let stored = |id: &str, caller: &str, status: &str| {
        let caller = format!("p_1/{caller}");
        let (task, context) = ("요구사항 분석을 진행해주세요.", "로그인 기능 구현");
        [id, "p_1", &caller, "p_1/PO", task, context, status].map(str::to_owned).to_vec()
    };
    let calls = "SELECT * FROM agent_invocations ORDER BY id";
    assert_eq!(rows(&world, calls), [stored("i_1", &caller, "in_progress")]);
    let seat = seat(&world, "PO");
    let task = |caller: &str| {
        format!(
            "PO heard: [Task from {caller}]\nPO heard: 요구사항 분석을 진행해주세요.\nPO heard: Context: 로그인 기능 구현\n"
        )
    };
    output_with(&world, &seat.id, "Context: ");
    assert_eq!(world.output(&seat.id), task(&caller));
    write(&world.project, "go", "");
    wait_for_call(&world, 1, InvocationStatus::Completed);

    // The session is there by now, and the same process gets the next task.
    let second = world.bash(&script);
    let call = wait_for_call(&world, 2, InvocationStatus::Completed);
    assert_eq!(call.seat.as_deref(), Some(seat.id.as_str()));
    let told = world.output(&seat.id);
    assert!(told.ends_with(&format!("{}[STEP_COMPLETE]\n[/STEP_COMPLETE]\n", task(&second))), "{told}");
    assert_eq!(world.session(&seat.id).launches.len(), 1);
    assert_eq!(rows(&world, "SELECT session_id FROM office_agents"), [[seat.id.as_str()]]);
    assert_eq!(
        rows(&world, calls),
        [stored("i_1", &caller, "completed"), stored("i_2", &second, "completed")]
    );
    world.verify();
}

#[test]
fn t10_the_caller_is_told_when_a_call_is_completed() {
    let world = office(&[(
        "PO",
        "read -r head; read -r task; printf '[STEP_COMPLETE]\\n요약: 끝났습니다\\n'; sleep 600",
    )]);
    let caller = world.bash("printf '[INVOKE:PO]\\nx\\n[/INVOKE]\\n'; read -r a; read -r b; echo \"$a|$b\"");
    let call = wait_for_call(&world, 1, InvocationStatus::Completed);
    assert_eq!(call.why.as_deref(), Some("step"));
    assert_eq!(rows(&world, "SELECT id, status FROM agent_invocations"), [["i_1", "completed"]]);
    world.status(&caller, "completed");
    assert!(world.output(&caller).ends_with("[Result from PO]|끝났습니다\n"), "{}", world.output(&caller));
}

#[test]
fn t11_a_result_is_stored_and_its_receiver_is_told() {
    let world = office(&[("PO", "while read -r line; do echo \"PO heard: $line\"; done")]);
    let giver = world.bash(&format!("printf '{DELIVERED}'; sleep 600"));
    world.wait_for("a result", |world| results(world).first().cloned());
    let from = format!("p_1/{giver}");
    let stored = |status: &str| {
        ["d_1", "p_1", &from, "p_1/PO", "markdown", "text/markdown", "# 결과\n둘째 줄", status]
            .map(str::to_owned)
            .to_vec()
    };
    let all = "SELECT * FROM agent_results";
    assert_eq!(rows(&world, all), [stored("pending")]);
    // Nobody has the role yet: it waits for the first session.
    let said = world.ostler(&["office", "send", "PO", "Hello."]);
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    let seat = seat(&world, "PO");
    let heard = output_with(&world, &seat.id, "Hello.");
    assert_eq!(
        heard,
        format!(
            "PO heard: [Result from {giver}]\nPO heard: # 결과\nPO heard: 둘째 줄\nPO heard: [/Result]\nPO heard: Hello.\n"
        )
    );
    world.wait_for("that it is delivered", |world| results(world)[0].delivered.then_some(()));
    assert_eq!(rows(&world, all), [stored("delivered")]);
}

#[test]
fn t12_messages_of_all_kinds_go_to_whom_they_concern_and_mistakes_are_told() {
    let world = office(&[("PO", ECHO)]);
    let script = r#"
        printf '[INVOKE:Nobody]\nx\n[/INVOKE]\n'; read -r a; read -r b; read -r end; echo "$a $b"
        printf '[DELIVER_RESULT:PO]\ntype: json\ncontent: {broken\n[/DELIVER_RESULT]\n'; read -r c; echo "$c"
        printf '[DELIVER_RESULT:PO]\ntype: file_path\ncontent: ..\n[/DELIVER_RESULT]\n'; read -r d; echo "$d"
        printf '[INVOKE:po]\nworks\n[/INVOKE]\n'; read -r e; read -r f; echo "$e $f""#;
    let caller = world.bash(script);
    world.status(&caller, "completed");
    let output = world.output(&caller);
    for words in [
        "[No result from Nobody] There is no agent Nobody. There are: PO, a0, claude",
        "Your result for PO was not delivered: it is no JSON",
        "Your result for PO was not delivered: '..' is outside of the project",
        "[Result from PO] works",
    ] {
        assert!(output.contains(words), "{words}:\n{output}");
    }
    world.verify();
}

#[test]
fn t13_the_parser_reads_every_message_of_the_document() {
    let text = format!("\u{1b}[32m{ASKED}\u{1b}[0m{INVOKED}{DELIVERED}");
    let kinds: Vec<&str> = parse(&text).iter().map(|item| item.what.kind()).collect();
    assert_eq!(kinds, ["ask_user", "invoke", "deliver_result"]);
}

/// Its three flows: a question and its answer, a call and its task, a result and its receiver; in Korean throughout, and
/// at a terminal that draws.
#[test]
fn t14_the_three_flows_from_end_to_end() {
    let po = r#"clear_it=$'\e[2J\e[H\e[1;33m'
        while read -r head; do printf '%s화면\e[0m\r\n' "$clear_it"; case $head in
        "[작업 요청 from "*) caller=$(name_in "$head"); read -r task; read -r context
            printf '\e[36m[ASK_USER]\e[0m\r\n질문: \e[1m%s\e[0m 맞나요?\r\n타입: text\r\n[/ASK_USER]\r\n' "$task"
            read -r answer; printf '\e[2K\r\e[35m'
            deliver "$caller" "$task: $answer, $context";; esac; done"#;
    let world = World::new();
    set_roles(&world, "language = \"ko\"\n", &[("기획자", po)]);
    let config = world.home.join("config/ostler/config.toml");
    let text = fs::read_to_string(&config).expect("it was written");
    fs::write(&config, text.replace("[agents.a0]\n", "[agents.a0]\nterminal = \"pty\"\n"))
        .expect("it is ours");
    let mut new = world.new_run(&["bash", "-c", "printf '[INVOKE:기획자]\\n로그인\\n컨텍스트: 급함\\n[/INVOKE]\\n'; read -r a; read -r b; read -r end; echo \"$a $b\""]);
    new.korean = true;
    let caller = world.run_with(&new);
    let seat = seat(&world, "기획자");
    let request = world.asked(&seat.id);
    assert_eq!(request.ask.text, "로그인 맞나요?");
    world.answer(&request.id, "예");
    world.status(&caller, "completed");
    let output = world.output(&caller);
    assert!(output.ends_with("[결과 수신 from 기획자] 로그인: 예, 컨텍스트: 급함\n"), "{output}");
    wait_for_call(&world, 1, InvocationStatus::Completed);
    world.wait_for("the result to be read", |world| results(world)[0].delivered.then_some(()));
    assert_eq!(rows(&world, "SELECT status, response FROM user_questions"), [["answered", "예"]]);
    assert_eq!(rows(&world, "SELECT status FROM agent_invocations"), [["completed"]]);
    assert_eq!(
        rows(&world, "SELECT content, status FROM agent_results"),
        [["로그인: 예, 컨텍스트: 급함", "delivered"]]
    );
    world.verify();
}
