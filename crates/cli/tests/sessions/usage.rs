//! What was used, from the streams of CLIs to the sums that people see.

use ostler_server::api::{NewRun, UsageReport};
use serde_json::Value;

use crate::support::{World, write};

/// A CLI that speaks as codex does: each turn uses ten tokens more in its conversation, and it asks once.
const CODEX: &str = r#"
echo '{"type":"thread.started","thread_id":"t1"}'
echo x >>turns
n=$(wc -l <turns)
if [ "$n" = 1 ]; then
    echo '{"type":"item.completed","item":{"type":"agent_message","text":"[USER_QUESTION]\ncategory: business\nquestion: Which?\nrequired: true\n[/USER_QUESTION]"}}'
fi
echo "{\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":$((n * 10)),\"cached_input_tokens\":4,\"output_tokens\":$n}}"
"#;

fn configure(world: &World, text: &str) {
    let folder = world.home.join("config/ostler");
    std::fs::create_dir_all(&folder).expect("a folder");
    write(&folder, "config.toml", text);
}

fn report(world: &World, query: &str) -> UsageReport {
    world.get(&format!("/usage?{query}")).expect("a report")
}

#[test]
fn a_conversation_over_two_processes_and_a_killed_server_is_counted_once() {
    let mut world = World::new();
    let table = "[agents.fake]\nextends = \"codex\"\ncommand = [\"bash\", \"agent.sh\"]\n\
                 model = \"big\"\n[prices.big]\ninput = 1000.0\noutput = 0\n";
    configure(&world, table);
    write(&world.project, "agent.sh", CODEX);
    let mut new = NewRun { agent: Some("fake".into()), prompt: Some("do it".into()), ..world.new_run(&[]) };
    new.environment.get_or_insert_default().insert("CODEX_API_KEY".into(), "sk-secret".into());
    let session = world.run_with(&new);
    let request = world.asked(&session);
    world.restart();
    world.answer(&request.id, "this");
    let view = world.status(&session, "completed");
    assert_eq!(view.launches.len(), 2);
    assert_eq!(
        (view.usage.tokens, view.usage.input_tokens, view.usage.output_tokens),
        (Some(22), Some(16), Some(2))
    );
    let account = view.account.expect("an account");
    assert!(account.starts_with("CODEX_API_KEY #") && !account.contains("secret"), "{account}");
    // How much of it the first process still told is a matter of when it was stopped; together it is the same.
    let of_launches: u64 = view.launches.iter().filter_map(|launch| launch.usage.tokens).sum();
    assert_eq!(of_launches, 22);
    world.restart();
    for by in ["session", "run", "project", "agent", "account", "day"] {
        let report = report(&world, &format!("by={by}"));
        assert_eq!(report.rows.len(), 1, "{by}");
        assert_eq!(report.rows[0].usage, report.total.usage, "{by}");
        assert_eq!(report.total.usage.tokens, Some(22), "{by}");
        // 16 tokens at 1,000 dollars a million, and the four of the cache at as much.
        assert_eq!(report.total.usage.cost_usd, Some(0.02), "{by}");
    }
    assert_eq!(report(&world, "by=account").rows[0].key, account);
    assert_eq!(report(&world, "since_ms=99999999999999").rows, []);
    assert_eq!(world.refused_get("/usage?by=week"), "bad_by");
    world.verify();
}

#[test]
fn people_and_machines_see_the_same() {
    let world = World::new();
    configure(&world, "[agents.fake]\nextends = \"opencode\"\ncommand = [\"bash\", \"agent.sh\"]\n");
    let step = |reason: &str| {
        format!(
            "echo '{{\"type\":\"step_finish\",\"sessionID\":\"s\",\"part\":{{\"reason\":\"{reason}\",\
             \"cost\":0.25,\"tokens\":{{\"input\":1000,\"output\":5}}}}}}'\n"
        )
    };
    write(&world.project, "agent.sh", &(step("tool-calls") + &step("stop")));
    let new = NewRun { agent: Some("fake".into()), prompt: Some("do it".into()), ..world.new_run(&[]) };
    let session = world.run_with(&new);
    world.status(&session, "completed");
    let output = world.ostler(&["usage", "--by", "session", "--since", "1d", "--json"]);
    let report: UsageReport = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((report.total.usage.tokens, report.total.usage.cost_usd), (Some(2_010), Some(0.5)));
    let said = String::from_utf8(world.ostler(&["usage", "--by", "agent"]).stdout).expect("text");
    assert!(said.contains("2,010") && said.contains("$0.50") && said.contains("fake"), "{said}");
    let said = String::from_utf8(world.ostler(&["show", &session]).stdout).expect("text");
    assert!(said.contains("2,010 tokens (2,000 in, 10 out, 0 cached), $0.50"), "{said}");
    let ps = world.ostler(&["ps", "-a", "--json"]);
    let ps: Value = serde_json::from_slice(&ps.stdout).expect("JSON");
    assert_eq!(ps[0]["usage"]["tokens"], 2_010);
    let wrong = world.ostler(&["usage", "--since", "yesterday"]);
    assert_eq!(wrong.status.code(), Some(2));
}
