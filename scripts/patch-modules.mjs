// Mends installed packages where a line of theirs costs us much. npm runs it after each install (`prepare` in package.json); an install
// whose package has other text, or none, is left as it is, and a test says so.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const MODULES = new URL('../node_modules/', import.meta.url)

/** Each with the text of the package, and what stands there instead. */
export const PATCHES = [
  {
    // The configuration of the runtime, with all modules of the Worker in it, was copied whole for each few kilobytes that it grew:
    // 1.4 GB in all, half of the time of a start. It grows by half of itself now.
    file: 'miniflare/dist/src/index.js',
    text: 's.buffer = new ArrayBuffer(srcBuffer.byteLength + minSize);',
    instead:
      's.buffer = new ArrayBuffer(padToWord$1(srcBuffer.byteLength + Math.max(minSize, srcBuffer.byteLength >> 1)));',
  },
  {
    // Of which kind its modules are is not said, and Node parses all 5 MB of them to find out whenever they are imported: 0.1 s of a start.
    file: 'miniflare/package.json',
    text: '"main": "./dist/src/index.js",\n  "types"',
    instead: '"main": "./dist/src/index.js",\n  "type": "commonjs",\n  "types"',
  },
  // Messages in fifty languages, and the reading of JSON Schema, were 50 of the 1,074 KiB of the Worker: what is exported by its name no
  // bundler leaves out. The service has its own messages.
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

/** In its place at once: a process that starts meanwhile reads the one or the other. */
function replace(path, text) {
  writeFileSync(`${path}.patched`, text)
  renameSync(`${path}.patched`, path)
}

/**
 * Node reads the exports of a package anew for each of its modules. Drizzle lists every one of its 447 files, which takes half of the time
 * that a command needs to start: one pattern says the same of all that are named like their files.
 */
export const LONG_EXPORTS = ['drizzle-orm']

/** The exports with one pattern in the place of those that are alike. */
export function shortExports(exports) {
  const pattern = JSON.stringify(exports['./*'] ?? alike(exports)?.[1])
  const others = Object.entries(exports).filter(
    ([name, targets]) => JSON.stringify(targets) !== pattern?.replaceAll('./*', name),
  )
  return pattern === undefined ? exports : { ...Object.fromEntries(others), './*': JSON.parse(pattern) }
}

/** Of a file that is exported by its name, its targets with a star in the place of the name. */
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

// A test reads the patches alone, to see what an install has made of them.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  PATCHES.forEach(patch)
  LONG_EXPORTS.forEach(shorten)
}
