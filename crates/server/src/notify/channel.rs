//! One channel: follows the journal at its own pace, and sends what its ledger says. A task of its own: whether it
//! hangs or is slow is nobody else's business.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use ostler_engine::{ProjectId, SessionId, World, session::Session};
use ostler_files::{FILE_BYTES_MAX, private};
use ostler_store::{EventRow, Reads, Scope, SqliteReader};
use serde_json::json;
use tokio::{sync::Notify, task::JoinHandle};

use super::{
    ledger::{Ledger, Step, TakingBack, Terms},
    notice::{Heard, Known, Who, heard, matters, of_interrupted, of_open},
    page::Page,
    render::{Said, Style},
    sending,
    words::Language,
};
use crate::{
    config::{NotifyChannel, Way},
    crash,
    driver::Driver,
    home::write_private,
    journal,
    log::Level,
};

/// The most events that are read at once.
const EVENTS_MAX: u32 = 200;

/// After so many events of which none mattered, the place in the journal is written down all the same.
const SAVED_EVERY: u64 = 2_000;

/// Between two attempts to write to a disk that is full, or to read a journal that cannot be read.
const PATIENCE: Duration = Duration::from_secs(5);

/// The longest sleep: while a machine sleeps, sleeps do not count, but the clock does.
const SLEEP_MAX: Duration = Duration::from_secs(30);

/// One channel, as its task knows it.
pub(super) struct Channel {
    pub(super) driver: Arc<Driver>,
    pub(super) reader: Arc<Mutex<SqliteReader>>,
    pub(super) config: NotifyChannel,
    pub(super) language: Language,
    pub(super) page: Page,
    /// Where its ledger is kept.
    pub(super) path: PathBuf,
    /// Its ledger, for whoever wants to see how it goes.
    pub(super) shown: Arc<Mutex<Ledger>>,
    pub(super) control: Arc<Control>,
}

/// How a channel's task is spoken to.
#[derive(Debug, Default)]
pub(super) struct Control {
    /// Its place is taken by another, or by nobody.
    pub(super) stop: Notify,
    /// Nobody is told any more: how far they were told goes with the task.
    pub(super) is_gone: AtomicBool,
    /// What failed may go well now.
    pub(super) again: Notify,
}

/// What a channel's configuration means for its ledger.
pub(super) fn terms(config: &NotifyChannel) -> Terms {
    Terms {
        kinds: config.kinds.clone(),
        after_ms: u64::try_from(config.after.as_millis()).unwrap_or(u64::MAX),
        per_minute: config.per_minute,
        taking_back: match config.way {
            Way::Slack { .. } => TakingBack::Never,
            Way::Webhook { .. } | Way::Command { .. } => TakingBack::Each,
            Way::Ntfy { .. } => TakingBack::Whole,
        },
    }
}

impl Channel {
    /// Goes on for as long as there is a server, or until the channel is another one. Who had its place before ends
    /// first: there is one who writes.
    pub(super) async fn run(self, before: Option<JoinHandle<()>>) {
        if let Some(before) = before {
            before.await.ok();
        }
        let terms = terms(&self.config);
        let clock = self.driver.journal.clock();
        let mut changed = self.driver.journal.watch();
        let mut ledger = self.begin(&terms).await;
        let mut saved = ledger.cursor();
        loop {
            changed.mark_unchanged();
            let has_heard = self.listen(&mut ledger, &terms).await;
            let step = ledger.next(&terms, clock.now_ms());
            // A message is written down before it sets out, so that whoever sends it again does so under its id.
            if has_heard || matches!(step, Step::Send(_)) || ledger.cursor() > saved + SAVED_EVERY {
                self.save(&ledger).await;
                saved = ledger.cursor();
            }
            self.show(&ledger);
            match step {
                Step::Send(message) => {
                    crash::site("before notify");
                    let said = Said::Message(&message);
                    let style = Style::of(&self.config, self.language, self.page.origin().await);
                    let sent = tokio::select! {
                        sent = sending::send(&self.driver, &self.config.way, &style, said) => sent,
                        // It stays on its way: whoever goes on sends it again.
                        () = self.control.stop.notified() => return self.end(),
                    };
                    crash::site("after notify");
                    match sent {
                        Ok(()) => ledger.sent(&terms, clock.now_ms()),
                        Err(error) => {
                            let failure = error.failure(message.what);
                            let more = json!({ "channel": self.config.name, "message": failure.message });
                            self.driver.log.write(Level::Warn, "notify.not_sent", more);
                            ledger.not_sent(&failure, &terms, clock.now_ms());
                        }
                    }
                    // What is shown is certain.
                    self.save(&ledger).await;
                    self.show(&ledger);
                }
                Step::Wait(until_ms) => {
                    let wait = until_ms.map_or(SLEEP_MAX, |at_ms| clock.until(at_ms).min(SLEEP_MAX));
                    tokio::select! {
                        () = tokio::time::sleep(wait) => {}
                        change = changed.changed() => if change.is_err() { return },
                        () = self.control.again.notified() => ledger.renew(&terms),
                        () = self.control.stop.notified() => return self.end(),
                    }
                }
            }
        }
    }

    fn end(&self) {
        if self.control.is_gone.load(Ordering::SeqCst) {
            // What is left is found at the next start.
            fs::remove_file(&self.path).ok();
        }
    }

    /// Goes on with what was written down; else begins now, with what is open.
    async fn begin(&self, terms: &Terms) -> Ledger {
        if let Some(mut ledger) = read(&self.path) {
            ledger.renew(terms);
            return ledger;
        }
        let (cursor, open) = {
            let world = self.driver.journal.world();
            let known = Names { channel: self, world: Some(&world) };
            let requests = world.inbox().filter_map(|request| of_open(request, &known));
            let lost = world.sessions.values().filter_map(|session| of_interrupted(session, &known));
            (world.last_seq, requests.chain(lost).collect())
        };
        let ledger = Ledger::begin(cursor, open, terms);
        self.save(&ledger).await;
        ledger
    }

    /// Hears all that has happened since, and says whether anything of it mattered.
    async fn listen(&self, ledger: &mut Ledger, terms: &Terms) -> bool {
        let mut has_heard = false;
        loop {
            let rows = {
                let reader = self.reader.lock().expect("nobody panics while reading");
                reader.events(ledger.cursor(), Scope::default(), EVENTS_MAX)
            };
            let Ok(rows) = rows else {
                // It is tried again; what is known already is sent meanwhile.
                return has_heard;
            };
            if rows.is_empty() {
                return has_heard;
            }
            for row in &rows {
                has_heard |= ledger.hear(row.seq, self.heard(row), terms);
            }
            // Whoever else has something to do comes first.
            tokio::task::yield_now().await;
        }
    }

    fn heard(&self, row: &EventRow) -> Option<Heard> {
        if !matters(&row.kind) {
            return None;
        }
        // A form that is not known is from another version, and nobody can say what it means.
        let entry = journal::entry(row).ok()?;
        heard(&entry, &Names { channel: self, world: None })
    }

    /// Writes the ledger down. A disk that is full is waited for: what is not written is not sent.
    async fn save(&self, ledger: &Ledger) {
        let text: Arc<[u8]> = serde_json::to_vec(ledger).expect("a ledger is plain data").into();
        loop {
            let (path, text) = (self.path.clone(), Arc::clone(&text));
            let written = tokio::task::spawn_blocking(move || write_private(&path, &text)).await;
            // It ends early only with the server.
            let Ok(Err(error)) = written else { return };
            let path = self.path.display().to_string();
            self.driver
                .log
                .error("notify.not_written", json!({ "path": path, "message": error.to_string() }));
            tokio::time::sleep(PATIENCE).await;
        }
    }

    fn show(&self, ledger: &Ledger) {
        self.shown.lock().expect("nobody panics while holding it").clone_from(ledger);
    }

    fn kept(&self, session: SessionId) -> Option<World> {
        let reader = self.reader.lock().expect("nobody panics while reading");
        let found = journal::kept(&*reader, Some(session), None).ok()?;
        let mut world = World::default();
        for it in found {
            it.put(&mut world);
        }
        Some(world)
    }
}

/// What was written down, if it can be read. What cannot is begun anew: to be told late is better than not at all.
fn read(path: &Path) -> Option<Ledger> {
    serde_json::from_slice(&private::read(path, FILE_BYTES_MAX).ok()?).ok()
}

/// Who is who: in what is known now, or in what was kept.
struct Names<'a> {
    channel: &'a Channel,
    /// What is known, where it is held already. Else it is looked at for a moment each time: nobody who writes is to
    /// wait for a look at what was kept.
    world: Option<&'a World>,
}

impl Names<'_> {
    fn look<T>(&self, look: impl FnOnce(&World) -> T) -> T {
        match self.world {
            Some(world) => look(world),
            None => look(&self.channel.driver.journal.world()),
        }
    }
}

/// Agent, project, and what was asked for.
fn named(world: &World, id: SessionId) -> Option<(String, ProjectId, String)> {
    let session = world.sessions.get(&id)?;
    let title = world.runs.get(&session.run).map_or_else(String::new, |run| run.title.clone());
    Some((session.order.agent.name.clone(), session.project, title))
}

impl Known for Names<'_> {
    fn mark(&self) -> &str {
        self.channel.driver.mark()
    }

    fn who(&self, id: SessionId) -> Who {
        let found = self.look(|world| named(world, id));
        let found = found.or_else(|| named(&self.channel.kept(id)?, id));
        let Some((agent, project, title)) = found else { return Who { session: Some(id), ..Who::default() } };
        let project = self.look(|world| Some(world.projects.get(&project)?.name.clone()));
        Who::new(&agent, &project.unwrap_or_default(), &title, id)
    }

    fn is_of_loop(&self, id: SessionId) -> bool {
        let is_child = |world: &World| {
            let session = world.sessions.get(&id)?;
            let run = world.runs.get(&session.run)?;
            // An agent may call a task done that has changed nothing: nobody is told by its run.
            Some(run.parent.is_some() || run.terms.task.is_some())
        };
        let found = self.look(is_child).or_else(|| is_child(&self.channel.kept(id)?));
        found.unwrap_or(false)
    }

    fn is_interrupted(&self, id: SessionId) -> bool {
        self.look(|world| world.sessions.get(&id).is_some_and(Session::is_interrupted))
    }
}
