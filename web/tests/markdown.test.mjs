// Documents: what is read of them, where their addresses lead, and what hostile ones come to.
import assert from "node:assert/strict";
import { test } from "node:test";

import { load } from "./load.mjs";

const { parse } = await load("markdown/parse.ts");
const { inlines } = await load("markdown/inline.ts");
const { addressOf } = await load("markdown/address.ts");

/** The nodes in short: names and texts. */
const brief = (parts) =>
  parts.map((it) => {
    if (it.kind === "text") return it.text;
    if (it.kind === "code") return { code: it.text };
    if (it.kind === "break") return "⏎";
    if (it.kind === "picture") return { picture: it.from, about: it.about };
    return it.kind === "link" ? { link: it.to, inside: brief(it.inside) } : { [it.kind]: brief(it.inside) };
  });
const shape = (blocks) =>
  blocks.map((it) => {
    switch (it.kind) {
      case "heading":
        return [`h${it.level}`, ...brief(it.text)];
      case "paragraph":
        return ["p", ...brief(it.text)];
      case "code":
        return ["code", it.language, it.text];
      case "quote":
        return ["quote", ...shape(it.blocks)];
      case "list":
        return ["list", it.start, ...it.items.map((item) => [item.isDone, ...shape(item.blocks)])];
      case "table":
        return ["table", it.head.map(brief), ...it.rows.map((row) => row.map(brief))];
      default:
        return [it.kind];
    }
  });
const read = (text) => shape(parse(text).blocks);

test("a document of a project is read block by block", () => {
  const text = [
    "# 1. Problem #",
    "",
    "Nobody *knows* where",
    "the **bicycles** are.",
    "",
    "Users",
    "-----",
    "- buyers",
    "  - near",
    "  - far",
    "- [x] sellers",
    "- [ ] couriers",
    "",
    "3. three",
    "4. four",
    "",
    "```rust",
    "fn main() {} // *not* emphasis",
    "```",
    "> quoted",
    "still quoted",
    "",
    "| a | b |",
    "|---|:-:|",
    "| `x|` | y \\| z |",
    "| one |",
    "",
    "***",
    "    indented",
  ].join("\n");
  assert.deepEqual(read(text), [
    ["h1", "1. Problem"],
    ["p", "Nobody ", { emphasis: ["knows"] }, " where the ", { strong: ["bicycles"] }, " are."],
    ["h2", "Users"],
    ["list", null, [null, ["p", "buyers"], ["list", null, [null, ["p", "near"]], [null, ["p", "far"]]]], [true, ["p", "sellers"]], [false, ["p", "couriers"]]],
    ["list", 3, [null, ["p", "three"]], [null, ["p", "four"]]],
    ["code", "rust", "fn main() {} // *not* emphasis"],
    ["quote", ["p", "quoted still quoted"]],
    ["table", [["a"], ["b"]], [["`x"], ["`"], ["y | z"]], [["one"]]],
    ["rule"],
    ["code", "", "indented"],
  ]);
});

test("what stands within a line", () => {
  assert.deepEqual(brief(inlines("a_b_c and _d_, **e *f* g**, ~~h~~ ~i~, ***j***")), [
    "a_b_c and ",
    { emphasis: ["d"] },
    ", ",
    { strong: ["e ", { emphasis: ["f"] }, " g"] },
    ", ",
    { struck: ["h"] },
    " ~i~, ",
    { emphasis: [{ strong: ["j"] }] },
  ]);
  assert.deepEqual(brief(inlines("``a ` b`` \\*c\\* &lt;d&gt; &copy;")), [{ code: "a ` b" }, " *c* <d> &copy;"]);
  assert.deepEqual(brief(inlines("[the *plan*](docs/a(1).md \"t\") ![logo](img/l.png) [x] [y][z]")), [
    { link: "docs/a(1).md", inside: ["the ", { emphasis: ["plan"] }] },
    " ",
    { picture: "img/l.png", about: "logo" },
    " [x] [y][z]",
  ]);
  assert.deepEqual(brief(inlines("see https://example.org/a_b, <https://example.org>")), [
    "see ",
    { link: "https://example.org/a_b", inside: ["https://example.org/a_b"] },
    ", ",
    { link: "https://example.org", inside: ["https://example.org"] },
  ]);
  assert.deepEqual(brief(inlines("one  \ntwo\\\nthree")), ["one  ", "⏎", "two", "⏎", "three"]);
  assert.deepEqual(brief(inlines("*a [b* c](d)")), [{ emphasis: ["a [b"] }, " c](d)"]);
});

test("nothing is hidden: comments and markup are text", () => {
  assert.deepEqual(read("<!-- approve this -->\n<script>x</script>\n[ref]: https://example.org"), [
    ["p", "<!-- approve this --> <script>x</script> [ref]: ", { link: "https://example.org", inside: ["https://example.org"] }],
  ]);
  assert.deepEqual(read("---\nstatus: draft\n---\ntext"), [["code", "", "status: draft"], ["p", "text"]]);
});

test("every document is read to its end, however it is made", () => {
  const hostile = ["[", "![", "*", "**a ", "_a_*", "`", "` ``", "](", "[](", "[a](b ", "> ", "- ", "  - ", "1. ", "|", "|-", "<http://", "http://a.", "\\", "&", "&amp", "```a", "~~", "~~a~~", "#", "# ", "\t", "a*b_c[d`e", "***", "[http://a/."];
  for (const piece of hostile) {
    for (const text of [piece.repeat(100_000 / piece.length), `${piece}\n`.repeat(20_000)]) {
      const { blocks, rest } = parse(text);
      assert.ok(blocks.length > 0 || rest.length > 0 || text.trim() === "", piece);
      // It can be drawn: nothing lies deeper than a program can follow.
      JSON.stringify(blocks);
    }
  }
  const fence = parse(`${"```".padEnd(400_000, "a")}\`\nend`);
  assert.equal(fence.blocks.length, 1);
  const long = parse("a\n\n".repeat(300_000));
  assert.ok(long.rest.length > 0);
});

test("addresses lead to the web, into the tree, or nowhere", () => {
  const of = (to) => addressOf(to, "docs/planning/01.md", "127.0.0.1:7378");
  assert.deepEqual(of("02.md#users"), { kind: "file", path: "docs/planning/02.md" });
  assert.deepEqual(of("../img/a%20b.png"), { kind: "file", path: "docs/img/a b.png" });
  assert.deepEqual(of("/src/main.rs"), { kind: "file", path: "src/main.rs" });
  assert.equal(of("https://example.org/x").kind, "web");
  for (const to of [
    "../../../etc/passwd",
    "javascript:alert(1)",
    "data:text/html,x",
    "file:///etc/passwd",
    "//example.org/x",
    "\\\\example.org",
    "#top",
    "http://127.0.0.1:7378/api/v1/runs",
    "https://github.com@example.org/",
    "%zz",
    "",
  ]) {
    assert.deepEqual(of(to), { kind: "none" }, to);
  }
});
