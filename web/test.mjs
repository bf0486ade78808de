// Runs the tests of the modules that need no browser.
import { spawnSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = await mkdtemp(join(tmpdir(), "foreword-page-"));
const file = join(out, "pure.test.mjs");
await esbuild.build({ absWorkingDir: here, entryPoints: ["tests/pure.test.ts"], outfile: file, bundle: true, platform: "node", format: "esm", jsx: "automatic", jsxImportSource: "preact", logLevel: "warning" });
const { status } = spawnSync(process.execPath, ["--test", file], { stdio: "inherit" });
await rm(out, { recursive: true });
process.exit(status ?? 1);
