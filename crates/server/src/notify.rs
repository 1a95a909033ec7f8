//! Tells people what needs them, where they are: Slack, a webhook, ntfy, a command.
//!
//! Each channel is a task that follows the journal. Nothing here is an event, and nobody waits for it: the engine does
//! not know that there are notifications. How it is done stands in `docs/design/notifications.md`.

mod address;
mod attendant;
mod channel;
mod command;
mod kind;
mod ledger;
mod notice;
mod outgoing;
mod page;
mod render;
mod sending;
mod words;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    os::unix::fs::MetadataExt,
    sync::{Arc, Mutex, MutexGuard, atomic::Ordering},
    time::Duration,
};

use ostler_store::SqliteReader;
use tokio::task::JoinHandle;

use self::{
    channel::{Channel, Control, terms},
    ledger::{Ledger, TakingBack},
    page::Page,
    render::{Said, Style},
    sending::SendError,
    words::Language,
};
use crate::{
    api::{NotificationsView, NotifyChannelView, NotifyState, NotifyType},
    config::{self, Config, NotifyChannel, Way},
    driver::Driver,
    home::private_directory,
    random,
    tcp::Door,
};

pub use attendant::attend;
pub use kind::Kind;
pub(crate) use outgoing::Url;

/// Between two looks at the configuration.
const LOOK: Duration = Duration::from_secs(2);

/// All channels.
pub(crate) struct Notifications {
    driver: Arc<Driver>,
    reader: Arc<Mutex<SqliteReader>>,
    door: Arc<Door>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The file of the configuration that they were made from.
    file: Option<Fingerprint>,
    /// Whether it was looked at.
    is_known: bool,
    /// What a person had agreed to by then.
    agreed: BTreeSet<String>,
    channels: Vec<Running>,
    /// The tasks of those that were taken out of the configuration, until they come back or have ended.
    ending: BTreeMap<String, JoinHandle<()>>,
    /// The beginning of links, if the configuration says it.
    public_url: Option<String>,
    problem: Option<String>,
}

/// Tells a file from what it was before: when it was written, how long it is, and which it is.
type Fingerprint = (i64, i64, u64, u64);

/// A channel and its task.
struct Running {
    config: NotifyChannel,
    language: Language,
    page: Page,
    shown: Arc<Mutex<Ledger>>,
    control: Arc<Control>,
    task: JoinHandle<()>,
}

/// Why a test did not arrive.
#[derive(Debug)]
pub(crate) enum TestError {
    /// There is no such channel.
    NoChannel {
        /// Those that there are.
        known: Vec<String>,
    },
    /// It could not be sent.
    NotSent(SendError),
}

impl Notifications {
    pub(crate) fn new(driver: Arc<Driver>, reader: SqliteReader, door: Arc<Door>) -> Arc<Notifications> {
        let (reader, state) = (Arc::new(Mutex::new(reader)), Mutex::default());
        Arc::new(Notifications { driver, reader, door, state })
    }

    /// Sees to the channels for as long as there is a server.
    pub(crate) async fn run(self: Arc<Notifications>) {
        loop {
            self.look().await;
            tokio::time::sleep(LOOK).await;
        }
    }

    /// How they go.
    pub(crate) async fn view(self: &Arc<Notifications>) -> NotificationsView {
        self.look().await;
        let public_url = self.state().public_url.clone();
        let page = Page::new(public_url, &self.door).origin().await;
        let state = self.state();
        let channels = state.channels.iter().map(Running::view).collect();
        NotificationsView { channels, page, problem: state.problem.clone() }
    }

    /// Sends a test, and gives its id.
    pub(crate) async fn test(self: &Arc<Notifications>, name: &str) -> Result<String, TestError> {
        self.look().await;
        let found = {
            let state = self.state();
            let found = state.channels.iter().find(|it| it.config.name == name);
            let known = || state.channels.iter().map(|it| it.config.name.clone()).collect();
            let found = found.ok_or_else(|| TestError::NoChannel { known: known() })?;
            (found.config.clone(), found.language, found.page.clone(), Arc::clone(&found.control))
        };
        let (config, language, page, control) = found;
        let style = Style::of(&config, language, page.origin().await);
        let id = random::word();
        let sent = sending::send(&self.driver, &config.way, &style, Said::Test { id: &id }).await;
        sent.map_err(TestError::NotSent)?;
        // What failed before is tried again now.
        control.again.notify_one();
        Ok(id)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nobody panics while holding it")
    }

    /// Looks whether the configuration has changed, and changes the channels accordingly.
    async fn look(self: &Arc<Notifications>) {
        let runtime = tokio::runtime::Handle::current();
        let this = Arc::clone(self);
        let looked = tokio::task::spawn_blocking(move || {
            let _inside = runtime.enter();
            this.look_now();
        });
        // It ends early only with the server.
        looked.await.ok();
    }

    fn look_now(&self) {
        let mut state = self.state();
        let metadata = config::user_file().and_then(|path| fs::metadata(path).ok());
        let file = metadata.map(|it| (it.mtime(), it.mtime_nsec(), it.size(), it.ino()));
        let agreed = self.driver.consent.hashes();
        if state.is_known && state.file == file && state.agreed == agreed {
            return;
        }
        (state.file, state.is_known, state.agreed) = (file, true, agreed);
        let mut config = match Config::of_user() {
            Ok(config) => config,
            Err(error) => {
                // Who is notified goes on being so: a mistake elsewhere in the file is no reason for silence.
                state.problem = Some(error.to_string());
                return;
            }
        };
        state.public_url.clone_from(&config.page.public_url);
        state.problem = None;
        if let Err(error) = self.tidy(&config) {
            state.problem = Some(error);
            return;
        }
        let waiting = self.driver.consent.waiting(&config);
        let waits = |channel: &NotifyChannel| waiting.iter().any(|command| command.key == channel.key());
        let names: Vec<&str> =
            config.notify.iter().filter(|it| waits(it)).map(|it| it.name.as_str()).collect();
        if !names.is_empty() {
            let names = names.join(", ");
            state.problem = Some(format!(
                "{names}: new or changed commands wait for your consent: ostler trust --config"
            ));
        }
        config.notify.retain(|channel| !waits(channel));
        self.replace(&mut state, &config);
    }

    /// Makes the directory, and forgets how far those were told who are not told any more.
    fn tidy(&self, config: &Config) -> Result<(), String> {
        let folder = self.driver.home.notifications();
        let failed = |error: std::io::Error| format!("cannot use '{}': {error}", folder.display());
        private_directory(&folder).map_err(failed)?;
        for entry in fs::read_dir(&folder).map_err(failed)?.filter_map(Result::ok) {
            let path = entry.path();
            let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
            if !config.notify.iter().any(|it| it.name == name) {
                fs::remove_file(&path).map_err(failed)?;
            }
        }
        Ok(())
    }

    /// Those that are as they were go on; the others begin, or end.
    fn replace(&self, state: &mut State, config: &Config) {
        let language = Language::choose(config.language.as_deref());
        state.ending.retain(|_, task| !task.is_finished());
        let before = std::mem::take(&mut state.channels);
        let mut before: BTreeMap<String, Running> =
            before.into_iter().map(|it| (it.config.name.clone(), it)).collect();
        for wanted in &config.notify {
            let page = Page::new(state.public_url.clone(), &self.door);
            let is_same =
                |old: &Running| old.config == *wanted && old.language == language && old.page.is_same(&page);
            let ending = match before.remove(&wanted.name) {
                Some(old) if is_same(&old) => {
                    state.channels.push(old);
                    continue;
                }
                Some(old) => {
                    old.control.stop.notify_one();
                    Some(old.task)
                }
                None => state.ending.remove(&wanted.name),
            };
            let running = self.start(wanted, language, page, ending);
            state.channels.push(running);
        }
        for (name, gone) in before {
            gone.control.is_gone.store(true, Ordering::SeqCst);
            gone.control.stop.notify_one();
            state.ending.insert(name, gone.task);
        }
    }

    /// Begins when who had its place before has ended.
    fn start(
        &self,
        config: &NotifyChannel,
        language: Language,
        page: Page,
        before: Option<JoinHandle<()>>,
    ) -> Running {
        let (shown, control) = (Arc::<Mutex<Ledger>>::default(), Arc::<Control>::default());
        let channel = Channel {
            driver: Arc::clone(&self.driver),
            reader: Arc::clone(&self.reader),
            config: config.clone(),
            language,
            page: page.clone(),
            path: self.driver.home.notifications().join(format!("{}.json", config.name)),
            shown: Arc::clone(&shown),
            control: Arc::clone(&control),
        };
        let task = tokio::spawn(channel.run(before));
        Running { config: config.clone(), language, page, shown, control, task }
    }
}

impl Running {
    fn view(&self) -> NotifyChannelView {
        let ledger = self.shown.lock().expect("nobody panics while holding it");
        let (record, terms) = (ledger.record(), terms(&self.config));
        let (pending, next_try_ms) = (ledger.waiting() as u64, ledger.tries_again_at_ms());
        let state = match (next_try_ms, pending) {
            (Some(_), _) => NotifyState::Failing,
            (None, 0) => NotifyState::Idle,
            (None, _) => NotifyState::Waiting,
        };
        NotifyChannelView {
            name: self.config.name.clone(),
            kind: match self.config.way {
                Way::Slack { .. } => NotifyType::Slack,
                Way::Webhook { .. } => NotifyType::Webhook,
                Way::Ntfy { .. } => NotifyType::Ntfy,
                Way::Command { .. } => NotifyType::Command,
            },
            kinds: self.config.kinds.iter().copied().collect(),
            after_ms: terms.after_ms,
            per_minute: terms.per_minute,
            text: self.config.text,
            withdraws: terms.taking_back != TakingBack::Never,
            state,
            pending,
            sent: record.sent,
            given_up: record.given_up,
            last_success_ms: record.last_success_ms,
            last_error_ms: record.last_error_ms,
            last_error: record.last_error.clone(),
            next_try_ms,
        }
    }
}
