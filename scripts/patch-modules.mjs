// Patches installed packages where one of their lines is expensive for us. npm runs it after each install (`prepare` in
// package.json). A package that has different text, or is not installed, stays unchanged, and a test reports it.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const MODULES = new URL('../node_modules/', import.meta.url)

/** Each patch has the original text of the package and its replacement. */
export const PATCHES = [
  {
    // The configuration of the runtime, with all modules of the Worker in it, was copied completely for every few kilobytes that
    // it grew: 1.4 GB in all, half of the time of a start. Now it grows by half of its size.
    file: 'miniflare/dist/src/index.js',
    text: 's.buffer = new ArrayBuffer(srcBuffer.byteLength + minSize);',
    instead:
      's.buffer = new ArrayBuffer(padToWord$1(srcBuffer.byteLength + Math.max(minSize, srcBuffer.byteLength >> 1)));',
  },
  {
    // The package does not declare the kind of its modules, so Node parses all 5 MB of them at every import to find out: 0.1 s of
    // a start.
    file: 'miniflare/package.json',
    text: '"main": "./dist/src/index.js",\n  "types"',
    instead: '"main": "./dist/src/index.js",\n  "type": "commonjs",\n  "types"',
  },
  // When the search of the reference page is first opened, the library reads the schemas of each operation for its index. It read
  // them through four proxies that watch the document for changes, and the page did not react for 6 s. The document never
  // changes, so a single proxy, which only follows references, is enough.
  {
    file: '@scalar/api-reference/dist/browser/standalone.esm.js',
    text: '_n as D,bn as ft,',
    instead: '_n as D,un as followed,on as unwatched,bn as ft,',
  },
  {
    file: '@scalar/api-reference/dist/browser/standalone.esm.js',
    text: 'function fC(e,n){let r=[],',
    instead: 'function fC(watched,n){let e=watched&&followed(unwatched(watched)),r=[],',
  },
  {
    file: '@scalar/api-reference/dist/browser/standalone.esm.js',
    text: 'c(e?.[`x-scalar-navigation`]?.children??[]),r}function pC(',
    instead: 'c(watched?.[`x-scalar-navigation`]?.children??[]),r}function pC(',
  },
  // Messages in fifty languages and the reader of JSON Schema were 50 of the 1,074 KiB of the Worker, because a bundler never
  // leaves out what is exported by name. The service has its own messages.
  ...['classic/external.js', 'core/index.js'].map(file => ({
    file: `zod/v4/${file}`,
    text: 'export * as locales from "../locales/index.js";\n',
    instead: '',
  })),
  {
    file: 'zod/v4/classic/external.js',
    text: 'export { fromJSONSchema } from "./from-json-schema.js";\n',
    instead: '',
  },
]

function patch({ file, text, instead }) {
  const path = fileURLToPath(new URL(file, MODULES))
  if (!existsSync(path)) return
  const now = readFileSync(path, 'utf8')
  if (!now.includes(text)) return
  replace(
    path,
    now.replace(text, () => instead),
  )
}

/** Replaces a file atomically: a process that starts meanwhile reads the old or the new text. */
function replace(path, text) {
  writeFileSync(`${path}.patched`, text)
  renameSync(`${path}.patched`, path)
}

/**
 * Packages with long lists of exports. Node reads the exports of a package again for each of its modules. Drizzle lists every one
 * of its 447 files, which takes half of the time that a command needs to start. One pattern can describe all exports that are
 * named like their files.
 */
export const LONG_EXPORTS = ['drizzle-orm']

/** Returns the exports, with one pattern in place of those that follow it. */
export function shortExports(exports) {
  const pattern = JSON.stringify(exports['./*'] ?? alike(exports)?.[1])
  const others = Object.entries(exports).filter(
    ([name, targets]) => JSON.stringify(targets) !== pattern?.replaceAll('./*', name),
  )
  return pattern === undefined ? exports : { ...Object.fromEntries(others), './*': JSON.parse(pattern) }
}

/** Returns an export that is named like its file, with a star in place of the name in its targets. */
const alike = exports =>
  Object.entries(exports)
    .map(([name, targets]) => [name, JSON.parse(JSON.stringify(targets).replaceAll(`"${name}.`, '"./*.'))])
    .find(([, targets]) => targets.default === './*.js')

function shorten(name) {
  const path = fileURLToPath(new URL(`${name}/package.json`, MODULES))
  if (!existsSync(path)) return
  const now = JSON.parse(readFileSync(path, 'utf8'))
  replace(path, JSON.stringify({ ...now, exports: shortExports(now.exports) }))
}

// A test imports the patches without applying them, to check what an install has done.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  PATCHES.forEach(patch)
  LONG_EXPORTS.forEach(shorten)
}
