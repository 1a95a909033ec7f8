//! A table with a mistake: the line, what is wrong, and what was probably meant.

use alloc::string::ToString;

use expect_test::{Expect, expect};

use crate::{Agent, Agents};

#[expect(clippy::needless_pass_by_value, reason = "an inline snapshot is written in the call")]
fn check(toml: &str, expect: Expect) {
    expect.assert_eq(&Agent::parse("mine", toml).expect_err("a table with a mistake").to_string());
}

#[expect(clippy::needless_pass_by_value, reason = "an inline snapshot is written in the call")]
fn check_file(toml: &str, expect: Expect) {
    let mut agents = Agents::builtin();
    expect.assert_eq(&agents.add(toml).expect_err("a file with a mistake").to_string());
    assert_eq!(agents, Agents::builtin(), "nothing of it is taken over");
}

#[test]
fn an_unknown_key() {
    check(
        "command = ['a']\nmodle = 'x'\n",
        expect!["agent `mine`: line 2: unknown key `modle`; did you mean `model`?"],
    );
    check(
        "command = ['a']\n[argumets]\n",
        expect!["agent `mine`: line 2: unknown key `argumets`; did you mean `arguments`?"],
    );
    check(
        "command = ['a']\n[arguments]\nmax_turn = []\n",
        expect!["agent `mine`: line 3: unknown key `max_turn`; did you mean `max_turns`?"],
    );
    check(
        "command = ['a']\n[input]\nway = 'lines'\n",
        expect!["agent `mine`: line 3: unknown value `lines`; did you mean `line`?"],
    );
    check(
        "command = ['a']\n[permission]\nalow = 'x'\n",
        expect!["agent `mine`: line 3: unknown key `alow`; did you mean `allow`?"],
    );
    check(
        "command = ['a']\nzzz = 1\n",
        expect![
            "agent `mine`: line 2: unknown key `zzz`, expected one of `extends`, `about`, `tested`, `version`, `install`, `command`, `arguments`, `extra`, `environment`, `terminal`, `output`, `input`, `guide`, `permission`, `end`, `account`, `login`, `private`, `model`, `max_turns`, `tools`, `permission_mode`, `mcp_config`, `values`, `channel`, `verify`, `scope_signals`"
        ],
    );
}

#[test]
fn a_private_directory_that_leads_elsewhere() {
    check(
        "command = ['a']\n[private]\nuse = true\n",
        expect!["agent `mine`: line 2: `private.variable` is missing: the variable that names the directory"],
    );
    check(
        "command = ['a']\n[private]\nvariable = 'A'\nlogin = ['../auth.json']\n",
        expect!["agent `mine`: line 2: `../auth.json` is no path below the directory"],
    );
    check(
        "command = ['a']\n[private]\nvariable = 'A'\nelsewhere = { a = '/etc/passwd' }\n",
        expect!["agent `mine`: line 2: `/etc/passwd` is no path below the directory"],
    );
    check(
        "command = ['a']\n[private]\nvariable = 'A'\nlogins = []\n",
        expect!["agent `mine`: line 4: unknown key `logins`; did you mean `login`?"],
    );
}

#[test]
fn a_directory_beside_the_private_one() {
    check(
        "command = ['a']\n[private]\nvariable = 'A'\nuse = true\nfurther.B.default = '.b'\n",
        expect![
            "agent `mine`: line 2: `private.use` is for a CLI with one directory: verifiers alone get `further` ones"
        ],
    );
    check(
        "command = ['a']\n[private]\nvariable = 'A'\nfurther.B.copied = ['../x']\n",
        expect!["agent `mine`: line 2: `../x` is no path below the directory"],
    );
    check(
        "command = ['a']\n[private]\nvariable = 'A'\nfurther.B.copies = []\n",
        expect!["agent `mine`: line 4: unknown key `copies`; did you mean `copied`?"],
    );
}

#[test]
fn where_a_verifier_writes_is_not_for_its_table_to_say() {
    let old = Agent::parse("mine", "command = ['a']\n[verify]\nwrites = ['.mine', '/etc']\n");
    assert_eq!(
        old.map_err(|error| error.to_string()),
        Agent::parse("mine", "command = ['a']\n").map_err(|error| error.to_string())
    );
    check(
        "command = ['a']\n[verify]\nwrite = []\n",
        expect!["agent `mine`: line 3: unknown key `write`; did you mean `writes`?"],
    );
}

#[test]
fn an_unknown_placeholder() {
    check(
        "command = ['a',\n  '{promt}']\n",
        expect!["agent `mine`: line 1: unknown placeholder `promt`; did you mean `prompt`?"],
    );
    check(
        "command = ['a']\n[input]\nway = 'message'\nmessage = '{prompt}'\n",
        expect!["agent `mine`: line 4: unknown placeholder `prompt`, expected one of `text`, `id`"],
    );
    check(
        "command = ['a']\n[arguments]\nprompt = ['-p={prompt:words}']\n",
        expect!["agent `mine`: line 3: `{prompt:words}` has to stand alone"],
    );
}

#[test]
fn a_wrong_value() {
    check(
        "command = 'a'\n",
        expect![[r#"agent `mine`: line 1: invalid type: string "a", expected a sequence"#]],
    );
    check(
        "command = ['a']\nmax_turns = -1\n",
        expect!["agent `mine`: line 2: invalid value: integer `-1`, expected u32"],
    );
    check(
        "command = ['a']\noutput = 'cluade'\n",
        expect!["agent `mine`: line 2: unknown output `cluade`; did you mean `claude`?"],
    );
    check(
        "command = ['a']\noutput = 7\n",
        expect!["agent `mine`: line 2: `output` is a name, or the rules of a stream"],
    );
    check("command = ['a'\n", expect!["agent `mine`: line 1: unclosed array, expected `]`"]);
    check(
        "command = ['a']\n\n[[output.speach]]\ngive = { text = 'a' }\n",
        expect!["agent `mine`: line 3: in `output`: unknown key `speach`; did you mean `speech`?"],
    );
    check(
        "command = ['a']\n[output]\n",
        expect!["agent `mine`: line 2: in `output`: no `speech` rule, so no signal would ever arrive"],
    );
}

#[test]
fn something_missing() {
    check("", expect!["agent `mine`: `command` is missing: the program and its arguments"]);
    check("command = []\n", expect!["agent `mine`: `command` is missing: the program and its arguments"]);
    check(
        "command = ['a']\n[input]\nway = 'message'\n",
        expect!["agent `mine`: line 3: `input.message` is missing: the line that carries a message"],
    );
    check(
        "command = ['a']\n[input]\nway = 'relaunch'\n",
        expect![
            "agent `mine`: line 3: `arguments.resume` is missing: a relaunch goes on with the conversation"
        ],
    );
    check(
        "command = ['a']\n\n[permission]\nallow = 'y'\n",
        expect!["agent `mine`: line 3: `permission` needs both `allow` and `deny`"],
    );
    check(
        "command = ['a']\nguide = 'argument'\n",
        expect!["agent `mine`: line 2: no argument or variable names `{guide}` or `{guide_file}`"],
    );
    check(
        "command = ['a', '{guide}']\nguide = 'prompt'\n",
        expect![[
            r#"agent `mine`: line 2: an argument or variable names the guide, so `guide` must be "argument""#
        ]],
    );
}

#[test]
fn in_a_configuration_file() {
    check_file(
        "[ui]\ntheme = 'x'\n\n[agents.mine]\ncommand = ['a']\nmodle = 'x'\n",
        expect!["line 6: unknown key `modle`; did you mean `model`?"],
    );
    check_file(
        "[agents.mine]\nextends = 'cluade'\n",
        expect!["agent `mine`: line 2: extends `cluade`, which is no agent; did you mean `claude`?"],
    );
    check_file(
        "[agents.mine]\nextends = 'mine'\n",
        expect!["agent `mine`: line 2: extends `mine`, which is no agent"],
    );
    check_file(
        "[agents.a]\nextends = 'b'\n[agents.b]\nextends = 'a'\n",
        expect!["agent `a`: line 2: extends `b`, which extends it in turn"],
    );
    check_file(
        "[agents.new]\nmodel = 'x'\n",
        expect!["agent `new`: `command` is missing: the program and its arguments"],
    );
    check_file(
        "[agents.claude]\nmodel = 'x'\n[agents.mine]\nextends = 'claude'\noutput = 'txt'\n",
        expect!["agent `mine`: line 5: unknown output `txt`; did you mean `text`?"],
    );
}

#[test]
fn a_file_changes_and_adds_agents() {
    let mut agents = Agents::builtin();
    agents
        .add(
            "
            [server]
            port = 1

            [agents.b]
            extends = 'a'
            tools = ['Edit']

            [agents.a]
            extends = 'claude'
            model = 'opus'
            environment.CLAUDE_CONFIG_DIR = '/home/me/account'

            [agents.claude]
            model = 'sonnet'
            arguments.max_turns = []

            [agents.codex]
            extends = 'codex'
            extra = ['--search']
            ",
        )
        .unwrap();
    let [a, b, claude, codex] = ["a", "b", "claude", "codex"].map(|name| agents.get(name).unwrap());
    assert_eq!((a.name.as_str(), a.model.as_deref()), ("a", Some("opus")));
    assert_eq!((b.model.as_deref(), b.tools.len()), (Some("opus"), 1));
    assert_eq!(claude.model.as_deref(), Some("sonnet"));
    assert!(b.arguments.max_turns.is_empty(), "what its base became");
    assert!(b.environment.contains_key("CLAUDE_CONFIG_DIR"));
    assert_eq!(codex.extra, ["--search"]);
    assert_eq!(agents.nearest("cladue"), Some("claude"));
    assert_eq!(agents.get("cladue"), None);
    assert_eq!(agents.iter().count(), 6);
}
