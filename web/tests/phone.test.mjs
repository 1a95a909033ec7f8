// What a phone shows at 390 px, and what a wide screen shows at 200 % zoom, which is as narrow.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { test } from "node:test";

import { browser, ostler, PHONE, stage } from "./stage.mjs";
import { card, join, PHASES, until, visit } from "./support.mjs";

stage({ toml: PHASES });

const ZOOMED = { viewport: { width: 640, height: 400 } };

/** A review whose changes have more than a hundred lines. */
async function longReview() {
  const directory = join(ostler.root, "long");
  mkdirSync(directory);
  const git = (...args) => execFileSync("git", ["-c", "user.name=Test", "-c", "user.email=test@example.org", ...args], { cwd: directory, env: ostler.env });
  git("init", "--quiet", "--initial-branch=main");
  git("commit", "--quiet", "--allow-empty", "--message=first");
  const inside = Object.create(ostler, { project: { value: directory } });
  const { run } = await inside.json("phases", "run", "a shop with a long plan");
  return until("a review", async () => (await ostler.json("inbox")).find((it) => it.run === run && it.ask.kind === "review"));
}

test("a change of many lines is read as lines, and the decision stays within reach", async () => {
  const request = await longReview();
  for (const size of [PHONE, ZOOMED]) {
    const page = await visit(browser, ostler, { place: [request.id], ...size });
    await card(page, request);
    await page.getByRole("button", { name: "Changes", exact: true }).click();
    const rows = page.locator(".diff-table tr.diff-line");
    await rows.first().waitFor();
    const lines = await rows.count();
    assert.ok(lines > 130, `${lines} lines`);
    // One short line is one row: number and text side by side.
    const heights = await rows.evaluateAll((all) => all.map((it) => it.getBoundingClientRect().height).toSorted((one, other) => one - other));
    assert.ok(heights[Math.floor(heights.length / 2)] < 30, `a row is ${heights[Math.floor(heights.length / 2)]} px high`);
    const [number, text] = await rows.first().locator("td:visible").evaluateAll((all) => all.map((it) => it.getBoundingClientRect().y));
    assert.ok(Math.abs(number - text) < 4, "the number stands beside its line");
    const approve = await page.getByRole("button", { name: /^1?\s*Approve/ }).evaluate((it) => it.getBoundingClientRect().bottom + window.scrollY);
    assert.ok(approve < 3 * size.viewport.height + 400, `Approve ends at ${approve} px`);
    assert.ok(!(await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth)), "nothing is wider than the screen");
    assert.deepEqual(page.wrong, []);
    await page.context().close();
  }
});
