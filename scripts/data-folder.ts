// The folder of everything that the local service stores, and the error messages when it cannot be used.
import { accessSync, chmodSync, constants, mkdirSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/** Causes in plain words, by the error code of the operating system. */
const CAUSES: Readonly<Record<string, string>> = {
  EACCES: 'this account has no permission to write there',
  EPERM: 'this account has no permission to write there',
  EROFS: 'the file system is read-only',
  ENOTDIR: 'a part of the path is a file',
  EEXIST: 'a part of the path is a file',
  ENOENT: 'the path cannot be created',
  ENAMETOOLONG: 'the path is too long',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
}

const codeOf = (problem: unknown): string => String((problem as { code?: unknown } | null)?.code ?? '')

/**
 * Creates the folder if it is missing, and denies other accounts of this machine access to it even if it already existed. Throws
 * a one-line Error if the folder cannot be used.
 */
export function prepareDataFolder(folder: string): void {
  try {
    makeFolder(resolve(folder))
    chmodSync(folder, 0o700)
    accessSync(folder, constants.W_OK | constants.X_OK)
  } catch (problem) {
    const cause = CAUSES[codeOf(problem)] ?? (problem as Error).message
    throw new Error(
      `The data folder ${resolve(folder)} cannot be used: ${cause}. Set BINDERY_DATA to another folder.`,
      { cause: problem },
    )
  }
}

/** Creates the folder and its parents one by one. Node's own `recursive` never returns if a file system refuses every folder. */
function makeFolder(folder: string): void {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return
  const above = dirname(folder)
  if (above !== folder) makeFolder(above)
  mkdirSync(folder, { mode: 0o700 })
}

const isDiskFull = (problem: unknown): boolean => {
  for (let one = problem; one instanceof Error; one = one.cause)
    if (
      ['ENOSPC', 'EDQUOT'].includes(codeOf(one)) ||
      /database or disk is full|no space left/i.test(one.message)
    )
      return true
  return false
}

/** Returns the message of an error in one line. */
export function oneLine(problem: unknown): string {
  const message = problem instanceof Error ? problem.message : String(problem)
  const text = message.trim().replaceAll(/\s*\n\s*/g, ' ')
  return isDiskFull(problem) ? `The disk is full. Free some space and start again (${text})` : text
}
