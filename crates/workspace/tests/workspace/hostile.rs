//! Repositories that would have git run programs: nothing runs until somebody agrees, and nothing is lost meanwhile.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use ostler_workspace::{
    DiffFormat, DiffOptions, GitError, MakeError, MergeError, MergeOutcome, NotRestored, Program,
    RemoveError, Repository, RestoreError, Worktree,
};

use crate::support::{
    Ground, MESSAGES, Project, commit_all, configure, found, git, head, read, trusted, work_in, write,
};

/// Settings that make git run their value, or a program that their value enables.
const KEYS: &[&str] = &[
    "filter.evil.clean",
    "filter.evil.smudge",
    "filter.evil.process",
    "merge.evil.driver",
    "diff.evil.command",
    "diff.evil.textconv",
    "diff.external",
    "core.fsmonitor",
    "hook.evil.command",
    "core.sshCommand",
    "core.gitProxy",
    "core.askPass",
    "credential.helper",
    "credential.https://example.org.helper",
    "remote.origin.uploadpack",
    "remote.origin.receivepack",
    "remote.origin.vcs",
    "core.alternateRefsCommand",
    "uploadpack.packObjectsHook",
    "lfs.customtransfer.evil.path",
    "lfs.extension.evil.clean",
    "lfs.extension.evil.smudge",
    "core.editor",
    "sequence.editor",
    "core.pager",
    "pager.diff-tree",
    "pager.status",
    "interactive.diffFilter",
    "gpg.program",
    "gpg.openpgp.program",
    "gpg.ssh.program",
    "gpg.ssh.defaultKeyCommand",
    "trailer.evil.command",
    "trailer.evil.cmd",
    "mergetool.evil.cmd",
    "mergetool.evil.path",
    "difftool.evil.cmd",
    "difftool.evil.path",
    "guitool.evil.cmd",
    "browser.evil.cmd",
    "browser.evil.path",
    "man.evil.cmd",
    "man.evil.path",
    "web.browser",
    "help.browser",
    "instaweb.browser",
    "instaweb.httpd",
    "instaweb.modulePath",
    "tar.evil.command",
    "gc.recentObjectsHook",
    "imap.tunnel",
    "sendemail.sendmailCmd",
    "sendemail.toCmd",
    "sendemail.ccCmd",
    "sendemail.headerCmd",
    "sendemail.evil.toCmd",
    "sendemail.smtpServer",
    "svn.authorsProg",
];

/// The same for those whose value is not the program alone.
fn more_keys(program: &str) -> Vec<(String, String)> {
    [
        ("alias.status", format!("!{program}")),
        ("alias.evil.command", program.to_owned()),
        ("submodule.evil.update", format!("!{program}")),
        ("remote.origin.url", format!("ext::{program}")),
        ("remote.origin.pushurl", format!("ext::{program}")),
        ("protocol.allow", "always".to_owned()),
        ("protocol.ext.allow", "always".to_owned()),
    ]
    .map(|(key, value)| (key.to_owned(), value))
    .to_vec()
}

/// Every setting with the program, and its file.
fn all_keys(program: &str) -> Vec<(String, String)> {
    let mut all: Vec<_> = KEYS.iter().map(|key| ((*key).to_owned(), program.to_owned())).collect();
    all.extend(more_keys(program));
    all.push((format!("url.ext::{program}.insteadOf"), "https://example.org/".to_owned()));
    all
}

/// A program that leaves a mark, and the mark.
struct Canary {
    program: String,
    mark: PathBuf,
}

impl Canary {
    fn new(ground: &Ground) -> Canary {
        let mark = ground.root.join("ran");
        let program = ground.root.join("canary");
        write(&program, &format!("#!/bin/sh\necho \"$0 $*\" >> '{}'\ncat\n", mark.display()));
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("rights are set");
        Canary { program: program.to_str().expect("the path is text").to_owned(), mark }
    }

    #[track_caller]
    fn assert_silent(&self) {
        assert!(!self.mark.exists(), "a program of the repository ran: {}", read(&self.mark));
    }
}

/// A repository whose attributes send every file through drivers called `evil`, and hooks of every kind.
fn trap<'a>(ground: &'a Ground, canary: &Canary) -> Project<'a> {
    let project = ground.project("project");
    project.write(".gitattributes", "* filter=evil diff=evil merge=evil\n");
    project.commit("attributes");
    for hook in ["post-checkout", "post-index-change", "reference-transaction", "post-merge", "pre-commit"] {
        let folder = project.root.join(".git/hooks");
        fs::create_dir_all(&folder).expect("the folder is made");
        fs::copy(&canary.program, folder.join(hook)).expect("the program is copied");
    }
    project
}

fn diff(repository: &Repository, worktree: &Worktree) -> Result<String, GitError> {
    let options = DiffOptions { format: DiffFormat::Patch, color: false, bytes_max: u64::MAX };
    Ok(String::from_utf8_lossy(&repository.diff(worktree, &options)?.bytes).into_owned())
}

#[track_caller]
fn programs(error: GitError) -> Vec<Program> {
    match error {
        GitError::Untrusted { programs, .. } => programs,
        other => panic!("{other}"),
    }
}

/// Everything that can be asked of a worktree is refused, and for which programs.
#[track_caller]
fn refused(repository: &Repository, worktree: &Worktree) -> Vec<Program> {
    let spec = ostler_workspace::WorktreeSpec {
        path: worktree.path.with_file_name("s_13"),
        branch: "ostler/s_13".into(),
        base: None,
        target: None,
    };
    let Err(MakeError::Git(make)) = repository.make_worktree(&spec) else { panic!("a worktree was made") };
    let Err(MergeError::Git(merge)) = repository.merge(worktree, None, MESSAGES) else { panic!("merged") };
    let Err(RemoveError::Git(discard)) = repository.discard(worktree) else { panic!("discarded") };
    let Err(RemoveError::Git(removal)) = repository.remove_merged(worktree, None) else { panic!("removed") };
    let found = programs(repository.status(worktree).expect_err("it is refused"));
    let looked = diff(repository, worktree).expect_err("it is refused");
    let kept = repository.checkpoint(Some(worktree), &crate::checkpoint::spec(1)).expect_err("it is refused");
    let here = repository.checkpoint(None, &crate::checkpoint::spec(1)).expect_err("it is refused");
    let listed = repository.checkpoints().expect_err("it is refused");
    let Err(NotRestored { error: RestoreError::Git(restored), before: None }) =
        repository.restore(Some(worktree), &worktree.base, &crate::checkpoint::spec(1))
    else {
        panic!("restored")
    };
    for error in [looked, kept, here, listed, restored, make, merge, discard, removal] {
        assert_eq!(programs(error), found);
    }
    assert!(repository.head().is_err() && repository.check_trust().is_err());
    found
}

#[test]
fn no_setting_runs_anything() {
    let ground = Ground::new();
    let canary = Canary::new(&ground);
    let project = trap(&ground, &canary);
    let worktree = project.worktree();
    write(&worktree.path.join("a"), "changed\n");
    let plain = read(&project.root.join(".git/config"));
    for (key, value) in all_keys(&canary.program) {
        project.git(["config", &key, &value]);
        let found = refused(&found(&project.root), &worktree);
        canary.assert_silent();
        assert_eq!(found.len(), 1, "{key}: {found:?}");
        assert!(found[0].key.eq_ignore_ascii_case(&key) && found[0].value == value, "{found:?}");
        assert_eq!(found[0].file, project.root.join(".git/config"));
        write(&project.root.join(".git/config"), &plain);
    }
    // All at once, and what a person reads of it.
    for (key, value) in all_keys(&canary.program) {
        project.git(["config", &key, &value]);
    }
    let found = refused(&found(&project.root), &worktree);
    assert_eq!(found.len(), all_keys(&canary.program).len());
    canary.assert_silent();
    let said = crate::support::found(&project.root).check_trust().unwrap_err().to_string();
    assert!(said.contains(&found[0].key) && said.contains(&canary.program), "{said}");
    assert!(said.contains(".git/config") && said.contains("ostler trust"), "{said}");
    // Whoever agrees gets what the settings say, apart from what is never on.
    assert!(project.repository().check_trust().is_ok());
}

#[test]
fn the_trap_would_spring() {
    let ground = Ground::new();
    let canary = Canary::new(&ground);
    let project = trap(&ground, &canary);
    for key in ["filter.evil.clean", "filter.evil.smudge"] {
        project.git(["config", key, &canary.program]);
    }
    // Were nobody to look, a worktree alone would do it.
    project.worktree();
    assert!(canary.mark.exists());
}

#[test]
fn wherever_a_setting_stands_it_is_seen() {
    let ground = Ground::new();
    let canary = Canary::new(&ground);
    let project = trap(&ground, &canary);
    let worktree = project.worktree();
    let text = format!("[filter \"evil\"]\n\tclean = {0}\n\tsmudge = {0}\n", canary.program);
    let config = project.root.join(".git/config");
    let plain = read(&config);
    let include = |text: &str| write(&config, &format!("{plain}{text}"));
    // In a file that came with the repository.
    project.write("tools/gitconfig", &text);
    include("[include]\n\tpath = ../tools/gitconfig\n");
    let seen = refused(&found(&project.root), &worktree);
    assert!(seen.iter().all(|it| it.file.ends_with("tools/gitconfig")), "{seen:?}");
    // Under a condition that will hold only in the worktree.
    for condition in ["onbranch:ostler/**", "gitdir:/nowhere/", "hasconfig:remote.*.url:https://nobody/**"] {
        include(&format!("[includeIf \"{condition}\"]\n\tpath = ../tools/gitconfig\n"));
        assert_eq!(refused(&found(&project.root), &worktree).len(), 2, "{condition}");
    }
    // One file behind another, behind a condition.
    project.write("tools/first", "[include]\n\tpath = gitconfig\n");
    include("[includeIf \"onbranch:ostler/**\"]\n\tpath = ../tools/first\n");
    assert_eq!(refused(&found(&project.root), &worktree).len(), 2);
    // At a place that cannot be told from here.
    include("[includeIf \"onbranch:ostler/**\"]\n\tpath = ~somebody/config\n");
    assert_eq!(programs(found(&project.root).check_trust().unwrap_err()).len(), 1);
    // A condition alone is nothing to be afraid of.
    project.write("tools/harmless", "[user]\n\tname = Somebody Else\n");
    include("[includeIf \"onbranch:ostler/**\"]\n\tpath = ../tools/harmless\n");
    found(&project.root).check_trust().unwrap();
    // In the configuration of one worktree alone.
    include("[extensions]\n\tworktreeConfig = true\n");
    let git_dir = PathBuf::from(git(&worktree.path, ["rev-parse", "--absolute-git-dir"]));
    write(&git_dir.join("config.worktree"), &text);
    programs(found(&project.root).status(&worktree).unwrap_err());
    let Err(RemoveError::Git(error)) = found(&project.root).discard(&worktree) else { panic!("discarded") };
    assert!(programs(error)[0].file.ends_with("config.worktree"));
    canary.assert_silent();
}

#[test]
fn the_agent_sets_a_trap_while_it_works() {
    let ground = Ground::new();
    let canary = Canary::new(&ground);
    let project = ground.project("project");
    let repository = found(&project.root);
    let worktree = repository.make_worktree(&project.spec()).unwrap();
    work_in(&worktree.path);
    assert!(diff(&repository, &worktree).unwrap().contains("+TWO"));
    let before = project.fingerprint();
    write(&worktree.path.join(".gitattributes"), "* filter=evil diff=evil merge=evil\n");
    git(&worktree.path, ["config", "filter.evil.clean", &canary.program]);
    let refused = refused(&repository, &worktree);
    assert_eq!(refused[0].key, "filter.evil.clean");
    canary.assert_silent();
    git(&worktree.path, ["config", "--unset", "filter.evil.clean"]);
    // Nothing is lost: it goes on where it was.
    assert_eq!(project.fingerprint().len(), before.len());
    let MergeOutcome::Merged { .. } = repository.merge(&worktree, None, MESSAGES).unwrap() else {
        panic!("not merged")
    };
    assert_eq!(read(&project.root.join("a")), "one\nTWO\nthree\n");
    canary.assert_silent();
}

#[test]
fn who_agrees_agrees_to_exactly_that() {
    let ground = Ground::new();
    let project = ground.project("project");
    project.write(".gitattributes", "b filter=mine\n");
    project.commit("attributes");
    project.git(["config", "filter.mine.clean", "tr a-z A-Z"]);
    project.git(["config", "filter.mine.smudge", "tr A-Z a-z"]);
    let agreed: Vec<String> =
        found(&project.root).programs().unwrap().iter().map(Program::fingerprint).collect();
    let repository = || found(&project.root).trusting(agreed.clone());
    let worktree = repository().make_worktree(&project.spec()).unwrap();
    write(&worktree.path.join("b"), "changed\n");
    assert!(diff(&repository(), &worktree).unwrap().contains("+CHANGED"));
    // Less is fine, other is not.
    project.git(["config", "--unset", "filter.mine.smudge"]);
    assert!(diff(&repository(), &worktree).is_ok());
    project.git(["config", "filter.mine.clean", "tr a-z A-Y"]);
    assert_eq!(programs(diff(&repository(), &worktree).unwrap_err())[0].value, "tr a-z A-Y");
    project.git(["config", "filter.mine.clean", "tr a-z A-Z"]);
    project.git(["config", "filter.more.clean", "cat"]);
    assert_eq!(programs(diff(&repository(), &worktree).unwrap_err()).len(), 1);
    // Another repository with the same words is another one.
    let other = ground.project("other");
    other.git(["config", "filter.mine.clean", "tr a-z A-Z"]);
    let same = found(&other.root).programs().unwrap()[0].fingerprint();
    assert!(agreed.contains(&same), "who keeps them keeps them by repository");
}

/// Git copies the configuration of the main checkout to each worktree.
#[test]
fn a_copy_that_git_makes_is_the_same_file() {
    let ground = Ground::new();
    let project = ground.project("project");
    project.git(["config", "extensions.worktreeConfig", "true"]);
    project.git(["config", "--worktree", "filter.mine.clean", "cat"]);
    let repository = trusted(&project.root);
    let worktree = repository.make_worktree(&project.spec()).unwrap();
    write(&worktree.path.join("a"), "changed\n");
    assert!(diff(&repository, &worktree).unwrap().contains("+changed"));
    let inside = found(&worktree.path);
    assert_eq!(inside.programs().unwrap().len(), 1);
    assert_eq!(inside.programs().unwrap()[0].fingerprint(), repository.programs().unwrap()[0].fingerprint());
}

#[test]
fn submodules_and_theirs_are_looked_at() {
    let ground = Ground::new();
    let canary = Canary::new(&ground);
    for name in ["inner", "outer"] {
        let library = ground.project(name);
        library.write(".gitattributes", "* filter=evil\n");
        library.commit("attributes");
    }
    git(&ground.root.join("outer"), ["submodule", "--quiet", "add", "../inner", "inner"]);
    commit_all(&ground.root.join("outer"), "with a submodule");
    let project = ground.project("project");
    let worktree = project.worktree();
    let add = ["submodule", "--quiet", "add", "../../../outer", "lib"];
    // The worktree lies deeper than the project, and so does the address.
    git(&worktree.path, add);
    git(&worktree.path, ["submodule", "--quiet", "update", "--init", "--recursive"]);
    let repository = found(&project.root);
    repository.status(&worktree).unwrap();
    for place in ["lib", "lib/inner"] {
        let directory = worktree.path.join(place);
        git(&directory, ["config", "filter.evil.clean", &canary.program]);
        // So that git has to look at the file itself.
        write(&directory.join("a"), "changed in size\n");
        for error in [
            repository.status(&worktree).unwrap_err(),
            diff(&repository, &worktree).unwrap_err(),
            found(&worktree.path).check_trust().unwrap_err(),
        ] {
            assert_eq!(programs(error)[0].key, "filter.evil.clean", "{place}");
        }
        let Err(MergeError::Git(error)) = repository.merge(&worktree, None, MESSAGES) else {
            panic!("merged")
        };
        programs(error);
        let Err(RemoveError::Git(error)) = repository.discard(&worktree) else { panic!("discarded") };
        programs(error);
        canary.assert_silent();
        assert!(trusted(&worktree.path).status(&worktree).is_ok());
        fs::remove_file(&canary.mark).expect("it runs once somebody agrees");
        git(&directory, ["config", "--unset", "filter.evil.clean"]);
    }
}

#[test]
fn a_repository_in_the_worktree_cannot_run_anything_when_it_goes() {
    let ground = Ground::new();
    let canary = Canary::new(&ground);
    let project = ground.project("project");
    let worktree = project.worktree();
    let inside = worktree.path.join("inside");
    fs::create_dir(&inside).unwrap();
    git(&inside, ["init", "--quiet"]);
    configure(&inside);
    write(&inside.join(".gitattributes"), "* filter=evil\n");
    write(&inside.join("a"), "a\n");
    commit_all(&inside, "inside");
    git(&inside, ["config", "filter.evil.clean", &canary.program]);
    git(&inside, ["config", "core.fsmonitor", &canary.program]);
    write(&inside.join("a"), "changed\n");
    let Err(RemoveError::Git(error)) = found(&project.root).discard(&worktree) else { panic!("discarded") };
    assert_eq!(programs(error).len(), 2);
    canary.assert_silent();
    assert_eq!(read(&inside.join("a")), "changed\n");
}

#[test]
fn a_repository_cannot_pass_for_another() {
    let ground = Ground::new();
    let canary = Canary::new(&ground);
    let victim = ground.project("victim");
    // Its files are somebody else's.
    let liar = ground.project("liar");
    liar.git(["config", "core.worktree", victim.root.to_str().unwrap()]);
    let error = Repository::find(&liar.root).unwrap_err();
    assert!(matches!(&error, GitError::Elsewhere { root, .. } if *root == victim.root), "{error}");
    // A worktree's side that leads to a repository of the agent's making.
    let worktree = victim.worktree();
    let made = ground.project("made");
    made.git(["config", "core.fsmonitor", &canary.program]);
    let git_dir = PathBuf::from(git(&worktree.path, ["rev-parse", "--absolute-git-dir"]));
    let link = read(&git_dir.join("commondir"));
    write(&git_dir.join("commondir"), made.root.join(".git").to_str().unwrap());
    let error = found(&victim.root).status(&worktree).unwrap_err();
    assert!(matches!(&error, GitError::Misled { to, .. } if *to == made.root.join(".git")), "{error}");
    write(&git_dir.join("commondir"), &link);
    found(&victim.root).status(&worktree).unwrap();
    canary.assert_silent();
}

#[test]
fn a_bare_repository_among_the_files_is_not_gone_by() {
    let ground = Ground::new();
    let canary = Canary::new(&ground);
    let project = ground.project("project");
    let bare = project.root.join("tests/data");
    git(&ground.root, ["clone", "--quiet", "--bare", "project", bare.to_str().unwrap()]);
    // Where nobody committed it, it is only a repository that lies there.
    found(&bare).check_trust().unwrap();
    project.commit("with a repository as files");
    let asked = programs(found(&bare).check_trust().unwrap_err());
    assert_eq!(asked[0].key, "safe.bareRepository");
    git(&bare, ["config", "core.fsmonitor", &canary.program]);
    assert_eq!(programs(found(&bare).check_trust().unwrap_err()).len(), 2);
    assert!(trusted(&bare).head().is_ok());
    canary.assert_silent();
    // One that stands alone is a project like any other.
    git(&ground.root, ["clone", "--quiet", "--bare", "project", "alone.git"]);
    found(&ground.root.join("alone.git")).check_trust().unwrap();
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a pipe is made")]
fn a_configuration_that_is_no_file_is_not_waited_for() {
    let ground = Ground::new();
    let project = ground.project("project");
    let repository = found(&project.root);
    let config = project.root.join(".git/config.worktree");
    assert!(Command::new("mkfifo").arg(&config).status().unwrap().success());
    let error = repository.head().unwrap_err();
    assert!(error.to_string().contains("not a regular file"), "{error}");
}

/// Git opens what a configuration includes as soon as it is called at all.
#[test]
#[expect(clippy::disallowed_methods, reason = "a pipe is made")]
fn an_include_that_is_no_file_is_not_waited_for() {
    for (section, depth) in [("include", 0), ("include", 1), ("includeIf \"onbranch:main\"", 0)] {
        let ground = Ground::new();
        let project = ground.project("project");
        let repository = found(&project.root);
        let pipe = project.root.join(".git/inc");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let config = project.root.join(".git/config");
        let old = read(&config);
        if depth == 1 {
            write(&project.root.join(".git/between"), "[include]\n\tpath = inc\n");
        }
        let first = if depth == 1 { "between" } else { "inc" };
        write(&config, &format!("{old}[{section}]\n\tpath = {first}\n"));
        for error in [repository.head().unwrap_err(), Repository::find(&project.root).unwrap_err()] {
            assert!(error.to_string().contains("inc': not a regular file"), "{error}");
        }
        fs::remove_file(&pipe).unwrap();
        write(&pipe, "[user]\n\tname = Somebody\n");
        repository.head().unwrap();
    }
}

/// What else an agent may turn into a pipe in the git directory is opened without waiting.
#[test]
#[expect(clippy::disallowed_methods, reason = "pipes are made")]
fn other_files_of_git_that_are_pipes_are_not_waited_for() {
    let ground = Ground::new();
    let project = ground.project("project");
    let spec = ostler_workspace::WorktreeSpec {
        path: ground.worktree_path(),
        branch: "ostler/s_12".into(),
        base: None,
        target: None,
    };
    found(&project.root).make_worktree(&spec).unwrap();
    let decoy = project.root.join(".git/worktrees/decoy");
    fs::create_dir_all(decoy.join("rebase-merge")).unwrap();
    for name in ["gitdir", "locked", "ostler", "rebase-merge/head-name"] {
        assert!(Command::new("mkfifo").arg(decoy.join(name)).status().unwrap().success());
    }
    let other = ostler_workspace::WorktreeSpec {
        path: ground.root.join("state/worktrees/s_13"),
        branch: "ostler/s_13".into(),
        base: None,
        target: None,
    };
    let error = found(&project.root).make_worktree(&other).unwrap_err().to_string();
    assert!(error.contains("decoy/gitdir': not a regular file"), "{error}");
}

/// A repository that belongs to somebody else is refused by git itself; what it says tells how to allow it.
#[test]
fn a_repository_of_another_user_is_refused() {
    let ground = Ground::new();
    let project = ground.project("project");
    for path in [project.root.clone(), project.root.join(".git")] {
        if let Err(error) = std::os::unix::fs::chown(&path, Some(65_534), None) {
            eprintln!("SKIPPED: only root can give a directory away ({error})");
            return;
        }
    }
    let error = Repository::find(&project.root).unwrap_err().to_string();
    assert!(error.contains("dubious ownership") && error.contains("safe.directory"), "{error}");
}

/// What the test below starts with a configuration of the user's own.
#[test]
fn a_user_with_a_filter() {
    if let Some(root) = std::env::var_os("OSTLER_TEST_FILTERED") {
        let root = Path::new(&root);
        let path = root.parent().unwrap().join("state/worktrees/s_12");
        let spec =
            ostler_workspace::WorktreeSpec { path, branch: "ostler/s_12".into(), base: None, target: None };
        let repository = found(root);
        assert!(repository.programs().unwrap().is_empty());
        repository.make_worktree(&spec).unwrap();
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the user's configuration is chosen by the environment")]
fn what_the_user_has_configured_stays_in_force() {
    let ground = Ground::new();
    let project = ground.project("project");
    project.write(".gitattributes", "b filter=mine\n");
    project.commit("attributes");
    let global = ground.root.join("gitconfig");
    write(&global, "[filter \"mine\"]\n\tsmudge = tr a-z A-Z\n\tclean = tr A-Z a-z\n");
    let mut user = Command::new(std::env::current_exe().unwrap());
    user.args(["--exact", "hostile::a_user_with_a_filter"]).stdout(Stdio::null());
    user.env("OSTLER_TEST_FILTERED", &project.root).env("GIT_CONFIG_GLOBAL", &global);
    assert!(user.status().unwrap().success());
    assert_eq!(read(&ground.worktree_path().join("b")), "B\n");
    assert_eq!(head(&ground.worktree_path()), head(&project.root));
}
