// The ids of things, in the one form in which the server writes them: a letter for the kind, and a number.
export type Kind = "project" | "request" | "run" | "session";

const LETTERS = { project: "p", request: "q", run: "r", session: "s" } as const satisfies Record<Kind, string>;
const NUMBER = /^(?:0|[1-9][0-9]{0,18})$/;

export function isId(kind: Kind, text: string): boolean {
  return text.startsWith(`${LETTERS[kind]}_`) && NUMBER.test(text.slice(2));
}
