// The output of a session beside its card: logs longer than a screen keeps, errors of a failed command, a process that rests.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { browser, leave, ostler, PHONE, ran, stage } from "./stage.mjs";
import { card, findings, join, TASKS, until, visit } from "./support.mjs";

stage({ toml: `${TASKS}\n[patience]\nstopped = "1s"\n`, cancels: true });

const screen = (page) => page.locator(".terminal-row").evaluateAll((rows) => rows.map((row) => row.textContent).join(""));

test("what a failed command wrote to its standard error is seen without a choice", async () => {
  const failed = await ran("--", "sh", "-c", "echo building; echo 'error: no such column' >&2; exit 3");
  const well = await ran("--", "sh", "-c", "echo built; echo 'a warning' >&2");
  for (const size of [{}, PHONE]) {
    const page = await visit(browser, ostler, { place: [failed], ...size });
    const errors = page.locator(".terminal-errors");
    await errors.getByText("error: no such column").waitFor();
    await errors.getByRole("heading", { name: "Errors (stderr): the command failed" }).waitFor();
    assert.ok((await screen(page)).includes("building"));
    assert.deepEqual(await findings(page), []);
    await page.goto(new URL(`/sessions/${well}`, page.url()).href);
    await until("the output is there", async () => (await screen(page)).includes("built"));
    await page.locator('.terminal-foot[data-following="ended"]').waitFor();
    assert.equal(await errors.count(), 0);
    await leave(page);
  }
});

test("a log that is longer than what is kept says so, is searched and read in all its parts, and downloaded", async () => {
  const session = await ran("--", "sh", "-c", "seq -f 'line %.0f of a long log' 1 60000; echo the needle is here; seq -f 'line %.0f of a long log' 60001 120000");
  const page = await visit(browser, ostler, { place: [session] });
  await until("the end is there", async () => (await screen(page)).includes("line 120000 of a long log"));
  const past = page.locator(".terminal-past");
  await past.getByText(/before this is not shown\.$/).waitFor();
  await past.getByRole("button", { name: "Show more of it" }).click();
  await until("more is there", async () => (await page.locator(".terminal-scroll").first().getAttribute("data-lines")) > 15_000);
  // The first lines of what was asked for are dropped again, and that is said.
  await past.getByText(/^[\d.,]+ MiB before this is not shown\.$/).waitFor();
  const size = async () => Number(/([\d.]+) MiB/.exec(await past.innerText())[1]);
  await until("as much as is dropped", async () => (await size()) > 2);

  await page.keyboard.press("/");
  await page.keyboard.type("Needle is");
  await page.keyboard.press("Enter");
  const found = page.locator(".terminal-found");
  await found.getByText("In all of the output: 1").waitFor();
  // The field says nothing else beside it, although the line is not in the part shown.
  assert.equal(await page.getByText("not there", { exact: true }).count(), 0);
  await found.getByRole("button", { name: "the needle is here" }).click();
  await page.locator(".terminal-row.found", { hasText: "the needle is here" }).waitFor();
  await past.getByText(/^A part of the output: [\d.]+ MiB to [\d.]+ MiB of [\d.]+ MiB\./).waitFor();
  assert.deepEqual(await findings(page), []);

  // Part by part to the beginning, and back to the end.
  const ended = page.locator('.terminal-foot[data-following="ended"]');
  const earlier = past.getByRole("button", { name: "Show the part before" });
  await until("the first line is there", async () => {
    if ((await ended.count()) === 0) return false;
    if ((await earlier.count()) > 0) return earlier.click().then(() => false);
    await page.locator(".terminal-scroll").first().evaluate((it) => (it.scrollTop = 0)).catch(() => undefined);
    return (await screen(page)).includes("line 1 of a long log");
  });
  await past.getByRole("button", { name: "Back to the end" }).click();
  await until("the end is there again", async () => (await screen(page)).includes("line 120000 of a long log"));

  const downloading = page.waitForEvent("download");
  await past.getByRole("button", { name: "Download all of it" }).click();
  const download = await downloading;
  assert.equal(download.suggestedFilename(), `${session}-1-out.log`);
  const lines = readFileSync(await download.path(), "utf8").trimEnd().split("\n");
  assert.deepEqual([lines.length, lines[0], lines[60_000], lines.at(-1)], [120_001, "line 1 of a long log", "the needle is here", "line 120000 of a long log"]);
  await leave(page);
});

test("a process that rests is not called live, and goes on with the answer", async () => {
  const session = await ostler.claude("marked, please");
  const request = await ostler.asked(session);
  await until("it rests", async () => (await ostler.json("show", session)).session.launches.at(-1).ending === "rest");
  await until("it has ended", async () => (await ostler.json("show", session)).session.pid === null);
  for (const [options, said] of [
    [{}, "The session: paused to save memory, resumes when you answer"],
    [PHONE, "The session: paused to save memory, resumes when you answer"],
    [{ locale: "ko-KR" }, "세션: 메모리를 아끼려고 멈춤, 답하면 이어집니다"],
  ]) {
    const page = await visit(browser, ostler, { place: [request.id], ...options });
    await page.getByRole("heading", { name: said }).waitFor();
    await page.locator(".terminal-foot", { hasText: /paused to save memory, resumes when you answer|메모리를 아끼려고 멈춤/ }).waitFor();
    assert.equal(await page.getByText("The session, live").count(), 0);
    await leave(page);
  }
});

test("a card and its session name the same directory", async () => {
  const begun = await ostler.json("run", "--detach", "--worktree", "--", "sh", join(ostler.root, "bin/ask.sh"), "choice");
  const session = begun.sessions[0].id;
  const request = await ostler.asked(session);
  const { directory } = (await ostler.json("show", session)).session;
  assert.ok(directory.includes("worktrees"), directory);
  const page = await visit(browser, ostler, { place: [request.id] });
  await card(page, request);
  await page.locator(".inbox-source").getByText(directory, { exact: true }).waitFor();
  assert.equal(await page.getByText(ostler.project, { exact: true }).count(), 0);
  await page.goto(new URL(`/sessions/${session}`, page.url()).href);
  await page.locator(".facts").getByText(directory, { exact: true }).waitFor();
  await leave(page);
});

test("JSON comes compressed, and streams do not wait for it", async () => {
  const it = ostler.beside("many");
  it.tasks(`## Phase 1: Shop\n\n${Array.from({ length: 500 }, (_, n) => `- [ ] T1.${n + 1}: The shelf number ${n + 1} is built, filled and counted\n`).join("")}`);
  const { project } = await it.json("run", "--detach", "--", "true");
  const page = await visit(browser, it, { place: ["/settings"] });
  const tasks = page.waitForResponse((response) => response.url().includes(`/projects/${project.id}/tasks`) && response.status() === 200);
  await page.goto(new URL(`/tasks/${project.id}`, page.url()).href);
  const response = await tasks;
  assert.equal(await response.headerValue("content-encoding"), "gzip");
  const whole = (await response.body()).length;
  const { responseBodySize } = await response.request().sizes();
  assert.ok(whole > 100_000 && responseBodySize < whole / 5, `${responseBodySize} of ${whole} bytes`);
  // What happens elsewhere is seen at once.
  const events = page.waitForResponse((found) => new URL(found.url()).pathname.endsWith("/events"));
  await page.reload();
  assert.equal(await (await events).headerValue("content-encoding"), null);
  const request = await ostler.ask("choice");
  await page.locator(".announcer").getByText("Which database would you prefer?").waitFor();
  await ostler.tell("answer", request.id, "1");
  await leave(page);
});
