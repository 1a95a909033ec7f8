//! What is wrong with a command line, said like every other error: what happened, and what to do next.

use std::{
    error::Error as StdError,
    fmt,
    num::{IntErrorKind, ParseIntError},
};

use clap::{
    Command,
    error::{ContextKind, ContextValue, ErrorKind},
};
use ostler_agents::nearest;
use ostler_protocol::name::InvalidName;

use crate::{
    error::{Error, Message},
    screen::one_line,
    words::{Key, Language, Words},
};

/// Why a value of the command line cannot be used, said when it is known in which language.
#[derive(Debug)]
pub(crate) struct BadValue(Message);

impl BadValue {
    pub(crate) fn new(key: Key) -> BadValue {
        BadValue(Message::new(key))
    }
}

impl From<Message> for BadValue {
    fn from(message: Message) -> BadValue {
        BadValue(message)
    }
}

impl fmt::Display for BadValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.say(Words::new(Language::En)))
    }
}

impl StdError for BadValue {}

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
            let why = error.source().map(|source| why(source, &value, words)).unwrap_or_default();
            let values: &[(&str, &dyn fmt::Display)] =
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

/// Why a value cannot be used. The library's own words for numbers mean nothing to a person.
fn why(source: &(dyn StdError + 'static), value: &str, words: Words) -> String {
    if let Some(BadValue(message)) = source.downcast_ref() {
        return message.say(words);
    }
    if source.is::<InvalidName>() {
        return words.sentence(Key::WhyTaskId).to_owned();
    }
    let is_negative = value.strip_prefix('-').is_some_and(|rest| rest.bytes().all(|it| it.is_ascii_digit()));
    if let Some(number) = source.downcast_ref::<ParseIntError>() {
        return match number.kind() {
            IntErrorKind::Zero => words.say(Key::WhyRangeFrom, &[("from", &1)]),
            IntErrorKind::PosOverflow => words.sentence(Key::WhyTooLarge).to_owned(),
            _ if is_negative => words.sentence(Key::WhyNegative).to_owned(),
            _ => words.sentence(Key::WhyWholeNumber).to_owned(),
        };
    }
    // The parser gives a range that was missed as a text alone: "0 is not in 1..=1000".
    let text = source.to_string();
    let range = text.strip_prefix(value).and_then(|rest| rest.strip_prefix(" is not in "));
    match range.and_then(|range| range.split_once("..")) {
        Some((from, "")) => words.say(Key::WhyRangeFrom, &[("from", &from)]),
        Some((from, to)) => words.say(Key::WhyRange, &[("from", &from), ("to", &to.trim_start_matches('='))]),
        None => text,
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

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;
    use crate::Cli;

    /// What is said of a command line that is wrong.
    fn said(arguments: &[&str], language: Language) -> String {
        let Err(error) = Cli::try_parse_from(["ostler"].iter().chain(arguments)) else {
            panic!("{arguments:?} is right");
        };
        let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
        let words = Words::new(language);
        of(&error, &Cli::command(), &arguments, words).message(words)
    }

    #[test]
    fn why_a_value_is_refused_is_said_in_both_languages() {
        let wrong: &[(&[&str], &str, &str)] = &[
            (&["ps", "-n", "x"], "it must be a whole number", "정수여야 합니다"),
            (&["ps", "-n=-3"], "it must not be negative", "음수일 수 없습니다"),
            (&["ps", "-n", "99999999999999999999999"], "it is too large", "너무 큽니다"),
            (&["run", "--until", "--max", "0"], "it must be from 1 to 1000", "1부터 1000까지여야 합니다"),
            (&["orchestrate", "--max-parallel", "0"], "it must be at least 1", "1 이상이어야 합니다"),
            (&["run", "--max-time", "5x"], "such as 90s, 10m or 2h", "90s, 10m, 2h처럼"),
            (&["run", "--max-cost", "much"], "such as 5 or 2.50", "5나 2.50처럼"),
            (&["run", "--max-tokens", "k"], "such as 200k or 1.5m", "200k나 1.5m처럼"),
            (&["run", "--check", " "], "it is no command", "명령이 아닙니다"),
            (&["exec", "a b"], "a task's id is written as T1.3", "작업 ID는 T1.3"),
            (&["exec", "T1", "--meta", "["], "it is no JSON object", "JSON 객체가 아닙니다"),
            (&["exec", "T1", "--meta", "{\"timeout\":true}"], "and not true", "true일 수 없습니다"),
            (&["parse", "--chunk", "0"], "at least 1", "1 이상의 바이트 수"),
            (&["parse", "--nonce", "a b"], "1 to 64 letters", "1~64자입니다"),
        ];
        for (arguments, english, korean) in wrong {
            for (language, expected) in [(Language::En, english), (Language::Ko, korean)] {
                let said = said(arguments, language);
                assert!(said.contains(expected), "{arguments:?}: {said}");
                assert!(!said.contains("invalid digit"), "{said}");
            }
        }
    }
}
