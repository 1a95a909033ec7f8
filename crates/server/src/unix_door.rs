//! Connections over the two Unix sockets. Each caller has a share of them, so that no agent keeps a person or another
//! agent out.
//!
//! A person's connection takes the place of one that asks for nothing. A session that has used up its share is refused
//! with a reason; its own idle connections make room for its next try.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, Weak},
    time::Duration,
};

use axum::{Router, extract::ConnectInfo};
use hyper_util::service::TowerToHyperService;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::{
    http,
    peer::{CallerShare, Door, Peer},
    refused_connection::refuse,
    tcp::{
        self,
        house::{Guest, House},
    },
};

/// The most connections of people at one socket.
const PEOPLE_MAX: usize = 1024;

/// The most connections of one session at one socket.
const SESSION_MAX: usize = 64;

/// The most connections of all sessions together, beyond those that each session may have in any case.
const SESSIONS_MAX: usize = 1024;

/// How many connections a session may have however many the others have.
const ALWAYS: usize = 4;

/// How long a process of an agent may take nothing of what it is sent.
const AGENT_STALL_MAX: Duration = Duration::from_secs(30);

/// The same for a person: a pager may be read for hours.
const PERSON_STALL_MAX: Duration = Duration::from_hours(24);

/// The places at one socket.
#[derive(Debug)]
struct CallerQuota {
    people: Arc<House>,
    /// The places of each session that has a connection.
    sessions: Mutex<HashMap<CallerShare, Weak<House>>>,
    shared: Arc<Semaphore>,
}

/// A connection that was let in.
#[derive(Debug)]
struct QuotaPlace {
    guest: Arc<Guest>,
    _shared: Option<OwnedSemaphorePermit>,
}

/// Takes connections for as long as there is a server.
pub(crate) async fn serve(mut door: Door, router: Router) {
    let service = TowerToHyperService::new(router);
    let quota = CallerQuota::new();
    loop {
        let (stream, peer) = door.accept().await;
        let is_person = peer.caller() == CallerShare::Person;
        let Some(place) = quota.enter(&peer).await else {
            refuse(stream, &http::too_many_connections(SESSION_MAX), 1);
            continue;
        };
        let (service, stall_max) =
            (service.clone(), if is_person { PERSON_STALL_MAX } else { AGENT_STALL_MAX });
        tokio::spawn(async move {
            let QuotaPlace { guest, _shared } = place;
            // A connection that breaks is the client's business.
            drop(tcp::speak(stream, ConnectInfo(peer), service, guest, stall_max).await);
        });
    }
}

impl CallerQuota {
    fn new() -> CallerQuota {
        CallerQuota {
            people: House::new(PEOPLE_MAX),
            sessions: Mutex::default(),
            shared: Arc::new(Semaphore::new(SESSIONS_MAX)),
        }
    }

    /// Gives a connection its place; none if its caller has used up its share.
    async fn enter(&self, peer: &Peer) -> Option<QuotaPlace> {
        match peer.caller() {
            CallerShare::Person => {
                let guest = self.people.enter().await?;
                Some(QuotaPlace { guest, _shared: None })
            }
            share => self.enter_session(share),
        }
    }

    fn enter_session(&self, share: CallerShare) -> Option<QuotaPlace> {
        let house = self.house(share);
        let guest = house.try_enter()?;
        if SESSION_MAX - house.free() <= ALWAYS {
            return Some(QuotaPlace { guest, _shared: None });
        }
        let shared = Arc::clone(&self.shared).try_acquire_owned().ok()?;
        Some(QuotaPlace { guest, _shared: Some(shared) })
    }

    /// The places of one session. Those of sessions without a connection are forgotten.
    fn house(&self, share: CallerShare) -> Arc<House> {
        let mut sessions = self.sessions.lock().expect("nobody panics while looking for a session");
        if let Some(house) = sessions.get(&share).and_then(Weak::upgrade) {
            return house;
        }
        sessions.retain(|_, house| house.strong_count() > 0);
        let house = House::new(SESSION_MAX);
        sessions.insert(share, Arc::downgrade(&house));
        house
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(number: usize) -> CallerShare {
        CallerShare::Session(format!("/sessions/s_{number}").into())
    }

    #[tokio::test]
    async fn sessions_cannot_use_up_each_others_places() {
        let quota = CallerQuota::new();
        let mut places = Vec::new();
        for number in 0..1000 {
            while let Some(place) = quota.enter_session(session(number)) {
                places.push(place);
                assert!(places.len() <= SESSIONS_MAX + (number + 1) * ALWAYS);
            }
        }
        assert_eq!(places.len(), SESSIONS_MAX + 1000 * ALWAYS);
        assert!(quota.enter_session(session(0)).is_none(), "one session has no more than its share");
        let last = quota.enter_session(session(1000));
        assert!(last.is_some(), "a session that comes late still gets in");
        drop((places, last));
        assert!(quota.enter_session(session(0)).is_some());
        assert_eq!(quota.sessions.lock().expect("nobody panics").len(), 1, "who is gone is forgotten");
    }
}
