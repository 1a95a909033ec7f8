//! What the page says in the same words: `web/src/words/shared.json` is made from these lists, and the test here sees
//! that it is fresh. `UPDATE_EXPECT=1 cargo test -p ostler words::shared` writes it.

use std::collections::BTreeMap;

use expect_test::expect_file;
use serde_json::{Value, json};

use super::{Key, Language};
use crate::status;

/// The sentences that the page uses.
const SHARED: &[Key] = &[
    Key::NothingNeedsYou,
    Key::Default,
    Key::EnterForDefault,
    Key::PromptNumber,
    Key::PromptWords,
    Key::PromptHidden,
    Key::PromptOptional,
    Key::PromptName,
    Key::BadVariableName,
    Key::FormWants,
    Key::FormCommand,
    Key::FormProblem,
    Key::InstallRuns,
    Key::Installed,
    Key::NotInstalled,
    Key::Expired,
    Key::ExpiresIn,
    Key::RetriesAt,
    Key::ParkedUntil,
    Key::ParkedUnknown,
    Key::CliRetriesAt,
    Key::CliRetries,
    Key::SaidPlain,
    Key::Marked,
    Key::MarkToolUsed,
    Key::MarkTool,
    Key::MarkSomeTool,
    Key::MarkCheck,
    Key::MarkSubAgent,
    Key::MarkMessage,
    Key::MarkPrompt,
    Key::AskQuestion,
    Key::AskDependency,
    Key::AskError,
    Key::AskFault,
    Key::AskPermission,
    Key::AskStall,
    Key::AskTimeOver,
    Key::AskTimeOverText,
    Key::AskCostOver,
    Key::AskCostOverText,
    Key::AskTokensOver,
    Key::AskTokensOverText,
    Key::StatusStarting,
    Key::StatusActive,
    Key::StatusChecking,
    Key::StatusInstalling,
    Key::StatusWaiting,
    Key::StatusPaused,
    Key::StatusParked,
    Key::StatusInterrupted,
    Key::StatusEnding,
    Key::StatusDone,
    Key::StatusDoneUnverified,
    Key::StatusFailed,
    Key::StatusCancelled,
    Key::NoSessions,
    Key::Seconds,
    Key::Minutes,
    Key::Hours,
    Key::Days,
    Key::Launched,
    Key::CauseFirst,
    Key::CauseBring,
    Key::CauseResume,
    Key::CauseAttempt,
    Key::CheckRuns,
    Key::CheckPassed,
    Key::CheckFailedOnce,
    Key::GoesOn,
    Key::AsBefore,
    Key::ReasonNotStarted,
    Key::ReasonExitCode,
    Key::ReasonKilledBy,
    Key::ReasonAgentError,
    Key::ReasonNoEnd,
    Key::ReasonRateLimited,
    Key::ReasonResetAt,
    Key::ReasonResetUnknown,
    Key::ReasonCheckFailed,
    Key::ReasonSameFailure,
    Key::ReasonReported,
    Key::ReasonTimeOver,
    Key::ReasonCostOver,
    Key::ReasonTokensOver,
    Key::ReasonNoWorktree,
    Key::Answered,
    Key::AnsweredNobody,
    Key::AskerGone,
    Key::AnswerNothing,
    Key::AnswerApproved,
    Key::AnswerApprovedSession,
    Key::AnswerDenied,
    Key::AnswerDeniedBecause,
    Key::AnswerProvided,
    Key::AnswerProvidedReuse,
    Key::AnswerSkipped,
    Key::AnswerUsesDefault,
    Key::AnswerGoOn,
    Key::AnswerRetry,
    Key::AnswerRaised,
    Key::AnswerFail,
    Key::Merged,
    Key::NothingMerged,
    Key::NotMerged,
    Key::InTheWay,
    Key::Discarded,
    Key::NotDiscarded,
    Key::NoChanges,
    Key::WhyRequest,
    Key::WhyTime,
    Key::WhyPerson,
    Key::WhyRest,
    Key::WhyRestore,
    Key::WhyLimit,
    Key::CheckpointLeftOut,
    Key::CheckpointMade,
    Key::CheckpointUnchanged,
    Key::CheckpointNoRepository,
    Key::CheckpointFailed,
    Key::MoreLines,
    Key::Restored,
    Key::NothingDiffers,
    Key::RestoredDifferent,
    Key::RestoredSubmodules,
    Key::NotRestored,
    Key::EndChecked,
    Key::EndUnchecked,
    Key::UsageTokens,
    Key::UsageOf,
    Key::UsageParts,
    Key::UsageNoCost,
    Key::UsageTotal,
    Key::ShowNotGit,
    Key::GivenFreely,
    Key::GivenAsked,
    Key::GivenOnce,
];

/// Every status of the interface; `completed_unverified` is what `completed` is without a check.
const STATUSES: [&str; 14] = [
    "starting",
    "active",
    "checking",
    "waiting_input",
    "waiting_dependency",
    "waiting_permission",
    "installing",
    "parked",
    "paused",
    "interrupted",
    "ending",
    "completed",
    "failed",
    "cancelled",
];

#[test]
fn the_page_says_the_same() {
    let sentences = |language: Language| -> BTreeMap<String, &str> {
        let sentence = |key: &Key| (format!("{key:?}"), language.sentence(*key).expect("a sentence"));
        SHARED.iter().map(sentence).collect()
    };
    let mut statuses: BTreeMap<String, Value> = BTreeMap::new();
    for word in STATUSES {
        statuses.insert(word.to_owned(), status_of(word, false));
    }
    statuses.insert("completed_unverified".to_owned(), status_of("completed", true));
    let shared =
        json!({ "en": sentences(Language::En), "ko": sentences(Language::Ko), "statuses": statuses });
    let text = serde_json::to_string_pretty(&shared).expect("plain data") + "\n";
    expect_file!["../../../../web/src/words/shared.json"].assert_eq(&text);
}

fn status_of(word: &str, unverified: bool) -> Value {
    let status = status::of_word(word, unverified).expect("a status that is known");
    assert!(SHARED.contains(&status.key), "{word} has its word in the list");
    let style = format!("{:?}", status.style).to_lowercase();
    json!({ "shape": status.shape, "key": format!("{:?}", status.key), "style": style })
}
