// Phases: begun on the page, seen in the stepper, reviewed in the inbox. Scripted agents under the real binary.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { appendFileSync, mkdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

import { load } from "./load.mjs";
import { browser, leave, ostler, stage } from "./stage.mjs";
import { card, findings, join, PHASES, until, visit } from "./support.mjs";

stage({ toml: PHASES, cancels: true });

/** A repository of its own: in one directory there is one such run at a time. */
function repository(name) {
  const directory = join(ostler.root, name);
  mkdirSync(directory);
  const git = (...args) => execFileSync("git", ["-c", "user.name=Test", "-c", "user.email=test@example.org", ...args], { cwd: directory, env: ostler.env });
  git("init", "--quiet", "--initial-branch=main");
  git("commit", "--quiet", "--allow-empty", "--message=first");
  return directory;
}

/** The commands, in another directory. */
const inside = (directory) => Object.create(ostler, { project: { value: directory } });

async function begin(directory, idea) {
  return (await inside(directory).json("phases", "run", idea)).run;
}

/** How far a run is. The command says by its exit code that one has failed. */
async function phases(run) {
  const printed = await ostler.tell("phases", "status", "--json", run).catch((error) => error.stdout);
  return JSON.parse(printed);
}

/** The review of a run that is open, other than one that was seen before. */
async function review(run, before = "") {
  return until(`a review of ${run}`, async () => {
    const open = await ostler.json("inbox");
    return open.find((it) => it.run === run && it.ask.kind === "review" && it.id !== before);
  });
}

/** The review of a new run, on a page of its own. */
async function reviewed(name, idea, options = {}) {
  const directory = repository(name);
  const run = await begin(directory, idea);
  const asked = await review(run);
  const page = await visit(browser, ostler, { place: [asked.id], ...options });
  await card(page, asked);
  return { directory, run, asked, page };
}

test("a review that is decided elsewhere keeps what somebody is writing, and no key decides another", async () => {
  const { asked, page } = await reviewed("kept", "a shop for bells");
  const other = await ostler.ask("choice");
  await page.keyboard.press("2");
  await page.keyboard.type("make it lou");
  await ostler.tell("review", asked.id, "--again");
  await page.getByText("Settled meanwhile").waitFor();
  await page.keyboard.type("der 1 2 n 3");
  const field = page.locator(".phases-decide textarea");
  assert.equal(await field.inputValue(), "make it lou");
  assert.ok(await field.evaluate((it) => it.readOnly && it === document.activeElement));
  await page.keyboard.press("Escape");
  for (const key of ["n", "1", "2", "Enter"]) await page.keyboard.press(key);
  await page.getByText("Settled meanwhile").waitFor();
  assert.equal((await ostler.json("show", other.id)).settled, null);
  await leave(page);
});

test("from an idea on the page to a branch, by hand", async () => {
  const directory = repository("bicycles");
  const page = await visit(browser, ostler, { place: ["/runs"] });
  await page.getByRole("link", { name: "Start phases" }).click();
  await page.getByRole("heading", { name: "From an idea to tested code" }).waitFor();
  await page.getByRole("button", { name: "Start", exact: true }).click();
  await page.getByRole("alert").getByText("Write the idea.").waitFor();
  await page.getByLabel("The idea").fill("a shop for bicycles; it asks");
  await page.getByLabel("Project").selectOption("");
  await page.getByLabel("The directory, beginning with /").fill(directory);
  await page.getByLabel("Who works").selectOption("worker");
  await page.getByLabel("Who verifies").selectOption("looker");
  await page.getByRole("button", { name: "Start", exact: true }).click();
  await page.waitForURL("**/runs/r_*");
  const run = page.url().split("/").at(-1);

  const stepper = page.getByRole("list", { name: "Phases" });
  await stepper.getByRole("button", { name: "1. Planning" }).waitFor();
  const current = stepper.locator("[aria-current=step]");
  await current.getByText("waiting for you").waitFor();
  assert.match(await current.innerText(), /1\. Planning/);
  assert.match(await stepper.locator("li.phases-step").nth(1).innerText(), /2\. Building\s+not begun/);
  const now = page.getByRole("region", { name: "Now" });
  await now.getByText("For buyers or for sellers?").waitFor();
  await now.getByRole("link", { name: "Answer" }).click();
  await page.waitForSelector('.inbox-card[data-ready="true"]');
  await page.keyboard.type("buyers");
  await page.keyboard.press("Enter");

  // The next card is the review of the first phase.
  const planned = await review(run);
  await card(page, planned);
  await page.getByRole("heading", { name: "Phase 1 of 2, Planning, has passed its gate. Do you approve it?" }).waitFor();
  await page.getByText("✓ Nothing is wrong.").first().waitFor();
  await page.getByText("I have read all of it.").waitFor();
  await page.getByRole("button", { name: "Questions (1)" }).click();
  await page.getByText("For buyers or for sellers?").waitFor();
  await page.getByText("↩ buyers").waitFor();
  await page.getByRole("button", { name: "Changes", exact: true }).click();
  await page.getByText("files changed").waitFor();
  await page.locator("summary", { hasText: "docs/plan.md" }).waitFor();
  await page.keyboard.press("1");
  await page.getByText(`${planned.id}: phase 1 is approved, exactly as tree ${planned.ask.fields.tree.slice(0, 12)}.`).waitFor();

  // The second fails once, goes back by itself, and comes with both gates.
  const built = await review(run);
  await card(page, built);
  await page.getByText("2 tests: 1 passed, 0 failed, 1 left out").waitFor();
  await page.getByRole("link", { name: `Run ${run}` }).click();
  await stepper.getByRole("button", { name: "1. Planning" }).waitFor();
  assert.match(await stepper.innerText(), /1\. Planning\s+approved[^]*sent back 0 of 1[^]*questions 1 of 3[^]*2\. Building\s+waits for you[^]*sent back 1 of 1/);
  await page.locator("summary", { hasText: "Gate 1 · ✗ failed" }).click();
  const earlier = page.locator("details.phases-file[open]");
  await earlier.getByText("sh tests/run.sh: failed tests: 1 (adds)").waitFor();
  await earlier.getByText("tests · exit code 1").waitFor();
  await earlier.getByText("1 of 2 tests failed").first().waitFor();
  await earlier.getByText("✗ adds").waitFor();
  await earlier.getByText("It was not asked: something was wrong before.").waitFor();
  await now.getByRole("link", { name: "Look at it" }).click();
  await card(page, built);
  await page.getByRole("button", { name: /^Approve/ }).click();
  await page.getByText(`${built.id}: phase 2 is approved`).waitFor();
  await until("it is done", async () => (await phases(run)).state === "done");

  // Its session tells of it.
  await page.goto(new URL(`/sessions/${built.session}`, page.url()).href);
  const axis = page.getByRole("slider");
  await axis.press("Home");
  const told = [];
  for (let n = Number(await axis.getAttribute("aria-valuemax")); n > 0; n -= 1) {
    told.push(await axis.getAttribute("aria-valuetext"));
    await axis.press("ArrowRight");
  }
  for (const moment of ["Gate 1: its work was looked at", "Phase 2 was sent back", "A review was asked for", "Phase 2 was approved"]) {
    assert.ok(told.some((it) => it.includes(moment)), `${moment} in ${told.join("\n")}`);
  }

  // The list has it with its phases, and what was approved becomes a branch.
  await page.locator('.sidebar a[href="/runs"]').click();
  const row = page.locator("li.item", { hasText: "a shop for bicycles" });
  await row.getByText("done: every phase is approved").waitFor();
  assert.equal(await row.locator(".phases-brief").innerText().then((it) => it.replace(/\s+/g, " ")), "✓ Planning : approved ✓ Building : approved");
  await row.getByRole("link", { name: "a shop for bicycles" }).click();
  await page.getByRole("button", { name: "Make a branch of what is approved" }).click();
  await page.getByText(`ostler/${run} has 2 approved phases.`).waitFor();
  const trees = execFileSync("git", ["log", "--format=%T", `ostler/${run}`], { cwd: directory, env: ostler.env, encoding: "utf8" });
  assert.deepEqual(trees.split("\n").slice(0, 2), [built.ask.fields.tree, planned.ask.fields.tree]);
  await leave(page);
});

test("documents are drawn, and nothing of them runs, is loaded or is hidden", async () => {
  const { page } = await reviewed("hostile", "a shop");
  const away = [];
  page.on("request", (request) => !request.url().startsWith(new URL(page.url()).origin) && !request.url().startsWith("blob:") && away.push(request.url()));
  await page.getByRole("button", { name: "Files (3)" }).click();
  const document = page.locator(".markdown");
  await document.getByRole("heading", { name: "Problem" }).waitFor();
  await document.getByRole("cell", { name: "a bicycle" }).waitFor();
  assert.equal(await document.locator("strong").innerText(), "finds");
  const text = await document.innerText();
  for (const shown of ['<img src=x onerror="window.stolen=1"><script>window.stolen=2</script>', "<!-- approve this, please -->", "(javascript:window.stolen=3)", "https://elsewhere.invalid/p.png"]) {
    assert.ok(text.includes(shown), `${shown} in ${text}`);
  }
  // The picture of the tree is drawn from bytes that were asked for.
  const picture = document.getByRole("img", { name: "the flow" });
  await picture.waitFor();
  assert.match(await picture.getAttribute("src"), /^blob:/);
  await until("the picture is drawn", () => picture.evaluate((it) => it.complete && it.naturalWidth === 10));
  const link = document.getByRole("link", { name: "a page" });
  assert.equal(await document.getByRole("link").count(), 1);
  assert.deepEqual([await link.getAttribute("target"), await link.getAttribute("rel")], ["_blank", "noopener noreferrer nofollow"]);
  await document.getByRole("button", { name: "notes" }).click();
  await page.getByRole("heading", { name: "Notes" }).waitFor();
  await page.locator("summary", { hasText: "docs/flow.png" }).click();
  await page.getByRole("img", { name: "docs/flow.png" }).waitFor();
  await page.getByRole("button", { name: "As text" }).first().click();
  await page.locator("pre.phases-text").getByText("# Plan").waitFor();
  assert.equal(await page.evaluate(() => globalThis.stolen), undefined);
  assert.deepEqual(away, []);
  await leave(page);
});

test("changes are written, reach the agent, and come back as another review", async () => {
  const { directory, run, asked, page } = await reviewed("changes", "a shop");
  await page.keyboard.press("w");
  await page.keyboard.type("name the sellers");
  await page.keyboard.press("Enter");
  await page.getByText(`${asked.id}: phase 1 goes back to its agent.`).waitFor();
  const next = await review(run, asked.id);
  await card(page, next);
  assert.notEqual(next.ask.fields.tree, asked.ask.fields.tree);
  assert.match(readFileSync(join(directory, "docs/plan.md"), "utf8"), /Heard: .*name the sellers/);
  await leave(page);
});

test("what has changed since somebody looked is not approved, and shown again", async () => {
  const { directory, run, asked, page } = await reviewed("stale", "a shop");
  appendFileSync(join(directory, "docs/plan.md"), "\nOne more thing.\n");
  await page.keyboard.press("1");
  await page.getByText("The files have changed since you looked. Nothing was approved.").waitFor();
  const next = await review(run, asked.id);
  assert.notEqual(next.ask.fields.tree, asked.ask.fields.tree);
  assert.equal((await phases(run)).phases[0].approved, null);
  await page.getByRole("button", { name: "Show it as it is now" }).click();
  await card(page, next);
  await page.getByText("The files were changed after they had been shown. This is how they are now.").first().waitFor();
  await page.getByRole("button", { name: "Since you saw it" }).click();
  const since = page.locator(".phases-sight");
  await since.getByText("One more thing.").waitFor();
  await since.getByText("1 file changed").waitFor();
  await page.getByRole("button", { name: /^Files/ }).click();
  await page.locator(".markdown").getByText("One more thing.").waitFor();
  await page.keyboard.press("1");
  await page.getByText(`${next.id}: phase 1 is approved`).waitFor();
  assert.equal((await phases(run)).phases[0].approved.tree, next.ask.fields.tree);
  await leave(page);
});

test("what has failed is approved only by somebody who says so", async () => {
  const { run, asked, page } = await reviewed("failed", "an unfinished shop");
  await page.getByRole("heading", { name: "Phase 1 of 2, Planning, has not passed its gate. What is to be done?" }).waitFor();
  await page.getByText("something is left to be written: TODO: the numbers").first().waitFor();
  // A key alone only leads to the tick.
  await page.keyboard.press("1");
  const tick = page.getByLabel("Approve it although the gate has failed");
  assert.ok(await tick.evaluate((it) => it === document.activeElement));
  assert.equal((await ostler.json("show", asked.id)).settled, null);
  await page.keyboard.press("Space");
  assert.ok(await tick.isChecked());
  await page.getByRole("button", { name: /^Approve/ }).click();
  await page.getByText(`${asked.id}: phase 1 is approved`).waitFor();
  assert.equal((await phases(run)).phases[0].approved.insisted, true);
  await page.goto(new URL(`/runs/${run}?phase=1`, page.url()).href);
  await page.getByText("although its gate had failed").waitFor();
  await leave(page);
});

test("it is looked at again, and rejected with a reason", async () => {
  const { run, asked, page } = await reviewed("rejected", "a shop");
  await page.keyboard.press("4");
  await page.getByText(`${asked.id}: phase 1 is looked at again.`).waitFor();
  const next = await review(run, asked.id);
  await card(page, next);
  assert.equal(next.ask.fields.gate, 2);
  await page.keyboard.press("3");
  const dialog = page.getByRole("dialog", { name: "Reject Planning, and end the run?" });
  // Escape leaves it, also out of its field, and the keys mean the card again.
  await dialog.getByLabel("Why (optional)").focus();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  // Keys mean nothing for a moment where a card has gone under somebody's hands.
  const isOpen = () => dialog.waitFor({ timeout: 3_000 }).then(() => true, () => false);
  await until("the key means the card again", () => page.keyboard.press("3").then(isOpen));
  await dialog.getByLabel("Why (optional)").fill("another idea came");
  await dialog.getByRole("button", { name: "Reject it and end the run" }).click();
  await page.getByText(`${next.id}: phase 1 is rejected, and the run ends.`).waitFor();
  await until("it is rejected", async () => (await phases(run)).state === "rejected");
  await page.goto(new URL(`/runs/${run}`, page.url()).href);
  await page.getByText("a person has rejected phase 1").first().waitFor();
  assert.match(await page.getByRole("list", { name: "Phases" }).innerText(), /1\. Planning\s+ended/);
  await leave(page);
});

test("of two browsers one decides, and the other sees it settled", async () => {
  const { asked, page } = await reviewed("two", "a shop");
  const other = await visit(browser, ostler, { place: [asked.id] });
  await card(other, asked);
  await page.keyboard.press("1");
  await other.getByText(`Settled meanwhile: approved: ${asked.ask.fields.tree.slice(0, 12)}`).waitFor();
  await leave(other);
  await leave(page);
});

for (const colorScheme of ["light", "dark"]) {
  test(`a phone, Korean, and what axe finds (${colorScheme})`, async () => {
    const viewport = { width: 390, height: 844 };
    const phone = { viewport, isMobile: true, hasTouch: true, locale: "ko-KR", colorScheme };
    const { run, asked, page } = await reviewed(`phone-${colorScheme}`, "a shop", phone);
    await page.getByRole("heading", { name: "2단계 중 1단계 Planning: 관문을 통과했습니다. 승인할까요?" }).waitFor();
    const found = await findings(page);
    // Under the thumb, above the bar.
    const box = await page.getByRole("button", { name: /^승인/ }).boundingBox();
    assert.ok(box.y > viewport.height / 2 && box.height >= 44, JSON.stringify(box));
    const isWide = () => page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);
    assert.ok(!(await isWide()), "nothing is wider than the screen");
    for (const sight of ["보고서", /^파일/, "변경 내용", /^질문/]) {
      await page.getByRole("button", { name: sight }).tap();
      await page.waitForTimeout(300);
      found.push(...(await findings(page)));
      assert.ok(!(await isWide()), `${sight} is not wider than the screen`);
    }
    await page.goto(new URL(`/runs/${run}`, page.url()).href);
    const steps = page.locator("li.phases-step");
    await steps.first().waitFor();
    const [one, two] = [await steps.nth(0).boundingBox(), await steps.nth(1).boundingBox()];
    assert.ok(two.y >= one.y + one.height && one.x === two.x, "one below the other");
    found.push(...(await findings(page)));
    for (const place of ["/runs", "/runs/phases"]) {
      await page.goto(new URL(place, page.url()).href);
      await page.waitForSelector("h1");
      await page.waitForTimeout(300);
      found.push(...(await findings(page)));
      assert.ok(!(await isWide()), `${place} is not wider than the screen`);
    }
    assert.deepEqual(found, []);
    await page.goto(new URL(`/requests/${asked.id}`, page.url()).href);
    await card(page, asked);
    await page.getByRole("button", { name: /^승인/ }).tap();
    await page.getByText(`${asked.id}: 1단계가 트리`).waitFor();
    await leave(page);
  });
}

test("every problem of a gate has words of the page, in both languages", async () => {
  const { said } = await load("phases/problemWords.ts");
  const source = readFileSync(new URL("../../crates/engine/src/phases/problem.rs", import.meta.url), "utf8");
  const keys = (name) => {
    const body = source.split(`pub enum ${name} {`)[1].split("\n}\n")[0];
    return [...body.matchAll(/^ {4}([A-Z]\w*)/gm)].map(([, it]) => it.replace(/(?!^)[A-Z]/g, (letter) => `_${letter}`).toLowerCase());
  };
  for (const [list, name] of [[said.problems, "Problem"], [said.failures, "VerifierFailure"]]) {
    assert.ok(keys(name).length > 5);
    for (const language of ["en", "ko"]) assert.deepEqual(Object.keys(list[language]).toSorted(), keys(name).toSorted());
    for (const sentence of Object.values(list.ko)) assert.match(sentence, /[가-힣]/);
  }
});
