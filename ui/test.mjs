// Bundles every src/**/*.test.ts and runs them with node --test. Arguments are passed on to Node,
// such as --test-name-pattern=ticks.
import { build } from "esbuild";
import { spawnSync } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";

const here = new URL(".", import.meta.url).pathname;
// Within ui, so that the bundles find the packages of node_modules.
const out = await mkdtemp(here + "node_modules/.test-");

try {
  const files = await readdir(here + "src", { recursive: true });
  await build({
    absWorkingDir: here,
    entryPoints: files.filter((name) => name.endsWith(".test.ts")).map((name) => "src/" + name),
    outdir: out,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    packages: "external",
    platform: "node",
    target: "node20",
    format: "esm",
    jsx: "automatic",
    jsxImportSource: "preact",
    sourcemap: "inline",
    logLevel: "warning",
  });

  const tests = (await readdir(out, { recursive: true })).filter((name) => name.endsWith(".test.mjs"));
  const args = [
    "--enable-source-maps",
    "--import",
    here + "test_browser.mjs",
    "--test",
    "--test-reporter=spec",
    ...process.argv.slice(2),
  ];
  // A test that hangs fails.
  const run = spawnSync(process.execPath, [...args, ...tests.map((name) => `${out}/${name}`)], {
    stdio: "inherit",
    timeout: 120_000,
    env: { ...process.env, TZ: "UTC" },
  });
  process.exitCode = run.status ?? 1;
} finally {
  await rm(out, { recursive: true, force: true });
}
