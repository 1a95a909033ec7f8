//! `docs/events.md` names every event there is, with its fields, and no other.

use std::{collections::BTreeMap, fs, path::Path};

/// Kind and fields of each event, as the source declares them.
fn declared() -> BTreeMap<String, Vec<String>> {
    let read = |name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(name);
        fs::read_to_string(path).expect("the source is here")
    };
    // The enum of all events, and those that it holds by name.
    let enums = [
        ("event.rs", "Event"),
        ("graph/event.rs", "GraphEvent"),
        ("office/event.rs", "OfficeEvent"),
        ("thin.rs", "ThinEvent"),
        ("permission.rs", "PermissionEvent"),
        ("work_secret.rs", "WorkSecretEvent"),
        ("session/name.rs", "SessionNameEvent"),
    ];
    let variants = enums.map(|(file, name)| {
        let source = read(file);
        let body = source.split_once(&format!("pub enum {name} {{")).expect("the enum").1;
        body.split_once("\n}\n").expect("its end").0.to_owned()
    });
    let body = variants.concat().replace("#[serde(rename = \"type\")]\n        kind:", "type:");
    // The structs with the fields of an event that is only named in its enum.
    let elsewhere = ["session/order.rs", "account.rs", "checkpoint.rs", "entry.rs", "work_secret.rs"];
    let elsewhere = elsewhere.map(read).concat();
    let mut events = BTreeMap::new();
    for event in body.split("#[serde(rename = \"").skip(1) {
        let (kind, mut rest) = event.split_once("\")]").expect("a kind");
        let name = rest.lines().nth(1).and_then(|line| line.split_once('(')?.1.strip_suffix("),"));
        let name = name.and_then(|name| name.rsplit("::").next());
        let fields_of = |name: &str| {
            let body = elsewhere.split_once(&format!("pub struct {name} {{"))?.1.split_once("\n}\n")?.0;
            Some(body.replace("    pub ", "        "))
        };
        let named = name.map(|name| fields_of(name).expect("a struct with its fields"));
        rest = named.as_deref().unwrap_or(rest);
        let fields = rest.lines().filter_map(|line| line.strip_prefix("        ")?.strip_suffix(','));
        let fields = fields.filter_map(|line| Some(line.split_once(": ")?.0.to_owned()));
        let fields: Vec<String> = fields.filter(|field| !field.contains(['/', ' '])).collect();
        events.insert(kind.to_owned(), fields);
    }
    events
}

/// The same, as the document tells.
fn told() -> BTreeMap<String, Vec<String>> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/events.md");
    let page = fs::read_to_string(page).expect("the page is there");
    let rows = page.lines().filter(|line| line.starts_with("| `"));
    let rows = rows.map(|line| line.split('|').skip(1).take(2).map(str::trim).collect::<Vec<_>>());
    rows.map(|cells| {
        let fields = cells[1].split(", ").map(|field| field.trim_matches('`').to_owned());
        (cells[0].trim_matches('`').to_owned(), fields.filter(|field| !field.is_empty()).collect())
    })
    .collect()
}

#[test]
fn every_event_is_told_with_its_fields() {
    let declared = declared();
    assert!(declared.len() > 30, "the source was understood");
    assert_eq!(told(), declared);
    // Fields stand beside what every event has.
    let common = ["seq", "v", "at", "kind", "project", "run", "session"];
    let hidden: Vec<&String> =
        declared.values().flatten().filter(|it| common.contains(&it.as_str())).collect();
    assert_eq!(hidden, Vec::<&String>::new());
}
