//! Who in this process works on what. A state file knows processes only, and in a server several may have tasks done.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

/// The keys of the work that somebody in this process holds, and how many hold it.
static CLAIMS: Mutex<BTreeMap<String, u32>> = Mutex::new(BTreeMap::new());

/// Says that somebody is at it, for as long as it is held.
#[derive(Debug)]
pub(crate) struct Claim {
    key: String,
}

impl Claim {
    /// Somebody has begun the work under a key.
    pub(crate) fn new(key: &str) -> Claim {
        let mut claims = CLAIMS.lock().unwrap_or_else(PoisonError::into_inner);
        *claims.entry(key.to_owned()).or_default() += 1;
        Claim { key: key.to_owned() }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let mut claims = CLAIMS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = claims.get_mut(&self.key) {
            *count -= 1;
            if *count == 0 {
                claims.remove(&self.key);
            }
        }
    }
}

/// Whether somebody in this process is at the work under a key.
pub(crate) fn is_claimed(key: &str) -> bool {
    CLAIMS.lock().unwrap_or_else(PoisonError::into_inner).contains_key(key)
}

#[cfg(test)]
mod tests {
    use std::{env, fs};

    use ostler_protocol::name::TaskId;

    use crate::{Begun, Ended, Project, begin};

    #[test]
    #[expect(clippy::disallowed_methods, reason = "files of a test")]
    fn nobody_takes_over_what_somebody_else_here_works_on() {
        let root = env::temp_dir().join(format!("ostler-claim-{}", std::process::id()));
        fs::remove_dir_all(&root).ok();
        fs::create_dir_all(&root).expect("the temporary directory can be written");
        fs::write(root.join("TASKS.md"), "- [ ] T1.1: one\n").expect("a file");
        let project = Project::find(&root, Some(&root.join("TASKS.md")));
        let id: TaskId = "T1.1".parse().expect("an id");
        let begun = |at_ms| begin(&project, &id, None, false, at_ms);
        let Begun::Work(work) = begun(1) else { panic!("it can be begun") };
        let Begun::Settled(ended) = begun(2) else { panic!("it is begun already") };
        assert_eq!(ended, Ended::failed("it is being done already"));
        let key = work.key.clone();
        drop(work);
        let Begun::Work(again) = begun(3) else { panic!("nobody works on it any more") };
        assert_eq!(again.key, key, "the same run is gone on with");
        fs::remove_dir_all(&root).ok();
    }
}
