//! What notices are called, in English and Korean. Nothing of an agent stands here.

use std::env;

use super::kind::Kind;

/// The languages in which people are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    English,
    Korean,
}

impl Language {
    /// The one that is configured, else that of the environment.
    pub(crate) fn choose(configured: Option<&str>) -> Language {
        let of_environment = || {
            let set = ["LC_ALL", "LC_MESSAGES", "LANG"].into_iter().filter_map(|name| env::var(name).ok());
            set.into_iter().find(|value| !value.is_empty()).unwrap_or_default()
        };
        let name = configured.map_or_else(of_environment, str::to_owned);
        if name.to_ascii_lowercase().starts_with("ko") { Language::Korean } else { Language::English }
    }

    fn say(self, english: &'static str, korean: &'static str) -> &'static str {
        match self {
            Language::English => english,
            Language::Korean => korean,
        }
    }

    /// What has happened to somebody.
    pub(crate) fn of_kind(self, kind: Kind) -> &'static str {
        match kind {
            Kind::Question => self.say("asks a question", "질문이 있습니다"),
            Kind::Dependency => self.say("needs something", "필요한 것이 있습니다"),
            Kind::Permission => self.say("asks for permission", "허락을 구합니다"),
            Kind::Error => self.say("reports an error", "오류를 알립니다"),
            Kind::Fault => self.say("is stuck", "멈춰 있습니다"),
            Kind::Budget => self.say("has used its budget", "예산을 다 썼습니다"),
            Kind::Done => self.say("is done", "끝났습니다"),
            Kind::Failed => self.say("has failed", "실패했습니다"),
            Kind::Interrupted => self.say("was interrupted", "중단되었습니다"),
            Kind::Phase => self.say("has finished a phase", "한 단계를 마쳤습니다"),
            Kind::Limit => self.say("waits for its account's limit", "계정 한도가 풀리기를 기다립니다"),
        }
    }

    /// How many are told together.
    pub(crate) fn together(self, count: usize) -> String {
        match self {
            Language::English => format!("{count} notices from your agents"),
            Language::Korean => format!("에이전트 알림 {count}개"),
        }
    }

    /// How many are not listed.
    pub(crate) fn more(self, count: usize) -> String {
        match self {
            Language::English => format!("and {count} more"),
            Language::Korean => format!("그 밖에 {count}개"),
        }
    }

    /// What a test says.
    pub(crate) fn test(self) -> &'static str {
        self.say("Ostler's notifications arrive here.", "Ostler 알림이 여기로 옵니다.")
    }

    /// What stands above a test.
    pub(crate) fn test_title(self) -> &'static str {
        self.say("A test", "시험 알림")
    }
}
