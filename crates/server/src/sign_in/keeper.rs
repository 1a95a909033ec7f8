//! Keeps who may come in, in a private file that is replaced as a whole. What cannot be written down is not given out.
//!
//! The calls that write may take a while; they are made on threads that may wait.

use std::{
    fmt, fs, io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use ostler_files::{FILE_BYTES_MAX, private};
use ostler_store::Reads;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use super::{Entry, Kind, Links, NotALink, Shown, SignInId, SignIns, TOKEN_PREFIX, record::SignInRecord};
use crate::{
    clock::Clock,
    home::{Home, write_private},
    journal::Journal,
    journal_fact::JournalFact,
    random,
};

/// The form in which the file is written.
const VERSION: u32 = 1;

/// The most entries that Ostler did not make and that are shown all the same.
const FORGED_MAX: usize = 64;

/// The longest time between two looks at a sign-in under which a stream goes on: a clock may jump.
const LOOK_MS: u64 = 60_000;

/// Everybody who may come in, and the links that are out.
#[derive(Debug)]
pub(crate) struct Keeper {
    path: PathBuf,
    /// What the journal knows of them: an entry of the file that it does not know lets nobody in.
    fact: JournalFact,
    state: Mutex<State>,
    /// Told whenever somebody was let in or sent away.
    changed: watch::Sender<()>,
}

#[derive(Debug, Default)]
struct State {
    sign_ins: SignIns,
    /// Entries that another process has put into the file, or changed there. They are shown until a person removes them.
    forged: Vec<Entry>,
    links: Links,
}

#[derive(Serialize, Deserialize)]
struct File {
    v: u32,
    #[serde(flatten)]
    sign_ins: SignIns,
}

/// What a token is to be.
#[derive(Debug, Clone)]
pub(crate) struct NewToken {
    pub(crate) name: String,
    pub(crate) read_only: bool,
    pub(crate) over_at_ms: u64,
}

/// A browser that has just signed in. There is no `Debug`: it holds what the browser shows from now on.
pub(crate) struct SignedIn {
    pub(crate) id: SignInId,
    pub(crate) cookie: String,
    pub(crate) proof: String,
}

/// Why nobody was let in, or nothing was kept.
#[derive(Debug)]
pub(crate) enum NotKept {
    /// The link signs nobody in.
    Link(NotALink),
    /// There is a token of this name.
    Taken { name: String },
    /// There are too many tokens.
    TooMany,
    /// There is no such sign-in.
    Unknown { wanted: String },
    /// The file cannot be written.
    Io { path: PathBuf, source: io::Error },
}

impl Keeper {
    /// The keeper of a state directory.
    pub(crate) fn of(home: &Home, reader: &dyn Reads, journal: &Journal) -> Keeper {
        Keeper::open(home.sign_ins(), JournalFact::of(reader, journal, super::FACT))
    }

    /// Reads what was kept. What cannot be read is set aside: everybody signs in again, and nobody comes in by it.
    pub(crate) fn open(path: PathBuf, fact: JournalFact) -> Keeper {
        let sign_ins = match private::read(&path, FILE_BYTES_MAX) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            read => {
                let file = read.ok().and_then(|bytes| serde_json::from_slice::<File>(&bytes).ok());
                let known = file.filter(|file| file.v == VERSION);
                if known.is_none() {
                    // Where even that fails, nothing can be written either, and whoever signs in is told so.
                    fs::rename(&path, path.with_extension("damaged")).ok();
                }
                known.map(|file| file.sign_ins)
            }
        };
        let mut sign_ins = sign_ins.unwrap_or_default();
        let record = SignInRecord::parse(fact.stored.as_deref());
        let (known, mut forged): (_, Vec<Entry>) =
            sign_ins.entries.into_iter().partition(|it| record.knows(it));
        forged.truncate(FORGED_MAX);
        sign_ins = SignIns { last: record.last, entries: known };
        // Each gets an id of its own: a person who removes it by its id must not remove a sign-in that is good.
        for entry in &mut forged {
            sign_ins.last += 1;
            entry.id = SignInId(sign_ins.last);
        }
        let state = State { sign_ins, forged, links: Links::default() };
        Keeper { path, fact, state: Mutex::new(state), changed: watch::Sender::new(()) }
    }

    /// Makes a link: its code, and when it is over.
    pub(crate) fn make_link(&self, now_ms: u64) -> (String, u64) {
        let code = random::word();
        let over_at_ms = self.state().links.add(&code, now_ms);
        (code, over_at_ms)
    }

    /// Signs a browser in at a port with the code of a link, which is good for nobody else from then on.
    pub(crate) fn sign_in(
        &self,
        code: &str,
        name: String,
        port: u16,
        now_ms: u64,
    ) -> Result<SignedIn, NotKept> {
        let mut state = self.state();
        state.links.check(code, now_ms).map_err(NotKept::Link)?;
        let (cookie, proof) = (random::long_word(), random::long_word());
        let id = self.change(&mut state, |all| all.add_browser(name, &cookie, &proof, port, now_ms))?;
        state.links.spend(code);
        Ok(SignedIn { id, cookie, proof })
    }

    /// Makes a token. It is said this once.
    pub(crate) fn make_token(&self, new: NewToken, now_ms: u64) -> Result<(String, Entry), NotKept> {
        let mut state = self.state();
        if state.sign_ins.has_token(&new.name, now_ms) {
            return Err(NotKept::Taken { name: new.name });
        }
        let token = format!("{TOKEN_PREFIX}{}", random::long_word());
        let kind = if new.read_only { Kind::ReadOnlyToken } else { Kind::Token };
        let name = new.name.clone();
        let made =
            self.change(&mut state, |all| all.add_token(kind, new.name, &token, now_ms, new.over_at_ms))?;
        made.ok_or(NotKept::TooMany)?;
        let entry = state.sign_ins.find(&name, now_ms).cloned().ok_or(NotKept::TooMany)?;
        Ok((token, entry))
    }

    /// Ends a sign-in or a token.
    pub(crate) fn revoke(&self, wanted: &str, now_ms: u64) -> Result<Entry, NotKept> {
        let unknown = || NotKept::Unknown { wanted: wanted.to_owned() };
        let mut state = self.state();
        let forged = state.forged.iter().position(|it| it.id.to_string() == wanted || it.name == wanted);
        let forged = forged.map(|index| state.forged.remove(index));
        let id = match (state.sign_ins.find(wanted, now_ms), &forged) {
            (Some(known), _) => known.id,
            (None, Some(forged)) => forged.id,
            (None, None) => return Err(unknown()),
        };
        // What was forged under the same name goes with it.
        self.change(&mut state, |all| all.remove(id))?.or(forged).ok_or_else(unknown)
    }

    /// Waits until a sign-in is over.
    pub(crate) async fn left(&self, id: SignInId, clock: Clock) {
        let mut changed = self.changed.subscribe();
        loop {
            let now_ms = clock.now_ms();
            let over_at_ms =
                self.state().sign_ins.live(now_ms).find(|it| it.id == id).map(|it| it.over_at_ms);
            let Some(over_at_ms) = over_at_ms else { return };
            let rest = Duration::from_millis(over_at_ms.saturating_sub(now_ms).clamp(1, LOOK_MS));
            // Whether it was this one, and whether it lasts longer by now, is looked at again.
            tokio::time::timeout(rest, changed.changed()).await.ok();
        }
    }

    /// Everybody who may come in.
    pub(crate) fn list(&self, now_ms: u64) -> Vec<Entry> {
        self.state().sign_ins.live(now_ms).cloned().collect()
    }

    /// Entries of the file that Ostler did not make. They let nobody in.
    pub(crate) fn forged(&self) -> Vec<Entry> {
        self.state().forged.clone()
    }

    /// Who shows a cookie and its proof.
    pub(crate) fn show_cookie(self: &Arc<Self>, cookie: &str, proof: &str, port: u16, now_ms: u64) -> Shown {
        let shown = self.state().sign_ins.show_cookie(cookie, proof, port, now_ms);
        self.note(shown)
    }

    /// Who shows a token.
    pub(crate) fn show_token(self: &Arc<Self>, token: &str, now_ms: u64) -> Shown {
        let shown = self.state().sign_ins.show_token(token, now_ms);
        self.note(shown)
    }

    /// Writes the first use of a day down, beside the one who waits for an answer. Where that fails, the day is lost and
    /// nothing else.
    fn note(self: &Arc<Self>, shown: Shown) -> Shown {
        if let Shown::Known { first_today: true, .. } = shown {
            let keeper = Arc::clone(self);
            tokio::task::spawn_blocking(move || {
                let state = keeper.state();
                write(&keeper.path, &state.sign_ins, &state.forged).ok();
            });
        }
        shown
    }

    /// Changes who may come in, if that can be written down.
    fn change<T>(&self, state: &mut State, change: impl FnOnce(&mut SignIns) -> T) -> Result<T, NotKept> {
        let mut changed = state.sign_ins.clone();
        let made = change(&mut changed);
        let failed = |source| NotKept::Io { path: self.path.clone(), source };
        let (before, after) = (SignInRecord::of(&state.sign_ins), SignInRecord::of(&changed));
        // The journal first: after a crash in between it knows an entry that is nowhere, and nothing looks forged.
        self.fact.write(before.with(&after).text()).map_err(failed)?;
        write(&self.path, &changed, &state.forged).map_err(failed)?;
        if before.with(&after) != after {
            // Where this fails, an entry that is gone stays known. Nobody has its word.
            self.fact.write(after.text()).ok();
        }
        state.sign_ins = changed;
        self.changed.send_replace(());
        Ok(made)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nobody panics while looking at who may come in")
    }
}

fn write(path: &Path, sign_ins: &SignIns, forged: &[Entry]) -> io::Result<()> {
    let mut sign_ins = sign_ins.clone();
    sign_ins.entries.extend_from_slice(forged);
    let file = File { v: VERSION, sign_ins };
    let text = serde_json::to_vec_pretty(&file).map_err(io::Error::other)?;
    write_private(path, &text)
}

impl fmt::Display for NotKept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotKept::Link(NotALink::Unknown) => write!(f, "this link is not known"),
            NotKept::Link(NotALink::Used) => write!(f, "this link was used already"),
            NotKept::Link(NotALink::Over) => write!(f, "this link is over"),
            NotKept::Taken { name } => write!(f, "there is a token '{name}' already"),
            NotKept::TooMany => write!(f, "there are {} tokens already", super::TOKENS_MAX),
            NotKept::Unknown { wanted } => write!(f, "there is no sign-in or token '{wanted}'"),
            NotKept::Io { path, source } => write!(f, "cannot write '{}': {source}", path.display()),
        }
    }
}

impl std::error::Error for NotKept {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            NotKept::Io { source, .. } => Some(source),
            NotKept::Link(_) | NotKept::Taken { .. } | NotKept::TooMany | NotKept::Unknown { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    const NOW: u64 = 1_700_000_000_000;
    const PORT: u16 = 7378;

    fn path(name: &str) -> PathBuf {
        let path = crate::test_directory().join(format!("sign-ins-{name}-{}.json", std::process::id()));
        fs::remove_file(&path).ok();
        path
    }

    fn open(path: PathBuf) -> Keeper {
        Keeper::open(path, JournalFact::in_memory(None))
    }

    /// What the journal knows after a keeper has written a file.
    fn of_file(path: &Path) -> JournalFact {
        JournalFact::in_memory(Some(super::super::of_file(path)))
    }

    #[test]
    fn an_entry_that_the_journal_does_not_know_lets_nobody_in_and_is_shown() {
        let path = path("forged");
        let keeper = open(path.clone());
        let new = |name: &str| NewToken { name: name.into(), read_only: true, over_at_ms: NOW + 10 };
        let (token, _) = keeper.make_token(new("ci"), NOW).expect("a token");
        let fact = || of_file(&path);
        let known = fact();
        let text = fs::read_to_string(&path).expect("a file");
        // An agent makes a token of its own, and gives itself more rights with the one that it has.
        let mut forged: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let mut own = forged["entries"][0].clone();
        own["name"] = "evil".into();
        own["kind"] = "token".into();
        own["hash"] = String::from(super::super::Hash::of("ost_evil")).into();
        forged["entries"].as_array_mut().expect("a list").push(own);
        forged["last"] = u64::MAX.into();
        write_private(&path, forged.to_string().as_bytes()).expect("a disk");
        let read = Keeper::open(path.clone(), known);
        assert_eq!(read.state().sign_ins.show_token("ost_evil", NOW), Shown::Unknown);
        assert!(matches!(read.state().sign_ins.show_token(&token, NOW), Shown::Known { .. }));
        let names = |all: Vec<Entry>| all.into_iter().map(|it| it.name).collect::<Vec<_>>();
        assert_eq!((names(read.list(NOW)), names(read.forged())), (vec!["ci".into()], vec!["evil".into()]));
        // It is shown until a person removes it, and is no obstacle.
        read.make_token(new("next"), NOW).expect("a token");
        assert!(fs::read_to_string(&path).expect("a file").contains("evil"));
        let forged = read.forged()[0].id.to_string();
        assert!(read.list(NOW).iter().all(|it| it.id.to_string() != forged), "an id of its own");
        assert_eq!(read.revoke(&forged, NOW).map(|it| it.name).ok().as_deref(), Some("evil"));
        assert_eq!(read.forged().len(), 0);
        assert_eq!(names(read.list(NOW)), ["ci", "next"]);
        assert!(!fs::read_to_string(&path).expect("a file").contains("evil"));
        write_private(&path, text.replace("read_only_token", "token").as_bytes()).expect("a disk");
        let read = Keeper::open(path.clone(), JournalFact::in_memory(Some(String::new())));
        assert_eq!(
            read.state().sign_ins.show_token(&token, NOW),
            Shown::Unknown,
            "a fact that cannot be read"
        );
        fs::remove_file(&path).expect("it is ours");
    }

    #[test]
    fn what_was_kept_is_read_again_by_its_owner_alone() {
        let path = path("kept");
        let keeper = open(path.clone());
        let (code, _) = keeper.make_link(NOW);
        let signed_in = keeper.sign_in(&code, "one".into(), PORT, NOW).expect("a good link");
        assert!(matches!(keeper.sign_in(&code, "two".into(), PORT, NOW), Err(NotKept::Link(NotALink::Used))));
        let new = NewToken { name: "ci".into(), read_only: true, over_at_ms: NOW + 10 };
        let (token, entry) = keeper.make_token(new.clone(), NOW).expect("a token");
        assert!(matches!(keeper.make_token(new, NOW), Err(NotKept::Taken { .. })));
        assert_eq!(entry.kind, Kind::ReadOnlyToken);
        let mode = fs::metadata(&path).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let text = fs::read_to_string(&path).expect("a file");
        for secret in [&code, &signed_in.cookie, &signed_in.proof, token.trim_start_matches(TOKEN_PREFIX)] {
            assert!(!text.contains(secret), "{text}");
        }
        let read = Keeper::open(path.clone(), of_file(&path));
        assert!(matches!(
            read.state().sign_ins.show_cookie(&signed_in.cookie, &signed_in.proof, PORT, NOW),
            Shown::Known { id, .. } if id == signed_in.id
        ));
        assert_eq!(read.revoke("ci", NOW).map(|it| it.id).ok(), Some(entry.id));
        assert_eq!(read.list(NOW).len(), 1);
    }

    #[test]
    fn what_cannot_be_written_is_not_given_out_and_the_link_stays_good() {
        let path = path("full");
        let keeper = open(path.clone());
        let (code, _) = keeper.make_link(NOW);
        // A directory stands where the draft goes.
        let draft = crate::home::draft_of(&path);
        fs::create_dir_all(&draft).expect("a directory");
        assert!(matches!(keeper.sign_in(&code, "one".into(), PORT, NOW), Err(NotKept::Io { .. })));
        assert!(keeper.list(NOW).is_empty());
        fs::remove_dir(&draft).expect("it is empty");
        assert!(keeper.sign_in(&code, "one".into(), PORT, NOW).is_ok());
    }

    #[test]
    fn what_cannot_be_read_is_set_aside() {
        let path = path("damaged");
        for text in ["{", "{\"v\":2,\"last\":0,\"entries\":[]}", ""] {
            io::Write::write_all(&mut fs::File::create(&path).expect("a file"), text.as_bytes())
                .expect("it is written");
            let keeper = open(path.clone());
            assert!(keeper.list(NOW).is_empty());
            assert_eq!(fs::read_to_string(path.with_extension("damaged")).ok().as_deref(), Some(text));
        }
    }
}
