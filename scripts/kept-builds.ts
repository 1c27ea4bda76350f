// What was built is kept among the installed packages, by a key of what it was built from (source-key.ts): the next process takes it as it is.
import { randomUUID } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { replaceFile } from './replace-file.ts'
import { KEPT_IN, sourcesAlone } from './source-key.ts'

/** Builds of one name that are kept: those used last. */
const MOST_KEPT = 6

/**
 * The folder of the build of the sources as they are; `make` writes into a new one where there is none. `keyNow`: the key of the sources.
 * What is edited while it is built may or may not be in it, so it is built once more.
 */
export async function keptBuild(
  name: string,
  keyNow: () => string,
  make: (folder: string) => Promise<void>,
): Promise<string> {
  for (;;) {
    const key = keyNow()
    const folder = join(KEPT_IN, `${name}-${key}`)
    if (!existsSync(folder)) await makeApart(folder, make, () => keyNow() === key)
    if (!existsSync(folder)) continue
    utimesSync(folder, new Date(), new Date())
    removeOldest(name)
    return folder
  }
}

/** Text of generated files by their path in the checkout. */
export type GeneratedFiles = Readonly<Record<string, string>>

/** Puts the files that `make` gives in their places; those of the same sources were made once, for this checkout or another with the same packages. */
export async function writeKept(name: string, make: () => Promise<GeneratedFiles>): Promise<void> {
  const folder = await keptBuild(name, sourcesAlone, async made => {
    for (const [file, text] of Object.entries(await make())) {
      mkdirSync(join(made, dirname(file)), { recursive: true })
      writeFileSync(join(made, file), text)
    }
  })
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const kept = join(entry.parentPath, entry.name)
    if (entry.isFile()) replaceFile(relative(folder, kept), readFileSync(kept, 'utf8'))
  }
}

/** Made apart and then given its place, so that nobody sees half of it. */
async function makeApart(
  folder: string,
  make: (folder: string) => Promise<void>,
  isStill: () => boolean,
): Promise<void> {
  const made = `${folder}.${randomUUID()}`
  mkdirSync(made, { recursive: true })
  try {
    await make(made)
    if (isStill()) renameSync(made, folder)
  } catch (problem) {
    // Another process may have made the same meanwhile.
    if (!existsSync(folder)) throw problem
  } finally {
    rmSync(made, { recursive: true, force: true })
  }
}

function removeOldest(name: string): void {
  const builds = readdirSync(KEPT_IN)
    .filter(entry => new RegExp(`^${name}-[0-9a-f]{24}$`).test(entry))
    .map(entry => join(KEPT_IN, entry))
    .map(path => ({ path, usedAt: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .sort((one, other) => other.usedAt - one.usedAt)
  for (const { path } of builds.slice(MOST_KEPT)) rmSync(path, { recursive: true, force: true })
}
