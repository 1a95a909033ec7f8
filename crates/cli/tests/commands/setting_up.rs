//! `ostler init`: what is asked, what is written, what a crash at each step leaves, and what agents are told afterwards.

use std::fs;

use serde_json::json;

use crate::{
    support::{Place, until},
    terminal::Terminal,
};

const FILES: [&str; 4] = ["project-state.md", "tech-stack.md", "conventions.md", "preferences.md"];

const MANIFEST: &str =
    "{\n  \"dependencies\": { \"express\": \"^4.19.2\", \"pg\": \"8\", \"better-sqlite3\": \"11\" }\n}\n";

fn context_file(place: &Place, name: &str) -> String {
    fs::read_to_string(place.project().join(".claude/memory/context").join(name)).unwrap_or_default()
}

fn put(place: &Place, name: &str, text: &str) {
    let path = place.project().join(name);
    fs::create_dir_all(path.parent().expect("it has a parent")).expect("a directory");
    fs::write(path, text).expect("a file");
}

/// A repository that came from a template and has nothing of its own.
fn template(place: &Place) {
    put(place, ".claude/references/orchestrator-protocol.md", "# Protocol\n");
    put(place, ".claude/settings.json", "{ \"project\": { \"name\": \"dev-ai\" } }\n");
    place.git(&["add", "--all"]);
    place.git(&["commit", "--quiet", "-m", "template"]);
    let origin = place.state().parent().expect("it has a parent").join("dev-ai.git");
    place.git(&["clone", "--quiet", "--bare", ".", &origin.to_string_lossy()]);
    place.git(&["remote", "add", "origin", &origin.to_string_lossy()]);
    place.git(&["fetch", "--quiet", "origin"]);
}

#[test]
fn a_project_is_set_up_once() {
    let place = Place::with_commit();
    put(&place, "package.json", MANIFEST);
    let first = place.json(&["init", "--yes", "--lang", "ko"]);
    assert_eq!(first["written"].as_array().map(Vec::len), Some(4), "{first}");
    assert_eq!((&first["history"], &first["was_initialized"]), (&json!({ "kind": "kept" }), &json!(false)));
    let stack = context_file(&place, "tech-stack.md");
    assert!(stack.starts_with("# Tech Stack Decisions\n\n## Frontend\n<!-- "), "{stack}");
    assert!(
        stack.contains("## Backend\n- Framework: Express 4\n") && stack.contains("## AI/ML (해당시)\n"),
        "{stack}"
    );
    assert!(context_file(&place, "project-state.md").contains("- **Phase**: 개발 진행 중\n"));
    assert!(context_file(&place, "conventions.md").contains("## 파일 구조\n"));
    // Git sees the files, and not the marker.
    let status = place.git(&["status", "--porcelain", "--untracked-files=all"]);
    assert!(status.contains("context/tech-stack.md") && !status.contains(".initialized"), "{status}");
    // Nothing is written over, and what is missing comes back in the language of the others.
    put(
        &place,
        ".claude/memory/context/tech-stack.md",
        "# Tech Stack Decisions\n\n## Backend\n- Framework: Koa 2\n",
    );
    fs::remove_file(place.project().join(".claude/memory/context/conventions.md")).expect("it was there");
    let second = place.json(&["init", "--yes"]);
    assert_eq!(
        (second["written"].as_array().map(Vec::len), &second["was_initialized"]),
        (Some(1), &json!(true))
    );
    assert!(context_file(&place, "tech-stack.md").contains("Koa 2"));
    assert!(context_file(&place, "conventions.md").contains("## 파일 구조\n"));
    assert!(place.done(&["init", "--yes", "--lang", "en"]).contains("This project is already set up."));
}

#[test]
fn roles_are_written_once() {
    let place = Place::with_commit();
    put(&place, ".claude/agents/pm.md", "---\nname: pm\n---\nmine\n");
    let done = place.json(&["init", "--yes", "--agents"]);
    assert_eq!(done["written"].as_array().map(Vec::len), Some(4 + 14), "{done}");
    let mine = fs::read_to_string(place.project().join(".claude/agents/pm.md")).expect("it is there");
    assert!(mine.ends_with("mine\n"));
    assert_eq!(fs::read_dir(place.project().join(".claude/agents")).expect("a directory").count(), 15);
    assert_eq!(place.json(&["init", "--yes", "--agents"])["written"], json!([]));
    place.configure("[office]\nagent = \"claude\"\n");
    let roles = place.done(&["office", "roles"]);
    assert!(roles.contains("code-reviewer") && roles.contains("integration-tester"), "{roles}");
}

#[test]
fn without_a_terminal_somebody_has_to_say_yes() {
    let place = Place::with_commit();
    let said = place.run(&["init"]);
    assert_eq!(said.code, 7, "{said:?}");
    assert!(said.err.contains("--yes"), "{said:?}");
    assert!(!place.project().join(".claude").exists());
}

#[test]
fn everything_is_filled_in_on_a_terminal() {
    let place = Place::with_commit();
    put(&place, "package.json", MANIFEST);
    let mut terminal = Terminal::start(&place, &["init", "--lang", "en"]);
    terminal.sees("Express 4.19");
    terminal.sees("Which one?");
    terminal.press("2\r");
    terminal.sees("Status of the project?");
    terminal.press("9\r");
    terminal.sees("Type a number from 1 to 3");
    terminal.press("3\r");
    terminal.sees("[Y/n]");
    terminal.press("\r");
    assert_eq!(terminal.code(), 0);
    let stack = context_file(&place, "tech-stack.md");
    assert!(stack.contains("- Primary: PostgreSQL\n"), "{stack}");
    assert!(context_file(&place, "project-state.md").contains("**Phase**: Refactoring"));
}

#[test]
fn who_says_no_has_nothing_written() {
    let place = Place::with_commit();
    let mut terminal = Terminal::start(&place, &["init", "--lang", "en"]);
    terminal.sees("What is the project for?");
    terminal.press("a shop\r");
    terminal.sees("Which stack?");
    terminal.press("\r");
    terminal.sees("Status of the project?");
    terminal.press("\r");
    terminal.sees("[Y/n]");
    terminal.press("n\r");
    assert_eq!(terminal.code(), 10);
    assert!(!place.project().join(".claude").exists());
}

#[test]
fn a_template_gets_a_history_of_its_own() {
    let place = Place::with_commit();
    template(&place);
    let old = place.git(&["rev-parse", "HEAD"]);
    let done = place.json(&["init", "--yes"]);
    assert_eq!(done["history"]["kind"], "new_root", "{done}");
    assert_eq!(place.git(&["log", "--format=%s"]), "chore: init project from dev-ai template\n");
    assert_eq!(place.git(&["remote"]), "");
    let undo = done["history"]["undo"].as_str().expect("it is said").to_owned();
    let undone = place.program("sh", &["-c", &undo]).output().expect("a shell runs");
    assert!(undone.status.success(), "{undo}: {undone:?}");
    assert_eq!((place.git(&["rev-parse", "HEAD"]), place.git(&["remote"])), (old, "origin\n".to_owned()));
}

#[test]
fn a_template_with_work_is_kept_unless_somebody_chooses() {
    let place = Place::with_commit();
    template(&place);
    put(&place, "mine.txt", "mine\n");
    let before = place.git(&["rev-parse", "HEAD"]);
    let mut terminal = Terminal::start(&place, &["init", "--lang", "en"]);
    terminal.sees("mine.txt");
    terminal.sees("Choose (Enter: cancel)");
    terminal.press("\r");
    assert_eq!(terminal.code(), 10);
    assert_eq!(place.git(&["rev-parse", "HEAD"]), before);
    assert!(!place.project().join(".claude/memory").exists());
    assert_eq!(place.json(&["init", "--yes"])["history"]["kind"], "template_kept");
    assert_eq!(place.git(&["rev-parse", "HEAD"]), before);
}

#[test]
fn a_directory_without_git_becomes_a_repository_without_its_secrets() {
    let place = Place::new();
    // The target directory may lie in a repository.
    let directory = std::env::temp_dir().join(format!("ostler-init-{}", std::process::id()));
    fs::create_dir_all(&directory).expect("a directory");
    fs::write(directory.join(".env"), "KEY=1\n").expect("a file");
    fs::write(directory.join("main.py"), "1\n").expect("a file");
    let mut command = place.command(&["--json", "init", "--yes"]);
    let output = command.current_dir(&directory).output().expect("the binary starts");
    let done: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(done["history"], json!({ "kind": "made", "left_out": [".env"] }));
    let mut listed = place.program("git", &["ls-files"]);
    let listed = listed.current_dir(&directory).output().expect("git starts");
    assert_eq!(String::from_utf8_lossy(&listed.stdout), "main.py\n");
    fs::remove_dir_all(&directory).expect("it was there");
}

#[test]
fn a_home_directory_is_no_project() {
    let place = Place::new();
    // The target directory may lie in a repository, which would be the project.
    let home = std::env::temp_dir().join(format!("ostler-home-{}", std::process::id()));
    fs::create_dir_all(&home).expect("a directory");
    let mut command = place.command(&["init", "--yes"]);
    let output = command.current_dir(&home).env("HOME", &home).output().expect("the binary starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("home directory"), "{said}");
    assert_eq!(fs::read_dir(&home).expect("it is there").count(), 0, "nothing is written there");
    fs::remove_dir_all(&home).expect("it was there");
}

#[test]
fn a_worktree_and_a_second_clone_are_no_first_run() {
    let place = Place::with_commit();
    put(&place, "package.json", MANIFEST);
    place.done(&["init", "--yes"]);
    place.git(&["add", "--all"]);
    place.git(&["commit", "--quiet", "-m", "set up"]);
    place.git(&["worktree", "add", "--quiet", "../tree"]);
    place.git(&["clone", "--quiet", ".", "../clone"]);
    for name in ["tree", "clone"] {
        let directory = place.project().with_file_name(name);
        let output = place.command(&["--json", "init", "--yes"]).current_dir(&directory).output();
        let output = output.expect("the binary starts");
        let done: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(
            (&done["was_initialized"], &done["written"]),
            (&json!(true), &json!([])),
            "{name}: {done}"
        );
    }
}

#[test]
fn a_crash_at_every_step_is_finished_by_the_next_call() {
    for site in ostler_server::INIT_SITES {
        for times in [1, 3] {
            let place = Place::with_commit();
            put(&place, "go.mod", "module x\n\ngo 1.22\n");
            template(&place);
            let crash = format!("{site}:{times}");
            let output =
                place.command(&["init", "--yes", "--agents"]).env("OSTLER_CRASH_AT", &crash).output();
            output.expect("the binary starts");
            let done = place.json(&["init", "--yes", "--agents"]);
            assert_eq!(done["left_alone"], json!([]), "{crash}: {done}");
            for name in FILES {
                let text = context_file(&place, name);
                assert!(text.starts_with("# ") && text.ends_with('\n'), "{crash}: {name}: {text}");
            }
            assert!(context_file(&place, "tech-stack.md").contains("- Language: Go 1.22\n"), "{crash}");
            assert!(place.project().join(".claude/memory/.initialized").exists(), "{crash}");
            assert_eq!(place.git(&["rev-list", "--count", "HEAD"]), "1\n", "{crash}");
            let folder = place.project().join(".claude/memory/context");
            let names = fs::read_dir(folder).expect("a directory").count();
            assert_eq!(names, FILES.len(), "{crash}: no draft is left");
            let roles = fs::read_dir(place.project().join(".claude/agents")).expect("a directory").count();
            assert_eq!(roles, 15, "{crash}");
        }
    }
}

#[test]
fn files_of_others_and_a_full_disk_lose_nothing() {
    let place = Place::with_commit();
    put(&place, ".claude/memory/context/tech-stack.md", "# My list\n\n- milk\n");
    std::os::unix::fs::symlink(
        "/etc/hostname",
        place.project().join(".claude/memory/context/preferences.md"),
    )
    .expect("a link");
    let done = place.json(&["init", "--yes"]);
    assert_eq!(done["written"].as_array().map(Vec::len), Some(2), "{done}");
    let alone = done["left_alone"].to_string();
    assert!(alone.contains("has other headings") && alone.contains("a link"), "{alone}");
    assert_eq!(context_file(&place, "tech-stack.md"), "# My list\n\n- milk\n");
    // A file that cannot grow.
    fs::remove_file(place.project().join(".claude/memory/context/conventions.md")).expect("it was there");
    let binary = env!("CARGO_BIN_EXE_ostler");
    let script = format!("trap '' XFSZ; ulimit -f 0; exec {binary} init --yes");
    let output = place.program("sh", &["-c", &script]).output().expect("a shell runs");
    assert!(!output.status.success());
    assert!(!place.project().join(".claude/memory/context/conventions.md").exists());
    place.done(&["init", "--yes"]);
    assert!(context_file(&place, "conventions.md").starts_with("# Coding Conventions"));
}

#[test]
fn agents_are_told_what_is_on_record_unless_somebody_says_no() {
    let place = Place::with_commit();
    put(
        &place,
        "Cargo.toml",
        "[package]\nname = \"x\"\nedition = \"2024\"\n[dependencies]\naxum = \"0.8\"\n",
    );
    put(&place, "told.sh", "printf '%s' \"$1\" > told.txt\n");
    place.configure(
        "[agents.told]\ncommand = [\"bash\", \"told.sh\"]\nguide = \"argument\"\n\
         [agents.told.arguments]\nguide = [\"{guide}\"]\n",
    );
    place.git(&["add", "--all"]);
    place.git(&["commit", "--quiet", "-m", "all"]);
    let told = |more: &[&str]| {
        fs::remove_file(place.project().join("told.txt")).ok();
        let run = place.json(&[&["run", "-d", "told", "work"], more].concat());
        let id = run["sessions"][0]["id"].as_str().expect("a session").to_owned();
        until("its end", || Some(()).filter(|()| !place.session(&id)["outcome"].is_null()));
        fs::read_to_string(place.project().join("told.txt")).unwrap_or_default()
    };
    assert!(!told(&[]).contains("Persistent Context"));
    assert!(place.done(&["context", "show"]).contains("Agents are told nothing yet"));
    place.done(&["init", "--yes"]);
    let with = told(&[]);
    assert!(with.contains("## Persistent Context") && with.contains("- Framework: Axum 0.8"), "{with}");
    assert!(with.starts_with("You run under Ostler"), "{with}");
    assert!(!told(&["--no-context"]).contains("Persistent Context"));
    let shown = place.json(&["context", "show"]);
    assert!(shown["told"]["tokens"].as_u64().is_some_and(|tokens| tokens > 0 && tokens <= 2000), "{shown}");
    assert!(with.contains(shown["told"]["text"].as_str().expect("text").trim_end()));
    assert_eq!(shown["files"][1], json!({ "file": "tech-stack.md", "state": "filled" }));
}
