// Where tests keep what they write: in memory where the machine has such a folder. A database waits for the disk at every commit, which
// is most of what many tests do; that nothing is lost when a process dies does not depend on the disk.
import { mkdirSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'

const MEMORY = '/dev/shm'
const PREFIX = 'bindery-tests-'

/** What all tests of a run write at the same time is a tenth of it. */
const LEAST_BYTES = 4 * 2 ** 30

/** Whether programs may be started from there, as from another folder. */
function startsPrograms(): boolean {
  const [, options = ''] =
    readFileSync('/proc/mounts', 'utf8').match(new RegExp(`^\\S+ ${MEMORY} \\S+ (\\S+)`, 'm')) ?? []
  return options !== '' && !options.split(',').includes('noexec')
}

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY)
    return Math.min(bavail * bsize, process.availableMemory()) >= LEAST_BYTES && startsPrograms()
  } catch {
    return false
  }
}

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Makes a folder in memory that of temporary files, until this process ends. TMPDIR names another. */
export function useMemoryFolder(): void {
  if (process.env.TMPDIR !== undefined || !hasRoom()) return
  // Of runs that were killed.
  for (const name of readdirSync(MEMORY))
    if (name.startsWith(PREFIX) && !isRunning(Number(name.slice(PREFIX.length))))
      rmSync(join(MEMORY, name), { recursive: true, force: true })
  const folder = join(MEMORY, PREFIX + process.pid)
  mkdirSync(folder, { mode: 0o700 })
  process.env.TMPDIR = folder
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
}
