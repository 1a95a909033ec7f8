//! What is refused, and that nothing has changed then. Stale ids never do harm.

use ostler_engine::{
    Input, ProjectId, Refusal, RequestId, SessionId,
    answer::{Given, NotAnAnswer},
    input::{News, SecretNews, Wanted, WorktreeNews},
    run::Terms,
    session::Status,
};

use crate::{
    common::{order, plain, said},
    play::{Play, S, answer},
};

fn check(play: &mut Play, input: Input, refusal: &Refusal) {
    let before = play.book.world.clone();
    assert_eq!(&play.refused(input), refusal);
    assert_eq!(play.book.world, before);
}

#[test]
fn what_is_not_there() {
    let mut play = Play::running(plain());
    let session = SessionId(9);
    let none = Refusal::NoSession { session };
    for input in [
        Input::Pause(session),
        Input::Continue(session),
        Input::Cancel(session),
        Input::Merge(session),
        Input::Discard(session),
        Input::Resume { session, prompt: None },
        Input::Send { session, text: "x".to_owned(), printed: None },
    ] {
        check(&mut play, input, &none);
    }
    let project = ProjectId(9);
    let secret = Input::Secret { project, name: "KEY".to_owned(), news: SecretNews::Removed };
    check(&mut play, secret, &Refusal::NoProject { project });
    check(&mut play, answer(9, "x"), &Refusal::NoRequest { request: RequestId(9) });
    check(&mut play, Input::Merge(S), &Refusal::NoWorktree { session: S });
}

#[test]
fn reports_about_what_is_not_there_change_nothing() {
    let mut play = Play::running(plain());
    for (session, launch) in [(SessionId(9), 1), (S, 0), (S, 2)] {
        let item = said::at(0, said::question("Which?"));
        for news in [
            News::Started { pid: 1, began: 1 },
            News::Heard { item: item.clone() },
            News::Ended { code: Some(0), signal: None, clean: true },
            News::TookInput { key: "q_1".to_owned() },
        ] {
            play.give(Input::Shim { session, launch, spool_seq: 9, news });
        }
        play.give(Input::Overheard { session, launch, before: 0, items: vec![item] });
        play.give(Input::ShimLost { session, launch });
        play.give(Input::LaunchFailed { session, launch, message: String::new() });
        play.give(Input::CheckEnded { session, number: launch, code: 0, output: String::new() });
        play.give(Input::Worktree { session, news: WorktreeNews::Merged { commit: String::new() } });
    }
    // A record that is known already.
    play.give(Input::Shim { session: S, launch: 1, spool_seq: 1, news: News::WentOn });
    assert_eq!(play.page(), "");
}

#[test]
fn what_is_settled_stays_so() {
    let mut play = Play::running(plain());
    play.asks(said::question("Which?"));
    play.answer(1, "this");
    let settled = play.request(1).settled.clone().expect("it was settled");
    check(&mut play, answer(1, "that"), &Refusal::Settled { request: RequestId(1), settled });
}

#[test]
fn what_is_no_answer() {
    let mut play = Play::running(plain());
    play.asks(said::choice("Which?", &["PostgreSQL", "MySQL"]));
    let request = RequestId(1);
    let options = vec!["PostgreSQL".to_owned(), "MySQL".to_owned()];
    let why = NotAnAnswer::NotAnOption { options, nearest: Some("PostgreSQL".to_owned()) };
    check(&mut play, answer(1, "post"), &Refusal::NotAnAnswer { request, why });
    let nothing = Input::Answer { request, given: Given::default(), printed: None };
    check(&mut play, nothing, &Refusal::NotAnAnswer { request, why: NotAnAnswer::Empty });
    play.asks(said::dependency("api_key", "STRIPE"));
    let request = RequestId(2);
    let refusal = |why| Refusal::NotAnAnswer { request, why };
    check(&mut play, answer(2, "secret"), &refusal(NotAnAnswer::ValueWanted));
    let names = vec!["OTHER".to_owned()];
    let given = Given { provided: names.clone(), ..Given::default() };
    check(
        &mut play,
        Input::Answer { request, given, printed: None },
        &refusal(NotAnAnswer::NotAsked { names }),
    );
    let given = Given { skip: true, ..Given::default() };
    check(&mut play, Input::Answer { request, given, printed: None }, &refusal(NotAnAnswer::Required));
}

#[test]
fn what_cannot_be_done_now() {
    let mut play = Play::running(plain());
    let not_now = |status, wanted| Refusal::NotNow { session: S, status, wanted };
    let send = |text: &str| Input::Send { session: S, text: text.to_owned(), printed: None };
    check(&mut play, send("  "), &Refusal::EmptyMessage);
    check(&mut play, Input::Continue(S), &not_now(Status::Active, Wanted::Continue));
    check(&mut play, Input::Resume { session: S, prompt: None }, &not_now(Status::Active, Wanted::Resume));
    play.give(Input::Cancel(S));
    check(&mut play, Input::Pause(S), &not_now(Status::Ending, Wanted::Pause));
    check(&mut play, send("x"), &not_now(Status::Ending, Wanted::Send));
    play.killed();
    check(&mut play, Input::Pause(S), &not_now(Status::Cancelled, Wanted::Pause));
    let mut new = order(plain(), Terms::default());
    new.git = false;
    new.worktrees = Some("/state".to_owned());
    check(&mut play, Input::CreateRun(Box::new(new)), &Refusal::NotGit { directory: "/repo".to_owned() });
}
