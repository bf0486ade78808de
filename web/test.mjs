// Runs the tests of the modules that need no browser.
import { spawnSync } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = await mkdtemp(join(tmpdir(), "foreword-page-"));
const names = (await readdir(join(here, "tests"))).filter((name) => name.endsWith(".test.ts"));
const entryPoints = Object.fromEntries(names.map((name) => [name.replace(/\.ts$/, ""), `tests/${name}`]));
await esbuild.build({ absWorkingDir: here, entryPoints, outdir: out, outExtension: { ".js": ".mjs" }, bundle: true, platform: "node", format: "esm", jsx: "automatic", jsxImportSource: "preact", logLevel: "warning" });
const { status } = spawnSync(process.execPath, ["--test", ...Object.keys(entryPoints).map((name) => join(out, `${name}.mjs`))], { stdio: "inherit" });
await rm(out, { recursive: true });
process.exit(status ?? 1);
