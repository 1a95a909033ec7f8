// The pure parts of the page, for tests without a browser: TypeScript is bundled into a module that can be imported.
import { fileURLToPath } from "node:url";

import { rolldown } from "rolldown";

/** Gives what a file of `src` exports. */
export async function load(path) {
  const input = fileURLToPath(new URL(`../src/${path}`, import.meta.url));
  const bundle = await rolldown({ input, platform: "node" });
  const { output } = await bundle.generate({ format: "esm" });
  await bundle.close();
  return import(`data:text/javascript;base64,${Buffer.from(output[0].code).toString("base64")}`);
}
