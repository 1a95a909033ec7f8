// Reads what stands within a paragraph: emphasis, code, links, pictures. One way through the text, with bounded stacks:
// marks that have no other half are text.
export type Inline =
  | { kind: "text"; text: string }
  | { kind: "code"; text: string }
  | { kind: "strong" | "emphasis" | "struck"; inside: Inline[] }
  | { kind: "link"; to: string; inside: Inline[] }
  | { kind: "picture"; from: string; about: string }
  | { kind: "break" };

interface Opener {
  mark: string;
  count: number;
  /** Where its text stands, which is shown if the other half never comes. */
  index: number;
}

interface Bracket {
  isPicture: boolean;
  index: number;
}

const OPEN_MAX = 32;
/** More of the same mark than this mean nothing. */
const MARKS_MAX = 8;
const ADDRESS_MAX = 2_000;
const PLAIN = /[^\\`*_~[\]!<&h\n ]+/y;
const WEB = /https?:\/\/[^\s<>"'`|\\]{1,2000}/y;
const ENTITIES: Record<string, string> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'", "&nbsp;": " " };

export function inlines(text: string): Inline[] {
  return new Reader(text).read();
}

/** What can be read of it, without any form. */
export function plainOf(parts: Inline[]): string {
  return parts
    .map((it) => {
      if (it.kind === "text" || it.kind === "code") return it.text;
      if (it.kind === "picture") return it.about;
      return it.kind === "break" ? " " : plainOf(it.inside);
    })
    .join("");
}

/** Texts that stand beside each other are one. */
function joined(nodes: Inline[]): Inline[] {
  const found: Inline[] = [];
  for (const node of nodes) {
    const last = found.at(-1);
    if (node.kind === "text" && last?.kind === "text") last.text += node.text;
    else if (node.kind !== "text" || node.text !== "") found.push(node);
  }
  return found;
}

function isSpace(letter: string | undefined): boolean {
  return letter === undefined || /\s/u.test(letter);
}

function isMark(letter: string | undefined): boolean {
  return letter !== undefined && /[\p{P}\p{S}]/u.test(letter);
}

class Reader {
  private readonly text: string;
  private at = 0;
  private nodes: Inline[] = [];
  private openers: Opener[] = [];
  private brackets: Bracket[] = [];
  /** Where the runs of backticks of each length begin, and which of them comes next. */
  private readonly ticks = new Map<number, { places: number[]; next: number }>();

  constructor(text: string) {
    this.text = text;
    for (const match of text.matchAll(/`+/g)) {
      const those = this.ticks.get(match[0].length);
      if (those) those.places.push(match.index);
      else this.ticks.set(match[0].length, { places: [match.index], next: 0 });
    }
  }

  read(): Inline[] {
    while (this.at < this.text.length) this.step();
    return joined(this.nodes);
  }

  private step(): void {
    PLAIN.lastIndex = this.at;
    const plain = PLAIN.exec(this.text)?.[0];
    if (plain) return this.say(plain, plain.length);
    const letter = this.text[this.at] ?? "";
    switch (letter) {
      case "\\":
        return this.escaped();
      case "`":
        return this.code();
      case "*":
      case "_":
      case "~":
        return this.emphasis(letter);
      case "!":
        return this.text[this.at + 1] === "[" ? this.open(true) : this.say("!", 1);
      case "[":
        return this.open(false);
      case "]":
        return this.close();
      case "<":
      case "h":
        return this.address(letter);
      case "&":
        return this.entity();
      case "\n":
        return this.lineEnd();
      default:
        return this.spaces();
    }
  }

  private say(text: string, length: number): void {
    this.at += length;
    const last = this.nodes.at(-1);
    const isFree = last?.kind === "text" && !this.isHeld(this.nodes.length - 1);
    if (isFree) last.text += text;
    else this.nodes.push({ kind: "text", text });
  }

  /** Whether a text stands for a mark that may still find its other half. */
  private isHeld(index: number): boolean {
    return this.openers.at(-1)?.index === index || this.brackets.at(-1)?.index === index;
  }

  private escaped(): void {
    const next = this.text[this.at + 1];
    if (next === "\n") {
      this.nodes.push({ kind: "break" });
      this.at += 2;
    } else if (next !== undefined && /[!-/:-@[-`{-~]/.test(next)) this.say(next, 2);
    else this.say("\\", 1);
  }

  private code(): void {
    const length = this.run("`");
    const those = this.ticks.get(length) ?? { places: [], next: 0 };
    while ((those.places[those.next] ?? Infinity) <= this.at) those.next++;
    const end = those.places[those.next];
    if (end === undefined) return this.say("`".repeat(length), length);
    const inside = this.text.slice(this.at + length, end).replaceAll("\n", " ");
    const isPadded = inside.startsWith(" ") && inside.endsWith(" ") && inside.trim() !== "";
    this.nodes.push({ kind: "code", text: isPadded ? inside.slice(1, -1) : inside });
    this.at = end + length;
  }

  private run(mark: string): number {
    let end = this.at;
    while (this.text[end] === mark) end++;
    return end - this.at;
  }

  private emphasis(mark: string): void {
    let count = this.run(mark);
    const [before, after] = [this.text[this.at - 1], this.text[this.at + count]];
    const canOpen = !isSpace(after) && (!isMark(after) || isSpace(before) || isMark(before));
    const canClose = !isSpace(before) && (!isMark(before) || isSpace(after) || isMark(after));
    // Within a word, an underscore is a letter; a single ~ means nothing.
    const opens = canOpen && (mark !== "_" || !canClose || isMark(before));
    const closes = canClose && (mark !== "_" || !canOpen || isMark(after));
    this.at += count;
    if ((mark === "~" && count !== 2) || count > MARKS_MAX) return this.say(mark.repeat(count), 0);
    if (closes) count = this.closeEmphasis(mark, count);
    if (count === 0) return undefined;
    const index = this.nodes.push({ kind: "text", text: mark.repeat(count) }) - 1;
    if (opens && this.openers.length < OPEN_MAX) this.openers.push({ mark, count, index });
    return undefined;
  }

  /** Puts what stands behind the opening half into a node of its own. Gives how many marks are left. */
  private closeEmphasis(mark: string, given: number): number {
    let count = given;
    while (count > 0) {
      const place = this.openers.findLastIndex((it) => it.mark === mark && (mark !== "~" || it.count === 2));
      const opener = this.openers[place];
      if (!opener) return count;
      const used = Math.min(2, count, opener.count);
      const kind = mark === "~" ? "struck" : used === 2 ? "strong" : "emphasis";
      const inside = joined(this.nodes.splice(opener.index + 1));
      this.nodes.push({ kind, inside });
      this.brackets = this.brackets.filter((it) => it.index < opener.index);
      opener.count -= used;
      count -= used;
      const held = this.nodes[opener.index];
      if (held?.kind === "text") held.text = mark.repeat(opener.count);
      this.openers.length = opener.count === 0 ? place : place + 1;
    }
    return count;
  }

  private open(isPicture: boolean): void {
    const text = isPicture ? "![" : "[";
    const index = this.nodes.push({ kind: "text", text }) - 1;
    this.at += text.length;
    if (this.brackets.length < OPEN_MAX) this.brackets.push({ isPicture, index });
  }

  private close(): void {
    const bracket = this.brackets.pop();
    const found = bracket && this.text[this.at + 1] === "(" ? this.target(this.at + 2) : null;
    if (!bracket || !found) return this.say("]", 1);
    const inside = joined(this.nodes.splice(bracket.index).slice(1));
    this.openers = this.openers.filter((it) => it.index < bracket.index);
    if (bracket.isPicture) this.nodes.push({ kind: "picture", from: found.address, about: plainOf(inside) });
    else {
      this.nodes.push({ kind: "link", to: found.address, inside });
      // A link within a link is none.
      this.brackets = this.brackets.filter((it) => it.isPicture);
    }
    this.at = found.end;
    return undefined;
  }

  /** The address behind a bracket: up to the parenthesis that closes it, or a space and a title. */
  private target(from: number): { address: string; end: number } | null {
    const part = this.text.slice(from, from + ADDRESS_MAX);
    let depth = 0;
    let at = 0;
    const isPointed = part.startsWith("<");
    for (; at < part.length; at++) {
      const letter = part[at];
      if (letter === "\n") return null;
      if (isPointed ? letter === ">" : letter === " " || (letter === ")" && depth === 0)) break;
      if (letter === "(") depth++;
      if (letter === ")") depth--;
    }
    const address = part.slice(isPointed ? 1 : 0, at).replace(/\\([!-/:-@[-`{-~])/g, "$1");
    const rest = /^>?(?:\s+(?:"[^"\n]*"|'[^'\n]*'))?\s*\)/.exec(part.slice(at));
    return rest ? { address, end: from + at + rest[0].length } : null;
  }

  /** An address that stands there by itself. */
  private address(letter: string): void {
    WEB.lastIndex = this.at + (letter === "<" ? 1 : 0);
    const isWord = letter === "h" && /\w/.test(this.text[this.at - 1] ?? " ");
    const found = isWord ? null : WEB.exec(this.text)?.[0];
    if (!found || this.brackets.some((it) => !it.isPicture)) return this.say(letter, 1);
    if (letter === "<") {
      if (this.text[this.at + found.length + 1] !== ">") return this.say(letter, 1);
      this.at += found.length + 2;
      this.nodes.push({ kind: "link", to: found, inside: [{ kind: "text", text: found }] });
      return undefined;
    }
    let end = found.length;
    while (end > 0 && ".,;:!?*_~)]".includes(found[end - 1] ?? "")) end--;
    const to = found.slice(0, end);
    this.at += end;
    this.nodes.push({ kind: "link", to, inside: [{ kind: "text", text: to }] });
    return undefined;
  }

  private entity(): void {
    const name = /^&[a-z0-9#]{2,6};/.exec(this.text.slice(this.at, this.at + 9))?.[0] ?? "";
    const means = ENTITIES[name];
    if (means === undefined) this.say("&", 1);
    else this.say(means, name.length);
  }

  private lineEnd(): void {
    if (this.text[this.at - 1] === " " && this.text[this.at - 2] === " ") {
      this.nodes.push({ kind: "break" });
      this.at++;
    } else this.say(" ", 1);
  }

  private spaces(): void {
    const count = this.run(" ");
    this.say(" ".repeat(count), count);
  }
}
