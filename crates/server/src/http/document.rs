//! What every route has in common, put into the document of the interface: names that are not used twice, the problems
//! that can come, the key under which something is done once, and the link to the next page.

use serde_json::{Map, Value, json};

use super::code::Code;

/// The statuses of problems, and when they come.
const PROBLEMS: [(&str, &str); 16] = [
    ("400", "It cannot be read, or makes no sense."),
    ("401", "Over TCP: nobody is signed in."),
    ("403", "Who asks may not do this."),
    ("404", "There is no such thing."),
    ("408", "Nothing more has come."),
    ("409", "It cannot be done as things stand."),
    ("413", "It is too large."),
    ("415", "The body is of another type."),
    ("416", "There is nothing from there on."),
    ("421", "Over TCP: another host is meant."),
    ("422", "The key was used for something else."),
    ("423", "The vault is locked."),
    ("429", "Too often in too short a time."),
    ("500", "A mistake in Ostler."),
    ("503", "The server is about to end."),
    ("507", "The disk is full, or fails."),
];

/// What changes something and may be asked for twice: it is then done twice, and that is the same, or refused by its name.
const WITHOUT_KEY: [&str; 11] = [
    "/checkpoints/prune",
    "/links",
    "/looked",
    "/notifications/{name}/test",
    "/secrets/unlock",
    "/sessions/{id}/size",
    "/sign-in",
    "/sign-ins/{id}/revoke",
    "/sign-out",
    "/stop",
    "/tokens",
];

/// Beside the interface, not below it.
const BESIDE: [&str; 3] = ["/healthz", "/metrics", "/readyz"];

/// Completes a document that was made from the routes.
pub(super) fn complete(mut document: Value) -> Value {
    let paths = document["paths"].as_object_mut().into_iter().flatten();
    for (path, methods) in paths {
        let tag = path.trim_start_matches('/').split('/').next().unwrap_or_default().to_owned();
        for (method, operation) in methods.as_object_mut().into_iter().flatten() {
            let name = operation["operationId"].as_str().unwrap_or_default();
            let name = if name == tag { name.to_owned() } else { format!("{tag}_{name}") };
            operation["operationId"] = name.into();
            operation["tags"] = json!([tag]);
            if method == "post" && !WITHOUT_KEY.contains(&path.as_str()) {
                add_key(operation);
            }
            add_problems(path, method, operation);
            add_link(operation);
        }
        if BESIDE.contains(&path.as_str()) {
            methods["servers"] = json!([{ "url": "/" }]);
        }
    }
    let codes: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    document["components"]["schemas"]["Problem"]["properties"]["type"]["enum"] = json!(codes);
    document
}

/// The key under which something is done once.
fn add_key(operation: &mut Value) {
    let key = json!({
        "name": "Idempotency-Key",
        "in": "header",
        "description": "Under the same key the same is done once, for a week.",
        "required": false,
        "schema": { "type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[!-~]+$" },
    });
    match operation["parameters"].as_array_mut() {
        Some(parameters) => parameters.push(key),
        None => operation["parameters"] = json!([key]),
    }
}

/// What can go wrong there.
fn add_problems(path: &str, method: &str, operation: &mut Value) {
    let is_write = method == "post";
    let is_asked = operation["parameters"].is_array() || operation["requestBody"].is_object();
    let has_body = operation["requestBody"].is_object();
    let has_values = path.starts_with("/secrets") || path.ends_with("/answer");
    let is_beside = BESIDE.contains(&path);
    let expected = |status: &str| match status {
        "400" | "404" => is_asked,
        "401" | "403" | "421" | "500" => !is_beside || path == "/metrics",
        "409" => is_write || path.ends_with("/diff"),
        "422" | "503" | "507" => is_write,
        "413" | "415" => has_body,
        "423" => has_values,
        _ => false,
    };
    let Some(responses) = operation["responses"].as_object_mut() else { return };
    for (status, description) in PROBLEMS {
        if expected(status) || (responses.contains_key(status) && !is_beside) {
            let schema = json!({ "$ref": "#/components/schemas/Problem" });
            let content = json!({ "application/problem+json": { "schema": schema } });
            let response = json!({ "description": description, "content": content });
            responses.insert(status.to_owned(), response);
        }
    }
    for (_, response) in responses.iter_mut().filter(|(_, it)| it["description"] == "") {
        response["description"] = "As it was asked for.".into();
    }
}

/// A list that can grow says where its next page is.
fn add_link(operation: &mut Value) {
    let is_paged = |it: &Value| matches!(it["name"].as_str(), Some("before" | "after"));
    if !operation["parameters"].as_array().is_some_and(|all| all.iter().any(is_paged)) {
        return;
    }
    let link = json!({
        "description": "`<…>; rel=\"next\"`, where there is more.",
        "schema": { "type": "string" },
    });
    operation["responses"]["200"]["headers"] = Value::Object(Map::from_iter([("Link".to_owned(), link)]));
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::openapi;

    #[test]
    fn every_route_is_described_in_full() {
        let document = openapi();
        let mut names = BTreeSet::new();
        for (path, methods) in document["paths"].as_object().expect("paths") {
            for (method, operation) in methods.as_object().expect("methods") {
                if method == "servers" {
                    continue;
                }
                let name = operation["operationId"].as_str().expect("a name");
                assert!(names.insert(name.to_owned()), "{name} is used twice");
                assert_eq!(operation["tags"].as_array().map(Vec::len), Some(1), "{path}");
                assert!(operation["summary"].is_string(), "{method} {path} says what it does");
                for parameter in operation["parameters"].as_array().into_iter().flatten() {
                    check_bounds(path, parameter);
                }
            }
        }
    }

    #[test]
    fn whatever_is_named_is_described() {
        let document = openapi();
        let text = document.to_string();
        for reference in text.split("\"$ref\":\"#").skip(1).filter_map(|rest| rest.split('"').next()) {
            assert!(document.pointer(reference).is_some(), "{reference} is not there");
        }
    }

    /// A number has a lower and an upper bound; a text that is an id has its form.
    fn check_bounds(path: &str, parameter: &serde_json::Value) {
        let schema = &parameter["schema"];
        let is_number = schema["type"].to_string().contains("integer");
        assert!(!is_number || schema["maximum"].is_number(), "{path}: {parameter}");
        assert!(!is_number || schema["minimum"].is_number(), "{path}: {parameter}");
    }
}
