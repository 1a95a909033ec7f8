// What happens under the hands of somebody: a card that is settled while they type, keys, the address, files, secrets.
import assert from "node:assert/strict";
import { test } from "node:test";

import { browser, ostler, stage } from "./stage.mjs";
import { card, existsSync, join, readFileSync, until, visit, writeFileSync } from "./support.mjs";

stage({ cancels: true });

async function close(page) {
  assert.deepEqual(page.wrong, []);
  await page.context().close();
}

/** Which requests wait, in the order in which they came. */
const waiting = async () => (await ostler.json("inbox")).map((request) => request.id);

/** Starts a program that asks for a key, and writes it into a file once it has it. Gives the request. */
async function asksForKey(to) {
  const wait = `until bash -c 'test -n "\${TLS_KEY+x}"'; do sleep 0.1; done`;
  const script = `printf '${KEY}'; ${wait}; bash -c 'printf %s "$TLS_KEY" >${to}.part; mv ${to}.part ${to}'`;
  const begun = await ostler.json("run", "--detach", "--", "bash", "-c", script);
  return ostler.asked(begun.sessions[0].id);
}

const KEY = "[DEPENDENCY_REQUEST]\\ntype: api_key\\nname: TLS_KEY\\ndescription: To serve.\\nrequired: true\\n[/DEPENDENCY_REQUEST]\\n";

test("a card that is settled while somebody types keeps their words and their place, and no other card hears a key", async () => {
  const first = await ostler.ask("text");
  const others = [await ostler.ask("choice"), await ostler.ask("confirm")];
  const page = await visit(browser, ostler, { place: [first.id] });
  await card(page, first);
  await page.keyboard.type("call it bil");
  await ostler.tell("answer", first.id, "from a colleague");
  await page.getByText("Settled meanwhile: from a colleague").waitFor();
  await page.getByText("What you had typed was not sent.").waitFor();
  // What comes now was meant for the card that was there.
  await page.keyboard.type("ling and n 1 2 w j");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Enter");
  const field = page.locator(".inbox-card textarea");
  assert.equal(await field.inputValue(), "call it bil");
  assert.ok(await field.evaluate((it) => it.readOnly && it === document.activeElement));
  // Nor right after it is left.
  await page.keyboard.press("Escape");
  for (const key of ["n", "1", "2", "Enter", "n", "1"]) await page.keyboard.press(key);
  await page.getByText("Settled meanwhile").waitFor();
  await page.waitForTimeout(600);
  assert.deepEqual(await waiting(), others.map((it) => it.id));
  assert.equal((await ostler.settled(first.id)).text, "from a colleague");
  // Who has looked goes on by pointing, and after a pause by keys.
  await page.getByRole("button", { name: "Next", exact: true }).click();
  await card(page, others[0]);
  await page.keyboard.press("2");
  assert.equal((await ostler.settled(others[0].id)).text, "MySQL");
  await close(page);
});

test("the same for a secret, and for a session that is cancelled", async () => {
  const first = await ostler.ask("key");
  const other = await ostler.ask("permission");
  const page = await visit(browser, ostler, { place: [first.id] });
  await card(page, first);
  await page.keyboard.type("sk_test_");
  await ostler.tell("cancel", first.session);
  await page.getByText("Settled meanwhile").waitFor();
  await page.keyboard.type("n 1 j 2");
  await page.keyboard.press("Enter");
  const field = page.getByLabel("STRIPE_SECRET_KEY (not shown)");
  assert.equal(await field.inputValue(), "sk_test_");
  assert.ok(await field.evaluate((it) => it.readOnly && it === document.activeElement));
  assert.deepEqual(await waiting(), [other.id]);
  await close(page);
});

test("a card takes no key before there is a pause", async () => {
  const first = await ostler.ask("choice");
  const second = await ostler.ask("choice");
  const page = await visit(browser, ostler, { place: [first.id] });
  await card(page, first);
  // Somebody presses on and on, for longer than a card is new. From within, so that no load makes a pause of its own.
  await page.evaluate(async () => {
    for (let n = 0; n < 60; n += 1) {
      document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "2", code: "Digit2", bubbles: true, cancelable: true }));
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  });
  await page.waitForSelector(`.inbox-card[aria-labelledby="${second.id}-asks"]`);
  assert.deepEqual(await waiting(), [second.id]);
  await card(page, second);
  await page.keyboard.press("2");
  assert.equal((await ostler.settled(second.id)).text, "MySQL");
  await close(page);
});

test("a question that is not there does not keep anybody from the others", async () => {
  const page = await visit(browser, ostler);
  await page.goto(new URL("/requests/q_9999", page.url()).href);
  await page.getByRole("alert").getByText("There is no such question.").waitFor();
  await page.locator(".sidebar").getByRole("link", { name: "Inbox" }).click();
  await page.getByRole("heading", { name: /Nothing needs you|Here stands what needs you/ }).waitFor();
  const request = await ostler.ask("choice");
  await card(page, request);
  await page.goto(new URL("/requests/q_9999", page.url()).href);
  await page.getByRole("button", { name: "Next", exact: true }).click();
  await card(page, request);
  await page.waitForURL(`**/requests/${request.id}`);
  await page.context().close();
});

test("the address follows from card to card, and a notification leads to its card every time", async () => {
  const first = await ostler.ask("choice");
  const second = await ostler.ask("confirm");
  const page = await visit(browser, ostler, { place: [first.id] });
  await card(page, first);
  await page.keyboard.press("j");
  await card(page, second);
  await page.waitForURL(`**/requests/${second.id}`);
  await page.reload();
  await card(page, second);
  await page.keyboard.press("k");
  await card(page, first);
  // The same link again, as from a notification that is still there.
  await page.evaluate((to) => (history.pushState(null, "", to), dispatchEvent(new PopStateEvent("popstate"))), `/requests/${second.id}`);
  await card(page, second);
  await page.keyboard.press("1");
  await card(page, first);
  await page.waitForURL(`**/requests/${first.id}`);
  await page.keyboard.press("1");
  await page.getByRole("heading", { name: "Nothing needs you." }).waitFor();
  assert.equal(new URL(page.url()).pathname, "/");
  await close(page);
});

test("j goes past a card that wants a value, and Escape leaves every field", async () => {
  const first = await ostler.ask("choice");
  const key = await ostler.ask("key");
  const file = await ostler.ask("file");
  const page = await visit(browser, ostler, { place: [first.id] });
  await card(page, first);
  for (const next of [key, file, first, key]) {
    await page.keyboard.press("j");
    await card(page, next);
  }
  assert.equal(await page.getByLabel("STRIPE_SECRET_KEY (not shown)").inputValue(), "");
  await page.getByLabel("STRIPE_SECRET_KEY (not shown)").focus();
  await page.keyboard.press("Escape");
  await page.keyboard.press("j");
  await card(page, file);
  await page.getByLabel("A path on the machine").focus();
  await page.keyboard.press("Escape");
  await page.keyboard.press("j");
  await card(page, first);
  await close(page);
});

test("a card that was settled long ago says so, and counts nothing", async () => {
  const old = await ostler.ask("choice");
  await ostler.tell("answer", old.id, "2");
  await ostler.settled(old.id);
  await ostler.ask("confirm");
  await ostler.ask("text");
  const page = await visit(browser, ostler, { place: [old.id] });
  await page.getByText("Settled: MySQL").waitFor();
  await page.getByText(/^a person answered · /).waitFor();
  await page.getByText("The answer: read by its process").waitFor();
  assert.equal(await page.getByText("meanwhile").count(), 0);
  assert.equal(await page.locator(".inbox-turn").count(), 0);
  await close(page);
});

test("a secret of several lines reaches the agent as it is", async () => {
  const pem = `-----BEGIN PRIVATE KEY-----\nMIIEvQ page ${Date.now()}\n\n  two spaces\n-----END PRIVATE KEY-----\n`;
  const got = join(ostler.project, "got.pem");
  const request = await asksForKey(got);
  const page = await visit(browser, ostler, { place: [request.id] });
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await card(page, request);
  await page.evaluate((text) => navigator.clipboard.writeText(text), pem);
  const field = page.getByLabel("TLS_KEY (not shown)");
  await field.focus();
  await page.keyboard.press("Control+V");
  await page.getByText("5 lines, kept as they are.").waitFor();
  assert.equal(await field.evaluate((it) => getComputedStyle(it).webkitTextSecurity), "disc");
  await page.getByRole("button", { name: "Give it" }).click();
  await until("the agent has it", () => existsSync(got));
  assert.equal(readFileSync(got, "utf8"), pem);
  await close(page);
});

test("a file may be dropped anywhere on the card, one at a time, and never opens in place of the page", async () => {
  const request = await ostler.ask("file");
  const page = await visit(browser, ostler, { place: [request.id] });
  await card(page, request);
  const drop = (selector, names) =>
    page.evaluate(
      ([where, files]) => {
        const dataTransfer = new DataTransfer();
        for (const name of files) dataTransfer.items.add(new File(["bytes of " + name], name));
        const event = (kind) => new DragEvent(kind, { dataTransfer, bubbles: true, cancelable: true });
        const element = document.querySelector(where);
        element.dispatchEvent(event("dragover"));
        // Who does not prevent it has the browser open the file.
        return !element.dispatchEvent(event("drop"));
      },
      [selector, names],
    );
  assert.ok(await drop(".sidebar", ["beside.png"]), "beside the card it does nothing");
  assert.ok(await drop(".inbox-card h1", ["a.png", "b.png"]));
  await page.getByRole("alert").getByText("One file is asked for, and these are 2.").waitFor();
  assert.deepEqual(await waiting(), [request.id]);
  assert.ok(await drop(".inbox-card h1", ["logo.png"]));
  const answer = await ostler.settled(request.id);
  assert.equal(readFileSync(join(ostler.project, answer.path), "utf8"), "bytes of logo.png");
  await close(page);
});

/** Makes the way to the server a slow one. Gives what sets how many bytes go in a second; -1 for all. */
async function slowWay(page) {
  const network = await page.context().newCDPSession(page);
  const slow = (bytes) =>
    network.send("Network.emulateNetworkConditions", { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: bytes });
  await network.send("Network.enable");
  await slow(200_000);
  return slow;
}

test("a file on its way says how far it is, can be taken back, and be chosen again", async () => {
  const request = await ostler.ask("file");
  const page = await visit(browser, ostler, { place: [request.id] });
  await card(page, request);
  const slow = await slowWay(page);
  const big = join(ostler.root, "big.bin");
  writeFileSync(big, Buffer.alloc(3 << 20, 7));
  const input = page.getByLabel("Choose a file").last();
  await input.setInputFiles(big);
  await page.getByText("Sending big.bin …").waitFor();
  await page.getByText(/^[1-9][\d.]* [KM]iB of 3 MiB · \d+ %$/).waitFor();
  await page.getByRole("button", { name: "Do not send it" }).click();
  await page.getByText("Drop a file here, or choose one").waitFor();
  assert.equal(await page.getByRole("alert").count(), 0, "nothing has gone wrong");
  assert.deepEqual(await waiting(), [request.id]);
  await slow(-1);
  await input.setInputFiles(big);
  const answer = await ostler.settled(request.id);
  assert.equal(readFileSync(join(ostler.project, answer.path)).length, 3 << 20);
  assert.deepEqual(page.wrong, []);
  await page.context().close();
});

test("who looks at another card meanwhile finds how far the file is, and the card they read stays", async () => {
  const request = await ostler.ask("file");
  const other = await ostler.ask("text");
  const page = await visit(browser, ostler, { place: [request.id] });
  await card(page, request);
  const slow = await slowWay(page);
  const big = join(ostler.root, "slow.bin");
  writeFileSync(big, Buffer.alloc(3 << 20, 9));
  await page.getByLabel("Choose a file").last().setInputFiles(big);
  await page.getByText("Sending slow.bin …").waitFor();
  await page.keyboard.press("j");
  await card(page, other);
  await page.keyboard.press("Escape");
  await page.keyboard.press("k");
  await card(page, request);
  await page.getByText("Sending slow.bin …").waitFor();
  await page.getByText(/^[1-9][\d.]* [KM]iB of 3 MiB · \d+ %$/).waitFor();
  await page.keyboard.press("j");
  await card(page, other);
  await slow(-1);
  const answer = await ostler.settled(request.id);
  assert.equal(readFileSync(join(ostler.project, answer.path)).length, 3 << 20);
  await page.locator(".inbox-said", { hasText: request.id }).waitFor();
  await card(page, other);
  await close(page);
});

test("a file that does not move any more is given up, on the card that is come back to as well, and sent again", async () => {
  const request = await ostler.ask("file");
  const other = await ostler.ask("text");
  const page = await visit(browser, ostler, { place: [request.id] });
  await card(page, request);
  const asked = [];
  // Nobody takes it, and nobody says so.
  const hold = (route) => void asked.push(route.request().headers()["idempotency-key"]);
  await page.route("**/file?*", hold);
  await page.clock.install();
  const still = join(ostler.root, "still.bin");
  writeFileSync(still, "does not move");
  await page.getByLabel("Choose a file").last().setInputFiles(still);
  await page.getByText("Sending still.bin …").waitFor();
  await until("the file on its way", () => asked.length === 1);
  await page.keyboard.press("j");
  await page.locator(`[id="${other.id}-asks"]`).waitFor();
  await page.clock.fastForward(61_000);
  await page.keyboard.press("Escape");
  await page.keyboard.press("k");
  await page.locator(`[id="${request.id}-asks"]`).waitFor();
  await page.clock.runFor(1_000);
  const alert = page.locator(".inbox-card").getByRole("alert");
  await alert.waitFor();
  assert.deepEqual(await waiting(), [request.id, other.id]);
  await page.unroute("**/file?*", hold);
  const [again] = await Promise.all([
    page.waitForRequest(/\/file\?/),
    alert.getByRole("button", { name: "Try again" }).click(),
  ]);
  assert.equal(again.headers()["idempotency-key"], asked[0], "it is the same answer");
  const answer = await ostler.settled(request.id);
  assert.equal(readFileSync(join(ostler.project, answer.path), "utf8"), "does not move");
  await page.context().close();
});

test("what an agent says is inert on the sheet of keys and in the line that tells what was answered", async () => {
  const request = await ostler.ask("hostile");
  const page = await visit(browser, ostler, { place: [request.id] });
  await card(page, request);
  await page.keyboard.press("?");
  const row = page.getByRole("dialog", { name: "Keys" }).locator(".fact", { hasText: "toor" });
  assert.match(await row.innerText(), /U\+202Etoor/);
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.keyboard.press("2");
  const said = page.locator(".inbox-said", { hasText: "toor" });
  assert.match(await said.innerText(), /U\+202Etoor/);
  await close(page);
});

test("an address without an id leads nowhere, asks for nothing, and says so", async () => {
  const page = await visit(browser, ostler);
  const nowhere = [
    ["/nowhere", "There is nothing at this address."],
    ["/requests/%E0%A4%A", "There is no such question."],
    ["/requests/%252e%252e%2Fstatus", "There is no such question."],
    ["/requests/s_1", "There is no such question."],
    ["/runs/%252e%252e%2Fstatus", "There is no such run."],
    ["/sessions/%252e%252e%2Fstatus", "There is no such session."],
    ["/sessions/s_1%3Fx=1", "There is no such session."],
  ];
  const asked = [];
  page.on("request", (it) => asked.push(new URL(it.url()).pathname));
  for (const [to, said] of nowhere) {
    await page.goto(new URL(to, page.url()).href);
    await page.getByRole("heading", { name: said }).waitFor();
  }
  const odd = asked.filter((it) => /^\/api\/v1\/(?:requests|runs|sessions)\//.test(it));
  assert.deepEqual(odd, []);
  await close(page);
});

test("a card that is open learns that whoever asked has died", async () => {
  const request = await ostler.ask("choice");
  const page = await visit(browser, ostler, { place: [request.id] });
  await card(page, request);
  const gone = page.getByText("the program that asked has ended");
  assert.equal(await gone.count(), 0);
  const sessions = await ostler.json("ps");
  process.kill(sessions.find((it) => it.id === request.session).pid, "SIGKILL");
  await gone.waitFor();
  await close(page);
});

test("what is typed on a card that wants a value, in no field of it, denies nothing", async () => {
  const first = await ostler.ask("choice");
  const key = await ostler.ask("key");
  const file = await ostler.ask("file");
  const page = await visit(browser, ostler, { place: [first.id] });
  for (const wants of [key, file]) {
    await page.goto(new URL(`/requests/${first.id}`, page.url()).href);
    await card(page, first);
    for (let at = first; at !== wants; at = at === first ? key : file) await page.keyboard.press("j");
    await card(page, wants);
    for (const digit of "1234567890") await page.keyboard.press(digit);
    await page.getByText("Numbers choose nothing here").waitFor();
    await card(page, wants);
    assert.deepEqual(await waiting(), [first.id, key.id, file.id]);
  }
  await page.keyboard.press("?");
  const sheet = page.getByRole("dialog", { name: "Keys" });
  await sheet.locator(".fact", { hasText: "Deny" }).locator("kbd", { hasText: "Delete" }).waitFor();
  await page.keyboard.press("Escape");
  await sheet.waitFor({ state: "detached" });
  await page.keyboard.press("Delete");
  assert.equal((await ostler.settled(file.id)).answer, "denied");
  assert.deepEqual(await waiting(), [first.id, key.id]);
  await close(page);
});

test("under a thumb, Return begins a line and the button sends", async () => {
  const request = await ostler.ask("text");
  const page = await visit(browser, ostler, { place: [request.id], viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true });
  await card(page, request);
  const field = page.getByLabel("Your answer …");
  await field.tap();
  await page.keyboard.type("bill");
  await page.keyboard.press("Enter");
  await page.keyboard.type("ing");
  assert.equal(await field.inputValue(), "bill\ning");
  assert.deepEqual(await waiting(), [request.id]);
  await page.getByRole("button", { name: "Answer", exact: true }).tap();
  assert.equal((await ostler.settled(request.id)).text, "bill\ning");
  await close(page);
});
