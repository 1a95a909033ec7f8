// Writes src/api/schema.ts from openapi.json: the forms of what the server says and takes. `--check` only compares.
import { readFileSync, writeFileSync } from "node:fs";

import openapiTS, { astToString } from "openapi-typescript";

const FROM = new URL("../openapi.json", import.meta.url);
const TO = new URL("../src/api/schema.ts", import.meta.url);

// Only the forms: where they are sent is said in src/api, and a route that nobody uses needs no type.
const { openapi, info, components } = JSON.parse(readFileSync(FROM, "utf8"));
const ast = await openapiTS(
  { openapi, info, paths: {}, components },
  { rootTypes: true, rootTypesNoSchemaPrefix: true, emptyObjectsUnknown: true },
);
const made = `// Made from openapi.json by \`npm run types\`; do not edit.\n\n${astToString(ast)}`;

if (process.argv.includes("--check")) {
  if (readFileSync(TO, "utf8") !== made) {
    console.error("error: src/api/schema.ts is not what openapi.json says; run `npm run types` in web/");
    process.exit(1);
  }
} else {
  writeFileSync(TO, made);
}
