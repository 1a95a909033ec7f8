//! The interface against its own document, asked by schemathesis: whatever is sent, nothing fails inside the server, and
//! every answer is one that the document describes.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

use crate::{
    support::{QUESTION, World},
    tcp,
};

/// What would end the server or the sign-in that asks, and what is beside the interface.
const LEFT_OUT: [&str; 5] = ["/stop", "/sign-out", "/healthz", "/readyz", "/metrics"];

const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,\
                      response_headers_conformance,response_schema_conformance";

/// The program, which `cargo xtask test` installs.
fn program() -> Option<PathBuf> {
    let program = env::var_os("OSTLER_SCHEMATHESIS").map(PathBuf::from);
    if program.is_none() {
        eprintln!("SKIPPED: schemathesis is not installed (cargo xtask test)");
    }
    program
}

fn number(name: &str, usual: u32) -> u32 {
    env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

#[test]
fn whatever_is_sent_every_answer_is_one_that_is_described() {
    let Some(program) = program() else { return };
    let world = World::new();
    world.bash(&format!("{QUESTION}; read -r line"));
    let over = world.run(&["true"]);
    world.status(&over, "completed");
    let made = world.ostler(&["token", "make", "schemathesis", "--json"]);
    let made: Value = serde_json::from_slice(&made.stdout).expect("a token");
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/interface");
    let (examples, seed) = (number("OSTLER_EXAMPLES", 5), number("OSTLER_SEED", 1));
    let mut command = Command::new(program);
    command.arg("run").arg(world.home.join("openapi.json"));
    let document: Value = world.get("/openapi.json").expect("a document");
    crate::support::write(&world.home, "openapi.json", &document.to_string());
    command.args(["--url", &format!("http://{}/api/v1", tcp::address(&world))]);
    command.args(["-H", &format!("Authorization: Bearer {}", made["token"].as_str().expect("a token"))]);
    command.args([
        "--checks",
        CHECKS,
        "--phases",
        "coverage,fuzzing",
        "--request-timeout",
        "60",
        "--no-color",
    ]);
    command.args(["--max-examples", &examples.to_string(), "--seed", &seed.to_string()]);
    for path in LEFT_OUT {
        command.args(["--exclude-path", path]);
    }
    command.env("SCHEMATHESIS_HOOKS", "hooks").env("PYTHONPATH", &place).env("PYTHONDONTWRITEBYTECODE", "1");
    command.current_dir(&world.home);
    let output = command.output().expect("schemathesis starts");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    let cases = said.lines().find_map(|line| line.trim().split_once(" generated")?.0.parse().ok());
    let cases: u32 = cases.unwrap_or_default();
    assert!(cases > 300, "{said}");
    println!("interface: {cases} requests");
    world.verify();
}
