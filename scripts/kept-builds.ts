// Keeps builds among the installed packages, by a key of their sources (source-key.ts), so that the next process reuses them.
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

/** Builds of one name that are kept, the most recently used ones. */
const MOST_KEPT = 6

/**
 * Returns the folder of the build of the present sources. If there is none, `make` writes it into a new folder. `keyNow` returns
 * the key of the sources. An edit during the build may be missing from the result, so it is then built again.
 */
export async function cachedBuild(
  name: string,
  keyNow: () => string,
  make: (folder: string) => Promise<void>,
): Promise<string> {
  for (;;) {
    const key = keyNow()
    const folder = join(KEPT_IN, `${name}-${key}`)
    if (!existsSync(folder)) await buildInTemporaryFolder(folder, make, () => keyNow() === key)
    if (!existsSync(folder)) continue
    utimesSync(folder, new Date(), new Date())
    removeOldest(name)
    return folder
  }
}

/** The text of generated files, by their path in the checkout. */
export type GeneratedFiles = Readonly<Record<string, string>>

/**
 * Writes the files that `make` returns to their places. They are built once for the same sources, in this checkout or another
 * with the same packages.
 */
export async function writeKept(name: string, make: () => Promise<GeneratedFiles>): Promise<void> {
  const folder = await cachedBuild(name, sourcesAlone, async made => {
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

/** Builds in a temporary folder and then renames it, so that no process sees an incomplete build. */
async function buildInTemporaryFolder(
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
    // Another process may have made the same build meanwhile.
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
