// What a file of browser tests stands on: one browser and one server, begun before its first test and ended after its last.
import assert from "node:assert/strict";
import { after, afterEach, before } from "node:test";

import { launch, Ostler, until } from "./support.mjs";

/** As wide as a phone. */
export const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };

// Whoever imports these sees what they are by then.
export let browser;
export let ostler;

/** Sets it up; with `cancels`, whatever a test has started is ended after it. */
export function stage({ toml = "", cancels = false } = {}) {
  before(async () => {
    browser = await launch();
    ostler = await Ostler.start(toml);
  });
  after(async () => {
    await browser?.close();
    await ostler?.end();
  });
  if (!cancels) return;
  afterEach(async () => {
    for (const session of await ostler.json("ps")) await ostler.tell("cancel", session.id).catch(() => undefined);
    await until("nothing waits", async () => (await ostler.json("inbox")).length === 0);
  });
}

/** Closes a page that has reported nothing wrong. */
export async function leave(page) {
  assert.deepEqual(page.wrong, []);
  await page.context().close();
}

/** Starts a command and waits for its end. Gives its session. */
export async function ran(...args) {
  const begun = await ostler.json("run", "--detach", ...args);
  const session = begun.sessions[0].id;
  await until(`${session} has ended`, async () => ["completed", "failed"].includes((await ostler.json("show", session)).session.status));
  return session;
}

/** Starts an agent and takes its watch away. Gives its session. */
export async function interrupted() {
  const session = await ostler.agent("work");
  await ostler.printed(session, "41 passed");
  process.kill(ostler.shimOf(session), "SIGKILL");
  await until(`${session} is interrupted`, async () => (await ostler.json("show", session)).session.status === "interrupted");
  return session;
}
