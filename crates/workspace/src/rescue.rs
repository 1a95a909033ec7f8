//! Takes back a fast-forward that was cut short: a git that is killed on the way leaves locks and some
//! files that are already as they would have been.
//!
//! Before git begins, a note says from which commit to which. Nothing was in its way then, so every file that differs
//! between the two was as the first commit has it. Whoever finds the note later, under the lock of the repository that
//! git itself held, knows that this git is gone. A file that is missing, or holds the beginning of what the second
//! commit has, was written by it and is put back; one that holds anything else is somebody's, and stays. The index may
//! have been written by then, for git moves the branch last.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use ostler_files::named;

use crate::{
    Commit, GitError,
    checkout::{Checkout, file, read_file},
    git::Call,
    snapshot::paths,
};

/// The name of the note in the git directory of the checkout.
const NOTE: &str = "ostler-merge";

/// The most that a note holds.
const NOTE_BYTES_MAX: u64 = 1 << 10;

/// The largest file that is compared; a larger one is taken for somebody's.
const FILE_BYTES_MAX: u64 = 256 << 20;

/// Notes that files are about to be brought from one commit to another.
pub(crate) fn note(checkout: &Checkout, old: &Commit, new: &Commit) -> Result<(), GitError> {
    let path = checkout.git_dir.join(NOTE);
    let draft = checkout.git_dir.join("ostler-merge.draft");
    let written = named::create(&draft).and_then(|mut file| {
        io::Write::write_all(&mut file, format!("{old} {new}\n").as_bytes())?;
        file.sync_all()?;
        fs::rename(&draft, &path)
    });
    written.map_err(|source| file(&path, source))
}

/// Finishes what was noted: it is done, or it is taken back. Whoever calls holds the lock of the repository, so the git
/// that was to do it has ended.
pub(crate) fn finish(checkout: &Checkout, lock: &File) -> Result<(), GitError> {
    let path = checkout.git_dir.join(NOTE);
    let text = match read_file(&path, NOTE_BYTES_MAX) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(source) => return Err(file(&path, source)),
    };
    let mut commits = text.split_whitespace().map(Commit::parse);
    if let (Some(Some(old)), Some(Some(new))) = (commits.next(), commits.next()) {
        // Only the locks of that git: they came after the note.
        let is_later = |a: &Path, b: &Path| {
            Some(fs::metadata(a).ok()?.modified().ok()? >= fs::metadata(b).ok()?.modified().ok()?)
        };
        for lock in locks(checkout)? {
            if is_later(&lock, &path) == Some(true) {
                fs::remove_file(&lock).map_err(|source| file(&lock, source))?;
            }
        }
        if checkout.commit()?.as_ref() == Some(&old) {
            take_back(checkout, &old, &new, lock)?;
        }
    }
    fs::remove_file(&path).map_err(|source| file(&path, source))
}

/// Whatever a fast-forward locks: the index, the names of the commit before and of the one now, and the branch.
fn locks(checkout: &Checkout) -> Result<Vec<PathBuf>, GitError> {
    let mut locks =
        ["index.lock", "ORIG_HEAD.lock", "HEAD.lock"].map(|name| checkout.git_dir.join(name)).to_vec();
    if let Some(branch) = checkout.branch()? {
        let args = ["rev-parse", "--git-path", &format!("{branch}.lock")];
        locks.push(checkout.root.join(Call::on(&checkout.git_dir).args(args).line()?));
    }
    Ok(locks)
}

/// Puts the files back that were on their way from one commit to the other.
fn take_back(checkout: &Checkout, old: &Commit, new: &Commit, lock: &File) -> Result<(), GitError> {
    let args = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", old.as_str(), new.as_str(), "--"];
    let changed = paths(&Call::on(&checkout.git_dir).args(args).run()?);
    // What differs from the old commit, of those.
    let args = ["diff-index", "-z", "--name-only", "--no-renames", old.as_str(), "--"];
    let differs = paths(&Call::within(checkout).args(args).run()?);
    // What the index does not have as the new commit has it.
    let args = ["diff-index", "--cached", "-z", "--name-only", "--no-renames", new.as_str(), "--"];
    let staged_otherwise = paths(&Call::within(checkout).args(args).run()?);
    let (mut back, mut staged) = (Vec::new(), Vec::new());
    for path in changed {
        let is_known = blob(checkout, old, &path)?.is_some();
        let there = checkout.root.join(&path);
        let wanted = blob(checkout, new, &path)?;
        if is_known && !differs.contains(&path) {
            continue;
        }
        let is_of_git = match (fs::symlink_metadata(&there), &wanted) {
            (Err(_), _) => is_known,
            (Ok(about), Some(wanted)) if about.is_file() => {
                read_file(&there, FILE_BYTES_MAX).is_ok_and(|bytes| wanted.starts_with(&bytes))
            }
            (Ok(about), Some(wanted)) if about.is_symlink() => {
                fs::read_link(&there).is_ok_and(|link| link.as_os_str().as_encoded_bytes() == wanted)
            }
            (Ok(_), _) => false,
        };
        if !is_known && !staged_otherwise.contains(&path) && (is_of_git || !there.exists()) {
            staged.push(path.clone());
        }
        if is_of_git {
            back.push((path, is_known));
        }
    }
    for (path, is_known) in &back {
        if !is_known {
            let there = checkout.root.join(path);
            fs::remove_file(&there).map_err(|source| file(&there, source))?;
        }
    }
    let known: Vec<&PathBuf> = back.iter().filter(|(_, is_known)| *is_known).map(|(path, _)| path).collect();
    on_each(checkout, &["checkout", "--quiet", "--no-overlay", old.as_str(), "--"], &known, lock)?;
    let staged: Vec<&PathBuf> = staged.iter().collect();
    on_each(checkout, &["rm", "--cached", "--force", "--quiet", "--ignore-unmatch", "--"], &staged, lock)
}

/// Has git do something with files, some at a time.
fn on_each(checkout: &Checkout, args: &[&str], files: &[&PathBuf], lock: &File) -> Result<(), GitError> {
    for chunk in files.chunks(100) {
        let files = chunk.iter().map(|path| crate::git::joined(":(top,literal)", path));
        let args = args.iter().map(std::ffi::OsString::from);
        Call::within(checkout).args(args.chain(files)).holding(lock).run()?;
    }
    Ok(())
}

/// The file that a commit has at a path; none where it has none, or a folder.
fn blob(checkout: &Checkout, commit: &Commit, path: &Path) -> Result<Option<Vec<u8>>, GitError> {
    let object = crate::git::joined(&format!("{commit}:"), path);
    let output = Call::on(&checkout.git_dir).args(["cat-file", "blob"]).args([&object]).output()?;
    Ok(output.status.success().then_some(output.stdout))
}
