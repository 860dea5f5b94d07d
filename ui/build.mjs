// Builds dist/ from src/ and public/: the dashboard, and in dist/reference the API
// reference with Swagger UI. The same sources give the same bytes: CI builds again
// and compares. The first files have no hash in their names, because the server sends an ETag.
import { build } from "esbuild";
import { cp, mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";

const here = new URL(".", import.meta.url).pathname;
const dist = here + "dist/";

await rm(dist, { recursive: true, force: true });
await mkdir(dist, { recursive: true });
await build({
  absWorkingDir: here,
  entryPoints: { app: "src/main.tsx", view3d: "src/plots/view3d.ts" },
  outdir: "dist",
  bundle: true,
  format: "esm",
  splitting: true, // Home does without most views
  chunkNames: "[name]-[hash]", // a page and the files it fetches are of one build
  target: ["es2022", "chrome111", "firefox114", "safari16.4"],
  minify: !process.argv.includes("--readable"),
  jsx: "automatic",
  jsxImportSource: "preact",
  charset: "utf8",
  legalComments: "none", // licences.txt has the texts
  external: ["/view3d.js"], // the 3-D view is fetched when it is first shown
  logLevel: "warning",
});
await cp(here + "public", dist, { recursive: true });
for (const name of ["swagger-ui-bundle.js", "swagger-ui.css"]) {
  const text = await readFile(`${here}node_modules/swagger-ui-dist/${name}`, "utf8");
  await writeFile(dist + "reference/" + name, text.replace(/\n?(\/\/|\/\*)# sourceMappingURL=.*\n?/, "\n"));
}
await writeFile(dist + "licences.txt", await licences());

for (const entry of (await readdir(dist, { recursive: true, withFileTypes: true })).filter((e) => e.isFile()).sort((a, b) => (a.name < b.name ? -1 : 1))) {
  const data = await readFile(entry.parentPath + "/" + entry.name);
  console.log(`${entry.name.padEnd(20)} ${size(data.length)} ${size(gzipSync(data).length)} gzipped`);
}

function size(bytes) {
  return `${(bytes / 1024).toFixed(1).padStart(8)} KiB`;
}

async function licences() {
  const { dependencies } = JSON.parse(await readFile(here + "package.json", "utf8"));
  const parts = [];
  // With what these bring into the bundle.
  for (const name of [...Object.keys(dependencies), "@preact/signals-core", "@foxglove/cdr", "@foxglove/crc", "@foxglove/message-definition", "heap-js", "md5-typescript"].sort()) {
    const files = [name === "@foxglove/crc" ? "LICENSE.md" : "LICENSE"];
    if (name === "swagger-ui-dist") files.push("NOTICE", "swagger-ui-bundle.js.LICENSE.txt"); // of the packages in the bundle
    for (const file of files) {
      const text = await readFile(`${here}node_modules/${name}/${file}`, "utf8");
      parts.push(`${name}\n\n${text.replaceAll("\r\n", "\n").trim()}\n`);
    }
  }
  return parts.join("\n" + "-".repeat(72) + "\n\n");
}
