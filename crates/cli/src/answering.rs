//! What somebody types becomes an answer. Which option is meant is the server's business; here only the habits of a
//! terminal are known: Enter for the default, y and n, and a way to insist.

use std::io::{self, IsTerminal, Write};

use ostler_server::api::{NewAnswer, RequestView};

use crate::{
    error::{Error, Message},
    screen::one_line,
    words::{Key, Words},
};

/// What stands in front of the cursor.
pub(crate) fn prompt(words: Words, request: &RequestView) -> String {
    let ask = &request.ask;
    let key = match (ask.kind.as_str(), ask.options.is_empty()) {
        ("permission", _) => Key::PromptPermission,
        (_, true) => Key::PromptWords,
        (_, false) => Key::PromptNumber,
    };
    let enter = match &ask.default {
        Some(default) => words.say(Key::EnterForDefault, &[("default", &one_line(default))]),
        None if ask.skippable => words.sentence(Key::PromptWithout).to_owned(),
        None => return format!("  {}: ", words.sentence(key)),
    };
    format!("  {} ({enter}): ", words.sentence(key))
}

/// A line as an answer: empty for the default or for none, `!` in front to insist, y and n where a yes or no is asked for.
pub(crate) fn of_line(request: &RequestView, line: &str) -> NewAnswer {
    let ask = &request.ask;
    let words = line.trim();
    if words.is_empty() {
        return NewAnswer { skip: ask.skippable, ..NewAnswer::default() };
    }
    if let Some(rest) = words.strip_prefix('!').filter(|_| !ask.options.is_empty()) {
        let value = Some(rest.trim().to_owned());
        return NewAnswer { value, insist: true, ..NewAnswer::default() };
    }
    match decision(words).filter(|_| is_yes_or_no(request)) {
        Some(decision) => NewAnswer { decision: Some(decision), ..NewAnswer::default() },
        None => NewAnswer { value: Some(line.to_owned()), ..NewAnswer::default() },
    }
}

/// What a short word decides.
pub(crate) fn decision(word: &str) -> Option<bool> {
    match word.to_lowercase().as_str() {
        "y" | "yes" | "예" | "네" | "ㅇ" => Some(true),
        "n" | "no" | "아니요" | "아니오" | "ㄴ" => Some(false),
        _ => None,
    }
}

/// Asks on the terminal; without one nobody can have agreed, and `how` says what to do then.
pub(crate) fn agreed(question: &str, how: Key) -> Result<bool, Error> {
    if !io::stdin().is_terminal() {
        return Err(Error::Refused { message: Message::new(Key::NoTerminal), hint: Message::new(how) });
    }
    let mut stderr = io::stderr().lock();
    write!(stderr, "{question} ").and_then(|()| stderr.flush()).map_err(Error::Stats)?;
    let mut line = String::new();
    io::stdin().read_line(&mut line).map_err(|source| Error::Input { path: None, source })?;
    // Who closes the input behind a word has not said it.
    Ok(line.ends_with('\n') && decision(line.trim()) == Some(true))
}

/// Whether a yes or no is asked for.
fn is_yes_or_no(request: &RequestView) -> bool {
    let ask = &request.ask;
    let is_confirmation = ask.options == ["Yes", "No"];
    is_confirmation
        || ask.kind == "permission"
        || (ask.kind == "dependency" && ask.fields["type"].as_str() != Some("file"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{card::tests::request, words::Language};

    #[test]
    fn the_habits_of_a_terminal() {
        let mut request = request();
        let value = |request: &RequestView, line: &str| of_line(request, line).value;
        assert_eq!((value(&request, ""), of_line(&request, "").skip), (None, true), "the default");
        assert_eq!(value(&request, "2").as_deref(), Some("2"));
        assert_eq!(value(&request, "y").as_deref(), Some("y"), "a choice has no yes");
        let insisted = of_line(&request, "! SQLite");
        assert_eq!((insisted.value.as_deref(), insisted.insist), (Some("SQLite"), true));
        request.ask.options = vec!["Yes".into(), "No".into()];
        assert_eq!(of_line(&request, "y").decision, Some(true));
        assert_eq!(of_line(&request, "아니요").decision, Some(false));
        request.ask.options = Vec::new();
        request.ask.default = None;
        assert_eq!(of_line(&request, "!important").value.as_deref(), Some("!important"));
        request.ask.skippable = false;
        assert_eq!((value(&request, " "), of_line(&request, " ").skip), (None, false));
    }

    #[test]
    fn the_prompt_names_the_default() {
        let prompt = prompt(Words::new(Language::En), &request());
        assert_eq!(prompt, "  Your answer, a number or words (Enter: PostgreSQL): ");
        let mut without = request();
        without.ask.default = None;
        let prompt = super::prompt(Words::new(Language::En), &without);
        assert_eq!(prompt, "  Your answer, a number or words (Enter: go on without): ");
    }
}
