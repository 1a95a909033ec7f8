//! The launches that the built-in tables plan, and what they write to a running agent.

use alloc::{
    borrow::ToOwned,
    format,
    string::{String, ToString},
    vec::Vec,
};

use expect_test::{Expect, expect};
use ostler_protocol::{fact::PermissionRequest, stream::Table};
use serde_json::json;

use crate::{
    Agent, Agents, BUILTIN_NAMES, Conversation, Decision, InputPlan, LaunchPlan, LaunchRequest, Output,
    PlanError, Verifies,
};

const GUIDE: &str = "Ask with \"tags\".\nAlways.";
const ID: &str = "6e1f7c1e-0000-4000-8000-000000000001";
const PROMPT_ID: &str = "6e1f7c1e-0000-4000-8000-000000000002";

fn shown(plan: &LaunchPlan) -> String {
    let mut lines: Vec<String> = plan.command.iter().map(|argument| format!("{argument:?}")).collect();
    lines.extend(plan.environment.iter().map(|(name, value)| format!("{name}={value:?}")));
    lines.push(match &plan.input {
        InputPlan::Empty => "< nothing".to_owned(),
        InputPlan::Open { first, .. } => format!("< {first:?}"),
    });
    lines.join("\n") + "\n"
}

#[expect(clippy::needless_pass_by_value, reason = "an inline snapshot is written in the call")]
fn check(name: &str, request: &LaunchRequest<'_>, expect: Expect) {
    let agent = Agent::builtin(name).unwrap();
    expect.assert_eq(&shown(&agent.launch(request).unwrap()));
}

fn fresh(prompt: &str) -> LaunchRequest<'_> {
    LaunchRequest {
        prompt: Some(prompt),
        prompt_id: PROMPT_ID,
        conversation: Conversation::Fresh { id: Some(ID) },
        guide: Some(GUIDE),
        guide_file: Some("/state/guide.md"),
        ..LaunchRequest::default()
    }
}

fn resumed<'a>(prompt: &'a str, id: &'a str) -> LaunchRequest<'a> {
    LaunchRequest { conversation: Conversation::Resume { id }, ..fresh(prompt) }
}

#[test]
fn claude() {
    let tools = ["Bash(git *)".to_owned(), "Edit".to_owned()];
    let all = LaunchRequest {
        model: Some("opus"),
        max_turns: Some(7),
        tools: &tools,
        mcp_config: Some("{\"mcpServers\":{}}"),
        ..fresh("-fix \"it\"\nnow")
    };
    check(
        "claude",
        &all,
        expect![[r#"
            "claude"
            "--print"
            "--verbose"
            "--output-format=stream-json"
            "--input-format=stream-json"
            "--permission-prompt-tool=stdio"
            "--disallowedTools=AskUserQuestion"
            "--session-id=6e1f7c1e-0000-4000-8000-000000000001"
            "--model=opus"
            "--max-turns=7"
            "--allowedTools=Bash(git *),Edit"
            "--mcp-config={\"mcpServers\":{}}"
            "--append-system-prompt=Ask with \"tags\".\nAlways."
            SHLVL="1"
            < "{\"type\":\"user\",\"uuid\":\"6e1f7c1e-0000-4000-8000-000000000002\",\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"-fix \\\"it\\\"\\nnow\"}]}}\n"
        "#]],
    );
    check(
        "claude",
        &resumed("yes", ID),
        expect![[r#"
            "claude"
            "--print"
            "--verbose"
            "--output-format=stream-json"
            "--input-format=stream-json"
            "--permission-prompt-tool=stdio"
            "--disallowedTools=AskUserQuestion"
            "--resume=6e1f7c1e-0000-4000-8000-000000000001"
            "--append-system-prompt=Ask with \"tags\".\nAlways."
            SHLVL="1"
            < "{\"type\":\"user\",\"uuid\":\"6e1f7c1e-0000-4000-8000-000000000002\",\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"yes\"}]}}\n"
        "#]],
    );
    check(
        "claude",
        &LaunchRequest::default(),
        expect![[r#"
        "claude"
        "--print"
        "--verbose"
        "--output-format=stream-json"
        "--input-format=stream-json"
        "--permission-prompt-tool=stdio"
        "--disallowedTools=AskUserQuestion"
        SHLVL="1"
        < ""
    "#]],
    );
}

#[test]
fn codex() {
    check(
        "codex",
        &LaunchRequest { model: Some("o9"), ..fresh("-fix it") },
        expect![[r#"
        "codex"
        "exec"
        "--json"
        "--skip-git-repo-check"
        "--sandbox=workspace-write"
        "--model=o9"
        "--config=developer_instructions=\"Ask with \\\"tags\\\".\\nAlways.\""
        "--"
        "-fix it"
        < nothing
    "#]],
    );
    check(
        "codex",
        &resumed("yes", "01a1-thread"),
        expect![[r#"
        "codex"
        "exec"
        "--json"
        "--skip-git-repo-check"
        "--sandbox=workspace-write"
        "resume"
        "01a1-thread"
        "--config=developer_instructions=\"Ask with \\\"tags\\\".\\nAlways.\""
        "--"
        "yes"
        < nothing
    "#]],
    );
}

#[test]
fn gemini() {
    let tools = ["run_shell_command".to_owned()];
    check(
        "gemini",
        &LaunchRequest { tools: &tools, ..fresh("-fix it") },
        expect![[r#"
        "gemini"
        "--output-format=stream-json"
        "--skip-trust"
        "--approval-mode=auto_edit"
        "--session-id=6e1f7c1e-0000-4000-8000-000000000001"
        "--allowed-tools=run_shell_command"
        "--prompt=Ask with \"tags\".\nAlways.\n\n-fix it"
        < nothing
    "#]],
    );
    check(
        "gemini",
        &resumed("yes", ID),
        expect![[r#"
        "gemini"
        "--output-format=stream-json"
        "--skip-trust"
        "--approval-mode=auto_edit"
        "--resume=6e1f7c1e-0000-4000-8000-000000000001"
        "--prompt=yes"
        < nothing
    "#]],
    );
}

#[test]
fn opencode() {
    check(
        "opencode",
        &LaunchRequest { model: Some("local/m"), ..fresh("-fix \"it\"  now\n") },
        expect![[r#"
        "opencode"
        "run"
        "--format=json"
        "--model=local/m"
        "--"
        "-fix"
        "\"it\""
        ""
        "now\n"
        OPENCODE_CONFIG_CONTENT="{\"instructions\":[\"/state/guide.md\"]}"
        < nothing
    "#]],
    );
    check(
        "opencode",
        &resumed("yes", "ses_1"),
        expect![[r#"
        "opencode"
        "run"
        "--format=json"
        "--session=ses_1"
        "--"
        "yes"
        OPENCODE_CONFIG_CONTENT="{\"instructions\":[\"/state/guide.md\"]}"
        < nothing
    "#]],
    );
}

#[test]
fn a_plain_command_is_taken_as_it_is() {
    let command = ["/usr/bin/awk", "{print $1}", "{prompt}", ""].map(ToOwned::to_owned);
    let agent = Agent::plain(&command);
    assert_eq!(agent.name, "awk");
    let plan = agent.launch(&LaunchRequest { guide: Some(GUIDE), ..LaunchRequest::default() }).unwrap();
    assert_eq!(plan.command, command);
    assert_eq!(plan.input, InputPlan::Open { first: String::new(), words: String::new() });
    assert_eq!(plan.output, Output::Text);
    assert_eq!(agent.message("yes", PROMPT_ID).as_deref(), Some("yes\n"));
    assert_eq!(agent.message("{}\n", PROMPT_ID).as_deref(), Some("{}\n"));
    let resume = LaunchRequest { conversation: Conversation::Resume { id: "x" }, ..LaunchRequest::default() };
    assert_eq!(agent.launch(&resume), Err(PlanError::CannotResume { agent: "awk".to_owned() }));
}

#[test]
fn what_a_cli_cannot_be_given_is_said() {
    let why = |name: &str, request: LaunchRequest<'_>| {
        Agent::builtin(name).unwrap().launch(&request).unwrap_err().to_string()
    };
    expect!["agent `codex` cannot be given `max_turns`: its table has no argument for it"]
        .assert_eq(&why("codex", LaunchRequest { max_turns: Some(3), ..fresh("x") }));
    expect!["agent `opencode` cannot be started without `guide_file`: its table names it"]
        .assert_eq(&why("opencode", LaunchRequest { guide_file: None, ..fresh("x") }));
    let long = "x".repeat(128 * 1024);
    expect!["an argument for agent `codex` has 131072 bytes, the system takes 131071: put the text into a file and name it in the prompt"]
        .assert_eq(&why("codex", fresh(&long)));
    expect!["an argument for agent `gemini` holds a zero byte, which no program can be given"]
        .assert_eq(&why("gemini", fresh("a\0b")));
}

#[test]
fn decisions_about_a_tool() {
    let request = PermissionRequest {
        request_id: "r\"1".to_owned(),
        tool: "Bash".to_owned(),
        input: json!({ "command": "echo \"{message}\"" }),
        description: None,
    };
    let claude = Agent::builtin("claude").unwrap();
    let reply = |decision| claude.permission_reply(&request, decision).unwrap();
    expect![[r#"
        {"type":"control_response","response":{"subtype":"success","request_id":"r\"1","response":{"behavior":"allow","updatedInput":{"command":"echo \"{message}\""}}}}
    "#]].assert_eq(&reply(Decision::Allow));
    expect![[r#"
        {"type":"control_response","response":{"subtype":"success","request_id":"r\"1","response":{"behavior":"deny","message":"Not \"now\".\nLater."}}}
    "#]].assert_eq(&reply(Decision::Deny("Not \"now\".\nLater.")));
    for name in ["codex", "gemini", "opencode"] {
        let agent = Agent::builtin(name).unwrap();
        assert_eq!(agent.permission_reply(&request, Decision::Allow), None, "{name}");
    }
}

#[test]
fn words_for_a_running_agent() {
    let claude = Agent::builtin("claude").unwrap();
    let line = claude.message("a \"b\"\n{text}", PROMPT_ID).unwrap();
    expect![[r#"
        {"type":"user","uuid":"6e1f7c1e-0000-4000-8000-000000000002","message":{"role":"user","content":[{"type":"text","text":"a \"b\"\n{text}"}]}}
    "#]]
    .assert_eq(&line);
    assert_eq!(line.matches('\n').count(), 1, "one line");
    for name in ["codex", "gemini", "opencode"] {
        assert_eq!(Agent::builtin(name).unwrap().message("x", PROMPT_ID), None, "{name}");
    }
}

#[test]
fn what_is_known_of_each() {
    let mut lines = Vec::new();
    for agent in Agents::builtin().iter() {
        lines.push(format!(
            "{} {}: {:?}, guide {:?}, {:?}, {:?}, learns its id: {}",
            agent.name,
            agent.tested.as_deref().unwrap_or("?"),
            agent.input.way,
            agent.guide,
            agent.end,
            agent.account,
            !agent.takes_conversation_id(),
        ));
        assert!(agent.can_resume(), "{}", agent.name);
        assert_eq!(agent.needs_guide_file(), agent.name == "opencode");
        let Output::Table(table) = &agent.output else { panic!("{} prints events", agent.name) };
        assert!(Table::parse(table).is_ok(), "{}", agent.name);
    }
    expect![[r#"
        claude 2.1.325: Message, guide Argument, End { required: true, close_input: true }, Account { directory: Some("CLAUDE_CONFIG_DIR"), keys: ["ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN"], park_retrying: false }, learns its id: false
        codex 0.166.0: Relaunch, guide Argument, End { required: true, close_input: false }, Account { directory: Some("CODEX_HOME"), keys: ["CODEX_API_KEY"], park_retrying: false }, learns its id: true
        gemini 0.61.0: Relaunch, guide Prompt, End { required: true, close_input: false }, Account { directory: Some("GEMINI_CLI_HOME"), keys: ["GEMINI_API_KEY", "GOOGLE_API_KEY"], park_retrying: false }, learns its id: false
        opencode 1.18.33: Relaunch, guide Argument, End { required: true, close_input: false }, Account { directory: Some("XDG_DATA_HOME"), keys: [], park_retrying: false }, learns its id: true"#]].assert_eq(&lines.join("\n"));
}

#[test]
fn versions_are_found_in_what_the_clis_print() {
    for (printed, version) in [
        ("2.1.325 (Claude Code)\n", Some("2.1.325")),
        ("codex-cli 0.166.0\n", Some("0.166.0")),
        ("tool version v1.2, built today", Some("1.2")),
        ("no version", None),
        ("", None),
    ] {
        assert_eq!(Agent::version_in(printed), version, "{printed}");
    }
}

/// Commands only where the kernel keeps a verifier from writing elsewhere.
#[test]
fn a_verifier_may_read_and_run_what_it_likes_where_it_is_held() {
    let mut lines = Vec::new();
    for agent in Agents::builtin().iter() {
        let launch = |verifies| {
            let request = LaunchRequest { verifies, ..fresh("look") };
            agent.launch(&request).unwrap().command
        };
        let works = launch(Verifies::No);
        for verifies in [Verifies::Free, Verifies::Confined] {
            let command = launch(verifies);
            let more: Vec<_> = command.iter().filter(|argument| !works.contains(argument)).collect();
            lines.push(format!("{} {verifies:?}: {more:?}", agent.name));
        }
    }
    expect![[r#"
        claude Free: ["--allowedTools=Read,Glob,Grep", "--disallowedTools=Edit,Write,NotebookEdit"]
        claude Confined: ["--allowedTools=Read,Glob,Grep", "--disallowedTools=Edit,Write,NotebookEdit", "--allowedTools=Bash"]
        codex Free: []
        codex Confined: ["--dangerously-bypass-approvals-and-sandbox"]
        gemini Free: []
        gemini Confined: ["--allowed-tools=run_shell_command"]
        opencode Free: []
        opencode Confined: []"#]]
    .assert_eq(&lines.join("\n"));
}

/// A session keeps the agent it began with, in its own record.
#[test]
fn an_agent_survives_being_written_down() {
    let plain = Agent::plain(&["a".to_owned(), "{b}".to_owned()]);
    let builtin = BUILTIN_NAMES.map(|name| Agent::builtin(name).unwrap());
    for agent in builtin.into_iter().chain([plain]) {
        let record = serde_json::to_string(&agent).unwrap();
        assert_eq!(serde_json::from_str::<Agent>(&record).unwrap(), agent);
    }
    let names: Vec<String> = Agents::builtin().iter().map(|agent| agent.name.clone()).collect();
    assert_eq!(names, BUILTIN_NAMES);
}
