//! `ostler init`: sets a project up, once: its history, the context files, and the marker.
//!
//! Each step leaves something that the next call finds, so a call that was cut short is finished by repeating it.

mod card;
mod history;

use std::{
    fs,
    io::{self, IsTerminal},
    path::{Path, PathBuf},
};

use clap::Args;
use ostler_project::{
    ContextDirectory, ContextDocument, ContextFile, ContextFileError, ContextLanguage, ContextState,
    StackDetection, context_draft, role_templates, write_new_file,
};
use ostler_server::crash_site;
use ostler_workspace::Repository;
use serde_json::{Value, json};

use self::history::HistoryReport;
use crate::{
    context::{Context, directory},
    error::{Error, Message},
    exit::Exit,
    screen::{Screen, add_line, one_line},
    words::{Key, Language, Words},
};

/// The marker of a project that was set up. Git ignores it, so another clone does not have it.
const MARKER: &str = ".claude/memory/.initialized";

/// What is for this machine alone.
const EXCLUDED: [&str; 5] = [
    "/.claude/memory/.initialized",
    "/.claude/memory/workflow-state.md",
    "/.claude/memory/loop-state.md",
    "/.claude/memory/context/.ostler-draft",
    "/.claude/agents/.ostler-draft",
];

/// Set this project up: write down its stack, so that every agent knows it.
///
/// Detects the stack, shows it with the lines that prove it, asks what is unclear, and writes the four files in
/// .claude/memory/context. A clone of a project template gets a history of its own; nothing is lost: docs/project.md.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Do not ask: take what was detected, and keep the history unless nothing of yours is in it.
    #[arg(short, long)]
    yes: bool,
    /// Also write the 15 roles (pm, planner, backend, code-reviewer …) to .claude/agents; files that are there stay.
    #[arg(long)]
    agents: bool,
}

/// What was done, for machines.
struct InitReport {
    root: PathBuf,
    was_initialized: bool,
    history: HistoryReport,
    written: Vec<PathBuf>,
    kept: Vec<PathBuf>,
    left_alone: Vec<String>,
    detection: StackDetection,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result<Exit, Error> {
    let here = directory()?;
    if !arguments.yes && (context.json || !io::stdin().is_terminal()) {
        return Err(Error::Refused {
            message: Message::new(Key::NoTerminal),
            hint: Message::new(Key::InitHintYes),
        });
    }
    let repository = Repository::find(&here).map_err(|error| refused(&error))?;
    let root = repository.as_ref().map_or_else(|| here.clone(), |it| it.main_root().to_path_buf());
    if is_no_project(&root) {
        return Err(refused(&context.error_words().sentence(Key::InitHome)));
    }
    let files = ContextDirectory::of(&root);
    let (documents, left_alone) = read(&files);
    let was_initialized = is_initialized(&root, &documents);
    let history = if was_initialized {
        Some(HistoryReport::Kept)
    } else {
        history::step(context, arguments.yes, &root, repository.as_ref())?
    };
    let Some(history) = history else {
        context.note(context.words.sentence(Key::InitCancelled));
        return Ok(Exit::Cancelled);
    };
    let detection =
        StackDetection::of(&root).map_err(|source| Error::Input { path: Some(root.clone()), source })?;
    let language = language(context, &documents);
    let mut report = InitReport {
        root,
        was_initialized,
        history,
        written: Vec::new(),
        kept: Vec::new(),
        left_alone,
        detection,
    };
    let wanted: Vec<ContextDocument> = documents.into_iter().filter(|it| report.wants(it)).collect();
    if !wanted.is_empty() {
        let asks = !arguments.yes && !was_initialized;
        let Some(answers) = card::answers(context, &report.detection, asks, &wanted)? else {
            context.note(context.words.sentence(Key::InitCancelled));
            return Ok(Exit::Cancelled);
        };
        for document in &wanted {
            let text = context_draft(document.file, language, &report.detection, &answers);
            crash_site("before context file");
            files.replace(document, &text).map_err(unwritten)?;
            crash_site("after context file");
            report.written.push(files.path(document.file));
        }
    }
    if arguments.agents {
        report.write_roles(language)?;
    }
    mark(&report.root)?;
    context.print(&report.json(), |screen| report.shown(context.words, screen))?;
    Ok(Exit::Done)
}

/// The home directory and the root of the system hold everything that a person has.
fn is_no_project(root: &Path) -> bool {
    let home = std::env::var_os("HOME").map(PathBuf::from).and_then(|home| home.canonicalize().ok());
    let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    root.parent().is_none() || home == Some(root)
}

/// The four files as they are, and what is said of those that cannot be read or belong to somebody else.
fn read(files: &ContextDirectory) -> (Vec<ContextDocument>, Vec<String>) {
    let (mut documents, mut left_alone) = (Vec::new(), Vec::new());
    for file in ContextFile::ALL {
        match files.read(file) {
            Ok(document) if document.state == ContextState::Foreign => {
                let path = files.path(file);
                left_alone.push(ContextFileError::Foreign { path }.to_string());
            }
            Ok(document) => documents.push(document),
            Err(error) => left_alone.push(error.to_string()),
        }
    }
    (documents, left_alone)
}

/// A project is set up if it has the marker, or if its files say something: a clone does not have the marker.
fn is_initialized(root: &Path, documents: &[ContextDocument]) -> bool {
    root.join(MARKER).exists() || documents.iter().any(|it| it.state == ContextState::Filled)
}

/// What was asked for, else the language of headings that are there, else that of the person.
fn language(context: &Context, documents: &[ContextDocument]) -> ContextLanguage {
    let of = |language| match language {
        Language::Ko => ContextLanguage::Ko,
        Language::En => ContextLanguage::En,
    };
    let there = || documents.iter().find_map(|it| it.language);
    context.asked.map(of).or_else(there).unwrap_or_else(|| of(context.words.language()))
}

/// Says that the project was set up, and has git pass over what is for this machine alone.
fn mark(root: &Path) -> Result<(), Error> {
    if let Some(repository) = Repository::find(root).map_err(|error| refused(&error))? {
        repository.exclude_paths(&EXCLUDED).map_err(|error| refused(&error))?;
    }
    crash_site("before init marker");
    let path = root.join(MARKER);
    let made =
        fs::create_dir_all(path.parent().unwrap_or(root)).and_then(|()| match ostler_files::private::create(
            &path,
        ) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => Ok(()),
        });
    made.map_err(|source| Error::File { path, source })?;
    crash_site("after init marker");
    Ok(())
}

pub(super) fn refused(error: &dyn std::fmt::Display) -> Error {
    Error::Refused {
        message: Message::new(Key::InitRefused).with("message", error),
        hint: Message::new(Key::InitHintAgain),
    }
}

fn unwritten(error: ContextFileError) -> Error {
    match error {
        ContextFileError::Io { path, source } => Error::File { path, source },
        other => refused(&other),
    }
}

impl InitReport {
    /// Whether a file is written: one that says something is kept as it is.
    fn wants(&mut self, document: &ContextDocument) -> bool {
        let is_wanted = match document.state {
            ContextState::Missing => true,
            ContextState::Template => !self.was_initialized,
            ContextState::Filled | ContextState::Foreign => false,
        };
        if !is_wanted {
            self.kept.push(ContextDirectory::of(&self.root).path(document.file));
        }
        is_wanted
    }

    fn write_roles(&mut self, language: ContextLanguage) -> Result<(), Error> {
        let folder = self.root.join(".claude/agents");
        for role in role_templates() {
            let name = role.file_name();
            crash_site("before role file");
            let is_new = write_new_file(&folder, &name, &role.text(language)).map_err(unwritten)?;
            crash_site("after role file");
            if is_new { self.written.push(folder.join(name)) } else { self.kept.push(folder.join(name)) }
        }
        Ok(())
    }

    fn json(&self) -> Value {
        json!({
            "root": self.root,
            "was_initialized": self.was_initialized,
            "history": self.history.json(),
            "written": self.written,
            "kept": self.kept,
            "left_alone": self.left_alone,
            "detection": self.detection,
        })
    }

    fn shown(&self, words: Words, screen: Screen) -> String {
        let mut said = self.history.shown(words, screen);
        let name =
            |path: &PathBuf| one_line(&path.strip_prefix(&self.root).unwrap_or(path).to_string_lossy());
        for path in &self.written {
            add_line(&mut said, 0, &words.say(Key::InitWritten, &[("path", &name(path))]));
        }
        for path in &self.kept {
            add_line(&mut said, 0, &words.say(Key::InitKept, &[("path", &name(path))]));
        }
        for message in &self.left_alone {
            said.push_str(&screen.text(&one_line(message)));
        }
        if self.written.is_empty() && self.was_initialized {
            said.push_str(&screen.text(words.sentence(Key::InitAlready)));
        }
        said
    }
}
