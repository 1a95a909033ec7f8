//! A small library that is loaded before the system's: it makes the disk of a server fail, and its clock jump, while a
//! file says so. Shims and agents do not get it: they start with an environment of their own.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::atomic::{AtomicU32, Ordering},
};

/// `write` and `sync` hold the number of an error, `wall` the seconds by which the clock on the wall is off.
const LIBRARY: &str = r#"
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

static long told(const char *name) {
    char path[4096], number[24] = "";
    const char *folder = getenv("OSTLER_TEST_FAULTS");
    if (!folder) return 0;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int file = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY);
    if (file < 0) return 0;
    if (syscall(SYS_read, file, number, sizeof number - 1) < 0) number[0] = 0;
    syscall(SYS_close, file);
    return atol(number);
}
static int fails(const char *name) {
    long number = told(name);
    if (!number) return 0;
    errno = number;
    return 1;
}
ssize_t pwrite64(int fd, const void *data, size_t size, off_t at) {
    return fails("write") ? -1 : syscall(SYS_pwrite64, fd, data, size, at);
}
ssize_t pwrite(int fd, const void *data, size_t size, off_t at) { return pwrite64(fd, data, size, at); }
int fsync(int fd) { return fails("sync") ? -1 : syscall(SYS_fsync, fd); }
int fdatasync(int fd) { return fails("sync") ? -1 : syscall(SYS_fdatasync, fd); }
int clock_gettime(clockid_t clock, struct timespec *now) {
    int outcome = syscall(SYS_clock_gettime, clock, now);
    if (!outcome && clock == CLOCK_REALTIME) now->tv_sec += told("wall");
    return outcome;
}
"#;

/// The library, and the folder in which its faults stand.
pub(crate) struct Preload {
    library: String,
    folder: PathBuf,
}

impl Preload {
    /// Builds it, where there is a compiler.
    pub(crate) fn new() -> Option<Preload> {
        static COUNTER: AtomicU32 = AtomicU32::new(0);
        let name = format!("preload-{}-{}", std::process::id(), COUNTER.fetch_add(1, Ordering::Relaxed));
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::remove_dir_all(&folder).ok();
        fs::create_dir_all(&folder).expect("the target directory can be written");
        let (source, library) = (folder.join("faults.c"), folder.join("faults.so"));
        fs::write(&source, LIBRARY).expect("a file");
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-o"]).args([&library, &source]);
        if !compiler.output().is_ok_and(|output| output.status.success()) {
            eprintln!("SKIPPED: no C compiler for the faults of a disk and a clock");
            return None;
        }
        Some(Preload { library: library.display().to_string(), folder })
    }

    /// What a server is started with.
    pub(crate) fn environment(&self) -> [(&str, &str); 2] {
        let folder = self.folder.to_str().expect("the target directory has a plain name");
        [("LD_PRELOAD", &self.library), ("OSTLER_TEST_FAULTS", folder)]
    }

    /// From now on.
    pub(crate) fn set(&self, fault: &str, number: &str) {
        let draft = self.folder.join("draft");
        fs::write(&draft, number).expect("a file");
        fs::rename(draft, self.folder.join(fault)).expect("a name");
    }

    pub(crate) fn clear(&self, fault: &str) {
        fs::remove_file(self.folder.join(fault)).expect("it was set");
    }
}

impl Drop for Preload {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.folder).ok();
    }
}
