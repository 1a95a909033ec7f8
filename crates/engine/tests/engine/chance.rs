//! Whatever is said to the engine, in whatever order: the journal gives the same world, and nothing panics.

use ostler_agents::Agent;
use ostler_engine::{
    Input, Overlay, RequestId, SessionId, World,
    answer::Given,
    budget::Budget,
    event::{NotTaken, Parcel},
    input::{News, TestVerdict, WorktreeNews},
    run::Terms,
};
use serde_json::Value;

use crate::common::{
    Book, all_read_back, claude, codex, decide_well, lines, may_come_twice, order, plain, random::Random,
    said,
};

#[test]
fn any_inputs_in_any_order_replay_to_the_same_world() {
    for seed in 0..25 {
        let random = &mut Random::new(seed);
        let mut book = Book::default();
        let mut now_ms = 1_000_000;
        for _ in 0..60 {
            now_ms += random.below(200_000);
            // Decisions that are committed together see each other.
            let mut group = Overlay::default();
            let mut entries = Vec::new();
            for _ in 0..=random.below(3) {
                let input = any_input(random, &book.world);
                let Ok(decision) = decide_well(&book.world, &group, now_ms, &input) else { continue };
                all_read_back(&decision.overlay);
                entries.extend(decision.entries);
                World::stack(&mut group, decision.overlay);
                if may_come_twice(&input) {
                    let again = decide_well(&book.world, &group, now_ms, &input);
                    assert_eq!(again.map(|it| it.entries), Ok(vec![]), "seed {seed}: {input:?} came twice");
                }
            }
            book.add(&entries, group);
        }
    }
}

fn any_input(random: &mut Random, world: &World) -> Input {
    let session = SessionId(1 + random.below(4));
    let last = world.sessions.get(&session).and_then(|it| it.launches.last());
    let (number, known) = last.map_or((1, 0), |launch| (launch.number, launch.spool_seq));
    let launch = if random.once_in(6) { number + 1 } else { number };
    let text = || "Which?".to_owned();
    match random.below(28) {
        0..=2 => Input::CreateRun(Box::new(any_run(random))),
        3..=12 => {
            let spool_seq = (known + 1).saturating_sub(random.below(2));
            Input::Shim { session, launch, spool_seq, news: any_news(random, known) }
        }
        13 => Input::Overheard { session, launch, before: 0, items: vec![any_item(random, known + 1)] },
        14 if random.once_in(2) => {
            let parcel = Parcel::Request(RequestId(1 + random.below(12)));
            let what = NotTaken { launch, parcel, why: text() };
            Input::NotTaken { session, what, for_good: random.once_in(2) }
        }
        14 if random.once_in(3) => Input::ShimDisplaced(session, launch),
        14 => Input::ShimLost { session, launch },
        15 => Input::LaunchFailed { session, launch, message: text() },
        16 => {
            let code = i32::from(random.once_in(2));
            Input::CheckEnded { session, number: launch, code, output: text() }
        }
        17 | 18 => Input::Worktree { session, news: any_worktree(random) },
        19 | 20 => Input::Answer {
            request: RequestId(1 + random.below(12)),
            given: any_given(random),
            printed: None,
        },
        21 => Input::Send { session, text: text(), printed: None },
        22 => Input::Pause(session),
        23 => Input::Continue(session),
        24 => Input::Resume { session, prompt: random.once_in(2).then(text) },
        25 if random.once_in(3) => Input::Cancel(session),
        26 => {
            if random.once_in(2) {
                Input::Merge(session)
            } else {
                Input::Discard(session)
            }
        }
        _ => Input::Tick,
    }
}

fn any_run(random: &mut Random) -> ostler_engine::input::NewRun {
    let agents: [fn() -> Agent; 4] = [plain, claude, codex, lines];
    let agent = random.one_of(&agents).expect("there are four");
    let terms = Terms {
        check: random.once_in(2).then(|| "true".to_owned()),
        attempts_max: random.once_in(2).then_some(3),
        time_ms_max: random.once_in(3).then_some(400_000),
        check_time_ms_max: random.once_in(2).then_some(300_000),
        budget: Budget {
            cost_nusd_max: random.once_in(3).then_some(500_000_000),
            tokens_max: random.once_in(3).then_some(9),
        },
        task: None,
    };
    let mut new = order(agent(), terms);
    new.worktrees = random.once_in(3).then(|| "/w".to_owned());
    new.order.korean = random.once_in(3);
    new.root = format!("/repo{}", random.below(2));
    new
}

fn any_news(random: &mut Random, known: u64) -> News {
    let keys = ["q_1", "q_2", "q_3:expired", "m_1", "m_2", "q_77", "prompt"];
    let key = random.one_of(&keys).map_or_else(String::new, ToString::to_string);
    match random.below(16) {
        0..=2 => News::Started { pid: 7, began: 1 },
        3..=7 => News::Heard { item: any_item(random, known + 1) },
        8 | 9 => {
            let causes = ["signal", "command", "stall"];
            let cause = random.one_of(&causes).map_or_else(String::new, ToString::to_string);
            News::Stopped { cause, processes: 2, confirmed: random.once_in(2) }
        }
        10 => News::WentOn,
        11 => News::Stalled { reason: "log_full".to_owned() },
        12 => News::TookInput { key },
        13 => News::Consumed { key },
        14 => News::Ended { code: Some(i32::from(random.once_in(3))), signal: None, clean: true },
        _ => match random.below(3) {
            0 => News::NotStarted { message: "no".to_owned() },
            1 => News::ClosedInput,
            _ => News::Unknown { what: "danced".to_owned() },
        },
    }
}

fn any_item(random: &mut Random, known: u64) -> Value {
    let text = format!("Which {}?", random.below(3));
    let item = match random.below(16) {
        0 => said::question(&text),
        1 => said::optional(&text, Some("the usual")),
        2 => said::ask_user(&text),
        3 => said::dependency("permission", &text),
        4 => said::dependency("api_key", &text),
        5 => said::error(&text, "notify_user"),
        6 => said::error(&text, "checkpoint_and_fail"),
        7 => said::fault(&text),
        8 => said::permission(1, &text),
        9 => said::conversation("c1"),
        10 => said::end("success"),
        11 => said::limit(),
        12 => said::dependency("package", &text),
        13 => said::wish("env_variable", &text, Some("the usual")),
        14 => said::wish("service", &text, None),
        _ => said::usage(0.1 + 0.2),
    };
    said::at(known * 100, item)
}

fn any_worktree(random: &mut Random) -> WorktreeNews {
    let text = || "text".to_owned();
    match random.below(7) {
        0 | 1 => WorktreeNews::Made { base: text(), target: None },
        2 => WorktreeNews::NotMade { message: text() },
        3 => WorktreeNews::Merged { commit: text() },
        4 => WorktreeNews::NotMerged { message: text(), files: vec![text()], conflict: random.once_in(2) },
        5 => WorktreeNews::Tested { number: 1, verdict: TestVerdict::Green { commit: text() } },
        _ => WorktreeNews::Discarded { kept: text() },
    }
}

fn any_given(random: &mut Random) -> Given {
    let words = ["this", "1", "continue", "retry", "fail", "deny: no", "", "try the other way"];
    Given {
        value: random.one_of(&words).filter(|_| !random.once_in(4)).map(ToString::to_string),
        decision: random.once_in(3).then(|| random.once_in(2)),
        insist: random.once_in(3),
        provided: if random.once_in(3) { vec![format!("Which {}?", random.below(3))] } else { Vec::new() },
        reuse: random.once_in(2),
        skip: random.once_in(5),
    }
}
