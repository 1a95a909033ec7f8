//! Where links in notices lead: to the page, as whoever reads them can reach it.

use std::sync::Arc;

use crate::tcp::{Door, Standing};

/// Where the page would be, where there is none.
const USUAL: &str = "http://127.0.0.1:7378";

/// The page, as others reach it.
#[derive(Debug, Clone)]
pub(super) struct Page {
    public_url: Option<String>,
    door: Arc<Door>,
}

impl Page {
    pub(super) fn new(public_url: Option<String>, door: &Arc<Door>) -> Page {
        Page { public_url, door: Arc::clone(door) }
    }

    /// Whether it is found in the same way.
    pub(super) fn is_same(&self, other: &Page) -> bool {
        self.public_url == other.public_url
    }

    /// The beginning of links: what the configuration says, else what other machines reach, else what this one does.
    pub(super) async fn origin(&self) -> String {
        if let Some(url) = &self.public_url {
            return url.clone();
        }
        let standing = match self.door.standing() {
            // The server has just begun.
            Standing::Closed => self.door.ask().await,
            known => known,
        };
        match standing {
            Standing::Open(door) => door.origin_away().unwrap_or_else(|| door.origin()),
            Standing::Closed | Standing::Off | Standing::Shut(_) => USUAL.to_owned(),
        }
    }
}
