// Takes the pictures of docs/pictures: scripted agents under the real binary, in a real browser.
import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { BAKERY, card, join, launch, Ostler, PHASES, until, visit } from "./support.mjs";

const TO = fileURLToPath(new URL("../../docs/pictures", import.meta.url));
mkdirSync(TO, { recursive: true });
const browser = await launch();
const BAKER = '[agents.baker]\nabout = "a script"\ncommand = ["tasks-worker", "{prompt}"]\n';
const ROLES = ["PO", "designer", "backend", "QA"].map((name) => `[office.roles.${name}]\nagent = "role"\n`).join("\n");
const OFFICE = `[agents.role]\nabout = "a script"\ncommand = ["office-role"]\n\n${ROLES}`;
const ostler = await Ostler.start(`${BAKER}${OFFICE}${PHASES}`);

const start = async (name, ...args) => {
  const begun = await ostler.json("run", "--detach", "--worktree", "--", name, ...args);
  return begun.sessions[0].id;
};
const take = async (page, name) => {
  await page.evaluate(() => document.fonts.ready);
  // The terminal draws what has come by then.
  await page.waitForTimeout(1500);
  await page.screenshot({ path: join(TO, `${name}.png`) });
  await page.context().close();
};

try {
  const asking = await ostler.asked(await start("backend"));
  await ostler.asked(await start("payments"));
  const working = await start("docs");
  await ostler.tell("answer", (await ostler.asked(working)).id, "1");
  await ostler.printed(working, "writing the price list");

  const inbox = await visit(browser, ostler, { place: [asking.id], viewport: { width: 1280, height: 720 } });
  await card(inbox, asking);
  await take(inbox, "inbox");

  const session = await visit(browser, ostler, { place: [working], viewport: { width: 1280, height: 1000 } });
  await session.getByRole("button", { name: "What it has changed" }).click();
  await session.getByText("files changed").waitFor();
  await session.evaluate(() => window.scrollTo(0, 0));
  await take(session, "session");

  const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 };
  const onPhone = await visit(browser, ostler, { place: [asking.id], ...phone });
  await card(onPhone, asking);
  await take(onPhone, "phone");

  await ostler.tell("cancel", asking.session);
  const korean = await ostler.asked(await start("backend", "ko"));
  const inKorean = await visit(browser, ostler, {
    place: [korean.id],
    locale: "ko-KR",
    colorScheme: "dark",
    viewport: { width: 1280, height: 720 },
  });
  await card(inKorean, korean);
  await take(inKorean, "korean-dark");

  const { run } = await ostler.json("phases", "run", "A shop for second-hand bicycles");
  const review = (phase) =>
    until(`phase ${phase} is reviewed`, async () => (await ostler.json("inbox")).find((it) => it.run === run && it.ask.fields.phase === phase));
  await ostler.tell("review", (await review(1)).id, "--approve");
  await review(2);
  const phases = await visit(browser, ostler, { place: [`/runs/${run}`], viewport: { width: 1280, height: 1000 } });
  await phases.getByText("It is sound.").waitFor();
  await take(phases, "phases");

  const bakery = ostler.beside("bakery");
  bakery.tasks(BAKERY);
  await bakery.tell("exec", "--agent=baker", "T1.1");
  await bakery.tell("exec", "--agent=baker", "T1.3").catch(() => undefined);
  const baking = bakery.begin("exec", "--agent=baker", "T1.2");
  const { project } = await until("T1.2 is worked on", async () => (await ostler.json("ps")).find((it) => it.agent === "baker"));
  const tasks = await visit(browser, ostler, { place: [`/tasks/${project.id}?task=T1.2`], viewport: { width: 1440, height: 640 } });
  await tasks.getByText(/since \d\d:\d\d/).waitFor();
  await take(tasks, "tasks");
  bakery.ring();
  await baking;

  const studio = ostler.beside("studio");
  const call = async (role, task) => {
    const print = `printf '[INVOKE:%s]\n%s\n[/INVOKE]\n' "$1" "$2"; read -r a; read -r b; echo "got $b"`;
    return studio.json("run", "--detach", "--", "bash", "-c", print, "caller", role, task);
  };
  const told = await call("backend", "Tell QA: the server listens on port 8080");
  await studio.printed(told.sessions[0].id, "got told");
  await call("PO", "Ask designer: Wait never: a sketch of the sign-in page");
  await until("the designer works", async () => (await studio.json("office", "invocations")).filter((it) => it.status === "in_progress").length === 2);
  const office = await visit(browser, ostler, { place: [`/office/${told.project.id}`], viewport: { width: 1280, height: 720 } });
  await office.locator('.office-node[data-person="designer"].office-busy').waitFor();
  await take(office, "office");
} finally {
  await browser.close();
  await ostler.end();
}
