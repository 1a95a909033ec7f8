//! The block dialect: `key: value` lines between an opening and a closing tag.

use alloc::{
    borrow::Cow,
    collections::BTreeMap,
    string::{String, ToString},
    vec::Vec,
};

use super::{list, open::Reading, open::Trouble, tag::BlockTag};
use crate::{
    fault::{FaultReason, Warning, WarningCode},
    signal::{
        DependencyRequest, ErrorReport, ErrorSeverity, QuestionCategory, Recovery, Signal, UserQuestion,
        Vocabulary,
    },
};

/// Reads the body of a closed block.
pub(crate) fn read(tag: BlockTag, body: &str) -> Reading {
    let keys: &[&'static str] = match tag {
        BlockTag::DependencyRequest => &["type", "name", "description", "required", "default"],
        BlockTag::UserQuestion => &["category", "question", "options", "default", "required"],
        BlockTag::Error => &["type", "message", "details", "recovery"],
    };
    let mut fields = match Fields::parse(keys, body) {
        Ok(fields) => fields,
        Err(trouble) => return Reading::trouble(trouble),
    };
    let signal = match tag {
        BlockTag::DependencyRequest => dependency(&mut fields).map(Signal::DependencyRequest),
        BlockTag::UserQuestion => question(&mut fields).map(Signal::UserQuestion),
        BlockTag::Error => error(&mut fields).map(Signal::Error),
    };
    let Fields { extra, mut warnings, .. } = fields;
    warnings.extend(extra.keys().map(|key| Warning::new(WarningCode::UnknownKey, key)));
    Reading { signal, extra, warnings }
}

fn dependency(fields: &mut Fields<'_>) -> Result<DependencyRequest, Trouble> {
    Ok(DependencyRequest {
        dependency_type: fields.word("type")?,
        name: fields.required("name")?.into_owned(),
        description: fields.required("description")?.into_owned(),
        required: truth(&fields.required("required")?).ok_or_else(|| unknown("required"))?,
        default: fields.optional("default").map(Cow::into_owned),
    })
}

fn question(fields: &mut Fields<'_>) -> Result<UserQuestion, Trouble> {
    let category = fields.word("category")?;
    let question = fields.required("question")?.into_owned();
    let mut options = list::parse(&fields.optional("options").unwrap_or_default())
        .ok_or_else(|| Trouble::new(FaultReason::UnreadableList, "options"))?;
    match category {
        QuestionCategory::Choice if options.is_empty() => {
            return Err(Trouble::new(FaultReason::MissingField, "options"));
        }
        QuestionCategory::Confirmation if options.is_empty() => {
            options = ["Yes", "No"].map(ToString::to_string).to_vec();
        }
        _ => {}
    }
    let default = fields.optional("default").map(Cow::into_owned);
    let default = default.map(|default| fields.settle_default(default, &mut options));
    let required = match fields.optional("required") {
        Some(word) => truth(&word).ok_or_else(|| unknown("required"))?,
        None => {
            fields.warn(WarningCode::Assumed, "required");
            true
        }
    };
    Ok(UserQuestion { category, question, options, default, required })
}

fn error(fields: &mut Fields<'_>) -> Result<ErrorReport, Trouble> {
    let severity = fields.word("type")?;
    let message = fields.required("message")?.into_owned();
    let details = fields.optional("details").map(Cow::into_owned);
    let recovery = match fields.optional("recovery") {
        Some(word) => match Recovery::from_word(&word).ok_or_else(|| unknown("recovery"))? {
            Recovery::PauseAndRetry if severity == ErrorSeverity::Fatal => {
                fields.warn(WarningCode::Replaced, "recovery");
                Recovery::NotifyUser
            }
            recovery => recovery,
        },
        None => {
            fields.warn(WarningCode::Assumed, "recovery");
            Recovery::NotifyUser
        }
    };
    Ok(ErrorReport { severity, message, details, recovery })
}

fn truth(word: &str) -> Option<bool> {
    match word {
        _ if word.eq_ignore_ascii_case("true") => Some(true),
        _ if word.eq_ignore_ascii_case("false") => Some(false),
        _ => None,
    }
}

fn unknown(field: &str) -> Trouble {
    Trouble::new(FaultReason::UnknownValue, field)
}

/// The fields of a block, as slices of its body as far as possible.
struct Fields<'a> {
    /// The keys of this block; a value is gone once it was asked for.
    known: Vec<(&'static str, Option<Cow<'a, str>>)>,
    extra: BTreeMap<String, String>,
    warnings: Vec<Warning>,
}

impl<'a> Fields<'a> {
    fn parse(keys: &[&'static str], body: &'a str) -> Result<Fields<'a>, Trouble> {
        let known = keys.iter().map(|key| (*key, None)).collect();
        let mut fields = Fields { known, extra: BTreeMap::new(), warnings: Vec::new() };
        let mut current: Option<Draft<'a>> = None;
        let mut start = 0;
        for line in body.split_inclusive('\n') {
            let end = start + line.len();
            match &mut current {
                Some(draft) if draft.goes_on_with(line) => {
                    draft.rest_end = end;
                    draft.in_list &= !line.trim_end().ends_with(']');
                }
                None if line.trim().is_empty() => {}
                _ => {
                    if let Some(draft) = current.replace(Draft::begin(line, end)?) {
                        fields.add(&draft, body)?;
                    }
                }
            }
            start = end;
        }
        current.map_or(Ok(()), |draft| fields.add(&draft, body))?;
        Ok(fields)
    }

    fn add(&mut self, draft: &Draft<'a>, body: &'a str) -> Result<(), Trouble> {
        let value = draft.value(body);
        let before = match self.known.iter_mut().find(|(key, _)| key.eq_ignore_ascii_case(draft.key)) {
            Some((_, slot)) => slot.replace(value).map(drop),
            None => self.extra.insert(draft.key.to_ascii_lowercase(), value.into_owned()).map(drop),
        };
        match before {
            None => Ok(()),
            Some(()) => Err(Trouble::new(FaultReason::DuplicateKey, &draft.key.to_ascii_lowercase())),
        }
    }

    /// A value that may be absent; one without text counts as absent.
    fn optional(&mut self, key: &str) -> Option<Cow<'a, str>> {
        let (_, slot) = self.known.iter_mut().find(|(known, _)| *known == key)?;
        slot.take().filter(|value| !value.is_empty())
    }

    fn required(&mut self, key: &str) -> Result<Cow<'a, str>, Trouble> {
        self.optional(key).ok_or_else(|| Trouble::new(FaultReason::MissingField, key))
    }

    fn word<T: Vocabulary>(&mut self, key: &str) -> Result<T, Trouble> {
        T::from_word(&self.required(key)?).ok_or_else(|| unknown(key))
    }

    fn warn(&mut self, code: WarningCode, field: &str) {
        self.warnings.push(Warning::new(code, field));
    }

    /// The default in the spelling of the options, among which it has to be.
    fn settle_default(&mut self, default: String, options: &mut Vec<String>) -> String {
        if options.is_empty() || options.contains(&default) {
            return default;
        }
        let folded = default.to_lowercase();
        if let Some(option) = options.iter().find(|option| option.to_lowercase() == folded) {
            return option.clone();
        }
        self.warn(WarningCode::DefaultAdded, "default");
        options.push(default.clone());
        default
    }
}

/// A field: its first line and the lines that go on with it.
struct Draft<'a> {
    key: &'a str,
    indent: usize,
    first: &'a str,
    /// Whether an inline list was begun and not closed.
    in_list: bool,
    /// Where in the body the lines behind the first stand.
    rest_start: usize,
    rest_end: usize,
}

impl<'a> Draft<'a> {
    /// Begins with a line that ends at `end` in the body.
    fn begin(line: &'a str, end: usize) -> Result<Self, Trouble> {
        let is_key = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
        if let Some((key, value)) = line.split_once(':') {
            let key = key.trim();
            if !key.is_empty() && key.chars().all(is_key) {
                let first = value.trim();
                let in_list =
                    key.eq_ignore_ascii_case("options") && first.starts_with('[') && !first.ends_with(']');
                return Ok(Draft {
                    key,
                    indent: indent(line),
                    first,
                    in_list,
                    rest_start: end,
                    rest_end: end,
                });
            }
        }
        let shown: String = line.trim().chars().take(80).collect();
        Err(Trouble::new(FaultReason::NotKeyValue, &shown))
    }

    /// A line that is indented deeper goes on, and so do a list that is not indented and one that is not closed.
    fn goes_on_with(&self, line: &str) -> bool {
        let indent = indent(line);
        indent > self.indent
            || indent == line.len()
            || self.in_list
            || (indent == self.indent && self.first.is_empty() && list::is_dash_line(line))
    }

    /// The lines joined, without the indent that those behind the first have in common.
    fn value(&self, body: &'a str) -> Cow<'a, str> {
        if self.rest_start == self.rest_end {
            return Cow::Borrowed(self.first);
        }
        let rest = body[self.rest_start..self.rest_end].trim_end();
        let filled = rest.lines().filter(|line| !line.trim().is_empty());
        let common = filled.map(indent).min().unwrap_or(0);
        let mut value = String::with_capacity(self.first.len() + 1 + rest.len());
        value.push_str(self.first);
        for line in rest.lines() {
            if !value.is_empty() {
                value.push('\n');
            }
            value.push_str(line.get(common..).unwrap_or_default().trim_end());
        }
        Cow::Owned(value)
    }
}

/// Bytes of white space before the text.
fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}
