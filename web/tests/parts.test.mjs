// The pure parts of the views: what git prints, what a terminal shows, what happened in a session.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import headless from "@xterm/headless";

import { load } from "./load.mjs";

const { bare, parse } = await load("diff/parse.ts");
const { runs } = await load("terminal/cells.ts");
const { contrast, onGround, palette, readable } = await load("terminal/colours.ts");
const { PieceWriter } = await load("terminal/pieces.ts");
const { moments, places } = await load("session/timeline.ts");
const { wantedOf, blank, hasWrongNumber } = await load("runs/draft.ts");
const { duration, hasWrong, UNLIMITED } = await load("parts/limits.ts");
const { keyOf } = await load("app/shortcuts.tsx");
const { bytesSaid, withSizes } = await load("parts/size.ts");
const { endOf, kindOf } = await load("notifications/kinds.ts");
const { restorable } = await load("session/restorable.ts");
const { linesOf, withLinesOf } = await load("parts/SecretField.tsx");
const { clockRange } = await load("parts/time.ts");
const { nextOf } = await load("api/pages.ts");
const { route } = await load("api/client.ts");
const { isId } = await load("api/ids.ts");
const { another } = await load("terminal/found.ts");
const { plan } = await load("inbox/choices.ts");
const { problems, problemSaid } = await load("parts/problems.ts");

test("a range within one minute is told to the second", () => {
  const at = (text) => Date.parse(text);
  const [from, to] = clockRange("en", at("2026-01-21T10:08:05"), at("2026-01-21T10:08:17"));
  assert.match(from, / 10:08:05$/);
  assert.match(to, / 10:08:17$/);
  assert.match(clockRange("ko", at("2026-01-21T10:08:59"), at("2026-01-21T10:09:00")).join(), /10:08,.* 10:09$/);
});

test("every problem has words of the page, in both languages", () => {
  const document = JSON.parse(readFileSync(new URL("../openapi.json", import.meta.url), "utf8"));
  const codes = document.components.schemas.Problem.properties.type.enum;
  for (const language of ["en", "ko"]) {
    assert.deepEqual(Object.keys(problems[language]).toSorted(), codes.toSorted());
    for (const [code, said] of Object.entries(problems[language])) {
      assert.equal(said.length, 2, code);
      for (const sentence of said) assert.match(sentence, /^.{4,}\.$/su, code);
    }
  }
  for (const said of Object.values(problems.ko).flat()) assert.match(said, /[가-힣]/);
  assert.equal(problemSaid("en", "constructor"), null);
});

test("a diff is read file by file, with the numbers of its lines", () => {
  const text = [
    "diff --git a/src/a b.txt b/src/a b.txt",
    "index 1..2 100644",
    "--- a/src/a b.txt\t",
    "+++ b/src/a b.txt\t",
    "@@ -1,3 +1,3 @@ heading",
    " one",
    "-two",
    "+zwei",
    " three",
    "\\ No newline at end of file",
    "@@ -10 +10,2 @@",
    " ten",
    "+eleven",
    'diff --git "a/\\352\\260\\200.txt" "b/\\352\\260\\200.txt"',
    "new file mode 100644",
    "--- /dev/null",
    '+++ "b/\\352\\260\\200.txt"',
    "@@ -0,0 +1 @@",
    "+diff --git a/not b/a-header",
    "diff --git a/old.bin b/new.bin",
    "similarity index 90%",
    "rename from old.bin",
    "rename to new.bin",
    "Binary files a/old.bin and b/new.bin differ",
    "diff --git a/run.sh b/run.sh",
    "old mode 100644",
    "new mode 100755",
    "",
  ].join("\n");
  const { files, left } = parse(text);
  assert.equal(left, 0);
  assert.deepEqual(
    files.map(({ path, from, change, isBinary, modes, added, removed }) => ({ path, from, change, isBinary, modes, added, removed })),
    [
      { path: "src/a b.txt", from: null, change: "changed", isBinary: false, modes: null, added: 2, removed: 1 },
      { path: "가.txt", from: null, change: "added", isBinary: false, modes: null, added: 1, removed: 0 },
      { path: "new.bin", from: "old.bin", change: "renamed", isBinary: true, modes: null, added: 0, removed: 0 },
      { path: "run.sh", from: null, change: "changed", isBinary: false, modes: ["100644", "100755"], added: 0, removed: 0 },
    ],
  );
  assert.deepEqual(files[0].hunks[0].lines, [
    { kind: "same", text: "one", before: 1, after: 1 },
    { kind: "removed", text: "two", before: 2, after: null },
    { kind: "added", text: "zwei", before: null, after: 2 },
    { kind: "same", text: "three", before: 3, after: 3 },
    { kind: "note", text: "No newline at end of file", before: null, after: null },
  ]);
  assert.equal(files[1].hunks[0].lines[0].text, "diff --git a/not b/a-header");
});

test("a diff of any size has bounds, and says what is left out", () => {
  const file = (n) => `diff --git a/${n} b/${n}\n--- a/${n}\n+++ b/${n}\n@@ -0,0 +1,100 @@\n${"+x\n".repeat(100)}`;
  const text = Array.from({ length: 20 }, (_, n) => file(n)).join("");
  const diff = parse(text, { files: 10, linesOfFile: 30, lines: 200 });
  assert.equal(diff.files.length, 10);
  assert.equal(diff.left, 10);
  assert.deepEqual(diff.files.map((it) => [it.added, it.left]).slice(0, 2), [[100, 70], [100, 70]]);
  assert.equal(diff.files[9].left, 100);
});

test("what is no diff is no error", () => {
  assert.deepEqual(parse("").files, []);
  assert.deepEqual(parse("fatal: something\n").notes, ["fatal: something"]);
  assert.equal(parse("diff --git a/x b/x\n@@ -1,9 +1,9 @@\n cut").files[0].hunks[0].lines.length, 1);
});

/** The first line of a screen that was sent these bytes. */
async function drawn(text, columns = 40) {
  const screen = new headless.Terminal({ cols: columns, rows: 4, allowProposedApi: true, convertEol: true });
  await new Promise((resolve) => screen.write(text, resolve));
  return runs(screen.buffer.active.getLine(0));
}

test("cells that look the same are one run, and wide letters stand alone", async () => {
  const line = await drawn("plain \x1b[1;31mred\x1b[0m 가나 \x1b[7mback\x1b[0m");
  assert.deepEqual(
    line.map(({ text, className }) => [text, className]),
    [
      ["plain ", ""],
      ["red", "ink-1 bold"],
      [" ", ""],
      ["가", " wide"],
      ["나", " wide"],
      [" ", ""],
      ["back", "inverse"],
    ],
  );
});

test("what an escape wants beyond letters and looks has no effect", async () => {
  const line = await drawn("a\x1b]0;title\x07\x1b]52;c;c3RvbGVu\x07\x1b]8;;javascript:alert(1)\x07b\x1b]8;;\x07\x1bP1$r\x1b\\c\u202ed\u200be", 80);
  assert.equal(line.map((run) => run.text).join(""), "abcde");
  assert.equal(line.every((run) => Object.keys(run).every((key) => ["text", "className", "colour", "ground"].includes(key))), true);
});

test("every colour can be read on both grounds", async () => {
  const grounds = [[0xf0, 0xee, 0xe9], [0x11, 0x11, 0x10]];
  for (let index = 16; index < 256; index++) {
    for (const ground of grounds) assert.ok(contrast(readable(palette(index), ground), ground) >= 4.5, `${index} on ${ground}`);
  }
  for (let index = 0; index < 256; index++) {
    for (const front of [null, palette(index), palette(15)]) {
      const shown = /rgb\((\d+) (\d+) (\d+)\)/.exec(onGround(front, palette(index))).slice(1).map(Number);
      assert.ok(contrast(shown, palette(index)) >= 4.5, `${front} on ${index}`);
    }
  }
  const [run] = await drawn("\x1b[38;2;1;2;3mdark\x1b[0m");
  assert.match(run.colour, /^light-dark\(rgb\(1 2 3\), rgb\(\d+ \d+ \d+\)\)$/);
});

test("pieces read like on the command line", () => {
  const writer = new PieceWriter((n) => `(+${n} more)`);
  const text = writer.write([
    { piece: "speech", text: "To", fragment: true },
    { piece: "speech", text: "ol", fragment: true },
    { piece: "tool", name: "Bash", about: "npm\x1b[2J test" },
    { piece: "tool_output", text: "\nok\n41 passed\n" },
    { piece: "sub_agent", text: "one\ntwo" },
    { piece: "line", text: "no event" },
    { piece: "speech", text: "Done.", fragment: false },
  ]);
  assert.equal(
    text.replaceAll("\x1b[2m", "").replaceAll("\x1b[22m", ""),
    "Tool\n› Bash  npm [2J test\n  ok  (+1 more)\n  ┊ one\n  ┊ two\nno event\nDone.\n",
  );
});

test("what a main agent is answered is told once, and not as somebody's words", () => {
  const at = (seq, kind, more) => ({ seq, v: 1, at: seq, kind, project: "p_1", run: "r_1", session: "s_1", ...more });
  const told = moments([
    at(1, "thin.asked", { number: 1, line: "RESOLVE_NEXT" }),
    at(2, "thin.answered", { number: 1, line: "ALL_DONE" }),
    at(3, "message.written", { message: "m_1", text: "ALL_DONE" }),
    at(4, "message.written", { message: "m_2", text: "well done", personal: true }),
  ]);
  assert.deepEqual(
    told.map((moment) => [moment.kind, moment.text]),
    [
      ["thinAsked", "RESOLVE_NEXT"],
      ["thinAnswered", "ALL_DONE"],
      ["written", "well done"],
    ],
  );
});

test("events that belong together are one moment", () => {
  let seq = 0;
  const event = (kind, more = {}) => ({ seq: ++seq, v: 1, at: 1000 * seq, kind, session: "s_1", ...more });
  const told = moments([
    event("session.created", { order: {} }),
    event("session.launched", { launch: 1, cause: "first" }),
    event("request.opened", { request: "q_1", ask: { kind: "question", question: "Which?" } }),
    event("checkpoint.wanted", { checkpoint: "c_1", why: "request", requests: ["q_1"] }),
    event("session.stopped", { cause: "signal" }),
    event("checkpoint.made", { checkpoint: "c_1" }),
    event("request.settled", { request: "q_1", by: "person", answer: { answer: "text", text: "MySQL" } }),
    event("session.paused"),
    event("session.stopped", { cause: "command" }),
    event("checkpoint.wanted", { checkpoint: "c_2", why: "person", requests: [] }),
    event("checkpoint.made", { checkpoint: "c_2" }),
    event("session.ended", { end: { how: "exited", code: 3, signal: null } }),
    event("check.started", { number: 1 }),
    event("check.finished", { attempt: { code: 1, output: "2 failed" } }),
    event("something.new", { later: true }),
    event("session.finished", { outcome: { outcome: "failed", reason: { key: "no_end" } } }),
  ]);
  assert.deepEqual(
    told.map(({ kind, text, word, checkpoint }) => [kind, text, word, checkpoint]),
    [
      ["begun", "", "", null],
      ["asked", "Which?", "question", "c_1"],
      ["settled", "", "person", null],
      ["paused", "", "", null],
      ["kept", "", "person", "c_2"],
      ["exited", "", "3", null],
      ["checkFailed", "2 failed", "1", null],
      ["failed", "", "", null],
    ],
  );
});

test("the axis goes from one end to the other, in order, however long nothing happened", () => {
  assert.deepEqual(places([]), []);
  assert.deepEqual(places([5]), [0.5]);
  const on = places([0, 0, 1000, 1000 + 86_400_000]);
  assert.equal(on[0], 0);
  assert.equal(on[3], 1);
  assert.ok(on.every((place, index) => index === 0 || place > on[index - 1]));
  assert.ok(on[1] > 0.05);
});

test("what is filled in becomes a wish", () => {
  const draft = { ...blank("/shop", "claude"), prompt: "fix it", check: " npm test ", until: true, minutes: "1.5", dollars: "2,50", tokens: "200k" };
  assert.deepEqual(wantedOf(draft, "ko"), {
    directory: "/shop",
    worktree: false,
    korean: true,
    agent: "claude",
    prompt: "fix it",
    check: "npm test",
    attempts_max: 10,
    time_s_max: 90,
    cost_usd_max: 2.5,
    tokens_max: 200_000,
  });
  assert.deepEqual(wantedOf({ ...blank("/shop", ""), prompt: "echo hi" }, "en").command, ["sh", "-c", "echo hi"]);
  assert.equal(hasWrongNumber({ ...draft, tokens: "many" }), true);
  assert.equal(hasWrongNumber({ ...draft, dollars: "-1" }), true);
  assert.equal(hasWrongNumber(draft), false);
});

test("a link leads to the next page, or there is none", () => {
  assert.deepEqual(nextOf('</api/v1/sessions?all=true&before=s_7>; rel="next"'), { name: "before", cursor: "s_7" });
  assert.equal(nextOf(null), null);
});

test("a time is minutes unless it says something else, and only tokens come in thousands", () => {
  const said = { 90: 5400, "90m": 5400, "1h30m": 5400, "1.5h": 5400, "1,5": 90, "45s": 45, "1d": 86_400, " 2 h ": 7200, "10min": 600 };
  for (const [text, seconds] of Object.entries(said)) assert.equal(duration(text), seconds, text);
  assert.equal(duration(" "), undefined);
  for (const text of ["m", "90k", "1m1h", "soon", "1h30"]) assert.ok(Number.isNaN(duration(text)), text);
  const draft = { ...blank("/shop", "claude"), prompt: "x" };
  assert.equal(wantedOf({ ...draft, minutes: "90m" }, "en").time_s_max, 5400);
  assert.equal(wantedOf({ ...draft, tokens: "1.5m" }, "en").tokens_max, 1_500_000);
  assert.equal(wantedOf({ ...draft, tokens: "200 k" }, "en").tokens_max, 200_000);
  for (const wrong of [{ dollars: "2m" }, { dollars: "2k" }, { minutes: "90k" }, { minutes: "m" }, { tokens: "k" }]) {
    assert.equal(hasWrongNumber({ ...draft, ...wrong }), true, JSON.stringify(wrong));
  }
  assert.equal(hasWrongNumber({ ...draft, check: "true", until: true, attempts: "10k" }), true);
});

test("a key is known by its place where the layout has other letters", () => {
  const key = (key, code, shiftKey = false) => keyOf({ key, code, shiftKey });
  assert.equal(key("j", "KeyC"), "j", "a letter is what it is, wherever it stands");
  assert.equal(key("ㅓ", "KeyJ"), "j");
  assert.equal(key("Process", "KeyK"), "k");
  assert.equal(key("Process", "Digit2"), "2");
  assert.equal(key("Process", "Slash", true), "?");
  assert.equal(key("Process", "Slash"), "/");
  assert.equal(key("Enter", "Enter"), "Enter");
  assert.equal(key("ArrowLeft", "ArrowLeft"), "ArrowLeft");
  assert.equal(key("?", "Minus", true), "?");
});

test("bytes are said so that they can be read", () => {
  const said = [0, 999, 1024, 1536, 3 << 20, 1_572_864, 1_073_741_824, 150.4 * 1024].map(bytesSaid);
  assert.deepEqual(said, ["0 B", "999 B", "1 KiB", "1.5 KiB", "3 MiB", "1.5 MiB", "1 GiB", "150 KiB"]);
  assert.equal(withSizes("a file has at most 1073741824 bytes"), "a file has at most 1 GiB");
  assert.equal(withSizes("at most 100 bytes, 12 tries"), "at most 100 bytes, 12 tries");
});

test("what is told has the names of the configuration", () => {
  const kind = (ask, more = {}) => kindOf({ ask: { fields: {}, ...ask }, expires_at_ms: null, ...more });
  assert.equal(kind({ kind: "question" }), "question");
  assert.equal(kind({ kind: "dependency", fields: { type: "api_key" } }), "dependency");
  assert.equal(kind({ kind: "dependency", fields: { type: "permission" } }), "permission");
  assert.equal(kind({ kind: "review" }), "permission");
  assert.equal(kind({ kind: "error" }), "error");
  assert.equal(kind({ kind: "error" }, { expires_at_ms: 5 }), null, "the agent goes on by itself");
  assert.equal(kind({ kind: "stall" }), "fault");
  assert.equal(kind({ kind: "cost_over" }), "budget");
  assert.equal(endOf({ kind: "session.finished", outcome: { outcome: "failed" } }), "failed");
  assert.equal(endOf({ kind: "session.finished", outcome: { outcome: "completed" } }), "done");
  assert.equal(endOf({ kind: "session.finished", outcome: { outcome: "cancelled" } }), null);
  assert.equal(endOf({ kind: "session.ended" }), null);
});

test("going back is offered where it is possible, and says what is in the way", () => {
  const launch = (more) => ({ number: 1, ended: null, stopped_at_ms: null, ...more });
  const session = (more) => ({ id: "s_1", status: "active", directory: "/shop", launches: [launch({})], ...more });
  const stopped = { launches: [launch({ stopped_at_ms: 5 })] };
  assert.deepEqual(restorable(session({}), []), { can: "nothing", why: "working" });
  assert.deepEqual(restorable(session({ status: "paused", ...stopped }), []), { can: "files" });
  assert.deepEqual(restorable(session({ status: "waiting_input", ...stopped }), []), { can: "files" });
  assert.deepEqual(restorable(session({ status: "ending", ...stopped }), []), { can: "nothing", why: "working" });
  assert.deepEqual(restorable(session({ status: "checking", launches: [] }), []), { can: "nothing", why: "working" });
  assert.deepEqual(restorable(session({ status: "completed" }), []), { can: "all" });
  assert.deepEqual(restorable(session({ status: "interrupted" }), []), { can: "all" });
  const other = session({ id: "s_2" });
  assert.deepEqual(restorable(session({ status: "completed" }), [other]), { can: "nothing", why: "shared", other: "s_2" });
  assert.deepEqual(restorable(session({ status: "completed" }), [{ ...other, ...stopped }]), { can: "all" });
  assert.deepEqual(restorable(session({ status: "completed" }), [{ ...other, directory: "/elsewhere" }]), { can: "all" });
  for (const state of ["merged", "discarded", "merging"]) {
    assert.deepEqual(restorable(session({ status: "completed", worktree: { state } }), []), { can: "nothing", why: "gone" });
  }
});

test("the lines of a secret are counted, and end as they did", () => {
  assert.deepEqual(["a\nb", "a\nb\n", "a\r\nb\r\n", "a\n\nb"].map(linesOf), [2, 2, 2, 3]);
  assert.equal(withLinesOf("a\r\nb", "a\nbc"), "a\r\nbc");
  assert.equal(withLinesOf("a\nb", "a\nbc"), "a\nbc");
});

test("a file that has changed without a line says what has become of it", () => {
  const header = (more) => parse(`diff --git a/x b/x\n${more}`).files[0];
  assert.equal(bare(header("new file mode 100644\nindex 0000000..e69de29\n")), "emptyNew");
  assert.equal(bare(header("deleted file mode 100644\nindex e69de29..0000000\n")), "emptyGone");
  assert.equal(bare(header("old mode 100644\nnew mode 100755\n")), "empty");
});

test("a limit is a number that can be kept to", () => {
  const wrong = (limits, attempts) => hasWrong({ ...UNLIMITED, ...limits }, attempts);
  for (const dollars of ["Infinity", "1e999", "-1", "0", "0x10", "NaN", "five", "9".repeat(400), "1000001"]) assert.ok(wrong({ dollars }), dollars);
  for (const dollars of ["", "5", "0.01", "1,5", "$ 1,000", "1000000"]) assert.ok(!wrong({ dollars }), dollars);
  for (const tokens of ["Infinity", "1e999", "0.3", "k", "9".repeat(40), "Infinityk"]) assert.ok(wrong({ tokens }), tokens);
  for (const tokens of ["200k", "1.5M", "7"]) assert.ok(!wrong({ tokens }), tokens);
  for (const minutes of ["Infinity", "1e999", "0", "0.001", "400d", "9".repeat(400)]) assert.ok(wrong({ minutes }), minutes);
  for (const minutes of ["90", "1h30m", "366d", "1s"]) assert.ok(!wrong({ minutes }), minutes);
  for (const attempts of ["Infinity", "0", "1001"]) assert.ok(wrong({}, attempts), attempts);
});

test("an id has one form, and stands in a path as one part of it", () => {
  for (const id of ["q_0", "q_7", "q_1234567890"]) assert.ok(isId("request", id), id);
  for (const id of ["", "q_", "q_07", "q_+1", "s_7", "q_7/..", "%2e%2e%2Fstatus", "q_7?x=1", "q_7\n"]) assert.ok(!isId("request", id), id);
  assert.ok(isId("session", "s_1") && isId("run", "r_1") && !isId("session", "r_1"));
  assert.equal(route`/sessions/${"s_1"}/pause`, "/sessions/s_1/pause");
  assert.equal(route`/requests/${"../status?x#y"}`, "/requests/..%2Fstatus%3Fx%23y");
  for (const up of ["", ".", ".."]) assert.throws(() => route`/requests/${up}`);
});

test("a line that is looked for is the same one, whatever comes and goes meanwhile", () => {
  assert.deepEqual(another([], null, 1), { number: null, nth: 0, all: 0 });
  assert.deepEqual(another([3, 8, 20], null, 1), { number: 20, nth: 2, all: 3 });
  assert.deepEqual(another([3, 8, 20], null, -1), { number: 20, nth: 2, all: 3 });
  assert.deepEqual(another([3, 8, 20], 20, 1), { number: 8, nth: 1, all: 3 });
  assert.deepEqual(another([3, 8, 20], 8, -1), { number: 20, nth: 2, all: 3 });
  assert.deepEqual(another([3, 8, 20], 20, -1), { number: 3, nth: 0, all: 3 });
  // The oldest has gone, and newer ones have come.
  assert.deepEqual(another([8, 20, 30], 8, 1), { number: 30, nth: 2, all: 3 });
  assert.deepEqual(another([20, 30], 8, -1), { number: 20, nth: 0, all: 2 });
});

test("no number settles a card that wants a value or a file", () => {
  const keysOf = (type, skippable = false, options = []) => {
    const ask = { kind: "dependency", fields: { type }, options, skippable, default: null };
    return plan({ ask }, (name) => name).choices.map(({ label, key }) => [label, key]);
  };
  for (const type of ["api_key", "env_variable", "service", "file"]) {
    assert.deepEqual(keysOf(type), [["deny", "Delete"]], type);
    assert.deepEqual(keysOf(type, true), [["without", null], ["deny", "Delete"]], type);
  }
  assert.deepEqual(keysOf("permission", false, ["approve", "deny"]), [["approve", "1"], ["deny", "2"]]);
});
