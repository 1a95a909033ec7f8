//! Who may come in over TCP: links that sign a browser in once, sign-ins of browsers, and tokens of scripts.
//!
//! It knows no file, no clock and no randomness: `keeper` writes it down, and the time and the secret words are passed
//! in. Of a secret word only a hash is kept, and hashes are compared in a time that says nothing of them.

mod keeper;
mod record;

use std::{collections::VecDeque, fmt, str::FromStr};

use ctutils::CtEq;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

pub(crate) use keeper::{Keeper, NewToken, NotKept};
pub(crate) use record::{FACT, nobody, of_file};

/// What a token begins with, so that it is known for one wherever it turns up.
pub(crate) const TOKEN_PREFIX: &str = "ost_";

/// How long a link is good.
pub(crate) const LINK_MS: u64 = 10 * 60 * 1000;

/// How long a browser that does not come back stays signed in.
pub(crate) const BROWSER_MS: u64 = 30 * DAY_MS;

/// The most links that are known at a time; the oldest makes room.
const LINKS_MAX: usize = 64;

/// How long it is known of a link that it was good once.
const LINK_KNOWN_MS: u64 = DAY_MS;

/// The most browsers that are signed in; the one that came back least lately makes room.
const BROWSERS_MAX: usize = 64;

/// The most tokens.
pub(crate) const TOKENS_MAX: usize = 64;

/// How long it is known of something that it is over.
const OVER_KNOWN_MS: u64 = 30 * DAY_MS;

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// A sign-in or a token, told from all others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct SignInId(pub(crate) u64);

/// What stands for a secret word.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct Hash([u8; 32]);

/// Whose it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    /// A browser's.
    Browser,
    /// A script's, which may do what its owner may.
    Token,
    /// A script's, which may only look.
    ReadOnlyToken,
}

/// Somebody who may come in.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(crate) id: SignInId,
    pub(crate) kind: Kind,
    /// What its owner calls it.
    pub(crate) name: String,
    pub(crate) made_at_ms: u64,
    /// When it was used last, to the day.
    pub(crate) used_at_ms: Option<u64>,
    /// When it ends.
    pub(crate) over_at_ms: u64,
    /// Of the cookie, or of the token.
    hash: Hash,
    /// Of what a browser shows beside its cookie.
    proof: Option<Hash>,
    /// The port at which a browser has signed in. Whoever answers at another one is told what it shows there, and must
    /// not be able to show it here.
    #[serde(default)]
    port: Option<u16>,
}

/// Everybody who may come in.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct SignIns {
    last: u64,
    entries: Vec<Entry>,
}

/// Links that were given out. They are kept in memory alone.
#[derive(Debug, Default)]
pub(crate) struct Links {
    made: VecDeque<Link>,
}

#[derive(Debug)]
struct Link {
    hash: Hash,
    over_at_ms: u64,
    used: bool,
}

/// Why a link signs nobody in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotALink {
    /// Nobody has made it, or a server that has ended since.
    Unknown,
    /// It was good once.
    Used,
    /// It was good for a while.
    Over,
}

/// Who shows a secret word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    /// Somebody who may come in.
    Known {
        id: SignInId,
        kind: Kind,
        /// Whether it is the first use of a day, which has to be written down.
        first_today: bool,
    },
    /// Somebody who could until a while ago.
    Over,
    /// Nobody.
    Unknown,
}

impl Links {
    /// Remembers a link by its code.
    pub(crate) fn add(&mut self, code: &str, now_ms: u64) -> u64 {
        self.made.retain(|link| now_ms < link.over_at_ms.saturating_add(LINK_KNOWN_MS));
        if self.made.len() >= LINKS_MAX {
            self.made.pop_front();
        }
        let over_at_ms = now_ms.saturating_add(LINK_MS);
        self.made.push_back(Link { hash: Hash::of(code), over_at_ms, used: false });
        over_at_ms
    }

    /// Whether a code signs somebody in. It still does afterwards, until it is [spent](Links::spend).
    pub(crate) fn check(&self, code: &str, now_ms: u64) -> Result<(), NotALink> {
        match self.find(code).map(|index| &self.made[index]) {
            None => Err(NotALink::Unknown),
            Some(link) if link.used => Err(NotALink::Used),
            Some(link) if link.over_at_ms <= now_ms => Err(NotALink::Over),
            Some(_) => Ok(()),
        }
    }

    /// From now on the code signs nobody in.
    pub(crate) fn spend(&mut self, code: &str) {
        if let Some(index) = self.find(code) {
            self.made[index].used = true;
        }
    }

    fn find(&self, code: &str) -> Option<usize> {
        let hash = Hash::of(code);
        // All are looked at, whichever it is.
        let links = self.made.iter().enumerate();
        links.fold(None, |found, (index, link)| if link.hash.is(&hash) { Some(index) } else { found })
    }
}

impl SignIns {
    /// Signs a browser in, at a port.
    pub(crate) fn add_browser(
        &mut self,
        name: String,
        cookie: &str,
        proof: &str,
        port: u16,
        now_ms: u64,
    ) -> SignInId {
        self.forget(now_ms);
        let browsers = || self.entries.iter().filter(|it| it.kind == Kind::Browser);
        if browsers().count() >= BROWSERS_MAX
            && let Some(oldest) = browsers().min_by_key(|it| it.used_at_ms.max(Some(it.made_at_ms)))
        {
            let oldest = oldest.id;
            self.entries.retain(|it| it.id != oldest);
        }
        let over_at_ms = now_ms.saturating_add(BROWSER_MS);
        let entry = self.entry(Kind::Browser, name, now_ms, over_at_ms, cookie);
        let id = entry.id;
        self.entries.push(Entry { proof: Some(Hash::of(proof)), port: Some(port), ..entry });
        // To sign in is to be there.
        self.show_cookie(cookie, proof, port, now_ms);
        id
    }

    /// Gives a script a token; nothing, if there are too many.
    pub(crate) fn add_token(
        &mut self,
        kind: Kind,
        name: String,
        token: &str,
        now_ms: u64,
        over_at_ms: u64,
    ) -> Option<SignInId> {
        self.forget(now_ms);
        let count = self.entries.iter().filter(|it| it.kind != Kind::Browser).count();
        (count < TOKENS_MAX).then(|| {
            let entry = self.entry(kind, name, now_ms, over_at_ms, token);
            let id = entry.id;
            self.entries.push(entry);
            id
        })
    }

    /// Somebody new, who shows this word.
    fn entry(&mut self, kind: Kind, name: String, made_at_ms: u64, over_at_ms: u64, word: &str) -> Entry {
        self.last = self.last.saturating_add(1);
        let (id, hash) = (SignInId(self.last), Hash::of(word));
        Entry { id, kind, name, made_at_ms, used_at_ms: None, over_at_ms, hash, proof: None, port: None }
    }

    /// Who shows a cookie and its proof, at a port.
    pub(crate) fn show_cookie(&mut self, cookie: &str, proof: &str, port: u16, now_ms: u64) -> Shown {
        let (cookie, proof) = (Hash::of(cookie), Hash::of(proof));
        self.show(now_ms, |it| {
            let is_shown = it.hash.is(&cookie) & it.proof.is_some_and(|kept| kept.is(&proof));
            is_shown && it.port == Some(port)
        })
    }

    /// Who shows a token.
    pub(crate) fn show_token(&mut self, token: &str, now_ms: u64) -> Shown {
        let token = Hash::of(token);
        self.show(now_ms, |it| it.hash.is(&token) & it.proof.is_none())
    }

    fn show(&mut self, now_ms: u64, is_it: impl Fn(&Entry) -> bool) -> Shown {
        // All are looked at, whichever it is.
        let found = self.entries.iter_mut().fold(None, |found, it| if is_it(it) { Some(it) } else { found });
        let Some(found) = found else { return Shown::Unknown };
        if found.over_at_ms <= now_ms {
            return Shown::Over;
        }
        let today = now_ms - now_ms % DAY_MS;
        let first_today = found.used_at_ms != Some(today);
        found.used_at_ms = Some(today);
        if found.kind == Kind::Browser {
            found.over_at_ms = found.over_at_ms.max(now_ms.saturating_add(BROWSER_MS));
        }
        Shown::Known { id: found.id, kind: found.kind, first_today }
    }

    /// Takes one away again.
    pub(crate) fn remove(&mut self, id: SignInId) -> Option<Entry> {
        let index = self.entries.iter().position(|it| it.id == id)?;
        Some(self.entries.remove(index))
    }

    /// Those that are not over, oldest first.
    pub(crate) fn live(&self, now_ms: u64) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(move |it| now_ms < it.over_at_ms)
    }

    /// The one that is meant: by its id, or a token by its name.
    pub(crate) fn find(&self, wanted: &str, now_ms: u64) -> Option<&Entry> {
        let id: Option<SignInId> = wanted.parse().ok();
        let is_named = |it: &Entry| it.kind != Kind::Browser && it.name == wanted;
        self.live(now_ms).find(|it| Some(it.id) == id || is_named(it))
    }

    /// Whether a token of this name can still be used.
    pub(crate) fn has_token(&self, name: &str, now_ms: u64) -> bool {
        self.live(now_ms).any(|it| it.kind != Kind::Browser && it.name == name)
    }

    fn forget(&mut self, now_ms: u64) {
        self.entries.retain(|it| now_ms < it.over_at_ms.saturating_add(OVER_KNOWN_MS));
    }
}

impl Hash {
    pub(crate) fn of(word: &str) -> Hash {
        Hash(Sha256::digest(word.as_bytes()).into())
    }

    /// In a time that does not depend on where they differ.
    fn is(&self, other: &Hash) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl From<Hash> for String {
    fn from(hash: Hash) -> String {
        crate::random::hexadecimal(&hash.0)
    }
}

impl TryFrom<String> for Hash {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Hash, &'static str> {
        let wrong = "not 64 hexadecimal digits";
        let mut hash = [0; 32];
        if text.len() != 64 {
            return Err(wrong);
        }
        for (byte, digits) in hash.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            let digits = str::from_utf8(digits).map_err(|_| wrong)?;
            *byte = u8::from_str_radix(digits, 16).map_err(|_| wrong)?;
        }
        Ok(Hash(hash))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hash")
    }
}

impl fmt::Display for SignInId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "k_{}", self.0)
    }
}

impl FromStr for SignInId {
    type Err = ();

    fn from_str(text: &str) -> Result<SignInId, ()> {
        let digits = text.strip_prefix("k_").filter(|it| it.bytes().all(|byte| byte.is_ascii_digit()));
        digits.and_then(|it| it.parse().ok()).map(SignInId).ok_or(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1_700_000_000_000;
    const PORT: u16 = 7378;

    #[test]
    fn a_link_is_good_once_and_for_a_while() {
        let mut links = Links::default();
        assert_eq!(links.check("a", NOW), Err(NotALink::Unknown));
        links.add("a", NOW);
        assert_eq!(links.check("a", NOW + LINK_MS - 1), Ok(()));
        assert_eq!(links.check("A", NOW), Err(NotALink::Unknown));
        assert_eq!(links.check("a", NOW + LINK_MS), Err(NotALink::Over));
        links.spend("a");
        assert_eq!(links.check("a", NOW), Err(NotALink::Used));
        for number in 0..=LINKS_MAX {
            links.add(&number.to_string(), NOW);
        }
        assert_eq!(links.made.len(), LINKS_MAX);
        assert_eq!(links.check("0", NOW), Err(NotALink::Unknown));
        assert_eq!(links.check("1", NOW), Ok(()));
        links.add("b", NOW + LINK_MS + LINK_KNOWN_MS);
        assert_eq!(links.made.len(), 1);
    }

    #[test]
    fn a_cookie_is_worth_nothing_without_its_own_proof() {
        let mut all = SignIns::default();
        let id = all.add_browser("one".into(), "cookie", "proof", PORT, NOW);
        all.add_browser("two".into(), "cookie2", "proof2", PORT, NOW);
        let known = |first_today| Shown::Known { id, kind: Kind::Browser, first_today };
        assert_eq!(all.show_cookie("cookie", "proof", PORT, NOW), known(false));
        assert_eq!(all.show_cookie("cookie", "proof", PORT, NOW + DAY_MS), known(true));
        assert_eq!(all.show_cookie("cookie", "proof", PORT, NOW + DAY_MS), known(false));
        for (cookie, proof) in [("cookie", "proof2"), ("cookie2", "proof"), ("cookie", ""), ("", "proof")] {
            assert_eq!(all.show_cookie(cookie, proof, PORT, NOW), Shown::Unknown, "{cookie} {proof}");
        }
        assert_eq!(all.show_token("cookie", NOW), Shown::Unknown);
    }

    #[test]
    fn a_browser_that_comes_back_stays_and_a_token_ends_when_it_was_to() {
        let mut all = SignIns::default();
        let browser = all.add_browser("one".into(), "cookie", "proof", PORT, NOW);
        let later = NOW + BROWSER_MS - 1;
        let known = Shown::Known { id: browser, kind: Kind::Browser, first_today: true };
        assert_eq!(all.show_cookie("cookie", "proof", PORT, later), known);
        assert_eq!(all.show_cookie("cookie", "proof", PORT, later + BROWSER_MS - 1), known);
        assert_eq!(all.show_cookie("cookie", "proof", PORT, later + 3 * BROWSER_MS), Shown::Over);
        let token = all.add_token(Kind::ReadOnlyToken, "ci".into(), "ost_x", NOW, NOW + DAY_MS);
        let known = Shown::Known { id: token.expect("room"), kind: Kind::ReadOnlyToken, first_today: true };
        assert_eq!(all.show_token("ost_x", NOW), known);
        assert_eq!(all.show_token("ost_x", NOW + DAY_MS), Shown::Over);
        assert_eq!(all.show_cookie("ost_x", "", PORT, NOW), Shown::Unknown);
        assert!(all.has_token("ci", NOW) && !all.has_token("ci", NOW + DAY_MS));
    }

    #[test]
    fn there_is_room_for_so_many() {
        let mut all = SignIns::default();
        for number in 0..TOKENS_MAX {
            let token = all.add_token(Kind::Token, number.to_string(), &number.to_string(), NOW, NOW + 1);
            assert!(token.is_some(), "{number}");
        }
        assert_eq!(all.add_token(Kind::Token, "more".into(), "more", NOW, NOW + 1), None);
        for number in 0..=BROWSERS_MAX {
            all.add_browser(String::new(), &format!("c{number}"), "p", PORT, NOW + number as u64);
        }
        assert_eq!(all.show_cookie("c0", "p", PORT, NOW), Shown::Unknown, "the oldest made room");
        assert!(matches!(all.show_cookie("c1", "p", PORT, NOW), Shown::Known { .. }));
        let later = NOW + OVER_KNOWN_MS + 1;
        assert!(all.add_token(Kind::Token, "more".into(), "more", later, later + 1).is_some());
    }

    #[test]
    fn a_token_is_found_by_its_name_and_everything_by_its_id() {
        let mut all = SignIns::default();
        let browser = all.add_browser("ci".into(), "cookie", "proof", PORT, NOW);
        let token = all.add_token(Kind::Token, "ci".into(), "ost_x", NOW, NOW + 1).expect("room");
        let find = |wanted: &str| all.find(wanted, NOW).map(|it| it.id);
        assert_eq!(find("ci"), Some(token));
        assert_eq!(find(&browser.to_string()), Some(browser));
        assert_eq!(find("k_9"), None);
        assert_eq!(all.remove(token).map(|it| it.name).as_deref(), Some("ci"));
        assert_eq!(all.show_token("ost_x", NOW), Shown::Unknown);
    }

    #[test]
    fn what_is_kept_holds_no_secret_word() {
        let mut all = SignIns::default();
        all.add_browser("one".into(), "cookie", "proof", PORT, NOW);
        let text = serde_json::to_string(&all).expect("plain data");
        assert!(!text.contains("cookie") && !text.contains("proof\":\"proof"), "{text}");
        let mut read: SignIns = serde_json::from_str(&text).expect("it can be read again");
        assert!(matches!(read.show_cookie("cookie", "proof", PORT, NOW), Shown::Known { .. }));
        assert!(serde_json::from_str::<SignIns>(&text.replace("\"hash\":\"", "\"hash\":\"g")).is_err());
    }
}
