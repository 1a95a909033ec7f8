//! What happens to the history of a project before it is set up. It decides by facts alone, and knows no git.

/// What is known of a project's history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own, and any of them may hold")]
pub struct HistoryFacts {
    /// Whether the last segment of the origin's address is the name of a template.
    pub is_template_origin: bool,
    /// Whether the files of a template are there.
    pub has_template_files: bool,
    /// Whether there is an origin at all.
    pub has_origin: bool,
    /// Whether there is a commit.
    pub has_commit: bool,
    /// Whether no file has changes.
    pub is_clean: bool,
    /// Whether there is something that the origin does not have.
    pub has_own_work: bool,
    /// Whether a new root can be made here: a branch is checked out in the main checkout, and nothing is half done.
    pub can_root: bool,
    /// Whether the last new root was begun and not finished.
    pub is_half_rooted: bool,
}

/// What happens to the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HistoryStep {
    /// There is no repository: ask whether to make one.
    AskRepository,
    /// Make a new root without asking.
    NewRoot,
    /// Finish a new root that was begun.
    FinishRoot,
    /// A template with work that would be left behind: ask what becomes of it.
    AskTemplate,
    /// Ask whether to keep the history as it is; yes, unless somebody says otherwise.
    AskKeep,
    /// Keep it as it is.
    Keep,
}

impl HistoryStep {
    /// What happens; without facts there is no repository.
    pub fn of(facts: Option<HistoryFacts>) -> HistoryStep {
        let Some(facts) = facts else { return HistoryStep::AskRepository };
        if !facts.can_root || !facts.has_commit {
            return HistoryStep::Keep;
        }
        if facts.is_template_origin && facts.is_half_rooted {
            return HistoryStep::FinishRoot;
        }
        match (facts.is_template_origin, facts.has_template_files) {
            (true, true) if facts.is_clean && !facts.has_own_work => HistoryStep::NewRoot,
            (true, true) => HistoryStep::AskTemplate,
            // A name alone is shared by many projects.
            _ if facts.has_origin => HistoryStep::AskKeep,
            _ => HistoryStep::Keep,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEMPLATE: HistoryFacts = HistoryFacts {
        is_template_origin: true,
        has_template_files: true,
        has_origin: true,
        has_commit: true,
        is_clean: true,
        has_own_work: false,
        can_root: true,
        is_half_rooted: false,
    };

    #[test]
    fn every_row_of_the_table() {
        let check = |facts: HistoryFacts, step| assert_eq!(HistoryStep::of(Some(facts)), step, "{facts:?}");
        assert_eq!(HistoryStep::of(None), HistoryStep::AskRepository);
        check(TEMPLATE, HistoryStep::NewRoot);
        check(HistoryFacts { is_clean: false, ..TEMPLATE }, HistoryStep::AskTemplate);
        check(HistoryFacts { has_own_work: true, ..TEMPLATE }, HistoryStep::AskTemplate);
        check(HistoryFacts { has_template_files: false, ..TEMPLATE }, HistoryStep::AskKeep);
        check(HistoryFacts { is_template_origin: false, ..TEMPLATE }, HistoryStep::AskKeep);
        let own = HistoryFacts { is_template_origin: false, has_template_files: false, ..TEMPLATE };
        check(own, HistoryStep::AskKeep);
        check(HistoryFacts { has_origin: false, ..own }, HistoryStep::Keep);
        check(HistoryFacts { has_commit: false, ..TEMPLATE }, HistoryStep::Keep);
        check(HistoryFacts { can_root: false, ..TEMPLATE }, HistoryStep::Keep);
        check(HistoryFacts { is_half_rooted: true, has_own_work: true, ..TEMPLATE }, HistoryStep::FinishRoot);
    }
}
