//! Keeping secrets: what is on the disk, who can read it, and what happens to those who change it.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    thread,
};

use ostler_vault::{
    KeepTerms, Key, Kind, Name, OpenError, ReadError, Reference, Scope, Secret, VALUE_BYTES_MAX, Value,
    Vault, WriteError, mend,
};

const VALUE: &str = "sk_live_51HqQ~only for tests~";

struct Place(PathBuf);

impl Place {
    fn new(test: &str) -> Place {
        let place = Place(Path::new(env!("CARGO_TARGET_TMPDIR")).join("keeping").join(test));
        fs::remove_dir_all(&place.0).ok();
        fs::create_dir_all(place.0.parent().unwrap()).unwrap();
        place
    }

    fn key(&self) -> Key {
        Key::File(self.0.join("key"))
    }

    fn vault(&self) -> Vault {
        Vault::open(&self.0, &self.key()).ok().unwrap()
    }

    fn error(&self) -> OpenError {
        Vault::open(&self.0, &self.key()).err().unwrap()
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn text(&self) -> String {
        fs::read_to_string(self.file("secrets")).unwrap()
    }

    /// As if another program had written it: in place, with the rights that it had.
    #[expect(clippy::disallowed_methods, reason = "damage is what is tested")]
    fn overwrite(&self, name: &str, text: &[u8]) {
        fs::write(self.file(name), text).unwrap();
    }
}

fn project() -> Scope {
    Scope::new("p_3").unwrap()
}

fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}

fn terms(reuse: bool, at_ms: u64) -> KeepTerms {
    KeepTerms { reuse, at_ms, ..KeepTerms::default() }
}

fn stored(text: &str) -> Value {
    Value::Stored(Secret::new(text.to_owned()))
}

fn put(vault: &Vault, to: &str, value: &str) {
    vault.put(&project(), &name(to), &stored(value), terms(false, 5)).unwrap();
}

fn get(vault: &Vault, from: &str) -> Option<String> {
    let secret = vault.get(&project(), &name(from)).unwrap();
    secret.map(|secret| secret.expose().to_owned())
}

#[test]
fn what_is_kept_is_given_back() {
    let place = Place::new("kept");
    let vault = place.vault();
    assert_eq!(get(&vault, "KEY"), None);
    put(&vault, "KEY", VALUE);
    put(&vault, "OTHER", "a\nb");
    let session = Scope::new("s_3").unwrap();
    vault.put(&session, &name("KEY"), &stored("another"), terms(false, 6)).unwrap();
    drop(vault);

    let vault = place.vault();
    assert_eq!(get(&vault, "KEY").as_deref(), Some(VALUE));
    assert_eq!(get(&vault, "OTHER").as_deref(), Some("a\nb"));
    let listed = vault.list(Some(&project())).unwrap();
    assert_eq!(listed.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["KEY", "OTHER"]);
    assert_eq!((listed[0].kind, listed[0].reuse, listed[0].at_ms), (Kind::Stored, false, 5));

    assert!(vault.remove(&project(), &name("KEY")).unwrap());
    assert!(!vault.remove(&project(), &name("KEY")).unwrap());
    assert_eq!(get(&vault, "KEY"), None);
    assert_eq!(vault.list(None).unwrap().len(), 2);
}

#[test]
fn no_value_stands_on_the_disk() {
    let place = Place::new("sealed");
    let vault = place.vault();
    put(&vault, "KEY", VALUE);
    let reference = Reference::parse(&format!("cmd:echo '{VALUE}'")).unwrap();
    vault.put(&project(), &name("CMD"), &Value::Reference(reference), terms(true, 5)).unwrap();
    assert_eq!(get(&vault, "CMD").as_deref(), Some(VALUE));
    for entry in fs::read_dir(&place.0).unwrap() {
        let entry = entry.unwrap();
        let text = String::from_utf8(fs::read(entry.path()).unwrap()).unwrap();
        assert!(!text.contains(VALUE), "{}", entry.path().display());
        assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
    assert_eq!(fs::metadata(&place.0).unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn references_are_looked_up_each_time() {
    let place = Place::new("references");
    let vault = place.vault();
    place.overwrite("elsewhere", b"one\n");
    let reference = Reference::parse(&format!("file:{}", place.file("elsewhere").display())).unwrap();
    vault.put(&project(), &name("KEY"), &Value::Reference(reference.clone()), terms(false, 5)).unwrap();
    assert_eq!(get(&vault, "KEY").as_deref(), Some("one"));
    place.overwrite("elsewhere", b"two\n");
    assert_eq!(get(&vault, "KEY").as_deref(), Some("two"));
    assert_eq!(vault.reference(&project(), &name("KEY")).unwrap(), Some(reference));
    assert_eq!(vault.list(None).unwrap()[0].kind, Kind::File);
    fs::remove_file(place.file("elsewhere")).unwrap();
    assert!(matches!(vault.get(&project(), &name("KEY")), Err(ReadError::Reference { .. })));
}

#[test]
fn what_no_variable_can_hold_is_refused() {
    let place = Place::new("refused");
    let vault = place.vault();
    let refused =
        |value: &str| vault.put(&project(), &name("KEY"), &stored(value), terms(false, 5)).err().unwrap();
    assert!(matches!(refused(""), WriteError::Empty { .. }));
    assert!(matches!(refused("a\0b"), WriteError::Zero { .. }));
    assert!(matches!(refused(&"a".repeat(VALUE_BYTES_MAX + 1)), WriteError::TooLong { .. }));
    put(&vault, "KEY", &"a".repeat(VALUE_BYTES_MAX));
}

#[test]
fn a_passphrase_opens_what_it_has_sealed() {
    let place = Place::new("passphrase");
    let open = |words: &str| Vault::open(&place.0, &Key::Passphrase(Secret::new(words.to_owned())));
    put(&open("correct horse").ok().unwrap(), "KEY", VALUE);
    assert_eq!(get(&open("correct horse").ok().unwrap(), "KEY").as_deref(), Some(VALUE));
    assert!(matches!(open("battery staple").err().unwrap(), OpenError::WrongKey { .. }));
    assert!(matches!(place.error(), OpenError::OtherKind { .. }));
    assert!(!place.file("key").exists(), "no key file is made for a vault that has none");
}

#[test]
fn a_key_that_others_can_read_is_refused() {
    let place = Place::new("key");
    drop(place.vault());
    let key = place.file("key");
    for mode in [0o640, 0o604, 0o620, 0o601] {
        fs::set_permissions(&key, fs::Permissions::from_mode(mode)).unwrap();
        assert!(matches!(place.error(), OpenError::NotPrivate { .. }), "{mode:o}");
    }
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    drop(place.vault());

    fs::rename(&key, place.file("moved")).unwrap();
    assert!(matches!(place.error(), OpenError::KeyMissing { .. }));
    symlink(place.file("moved"), &key).unwrap();
    assert!(matches!(place.error(), OpenError::NotPrivate { why: "it is a link", .. }));
    fs::remove_file(&key).unwrap();
    fs::hard_link(place.file("moved"), &key).unwrap();
    assert!(matches!(place.error(), OpenError::NotPrivate { .. }));
    fs::remove_file(place.file("moved")).unwrap();
    drop(place.vault());

    place.overwrite("key", b"ostler vault key 1\nabc\n");
    assert!(matches!(place.error(), OpenError::KeyDamaged { .. }));
    let other = format!("ostler vault key 1\n{}\n", "0a".repeat(32));
    place.overwrite("key", other.as_bytes());
    assert!(matches!(place.error(), OpenError::WrongKey { .. }));
}

#[test]
fn a_directory_that_others_can_look_into_is_refused() {
    let place = Place::new("directory");
    drop(place.vault());
    fs::set_permissions(&place.0, fs::Permissions::from_mode(0o750)).unwrap();
    assert!(matches!(place.error(), OpenError::NotPrivate { .. }));
    fs::set_permissions(&place.0, fs::Permissions::from_mode(0o700)).unwrap();
    let moved = place.0.with_file_name("directory-moved");
    fs::remove_dir_all(&moved).ok();
    fs::rename(&place.0, &moved).unwrap();
    symlink(&moved, &place.0).unwrap();
    assert!(matches!(place.error(), OpenError::NotPrivate { why: "it is a link", .. }));
    fs::remove_file(&place.0).unwrap();
}

#[test]
fn every_changed_byte_is_noticed() {
    let place = Place::new("changed");
    let vault = place.vault();
    put(&vault, "ONE", VALUE);
    put(&vault, "TWO", "another value");
    let whole = place.text().into_bytes();
    for at in 0..whole.len() {
        let mut changed = whole.clone();
        changed[at] ^= 1;
        place.overwrite("secrets", &changed);
        assert!(vault.list(None).is_err(), "byte {at}");
    }
    for length in 0..whole.len() {
        place.overwrite("secrets", &whole[..length]);
        assert!(vault.list(None).is_err(), "length {length}");
    }
    place.overwrite("secrets", &whole);
    assert_eq!(get(&vault, "ONE").as_deref(), Some(VALUE));
}

#[test]
fn lines_cannot_be_swapped_or_left_out() {
    let place = Place::new("swapped");
    let vault = place.vault();
    put(&vault, "ONE", VALUE);
    put(&vault, "TWO", "another value");
    let text = place.text();
    let lines: Vec<&str> = text.lines().collect();
    let [head, one, two, seal] = lines[..] else { panic!("four lines: {text}") };
    let swapped = [one.replace("ONE", "TWO"), two.replace("TWO", "ONE")];
    for lines in [
        vec![head, two, one, seal],
        vec![head, one, seal],
        vec![head, one, one, two, seal],
        vec![head, &swapped[0], &swapped[1], seal],
    ] {
        place.overwrite("secrets", (lines.join("\n") + "\n").as_bytes());
        assert!(matches!(
            vault.get(&project(), &name("ONE")),
            Err(ReadError::Open(OpenError::Damaged { .. }))
        ));
    }
    // Not even the mender takes a value under another name.
    place.overwrite("secrets", format!("{head}\n{}\n{two}\n{seal}\n", swapped[0]).as_bytes());
    let mended = mend(&place.0, &place.key(), 0).unwrap();
    assert_eq!((mended.kept, &mended.lost[..]), (1, &["p_3 TWO".to_owned()][..]));
    assert!(mended.aside.exists());
    assert_eq!(get(&place.vault(), "TWO").as_deref(), Some("another value"));
    assert_eq!(get(&place.vault(), "ONE"), None);
}

#[test]
fn an_older_file_is_noticed() {
    let place = Place::new("older");
    let vault = place.vault();
    put(&vault, "KEY", "the old value");
    let old = place.text();
    put(&vault, "KEY", VALUE);
    place.overwrite("secrets", old.as_bytes());
    assert!(matches!(place.error(), OpenError::Older { found: 1, expected: Some(2), .. }));
    fs::remove_file(place.file("newest")).unwrap();
    assert!(matches!(place.error(), OpenError::Older { found: 1, expected: None, .. }));
    assert_eq!(mend(&place.0, &place.key(), 0).unwrap().kept, 1);
    assert_eq!(get(&place.vault(), "KEY").as_deref(), Some("the old value"));
}

#[test]
fn a_damaged_line_costs_no_other() {
    let place = Place::new("damaged");
    let vault = place.vault();
    put(&vault, "ONE", VALUE);
    put(&vault, "TWO", "another value");
    put(&vault, "THREE", "a third");
    let text = place.text();
    let cut = text.find("THREE").unwrap() + 60;
    place.overwrite("secrets", &text.as_bytes()[..cut]);
    assert!(matches!(place.error(), OpenError::Damaged { .. }));
    assert!(place.error().advice().contains("ostler secret mend"));
    let mended = mend(&place.0, &place.key(), 0).unwrap();
    assert_eq!((mended.kept, mended.lost.len()), (2, 1));
    assert_eq!(get(&place.vault(), "TWO").as_deref(), Some("another value"));
}

#[test]
fn a_file_of_the_future_is_left_alone() {
    let place = Place::new("future");
    drop(place.vault());
    let text = place.text().replace("\"ostler_vault\":1", "\"ostler_vault\":2");
    place.overwrite("secrets", text.as_bytes());
    assert!(matches!(place.error(), OpenError::Newer { version: 2, .. }));
    assert!(matches!(mend(&place.0, &place.key(), 0), Err(OpenError::Newer { .. })));
}

#[test]
fn many_writers_lose_nothing() {
    let place = Place::new("writers");
    thread::scope(|scope| {
        for writer in 0..4 {
            let place = &place;
            scope.spawn(move || {
                let vault = place.vault();
                for number in 0..10 {
                    put(&vault, &format!("KEY_{writer}_{number}"), "some value");
                    assert_eq!(get(&vault, &format!("KEY_{writer}_0")).as_deref(), Some("some value"));
                }
            });
        }
    });
    let listed = place.vault().list(None).unwrap();
    assert_eq!(listed.len(), 40);
    let mut versions: Vec<u64> = listed.iter().map(|one| one.version.0).collect();
    versions.sort_unstable();
    assert_eq!(versions, (1..=40).collect::<Vec<_>>());
}

#[test]
fn mending_keeps_the_last_change_of_each_name() {
    let place = Place::new("last");
    let vault = place.vault();
    put(&vault, "ONE", "old value");
    let old = place.text().lines().nth(1).expect("a line").to_owned();
    put(&vault, "ONE", VALUE);
    let text = place.text();
    let lines: Vec<&str> = text.lines().collect();
    let [head, new, seal] = lines[..] else { panic!("three lines: {text}") };
    // Whichever of the two comes first.
    for records in [[old.as_str(), new], [new, old.as_str()]] {
        place.overwrite("secrets", [head, records[0], records[1], seal, ""].join("\n").as_bytes());
        let mended = mend(&place.0, &place.key(), 7).unwrap();
        assert_eq!((mended.kept, mended.lost.len()), (1, 0));
        assert_eq!(get(&place.vault(), "ONE").as_deref(), Some(VALUE));
        assert!(place.vault().changes().unwrap() > 7, "no number is used again");
    }
}

#[test]
fn a_file_that_is_gone_is_missed() {
    let place = Place::new("gone");
    put(&place.vault(), "ONE", VALUE);
    fs::remove_file(place.0.join("secrets")).unwrap();
    assert!(Vault::exists(&place.0));
    assert!(matches!(place.error(), OpenError::Missing { .. }));
    assert!(place.error().advice().contains("ostler secret mend"));
    let mended = mend(&place.0, &place.key(), 0).unwrap();
    assert_eq!((mended.kept, mended.lost.len()), (0, 1));
    assert_eq!(get(&place.vault(), "ONE"), None);
    assert_eq!(place.vault().changes().unwrap(), 2);
}
