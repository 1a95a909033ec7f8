//! The limit of file locks that a person's processes have. Agents get a lower one, by which they are known whatever they
//! do to themselves ([`LockLimit`]).
//!
//! Every process of the user can lower the limit of another, so the baseline is stored with the state directory, in a
//! file and in the database. The highest of both and of the server's own limit counts, because only a lower one would help
//! an agent: a server whose own limit was lowered is below what is stored, and refuses to start.

use std::{io, path::PathBuf};

use ostler_files::{FILE_BYTES_MAX, private};
use ostler_shim::LockLimit;
use ostler_store::{Reads, Sqlite, Store};

use crate::home::{Home, write_private};

/// The name in the database.
const META: &str = "lock_limit";

/// The baseline of a state directory. A new directory takes the limit of the process that makes it; one that was made
/// before there was a baseline takes the default of Linux, so that no agent can choose it by starting the first server.
pub(crate) fn baseline(home: &Home, store: &mut Sqlite, is_new: bool) -> io::Result<LockLimit> {
    let kept = store.meta(META).ok().flatten().and_then(|text| text.parse().ok());
    let found = find(home);
    let first = if is_new { LockLimit::own() } else { LockLimit::UNLIMITED };
    // An agent can lower both; it cannot lower the limit of a server that a person starts.
    let baseline = kept.max(found).unwrap_or(first).max(LockLimit::own());
    if found != Some(baseline) {
        write_private(&path(home), baseline.to_string().as_bytes())?;
    }
    if kept != Some(baseline) {
        // On a full disk it is in the file alone until the next start.
        store.set_meta(META, &baseline.to_string()).ok();
    }
    Ok(baseline)
}

/// The baseline in the file, if it can be read.
pub(crate) fn find(home: &Home) -> Option<LockLimit> {
    private::read_text(path(home), FILE_BYTES_MAX).ok()?.trim().parse().ok()
}

/// The file.
pub(crate) fn path(home: &Home) -> PathBuf {
    home.root().join("lock-limit")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_baseline_is_stored_once_and_a_lower_one_does_not_count() {
        let root = crate::test_directory().join(format!("baseline-{}", std::process::id()));
        let home = Home::at(&root);
        home.prepare().expect("a directory");
        let mut store = Sqlite::open(&home.database(), 0).expect("a database");
        let first = baseline(&home, &mut store, true).expect("a disk");
        assert_eq!(first, LockLimit::own());
        write_private(&path(&home), b"7").expect("a disk");
        assert_eq!(baseline(&home, &mut store, false).expect("a disk"), first, "the higher one counts");
        assert_eq!(find(&home), Some(first), "the file is written again");
        write_private(&path(&home), b"7").expect("a disk");
        store.set_meta(META, "7").expect("a disk");
        assert_eq!(baseline(&home, &mut store, false).expect("a disk"), first, "both were lowered");
        write_private(&path(&home), b"nonsense").expect("a disk");
        store.set_meta(META, "nonsense").expect("a disk");
        assert_eq!(baseline(&home, &mut store, false).expect("a disk"), LockLimit::UNLIMITED);
        fs::remove_dir_all(&root).expect("it is ours");
    }
}
