// After the build: a Brotli form beside every file that gains by it, and a look at what the first visit costs.
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants } from "node:zlib";

const DIST = fileURLToPath(new URL("../dist", import.meta.url));

/** What somebody downloads before the inbox stands there; terminal, diff and Korean letters come later. */
const FIRST_LOAD_BYTES_MAX = 250 * 1024;

/** These are compressed already. */
const PACKED = new Set([".woff2", ".png", ".br"]);

function files(directory) {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name);
    return entry.isDirectory() ? files(path) : [path];
  });
}

/** The compressed length of each file, by its path below dist/. */
const sizes = new Map();
for (const path of files(DIST).filter((path) => !PACKED.has(extname(path)))) {
  const bytes = readFileSync(path);
  const packed = brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } });
  if (packed.length < bytes.length) writeFileSync(`${path}.br`, packed);
  sizes.set(path.slice(DIST.length + 1), Math.min(packed.length, bytes.length));
}

/** The entry with everything that it imports at once. */
const manifest = JSON.parse(readFileSync(join(DIST, "manifest.json"), "utf8"));
const first = new Set(["index.html", "before.js"]);
const open = Object.keys(manifest).filter((key) => manifest[key].isEntry);

for (const key of open) {
  const chunk = manifest[key];
  if (!chunk) throw new Error(`the build has no ${key}: say in scripts/finish.mjs what the first load is`);
  for (const file of [chunk.file, ...(chunk.css ?? [])]) first.add(file);
  for (const next of chunk.imports ?? []) if (!open.includes(next)) open.push(next);
}
rmSync(join(DIST, "manifest.json"));
rmSync(join(DIST, "manifest.json.br"), { force: true });

const total = [...first].reduce((sum, file) => sum + (sizes.get(file) ?? statSync(join(DIST, file)).size), 0);
const kib = (bytes) => `${(bytes / 1024).toFixed(1)} KiB`;
console.log(`first load: ${kib(total)} compressed in ${first.size} files, at most ${kib(FIRST_LOAD_BYTES_MAX)}`);
if (total > FIRST_LOAD_BYTES_MAX) {
  console.error("error: the first load is too large; load something later (React.lazy, import())");
  process.exit(1);
}
