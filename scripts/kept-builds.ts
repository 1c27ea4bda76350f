// What was built is kept among the installed packages, by a key of what it was built from (source-key.ts): the next process takes it as it is.
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { KEPT_IN } from './source-key.ts'

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
