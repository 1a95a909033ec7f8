//! The configuration as it was read last. Its files are looked at again and again, and seldom change.

use std::{
    path::Path,
    sync::{Arc, Mutex},
};

use super::{Config, ConfigError, Source, sources};

/// How many are kept: one for each project that is worked on at the same time.
const KNOWN_MAX: usize = 8;

/// What stood in the files, and what that says; the one that was wanted last at the end.
struct Known {
    sources: [Option<Source>; 2],
    trusted: Vec<String>,
    config: Arc<Config>,
}

static KNOWN: Mutex<Vec<Known>> = Mutex::new(Vec::new());

impl Config {
    /// The same as [`Config::load`]. The files are read; only where they say something else than before, sense is made of
    /// them again.
    pub(crate) fn known(project_root: Option<&Path>, trusted: &[String]) -> Result<Arc<Config>, ConfigError> {
        let sources = sources(project_root)?;
        let mut known = KNOWN.lock().expect("nobody panics while holding it");
        if let Some(at) = known.iter().position(|it| it.sources == sources && it.trusted == trusted) {
            let found = known.remove(at);
            let config = Arc::clone(&found.config);
            known.push(found);
            return Ok(config);
        }
        let [user, project] = &sources;
        let config = Arc::new(Config::of(user.as_ref(), project.as_ref(), trusted)?);
        if known.len() == KNOWN_MAX {
            known.remove(0);
        }
        known.push(Known { sources, trusted: trusted.to_vec(), config: Arc::clone(&config) });
        Ok(config)
    }
}
