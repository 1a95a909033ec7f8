//! A form for values, filled in line by line: on the terminal where a session is watched, or by `ostler answer`. What is
//! typed for a secret is not shown, and nothing here keeps or prints a value.

use std::collections::{BTreeMap, VecDeque};

use ostler_server::api::{GivenValue, NewAnswer, RequestView};
use rustix::{
    stdio::stdin,
    termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr},
};

use crate::{
    answering::decision,
    card,
    screen::one_line,
    words::{Key, Words},
};

/// A form that is being filled in.
pub(crate) struct Form {
    steps: VecDeque<Step>,
    values: BTreeMap<String, GivenValue>,
    /// Whether values under other names can be given.
    other_names: bool,
    /// Whether it can be left empty: the agent does without, or has a default.
    can_skip: bool,
    default: Option<String>,
}

/// One line of it.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    /// A value.
    Value { name: String, secret: bool, optional: bool },
    /// The name of another one.
    Name,
    /// Whether it may be given again.
    Reuse,
    /// Whether giving nothing means no.
    Deny,
}

/// What comes of a line.
pub(crate) enum Taken {
    /// The next line is asked for.
    Next,
    /// The same line is asked for again, because of this.
    Again(String),
    /// It is filled in.
    Done(NewAnswer),
}

impl Form {
    /// The form of a request, if it asks for values.
    pub(crate) fn of(request: &RequestView) -> Option<Form> {
        let form = request.ask.form.as_ref().filter(|_| card::wants_values(request))?;
        let field = |field: &ostler_server::api::FieldView| Step::Value {
            name: field.name.clone(),
            secret: field.secret,
            optional: field.optional,
        };
        let mut steps: VecDeque<Step> = form.fields.iter().map(field).collect();
        if form.other_names {
            steps.push_back(Step::Name);
        }
        steps.push_back(Step::Reuse);
        let default = request.ask.default.clone().filter(|_| !form.other_names);
        Some(Form {
            steps,
            values: BTreeMap::new(),
            other_names: form.other_names,
            can_skip: request.ask.skippable,
            default,
        })
    }

    /// What stands in front of the cursor.
    pub(crate) fn prompt(&self, words: Words) -> String {
        let said = match self.steps.front() {
            Some(Step::Value { name, secret, optional }) => {
                let hidden = secret.then(|| words.sentence(Key::PromptHidden).to_owned());
                let optional = optional.then(|| words.sentence(Key::PromptOptional).to_owned());
                let notes: Vec<String> =
                    [hidden, optional, self.enter(words)].into_iter().flatten().collect();
                if notes.is_empty() {
                    one_line(name)
                } else {
                    format!("{} ({})", one_line(name), notes.join("; "))
                }
            }
            Some(Step::Name) if self.values.is_empty() => words.sentence(Key::PromptName).to_owned(),
            Some(Step::Name) => words.sentence(Key::PromptOtherName).to_owned(),
            Some(Step::Reuse) => words.sentence(Key::PromptReuse).to_owned(),
            Some(Step::Deny) | None => words.sentence(Key::PromptDeny).to_owned(),
        };
        format!("  {said}: ")
    }

    /// What Enter alone means for the only value there is.
    fn enter(&self, words: Words) -> Option<String> {
        if self.other_names {
            return None;
        }
        Some(match &self.default {
            Some(default) => words.say(Key::EnterForDefault, &[("default", &one_line(default))]),
            None if self.can_skip => words.sentence(Key::PromptWithout).to_owned(),
            None => words.sentence(Key::PromptDenial).to_owned(),
        })
    }

    /// Whether the next line is not to be shown.
    pub(crate) fn is_secret(&self) -> bool {
        matches!(self.steps.front(), Some(Step::Value { secret: true, .. }))
    }

    /// Takes a line.
    pub(crate) fn take(&mut self, words: Words, line: &str) -> Taken {
        let line = line.trim_end_matches(['\r', '\n']);
        match self.steps.pop_front() {
            Some(Step::Value { name, .. }) => {
                if !line.is_empty() {
                    self.values.insert(name, GivenValue::new(line.to_owned()));
                }
            }
            Some(Step::Name) if line.trim().is_empty() => {}
            Some(Step::Name) => {
                let name = line.trim().to_owned();
                self.steps.push_front(Step::Name);
                if !is_name(&name) {
                    return Taken::Again(words.say(Key::BadVariableName, &[("name", &one_line(&name))]));
                }
                self.steps.push_front(Step::Value { name, secret: true, optional: true });
            }
            Some(Step::Reuse) => return Taken::Done(self.given(decision(line.trim()) == Some(true))),
            Some(Step::Deny) | None => {
                let no = NewAnswer { decision: Some(false), ..NewAnswer::default() };
                if decision(line.trim()) == Some(true) {
                    return Taken::Done(no);
                }
                return Taken::Again(String::new());
            }
        }
        self.go_on()
    }

    /// Whoever has given nothing when everything was asked for goes on without, or denies it.
    fn go_on(&mut self) -> Taken {
        if self.steps.front() != Some(&Step::Reuse) || !self.values.is_empty() {
            return Taken::Next;
        }
        if self.can_skip {
            return Taken::Done(NewAnswer { skip: true, ..NewAnswer::default() });
        }
        self.steps = VecDeque::from([Step::Deny]);
        Taken::Next
    }

    fn given(&mut self, reuse: bool) -> NewAnswer {
        NewAnswer { values: std::mem::take(&mut self.values), reuse, ..NewAnswer::default() }
    }
}

/// Values from a file or a pipe: one as it is, without its last line break; those of a service as `NAME=value` lines. Or
/// the number of the line that is none.
pub(crate) fn read(request: &RequestView, text: &str) -> Result<BTreeMap<String, GivenValue>, usize> {
    let form = request.ask.form.clone().unwrap_or_default();
    if let ([field], false) = (form.fields.as_slice(), form.other_names) {
        let value = text.strip_suffix('\n').unwrap_or(text);
        let value = value.strip_suffix('\r').unwrap_or(value);
        return Ok(BTreeMap::from([(field.name.clone(), GivenValue::new(value.to_owned()))]));
    }
    let mut values = BTreeMap::new();
    for (line, number) in text.lines().zip(1_usize..) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let pair = line.strip_prefix("export ").unwrap_or(line).split_once('=');
        let (name, value) = pair.filter(|(name, _)| is_name(name.trim())).ok_or(number)?;
        values.insert(name.trim().to_owned(), GivenValue::new(unquoted(value.trim()).to_owned()));
    }
    Ok(values)
}

/// A value in quotation marks, as files with variables often have it.
fn unquoted(value: &str) -> &str {
    let inside = |mark: char| value.strip_prefix(mark)?.strip_suffix(mark);
    inside('"').or_else(|| inside('\'')).unwrap_or(value)
}

fn is_name(text: &str) -> bool {
    let is_word = |c: char| c == '_' || c.is_ascii_alphanumeric();
    text.starts_with(|c: char| is_word(c) && !c.is_ascii_digit()) && text.chars().all(is_word)
}

/// While this is held, the terminal does not show what is typed.
pub(crate) struct Hidden {
    before: Termios,
}

impl Hidden {
    /// Nothing, where there is no terminal.
    pub(crate) fn begin() -> Option<Hidden> {
        let before = tcgetattr(stdin()).ok()?;
        let mut hidden = before.clone();
        hidden.local_modes.remove(LocalModes::ECHO);
        hidden.local_modes.insert(LocalModes::ECHONL);
        tcsetattr(stdin(), OptionalActions::Now, &hidden).ok()?;
        Some(Hidden { before })
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        // A terminal that is gone shows nothing anyway.
        tcsetattr(stdin(), OptionalActions::Now, &self.before).ok();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::words::Language;

    fn request(kind: &str, required: bool, default: Option<&str>, form: serde_json::Value) -> RequestView {
        let mut request = card::tests::request();
        request.ask.kind = "dependency".into();
        request.ask.options = Vec::new();
        request.ask.required = required;
        request.ask.skippable = !required || default.is_some();
        request.ask.default = default.map(ToOwned::to_owned);
        request.ask.fields = json!({ "type": kind });
        request.ask.form = Some(serde_json::from_value(form).expect("a form"));
        request
    }

    fn key(required: bool, default: Option<&str>) -> RequestView {
        let form = json!({ "fields": [{ "name": "KEY", "secret": true, "optional": false }] });
        request("api_key", required, default, form)
    }

    /// Types lines until it is done, and gives the prompts with the answer.
    fn fill(request: &RequestView, lines: &[&str]) -> (Vec<String>, Option<NewAnswer>) {
        let words = Words::new(Language::En);
        let mut form = Form::of(request).expect("it has a form");
        let mut prompts = Vec::new();
        for line in lines {
            prompts.push(form.prompt(words).trim().to_owned());
            match form.take(words, line) {
                Taken::Next => {}
                Taken::Again(why) => prompts.push(why),
                Taken::Done(answer) => return (prompts, Some(answer)),
            }
        }
        (prompts, None)
    }

    fn values(answer: &NewAnswer) -> serde_json::Value {
        serde_json::to_value(answer).expect("it can be sent")["values"].clone()
    }

    #[test]
    fn a_key_is_typed_unseen_and_kept_for_once_unless_somebody_says_so() {
        let (prompts, answer) = fill(&key(true, None), &["sk_1", ""]);
        let answer = answer.expect("it is filled in");
        assert_eq!(prompts[0], "KEY (not shown; Enter: deny):");
        assert_eq!((values(&answer), answer.reuse), (json!({ "KEY": "sk_1" }), false));
        assert!(Form::of(&key(true, None)).is_some_and(|form| form.is_secret()));
        let (_, answer) = fill(&key(true, None), &["sk_1", "y"]);
        assert!(answer.expect("it is filled in").reuse);
    }

    #[test]
    fn nothing_is_a_denial_or_goes_without() {
        let (_, answer) = fill(&key(true, None), &["", "y"]);
        assert_eq!(answer.and_then(|answer| answer.decision), Some(false));
        assert_eq!(fill(&key(true, None), &["", "n"]).1, None, "asked again");
        let (prompts, answer) = fill(&key(false, Some("test")), &[""]);
        assert_eq!(prompts, ["KEY (not shown; Enter: test):"]);
        assert!(answer.is_some_and(|answer| answer.skip));
        assert!(fill(&key(false, None), &[""]).1.is_some_and(|answer| answer.skip));
    }

    #[test]
    fn a_service_asks_for_its_variables_and_for_others() {
        let form = json!({ "other_names": true, "fields": [
            { "name": "A_URL", "secret": false, "optional": false },
            { "name": "A_KEY", "secret": true, "optional": true } ] });
        let known = request("service", true, None, form);
        let (prompts, answer) = fill(&known, &["u", "", "1X", "MORE", "m", "", "n"]);
        let answer = answer.expect("it is filled in");
        assert_eq!(
            prompts[..3],
            ["A_URL:", "A_KEY (not shown; optional):", "Name of another variable (Enter: no more):"]
        );
        assert!(prompts[3].starts_with("'1X' is no name"), "{prompts:?}");
        assert_eq!(values(&answer), json!({ "A_URL": "u", "MORE": "m" }));
        let unknown = request("service", true, None, json!({ "other_names": true }));
        assert_eq!(fill(&unknown, &["", "y"]).1.and_then(|answer| answer.decision), Some(false));
    }

    #[test]
    fn from_a_pipe_one_value_or_pairs() {
        let one = read(&key(true, None), "sk_1\r\n").expect("a value");
        assert_eq!(json!(one), json!({ "KEY": "sk_1" }));
        let service = request("service", true, None, json!({ "other_names": true }));
        let pairs = read(&service, "# mine\nexport A=1\n\nB = 'two words'\n").expect("pairs");
        assert_eq!(json!(pairs), json!({ "A": "1", "B": "two words" }));
        assert_eq!(read(&service, "A=1\nnothing\n").err(), Some(2));
    }
}
