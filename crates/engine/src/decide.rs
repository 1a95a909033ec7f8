//! What follows from an input: which events it makes, and which actions.
//!
//! Each kind of input has a module; all of them end with the same question, in `advance`: what is due for this
//! session now? An input that came before, or comes too late, changes nothing.

mod advance;
mod back;
mod budget;
mod calls;
mod checkpoints;
mod gate;
mod graph;
mod judge;
mod names;
mod office;
mod park;
mod permissions;
mod phases;
mod recover;
mod requests;
mod review;
mod runs;
mod shim;
mod thin;
mod time;
mod trust;
mod values;
mod wishes;

use alloc::vec::Vec;

use crate::{
    action::{Action, ActionName, Deed},
    event::{Entry, Event},
    id::{ProjectId, RunId, SessionId},
    input::{Input, Made, Refusal},
    request::Request,
    session::{Launch, LogPlace, Session},
    world::{Overlay, StagedWorld, World},
};

pub(crate) use park::{account_name, due_at_ms as account_due_at_ms};
pub(crate) use time::due_at_ms;

/// What follows from an input. It is committed as a whole, or not at all.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Decision {
    /// What happened, in order. Empty if the input changes nothing.
    pub entries: Vec<Entry>,
    /// What is to be done.
    pub actions: Vec<(ActionName, Action)>,
    /// What has changed.
    pub overlay: Overlay,
    /// What to tell whoever waits.
    pub made: Made,
}

/// Decides. `group` holds the changes of decisions that will be committed together with this one.
pub fn decide(world: &World, group: &Overlay, now_ms: u64, input: &Input) -> Result<Decision, Refusal> {
    let desk = StagedWorld::new(world, group);
    let mut maker = Maker::new(desk, now_ms);
    match input {
        Input::CreateRun(new) => maker.create_run(new)?,
        Input::Register(new) => maker.made.project = Some(maker.project(new)),
        Input::Secret { project, name, news } => maker.note_secret(*project, name, news)?,
        Input::Trust { root, name, git, commands } => maker.trust(root, name, *git, commands),
        Input::Distrust { root } => maker.distrust(root),
        Input::Shim { session, launch, spool_seq, news } => maker.hear(*session, *launch, *spool_seq, news),
        Input::ShimRecords { session, launch, records } => maker.hear_records(*session, *launch, records),
        Input::Overheard { session, launch, before, items } => {
            maker.overhear(*session, *launch, *before, items);
        }
        Input::ShimLost { session, launch } => maker.lose(*session, *launch),
        Input::ShimDisplaced(session, launch) => maker.displaced(*session, *launch),
        Input::LaunchFailed { session, launch, message } => maker.fail_launch(*session, *launch, message),
        Input::NotTaken { session, what, for_good } => maker.not_taken(*session, what, *for_good),
        Input::CheckEnded { session, number, code, output } => {
            maker.end_check(*session, *number, *code, output);
        }
        Input::Worktree { session, news } => maker.change_worktree(*session, news),
        Input::Call { session, launch, key, ask, shown, pid, began } => {
            maker.call((*session, *launch), key, ask, shown.as_ref(), (*pid, *began))?;
        }
        Input::Taken { request, key } => maker.take(*request, key)?,
        Input::CallerGone { request, key } => maker.part(*request, key),
        Input::Told { session, launch, key, item } => maker.tell(*session, *launch, key, item)?,
        Input::InVault { request, names } => maker.find_in_vault(*request, names),
        Input::ValuesNotWritten { session, message } => maker.withhold_values(*session, message),
        Input::Installed { request, install } => maker.end_install(*request, install),
        Input::Checkpointed { session, checkpoint, news } => {
            maker.checkpointed(*session, *checkpoint, news);
        }
        Input::WorkScanned(scan) => maker.note_work_secrets(scan),
        Input::Restored { session, checkpoint, news } => maker.restored(*session, *checkpoint, news),
        Input::Pruned { session, checkpoints } => maker.pruned(*session, checkpoints),
        Input::Checkpoint(session) => maker.checkpoint(*session)?,
        Input::Restore { checkpoint, conversation } => maker.restore(*checkpoint, *conversation)?,
        Input::Collected { gate, collected } => maker.collected(*gate, collected),
        Input::Checked { gate, index, result } => maker.checked(*gate, *index, result),
        Input::VerifierReady { gate, round, order } => maker.verifier_ready(*gate, *round, order),
        Input::Verified { gate, session, round } => maker.verified(*gate, *session, round),
        Input::Reported(gate) => maker.reported(*gate),
        Input::TreeChanged(request) => maker.tree_changed(*request),
        Input::GraphReported { session, report } => maker.graph_reported(*session, report)?,
        Input::Thin { session, number, news } => maker.thin_news(*session, *number, news),
        Input::Review { request, decision } => maker.review(*request, decision)?,
        Input::Answer { request, given, printed } => maker.answer(*request, given, *printed)?,
        Input::Revoke { session, number } => maker.revoke_rule(*session, *number)?,
        Input::Send { session, text, printed } => maker.send(*session, text, *printed)?,
        Input::Resized { session, launch, screen } => maker.resized(*session, *launch, *screen),
        Input::Office(input) => maker.office(input)?,
        Input::Rename(session, name) => maker.rename(*session, name.as_ref())?,
        Input::Pause(session) => maker.pause(*session)?,
        Input::Continue(session) => maker.unpause(*session)?,
        Input::Resume { session, prompt } => maker.resume(*session, prompt.as_deref())?,
        Input::Cancel(session) => maker.cancel(*session)?,
        Input::Merge(session) => maker.merge(*session)?,
        Input::Discard(session) => maker.discard(*session)?,
        Input::Tick => maker.tick(),
    }
    let Maker { desk, entries, actions, made, .. } = maker;
    Ok(Decision { entries, actions, overlay: desk.own, made })
}

/// A decision in the making.
struct Maker<'a> {
    desk: StagedWorld<'a>,
    now_ms: u64,
    /// How far the log of the session that a person speaks to was written by then.
    printed: Option<(SessionId, LogPlace)>,
    entries: Vec<Entry>,
    actions: Vec<(ActionName, Action)>,
    made: Made,
}

impl<'a> Maker<'a> {
    fn new(desk: StagedWorld<'a>, now_ms: u64) -> Maker<'a> {
        let (entries, actions) = (Vec::new(), Vec::new());
        Maker { desk, now_ms, printed: None, entries, actions, made: Made::default() }
    }
}

impl Maker<'_> {
    /// Something happened to a session.
    fn emit(&mut self, session: SessionId, event: Event) {
        let it = self.session(session);
        let (project, run) = (it.project, it.run);
        self.emit_at(Some(project), Some(run), Some(session), event);
    }

    fn emit_at(
        &mut self,
        project: Option<ProjectId>,
        run: Option<RunId>,
        session: Option<SessionId>,
        event: Event,
    ) {
        let seq = self.desk.next_seq();
        let entry = Entry { seq, at_ms: self.now_ms, project, run, session, event };
        self.desk.fold(&entry);
        self.entries.push(entry);
    }

    /// Something is to be done, because of what happened last.
    fn act(&mut self, session: SessionId, what: Deed) {
        let seq = self.entries.last().expect("an action follows from an event").seq;
        let of_same = self.actions.iter().filter(|(name, _)| name.seq == seq).count();
        let index = u32::try_from(of_same).expect("an event has a handful of actions");
        self.actions.push((ActionName { seq, index }, Action { session, what }));
    }

    fn session(&self, id: SessionId) -> &Session {
        self.desk.get(id).expect("it was looked up before")
    }

    fn find(&self, id: SessionId) -> Result<&Session, Refusal> {
        self.desk.get(id).ok_or(Refusal::NoSession { session: id })
    }

    /// The launch that a report is about, if it is still the one that counts.
    fn live(&self, session: SessionId, launch: u32) -> Option<&Launch> {
        self.desk.get(session)?.live().filter(|live| live.number == launch)
    }

    fn is_blocked(&self, session: SessionId) -> bool {
        self.desk.blocking(session).next().is_some()
    }

    /// Where the log of this session was when a person spoke to it.
    fn printed(&self, session: SessionId) -> Option<LogPlace> {
        self.printed.and_then(|(of, place)| (of == session).then_some(place))
    }

    /// Whether its tree has to stand still.
    fn is_held_up(&self, session: SessionId) -> bool {
        self.desk.blocking(session).any(Request::holds)
    }
}
