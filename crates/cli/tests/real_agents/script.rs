//! What the model says in each conversation. A conversation is known by words that stand in its prompt: the CLI's name
//! and the case's.

use std::path::Path;

use serde_json::{Value, json};

use super::NAMES;

/// What somebody says at the end who has done a task: as much as agents like to say.
const REPORT: &str = "I have finished this task. Here is what I did and how I checked it.\n\n\
    ## What changed\n\n\
    - I added the file that the task names, with the content that its acceptance criteria ask for, and kept its form \
    the same as that of its neighbours.\n\
    - I left everything else as it was. Two places nearby could be simplified, but that is not part of this task.\n\n\
    ## How I checked it\n\n\
    1. I read the file back and compared it with what was asked for.\n\
    2. I looked at the status of the repository: only the declared file has changed.\n\
    3. I ran the checks that the project has. All of them pass.\n\n\
    ## What is left\n\n\
    Nothing that I know of. Whoever takes the next task can rely on the file being there.";

/// The words by which a conversation is known.
pub(crate) fn words(name: &str, case: &str) -> String {
    format!("{name}: {case} this")
}

/// The scripts of all conversations.
pub(crate) fn of_all(project: &Path) -> Value {
    let each = NAMES.iter().flat_map(|name| of_one(name, &project.join(name)));
    json!({ "conversations": each.collect::<Vec<_>>() })
}

fn of_one(name: &str, work: &Path) -> Vec<Value> {
    let work = work.display();
    let shell = |command: &str| json!({ "call": { "tool": "@shell", "input": { "command": command } } });
    let wait = |case: &str| {
        shell(&format!("echo > {work}/{case}.runs; until [ -e {work}/{case}.go ]; do sleep 0.1; done"))
    };
    let tool = |name: &str, input: &Value| json!({ "call": { "tool": format!("@*{name}"), "input": input } });
    let say = |text: &str| json!({ "say": text });
    let asks = |question: &str| {
        let fields = format!("category: clarification\nquestion: {question}\nrequired: true");
        say(&format!("One thing:\n\n[USER_QUESTION]\n{fields}\n[/USER_QUESTION]\n"))
    };
    let mut wrong = shell("echo bad > way");
    wrong["say"] = "It goes wrong.".into();
    let cases = [
        ("do", vec![say("It is \"done\".")]),
        ("ask", vec![asks("Which one?"), shell("echo > answered"), asks("And then?"), say("Thank you.")]),
        ("own", vec![asks("Whose?"), say("Mine.")]),
        ("share", vec![asks("Whose?"), say("Ours.")]),
        ("call", vec![tool("ask_human", &json!({ "question": "Which colour?" })), say("So be it.")]),
        ("lose", vec![wait("lose"), wait("cancel"), say("Went on.")]),
        ("back", vec![asks("Which way?"), wrong, say("Oh."), say("Good.")]),
        ("keep", vec![wait("keep"), say("Kept.")]),
        ("prove", vec![wait("prove"), wait("proven"), say("Proven.")]),
        ("tell", vec![wait("tell"), say("So be it."), say("And that.")]),
        // The caller says the words of the other, so it stands first.
        (
            "invoke",
            vec![say(&format!("[INVOKE:helper]\n{}\n[/INVOKE]\n", words(name, "help"))), say("Thank you.")],
        ),
        ("help", vec![helped(), say("Yes.")]),
        ("limit", vec![limit(name), say("Later.")]),
        ("permit", permit(&shell)),
        // The first time a section is missing.
        (
            "phase",
            [write(&shell, "# Plan"), write(&shell, "# Plan\\n\\n## Problem\\n\\nNobody finds it.")].concat(),
        ),
        ("verify", vec![shell("sh look.sh"), verdict()]),
        // Their words stand in commits afterwards, which some CLIs show the model, and those of the first in the prompt
        // of the second.
        ("finish", vec![shell("echo finished > rest.txt"), say(REPORT)]),
        ("build", vec![shell("echo built > built.txt"), say(REPORT)]),
    ];
    cases.map(|(case, turns)| json!({ "when": words(name, case), "turns": turns })).to_vec()
}

/// A document is written, and said to be done.
fn write(shell: &impl Fn(&str) -> Value, document: &str) -> Vec<Value> {
    let said = "It is written.\n\n=== PHASE 1 COMPLETE ===\nDocuments created:\n- plan.md\n";
    vec![shell(&format!("printf '{document}\\n' > plan.md")), json!({ "say": said })]
}

/// What somebody brings who was called; by whom stands in its prompt.
fn helped() -> Value {
    let say = "[DELIVER_RESULT:{found}]\ncontent: It is \"helped\".\n[/DELIVER_RESULT]\n";
    json!({ "say": say, "find": "\\[Task from ([^\\]]+)\\]" })
}

/// What a verifier says; the token stands in its prompt.
fn verdict() -> Value {
    let criteria = json!([{ "id": "c1", "passed": true, "evidence": "it was run", "files": ["plan.md"] }]);
    let verdict =
        json!({ "phase": 1, "token": "{found}", "passed": true, "criteria": criteria, "summary": "Good." });
    let say = format!("I have run it.\n\n=== VERIFICATION_RESULT ===\n{verdict}\n");
    json!({ "say": say, "find": "\"token\": \"([^\"]+)\"" })
}

/// Each tool makes a file if it reaches the model's port, which is what a sandbox refuses.
fn permit(shell: &impl Fn(&str) -> Value) -> Vec<Value> {
    let reach = |name: &str| shell(&format!("bash -c ': > /dev/tcp/127.0.0.1/'$(cat port) && echo > {name}"));
    let mut turns = ["denied", "once", "session", "later"].map(reach).to_vec();
    turns.push(json!({ "say": "That was all." }));
    turns
}

/// The refusal that a CLI does not hide, or one that makes it wait.
fn limit(name: &str) -> Value {
    match name {
        "gemini" => json!({ "status": 429, "times": 9, "body": { "error": {
            "code": 429,
            "message": "Too many.",
            "status": "RESOURCE_EXHAUSTED",
            "details": [{
                "@type": "type.googleapis.com/google.rpc.QuotaFailure",
                "violations": [{ "quotaId": "RequestsPerDay" }],
            }],
        } } }),
        _ => {
            json!({ "status": 429, "times": 9, "message": "Too many.", "headers": { "retry-after": "3600" } })
        }
    }
}
