// The folder of everything that the local service keeps, and what is said when it cannot be used.
import { accessSync, chmodSync, constants, mkdirSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/** What the operating system calls it, and what a person does about it. */
const CAUSES: Readonly<Record<string, string>> = {
  EACCES: 'this account may not write there',
  EPERM: 'this account may not write there',
  EROFS: 'the file system is read-only',
  ENOTDIR: 'a file is in the place of a folder',
  EEXIST: 'a file is in the place of a folder',
  ENOENT: 'the path cannot be made',
  ENAMETOOLONG: 'the path is too long',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
}

const codeOf = (problem: unknown): string => String((problem as { code?: unknown } | null)?.code ?? '')

/**
 * Makes the folder where it is missing, and lets no other account of this machine into it, also where it was there before. An Error
 * in one line when it cannot be used.
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

/** Makes the folder and those above it, one by one: Node's own `recursive` never ends where a file system refuses all folders. */
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

/** What went wrong, in one line. */
export function oneLine(problem: unknown): string {
  const message = problem instanceof Error ? problem.message : String(problem)
  const text = message.trim().replaceAll(/\s*\n\s*/g, ' ')
  return isDiskFull(problem) ? `The disk is full. Make room and start again (${text})` : text
}
