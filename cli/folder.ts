// A configuration in a folder, packed for the service.
import { readFileSync, statSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { zipSync } from 'fflate'
import { isJunk } from '../packages/zip/entry-path.ts'
import { configurationRoot } from '../src/product/archive/read.ts'
import type { Finding } from '../src/product/configuration.ts'
import { entriesBelow } from './entries.ts'
import { usage } from './exit.ts'

export type Packed = {
  readonly zip: Uint8Array<ArrayBuffer>
  /** Where paths of the configuration begin, from where the command was started. Empty for that folder itself. */
  readonly root: string
  /** Files that could not be packed, with the messages of the service. */
  readonly findings: readonly Finding[]
}

/**
 * Packs the folder, or the configuration in a subfolder. Files next to that, such as `README.md`, are left out. The same files
 * produce the same bytes.
 */
export function packFolder(folder: string): Packed {
  const entries = entriesOf(folder)
  const { prefix } = configurationRoot(entries.map(({ path }) => path))
  const isScenario = (path: string): boolean => path.startsWith(`${prefix}${SCENARIOS}/`)
  const own = entries.filter(({ path }) => path.startsWith(prefix) && !isScenario(path))
  if (own.length === 0) throw usage(`There are no files in '${folder}'.`)
  const named = own.map(({ path, isFile }) => ({ path, isFile, name: path.slice(prefix.length) }))
  return {
    zip: zipOf(
      named
        .filter(({ isFile }) => isFile)
        .map(({ path, name }) => [name, new Uint8Array(readFileSync(join(folder, path)))]),
    ),
    root: relative('.', join(folder, prefix)),
    findings: named.filter(({ isFile }) => !isFile).map(({ name }) => linkFinding(name)),
  }
}

/** A folder next to the configuration. Its contents are not part of the configuration. */
export const SCENARIOS = 'scenarios'

/** Returns the files of scenarios next to the configuration, in the order of their paths, from where the command was started. */
export function scenarioFiles(folder: string): string[] {
  const { prefix } = configurationRoot(entriesOf(folder).map(({ path }) => path))
  const places = [folder, join(folder, prefix), join(folder, prefix, '..')]
  const found = places.map(place => join(place, SCENARIOS)).find(place => isFolder(place))
  if (found === undefined) return []
  return entriesOf(found)
    .filter(({ path, isFile }) => isFile && /\.(ya?ml|json)$/i.test(path))
    .map(({ path }) => join(found, path))
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false

/** Rejects a path that is not a folder. */
export function assertFolder(folder: string): void {
  const stat = statSync(folder, { throwIfNoEntry: false })
  if (!stat) throw usage(`There is no folder '${folder}'.`)
  if (!stat.isDirectory())
    throw usage(
      `'${folder}' is a file; ${/\.zip$/i.test(folder) ? 'unpack it and ' : ''}name the folder of a configuration.`,
    )
}

/**
 * Returns the files and links below the folder, in the order of their paths, without those that editors and operating systems
 * leave behind.
 */
function entriesOf(folder: string): { path: string; isFile: boolean }[] {
  assertFolder(folder)
  return entriesBelow(folder)
    .map(entry => ({
      path: relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'),
      isFile: entry.isFile(),
    }))
    .filter(({ path }) => !isJunk(path))
    .sort((a, b) => (a.path < b.path ? -1 : 1))
}

/** Returns a text that changes with every change of a file below the folder: paths, sizes, times and inodes. */
export function folderState(folder: string): string {
  try {
    const states = entriesOf(folder).map(({ path }) => {
      const stat = statSync(join(folder, path), { bigint: true, throwIfNoEntry: false })
      return stat ? `${path} ${stat.size} ${stat.mtimeNs} ${stat.ino}` : `${path} is gone`
    })
    return states.join('\n')
  } catch (problem) {
    // A file was removed or locked at this moment.
    return String(problem)
  }
}

const zipOf = (files: [string, Uint8Array][]): Uint8Array<ArrayBuffer> =>
  new Uint8Array(zipSync(Object.fromEntries(files), { mtime: '2026-01-01T00:00:00Z' }))

const linkFinding = (path: string): Finding => ({
  severity: 'ERROR',
  path,
  code: 'link',
  message: `'${path}' is a link or device. Replace it with a regular file.`,
})
