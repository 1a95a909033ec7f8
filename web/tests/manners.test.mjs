// How the page behaves under somebody's hands: keys between two cards, what a screen reader is told, notices that go again.
import assert from "node:assert/strict";
import { test } from "node:test";

import { browser, leave, ostler, PHONE, stage } from "./stage.mjs";
import { card, findings, TASKS, until, visit } from "./support.mjs";

stage({ toml: TASKS, cancels: true });

const focused = (page) => page.evaluate(() => document.activeElement?.tagName);

test("after an answer by a key, the next card takes keys and not letters", async () => {
  const first = await ostler.ask("choice");
  const second = await ostler.ask("text");
  const third = await ostler.ask("confirm");
  const page = await visit(browser, ostler, { place: [first.id] });
  await card(page, first);
  await page.keyboard.press("2");
  await card(page, second);
  assert.equal(await focused(page), "H1");
  await page.keyboard.press("j");
  await card(page, third);
  await page.keyboard.press("k");
  await card(page, second);
  assert.equal(await page.locator(".inbox-card textarea").inputValue(), "");
  // Who has written an answer goes on writing.
  await page.keyboard.press("w");
  await page.keyboard.type("billing");
  const fourth = await ostler.ask("text");
  await page.getByLabel("1 of 3").waitFor();
  await ostler.tell("answer", third.id, "yes");
  await page.getByLabel("1 of 2").waitFor();
  await page.keyboard.press("Enter");
  await card(page, fourth);
  assert.equal(await focused(page), "TEXTAREA");
  await leave(page);
});

test("a number of an optional permission means the same on the page and on the command line", async () => {
  const [first, second] = [await ostler.ask("may-skip"), await ostler.ask("may-skip")];
  const page = await visit(browser, ostler, { place: [first.id] });
  await card(page, first);
  const shown = await page.locator(".inbox-choice").evaluateAll((all) => all.map((it) => `${it.querySelector("kbd").textContent} ${it.querySelector(".inbox-label").textContent}`));
  assert.deepEqual(shown, ["1 Approve", "2 Deny", "3 Go on without"]);
  assert.match(await ostler.tell("show", first.id), /1 {2}approve\n +2 {2}deny\n +3 {2}skip\n/);
  await page.keyboard.press("2");
  const denied = { answer: "denied", reason: null };
  assert.deepEqual(await ostler.settled(first.id), denied);
  await ostler.tell("answer", second.id, "2");
  assert.deepEqual(await ostler.settled(second.id), denied);
  const third = await ostler.ask("may-skip");
  await page.goto(new URL(`/requests/${third.id}`, page.url()).href);
  await card(page, third);
  await page.keyboard.press("3");
  assert.deepEqual(await ostler.settled(third.id), { answer: "skipped", default: null });
  await leave(page);
});

test("the mark of the place at which an agent stopped has a row of its own, and covers no words", async () => {
  const words = "The table of orders grows by a million rows a month, so which of these three databases would you prefer for it?";
  const script = `printf '[USER_QUESTION]\\ncategory: clarification\\nquestion: ${words}\\nrequired: true\\n[/USER_QUESTION]\\n'; read -r it`;
  const begun = await ostler.json("run", "--detach", "--", "sh", "-c", script);
  const request = await ostler.asked(begun.sessions[0].id);
  for (const size of [{}, PHONE]) {
    const page = await visit(browser, ostler, { place: [request.id], ...size });
    const mark = page.locator(".terminal-mark", { hasText: "stopped here" });
    await mark.waitFor();
    const rows = await page.locator(".terminal-row:not(.terminal-mark)").evaluateAll((all) => all.map((it) => it.getBoundingClientRect().toJSON()));
    const box = await mark.evaluate((it) => it.getBoundingClientRect().toJSON());
    for (const row of rows) assert.ok(row.bottom <= box.top + 1 || row.top >= box.bottom - 1, `a row at ${row.top} to ${row.bottom} is below the mark at ${box.top}`);
    assert.ok(rows.some((row) => Math.abs(row.bottom - box.top) < 1), "it stands right below its line");
    await leave(page);
  }
});

test("single-key shortcuts are switched off, and stay off", async () => {
  const request = await ostler.ask("choice");
  const page = await visit(browser, ostler, { place: ["/settings"] });
  await page.getByLabel("Single-key shortcuts").uncheck();
  assert.deepEqual(await findings(page), []);
  await page.goto(new URL(`/requests/${request.id}`, page.url()).href);
  await card(page, request);
  assert.equal(await page.locator(".inbox-choice kbd:visible").count(), 0);
  for (const key of ["2", "j", "w", "?", "g", "s"]) await page.keyboard.press(key);
  assert.equal(await page.getByRole("dialog").count(), 0);
  assert.ok(page.url().endsWith(`/requests/${request.id}`));
  assert.equal(await page.locator(".inbox-card textarea").inputValue(), "");
  assert.equal((await ostler.json("show", request.id)).settled, null);
  // The sheet is reached without a key, too, and says why it is short.
  await page.getByRole("button", { name: "Keys", exact: true }).click();
  const sheet = page.getByRole("dialog", { name: "Keys" });
  await sheet.getByText("switched off in this browser").waitFor();
  assert.equal(await sheet.locator("kbd", { hasText: /^j$/ }).count(), 0);
  assert.deepEqual(await findings(page), []);
  await page.keyboard.press("Escape");
  await sheet.waitFor({ state: "detached" });
  await page.locator(".inbox-card h1").click();
  // Keys that print nothing go on working, and so does everything that is pointed at.
  await page.keyboard.press("Enter");
  assert.deepEqual(await ostler.settled(request.id), { answer: "text", text: "PostgreSQL" });
  await page.goto(new URL("/settings", page.url()).href);
  await page.getByLabel("Single-key shortcuts").check();
  await page.keyboard.press("Escape");
  await page.locator("h1").first().click();
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys" }).waitFor();
  await leave(page);
});

test("the list of keys has a button on a phone, too", async () => {
  for (const [locale, name] of [["en-US", "Keys"], ["ko-KR", "단축키"]]) {
    const page = await visit(browser, ostler, { place: ["/more"], locale, ...PHONE });
    await page.getByRole("button", { name, exact: true }).tap();
    await page.getByRole("dialog", { name }).locator("kbd", { hasText: "?" }).waitFor();
    await leave(page);
  }
});

test("a screen reader hears of a new card, in every view and in both languages", async () => {
  const known = await ostler.ask("confirm");
  for (const [locale, one, several] of [
    ["en-US", "New in the inbox: sh: Which database would you prefer?", "New in the inbox: 2"],
    ["ko-KR", "인박스에 새로 옴: sh: Which database would you prefer?", "인박스에 새로 옴: 2개"],
  ]) {
    const page = await visit(browser, ostler, { place: ["/sessions"], locale });
    const region = page.locator(".announcer[aria-live=polite]");
    await page.locator(".sidebar .count.wanted").waitFor();
    assert.equal(await region.innerText(), "", "what was there at first is read with the page");
    const request = await ostler.ask("choice");
    await region.getByText(one, { exact: true }).waitFor();
    await page.route("**/api/v1/status", async (route) => {
      const json = await (await route.fetch()).json();
      const two = ["q_901", "q_902"].map((id) => ({ ...json.needs_you[0], id }));
      await route.fulfill({ json: { ...json, needs_you: [...json.needs_you, ...two] } });
    });
    await ostler.tell("answer", request.id, "1");
    await region.getByText(several, { exact: true }).waitFor();
    // An answer that is on its way when the page closes is nobody's fault.
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await leave(page);
  }
  assert.equal((await ostler.json("show", known.id)).settled, null);
});

test("a notice that the server is gone goes when it is back, and what was sent can be sent again", async () => {
  const request = await ostler.ask("choice");
  for (const size of [{}, PHONE]) {
    const page = await visit(browser, ostler, { place: [request.id], ...size });
    await card(page, request);
    await ostler.kill();
    await page.locator(".inbox-choice").nth(2).click();
    await page.getByRole("alert").getByText("The server does not answer.").waitFor();
    await page.locator(".stale").waitFor();
    await ostler.serve();
    await page.locator(".stale").waitFor({ state: "detached" });
    await page.getByText("The server answers again.").waitFor();
    assert.equal(await page.locator(".notice.bad").count(), 0);
    if (size === PHONE) {
      await page.getByRole("button", { name: "Try again" }).click();
      assert.deepEqual(await ostler.settled(request.id), { answer: "text", text: "SQLite" });
    }
    await page.context().close();
  }
});

test("a card of a loop whose task is tried again needs no answer any more", async () => {
  const it = ostler.beside("loop");
  it.tasks("## Phase 1: Shop\n\n- [ ] T1.1: The login goes wrong\n- [ ] T1.2: The basket\n");
  const working = it.begin("orchestrate");
  const request = await until("the loop asks", async () => (await it.json("inbox")).find((found) => found.project.name === "loop"));
  const page = await visit(browser, it, { place: [request.id] });
  await card(page, request);
  await it.tell("tasks", "retry", "T1.1");
  await page.getByText("Settled meanwhile: no answer is needed any more").waitFor();
  await page.getByText("what it asked about has changed").waitFor();
  assert.match(await it.tell("show", request.id), /no answer is needed any more/);
  assert.equal(await page.getByText("nobody answered").count(), 0);
  await leave(page);
  for (const session of await it.json("ps")) await it.tell("cancel", session.id).catch(() => undefined);
  await working;
});
