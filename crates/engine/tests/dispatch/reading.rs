//! Words, sentences, questions and negations of a request.

use std::fmt::Write as _;

use expect_test::{Expect, expect};
use ostler_engine::dispatch::{RequestText, WordForm};

#[expect(clippy::needless_pass_by_value, reason = "an inline snapshot is written in the call")]
#[track_caller]
fn check(request: &str, expect: Expect) {
    let text = RequestText::read(request);
    let mut said = String::new();
    for sentence in &text.sentences {
        let mut line = String::from(if sentence.is_question { "question:" } else { "work:" });
        for word in &text.words[sentence.words.clone()] {
            let form = match word.form {
                WordForm::Plain => "",
                WordForm::Code => "code ",
                WordForm::File => "file ",
                WordForm::Quoted => "quoted ",
            };
            let not = if word.is_negated { "not " } else { "" };
            write!(line, " [{not}{form}{}]", word.text).ok();
        }
        writeln!(said, "{line}").ok();
    }
    expect.assert_eq(&said);
}

#[test]
fn scripts_make_separate_words() {
    check(
        "OAuth로그인을 API에 추가",
        expect![[r#"
        work: [oauth] [로그인을] [api] [에] [추가]
    "#]],
    );
}

#[test]
fn names_of_code_and_files_are_no_words() {
    check(
        "`loginUser` 함수와 src/auth/login.ts, getUser(), user_id, /users, README.md",
        expect![[r#"
        work: [code loginuser] [함수와] [file src/auth/login.ts] [code getuser()] [code user_id] [code /users] [file readme.md]
    "#]],
    );
    check(
        "Use next.js 14.2 with GitHub, OAuth and PostgreSQL",
        expect![[r#"
        work: [use] [next.js] [14.2] [with] [github] [oauth] [and] [postgresql]
    "#]],
    );
}

#[test]
fn quotation_is_no_word_and_an_apostrophe_quotes_nothing() {
    check(
        "버튼을 '로그인'으로 바꿔줘. users don't see “new tests”",
        expect![[r#"
        work: [버튼을] [quoted 로그인] [으로] [바꿔줘]
        work: [users] [don't] [see] [quoted new] [quoted tests]
    "#]],
    );
}

#[test]
fn negation_covers_its_phrase_and_no_more() {
    check(
        "로그인은 건드리지 말고 회원가입 페이지만 만들어줘",
        expect![[r#"
        work: [not 로그인은] [not 건드리지] [not 말고] [회원가입] [페이지만] [만들어줘]
    "#]],
    );
    check(
        "테스트 없이 API를 구현해줘",
        expect![[r#"
        work: [not 테스트] [not 없이] [api] [를] [구현해줘]
    "#]],
    );
    check(
        "Don't refactor anything, just fix the crash",
        expect![[r#"
        work: [not don't] [not refactor] [not anything] [just] [fix] [the] [crash]
    "#]],
    );
    check(
        "Build the page without touching the API but add tests",
        expect![[r#"
        work: [build] [the] [page] [not without] [not touching] [not the] [not api] [but] [add] [tests]
    "#]],
    );
}

#[test]
fn fault_is_no_negation() {
    check(
        "The menu doesn't open and is not working",
        expect![[r#"
        work: [the] [menu] [doesn't] [open] [and] [is] [not] [working]
    "#]],
    );
    check(
        "메뉴가 열리지 않아요",
        expect![[r#"
        work: [메뉴가] [열리지] [않아요]
    "#]],
    );
}

#[test]
fn polite_order_is_no_question() {
    check(
        "Could you add a dark mode?",
        expect![[r#"
        work: [could] [you] [add] [a] [dark] [mode]
    "#]],
    );
    check(
        "로그인 화면을 만들어 줄 수 있어?",
        expect![[r#"
        work: [로그인] [화면을] [만들어] [줄] [수] [있어]
    "#]],
    );
    check(
        "Can you explain the cache?",
        expect![[r#"
        question: [can] [you] [explain] [the] [cache]
    "#]],
    );
    check(
        "왜 안 되지? 고쳐줘",
        expect![[r#"
        question: [왜] [안] [되지]
        work: [고쳐줘]
    "#]],
    );
    check(
        "결제 API에서 에러가 나요",
        expect![[r#"
        work: [결제] [api] [에서] [에러가] [나요]
    "#]],
    );
}

#[test]
fn any_text_is_read_to_its_end() {
    for text in [
        "",
        "?",
        "```",
        "'",
        "\u{0}",
        "…",
        "\u{1F600}",
        "가'나",
        "/",
        "./",
        "a\u{301}",
        "“",
        "`",
        "((((",
        "ㄱㄴ",
        "\u{202e}x",
    ] {
        let read = RequestText::read(text);
        assert!(read.words.iter().all(|word| text.get(word.span.clone()).is_some()), "{text:?}");
    }
    let long = "버튼 ".repeat(20_000);
    assert!(RequestText::read(&long).words.len() < 4_000);
}
