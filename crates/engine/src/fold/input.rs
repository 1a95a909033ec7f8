//! How far what is on its way to an agent has got.

use super::Place;
use crate::{
    event::{Event, NotTaken, Parcel},
    id::SessionId,
    request::{Ask, Bringing},
    world::StagedWorld,
};

impl StagedWorld<'_> {
    pub(super) fn fold_input(&mut self, place: &Place, at_ms: u64, event: &Event) {
        match event {
            Event::InputSent { launch, parcel } => {
                // What it said at an earlier end was said before it got this.
                if let Some(launch) = self.get_mut(place.session).launches.last_mut() {
                    launch.end = None;
                    launch.fed = true;
                    launch.closes_at_ms = None;
                }
                self.bring(place.session, *parcel, Bringing::Sent { launch: *launch });
                self.fold_told(place.session, at_ms, *parcel);
            }
            Event::InputDelivered { launch, spool_seq, parcel } => {
                self.known(place.session, *launch, *spool_seq);
                // Whoever was told something may have reason to say the same once more.
                self.get_mut(place.session).office.drawn.clear();
                let launch = *launch;
                let in_prompt = spool_seq.is_none();
                let bringing =
                    if in_prompt { Bringing::Prompted { launch } } else { Bringing::Delivered { launch } };
                self.bring(place.session, *parcel, bringing);
                if in_prompt {
                    self.fold_told(place.session, at_ms, *parcel);
                }
            }
            Event::InputConsumed { launch, spool_seq, parcel } => {
                self.known(place.session, *launch, *spool_seq);
                let launch = *launch;
                let is_read = spool_seq.is_some() && self.needs_proof(place.session, *parcel);
                let bringing =
                    if is_read { Bringing::Unproven { launch } } else { Bringing::Consumed { launch } };
                self.bring(place.session, *parcel, bringing);
            }
            Event::InputHeard { launch, parcel } => {
                self.bring(place.session, *parcel, Bringing::Heard { launch: *launch });
            }
            Event::InputRefused(NotTaken { launch, parcel, .. }) => {
                self.bring(place.session, *parcel, Bringing::Refused { launch: *launch });
            }
            Event::InputReturned { parcel } => {
                self.bring(place.session, *parcel, Bringing::Undeliverable);
            }
            _ => {}
        }
    }

    /// Whether an agent that has read something may still lose it. A decision about a tool is no message: the CLI acts on
    /// it when it reads it.
    fn needs_proof(&self, session: SessionId, parcel: Parcel) -> bool {
        let Some(session) = self.get(session) else { return false };
        let agent = &session.order.agent;
        let is_decision = match parcel {
            Parcel::Request(id) => {
                let request = self.get(id);
                agent.permission.is_some() && request.is_some_and(|it| matches!(it.ask, Ask::Permission(_)))
            }
            Parcel::Expiry(_) | Parcel::Message(_) => false,
        };
        agent.input.proven && !is_decision
    }

    /// Notes how far a parcel has got. It never goes back: the proof may be recorded before the shim has noticed that the
    /// pipe is empty.
    fn bring(&mut self, session: SessionId, parcel: Parcel, bringing: Bringing) {
        if let Bringing::Unproven { launch } | Bringing::Consumed { launch } = bringing
            && self.bringing(session, parcel) == Some(Bringing::Heard { launch })
        {
            return;
        }
        match parcel {
            Parcel::Request(id) | Parcel::Expiry(id) => {
                // The word that it expired says nothing of an answer that came later.
                if parcel == Parcel::Expiry(id) && self.get(id).is_some_and(|it| !it.is_open()) {
                    return;
                }
                self.get_mut(id).bringing = bringing;
            }
            Parcel::Message(id) => {
                let messages = &mut self.get_mut(session).messages;
                let Some(message) = messages.iter_mut().find(|message| message.id == id) else { return };
                message.bringing = bringing;
                if bringing == Bringing::Undeliverable {
                    let about = message.about;
                    self.fold_returned(about);
                }
            }
        }
    }

    /// How far a parcel has got.
    pub(crate) fn bringing(&self, session: SessionId, parcel: Parcel) -> Option<Bringing> {
        match parcel {
            Parcel::Request(id) | Parcel::Expiry(id) => self.get(id).map(|request| request.bringing),
            Parcel::Message(id) => {
                let message = self.get(session)?.messages.iter().find(|message| message.id == id);
                message.map(|message| message.bringing)
            }
        }
    }
}
