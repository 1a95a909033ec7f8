//! How long a task file takes to read, beside a search for its newlines in the same run, and what a completion costs.
//!
//! Prints a Markdown table of ratios; times alone mean nothing on a shared machine. `--instructions TASKS` resolves once,
//! for an instruction counter.

use std::{
    fmt::Write as _,
    fs,
    hint::black_box,
    time::{Duration, Instant},
};

use ostler_engine::plan::{Plan, Progress, Request, TaskNumber, answer};

const ROUNDS: usize = 9;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, tasks] = arguments.as_slice()
        && flag == "--instructions"
    {
        let text = file(tasks.parse().expect("a number of tasks"));
        black_box(answer(&Progress::new(&Plan::read(text.into_bytes())), &[].into(), Request::default()));
        return;
    }
    println!(
        "| tasks | bytes | newline scan | resolver from a cold file | ratio | one completion |\n|---:|---:|---:|---:|---:|---:|"
    );
    for tasks in [100, 10_000, 100_000] {
        let path = std::env::temp_dir().join(format!("ostler-bench-{}-{tasks}.md", std::process::id()));
        let text = file(tasks);
        replace(&path, &text);
        let scan = best(|| {
            let text = fs::read(&path).expect("the file is there");
            black_box(memchr::memchr_iter(b'\n', &text).map(black_box).count());
        });
        let resolve = best(|| {
            let plan = Plan::read(fs::read(&path).expect("the file is there"));
            assert!(plan.problems().is_empty(), "{:?}", plan.problems());
            black_box(answer(&Progress::new(&plan), &[].into(), Request::default()));
        });
        let completion = completion(&Plan::read(text.clone().into_bytes()));
        fs::remove_file(&path).expect("the file is there");
        println!(
            "| {tasks} | {} | {scan:.1?} | {resolve:.1?} | {:.1} | {completion} ns |",
            text.len(),
            resolve.as_secs_f64() / scan.as_secs_f64()
        );
    }
}

/// A file as people write it: four lines a task, fifty tasks a phase, two dependencies each.
fn file(tasks: usize) -> String {
    let mut text = String::new();
    for number in 0..tasks {
        let (phase, at) = (number / 50, number % 50);
        if at == 0 {
            writeln!(text, "\n## Phase {phase}: Part {phase}\n").expect("text can be written");
        }
        writeln!(text, "- [ ] T{phase}.{at}: Write the service for part {number} of the shop")
            .expect("text can be written");
        if at > 1 {
            writeln!(text, "  - deps: [T{phase}.{}, T{phase}.{}]", at / 2, at - 2)
                .expect("text can be written");
        }
        writeln!(text, "  - owner: backend-specialist\n  - files: src/part_{number}/*")
            .expect("text can be written");
    }
    text
}

/// Nanoseconds of a completion with its successors, over all tasks in an order that fits.
fn completion(plan: &Plan) -> u128 {
    let mut progress = Progress::new(plan);
    let mut order: Vec<TaskNumber> = Vec::with_capacity(plan.len());
    let mut first = progress.clone();
    loop {
        let Some(task) = first.ready().next() else { break };
        first.complete(task);
        order.push(task);
    }
    let begun = Instant::now();
    for &task in &order {
        progress.complete(task);
    }
    begun.elapsed().as_nanos() / order.len() as u128
}

fn best(mut work: impl FnMut()) -> Duration {
    let mut time = || {
        let begun = Instant::now();
        work();
        begun.elapsed()
    };
    (0..ROUNDS).map(|_| time()).min().expect("there are rounds")
}

#[expect(clippy::disallowed_methods, reason = "the input of a measurement, which nobody misses")]
fn replace(path: &std::path::Path, text: &str) {
    fs::write(path, text).expect("the temporary directory can be written");
}
