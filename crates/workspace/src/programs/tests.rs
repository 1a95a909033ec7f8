//! The table of settings that run programs, against what the installed git knows.

use std::process::Command;

use super::{SETTINGS, fingerprint, fits, runs, shown};

/// What a name sounds like when it names a program.
const SOUNDS: &[&str] = &[
    "alias",
    "allow",
    "askpass",
    "browser",
    "clean",
    "cmd",
    "command",
    "driver",
    "editor",
    "exec",
    "external",
    "filter",
    "fsmonitor",
    "gpg",
    "helper",
    "hook",
    "httpd",
    "monitor",
    "pager",
    "path",
    "process",
    "prog",
    "proxy",
    "receivepack",
    "script",
    "sendmail",
    "server",
    "smudge",
    "ssh",
    "template",
    "textconv",
    "tool",
    "tunnel",
    "update",
    "uploadpack",
    "vcs",
    "viewer",
];

/// Names that only sound like it, and what they are.
const HARMLESS: &[(&str, &str)] = &[
    ("advice.*", "whether advice is printed"),
    ("branch.*.description", "a text"),
    ("clean.requireforce", "whether git clean needs --force"),
    ("color.*", "a colour"),
    ("column.clean", "how a list is laid out"),
    ("commit.cleanup", "how a message is tidied"),
    ("commit.gpgsign", "whether to sign; switched off, and the program has a setting of its own"),
    ("commit.template", "a text that is read"),
    ("commitgraph.*", "numbers"),
    ("completion.commands", "names that a shell offers"),
    ("core.fsmonitorhookversion", "a number"),
    ("core.hookspath", "switched off for every call"),
    ("core.logallrefupdates", "whether a log is kept"),
    ("core.quotepath", "how a path is printed"),
    ("credential.usehttppath", "what is part of an address"),
    ("diff.*.binary", "whether a file is text"),
    ("diff.*.cachetextconv", "whether results are kept"),
    ("diff.*.trustexitcode", "what an exit code means"),
    ("diff.*.wordregex", "a pattern"),
    ("diff.*.xfuncname", "a pattern"),
    ("diff.guitool", "the name of a tool, whose command is a setting of its own"),
    ("diff.tool", "the name of a tool, whose command is a setting of its own"),
    ("difftool.guidefault", "which name counts"),
    ("difftool.prompt", "whether to ask"),
    ("difftool.trustexitcode", "what an exit code means"),
    ("fetch.showforcedupdates", "whether something is printed"),
    ("fsck.*", "how bad a fault is"),
    ("fsmonitor.allowremote", "whether a built-in service watches a network disk; switched off"),
    ("fsmonitor.socketdir", "where that service listens"),
    ("format.coverfromdescription", "where a text goes"),
    ("gc.repackfilter", "which objects are packed apart"),
    ("gc.repackfilterto", "where to"),
    ("gitcvs.dbdriver", "the name of a database driver of git cvsserver, which nobody here runs"),
    ("gitweb.description", "a text"),
    ("gpg.format", "which of the programs is meant"),
    ("gpg.mintrustlevel", "a level"),
    ("gpg.ssh.allowedsignersfile", "a list that is read"),
    ("gpg.ssh.revocationfile", "a list that is read"),
    ("gui.newbranchtemplate", "how a branch is called"),
    ("guitool.*", "how git gui asks; the command is a setting of its own"),
    ("help.htmlpath", "where pages are read"),
    ("http.*", "addresses and certificates"),
    ("include.path", "followed by the scan"),
    ("includeif.*.path", "followed by the scan, whatever the condition"),
    ("init.templatedir", "for new repositories only"),
    ("man.viewer", "the name of a viewer, whose command is a setting of its own"),
    ("merge.*.name", "a title"),
    ("merge.*.recursive", "the name of a driver"),
    ("merge.guitool", "the name of a tool, whose command is a setting of its own"),
    ("merge.tool", "the name of a tool, whose command is a setting of its own"),
    ("mergetool.*", "how tools are used; their commands are settings of their own"),
    ("notes.rewrite.*", "whether notes are kept"),
    ("pack.allowpackreuse", "how packs are made"),
    ("protocol.*.allow", "transports that are no commands; the one that is has its own line"),
    ("push.gpgsign", "whether to sign; the program is a setting of its own"),
    ("push.useforceifincludes", "how a push is checked"),
    ("rebase.abbreviatecommands", "how a list is printed"),
    ("rebase.reschedulefailedexec", "what becomes of a failed line in a person's own list"),
    ("rebase.updaterefs", "which refs move"),
    ("receive.*", "what a push may bring; its hooks are files and switched off"),
    ("remote.*.partialclonefilter", "which objects are left out"),
    ("remote.*.proxy", "an address"),
    ("remote.*.proxyauthmethod", "a word"),
    ("remote.*.serveroption", "words for the other side"),
    ("remote.*.skipdefaultupdate", "whether it is fetched"),
    ("repack.updateserverinfo", "whether a list is written"),
    ("rerere.autoupdate", "whether a result is staged"),
    ("sendemail.aliasesfile", "a list that is read"),
    ("sendemail.aliasfiletype", "its form"),
    ("sendemail.forbidsendmailvariables", "a check of spelling"),
    ("sendemail.smtpserveroption", "options of the program that sendemail.smtpServer names"),
    ("sendemail.smtpserverport", "a number"),
    ("sendemail.smtpsslcertpath", "a list that is read"),
    ("ssh.variant", "how options are spelled"),
    ("status.relativepaths", "how a path is printed"),
    ("tag.gpgsign", "whether to sign; switched off"),
    ("transfer.advertisesid", "what is told to the other side"),
    ("uploadarchive.allowunreachable", "what may be asked for"),
    ("uploadpack.*", "what may be asked for; its command has its own line"),
    ("uploadpackfilter.*", "what may be asked for"),
    ("submodule.alternateerrorstrategy", "a word"),
];

#[expect(clippy::disallowed_methods, reason = "the installed git is asked which settings it knows")]
fn known_to_git() -> Vec<String> {
    let output = Command::new("git").args(["help", "--config"]).output().expect("git can be started");
    let text = String::from_utf8(output.stdout).expect("names are text");
    text.lines().filter(|line| line.contains('.') && !line.contains(' ')).map(str::to_owned).collect()
}

#[test]
fn every_setting_that_sounds_like_a_program_is_known() {
    let names = known_to_git();
    assert!(names.len() > 500, "git lists its settings: {}", names.len());
    let mut unknown = Vec::new();
    for name in names {
        // `filter.<driver>.clean` as it would stand in a list.
        let key = name.to_ascii_lowercase().replace(['<', '>'], "").replace('*', "any");
        let sounds = SOUNDS.iter().any(|sound| key.contains(sound));
        let listed = SETTINGS.iter().any(|(pattern, _)| fits(pattern, &key));
        let harmless = HARMLESS.iter().any(|(pattern, _)| fits(pattern, &key));
        if sounds && !listed && !harmless {
            unknown.push(name);
        }
    }
    assert!(unknown.is_empty(), "say in one of the two lists what these are: {unknown:#?}");
}

#[test]
fn what_runs_and_what_does_not() {
    for (key, value) in [
        ("filter.lfs.clean", "git-lfs clean -- %f"),
        ("filter.A.B.process", "x"),
        ("filter..smudge", "x"),
        ("core.fsmonitor", ".git/watch"),
        ("alias.st", "!sh -c id"),
        ("pager.log", "less"),
        ("submodule.a.update", "!touch x"),
        ("remote.origin.url", "ext::sh -c id"),
        ("url.ext::sh -c id.insteadOf", "https://"),
        ("protocol.allow", "always"),
        ("protocol.ext.allow", "user"),
        ("sendemail.work.tocmd", "x"),
        ("sendemail.smtpserver", "/usr/sbin/sendmail"),
        ("gpg.ssh.program", "x"),
        ("lfs.customtransfer.Mine.path", "x"),
        ("hook.mine.command", "x"),
        ("credential.https://example.org.helper", "!f"),
    ] {
        assert!(runs(key, value), "{key}");
    }
    for (key, value) in [
        ("filter.lfs.required", "true"),
        ("core.fsmonitor", "true"),
        ("core.fsmonitor", ""),
        ("alias.st", "status"),
        ("pager.log", "false"),
        ("pager.log", "1"),
        ("submodule.a.update", "rebase"),
        ("remote.origin.url", "git@example.org:a/b"),
        ("protocol.file.allow", "always"),
        ("protocol.ext.allow", "never"),
        ("sendemail.smtpserver", "mail.example.org"),
        ("credential.helper", ""),
        ("core.hooksPath", ".husky"),
        ("user.name", "!sh"),
    ] {
        assert!(!runs(key, value), "{key}");
    }
}

#[test]
fn a_fingerprint_keeps_its_parts_apart() {
    assert_ne!(fingerprint(&["ab", "c"]), fingerprint(&["a", "bc"]));
    assert_ne!(fingerprint(&["a"]), fingerprint(&["a", ""]));
    assert_eq!(fingerprint(&["a"]).len(), 64);
}

#[test]
fn what_is_shown_stays_in_its_line() {
    assert_eq!(shown("a\n\u{1b}]52;c;x\u{7}\u{202e}b"), "a\\u{a}\\u{1b}]52;c;x\\u{7}\\u{202e}b");
    assert_eq!(shown(&"x".repeat(300)).chars().count(), 201);
}
