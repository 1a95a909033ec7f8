// Ostler: brings values to a Node program that runs already.
//
// A person gives a value after a program has asked for it, and nobody can change the environment of a running process.
// So a variable that is missing is looked for in the session's private file, and a program that has just printed a
// closing tag waits for a moment, so that its next statement runs after the stop and finds what it asked for.
//
// It is loaded by NODE_OPTIONS into every Node program below an agent. Whatever goes wrong here must not be noticed:
// `process.env` stays the object it is, a variable that is set is left alone, and nothing throws.
'use strict';

(() => {
  const { env } = process;
  const file = env.OSTLER_VALUES;
  const loaded = Symbol.for('ostler.values.1');
  if (!file || process[loaded]) return;
  Object.defineProperty(process, loaded, { value: true });

  // Taken now, because programs replace these for their own tests.
  const { closeSync, constants, fstatSync, openSync, readFileSync, statSync } = require('fs');
  const { performance } = require('perf_hooks');
  const now_ms = performance.now.bind(performance);
  const { isMainThread } = require('worker_threads');
  const has = Function.prototype.call.bind(Object.prototype.hasOwnProperty);

  /** What came from the file, by name: a program that changes or deletes it does so on purpose. */
  const ours = new Map();
  let seen = '';
  let busy = false;

  /** Another one if the file has changed; empty while there is none to be seen. */
  function stamp() {
    try {
      const now = statSync(file, { bigint: true });
      return `${now.ino}.${now.mtimeNs}.${now.size}`;
    } catch {
      return '';
    }
  }

  // Longer than anything that Ostler writes there.
  const BYTES_MAX = 16 << 20;

  /** The text of the file. What somebody put in its place, such as a named pipe, is not waited for. */
  function text_of_file() {
    const opened = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    try {
      const found = fstatSync(opened);
      return found.isFile() && found.size <= BYTES_MAX ? readFileSync(opened, 'utf8') : '';
    } finally {
      closeSync(opened);
    }
  }

  function read() {
    const now = stamp();
    if (now === '' || now === seen) return [];
    const pairs = text_of_file().split('\0').map((pair) => [pair, pair.indexOf('=')]);
    seen = now;
    return pairs.filter(([, at]) => at > 0).map(([pair, at]) => [pair.slice(0, at), pair.slice(at + 1)]);
  }

  /** Sets what is new in the file and not set otherwise. */
  function refresh() {
    if (busy) return;
    busy = true;
    try {
      for (const [name, value] of read()) {
        const is_free = ours.has(name) ? env[name] === ours.get(name) : !has(env, name);
        if (is_free) {
          env[name] = value;
          ours.set(name, value);
        }
      }
    } catch {
      // Without the file the variable is missing, as it was.
    } finally {
      busy = false;
    }
  }

  /** What the program began with may have come from the file: then a newer value replaces it. */
  function recognise() {
    try {
      for (const [name, value] of read()) {
        if (has(env, name) && env[name] === value) ours.set(name, value);
      }
      seen = '';
    } catch {
      // It is looked for again when something is missing.
    }
  }

  /** Behind `process.env` stands somebody who is asked only for what is missing there. */
  function stand_behind() {
    const base = Object.create(Object.getPrototypeOf(env));
    const is_missing = (name) => typeof name === 'string' && !(name in base);
    const behind = new Proxy(base, {
      get(target, name, receiver) {
        if (!is_missing(name)) return Reflect.get(target, name, receiver);
        refresh();
        return has(env, name) ? env[name] : undefined;
      },
      has(target, name) {
        if (!is_missing(name)) return Reflect.has(target, name);
        refresh();
        return has(env, name);
      },
      // Whoever starts a child lists what stands behind, too.
      ownKeys(target) {
        refresh();
        return [...Reflect.ownKeys(target), ...[...ours.keys()].filter((name) => has(env, name))];
      },
      getOwnPropertyDescriptor(target, name) {
        if (!ours.has(name) || !has(env, name)) return Reflect.getOwnPropertyDescriptor(target, name);
        return { value: env[name], writable: true, enumerable: true, configurable: true };
      },
    });
    Object.setPrototypeOf(env, behind);
  }

  // Long enough for a shim that has to wait for its turn on a busy machine.
  const WAIT_MS = 500;
  const LOOK_MS = 10;
  const LINE_MAX = 64;
  const CLOSING = /(?:^|[\n\r])[ \t]*\[\/(?:DEPENDENCY_REQUEST|USER_QUESTION|ERROR)\]/;
  let line = '';

  /** Whether a closing tag ends in this piece of output; it may have begun in an earlier one. */
  function closes(chunk) {
    const is_text = typeof chunk === 'string';
    if (!is_text && !(chunk instanceof Uint8Array)) return false;
    const text = is_text ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString('latin1');
    const whole = line + text;
    const found = whole.includes('[/') && CLOSING.test(whole);
    const last = whole.slice(whole.lastIndexOf('\n') + 1);
    // A line that is long already, or has its tag behind it, holds no other.
    line = last.length > LINE_MAX || CLOSING.test(last) ? '.' : last;
    return found;
  }

  /** Waits for the stop. Who is stopped meanwhile goes on from here, at once if what it asked for has come. */
  function wait() {
    const nobody = new Int32Array(new SharedArrayBuffer(4));
    const [before, until] = [stamp(), now_ms() + WAIT_MS];
    do Atomics.wait(nobody, 0, 0, LOOK_MS);
    while (now_ms() < until && stamp() === before);
    refresh();
  }

  /** Output is looked at from its first use on: to open it here would change how a program begins. */
  function watch_output() {
    const way = Object.getOwnPropertyDescriptor(process, 'stdout');
    if (!way || !way.get || !way.configurable) return;
    Object.defineProperty(process, 'stdout', {
      ...way,
      get() {
        const stream = way.get.call(process);
        Object.defineProperty(process, 'stdout', way);
        const { write } = stream;
        stream.write = function (...chunk) {
          const result = Reflect.apply(write, this, chunk);
          try {
            if (closes(chunk[0])) wait();
          } catch {
            // The output is written; that is all a program may rely on.
          }
          return result;
        };
        return stream;
      },
    });
  }

  try {
    recognise();
    stand_behind();
    if (isMainThread) watch_output();
  } catch {
    // A Node that does not allow this runs as it would without.
  }
})();
