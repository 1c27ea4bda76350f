import { existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false

/**
 * Makes the folder, and those above it, where they are missing. Node's own `recursive` never ends where the system has a folder but lets
 * none be made in it, as below /proc.
 */
export function makeFolder(path: string, mode?: number): void {
  if (isFolder(path)) return
  const parent = dirname(path)
  if (!existsSync(parent)) makeFolder(parent, mode)
  try {
    mkdirSync(path, mode === undefined ? {} : { mode })
  } catch (problem) {
    // Somebody else has made it.
    if (!isFolder(path)) throw problem
  }
}
