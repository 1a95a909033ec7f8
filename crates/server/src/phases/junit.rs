//! Reads what tests write about themselves as `JUnit` XML: how many there were and which of them failed. It is read as
//! it is found in the wild, without a grammar; what is not understood counts for nothing.

use ostler_engine::phases::Junit;

/// The most names of failed tests.
const FAILED_MAX: usize = 20;

/// The longest name.
const NAME_CHARS_MAX: usize = 120;

/// Adds what a file says; false if there is no test suite in it.
pub(crate) fn add(total: &mut Junit, xml: &str) -> bool {
    let mut is_suite = false;
    let mut name: Option<String> = None;
    let mut has_failed = false;
    for tag in (Tags { rest: xml }) {
        let (element, attributes) =
            tag.split_at(tag.find(|it: char| it.is_whitespace()).unwrap_or(tag.len()));
        match element.trim_end_matches('/') {
            "testsuite" | "testsuites" => is_suite = true,
            "testcase" => {
                total.tests += 1;
                (name, has_failed) = (Some(case_name(attributes)), false);
            }
            failed @ ("failure" | "error") if name.is_some() && !has_failed => {
                has_failed = true;
                *(if failed == "failure" { &mut total.failures } else { &mut total.errors }) += 1;
                if total.failed.len() < FAILED_MAX {
                    total.failed.extend(name.clone());
                }
            }
            "skipped" if name.is_some() => total.skipped += 1,
            "/testcase" => name = None,
            _ => {}
        }
        if element == "testcase" && tag.ends_with('/') {
            name = None;
        }
    }
    is_suite
}

fn case_name(attributes: &str) -> String {
    let name = attribute(attributes, "name").unwrap_or_default();
    let class = attribute(attributes, "classname").unwrap_or_default();
    let whole = if class.is_empty() { name } else { format!("{class}.{name}") };
    whole.chars().take(NAME_CHARS_MAX).collect()
}

fn attribute(text: &str, wanted: &str) -> Option<String> {
    let mut rest = text;
    loop {
        let (name, after) = rest.split_once('=')?;
        let after = after.trim_start();
        let quote = after.chars().next().filter(|it| matches!(it, '"' | '\''))?;
        let (value, next) = after[1..].split_once(quote)?;
        if name.trim() == wanted {
            let plain = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")];
            return Some(plain.iter().fold(value.to_owned(), |text, (from, to)| text.replace(from, to)));
        }
        rest = next;
    }
}

/// What stands between angle brackets, without comments, declarations and character data.
struct Tags<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Tags<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        loop {
            let at = self.rest.find('<')?;
            let inside = &self.rest[at + 1..];
            let skipped = [("!--", "-->"), ("![CDATA[", "]]>"), ("?", "?>"), ("!", ">")];
            if let Some((_, end)) = skipped.iter().find(|(begin, _)| inside.starts_with(begin)) {
                self.rest = inside.split_once(end)?.1;
                continue;
            }
            let end = end_of_tag(inside)?;
            let (tag, rest) = inside.split_at(end);
            self.rest = &rest[1..];
            return Some(tag.trim());
        }
    }
}

/// The bracket that closes a tag: one in quotation marks does not.
fn end_of_tag(text: &str) -> Option<usize> {
    let mut quote = None;
    text.char_indices().find_map(|(at, it)| {
        match quote {
            Some(open) if it == open => quote = None,
            None if matches!(it, '"' | '\'') => quote = Some(it),
            None if it == '>' => return Some(at),
            _ => {}
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_what_is_there_and_not_what_is_claimed() {
        let xml = r#"<?xml version="1.0"?><!-- <testcase/> -->
            <testsuites tests="99"><testsuite name="a" tests="99" failures="0">
            <testcase classname="shop.order" name="adds &lt;two&gt;"/>
            <testcase name="x > y"><failure message="a > b"><![CDATA[<error/>]]></failure><failure/></testcase>
            <testcase name='e'><error/></testcase>
            <testcase name="s"><skipped/></testcase>
            </testsuite></testsuites>"#;
        let mut junit = Junit::default();
        assert!(add(&mut junit, xml));
        assert_eq!((junit.tests, junit.failures, junit.errors, junit.skipped), (4, 1, 1, 1));
        assert_eq!(junit.failed, ["x > y", "e"]);
    }

    #[test]
    fn what_is_no_report_counts_for_nothing() {
        for text in ["", "<project><a name=", "<testcase", "not xml", "<!-- <testsuite>", "<a>\u{0}<b x='>'>"]
        {
            let mut junit = Junit::default();
            assert!(!add(&mut junit, text), "{text}");
            assert_eq!(junit.tests, 0, "{text}");
        }
    }
}
