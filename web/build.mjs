// Builds the page: a script, a style sheet, a document, and the licences of the bundled packages.
import { copyFile, mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = join(here, "..", "src", "foreword", "service", "static");

const options = {
  absWorkingDir: here,
  entryPoints: { app: "src/main.tsx", style: "src/style/page.css" },
  outdir: out,
  splitting: true,
  external: ["/static/*"],
  chunkNames: "[name]-[hash]",
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
  charset: "utf8",
  legalComments: "none",
  metafile: true,
  logLevel: "warning",
};

/** The licences of all packages whose code is in the script. */
async function licences(metafile) {
  const packagePath = /^node_modules\/((?:@[^/]+\/)?[^/]+)\//;
  const names = new Set(Object.keys(metafile.inputs).flatMap((path) => packagePath.exec(path)?.[1] ?? []));
  const texts = [...names].sort().map(async (name) => {
    const folder = join(here, "node_modules", name);
    const file = (await readdir(folder)).find((each) => /^licen[cs]e/i.test(each));
    return `${name}\n\n${file ? await readFile(join(folder, file), "utf8") : "see its package.json\n"}`;
  });
  return (await Promise.all(texts)).join(`\n${"-".repeat(72)}\n\n`);
}

await rm(out, { recursive: true, force: true });
await mkdir(out, { recursive: true });
const copy = (name) => copyFile(join(here, name), join(out, name));
if (process.argv.includes("--watch")) {
  await (await esbuild.context({ ...options, minify: false, sourcemap: "inline" })).watch();
} else {
  const result = await esbuild.build(options);
  await writeFile(join(out, "licences.txt"), `${await licences(result.metafile)}\n${await readFile(join(here, "fonts", "licences.txt"), "utf8")}`);
}
await copy("icon.svg");
for (const name of ["inter.woff2", "jetbrains-mono.woff2"]) await copyFile(join(here, "fonts", name), join(out, name));
await copy("index.html"); // last, so that its presence means the build is complete
