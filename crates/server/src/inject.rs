//! What is put beside agents so that a value reaches programs that run already: a preload for Node and a script for bash.
//!
//! The files hold no value; they say where to look for one. They lie at a place that does not change as long as their
//! content does not, and are never taken away: a Node program whose preload is missing does not start.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};

use ostler_agents::Values;
use ostler_files::{FILE_BYTES_MAX, private};

use crate::{
    environment::digest,
    home::{Home, private_directory, write_private},
};

/// Loaded by `NODE_OPTIONS`.
const PRELOAD: &str = include_str!("inject/preload.cjs");

/// Read by bash, because `BASH_ENV` names it.
const BASH_ENV: &str = include_str!("inject/bash_env.sh");

/// Names the private file of a session.
const VALUES: &str = "OSTLER_VALUES";

/// Names the `BASH_ENV` that the user had.
const USER_BASH_ENV: &str = "OSTLER_USER_BASH_ENV";

/// Writes the files, unless they are there.
pub(crate) fn write(home: &Home) -> io::Result<()> {
    for (path, text) in [(preload(home), PRELOAD), (bash_env(home), BASH_ENV)] {
        if private::read(&path, FILE_BYTES_MAX).is_ok_and(|found| found == text.as_bytes()) {
            continue;
        }
        path.parent().map_or(Ok(()), private_directory)?;
        write_private(&path, text.as_bytes())?;
    }
    Ok(())
}

/// Adds to an environment what brings values to whoever runs in it. `kept` is the environment of the user, which may be
/// that of another session.
pub(crate) fn add(
    environment: &mut BTreeMap<String, String>,
    kept: &BTreeMap<String, String>,
    home: &Home,
    file: &Path,
    ways: Values,
) {
    let Some(file) = file.to_str() else { return };
    environment.insert(VALUES.to_owned(), file.to_owned());
    if let Some(path) = preload(home).to_str().filter(|_| ways.node) {
        let own = environment.get("NODE_OPTIONS").map(String::as_str).unwrap_or_default();
        environment.insert("NODE_OPTIONS".to_owned(), node_options(own, path));
    }
    if let Some(path) = bash_env(home).to_str().filter(|path| ways.bash && is_plain(path)) {
        let own = environment.insert("BASH_ENV".to_owned(), path.to_owned());
        // What a session began in another session finds there is ours, and the user's own stands behind it.
        let is_ours = |own: &String| Path::new(own).starts_with(root(home));
        let own = if own.as_ref().is_some_and(is_ours) { kept.get(USER_BASH_ENV).cloned() } else { own };
        environment.extend(own.filter(|own| !own.is_empty()).map(|own| (USER_BASH_ENV.to_owned(), own)));
    }
}

/// The user's own options, and the preload behind them.
fn node_options(own: &str, path: &str) -> String {
    let quoted = path.replace('\\', "\\\\").replace('"', "\\\"");
    let option = format!("--require=\"{quoted}\"");
    if own.contains(&option) {
        return own.to_owned();
    }
    if own.trim().is_empty() { option } else { format!("{own} {option}") }
}

/// Bash expands what `BASH_ENV` holds; a path in which something would be expanded is not put there.
fn is_plain(path: &str) -> bool {
    !path.contains(['$', '`', '\\', '"', '\n'])
}

fn root(home: &Home) -> PathBuf {
    home.root().join("inject")
}

fn preload(home: &Home) -> PathBuf {
    place(home, PRELOAD).join("preload.cjs")
}

fn bash_env(home: &Home) -> PathBuf {
    place(home, BASH_ENV).join("bash_env.sh")
}

/// A directory per content: what an agent was started with stays as it was.
fn place(home: &Home, text: &str) -> PathBuf {
    let mut name = digest(text.as_bytes());
    name.truncate(12);
    root(home).join(name)
}

#[cfg(test)]
mod tests {
    use super::{Home, Path, Values, add, bash_env, node_options, preload};
    use std::collections::BTreeMap;

    fn environment(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn the_options_of_the_user_stay() {
        assert_eq!(node_options("", "/a b/p.cjs"), "--require=\"/a b/p.cjs\"");
        let own = "--max-old-space-size=99";
        let both = node_options(own, "/p.cjs");
        assert_eq!(both, "--max-old-space-size=99 --require=\"/p.cjs\"");
        assert_eq!(node_options(&both, "/p.cjs"), both, "once is enough");
    }

    #[test]
    fn the_users_own_bash_env_stands_behind() {
        let home = Home::at(Path::new("/state"));
        let ways = Values::default();
        let file = Path::new("/state/sessions/s_1/values");
        let kept = environment(&[("BASH_ENV", "$HOME/env.sh")]);
        let mut first = kept.clone();
        add(&mut first, &kept, &home, file, ways);
        assert_eq!(first["BASH_ENV"], bash_env(&home).to_str().unwrap());
        assert_eq!(first["OSTLER_USER_BASH_ENV"], "$HOME/env.sh");
        assert!(first["NODE_OPTIONS"].contains(preload(&home).to_str().unwrap()));
        // A session that was begun from within another one.
        let mut second = first.clone();
        second.remove("OSTLER_USER_BASH_ENV");
        add(&mut second, &first, &home, file, ways);
        assert_eq!(second, first);
    }

    #[test]
    fn only_the_ways_that_are_wanted() {
        let home = Home::at(Path::new("/state"));
        let ways = Values { node: false, bash: false, ..Values::default() };
        let mut environment = BTreeMap::new();
        add(&mut environment, &BTreeMap::new(), &home, Path::new("/v"), ways);
        assert_eq!(environment.into_keys().collect::<Vec<_>>(), ["OSTLER_VALUES"]);
    }
}
