// The inbox: a request of each kind is settled, by keys alone where there are keys.
import assert from "node:assert/strict";
import { test } from "node:test";

import { browser, leave, ostler, PHONE, stage } from "./stage.mjs";
import { card, existsSync, findings, join, mkdirSync, readFileSync, rmSync, until, visit, writeFileSync } from "./support.mjs";

stage({ cancels: true });

/** Opens the card of a request that was asked for, lets somebody do something with it, and gives what settled it. */
async function settle(request, how, options = {}) {
  const page = await visit(browser, ostler, { place: [request.id], ...options });
  await card(page, request);
  await how(page);
  const answer = await ostler.settled(request.id);
  assert.deepEqual(page.wrong, []);
  await page.context().close();
  return answer;
}

test("an option is one key", async () => {
  const request = await ostler.ask("choice");
  const answer = await settle(request, (page) => page.keyboard.press("2"));
  assert.deepEqual(answer, { answer: "text", text: "MySQL" });
  await ostler.printed(request.session, '"answer":"MySQL"');
});

test("Enter takes the default", async () => {
  const request = await ostler.ask("choice");
  const answer = await settle(request, (page) => page.keyboard.press("Enter"));
  assert.deepEqual(answer, { answer: "text", text: "PostgreSQL" });
});

test("an optional question is declined", async () => {
  const request = await ostler.ask("decline");
  const answer = await settle(request, async (page) => {
    await page.getByText(" · optional").waitFor();
    await page.getByRole("button", { name: "Go on without" }).click();
  });
  assert.deepEqual(answer, { answer: "skipped", default: null });
  await ostler.printed(request.session, '"answer":null');
});

test("words that are none of the options are sent when somebody insists", async () => {
  const request = await ostler.ask("choice");
  const answer = await settle(request, async (page) => {
    await page.keyboard.press("w");
    await page.keyboard.type("DuckDB");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").getByText("none of the options").waitFor();
    await page.getByRole("button", { name: "Send it all the same" }).click();
  });
  assert.deepEqual(answer, { answer: "text", text: "DuckDB" });
});

test("a yes or no may carry words", async () => {
  const request = await ostler.ask("confirm");
  const answer = await settle(request, async (page) => {
    await page.keyboard.press("w");
    await page.keyboard.type("not today");
    await page.keyboard.press("Escape");
    await page.keyboard.press("2");
  });
  assert.deepEqual(answer, { answer: "remarked", text: "No", remark: "not today" });
});

test("a long question says that it is cut, and is answered when all of it is shown", async () => {
  const request = await ostler.ask("long");
  const whole = async (page, shown, why, all) => {
    assert.match(await page.locator("h1").innerText(), /^Which of these\?/);
    // The terminal beside it shows what the agent has printed.
    const asks = page.locator(".inbox-card");
    assert.ok(!(await asks.innerText()).includes("the very end"));
    assert.equal(await page.locator(".inbox-choice").count(), 0);
    await page.getByText(shown).waitFor();
    await page.getByText(why).waitFor();
    assert.deepEqual(await findings(page), []);
    // Neither the key of an option nor Enter settles what nobody has seen.
    await page.keyboard.press("1");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: all }).waitFor();
    await page.keyboard.press("a");
    await asks.getByText("the very end").waitFor();
    await page.getByRole("button", { name: all }).waitFor({ state: "detached" });
    assert.deepEqual(await findings(page), []);
    await card(page, request);
  };
  const korean = await visit(browser, ostler, { place: [request.id], locale: "ko-KR" });
  await card(korean, request);
  await whole(korean, "앞부분만 보입니다. 모두 200,0", "전부 펼치면 답할 수 있습니다.", "모두 보기");
  await korean.context().close();
  const answer = await settle(request, async (page) => {
    await whole(page, "Only the beginning is shown, of 200,0", "The answers appear once all of it is shown.", "Show all");
    await page.keyboard.press("2");
  });
  assert.deepEqual(answer, { answer: "text", text: "MySQL" });
});

test("an open question is written, and Enter sends it", async () => {
  const request = await ostler.ask("text");
  const answer = await settle(request, async (page) => {
    await page.keyboard.type("billing");
    await page.keyboard.press("Enter");
  });
  assert.deepEqual(answer, { answer: "text", text: "billing" });
});

test("a service asks for its variables and for others", async () => {
  const request = await ostler.ask("service");
  const answer = await settle(request, async (page) => {
    await page.getByLabel("STRIPE_PUBLISHABLE_KEY").fill("pk_test_1");
    await page.getByRole("button", { name: "Another variable" }).click();
    await page.getByLabel("Variable", { exact: true }).fill("STRIPE_REGION");
    await page.getByLabel("Its value").fill("eu");
    await page.getByRole("button", { name: "Give them" }).click();
  });
  assert.deepEqual(answer.names.toSorted(), ["STRIPE_PUBLISHABLE_KEY", "STRIPE_REGION"]);
});

test("a key is typed unseen, goes to the vault, and stands nowhere on the page", async () => {
  const request = await ostler.ask("key");
  const answer = await settle(request, async (page) => {
    const field = page.getByLabel("STRIPE_SECRET_KEY (not shown)");
    assert.equal(await field.getAttribute("type"), "password");
    await field.fill("sk_test_page_1");
    await page.getByLabel("Give it to whoever asks").check();
    await page.keyboard.press("Tab");
    await page.getByRole("button", { name: "Give it" }).click();
    await page.getByText(`${request.id} is answered`).waitFor();
    assert.ok(!(await page.content()).includes("sk_test_page_1"));
  });
  assert.deepEqual(answer, { answer: "provided", names: ["STRIPE_SECRET_KEY"], reuse: true });
});

test("a file is uploaded", async () => {
  const request = await ostler.ask("file");
  const bytes = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2, 255]);
  const answer = await settle(request, (page) =>
    page.getByLabel("Choose a file").last().setInputFiles({ name: "logo.png", mimeType: "image/png", buffer: bytes }),
  );
  assert.equal(answer.answer, "path");
  assert.deepEqual(readFileSync(join(ostler.project, answer.path)), bytes);
});

test("a permission that an agent asks for is denied, with a reason", async () => {
  const request = await ostler.ask("permission");
  const answer = await settle(request, async (page) => {
    await page.keyboard.press("w");
    await page.keyboard.type("keep it for now");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Deny", exact: true }).click();
  });
  assert.deepEqual(answer, { answer: "denied", reason: "keep it for now" });
});

test("a tool is allowed for the session, exactly as the card says, and revoked", async () => {
  const session = await ostler.claude("permission, please");
  const request = await ostler.asked(session);
  const answer = await settle(request, async (page) => {
    // What it would run stands there, whatever somebody calls it.
    const note = await page.getByRole("note").innerText();
    assert.ok(note.indexOf("rm -rf build") < note.indexOf("List the files"), note);
    assert.equal(await page.locator(".inbox-command").innerText(), "rm -rf build");
    await page.getByRole("button", { name: "every use of Bash" }).waitFor();
    const offers = await page.locator(".inbox-choices .inbox-label").allInnerTexts();
    assert.deepEqual(offers, [
      "Allow",
      "allow for this session: Bash, exactly this: rm -rf build",
      "Deny",
      "allow for this session: every use of Bash",
    ]);
    await page.keyboard.press("2");
  });
  const rule = { tool: "Bash", scope: "call", input: { command: "rm -rf build" } };
  assert.deepEqual(answer, { answer: "approved", for_session: true, rule });
  const page = await visit(browser, ostler, { place: [session] });
  const rules = page.getByRole("list", { name: "Allowed for this session" });
  await rules.getByText("Bash, exactly this: rm -rf build").waitFor();
  await rules.getByRole("button", { name: "Revoke" }).click();
  await rules.waitFor({ state: "detached" });
  assert.deepEqual(page.wrong, []);
  await page.context().close();
});

test("an edit is a coloured diff of a file of the project, and words deny it", async () => {
  const session = await ostler.claude("edit, please");
  const request = await ostler.asked(session);
  for (const options of [{}, PHONE, { ...PHONE, locale: "ko-KR", colorScheme: "dark" }]) {
    const page = await visit(browser, ostler, { place: [request.id], ...options });
    await card(page, request);
    const note = page.getByRole("note");
    await note.getByText("src/prices.js", { exact: true }).waitFor();
    assert.ok(!(await note.innerText()).includes(ostler.project), "the path is one of the project");
    const lines = await note.locator(".diff-line").evaluateAll((all) => all.map((it) => `${it.className.split(" ")[1]} ${getComputedStyle(it).backgroundColor} ${it.querySelector(".lines").textContent.trim()}`));
    const kinds = lines.map((line) => line.split(" ")[0]);
    assert.deepEqual(kinds, ["same", "removed", "added", "added", "same"]);
    const colours = ["same", "removed", "added"].map((kind) => /rgba?\([^)]*\)/.exec(lines[kinds.indexOf(kind)])[0]);
    assert.equal(new Set(colours).size, 3, colours.join(" "));
    assert.ok(lines[2].includes("has to wrap somewhere") && lines[3].endsWith("return Math.round(gross);"), lines.join("\n"));
    await note.getByText("replace_all").waitFor();
    await note.getByText("Round the price").waitFor();
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth), false, "nothing is wider than the screen");
    assert.deepEqual(await findings(page), []);
    await leave(page);
  }
  const answer = await settle(request, async (page) => {
    await page.keyboard.press("w");
    await page.keyboard.type("round in the till instead");
    await page.keyboard.press("Enter");
  });
  assert.deepEqual(answer, { answer: "denied", reason: "round in the till instead" });
});

test("a long edit scrolls in its own box and does not lengthen the page", async () => {
  const session = await ostler.claude("rewrite, please");
  const request = await ostler.asked(session);
  for (const options of [{}, { viewport: { width: 640, height: 800 } }, PHONE]) {
    const page = await visit(browser, ostler, { place: [request.id], ...options });
    await card(page, request);
    assert.equal(await page.locator(".inbox-choice").count(), 0);
    await page.getByText("The answers appear once all of it is shown.").waitFor();
    await page.getByRole("button", { name: "Show all" }).click();
    await page.getByRole("button", { name: "Allow", exact: true }).waitFor();
    const box = await page.locator(".inbox-changes .diff-scroll").evaluate((it) => ({ inside: it.scrollHeight, seen: it.clientHeight }));
    assert.ok(box.inside > 2 * box.seen, `the edit is longer than its box: ${JSON.stringify(box)}`);
    const { whole, content } = await page.evaluate(() => ({
      whole: document.documentElement.scrollHeight,
      content: document.querySelector("main").getBoundingClientRect().bottom + window.scrollY,
    }));
    // A bar of the page may be below its content.
    assert.ok(whole <= Math.max(content, page.viewportSize().height) + 120, `${whole} px of page, ${content} px of content`);
    await leave(page);
  }
});

test("a package says what approval runs, and is installed", async () => {
  const request = await ostler.ask("package");
  const answer = await settle(request, async (page) => {
    await page.getByText("approval runs: npm").waitFor();
    await page.keyboard.press("1");
  });
  assert.equal(answer.answer, "approved");
  await until("the package manager was asked", () => existsSync(join(ostler.project, "npm-was-asked")));
});

test("a package that cannot be installed is not offered, and the numbers stay", async () => {
  const request = await ostler.ask("local_package");
  const answer = await settle(request, async (page) => {
    await page.getByText(/^it could not be installed here: /).waitFor();
    assert.equal(await page.getByRole("button", { name: /approve/i }).count(), 0);
    await page.keyboard.press("1");
    assert.equal((await ostler.json("show", request.id)).settled, null, "nothing is chosen by 1");
    await page.keyboard.press("2");
  });
  assert.equal(answer.answer, "denied");
});

test("an error is tried again", async () => {
  const request = await ostler.ask("error");
  const answer = await settle(request, (page) => page.keyboard.press("1"));
  assert.equal(answer.answer, "retry");
});

test("what cannot be understood is shown as it was said, and goes on", async () => {
  const request = await ostler.ask("fault");
  const answer = await settle(request, async (page) => {
    await page.locator(".inbox-context").getByText("category: nonsense").waitFor();
    await page.keyboard.press("1");
  });
  assert.equal(answer.answer, "go_on");
});

test("a budget is raised by so much", async () => {
  const request = await ostler.ask("work", "--max-time", "1s");
  const answer = await settle(request, async (page) => {
    await page.keyboard.press("w");
    await page.keyboard.type("30m");
    await page.keyboard.press("Enter");
  });
  assert.deepEqual(answer, { answer: "raised", by: 1_800_000 });
});

test("what may be somebody else's words is not approved by one key", async () => {
  const session = await ostler.claude("marked, please");
  const request = await ostler.asked(session);
  assert.equal(request.mark.source, "tool_output");
  const answer = await settle(request, async (page) => {
    await page.getByText("also stands in the output of `cat README.md` (Bash)").waitFor();
    const focused = () => page.evaluate(() => document.activeElement?.tagName);
    assert.equal(await focused(), "H1");
    await page.keyboard.press("Enter");
    await page.keyboard.press("1");
    assert.equal(await focused(), "BUTTON");
    assert.equal((await ostler.json("show", request.id)).settled, null);
    await page.keyboard.press("Enter");
  });
  assert.equal(answer.text, "Yes");
});

test("what answers itself counts down, and then says that its time was over", async () => {
  const request = await ostler.ask("optional");
  const page = await visit(browser, ostler, { place: [request.id] });
  await card(page, request);
  const left = page.locator(".inbox-head").getByText(/^\d+:\d\d:\d\d left$/);
  const first = await left.innerText();
  await until("it counts", async () => (await left.innerText()) < first);
  // The page has waited for a day: only the server says that it is over, and until then it can be answered.
  await page.clock.install();
  await page.clock.setFixedTime(request.expires_at_ms + 60_000);
  await page.clock.runFor(2000);
  await page.locator(".inbox-head .attention", { hasText: "0:00 left" }).waitFor();
  await page.context().close();
  await ostler.tell("cancel", request.session);
  const settings = join(ostler.project, "ostler.toml");
  writeFileSync(settings, '[patience]\nquestion = "15s"\n');
  await ostler.tell("trust", "--yes");
  const other = await visit(browser, ostler);
  const short = await ostler.ask("optional");
  rmSync(settings);
  await other.locator(".inbox-head .attention", { hasText: /^0:\d\d left$/ }).waitFor();
  await other.getByText("its time was over").waitFor();
  assert.deepEqual(await ostler.settled(short.id), { answer: "text", text: "green" });
  assert.deepEqual(other.wrong, []);
  await other.context().close();
});

test("what cannot be brought to an agent is a card of its own, and goes on when there is room", async () => {
  const request = await ostler.ask("token");
  // Where the values are to be drafted there is a folder.
  const draft = join(ostler.home, "sessions", request.session, "values.draft");
  mkdirSync(draft);
  const page = await visit(browser, ostler, { place: [request.id] });
  await card(page, request);
  await page.getByLabel("MAIL_TOKEN (not shown)").fill("mt_test_page_2");
  await page.getByRole("button", { name: "Give it" }).click();
  const stall = await until("it stands still", async () => {
    const open = await ostler.json("inbox");
    return open.find((it) => it.session === request.session && it.ask.kind === "stall");
  });
  await card(page, stall);
  await page.locator(".inbox-head", { hasText: "stands still" }).waitFor();
  await page.getByRole("heading", { name: /values/ }).waitFor();
  rmSync(draft, { recursive: true });
  await page.keyboard.press("1");
  assert.equal((await ostler.settled(stall.id)).answer, "go_on");
  await until("it goes on", async () => (await ostler.json("ps")).some((it) => it.id === request.session && it.status === "active"));
  assert.deepEqual(page.wrong, []);
  await page.context().close();
});

test("the next card follows, and none replaces one that is being read", async () => {
  const first = await ostler.ask("text");
  const page = await visit(browser, ostler, { place: [first.id] });
  await card(page, first);
  await page.keyboard.type("half a sen");
  const second = await ostler.ask("choice");
  const third = await ostler.ask("confirm");
  await page.getByLabel("1 of 3").waitFor();
  assert.equal(await page.evaluate(() => document.activeElement?.value), "half a sen");
  // To another card and back: what was begun is still there.
  await page.keyboard.press("Escape");
  await page.keyboard.press("j");
  await card(page, second);
  await page.keyboard.press("k");
  await card(page, first);
  assert.equal(await page.locator("textarea").inputValue(), "half a sen");
  // Who only looks around is in no field; who wants to write goes on where it was.
  await page.keyboard.press("w");
  await page.keyboard.type("tence");
  await page.keyboard.press("Enter");
  await card(page, second);
  await page.keyboard.press("3");
  await card(page, third);
  await page.keyboard.press("1");
  await page.getByRole("heading", { name: "Nothing needs you." }).waitFor();
  assert.equal((await ostler.settled(first.id)).text, "half a sentence");
  assert.equal((await ostler.settled(second.id)).text, "SQLite");
  assert.deepEqual(page.wrong, []);
  await page.context().close();
});

test("a key that is held down answers one card", async () => {
  const first = await ostler.ask("choice");
  const second = await ostler.ask("choice");
  const page = await visit(browser, ostler, { place: [first.id] });
  await card(page, first);
  const press = () => page.keyboard.down("2");
  await press();
  await card(page, second);
  // A card takes no key in its first moment; the key is held for longer than that.
  for (let n = 0; n < 12; n += 1) {
    await press();
    await page.waitForTimeout(100);
  }
  await page.keyboard.up("2");
  assert.equal((await ostler.settled(first.id)).text, "MySQL");
  assert.deepEqual((await ostler.json("inbox")).map((request) => request.id), [second.id]);
  await page.keyboard.press("2");
  assert.equal((await ostler.settled(second.id)).text, "MySQL");
  await page.context().close();
});

test("commands that are new in the configuration wait above the cards", async () => {
  const told = join(ostler.root, "told");
  const channel = (name, script) => `[[notify]]\nname = "${name}"\ntype = "command"\ncommand = ["sh", "-c", "${script}"]\nafter = "0s"\n`;
  ostler.configure(channel("bell", `touch ${told}`));
  const request = await ostler.ask("choice");
  const page = await visit(browser, ostler, { place: [request.id] });
  await card(page, request);
  const notice = page.getByRole("region", { name: "Your configuration has new or changed commands" });
  await notice.getByText(`touch ${told}`).waitFor();
  await notice.getByRole("button", { name: "Leave them waiting" }).click();
  await notice.waitFor({ state: "detached" });
  // What has changed since is shown again, in full.
  ostler.configure(channel("bell", `touch ${told}; echo '<b>rung</b>'`));
  await notice.getByText("echo '<b>rung</b>'").waitFor();
  assert.ok(!existsSync(told), "nothing has run yet");
  await notice.getByRole("button", { name: "Let the server run these" }).click();
  await notice.waitFor({ state: "detached" });
  await until("the command runs", () => existsSync(told));
  ostler.configure("");
  assert.deepEqual(page.wrong, []);
  await page.context().close();
});
