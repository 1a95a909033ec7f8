//! Values, files, permissions and packages: who is told what, and when the agent goes on.

use expect_test::{Expect, expect};
use ostler_agents::Agent;
use ostler_engine::{
    Input, RequestId,
    answer::{Answer, Given},
    request::{Bringing, By, Install},
    session::{Status, ValueSource},
};

use crate::{
    common::{claude, codex, lines, plain, said},
    play::{Play, S},
};

fn check(mut play: Play, expect: &Expect) -> Play {
    expect.assert_eq(&play.page());
    play
}

fn provided(request: u64, names: &[&str], reuse: bool) -> Input {
    let provided = names.iter().map(ToString::to_string).collect();
    Input::Answer {
        request: RequestId(request),
        given: Given { provided, reuse, ..Given::default() },
        printed: None,
    }
}

fn skipped(request: u64) -> Input {
    Input::Answer {
        request: RequestId(request),
        given: Given { skip: true, ..Given::default() },
        printed: None,
    }
}

fn decided(request: u64, yes: bool) -> Input {
    let given = Given { decision: Some(yes), ..Given::default() };
    Input::Answer { request: RequestId(request), given, printed: None }
}

fn installed(request: u64, reason: Option<&str>) -> Input {
    let install = Install { installed: reason.is_none(), reason: reason.map(ToOwned::to_owned) };
    Input::Installed { request: RequestId(request), install }
}

fn told(agent: &Agent) -> Agent {
    let mut agent = agent.clone();
    agent.values.reply = true;
    agent
}

/// The line that an agent gets, if it gets one.
fn line_for(agent: Agent, item: serde_json::Value, answer: Input) -> Option<String> {
    let mut play = Play::running(agent);
    play.asks(item);
    play.give(answer);
    let page = play.page();
    let line = page.lines().find_map(|line| line.split_once(" text=").map(|(_, text)| text.to_owned()));
    assert!(page.contains("→ go_on"), "it goes on: {page}");
    line.map(|line| line.replace("\\\"", "'").trim_matches('"').trim_end_matches("\\n").to_owned())
}

#[test]
fn a_value_is_written_for_the_agent_before_it_goes_on() {
    let mut play = Play::running(plain());
    play.asks(said::dependency("api_key", "STRIPE_SECRET_KEY"));
    assert_eq!(play.status(), Status::WaitingDependency);
    play.give(provided(1, &["STRIPE_SECRET_KEY"], false));
    let play = check(
        play,
        &expect![[r#"
            session.heard dependency_request launch=1
            request.opened dependency launch=1 request="q_1"
                → look_in_vault request="q_1"
            session.stopped cause="signal" launch=1
            request.settled answer={"answer":"provided","names":["STRIPE_SECRET_KEY"],"reuse":false} brings=false by="person" request="q_1" unseen=true
                → provide_values
            session.released launch=1
                → go_on after=3 launch=1
        "#]],
    );
    assert_eq!(play.session().values["STRIPE_SECRET_KEY"], ValueSource::Session);
    assert_eq!(play.request(1).bringing, Bringing::Nothing);
}

#[test]
fn the_file_goes_when_the_session_is_over_and_comes_back_with_it() {
    let mut play = Play::running(plain());
    play.asks(said::dependency("service", "stripe"));
    play.give(provided(1, &["STRIPE_SECRET_KEY", "STRIPE_PUBLISHABLE_KEY"], true));
    play.forget();
    play.ended(1);
    play.give(Input::Resume { session: S, prompt: None });
    let play = check(
        play,
        &expect![[r#"
            session.ended end={"at_ms":1000,"clean":true,"code":1,"how":"exited","signal":null} launch=1
            session.finished outcome={"outcome":"failed","reason":{"code":1,"key":"exit_code"}}
                → remove_values
            run.ended outcome={"outcome":"failed","reason":{"code":1,"key":"exit_code"}}
            session.resumed anew=true
            run.reopened
            session.launched cause="resume" fresh=true launch=2 prompt="Do it."
                → launch launch=2
        "#]],
    );
    assert_eq!(play.session().values.len(), 2);
    assert_eq!(play.session().values["STRIPE_SECRET_KEY"], ValueSource::Project);
}

#[test]
fn a_cli_that_can_be_resumed_is_started_again_with_the_value() {
    let mut play = Play::running(claude());
    play.heard(said::conversation("c1"));
    play.asks(said::dependency("api_key", "KEY"));
    play.asks(said::question("Which?"));
    play.forget();
    // While something else is open it stays as it is.
    play.give(provided(1, &["KEY"], false));
    play.answer(2, "this");
    play.killed();
    play.started();
    let play = check(
        play,
        &expect![[r#"
            request.settled answer={"answer":"provided","names":["KEY"],"reuse":false} brings=true by="person" relaunches=true request="q_1"
                → provide_values
            request.settled answer={"answer":"text","text":"this"} brings=true by="person" request="q_2"
            session.recalled launch=1 why="relaunch"
                → end grace_ms=10000 launch=1
            session.ended end={"at_ms":1000,"clean":true,"code":null,"how":"exited","signal":15} launch=1
            session.launched cause="bring" fresh=false launch=2 prompt="What you asked for (KEY) is in your environment now, as KEY.\n\nAnswer to your question \"Which?\": this"
                → launch launch=2
            input.delivered launch=2 parcel={"request":"q_1"}
            input.delivered launch=2 parcel={"request":"q_2"}
            session.started launch=2
        "#]],
    );
    assert!(!play.session().needs_relaunch);
}

#[test]
fn without_a_conversation_it_is_told_in_words_and_goes_on() {
    let mut play = Play::running(claude());
    play.asks(said::dependency("api_key", "KEY"));
    play.give(provided(1, &["KEY"], false));
    check(
        play,
        &expect![[r#"
            session.heard dependency_request launch=1
            request.opened dependency launch=1 request="q_1"
                → look_in_vault request="q_1"
            session.stopped cause="signal" launch=1
            request.settled answer={"answer":"provided","names":["KEY"],"reuse":false} brings=true by="person" request="q_1"
                → provide_values
            input.sent launch=1 parcel={"request":"q_1"}
                → deliver launch=1 parcel={"request":"q_1"} text="{\"type\":\"user\",\"uuid\":\"00000000-0001-8001-8000-010000000001\",\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"What you asked for (KEY) is there now, as KEY: in the environment of new shells, and by `ostler need KEY`.\"}]}}\n"
            session.released launch=1
                → go_on after=3 launch=1
        "#]],
    );
}

#[test]
fn who_asks_over_the_socket_is_not_started_again() {
    let mut play = Play::running(codex());
    play.heard(said::conversation("c1"));
    let ask = Box::new(said::asked(&said::dependency("api_key", "KEY")));
    let key = "k1".to_owned();
    play.give(Input::Call { session: S, launch: 1, key, ask, shown: None, pid: 9, began: 2 });
    play.give(provided(1, &["KEY"], false));
    assert_eq!(play.request(1).bringing, Bringing::Waiting, "the caller reads it");
    assert!(!play.session().needs_relaunch);
}

#[test]
fn what_a_session_was_given_is_there_at_its_socket() {
    let mut play = Play::running(plain());
    play.asks(said::dependency("env_variable", "KEY"));
    play.give(provided(1, &["KEY"], false));
    // The sort of the value makes no difference, and nobody is asked.
    play.calls("k1", &said::dependency("api_key", "KEY"));
    let settled = play.request(2).settled.clone().expect("it is settled");
    let names = vec!["KEY".to_owned()];
    assert_eq!((settled.by, settled.answer), (By::Repetition, Answer::Provided { names, reuse: false }));
    assert_eq!(play.session().values["KEY"], ValueSource::Session);
    // Who prints the request again wants another value: the first one may have been wrong.
    play.asks(said::dependency("env_variable", "KEY"));
    assert!(play.request(3).is_open());
    play.calls("k2", &said::dependency("api_key", "OTHER"));
    assert!(play.request(4).is_open());
    play.calls("k3", &said::dependency("service", "KEY"));
    assert!(play.request(5).is_open(), "a service of that name is another thing");
}

#[test]
fn what_may_be_given_again_is_given_at_once() {
    let mut play = Play::running(plain());
    play.asks(said::dependency("env_variable", "DATABASE_URL"));
    let names = vec!["DATABASE_URL".to_owned()];
    play.give(Input::InVault { request: RequestId(1), names: names.clone() });
    let settled = play.request(1).settled.clone().expect("it is settled");
    assert_eq!((settled.by, settled.answer), (By::Vault, Answer::Provided { names, reuse: true }));
    assert_eq!(play.status(), Status::Active);
    // A person who was faster has answered it.
    play.asks(said::dependency("env_variable", "OTHER"));
    play.give(decided(2, false));
    play.forget();
    play.give(Input::InVault { request: RequestId(2), names: vec!["OTHER".to_owned()] });
    assert_eq!(play.page(), "");
}

#[test]
fn lines_about_values_are_for_those_who_want_them() {
    let key = || said::dependency("api_key", "KEY");
    let wish = || said::wish("env_variable", "KEY", Some("x"));
    assert_eq!(line_for(plain(), key(), provided(1, &["KEY"], false)), None);
    assert_eq!(line_for(plain(), wish(), skipped(1)), None);
    assert_eq!(line_for(plain(), wish(), decided(1, false)), None);
    let about = |rest: &str| {
        let head = "{'type':'dependency_provided','requestId':'q_1','name':'KEY','dependencyType':";
        Some(format!("{head}{rest}}}"))
    };
    let told = told(&plain());
    assert_eq!(
        line_for(told.clone(), key(), provided(1, &["KEY"], false)),
        about("'api_key','provided':true,'get':'ostler need KEY'")
    );
    assert_eq!(
        line_for(told.clone(), wish(), skipped(1)),
        about("'env_variable','provided':true,'defaultUsed':true,'get':'ostler need KEY'")
    );
    let service = || said::wish("service", "KEY", Some("x"));
    assert_eq!(line_for(told, service(), skipped(1)), about("'service','provided':false,'reason':'skipped'"));
    // That it will not get what it cannot do without, everybody is told.
    assert_eq!(line_for(plain(), key(), decided(1, false)), about("'api_key','provided':false"));
}

#[test]
fn files_permissions_and_packages_are_told_to_everybody() {
    let line = |item, answer| line_for(plain(), item, answer).expect("a line");
    let about = |name: &str, rest: &str| {
        format!("{{'type':'dependency_provided','requestId':'q_1','name':'{name}','dependencyType':{rest}}}")
    };
    let logo = said::wish("file", "logo.png", Some("placeholder.png"));
    assert_eq!(
        line(logo.clone(), skipped(1)),
        about("logo.png", "'file','provided':true,'path':'placeholder.png','defaultUsed':true")
    );
    assert_eq!(
        line(logo, crate::play::answer(1, "uploads/logo.png")),
        about("logo.png", "'file','provided':true,'path':'uploads/logo.png'")
    );
    assert_eq!(
        line(said::wish("file", "a", None), skipped(1)),
        about("a", "'file','provided':false,'reason':'skipped'")
    );
    assert_eq!(
        line(said::wish("permission", "push", Some("approve")), skipped(1)),
        about("push", "'permission','provided':false,'approved':false,'reason':'skipped'")
    );
    assert_eq!(
        line(said::dependency("permission", "push"), decided(1, false)),
        about("push", "'permission','provided':false,'approved':false")
    );
}

#[test]
fn it_does_not_go_on_without_values_that_could_not_be_written() {
    let mut play = Play::running(plain());
    play.asks(said::dependency("api_key", "KEY"));
    play.give(provided(1, &["KEY"], false));
    play.forget();
    play.give(Input::ValuesNotWritten { session: S, message: "no room".to_owned() });
    assert_eq!(play.status(), Status::WaitingInput);
    assert!(play.session().live().is_some_and(|live| live.released_seq == 0));
    play.answer(2, "continue");
    check(
        play,
        &expect![[r#"
            values.withheld launch=1 reason="no room"
            request.opened stall launch=1 request="q_2"
                → stop launch=1
            request.settled answer={"answer":"go_on","words":null} brings=false by="person" request="q_2"
                → provide_values
            session.released launch=1
                → go_on after=3 launch=1
        "#]],
    );
}

#[test]
fn a_default_stands_for_a_value_that_nobody_gives() {
    let mut play = Play::running(plain());
    play.asks(said::wish("env_variable", "PORT", Some("8080")));
    play.give(skipped(1));
    assert_eq!(play.session().values["PORT"], ValueSource::Default { text: "8080".to_owned() });
    assert!(play.page().contains("→ provide_values"));
    play.asks(said::wish("env_variable", "HOST", None));
    play.give(skipped(2));
    assert_eq!(play.session().values.len(), 1);
    assert!(!play.page().contains("→ provide_values"));
}

#[test]
fn a_package_is_installed_before_the_agent_is_told() {
    let mut play = Play::running(plain());
    play.asks(said::dependency("package", "left-pad"));
    play.give(decided(1, true));
    assert_eq!(play.status(), Status::Installing);
    assert_eq!(play.book.world.inbox().count(), 0, "nobody has to do anything about it");
    play.give(installed(1, None));
    play.asks(said::dependency("package", "no-such-thing"));
    play.give(decided(2, true));
    play.give(installed(2, Some("404")));
    check(
        play,
        &expect![[r#"
            session.heard dependency_request launch=1
            request.opened dependency launch=1 request="q_1"
            session.stopped cause="signal" launch=1
            request.settled answer={"answer":"approved","for_session":false} brings=false by="person" request="q_1"
            install.started request="q_1"
                → install request="q_1"
            install.finished brings=true install={"installed":true,"reason":null} request="q_1"
            input.sent launch=1 parcel={"request":"q_1"}
                → deliver launch=1 parcel={"request":"q_1"} text="{\"type\":\"dependency_provided\",\"requestId\":\"q_1\",\"name\":\"left-pad\",\"dependencyType\":\"package\",\"provided\":true,\"approved\":true,\"installed\":true}\n"
            session.released launch=1
                → go_on after=3 launch=1
            session.heard dependency_request launch=1
            request.opened dependency launch=1 request="q_2"
            session.stopped cause="signal" launch=1
            request.settled answer={"answer":"approved","for_session":false} brings=false by="person" request="q_2"
            install.started request="q_2"
                → install request="q_2"
            install.finished brings=true install={"installed":false,"reason":"404"} request="q_2"
            input.sent launch=1 parcel={"request":"q_2"}
                → deliver launch=1 parcel={"request":"q_2"} text="{\"type\":\"dependency_provided\",\"requestId\":\"q_2\",\"name\":\"no-such-thing\",\"dependencyType\":\"package\",\"provided\":false,\"approved\":true,\"installed\":false,\"reason\":\"404\"}\n"
            session.released launch=1
                → go_on after=5 launch=1
        "#]],
    );
}

#[test]
fn an_installation_ends_with_the_session() {
    let mut play = Play::running(plain());
    play.asks(said::dependency("package", "left-pad"));
    play.give(decided(1, true));
    play.forget();
    play.give(Input::Cancel(S));
    play.killed();
    play.give(installed(1, None));
    let play = check(
        play,
        &expect![[r#"
            session.cancelled
            session.recalled launch=1 why="cancel"
                → end grace_ms=10000 launch=1
            session.ended end={"at_ms":1000,"clean":true,"code":null,"how":"exited","signal":15} launch=1
            install.finished brings=false install={"installed":false,"reason":null} request="q_1"
                → end_install request="q_1"
            session.finished outcome={"outcome":"cancelled"}
            run.ended outcome={"outcome":"cancelled"}
        "#]],
    );
    assert!(!play.request(1).is_pending());
}

#[test]
fn a_program_that_ended_while_it_asked_is_started_again_with_the_word() {
    let mut play = Play::running(lines());
    play.heard(said::conversation("c1"));
    play.asks(said::dependency("api_key", "KEY"));
    play.ended(0);
    play.forget();
    play.give(provided(1, &["KEY"], false));
    check(
        play,
        &expect![[r#"
            request.settled answer={"answer":"provided","names":["KEY"],"reuse":false} brings=true by="person" request="q_1"
            session.launched cause="bring" fresh=false launch=2 prompt="What you asked for (KEY) is in your environment now, as KEY."
                → launch launch=2
            input.delivered launch=2 parcel={"request":"q_1"}
        "#]],
    );
}

#[test]
fn an_agent_that_begins_again_is_given_the_same() {
    let mut play = Play::running(plain());
    play.asks(said::dependency("api_key", "KEY"));
    play.give(provided(1, &["KEY"], false));
    play.lost();
    play.give(Input::Resume { session: S, prompt: None });
    play.started();
    play.forget();
    play.asks(said::dependency("api_key", "KEY"));
    assert_eq!(play.status(), Status::Active);
    let settled = play.request(2).settled.clone().expect("it is settled");
    assert_eq!(settled.by, By::Repetition);
}

/// A value for which the process that asked is gone is where the next one finds it before that one goes on.
#[test]
fn who_came_after_the_one_that_asked_has_the_value_too() {
    let mut play = Play::running(plain());
    play.asks(said::dependency("api_key", "KEY"));
    play.lost();
    play.give(Input::Resume { session: S, prompt: None });
    play.started();
    play.asks(said::question("Which?"));
    play.forget();
    play.give(provided(1, &["KEY"], false));
    let page = play.page();
    assert!(page.contains("→ provide_values"), "{page}");
}
