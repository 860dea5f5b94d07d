// Makes src/api/schema.d.ts and src/api/routes.ts from an OpenAPI document on
// standard input: robotmem openapi | node generate.mjs
import openapiTS, { astToString } from "openapi-typescript";
import { writeFile } from "node:fs/promises";
import { text } from "node:stream/consumers";

const document = JSON.parse(await text(process.stdin));
const here = new URL("src/api/", import.meta.url).pathname;

// A field with a default may be left out.
await writeFile(here + "schema.d.ts", "// Made from the OpenAPI document by generate.mjs.\n" + astToString(await openapiTS(document, { defaultNonNullable: false })));

const routes = [];
for (const [path, item] of Object.entries(document.paths)) {
  for (const [method, operation] of Object.entries(item)) {
    const body = operation.requestBody?.content;
    if (!operation.operationId || (body && !body["application/json"])) continue;
    routes.push(`  ${operation.operationId}: ["${method.toUpperCase()}", "${path}"],`);
  }
}
await writeFile(
  here + "routes.ts",
  `// Made from the OpenAPI document by generate.mjs.\n\n/** Method and path of every operation. */\nexport const routes = {\n${routes.sort().join("\n")}\n} as const;\n`,
);
