// The full demonstration by hand, in a browser: every question, a key, a file, a permission, and four approvals.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

import { browser, ostler, stage } from "./stage.mjs";
import { card, join, until, visit } from "./support.mjs";

stage();

/** What somebody has to settle next. An error that passes by itself is not among it. */
async function next(seen) {
  return until("something to settle, or the end", async () => {
    const open = await ostler.json("inbox");
    const asked = open.find((it) => !seen.has(it.id) && it.retry == null);
    if (asked) return asked;
    const printed = await ostler.tell("phases", "status", "--json", "r_1").catch((error) => error.stdout);
    // It may not have begun.
    const { state } = JSON.parse(printed || '{ "state": "working" }');
    return ["working", "gate", "review"].includes(state) ? null : { ended: state };
  });
}

/** Answers a card as a person would. */
async function settle(page, { ask }) {
  const kind = ask.kind === "dependency" ? ask.fields.type : ask.kind;
  if (kind === "api_key") {
    const field = page.getByLabel("RECEIPT_KEY (not shown)");
    assert.equal(await field.getAttribute("type"), "password");
    await field.fill("seal-of-the-test");
    await page.getByRole("button", { name: "Give it" }).click();
  } else if (kind === "file") {
    const buffer = Buffer.from("name,cents\nplum,90\ncherry jam,450\n");
    await page.getByLabel("Choose a file").last().setInputFiles({ name: "prices.csv", mimeType: "text/csv", buffer });
  } else if (ask.options.length > 0) {
    await page.keyboard.press("1");
  } else {
    await page.keyboard.type(ask.fields.category === "clarification" ? "12" : "Plum & Sons");
    await page.keyboard.press("Enter");
  }
  return kind === "question" ? ask.fields.category : kind;
}

test("an idea goes through all phases, by hand", async () => {
  const page = await visit(browser, ostler);
  await page.getByRole("button", { name: "Play an idea through all phases" }).click();
  const seen = new Set();
  const kinds = [];
  let end;
  for (;;) {
    const asked = await next(seen);
    end = asked.ended;
    if (end) break;
    seen.add(asked.id);
    await page.goto(new URL(`/requests/${asked.id}`, page.url()).href);
    await card(page, asked);
    kinds.push(await settle(page, asked));
    await ostler.settled(asked.id);
  }
  assert.equal(end, "done");
  assert.deepEqual(kinds, [
    "business", "clarification", "review",
    "choice", "review",
    "file", "api_key", "permission", "review",
    "confirmation", "review",
  ]);

  // The run shows all of it, with what was forgotten at first.
  await page.goto(new URL("/runs/r_1", page.url()).href);
  const stepper = page.getByRole("list", { name: "Phases" });
  for (const name of ["1. Planning", "2. Design", "3. Development", "4. Testing"]) {
    await stepper.getByRole("button", { name }).waitFor();
  }
  await stepper.getByRole("button", { name: "2. Design" }).click();
  await page.locator("summary", { hasText: "Gate 1 · ✗ failed" }).click();
  await page.getByText("docs/design/04_api.md does not name `refund`").first().waitFor();

  // What was answered is in what was made, and the program's tests pass.
  const demos = join(ostler.home, "demos");
  const shop = join(demos, readdirSync(demos)[0], "shop");
  const read = (path) => readFileSync(join(shop, path), "utf8");
  assert.match(read("docs/planning/01_idea.md"), /Plum & Sons hands out/);
  assert.match(read("docs/planning/04_features.md"), /from 12 pieces/);
  assert.match(read("data/prices.csv"), /cherry jam/);
  assert.match(execFileSync("sh", ["tests/run.sh"], { cwd: shop, encoding: "utf8" }), /6 tests, 0 failed/);
  assert.equal(readdirSync(join(shop, "docs/planning")).length, 9);
  assert.equal(readdirSync(join(shop, "docs/design")).length, 5);
  assert.deepEqual(page.wrong, []);
  await page.context().close();
});
