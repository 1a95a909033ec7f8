//! What agents are told: nothing is lost, nothing is said twice to a conversation that is proven to hold it, and what may
//! be said twice is marked as repeated.

use std::collections::BTreeSet;

use ostler_engine::{
    Entry, Event, SessionId,
    event::Parcel,
    request::Bringing,
    run::Outcome,
    session::{LaunchCause, Session},
};

use crate::outside::Outside;

/// What marks something as repeated.
const REPEATED: &str = "(Repeated: you may have read this already.)";

/// Whether something only lacks its proof. A session that was not completed can be resumed, and is told it then.
pub(crate) fn waits_for_a_resume(session: &Session, bringing: Bringing) -> bool {
    let lacks_proof = matches!(bringing, Bringing::Unproven { .. } | Bringing::Prompted { .. });
    let is_completed = matches!(session.outcome, Some(Outcome::Completed { .. }));
    lacks_proof && session.order.agent.input.proven && !is_completed
}

/// A parcel goes to each launch once, to no launch after it was proven, and is marked where an earlier launch may have
/// heard it.
pub(crate) fn is_told_once(journal: &[Entry], session: SessionId) {
    let (mut told, mut heard, mut delivered) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let mut prompt = None;
    for entry in journal.iter().filter(|entry| entry.session == Some(session)) {
        match &entry.event {
            Event::SessionLaunched { cause, fresh, prompt: words, .. } => {
                // After a limit the prompt as a whole is given again, and who begins anew has heard nothing.
                prompt = (!fresh && *cause != LaunchCause::Limit).then_some(words);
            }
            Event::InputDelivered { launch, parcel, spool_seq } => {
                assert!(!heard.contains(parcel), "{session} is told {parcel} again");
                assert!(
                    told.insert((*launch, *parcel)),
                    "{session} is told {parcel} twice in launch {launch}"
                );
                let is_again = !delivered.insert(*parcel);
                if let Some(prompt) = prompt.filter(|_| spool_seq.is_none() && is_again) {
                    assert!(prompt.contains(REPEATED), "{session} is told {parcel} again: {prompt}");
                }
            }
            Event::InputHeard { parcel, .. } => {
                assert!(delivered.contains(parcel), "{session} has heard {parcel}, which nobody told it");
                assert!(heard.insert(*parcel), "{session} has heard {parcel} twice");
            }
            _ => {}
        }
    }
}

/// The conversation of an agent whose stream proves what it heard holds what counts as heard or read.
pub(crate) fn holds_its_messages(session: &Session, outside: &Outside) {
    for message in session.messages.iter().filter(|_| session.order.agent.input.proven) {
        let (id, bringing) = (session.id, message.bringing);
        assert!(
            !bringing.is_under_way() || waits_for_a_resume(session, bringing),
            "{id} never gets {message:?}"
        );
        let (Bringing::Heard { launch } | Bringing::Consumed { launch }) = bringing else { continue };
        let agent = &outside.shims[&(id, launch)].agent;
        let key = Parcel::Message(message.id).to_string();
        let is_known = agent.knows(&key) || agent.was_given(&message.text);
        assert!(is_known, "{id} counts as having heard {message:?}, and does not know it");
    }
}
