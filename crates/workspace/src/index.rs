//! Changes the live index of a checkout, under git's own lock and without a git that holds it: a copy is brought up to
//! date and put in its place.
//!
//! The lock is a second name of a file of ours. Whoever finds it later, under the lock of the repository, knows by that
//! that nobody works there any more, and takes it away; a lock of anybody else is never touched.

use std::{
    fs::{self, File, Metadata},
    io,
    os::unix::fs::MetadataExt,
    path::PathBuf,
};

use crate::{checkout::Checkout, snapshot::TemporaryIndex};

/// The file whose second name the lock is.
const OWN: &str = "ostler-index-lock";

/// Git's lock of an index, held by us until it is dropped.
pub(crate) struct Held<'a> {
    checkout: &'a Checkout,
}

impl Held<'_> {
    /// Takes the lock; none while somebody else has it. Whoever calls holds the lock of the repository.
    pub(crate) fn take(checkout: &Checkout) -> io::Result<Option<Held<'_>>> {
        give_back(checkout);
        let own = checkout.git_dir.join(OWN);
        File::create_new(&own)?;
        match fs::hard_link(&own, lock(checkout)) {
            Ok(()) => Ok(Some(Held { checkout })),
            Err(error) => {
                fs::remove_file(&own)?;
                if error.kind() == io::ErrorKind::AlreadyExists { Ok(None) } else { Err(error) }
            }
        }
    }

    /// Puts an index in the place of the live one.
    pub(crate) fn replace(&self, index: &TemporaryIndex) -> io::Result<()> {
        fs::rename(index.path(), self.checkout.git_dir.join("index"))
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        give_back(self.checkout);
    }
}

/// Takes a lock away that is ours: also one that was left by who was killed. Whoever calls holds the lock of the
/// repository.
pub(crate) fn give_back(checkout: &Checkout) {
    let (own, lock) = (checkout.git_dir.join(OWN), lock(checkout));
    let file = |metadata: Metadata| (metadata.dev(), metadata.ino());
    let Ok(ours) = own.symlink_metadata().map(file) else { return };
    if lock.symlink_metadata().map(file).is_ok_and(|theirs| theirs == ours) {
        // What cannot be taken away is said to whoever needs the index next.
        drop(fs::remove_file(&lock));
    }
    drop(fs::remove_file(&own));
}

fn lock(checkout: &Checkout) -> PathBuf {
    checkout.git_dir.join("index.lock")
}
