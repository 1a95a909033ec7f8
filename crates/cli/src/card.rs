//! A request as a card: who asks what, what can be chosen, and how to answer.

use ostler_server::api::{MarkView, RequestView};

use crate::{
    clock,
    commands::usage,
    permission,
    screen::{Screen, Style, add_line, one_line, safe},
    sessions, tool_call,
    words::{Key, Words},
};

/// The whole card, with how to answer it later.
pub(crate) fn card(words: Words, screen: Screen, request: &RequestView) -> String {
    let mut said = question(words, screen, request);
    screen.add_text(&mut said, 2, Style::Dim, &how(words, request));
    said
}

/// How to answer it later, or to decline it.
pub(crate) fn how(words: Words, request: &RequestView) -> String {
    let how = how_to_answer(words, request);
    let ask = &request.ask;
    let skip = if ask.default.is_some() { Key::OrSkipForDefault } else { Key::OrSkip };
    if ask.skippable { format!("{how}{}", words.sentence(skip)) } else { how }
}

fn how_to_answer(words: Words, request: &RequestView) -> String {
    let id = &request.id;
    if request.ask.kind == "review" {
        words.say(Key::AnswerReview, &[("id", id)])
    } else if let Some(raise) = raise(request) {
        words.say(raise, &[("id", id)])
    } else if has_options(request) {
        let first = request.ask.options.iter().position(|option| !is_impossible(request, option));
        words.say(Key::AnswerByNumber, &[("id", id), ("number", &(first.unwrap_or_default() + 1))])
    } else if wants_values(request) {
        words.say(Key::AnswerValue, &[("id", id)])
    } else {
        words.say(Key::AnswerFreely, &[("id", id)])
    }
}

/// Tells options that lead nowhere: a package that cannot be installed here is not offered. The others keep their
/// numbers.
fn is_impossible(request: &RequestView, option: &str) -> bool {
    let form = request.ask.form.as_ref();
    option == "approve" && form.is_some_and(|form| form.problem.is_some())
}

/// Whether there are options, also such that are too long for a list.
fn has_options(request: &RequestView) -> bool {
    !request.ask.options.is_empty() || request.cut.iter().any(|cut| cut.field == "/ask/options")
}

/// What is asked and can be chosen, in one line.
pub(crate) fn in_a_line(words: Words, request: &RequestView) -> String {
    let text = one_line(&text(words, request));
    let is_review = request.ask.kind == "review";
    let options = request.ask.options.iter().filter(|_| !is_review).enumerate();
    let options = options.filter(|(_, option)| !is_impossible(request, option));
    let options: Vec<String> = options
        .map(|(index, option)| format!("{} {}", index + 1, option_said(words, request, option)))
        .collect();
    if options.is_empty() { text } else { format!("{text} ({})", options.join(", ")) }
}

/// Who asks what, and what can be chosen.
pub(crate) fn question(words: Words, screen: Screen, request: &RequestView) -> String {
    let ask = &request.ask;
    let mut head = vec![
        one_line(request.role.as_ref().unwrap_or(&request.agent)),
        sessions::named(&request.session, request.session_name.as_deref()),
        one_line(&request.project.name),
        clock::since(words, request.opened_at_ms),
        words.sentence(kind(&ask.kind)).to_owned(),
    ];
    if matches!(ask.kind.as_str(), "error" | "fault") {
        let words = ["type", "recovery"].iter().filter_map(|name| ask.fields[*name].as_str());
        head.extend(words.map(one_line));
    }
    if !ask.required {
        head.push(words.sentence(Key::PromptOptional).to_owned());
    }
    if let (Some(retry), Some(at_ms)) = (request.retry, request.expires_at_ms) {
        head.push(words.say(Key::RetriesAt, &[("time", &clock::local(at_ms)), ("n", &retry)]));
    } else if request.expired {
        head.push(words.sentence(Key::Expired).to_owned());
    } else if let Some(at_ms) = request.expires_at_ms {
        head.push(words.say(Key::ExpiresIn, &[("time", &clock::local(at_ms))]));
    }
    let mut said = headed(screen, &request.id, &head.join(" · "));
    for line in text(words, request).lines() {
        screen.add_text(&mut said, 2, Style::Bold, line);
    }
    let described = match &ask.call {
        // The call says all that its input does.
        Some(call) => {
            said.push_str(&tool_call::lines(screen, call));
            ask.fields["description"].as_str()
        }
        None => ask.context.as_deref(),
    };
    for line in described.iter().flat_map(|context| context.lines()) {
        screen.add_text(&mut said, 2, Style::Dim, &safe(line));
    }
    if let Some(chars) = request.cut.iter().map(|cut| cut.chars).max() {
        let cut = words.say(Key::CutText, &[("n", &usage::grouped(chars)), ("id", &request.id)]);
        screen.add_text(&mut said, 2, Style::Attention, &cut);
    }
    // What can be decided about a phase is no list to choose from: an approval names a tree.
    let options = if ask.kind == "review" { &[] } else { ask.options.as_slice() };
    for (index, option) in options.iter().enumerate() {
        let is_default = ask.default.as_ref() == Some(option);
        let mark = if is_default { format!("  ({})", words.sentence(Key::Default)) } else { String::new() };
        let mark = screen.style(Style::Dim, &mark);
        if is_impossible(request, option) {
            continue;
        }
        add_line(&mut said, 4, &format!("{}  {}{mark}", index + 1, option_said(words, request, option)));
    }
    if let Some(default) = ask.default.as_ref().filter(|default| !ask.options.contains(default)) {
        add_line(&mut said, 4, &format!("{}: {}", words.sentence(Key::Default), one_line(default)));
    }
    if let Some(mark) = &request.mark {
        screen.add_text(&mut said, 2, Style::Attention, &marked(words, mark));
    }
    if request.abandoned {
        screen.add_text(&mut said, 2, Style::Attention, words.sentence(Key::AskerGone));
    }
    for line in form(words, request) {
        screen.add_text(&mut said, 2, Style::Plain, &line);
    }
    if request.trust == "plain" && matches!(ask.kind.as_str(), "dependency" | "permission") {
        screen.add_text(&mut said, 2, Style::Dim, words.sentence(Key::SaidPlain));
    }
    said
}

/// The first lines: the id, and behind it who asks.
fn headed(screen: Screen, id: &str, head: &str) -> String {
    let indent = id.len() + 4;
    let mut said = screen.style(Style::Attention, &format!("◆ {id}")) + "  ";
    for (index, line) in screen.wrapped(indent, head).iter().enumerate() {
        add_line(&mut said, if index == 0 { 0 } else { indent }, &screen.style(Style::Dim, line));
    }
    said
}

/// An option as it can be read: a permission rule says exactly what it allows.
fn option_said(words: Words, request: &RequestView, option: &str) -> String {
    match request.ask.rules.iter().find(|rule| rule.option == option) {
        Some(rule) => words.say(Key::RuleOption, &[("rule", &permission::said(words, rule))]),
        None => one_line(option),
    }
}

/// The value that stands for an answer in an example.
pub(crate) fn example(request: &RequestView) -> &'static str {
    if !request.ask.options.is_empty() {
        "1"
    } else if wants_values(request) {
        ""
    } else {
        "\"…\""
    }
}

/// Where the same stands that is asked.
pub(crate) fn marked(words: Words, mark: &MarkView) -> String {
    let about = mark.about.as_deref().map(one_line);
    let tool = mark.tool.as_deref().map(one_line);
    let place = match (mark.source.as_str(), about, tool) {
        ("tool_output", Some(about), Some(tool)) => {
            words.say(Key::MarkToolUsed, &[("about", &about), ("tool", &tool)])
        }
        ("tool_output", None, Some(tool)) => words.say(Key::MarkTool, &[("tool", &tool)]),
        ("tool_output", _, None) => words.sentence(Key::MarkSomeTool).to_owned(),
        ("check", Some(about), _) => words.say(Key::MarkCheck, &[("about", &about)]),
        ("sub_agent", ..) => words.sentence(Key::MarkSubAgent).to_owned(),
        ("message", ..) => words.sentence(Key::MarkMessage).to_owned(),
        ("prompt", ..) => words.sentence(Key::MarkPrompt).to_owned(),
        (other, ..) => one_line(other),
    };
    words.say(Key::Marked, &[("place", &place)])
}

/// What is asked, where the server has no words for it.
fn text(words: Words, request: &RequestView) -> String {
    let field = |name: &str| request.ask.fields[name].as_u64().unwrap_or(0);
    match request.ask.kind.as_str() {
        "steered" if request.ask.fields["what"] == "displaced" => {
            words.sentence(Key::AskDisplacedText).to_owned()
        }
        "steered" => words.sentence(Key::AskSteeredText).to_owned(),
        "time_over" => {
            words.say(Key::AskTimeOverText, &[("time", &clock::span(words, field("time_ms_max")))])
        }
        "cost_over" => {
            let [cost, max] = ["cost_nusd", "cost_nusd_max"].map(|name| usage::dollars_of(field(name)));
            words.say(Key::AskCostOverText, &[("cost", &cost), ("max", &max)])
        }
        "tokens_over" => {
            let [tokens, max] = ["tokens", "tokens_max"].map(|name| usage::grouped(field(name)));
            words.say(Key::AskTokensOverText, &[("tokens", &tokens), ("max", &max)])
        }
        "review" => {
            let has_passed = request.ask.fields["passed"] == true;
            let key = if has_passed { Key::AskReviewText } else { Key::AskReviewFailed };
            let name = one_line(request.ask.fields["name"].as_str().unwrap_or_default());
            words.say(key, &[("phase", &field("phase")), ("name", &name)])
        }
        _ => match &request.ask.call {
            Some(call) => tool_call::heading(&one_line(&request.ask.text), call),
            None => safe(&request.ask.text).into_owned(),
        },
    }
}

/// How a budget is raised.
fn raise(request: &RequestView) -> Option<Key> {
    match request.ask.kind.as_str() {
        "time_over" => Some(Key::AnswerRaiseTime),
        "cost_over" => Some(Key::AnswerRaiseCost),
        "tokens_over" => Some(Key::AnswerRaiseTokens),
        _ => None,
    }
}

/// Whether values are asked for: they are typed into a form, and never given as words.
pub(crate) fn wants_values(request: &RequestView) -> bool {
    let kind = request.ask.fields["type"].as_str();
    request.ask.kind == "dependency" && matches!(kind, Some("api_key" | "env_variable" | "service"))
}

/// What is wanted, or what approval does.
fn form(words: Words, request: &RequestView) -> Vec<String> {
    let Some(form) = &request.ask.form else { return Vec::new() };
    let names: Vec<&str> = form.fields.iter().map(|field| field.name.as_str()).collect();
    let is_service = form.other_names && !names.is_empty();
    let wants = is_service.then(|| words.say(Key::FormWants, &[("names", &one_line(&names.join(", ")))]));
    let command = form.command.join(" ");
    let runs =
        (!command.is_empty()).then(|| words.say(Key::FormCommand, &[("command", &one_line(&command))]));
    let problem = form.problem.as_ref();
    let problem = problem.map(|it| words.say(Key::FormProblem, &[("problem", &one_line(it))]));
    let writes =
        form.manifest.as_ref().map(|file| words.say(Key::FormManifest, &[("file", &one_line(file))]));
    let name = one_line(&request.ask.text);
    let unseen = form.unseen.then(|| words.say(Key::FormUnseen, &[("name", &name)]));
    [wants, runs, writes, unseen, problem].into_iter().flatten().collect()
}

/// What has become of a package that was approved.
pub(crate) fn install(words: Words, request: &RequestView) -> Option<String> {
    let name = one_line(&request.ask.text);
    let install = request.install.as_ref()?;
    Some(match install.state.as_str() {
        "running" => words.say(Key::InstallRuns, &[("name", &name)]),
        "installed" => words.say(Key::Installed, &[("name", &name)]),
        _ => {
            let reason = safe(install.reason.as_deref().unwrap_or("?")).into_owned();
            words.say(Key::NotInstalled, &[("name", &name), ("reason", &reason)])
        }
    })
}

fn kind(word: &str) -> Key {
    match word {
        "dependency" => Key::AskDependency,
        "error" => Key::AskError,
        "fault" => Key::AskFault,
        "permission" => Key::AskPermission,
        "stall" => Key::AskStall,
        "steered" => Key::AskSteered,
        "time_over" => Key::AskTimeOver,
        "cost_over" => Key::AskCostOver,
        "tokens_over" => Key::AskTokensOver,
        "review" => Key::AskReview,
        _ => Key::AskQuestion,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use expect_test::expect;
    use serde_json::json;

    use super::*;
    use crate::words::Language;

    /// A request with two options.
    pub(crate) fn request() -> RequestView {
        serde_json::from_value(json!({
            "id": "q_7", "session": "s_3", "run": "r_2", "agent": "claude", "trust": "speech",
            "project": { "id": "p_1", "name": "shop-app", "root": "/home/me/shop-app", "git": true },
            "ask": {
                "kind": "question", "text": "Which database\u{1b}[2J would you prefer?", "context": null,
                "options": ["PostgreSQL", "MySQL"], "default": "PostgreSQL", "required": true,
                "skippable": true, "fields": {},
            },
            "opened_at_ms": clock::now_ms() - 245_000, "expires_at_ms": null, "expired": false,
            "settled": null, "delivery": "nothing",
        }))
        .expect("the form of a request")
    }

    #[test]
    fn only_what_is_taken_is_offered() {
        let mut request = request();
        request.ask.kind = "dependency".into();
        request.ask.options = Vec::new();
        request.ask.default = None;
        request.ask.skippable = false;
        for (kind, value, how) in [
            ("api_key", "", "Answer: ostler answer q_7 (you are asked"),
            ("env_variable", "", "Answer: ostler answer q_7 (you are asked"),
            ("service", "", "Answer: ostler answer q_7 (you are asked"),
            ("file", "\"…\"", "Answer: ostler answer q_7 \"…\"\n"),
        ] {
            request.ask.fields = json!({ "type": kind });
            assert_eq!(example(&request), value, "{kind}");
            let card = card(Words::new(Language::En), Screen::plain(), &request);
            assert!(card.contains(how), "{kind}: {card}");
        }
    }

    #[test]
    fn a_package_that_cannot_be_installed_is_not_offered() {
        let mut request = request();
        request.ask.kind = "dependency".into();
        request.ask.fields = json!({ "type": "package" });
        request.ask.options = vec!["approve".into(), "deny".into()];
        request.ask.default = None;
        request.ask.skippable = false;
        let offered = |request: &RequestView| card(Words::new(Language::En), Screen::plain(), request);
        assert!(offered(&request).contains("    1  approve\n    2  deny\n"), "{}", offered(&request));
        let form = json!({ "fields": [], "other_names": false, "problem": "a local file" });
        request.ask.form = serde_json::from_value(form).expect("a form");
        let said = offered(&request);
        assert!(!said.contains("approve") && said.contains("    2  deny\n"), "{said}");
        assert!(said.contains("Answer: ostler answer q_7 2\n"), "{said}");
        assert_eq!(in_a_line(Words::new(Language::En), &request).matches("2 deny").count(), 1);
    }

    #[test]
    fn a_card_of_an_error_says_how_bad_it_is_and_what_the_agent_wants_done() {
        let mut request = request();
        request.ask.kind = "fault".into();
        request.ask.text = "Invalid protocol format: ERROR was never closed".into();
        request.ask.fields = json!({ "type": "fatal", "message": "Invalid protocol format",
            "details": "ERROR was never closed", "recovery": "notify_user", "raw": "[ERROR]" });
        let card = card(Words::new(Language::En), Screen::plain(), &request);
        let [head, text] = [0, 1].map(|line| card.lines().nth(line).unwrap_or_default());
        assert!(head.ends_with(" · fatal · notify_user"), "{card}");
        assert_eq!(text, "  Invalid protocol format: ERROR was never closed");
    }

    #[test]
    fn a_card_says_where_the_same_stands() {
        let said = |language, mark| {
            let request = RequestView { mark: serde_json::from_value(mark).expect("a mark"), ..request() };
            let card = card(Words::new(language), Screen::plain(), &request);
            card.lines().nth(4).map(str::to_owned).unwrap_or_default()
        };
        for (mark, en, ko) in [
            (
                json!({ "source": "tool_output", "tool": "Bash", "about": "cat README.md" }),
                "also stands in the output of `cat README.md` (Bash)",
                "`cat README.md`(Bash)의 출력에도 있음",
            ),
            (
                json!({ "source": "tool_output", "tool": "lookup" }),
                "also stands in the output of lookup",
                "lookup의 출력에도 있음",
            ),
            (
                json!({ "source": "tool_output" }),
                "also stands in the output of a tool",
                "도구의 출력에도 있음",
            ),
            (
                json!({ "source": "check", "about": "npm test" }),
                "also stands in the output of the check `npm test`",
                "검사 `npm test`의 출력에도 있음",
            ),
            (
                json!({ "source": "sub_agent", "tool": "Task" }),
                "also stands in what a sub-agent said",
                "하위 에이전트의 말에도 있음",
            ),
            (
                json!({ "source": "message" }),
                "also stands in a message to the agent",
                "에이전트에게 보낸 메시지에도 있음",
            ),
            (json!({ "source": "prompt" }), "also stands in the prompt", "프롬프트에도 있음"),
        ] {
            let line = said(Language::En, mark.clone());
            assert_eq!(line, format!("  {en}: these may be somebody else's words"));
            assert_eq!(said(Language::Ko, mark), format!("  {ko}: 다른 사람이 쓴 말일 수 있습니다"));
        }
    }

    #[test]
    fn a_card_says_what_is_wanted_and_what_approval_runs() {
        let mut request = request();
        request.ask.kind = "dependency".into();
        (request.ask.options, request.ask.default) = (Vec::new(), None);
        request.ask.text = "stripe".into();
        request.ask.fields = json!({ "type": "service" });
        request.ask.form = serde_json::from_value(json!({ "other_names": true, "fields": [
            { "name": "STRIPE_SECRET_KEY", "secret": true, "optional": false } ] }))
        .expect("a form");
        let said = |request: &RequestView| card(Words::new(Language::En), Screen::plain(), request);
        assert!(said(&request).contains("\n  wants STRIPE_SECRET_KEY\n"), "{}", said(&request));
        request.ask.fields = json!({ "type": "package" });
        request.ask.form = serde_json::from_value(json!({ "command": ["npm", "install", "--", "x"] })).ok();
        assert!(said(&request).contains("\n  approval runs: npm install -- x\n"), "{}", said(&request));
        let form = json!({ "command": ["pip"], "manifest": "requirements.txt", "unseen": true });
        request.ask.form = serde_json::from_value(form).ok();
        let lines = "\n  approval also writes: requirements.txt\n  the running program cannot see it; it gets it with ";
        assert!(said(&request).contains(lines), "{}", said(&request));
    }

    #[test]
    fn a_card_says_who_asks_what_and_how_to_answer() {
        let card = |language| card(Words::new(language), Screen::plain(), &request());
        expect![[r#"
            ◆ q_7  claude · s_3 · shop-app · 4 min · asks
              Which database[2J would you prefer?
                1  PostgreSQL  (default)
                2  MySQL
              Answer: ostler answer q_7 1, or --skip for the default
        "#]]
        .assert_eq(&card(Language::En));
        expect![[r#"
            ◆ q_7  claude · s_3 · shop-app · 4분 · 질문
              Which database[2J would you prefer?
                1  PostgreSQL  (기본값)
                2  MySQL
              답하기: ostler answer q_7 1, 기본값을 쓰려면 --skip
        "#]]
        .assert_eq(&card(Language::Ko));
    }
}
