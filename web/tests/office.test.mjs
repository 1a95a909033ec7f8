// The office of a project on the page: scripted roles call each other, and somebody looks, writes and takes back.
import assert from "node:assert/strict";
import { test } from "node:test";

import { load } from "./load.mjs";
import { browser, leave, ostler, PHONE, stage } from "./stage.mjs";
import { findings, join, OSTLER, Ostler, readFileSync, until, visit, writeFileSync } from "./support.mjs";

const EVIL = '<img src=x onerror="window.hit=1"><script>window.hit=1</script>';
const NAMES = ["PO", "designer", "backend", "QA"];
const ROLES = `[agents.role]
about = "a script"
command = ["office-role"]

${NAMES.map((name) => `[office.roles.${name}]\nagent = "role"\ndescription = 'The ${name}'\n`).join("\n")}
[office.roles.evil]
agent = "role"
description = '${EVIL}'
`;

stage({ toml: ROLES });

/** A project of its own, in which nobody has been called yet. */
async function office(name) {
  const it = ostler.beside(name);
  const begun = await it.json("run", "--detach", "--", "true");
  return Object.assign(it, { id: begun.project.id, place: `/office/${begun.project.id}` });
}

/** A session that calls a role and prints what comes back. Gives its run and itself. */
async function call(it, role, ...lines) {
  const print = `printf '%s\\n' '[INVOKE:${role}]' "$@" '[/INVOKE]'; read -r a; read -r b; echo "got $b"`;
  const begun = await it.json("run", "--detach", "--", "bash", "-c", print, "caller", ...lines);
  return { run: begun.id, session: begun.sessions[0].id };
}

const ring = (it, name) => writeFileSync(join(it.project, name), "");
const node = (page, name) => page.locator(`.office-node[data-person="${name}"]`);
const talk = (page, from, to) => page.locator(`.office-line[data-talk="${from} ${to}"]`);
const label = (page, name) => node(page, name).getAttribute("aria-label");
const focused = (page) => page.evaluate(() => document.activeElement?.getAttribute("data-person"));

test("a call goes from one to another and back while somebody looks", async () => {
  const it = await office("live");
  const page = await visit(browser, it, { place: ["/office"] });
  await page.locator(".content").getByRole("link", { name: /^live/ }).click();
  await page.getByRole("heading", { name: "Office of live" }).waitFor();
  await page.getByText("0 open · 0 waiting to be begun · 0 not read").waitFor();
  assert.equal(await label(page, "PO"), "PO, not called yet");
  assert.equal(await page.locator(".office-line").count(), 0);

  const { session } = await call(it, "PO", "Ask designer: Wait bell: a sketch");
  await node(page, "designer").and(page.locator(".office-busy")).waitFor();
  await until("PO waits", async () => /^PO, working, works for s_\d+: i_\d+, waits for designer$/.test(await label(page, "PO")));
  await until("designer works", async () => /^designer, working, works for PO: i_\d+$/.test(await label(page, "designer")));
  await talk(page, session, "PO").and(page.locator(".open")).waitFor();
  await talk(page, "PO", "designer").and(page.locator(".open")).waitFor();
  assert.match(await talk(page, "PO", "designer").locator("title").textContent(), /^PO waits for designer: i_\d+$/);
  await page.getByText("2 open · 0 waiting to be begun").waitFor();

  ring(it, "bell");
  await talk(page, session, "PO").and(page.locator(".done")).waitFor();
  await talk(page, "PO", "designer").and(page.locator(".done")).locator(".office-back").waitFor({ state: "attached" });
  await it.printed(session, "got a sketch");
  await page.getByText("0 open").waitFor();
  for (const name of ["PO", "designer"]) await until(`${name} is through`, async () => (await label(page, name)) === `${name}, here, no open call`);
  assert.match(await it.tell("office"), /designer +s_\d+ +○ here, no open call/);

  // Who fails is seen to have failed, with why.
  await call(it, "QA", "Fail");
  await page.locator(".office-line.failed").waitFor();
  assert.match(await page.locator(".office-line.failed title").textContent(), /and the last call failed: who worked on it has failed$/);
  await leave(page);
});

test("two have a conversation, and a call is taken back", async () => {
  const it = await office("talk");
  const first = await call(it, "PO", "Ask designer: **bold** words", "Context: in a hurry");
  await it.printed(first.session, "got **bold** words");
  const second = await call(it, "PO", "Ask designer: Wait never: a sketch");
  const page = await visit(browser, it, { place: [it.place] });
  await node(page, "PO").click();
  const panel = page.locator(".office-panel");
  await panel.getByRole("heading", { name: "What it waits for" }).waitFor();
  await panel.getByRole("link", { name: /^s_\d+$/ }).waitFor();
  await panel.getByRole("button", { name: "designer", exact: true }).click();
  await page.getByRole("heading", { name: "PO and designer" }).waitFor();
  const said = panel.locator(".office-bubble");
  await until("three things were said", async () => (await said.count()) === 3);
  assert.match(await said.nth(0).textContent(), /PO called designer · i_\d+ .*completed.*\*\*bold\*\* words/);
  assert.match(await said.nth(1).textContent(), /designer brought PO something · d_\d+ · Markdown/);
  await said.nth(1).locator("strong", { hasText: "bold" }).waitFor();
  assert.match(await said.nth(2).textContent(), /in progress.*Wait never: a sketch/);

  // Only what is between the two is asked for.
  await panel.getByRole("button", { name: "PO", exact: true }).click();
  await panel.getByRole("button", { name: first.session, exact: true }).or(panel.getByRole("button", { name: second.session, exact: true })).first().waitFor();
  await panel.getByRole("button", { name: /^Take i_\d+ back$/ }).last().click();
  await it.printed(second.session, "got The call of designer was cancelled.");
  await panel.getByRole("button", { name: "designer", exact: true }).click();
  await until("it is said that it came to nothing", async () => /No result for PO/.test((await said.allTextContents()).join(" ")));
  await panel.getByText("nobody wants it any more").waitFor();
  await leave(page);
});

test("somebody writes to a role, from below the picture and beside it", async () => {
  const it = await office("write");
  const page = await visit(browser, it, { place: [it.place] });
  await page.getByLabel("To whom").selectOption("QA");
  await page.getByLabel("Your words").fill("Good morning.");
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByText("Sent to QA.").waitFor();
  const seat = await until("QA is here", async () => (await it.json("office")).roles.find((role) => role.name === "QA").session);
  await it.printed(seat, "heard: Good morning.");
  await page.locator(".office-write").getByRole("link", { name: `Session ${seat}` }).waitFor();
  await until("nothing is open for QA", async () => (await label(page, "QA")) === "QA, here, no open call");

  await node(page, "QA").click();
  await page.keyboard.press("w");
  await page.keyboard.type("Second line");
  await page.keyboard.press("Control+Enter");
  await it.printed(seat, "heard: Second line");
  await page.getByText("Sent to QA.").waitFor();

  // What is refused says why, and the words stay.
  await page.route("**/office/messages", (route) => route.continue({ postData: JSON.stringify({ role: "nobody", text: "x", korean: false }) }));
  await page.getByLabel("Write to QA").last().fill("kept");
  await page.keyboard.press("Control+Enter");
  await page.getByRole("alert").getByText("There is no such role.").waitFor();
  assert.equal(await page.getByLabel("Write to QA").last().inputValue(), "kept");
  await leave(page);
});

test("everything can be reached by keys", async () => {
  const it = await office("keys");
  const { session } = await call(it, "PO", "Ask designer: words");
  await it.printed(session, "got words");
  const page = await visit(browser, it, { place: [it.place] });
  await node(page, session).focus();
  for (const [key, name] of [["ArrowRight", "PO"], ["ArrowRight", "designer"], ["ArrowLeft", "PO"]]) {
    await page.keyboard.press(key);
    assert.equal(await focused(page), name, key);
  }
  const width = () => page.locator(".office-frame svg").evaluate((svg) => svg.clientWidth);
  const before = await width();
  for (const [key, factor] of [["+", 1.25], ["-", 1], ["-", 0.8]]) {
    await page.keyboard.press(key);
    await until(`${key} zooms`, async () => Math.abs((await width()) - before * factor) < 2);
    assert.equal(await focused(page), "PO", "who has the focus keeps it");
  }
  await page.getByRole("button", { name: "Show all of it" }).click();
  await until("all of it is seen", () => page.locator(".office-frame").evaluate((frame) => frame.scrollWidth <= frame.clientWidth && frame.scrollHeight <= frame.clientHeight));
  await node(page, "PO").focus();
  await page.keyboard.press("Enter");
  await page.getByRole("region", { name: "PO" }).waitFor();
  assert.match(page.url(), /role=PO/);
  await page.keyboard.press("Escape");
  await until("the focus is back", async () => (await focused(page)) === "PO");
  await page.keyboard.press("2");
  await page.getByRole("heading", { name: "Calls" }).waitFor();
  await page.locator('.office-row[data-person="designer"]').focus();
  await page.keyboard.press("Enter");
  await page.getByRole("region", { name: "designer" }).waitFor();
  await page.keyboard.press("Escape");
  await until("the focus is in the list", async () => (await focused(page)) === "designer");
  await page.keyboard.press("3");
  await page.getByRole("region", { name: "The sequence diagram as text" }).waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("o");
  await page.waitForURL("**/office");
  await leave(page);
});

test("a run's sequence diagram is text that can be copied", async () => {
  const it = await office("sequence");
  const first = await call(it, "PO", "Ask designer: one");
  await it.printed(first.session, "got one");
  const second = await call(it, "QA", "two");
  await it.printed(second.session, "got two");
  const page = await visit(browser, it, { place: [`/runs/${first.run}`], permissions: ["clipboard-read", "clipboard-write"] });
  await page.getByRole("link", { name: "Who called whom" }).click();
  const text = page.getByRole("region", { name: "The sequence diagram as text" });
  await text.waitFor();
  const shown = await text.textContent();
  assert.match(shown, /^sequenceDiagram\n {4}participant s_\d+ as s_\d+\n {4}participant PO as PO\n {4}participant designer as designer\n/);
  assert.match(shown, /PO->>designer: i_\d+ one\n {4}designer-->>PO: d_\d+\n/);
  assert.doesNotMatch(shown, /QA/);
  assert.equal(await it.tell("office", "diagram", first.run), shown);
  await page.getByRole("button", { name: "Copy" }).click();
  await page.getByRole("button", { name: "Copied" }).waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), shown);
  await page.getByLabel("Of which run").selectOption("");
  await text.getByText("QA").waitFor();
  await leave(page);
});

test("a role that is opened stays in the picture together with its caller", async () => {
  const it = await office("beside");
  const { session } = await call(it, "PO", "Ask designer: Wait never: a sketch");
  await until("designer works", async () => (await it.json("office", "invocations")).length === 2);
  const sizes = [1600, 1280, 1024, 800].map((width) => ({ viewport: { width, height: 800 } }));
  for (const size of [...sizes, PHONE]) {
    const { width } = size.viewport;
    const page = await visit(browser, it, { place: [`${it.place}?view=picture`], ...size });
    await node(page, "designer").waitFor();
    for (const [caller, called] of [["PO", "designer"], [session, "PO"]]) {
      await node(page, called).click();
      await page.locator(".office-panel").waitFor();
      await page.waitForTimeout(200);
      const frame = await page.locator(".office-frame").boundingBox();
      const [one, other] = [await node(page, caller).boundingBox(), await node(page, called).boundingBox()];
      assert.ok(other.x >= frame.x && other.x + other.width <= frame.x + frame.width + 1, `${called} is in the picture at ${width}`);
      const seen = Math.min(one.x + one.width, frame.x + frame.width) - Math.max(one.x, frame.x);
      assert.ok(seen > one.width - 2, `${caller} is seen beside ${called} at ${width}: ${seen} of ${one.width} px`);
      assert.ok(frame.y + frame.height > 0 && frame.y < size.viewport.height, `the picture is on the screen at ${width}`);
      await page.getByRole("button", { name: "Back to the office" }).or(page.getByRole("button", { name: "Close" })).first().click();
    }
    await leave(page);
  }
});

test("no serious findings in any view, light and dark; Korean; a phone", async () => {
  const it = await office("seen");
  const { session } = await call(it, "PO", "Ask designer: Wait never: a sketch");
  await call(it, "QA", "Fail");
  await until("QA has failed", async () => (await it.json("office", "invocations")).some((found) => found.status === "failed"));
  for (const view of ["picture", "list", "sequence"]) {
    for (const colorScheme of ["light", "dark"]) {
      const pair = view === "list" ? "&with=designer" : "";
      const page = await visit(browser, it, { place: [`${it.place}?view=${view}&role=PO${pair}`], colorScheme });
      await page.locator(".office-panel").getByText("in progress").first().waitFor();
      assert.deepEqual(await findings(page), [], `${view} ${colorScheme}`);
      await leave(page);
    }
  }
  const korean = await visit(browser, it, { place: [it.place], locale: "ko-KR" });
  await korean.getByRole("heading", { name: "seen의 오피스" }).waitFor();
  await until("PO waits", async () => /^PO, 일하는 중, s_\d+의 일을 하는 중: i_\d+, designer 기다림$/.test(await label(korean, "PO")));
  await korean.getByLabel("받는 역할").selectOption("backend");
  await korean.getByLabel("할 말").fill("안녕하세요");
  await korean.getByRole("button", { name: "보내기" }).click();
  await korean.getByText("backend에게 보냈습니다.").waitFor();
  await until("nothing is open for backend", async () => (await label(korean, "backend")) === "backend, 자리에 있음, 열린 호출 없음");
  await leave(korean);

  const page = await visit(browser, it, { place: [it.place], ...PHONE });
  await page.locator('.office-row[data-person="designer"]').tap();
  await page.getByRole("button", { name: "Back to the office" }).waitFor();
  assert.equal(await page.locator(".office-main").isVisible(), false);
  const isWide = () => page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);
  assert.equal(await isWide(), false, "nothing sticks out");
  await page.getByRole("button", { name: "Back to the office" }).tap();
  await page.locator(".office-row").first().waitFor();
  assert.equal(await isWide(), false, "nothing sticks out");
  assert.deepEqual(await findings(page), []);
  await page.getByRole("button", { name: "Picture" }).tap();
  await node(page, session).waitFor();
  assert.equal(await isWide(), false, "nothing sticks out");
  await leave(page);
});

test("what agents say to each other is text and nothing else", async () => {
  const it = await office("hostile");
  const { session } = await call(it, "evil", `\u202e${EVIL} [x](javascript:window.hit=1)`);
  await it.printed(session, "got ");
  const page = await visit(browser, it, { place: [`${it.place}?role=${session}&with=evil`] });
  await page.locator(".office-bubble").getByText("<img src=x").first().waitFor();
  await page.locator(".office-panel").getByText("U+202E").first().waitFor();
  for (const view of ["List", "Sequence", "Picture"]) await page.getByRole("button", { name: view, exact: true }).click();
  await node(page, "evil").click();
  await page.locator(".office-panel").getByText("<img src=x").first().waitFor();
  assert.equal(await page.locator(".content img, .content script, .content a[href^='javascript']").count(), 0);
  assert.equal(await page.evaluate(() => window.hit), undefined);
  await leave(page);
});

test("a long result is shown whole, or taken away as a file", async () => {
  const it = await office("long");
  const begun = await it.json("run", "--detach", "--", "bash", "-c", `(yes '긴 **줄**: 한 줄에 여러 낱말이 있는 글입니다, 끝까지.' | head -n 4000; echo End) | '${OSTLER}' deliver QA --type markdown --stdin; sleep 600`);
  const session = begun.sessions[0].id;
  const result = await until("it is brought", async () => (await it.json("office", "results"))[0]);
  const page = await visit(browser, it, { place: [`${it.place}?role=QA&with=${session}`] });
  const said = page.locator(".office-bubble");
  await said.getByText("This is the beginning. All of it, 285 KiB").waitFor();
  assert.equal(await said.getByText("End", { exact: false }).count(), 0);

  const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: `Download ${result.id}` }).click()]);
  assert.equal(file.suggestedFilename(), `${result.id}.md`);
  const text = readFileSync(await file.path(), "utf8");
  assert.deepEqual([Buffer.byteLength(text), text.endsWith("끝까지.\nEnd\n")], [292004, true]);

  await page.getByRole("button", { name: `Show all of ${result.id}` }).click();
  const all = page.getByRole("region", { name: `All of ${result.id}` });
  assert.equal((await all.textContent()).trimEnd(), text.trimEnd());
  assert.equal(await said.getByText("This is the beginning.").count(), 0);
  assert.equal(await page.getByRole("button", { name: `Show all of ${result.id}` }).count(), 0);
  assert.deepEqual(await findings(page), []);
  await leave(page);
});

test("what nobody asked for is drawn and said as that, and is no call", async () => {
  const it = await office("unasked");
  const { session, run } = await call(it, "PO", "Tell QA: by the way");
  await it.printed(session, "got told");
  const page = await visit(browser, it, { place: [it.place] });
  const line = talk(page, "PO", "QA").and(page.locator(".brought"));
  await line.locator(".office-back").waitFor({ state: "attached" });
  assert.equal(await line.locator(".office-call").count(), 0, "nobody has called");
  assert.equal(await talk(page, "QA", "PO").count(), 0, "nor the other way round");
  assert.match(await line.locator("title").textContent(), /^PO has brought QA something without being asked: d_\d+; not read yet$/);
  assert.equal(await label(page, "QA"), "QA, not called yet, results not read yet: 1");
  await page.keyboard.press("2");
  const list = page.getByRole("list", { name: "Brought without a call" });
  await list.getByRole("button", { name: /d_\d+ PO ⇢ QA not read yet Markdown by the way/ }).click();
  const said = page.locator(".office-panel .office-bubble");
  await until("it is said", async () => (await said.count()) === 1);
  assert.match(await said.first().textContent(), /PO brought QA something · d_\d+ · Markdown · nobody asked for it/);
  const drawn = await it.tell("office", "diagram", run);
  assert.match(drawn, /PO--\)QA: d_\d+ by the way\n/);
  assert.match(drawn, /PO-->>s_\d+: d_\d+\n/);

  // Once it is read it is still there, and still no call.
  const asked = await call(it, "QA", "words");
  await it.printed(asked.session, "got words");
  await page.keyboard.press("1");
  await until("it is read", async () => /: d_\d+$/.test(await line.locator("title").textContent()));
  await leave(page);

  const korean = await visit(browser, it, { place: [`${it.place}?view=list&role=PO&with=QA`], locale: "ko-KR" });
  await korean.getByRole("heading", { name: "요청 없이 전달된 것" }).waitFor();
  await korean.locator(".office-bubble", { hasText: "요청 없이 전달" }).waitFor();
  await leave(korean);
});

test("with eighteen at once the picture shows people, at first and when they come; also on a phone", async () => {
  const names = Array.from({ length: 18 }, (_, index) => `R${index + 1}`);
  const roles = names.map((name) => `[office.roles.${name}]\nagent = "role"\n`).join("\n");
  const many = await Ostler.start(`[agents.role]\nabout = "a script"\ncommand = ["office-role"]\n\n${roles}`);
  /** Those of whom all is in sight. */
  const seen = (page) =>
    page.locator(".office-frame").evaluate((frame) => {
      const room = frame.getBoundingClientRect();
      const isIn = ({ left, right, top, bottom }) => left >= room.left - 1 && right <= room.right + 1 && top >= room.top - 1 && bottom <= room.bottom + 1;
      return [...frame.querySelectorAll("[data-person]")].filter((node) => isIn(node.getBoundingClientRect())).map((node) => node.getAttribute("data-person"));
    });
  try {
    const begun = await many.json("run", "--detach", "--", "true");
    const place = [`/office/${begun.project.id}?view=picture`];
    const page = await visit(browser, many, { place });
    await node(page, "R1").waitFor();
    const calls = (from, to) => `for n in $(seq ${from} ${to}); do printf '[INVOKE:R%s]\nWait never: x\n[/INVOKE]\n' $n; done; sleep 600`;
    const first = await many.json("run", "--detach", "--", "bash", "-c", calls(1, 16));
    await many.json("run", "--detach", "--", "bash", "-c", calls(17, 18));
    await page.getByText("18 open").waitFor();
    await until("somebody is in sight", async () => (await seen(page)).length > 0);
    await leave(page);

    /** All at once: everybody is in sight with a name that can be read and does not stick out. */
    const isReadWhole = async (page) => {
      await page.getByRole("button", { name: "Show all of it" }).click();
      await until("everybody is in sight", async () => (await seen(page)).length === 20);
      const names = await page.locator(".office-frame svg").evaluate((svg) =>
        [...svg.querySelectorAll(".office-name")].map((text) => {
          const [box, within] = [text.parentElement.querySelector(".office-box").getBoundingClientRect(), text.getBoundingClientRect()];
          const zoom = svg.clientWidth / svg.viewBox.baseVal.width;
          return { text: text.textContent, size: parseFloat(getComputedStyle(text).fontSize) * zoom, isIn: within.right <= box.right && within.bottom <= box.bottom };
        }),
      );
      for (const name of names) assert.ok(name.isIn && name.size >= 10, JSON.stringify(name));
    };
    const caller = first.sessions[0].id;
    const again = await visit(browser, many, { place });
    await until("the first caller is in sight", async () => (await seen(again)).includes(caller));
    assert.ok((await seen(again)).length > 3, "and some of those that it has called");
    await isReadWhole(again);
    await leave(again);

    const small = await visit(browser, many, { place, ...PHONE });
    await until("the first caller is in sight", async () => (await seen(small)).includes(caller));
    assert.ok((await node(small, caller).boundingBox()).width > 200, "it can be read");
    assert.equal(await small.evaluate(() => document.documentElement.scrollWidth > window.innerWidth), false, "nothing sticks out");
    await isReadWhole(small);
    await leave(small);
  } finally {
    await many.end();
  }
});

test("a role without work is not said to be at work, in the list of sessions and at its own", async () => {
  const it = await office("resting");
  const { session } = await call(it, "designer", "words");
  await it.printed(session, "got words");
  const seat = (await it.json("office")).roles.find((role) => role.name === "designer").session;
  const page = await visit(browser, it, { place: [`/sessions?project=${it.id}`] });
  const row = page.locator(`.content a[href="/sessions/${seat}"]`);
  await row.getByText("here, no open call").waitFor();
  assert.doesNotMatch(await row.textContent(), /working/);
  await row.click();
  await page.waitForURL(`**/sessions/${seat}`);
  await page.locator(".content .status").getByText("here, no open call").waitFor();
  await leave(page);
});

test("an office without roles says how to begin; one that is not there says so", async () => {
  const other = await Ostler.start();
  try {
    let page = await visit(browser, other, { place: ["/office"] });
    await page.getByText("No project is known yet.").waitFor();
    const begun = await other.json("run", "--detach", "--", "true");
    await page.locator(".content").getByRole("link", { name: /^shop/ }).click();
    await page.getByRole("heading", { name: "This project has no roles of its own yet." }).waitFor();
    await page.getByRole("button", { name: "Sequence", exact: true }).click();
    await page.getByText("Nobody has called anybody yet.").waitFor();
    await leave(page);
    page = await visit(browser, other, { place: [`/office/${begun.project.id}9`] });
    await page.getByRole("alert").waitFor();
    await leave(page);
  } finally {
    await other.end();
  }
});

/** Points on a path of moves, curves and horizontal lines. */
function points(path) {
  const found = [];
  let [x, y] = [0, 0];
  for (const [, letter, numbers] of path.matchAll(/([MCH])([^MCH]+)/g)) {
    const n = numbers.trim().split(/[ ,]+/).map(Number);
    const [toX, toY] = letter === "H" ? [n[0], y] : n.slice(-2);
    const [c, d] = letter === "C" ? [n.slice(0, 2), n.slice(2, 4)] : [[x, y], [toX, toY]];
    for (let t = 0; t <= 1; t += 0.02) {
      const at = (a, b, e, f) => (1 - t) ** 3 * a + 3 * (1 - t) ** 2 * t * b + 3 * (1 - t) * t ** 2 * e + t ** 3 * f;
      if (letter !== "M") found.push([at(x, c[0], d[0], toX), at(y, c[1], d[1], toY)]);
    }
    [x, y] = [toX, toY];
  }
  return found;
}

test("the layout: nobody covers anybody, who calls stands on the left, rings end", async () => {
  const { draw, BOX } = await load("office/layout.ts");
  const { neighbour } = await load("parts/drawn.ts");
  let seed = 11;
  const random = (n) => (seed = (seed * 48271) % 2147483647) % n;
  for (let round = 0; round < 60; round++) {
    const names = Array.from({ length: 1 + random(24) }, (_, index) => `R${index}`);
    const talks = Array.from({ length: random(40) }, () => ({ from: `R${random(names.length)}`, to: `R${random(names.length)}`, kind: random(4) === 0 ? "brought" : "calls", hasResult: random(2) === 0, open: [], unread: [] }));
    const { boxes, lines, width, height } = draw(names, talks);
    assert.deepEqual(boxes.map((box) => box.id).sort(), [...names].sort());
    for (const a of boxes) {
      assert.ok(a.x >= 0 && a.y >= 0 && a.x + BOX.width <= width && a.y + BOX.height <= height);
      for (const b of boxes) {
        const apart = a === b || a.x + BOX.width <= b.x || b.x + BOX.width <= a.x || a.y + BOX.height <= b.y || b.y + BOX.height <= a.y;
        assert.ok(apart, `${a.id} and ${b.id} do not cover each other`);
      }
    }
    assert.equal(lines.length, talks.filter(({ from, to }) => from !== to).length);
    for (const { talk, call, back } of lines) assert.deepEqual([call !== null, back !== null], talk.kind === "brought" ? [false, true] : [true, talk.hasResult]);
    for (const box of boxes) for (const way of ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"]) assert.notEqual(neighbour({ boxes, lines }, box.id, way), box.id);
  }
  // Who is called among many is reached between the rows: a line behind somebody would seem to be theirs.
  const many = Array.from({ length: 16 }, (_, index) => `R${index}`);
  const fan = draw(["A", ...many], many.map((to) => ({ from: "A", to, kind: "calls", hasResult: true, open: [], unread: [] })));
  assert.ok(fan.height < 8 * (BOX.height + 28), "they stand in several stacks");
  for (const { to, call, back } of fan.lines) {
    for (const [x, y] of [call, back].flatMap(({ path }) => points(path))) {
      const hit = fan.boxes.find((box) => box.id !== "A" && box.id !== to && x > box.x && x < box.x + BOX.width && y > box.y && y < box.y + BOX.height);
      assert.equal(hit, undefined, `the line to ${to} goes behind ${hit?.id}`);
    }
  }
  const chain = draw(["A", "B", "C"], [{ from: "A", to: "B" }, { from: "B", to: "C" }, { from: "C", to: "A" }].map((it) => ({ ...it, open: [], unread: [] })));
  assert.deepEqual(chain.boxes.map((box) => [box.id, box.column]), [["A", 0], ["B", 1], ["C", 2]]);
});
