//! The block dialect: `key: value` lines between an opening and a closing tag.

use alloc::{
    borrow::Cow,
    collections::BTreeMap,
    string::{String, ToString},
    vec::Vec,
};

use memchr::{memchr, memchr_iter};

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
    let mut fields = match Fields::parse(tag, body) {
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

/// The most keys that a kind of block has.
const KEYS_MAX: usize = 5;

/// The fields of a block, as slices of its body as far as possible.
struct Fields<'a> {
    /// The keys of this kind of block, and their values as long as they were not asked for.
    keys: &'static [&'static str],
    values: [Option<Cow<'a, str>>; KEYS_MAX],
    extra: BTreeMap<String, String>,
    warnings: Vec<Warning>,
}

impl<'a> Fields<'a> {
    fn parse(tag: BlockTag, body: &'a str) -> Result<Fields<'a>, Trouble> {
        let keys: &[&str] = match tag {
            BlockTag::DependencyRequest => &["type", "name", "description", "required", "default"],
            BlockTag::UserQuestion => &["category", "question", "options", "default", "required"],
            BlockTag::Error => &["type", "message", "details", "recovery"],
        };
        // An agent prints what a program reported to it, whose lines are not indented: "Require stack:", "}".
        let free: &[&str] = match tag {
            BlockTag::Error => &["message", "details"],
            BlockTag::DependencyRequest | BlockTag::UserQuestion => &[],
        };
        let is_among = |keys: &[&str], key: &str| keys.iter().any(|known| known.eq_ignore_ascii_case(key));
        let is_field = |line: &str| split(line).is_some_and(|(key, _)| is_among(keys, key));
        let values = [const { None }; KEYS_MAX];
        let mut fields = Fields { keys, values, extra: BTreeMap::new(), warnings: Vec::new() };
        let mut current: Option<Draft<'a>> = None;
        let mut start = 0;
        // Each line of a body ends with a newline.
        for newline in memchr_iter(b'\n', body.as_bytes()) {
            let line = &body[start..newline];
            let end = newline + 1;
            match &mut current {
                Some(draft) if draft.goes_on_with(line) || (is_among(free, draft.key) && !is_field(line)) => {
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
        let before = match self.keys.iter().position(|key| key.eq_ignore_ascii_case(draft.key)) {
            Some(at) => self.values[at].replace(value).map(drop),
            None => self.extra.insert(draft.key.to_ascii_lowercase(), value.into_owned()).map(drop),
        };
        match before {
            None => Ok(()),
            Some(()) => Err(Trouble::new(FaultReason::DuplicateKey, &draft.key.to_ascii_lowercase())),
        }
    }

    /// A value that may be absent; one without text counts as absent.
    fn optional(&mut self, key: &str) -> Option<Cow<'a, str>> {
        let at = self.keys.iter().position(|known| *known == key)?;
        self.values[at].take().filter(|value| !value.is_empty())
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
        if let Some((key, first)) = split(line) {
            let in_list =
                key.eq_ignore_ascii_case("options") && first.starts_with('[') && !first.ends_with(']');
            return Ok(Draft { key, indent: indent(line), first, in_list, rest_start: end, rest_end: end });
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
            value.push_str(dedent(line, common).trim_end());
        }
        Cow::Owned(value)
    }
}

/// The key and the value of a `key: value` line.
fn split(line: &str) -> Option<(&str, &str)> {
    let colon = memchr(b':', line.as_bytes())?;
    let (key, first) = (line[..colon].trim_ascii(), trim(&line[colon + 1..]));
    is_key(key).then_some((key, first))
}

fn is_key(key: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    !key.is_empty()
        && (key.bytes().all(is_plain) || key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-')))
}

/// Takes off as much white space as there is, up to so many bytes.
fn dedent(line: &str, bytes: usize) -> &str {
    let blank = line.char_indices().take_while(|(at, c)| at + c.len_utf8() <= bytes && c.is_whitespace());
    &line[blank.last().map_or(0, |(at, c)| at + c.len_utf8())..]
}

/// What `str::trim` does, but quickly where both ends are ASCII.
fn trim(text: &str) -> &str {
    match text.trim_ascii() {
        inner
            if inner.as_bytes().first().is_some_and(u8::is_ascii)
                && inner.as_bytes().last().is_some_and(u8::is_ascii) =>
        {
            inner
        }
        inner => inner.trim(),
    }
}

/// Bytes of white space before the text.
fn indent(line: &str) -> usize {
    let ascii = line.len() - line.trim_ascii_start().len();
    match line.as_bytes().get(ascii) {
        Some(byte) if byte.is_ascii() => ascii,
        _ => line.len() - line.trim_start().len(),
    }
}
