//! The office from the command line: a new repository, roles that are run, and calls and results shown by their ids.

use std::fs;

use crate::support::{Place, until};

/// A caller that reads a result to its end, line by line, and a callee that brings one of two lines.
const ROLES: &str = r#"
[office.roles.PO]
agent = "caller"
[office.roles.QA]
agent = "tester"
"#;

const AGENTS: &str = r#"
[agents.caller]
command = ["bash", "-c", '''
read -r wish
printf '%s\n' '[INVOKE:QA]' "$wish" '[/INVOKE]'
while IFS= read -r line; do
  case $line in "[Result from QA]") ;; "[/Result]") break;; *) echo "read: $line";; esac
done
echo "$wish: all of it is read"
''']
[agents.tester]
command = ["bash", "-c", '''
read -r head; read -r task
printf '%s\n' '[DELIVER_RESULT:PO]' "first line about $task" 'second line' '[/DELIVER_RESULT]'
''']
"#;

fn new_repository() -> Place {
    let place = Place::with_commit();
    place.configure(AGENTS);
    fs::write(place.project().join("ostler.toml"), ROLES).expect("a file");
    place
}

#[test]
fn a_new_repository_works_after_the_trust_that_is_asked_for() {
    let place = new_repository();
    let said = place.run(&["office", "send", "PO", "a page"]);
    assert_eq!(said.code, 7, "{said:?}");
    assert!(said.err.contains("office.roles.PO") && said.err.contains("ostler trust "), "{said:?}");
    place.done(&["trust", "--yes"]);
    place.done(&["office", "send", "PO", "a page"]);
    assert!(place.done(&["office"]).contains("PO"));
    // Where nothing has to be agreed to, nothing stands in the way either.
    let plain = Place::with_commit();
    assert!(plain.done(&["office", "roles"]).contains("claude"));
}

#[test]
fn a_role_is_run_and_reads_a_result_to_its_end() {
    let place = new_repository();
    place.done(&["trust", "--yes"]);
    let said = place.run(&["run", "PO", "a page"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.out.contains("read: first line about a page\nread: second line\n"), "{said:?}");
    assert!(said.out.contains("a page: all of it is read"), "{said:?}");
    let roles = place.json(&["office", "roles"]);
    let seat = roles.as_array().expect("a list").iter().find(|role| role["name"] == "PO");
    assert_eq!(seat.expect("it is there")["session"], "s_1", "it has the role's seat");

    let call = place.done(&["show", "i_1"]);
    assert!(call.starts_with("i_1  completed  PO → QA\n"), "{call}");
    assert!(call.contains("RESULT") && call.contains("d_1") && call.ends_with("\na page\n"), "{call}");
    assert_eq!(place.json(&["show", "i_1"])["callee"], "QA");
    until("the result is read", || place.json(&["show", "d_1"])["delivered"].as_bool().filter(|is| *is));
    let result = place.done(&["show", "d_1"]);
    assert!(result.starts_with("d_1  delivered  QA → PO\n"), "{result}");
    assert!(result.ends_with("\nfirst line about a page\nsecond line\n"), "{result}");
    for id in ["i_9", "d_9"] {
        assert_eq!(place.run(&["show", id]).code, 8, "{id}");
    }
}

#[test]
fn what_a_role_is_told_is_its_own_and_the_rest_is_refused() {
    let place = new_repository();
    place.done(&["trust", "--yes"]);
    let said = place.run(&["run", "--check", "true", "--worktree", "PO", "a page"]);
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.err.contains("PO is a role") && said.err.contains("--check --worktree"), "{said:?}");
    let said = place.run(&["run", "PO"]);
    assert_eq!(said.code, 2, "{said:?}");
    // Who is neither an agent nor a role is said to be unknown, with who was probably meant.
    let said = place.run(&["run", "callerr", "a page"]);
    assert_eq!(said.code, 8, "{said:?}");
    assert!(said.err.contains("caller"), "{said:?}");
    assert_eq!(place.json(&["ps", "-a"]).as_array().map(Vec::len), Some(0), "nothing was begun");
}

#[test]
fn looking_makes_no_project_known() {
    let place = Place::new();
    fs::create_dir_all(place.project().join(".claude/agents")).expect("a folder");
    let role = "---\nname: writer\ndescription: Writes\n---\nWrite.\n";
    fs::write(place.project().join(".claude/agents/writer.md"), role).expect("a file");
    assert!(place.done(&["office"]).contains("writer"));
    assert!(place.done(&["office", "roles"]).contains("writer"));
    for list in ["questions", "invocations", "results"] {
        assert_eq!(place.json(&["office", list]), serde_json::json!([]), "{list}");
    }
    place.done(&["office", "diagram"]);
    assert_eq!(place.run(&["run", "nobody", "work"]).code, 8);
    let events = place.done(&["export"]);
    assert!(!events.contains("project.registered"), "{events}");
    place.run(&["office", "send", "nobody", "hello"]);
    assert!(place.done(&["export"]).contains("project.registered"), "who writes means it");
}
