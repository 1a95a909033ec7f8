//! The rules of dispatch as data: lists of words, and what each role works on.

use alloc::{
    collections::{BTreeMap, BTreeSet},
    string::String,
    vec::Vec,
};

use serde::Deserialize;

use super::{lexicon::Lexicon, role::Role};

/// The rules that are built in.
const BUILT_IN: &str = include_str!("rules.toml");

/// All rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DispatchRules {
    pub(super) verbs: VerbRules,
    pub(super) symptoms: SymptomRules,
    pub(super) small: SmallRules,
    pub(super) areas: BTreeMap<Role, Lexicon>,
    pub(super) design: Lexicon,
    pub(super) documents: Lexicon,
    pub(super) shape: Lexicon,
    pub(super) size: SizeRules,
    pub(super) exceptions: Lexicon,
    pub(super) scopes: BTreeMap<Role, Vec<String>>,
    pub(super) models: BTreeMap<Role, String>,
    /// Korean nouns of all lists: another word may follow them without a space.
    pub(super) nouns: BTreeSet<String>,
}

/// What a person wants done, by verb.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct VerbRules {
    pub(super) feature: Lexicon,
    pub(super) bug: Lexicon,
    pub(super) refactor: Lexicon,
    pub(super) review: Lexicon,
    /// Verbs such as "look at": a review, unless something is said to be wrong.
    pub(super) look: Lexicon,
    pub(super) research: Lexicon,
    pub(super) run: Lexicon,
    pub(super) change: Lexicon,
    pub(super) chore: Lexicon,
}

/// What says that something is wrong.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct SymptomRules {
    pub(super) nouns: Lexicon,
    pub(super) states: Lexicon,
}

/// Work that needs no agent, or stays in one place.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct SmallRules {
    pub(super) typo: Lexicon,
    pub(super) wording: Lexicon,
    pub(super) value: Lexicon,
    pub(super) rename: Lexicon,
    pub(super) remove: Lexicon,
    pub(super) local: Lexicon,
}

/// What makes a request large, and roles that are asked for by their subject.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct SizeRules {
    pub(super) large: Lexicon,
    pub(super) product: Lexicon,
    pub(super) architecture: Lexicon,
    pub(super) integration_test: Lexicon,
    pub(super) tests: Lexicon,
    pub(super) several_files: Lexicon,
}

/// A file of rules, in which everything may be absent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RulesFile {
    /// Whether the lists of this file replace the built-in ones instead of adding to them.
    replace: bool,
    verbs: VerbRules,
    symptoms: SymptomRules,
    small: SmallRules,
    areas: BTreeMap<Role, Lexicon>,
    subjects: SubjectRules,
    size: SizeRules,
    exceptions: Lexicon,
    scopes: BTreeMap<Role, Vec<String>>,
    models: BTreeMap<Role, String>,
}

/// Subjects that ask for a certain role, or for none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct SubjectRules {
    design: Lexicon,
    documents: Lexicon,
    shape: Lexicon,
}

/// Why a file of rules cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RulesError {
    /// What the reader of TOML says, with line and column.
    pub message: String,
}

impl DispatchRules {
    /// The built-in rules, and then those of files: each adds to the lists, or replaces the lists it names with
    /// `replace = true`.
    pub fn with_files(files: &[String]) -> Result<DispatchRules, RulesError> {
        let mut rules = RulesFile::read(BUILT_IN).expect("the built-in rules are tested");
        for text in files {
            rules.join(RulesFile::read(text)?);
        }
        Ok(DispatchRules::from_file(rules))
    }

    fn from_file(file: RulesFile) -> DispatchRules {
        let mut nouns = BTreeSet::new();
        let lists = file.areas.values().chain([
            &file.symptoms.nouns,
            &file.small.typo,
            &file.small.wording,
            &file.small.value,
            &file.subjects.design,
            &file.subjects.documents,
            &file.size.product,
            &file.size.architecture,
            &file.size.tests,
        ]);
        for list in lists {
            nouns.extend(list.korean().map(String::from));
        }
        DispatchRules {
            verbs: file.verbs,
            symptoms: file.symptoms,
            small: file.small,
            areas: file.areas,
            design: file.subjects.design,
            documents: file.subjects.documents,
            shape: file.subjects.shape,
            size: file.size,
            exceptions: file.exceptions,
            scopes: file.scopes,
            models: file.models,
            nouns,
        }
    }
}

impl RulesFile {
    fn read(text: &str) -> Result<RulesFile, RulesError> {
        toml::from_str(text)
            .map_err(|error| RulesError { message: alloc::string::ToString::to_string(&error) })
    }

    fn join(&mut self, other: RulesFile) {
        let replaces = other.replace;
        let join = |own: &mut Lexicon, other: Lexicon| {
            if replaces && other != Lexicon::default() {
                *own = other;
            } else {
                own.extend(other);
            }
        };
        let (verbs, symptoms, small, size) = (other.verbs, other.symptoms, other.small, other.size);
        join(&mut self.verbs.feature, verbs.feature);
        join(&mut self.verbs.bug, verbs.bug);
        join(&mut self.verbs.refactor, verbs.refactor);
        join(&mut self.verbs.review, verbs.review);
        join(&mut self.verbs.look, verbs.look);
        join(&mut self.verbs.research, verbs.research);
        join(&mut self.verbs.run, verbs.run);
        join(&mut self.verbs.change, verbs.change);
        join(&mut self.verbs.chore, verbs.chore);
        join(&mut self.symptoms.nouns, symptoms.nouns);
        join(&mut self.symptoms.states, symptoms.states);
        join(&mut self.small.typo, small.typo);
        join(&mut self.small.wording, small.wording);
        join(&mut self.small.value, small.value);
        join(&mut self.small.rename, small.rename);
        join(&mut self.small.remove, small.remove);
        join(&mut self.small.local, small.local);
        join(&mut self.subjects.design, other.subjects.design);
        join(&mut self.subjects.documents, other.subjects.documents);
        join(&mut self.subjects.shape, other.subjects.shape);
        join(&mut self.size.large, size.large);
        join(&mut self.size.product, size.product);
        join(&mut self.size.architecture, size.architecture);
        join(&mut self.size.integration_test, size.integration_test);
        join(&mut self.size.tests, size.tests);
        join(&mut self.size.several_files, size.several_files);
        join(&mut self.exceptions, other.exceptions);
        for (role, list) in other.areas {
            join(self.areas.entry(role).or_default(), list);
        }
        self.scopes.extend(other.scopes);
        self.models.extend(other.models);
    }
}
