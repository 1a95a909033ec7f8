//! What is wrong with a command line, said like every other error: what happened, and what to do next.

use std::error::Error as _;

use clap::{
    Command,
    error::{ContextKind, ContextValue, ErrorKind},
};
use ostler_agents::nearest;

use crate::{
    error::Error,
    screen::one_line,
    words::{Key, Words},
};

/// The parser's complaint as an error.
pub(crate) fn of(error: &clap::Error, command: &Command, arguments: &[String], words: Words) -> Error {
    if let Some(name) = text(error, ContextKind::InvalidSubcommand) {
        let path = path(command, arguments);
        let within = path.iter().fold(command, |it, name| it.find_subcommand(name).unwrap_or(it));
        let known = within.get_subcommands().map(Command::get_name);
        let nearest = nearest(&name, known).map(|nearest| [path.as_slice(), &[nearest]].concat().join(" "));
        return Error::UnknownCommand { name, nearest };
    }
    let hint = hint(error, &path(command, arguments), words);
    Error::CommandLine { message: message(error, words), hint }
}

fn message(error: &clap::Error, words: Words) -> String {
    let argument = text(error, ContextKind::InvalidArg).unwrap_or_default();
    let value = text(error, ContextKind::InvalidValue).unwrap_or_default();
    match error.kind() {
        ErrorKind::UnknownArgument => words.say(Key::UsageUnknownArgument, &[("argument", &argument)]),
        ErrorKind::InvalidValue if value.is_empty() => {
            words.say(Key::UsageNoValue, &[("argument", &argument)])
        }
        ErrorKind::InvalidValue => {
            words.say(Key::UsageBadValue, &[("argument", &argument), ("value", &value)])
        }
        ErrorKind::ValueValidation => {
            let why = error.source().map(ToString::to_string).unwrap_or_default();
            let values: &[(&str, &dyn std::fmt::Display)] =
                &[("argument", &argument), ("value", &value), ("why", &one_line(&why))];
            words.say(Key::UsageRefusedValue, values)
        }
        ErrorKind::MissingRequiredArgument => words.say(Key::UsageMissing, &[("arguments", &argument)]),
        ErrorKind::ArgumentConflict => match text(error, ContextKind::PriorArg) {
            Some(other) => words.say(Key::UsageConflict, &[("argument", &argument), ("other", &other)]),
            None => words.say(Key::UsageTwice, &[("argument", &argument)]),
        },
        // What is left is rare, and the parser says it well.
        _ => {
            let text = error.render().to_string();
            let what = text.split("\n\n").next().unwrap_or_default();
            one_line(what.trim_start_matches("error: "))
        }
    }
}

fn hint(error: &clap::Error, path: &[&str], words: Words) -> String {
    let suggested = [ContextKind::SuggestedArg, ContextKind::SuggestedValue];
    if let Some(nearest) = suggested.into_iter().find_map(|kind| text(error, kind)) {
        return words.say(Key::HintDidYouMean, &[("nearest", &nearest)]);
    }
    match text(error, ContextKind::ValidValue) {
        Some(options) if !options.is_empty() => words.say(Key::HintOptions, &[("options", &options)]),
        _ if path.is_empty() => words.sentence(Key::HintHelp).to_owned(),
        _ => words.say(Key::HintUsage, &[("command", &path.join(" "))]),
    }
}

fn text(error: &clap::Error, kind: ContextKind) -> Option<String> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(one_line(text)),
        ContextValue::Strings(texts) => Some(one_line(&texts.join(", "))),
        _ => None,
    }
}

/// The commands that were named, one below the other.
fn path<'a>(command: &'a Command, arguments: &[String]) -> Vec<&'a str> {
    let mut path = Vec::new();
    let mut command = command;
    for argument in arguments.iter().take_while(|it| *it != "--") {
        if let Some(it) = command.find_subcommand(argument) {
            path.push(it.get_name());
            command = it;
        }
    }
    path
}
