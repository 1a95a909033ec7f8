//! Looks at the files beside the database: what shims have written, environments, long texts of offices, the vault.
//! Nothing is changed.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use ostler_shim::{
    OUT,
    spool::{self, Happening, SpoolReader},
};
use ostler_store::Reads;
use ostler_vault::Vault;

use crate::{
    config::{Config, VaultKey},
    environment,
    home::Home,
    mark,
    office::kept,
    secrets::{SecretsError, open_vault},
};

/// What is damaged or missing, a sentence each.
pub fn verify_files(home: &Home) -> Vec<String> {
    let launches = entries(&home.sessions()).into_iter().flat_map(|session| entries(&session));
    let mut found: Vec<String> =
        launches.filter(|path| path.is_dir()).flat_map(|path| of_launch(&path)).collect();
    let environments = entries(&home.environments()).into_iter();
    found.extend(environments.filter(|path| path.extension().is_none()).filter_map(|path| {
        let name = path.file_name()?.to_str()?.to_owned();
        environment::read(home, &name).err().map(|error| error.to_string())
    }));
    let mark = mark::path(home);
    if mark.exists() && mark::find(home).is_none() {
        found.push(format!("'{}' is not what was written; the next server brings it back", mark.display()));
    }
    found.extend(of_office(home));
    found.extend(of_vault(home));
    found
}

/// What is wrong with what a shim has written.
fn of_launch(directory: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let path = directory.join(spool::FILE);
    if !path.exists() {
        return found;
    }
    match SpoolReader::open(directory) {
        Err(error) => found.push(error.to_string()),
        Ok(mut spool) => {
            let end_of = |what: &Happening| match what {
                Happening::Heard { item } => item["end"].as_u64(),
                _ => None,
            };
            let heard = spool.by_ref().filter_map(|record| end_of(&record.what)).max().unwrap_or(0);
            let damage = spool.damage().map(|damage| format!("'{}' is damaged: {damage}", path.display()));
            found.extend(damage);
            let log = directory.join(OUT);
            let length = fs::metadata(&log).map_or(0, |file| file.len());
            if length < heard {
                let log = log.display();
                found.push(format!("'{log}' ends at byte {length}, but was heard up to {heard}"));
            }
        }
    }
    found
}

/// What calls and results name and is not there, or is something else. Each is looked at once.
fn of_office(home: &Home) -> Vec<String> {
    let Ok((_store, reader)) = super::open(home) else { return Vec::new() };
    let mut named = BTreeMap::new();
    let page = |page: &_| reader.page(page);
    // A journal that cannot be read is said elsewhere.
    kept::references(page, |reference| drop(named.insert(reference.path.clone(), reference))).ok();
    let wrong = |(path, reference)| {
        let why = kept::read_bytes(&reference).err()?;
        Some(format!("'{path}', which a call or a result names: {why}"))
    };
    named.into_iter().filter_map(wrong).collect()
}

/// Only where the key is a file: nobody is asked for anything here, and nothing is run.
fn of_vault(home: &Home) -> Option<String> {
    let config = Config::of_user().ok()?;
    if !matches!(config.vault, VaultKey::File(_)) || !Vault::exists(&home.vault()) {
        return None;
    }
    open_vault(home, || Err(SecretsError::Locked)).err().map(|error| error.to_string())
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().filter_map(Result::ok);
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}
