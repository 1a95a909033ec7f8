//! What a person is asked before the files are written: everything is filled in, and Enter takes it.

use std::{
    collections::BTreeMap,
    io::{self, Write},
};

use ostler_project::{ContextAnswers, ContextDocument, ProjectStatus, StackDetection, StackSection};

use crate::{
    answering::decision,
    clock,
    commands::project_context,
    context::Context,
    error::Error,
    screen::{Screen, one_line},
    words::{Key, Words},
};

/// What a person says; none if they want nothing written.
pub(super) fn answers(
    context: &Context,
    detection: &StackDetection,
    asks: bool,
    wanted: &[ContextDocument],
) -> Result<Option<ContextAnswers>, Error> {
    // Directories alone are no stack.
    let is_new = detection.findings.iter().all(|it| it.section == StackSection::Layout);
    let mut answers = ContextAnswers {
        status: if is_new { ProjectStatus::New } else { ProjectStatus::InProgress },
        purpose: None,
        planned_stack: None,
        choices: BTreeMap::new(),
        today: clock::date(clock::now_ms()),
    };
    if !asks {
        return Ok(Some(answers));
    }
    let words = context.words;
    say(&project_context::shown(words, Screen::stderr(), detection))?;
    if is_new {
        answers.purpose = line(words.sentence(Key::InitAskPurpose))?;
        answers.planned_stack = line(words.sentence(Key::InitAskStack))?;
    }
    for (section, key) in detection.unclear() {
        let of_key = |it: &&ostler_project::StackFinding| it.section == section && it.key == key;
        let names: Vec<&str> = detection.findings.iter().filter(of_key).map(|it| it.name.as_str()).collect();
        let section_name = project_context::section_name(words, section);
        let question = words.say(Key::InitAskWhich, &[("section", &section_name), ("key", &key)]);
        if let Some(index) = choose(&question, &names, words)? {
            answers.choices.insert((section, key.to_owned()), names[index].to_owned());
        }
    }
    let statuses = [Key::InitStatusNew, Key::InitStatusInProgress, Key::InitStatusRefactoring];
    let names = statuses.map(|key| words.sentence(key));
    let question = words.say(Key::InitAskStatus, &[("status", &names[usize::from(!is_new)])]);
    match choose(&question, &names, words)? {
        Some(0) => answers.status = ProjectStatus::New,
        Some(1) => answers.status = ProjectStatus::InProgress,
        Some(2) => answers.status = ProjectStatus::Refactoring,
        _ => {}
    }
    let files: Vec<&str> = wanted.iter().map(|it| it.file.name()).collect();
    let question = words.say(Key::InitAskWrite, &[("files", &files.join(", "))]);
    Ok(agrees(&question)?.then_some(answers))
}

/// Yes, unless somebody says no.
pub(super) fn agrees(question: &str) -> Result<bool, Error> {
    Ok(line(question)?.is_none_or(|answer| decision(&answer) == Some(true)))
}

/// The number of a choice, asked again until it is one; none for Enter.
pub(super) fn choose(question: &str, names: &[&str], words: Words) -> Result<Option<usize>, Error> {
    for (name, number) in names.iter().zip(1..) {
        say(&format!("  {number}  {}\n", one_line(name)))?;
    }
    loop {
        let Some(answer) = line(question)? else { return Ok(None) };
        let number = answer.parse::<usize>().ok().filter(|number| (1..=names.len()).contains(number));
        if let Some(number) = number {
            return Ok(Some(number - 1));
        }
        say(&format!("  {}\n", words.say(Key::InitBadNumber, &[("max", &names.len())])))?;
    }
}

/// What is typed behind a question; none for Enter alone. Who closes the input has answered nothing.
pub(super) fn line(question: &str) -> Result<Option<String>, Error> {
    say(&format!("{question} "))?;
    let mut line = String::new();
    let bytes = io::stdin().read_line(&mut line).map_err(|source| Error::Input { path: None, source })?;
    if bytes == 0 {
        let source = io::Error::from(io::ErrorKind::UnexpectedEof);
        return Err(Error::Input { path: None, source });
    }
    let answer = line.trim();
    Ok((!answer.is_empty()).then(|| answer.to_owned()))
}

pub(super) fn say(text: &str) -> Result<(), Error> {
    let mut stderr = io::stderr().lock();
    stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush()).map_err(Error::Stats)
}
