//! The part of the joiner that decides which entries are tasks, which are groups, and which only looked like one.

use alloc::{
    collections::{BTreeMap, BTreeSet},
    vec::Vec,
};

use ostler_protocol::task_name::IdForm;

use super::{
    draft::{Wanted, shown},
    id::{Id, family},
    join::Joiner,
    passed_over::PassedKind,
    problem::Warning,
    task::{NONE, Place, Shape, small},
};

impl Joiner<'_> {
    /// Settles what the reader could not know line by line.
    pub(super) fn confirm(&mut self) {
        self.confirm_named();
        self.confirm_families();
        self.find_groups();
        self.group_by_name();
        self.drop_tentative();
    }

    /// Who is named as a dependency is a task.
    fn confirm_named(&mut self) {
        if !self.draft.entries.iter().any(|entry| entry.is_tentative) {
            return;
        }
        let text = self.text;
        let wanted = self.draft.needs.iter().filter_map(|need| match need.what {
            Wanted::Id(id) | Wanted::Maybe(id, _) | Wanted::Range { first: id, .. } => Some(id),
            Wanted::Phase(_) | Wanted::Milestone(..) | Wanted::Words(_) => None,
        });
        let drawn = self.draft.diagrams.edges.iter().flat_map(|(_, _, from, to)| [*from, *to]);
        let labels = self.draft.diagrams.labels.iter().map(|(_, _, id)| *id);
        let names = wanted.chain(drawn).chain(labels).map(|it| it.in_text(text));
        let entries = &self.draft.entries;
        let name_of = |entry: u32| entries[entry as usize].name.in_text(text);
        let found: Vec<u32> = names.filter_map(|name| self.draft.index.find(name, name_of)).collect();
        let known = self.draft.known.iter().map(|(before, _)| *before);
        for entry in known.chain(found) {
            self.draft.entries[entry as usize].is_tentative = false;
        }
    }

    /// Where one id of a kind is a task, all of them are; so are two boxes of a kind. Numbers of headings count sections.
    fn confirm_families(&mut self) {
        let text = self.text;
        let mut boxes: BTreeMap<&[u8], u32> = BTreeMap::new();
        for entry in self.draft.entries.iter().filter(|entry| entry.form != IdForm::Plain) {
            let family = family(entry.name.in_text(text));
            let is_box = entry.is_tentative && entry.shape == Shape::Item;
            let count = boxes.entry(family).or_default();
            *count += u32::from(is_box);
            if !entry.is_tentative || *count > 1 {
                self.families.insert(family);
            }
        }
        for entry in self.draft.entries.iter_mut().filter(|entry| entry.form == IdForm::Word) {
            entry.is_tentative &= !self.families.contains(family(entry.name.in_text(text)));
        }
    }

    /// Whatever has a task below it is a group: nobody does it itself. A box in its heading may say that somebody should.
    fn find_groups(&mut self) {
        for at in 0..self.draft.entries.len() {
            if self.draft.entries[at].is_tentative {
                continue;
            }
            let mut around = self.draft.entries[at].parent;
            while around != NONE {
                let group = &mut self.draft.entries[around as usize];
                if core::mem::replace(&mut group.is_group, true) {
                    break;
                }
                group.is_tentative = false;
                if group.shape == Shape::Heading && matches!(group.place, Place::Inside(_)) {
                    let (line, task) = (group.line, shown(group.name.in_text(self.text)));
                    self.draft.warn(line, Warning::BoxedGroup { task });
                }
                around = self.draft.entries[around as usize].parent;
            }
        }
    }

    /// `### P2-R1: Orders` beside `### P2-R1-T1` is a group too, if nothing is said about it and it has no box.
    fn group_by_name(&mut self) {
        let is_bare = |at: usize| {
            let entry = &self.draft.entries[at];
            entry.shape == Shape::Heading
                && !entry.is_group
                && !entry.named
                && matches!(entry.place, Place::Tick(_))
        };
        let mut bare: BTreeSet<u32> =
            (0..self.draft.entries.len()).filter(|&at| is_bare(at)).map(small).collect();
        if bare.is_empty() {
            return;
        }
        for attribute in &self.draft.attributes {
            bare.remove(&attribute.entry);
        }
        let mut groups = Vec::new();
        for entry in &self.draft.entries {
            let name = entry.name.in_text(self.text);
            for (end, _) in name.iter().enumerate().filter(|(_, byte)| matches!(byte, b'-' | b'.')) {
                let around = Id::parse(&name[..end]).and_then(|id| self.find(id.name));
                groups.extend(around.filter(|around| bare.contains(around)));
            }
        }
        for group in groups {
            self.draft.entries[group as usize].is_group = true;
            self.by_name.insert(group);
        }
    }

    /// What is still in doubt is no task: it gets a node of its own that nobody waits for, and is told.
    fn drop_tentative(&mut self) {
        for at in 0..self.draft.entries.len() {
            let entry = &mut self.draft.entries[at];
            if !entry.is_tentative {
                continue;
            }
            entry.is_group = true;
            let (line, name) = (entry.line, entry.name.in_text(self.text));
            if entry.shape == Shape::Item {
                self.draft.warn(line, Warning::NamelessBox);
            } else if entry.form == IdForm::Word {
                self.draft.pass_over(line, PassedKind::HeadingOnly, name);
            }
        }
    }

    /// Joins the groups that have their members by name alone with these.
    pub(super) fn members_by_name(&mut self) {
        if self.by_name.is_empty() {
            return;
        }
        for entry in 0..small(self.draft.entries.len()) {
            let name = self.draft.entries[entry as usize].name.in_text(self.text);
            let ends = (0..name.len()).rev().filter(|&at| matches!(name[at], b'-' | b'.'));
            let around = ends.map(|end| &name[..end]).find_map(|name| self.find(Id::parse(name)?.name));
            if let Some(around) = around
                && self.by_name.contains(&around)
                && !self.draft.entries[entry as usize].is_tentative
            {
                self.edge(self.start(around), self.start(entry));
                self.edge(self.nodes[entry as usize], self.nodes[around as usize]);
            }
        }
    }
}
