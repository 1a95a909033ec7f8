//! The tables of everything that the engine knows, one per kind of entity.
//!
//! [`World`](super::World) and [`Overlay`](super::Overlay) hold the same tables: the world what is committed, an overlay
//! copies of what a decision touched. A new kind of entity is one line in the list below and a function
//! of [`Index`] that keeps its indexes.

use alloc::collections::BTreeMap;

use super::index::Index;
use crate::{
    account::Account,
    checkpoint::Checkpoint,
    graph::{WorkGraph, WorkGroup, WorkNode},
    id::{
        AccountId, CheckpointId, GraphId, GroupId, InvocationId, NodeId, ProjectId, RequestId, ResultId,
        RunId, SessionId,
    },
    office::{Handover, Invocation},
    request::Request,
    run::{Project, Run},
    session::Session,
};

/// The id of an entity, which also says what kind of entity it is the id of.
pub trait EntityId: Copy + Ord + 'static {
    /// The kind.
    type Entity: Entity<Id = Self>;
}

/// Something that has an id and a row of its own.
pub trait Entity: Clone + 'static {
    /// The type of its id.
    type Id: EntityId<Entity = Self>;

    /// Its id.
    fn id(&self) -> Self::Id;

    /// The table that entities of this kind are in.
    fn table(tables: &Tables) -> &BTreeMap<Self::Id, Self>;

    /// The same, to change it.
    fn table_mut(tables: &mut Tables) -> &mut BTreeMap<Self::Id, Self>;

    /// Brings the indexes of the world up to date when an entity takes the place of another, comes or goes.
    fn index(before: Option<&Self>, after: Option<&Self>, index: &mut Index);
}

macro_rules! tables {
    ($($(#[$doc:meta])* $table:ident: $id:ident => $entity:ident [$index:ident]),* $(,)?) => {
        /// One table per kind of entity.
        #[derive(Debug, Clone, Default, PartialEq)]
        pub struct Tables {
            $($(#[$doc])* pub $table: BTreeMap<$id, $entity>),*
        }

        impl Tables {
            /// Takes over the rows of other tables; they replace rows with the same id.
            pub(super) fn extend(&mut self, later: Tables) {
                $(self.$table.extend(later.$table);)*
            }
        }

        impl super::World {
            /// Puts every row of other tables in its place, in the order of the list.
            pub(super) fn put_all(&mut self, tables: Tables) {
                $(tables.$table.into_values().for_each(|entity| self.replace(entity));)*
            }
        }

        $(
            impl EntityId for $id {
                type Entity = $entity;
            }

            impl Entity for $entity {
                type Id = $id;

                fn id(&self) -> $id {
                    self.id
                }

                fn table(tables: &Tables) -> &BTreeMap<$id, Self> {
                    &tables.$table
                }

                fn table_mut(tables: &mut Tables) -> &mut BTreeMap<$id, Self> {
                    &mut tables.$table
                }

                fn index(before: Option<&Self>, after: Option<&Self>, index: &mut Index) {
                    index.$index(before, after);
                }
            }
        )*
    };
}

tables! {
    /// Projects.
    projects: ProjectId => Project [index_project],
    /// Runs.
    runs: RunId => Run [index_run],
    /// Sessions.
    sessions: SessionId => Session [index_session],
    /// Requests.
    requests: RequestId => Request [index_request],
    /// Accounts that have ever hit a limit.
    accounts: AccountId => Account [index_account],
    /// Checkpoints that somebody asked about, or that are being made.
    checkpoints: CheckpointId => Checkpoint [index_checkpoint],
    /// Calls between agents, as long as something can still happen to them.
    invocations: InvocationId => Invocation [index_invocation],
    /// Graphs of sessions that are not over.
    graphs: GraphId => WorkGraph [index_graph],
    /// Their nodes, once they were started or decided.
    nodes: NodeId => WorkNode [index_node],
    /// Their groups, once they were begun.
    groups: GroupId => WorkGroup [index_group],
    /// Results that were not read yet.
    results: ResultId => Handover [index_result],
}
