// The other places: signing in and out, settings, secrets, trust, agents, projects.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { createServer } from "node:net";
import { basename } from "node:path";
import { test } from "node:test";

import { browser, ostler, stage } from "./stage.mjs";
import { existsSync, join, OSTLER, Ostler, PATIENCE_MS, readFileSync, until, visit, writeFileSync } from "./support.mjs";

stage();

/** Goes to another place as a link would. */
async function go(page, to) {
  await page.locator(`.sidebar a[href="${to}"]`).click();
  await page.waitForSelector("h1");
}

test("the first visit says what this is", async () => {
  const page = await visit(browser, ostler);
  await page.getByRole("heading", { name: "Here stands what needs you." }).waitFor();
  await page.getByRole("button", { name: "Play the demo" }).click();
  await page.getByRole("heading", { name: "Which database is the shop to use?" }).waitFor();
  await page.waitForSelector('.inbox-card[data-ready="true"]');
  await page.keyboard.press("1");
  await page.getByRole("heading", { name: /Nothing needs you/ }).waitFor();
  assert.deepEqual(page.wrong, []);
  await page.context().close();
});

test("a link signs in once; who is not signed in is told how", async () => {
  const link = await ostler.link();
  const context = await browser.newContext({ locale: "en-US" });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  await page.goto(link);
  await page.waitForSelector(".shell");
  assert.ok(!page.url().includes("#"), "the code does not stay in the address");
  const other = await (await browser.newContext({ locale: "en-US" })).newPage();
  await other.goto(link);
  await other.getByText("This link does not sign you in.").waitFor();
  await other.goto(new URL("/", link).href);
  await other.getByText("You are not signed in here.").waitFor();
  await other.context().close();
  await context.close();
});

test("a fresh link in the same tab signs in, and does not stay in the address", async () => {
  const used = await ostler.link();
  const first = await (await browser.newContext({ locale: "en-US" })).newPage();
  await first.goto(used);
  await first.waitForSelector(".shell");
  await first.context().close();
  const page = await (await browser.newContext({ locale: "en-US" })).newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  await page.goto(used);
  await page.getByText("This link does not sign you in.").waitFor();
  // Only what stands behind the # is another: nothing is loaded for that.
  await page.evaluate((to) => (window.location.href = to), await ostler.link("/settings"));
  await page.getByRole("heading", { name: "Settings" }).waitFor();
  assert.ok(!page.url().includes("#") && page.url().endsWith("/settings"), page.url());
  // Two that are called the same are told apart by when they came, and by their id.
  const names = await page.getByRole("rowheader").allInnerTexts();
  assert.equal(new Set(names).size, names.length, names.join());
  await page.getByRole("cell", { name: /\d\d:\d\d$/ }).first().waitFor();
  await page.context().close();
});

test("who signs out is out, and who is taken out too", async () => {
  const one = await visit(browser, ostler, { place: ["/settings"] });
  const two = await visit(browser, ostler);
  await one.reload();
  await one.getByText("(this one)").waitFor();
  const others = one.getByRole("button", { name: /^Take out / });
  await others.first().waitFor();
  // Whoever else is there goes, one after another.
  for (let count = await others.count(); count > 0; count -= 1) {
    await others.first().click();
    await one.waitForFunction((n) => document.querySelectorAll("button[aria-label^='Take out']").length < n, count);
  }
  await two.reload();
  await two.getByText("You are not signed in here.").waitFor();
  await one.getByRole("button", { name: "Sign out here" }).click();
  await one.getByText("You are not signed in here.").waitFor();
  await one.context().close();
  await two.context().close();
});

test("language and theme are chosen and kept", async () => {
  const page = await visit(browser, ostler, { place: ["/settings"] });
  await page.getByLabel("Language").selectOption("ko");
  await page.getByRole("heading", { name: "설정", exact: true }).waitFor();
  await page.getByLabel("화면 색").selectOption("dark");
  const ground = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const dark = await ground();
  await page.reload();
  await page.getByRole("heading", { name: "설정", exact: true }).waitFor();
  assert.equal(await ground(), dark);
  assert.deepEqual(page.wrong, []);
  await page.context().close();
});

test("another browser is signed in by a link from here, and a script by a token", async () => {
  const page = await visit(browser, ostler, { place: ["/settings"] });
  await page.getByRole("button", { name: "Make a link" }).click();
  const link = await page.locator("code.once").first().innerText();
  const other = await (await browser.newContext({ locale: "en-US" })).newPage();
  await other.goto(link);
  await other.waitForSelector(".shell");
  await other.context().close();
  await page.getByLabel("Its name").fill("nightly");
  await page.getByRole("button", { name: "Make it" }).click();
  const token = await page.locator("form code.once").innerText();
  const address = new URL("/api/v1/status", page.url());
  const answer = await fetch(address, { headers: { Authorization: `Bearer ${token}` } });
  assert.equal(answer.status, 200);
  await page.getByRole("rowheader", { name: "nightly" }).waitFor();
  await page.context().close();
});

test("a sign-in that another process wrote into the file is marked, in both languages, and taken out", async () => {
  const its = await Ostler.start();
  try {
    await its.tell("token", "make", "ci");
    await its.kill();
    const file = join(its.home, "sign-ins.json");
    const kept = JSON.parse(readFileSync(file, "utf8"));
    // It has the id of a good one, so that whoever removes it would remove that.
    kept.entries.push({ ...kept.entries[0], name: "evil", hash: "0".repeat(64) });
    writeFileSync(file, JSON.stringify(kept));
    await its.serve();
    const page = await visit(browser, its, { place: ["/settings"] });
    const row = page.getByRole("row", { name: /evil/ });
    await row.getByText("Not made by Ostler").waitFor();
    assert.equal(await page.getByText("Not made by Ostler").count(), 1);
    await page.getByLabel("Language").selectOption("ko");
    await row.getByText("Ostler가 만들지 않았습니다").waitFor();
    await row.getByRole("button").click();
    await row.waitFor({ state: "detached" });
    await page.getByRole("rowheader", { name: /^ci / }).waitFor();
    assert.ok(!readFileSync(file, "utf8").includes("evil"), "it is gone from the file");
    assert.deepEqual(page.wrong, []);
    await page.context().close();
  } finally {
    await its.end();
  }
});

test("a secret is kept by its name, and removed", async () => {
  await ostler.ask("text");
  const page = await visit(browser, ostler, { place: ["/secrets"] });
  await page.getByLabel("Name", { exact: true }).fill("DEPLOY_KEY");
  await page.getByLabel("Value (not shown)").fill("dk_live_page_2");
  // Several lines stay several lines.
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.evaluate(() => navigator.clipboard.writeText("one\ntwo\n"));
  await page.getByLabel("Value (not shown)").focus();
  await page.keyboard.press("Control+A");
  await page.keyboard.press("Control+V");
  await page.getByText("2 lines, kept as they are.").waitFor();
  const sent = page.waitForRequest((it) => it.url().endsWith("/api/v1/secrets") && it.method() === "POST");
  assert.ok(!(await page.getByLabel("Give it to whoever asks for it in this project, without asking you").isChecked()));
  await page.getByRole("button", { name: "Keep it" }).click();
  assert.equal((await sent).postDataJSON().value, "one\ntwo\n");
  await page.getByRole("rowheader", { name: "DEPLOY_KEY" }).waitFor();
  assert.ok(!(await page.content()).includes("dk_live_page_2"));
  await page.getByRole("button", { name: "Remove DEPLOY_KEY" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await page.getByText("No secrets are kept.").waitFor();
  assert.deepEqual(page.wrong, []);
  await page.context().close();
});

test("a vault with a passphrase is made on the page, and opened again after a restart", async () => {
  const locked = await Ostler.start('[vault]\nkey = "passphrase"\n');
  try {
    const page = await visit(browser, locked, { place: ["/secrets"] });
    await page.getByText("There is no vault yet.").waitFor();
    await page.getByLabel("Its passphrase (not shown)").fill("a long one");
    await page.getByLabel("The same once more").fill("a long owe");
    await page.getByText("The two are not the same.").waitFor();
    assert.ok(await page.getByRole("button", { name: "Open it" }).isDisabled());
    await page.getByLabel("The same once more").fill("a long one");
    await page.getByRole("button", { name: "Open it" }).click();
    await page.getByText("No secrets are kept.").waitFor();
    // Nobody asks while nobody answers.
    const place = page.url();
    await page.goto("about:blank");
    await locked.kill();
    await locked.serve();
    // The server answers commands a moment before it answers browsers.
    await until("the page is served", () => page.goto(place).then(() => true, () => false));
    await page.getByText("The vault is locked.").waitFor();
    assert.equal(await page.getByLabel("The same once more").count(), 0);
    await page.getByLabel("Its passphrase (not shown)").fill("a long one");
    await page.getByRole("button", { name: "Open it" }).click();
    await page.getByText("No secrets are kept.").waitFor();
    assert.deepEqual(page.wrong, []);
    await page.context().close();
  } finally {
    await locked.end();
  }
});

test("what a repository would run is shown and agreed to", async () => {
  await ostler.ask("text");
  execFileSync("git", ["config", "filter.shout.clean", "tr a-z A-Z"], { cwd: ostler.project, env: ostler.env });
  writeFileSync(join(ostler.project, ".gitattributes"), "*.txt filter=shout\n");
  const page = await visit(browser, ostler, { place: ["/trust"] });
  await page.getByText("filter.shout.clean = tr a-z A-Z").waitFor();
  await page.getByRole("button", { name: "Agree to all of this" }).click();
  await page.getByText("You have agreed to all of it.").waitFor();
  await page.getByRole("button", { name: "Take it back" }).click();
  await page.getByRole("button", { name: "Agree to all of this" }).waitFor();
  execFileSync("git", ["config", "--unset", "filter.shout.clean"], { cwd: ostler.project, env: ostler.env });
  await page.context().close();
});

test("a channel is tested from here, and says what is wrong", async () => {
  const heard = join(ostler.root, "heard");
  const channel = (name, script) => `[[notify]]\nname = "${name}"\ntype = "command"\ncommand = ["sh", "-c", "${script}"]\n`;
  const configuration = channel("bell", `echo $OSTLER_NOTICE_EVENT >>${heard}`) + channel("cracked", "exit 3");
  ostler.configure(configuration);
  // Commands that are new in the configuration wait for a person.
  await ostler.tell("trust", "--config", "--yes");
  const page = await visit(browser, ostler, { place: ["/notifications"] });
  await page.getByRole("button", { name: "Test bell" }).click();
  await page.getByText("A test has arrived at bell.").waitFor();
  await until("it was heard", () => existsSync(heard));
  await page.getByRole("button", { name: "Test cracked" }).click();
  await page.getByRole("alert").waitFor();
  assert.deepEqual(page.wrong, []);
  await page.context().close();
});

test("projects of the same name are told apart by their folders", async () => {
  const other = join(ostler.root, "elsewhere/shop");
  mkdirSync(other, { recursive: true });
  await ostler.json("run", "--detach", "--", "true");
  execFileSync(OSTLER, ["run", "--detach", "--", "true"], { cwd: other, env: ostler.env, stdio: "ignore" });
  const page = await visit(browser, ostler, { place: ["/sessions?show=all"] });
  await page.locator(".item", { hasText: "elsewhere/shop" }).waitFor();
  const name = `${basename(ostler.root)}/shop`;
  await page.locator(".item", { hasText: name }).first().waitFor();
  const choices = await page.getByLabel("Project").locator("option").allInnerTexts();
  assert.ok(choices.includes("elsewhere/shop") && choices.includes(name), choices.join());
  assert.deepEqual(page.wrong, []);
  await page.context().close();
});

test("an agent whose program is not there is known by that", async () => {
  ostler.configure('[agents.ghost]\ncommand = ["no-such-program", "{prompt}"]\ninstall = "npm install -g ghost-cli"\n');
  const page = await visit(browser, ostler, { place: ["/agents"] });
  const agent = (name) => page.getByRole("listitem").filter({ has: page.getByRole("heading", { name, exact: true }) });
  await agent("claude").getByText(/^✓ installed$/).waitFor();
  await agent("ghost").getByText("not installed: the server does not find its program").waitFor();
  await agent("ghost").getByText("npm install -g ghost-cli", { exact: true }).waitFor();
  assert.equal(await agent("claude").getByText("Install it with:").count(), 0);
  assert.equal(await agent("ghost").getByRole("link", { name: "Start a run" }).count(), 0);
  await agent("claude").getByRole("link", { name: "Start a run" }).click();
  await page.getByLabel("Who").selectOption("ghost");
  await page.getByText("The server does not find the program of ghost.").waitFor();
  await page.getByLabel("Who").selectOption("claude");
  await page.getByText("The server does not find the program of ghost.").waitFor({ state: "detached" });
  assert.deepEqual(page.wrong, []);
  await page.context().close();
});

test("what no event tells of is asked for anew by whoever comes to it", async () => {
  const page = await visit(browser, ostler, { place: ["/settings"] });
  await page.getByText("(this one)").waitFor();
  await go(page, "/agents");
  await page.getByRole("heading", { name: "claude", exact: true }).waitFor();
  await ostler.tell("token", "make", "from-a-terminal");
  ostler.configure('[agents.newcomer]\ncommand = ["claude", "{prompt}"]\n');
  await go(page, "/settings");
  await page.getByRole("rowheader", { name: "from-a-terminal" }).waitFor();
  await go(page, "/agents");
  await page.getByRole("heading", { name: "newcomer" }).waitFor();
  assert.deepEqual(page.wrong, []);
  await page.context().close();
});

test("what a project costs follows its sessions", async () => {
  const own = await Ostler.start();
  try {
    await own.json("run", "--detach", "--", "true");
    const page = await visit(browser, own, { place: ["/projects"] });
    const project = page.getByRole("listitem").filter({ has: page.getByRole("heading", { name: "shop" }) });
    await project.waitFor();
    assert.doesNotMatch(await project.innerText(), /\$/);
    const session = await own.claude("permission, please");
    const request = await own.asked(session);
    await own.tell("answer", request.id, "1");
    await project.getByText("$0.25").waitFor();
    assert.deepEqual(page.wrong, []);
    await page.context().close();
  } finally {
    await own.end();
  }
});

test("a vault that is opened elsewhere is open here too, and what is typed meanwhile stays", async () => {
  const own = await Ostler.start('[vault]\nkey = "passphrase"\n');
  const give = (input, ...args) => execFileSync(OSTLER, ["secret", ...args, "--stdin"], { env: own.env, cwd: own.project, input });
  try {
    give("correct horse\n", "unlock");
    give("dk_live_page_3", "set", "DEPLOY_KEY");
    // The next server knows nothing of its passphrase.
    await own.kill();
    await own.serve();
    const page = await visit(browser, own, { place: ["/secrets"] });
    const field = page.getByLabel("Its passphrase (not shown)");
    await field.fill("half a pass");
    await page.waitForResponse((it) => new URL(it.url()).pathname === "/api/v1/info");
    await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
    assert.equal(await field.inputValue(), "half a pass");
    give("correct horse\n", "unlock");
    await page.getByRole("rowheader", { name: "DEPLOY_KEY" }).waitFor();
    assert.deepEqual(page.wrong, []);
    await page.context().close();
  } finally {
    await own.end();
  }
});

test("projects and agents are listed", async () => {
  const page = await visit(browser, ostler, { place: ["/projects"] });
  await page.getByRole("heading", { name: "shop" }).first().waitFor();
  await go(page, "/agents");
  await page.getByRole("heading", { name: "claude" }).waitFor();
  await go(page, "/notifications");
  await page.getByRole("heading", { name: "This browser" }).waitFor();
  assert.deepEqual(page.wrong, []);
  await page.context().close();
});

test("a page says that another server answers at its address, and comes back to its own", async () => {
  // A port of its own, which both are told to use.
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address();
  probe.close();
  await once(probe, "close");
  const at = `[page]\nlisten = "127.0.0.1:${port}"\n`;
  const [mine, other] = [await Ostler.start(at), await Ostler.start('[page]\nlisten = "off"\n')];
  try {
    const page = await visit(browser, mine);
    await mine.kill();
    await other.kill();
    other.configure(at);
    await other.serve();
    await page.getByText("Another server answers at this address.").waitFor();
    assert.equal(await page.locator(".shell").count(), 0);
    await other.kill();
    await mine.serve();
    await page.waitForSelector(".shell");
    assert.deepEqual(page.wrong, []);
    await page.context().close();
  } finally {
    await mine.end();
    await other.serve();
    await other.end();
  }
});
