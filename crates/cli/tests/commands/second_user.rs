//! Another user of the same machine: cannot connect, cannot read, cannot plant anything. Parts of these tests run as
//! that user, which only root can arrange; elsewhere they say that they were skipped.

use std::{
    env, fs,
    io::Write,
    os::unix::{
        fs::{DirBuilderExt, MetadataExt, PermissionsExt, chown, symlink},
        net::UnixStream,
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::Command,
};

use crate::support::{ASK, Place, Said};

/// Neither root nor the user that stands for nobody.
const OTHER: u32 = 64_999;

/// Whether parts of a test can run as somebody else, to whom the place is not hidden anyway.
fn can_be_another(place: &Place) -> bool {
    if !rustix::process::geteuid().is_root() {
        eprintln!("SKIPPED: only root can run something as another user");
        return false;
    }
    let (exe, project) = (env::current_exe().expect("this program has a path"), place.project());
    let hidden = [project.as_path(), exe.as_path()].into_iter().flat_map(Path::ancestors).find(|it| {
        let mode = it.metadata().map(|it| it.permissions().mode()).unwrap_or_default();
        mode & 0o001 == 0
    });
    if let Some(hidden) = hidden {
        eprintln!("SKIPPED: another user could not even reach '{}'", hidden.display());
    }
    hidden.is_none()
}

/// Runs the test below as the other user, and says what came of it.
fn intrude(state: &Path) -> Said {
    let mut intruder = Command::new(env::current_exe().expect("this program has a path"));
    intruder.args(["--exact", "second_user::intruder", "--nocapture"]).env("OSTLER_TEST_STATE", state);
    intruder.env("OSTLER_TEST_FILES", list(state).join("\n"));
    intruder.uid(OTHER).gid(OTHER).current_dir("/");
    intruder.output().expect("it starts").into()
}

/// What the other user tries. Each line that begins with REACHED is something that worked.
#[test]
fn intruder() {
    let Some(state) = env::var_os("OSTLER_TEST_STATE").map(PathBuf::from) else { return };
    assert_eq!(rustix::process::geteuid().as_raw(), OTHER);
    assert!(state.metadata().is_ok(), "the directory itself can be seen, or nothing would be shown here");
    let files = env::var("OSTLER_TEST_FILES").expect("a list");
    let reached = |what: &str, path: &str| println!("REACHED {what} {path}");
    for path in files.lines() {
        if fs::read(path).is_ok() || fs::read_dir(path).is_ok() {
            reached("read", path);
        }
        if fs::OpenOptions::new().append(true).open(path).is_ok() {
            reached("write", path);
        }
        if UnixStream::connect(path).is_ok() {
            reached("connect", path);
        }
        if fs::rename(path, format!("{path}.gone")).is_ok() || fs::remove_file(path).is_ok() {
            reached("rename", path);
        }
    }
    for name in ["api.sock", "server.lock", "journal.sqlite", "planted"] {
        let path = state.join(name);
        if symlink("/etc/passwd", &path).is_ok() || fs::hard_link("/etc/passwd", &path).is_ok() {
            reached("plant", name);
        }
    }
    if fs::set_permissions(&state, fs::Permissions::from_mode(0o777)).is_ok() {
        reached("open", "the directory");
    }
    println!("TRIED {}", files.lines().count());
}

/// Everything in a directory, and the directory.
fn list(directory: &Path) -> Vec<String> {
    let mut found = vec![directory.display().to_string()];
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.symlink_metadata().is_ok_and(|it| it.is_dir()) {
            found.extend(list(&path));
        } else {
            found.push(path.display().to_string());
        }
    }
    found
}

/// A state directory with a server, an agent that waits, one that has ended, and a worktree.
fn busy(place: &Place) {
    place.done(&["run", "-d", "--worktree", "--", "bash", "-c", "echo secret > file.txt"]);
    place.wait_for("s_1", "completed");
    place.done(&["run", "-d", "--check", "true", "--", "bash", "-c", ASK]);
    place.wait_for_request();
}

#[test]
fn cannot_connect_read_or_plant() {
    let place = Place::with_commit();
    if !can_be_another(&place) {
        return;
    }
    busy(&place);
    let said = intrude(&place.state());
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.out.contains("TRIED ") && !said.out.contains("REACHED"), "{}", said.out);
    // Even where the directory is opened by mistake while the server runs, what is in it stays closed.
    fs::set_permissions(place.state(), fs::Permissions::from_mode(0o755)).expect("it is ours");
    let said = intrude(&place.state());
    fs::set_permissions(place.state(), fs::Permissions::from_mode(0o700)).expect("it is ours");
    let worktree = place.state().join("worktrees/s_1").display().to_string();
    let reached: Vec<&str> = said.out.lines().filter(|it| it.starts_with("REACHED")).collect();
    let state = place.state().display().to_string();
    let open: Vec<&&str> = reached.iter().filter(|it| **it != format!("REACHED read {state}")).collect();
    assert!(open.is_empty(), "{open:#?}, and not even {worktree}");
}

/// No file is made for others, whatever the umask of whoever starts Ostler says.
#[test]
fn an_open_umask_opens_nothing() {
    let place = Place::with_commit();
    fs::remove_dir(place.state()).expect("it is empty");
    let start = |arguments: &[&str]| {
        let mut shell = place.command(&[]);
        shell = {
            let mut wrapped = Command::new("sh");
            let binary = shell.get_program().to_owned();
            wrapped.args(["-c", "umask 000; exec \"$@\"", "sh"]).arg(binary).args(arguments);
            wrapped.current_dir(place.project()).env_clear();
            for (name, value) in shell.get_envs() {
                if let Some(value) = value {
                    wrapped.env(name, value);
                }
            }
            wrapped
        };
        let said: Said = shell.output().expect("it starts").into();
        assert_eq!(said.code, 0, "{said:?}");
    };
    start(&["run", "-d", "--worktree", "--", "bash", "-c", "echo x > file.txt"]);
    place.wait_for("s_1", "completed");
    start(&["run", "-d", "--", "bash", "-c", ASK]);
    place.wait_for_request();
    let worktrees = place.state().join("worktrees").display().to_string();
    let mut looked = 0;
    for path in list(&place.state()) {
        let is_work = path.starts_with(&format!("{worktrees}/s_1/"));
        let metadata = Path::new(&path).symlink_metadata().expect("it is there");
        let mode = metadata.permissions().mode() & 0o777;
        let for_others = mode & 0o077;
        assert!(for_others == 0 || is_work || metadata.is_symlink(), "{path} has mode {mode:o}");
        looked += 1;
    }
    assert!(looked > 10, "there was something to look at");
}

/// A place in which everybody may make directories, as `/tmp` is.
fn shared(place: &Place, mode: u32) -> PathBuf {
    let shared = place.project().with_file_name("shared");
    fs::create_dir_all(&shared).expect("a directory");
    fs::set_permissions(&shared, fs::Permissions::from_mode(mode)).expect("it is ours");
    shared
}

fn with_home(place: &Place, home: &Path, arguments: &[&str]) -> Said {
    place.command(arguments).env("OSTLER_HOME", home).output().expect("the binary starts").into()
}

#[track_caller]
fn refused(said: &Said, why: &str) {
    assert_eq!(said.code, 6, "{said:?}");
    assert!(said.err.contains(why), "{said:?}");
}

#[test]
fn a_directory_that_others_can_exchange_is_not_used() {
    let place = Place::new();
    let home = shared(&place, 0o777).join("ostler");
    refused(&with_home(&place, &home, &["ps"]), "everybody can rename");
    assert!(with_home(&place, &home, &["doctor"]).out.contains("everybody can rename"));
    // With the sticky bit it is only the owner who can.
    shared(&place, 0o1777);
    assert_eq!(with_home(&place, &home, &["ps"]).code, 0);
    assert_eq!(with_home(&place, &home, &["serve", "--stop"]).code, 0);
    crate::support::wait_for_unlock(&home.join("server.lock"));
}

#[test]
fn what_another_user_made_before_is_not_used() {
    let place = Place::new();
    let home = shared(&place, 0o1777).join("ostler");
    fs::DirBuilder::new().mode(0o700).create(&home).expect("a directory");
    if let Err(error) = chown(&home, Some(OTHER), Some(OTHER)) {
        eprintln!("SKIPPED: only root can give a directory away ({error})");
        return;
    }
    refused(&with_home(&place, &home, &["ps"]), "belongs to another user");
    assert_eq!(fs::read_dir(&home).expect("it is there").count(), 0, "nothing was put there");
    // Below a directory of somebody else's.
    refused(&with_home(&place, &home.join("deeper/ostler"), &["ps"]), "belongs to another user");
    fs::remove_dir_all(&home).expect("we are root");
    // A link of theirs, to a directory of ours.
    let ours = place.state();
    symlink(&ours, &home).expect("a link");
    std::os::unix::fs::lchown(&home, Some(OTHER), Some(OTHER)).expect("we are root");
    refused(&with_home(&place, &home, &["ps"]), "belongs to another user");
    assert_eq!(fs::read_dir(&ours).expect("it is there").count(), 0);
    // A link of our own is one's own affair.
    std::os::unix::fs::lchown(&home, Some(0), Some(0)).expect("we are root");
    assert_eq!(with_home(&place, &home, &["ps"]).code, 0);
}

/// Somebody could write there once. What they left leads nowhere.
#[test]
fn planted_links_are_not_followed() {
    for name in ["server.lock", "server.log", "journal.sqlite", "reserve"] {
        for is_hard in [false, true] {
            let place = Place::new();
            let victim = place.project().join("victim");
            fs::File::create(&victim).and_then(|mut file| file.write_all(b"precious\n")).expect("a file");
            let planted = place.state().join(name);
            if is_hard { fs::hard_link(&victim, &planted) } else { symlink(&victim, &planted) }
                .expect("a link");
            let said = place.run(&["ps"]);
            assert!(said.code == 6 || name == "reserve", "{name}: {said:?}");
            assert_eq!(fs::read(&victim).expect("it is there"), b"precious\n", "{name}");
            fs::remove_file(&planted).ok();
            assert_eq!(place.run(&["ps"]).code, 0, "{name}");
            assert_eq!(fs::read(&victim).expect("it is there"), b"precious\n", "{name}");
        }
    }
    // A socket that leads elsewhere is replaced, not listened on.
    let place = Place::new();
    let victim = place.project().join("victim");
    symlink(&victim, place.state().join("api.sock")).expect("a link");
    place.done(&["ps"]);
    assert!(!victim.exists());
    assert_eq!(place.state().join("api.sock").symlink_metadata().expect("it is there").mode() & 0o777, 0o600);
}

/// The directories and files of the next session, planted before it begins.
#[test]
fn a_planted_launch_writes_nothing_elsewhere() {
    let place = Place::new();
    let victim = place.project().join("victim");
    fs::File::create(&victim).and_then(|mut file| file.write_all(b"precious\n")).expect("a file");
    let launch = place.state().join("sessions/s_1/1");
    fs::create_dir_all(&launch).expect("a directory");
    for name in ["launch.draft", "shim.log", "lock", "out.log", "err.log", "spool.ndjson"] {
        symlink(&victim, launch.join(name)).expect("a link");
    }
    let said = place.run(&["run", "--", "echo", "hello"]);
    assert_ne!(said.code, -1, "it ends: {said:?}");
    assert_eq!(fs::read(&victim).expect("it is there"), b"precious\n");
}
