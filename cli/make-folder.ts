import { existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false

/**
 * Creates the folder and its missing parents. Node's own `recursive` never ends if the parent exists but the system does not
 * allow a folder to be created in it, as below /proc.
 */
export function makeFolder(path: string, mode?: number): void {
  if (isFolder(path)) return
  const parent = dirname(path)
  if (!existsSync(parent)) makeFolder(parent, mode)
  try {
    mkdirSync(path, mode === undefined ? {} : { mode })
  } catch (problem) {
    // Another process has created it.
    if (!isFolder(path)) throw problem
  }
}
