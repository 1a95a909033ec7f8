//! Which settings make git run a program. A pure table: it knows names and values, and starts nothing.
//!
//! A test asks the installed git for all the names it knows, and fails when one of them sounds like a program and is
//! in neither of the two lists.

use std::{fmt, path::PathBuf};

use sha2::{Digest, Sha256};

/// The longest value that a message shows.
const SHOWN_CHARS_MAX: usize = 200;

/// A program that the configuration of a repository would have git run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Program {
    /// The name of the setting, such as `filter.lfs.clean`.
    pub key: String,
    /// Its value: what git would run.
    pub value: String,
    /// The file that it stands in.
    pub file: PathBuf,
    /// What the file is called in the fingerprint: the copy that a worktree has of a file is the same file.
    pub(crate) label: String,
}

impl Program {
    /// Stands for name, value and file. Whoever trusts it trusts this, and nothing that differs from it.
    pub fn fingerprint(&self) -> String {
        fingerprint(&["git", &self.key, &self.value, &self.label])
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = shown(&self.file.to_string_lossy());
        write!(f, "{} = '{}' in '{file}'", shown(&self.key), shown(&self.value))
    }
}

/// Stands for some texts in their order.
pub fn fingerprint(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        // With its length, so that no text can pass for the end of one and the beginning of the next.
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    let mut text = String::new();
    for byte in hash.finalize() {
        for half in [byte >> 4, byte & 15] {
            text.extend(char::from_digit(u32::from(half), 16));
        }
    }
    text
}

/// Text from a repository, for a line that a person reads: nothing in it can move the cursor or turn the direction.
pub(crate) fn shown(text: &str) -> String {
    let mut line = String::new();
    for (index, char) in text.chars().enumerate() {
        if index == SHOWN_CHARS_MAX {
            line.push('…');
            break;
        }
        let turns = matches!(char, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{61c}');
        if char.is_control() || turns {
            line.extend(char.escape_unicode());
        } else {
            line.push(char);
        }
    }
    line
}

/// Which values of a setting make git run something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    /// Any but an empty one.
    Set,
    /// One that is neither yes nor no.
    Command,
    /// One that begins with `!`.
    Bang,
    /// One that is a path.
    Path,
    /// An address whose transport is a command.
    Ext,
    /// Any but `never`.
    Allowed,
}

/// The settings, in small letters; `*` stands for anything.
const SETTINGS: &[(&str, When)] = &[
    // Reached by what Ostler itself does: filters and drivers, which `.gitattributes` only chooses among.
    ("filter.*.clean", When::Set),
    ("filter.*.smudge", When::Set),
    ("filter.*.process", When::Set),
    ("merge.*.driver", When::Set),
    ("diff.*.command", When::Set),
    ("diff.*.textconv", When::Set),
    ("diff.external", When::Set),
    ("core.fsmonitor", When::Command),
    ("hook.*.command", When::Set),
    // By fetching what a partial clone left out.
    ("core.sshcommand", When::Set),
    ("core.gitproxy", When::Set),
    ("core.askpass", When::Set),
    ("credential.helper", When::Set),
    ("credential.*.helper", When::Set),
    ("remote.*.uploadpack", When::Set),
    ("remote.*.receivepack", When::Set),
    ("remote.*.vcs", When::Set),
    ("remote.*.url", When::Ext),
    ("remote.*.pushurl", When::Ext),
    ("url.ext::*.insteadof", When::Set),
    ("url.ext::*.pushinsteadof", When::Set),
    ("protocol.allow", When::Allowed),
    ("protocol.ext.allow", When::Allowed),
    ("core.alternaterefscommand", When::Set),
    ("uploadpack.packobjectshook", When::Set),
    // By the filter of git-lfs, which may be the user's own while these are not.
    ("lfs.customtransfer.*.path", When::Set),
    ("lfs.extension.*.clean", When::Set),
    ("lfs.extension.*.smudge", When::Set),
    // By people and agents who work there.
    ("alias.*", When::Bang),
    ("alias.*.command", When::Set),
    ("core.editor", When::Set),
    ("sequence.editor", When::Set),
    ("core.pager", When::Set),
    ("pager.*", When::Command),
    ("interactive.difffilter", When::Set),
    ("gpg.program", When::Set),
    ("gpg.*.program", When::Set),
    ("gpg.ssh.defaultkeycommand", When::Set),
    ("trailer.*.command", When::Set),
    ("trailer.*.cmd", When::Set),
    ("submodule.*.update", When::Bang),
    ("mergetool.*.cmd", When::Set),
    ("mergetool.*.path", When::Set),
    ("difftool.*.cmd", When::Set),
    ("difftool.*.path", When::Set),
    ("guitool.*.cmd", When::Set),
    ("browser.*.cmd", When::Set),
    ("browser.*.path", When::Set),
    ("man.*.cmd", When::Set),
    ("man.*.path", When::Set),
    ("web.browser", When::Set),
    ("help.browser", When::Set),
    ("instaweb.browser", When::Set),
    ("instaweb.httpd", When::Set),
    ("instaweb.modulepath", When::Set),
    ("tar.*.command", When::Set),
    ("gc.recentobjectshook", When::Set),
    ("imap.tunnel", When::Set),
    ("sendemail.*cmd", When::Set),
    ("sendemail.smtpserver", When::Path),
    ("sendemail.*.smtpserver", When::Path),
    ("svn.authorsprog", When::Set),
];

/// Whether git would run something because of this setting.
pub(crate) fn runs(key: &str, value: &str) -> bool {
    let key = key.to_ascii_lowercase();
    SETTINGS.iter().any(|(pattern, when)| fits(pattern, &key) && when.holds(value.trim()))
}

impl When {
    fn holds(self, value: &str) -> bool {
        match self {
            When::Set => !value.is_empty(),
            When::Command => !is_boolean(value),
            When::Bang => value.starts_with('!'),
            When::Path => value.starts_with(['/', '~', '.']),
            When::Ext => value.to_ascii_lowercase().starts_with("ext::"),
            When::Allowed => !value.eq_ignore_ascii_case("never"),
        }
    }
}

fn is_boolean(value: &str) -> bool {
    let words = ["", "true", "false", "yes", "no", "on", "off"];
    words.iter().any(|word| value.eq_ignore_ascii_case(word))
        || value.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a name is one that a pattern stands for.
fn fits(pattern: &str, key: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == key,
        Some((head, tail)) => {
            key.len() >= head.len() + tail.len() && key.starts_with(head) && key.ends_with(tail)
        }
    }
}

#[cfg(test)]
mod tests;
