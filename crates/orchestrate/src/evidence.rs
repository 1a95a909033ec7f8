//! Whether files were changed: what they looked like before, in one number.

use std::{
    collections::hash_map::DefaultHasher,
    fs,
    hash::Hasher,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use ostler_engine::plan::overlap;

use crate::file::read;

/// How many files are looked at; beyond that only their sizes and times count.
const CONTENTS_MAX: usize = 10_000;

/// How many entries are looked at at all.
const ENTRIES_MAX: usize = 200_000;

/// The largest file whose content is looked at.
const CONTENT_BYTES_MAX: u64 = 8 << 20;

/// How the files look that fit the patterns. It differs when one of them is added, changed or removed; two that are the
/// same by chance would have a change taken for none, and the task for not done.
pub(crate) fn look(directory: &Path, patterns: &[String]) -> u64 {
    let mut hasher = DefaultHasher::new();
    let mut open: Vec<PathBuf> = patterns.iter().map(|pattern| directory.join(literal(pattern))).collect();
    open.sort();
    // What lies in another that is looked at anyway is not looked at twice.
    open.dedup_by(|later, before| later.starts_with(&*before));
    let mut seen = 0;
    while let Some(path) = open.pop() {
        seen += 1;
        let Ok(about) = fs::symlink_metadata(&path) else { continue };
        let relative = path.strip_prefix(directory).unwrap_or(&path).to_string_lossy().into_owned();
        if seen > ENTRIES_MAX || path.file_name().is_some_and(|name| name == ".git") {
            continue;
        }
        if about.is_dir() {
            let mut below: Vec<PathBuf> =
                fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
            below.sort();
            open.extend(below);
        } else if patterns.iter().any(|pattern| overlap(pattern, &relative)) {
            hasher.write(relative.as_bytes());
            hasher.write_u64(about.len());
            match read(&path, CONTENT_BYTES_MAX, false) {
                Ok(bytes) if seen <= CONTENTS_MAX => hasher.write(&bytes),
                _ => hasher.write_i64(about.mtime_nsec() ^ about.mtime().rotate_left(32)),
            }
        }
    }
    hasher.finish()
}

/// The directories at the beginning of a pattern that are named in full.
fn literal(pattern: &str) -> PathBuf {
    let parts = pattern.split('/').filter(|part| !part.is_empty() && *part != ".");
    parts.take_while(|part| *part != ".." && !part.contains(['*', '?', '[', '{'])).collect()
}

#[cfg(test)]
mod tests {
    use std::env;

    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "files of a test")]
    fn only_what_fits_counts() {
        let root = env::temp_dir().join(format!("ostler-evidence-{}", std::process::id()));
        fs::remove_dir_all(&root).ok();
        fs::create_dir_all(root.join("src/user")).expect("the temporary directory can be written");
        fs::write(root.join("src/user/a.rs"), "one").expect("a file");
        fs::write(root.join("README.md"), "one").expect("a file");
        let patterns = ["src/user/*".to_owned(), "src/new.rs".to_owned()];
        let before = look(&root, &patterns);
        assert_eq!(look(&root, &patterns), before);
        fs::write(root.join("README.md"), "two").expect("a file");
        assert_eq!(look(&root, &patterns), before, "another file");
        fs::write(root.join("src/user/a.rs"), "two").expect("a file");
        let changed = look(&root, &patterns);
        assert_ne!(changed, before, "changed, with the same length");
        fs::write(root.join("src/new.rs"), "").expect("a file");
        assert_ne!(look(&root, &patterns), changed, "added, and empty");
        fs::remove_file(root.join("src/new.rs")).expect("it is ours");
        assert_eq!(look(&root, &patterns), changed, "and taken away again");
        fs::remove_dir_all(&root).ok();
    }
}
