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

for (const { file, text, instead } of PATCHES) {
  const path = fileURLToPath(new URL(file, MODULES))
  if (!existsSync(path)) continue
  const now = readFileSync(path, 'utf8')
  if (!now.includes(text)) continue
  // In its place at once: a process that starts meanwhile reads the one or the other.
  writeFileSync(
    `${path}.patched`,
    now.replace(text, () => instead),
  )
  renameSync(`${path}.patched`, path)
}
