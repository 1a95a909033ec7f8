//! Runs: created by a person, and how they begin.

use alloc::{borrow::ToOwned, boxed::Box, format};

use super::Maker;
use crate::{
    action::Deed,
    checkpoint::Skip,
    event::Event,
    graph::GraphEvent,
    id::{GraphId, ProjectId, RunId, SessionId},
    input::{NewProject, NewRun, Refusal, SecretNews, WorktreeNews},
    run::{Outcome, Reason},
    session::{Back, Order, Role, StoredSecret, Worktree, WorktreeState, WorktreeTerms},
    work_secret::{WorkScan, WorkSecretEvent},
};

impl Maker<'_> {
    pub(super) fn create_run(&mut self, new: &NewRun) -> Result<(), Refusal> {
        if new.worktrees.is_some() && !new.git {
            return Err(Refusal::NotGit { directory: new.order.directory.clone() });
        }
        if new.phases.is_some() {
            self.can_go_through_phases(new)?;
        }
        if new.graph.is_some() {
            self.is_free_for_graph(new)?;
        }
        if let Some(name) = &new.session_name {
            self.is_free(name, None)?;
        }
        let NewRun { root, name, git, .. } = new;
        let project = self.project(&NewProject { root: root.clone(), name: name.clone(), git: *git });
        if self.desk.get(project).is_some_and(|known| known.roles != new.roles) {
            self.emit_at(Some(project), None, None, Event::ProjectRoles { names: new.roles.clone() });
        }
        let run = RunId(self.desk.counters().run + 1);
        let created =
            Event::RunCreated { title: new.title.clone(), terms: new.terms.clone(), parent: new.parent };
        self.emit_at(Some(project), Some(run), None, created);
        if let Some(plan) = &new.phases {
            self.emit_at(Some(project), Some(run), None, Event::RunPhased { plan: plan.clone() });
        }
        let graph = new.graph.as_ref().map(|spec| (GraphId(self.desk.counters().graph + 1), spec));
        let order = graph.map_or_else(
            || new.order.clone(),
            |(graph, _)| Box::new(Order { role: Role::Graph { graph }, ..(*new.order).clone() }),
        );
        let id = self.create_first_session(
            project,
            run,
            &order,
            new.worktrees.as_deref().map(|folder| (folder, &new.worktree_terms)),
        );
        self.made.run = Some(run);
        self.made.session = Some(id);
        if new.session_name.is_some() {
            self.call_by_name(id, new.session_name.as_ref());
        }
        if new.order.checkpoints.is_some() && !new.git {
            self.emit(id, Event::CheckpointSkipped { checkpoint: None, reason: Skip::NoRepository });
        }
        if let (Some(parent), Some(key)) = (new.parent, &new.node) {
            self.start_node(parent, key, run)?;
        }
        if let Some((graph, spec)) = graph {
            self.emit(id, Event::Graph(GraphEvent::Created { graph, spec: spec.clone() }));
            self.act(id, Deed::RunGraph);
        } else if new.worktrees.is_some() {
            self.act(id, Deed::MakeWorktree);
        } else if new.phases.is_some() {
            self.start_phase(id, 1);
        } else {
            self.advance(id);
        }
        Ok(())
    }

    /// The first session of a run, which is not started yet; with a folder, it is to work in a worktree there.
    pub(super) fn create_first_session(
        &mut self,
        project: ProjectId,
        run: RunId,
        order: &Order,
        worktrees: Option<(&str, &WorktreeTerms)>,
    ) -> SessionId {
        let id = SessionId(self.desk.counters().session + 1);
        let worktree = worktrees.map(|(folder, terms)| Worktree {
            path: format!("{folder}/{id}"),
            directory: terms.subdirectory.as_ref().map(|below| format!("{folder}/{id}/{below}")),
            changes: terms.changes.clone(),
            branch: format!("ostler/{id}"),
            base: None,
            target: None,
            state: WorktreeState::Wanted,
            back: Back::default(),
        });
        let created = Event::SessionCreated { order: Box::new(order.clone()), worktree };
        self.emit_at(Some(project), Some(run), Some(id), created);
        id
    }

    /// The project at a root, which is known from now on.
    pub(super) fn project(&mut self, new: &NewProject) -> ProjectId {
        if let Some(id) = self.desk.project_at(&new.root) {
            return id;
        }
        let id = ProjectId(self.desk.counters().project + 1);
        let (root, name) = (new.root.clone(), new.name.clone());
        self.emit_at(Some(id), None, None, Event::ProjectRegistered { root, name, git: new.git });
        id
    }

    /// Something has become of a secret. The engine never sees its value.
    pub(super) fn note_secret(
        &mut self,
        project: ProjectId,
        name: &str,
        news: &SecretNews,
    ) -> Result<(), Refusal> {
        if !self.desk.has_project(project) {
            return Err(Refusal::NoProject { project });
        }
        let secret = name.to_owned();
        let event = match news {
            SecretNews::Stored { what, reuse, version } => {
                let (what, reuse, version) = (what.clone(), *reuse, *version);
                Event::SecretStored(StoredSecret { secret, what, reuse, version })
            }
            SecretNews::Removed => Event::SecretRemoved { secret },
        };
        self.emit_at(Some(project), None, None, event);
        self.made.project = Some(project);
        Ok(())
    }

    /// Records which secrets are in what a session has changed. A secret stops nothing.
    pub(super) fn note_work_secrets(&mut self, scan: &WorkScan) {
        let id = scan.session;
        if self.desk.get(id).is_none() {
            return;
        }
        for it in &scan.found {
            self.emit(id, Event::WorkSecret(WorkSecretEvent::Found(it.clone())));
        }
        if !scan.unchecked.is_empty() {
            let unchecked = WorkSecretEvent::Unchecked { step: scan.step, why: scan.unchecked.clone() };
            self.emit(id, Event::WorkSecret(unchecked));
        }
    }

    /// Something has become of a worktree. Each word is heard only by who waits for it.
    pub(super) fn change_worktree(&mut self, id: SessionId, news: &WorktreeNews) {
        let Some(session) = self.desk.get(id) else { return };
        let Some(mut worktree) = session.worktree.clone() else { return };
        let is_over = session.is_over();
        worktree.state = match (&worktree.state, news) {
            (WorktreeState::Wanted, WorktreeNews::Made { base, target }) => {
                worktree.base = Some(base.clone());
                worktree.target.clone_from(target);
                WorktreeState::Made
            }
            (WorktreeState::Wanted, WorktreeNews::NotMade { message }) => {
                if !is_over {
                    let reason = Reason::NoWorktree { message: message.to_owned() };
                    self.finish(id, Outcome::Failed { reason });
                }
                return;
            }
            (WorktreeState::Merging { .. }, WorktreeNews::Merged { commit }) => {
                WorktreeState::Merged { commit: commit.clone() }
            }
            (WorktreeState::Merging { .. }, WorktreeNews::NotMerged { message, files, conflict }) => {
                return self.not_merged(id, message, files, *conflict);
            }
            (WorktreeState::Testing, WorktreeNews::Tested { number, verdict })
                if *number == worktree.back.tests =>
            {
                return self.tested(id, verdict);
            }
            (WorktreeState::Discarding, WorktreeNews::Discarded { kept }) => {
                WorktreeState::Discarded { kept: kept.clone() }
            }
            (WorktreeState::Discarding, WorktreeNews::NotDiscarded { message }) => {
                WorktreeState::NotDiscarded { message: message.clone() }
            }
            _ => return,
        };
        self.emit(id, Event::WorktreeChanged { worktree });
        self.advance(id);
    }
}
