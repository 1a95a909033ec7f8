//! The corpus: what the rules have to decide right. A line that fails is listed with what was decided instead.

use std::fmt::Write as _;

use ostler_engine::dispatch::{DispatchFacts, Role, analyse};

use super::built_in;

const CORPUS: &str = include_str!("corpus.tsv");

struct Labelled<'a> {
    request: &'a str,
    intent: &'a str,
    complexity: &'a str,
    agents: Vec<&'a str>,
}

fn labelled() -> Vec<Labelled<'static>> {
    let lines = CORPUS.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let read = |line: &'static str| {
        let cells: Vec<&str> = line.split('\t').collect();
        let [request, intent, complexity, _skill, agents] = cells[..] else { panic!("five columns: {line}") };
        let agents = agents.split(',').filter(|it| !it.is_empty()).collect();
        Labelled { request, intent, complexity, agents }
    };
    lines.map(read).collect()
}

#[test]
fn corpus_is_read_right_in_95_of_100_requests() {
    let (rules, corpus) = (built_in(), labelled());
    assert!(corpus.len() >= 300, "{} requests", corpus.len());
    let mut wrong = String::new();
    let mut count = 0;
    for it in &corpus {
        let plan = analyse(it.request, &rules, &DispatchFacts::default(), |_| None);
        let has: Vec<&str> = plan.agents.iter().map(|agent| Role::name(agent.agent)).collect();
        let complexity = serde_json::to_value(plan.complexity).expect("plain data");
        let is_right = plan.intent.name() == it.intent
            && complexity == it.complexity
            && it.agents.iter().all(|agent| has.contains(agent));
        if !is_right {
            count += 1;
            writeln!(
                wrong,
                "{}\n    wanted {} {} {:?}\n    got    {} {} {:?}",
                it.request,
                it.intent,
                it.complexity,
                it.agents,
                plan.intent.name(),
                complexity,
                has
            )
            .ok();
        }
    }
    println!("{count} of {} wrong:\n{wrong}", corpus.len());
    assert!(count * 20 <= corpus.len(), "{count} of {} wrong:\n{wrong}", corpus.len());
}
