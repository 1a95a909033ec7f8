//! A control group for one agent, where the system lets us have one: everything in it is frozen or killed at once,
//! whatever it forks.
//!
//! Nothing depends on it. Where there is no second version of control groups, or it is not ours to write, there is
//! no [`Cgroup`], and the tree is walked instead.

use std::{
    ffi::OsStr,
    fs::{self, File},
    io,
    os::{fd::AsRawFd, unix::fs::MetadataExt},
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use ostler_files::kernel;
use rustix::{
    fs::{FsWord, fstatfs},
    io::Errno,
    process::{Pid, Signal, kill_process},
};

/// What the kernel calls the file system of control groups of the second version.
const CGROUP2_MAGIC: FsWord = 0x6367_7270;

/// How long the kernel may take to freeze a group.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long those who were killed may take to be gone before somebody looks why.
const KILL_PATIENCE: Duration = Duration::from_millis(20);

/// Between two looks.
const PAUSE: Duration = Duration::from_micros(200);

/// A group below the shim's own.
#[derive(Debug)]
pub(crate) struct Cgroup {
    /// Where it is mounted.
    path: PathBuf,
    /// What `/proc` calls it.
    name: String,
}

impl Cgroup {
    /// Makes a group for the agent of a directory; nothing if that is not allowed here.
    pub(crate) fn make(session: &str, directory: &Path) -> Option<Cgroup> {
        let own = kernel::read_text("/proc/self/cgroup").ok()?;
        let own = group_of(&own)?;
        let mounts = kernel::read_text("/proc/self/mountinfo").ok()?;
        let parent = mounts.lines().find_map(|line| place(line, own)).filter(|place| place.is_dir())?;
        // A directory is for one launch, so its number belongs to this one as long as it is there.
        let number = fs::metadata(directory).ok()?.ino();
        let session: String = session.chars().filter(char::is_ascii_alphanumeric).take(64).collect();
        let leaf = format!("ostler.{session}.{number:x}");
        let cgroup =
            Cgroup { path: parent.join(&leaf), name: format!("{}/{leaf}", own.trim_end_matches('/')) };
        fs::create_dir(&cgroup.path).ok()?;
        // Older kernels have the one and not the other.
        if ["cgroup.freeze", "cgroup.kill"].iter().all(|file| cgroup.path.join(file).exists()) {
            return Some(cgroup);
        }
        cgroup.remove();
        None
    }

    /// Where it is, for whoever has to clean up.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Who writes a zero into this moves in.
    pub(crate) fn door(&self) -> io::Result<File> {
        kernel::open_to_write(self.path.join("cgroup.procs"))
    }

    /// Whether a process is in it, or in a group below it.
    pub(crate) fn holds(&self, pid: Pid) -> bool {
        let groups = kernel::read_text(format!("/proc/{pid}/cgroup")).unwrap_or_default();
        let rest = group_of(&groups).and_then(|group| group.strip_prefix(&self.name));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// Freezes everything in it. Whether the kernel says that all stand still.
    pub(crate) fn freeze(&self) -> bool {
        set(&self.path, "cgroup.freeze", "1").is_ok() && self.comes_to("frozen 1", PATIENCE)
    }

    /// Lets everything in it run again.
    pub(crate) fn thaw(&self) {
        // It can fail only where the group is gone, and with it everybody who was frozen.
        set(&self.path, "cgroup.freeze", "0").ok();
    }

    /// Kills everything in it. Whether the kernel says that nobody is left: it passes over a process whose first
    /// thread has ended, and that one needs a signal.
    pub(crate) fn kill(&self) -> bool {
        set(&self.path, "cgroup.kill", "1").is_ok() && self.comes_to("populated 0", KILL_PATIENCE)
    }

    /// Removes it once everybody is gone. One that somebody still lives in is left.
    pub(crate) fn remove(&self) {
        remove(&self.path);
    }

    fn comes_to(&self, state: &str, patience: Duration) -> bool {
        let deadline = Instant::now() + patience;
        loop {
            let events = kernel::read_text(self.path.join("cgroup.events")).unwrap_or_default();
            if events.lines().any(|line| line == state) {
                return true;
            }
            if Instant::now() >= deadline {
                return false;
            }
            thread::sleep(PAUSE);
        }
    }
}

/// Ends everybody in the group of a shim that is gone, and removes the group. The path comes from the spool, which an
/// agent can forge, so only a control group that was made for this very directory is touched.
pub(crate) fn sweep(path: &Path, directory: &Path) -> io::Result<()> {
    let Some(path) = real_group(path)? else { return Ok(()) };
    if !is_for(&path, fs::metadata(directory)?.ino()) {
        return Ok(());
    }
    sweep_group(&path)
}

/// Where a path leads that is a directory in the file system of control groups.
fn real_group(path: &Path) -> io::Result<Option<PathBuf>> {
    let group = match ostler_files::open_directory(path) {
        Ok(group) => group,
        // An agent may name anything: a file, a loop of links, a name that is too long.
        Err(error) if is_exhausted(&error) => return Err(error),
        Err(_) => return Ok(None),
    };
    if fstatfs(&group)?.f_type != CGROUP2_MAGIC {
        return Ok(None);
    }
    // The name of what was looked at, whatever has been put in the place of a link on the way to it.
    fs::read_link(format!("/proc/self/fd/{}", group.as_raw_fd())).map(Some)
}

/// Whether a directory could not be opened for want of descriptors or memory, which says nothing about it.
fn is_exhausted(error: &io::Error) -> bool {
    [Errno::MFILE, Errno::NFILE, Errno::NOMEM]
        .iter()
        .any(|it| error.raw_os_error() == Some(it.raw_os_error()))
}

/// Whether the name of a group is one that [`Cgroup::make`] gives for a directory of this number.
fn is_for(group: &Path, directory: u64) -> bool {
    let name = group.file_name().and_then(OsStr::to_str).unwrap_or_default();
    let number =
        name.strip_prefix("ostler.").and_then(|rest| rest.rsplit_once('.')).map(|(_, number)| number);
    number == Some(format!("{directory:x}").as_str())
}

fn sweep_group(path: &Path) -> io::Result<()> {
    match set(path, "cgroup.kill", "1") {
        Err(source) if source.kind() == io::ErrorKind::NotFound => return Ok(()),
        outcome => outcome?,
    }
    let deadline = Instant::now() + PATIENCE;
    while !remove(path) {
        kill_listed(path);
        if Instant::now() >= deadline {
            return Err(io::ErrorKind::ResourceBusy.into());
        }
        thread::sleep(PAUSE);
    }
    Ok(())
}

/// Kills whoever the kernel has passed over, see [`Cgroup::kill`].
fn kill_listed(path: &Path) {
    let list = kernel::read_text(path.join("cgroup.procs")).unwrap_or_default();
    for pid in list.lines().filter_map(|line| line.parse().ok()).filter_map(Pid::from_raw) {
        kill_process(pid, Signal::KILL).ok();
    }
}

/// Removes a group and those that an agent has made below it. Whether it is gone.
fn remove(path: &Path) -> bool {
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove(&entry.path());
        }
    }
    fs::remove_dir(path).is_ok()
}

fn set(group: &Path, file: &str, value: &str) -> io::Result<()> {
    kernel::write(group.join(file), value.as_bytes())
}

/// The group of the second version in what `/proc` lists for a process.
fn group_of(list: &str) -> Option<&str> {
    list.lines().find_map(|line| line.strip_prefix("0::"))
}

/// Where a line of `mountinfo` shows a group, if it is the right kind of mount and shows that part of it.
fn place(line: &str, group: &str) -> Option<PathBuf> {
    let (mount, kind) = line.split_once(" - ")?;
    if kind.split(' ').next() != Some("cgroup2") {
        return None;
    }
    let mut fields = mount.split(' ').skip(3);
    let (root, point) = (unescape(fields.next()?), unescape(fields.next()?));
    let below = group.strip_prefix(root.trim_end_matches('/'))?;
    let is_below = below.is_empty() || below.starts_with('/');
    is_below.then(|| Path::new(&point).join(below.trim_start_matches('/')))
}

/// `mountinfo` writes spaces and the like in octal.
fn unescape(field: &str) -> String {
    let escapes = [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")];
    escapes.iter().fold(field.to_owned(), |text, (code, character)| text.replace(code, character))
}

#[cfg(test)]
mod tests {
    use std::{
        env,
        fs::{self, File},
        io::Write,
        os::unix::fs::MetadataExt,
        path::{Path, PathBuf},
        process,
    };

    use super::{group_of, is_for, place, sweep};

    #[test]
    fn a_directory_that_is_no_control_group_is_left_alone() {
        let home = env::temp_dir().join(format!("ostler-cgroup-{}", process::id()));
        let launch = home.join("1");
        fs::create_dir_all(&launch).expect("a directory");
        let number = fs::metadata(&launch).expect("it is there").ino();
        let forged = home.join(format!("ostler.s1.{number:x}"));
        fs::create_dir_all(forged.join("below")).expect("a directory");
        let mut file = File::create(forged.join("cgroup.kill")).expect("a file");
        file.write_all(b"untouched").expect("a disk");
        sweep(&forged, &launch).expect("it is passed over");
        assert!(forged.join("below").is_dir(), "directories were removed");
        assert_eq!(fs::read_to_string(forged.join("cgroup.kill")).expect("it is there"), "untouched");
        for other in [home.join("missing"), forged.join("cgroup.kill")] {
            sweep(&other, &launch).expect("it is passed over");
        }
        fs::remove_dir_all(home).expect("it is ours");
    }

    #[test]
    fn only_the_group_of_the_same_directory_is_swept() {
        let is_mine = |path: &str| is_for(Path::new(path), 0xabc);
        assert!(is_mine("/sys/fs/cgroup/user.slice/ostler.s1.1.abc"));
        assert!(!is_mine("/sys/fs/cgroup/user.slice/ostler.s1.1.abcd"));
        assert!(!is_mine("/sys/fs/cgroup/user.slice/other.abc"));
        assert!(!is_mine("/sys/fs/cgroup/user.slice"));
        assert!(!is_mine("/"));
    }

    #[test]
    fn a_group_is_found_where_it_is_mounted() {
        let only = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate";
        let hybrid = "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw";
        let part = "41 31 0:38 /user.slice /mnt/my\\040groups rw - cgroup2 none rw";
        let first_version = "38 31 0:35 / /sys/fs/cgroup/freezer rw - cgroup cgroup rw,freezer";
        let at = |path: &str| Some(PathBuf::from(path));
        assert_eq!(place(only, "/user.slice/a.scope"), at("/sys/fs/cgroup/user.slice/a.scope"));
        assert_eq!(place(hybrid, "/"), at("/sys/fs/cgroup/unified/"));
        assert_eq!(place(part, "/user.slice/a"), at("/mnt/my groups/a"));
        assert_eq!(place(part, "/user.slice"), at("/mnt/my groups/"));
        assert_eq!(place(part, "/user.slicer/a"), None);
        assert_eq!(place(part, "/system.slice"), None);
        assert_eq!(place(first_version, "/"), None);
    }

    #[test]
    fn only_the_second_version_counts() {
        assert_eq!(group_of("5:freezer:/x\n0::/a/b\n"), Some("/a/b"));
        assert_eq!(group_of("5:freezer:/x\n"), None);
    }
}
