//! Who is in the house: so many connections at a time and no more. Whoever comes when it is full takes the place of the
//! one that has said nothing for longest; who is being answered is never sent away for another.

use std::{
    collections::BTreeMap,
    pin::{Pin, pin},
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
};

use axum::body::Body;
use hyper::body::{Body as HttpBody, Bytes, Frame, SizeHint};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

/// A house with its guests.
#[derive(Debug)]
pub(crate) struct House {
    room: Arc<Semaphore>,
    waiting: Mutex<Waiting>,
    /// Told when somebody has been answered, and waits again.
    waits: Notify,
}

/// Those of whom nothing is heard, in the order in which that began.
#[derive(Debug, Default)]
struct Waiting {
    last: u64,
    guests: BTreeMap<u64, Arc<Notify>>,
}

/// Somebody in the house, for as long as the connection.
#[derive(Debug)]
pub(crate) struct Guest {
    house: Arc<House>,
    /// Told to make room.
    leave: Arc<Notify>,
    /// Where it stands among those who wait.
    number: Mutex<Option<u64>>,
    has_asked: AtomicBool,
    _place: OwnedSemaphorePermit,
}

/// Somebody is being answered.
pub(crate) struct Answering(Arc<Guest>);

/// An answer on its way: whoever gets it is busy until its end.
struct Attended {
    body: Body,
    _answering: Answering,
}

impl House {
    pub(crate) fn new(places: usize) -> Arc<House> {
        let (room, waiting) = (Arc::new(Semaphore::new(places)), Mutex::default());
        Arc::new(House { room, waiting, waits: Notify::new() })
    }

    /// Lets somebody in. Where the house is full, those are sent away who wait longest, until there is a place.
    pub(crate) async fn enter(self: &Arc<Self>) -> Option<Arc<Guest>> {
        let place = loop {
            if let Ok(place) = Arc::clone(&self.room).try_acquire_owned() {
                break place;
            }
            // Listened for before the look: who waits from then on is not missed.
            let mut waits = pin!(self.waits.notified());
            waits.as_mut().enable();
            let longest = self.waiting().guests.pop_first();
            if let Some((_, leave)) = longest {
                leave.notify_one();
            }
            tokio::select! {
                place = Arc::clone(&self.room).acquire_owned() => break place.ok()?,
                () = waits => {}
            }
        };
        Some(self.seat(place))
    }

    /// Lets somebody in if a place is free. Otherwise the longest idle guest is told to leave, so that the next try
    /// finds a place.
    pub(crate) fn try_enter(self: &Arc<Self>) -> Option<Arc<Guest>> {
        if let Ok(place) = Arc::clone(&self.room).try_acquire_owned() {
            return Some(self.seat(place));
        }
        let longest = self.waiting().guests.pop_first();
        if let Some((_, leave)) = longest {
            leave.notify_one();
        }
        None
    }

    /// The number of free places.
    pub(crate) fn free(&self) -> usize {
        self.room.available_permits()
    }

    fn seat(self: &Arc<Self>, place: OwnedSemaphorePermit) -> Arc<Guest> {
        let (leave, number, has_asked) = (Arc::default(), Mutex::default(), AtomicBool::new(false));
        let guest = Guest { house: Arc::clone(self), leave, number, has_asked, _place: place };
        guest.wait();
        Arc::new(guest)
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().expect("nobody panics while looking at who waits")
    }
}

impl Guest {
    /// Waits until it is to make room for somebody else.
    pub(crate) async fn leaves(&self) {
        self.leave.notified().await;
    }

    /// Whether it has ever asked for something. Who has not gets no answer that could be cut off.
    pub(crate) fn has_asked(&self) -> bool {
        self.has_asked.load(Ordering::Relaxed)
    }

    /// It asks for something.
    pub(crate) fn asks(self: &Arc<Self>) -> Answering {
        self.has_asked.store(true, Ordering::Relaxed);
        self.wait_no_more();
        Answering(Arc::clone(self))
    }

    fn wait(&self) {
        let mut waiting = self.house.waiting();
        waiting.last += 1;
        let number = waiting.last;
        waiting.guests.insert(number, Arc::clone(&self.leave));
        *self.number() = Some(number);
    }

    fn wait_no_more(&self) {
        let mut waiting = self.house.waiting();
        if let Some(number) = self.number().take() {
            waiting.guests.remove(&number);
        }
    }

    fn number(&self) -> MutexGuard<'_, Option<u64>> {
        self.number.lock().expect("nobody panics while holding a number")
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.wait_no_more();
    }
}

impl Answering {
    /// The answer, which is given until the end of its body.
    pub(crate) fn with(self, body: Body) -> Body {
        Body::new(Attended { body, _answering: self })
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.0.wait();
        self.0.house.waits.notify_waiters();
    }
}

impl HttpBody for Attended {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    /// Long enough for everybody who comes at all.
    const DEADLINE: Duration = Duration::from_mins(1);

    async fn enter(house: &Arc<House>) -> Arc<Guest> {
        timeout(DEADLINE, house.enter()).await.expect("in time").expect("a place")
    }

    #[tokio::test]
    async fn who_waits_longest_makes_room_and_who_is_answered_stays() {
        let house = House::new(3);
        let (busy, first, second) = (enter(&house).await, enter(&house).await, enter(&house).await);
        let answering = busy.asks();
        // The first says something now: the second is who has said nothing for longest.
        drop(first.asks());
        let (next, ()) = tokio::join!(enter(&house), async {
            timeout(DEADLINE, second.leaves()).await.expect("it is told");
            drop(second);
        });
        drop((next, first));
        // Where all are being answered, whoever is through first makes room.
        let others = [enter(&house).await, enter(&house).await];
        let answers = others.each_ref().map(Guest::asks);
        let (_last, ()) = tokio::join!(enter(&house), async {
            drop(answering);
            timeout(DEADLINE, busy.leaves()).await.expect("it is told");
            drop(busy);
        });
        drop(answers);
    }
}
