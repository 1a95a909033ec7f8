// Where an address in a document leads: to the web, to a file of the same tree, or nowhere.
export type Address = { kind: "web"; href: string; host: string } | { kind: "file"; path: string } | { kind: "none" };

const NOWHERE: Address = { kind: "none" };

/** `document` is the path of the document in its repository; `here` the host of this page, to which nothing leads. */
export function addressOf(to: string, document: string, here: string): Address {
  const trimmed = to.trim();
  if (/^https?:\/\//i.test(trimmed)) {
    try {
      const { href, host, username, password } = new URL(trimmed);
      // A name before the host is there to be taken for it.
      return host === here || username !== "" || password !== "" ? NOWHERE : { kind: "web", href, host };
    } catch {
      return NOWHERE;
    }
  }
  if (trimmed === "" || /^[a-z][a-z0-9+.-]*:/i.test(trimmed) || /^[#?\\]|^\/\//.test(trimmed)) return NOWHERE;
  let path: string;
  try {
    path = decodeURIComponent(trimmed.split(/[?#]/)[0] ?? "");
  } catch {
    return NOWHERE;
  }
  const parts = path.startsWith("/") ? [] : document.split("/").slice(0, -1);
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    if (part === "..") {
      if (parts.pop() === undefined) return NOWHERE;
    } else parts.push(part);
  }
  return parts.length === 0 ? NOWHERE : { kind: "file", path: parts.join("/") };
}
