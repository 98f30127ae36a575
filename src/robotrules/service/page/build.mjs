// Builds the page into ../static (or the folder that is passed): the bundle, and the files beside it.
// The output depends on package-lock.json and these sources only, so that a test can build it again
// and compare.
import { copyFile, mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const target = process.argv[2] ?? join(here, "..", "static");
await mkdir(target, { recursive: true });

const result = await build({
  absWorkingDir: here,
  entryPoints: ["src/main.ts"],
  outfile: join(target, "app.js"),
  bundle: true,
  minify: true,
  charset: "utf8",
  format: "iife",
  target: "es2022",
  legalComments: "none",
  metafile: true,
  banner: { js: "/* The licenses of the packages in this bundle: licenses.txt */" },
});

// MIT asks that the license goes with the copy.
const packages = new Set();
for (const input of Object.keys(result.metafile.inputs)) {
  const found = input.match(/node_modules\/((?:@[^/]+\/)?[^/]+)\//);
  if (found) packages.add(found[1]);
}
let licenses = "app.js contains these packages.\n";
for (const name of [...packages].sort()) {
  const folder = join(here, "node_modules", name);
  const { version, license } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
  const file = (await readdir(folder)).find((entry) => /^licen[cs]e/i.test(entry));
  if (!file) throw new Error(`${name} has no license file`);
  licenses += `\n--- ${name} ${version} (${license}) ---\n\n`;
  licenses += (await readFile(join(folder, file), "utf8")).trim() + "\n";
}
await writeFile(join(target, "licenses.txt"), licenses);
for (const name of ["index.html", "app.css", "favicon.svg"]) {
  await copyFile(join(here, name), join(target, name));
}
