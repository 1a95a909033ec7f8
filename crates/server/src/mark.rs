//! A word that tells the processes of this state directory from those of another. Agents carry it as long as they live,
//! so it must not change: it stands in a file and in the database, and each brings the other back.

use std::{io, path::PathBuf};

use ostler_files::{FILE_BYTES_MAX, private};
use ostler_store::{Reads, Sqlite, Store};
use sha2::{Digest, Sha256};

use crate::{
    home::{Home, write_private},
    random,
};

/// The name in the database.
const META: &str = "mark";

/// How many hexadecimal digits it has.
const LENGTH: usize = 12;

/// How many bytes clients know it by.
const SHOWN_BYTES: usize = 8;

/// The mark of a state directory; a new one where there is none.
pub(crate) fn mark(home: &Home, store: &mut Sqlite) -> io::Result<String> {
    let kept = store.meta(META).ok().flatten().filter(|word| is_mark(word));
    let found = find(home);
    if let Some(word) = kept.as_ref().or(found.as_ref()) {
        if found.as_ref() != Some(word) {
            write_private(&path(home), word.as_bytes())?;
        }
        if kept.is_none() {
            // On a full disk it stands in the file alone until the next start.
            store.set_meta(META, word).ok();
        }
        return Ok(word.clone());
    }
    let mut word = random::word();
    word.truncate(LENGTH);
    write_private(&path(home), word.as_bytes())?;
    store.set_meta(META, &word).ok();
    Ok(word)
}

/// By what clients know the state directory again. It says nothing of the mark, which is for processes of agents.
pub(crate) fn shown(mark: &str) -> String {
    let digest: [u8; 32] = Sha256::digest(format!("server\n{mark}")).into();
    random::hexadecimal(&digest[..SHOWN_BYTES])
}

/// What the file says, if it is whole.
pub(crate) fn find(home: &Home) -> Option<String> {
    private::read_text(path(home), FILE_BYTES_MAX).ok().filter(|word| is_mark(word))
}

/// The file.
pub(crate) fn path(home: &Home) -> PathBuf {
    home.root().join("mark")
}

fn is_mark(word: &str) -> bool {
    word.len() == LENGTH && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}
