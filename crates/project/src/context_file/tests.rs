//! Context files: what counts as content, and what a reader and a writer leave alone.

use std::{fs, os::unix::fs::symlink, path::PathBuf};

use super::*;

const TEMPLATE: &str = "# Tech Stack Decisions\n\n> 기술 결정\n> 오케스트레이터만 쓴다\n\n---\n\n## Frontend\n<!-- 예시:\n- Framework: \
                        Next.js 14\n-->\n\n## Backend\n<!-- 예시: -->\n## AI/ML (해당시)\n";

struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("ostler-context-{name}-{}", std::process::id()));
        fs::remove_dir_all(&path).ok();
        fs::create_dir_all(&path).expect("a directory");
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).ok();
    }
}

fn state(file: ContextFile, text: &str) -> (ContextState, Option<ContextLanguage>) {
    let document = ContextDocument::of_text(file, text.to_owned());
    (document.state, document.language)
}

#[test]
fn examples_in_comments_are_no_content() {
    let (ko, en) = (Some(ContextLanguage::Ko), Some(ContextLanguage::En));
    assert_eq!(state(ContextFile::TechStack, TEMPLATE), (ContextState::Template, ko));
    let filled = TEMPLATE.replace("## Backend\n", "## Backend\n- Framework: Express 4\n");
    assert_eq!(state(ContextFile::TechStack, &filled), (ContextState::Filled, ko));
    let initial = "# Project State\n\n## 현재 상태\n- **Phase**: 초기 설정 전\n- **마지막 작업**: -\n- **마지막 세션**: -\n";
    assert_eq!(state(ContextFile::ProjectState, initial), (ContextState::Template, ko));
    let begun = initial.replace("초기 설정 전", "핵심 기능 개발");
    assert_eq!(state(ContextFile::ProjectState, &begun), (ContextState::Filled, ko));
    let english = "# Coding Conventions\n\n## File Structure\n- src/: code\n\n## Git\n";
    assert_eq!(state(ContextFile::Conventions, english), (ContextState::Filled, en));
    assert_eq!(state(ContextFile::Conventions, " \n"), (ContextState::Missing, None));
}

#[test]
fn other_headings_are_somebody_elses() {
    for text in [
        "notes",
        "# Notes\n## Frontend\n",
        "# Tech Stack Decisions\nReact\n",
        "# Project State\n## Frontend\n",
    ] {
        assert_eq!(state(ContextFile::TechStack, text).0, ContextState::Foreign, "{text}");
    }
}

#[test]
fn sections_are_read_without_comments() {
    let text = "# Tech Stack Decisions\n## Frontend\n<!-- - React -->\n## Backend\n- Framework: Axum 0.8\n<!-- x\n## Database\n-->\n\n- ORM: SQLx\n";
    let document = ContextDocument::of_text(ContextFile::TechStack, text.to_owned());
    let sections = document.sections();
    assert_eq!(sections.len(), 1);
    assert_eq!(sections[0].heading, "Backend");
    assert_eq!(sections[0].lines, ["- Framework: Axum 0.8", "- ORM: SQLx"]);
}

#[test]
fn a_file_is_written_whole_and_never_over_another() {
    let scratch = Scratch::new("write");
    let directory = ContextDirectory::of(&scratch.0);
    let file = ContextFile::Preferences;
    let before = directory.read(file).expect("nothing is there");
    assert_eq!(before.state, ContextState::Missing);
    let text = "# User Preferences\n\n## Coding Style\n- Formatter: rustfmt\n";
    directory.replace(&before, text).expect("it is written");
    assert_eq!(directory.read(file).expect("it is there").state, ContextState::Filled);
    // What was read is not there any more.
    let again = directory.replace(&before, "x").expect_err("it has changed");
    assert!(matches!(again, ContextFileError::Changed { .. }), "{again}");
    fs::remove_file(directory.path(file)).expect("it was there");
    fs::File::create(directory.path(file))
        .and_then(|mut it| io::Write::write_all(&mut it, b"# My list\n"))
        .expect("written");
    let foreign = directory.read(file).expect("it can be read");
    let refused = directory.replace(&foreign, text).expect_err("it is not ours");
    assert!(matches!(refused, ContextFileError::Foreign { .. }), "{refused}");
    assert_eq!(directory.read(file).expect("it is there").text, "# My list\n");
}

#[test]
fn what_cannot_be_read_is_named_and_left_alone() {
    let scratch = Scratch::new("hostile");
    let directory = ContextDirectory::of(&scratch.0);
    let folder = scratch.0.join(".claude/memory/context");
    fs::create_dir_all(folder.join("conventions.md")).expect("a directory");
    symlink("/etc/hostname", folder.join("tech-stack.md")).expect("a link");
    let huge = vec![b'a'; usize::try_from(CONTEXT_BYTES_MAX).expect("it fits") + 1];
    fs::File::create(folder.join("preferences.md"))
        .and_then(|mut it| io::Write::write_all(&mut it, &huge))
        .expect("written");
    fs::File::create(folder.join("project-state.md"))
        .and_then(|mut it| io::Write::write_all(&mut it, b"\xff\xfe"))
        .expect("written");
    let said = |file| directory.read(file).expect_err("it cannot be read").to_string();
    assert!(said(ContextFile::TechStack).contains("a link"), "{}", said(ContextFile::TechStack));
    assert!(said(ContextFile::Conventions).contains("a directory"));
    assert!(said(ContextFile::Preferences).contains("longer than"));
    assert!(said(ContextFile::ProjectState).contains("not valid UTF-8"));
}

#[test]
fn a_draft_of_a_writer_that_was_killed_is_no_obstacle() {
    let scratch = Scratch::new("draft");
    let directory = ContextDirectory::of(&scratch.0);
    let folder = scratch.0.join(".claude/memory/context");
    fs::create_dir_all(&folder).expect("a directory");
    fs::File::create(folder.join(".ostler-draft"))
        .and_then(|mut it| io::Write::write_all(&mut it, b"# Hal"))
        .expect("written");
    let before = directory.read(ContextFile::TechStack).expect("nothing is there");
    directory.replace(&before, "# Tech Stack Decisions\n\n## Backend\n- x\n").expect("it is written");
    let names: Vec<_> =
        fs::read_dir(&folder).expect("a directory").flatten().map(|it| it.file_name()).collect();
    assert_eq!(names, ["tech-stack.md"]);
}
