//! What is told and what is left out, and the estimate against a real tokenizer.

use super::*;

fn section(heading: &str, lines: &[&str]) -> ContextSection {
    ContextSection { heading: heading.to_owned(), lines: lines.iter().map(ToString::to_string).collect() }
}

#[test]
fn whole_sections_are_told_until_the_bound() {
    let long = "- the error of a handler is a problem document with a code and a hint".to_owned();
    let sections: Vec<(ContextFile, ContextSection)> = (0..60)
        .map(|index| {
            let file = if index < 30 { ContextFile::TechStack } else { ContextFile::Preferences };
            (file, section(&format!("S{index}"), &[&long, &long, &long]))
        })
        .collect();
    let mut context = AgentContext::default();
    context.write(&sections, ContextLanguage::En);
    assert!(context.tokens <= CONTEXT_TOKENS_MAX, "{}", context.tokens);
    assert!(context.tokens > CONTEXT_TOKENS_MAX / 2, "{}", context.tokens);
    assert!(!context.left_out.is_empty() && context.text.contains("were left out"));
    assert!(context.text.contains("#### S0\n") && context.text.ends_with("if you need them.)\n"));
    assert_eq!(context.text.matches("### Tech Stack Decisions").count(), 1);
}

#[test]
fn nothing_on_record_is_no_text() {
    let mut context = AgentContext::default();
    context.write(&[], ContextLanguage::Ko);
    assert_eq!((context.text.as_str(), context.tokens), ("", 0));
}

#[test]
fn the_estimate_is_no_less_than_a_tokenizer_counts() {
    let tokenizer = tiktoken_rs::o200k_base().expect("it is part of the crate");
    for text in [
        "## Backend\n- Framework: Express 4\n- ORM: Prisma 5\n- Validation: Zod 3\n",
        "서버 오류는 공통 처리기에서 한 번만 기록하고, 사용자에게는 번역된 문장을 보여 준다.\n",
        "fn estimated_tokens(text: &str) -> usize { let mut tokens = 0; }\n\n\n    x",
        "https://example.org/a/b?c=d&e=1234567890 0xdeadbeef ~~~ === ||| \u{1f600}\u{1f600}",
        "Antidisestablishmentarianism supercalifragilistic xyzzyqwrtplkjhgfdsazxcvbnm",
        "日本語の設定と中文的说明",
    ] {
        let counted = tokenizer.encode_with_special_tokens(text).len();
        assert!(estimated_tokens(text) >= counted, "{text}: {} < {counted}", estimated_tokens(text));
    }
}
