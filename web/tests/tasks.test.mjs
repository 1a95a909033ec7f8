// The tasks of a project: graph, list and times, by mouse and by keys, while `ostler exec` has them done by scripted agents.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { load } from "./load.mjs";
import { browser, leave, ostler, PHONE, stage } from "./stage.mjs";
import { BAKERY, findings, Ostler, TASKS, until, visit } from "./support.mjs";

stage({ toml: TASKS });

/** A repository of its own with a task file. Gives the commands in it; the server knows it once something ran there. */
async function project(name, text) {
  const it = ostler.beside(name);
  it.tasks(text);
  const begun = await it.json("run", "--detach", "--", "true");
  return Object.assign(it, { id: begun.project.id });
}

/** One task has failed, one is worked on. */
async function bakery(name) {
  const it = await project(name, BAKERY);
  await it.tell("exec", "T1.1");
  await assert.rejects(it.tell("exec", "T1.3"));
  const working = it.begin("exec", "T1.2");
  await until("T1.2 is worked on", async () => (await state(it, "T1.2")) === "in_progress");
  return Object.assign(it, { finish: async () => (it.ring(), working) });
}

async function state(it, id) {
  return (await it.json("tasks", "list")).find((task) => task.id === id).state;
}

/** A task or a phase in the graph. */
const node = (page, id) => page.locator(`.tasks-node[data-box="${id}"]`);

const focused = (page) => page.evaluate(() => document.activeElement?.getAttribute("data-box"));

test("the graph says how every task is, and changes when exec ends", async () => {
  const it = await bakery("live");
  const page = await visit(browser, it, { place: ["/tasks"] });
  await page.locator(".content").getByRole("link", { name: /^live/ }).click();
  await page.getByRole("heading", { name: "Tasks of live" }).waitFor();
  await page.getByText("Can be begun now: T2.2").waitFor();
  await node(page, "T1.2").waitFor();
  const label = (id) => node(page, id).getAttribute("aria-label");
  assert.match(await label("T1.1"), /^T1\.1 The table of products, done$/);
  assert.match(await label("T1.2"), /in progress/);
  assert.match(await label("T1.4"), /blocked, T1\.3 failed, on the longest chain$/);
  await page.locator(".tasks-cause", { hasText: "✗ T1.3 failed" }).first().waitFor();
  assert.ok((await page.locator(".tasks-line title").allTextContents()).includes("T1.4 is blocked: T1.3 failed"));

  // The panel leads to who works on it.
  await node(page, "T1.2").click();
  const panel = page.getByRole("region", { name: /^T1\.2/ });
  await panel.getByText(/since \d\d:\d\d/).waitFor();
  const session = (await it.json("ps")).find((found) => found.project.id === it.id);
  await panel.getByRole("link", { name: `Session ${session.id}` }).waitFor();

  await it.finish();
  await panel.getByText(/\d\d:\d\d(:\d\d)? to \d\d:\d\d/).waitFor();
  await node(page, "T1.2").and(page.locator(".completed")).waitFor();
  assert.match(readFileSync(`${it.project}/TASKS.md`, "utf8"), /\[x\] T1\.2/);

  // Another hand changes the file itself.
  it.tasks(readFileSync(`${it.project}/TASKS.md`, "utf8").replace("The till", "The new till"));
  await node(page, "T2.1").getByText("The new till").first().waitFor({ state: "attached" });
  await panel.getByRole("link", { name: `Session ${session.id}` }).click();
  await page.waitForURL(`**/sessions/${session.id}`);
  await leave(page);
});

test("a task is skipped, tried again and put first; a phase is closed", async () => {
  const it = await bakery("decided");
  await it.finish();
  const page = await visit(browser, it, { place: [`/tasks/${it.id}?task=T1.3`] });
  const panel = page.getByRole("region", { name: /^T1\.3/ });
  // Each of its tries has its reason.
  await panel.getByText("the agent ended with exit code 7").nth(2).waitFor();
  await panel.getByText("a wrong key is refused").first().waitFor();
  await panel.getByRole("button", { name: "Skip" }).click();
  await panel.getByText("skipped").first().waitFor();
  assert.equal(await state(it, "T1.3"), "skipped");
  await node(page, "T1.4").and(page.locator(".ready")).waitFor();
  await panel.getByRole("button", { name: "Try again" }).click();
  await node(page, "T1.3").and(page.locator(".ready")).waitFor();
  await panel.getByRole("button", { name: "First" }).click();
  await panel.getByText("comes first").waitFor();
  assert.equal((await it.tell("resolve")).trim(), "READY:T1.3,T2.2");

  // What is not so any more is refused in words, and changes nothing.
  await page.route("**/tasks/T1.3/skip", async (route) => {
    await it.tell("tasks", "skip", "T1.3");
    await route.continue();
  });
  await panel.getByRole("button", { name: "Skip" }).click();
  await panel.getByRole("alert").getByText("This cannot be done with a task that is so.").waitFor();
  await page.unroute("**/tasks/T1.3/skip");
  await it.tell("tasks", "skip", "T1.4");
  await page.getByText("Everything of phase 1 is settled.").waitFor();
  await page.getByRole("button", { name: "Record that phase 1 is over" }).click();
  await page.getByText(/Can be begun now: T2\.1/).waitFor();
  await leave(page);
});

test("everything can be reached by keys, in the graph and in the list", async () => {
  const it = await project("keys", BAKERY);
  const page = await visit(browser, it, { place: [`/tasks/${it.id}`] });
  await node(page, "T1.1").focus();
  for (const [key, id] of [["ArrowRight", "T1.2"], ["ArrowRight", "T1.4"], ["ArrowRight", "T2.1"], ["ArrowLeft", "T1.4"]]) {
    await page.keyboard.press(key);
    assert.equal(await focused(page), id, key);
  }
  await page.keyboard.press("Enter");
  await page.getByRole("region", { name: /^T1\.4/ }).waitFor();
  assert.match(page.url(), /task=T1\.4/);
  await page.keyboard.press("Escape");
  await until("the focus is back", async () => (await focused(page)) === "T1.4");
  const width = () => page.locator(".tasks-frame svg").evaluate((svg) => svg.getBoundingClientRect().width);
  const small = await width();
  await page.keyboard.press("+");
  await until("it is larger", async () => (await width()) > small * 1.2);
  await page.getByRole("button", { name: "Show all of it" }).click();
  await until("it is all seen", async () => page.locator(".tasks-frame").evaluate((it) => it.scrollWidth <= it.clientWidth));

  // A phase is closed and opened by keys, and the focus stays with it.
  await page.getByRole("button", { name: "Fold: Phase 1: Shop" }).focus();
  await page.keyboard.press("Enter");
  await node(page, "phase 1").waitFor();
  assert.match(await node(page, "phase 1").getAttribute("aria-label"), /Phase 1: Shop, 0 of 4 settled/);
  await node(page, "phase 1").focus();
  await page.keyboard.press("Enter");
  await until("a task of it has the focus", async () => /^T1\./.test((await focused(page)) ?? ""));

  await page.getByRole("button", { name: "List", exact: true }).click();
  await page.locator('.tasks-row[data-task="T2.2"]').focus();
  await page.keyboard.press("Enter");
  await page.getByRole("region", { name: /^T2\.2/ }).waitFor();
  await page.keyboard.press("Escape");
  await until("the focus is in the list", () => page.evaluate(() => document.activeElement?.getAttribute("data-task") === "T2.2"));
  await leave(page);
});

test("500 tasks are readable: phases are closed until somebody opens them", async () => {
  const part = (n, p) => `- [${p < 3 ? "x" : " "}] T${p}.${n}: Task ${n} of part ${p}\n${n > 5 ? `  - deps: T${p}.${n - 5}\n` : ""}`;
  const phase = (p) => `## Phase ${p}: Part ${p}\n\n${Array.from({ length: 50 }, (_, n) => part(n + 1, p)).join("")}\n`;
  const it = await project("many", Array.from({ length: 10 }, (_, p) => phase(p + 1)).join(""));
  const page = await visit(browser, it, { place: [`/tasks/${it.id}`] });
  await node(page, "T3.1").waitFor();
  assert.equal(await page.locator(".tasks-closed").count(), 9);
  assert.equal(await page.locator(".tasks-node").count(), 59);
  const begun = Date.now();
  await page.getByRole("button", { name: "Unfold all phases" }).click();
  await node(page, "T10.50").waitFor({ state: "attached" });
  assert.ok(Date.now() - begun < 10_000, "it is drawn in a moment");
  assert.equal(await page.locator(".tasks-node").count(), 500);
  await page.getByRole("button", { name: "Fold all phases" }).click();
  await node(page, "phase 3").click();
  await node(page, "T3.7").waitFor();
  await page.getByRole("button", { name: "List", exact: true }).click();
  await page.getByText("open · 5 ready · 45 waiting").waitFor();
  assert.equal(await page.locator("details.tasks-phase[open]").count(), 1);
  assert.deepEqual(await findings(page), []);
  await leave(page);
});

test("no serious findings in any view, light and dark; Korean; a phone", async () => {
  const it = await bakery("seen");
  for (const view of ["graph", "list", "times"]) {
    for (const colorScheme of ["light", "dark"]) {
      const page = await visit(browser, it, { place: [`/tasks/${it.id}?view=${view}&task=T1.3`], colorScheme });
      await page.getByText("the agent ended with exit code 7").first().waitFor();
      assert.deepEqual(await findings(page), [], `${view} ${colorScheme}`);
      await leave(page);
    }
  }
  const korean = await visit(browser, it, { place: [`/tasks/${it.id}?view=times`], locale: "ko-KR" });
  await korean.getByText("지금 시작할 수 있는 작업: T2.2").waitFor();
  await korean.getByRole("button", { name: /T1\.3.*실패/ }).click();
  await korean.getByRole("button", { name: "건너뛰기" }).waitFor();
  await leave(korean);
  const page = await visit(browser, it, { place: [`/tasks/${it.id}`], ...PHONE });
  await page.locator(".tasks-row").first().waitFor();
  await page.locator('.tasks-row[data-task="T1.4"]').tap();
  await page.getByRole("button", { name: "Back to the tasks" }).waitFor();
  assert.equal(await page.locator(".tasks-main").isVisible(), false);
  const isWide = await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);
  assert.equal(isWide, false, "nothing sticks out");
  await page.getByRole("button", { name: "Back to the tasks" }).tap();
  await page.locator(".tasks-row").first().waitFor();
  assert.deepEqual(await findings(page), []);
  await leave(page);
  await it.finish();

  // The page speaks English and no letters for Hangul are installed: the graph brings them along, and draws with them.
  const hangul = await project("hangul", "- [ ] T1.1: 결제 화면\n");
  const english = await visit(browser, hangul, { place: [`/tasks/${hangul.id}`] });
  // As wide as with those letters alone, and not as the empty squares that stand for letters that are not there.
  const isDrawn = () => {
    const canvas = document.createElement("canvas").getContext("2d");
    canvas.font = '12px "Pretendard Variable"';
    const title = document.querySelector(".tasks-frame .tasks-title");
    return Math.abs((title?.getComputedTextLength() ?? 0) - canvas.measureText("결제 화면").width) < 1;
  };
  await english.waitForSelector(".tasks-letters");
  await english.waitForFunction(isDrawn);
  await leave(english);
});

test("what somebody wrote into the file is text, and what is wrong with it has its line", async () => {
  const evil = '<img src=x onerror="window.hit=1"><script>window.hit=1</script>';
  const it = await project("hostile", `## Phase 1: ${evil}\n\n- [ ] T1.1: ${evil}\n  - owner: ${evil}\n  - files: ${evil}\n  - [ ] ${evil}\n\n  \u202e${evil}\n`);
  const page = await visit(browser, it, { place: [`/tasks/${it.id}?task=T1.1`] });
  await page.getByRole("heading", { name: /T1\.1 <img src=x/ }).waitFor();
  for (const view of ["List", "Times", "Graph"]) await page.getByRole("button", { name: view, exact: true }).click();
  await page.getByText("U+202E").first().waitFor();
  assert.equal(await page.locator(".content img, .content script").count(), 0);
  assert.equal(await page.evaluate(() => window.hit), undefined);
  it.tasks("- [ ] T1.1: a\n- [ ] T1.2: b\n  - deps: T9.9\n");
  await page.getByText("The file cannot be worked with.").waitFor();
  await page.getByText("line 3").waitFor();
  await page.getByText("T1.2 depends on T9.9, which is not there").waitFor();
  await page.getByRole("link", { name: "Tasks", exact: true }).first().click();
  await page.getByText("✗ 1 problem", { exact: true }).waitFor();
  await page.goBack();
  it.untask();
  await page.getByRole("heading", { name: "This project has no task file." }).waitFor();
  await leave(page);
});

test("what a run through the file came to stands below it and at the run, with its tokens", async () => {
  const it = await project("looped", "## Phase 1: Shop\n\n- [ ] T1.1: The table of products\n- [ ] T1.2: The price list\n  - deps: T1.1\n");
  const before = await visit(browser, it, { place: [`/tasks/${it.id}`] });
  await node(before, "T1.1").waitFor();
  assert.equal(await before.locator(".tasks-report").count(), 0, "nobody has gone through it");
  const answers = [];
  before.on("response", (response) => response.url().includes("/orchestrate/") && answers.push(response));
  await it.tell("orchestrate", "--agent", "worker");
  const report = before.locator(".tasks-report");
  await report.getByRole("heading", { name: "Tokens" }).waitFor();
  const run = (await report.getByRole("link", { name: /^Run r_\d+$/ }).textContent()).replace("Run ", "");
  const { exchange } = (await answers.at(-1).json()).report;
  const shown = await report.textContent();
  assert.match(shown, /tasks: 2 done, 0 failed, 0 skipped; retries: 0/);
  const inbox = await visit(browser, it, PHONE);
  await inbox.getByText("loop in looped: 2 of its sessions are done").waitFor();
  assert.deepEqual(await findings(inbox), []);
  await leave(inbox);
  for (const n of [exchange.thin_tokens, exchange.full_tokens]) assert.ok(shown.includes(`${n.toLocaleString("en-US")} tokens`), shown);
  assert.ok(shown.includes(`${exchange.saved_percent.toFixed(1)} % less, counted with ${exchange.tokenizer}.`), shown);
  for (const name of ["thin.txt", "full"]) assert.ok(shown.includes(`${exchange.directory}/${name}`), shown);
  assert.deepEqual(await findings(before), []);
  await report.getByRole("link", { name: `Run ${run}` }).click();
  await before.waitForURL(`**/runs/${run}`);
  await before.locator(".tasks-report").getByText(`counted with ${exchange.tokenizer}.`).waitFor();
  await leave(before);

  const korean = await visit(browser, it, { place: [`/tasks/${it.id}`], locale: "ko-KR", ...PHONE });
  await korean.locator(".tasks-report").getByText(`${exchange.saved_percent.toFixed(1)}% 적음(${exchange.tokenizer}로 셈).`).waitFor();
  assert.equal(await korean.evaluate(() => document.documentElement.scrollWidth > window.innerWidth), false, "nothing sticks out");
  // Paths have the width of the report, and not what their names leave of it.
  const room = await korean.locator(".tasks-report").evaluate((report) => [report.clientWidth, ...[...report.querySelectorAll("dd")].map((it) => it.clientWidth)]);
  assert.ok(room.length === 3 && room.slice(1).every((width) => width > 0.8 * room[0]), String(room));
  await leave(korean);
});

test("a task whose agent asks does not look like one at work, and leads to its card", async () => {
  const it = await project("asking", "- [ ] T1.1: The bread asks first\n");
  const working = it.begin("exec", "T1.1");
  const page = await visit(browser, it, { place: [`/tasks/${it.id}`] });
  await node(page, "T1.1").and(page.locator(".asking")).waitFor();
  assert.match(await node(page, "T1.1").getAttribute("aria-label"), /waiting for you/);
  await node(page, "T1.1").click();
  await page.getByRole("region", { name: /^T1\.1/ }).getByRole("link", { name: "Answer it" }).click();
  await page.waitForURL(/\/requests\/q_\d+/);
  await it.tell("answer", new URL(page.url()).pathname.split("/").at(-1), "rye");
  await working;
  await page.goBack();
  await node(page, "T1.1").and(page.locator(".completed")).waitFor();
  await leave(page);
});

test("a project without tasks says how to begin", async () => {
  const other = await Ostler.start();
  try {
    const page = await visit(browser, other, { place: ["/tasks"] });
    await page.getByText("No project has a task file yet.").waitFor();
    await leave(page);
  } finally {
    await other.end();
  }
});

test("the layout: layers respect who waits for whom, and every task stands once", async () => {
  const { draw } = await load("tasks/layout.ts");
  const { neighbour } = await load("parts/drawn.ts");
  let seed = 7;
  const random = (n) => (seed = (seed * 48271) % 2147483647) % n;
  for (let round = 0; round < 40; round++) {
    const tasks = Array.from({ length: 1 + random(80) }, (_, index) => {
      const needs = Array.from({ length: random(4) }, () => `T${random(index + 1)}`).filter((id) => id !== `T${index}`);
      return { id: `T${index}`, phase: 1 + Math.floor(index / 20), needs: [...new Set(needs)], after_phase: null };
    });
    const phases = [1, 2, 3, 4].map((number) => ({ number, tasks: tasks.filter((it) => it.phase === number) })).filter((it) => it.tasks.length > 0);
    const { boxes, lines, width, height } = draw(phases, (phase) => phase !== 2);
    const byId = new Map(boxes.map((box) => [box.id, box]));
    const open = tasks.filter((task) => task.phase !== 2);
    assert.equal(boxes.length, open.length + (phases.length > 1 ? 1 : 0));
    for (const task of open) {
      for (const need of task.needs.filter((id) => byId.has(id))) {
        assert.ok(byId.get(need).column < byId.get(task.id).column, `${need} stands before ${task.id}`);
        assert.ok(lines.some((line) => line.from === need && line.to === task.id));
      }
    }
    for (const a of boxes) {
      assert.ok(a.x >= 0 && a.y >= 0 && a.x + a.width <= width && a.y + a.height <= height);
      for (const b of boxes) {
        const apart = a === b || a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;
        assert.ok(apart, `${a.id} and ${b.id} do not cover each other`);
      }
    }
    // Whoever goes to the right arrives at an end, and does not go round.
    let at = boxes[0].id;
    const seen = new Set();
    for (let next = at; next !== null; next = neighbour({ boxes, lines }, at, "ArrowRight")) {
      assert.ok(!seen.has(next));
      seen.add(next);
      at = next;
    }
  }
});
