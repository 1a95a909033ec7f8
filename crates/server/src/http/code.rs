//! The words by which programs know what went wrong. A word never changes its meaning; docs/troubleshooting.md explains
//! each of them.

use std::fmt;

/// Each word stands once, beside its name.
macro_rules! codes {
    ($($name:ident => $text:literal,)*) => {
        /// What went wrong.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum Code {
            $($name,)*
        }

        impl Code {
            /// All of them.
            pub(super) const ALL: &[Code] = &[$(Code::$name,)*];

            /// As it stands in an answer.
            pub(super) fn as_str(self) -> &'static str {
                match self {
                    $(Code::$name => $text,)*
                }
            }
        }
    };
}

codes! {
    AgentAndCommand => "agent_and_command",
    BadAttempts => "bad_attempts",
    BadBody => "bad_body",
    BadBy => "bad_by",
    BadCost => "bad_cost",
    BadDirectory => "bad_directory",
    BadKey => "bad_key",
    BadName => "bad_name",
    BadOffset => "bad_offset",
    BadPath => "bad_path",
    BadQuery => "bad_query",
    BadReference => "bad_reference",
    BadRole => "bad_role",
    BadSize => "bad_size",
    BadTime => "bad_time",
    BadTokens => "bad_tokens",
    BadValue => "bad_value",
    BranchTaken => "branch_taken",
    CheckpointGone => "checkpoint_gone",
    Configuration => "configuration",
    CostUnknown => "cost_unknown",
    DemoPlays => "demo_plays",
    EmptyAnswer => "empty_answer",
    EmptyCheck => "empty_check",
    EmptyField => "empty_field",
    EmptyMessage => "empty_message",
    ForeignHost => "foreign_host",
    ForeignOrigin => "foreign_origin",
    GateFailed => "gate_failed",
    Git => "git",
    Inside => "inside",
    Internal => "internal",
    InvocationOver => "invocation_over",
    KeyReused => "key_reused",
    LinkOver => "link_over",
    LinkUnknown => "link_unknown",
    LinkUsed => "link_used",
    LogReplaced => "log_replaced",
    LongField => "long_field",
    NoAgent => "no_agent",
    NoAmount => "no_amount",
    NoCheck => "no_check",
    NoCheckpoint => "no_checkpoint",
    NoDescriptors => "no_descriptors",
    NoDiff => "no_diff",
    NoFile => "no_file",
    NoInvocation => "no_invocation",
    NoKey => "no_key",
    NoLaunch => "no_launch",
    NoLoop => "no_loop",
    NoMethod => "no_method",
    NoNotifyChannel => "no_notify_channel",
    NoOptions => "no_options",
    NoPermission => "no_permission",
    NoPhase => "no_phase",
    NoPhases => "no_phases",
    NoPlace => "no_place",
    NoProject => "no_project",
    NoPrompt => "no_prompt",
    NoReport => "no_report",
    NoRequest => "no_request",
    NoResult => "no_result",
    NoRole => "no_role",
    NoRoute => "no_route",
    NoRun => "no_run",
    NoSecret => "no_secret",
    NoSession => "no_session",
    NoSignIn => "no_sign_in",
    NoTask => "no_task",
    NoTaskPhase => "no_task_phase",
    NoTasks => "no_tasks",
    NoTerminal => "no_terminal",
    NoValue => "no_value",
    NameTaken => "name_taken",
    NoWorktree => "no_worktree",
    NotAnOption => "not_an_option",
    NotAsked => "not_asked",
    NotDelivered => "not_delivered",
    NotGit => "not_git",
    NotInside => "not_inside",
    NotInstalled => "not_installed",
    NotMain => "not_main",
    NotJson => "not_json",
    NotNotified => "not_notified",
    NotNow => "not_now",
    NotOverTcp => "not_over_tcp",
    NotReview => "not_review",
    NotRunning => "not_running",
    NotSignedIn => "not_signed_in",
    NotSupported => "not_supported",
    NotWaitedFor => "not_waited_for",
    NotWithToken => "not_with_token",
    NotWritten => "not_written",
    NothingToRun => "nothing_to_run",
    OverLimit => "over_limit",
    PageShut => "page_shut",
    JournalLocked => "journal_locked",
    LoopBusy => "loop_busy",
    PhasesBusy => "phases_busy",
    PlaceBusy => "place_busy",
    ReadOnly => "read_only",
    Required => "required",
    Restoring => "restoring",
    ReviewWanted => "review_wanted",
    SecretOutOfReach => "secret_out_of_reach",
    Settled => "settled",
    SeveralProjects => "several_projects",
    Stopping => "stopping",
    Tasks => "tasks",
    TaskNotSo => "task_not_so",
    TasksLocked => "tasks_locked",
    TasksOpen => "tasks_open",
    TasksOutside => "tasks_outside",
    TasksState => "tasks_state",
    TasksUnclear => "tasks_unclear",
    TasksUnreadable => "tasks_unreadable",
    TokenTaken => "token_taken",
    TokensUnknown => "tokens_unknown",
    TooLarge => "too_large",
    TooManyConnections => "too_many_connections",
    TooManyTokens => "too_many_tokens",
    TooManyTries => "too_many_tries",
    TooSlow => "too_slow",
    TreeChanged => "tree_changed",
    TreeNotShown => "tree_not_shown",
    TrustChanged => "trust_changed",
    UnknownPeer => "unknown_peer",
    Untrusted => "untrusted",
    ValueWanted => "value_wanted",
    Vault => "vault",
    VaultLocked => "vault_locked",
    VaultNotLocked => "vault_not_locked",
    VaultWrongKey => "vault_wrong_key",
    WorktreeGone => "worktree_gone",
    YesOrNo => "yes_or_no",
    ZeroByte => "zero_byte",
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
