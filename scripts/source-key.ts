// Keys of sources. What was built from sources is kept by such a key among the installed packages, so that it is built once for
// this checkout and for copies of it that use the same packages.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { entriesBelow } from '../cli/entries.ts'

/** The folder of kept builds. */
export const KEPT_IN = resolve('node_modules/.cache/bindery')

/** npm writes it with each installation. */
const PACKAGES = 'node_modules/.package-lock.json'

/**
 * Returns a key of the files, of all files in the folders that do not match `made` (generated files), of the installed packages,
 * and of `more`. Skips missing files and folders.
 */
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

/** The folders of all files from which a checkout's generated files are made, and of these files themselves. */
export const CHECKOUT_SOURCES = ['src', 'durable', 'packages', 'runner', 'console', 'scripts']

/** A key of the sources without the files generated from them. */
export const sourcesAlone = (): string =>
  sourceKey(CHECKOUT_SOURCES, [], '', /\.bundle\.mjs$|route-index\.mjs$/)
