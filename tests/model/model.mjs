#!/usr/bin/env node
// A model that says what a script tells it to: for tests that run real agent CLIs without a network or an account.
//
//   node model.mjs --script SCRIPT.json --log LOG.ndjson [--port N] [--bodies] [--until-stdin-ends]
//
// Listens on 127.0.0.1 and prints one line when it is ready: {"url":"http://127.0.0.1:PORT"}. It speaks the
// Anthropic Messages API, the OpenAI Responses and Chat Completions APIs and the Gemini API, streamed or not (see
// apis.mjs). clis.json says how each CLI is made to use it. Needs Node 18 and nothing else.
//
// SCRIPT
//   { "conversations": [ { "when": "text", "turns": [TURN, …] }, … ], "turns": [TURN, …], "end": TURN }
//
// A request belongs to the first conversation whose `when` stands in one of its messages, else to `turns`. Each
// request of a conversation gets its next turn; when there is none left, `end` ({"say":"Done."} unless it is
// given). A request that offers no tools is one of the CLI's own (titles, checks): it gets "ok" and uses up nothing.
//
// TURN, every key optional
//   say           what the model says
//   find          a regular expression: `{found}` in `say` is what its group matches in the messages, the last time
//   think         what it thinks before
//   call          a tool to call: { "tool": NAME, "input": {…} }, or a list of them
//   status        refuse with this HTTP status instead, with
//   message         the error's text, or
//   body            the whole JSON body, and
//   headers         headers such as { "retry-after": "1" }
//   times         use the turn this many times before the next one (1)
//   wait_ms       wait before anything is sent
//   wait_file     wait until this file exists before anything is sent
//   pause_ms      wait between two words of `say`
//   pause_file    wait after the first word until this file exists
//   cut           close the connection after the first word
//
// TOOLS  A name is sent as it is, except for these, which every CLI calls by its own name:
//   @shell        input { "command": "…" }: run a command
//   @write        input { "path": "…", "content": "…" }: write a file (with the shell if there is no such tool)
//   @*NAME        the offered tool whose name ends with NAME: a tool of an MCP server
//
// LOG  One JSON object per request:
//   n, api, path, model, conversation (its `when`, or null), turn (from 0, "end", "side"), status,
//   system (the system prompt's text), messages ([{ role, text }]), tools (names), and with --bodies the body.
// Requests for anything else (lists of models, token counts, unknown paths) are logged with n, method, path, status.

import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { gunzipSync } from "node:zlib";

import { apis } from "./apis.mjs";

const { values: options } = parseArgs({
  options: {
    script: { type: "string" },
    log: { type: "string" },
    port: { type: "string", default: "0" },
    bodies: { type: "boolean", default: false },
    "until-stdin-ends": { type: "boolean", default: false },
  },
});
const script = options.script ? JSON.parse(readFileSync(options.script, "utf8")) : {};
const conversations = [...(script.conversations ?? []), { when: null, turns: script.turns ?? [] }].map(
  ({ when, turns }) => ({ when, turns, next: 0, used: 0 }),
);
let requests = 0;

const server = createServer((request, response) => {
  answer(request, response).catch((error) => {
    // A client that is killed in the middle is what many tests are about.
    if (!response.destroyed) console.error(error);
    response.destroy();
  });
});
server.keepAliveTimeout = 600_000;
server.listen(Number(options.port), "127.0.0.1", () => {
  console.log(JSON.stringify({ url: `http://127.0.0.1:${server.address().port}` }));
});
if (options["until-stdin-ends"]) process.stdin.resume().on("end", () => process.exit(0));

async function answer(request, response) {
  const body = parse(await bodyOf(request));
  const path = request.url.split("?")[0];
  const api = request.method === "POST" ? apis.find((each) => each.fits(path)) : undefined;
  if (!api) return answerOther(request, path, response);

  const heard = api.read(body, path);
  const { conversation, turn, number } = next(heard);
  const status = turn.status ?? 200;
  log({
    n: ++requests,
    api: api.name,
    path,
    model: heard.model,
    conversation: conversation.when,
    turn: number,
    status,
    system: heard.system,
    messages: heard.messages,
    tools: [...heard.tools.keys()],
    ...(options.bodies && { body }),
  });

  const gone = new AbortController();
  response.on("close", () => gone.abort());
  if (turn.wait_ms) await sleep(turn.wait_ms, undefined, { signal: gone.signal });
  if (turn.wait_file) await file(turn.wait_file, gone.signal);
  if (turn.status) {
    const message = turn.message ?? `the script says ${turn.status}`;
    return send(response, turn.status, turn.body ?? api.error(turn.status, message), turn.headers);
  }
  const calls = [turn.call ?? []].flat().map((call) => resolve(call, heard.tools));
  const pieces = said(turn, heard.messages).match(/\S+\s*|\s+/g) ?? [];
  const reply = { model: heard.model ?? "scripted", think: turn.think, pieces, calls };
  if (!heard.stream) return send(response, 200, api.whole(reply));
  await stream(response, api.events(reply), turn, gone.signal);
}

/// What a client asks for besides the model's words.
function answerOther(request, path, response) {
  const known = [
    [/\/count_tokens$/, { input_tokens: 11 }],
    [/:countTokens$/, { totalTokens: 11 }],
    [/\/models$/, { object: "list", data: [], models: [], has_more: false }],
    [/^\/$/, {}],
  ].find(([pattern]) => pattern.test(path));
  const status = known ? 200 : 404;
  log({ n: ++requests, method: request.method, path, status });
  send(response, status, known ? known[1] : { error: { message: `nothing is at ${path}` } });
}

/// The turn that a request gets.
function next({ messages, tools }) {
  const said = ({ when }) => when === null || messages.some(({ text }) => text.includes(when));
  const conversation = conversations.find(said);
  if (tools.size === 0) return { conversation, turn: { say: "ok" }, number: "side" };
  const number = conversation.next;
  const turn = conversation.turns[number];
  if (!turn) return { conversation, turn: script.end ?? { say: "Done." }, number: "end" };
  conversation.used += 1;
  if (conversation.used >= (turn.times ?? 1)) {
    conversation.next += 1;
    conversation.used = 0;
  }
  return { conversation, turn, number };
}

/// What the model says, with what it was told to find in what it was told.
function said({ say = "", find }, messages) {
  if (!find) return say;
  const text = messages.map((message) => message.text).join("\n");
  return say.replaceAll("{found}", [...text.matchAll(new RegExp(find, "g"))].at(-1)?.[1] ?? "");
}

async function stream(response, events, turn, signal) {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  let words = 0;
  for (const { event, data, piece } of events) {
    if (piece && ++words > 1) {
      if (turn.cut) return response.destroy();
      if (words === 2 && turn.pause_file) await file(turn.pause_file, signal);
      if (turn.pause_ms) await sleep(turn.pause_ms, undefined, { signal });
    }
    const text = typeof data === "string" ? data : JSON.stringify(data);
    response.write(`${event ? `event: ${event}\n` : ""}data: ${text}\n\n`);
  }
  response.end();
}

const SHELLS = ["Bash", "exec_command", "shell_command", "shell", "run_shell_command", "bash"];
const WRITERS = ["Write", "write_file", "write"];

/// A call of the script as the client knows the tool.
function resolve({ tool, input = {} }, tools) {
  const offered = (names) => names.find((name) => tools.has(name));
  if (tool === "@write") {
    const name = offered(WRITERS);
    if (!name) {
      const command = `printf %s ${quoted(input.content)} > ${quoted(input.path)}`;
      return resolve({ tool: "@shell", input: { command } }, tools);
    }
    const key = ["file_path", "filePath", "path"].find((each) => each in tools.get(name).properties);
    return { name, input: { [key ?? "path"]: input.path, content: input.content } };
  }
  if (tool === "@shell") {
    const name = offered(SHELLS) ?? "shell";
    const { properties = {}, namespace } = tools.get(name) ?? {};
    const key = "cmd" in properties ? "cmd" : "command";
    const command = properties[key]?.type === "array" ? ["bash", "-c", input.command] : input.command;
    const about = "description" in properties ? { description: "as the script says" } : {};
    return { name, namespace, input: { ...input, ...(key === "cmd" && { command: undefined }), ...about, [key]: command } };
  }
  const name = tool.startsWith("@*") ? [...tools.keys()].find((each) => each.endsWith(tool.slice(2))) : tool;
  return { name: name ?? tool.slice(2), namespace: tools.get(name)?.namespace, input };
}

const quoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

async function file(path, signal) {
  while (!existsSync(path)) await sleep(20, undefined, { signal });
}

async function bodyOf(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  return request.headers["content-encoding"] === "gzip" ? gunzipSync(bytes) : bytes;
}

function parse(bytes) {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    return {};
  }
}

function send(response, status, body, headers = {}) {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}

function log(entry) {
  if (options.log) appendFileSync(options.log, `${JSON.stringify(entry)}\n`);
}
