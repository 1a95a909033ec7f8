// The four APIs that the scripted model speaks: Anthropic Messages, OpenAI Responses, OpenAI Chat Completions and
// Gemini. Only their shapes live here; model.mjs decides what is said, when, and writes it down.
//
// An API is an object with
//   fits(path)             whether a request for that path is meant for it
//   read(body, path)       what the client sent: { model, stream, system, messages: [{ role, text }], tools: Map }
//   events(reply)          the streamed form: { event?, data, piece? }; `piece` marks a part of the text
//   whole(reply)           the form of a client that does not stream
//   error(status, text)    the body of a refusal
// where reply = { model, think, pieces: [text], calls: [{ name, input, namespace }] }.

import { randomUUID } from "node:crypto";

const id = (prefix) => prefix + randomUUID().replaceAll("-", "").slice(0, 24);

/// The text in any mixture of strings, parts and lists of parts.
function textOf(content) {
  if (content == null) return "";
  if (typeof content === "string") return content;
  if (Array.isArray(content)) return content.map(textOf).filter(Boolean).join("\n");
  if (typeof content !== "object") return String(content);
  return textOf(content.text ?? content.content ?? content.output ?? content.parts ?? content.response ?? "");
}

/// What the vendor or the person who set up the CLI says stands among the messages in OpenAI's APIs.
function parted(all, instructions = "") {
  const isSystem = ({ role }) => role === "system" || role === "developer";
  const system = [instructions, ...all.filter(isSystem).map(({ text }) => text)].filter(Boolean).join("\n");
  return { system, messages: all.filter((message) => !isSystem(message)) };
}

const tool = (schema, namespace) => ({ properties: schema?.properties ?? {}, namespace });

const anthropic = {
  name: "anthropic",
  fits: (path) => path.endsWith("/messages"),
  read: (body) => ({
    model: body.model,
    stream: body.stream === true,
    system: textOf(body.system),
    messages: (body.messages ?? []).map(({ role, content }) => ({ role, text: textOf(content) })),
    tools: new Map((body.tools ?? []).map(({ name, input_schema }) => [name, tool(input_schema)])),
  }),
  *events(reply) {
    const event = (data) => ({ event: data.type, data });
    const blocks = [];
    if (reply.think) {
      const thinking = { type: "thinking", thinking: "", signature: "" };
      const deltas = [
        { type: "thinking_delta", thinking: reply.think },
        { type: "signature_delta", signature: "c2NyaXB0" },
      ];
      blocks.push({ start: thinking, deltas });
    }
    if (reply.pieces.length > 0) {
      const deltas = reply.pieces.map((text) => ({ type: "text_delta", text }));
      blocks.push({ start: { type: "text", text: "" }, deltas, piece: true });
    }
    for (const { name, input } of reply.calls) {
      const deltas = [{ type: "input_json_delta", partial_json: JSON.stringify(input) }];
      blocks.push({ start: { type: "tool_use", id: id("toolu_"), name, input: {} }, deltas });
    }
    yield event({ type: "message_start", message: { ...this.whole({ ...reply, pieces: [], calls: [] }), stop_reason: null } });
    for (const [index, { start, deltas, piece }] of blocks.entries()) {
      yield event({ type: "content_block_start", index, content_block: start });
      for (const delta of deltas) yield { ...event({ type: "content_block_delta", index, delta }), piece };
      yield event({ type: "content_block_stop", index });
    }
    const stop_reason = reply.calls.length > 0 ? "tool_use" : "end_turn";
    yield event({ type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 7 } });
    yield event({ type: "message_stop" });
  },
  whole(reply) {
    const content = reply.pieces.length > 0 ? [{ type: "text", text: reply.pieces.join("") }] : [];
    for (const { name, input } of reply.calls) content.push({ type: "tool_use", id: id("toolu_"), name, input });
    return {
      id: id("msg_"),
      type: "message",
      role: "assistant",
      model: reply.model,
      content,
      stop_reason: reply.calls.length > 0 ? "tool_use" : "end_turn",
      stop_sequence: null,
      usage: { input_tokens: 11, output_tokens: 7, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
    };
  },
  error(status, message) {
    const types = { 400: "invalid_request_error", 401: "authentication_error", 429: "rate_limit_error", 529: "overloaded_error" };
    return { type: "error", error: { type: types[status] ?? "api_error", message } };
  },
};

const responses = {
  name: "responses",
  fits: (path) => path.endsWith("/responses"),
  read(body) {
    const items = typeof body.input === "string" ? [{ role: "user", content: body.input }] : body.input ?? [];
    const all = items.map((item) => ({
      role: item.role ?? item.type,
      text: textOf(item.content ?? item.output ?? item.arguments),
    }));
    const tools = new Map();
    for (const offered of body.tools ?? []) {
      // Tools may come in groups, and a call then names the group too.
      for (const each of offered.tools ?? [offered]) {
        const group = offered.tools ? offered.name : undefined;
        tools.set(each.name ?? each.type, tool(each.parameters, group));
      }
    }
    return { model: body.model, stream: body.stream === true, ...parted(all, body.instructions), tools };
  },
  *events(reply) {
    let sequence_number = 0;
    const event = (type, data) => ({ event: type, data: { type, sequence_number: sequence_number++, ...data } });
    const whole = this.whole(reply);
    yield event("response.created", { response: { ...whole, status: "in_progress", output: [], usage: null } });
    for (const [output_index, item] of whole.output.entries()) {
      const place = { item_id: item.id, output_index };
      const empty = item.type === "message" ? { content: [] } : { arguments: "" };
      yield event("response.output_item.added", { output_index, item: { ...item, status: "in_progress", ...empty } });
      if (item.type === "message") {
        const part = { type: "output_text", text: "", annotations: [] };
        yield event("response.content_part.added", { ...place, content_index: 0, part });
        for (const delta of reply.pieces) {
          yield { ...event("response.output_text.delta", { ...place, content_index: 0, delta }), piece: true };
        }
        yield event("response.output_text.done", { ...place, content_index: 0, text: item.content[0].text });
      } else {
        yield event("response.function_call_arguments.done", { ...place, arguments: item.arguments });
      }
      yield event("response.output_item.done", { output_index, item });
    }
    yield event("response.completed", { response: whole });
  },
  whole(reply) {
    const output = [];
    if (reply.pieces.length > 0) {
      const content = [{ type: "output_text", text: reply.pieces.join(""), annotations: [] }];
      output.push({ type: "message", id: id("msg_"), role: "assistant", status: "completed", content });
    }
    for (const { name, input, namespace } of reply.calls) {
      const call = { type: "function_call", id: id("fc_"), call_id: id("call_"), name, status: "completed" };
      output.push({ ...call, arguments: JSON.stringify(input), ...(namespace && { namespace }) });
    }
    return {
      id: id("resp_"),
      object: "response",
      created_at: 0,
      status: "completed",
      model: reply.model,
      output,
      usage: {
        input_tokens: 11,
        input_tokens_details: { cached_tokens: 0 },
        output_tokens: 7,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 18,
      },
    };
  },
  error(status, message) {
    const codes = { 400: "invalid_request_error", 401: "invalid_api_key", 429: "rate_limit_exceeded" };
    const code = codes[status] ?? "server_error";
    return { error: { message, type: code, code, param: null } };
  },
};

const chat = {
  name: "chat",
  fits: (path) => path.endsWith("/chat/completions"),
  read(body) {
    const all = (body.messages ?? []).map(({ role, content }) => ({ role, text: textOf(content) }));
    return {
      model: body.model,
      stream: body.stream === true,
      ...parted(all),
      tools: new Map((body.tools ?? []).map(({ function: { name, parameters } }) => [name, tool(parameters)])),
    };
  },
  *events(reply) {
    const { id, model, usage } = this.whole(reply);
    const chunk = (choices, more) => ({
      data: { id, object: "chat.completion.chunk", created: 0, model, choices, ...more },
    });
    const choice = (delta, finish_reason = null) => chunk([{ index: 0, delta, finish_reason }]);
    yield choice({ role: "assistant", content: "" });
    if (reply.think) yield choice({ reasoning_content: reply.think });
    for (const content of reply.pieces) yield { ...choice({ content }), piece: true };
    if (reply.calls.length > 0) yield choice({ tool_calls: this.toolCalls(reply) });
    yield choice({}, this.finish(reply));
    yield chunk([], { usage });
    yield { data: "[DONE]" };
  },
  whole(reply) {
    const message = { role: "assistant", content: reply.pieces.join("") || null };
    if (reply.calls.length > 0) message.tool_calls = this.toolCalls(reply);
    return {
      id: id("chatcmpl-"),
      object: "chat.completion",
      created: 0,
      model: reply.model,
      choices: [{ index: 0, message, finish_reason: this.finish(reply) }],
      usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 },
    };
  },
  toolCalls: ({ calls }) =>
    calls.map(({ name, input }, index) => ({
      index,
      id: id("call_"),
      type: "function",
      function: { name, arguments: JSON.stringify(input) },
    })),
  finish: ({ calls }) => (calls.length > 0 ? "tool_calls" : "stop"),
  error: responses.error,
};

const gemini = {
  name: "gemini",
  fits: (path) => /:(streamG|g)enerateContent$/.test(path),
  read: (body, path) => ({
    model: path.match(/models\/([^:/]+)/)?.[1],
    stream: path.endsWith(":streamGenerateContent"),
    system: textOf(body.systemInstruction),
    messages: (body.contents ?? []).map(({ role, parts }) => ({ role, text: textOf(parts) })),
    tools: new Map(
      (body.tools ?? [])
        .flatMap(({ functionDeclarations }) => functionDeclarations ?? [])
        .map(({ name, parametersJsonSchema, parameters }) => [name, tool(parametersJsonSchema ?? parameters)]),
    ),
  }),
  *events(reply) {
    if (reply.think) yield { data: this.part(reply, [{ text: reply.think, thought: true }]) };
    for (const text of reply.pieces) yield { data: this.part(reply, [{ text }]), piece: true };
    const calls = this.calls(reply);
    yield { data: this.part(reply, calls.length > 0 ? calls : [{ text: "" }], "STOP") };
  },
  whole(reply) {
    const text = reply.pieces.length > 0 ? [{ text: reply.pieces.join("") }] : [];
    return this.part(reply, [...text, ...this.calls(reply)], "STOP");
  },
  calls: ({ calls }) =>
    calls.map(({ name, input }) => ({ functionCall: { id: id("call_"), name, args: input }, thoughtSignature: "c2NyaXB0" })),
  part: ({ model }, parts, finishReason) => ({
    candidates: [{ index: 0, content: { role: "model", parts }, ...(finishReason && { finishReason }) }],
    modelVersion: model,
    responseId: id(""),
    usageMetadata: { promptTokenCount: 11, candidatesTokenCount: 7, totalTokenCount: 18 },
  }),
  error(status, message) {
    const names = { 400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 429: "RESOURCE_EXHAUSTED", 503: "UNAVAILABLE" };
    return { error: { code: status, message, status: names[status] ?? "INTERNAL" } };
  },
};

export const apis = [anthropic, responses, chat, gemini];
