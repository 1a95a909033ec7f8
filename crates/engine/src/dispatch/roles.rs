//! Chooses the roles for a request by its kind, its size and the parts of the product that it names.

use alloc::{
    collections::{BTreeMap, BTreeSet},
    vec::Vec,
};

use super::{
    intent::{Intent, Reading, VerbKind},
    plan::DispatchFacts,
    role::Role,
    text::{Word, WordForm},
};

/// The roles of a request.
pub(super) struct ChosenRoles {
    pub(super) roles: BTreeSet<Role>,
    /// The rules that chose them, in the order in which they were applied.
    pub(super) rules: Vec<&'static str>,
}

impl ChosenRoles {
    fn of(roles: &[Role], rule: &'static str) -> ChosenRoles {
        ChosenRoles { roles: roles.iter().copied().collect(), rules: alloc::vec![rule] }
    }

    fn add(&mut self, role: Role, reason: &'static str) {
        if self.roles.insert(role) {
            self.rules.push(reason);
        }
    }
}

/// A subject that asks for a certain role.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Subject {
    Architecture,
    IntegrationTests,
    Product,
    Design,
}

/// Chooses the roles. `skill` are the roles of the skill that fired.
pub(super) fn choose(
    reading: &Reading<'_>,
    intent: Intent,
    facts: &DispatchFacts,
    skill: Option<&BTreeSet<Role>>,
) -> ChosenRoles {
    let size = &reading.rules.size;
    let named = [
        (Subject::Architecture, &size.architecture),
        (Subject::IntegrationTests, &size.integration_test),
        (Subject::Product, &size.product),
        (Subject::Design, &reading.rules.design),
    ];
    let named = named.into_iter().filter(|(_, list)| reading.has(list));
    let subjects: Vec<Subject> = named.map(|(subject, _)| subject).collect();
    let areas = areas(reading);
    let mut chosen = match intent {
        Intent::Research => return ChosenRoles::of(&[Role::Researcher], "research_reads_only"),
        Intent::Review => return review(reading, &subjects),
        Intent::Tests => return tests(reading, &subjects),
        Intent::Other => return other(reading),
        Intent::Bug => bug(reading, facts, &areas),
        Intent::Refactor => refactor(reading, facts, &areas),
        Intent::Feature => feature(reading, facts, &areas, &subjects, skill),
    };
    if chosen.roles.is_empty() {
        return chosen;
    }
    if subjects.contains(&Subject::Architecture) {
        chosen.add(Role::Architect, "architecture_named");
    }
    if subjects.contains(&Subject::IntegrationTests) {
        chosen.add(Role::IntegrationTester, "integration_test_named");
    }
    if reading.verb_of(VerbKind::Research) && intent != Intent::Bug {
        chosen.add(Role::Researcher, "research_asked_first");
    }
    if reading.verb_of(VerbKind::Review) {
        chosen.add(Role::CodeReviewer, "review_asked_for");
    }
    leave_out(reading, &mut chosen);
    chosen
}

/// Roles whose subject the request excludes: "without tests", "UI 없이".
fn leave_out(reading: &Reading<'_>, chosen: &mut ChosenRoles) {
    let negated: Vec<&Word> = reading.text.words.iter().filter(|word| word.is_negated).collect();
    if negated.is_empty() {
        return;
    }
    let says = |words: &[&str]| negated.iter().any(|word| words.iter().any(|it| word.text.starts_with(it)));
    let subjects: [(Role, &[&str]); 6] = [
        (Role::UnitTester, &["테스트", "test"]),
        (Role::CodeReviewer, &["리뷰", "검토", "review"]),
        (Role::Frontend, &["ui", "화면", "프론트", "프런트", "frontend", "front-end", "페이지"]),
        (Role::Designer, &["ui", "화면", "디자인", "design", "프론트", "frontend"]),
        (
            Role::Dba,
            &["db", "디비", "데이터베이스", "스키마", "database", "schema", "마이그레이션", "migration"],
        ),
        (Role::Backend, &["백엔드", "서버", "api", "backend", "server"]),
    ];
    for (role, words) in subjects {
        if says(words) && chosen.roles.len() > 1 && chosen.roles.remove(&role) {
            chosen.rules.push("not_wanted");
        }
    }
}

fn review(reading: &Reading<'_>, subjects: &[Subject]) -> ChosenRoles {
    let is_about_code = reading.text.words.iter().any(|word| {
        word.counts() && ["코드", "code", "pr", "diff"].iter().any(|it| word.text.starts_with(it))
    });
    match (subjects.contains(&Subject::Architecture), is_about_code) {
        (true, true) => ChosenRoles::of(&[Role::CodeReviewer, Role::Architect], "architecture_named"),
        (true, false) => ChosenRoles::of(&[Role::Architect], "architecture_named"),
        _ => ChosenRoles::of(&[Role::CodeReviewer], "review_alone"),
    }
}

fn tests(reading: &Reading<'_>, subjects: &[Subject]) -> ChosenRoles {
    if !subjects.contains(&Subject::IntegrationTests) {
        return ChosenRoles::of(&[Role::UnitTester], "tests_alone");
    }
    let is_unit = reading
        .text
        .words
        .iter()
        .any(|word| ["유닛", "단위", "unit"].iter().any(|it| word.text.starts_with(it)));
    let roles: &[Role] =
        if is_unit { &[Role::UnitTester, Role::IntegrationTester] } else { &[Role::IntegrationTester] };
    ChosenRoles::of(roles, "integration_test_named")
}

/// Documents and plain work go to an executor; a chore, a word or a value needs no agent.
fn other(reading: &Reading<'_>) -> ChosenRoles {
    if is_simple(reading) {
        return ChosenRoles::of(&[], "small_change");
    }
    if reading.verbs.iter().any(|verb| reading.is_about_documents(verb)) {
        return ChosenRoles::of(&[Role::Executor], "documents_asked_for");
    }
    ChosenRoles::of(&[], "chore")
}

/// A typo, wording, one value, or a name in one file: work without an agent.
pub(super) fn is_simple(reading: &Reading<'_>) -> bool {
    let small = &reading.rules.small;
    if reading.has(&reading.rules.size.several_files) || reading.has(&reading.rules.size.large) {
        return false;
    }
    if reading.has(&small.typo) {
        return true;
    }
    let changes = reading.verb_of(VerbKind::Change);
    let makes = reading.verb_of(VerbKind::Feature) || reading.verb_of(VerbKind::Refactor);
    if makes || !changes {
        return false;
    }
    if reading.has(&small.wording) || reading.has(&small.value) {
        return true;
    }
    let names_one = reading.text.files().count() == 1
        || reading.text.words.iter().filter(|word| word.form == WordForm::Code).count() >= 1;
    let quotes_one = reading.text.words.iter().any(|word| word.form == WordForm::Quoted);
    (reading.has(&small.rename) || reading.has(&small.remove)) && (names_one || quotes_one)
        || quotes_one && names_one
}

/// Whether the work stays in one place: a function, or one file that the request names.
fn is_local(reading: &Reading<'_>, areas: &[Role]) -> bool {
    let is_wide = reading.has(&reading.rules.size.several_files) || reading.has(&reading.rules.size.large);
    let files = reading.text.files().count();
    let names_code = areas.is_empty() && reading.text.words.iter().any(|word| word.form == WordForm::Code);
    !is_wide && (reading.has(&reading.rules.small.local) || files == 1 || (names_code && files == 0))
}

fn bug(reading: &Reading<'_>, facts: &DispatchFacts, areas: &[Role]) -> ChosenRoles {
    if reading.has(&reading.rules.small.typo) {
        return ChosenRoles::of(&[], "small_change");
    }
    // In Korean what is wrong comes last: "주문 목록 쿼리가 느려요" is about the query.
    let role = if reading.text.is_korean() { areas.last() } else { areas.first() };
    let role = role.copied().unwrap_or_else(|| implementer(&[], facts));
    ChosenRoles::of(&[role, Role::UnitTester], "one_implementer_and_tests")
}

fn refactor(reading: &Reading<'_>, facts: &DispatchFacts, areas: &[Role]) -> ChosenRoles {
    let one = implementer(areas, facts);
    if is_local(reading, areas) {
        return ChosenRoles::of(&[one, Role::UnitTester], "one_implementer_and_tests");
    }
    let mut chosen =
        ChosenRoles::of(&[Role::Researcher, Role::Planner, one, Role::UnitTester], "refactor_is_planned");
    for role in areas {
        chosen.add(*role, "area_named");
    }
    chosen
}

fn feature(
    reading: &Reading<'_>,
    facts: &DispatchFacts,
    areas: &[Role],
    subjects: &[Subject],
    skill: Option<&BTreeSet<Role>>,
) -> ChosenRoles {
    use Role::{Analyst, Architect, CodeReviewer, Designer, Planner, Pm, Researcher, UnitTester};
    let size = &reading.rules.size;
    let mut chosen = if reading.has(&size.large) || subjects.contains(&Subject::Product) {
        large(reading, areas)
    } else if is_simple(reading) {
        return ChosenRoles::of(&[], "small_change");
    } else if let Some(roles) = skill {
        ChosenRoles { roles: roles.clone(), rules: alloc::vec!["skill"] }
    } else if areas.len() >= 2 {
        let mut chosen = ChosenRoles::of(&[Researcher, Planner, UnitTester, CodeReviewer], "several_areas");
        for role in areas {
            chosen.add(*role, "area_named");
        }
        chosen
    } else if is_local(reading, areas) {
        ChosenRoles::of(&[implementer(areas, facts), UnitTester], "one_implementer_and_tests")
    } else if areas.is_empty() && subjects.contains(&Subject::Architecture) && !reading.text.words.is_empty()
    {
        ChosenRoles::of(&[Researcher, Architect], "architecture_named")
    } else {
        ChosenRoles::of(&[implementer(areas, facts), UnitTester, CodeReviewer], "one_area")
    };
    if subjects.contains(&Subject::Product) {
        chosen.add(Pm, "product_document_named");
        chosen.add(Analyst, "product_document_named");
    }
    if subjects.contains(&Subject::Design) {
        chosen.add(Designer, "design_named");
    }
    chosen
}

/// Everything from the analysis to the architect. Without a named part it is a whole product.
fn large(reading: &Reading<'_>, areas: &[Role]) -> ChosenRoles {
    use Role::{
        Analyst, Architect, Backend, CodeReviewer, Dba, Designer, Frontend, Planner, Researcher, UnitTester,
    };
    let only_document = reading.has(&reading.rules.size.product)
        && !reading.has(&reading.rules.size.large)
        && areas.is_empty();
    if only_document {
        return ChosenRoles::of(&[Researcher, Analyst], "product_document_named");
    }
    let mut chosen = ChosenRoles::of(
        &[
            Researcher,
            Analyst,
            Planner,
            Designer,
            Dba,
            Frontend,
            Backend,
            UnitTester,
            CodeReviewer,
            Architect,
        ],
        "large",
    );
    for role in areas.iter().filter(|role| **role != Role::Executor) {
        chosen.add(*role, "area_named");
    }
    chosen
}

/// The one role that does the work.
fn implementer(areas: &[Role], facts: &DispatchFacts) -> Role {
    match areas.first() {
        Some(role) => *role,
        None if facts.has_backend => Role::Backend,
        None if facts.has_frontend => Role::Frontend,
        None => Role::Executor,
    }
}

/// The parts of the product that the request is about, the most important first. Words in a row are one subject, named by
/// their last word: "로그인 페이지" is a page.
fn areas(reading: &Reading<'_>) -> Vec<Role> {
    let mut at: BTreeMap<usize, (usize, Role)> = BTreeMap::new();
    for (role, hit) in &reading.areas {
        let is_better = |(last, other): &(usize, Role)| {
            hit.last > *last || (hit.last == *last && *other == Role::Executor)
        };
        if at.get(&hit.first).is_none_or(is_better) {
            at.insert(hit.first, (hit.last, *role));
        }
    }
    // `/users` is a route.
    for (index, word) in reading.text.words.iter().enumerate() {
        if word.form == WordForm::Code && word.text.starts_with('/') && !word.is_negated {
            at.insert(index, (index, Role::Backend));
        }
    }
    at.retain(|first, (last, role)| *role == Role::AiServer || !describes(reading, *first, *last));
    let mut groups: Vec<(usize, Role)> = Vec::new();
    let mut end: Option<usize> = None;
    for (first, (last, role)) in at {
        let continues = end.is_some_and(|end| first <= end + 1 && !separates(reading, end, first));
        match groups.last_mut().filter(|_| continues) {
            // The executor's words name no part of a product: "DB 마이그레이션 스크립트" is the database's.
            Some(group) if role != Role::Executor => *group = (last, role),
            Some(group) => group.0 = last,
            None => groups.push((last, role)),
        }
        end = Some(end.map_or(last, |end| end.max(last)));
    }
    let mut roles: Vec<Role> = Vec::new();
    let has_other = groups.iter().any(|(_, role)| *role != Role::Executor);
    for (_, role) in groups {
        if !(roles.contains(&role) || (has_other && role == Role::Executor)) {
            roles.push(role);
        }
    }
    roles
}

/// Whether words only describe something that follows: "로그인한 사용자", "진행률을 보여주는 컴포넌트".
fn describes(reading: &Reading<'_>, first: usize, last: usize) -> bool {
    let words = &reading.text.words;
    if !words[last].is_korean() && !words.get(last + 1).is_some_and(Word::is_korean) {
        return false;
    }
    let is_verb = |word: &Word| {
        ["한", "된", "하는", "되는", "는", "던"]
            .iter()
            .any(|it| word.text.ends_with(it) && word.text.chars().count() > it.chars().count() + 1)
    };
    let own = &words[last].text;
    if ["한", "된", "하는", "되는", "할"].iter().any(|it| own.ends_with(it)) && own.chars().count() > 2
    {
        return true;
    }
    let clause = words[first].clause;
    let mut after = words[last + 1..].iter().take_while(|word| word.clause == clause).take(3);
    let is_particle = own.ends_with('을')
        || own.ends_with('를')
        || own.ends_with('이')
        || own.ends_with('가')
        || own.ends_with('에')
        || words[last + 1..]
            .first()
            .is_some_and(|next| ["을", "를", "이", "가"].contains(&next.text.as_str()));
    let verb = after.position(|word| word.is_korean() && is_verb(word));
    let Some(verb) = verb.filter(|at| is_particle || *at < 2) else { return false };
    let rest = last + 1 + verb + 1;
    reading.areas.iter().any(|(_, hit)| hit.first >= rest && words[hit.first].clause == clause)
}

/// Whether a particle or a clause separates two words that follow each other: "프론트와 백엔드".
fn separates(reading: &Reading<'_>, end: usize, first: usize) -> bool {
    let (before, after) = (&reading.text.words[end], &reading.text.words[first]);
    let joins = [
        "와", "과", "랑", "하고", "및", "도", "이랑", "을", "를", "에서", "에", "은", "는", "이", "가",
        "으로", "로",
    ];
    before.clause != after.clause
        || (first > end
            && before.is_korean()
            && joins
                .iter()
                .any(|it| before.text.ends_with(it) && before.text.chars().count() > it.chars().count() + 1))
}
