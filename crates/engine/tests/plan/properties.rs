//! Files made by chance. A seed that fails is printed, and gives the same file again.

use std::fmt::Write as _;

use ostler_engine::plan::{Plan, Progress, State, Task, TaskNumber};

use crate::{laws, random::Random};

/// How many files of each kind are made.
const FILES: u64 = 300;

#[test]
fn graphs_of_every_kind_are_done_in_order() {
    for seed in 0..FILES {
        let (text, expected) = graph(&mut Random::new(seed));
        let plan = Plan::read(text.clone().into_bytes());
        assert!(plan.problems().is_empty(), "seed {seed}: {:?}\n{text}", plan.problems());
        let backwards = plan.graph().backwards();
        for (number, needs) in expected.iter().enumerate() {
            let task = plan.tasks().nth(number).expect("as many tasks as were written").number();
            let read: Vec<usize> =
                backwards.tasks_of(&plan, task).into_iter().map(TaskNumber::index).collect();
            assert_eq!(&read, needs, "seed {seed}: task {number}\n{text}");
        }
        laws::any_bytes(text.as_bytes());
    }
}

#[test]
fn step_by_step_is_the_same_as_from_scratch() {
    for seed in 0..FILES {
        let mut random = Random::new(seed ^ 0xa5a5);
        let (text, _) = graph(&mut random);
        let plan = Plan::read(text.into_bytes());
        let mut progress = Progress::new(&plan);
        for _ in 0..40 {
            let all: Vec<TaskNumber> = plan.tasks().map(Task::number).collect();
            let Some(&task) = random.one_of(&all) else { continue };
            match random.below(6) {
                0 => progress.start(task),
                1 => progress.fail(task),
                2 => progress.retry(task),
                3 => progress.skip(task),
                _ => progress.complete(task),
            }
            let again = Progress::with(&plan, |task| progress.state(task));
            let list = |it: &Progress<'_>| {
                let running: Vec<TaskNumber> = it.running().collect();
                let failed: Vec<TaskNumber> = it.failed().collect();
                (it.ready().collect::<Vec<_>>(), running, failed, it.blocked())
            };
            assert_eq!(list(&progress), list(&again), "seed {seed}");
            for phase in plan.phases() {
                assert_eq!(progress.is_phase_settled(phase.number), again.is_phase_settled(phase.number));
            }
            assert!(progress.ready().all(|it| progress.state(it) == State::Pending));
        }
    }
}

#[test]
fn any_bytes_do_no_harm() {
    for seed in 0..FILES * 10 {
        let mut random = Random::new(seed ^ 0x5a5a);
        let mut data = Vec::new();
        for _ in 0..random.below(60) {
            data.extend_from_slice(random.one_of(&PIECES).copied().unwrap_or_default().as_bytes());
            if random.once_in(20) {
                data.push(u8::try_from(random.below(256)).unwrap_or_default());
            }
        }
        laws::any_bytes(&data);
    }
}

/// What task files are made of, and what could be taken for it.
const PIECES: [&str; 96] = [
    "> ",
    "> **의존성**: ",
    "ENV-001",
    "- [ ] ENV-002: ",
    "### ENV-003: ",
    "UTF-8",
    "- [ ] 1.1 ",
    "- [ ] 1. ",
    "1.2",
    "## 1. ",
    "3",
    "P2-R1",
    "P2-T1.1",
    "T16A",
    "P5-Integration-T1",
    "P2-S1-V ~ P2-S5-V",
    "ENV-001-ENV-003",
    "## M0.5 (Phase 0.5)",
    "## M1: ",
    "Phase 0.5",
    "## Summary\n",
    "subgraph A\n",
    "\nend\n",
    "A --> ",
    "| # | Task | Deps |\n|--|--|--|\n",
    "| 1 | T1.1 a | 2 |\n",
    " · **의존성**: ",
    "부터 ",
    "all above",
    "a title",
    "\n",
    "\n",
    "\n",
    "\n",
    "\r\n",
    "  ",
    "\t",
    " ",
    "- ",
    "- [ ] ",
    "- [x] ",
    "- [] ",
    "* ",
    "1. ",
    "# ",
    "## ",
    "### ",
    "#### [ ] ",
    "T1.1",
    "T1.2",
    "T1.3",
    "T2.1",
    "T014",
    "P2-R1-T2",
    "P1-T1.1",
    "T1.x",
    "T1-T3",
    "Phase 1",
    "Phase 2, ",
    ": ",
    "deps: ",
    "**의존성**: ",
    "depends on: ",
    "owner: a",
    "files: `a/*`",
    "(depends on T1.1)",
    "[depends: T1.2]",
    "requires ",
    ", after T1.1",
    " <- ",
    "선행 ",
    " 이후",
    ", ",
    "~",
    " - ",
    "(",
    ")",
    "[P] ",
    "✅",
    "**",
    "`",
    "```",
    "```mermaid\ngraph TD\n",
    " --> ",
    "|",
    "| ID | Deps |\n|--|--|\n",
    "| T1.1 | T1.2 |\n",
    "<!--",
    "-->",
    ">",
    "title",
    "제목",
    "없음",
    "none",
    "\u{feff}",
    "\u{0}",
];

/// A file with a graph, and whom each task waits for by name.
fn graph(random: &mut Random) -> (String, Vec<Vec<usize>>) {
    let count = usize::try_from(random.below(24) + 1).expect("small");
    let phases = random.below(3) + 1;
    let mut text = String::new();
    let mut ids = Vec::new();
    let mut needs = Vec::new();
    for number in 0..count {
        let phase = number as u64 * phases / count as u64;
        ids.push(format!("T{phase}.{number}"));
        let mut own: Vec<usize> = (0..number).filter(|_| random.once_in(4)).collect();
        own.dedup();
        needs.push(own);
    }
    for (number, (id, own)) in ids.iter().zip(&needs).enumerate() {
        let named: Vec<&str> = own.iter().map(|&at| ids[at].as_str()).collect();
        let named = if named.is_empty() { "없음".to_owned() } else { named.join(", ") };
        let done = if random.once_in(4) && own.is_empty() { 'x' } else { ' ' };
        // Rows of a table come one by one here: each has a header.
        match random.below(4) {
            0 => writeln!(text, "### [{done}] {id}: title {number}\n**의존성**: {named}\n"),
            1 => writeln!(text, "## end\n- [{done}] {id}: title {number}\n  - deps: [{named}]"),
            2 => writeln!(text, "## end\n- [{done}] {id} title {number} (depends on {named})"),
            _ => writeln!(
                text,
                "\n## end\n| ID | Status | Dependencies |\n|---|---|---|\n| {id} | [{done}] | {named} |\n"
            ),
        }
        .expect("text can be written");
    }
    (text, needs)
}
