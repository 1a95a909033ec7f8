//! Everything that is said to people, in English and Korean: keys with parameters, one list per language.
//!
//! Commands name a key and its values; only this module knows sentences. What `--json` prints never comes from here.

mod delivery;
mod demo;
mod en;
mod files;
mod help;
mod key;
mod ko;
mod looked;
mod memory;
mod merge;
mod notify;
mod office;
mod orchestrate;
mod page;
mod permission;
mod phases;
mod plan;
mod project;
mod sessions;
#[cfg(test)]
mod shared;
mod skills;
mod steering;
mod trust;
mod work_secret;

use std::{env, fmt::Display};

use clap::ValueEnum;

#[cfg(test)]
pub(crate) use help::korean as korean_help;
pub(crate) use help::{CHROME as HELP_CHROME, CommandHelp};
pub(crate) use key::Key;

/// The languages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Language {
    /// English.
    En,
    /// Korean.
    Ko,
}

/// Says things in one language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Words {
    language: Language,
}

impl Words {
    pub(crate) fn new(language: Language) -> Words {
        Words { language }
    }

    pub(crate) fn language(self) -> Language {
        self.language
    }

    /// The sentence of a key, with its values in their places.
    pub(crate) fn say(self, key: Key, values: &[(&str, &dyn Display)]) -> String {
        fill(self.sentence(key), |name| {
            values.iter().find(|(known, _)| *known == name).map(|(_, value)| value.to_string())
        })
    }

    /// A sentence without values.
    pub(crate) fn sentence(self, key: Key) -> &'static str {
        self.language.sentence(key).expect("every key has its sentence, and a test sees to that")
    }
}

/// A sentence with its values in their places.
fn fill(sentence: &str, value: impl Fn(&str) -> Option<String>) -> String {
    let mut rest = sentence;
    let mut said = String::with_capacity(rest.len());
    while let Some((before, behind)) = rest.split_once('{') {
        let (name, behind) = behind.split_once('}').unwrap_or((behind, ""));
        said.push_str(before);
        said.push_str(&value(name).unwrap_or_default());
        rest = behind;
    }
    said.push_str(rest);
    said
}

impl Language {
    /// The language that was asked for, else the configured one, else that of the environment.
    pub(crate) fn choose(asked: Option<Language>, configured: Option<&str>) -> Language {
        let configured = || configured.and_then(|name| Language::from_str(name, true).ok());
        asked.or_else(configured).unwrap_or_else(|| {
            let set = ["LC_ALL", "LC_MESSAGES", "LANG"].into_iter().filter_map(|name| env::var(name).ok());
            Language::of_locale(set)
        })
    }

    fn sentence(self, key: Key) -> Option<&'static str> {
        let sentences = match self {
            Language::En => en::SENTENCES,
            Language::Ko => ko::SENTENCES,
        };
        let of_others = || {
            let others = [
                page::SENTENCES,
                notify::SENTENCES,
                trust::SENTENCES,
                phases::SENTENCES,
                demo::SENTENCES,
                plan::SENTENCES,
                project::SENTENCES,
                orchestrate::SENTENCES,
                office::SENTENCES,
                permission::SENTENCES,
                looked::SENTENCES,
                delivery::SENTENCES,
                steering::SENTENCES,
                sessions::SENTENCES,
                memory::SENTENCES,
                skills::SENTENCES,
                work_secret::SENTENCES,
                merge::SENTENCES,
                help::SENTENCES,
                files::SENTENCES,
            ];
            let (_, english, korean) = others.into_iter().flatten().find(|(known, ..)| *known == key)?;
            Some(if self == Language::En { *english } else { *korean })
        };
        sentences.iter().find(|(known, _)| *known == key).map(|(_, sentence)| *sentence).or_else(of_others)
    }

    /// The first variable that says something counts.
    fn of_locale(mut values: impl Iterator<Item = String>) -> Language {
        match values.find(|value| !value.is_empty()) {
            Some(locale) if locale.to_ascii_lowercase().starts_with("ko") => Language::Ko,
            _ => Language::En,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names of the places in a sentence, sorted.
    fn places(sentence: &str) -> Vec<&str> {
        let mut places: Vec<&str> =
            sentence.split('{').skip(1).filter_map(|part| part.split('}').next()).collect();
        places.sort_unstable();
        places.dedup();
        places
    }

    #[test]
    fn both_languages_have_every_key_with_the_same_places() {
        for key in Key::ALL {
            let english = Language::En.sentence(key).unwrap_or_else(|| panic!("{key:?} in English"));
            let korean = Language::Ko.sentence(key).unwrap_or_else(|| panic!("{key:?} in Korean"));
            assert_eq!(places(english), places(korean), "{key:?}");
            let has_hangul = korean.chars().any(|letter| ('가'..='힣').contains(&letter));
            let has_letters = english.split(['{', '}']).step_by(2).any(|it| it.contains(char::is_alphabetic));
            let is_name = matches!(key, Key::ColumnId | Key::DoctorGit | Key::EnterForDefault);
            assert!(has_hangul || !has_letters || is_name, "{key:?} is not said in Korean: {korean}");
        }
    }

    #[test]
    fn values_go_to_their_places() {
        let words = Words::new(Language::En);
        assert_eq!(words.say(Key::NoSuchSession, &[("id", &"s_9")]), "there is no session s_9");
        // A value with braces is a value, not a place.
        assert_eq!(words.say(Key::NoSuchSession, &[("id", &"{id}")]), "there is no session {id}");
    }

    #[test]
    fn the_environment_names_a_language() {
        let of = |values: &[&str]| Language::of_locale(values.iter().map(ToString::to_string));
        assert_eq!(of(&["", "ko_KR.UTF-8", "en_US.UTF-8"]), Language::Ko);
        assert_eq!(of(&["C.UTF-8", "ko_KR.UTF-8"]), Language::En);
        assert_eq!(of(&[]), Language::En);
    }

    #[test]
    fn who_asks_for_a_language_gets_it() {
        assert_eq!(Language::choose(Some(Language::En), Some("ko")), Language::En);
        assert_eq!(Language::choose(None, Some("ko")), Language::Ko);
    }
}
