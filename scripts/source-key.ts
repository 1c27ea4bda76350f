// What was made from sources is kept by a key of all of them, among the installed packages, so that it is made once: for this checkout
// and for copies of it that use the same packages.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { entriesBelow } from '../cli/entries.ts'

/** Where it is kept. */
export const KEPT_IN = resolve('node_modules/.cache/bindery')

/** npm writes it with each installation. */
const PACKAGES = 'node_modules/.package-lock.json'

/** A key of the files, of all in the folders that are not `made` of others, and of the packages; what is not there is left out. `more` belongs to it, too. */
export function sourceKey(
  folders: readonly string[],
  files: readonly string[],
  more = '',
  made?: RegExp,
): string {
  const hash = createHash('sha256').update(more)
  const add = (path: string): void => {
    hash.update(`\n${path}\n`).update(readFileSync(path))
  }
  for (const folder of folders.filter(path => existsSync(path)))
    entriesBelow(folder)
      .filter(entry => entry.isFile())
      .map(entry => join(entry.parentPath, entry.name))
      .filter(path => !made?.test(path))
      .sort()
      .forEach(add)
  for (const path of [...files, PACKAGES]) if (existsSync(path)) add(path)
  return hash.digest('hex').slice(0, 24)
}

/** Folders of all that a checkout's generated files are made from, and of these files themselves. */
export const CHECKOUT_SOURCES = ['src', 'durable', 'packages', 'runner', 'console', 'scripts']

/** A key of the sources without what is made from them. */
export const sourcesAlone = (): string =>
  sourceKey(CHECKOUT_SOURCES, [], '', /\.bundle\.mjs$|route-index\.mjs$/)
