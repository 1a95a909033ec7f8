// What every test of the page needs: the real binary in a state directory of its own, scripted agents, and a browser.
import { execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { chromium } from "playwright-core";

const run = promisify(execFile);
const AGENTS = fileURLToPath(new URL("agents", import.meta.url));
export const OSTLER = process.env.OSTLER_BIN ?? fileURLToPath(new URL("../../target/debug/ostler", import.meta.url));
const CHROMIUM = process.env.OSTLER_CHROMIUM ?? "/usr/bin/chromium";

/** How long anything may take on a machine with other work to do. */
export const PATIENCE_MS = 60_000;

/** Asks until something is so. */
export async function until(what, isSo) {
  const over = Date.now() + PATIENCE_MS;
  for (;;) {
    const found = await isSo();
    if (found) return found;
    if (Date.now() > over) throw new Error(`it did not come about: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function answers(path) {
  return new Promise((resolve) => {
    const socket = connect(path, () => resolve(true));
    socket.on("error", () => resolve(false));
    socket.on("connect", () => socket.end());
  });
}

/** A server with a project, removed at the end together with everything that runs under it. */
export class Ostler {
  constructor(root) {
    this.root = root;
    this.home = join(root, "state");
    this.project = join(root, "shop");
    this.env = {
      ...process.env,
      OSTLER_HOME: this.home,
      XDG_CONFIG_HOME: join(root, "config"),
      HOME: root,
      LC_ALL: "C.UTF-8",
      PATH: `${join(root, "bin")}:${process.env.PATH}`,
      BROWSER: "",
      DISPLAY: "",
    };
    this.server = null;
  }

  /** Writes the user's configuration. */
  configure(toml) {
    const folder = join(this.root, "config/ostler");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "config.toml"), toml);
  }

  static async start(toml = "") {
    const root = mkdtempSync(join(tmpdir(), "ostler-page-"));
    const ostler = new Ostler(root);
    cpSync(AGENTS, join(root, "bin"), { recursive: true });
    mkdirSync(ostler.project);
    writeFileSync(join(ostler.project, "README.md"), "A shop.\n");
    writeFileSync(join(ostler.project, "package.json"), "{}\n");
    writeFileSync(join(ostler.project, "package-lock.json"), "{}\n");
    const git = (...args) => run("git", args, { cwd: ostler.project, env: ostler.env });
    await git("init", "--quiet", "--initial-branch=main");
    await git("add", ".");
    await git("-c", "user.name=Test", "-c", "user.email=test@example.org", "commit", "--quiet", "--message=first");
    if (toml !== "") ostler.configure(toml);
    await ostler.serve();
    return ostler;
  }

  /** Starts the server and waits until it answers. */
  async serve() {
    this.server = spawn(OSTLER, ["serve"], { env: this.env, cwd: this.project, stdio: "ignore" });
    // Not by a command: one that finds no server would start another.
    await until("the server listens", () => answers(join(this.home, "api.sock")));
  }

  /** Kills the server as nothing else would. */
  async kill() {
    const gone = new Promise((resolve) => this.server.once("exit", resolve));
    this.server.kill("SIGKILL");
    await gone;
  }

  /** Runs a command and gives what it prints. */
  async tell(...args) {
    const { stdout } = await run(OSTLER, args, { cwd: this.project, env: this.env, maxBuffer: 16 << 20 });
    return stdout;
  }

  async json(command, ...args) {
    return JSON.parse(await this.tell(command, "--json", ...args));
  }

  /** The process that watches over a session. */
  shimOf(session) {
    const folder = `${join(this.home, "sessions", session)}/`;
    const isIts = (pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(folder);
      } catch {
        return false;
      }
    };
    return readdirSync("/proc").filter((name) => /^\d+$/.test(name)).map(Number).find(isIts);
  }

  /** Starts an agent that asks for something, and waits until it has. Gives the request. */
  async ask(kind, ...options) {
    const session = await this.agent(kind, ...options);
    return this.asked(session);
  }

  /** Starts a scripted agent. Gives its session. */
  async agent(kind, ...options) {
    const begun = await this.json("run", "--detach", ...options, "--", "sh", join(this.root, "bin/ask.sh"), kind);
    return begun.sessions[0].id;
  }

  /** Starts the scripted CLI with a prompt. Gives its session. */
  async claude(prompt, ...options) {
    const begun = await this.json("run", "--detach", ...options, "claude", prompt);
    return begun.sessions[0].id;
  }

  /** The request that a session waits for. */
  async asked(session) {
    return until(`${session} asks`, async () => {
      const open = await this.json("inbox");
      return open.find((request) => request.session === session);
    });
  }

  /** How a request was settled. */
  async settled(id) {
    return until(`${id} is settled`, async () => {
      const { settled } = await this.json("show", id);
      return settled && settled.answer;
    });
  }

  /** What a session has printed. */
  async printed(session, text) {
    return until(`${session} prints ${text}`, async () => {
      const log = await this.tell("logs", session);
      return log.includes(text) ? log : null;
    });
  }

  /** The same server in a repository of its own. */
  beside(name) {
    const project = join(this.root, name);
    mkdirSync(project);
    const git = (...args) => execFileSync("git", ["-c", "user.name=Test", "-c", "user.email=test@example.org", ...args], { cwd: project, env: this.env });
    git("init", "--quiet", "--initial-branch=main");
    git("commit", "--quiet", "--allow-empty", "--message=first");
    return Object.create(this, { project: { value: project } });
  }

  /** Writes the task file of the project. */
  tasks(text) {
    writeFileSync(join(this.project, "TASKS.md"), text);
  }

  /** Takes it away. */
  untask() {
    rmSync(join(this.project, "TASKS.md"));
  }

  /** Begins a command; what is given back waits for its end, whatever that is. */
  begin(...args) {
    const child = spawn(OSTLER, args, { cwd: this.project, env: this.env, stdio: "ignore" });
    return new Promise((resolve) => child.once("exit", resolve));
  }

  /** Lets those go on who wait for the bell. */
  ring() {
    writeFileSync(join(this.project, "bell"), "");
  }

  /** A link that signs one browser in. */
  async link(...place) {
    const { url } = await this.json("open", "--print", ...place);
    return url;
  }

  async end() {
    try {
      const sessions = await this.json("ps");
      for (const session of sessions) await this.tell("cancel", session.id).catch(() => undefined);
      await until("everything has ended", async () => (await this.json("ps")).length === 0);
    } finally {
      // It writes into its directory until it is gone.
      const gone = this.server.exitCode === null && this.server.signalCode === null ? once(this.server, "exit") : undefined;
      this.server.kill("SIGTERM");
      await gone;
      rmSync(this.root, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    }
  }
}

/** One browser for a file of tests. */
export async function launch() {
  return chromium.launch({
    executablePath: CHROMIUM,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}

/** A signed-in page. What the page itself reports as wrong fails the test that uses `page.wrong`. */
export async function visit(browser, ostler, { place = [], ...options } = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: "en-US", ...options });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  page.wrong = [];
  page.on("pageerror", (error) => page.wrong.push(error.message));
  page.on("console", (message) => {
    const isNetwork = message.text().includes("Failed to load resource");
    if (message.type() === "error" && !isNetwork) page.wrong.push(message.text());
  });
  await page.goto(await ostler.link(...place));
  await page.waitForSelector(".shell");
  return page;
}

/** Waits until the card of a request is there and takes keys. */
export async function card(page, request) {
  await page.waitForSelector(`.inbox-card[data-ready="true"][aria-labelledby="${request.id}-asks"]`);
}

/** Serious findings of axe-core, in words. */
export async function findings(page) {
  const axe = readFileSync(fileURLToPath(new URL("../node_modules/axe-core/axe.min.js", import.meta.url)), "utf8");
  // By the debugger, which the policy of the page does not concern.
  const session = await page.context().newCDPSession(page);
  await session.send("Runtime.evaluate", { expression: axe });
  const { violations } = await page.evaluate(() =>
    globalThis.axe.run(document, { resultTypes: ["violations"], runOnly: ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa", "best-practice"] }),
  );
  await session.detach();
  return violations
    .filter((it) => it.impact === "serious" || it.impact === "critical")
    .map((it) => `${it.id}: ${it.help}: ${it.nodes.map((node) => node.html).join(" | ")}`);
}

/** A scripted agent that does tasks. */
export const TASKS = `default_agent = "worker"

[agents.worker]
about = "a script"
command = ["tasks-worker", "{prompt}"]
`;

/** Tasks of which one waits for the bell, and one goes wrong. */
export const BAKERY = `## Phase 1: Shop

- [ ] T1.1: The table of products
  - owner: database
- [ ] T1.2: The price list waits for the bell
  - deps: T1.1
- [ ] T1.3: The login goes wrong
  - owner: backend
  - risk: high
  - [ ] a wrong key is refused
  - [x] a right one is not
- [ ] T1.4: The basket
  - deps: T1.2, T1.3

## Phase 2: Selling

- [ ] T2.1: The till
  - deps: T1.4
- [ ] T2.2: The price of a loaf
  - deps: T1.1
- [ ] T2.3: The receipt
  - deps: T2.1, T2.2
`;

/** Two phases, with scripted agents. */
export const PHASES = `
[agents.worker]
about = "a script"
command = ["phases-worker", "{prompt}"]

[agents.looker]
about = "a script"
command = ["phases-looker", "{prompt}"]

[phases]
agent = "worker"
verifier = "looker"
rework = 1

[[phases.phase]]
name = "Planning"
artifacts = [{ glob = "docs/plan.md", sections = ["Problem|문제"] }]
criteria = [{ id = "sound", text = "The plan is sound" }]

[[phases.phase]]
name = "Building"
artifacts = [{ glob = "src/**" }]
tests = "sh tests/run.sh"
junit = ["report.xml"]
criteria = [{ id = "sound", text = "It adds" }]
`;

export { existsSync, join, mkdirSync, readFileSync, rmSync, writeFileSync };
