// What the inbox shows of what happened while nobody looked: ends, interruptions, and what can be done about each.
import assert from "node:assert/strict";
import { test } from "node:test";

import { browser, interrupted, leave, ostler, PHONE, ran, stage } from "./stage.mjs";
import { card, findings, join, readFileSync, until, visit } from "./support.mjs";

stage({ cancels: true });

const news = async () => JSON.parse(await ostler.tell("--json")).looked.ended.map((it) => it.id);
const wide = (page) => page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);

/** A session that has changed a file in a worktree of its own. */
const worked = (file) => ran("--worktree", "--", "sh", "-c", `echo new > ${file}`);

/** Leaves nothing that has ended unseen. */
async function look() {
  const page = await visit(browser, ostler);
  await page.getByRole("button", { name: "Mark as seen" }).click();
  await page.getByRole("region", { name: /last looked|so far/ }).waitFor({ state: "detached" });
  await leave(page);
}

test("what has ended since the last look stands first, with what can be done, until it is marked as seen", async () => {
  const done = await ran("--", "true");
  const work = await worked("PRICES.md");
  const failed = await ran("--", "sh", "-c", "exit 3");
  const page = await visit(browser, ostler);
  const region = page.getByRole("region", { name: /^Since you last looked \(.+ ago\)$|^Ended so far$/ });
  await region.waitFor();
  const rows = await region.getByRole("link").evaluateAll((all) => all.map((it) => it.getAttribute("href")));
  assert.deepEqual(rows, [failed, work, done].map((id) => `/sessions/${id}`));
  await region.getByText("its exit code was 3").waitFor();
  const [first, heading] = [await region.boundingBox(), await page.getByRole("heading", { name: /^Nothing needs you/ }).boundingBox()];
  assert.ok(first.y + first.height <= heading.y, "it stands above everything else");
  assert.deepEqual(await findings(page), []);
  await region.getByRole("button", { name: "What it has changed" }).click();
  await region.locator(".diff-line.added", { hasText: "new" }).waitFor();
  await region.getByRole("button", { name: `Merge … ${work}` }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Merge", exact: true }).click();
  await region.locator(`a[href="/sessions/${work}"]`).waitFor({ state: "detached" });
  assert.equal(readFileSync(join(ostler.project, "PRICES.md"), "utf8"), "new\n");
  // What was only read is still news; what was marked is none, here and on the command line.
  assert.deepEqual((await news()).toSorted(), [done, failed].toSorted());
  for (const options of [PHONE, { locale: "ko-KR", colorScheme: "dark" }]) {
    const other = await visit(browser, ostler, options);
    await other.getByRole("button", { name: options === PHONE ? "Mark as seen" : "확인했음" }).waitFor();
    assert.equal(await wide(other), false, "nothing is wider than the screen");
    assert.deepEqual(await findings(other), []);
    await leave(other);
  }
  await region.getByRole("button", { name: "Mark as seen" }).focus();
  await page.keyboard.press("Enter");
  await region.waitFor({ state: "detached" });
  assert.equal(await page.evaluate(() => document.activeElement?.id), "content");
  assert.deepEqual(await news(), []);
  await leave(page);
});

test("beside a card it is one line that moves nothing, and a key opens it", async () => {
  const request = await ostler.ask("choice");
  for (const size of [{}, PHONE]) {
    const page = await visit(browser, ostler, { place: [request.id], ...size });
    await card(page, request);
    const choice = page.locator(".inbox-choice").first();
    const before = (await choice.boundingBox()).y;
    await ran("--", "sh", "-c", "exit 3");
    const line = page.getByRole("button", { name: "Since you last looked: ✗ 1 failed" });
    await line.waitFor();
    const now = (await choice.boundingBox()).y;
    assert.ok(Math.abs(now - before) <= 1, `the answers stay under the hand: ${before} and ${now}`);
    await page.keyboard.press("s");
    const region = page.getByRole("region", { name: /^Since you last looked/ });
    await region.getByText("its exit code was 3").waitFor();
    assert.equal(await line.getAttribute("aria-expanded"), "true");
    assert.equal((await ostler.json("show", request.id)).settled, null);
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await region.waitFor({ state: "detached" });
    await leave(page);
  }
});

test("an interrupted session counts as something that needs somebody, and is resumed from there", async () => {
  const page = await visit(browser, ostler);
  const first = await interrupted();
  const region = page.getByRole("region", { name: /^Interrupted/ });
  await region.getByRole("button", { name: `Start it again: ${first}` }).waitFor();
  await page.getByRole("link", { name: "Inbox 1 needs you" }).first().waitFor();
  await until("the title counts it", async () => (await page.title()).startsWith("(1) "));
  await page.getByRole("heading", { name: "1 session was interrupted. No agent is at work." }).waitFor();
  assert.match(await ostler.tell(), /1 thing needs you:/);
  const second = await interrupted();
  await page.locator(".sidebar .count.wanted", { hasText: "2" }).waitFor();
  assert.deepEqual(await findings(page), []);
  const phone = await visit(browser, ostler, { ...PHONE, locale: "ko-KR" });
  await phone.getByRole("button", { name: "2개 모두 이어 가기" }).waitFor();
  assert.equal(await wide(phone), false, "nothing is wider than the screen");
  assert.equal(await phone.locator(".bottom .count.wanted").innerText(), "2");
  await leave(phone);
  await region.getByRole("button", { name: `Start it again: ${first}` }).click();
  await until(`${first} works`, async () => (await ostler.json("show", first)).session.status === "active");
  await page.locator(".sidebar .count.wanted", { hasText: "1" }).waitFor();
  const third = await interrupted();
  await region.getByRole("button", { name: "Resume all 2" }).click();
  for (const id of [second, third]) await until(`${id} works`, async () => (await ostler.json("show", id)).session.status === "active");
  await region.waitFor({ state: "detached" });
  await page.getByRole("heading", { name: "Nothing needs you. 3 agents at work." }).waitFor();
  await leave(page);
});

test("with many ends ten are shown and the others counted", async () => {
  await ran("--", "sh", "-c", "exit 3");
  await look();
  for (let n = 0; n < 12; n += 1) await ran("--", "true");
  const page = await visit(browser, ostler);
  const region = page.getByRole("region", { name: /^Since you last looked/ });
  await region.getByText("… and 2 more").waitFor();
  assert.equal(await region.getByRole("listitem").count(), 10);
  await leave(page);
});
