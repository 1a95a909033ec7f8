//! The examples on the page about agents are read as a user's configuration would be.

use alloc::vec::Vec;

use crate::{Agents, LaunchRequest};

const PAGES: [&str; 2] =
    [include_str!("../../../../docs/agents.md"), include_str!("../../../../docs/ko/agents.md")];

#[test]
fn every_example_is_a_configuration() {
    let examples = PAGES.map(|page| {
        let blocks: Vec<&str> =
            page.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
        assert!(blocks.len() >= 3);
        for block in &blocks {
            Agents::builtin().add(block).unwrap_or_else(|error| panic!("{error}\n{block}"));
        }
        blocks
    });
    assert_eq!(examples[0].len(), examples[1].len(), "both languages show the same");
}

#[test]
fn a_new_cli_takes_ten_lines() {
    for page in PAGES {
        let block = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
        assert!(block.lines().count() <= 10, "{block}");
        let mut agents = Agents::builtin();
        agents.add(block).unwrap();
        let agent = agents.iter().find(|agent| agent.tested.is_none()).unwrap();
        let plan =
            agent.launch(&LaunchRequest { prompt: Some("hello"), ..LaunchRequest::default() }).unwrap();
        assert!(plan.command.iter().any(|argument| argument.contains("hello")), "{:?}", plan.command);
    }
}
