// Sessions and runs on the page: what is shown of them, and what can be done.
import assert from "node:assert/strict";
import { test } from "node:test";

import { browser, ostler, PHONE, stage } from "./stage.mjs";
import { existsSync, findings, join, readFileSync, until, visit, writeFileSync } from "./support.mjs";

stage();

/** Starts a scripted program. Gives its session. */
async function print(kind, ...options) {
  const begun = await ostler.json("run", "--detach", ...options, "--", "sh", join(ostler.root, "bin/print.sh"), ...kind.split(" "));
  return begun.sessions[0].id;
}

/** The page of a session. */
async function open(path, options = {}) {
  const page = await visit(browser, ostler, options);
  await page.goto(new URL(path, page.url()).href);
  await page.waitForSelector(".page h1");
  return page;
}

async function close(page) {
  assert.deepEqual(page.wrong, []);
  await page.context().close();
}

/** What stands on the screen of a terminal. */
const screen = (page) => page.locator(".terminal-lines").innerText();

/** Everything that a terminal keeps, as plain text. */
async function plainText(page) {
  await page.getByLabel("Plain text").check();
  const text = await page.locator(".terminal-plain pre").innerText();
  await page.getByLabel("Plain text").uncheck();
  return text;
}

async function status(session) {
  const sessions = await ostler.json("ps", "--all");
  return sessions.find((it) => it.id === session)?.status;
}

test("the list says how each is and what it waits for, and can be narrowed", async () => {
  const request = await ostler.ask("choice");
  const failed = await ostler.json("run", "--detach", "--", "sh", "-c", "exit 3");
  await until("it has failed", async () => (await status(failed.sessions[0].id)) === "failed");
  const page = await open("/sessions");
  const row = page.locator(".item", { hasText: request.session });
  await row.getByText("waiting for you").waitFor();
  await row.getByRole("link", { name: /Which database would you prefer/ }).waitFor();
  assert.equal(await page.getByText(failed.sessions[0].id).count(), 0);
  await page.getByLabel("Status").selectOption("failed");
  await page.locator(".item", { hasText: failed.sessions[0].id }).getByText("its exit code was 3").waitFor();
  assert.equal(await page.locator(".item", { hasText: request.session }).count(), 0);
  await page.getByLabel("Status").selectOption("all");
  await row.getByRole("link", { name: /ask\.sh/ }).click();
  await page.getByRole("heading", { name: `Session ${request.session}` }).waitFor();
  await page.getByRole("link", { name: "Answer it" }).click();
  await page.waitForURL(`**/requests/${request.id}`);
  await close(page);
});

test("older sessions come page by page", async () => {
  for (let n = 0; n < 4; n++) await ostler.json("run", "--detach", "--", "true");
  const page = await open("/sessions?show=all");
  // As a list with more than fits: the page asks for as many as the address of the request says.
  await page.route("**/api/v1/sessions?*", (route) => {
    const url = new URL(route.request().url());
    url.searchParams.set("limit", "2");
    return route.continue({ url: url.href });
  });
  await page.reload();
  await page.locator(".item").nth(1).waitFor();
  assert.equal(await page.locator(".item").count(), 2);
  await page.getByRole("button", { name: "Older ones" }).click();
  await page.locator(".item").nth(3).waitFor();
  const ids = await page.locator(".item-link").evaluateAll((links) => links.map((link) => link.getAttribute("href")));
  assert.equal(new Set(ids).size, ids.length);
  await close(page);
});

test("it is paused, goes on and is cancelled", async () => {
  const session = await ostler.agent("work");
  const page = await open(`/sessions/${session}`);
  await page.locator(".session-status").getByText("working").waitFor();
  await page.keyboard.press("p");
  await page.locator(".session-status").getByText("paused").waitFor();
  assert.equal(await status(session), "paused");
  await page.getByRole("button", { name: "Let it go on" }).click();
  await page.locator(".session-status").getByText("working").waitFor();
  await page.getByRole("button", { name: "Cancel it …" }).click();
  await page.getByRole("dialog").getByText("Its processes are ended").waitFor();
  await page.keyboard.press("Escape");
  assert.equal(await status(session), "active");
  await page.getByRole("button", { name: "Cancel it …" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel it" }).click();
  await page.locator(".session-status").getByText("cancelled").waitFor();
  await page.locator(".session-list").getByText("You cancelled it").waitFor();
  await close(page);
});

test("what is written reaches the agent, once", async () => {
  const session = await print("listen");
  const page = await open(`/sessions/${session}`);
  await page.getByRole("button", { name: "Pause" }).waitFor();
  await page.keyboard.press("w");
  await page.keyboard.type("use the other table");
  await page.keyboard.press("Control+Enter");
  await page.getByText(`Written to ${session}.`).waitFor();
  await until("the terminal shows it", async () => (await screen(page)).includes("heard: "));
  const log = await ostler.printed(session, "use the other table");
  assert.equal(log.match(/heard: .*use the other table/g)?.length, 1);
  await page.locator(".session-list li", { hasText: "You wrote to it" }).getByText("read by its process").waitFor();
  await close(page);
});

test("a run is started from the page", async () => {
  const page = await open("/runs");
  await page.keyboard.press("n");
  await page.getByRole("heading", { name: "Start a run" }).waitFor();
  await page.getByRole("button", { name: "Start", exact: true }).click();
  await page.getByRole("alert").getByText("Write what is to be done.").waitFor();
  await page.getByLabel("Who").selectOption({ label: "A shell command instead of an agent" });
  await page.getByLabel("Command", { exact: true }).fill("echo begun from the page; test -e .git && echo in a checkout");
  await page.getByLabel("In a branch and directory of its own").check();
  await page.getByLabel("A command that exits with 0").fill("true");
  await page.getByLabel("Command", { exact: true }).press("Control+Enter");
  await page.getByRole("heading", { name: /Session s_/ }).waitFor();
  await page.locator(".session-status").getByText("done").waitFor();
  await until("its output is there", async () => (await screen(page)).includes("in a checkout"));
  await page.getByRole("link", { name: /^Run r_/ }).click();
  await page.locator(".panel .status", { hasText: /done(?!, unverified)/ }).first().waitFor();
  await close(page);
});

test("a directory that begins like a project's is typed to its end", async () => {
  await ostler.json("run", "--detach", "--", "true");
  for (const [place, where] of [["/runs/new", "Where"], ["/runs/phases", "Project"]]) {
    const page = await open(place);
    await page.getByLabel(where, { exact: true }).selectOption({ label: "Another directory …" });
    const field = page.getByLabel("The directory, beginning with /");
    await field.focus();
    await page.keyboard.type(`${ostler.project}/deeper`);
    assert.equal(await field.inputValue(), `${ostler.project}/deeper`);
    assert.equal(await page.getByLabel(where, { exact: true }).inputValue(), "");
    // Who chooses the project again has it.
    await page.getByLabel(where, { exact: true }).selectOption(ostler.project);
    assert.equal(await field.count(), 0);
    await close(page);
  }
});

test("a session that is called by its run is shown under its own name, and goes on being told", async () => {
  const begun = await ostler.json("run", "--detach", "--", "sh", join(ostler.root, "bin/print.sh"), "listen");
  const session = begun.sessions[0].id;
  const page = await open(`/sessions/${begun.id}`);
  await page.getByRole("heading", { name: `Session ${session}` }).waitFor();
  assert.equal(new URL(page.url()).pathname, `/sessions/${session}`);
  await page.locator(".session-status").getByText("working").waitFor();
  await ostler.tell("cancel", session);
  await page.locator(".session-status").getByText("cancelled").waitFor();
  await close(page);
});

test("a line that was found stays the one, however many come behind it", async () => {
  const word = join(ostler.root, "go-on");
  const session = await print(`more ${word}`);
  await ostler.printed(session, "line 10000 of more");
  const page = await open(`/sessions/${session}`);
  await until("it is drawn", async () => (await screen(page)).includes("line 10000 of more"));
  await page.keyboard.press("/");
  await page.keyboard.type("line 9500 of");
  await page.keyboard.press("Enter");
  const found = page.locator(".terminal-row.found");
  await found.filter({ hasText: "line 9500 of more" }).waitFor();
  writeFileSync(word, "");
  await ostler.printed(session, "line 28000 of more");
  await page.locator('.terminal-foot[data-following="ended"]').waitFor();
  await found.filter({ hasText: "line 9500 of more" }).waitFor();
  assert.equal(await found.count(), 1);
  await close(page);
});

test("what is refused is said, and what was filled in stays", async () => {
  const page = await open("/runs/new");
  await page.getByLabel("Where").selectOption({ label: "Another directory …" });
  await page.getByLabel("The directory, beginning with /").fill("/nowhere/at/all");
  await page.getByLabel("What is to be done").fill("something");
  await page.getByRole("button", { name: "Start", exact: true }).click();
  await page.getByRole("alert").waitFor();
  assert.equal(await page.getByLabel("What is to be done").inputValue(), "something");
  await close(page);
});

test("a terminal shows colours and wide letters, and obeys nothing else", async () => {
  const session = await print("looks");
  await until("it is through", async () => (await status(session)) === "completed");
  const page = await open(`/sessions/${session}`);
  // What binary bytes do to a screen is theirs; what came before and after them is read with them left out.
  await page.route("**/api/v1/sessions/*/output*", async (route) => {
    const response = await route.fetch();
    const body = await response.body();
    const end = body.indexOf(Buffer.from("gpj.exe\n")) + 8;
    await route.fulfill({ response, body: body.subarray(0, end) });
  });
  await page.reload();
  await until("it is drawn", async () => (await screen(page)).includes("gpj.exe"));
  const looks = await page.locator(".terminal-row span").evaluateAll((spans) =>
    spans.map((span) => [span.textContent, span.className, getComputedStyle(span).color, span.getBoundingClientRect().width]),
  );
  const of = (text) => looks.find((it) => it[0] === text);
  assert.match(of("bold")[1], /bold/);
  assert.match(of("red")[1], /ink-1/);
  assert.match(of("orange")[2], /^rgb/);
  assert.match(of("turned")[1], /inverse/);
  const letter = await page.locator(".terminal-ruler").evaluate((it) => it.getBoundingClientRect().width / 50);
  assert.ok(Math.abs(of("데")[3] - 2 * letter) < 1, "a wide letter is as wide as two others");
  const text = await screen(page);
  assert.ok(text.includes("데이터베이스 준비 끝"), text);
  assert.ok(text.includes('<img src=x onerror="window.stolen=1"> gpj.exe'), text);
  assert.equal(await page.locator(".terminal a, .terminal img").count(), 0);
  assert.equal(await page.evaluate(() => window.stolen), undefined);
  assert.ok(!(await page.title()).includes("stolen"));
  const copied = await page.evaluate(() => {
    const rows = [...document.querySelectorAll(".terminal-row")].filter((row) => row.textContent.includes("준비"));
    getSelection().selectAllChildren(rows[0]);
    return getSelection().toString();
  });
  assert.equal(copied.trim(), "한 데이터베이스 준비 끝".normalize("NFD").slice(0, 3) + " 데이터베이스 준비 끝");
  await close(page);
});

test("binary output, a long line and a hundred thousand lines do not stop the page", async () => {
  for (const [kind, end] of [["looks", "after the binary"], ["long", "after the long line"], ["many", "line 100000 of many"]]) {
    const session = await print(kind);
    await ostler.printed(session, end);
    const page = await open(`/sessions/${session}`);
    await until(`${kind} is drawn to its end`, async () => (await screen(page)).includes(end));
    assert.ok((await page.locator(".terminal-row").count()) < 200, "only what can be seen is drawn");
    if (kind !== "looks") await page.getByText(/before this is not shown/).waitFor();
    if (kind === "many") await holdsAndFinds(page);
    await close(page);
  }
});

/** Who scrolls away stays there, and comes back by a button; a line is found. */
async function holdsAndFinds(page) {
  await page.locator(".terminal-scroll").evaluate((it) => (it.scrollTop = 100));
  await page.getByRole("button", { name: "Jump to the end" }).click();
  await until("the end is there again", async () => (await screen(page)).includes("line 100000 of many"));
  await page.keyboard.press("/");
  await page.keyboard.type("line 99000 of");
  await page.keyboard.press("Enter");
  await page.locator(".terminal-row.found", { hasText: "line 99000 of many" }).waitFor();
  await page.getByText("1 of 1").waitFor();
}

test("the events of a CLI are shown as speech and tools, and as they came for those who want that", async () => {
  const session = await ostler.claude("marked");
  await ostler.asked(session);
  const page = await open(`/sessions/${session}`);
  await until("the tool is there", async () => (await screen(page)).includes("› Bash  cat README.md"));
  assert.ok(!(await screen(page)).includes('"type"'));
  await page.locator(".terminal-row.marked", { hasText: "[USER_QUESTION]" }).waitFor();
  await page.locator(".terminal-mark").getByText("stopped here").waitFor();
  await page.getByLabel("As it came").check();
  await until("JSON is there", async () => (await screen(page)).includes('"type":"assistant"'));
  await close(page);
});

test("arrow keys go through what happened; a checkpoint shows its changes and comes back", async () => {
  // In a directory of its own: nobody goes back under the feet of others.
  const session = await print("work", "--worktree");
  const request = await ostler.asked(session);
  await ostler.tell("answer", request.id, "2");
  await until("it is through", async () => (await status(session)) === "completed");
  const readme = join(ostler.home, "worktrees", session, "README.md");
  assert.ok(readFileSync(readme, "utf8").includes("MySQL"));
  const page = await open(`/sessions/${session}`);
  // However many checkpoints a session has, each is there: none is looked for in a list of the newest.
  await page.route("**/api/v1/checkpoints?*", (route) => route.fulfill({ json: [] }));
  await page.reload();
  await page.locator(".session-list").getByText("Done").waitFor();
  await page.keyboard.press("t");
  await page.keyboard.press("Home");
  const axis = page.getByRole("slider");
  assert.match(await axis.getAttribute("aria-valuetext"), /It began/);
  await page.keyboard.press("ArrowRight");
  assert.match(await axis.getAttribute("aria-valuetext"), /It asked Which database\?/);
  const moment = page.locator(".session-moment");
  await moment.getByRole("button", { name: "What has changed since then" }).click();
  const file = moment.locator(".diff-file", { hasText: "README.md" });
  await file.locator(".diff-line.added", { hasText: "MySQL" }).waitFor();
  await moment.locator(".diff-file", { hasText: "added.txt" }).getByText("new", { exact: true }).first().waitFor();
  await moment.getByRole("button", { name: "Go back to here …" }).click();
  await page.getByRole("dialog").getByText("What stands there now is kept as a checkpoint first").waitFor();
  await page.getByRole("button", { name: "Go back", exact: true }).click();
  await page.getByRole("dialog").getByText(/are as they were at c_\d+; 2 changed/).waitFor();
  await page.getByRole("dialog").getByText(/What stood there is kept as c_/).waitFor();
  assert.ok(!readFileSync(readme, "utf8").includes("MySQL"));
  assert.ok(readFileSync(readme, "utf8").includes("more"));
  await page.getByRole("button", { name: "Close", exact: true }).click();
  await page.locator(".session-list").getByText(/You went back to c_/).waitFor();
  await close(page);
});

test("a checkpoint is kept on demand, work is merged, and what is over is resumed", async () => {
  const session = await ostler.agent("choice", "--worktree");
  const request = await ostler.asked(session);
  const page = await open(`/sessions/${session}`);
  writeFileSync(join(ostler.home, "worktrees", session, "by-hand.txt"), "kept\n");
  await page.getByRole("button", { name: "Keep a checkpoint" }).click();
  await page.getByText(/keeps what stands in the directory/).waitFor();
  assert.equal(await page.getByRole("button", { name: "Merge …" }).count(), 0, "nobody's work is merged while they work");
  await ostler.tell("answer", request.id, "1");
  await page.locator(".session-status").getByText("done").waitFor();
  await page.getByRole("button", { name: "What it has changed" }).click();
  await page.locator(".diff-file", { hasText: "by-hand.txt" }).waitFor();
  await page.getByRole("button", { name: "Merge …" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Merge", exact: true }).click();
  await page.locator(".session-list").getByText("Its work was merged").waitFor();
  await page.getByText(/^Merged into main as [0-9a-f]{7,}/).waitFor();
  assert.equal(await page.getByRole("button", { name: "What it has changed" }).isVisible(), false);
  assert.equal(readFileSync(join(ostler.project, "by-hand.txt"), "utf8"), "kept\n");
  await close(page);
  const plain = await print("listen");
  await ostler.tell("cancel", plain);
  const again = await open(`/sessions/${plain}`);
  await again.locator(".session-status").getByText("cancelled").waitFor();
  await again.getByRole("button", { name: /Start it again|Resume/ }).click();
  await again.getByRole("dialog").getByText(/only from its environment, as OSTLER_PROMPT/).waitFor();
  await again.getByRole("dialog").getByRole("button", { name: /Start it again|Resume/ }).click();
  await again.locator(".session-status").getByText("working").waitFor();
  await again.locator(".session-list").getByText("You resumed it").waitFor();
  await close(again);
});

test("work that nobody wants is discarded, and kept under a ref", async () => {
  const session = await ostler.agent("choice", "--worktree");
  const request = await ostler.asked(session);
  const folder = join(ostler.home, "worktrees", session);
  writeFileSync(join(folder, "by-hand.txt"), "not wanted\n");
  await ostler.tell("answer", request.id, "1");
  const page = await open(`/sessions/${session}`);
  await page.locator(".session-status").getByText("done").waitFor();
  await page.getByRole("button", { name: "Discard …" }).click();
  await page.getByRole("dialog").getByText("is kept under a ref of git").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Leave it" }).click();
  assert.ok(existsSync(join(folder, "by-hand.txt")), "nothing is done before somebody agrees");
  await page.getByRole("button", { name: "Discard …" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Discard", exact: true }).click();
  await page.locator(".session-list").getByText("Its work was discarded, and kept under a ref").waitFor();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Discard …" }).waitFor({ state: "detached" });
  assert.ok(!existsSync(folder));
  // There is nowhere to start it again, and nothing to look at.
  await page.getByText(/^Discarded. Its work is kept: /).waitFor();
  assert.equal(await page.getByRole("button", { name: /Start it again|Resume/ }).count(), 0);
  await close(page);
});

test("what a program clears is still there, in letters that can be read", async () => {
  const session = await print("clear");
  const page = await open(`/sessions/${session}`);
  await until("it is through", async () => (await screen(page)).includes("after it"));
  assert.deepEqual((await plainText(page)).trimEnd().split("\n"), ["before the screen was cleared 지우기 전", "after it"]);
  // The page speaks English and no letters for Hangul are installed: it brings them along.
  await page.waitForFunction(() => [...document.fonts].some((it) => it.family.includes("Pretendard") && it.status === "loaded"));
  const face = (selector) => page.locator(selector).first().evaluate((it) => getComputedStyle(it).fontFamily);
  assert.match(await face(".terminal-row"), /monospace, .*Pretendard/);
  assert.match(await face(".session-facts .mono"), /monospace, .*Pretendard/);
  await close(page);
});

test("a run and its session have one word for one state", async () => {
  const begun = await ostler.json("run", "--detach", "--", "true");
  await until("it is done", async () => (await status(begun.sessions[0].id)) === "completed");
  const page = await open(`/runs/${begun.id}`);
  await page.locator(".panel .status", { hasText: "done, unverified" }).nth(1).waitFor();
  await page.getByText(/^\d+ s ago$/).first().waitFor();
  await page.goto(new URL("/runs", page.url()).href);
  await page.locator(".item", { hasText: begun.id }).first().getByText("done, unverified").waitFor();
  await close(page);
});

test("a terminal follows over the death of the server: nothing twice, nothing missing", async () => {
  const enough = join(ostler.root, "enough");
  const session = await print(`count ${enough}`);
  const page = await open(`/sessions/${session}`);
  await until("it counts", async () => /count \d{2,}\./.test(await screen(page)));
  for (let death = 0; death < 2; death++) {
    await ostler.kill();
    await page.locator('.terminal-foot[data-following="broken"]').waitFor();
    await ostler.serve();
    await page.locator('.terminal-foot[data-following="live"]').waitFor();
  }
  writeFileSync(enough, "");
  await until("it is through", async () => (await screen(page)).includes("counted to the end"));
  const lines = (await plainText(page)).trim().split("\n");
  const log = (await ostler.tell("logs", session)).trim().split("\n");
  assert.deepEqual(lines, log.slice(-lines.length));
  assert.equal(lines.length, Math.min(2000, log.length));
  await close(page);
});

test("what has changed says as of when that is, and can be asked for again", async () => {
  const session = await print("work", "--worktree");
  await ostler.asked(session);
  const folder = join(ostler.home, "worktrees", session);
  const page = await open(`/sessions/${session}`);
  const work = page.getByRole("button", { name: "What it has changed" });
  await work.click();
  await page.locator(".diff-file", { hasText: "README.md" }).waitFor();
  await page.getByText(/^as of \d\d:\d\d/).waitFor();
  // No event tells of a file that somebody writes.
  writeFileSync(join(folder, "later.txt"), "later\n");
  await page.getByRole("button", { name: "refresh" }).click();
  await page.locator(".diff-file", { hasText: "later.txt" }).locator(".diff-line.added").waitFor();
  // Who closes it and comes back sees how it is then.
  await work.click();
  writeFileSync(join(folder, "latest.txt"), "latest\n");
  await work.click();
  await page.locator(".diff-file", { hasText: "latest.txt" }).waitFor();
  await work.click();
  await page.locator(".session-list").getByRole("button", { name: /It asked/ }).click();
  const since = page.getByRole("button", { name: "What has changed since then" });
  await since.click();
  await page.locator(".session-moment .diff-file", { hasText: "latest.txt" }).waitFor();
  writeFileSync(join(folder, "last.txt"), "last\n");
  await page.locator(".session-moment").getByRole("button", { name: "refresh" }).click();
  await page.locator(".session-moment .diff-file", { hasText: "last.txt" }).waitFor();
  await ostler.tell("cancel", session);
  await close(page);
});

test("a part that does not come takes nothing with it, and is asked for again", async () => {
  const request = await ostler.ask("choice");
  const page = await visit(browser, ostler, { place: ["/settings"] });
  let refused = 0;
  await page.route(/\/assets\/Terminal-.*\.js/, (route) => (refused++ < 2 ? route.abort() : route.continue()));
  await page.goto(new URL(`/requests/${request.id}`, page.url()).href);
  await page.getByRole("heading", { name: "Which database would you prefer?" }).waitFor();
  await page.getByText("This part of the page did not come.").waitFor();
  await page.locator(".terminal-row").first().waitFor();
  assert.ok(refused > 2);
  // A style that does not come is asked for again as well.
  let without = 0;
  await page.route(/\/assets\/Terminal-.*\.css/, (route) => (without++ < 1 ? route.abort() : route.continue()));
  await page.reload();
  await page.locator(".terminal-row").first().waitFor();
  await page.waitForFunction(() => getComputedStyle(document.querySelector(".terminal-row")).whiteSpace === "pre");
  await ostler.tell("cancel", request.session);
  await page.context().close();
});

test("a part that cannot show something leaves the card beside it", async () => {
  const request = await ostler.ask("choice");
  const page = await visit(browser, ostler, { place: ["/settings"] });
  // As a server of another version might say it.
  await page.route(`**/api/v1/sessions/${request.session}`, (route) => route.fulfill({ json: { id: request.session } }));
  await page.goto(new URL(`/requests/${request.id}`, page.url()).href);
  await page.locator(".inbox-terminal").getByText("The page has met something that it cannot show.").waitFor();
  await page.waitForSelector('.inbox-card[data-ready="true"]');
  await page.unroute(`**/api/v1/sessions/${request.session}`);
  await page.keyboard.press("2");
  assert.equal((await ostler.settled(request.id)).text, "MySQL");
  await page.context().close();
});

test("a part that never comes is given up: the page is loaded anew once, and the card can still be answered", async () => {
  const request = await ostler.ask("choice");
  const page = await visit(browser, ostler, { place: ["/settings"] });
  let loads = 0;
  page.on("load", () => loads++);
  await page.route(/\/assets\/Terminal-.*\.js/, (route) => route.abort());
  await page.goto(new URL(`/requests/${request.id}`, page.url()).href);
  await until("it was loaded anew", () => loads === 2);
  await page.getByText("This part of the page did not come.").waitFor();
  await page.waitForSelector('.inbox-card[data-ready="true"]');
  await page.keyboard.press("2");
  assert.equal((await ostler.settled(request.id)).text, "MySQL");
  assert.equal(loads, 2);
  await page.context().close();
});

test("a server of another version is noticed when it is back", async () => {
  const page = await open("/runs");
  const info = page.waitForResponse("**/api/v1/info");
  await page.reload();
  await info;
  await page.route("**/api/v1/info", async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), version: "99.0.0" } });
  });
  await ostler.kill();
  await page.locator(".stale").waitFor();
  await ostler.serve();
  await page.getByText("The server is of another version now (99.0.0).").waitFor();
  await page.getByRole("button", { name: "Load it again" }).waitFor();
  await page.context().close();
});

test("going back is not offered to somebody who is at work, and says what is needed", async () => {
  const session = await ostler.agent("work", "--worktree");
  const page = await open(`/sessions/${session}`);
  writeFileSync(join(ostler.home, "worktrees", session, "by-hand.txt"), "kept\n");
  await page.getByRole("button", { name: "Keep a checkpoint" }).click();
  await page.getByText(/keeps what stands in the directory/).waitFor();
  await page.locator(".session-list").getByRole("button", { name: /A checkpoint was kept/ }).last().click();
  const back = page.getByRole("button", { name: "Go back to here …" });
  await page.getByText("It is at work. Pause it, or wait until it asks or is over").waitFor();
  assert.ok(await back.isDisabled());
  await page.keyboard.press("p");
  await page.getByText("It is at work. Pause it").waitFor({ state: "detached" });
  await back.click();
  await page.getByRole("button", { name: "Go back", exact: true }).click();
  await page.getByRole("dialog").getByText(/are as they were at c_\d+/).waitFor();
  await page.getByRole("button", { name: "Close", exact: true }).click();
  await ostler.tell("cancel", session);
  await close(page);
});

test("what went wrong before is gone when something else has been done; runs that go on are counted", async () => {
  const session = await ostler.agent("work", "--worktree");
  const page = await open(`/sessions/${session}`);
  const going = new Set((await ostler.json("ps")).map((it) => it.run)).size;
  await page.locator('.sidebar a[href="/runs"] .count', { hasText: String(going) }).waitFor();
  const problem = { type: "not_now", status: 409, title: "it is not now" };
  await page.route("**/pause", (route) => route.fulfill({ status: 409, contentType: "application/problem+json", json: problem }));
  await page.getByRole("button", { name: "Pause" }).waitFor();
  await page.keyboard.press("p");
  await page.getByRole("alert").getByText("This cannot be done as the session is now.").waitFor();
  await page.getByRole("button", { name: "Keep a checkpoint" }).click();
  await page.getByRole("alert").waitFor({ state: "detached" });
  await ostler.tell("cancel", session);
  await close(page);
});

test("a command is not written to a colleague, and everything that failed is asked for again", async () => {
  const page = await open("/runs/new");
  await page.getByText("As you would write it to a colleague.").waitFor();
  await page.getByLabel("Who").selectOption({ label: "A shell command instead of an agent" });
  await page.getByText("It is run by sh in that directory.").waitFor();
  await page.getByText("Limits and model").click();
  await page.getByLabel("Command", { exact: true }).fill("true");
  await page.getByLabel("Minutes of work").fill("90m");
  const sent = page.waitForRequest((it) => it.url().endsWith("/api/v1/runs") && it.method() === "POST");
  await page.getByRole("button", { name: "Start", exact: true }).click();
  assert.equal((await sent).postDataJSON().time_s_max, 5400);
  // Its events would ask again before anybody does.
  await page.locator(".session-status").getByText("done").waitFor();
  let isBroken = true;
  await page.route("**/api/v1/projects", (route) =>
    isBroken ? route.fulfill({ status: 500, contentType: "application/json", json: { type: "internal", status: 500, title: "no" } }) : route.continue(),
  );
  await page.goto(new URL("/runs/new", page.url()).href);
  await page.getByRole("alert").waitFor();
  isBroken = false;
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByLabel("What is to be done").waitFor();
  await close(page);
});

test("a cancel in Korean reads the right way round", async () => {
  const session = await ostler.agent("work");
  const page = await open(`/sessions/${session}`, { locale: "ko-KR" });
  await page.getByRole("button", { name: "세션 끝내기 …" }).click();
  const dialog = page.getByRole("dialog", { name: `${session} 세션을 끝낼까요?` });
  await dialog.getByRole("button", { name: "그대로 두기" }).click();
  assert.equal(await status(session), "active");
  await page.getByRole("button", { name: "세션 끝내기 …" }).click();
  await dialog.getByRole("button", { name: "세션 끝내기" }).click();
  await until("it is over", async () => (await status(session)) === "cancelled");
  await close(page);
});

test("on a phone a button is one line, and nothing is said about keys", async () => {
  const session = await ostler.claude("marked, please");
  const request = await ostler.asked(session);
  const page = await visit(browser, ostler, { ...PHONE, place: ["/agents"] });
  const button = page.getByRole("link", { name: "Start a run" }).first();
  await button.waitFor();
  assert.ok((await button.boundingBox()).height < 60);
  await page.goto(new URL(`/requests/${request.id}`, page.url()).href);
  await page.getByText("also stands in the output of").waitFor();
  assert.equal(await page.getByText("A number only goes to an answer here").isVisible(), false);
  await ostler.tell("cancel", session);
  await close(page);
});

test("a program on a terminal of its own is drawn at its size, and can be scrolled sideways", async () => {
  const page = await visit(browser, ostler);
  const { token } = await ostler.json("token", "make", "screens");
  const drawing = "stty -opost; printf 'one\\ntwo\\033[30;150HCORNER\\033[5;1H'; exec sleep 600";
  const answer = await fetch(new URL("/api/v1/runs", page.url()), {
    method: "POST",
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json", "Idempotency-Key": "screens" },
    body: JSON.stringify({ directory: ostler.project, command: ["sh", "-c", drawing], terminal: [30, 160] }),
  });
  const session = (await answer.json()).sessions[0].id;
  await page.goto(new URL(`/sessions/${session}`, page.url()).href);
  await until("it is drawn", async () => (await screen(page)).includes("CORNER"));
  const rows = (await page.locator(".terminal-row").allTextContents()).map((row) => row.replace(/\n$/, ""));
  assert.equal(rows.findIndex((row) => row.includes("CORNER")), 29);
  assert.equal(rows[29].indexOf("CORNER"), 149);
  assert.match(rows[1], /^ {3}two/, "a line feed alone goes down and nowhere else");
  const isWide = await page.locator(".terminal-scroll").evaluate((it) => it.scrollWidth > it.clientWidth);
  assert.ok(isWide, "what does not fit can be scrolled to");
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth), false);
  await ostler.tell("token", "revoke", "screens");
  await ostler.tell("cancel", session);
  await close(page);
});

test("the views can be used by everybody, on a phone and in Korean", async () => {
  const request = await ostler.ask("choice");
  for (const options of [{}, { colorScheme: "dark" }, { locale: "ko-KR" }, PHONE]) {
    const page = await visit(browser, ostler, options);
    for (const path of [`/sessions/${request.session}`, "/sessions?show=all", "/runs", `/runs/${request.run}`, "/runs/new"]) {
      await page.goto(new URL(path, page.url()).href);
      await page.waitForSelector(".page h1");
      if (path.includes("/s_")) await page.waitForSelector(".terminal-row");
      assert.deepEqual(await findings(page), [], path);
      const isWide = await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
      assert.equal(isWide, false, `${path} is as wide as the screen`);
    }
    await close(page);
  }
});
