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
]

function patch({ file, text, instead }) {
  const path = fileURLToPath(new URL(file, MODULES))
  if (!existsSync(path)) return
  const now = readFileSync(path, 'utf8')
  if (!now.includes(text)) return
  // In its place at once: a process that starts meanwhile reads the one or the other.
  const patched = now.replace(text, () => instead)
  writeFileSync(`${path}.patched`, patched)
  renameSync(`${path}.patched`, path)
}

// A test reads the patches alone, to see what an install has made of them.
if (process.argv[1] === fileURLToPath(import.meta.url)) PATCHES.forEach(patch)
