// The page as a whole: two browsers, a server that dies, Korean, a phone, a screen reader, hostile words.
import assert from "node:assert/strict";
import { afterEach, test } from "node:test";

import { browser, ostler, stage } from "./stage.mjs";
import { card, findings, until, visit } from "./support.mjs";

stage();

afterEach(async () => {
  for (const request of await ostler.json("inbox")) await ostler.tell("cancel", request.session);
});

test("of two browsers one answers, and the other sees it settled", async () => {
  const request = await ostler.ask("choice");
  const [one, two] = await Promise.all([visit(browser, ostler), visit(browser, ostler)]);
  await Promise.all([card(one, request), card(two, request)]);
  await one.keyboard.press("3");
  await two.getByText("Settled meanwhile: SQLite").waitFor();
  await two.getByText("somebody answered elsewhere").waitFor();
  await two.getByRole("button", { name: "Go on" }).press("Enter");
  await two.getByRole("heading", { name: "Nothing needs you." }).waitFor();
  await Promise.all([one.context().close(), two.context().close()]);
});

test("the server is killed and started again with the page open", async () => {
  const request = await ostler.ask("choice");
  const page = await visit(browser, ostler);
  await card(page, request);
  await ostler.kill();
  await page.getByText("The server does not answer. This is how it was at").waitFor();
  // What is pressed meanwhile is not lost: it says so, and can be sent again.
  await page.keyboard.press("2");
  await page.getByText("It is not known whether this has arrived.").waitFor();
  await ostler.serve();
  await page.getByText("The server does not answer. This is how it was at").waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByText(`${request.id} is answered: MySQL`).waitFor();
  await ostler.printed(request.session, '"answer":"MySQL"');
  const next = await ostler.ask("confirm");
  await card(page, next);
  await page.context().close();
});

test("in Korean, with letters made for it", async () => {
  const request = await ostler.ask("korean");
  const page = await visit(browser, ostler, { locale: "ko-KR" });
  await card(page, request);
  await page.getByRole("link", { name: /인박스/ }).first().waitFor();
  assert.equal(await page.evaluate(() => document.documentElement.lang), "ko");
  await page.evaluate(() => document.fonts.ready);
  const hasFace = () => document.fonts.check('16px "Pretendard Variable"', "데이터베이스");
  assert.ok(await page.evaluate(hasFace));
  await page.keyboard.press("1");
  await page.getByText(`${request.id}에 답함: PostgreSQL`).waitFor();
  assert.deepEqual(page.wrong, []);
  await page.context().close();
});

test("what the server refuses is said in Korean, with its own words as small print", async () => {
  const page = await visit(browser, ostler, { locale: "ko-KR" });
  await page.goto(new URL("/sessions/s_999999", page.url()).href);
  const alert = page.getByRole("alert");
  await alert.getByText("그런 세션이 없습니다.").waitFor();
  await alert.getByText("세션 목록에서 고르세요.").waitFor();
  const small = alert.getByText("there is no session 's_999999'");
  assert.equal(await small.evaluate((it) => it.closest("[lang]").lang), "en");
  assert.deepEqual(page.wrong, []);
  await page.context().close();
});

test("on a phone the buttons are under the thumb", async () => {
  const request = await ostler.ask("choice");
  const viewport = { width: 390, height: 844 };
  const page = await visit(browser, ostler, { viewport, isMobile: true, hasTouch: true });
  await card(page, request);
  const box = await page.getByRole("button", { name: "SQLite" }).boundingBox();
  assert.ok(box.y > viewport.height / 2 && box.y + box.height < viewport.height, JSON.stringify(box));
  assert.ok(box.height >= 44);
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.equal(width, viewport.width, "nothing is wider than the screen");
  await page.getByRole("button", { name: "SQLite" }).tap();
  assert.equal((await ostler.settled(request.id)).text, "SQLite");
  await page.getByRole("link", { name: "More" }).tap();
  await page.getByRole("link", { name: "Settings" }).tap();
  await page.getByRole("heading", { name: "Settings" }).waitFor();
  await page.context().close();
});

test("on a phone, what says that the page is stale covers no button", async () => {
  const request = await ostler.ask("choice");
  const page = await visit(browser, ostler, { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, place: [request.id] });
  await card(page, request);
  await ostler.kill();
  const stale = page.locator(".stale");
  await stale.waitFor();
  await page.evaluate(() => window.scrollTo(0, document.body.scrollHeight));
  const top = (await stale.boundingBox()).y;
  for (const button of await page.locator("main button:visible").all()) {
    const box = await button.boundingBox();
    assert.ok(box.y + box.height <= top, `${await button.innerText()} ends at ${box.y + box.height}, the bar begins at ${top}`);
  }
  await ostler.serve();
  await stale.waitFor({ state: "detached" });
  await page.context().close();
});

test("what needs somebody is heard once, on a wide screen and on a phone", async () => {
  const first = await ostler.ask("confirm");
  for (const [viewport, bar] of [[{ width: 1280, height: 800 }, ".sidebar"], [{ width: 390, height: 844 }, ".bottom"]]) {
    const page = await visit(browser, ostler, { viewport, place: ["/settings"] });
    await page.locator(bar).getByRole("link", { name: "Inbox 1 needs you", exact: true }).waitFor();
    const second = await ostler.ask("text");
    await page.locator(bar).getByRole("link", { name: "Inbox 2 need you", exact: true }).waitFor();
    await ostler.tell("cancel", second.session);
    await page.context().close();
  }
  await ostler.tell("cancel", first.session);
});

test("by keys alone: the sheet, the places, a card", async () => {
  const request = await ostler.ask("confirm");
  const page = await visit(browser, ostler);
  await card(page, request);
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys" }).getByText("Answer 1: Yes").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.keyboard.press("g");
  await page.keyboard.press("s");
  await page.waitForURL("**/sessions");
  await page.keyboard.press("g");
  await page.keyboard.press("i");
  await card(page, request);
  // Somebody who only has Tab and Enter gets there, too, and sees where they are.
  for (let count = 0; count < 60; count += 1) {
    await page.keyboard.press("Tab");
    if (await page.evaluate(() => document.activeElement?.textContent?.includes("Yes"))) break;
  }
  const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
  assert.equal(outline, "solid");
  await page.keyboard.press("Enter");
  assert.equal((await ostler.settled(request.id)).text, "Yes");
  await page.context().close();
});

for (const colorScheme of ["light", "dark"]) {
  test(`axe finds nothing serious (${colorScheme})`, async () => {
    await ostler.ask("key");
    const page = await visit(browser, ostler, { colorScheme });
    const found = [];
    for (const place of ["/", "/runs", "/sessions", "/projects", "/agents", "/secrets", "/trust", "/notifications", "/settings", "/runs/new"]) {
      if (place !== "/") await page.evaluate((to) => (history.pushState(null, "", to), dispatchEvent(new PopStateEvent("popstate"))), place);
      await page.waitForSelector("h1");
      await page.waitForTimeout(200);
      found.push(...(await findings(page)).map((finding) => `${place}: ${finding}`));
    }
    assert.deepEqual(found, []);
    assert.deepEqual(page.wrong, []);
    await page.context().close();
  });
}

test("hostile words are words", async () => {
  const request = await ostler.ask("hostile");
  const page = await visit(browser, ostler);
  await card(page, request);
  const heading = page.locator(".inbox-card h1");
  const text = await heading.innerText();
  assert.ok(text.includes("<img src=x onerror="), text);
  // What turns the direction or has no shape is shown by its number.
  assert.ok(text.includes("U+202E") && text.includes("U+200B"), text);
  assert.equal(await page.locator("main img, main script, main a[href^='javascript']").count(), 0);
  assert.equal(await page.evaluate(() => globalThis.stolen), undefined);
  assert.ok(!(await page.title()).includes("stolen"));
  assert.equal(await page.locator("style, [style*='url']").count(), 0);
  assert.deepEqual(page.wrong, []);
  await page.context().close();
});

/** A browser in which notifications are written down. Nobody looks at any of its tabs, unless the tab says so. */
async function notified() {
  const context = await browser.newContext({ locale: "en-US" });
  await context.addInitScript(() => {
    // Headless browsers show none: what the page asks the browser for is written down instead.
    globalThis.shown = [];
    globalThis.Notification = class {
      static permission = "default";
      static requestPermission() {
        this.permission = "granted";
        return Promise.resolve("granted");
      }
      constructor(title, options) {
        Object.assign(this, { title, ...options });
        globalThis.shown.push(this);
      }
      close() {
        this.closed = true;
      }
    };
    document.hasFocus = () => globalThis.isLookedAt === true;
  });
  const page = await context.newPage();
  await page.goto(await ostler.link("/notifications"));
  await page.getByRole("button", { name: "Turn on" }).click();
  await page.getByText("This browser tells you").waitFor();
  return { context, page };
}

/** What a tab has told. */
const told = (page) => page.evaluate(() => globalThis.shown.map((it) => it.tag));

test("nobody is told who looks at another tab of the same browser", async () => {
  const { context, page } = await notified();
  const other = await context.newPage();
  await other.goto(new URL("/", page.url()).href);
  await other.waitForSelector(".shell");
  const look = (is) =>
    other.evaluate(async (now) => {
      globalThis.isLookedAt = now;
      dispatchEvent(new Event(now ? "focus" : "blur"));
      const isShown = async () => (await navigator.locks.query()).held.some(({ name }) => name.startsWith("ostler.looked"));
      while ((await isShown()) !== now) await new Promise(requestAnimationFrame);
    }, is);
  await look(true);
  const seen = await ostler.ask("choice");
  await card(other, seen);
  await page.getByRole("link", { name: /1 needs you/ }).first().waitFor();
  // What the page has asked about locks is answered before this is.
  await page.evaluate(() => navigator.locks.query());
  await look(false);
  const missed = await ostler.ask("confirm");
  await page.waitForFunction((id) => globalThis.shown.some((it) => it.tag === id), missed.id);
  assert.deepEqual(await told(page), [missed.id]);
  await context.close();
});

test("a session that fails is told, and each kind can be left out", async () => {
  const { context, page } = await notified();
  const failing = await ostler.json("run", "--detach", "--", "sh", "-c", "sleep 2; exit 3");
  const failed = failing.sessions[0].id;
  await page.waitForFunction((id) => globalThis.shown.some((it) => it.tag === id), failed);
  assert.match(await page.evaluate(() => globalThis.shown[0].title), /^sh · shop: failed$/);
  await page.evaluate(() => globalThis.shown[0].onclick());
  await page.getByRole("heading", { name: `Session ${failed}` }).waitFor();
  await page.locator(".sidebar").getByRole("link", { name: "Notifications" }).click();
  await page.getByLabel("questions").uncheck();
  const quiet = await ostler.ask("choice");
  const needed = await ostler.ask("key");
  await page.waitForFunction((id) => globalThis.shown.some((it) => it.tag === id), needed.id);
  assert.ok(!(await told(page)).includes(quiet.id));
  await context.close();
});

test("a session whose watch is lost is told as interrupted, and is told no more once somebody has looked after it", async () => {
  const { context, page } = await notified();
  const begun = await ostler.json("run", "--detach", "--", "sleep", "1000");
  const lost = begun.sessions[0].id;
  await until("it works", async () => (await ostler.json("ps")).some((it) => it.id === lost && it.status === "active"));
  process.kill(ostler.shimOf(lost), "SIGKILL");
  await page.waitForFunction((id) => globalThis.shown.some((it) => it.tag === id), lost);
  assert.match(await page.evaluate((id) => globalThis.shown.find((it) => it.tag === id).title, lost), /^sleep · shop: was interrupted$/);
  await ostler.tell("cancel", lost);
  await page.waitForFunction((id) => globalThis.shown.find((it) => it.tag === id).closed, lost);
  await context.close();
});

test("a notification leads to exactly that card, and goes when it is settled", async () => {
  const { context, page } = await notified();
  const request = await ostler.ask("choice");
  await page.waitForFunction((id) => globalThis.shown.some((it) => it.tag === id), request.id);
  const body = await page.evaluate((id) => globalThis.shown.find((it) => it.tag === id).body, request.id);
  assert.equal(body, "Which database would you prefer?");
  await page.evaluate((id) => globalThis.shown.find((it) => it.tag === id).onclick(), request.id);
  await page.waitForURL(`**/requests/${request.id}`);
  await card(page, request);
  const other = await ostler.ask("confirm");
  await page.waitForFunction((id) => globalThis.shown.some((it) => it.tag === id), other.id);
  await ostler.tell("answer", other.id, "--yes");
  await page.waitForFunction((id) => globalThis.shown.find((it) => it.tag === id).closed, other.id);
  await context.close();
});
