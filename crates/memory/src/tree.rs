//! Which files of a tree count, and how many.

use std::{ffi::OsStr, os::unix::ffi::OsStrExt, path::Path};

use rustix::fs::fstatfs;

use ostler_files::beneath::HeldDirectory;

/// The most files of one tree; what is beyond is counted as left out.
pub const FILES_MAX: usize = 50_000;

/// The longest file.
pub const FILE_BYTES_MAX: u64 = 4 << 20;

/// The most text of all files together.
pub const TEXT_BYTES_MAX: u64 = 128 << 20;

/// The most directories of one tree.
pub(crate) const DIRECTORIES_MAX: usize = 10_000;

/// The most names of one directory.
pub(crate) const ENTRIES_MAX: usize = 100_000;

/// How deep directories lie in each other.
pub(crate) const DEPTH_MAX: usize = 32;

/// File systems that other machines or programs change without an event here: NFS, SMB, CIFS, SMB2, FUSE, 9P, AFS, Ceph.
const REMOTE: [u32; 8] =
    [0x6969, 0x517B, 0xFF53_4D42, 0xFE53_4D42, 0x6573_5546, 0x0102_1997, 0x5346_414F, 0x00C3_6400];

/// Whether a name is that of a Markdown file.
pub(crate) fn is_markdown(name: &OsStr) -> bool {
    let bytes = name.as_bytes();
    let ending = bytes.len().checked_sub(3).map(|at| &bytes[at..]);
    ending.is_some_and(|ending| ending.eq_ignore_ascii_case(b".md"))
}

/// Whether a directory is gone into.
pub(crate) fn is_entered(name: &OsStr, path: &Path) -> bool {
    name != ".git" && path.components().count() < DEPTH_MAX
}

/// Whether every change of a directory brings an event.
pub(crate) fn tells_changes(directory: &HeldDirectory) -> bool {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the numbers have 32 bits; how the field is typed depends on the processor"
    )]
    fstatfs(directory).is_ok_and(|about| !REMOTE.contains(&(about.f_type as u32)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_markdown_counts() {
        let check =
            |name: &str, expected: bool| assert_eq!(is_markdown(OsStr::new(name)), expected, "{name}");
        check("a.md", true);
        check("결정.MD", true);
        check(".md", true);
        check("md", false);
        check("a.md.bak", false);
        check("a.markdown", false);
    }
}
