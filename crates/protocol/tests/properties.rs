//! What must hold for every stream, whatever is in it: tried on streams made up by chance.
//!
//! `PROPTEST_CASES` and `PROPTEST_RNG_SEED` choose how many and which; `cargo xtask soak properties` runs many.

use std::time::Duration;

use ostler_protocol::{
    Format, Item, Limits, Parser, Settings, What, guard_task,
    name::TaskId,
    reply::{DependencyProvided, QuestionAnswer, Reply},
    signal::{DependencyType, Signal},
    stream::{Cli, Table},
    thin::{ErrorCode, Thin},
};
use proptest::{collection::vec, option, prelude::*, sample::select};

/// Pieces of which agents' output is made, and pieces made to confuse whoever reads it.
const PIECES: &[&str] = &[
    "[USER_QUESTION]\n",
    "[USER_QUESTION n=s3cret]\n",
    "[/USER_QUESTION]",
    "[DEPENDENCY_REQUEST]\r\n",
    "[/DEPENDENCY_REQUEST]\n",
    "[ERROR]\n",
    "[/ERROR]\n",
    "[ASK_USER]\n",
    "[/ASK_USER]\n",
    "[INVOKE:디자이너]\n",
    "[INVOKE:back-end]\r\r\n",
    "[/INVOKE:x]\n",
    "[DELIVER_RESULT:PO]\n",
    "[STEP_COMPLETE]\n",
    "=== PHASE 2 COMPLETE ===\n",
    "=== PHASE 2 COMPLETE n=s3cret ===\n",
    "Phase: Design\n",
    "Documents created:\n",
    "- docs/a.md\n",
    "category: choice\n",
    "question: Which?\n",
    "  - one\n",
    "options: ['a', 'don't']\n",
    "type: api_key\n",
    "name: KEY\n",
    "required: true\n",
    "질문: 무엇?\n",
    "컨텍스트: x\n",
    "타입: selection\n",
    "READY:T1.3,T1.4|T1.5\n",
    "RESOLVE_NEXT:PHASE:2:FORCE\n",
    "TASK_ID:T1.3\n",
    "WORKTREE:w\n",
    "META:{\"timeout\":3}\n",
    "DONE:T1.3:elapsed=1s\n",
    "FAIL:T1.3:no\n",
    "ERROR:CIRCULAR_DEP:T1->T1\n",
    "WAIT",
    "```\n",
    "~~~~\n",
    "plain text\n",
    "s3cret",
    "s3c",
    "\n",
    "\r",
    "\r\n",
    " ",
    "\t",
    "]",
    "[",
    "\x1b[31m",
    "\x1b[0m",
    "\x1b[H",
    "\x1b[2J",
    "\x1b]0;title",
    "\x07",
    "\x1b\\",
    "\x1b",
    "\u{9b}1m",
    "\u{feff}",
    "\u{3000}",
    "\u{2028}",
    "한",
];

fn stream() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        12 => select(PIECES).prop_map(|piece| piece.as_bytes().to_vec()),
        1 => vec(any::<u8>(), 0..8),
        1 => select(vec![&b"\xc2"[..], b"\xe3\x80", b"\xff", b"\xf0\x9f"]).prop_map(<[u8]>::to_vec),
    ];
    vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

fn settings() -> impl Strategy<Value = Settings> {
    any::<[bool; 4]>().prop_map(|[nonce, thin_role, tight, terminal]| Settings {
        limits: if tight { TIGHT } else { Limits::default() },
        nonce: nonce.then(|| "s3cret".parse().expect("a valid nonce")),
        thin_role,
        terminal,
    })
}

const TIGHT: Limits = Limits { line_bytes: 64, block_bytes: 100, block_lines: 5 };

fn any_cli() -> impl Strategy<Value = Option<Cli>> {
    option::weighted(0.8, select(Cli::ALL.to_vec()))
}

fn format_of(cli: Option<Cli>) -> Format {
    cli.map_or(Format::Text, |cli| Format::Structured(Table::builtin(cli)))
}

/// Text as events of every CLI: as speech, in fragments, and as what tools print.
fn events(text: &[u8], cuts: &[usize]) -> Vec<u8> {
    let text = String::from_utf8_lossy(text);
    let chars: Vec<char> = text.chars().collect();
    let mut lines = Vec::new();
    for (number, part) in cut(&chars, cuts).into_iter().enumerate() {
        let part: String = part.iter().collect();
        let json = serde_json::json!(part);
        lines.push(match number % 6 {
            0 => format!(r#"{{"type":"message","role":"assistant","content":{json},"delta":true}}"#),
            1 => format!(
                r#"{{"type":"assistant","message":{{"model":"m","content":[{{"type":"text","text":{json}}}]}}}}"#
            ),
            2 => format!(r#"{{"type":"item.completed","item":{{"type":"agent_message","text":{json}}}}}"#),
            3 => format!(r#"{{"type":"text","sessionID":"s","part":{{"text":{json}}}}}"#),
            4 => format!(r#"{{"type":"tool_result","output":{json}}}"#),
            _ => part,
        });
    }
    lines.join("\n").into_bytes()
}

/// Cuts a slice at the places given, taken round the end.
fn cut<'a, T>(whole: &'a [T], cuts: &[usize]) -> Vec<&'a [T]> {
    let mut places: Vec<usize> = cuts.iter().map(|at| at % (whole.len() + 1)).collect();
    places.extend([0, whole.len()]);
    places.sort_unstable();
    places.windows(2).map(|pair| &whole[pair[0]..pair[1]]).collect()
}

fn hear<'a>(
    format: &Format,
    settings: &Settings,
    chunks: impl IntoIterator<Item = &'a [u8]>,
) -> (Vec<Item>, usize) {
    let mut parser = Parser::new(format.clone(), settings.clone());
    let mut items = Vec::new();
    let mut buffered_max = 0;
    for chunk in chunks {
        parser.push(chunk);
        buffered_max = buffered_max.max(parser.buffered_bytes());
        items.extend(parser.by_ref());
    }
    parser.finish();
    items.extend(parser);
    (items, buffered_max)
}

fn same_for_every_chunking(
    format: &Format,
    settings: &Settings,
    bytes: &[u8],
    cuts: &[usize],
) -> Result<(), TestCaseError> {
    let (whole, _) = hear(format, settings, [bytes]);
    let (single, _) = hear(format, settings, bytes.chunks(1));
    prop_assert_eq!(&whole, &single);
    let (random, _) = hear(format, settings, cut(bytes, cuts));
    prop_assert_eq!(&whole, &random);

    let mut places: Vec<_> = whole.iter().map(|item| (item.offset, item.index)).collect();
    let count = places.len();
    places.sort_unstable();
    places.dedup();
    prop_assert_eq!(places.len(), count, "every item has a place of its own");
    for item in &whole {
        prop_assert!(item.offset <= item.end && item.end <= bytes.len() as u64);
    }
    Ok(())
}

proptest! {
    #[test]
    fn raw_text_is_the_same_for_every_chunking(
        bytes in stream(),
        settings in settings(),
        cuts in vec(any::<usize>(), 0..12),
    ) {
        same_for_every_chunking(&Format::Text, &settings, &bytes, &cuts)?;
    }

    #[test]
    fn structured_streams_are_the_same_for_every_chunking(
        text in stream(),
        cuts in vec(any::<usize>(), 0..12),
        cli in any_cli(),
        settings in settings(),
    ) {
        same_for_every_chunking(&format_of(cli), &settings, &events(&text, &cuts), &cuts)?;
    }

    #[test]
    fn arbitrary_bytes_stay_within_bounds(
        bytes in vec(any::<u8>(), 0..2000),
        cuts in vec(any::<usize>(), 0..12),
        cli in any_cli(),
    ) {
        let settings = Settings { limits: TIGHT, ..Settings::default() };
        let (_, buffered) = hear(&format_of(cli), &settings, cut(&bytes, &cuts));
        prop_assert!(buffered <= TIGHT.line_bytes + 2 * (TIGHT.line_bytes + TIGHT.block_bytes), "{buffered}");
    }

    #[test]
    fn a_stream_of_messages_stays_within_bounds(bytes in stream(), settings in settings()) {
        let limits = Limits { line_bytes: 64, block_bytes: 100, block_lines: 1000 };
        let settings = Settings { limits, ..settings };
        let (_, buffered) = hear(&Format::Text, &settings, bytes.chunks(3));
        prop_assert!(buffered <= limits.line_bytes + 2 * limits.block_bytes + 64, "{buffered}");
    }

    #[test]
    fn silences_end_things_and_break_nothing(bytes in stream(), cuts in vec(any::<usize>(), 0..12)) {
        let mut parser = Parser::new(Format::Text, Settings::default());
        for chunk in cut(&bytes, &cuts) {
            parser.push(chunk);
            // One step may only end a line that begins a message, which then has its own patience.
            for _ in 0..2 {
                if let Some(patience) = parser.patience() {
                    parser.silent_for(patience.saturating_sub(Duration::from_millis(1)));
                    prop_assert_eq!(parser.patience(), Some(patience), "nothing ends too early");
                    parser.silent_for(patience);
                }
            }
            prop_assert_eq!(parser.patience(), None, "all that can end has ended");
            parser.by_ref().for_each(drop);
        }
    }

    #[test]
    fn replies_read_back(
        id in "q_[0-9]{1,6}",
        answer in option::of(".*"),
        name in ".*",
        path in option::of(".*"),
        flags in any::<[Option<bool>; 3]>(),
        provided in any::<bool>(),
        dependency_type in select(vec![DependencyType::ApiKey, DependencyType::File, DependencyType::Package]),
    ) {
        let [approved, installed, default_used] = flags;
        let replies = [
            Reply::QuestionAnswer(QuestionAnswer { question_id: id.clone(), answer: answer.clone(), option: None }),
            Reply::DependencyProvided(DependencyProvided {
                request_id: id, name, dependency_type, provided, path, approved, installed, default_used,
                get: answer.clone(), reason: answer,
            }),
        ];
        for reply in replies {
            let line = reply.encode();
            prop_assert_eq!(line.matches('\n').count(), 1, "one line");
            prop_assert_eq!(Reply::decode(&line).ok(), Some(reply));
        }
    }

    #[test]
    fn a_guarded_task_has_no_context(task in text()) {
        let text = format!("[INVOKE:PO]\nBegin.\n{}\nContext: the real one\n[/INVOKE]", guard_task(&task));
        let heard = hear(&Format::Text, &Settings::default(), [text.as_bytes()]).0;
        let Some(What::Signal(Signal::Invoke(heard))) = heard.first().map(|item| &item.what) else {
            return Err(TestCaseError::fail(format!("{heard:?}")));
        };
        prop_assert_eq!(heard.context.as_deref(), Some("the real one"));
    }

    #[test]
    fn thin_messages_read_back(thin in thin()) {
        let text = thin.to_string();
        prop_assert_eq!(Thin::parse(&text), Some(thin.clone()), "{}", text);
        let heard = hear(&Format::Text, &Settings::default(), [text.as_bytes()]).0;
        let heard: Vec<_> = heard.into_iter().map(|item| item.what).collect();
        prop_assert_eq!(heard, vec![What::Signal(Signal::Thin(thin))]);
    }

    #[test]
    fn blocks_read_back(question in "[a-zA-Z가-힣?!.,:' ]*[a-z가-힣]", options in vec("[a-z가-힣][a-z가-힣:' -]*[a-z]", 1..5)) {
        let list = options.iter().map(|option| format!("  - {option}")).collect::<Vec<_>>().join("\n");
        let text = format!(
            "[USER_QUESTION]\ncategory: choice\nquestion: {question}\noptions:\n{list}\nrequired: false\n[/USER_QUESTION]"
        );
        let heard = hear(&Format::Text, &Settings::default(), [text.as_bytes()]).0;
        let Some(What::Signal(Signal::UserQuestion(heard))) = heard.first().map(|item| &item.what) else {
            return Err(TestCaseError::fail(format!("{heard:?}")));
        };
        prop_assert_eq!(&heard.question, question.trim());
        prop_assert_eq!(&heard.options, &options);
    }
}

/// Text with lines that look like the beginning of a context.
fn text() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        "[a-z가-힣: ]*",
        Just("Context: x".to_string()),
        Just("컨텍스트: y".to_string()),
        Just(String::new())
    ];
    vec(line, 1..5).prop_map(|lines| lines.join("\n"))
}

fn task_id() -> impl Strategy<Value = TaskId> {
    prop_oneof!["T[0-9]{1,3}", "T[0-9]{1,2}\\.[0-9]{1,2}(\\.[0-9])?", "P[0-9]-[RS][0-9]-[TV][0-9]?"]
        .prop_map(|id| id.parse().expect("a valid id"))
}

/// Text with everything in it that could be taken for something else.
fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        ".{0,12}",
        select(vec!["\n", ":", "=", "#", "a=1:", "\nALL_DONE", "\nMETA:{}", " ", "x"]).prop_map(String::from)
    ];
    vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

fn thin() -> impl Strategy<Value = Thin> {
    let figures = vec(("[a-z]{1,4}", hostile()), 0..3);
    prop_oneof![
        (option::of(any::<u32>()), any::<bool>(), any::<bool>())
            .prop_map(|(phase, groups, force)| Thin::ResolveNext { phase, groups, force }),
        vec(vec(task_id(), 1..4), 1..4).prop_map(|groups| Thin::ready(groups).expect("no group is empty")),
        any::<u32>().prop_map(|phase| Thin::PhaseDone { phase }),
        Just(Thin::AllDone {}),
        Just(Thin::Wait {}),
        (select(ErrorCode::ALL.to_vec()), option::of(hostile()))
            .prop_map(|(code, detail)| Thin::error(code, detail.as_deref())),
        (task_id(), option::of(hostile()), option::of(hostile())).prop_map(|(id, worktree, note)| {
            let meta = note.map(|note| serde_json::json!({ "timeout": 300, "note": note }));
            Thin::task(id, worktree.as_deref(), meta.as_ref())
        }),
        (task_id(), figures).prop_map(|(id, figures)| {
            // A figure that could be read as another is refused, and the message stays as it was.
            figures.iter().fold(Thin::done(id), |done, (key, value)| {
                done.clone().with_figure(key, value).unwrap_or(done)
            })
        }),
        (task_id(), hostile()).prop_map(|(id, reason)| Thin::fail(id, &reason)),
        ("[A-Z]{1,8}", hostile())
            .prop_map(|(message_type, payload)| Thin::custom(&message_type, &payload).expect("a valid type")),
    ]
}
