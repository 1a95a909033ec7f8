//! How a keeper reaches the shim of its session, and what it does about a shim that is gone or cannot be reached.
//!
//! | the lock | the socket | then |
//! |---|---|---|
//! | held | the shim answers | the shim is followed |
//! | held | another process answers | as below; a person is asked about it |
//! | held | nobody answers | again later; if the agent has to end, the holder of the lock is ended |
//! | could be taken, or is missing | – | the shim is lost: what is left of it is swept and reported |
//! | cannot be looked at | – | again later: nothing is ended and nothing is reported |
//!
//! That an agent has ended counts when its shim has let go of the lock, whoever says so before.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use ostler_engine::{Input, session::Session};
use ostler_shim::{NotTheShim, end_displaced_shims};
use tokio::time::sleep;

use super::{
    keeper::Keeper,
    link::{ANSWER_MAX, Link, end_holder},
    remains::{self, LeftRecords, Overheard, Remains},
};
use crate::{crash, descriptors};

/// Between two looks at a shim that does not listen yet.
const LOOK: Duration = Duration::from_millis(2);

/// The longest time between two looks.
const LOOK_MAX: Duration = Duration::from_millis(200);

/// So often in a row a shim may hang up as soon as it is listened to: after that, its records cannot be read.
const BROKEN_MAX: u32 = 25;

/// How long a shim may be out of reach before `doctor` names it.
const REACH_MAX: Duration = Duration::from_secs(3);

impl Keeper {
    /// Looks at the shim of a launch until the system says how it is; nothing, if the launch has ended meanwhile.
    pub(super) async fn look_surely(&self, launch: u32) -> Option<Remains> {
        let directory = self.directory(launch);
        let mut look = LOOK;
        loop {
            self.known_seq(launch)?;
            match remains::look(&directory) {
                Remains::Unknown(_) => sleep(look).await,
                found => return Some(found),
            }
            look = (look * 2).min(LOOK_MAX);
        }
    }

    /// Listens to the shim of a launch, or hears what it has left.
    pub(super) async fn attach(&mut self, launch: u32) {
        self.link = None;
        let shim = self.shim(launch);
        let since = Instant::now();
        let mut look = LOOK;
        let mut displaced = None;
        while let Some(after_seq) = self.known_seq(launch) {
            match remains::look(&shim.directory) {
                // A few descriptors stay free, to see which shims live and to end those that have to end.
                Remains::Held if !descriptors::can_link() && !self.must_end(launch) => {}
                Remains::Held => match Link::open(&shim, after_seq).await {
                    Ok(link) => {
                        self.follow(launch, link);
                        break;
                    }
                    Err(error) => displaced = NotTheShim::of(&error),
                },
                Remains::Left | Remains::Nothing => {
                    self.driver.unreached.remove(self.session);
                    return self.bury(launch).await;
                }
                Remains::Unknown(_) => {}
            }
            self.out_of_reach(launch, since.elapsed(), displaced).await;
            sleep(look).await;
            look = (look * 2).min(LOOK_MAX);
        }
        self.driver.unreached.remove(self.session);
    }

    fn follow(&mut self, launch: u32, mut link: Link) {
        // The last server may have told it to end, and it may have said that it would.
        let grace_ms = |session: &Session| {
            let is_ending = session.live().is_some_and(|live| live.ending.is_some());
            is_ending.then_some(session.order.patience.grace_ms)
        };
        if let Some(grace_ms) = self.read_session(grace_ms).flatten() {
            link.expect_end(grace_ms);
        }
        self.link = Some((launch, link));
        self.attached_at = Instant::now();
    }

    /// Waits until the shim of an agent that is said to have ended has let go of its lock. As long as a process holds it,
    /// the agent may live.
    pub(super) async fn released(&self, launch: u32) {
        let directory = self.directory(launch);
        let since = Instant::now();
        let mut look = LOOK;
        while self.known_seq(launch).is_some() {
            match remains::look(&directory) {
                Remains::Left => break,
                Remains::Nothing => {
                    let ended = tokio::task::spawn_blocking(move || end_displaced_shims(&directory)).await;
                    // Where the system names no processes, there is nothing more to look at.
                    ended.ok();
                    break;
                }
                Remains::Held | Remains::Unknown(_) => {}
            }
            self.out_of_reach(launch, since.elapsed(), None).await;
            sleep(look).await;
            look = (look * 2).min(LOOK_MAX);
        }
        self.driver.unreached.remove(self.session);
    }

    /// Notes a shim that lives and cannot be reached. If its agent has to end, the shim is ended without its socket.
    async fn out_of_reach(&self, launch: u32, time: Duration, displaced: Option<NotTheShim>) {
        if time >= REACH_MAX && self.driver.unreached.insert(self.session, launch) {
            let why = displaced.map(|why| why.to_string());
            let said = serde_json::json!({ "session": self.session, "launch": launch, "why": why });
            self.driver.log.error("shim.unreached", said);
            if displaced.is_some() {
                self.submit(Input::ShimDisplaced(self.session, launch)).await;
            }
        }
        if time >= ANSWER_MAX {
            self.end_silent(launch).await;
        }
    }

    /// The connection is gone: is the shim?
    pub(super) async fn shim_left(&mut self) {
        let Some((launch, _)) = self.link.take() else { return };
        // One that cannot read its own spool hangs up on whoever follows, and would do so for ever.
        self.broken = if self.attached_at.elapsed() < LOOK_MAX { self.broken + 1 } else { 0 };
        // Most often its agent has ended, and it is gone, or about to be.
        if self.broken > 0 && remains::look(&self.directory(launch)) == Remains::Held {
            sleep((LOOK * (1 << self.broken.min(8))).min(LOOK_MAX)).await;
        }
        if self.broken > BROKEN_MAX {
            end_by_lock(&self.directory(launch)).await;
        }
        self.attach(launch).await;
    }

    /// Asks a shim again that did not answer. If its agent has to end, the shim is ended with it.
    pub(super) async fn shim_is_silent(&mut self) {
        if let Some((launch, _)) = self.link.take() {
            self.end_silent(launch).await;
            self.attach(launch).await;
        }
    }

    async fn end_silent(&self, launch: u32) {
        if self.must_end(launch) {
            end_by_lock(&self.directory(launch)).await;
        }
    }

    /// Reports what a shim that is gone has left, to the end.
    async fn bury(&mut self, launch: u32) {
        let directory = self.directory(launch);
        let after_seq = self.known_seq(launch).unwrap_or(u64::MAX);
        let path = directory.clone();
        // The lock may have been removed under a shim that lives. It ends first, so that it writes nothing behind what is
        // read here, and does not live on while it is shown as gone.
        let open = move || {
            end_displaced_shims(&path).ok();
            LeftRecords::open(&path, after_seq)
        };
        let mut left = tokio::task::spawn_blocking(open).await.ok();
        let mut damage = None;
        // Piece by piece, and the next only when the last is committed: a spool may be longer than memory.
        while let Some(mut rest) = left.take() {
            let batch = tokio::task::spawn_blocking(move || (rest.batch(), rest)).await;
            let Ok((records, rest)) = batch else { break };
            if records.is_empty() {
                damage = rest.damage();
                break;
            }
            self.report_all(launch, self.believed(launch, records)).await;
            left = Some(rest);
        }
        let Some(known) = self.known_seq(launch) else { return self.forget_ended(launch) };
        if let Some(damage) = damage {
            self.note_damage(launch, known + 1, &damage).await;
        }
        let (session, marker) = (self.session, self.driver.marker(self.session, &launch.to_string()));
        let sweep = self.driver.orphan_sweep(session, &marker, &directory);
        let parser = self.read_session(|session| remains::parser(&session.order)).flatten();
        let mut overheard = tokio::task::spawn_blocking(move || {
            sweep.run();
            Overheard::open(&directory, parser?)
        })
        .await
        .ok()
        .flatten();
        crash::site("before burial");
        // Piece by piece: the log of an agent that talked a lot has more in it than should be held at once.
        while let Some(mut rest) = overheard.take() {
            let before = rest.count();
            let batch = tokio::task::spawn_blocking(move || (rest.batch(), rest)).await;
            let Ok((items, rest)) = batch else { break };
            if items.is_empty() {
                break;
            }
            self.submit(Input::Overheard { session, launch, before, items }).await;
            overheard = Some(rest);
        }
        self.submit(Input::ShimLost { session, launch }).await;
        crash::site("after burial");
        self.forget_ended(launch);
    }
}

/// Ends a shim without its socket. Where nobody can tell who holds its lock, this is tried again at the next look.
async fn end_by_lock(directory: &Path) {
    end_holder(directory).await.ok();
}
