// Many tabs of one browser: they share what a browser has of connections, and each is as true as a single one.
import assert from "node:assert/strict";
import { test } from "node:test";

import { browser, ostler, stage } from "./stage.mjs";
import { card, join, until, visit, writeFileSync } from "./support.mjs";

stage({ cancels: true });

/** A browser with one tab, and a way to open more. What each follows is written down. */
async function tabs(first, prepare = () => {}) {
  const page = await visit(browser, ostler);
  const context = page.context();
  await context.addInitScript(prepare);
  const open = async (path, tab) => {
    const shown = tab ?? (await context.newPage());
    shown.follows = [];
    shown.on("request", (request) => {
      if (request.url().includes("follow=true")) shown.follows.push(request.url().includes("/events?") ? "journal" : "output");
    });
    shown.on("requestfailed", (request) => {
      if (request.url().includes("/output?")) shown.follows.push("let go");
    });
    await shown.goto(new URL(path, page.url()).href);
    await shown.waitForSelector(".page h1, .inbox-card");
    return shown;
  };
  return { context, open, first: await open(first, page) };
}

/** Counts until a file is there. Gives the session and the file. */
async function counting() {
  const enough = join(ostler.root, `enough-${Date.now()}`);
  const script = join(ostler.root, "bin/print.sh");
  const begun = await ostler.json("run", "--detach", "--", "sh", script, "count", enough);
  return { session: begun.sessions[0].id, stop: () => writeFileSync(enough, "") };
}

const screen = (page) => page.locator(".terminal-lines").innerText();
const counted = async (page) => Number((await screen(page)).match(/count (\d+)\./g)?.at(-1)?.match(/\d+/)[0] ?? 0);

/** It goes on counting under somebody's eyes. */
async function follows(page) {
  const before = await counted(page);
  await until("it goes on", async () => (await counted(page)) > before);
}

/** Makes a tab as one that is looked at, or not: a browser without a window does not. */
async function turn(page, state) {
  await page.evaluate((now) => {
    Object.defineProperty(document, "visibilityState", { configurable: true, get: () => now });
    document.dispatchEvent(new Event("visibilitychange"));
  }, state);
}

const leads = (page) => page.follows.includes("journal");

test("eight tabs with live output follow, and the last one answers", async () => {
  const { session, stop } = await counting();
  const { context, open, first } = await tabs(`/sessions/${session}`);
  const all = [first];
  while (all.length < 8) all.push(await open(`/sessions/${session}`));
  await Promise.all(all.map(follows));
  const request = await ostler.ask("choice");
  await Promise.all(all.map((page) => page.locator(".sidebar .count.wanted").waitFor()));
  const last = all.at(-1);
  await last.keyboard.press("g");
  await last.keyboard.press("i");
  await card(last, request);
  await last.keyboard.press("2");
  assert.equal((await ostler.settled(request.id)).text, "MySQL");
  await Promise.all(all.map((page) => page.locator(".sidebar .count.wanted").waitFor({ state: "detached" })));
  stop();
  for (const page of all.slice(0, -1)) await until("it has all of it", async () => (await screen(page)).includes("counted to the end"));
  await context.close();
});

test("who follows for the others is closed, and nothing is missed", async () => {
  const { context, open, first } = await tabs("/sessions");
  const all = [first, await open("/sessions"), await open("/sessions"), await open("/sessions")];
  await until("one of them follows", () => all.some(leads));
  while (all.length > 1) {
    const leader = all.findLast((page) => leads(page));
    all.splice(all.indexOf(leader), 1);
    // What happens in the very moment, and what happens afterwards.
    const [session] = await Promise.all([ostler.agent("choice"), leader.close()]);
    const later = await ostler.ask("confirm");
    for (const page of all) {
      for (const id of [session, later.session]) {
        await page.locator(".item", { hasText: id }).getByText("waiting for you").waitFor();
      }
    }
    await until("another follows", () => all.some(leads));
  }
  await context.close();
});

for (const [what, prepare] of [
  ["knows no locks", () => delete Navigator.prototype.locks],
  ["forbids locks", () => (LockManager.prototype.request = () => Promise.reject(new DOMException("not here", "SecurityError")))],
]) {
  test(`in a browser that ${what} each tab follows for itself`, async () => {
    const { context, open, first } = await tabs("/sessions", prepare);
    const second = await open("/sessions");
    await until("both follow", () => leads(first) && leads(second));
    const request = await ostler.ask("choice");
    for (const page of [first, second]) await page.locator(".item", { hasText: request.session }).getByText("waiting for you").waitFor();
    await context.close();
  });
}

test("a hidden tab lets go, and goes on where it was", async () => {
  const { session, stop } = await counting();
  const { context, open, first } = await tabs(`/sessions/${session}`);
  await follows(first);
  const second = await open(`/sessions/${session}`);
  await follows(second);
  await turn(first, "hidden");
  await until("the other follows the journal", () => leads(second));
  await until("it reads no output", () => first.follows.at(-1) === "let go");
  await follows(second);
  stop();
  await until("it is through", async () => (await screen(second)).includes("counted to the end"));
  assert.ok(!(await screen(first)).includes("counted to the end"));
  await turn(first, "visible");
  await until("it is through here, too", async () => (await screen(first)).includes("counted to the end"));
  await first.getByLabel("Plain text").check();
  const lines = (await first.locator(".terminal-plain pre").innerText()).trim().split("\n");
  const log = (await ostler.tell("logs", session)).trim().split("\n");
  assert.deepEqual(lines, log.slice(-lines.length));
  await context.close();
});

test("a tab that sleeps with the lock in its hand loses it", async () => {
  const { context, open, first } = await tabs("/sessions");
  await until("it follows", () => leads(first));
  const second = await open("/sessions");
  // Held by the debugger: nothing of it runs, as in a tab that a browser has put to sleep.
  const debug = await context.newCDPSession(first);
  await debug.send("Debugger.enable");
  const held = new Promise((resolve) => debug.once("Debugger.paused", resolve));
  await debug.send("Debugger.pause");
  void first.evaluate(() => undefined);
  await held;
  await turn(second, "visible");
  await until("the other follows", () => leads(second));
  const request = await ostler.ask("choice");
  const row = (page) => page.locator(".item", { hasText: request.session }).getByText("waiting for you");
  await row(second).waitFor();
  await debug.send("Debugger.resume");
  await debug.send("Debugger.disable");
  await row(first).waitFor();
  await context.close();
});

test("an answer that gets no answer says so in time, and goes out again as the same one", async () => {
  const request = await ostler.ask("choice");
  const page = await visit(browser, ostler, { place: [request.id] });
  await card(page, request);
  const names = [];
  page.on("request", (sent) => {
    if (sent.url().endsWith("/answer")) names.push(sent.headers()["idempotency-key"]);
  });
  await page.route("**/answer", () => undefined);
  await page.clock.install();
  await page.keyboard.press("2");
  await until("it is on its way", () => names.length === 1);
  await page.clock.fastForward(61_000);
  await page.getByText("The server has not answered in time.").waitFor();
  await page.getByText("It is not known whether this has arrived.").waitFor();
  await page.unroute("**/answer");
  await page.getByRole("button", { name: "Try again" }).click();
  assert.equal((await ostler.settled(request.id)).text, "MySQL");
  assert.equal(names.length, 2);
  assert.equal(names[0], names[1]);
  await page.context().close();
});
