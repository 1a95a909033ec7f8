//! The office dialect: free text with a few keys, in Korean or English.

use alloc::{
    collections::BTreeMap,
    string::{String, ToString},
    vec::Vec,
};

use super::{
    fence::Fence,
    list,
    open::{Reading, Trouble},
    tag::{OfficeTag, Target},
};
use crate::{
    fault::{FaultReason, Warning, WarningCode},
    name::AgentName,
    signal::{AnswerType, AskUser, DeliverResult, Invoke, ResultType, Signal, StepComplete, Vocabulary},
};

const QUESTION: &[&str] = &["질문", "question"];
const TYPE: &[&str] = &["타입", "type"];
const OPTIONS: &[&str] = &["옵션", "options"];
const CONTEXT: &[&str] = &["컨텍스트", "context"];
const CONTENT: &[&str] = &["내용", "content"];
const STEP: &[&str] = &["단계", "step"];
const SUMMARY: &[&str] = &["요약", "summary"];

/// Reads the body of an office message.
pub(crate) fn read(tag: OfficeTag, target: Target, body: &str) -> Reading {
    let mut warnings = Vec::new();
    let target = match target {
        Target::Agent(name) => Ok(name),
        Target::None => Err(Trouble::new(FaultReason::MissingField, "target")),
        Target::Invalid => Err(Trouble::new(FaultReason::UnknownValue, "target")),
    };
    let signal = match tag {
        OfficeTag::AskUser => ask(body, &mut warnings).map(Signal::AskUser),
        OfficeTag::Invoke => target.and_then(|target| invoke(target, body)).map(Signal::Invoke),
        OfficeTag::DeliverResult => {
            target.and_then(|target| deliver(target, body)).map(Signal::DeliverResult)
        }
        OfficeTag::StepComplete => Ok(Signal::StepComplete(step(body))),
    };
    Reading { signal, extra: BTreeMap::new(), warnings }
}

/// Moves each line of a task in by a space that looks like the beginning of its context, so that the agent that is called
/// cannot take it for that.
pub fn guard_task(task: &str) -> String {
    let mut guarded = String::with_capacity(task.len());
    for line in task.split_inclusive('\n') {
        if !line.starts_with(' ') && value_of(line, CONTEXT).is_some() {
            guarded.push(' ');
        }
        guarded.push_str(line);
    }
    guarded
}

fn ask(body: &str, warnings: &mut Vec<Warning>) -> Result<AskUser, Trouble> {
    let mut question = None;
    let mut kind = None;
    let mut options = None;
    let mut context = None;
    let mut free = String::new();
    let mut current = Field::Free;
    for line in lines(body) {
        let begun = [
            (QUESTION, &mut question, Field::Question),
            (TYPE, &mut kind, Field::Free),
            (OPTIONS, &mut options, Field::Options),
            (CONTEXT, &mut context, Field::Context),
        ]
        .into_iter()
        .find_map(|(key, value, field)| {
            let first = line.value_of(key).filter(|_| value.is_none())?;
            *value = Some(first.to_string());
            Some(field)
        });
        if let Some(begun) = begun {
            current = begun;
            continue;
        }
        if matches!(current, Field::Options)
            && !line.goes_on_with_list(options.as_deref().unwrap_or_default())
        {
            current = Field::Free;
        }
        let field = match current {
            Field::Free => &mut free,
            Field::Question => question.get_or_insert_default(),
            Field::Options => options.get_or_insert_default(),
            Field::Context => context.get_or_insert_default(),
        };
        field.push('\n');
        field.push_str(line.text);
    }
    let options = list::parse(&options.unwrap_or_default())
        .ok_or_else(|| Trouble::new(FaultReason::UnreadableList, "options"))?;
    let mut answer_type = match kind.as_deref().map(str::trim).filter(|word| !word.is_empty()) {
        Some(word) => {
            AnswerType::from_word(word).ok_or_else(|| Trouble::new(FaultReason::UnknownValue, "type"))?
        }
        None => AnswerType::Text,
    };
    if answer_type == AnswerType::Selection && options.is_empty() {
        warnings.push(Warning::new(WarningCode::Replaced, "type"));
        answer_type = AnswerType::Text;
    }
    let (question, context) = match (filled(question), filled(context), filled(Some(free))) {
        (None, context, free) => (free, context),
        (question, Some(context), Some(free)) => (question, Some(alloc::format!("{free}\n{context}"))),
        (question, context, free) => (question, context.or(free)),
    };
    let question = question.ok_or_else(|| Trouble::new(FaultReason::MissingField, "question"))?;
    Ok(AskUser { question: question.trim().to_string(), answer_type, options, context })
}

/// Which field of a question a line without a key belongs to.
#[derive(Clone, Copy)]
enum Field {
    Free,
    Question,
    Options,
    Context,
}

fn invoke(target: AgentName, body: &str) -> Result<Invoke, Trouble> {
    let mut task = String::new();
    let mut context: Option<String> = None;
    for line in lines(body) {
        match (&mut context, line.value_of(CONTEXT)) {
            (None, Some(value)) => context = Some(value.to_string()),
            (None, None) => push_line(&mut task, line.text),
            (Some(context), _) => push_line(context, line.text),
        }
    }
    let task = filled(Some(task)).ok_or_else(|| Trouble::new(FaultReason::MissingField, "task"))?;
    Ok(Invoke { target, task, context: filled(context) })
}

fn deliver(target: AgentName, body: &str) -> Result<DeliverResult, Trouble> {
    let mut result_type = None;
    let mut content: Option<String> = None;
    for line in lines(body) {
        match (&mut content, line.value_of(TYPE), line.value_of(CONTENT)) {
            // Behind the content only a valid type is one: the content may have such lines of its own.
            (None, Some(word), _) if result_type.is_none() => {
                let known = ResultType::from_word(word);
                result_type = Some(known.ok_or_else(|| Trouble::new(FaultReason::UnknownValue, "type"))?);
            }
            (Some(_), Some(word), _) if result_type.is_none() && ResultType::from_word(word).is_some() => {
                result_type = ResultType::from_word(word);
            }
            (None, _, Some(value)) => content = Some(value.to_string()),
            (None, _, _) if line.text.trim().is_empty() => {}
            (content, _, _) => push_line(content.get_or_insert_default(), line.text),
        }
    }
    let content = filled(content).ok_or_else(|| Trouble::new(FaultReason::MissingField, "content"))?;
    Ok(DeliverResult { target, result_type: result_type.unwrap_or(ResultType::Message), content })
}

fn step(body: &str) -> StepComplete {
    let mut step = None;
    let mut summary: Option<String> = None;
    for line in lines(body) {
        match (line.value_of(STEP), line.value_of(SUMMARY)) {
            (Some(value), _) if step.is_none() && summary.is_none() => step = Some(value.to_string()),
            (_, Some(value)) if summary.is_none() => summary = Some(value.to_string()),
            _ => push_line(summary.get_or_insert_default(), line.text),
        }
    }
    let summary = filled(summary).map(|summary| summary.trim().to_string());
    StepComplete { step: filled(step), summary }
}

/// A line of a body.
struct Line<'a> {
    text: &'a str,
    /// Whether a key in it counts: not where the line is indented deeper than the message, and not in a code fence.
    /// What somebody pastes has keys of its own.
    may_have_key: bool,
    /// Whether it is indented deeper than the message.
    is_deeper: bool,
}

fn lines(body: &str) -> impl Iterator<Item = Line<'_>> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let base = body.lines().find(|line| !line.trim().is_empty()).map_or(0, indent);
    let mut fence: Option<Fence> = None;
    body.lines().map(move |text| {
        fence = match fence {
            Some(open) if open.closed_by(text) => None,
            Some(open) => Some(open),
            None => Fence::opened_by(text),
        };
        let is_deeper = indent(text) > base;
        Line { text, may_have_key: fence.is_none() && !is_deeper, is_deeper }
    })
}

impl<'a> Line<'a> {
    /// The value, if the line begins with one of the keys.
    fn value_of(&self, keys: &[&str]) -> Option<&'a str> {
        value_of(self.text, keys).filter(|_| self.may_have_key)
    }

    /// A dash list goes on with dashes and what is indented below them, an inline list until it is closed.
    fn goes_on_with_list(&self, so_far: &str) -> bool {
        let so_far = so_far.trim();
        if so_far.starts_with('[') {
            return !so_far.ends_with(']');
        }
        list::is_dash_line(self.text) || self.text.trim().is_empty() || (self.is_deeper && !so_far.is_empty())
    }
}

fn value_of<'a>(line: &'a str, keys: &[&str]) -> Option<&'a str> {
    // A Korean keyboard writes the colon wide as easily as narrow.
    let (key, value) = line.split_once([':', '：'])?;
    let key = key.trim();
    keys.iter().any(|known| known.eq_ignore_ascii_case(key)).then(|| value.trim())
}

fn push_line(text: &mut String, line: &str) {
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(line);
}

/// Text without blank lines around it, if there is any. The first line keeps its indentation: it may be code.
fn filled(text: Option<String>) -> Option<String> {
    let text = text?;
    let blank =
        text.split_inclusive('\n').take_while(|line| line.trim().is_empty()).map(str::len).sum::<usize>();
    let text = text[blank..].trim_end();
    (!text.is_empty()).then(|| text.to_string())
}
